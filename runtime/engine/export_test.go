package engine

import (
	"bytes"
	"context"
	"errors"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/aside"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/hostcall"
	"github.com/wharf-dev/wharf/runtime/intake"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/lifecycle"
	"github.com/wharf-dev/wharf/runtime/quotas"
	"github.com/wharf-dev/wharf/runtime/sandbox"
	"github.com/wharf-dev/wharf/runtime/scheduler"
	"github.com/wharf-dev/wharf/runtime/tenancy"
	"github.com/wharf-dev/wharf/storage"
)

// What tests of the engine want to know of its insides, and nobody else is shown.

// The bounds that tests go up to.
const (
	MaxChildren      = maxChildren
	MaxGenerations   = maxGenerations
	MaxHints         = maxHints
	MaxInputInMemory = maxInputInMemory
)

// ChildID is the id of a Task's child that its call with this index made.
func ChildID(parent *abi.Task, index int) string { return childID(parent, index) }

// ParksATask reports whether a batch states that a Task waits.
func ParksATask(b *storage.Batch) bool { return bytes.Contains(taskState(b), []byte(`"waiting":`)) }

// InMemory is how many Tasks are in memory.
func (e *Engine) InMemory() int {
	e.tasks.mu.RLock()
	defer e.tasks.mu.RUnlock()
	return len(e.tasks.byID)
}

// Holds reports whether a Task is in memory.
func (e *Engine) Holds(key ledger.Key) bool { return e.tasks.get(key) != nil }

// BytesInHand is what large documents take now of the budget that the node has for them.
func (e *Engine) BytesInHand() int64 { return e.config.InHand.Used() }

// LeftOut lists what could not be read and was set aside.
func (e *Engine) LeftOut() []aside.Resource { return e.aside.List() }

// Tenants are the node's.
func (e *Engine) Tenants() *tenancy.Tenants { return e.tenants }

// Answer has a room answer a host call outside of any run.
func (e *Engine) Answer(ctx context.Context, call string, c *hostcall.Call) (hostcall.Answer, error) {
	return e.served[call](ctx, c)
}

// Expire ends a Task as its deadline does.
func (e *Engine) Expire(key ledger.Key) { e.expire(key) }

// Exhaust ends a Task as its budget of time does.
func (e *Engine) Exhaust(key ledger.Key) { e.exhaust(key) }

// UseUp ends a Task as a Quota does that is used up.
func (e *Engine) UseUp(key ledger.Key) error {
	return e.endFromOutside(context.Background(), key, change{
		in:      lifecycle.Input{Kind: lifecycle.Deadline, Failure: quotas.Code},
		actor:   desk.HostActor,
		outcome: func(o *abi.Outcome) { o.Failure = &abi.Failure{Code: quotas.Code, Message: "used up"} },
	})
}

// Accept accepts a Task that the intake wants.
func (e *Engine) Accept(ctx context.Context, o intake.Order) error {
	return connectedTasks{e}.Submit(ctx, o)
}

// RunNothing makes every Task that is accepted from now on wait for ever.
func (e *Engine) RunNothing() { e.queue = scheduler.New[task](0, 1<<40, nil) }

// StopAtOnce stops all runs and leaves their Tasks as they are on the disk, as a power cut does.
func (e *Engine) StopAtOnce() {
	e.draining.Store(true)
	e.stopRuns(errDrained)
	<-e.queue.Drain()
}

// TellNoJSON has a run tell an event that is no JSON, and returns what refuses it. In a
// rerun, which tells nothing, it returns [errors.ErrUnsupported].
func TellNoJSON(ctx context.Context, h sandbox.Host) error {
	r, live := h.(*run)
	if !live {
		return errors.ErrUnsupported
	}
	return r.tell(ctx, &liveCall{
		def:   r.engine.calls[abi.CallEventEmit],
		entry: journal.Entry{Index: r.index, Call: abi.CallEventEmit, Request: []byte(`{}`)},
		extra: []ledger.Record{{Kind: "com.example.thing", Object: abi.ObjectTask, ID: r.task.id, Payload: jsontext.Value(`{`)}},
	}, journal.Whole)
}
