package policy_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/policy"
)

// What was held back is told up to a bound, in the list of its tier; what cannot be told is counted.
func TestHeld(t *testing.T) {
	call := func(arguments string, err error) func() (abi.WithheldCall, error) {
		return func() (abi.WithheldCall, error) {
			return abi.WithheldCall{Call: "c", Arguments: []byte(arguments)}, err
		}
	}
	var h policy.Held
	if got := string(h.AppendMembers([]byte(`{"a":1`))); got != `{"a":1` {
		t.Errorf("nothing held back is told as %s", got)
	}
	h.Take("another", func() (abi.WithheldCall, error) {
		t.Error("it is asked what a call was that was simply denied")
		return abi.WithheldCall{}, nil
	})
	h.Take(policy.CodeProposed, call(`{}`, nil))
	h.Take(policy.CodeShadow, call(`"`+strings.Repeat("x", 3000)+`"`, nil))
	h.Take(policy.CodeShadow, call(`{}`, errors.New("it cannot be read")))
	if len(h.Proposals) != 1 || len(h.ShadowWrites) != 1 || h.ShadowWrites[0].Arguments != nil || h.Omitted != 1 {
		t.Errorf("%+v", h)
	}
	for range 200 {
		h.Take(policy.CodeProposed, call(`{}`, nil))
	}
	if len(h.Proposals)+len(h.ShadowWrites) != 100 || h.Omitted != 1+102 {
		t.Errorf("%d proposals, %d shadow writes, %d omitted", len(h.Proposals), len(h.ShadowWrites), h.Omitted)
	}
	if got := string(h.AppendMembers([]byte(`{"a":1`))); !strings.HasPrefix(got, `{"a":1,"proposals":[{`) || !strings.HasSuffix(got, `"held_back_omitted":103`) {
		t.Errorf("%.60s … %s", got, got[len(got)-40:])
	}
}
