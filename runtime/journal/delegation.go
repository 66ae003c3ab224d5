package journal

import (
	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
)

// Delegation is what an entry of [abi.CallAgentDelegate] tells of work that was dispatched.
type Delegation struct {
	Agent   string
	Allowed abi.DelegationBudget
	// Answer is what the plugin was told; empty while nobody knows what became of the work.
	Answer abi.CallAgentDelegateAnswer
	// Used is what counts as used: what the agent has said, or all that it was allowed where nobody
	// knows; nothing where nothing was dispatched by this call.
	Used abi.DelegationBudget
}

// ReadDelegation returns what an entry of [abi.CallAgentDelegate] tells.
func ReadDelegation(e *Entry) (d Delegation, err error) {
	var req abi.CallAgentDelegateRequest
	if err := json.Unmarshal(e.Request, &req); err != nil {
		return d, err
	}
	d.Agent, d.Allowed = req.Agent, req.Budget
	switch e.Status {
	case abi.CallIndeterminate:
		d.Used = req.Budget
	case abi.CallOK:
		if len(e.Answer) == 0 {
			return d, nil // an intent
		}
		if err := json.Unmarshal(e.Answer, &d.Answer); err != nil {
			return d, err
		}
		if d.Dispatched() && d.Answer.Handoff != nil {
			d.Used = d.Answer.Handoff.BudgetUsed
		}
	}
	return d, nil
}

// Dispatched reports whether the call has had work done, by its answer.
func (d *Delegation) Dispatched() bool {
	return d.Answer.Status == abi.DelegationCompleted || d.Answer.Status == abi.DelegationExceeded
}
