package engine_test

import (
	"bytes"
	"context"
	"strconv"
	"testing"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/bundle"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/sandbox"
)

// wantProof wants a Task's receipt to be that of its whole record, as the node and as a
// stranger see it.
func (n *node) wantProof(t *testing.T, id string) {
	t.Helper()
	task := n.task(t, id)
	v, err := n.VerifyReceipt(t.Context(), n.Root, nil, task.ReceiptID, abi.VerifyReceiptRequest{})
	if err != nil || !v.Valid {
		t.Errorf("the node verifies the receipt: %v %+v", err, v)
	}
	var file bytes.Buffer
	if err := n.ExportTask(t.Context(), n.Root, id, &file); err != nil {
		t.Fatal(err)
	}
	report := bundle.Verify(t.Context(), bytes.NewReader(file.Bytes()), int64(file.Len()), bundle.Options{ChainOnly: true})
	if !report.Valid {
		t.Errorf("a stranger verifies the bundle: %s\n%+v", report.Reason(), report.Checks)
	}
}

func (n *node) outcome(t *testing.T, task abi.Task) abi.Outcome {
	t.Helper()
	doc, err := n.Get(t.Context(), n.Root, abi.ObjectOutcome, task.OutcomeID)
	if err != nil {
		t.Fatal(err)
	}
	return enginetest.As[abi.Outcome](t, doc)
}

// A Task that ends while it is brought back to where it was has the receipt of all that
// it did before, whatever ends it.
func TestEndWhileTheRecordIsRerun(t *testing.T) {
	ops := []op{
		{abi.CallClock, ""}, say("first"), {abi.CallArtifactPut, "{\"kind\":\"file\",\"mime_type\":\"text/plain\"}\ncontent"},
		{abi.CallStateSet, `{"key":"a","value":1}`}, {abi.CallClock, ""},
	}
	const durable = 4
	cases := map[string]struct {
		end  func(t *testing.T, n *node, stop context.CancelCauseFunc, id string)
		want abi.TaskStatus
		code string
	}{
		"cancel": {want: abi.TaskCanceled, end: func(t *testing.T, n *node, _ context.CancelCauseFunc, id string) {
			if _, err := n.CancelTask(t.Context(), n.Root, nil, id, abi.CancelTaskRequest{}); err != nil {
				t.Error(err)
			}
		}},
		"deadline": {want: abi.TaskFailed, code: abi.FailureDeadline, end: func(_ *testing.T, n *node, _ context.CancelCauseFunc, id string) {
			n.Expire(ledger.Key{Tenant: n.Root.Tenant, ID: id})
		}},
		"budget": {want: abi.TaskFailed, code: abi.FailureBudget, end: func(_ *testing.T, n *node, _ context.CancelCauseFunc, id string) {
			n.Exhaust(ledger.Key{Tenant: n.Root.Tenant, ID: id})
		}},
		"stopped plugin": {want: abi.TaskFailed, code: abi.FailurePluginTimeout, end: func(_ *testing.T, _ *node, stop context.CancelCauseFunc, _ string) {
			stop(&abi.Failure{Code: abi.FailurePluginTimeout, Message: "too slow"})
		}},
	}
	for name, c := range cases {
		for held := range durable {
			t.Run(name+" before call "+strconv.Itoa(held), func(t *testing.T) {
				p := newProgram(ops...)
				p.stopBefore(durable)
				stopped, stop := context.WithCancelCause(context.Background())
				g := enginetest.Guests{"program": func(ctx context.Context, h sandbox.Host) error {
					ctx, cancel := context.WithCancelCause(ctx)
					defer context.AfterFunc(stopped, func() { cancel(context.Cause(stopped)) })()
					return p.run(ctx, h)
				}}
				first := newNode(t, g)
				id := first.Submit(t, first.Session(t), "persona_program")
				<-p.there
				p.stopBefore(held)
				n := boot(t, first.Disk.Crash(uint64(held), 0), g)
				defer n.Stop(t)
				<-p.there
				c.end(t, n, stop, id)
				task := n.Wait(t, id)
				if task.Status != c.want || c.code != "" && task.Failure.Code != c.code {
					t.Fatalf("it ended as %s %+v", task.Status, task.Failure)
				}
				if r := n.wire(t, task); len(r.FinalArtifacts) != 1 {
					t.Errorf("the receipt tells of %d artifacts", len(r.FinalArtifacts))
				}
				if o := n.outcome(t, task); c.code == abi.FailurePluginTimeout &&
					(len(o.MessageIDs) != 1 || len(o.ArtifactIDs) != 1) {
					t.Errorf("the outcome tells of %v and %v", o.MessageIDs, o.ArtifactIDs)
				}
				n.wantProof(t, id)
			})
		}
	}
}
