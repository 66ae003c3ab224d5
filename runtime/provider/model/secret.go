package model

import (
	"fmt"
	"io"
	"log/slog"
)

// redacted stands wherever a secret would.
const redacted = "[secret]"

// Secret is a value that no format, log or encoder prints. Only this package
// reads it. The zero value is an empty one.
type Secret struct {
	// A pointer, because %p and unknown verbs print the members without asking
	// Format: then they print an address.
	value *string
}

// NewSecret returns value as a Secret.
func NewSecret(value string) Secret { return Secret{&value} }

func (s Secret) reveal() string {
	if s.value == nil {
		return ""
	}
	return *s.value
}

// String implements [fmt.Stringer].
func (Secret) String() string { return redacted }

// Format implements [fmt.Formatter], so that no verb reaches the value.
func (Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// LogValue implements [slog.LogValuer].
func (Secret) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText implements [encoding.TextMarshaler], which JSON uses too.
func (Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }
