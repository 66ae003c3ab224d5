package gateway

import (
	"errors"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/wharf-dev/wharf/abi"
)

// Messages of sockets take of their tenant's share what bodies do, until they are handled.
func TestMessagesAreChargedAsBodies(t *testing.T) {
	var s shared
	s.split(4<<20, 1<<20, 1<<20)
	text := strings.Repeat("x", 100_000)
	var held []*message
	var err error
	for err == nil {
		m := &message{budget: &s, tenant: "greedy", limit: int64(len(text)), pool: &sync.Pool{}}
		err = m.read(strings.NewReader(text))
		held = append(held, m)
	}
	n := int64(len(held) - 1)
	if !errors.Is(err, errNoBudget) || s.used.Load() < jsonCopies*n*(int64(len(text))-smallMessage) || s.used.Load() > s.each {
		t.Errorf("%d messages take %d of %d bytes: %v", n, s.used.Load(), s.each, err)
	}
	other := &message{budget: &s, tenant: "modest", limit: int64(len(text)), pool: &sync.Pool{}}
	if err := other.read(strings.NewReader(text)); err != nil {
		t.Errorf("another tenant: %v", err)
	}
	for _, m := range append(held, other) {
		m.release()
	}
	if s.used.Load() != 0 {
		t.Errorf("%d bytes are taken when all is handled", s.used.Load())
	}
}

// What the lists of a message become counts as well.
func TestListsOfMessagesAreCharged(t *testing.T) {
	var s shared
	s.split(4<<20, 1<<20, 1<<20)
	text := []byte(`{"parts":[` + strings.Repeat("{},", 5000) + `{}]}`)
	var failed *abi.Error
	for n := range int64(100) {
		ws := &Socket{message: &message{budget: &s, tenant: "t"}}
		var v struct {
			Parts []abi.Part `json:"parts" maxItems:"10000"`
		}
		err := ws.Decode(text, &v, true)
		if errors.As(err, &failed) {
			break
		}
		if want := (n + 1) * 5001 * int64(reflect.TypeFor[abi.Part]().Size()); err != nil || s.used.Load() < min(want, s.each) {
			t.Fatalf("%d bytes are taken for %d: %v", s.used.Load(), want, err)
		}
	}
	if failed == nil || failed.Code != abi.CodeServiceUnavailable {
		t.Errorf("got %v", failed)
	}
}
