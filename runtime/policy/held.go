package policy

import (
	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
)

// Held collects the writes that policy held back, for the Outcome. The zero value is ready.
type Held struct {
	Proposals    []abi.WithheldCall `json:"proposals,omitzero"`
	ShadowWrites []abi.WithheldCall `json:"shadow_writes,omitzero"`
	Omitted      int                `json:"held_back_omitted,omitzero"` // beyond the bounds
}

// The bounds on what an Outcome tells of writes that were held back. The events tell
// all of them, and whole.
const (
	maxHeld          = 100
	maxHeldArguments = 2 << 10
)

// Take takes over a call that was denied with a code, if it was a write that the autonomy tier held
// back. describe says what it was, and is asked for no other.
func (h *Held) Take(code string, describe func() (abi.WithheldCall, error)) {
	into := map[string]*[]abi.WithheldCall{CodeProposed: &h.Proposals, CodeShadow: &h.ShadowWrites}[code]
	if into == nil {
		return
	}
	call, err := describe()
	if err != nil || len(h.Proposals)+len(h.ShadowWrites) >= maxHeld {
		h.Omitted++
		return
	}
	if len(call.Arguments) > maxHeldArguments {
		call.Arguments = nil
	}
	*into = append(*into, call)
}

// AppendMembers adds what was held back to an object that is open and has a member.
func (h *Held) AppendMembers(m jsontext.Value) jsontext.Value {
	members, err := json.Marshal(h)
	if err != nil || len(members) <= len("{}") {
		return m
	}
	return append(append(m, ','), members[1:len(members)-1]...)
}
