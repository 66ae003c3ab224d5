package waiting

import (
	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/provider"
)

// The codes of calls that somebody was asked about, and that were not made.
const (
	codeApprovalDenied  = "approval_denied"
	codeApprovalTimeout = "approval_timeout"
)

// Decided says what the end of the approval before a call means for it: nil when it was approved, or
// when there is none, or none yet.
func Decided(gate *journal.Entry) error {
	if gate == nil || gate.Open {
		return nil
	}
	a, err := journal.GateDecision(gate)
	switch {
	case err != nil:
		return err
	case a.Decision == "approved":
		return nil
	case a.Decision == "timeout" || gate.Status == abi.CallTimeout:
		return provider.Refuse(abi.CallDenied, codeApprovalTimeout, "nobody has approved this call in time")
	case a.Reason != "":
		return provider.Refuse(abi.CallDenied, codeApprovalDenied, "this call was denied: "+a.Reason)
	}
	return provider.Refuse(abi.CallDenied, codeApprovalDenied, "this call was denied")
}
