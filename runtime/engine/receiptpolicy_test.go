package engine_test

import (
	"fmt"
	"testing"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/engine"
	"github.com/wharf-dev/wharf/runtime/enginetest"
)

// A Persona's receipt policy holds whatever the node is told to issue; what it requires
// and the node cannot sign is not begun.
func TestReceiptPolicy(t *testing.T) {
	for _, policy := range []abi.ReceiptPolicy{abi.ReceiptDisabled, abi.ReceiptOptional, abi.ReceiptRequired} {
		for _, only := range []bool{false, true} {
			for _, signs := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, required only %v, signs %v", policy, only, signs), func(t *testing.T) {
					n := newNode(t, enginetest.Guests{}, func(c *engine.Config, p *engine.Parts) {
						c.RequiredReceiptsOnly = only
						p.Personas[0].ReceiptPolicy = policy
						if !signs {
							p.Keys = nil
						}
					})
					doc, err := n.SubmitTask(t.Context(), n.Root, nil, abi.SubmitTaskRequest{SessionID: n.Session(t), PersonaID: "persona_echo", Input: enginetest.Text("hi")})
					if policy == abi.ReceiptRequired && !signs {
						enginetest.WantCode(t, err, abi.CodePolicyViolation)
						return
					}
					if err != nil {
						t.Fatal(err)
					}
					want := signs && (policy == abi.ReceiptRequired || policy == abi.ReceiptOptional && !only)
					if task := n.Wait(t, doc.ID); task.Status != abi.TaskCompleted || (task.ReceiptID != "") != want {
						t.Errorf("%s with the receipt %q, want one: %v", task.Status, task.ReceiptID, want)
					}
				})
			}
		}
	}
}
