package plainly

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Fault is what is wrong with a JSON text.
type Fault struct {
	Pointer jsontext.Pointer // of the value that is wrong, or of the member that there is not; empty for the text itself
	Offset  int64            // of the byte at or after which it is
	Words   string           // one clause, which names the place
}

// Of returns what is wrong with a text by an error of the JSON library; false for other errors.
func Of(err error) (Fault, bool) {
	if semantic, ok := errors.AsType[*json.SemanticError](err); ok {
		return Fault{semantic.JSONPointer, semantic.ByteOffset, semanticWords(semantic)}, true
	}
	if syntactic, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		return Fault{syntactic.JSONPointer, syntactic.ByteOffset, syntacticWords(syntactic)}, true
	}
	return Fault{}, false
}

// Say returns what an error says, with the words of [Fault] for those of the JSON library, wherever
// in it they are.
func Say(err error) string {
	var library error
	if semantic, ok := errors.AsType[*json.SemanticError](err); ok {
		library = semantic
	} else if syntactic, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		library = syntactic
	} else {
		return err.Error()
	}
	fault, _ := Of(library)
	before, after, within := strings.Cut(err.Error(), library.Error())
	if !within { // somebody has worded it already
		return err.Error()
	}
	return before + fault.Words + after
}

// semanticWords is about a text that is JSON, and not what is expected.
func semanticWords(err *json.SemanticError) string {
	if syntactic, ok := errors.AsType[*jsontext.SyntacticError](err.Err); ok {
		return syntacticWords(syntactic)
	}
	at := place(err.JSONPointer)
	t := plain(err.GoType)
	switch {
	case errors.Is(err.Err, json.ErrUnknownName):
		return unknown(err.JSONPointer, t)
	case t == nil:
		return at + " is not what is expected there" + own(err.Err)
	case errors.Is(err.Err, strconv.ErrRange):
		return at + " is out of range: it has to be " + expected(t) + bounds(t)
	}
	if said := own(err.Err); said != "" && speaks(t) {
		return at + said
	}
	words := at + " has to be " + expected(t)
	if err.JSONKind != 0 && alike(err.JSONKind) != alike(kindFor(t)) {
		words += ", not " + got(err.JSONKind)
	}
	if t.Kind() == reflect.String && alike(err.JSONKind) != '"' && isScalar(err.JSONKind) {
		words += ": put it in quotes"
	}
	return words + own(err.Err)
}

// own is what a type of ours says itself about a text that it does not take.
func own(err error) string {
	_, isTime := errors.AsType[*time.ParseError](err)
	_, isNumber := errors.AsType[*strconv.NumError](err)
	_, isBase64 := errors.AsType[base64.CorruptInputError](err)
	switch {
	case err == nil, isTime, isNumber, isBase64, errors.Is(err, strconv.ErrSyntax):
		return "" // what is expected says it already
	case errors.Is(err, io.ErrUnexpectedEOF):
		return ": it ends before it is whole"
	}
	return ": " + Say(err)
}

// syntacticWords is about a text that is not JSON.
func syntacticWords(err *jsontext.SyntacticError) string {
	at := ""
	if err.JSONPointer != "" {
		at = " in " + place(err.JSONPointer)
	}
	switch {
	case errors.Is(err.Err, jsontext.ErrDuplicateName):
		return fmt.Sprintf("%s is given twice", place(err.JSONPointer))
	case errors.Is(err.Err, io.ErrUnexpectedEOF), errors.Is(err.Err, io.EOF):
		return "the JSON ends before it is whole" + at
	case err.Err == nil:
		return "it is no JSON" + at
	}
	return "it is no JSON" + at + ": " + strings.TrimPrefix(err.Err.Error(), "jsontext: ")
}

// longestPlace bounds how much of a pointer is told, for its names are whatever was sent.
const longestPlace = 200

// place names a value of a text.
func place(p jsontext.Pointer) string {
	switch {
	case p == "":
		return "the JSON text"
	case len(p) > longestPlace:
		return strings.ToValidUTF8(string(p[:longestPlace]), "") + "…"
	}
	return strings.ToValidUTF8(string(p), "\uFFFD")
}
