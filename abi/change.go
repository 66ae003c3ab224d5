package abi

import (
	"reflect"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Change is a member of a PATCH that may be null. The zero value is a member that is
// not there: what it would change stays as it is.
type Change[T any] struct {
	Given bool
	To    T // the zero value for null, which takes away what was there
}

// ChangeTo returns the change to a value.
func ChangeTo[T any](v T) Change[T] { return Change[T]{Given: true, To: v} }

// Apply makes the change.
func (c Change[T]) Apply(to *T) {
	if c.Given {
		*to = c.To
	}
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (c *Change[T]) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	*c = Change[T]{Given: true}
	if dec.PeekKind() == 'n' {
		return dec.SkipValue()
	}
	return json.UnmarshalDecode(dec, &c.To)
}

// MarshalJSONTo implements json.MarshalerTo.
func (c Change[T]) MarshalJSONTo(enc *jsontext.Encoder) error { return json.MarshalEncode(enc, c.To) }

// Changes returns what a change is to, for those who look at types alone.
func (Change[T]) Changes() reflect.Type { return reflect.TypeFor[T]() }

// Replace makes the change of a member of a PATCH that cannot be null: nil is a member
// that is not there.
func Replace[T any](to, by *T) {
	if by != nil {
		*to = *by
	}
}
