package replays

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/lifecycle"
	"github.com/wharf-dev/wharf/runtime/proofs"
	"github.com/wharf-dev/wharf/runtime/replay"
	"github.com/wharf-dev/wharf/runtime/sandbox"
	"github.com/wharf-dev/wharf/storage"
)

// Task is a replay Task under way, in memory. Its runner calls its methods, one at a time.
type Task interface {
	Tenant() storage.Tenant
	// About returns the Task as it was accepted, which nobody changes.
	About() *abi.Task
	// First reports whether this is the Task's first start.
	First() bool
	// Tell writes events of the Task and waits for the disk. A Task that has ended writes
	// nothing more: that is ErrEnded.
	Tell(records []ledger.Record) error
	// Stopped reports whether a run of that context was stopped from outside: its Task has ended,
	// or is left to the next start of the node.
	Stopped(ctx context.Context) bool
	// End ends the Task, unless it has ended already.
	End(e *Ending)
}

// ErrEnded is the error of a replay Task that was ended from outside.
var ErrEnded = errors.New("the replay has ended meanwhile")

// Ending is how a replay ends its Task.
type Ending struct {
	Kind    lifecycle.InputKind  // Complete, Fail or Canceled
	Records []ledger.Record      // written in the batch of the end, before it
	Outcome func(o *abi.Outcome) // completes the Outcome
	Facts   *proofs.Facts        // what the receipt is made from; nil where the replay has none of its own
}

// RunReplay runs a replay to its end. It leaves a replay that is stopped or ended from outside as
// it is.
func (k *Keeper) RunReplay(ctx context.Context, t Task) {
	p := &underWay{keeper: k, task: t, tenant: t.Tenant(), about: t.About()}
	result, err := p.run(ctx)
	if err != nil && (errors.Is(err, ErrEnded) || t.Stopped(ctx)) {
		return
	}
	p.end(result, err)
}

// underWay is a replay that runs.
type underWay struct {
	keeper  *Keeper
	task    Task
	tenant  storage.Tenant
	about   *abi.Task
	source  *abi.Task
	record  *journal.Record
	request abi.ReplayTaskRequest
	pending []ledger.Record

	started bool // that it has begun was told by an earlier life of it
	told    int  // calls that an earlier life of it told
}

func (p *underWay) run(ctx context.Context) (*replay.Result, error) {
	k, about := p.keeper, p.about
	var err error
	if p.source, err = k.parts.Records.Task(ctx, p.tenant, about.Replay.SourceTaskID); err != nil {
		return nil, ledger.Missing("task", about.Replay.SourceTaskID, err)
	}
	if p.record, err = k.parts.Records.Of(ctx, p.tenant, p.source); err != nil {
		return nil, err
	}
	replacements, err := p.replacements(ctx)
	if err != nil {
		return nil, err
	}
	module, err := k.parts.Module(ctx, p.record.Program.Module)
	if err != nil {
		return nil, err
	}
	if err := p.readTold(ctx); err != nil {
		return nil, err
	}
	if !p.started {
		p.tell(abi.EventReplayStarted, abi.ReplayStarted{Mode: about.Replay.Mode, Reason: p.request.Reason})
	}
	result, err := replay.Run(ctx, module, p.record, replay.Options{
		Replacements: replacements, TaskID: about.Replay.ReplayID, OnCall: p.replayed,
		WallTime: k.parts.Limits(p.record.Program.Plugin).WallTime, Rewriter: k.parts.Rewriter, Most: k.mostOf(p.record.Program.Plugin),
	})
	if result != nil {
		k.parts.Used(result.Gas)
	}
	return result, err
}

// mostOf returns what a replay of a plugin's Task may have, whatever the record says, which
// may have come here in a backup: what the node allows the plugin, or its defaults.
func (k *Keeper) mostOf(plugin string) sandbox.Limits {
	here, d := k.parts.Limits(plugin), sandbox.DefaultLimits()
	return sandbox.Limits{
		MemoryBytes: max(here.MemoryBytes, d.MemoryBytes), HostCalls: max(here.HostCalls, d.HostCalls), PayloadBytes: max(here.PayloadBytes, d.PayloadBytes),
		OutputBytes: max(here.OutputBytes, d.OutputBytes), Gas: max(here.Gas, d.Gas),
	}
}

// replacements resolves the overrides again, as they were accepted.
func (p *underWay) replacements(ctx context.Context) (list []replay.Replacement, err error) {
	k, about := p.keeper, p.about
	hash, err := journal.ParseHash(about.Replay.Request)
	if err != nil {
		return nil, err
	}
	text, err := journal.Content(ctx, k.parts.Store.Blobs(), hash)
	if err != nil {
		return nil, ledger.Missing("blob", about.Replay.Request, err)
	}
	if err := json.Unmarshal(text, &p.request); err != nil {
		return nil, fmt.Errorf("reading the replay request: %w", err)
	}
	c := &desk.Caller{Tenant: p.tenant}
	for _, key := range slices.Sorted(maps.Keys(p.request.Override)) {
		o := p.request.Override[key]
		content, err := k.overrideContent(ctx, c, key, &o)
		if err != nil {
			return nil, ledger.Missing("artifact", o.ArtifactID, err)
		}
		stated := o.SHA256
		if o.Value == nil && o.ArtifactID == "" { // a secret's, which was not kept
			content, o.Value, o.SHA256 = []byte("null"), jsontext.Value("null"), ""
		}
		r, err := replay.Resolve(p.record, key, &o, content)
		if err != nil {
			return nil, err
		}
		r.Delta.AfterSHA256 = stated
		list = append(list, r)
	}
	return list, nil
}
