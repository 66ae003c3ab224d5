package engine

import (
	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/policy"
)

// heldBack collects the writes that policy held back, for the Outcome.
type heldBack struct {
	Proposals    []abi.WithheldCall `json:"proposals,omitzero"`
	ShadowWrites []abi.WithheldCall `json:"shadow_writes,omitzero"`
	Omitted      int                `json:"held_back_omitted,omitzero"` // beyond the bounds
}

// The bounds on what an Outcome tells of writes that were held back. The events tell
// all of them, and whole.
const (
	maxHeldBack          = 100
	maxHeldBackArguments = 2 << 10
)

// withheld describes a call that is not made.
func withheld(c *liveCall, a *policy.Action) abi.WithheldCall {
	arguments, err := shownArguments(c)
	if err != nil {
		arguments = nil // the call is malformed, and is told without
	}
	return abi.WithheldCall{Index: c.entry.Index, Call: c.entry.Call, Action: a.String(), Arguments: arguments}
}

// withhold tells a write that is not made. It is in one batch with the record of
// the call.
func (r *run) withhold(kind abi.EventKind, c *liveCall, a *policy.Action) error {
	rec := ledger.Record{Kind: kind, Object: abi.ObjectTask, ID: r.task.id, Payload: withheld(c, a)}
	if err := rec.Encode(); err != nil {
		return err
	}
	r.task.mu.Lock()
	defer r.task.mu.Unlock()
	r.pending = append(r.pending, rec)
	return nil
}

// noteHeldBack takes over a call that was denied, if it was a write that the
// autonomy tier held back.
func (r *run) noteHeldBack(e *journal.Entry) {
	var told abi.CallError
	if e.Status != abi.CallDenied || json.Unmarshal(e.Answer, &told) != nil {
		return
	}
	into := map[string]*[]abi.WithheldCall{policy.CodeProposed: &r.held.Proposals, policy.CodeShadow: &r.held.ShadowWrites}[told.Code]
	if into == nil {
		return
	}
	c := &liveCall{entry: *e, request: e.Request}
	a, err := action(c, e.Effect)
	if err != nil || len(r.held.Proposals)+len(r.held.ShadowWrites) >= maxHeldBack {
		r.held.Omitted++
		return
	}
	call := withheld(c, a)
	if len(call.Arguments) > maxHeldBackArguments {
		call.Arguments = nil
	}
	*into = append(*into, call)
}

// appendHeldBack adds the members of what was held back to an object that is open.
func (r *run) appendHeldBack(m jsontext.Value) jsontext.Value {
	members, err := json.Marshal(&r.held)
	if err != nil || len(members) <= len("{}") {
		return m
	}
	return append(append(m, ','), members[1:len(members)-1]...)
}
