package hostcall_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/hostcall"
	"github.com/wharf-dev/wharf/runtime/provider"
)

// A room gets its call decoded: from what was decoded before, or from the request, of which
// a malformed one is refused before the room is asked.
func TestOf(t *testing.T) {
	var got *abi.CallStateGetRequest
	call := hostcall.Of(func(_ context.Context, _ *hostcall.Call, req *abi.CallStateGetRequest) (hostcall.Answer, error) {
		got = req
		return hostcall.Encoded(map[string]int{"a": 1})
	})
	for name, test := range map[string]struct {
		call hostcall.Call
		key  string // "" where the call is refused
	}{
		"decoded":                 {hostcall.Call{Asked: &abi.CallStateGetRequest{Key: "before"}, Request: []byte(`{`)}, "before"},
		"not yet decoded":         {hostcall.Call{Request: []byte(`{"key":"now"}`)}, "now"},
		"decoded as another type": {hostcall.Call{Asked: &abi.CallSleepRequest{}, Request: []byte(`{"key":"now"}`)}, "now"},
		"of a wrong type":         {hostcall.Call{Request: []byte(`{"key":7}`)}, ""},
		"cut off":                 {hostcall.Call{Request: []byte(`{"key":`)}, ""},
		"empty":                   {hostcall.Call{}, ""},
	} {
		got = nil
		answer, err := call(t.Context(), &test.call)
		if test.key == "" {
			refusal, ok := errors.AsType[*provider.Refusal](err)
			if !ok || refusal.Status != abi.CallInvalid || got != nil {
				t.Errorf("%s: %v, and the room was asked %+v", name, err, got)
			}
			continue
		}
		if err != nil || got == nil || got.Key != test.key || string(answer.JSON) != `{"a":1}` {
			t.Errorf("%s: %+v, %s, %v", name, got, answer.JSON, err)
		}
	}
}

// What a plugin is told in a list it can send in a request of its own.
func TestFlatten(t *testing.T) {
	for levels, flat := range map[int]bool{1: false, hostcall.MaxListed: false, hostcall.MaxListed + 1: true, abi.MaxDepth: true} {
		v := jsontext.Value(strings.Repeat("[", levels) + strings.Repeat("]", levels))
		hostcall.Flatten(&v, hostcall.MaxListed)
		if (v[0] == '{') != flat {
			t.Errorf("%d levels became %.40s", levels, v)
		}
		if list := `{"items":[` + string(v) + `]}`; abi.TooDeep([]byte(list), abi.MaxDepth) >= 0 {
			t.Errorf("a list with %d levels cannot be passed on", levels)
		}
	}
}
