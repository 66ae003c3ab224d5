package journal

import (
	"encoding/base64"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Text is the exact bytes of a request or an answer. As JSON it is a string, or
// {"base64": "..."} when the bytes are not UTF-8.
type Text []byte

// MarshalJSONTo implements json.MarshalerTo.
func (t Text) MarshalJSONTo(e *jsontext.Encoder) error {
	if utf8.Valid(t) {
		return e.WriteToken(jsontext.String(string(t)))
	}
	for _, token := range []jsontext.Token{jsontext.BeginObject, jsontext.String("base64"),
		jsontext.String(base64.StdEncoding.EncodeToString(t)), jsontext.EndObject} {
		if err := e.WriteToken(token); err != nil {
			return err
		}
	}
	return nil
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (t *Text) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	token, err := d.ReadToken()
	switch {
	case err != nil:
		return err
	case token.Kind() == '"':
		*t = Text(token.String())
		return nil
	case token.Kind() != '{':
		return fmt.Errorf("a recorded text is a string or an object, not %s", token.Kind())
	}
	name, err := d.ReadToken()
	if err != nil {
		return err
	}
	if name.Kind() != '"' || name.String() != "base64" {
		return errors.New(`a recorded text that is an object has the one member "base64"`)
	}
	value, err := d.ReadToken()
	if err != nil {
		return err
	}
	if value.Kind() != '"' {
		return fmt.Errorf("the base64 of a recorded text is a string, not %s", value.Kind())
	}
	if *t, err = base64.StdEncoding.DecodeString(value.String()); err != nil {
		return fmt.Errorf("a recorded text: %w", err)
	}
	if end, err := d.ReadToken(); err != nil || end.Kind() != '}' {
		return errors.Join(errors.New(`a recorded text that is an object has the one member "base64"`), err)
	}
	return nil
}
