package secret

import (
	"fmt"
	"io"
	"log/slog"
)

// shown stands wherever a value would be printed.
const shown = "[secret]"

// Value is the value of a secret. No format, log or encoder prints it.
type Value struct {
	name string
	text string
}

// NewValue returns the value of the named secret.
func NewValue(name, text string) Value { return Value{name, text} }

// Name returns the name of the secret.
func (v Value) Name() string { return v.name }

// Reveal returns the value itself: for the outgoing request alone.
func (v Value) Reveal() string { return v.text }

// String implements fmt.Stringer.
func (Value) String() string { return shown }

// Format implements fmt.Formatter, so that no verb reaches the value.
func (Value) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, shown) }

// LogValue implements slog.LogValuer.
func (Value) LogValue() slog.Value { return slog.StringValue(shown) }

// MarshalText implements encoding.TextMarshaler, which JSON uses too.
func (Value) MarshalText() ([]byte, error) { return []byte(shown), nil }
