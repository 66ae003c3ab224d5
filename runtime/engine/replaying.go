package engine

import (
	"context"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/lifecycle"
	"github.com/wharf-dev/wharf/runtime/replay"
	"github.com/wharf-dev/wharf/runtime/replays"
	"github.com/wharf-dev/wharf/storage"
)

// newReplays makes the room that replays and forks are served by.
func (e *Engine) newReplays(common desk.Parts) *replays.Keeper {
	return replays.NewKeeper(replays.Parts{Parts: common,
		Records: e.records, PersonaAt: e.pinned.PersonaAt, Sessions: e.sessionResources, Artifacts: e.artifactResources, Receipts: e.proofResources, Submit: e.submitDerived, Controls: e.Controls,
		Module: func(ctx context.Context, digest string) (replay.Module, error) {
			return e.modules.ModuleAt(ctx, digest)
		},
		Rewriter: e.rewriter, Limits: e.config.limitsFor, Used: func(gas uint64) { e.counts.gas.Add(gas) }})
}

// submitDerived accepts a Task that is made from another one.
func (e *Engine) submitDerived(ctx context.Context, c *desk.Caller, r *desk.Retry, session string,
	describe func() (*replays.Derived, error)) (desk.Doc, error) {
	return e.submit(ctx, c, r, session, func(*ledger.Session) (*task, *abi.Message, error) {
		if err := e.open(); err != nil {
			return nil, nil, err
		}
		d, err := describe()
		if err != nil {
			return nil, nil, err
		}
		return &task{tenant: c.Tenant, id: d.Task.ID, about: *d.Task, task: *d.Task, input: d.Input, restricted: d.Restricted}, nil, nil
	})
}

// replayTask is a live Task as what replays it sees it.
type replayTask struct {
	*task
	engine *Engine
}

// Tenant implements [replays.Task].
func (t replayTask) Tenant() storage.Tenant { return t.tenant }

// About implements [replays.Task].
func (t replayTask) About() *abi.Task { return &t.about }

// First implements [replays.Task].
func (t replayTask) First() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.state.Attempt <= 1
}

// Stopped implements [replays.Task].
func (t replayTask) Stopped(ctx context.Context) bool { return stopped(ctx) != nil }

// Tell implements [replays.Task].
func (t replayTask) Tell(records []ledger.Record) error {
	commit, err := t.handOver(records)
	if err != nil {
		return err
	}
	_, err = commit.Wait(context.Background())
	return t.engine.ledger.Failed("writing to the log", err)
}

// handOver gives events of a replay to the store.
func (t replayTask) handOver(records []ledger.Record) (storage.Commit, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.state.Status.Terminal() {
		return nil, replays.ErrEnded
	}
	records = t.number(records)
	encoded, err := ledger.Encode(records...)
	if err != nil {
		return nil, err
	}
	commit := t.engine.ledger.Append(&storage.Batch{Frame: taskFrame(t.tenant, &t.about, desk.HostActor, t.engine.now(), encoded)})
	t.seq += uint64(len(records))
	return commit, nil
}

// End implements [replays.Task].
func (t replayTask) End(end *replays.Ending) {
	ch := change{in: lifecycle.Input{Kind: end.Kind}, actor: desk.HostActor, before: end.Records, outcome: end.Outcome, facts: end.Facts}
	t.mu.Lock()
	commit, err := t.engine.apply(t.task, ch)
	t.mu.Unlock()
	t.engine.ended(t.task, commit, err)
}
