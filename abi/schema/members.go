package schema

import (
	"cmp"
	"reflect"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/wharf-dev/wharf/abi"
)

// Comment returns the comment of a field of package abi, as a sentence of its own; "" for
// any other field.
func Comment(of reflect.Type, f reflect.StructField) string {
	if of.PkgPath() != reflect.TypeFor[abi.Task]().PkgPath() {
		return ""
	}
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return asSentence(name, InMembers(of, cmp.Or(comments[of.Name()+"."+f.Name], comments[resource(of.Name())+"."+f.Name])))
}

// resource is the type whose members a request has, too, if it makes or changes one.
func resource(request string) string {
	name, is := strings.CutSuffix(request, "Request")
	for _, verb := range []string{"Create", "Update", "Submit", "Register"} {
		if of, cut := strings.CutPrefix(name, verb); is && cut {
			return of
		}
	}
	return ""
}

// asSentence says what a comment says of a member without its name, which stands above it.
func asSentence(member, text string) string {
	for _, verb := range []string{" is ", " are ", " says that ", " says "} {
		if rest, ok := strings.CutPrefix(text, "`"+member+"`"+verb); ok {
			text = rest
			break
		}
	}
	if text == "" {
		return ""
	}
	first, size := utf8.DecodeRuneInString(text)
	text = string(unicode.ToUpper(first)) + text[size:]
	if strings.HasSuffix(text, ".") {
		return text
	}
	return text + "."
}

var word = regexp.MustCompile(`(JSON )?\b[A-Z]\w*\b(\.\w)?`)

// InMembers writes the members of t that a comment speaks of as they are in JSON.
func InMembers(t reflect.Type, text string) string {
	return word.ReplaceAllStringFunc(text, func(name string) string {
		f, ok := t.FieldByName(name)
		if !ok {
			return name
		}
		member, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		return "`" + member + "`"
	})
}
