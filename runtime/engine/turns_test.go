package engine_test

import (
	"context"
	"errors"
	goruntime "runtime"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/engine"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/sandbox"
	"github.com/wharf-dev/wharf/runtime/turns"
)

// TestLargeRequestsTakeTurns holds that what is large in a host call or in the body of a
// retry is read in one of the places of long work: others' Tasks go on meanwhile, and a
// cancel ends the wait.
func TestLargeRequestsTakeTurns(t *testing.T) {
	large := strings.Repeat("x", turns.Large)
	calls := func(call, request string) enginetest.Guest {
		return func(ctx context.Context, h sandbox.Host) error {
			status, _, err := h.Call(ctx, call, []byte(request))
			if err == nil && status != abi.CallOK {
				err = errors.New(call + " was refused")
			}
			return err
		}
	}
	one := turns.New(1)
	n := newNode(t, enginetest.Guests{
		"message": calls(abi.CallMessageAppend, `{"role":"assistant","parts":[{"type":"text","text":"`+large+`"}]}`),
		"event":   calls(abi.CallEventEmit, `{"kind":"vendor.x.y","payload":{"x":"`+large+`"}}`),
	}, func(_ *engine.Config, p *engine.Parts) { p.Turns = one })
	session := n.Session(t)
	waiting := func() {
		for one.Waiting() == 0 {
			goruntime.Gosched()
		}
	}
	for _, persona := range []string{"persona_message", "persona_event"} {
		if err := one.Enter(t.Context()); err != nil {
			t.Fatal(err)
		}
		id, canceled := n.Submit(t, session, persona), n.Submit(t, session, persona)
		waiting()
		if got := n.Wait(t, n.Submit(t, session, "persona_echo")); got.Status != abi.TaskCompleted {
			t.Errorf("%s: an echo beside it is %s", persona, got.Status)
		}
		if _, err := n.CancelTask(t.Context(), n.Root, nil, canceled, abi.CancelTaskRequest{}); err != nil {
			t.Fatal(err)
		}
		if got := n.Wait(t, canceled); got.Status != abi.TaskCanceled {
			t.Errorf("%s: who was canceled is %s", persona, got.Status)
		}
		one.Leave()
		if got := n.Wait(t, id); got.Status != abi.TaskCompleted {
			t.Errorf("%s: it is %s: %+v", persona, got.Status, got)
		}
	}
}
