package engine

import (
	"context"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/apart"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/intake"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/sessions"
	"github.com/wharf-dev/wharf/storage"
)

// newIntake makes the room that Connectors are served by, and has it hear of
// Tasks that end.
func (e *Engine) newIntake(common desk.Parts, secret func(context.Context, storage.Tenant, *abi.Connector, string, string) ([]byte, error)) *intake.Intake {
	i := intake.New(intake.Parts{Config: e.config.Connectors, Parts: common,
		Entropy: e.entropy, Tenants: e.tenants, Tasks: connectedTasks{e}, Plugins: e.pluginsApart(), Offered: func() []*abi.Connector { return e.OfferedConnectors() }, Secret: secret,
		Persona: e.WorkflowIn, Message: e.connectedMessage, LeaveOut: e.aside.LeaveOut, Draining: e.draining.Load, Room: e.disk.Await, Background: &e.background,
		LeftOut: func(key ledger.Key) error { return e.aside.Cause(abi.ObjectConnector, key) }})
	e.observers = append(e.observers, i.TaskEnded)
	return i
}

// connectedTasks is the engine as Connectors see it.
type connectedTasks struct{ engine *Engine }

// Offer implements [intake.Tasks].
func (c connectedTasks) Offer(ctx context.Context, o intake.Order) (intake.Offered, error) {
	e := c.engine
	s, release, err := e.OpenSession(ctx, o.Caller, o.Request.SessionID)
	if err != nil {
		return intake.Offered{}, err
	}
	live, m, err := e.orderedTask(ctx, s, &o)
	if err != nil {
		release()
		return intake.Offered{}, err
	}
	live.session, live.leave = s, release
	extra, err := ledger.Encode(o.With...)
	if err != nil {
		release()
		return intake.Offered{}, err
	}
	_, commit, err := e.offer(ctx, live, m, o.Caller.Actor, nil, func(b *storage.Batch) error {
		b.Frame.Records = append(extra, b.Frame.Records...)
		return nil
	})
	if err != nil {
		release()
		return intake.Offered{}, err
	}
	return intake.Offered{Task: live, Commit: commit}, nil
}

// orderedTask returns the Task that a Connector submits, and its input if that is a Message.
func (e *Engine) orderedTask(ctx context.Context, s *ledger.Session, o *intake.Order) (*task, *abi.Message, error) {
	live, m, err := e.newTask(ctx, o.Caller, s, o.ID, o.Request)
	if err != nil {
		return nil, nil, err
	}
	for _, t := range []*abi.Task{&live.about, &live.task} {
		t.ConnectorID, t.DeliveryID, t.OrderKey = o.ConnectorID, o.DeliveryID, o.OrderKey
	}
	return live, m, nil
}

// Run implements [intake.Tasks].
func (c connectedTasks) Run(o intake.Offered) error {
	live := o.Task.(*task)
	if err := c.engine.accepted(live, o.Commit); err != nil {
		live.leave()
		return err
	}
	c.engine.queue.Push(live.job(), live.place)
	return nil
}

// Submit implements [intake.Tasks].
func (c connectedTasks) Submit(ctx context.Context, o intake.Order) error {
	_, err := c.engine.submit(ctx, o.Caller, nil, o.Request.SessionID, func(s *ledger.Session) (*task, *abi.Message, error) {
		return c.engine.orderedTask(ctx, s, &o)
	})
	return err
}

// Room implements [intake.Tasks].
func (c connectedTasks) Room() <-chan struct{} { return c.engine.queue.Room() }

// connectedMessage returns the event that appends a Message of a Connector.
func (e *Engine) connectedMessage(in *abi.MessageInput, session, id string) (ledger.Record, error) {
	m, err := e.NewMessage(in, session, "")
	if err != nil {
		return ledger.Record{}, err
	}
	m.ID = id
	return sessions.MessageRecord(m), nil
}

// pluginsApart has plugins run apart from Tasks.
func (e *Engine) pluginsApart() apart.Plugins {
	resolved := func(ctx context.Context, name string) (string, error) { return e.modules.Resolve(ctx, name) }
	named := func(ctx context.Context, name string) (string, apart.Module, error) { return e.moduleNamed(ctx, name) }
	return &apart.Node{Resolved: resolved, Named: named, LimitsFor: e.config.limitsFor, Used: func(gas uint64) { e.counts.gas.Add(gas) }}
}
