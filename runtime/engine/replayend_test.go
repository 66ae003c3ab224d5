package engine_test

import (
	"context"
	"errors"
	"testing"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/engine"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/quotas"
	"github.com/wharf-dev/wharf/runtime/sandbox"
	"github.com/wharf-dev/wharf/storage/pebble/crashtest"
)

// endsAs is a way for a Task to end. Its plugin makes two calls and then does what
// last says; end, which may be nil, ends it from outside once it has.
type endsAs struct {
	last   func(ctx context.Context, h sandbox.Host, there chan<- struct{}) error
	end    func(t *testing.T, n *node, id string)
	status abi.TaskStatus
	code   string                                          // of the failure
	again  func(ctx context.Context, h sandbox.Host) error // what it does in a replay; nil for last
}

// goesOn makes one call more.
func goesOn(ctx context.Context, h sandbox.Host) error {
	_, _, err := h.Call(ctx, abi.CallClock, nil)
	return err
}

// isDone ends well.
func isDone(context.Context, sandbox.Host) error { return nil }

// computes stays there until it is stopped.
func computes(ctx context.Context, _ sandbox.Host, there chan<- struct{}) error {
	there <- struct{}{}
	<-ctx.Done()
	return context.Cause(ctx)
}

func calls(call, request string) func(context.Context, sandbox.Host, chan<- struct{}) error {
	return func(ctx context.Context, h sandbox.Host, there chan<- struct{}) error {
		there <- struct{}{}
		_, _, err := h.Call(ctx, call, []byte(request))
		return err
	}
}

func fails(f *abi.Failure) func(context.Context, sandbox.Host, chan<- struct{}) error {
	return func(context.Context, sandbox.Host, chan<- struct{}) error { return f }
}

func from(how string) func(t *testing.T, n *node, id string) {
	return func(t *testing.T, n *node, id string) {
		if err := endings[how](n, id); err != nil {
			t.Error(err)
		}
	}
}

func afterParking(end func(*testing.T, *node, string)) func(*testing.T, *node, string) {
	return func(t *testing.T, n *node, id string) { n.parked(t, id); end(t, n, id) }
}

func overQuota(_ *testing.T, n *node, id string) {
	_ = n.UseUp(ledger.Key{Tenant: n.Root.Tenant, ID: id})
}

var waysToEnd = map[string]endsAs{
	"well":                 {last: calls(abi.CallOutput, `{"summary":"done"}`), status: abi.TaskCompleted},
	"with a failure":       {last: calls(abi.CallOutput, `{"failure":{"code":"own","message":"m"}}`), status: abi.TaskFailed, code: "own"},
	"with a trap":          {last: fails(&abi.Failure{Code: abi.FailurePluginTrap}), status: abi.TaskFailed, code: abi.FailurePluginTrap},
	"canceled, computing":  {last: computes, end: from("cancel"), status: abi.TaskCanceled, again: goesOn},
	"canceled, waiting":    {last: calls(abi.CallSleep, `{"ms":600000}`), end: afterParking(from("cancel")), status: abi.TaskCanceled},
	"canceled, asking":     {last: calls(abi.CallApprovalRequest, `{"action":"a","prompt":"?"}`), end: afterParking(from("cancel")), status: abi.TaskCanceled},
	"deadline, computing":  {last: computes, end: from("deadline"), status: abi.TaskFailed, code: abi.FailureDeadline, again: goesOn},
	"deadline, waiting":    {last: calls(abi.CallSleep, `{"ms":600000}`), end: afterParking(from("deadline")), status: abi.TaskFailed, code: abi.FailureDeadline},
	"budget, computing":    {last: computes, end: from("budget"), status: abi.TaskFailed, code: abi.FailureBudget, again: goesOn},
	"quota, computing":     {last: computes, end: overQuota, status: abi.TaskFailed, code: quotas.Code, again: goesOn},
	"too slow":             {last: fails(&abi.Failure{Code: abi.FailurePluginTimeout}), status: abi.TaskFailed, code: abi.FailurePluginTimeout},
	"failed by the host":   {last: func(context.Context, sandbox.Host, chan<- struct{}) error { return errors.New("a fault") }, status: abi.TaskFailed, code: abi.FailureHost, again: goesOn},
	"attempts":             {last: computes, status: abi.TaskFailed, code: abi.FailureAttempts, again: goesOn},
	"canceled, at the end": {last: computes, end: from("cancel"), status: abi.TaskCanceled, again: isDone},
}

// An exact replay ends as its source did, whatever ended that: in its status, its
// Outcome, and what its receipt says.
func TestExactReplayEndsAsItsSource(t *testing.T) {
	for name, way := range waysToEnd {
		t.Run(name, func(t *testing.T) {
			there, again := make(chan struct{}, 100), false
			g := enginetest.Guests{"ending": func(ctx context.Context, h sandbox.Host) error {
				for range 2 {
					if _, _, err := h.Call(ctx, abi.CallClock, nil); err != nil {
						return err
					}
				}
				if again && way.again != nil {
					return way.again(ctx, h)
				}
				return way.last(ctx, h, there)
			}}
			few := func(c *engine.Config, _ *engine.Parts) { c.MaxAttempts = 1 }
			n := boot(t, crashtest.NewDisk(), g, few)
			defer func() { n.Stop(t) }()
			id := n.Submit(t, n.Session(t), "persona_ending")
			if name == "attempts" {
				<-there
				disk := n.Disk.Crash(1, 1)
				n.abandon()
				n = boot(t, disk, g, few)
			}
			if way.end != nil {
				<-there
				way.end(t, n, id)
			}
			source := n.Wait(t, id)
			if source.Status != way.status || way.code != "" && source.Failure.Code != way.code {
				t.Fatalf("the source is %s %+v", source.Status, source.Failure)
			}
			again = true
			wantSameEnd(t, n, source, n.replay(t, id, abi.ReplayTaskRequest{}))
			n.wantReplay(t, id)
			n.wantProof(t, id)
		})
	}
}

func wantSameEnd(t *testing.T, n *node, source, again abi.Task) {
	t.Helper()
	if again.Status != source.Status || (again.Failure == nil) != (source.Failure == nil) || again.Failure != nil && again.Failure.Code != source.Failure.Code {
		t.Errorf("the source is %s %+v, its replay %s %+v", source.Status, source.Failure, again.Status, again.Failure)
	}
	if is, was := n.outcome(t, again), n.outcome(t, source); is.Status != was.Status {
		t.Errorf("the outcome is %s, that of the source %s", is.Status, was.Status)
	}
	is, was := n.wire(t, again), n.wire(t, source)
	a, _ := json.Marshal(is.Lifecycle, json.Deterministic(true))
	b, _ := json.Marshal(was.Lifecycle, json.Deterministic(true))
	if string(a) != string(b) {
		t.Errorf("the receipt says %s, that of the source %s", jsontext.Value(a), jsontext.Value(b))
	}
	if is.Chain.MerkleRoot != was.Chain.MerkleRoot {
		t.Error("the receipts are of other records")
	}
}
