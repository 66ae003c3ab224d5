package engine

import (
	"context"
	"errors"
	goruntime "runtime"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/sandbox"
	"github.com/wharf-dev/wharf/runtime/turns"
)

// TestLargeRequestsTakeTurns holds that what is large in a host call or in the body of a
// retry is read in one of the places of long work: others' Tasks go on meanwhile, and a
// cancel ends the wait.
func TestLargeRequestsTakeTurns(t *testing.T) {
	large := strings.Repeat("x", turns.Large)
	calls := func(call, request string) guest {
		return func(ctx context.Context, h sandbox.Host) error {
			status, _, err := h.Call(ctx, call, []byte(request))
			if err == nil && status != abi.CallOK {
				err = errors.New(call + " was refused")
			}
			return err
		}
	}
	one := turns.New(1)
	n := newNode(t, guests{
		"message": calls(abi.CallMessageAppend, `{"role":"assistant","parts":[{"type":"text","text":"`+large+`"}]}`),
		"event":   calls(abi.CallEventEmit, `{"kind":"vendor.x.y","payload":{"x":"`+large+`"}}`),
	}, func(_ *Config, p *Parts) { p.Turns = one })
	session := n.session(t)
	waiting := func() {
		for one.Waiting() == 0 {
			goruntime.Gosched()
		}
	}
	for _, persona := range []string{"persona_message", "persona_event"} {
		if err := one.Enter(t.Context()); err != nil {
			t.Fatal(err)
		}
		id, canceled := n.submit(t, session, persona), n.submit(t, session, persona)
		waiting()
		if got := n.wait(t, n.submit(t, session, "persona_echo")); got.Status != abi.TaskCompleted {
			t.Errorf("%s: an echo beside it is %s", persona, got.Status)
		}
		if _, err := n.CancelTask(t.Context(), n.root, nil, canceled, abi.CancelTaskRequest{}); err != nil {
			t.Fatal(err)
		}
		if got := n.wait(t, canceled); got.Status != abi.TaskCanceled {
			t.Errorf("%s: who was canceled is %s", persona, got.Status)
		}
		one.Leave()
		if got := n.wait(t, id); got.Status != abi.TaskCompleted {
			t.Errorf("%s: it is %s: %+v", persona, got.Status, got)
		}
	}
	if err := one.Enter(t.Context()); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		_, err := n.SubmitTask(t.Context(), n.root, &desk.Retry{Key: "k", Method: "POST", Target: "/t", Body: text(large)}, abi.SubmitTaskRequest{SessionID: session, PersonaID: "persona_echo", Input: text("hi")})
		done <- err
	}()
	waiting()
	one.Leave()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
