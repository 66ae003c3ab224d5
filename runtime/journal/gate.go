package journal

import (
	"fmt"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
)

// Gate is the request of an entry of [abi.CallGate]: what policy wants approved
// before the call of the next entry is made. That of an entry of [abi.CallHooks] is one, too: what
// hooks were asked about.
type Gate struct {
	Action string `json:"action"` // the call, for people
	Call   string `json:"call"`
	// By is the actor whose client the call goes to; "" for no client.
	By string `json:"by,omitzero"`
	// Asked is the hash of the request as the plugin made it, in the form of
	// [Canonical]. The next entry has the request that was made, which an approver may
	// have changed.
	Asked string `json:"asked_sha256"`
	// Arguments are what the approver was shown, and may change: a tool's arguments, or
	// the whole request of another call.
	Arguments jsontext.Value `json:"arguments,omitzero"`
	// Grounds are what the approver was told besides. A gate of before has none.
	abi.Grounds `json:",inline"`
}

// ReadGate returns what an entry of [abi.CallGate] asked.
func ReadGate(e *Entry) (*Gate, error) {
	g := &Gate{}
	if err := json.Unmarshal(e.Request, g); err != nil {
		return nil, fmt.Errorf("reading the gate of call %d: %w", e.Index, err)
	}
	return g, nil
}

// GateDecision returns how a closed entry of [abi.CallGate] was decided.
func GateDecision(e *Entry) (*abi.CallApprovalAnswer, error) {
	a := &abi.CallApprovalAnswer{}
	if e.Status != abi.CallOK {
		return a, nil
	}
	if err := json.Unmarshal(e.Answer, a); err != nil {
		return nil, fmt.Errorf("reading the decision of call %d: %w", e.Index, err)
	}
	return a, nil
}

// Approved returns the arguments that an approval, whose entry is closed, has the call made with; nil
// for those that it was asked with. Of a delegation that is what the host has put into its request
// before anybody was asked: the plan.
func Approved(e *Entry) (jsontext.Value, error) {
	a, err := GateDecision(e)
	if err != nil || a.Decision != "approved" || len(a.Arguments) > 0 {
		return a.Arguments, err
	}
	gate, err := ReadGate(e)
	if err != nil || gate.Call != abi.CallAgentDelegate {
		return nil, err
	}
	return gate.Arguments, nil
}

// Grounds returns why policy asked for the approval of an entry of [abi.CallGate]; nothing of any
// other entry, by which a plugin asks, whose word stands for nothing here.
func Grounds(e *Entry) abi.Grounds {
	if e.Call != abi.CallGate {
		return abi.Grounds{}
	}
	gate, err := ReadGate(e)
	if err != nil {
		return abi.Grounds{}
	}
	return gate.Grounds
}

// HooksSaid is the answer of an entry of [abi.CallHooks].
type HooksSaid struct {
	Denied  bool           `json:"denied,omitzero"`
	Reason  string         `json:"reason,omitzero"`
	Input   jsontext.Value `json:"input,omitzero"` // the arguments that the call is made with, where they were changed
	Answers []HookSaid     `json:"answers"`        // in the order in which they were asked
}

// HookSaid is what one hook has said.
type HookSaid struct {
	HookID   string `json:"hook_id"`
	Decision string `json:"decision"`        // allow, deny, input; open or closed where it gave no answer
	Reason   string `json:"reason,omitzero"` // of a denial; or why there was no answer
}

// ReadHooks returns what an entry of [abi.CallHooks] says; nil for nil.
func ReadHooks(e *Entry) (*HooksSaid, error) {
	if e == nil {
		return nil, nil
	}
	said := &HooksSaid{}
	if err := json.Unmarshal(e.Answer, said); err != nil {
		return nil, fmt.Errorf("reading what hooks have said of call %d: %w", e.Index, err)
	}
	return said, nil
}
