package secret

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"html"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// NamePattern is the regular expression of a secret's name.
const NamePattern = `[A-Za-z0-9][A-Za-z0-9_.-]{0,63}`

// A secret of a Vault is named VAULT/NAME; no other name has a slash.
var handles = regexp.MustCompile(`\{\{secret:((?:vault_[0-9A-Z]{26}/)?` + NamePattern + `)\}\}`)

// InVault reports whether a name is that of a secret in a Vault, VAULT/NAME.
func InVault(name string) bool { return strings.Contains(name, "/") }

// Handle returns what stands for the named secret in a text.
func Handle(name string) string { return "{{secret:" + name + "}}" }

// Names returns the names of the secrets whose handles text holds, each once.
func Names(text string) []string {
	if !strings.Contains(text, "{{secret:") {
		return nil
	}
	var names []string
	for _, match := range handles.FindAllStringSubmatch(text, -1) {
		if !slices.Contains(names, match[1]) {
			names = append(names, match[1])
		}
	}
	return names
}

// Fill puts values where their handles stand.
func Fill(text string, values []Value) string {
	if len(values) == 0 {
		return text
	}
	pairs := make([]string, 0, 2*len(values))
	for _, v := range values {
		pairs = append(pairs, Handle(v.name), v.text)
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// FillQuery puts values, escaped, where their handles stand in the query of a URL.
// The handles may be escaped too.
func FillQuery(query string, values []Value) string {
	if len(values) == 0 {
		return query
	}
	pairs := make([]string, 0, 6*len(values))
	for _, v := range values {
		escaped, handle := url.QueryEscape(v.text), url.QueryEscape(Handle(v.name))
		// Not everybody who escapes a query escapes slashes.
		pairs = append(pairs, Handle(v.name), escaped, handle, escaped, strings.ReplaceAll(handle, "%2F", "/"), escaped)
	}
	return strings.NewReplacer(pairs...).Replace(query)
}

// Scrub puts handles where values stand, in the forms in which servers tend to
// give back what they were sent: as it is, escaped for a URL, for JSON or for HTML, in
// hex, and in base64, also as a part of something longer.
type Scrub struct{ replacer *strings.Replacer }

// NewScrub returns a Scrub of the given values.
func NewScrub(values []Value) *Scrub {
	type form struct{ text, handle string }
	var forms []form
	for _, v := range values {
		for _, text := range formsOf(v.text) {
			forms = append(forms, form{text, Handle(v.name)})
		}
	}
	// The replacer takes the first that fits: a value may begin with another one.
	slices.SortStableFunc(forms, func(a, b form) int { return len(b.text) - len(a.text) })
	pairs := make([]string, 0, 2*len(forms))
	for _, f := range forms {
		pairs = append(pairs, f.text, f.handle)
	}
	return &Scrub{strings.NewReplacer(pairs...)}
}

// Text returns s without the values.
func (s *Scrub) Text(text string) string { return s.replacer.Replace(text) }

func formsOf(value string) []string {
	if value == "" {
		return nil
	}
	forms := []string{value, html.EscapeString(value),
		base64.StdEncoding.EncodeToString([]byte(value)), base64.RawStdEncoding.EncodeToString([]byte(value)),
		base64.URLEncoding.EncodeToString([]byte(value)), base64.RawURLEncoding.EncodeToString([]byte(value))}
	if hexadecimal := hex.EncodeToString([]byte(value)); len(hexadecimal) >= minInside {
		forms = append(forms, hexadecimal, strings.ToUpper(hexadecimal))
	}
	for _, escaped := range []string{url.QueryEscape(value), url.PathEscape(value), percent(value)} {
		forms = append(forms, escaped, lowerEscapes(escaped))
	}
	for _, form := range []string{"&#%d;", "&#x%x;", "&#x%X;"} {
		forms = append(forms, entities(value, form, true), entities(value, form, false))
	}
	forms = append(forms, jsonForms(value)...)
	forms = append(forms, insideBase64(value)...)
	slices.Sort(forms)
	return slices.Compact(forms)
}

// percent escapes each byte that is no letter and no digit.
func percent(value string) string {
	var b strings.Builder
	for _, c := range []byte(value) {
		if alphanumeric(rune(c)) {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

func alphanumeric(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
}

// lowerEscapes writes the digits of percent escapes small.
func lowerEscapes(escaped string) string {
	b := []byte(escaped)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i+1:i+3], bytes.ToLower(b[i+1:i+3]))
			i += 2
		}
	}
	return string(b)
}

// entities escapes for HTML: each character, or those that are neither letters nor
// digits.
func entities(value, form string, all bool) string {
	var b strings.Builder
	for _, r := range value {
		if all || !alphanumeric(r) {
			fmt.Fprintf(&b, form, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// jsonForms returns what encoders of JSON make of a value: some escape slashes, what
// means something in HTML, or all that is not ASCII, and a few escape everything.
func jsonForms(value string) []string {
	quoted, err := jsontext.AppendQuote(nil, value)
	if err != nil {
		return nil
	}
	inner := string(quoted[1 : len(quoted)-1])
	var forms []string
	for _, digits := range []string{`\u%04x`, `\u%04X`} {
		unit := func(r rune) string { return fmt.Sprintf(digits, r) }
		markup := strings.NewReplacer("<", unit('<'), ">", unit('>'), "&", unit('&'), "'", unit('\''), "+", unit('+'))
		plain := strings.NewReplacer("<", unit('<'), ">", unit('>'), "&", unit('&'))
		everything, beyond := "", ""
		for _, u := range utf16.Encode([]rune(value)) {
			everything += unit(rune(u))
		}
		for _, u := range utf16.Encode([]rune(inner)) {
			if u < utf8.RuneSelf {
				beyond += string(rune(u))
			} else {
				beyond += unit(rune(u))
			}
		}
		forms = append(forms, everything)
		for _, text := range []string{inner, beyond, plain.Replace(inner), plain.Replace(beyond), markup.Replace(inner), markup.Replace(beyond)} {
			forms = append(forms, text, strings.ReplaceAll(text, "/", `\/`))
		}
	}
	return forms
}

// minInside is how many characters of hex or base64 must be a value's alone for it to be found
// within something longer: fewer would be found where it is not.
const minInside = 8

// insideBase64 returns what of a value is the same in base64 whatever stands before and
// behind it: at each of the three places where it may begin, the characters that hold
// bits of nothing else.
func insideBase64(value string) []string {
	var forms []string
	for before := range 3 {
		raw := append(make([]byte, before, before+len(value)), value...)
		from, to := (8*before+5)/6, 8*len(raw)/6
		if to-from < minInside {
			continue
		}
		forms = append(forms, base64.RawStdEncoding.EncodeToString(raw)[from:to], base64.RawURLEncoding.EncodeToString(raw)[from:to])
	}
	return forms
}
