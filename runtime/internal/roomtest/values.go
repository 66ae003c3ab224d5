package roomtest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
)

// Values keeps secrets in memory, as rooms want them kept. They outlive a crash.
type Values map[string][]byte

// Seal keeps a value.
func (v Values) Seal(_ context.Context, id string, version int, value []byte) (string, error) {
	v[fmt.Sprint(id, version)] = value
	return "sealed", nil
}

// Open returns a value that was not removed.
func (v Values) Open(_ context.Context, id string, version int, _ string) ([]byte, error) {
	if value, ok := v[fmt.Sprint(id, version)]; ok {
		return value, nil
	}
	return nil, errors.New("it is lost")
}

// Keep removes every version but one.
func (v Values) Keep(id string, version int) error {
	for key := range maps.Clone(v) {
		if strings.HasPrefix(key, id) && key != fmt.Sprint(id, version) {
			delete(v, key)
		}
	}
	return nil
}

// Blind returns the text as it is.
func (v Values) Blind(_ context.Context, text []byte) ([]byte, error) { return text, nil }
