package replays

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"strings"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/records"
	"github.com/wharf-dev/wharf/runtime/redact"
	"github.com/wharf-dev/wharf/runtime/replay"
	"github.com/wharf-dev/wharf/storage"
)

// ReplayTask accepts a Task that replays another (docs/protocol.md, 6).
func (k *Keeper) ReplayTask(ctx context.Context, c *desk.Caller, r *desk.Retry, id string, req abi.ReplayTaskRequest) (desk.Doc, error) {
	source, _, err := desk.Find[abi.Task](ctx, k.parts.Desk, c, abi.ObjectTask, id)
	if err != nil {
		return desk.Doc{}, err
	}
	return k.parts.Submit(ctx, c, r, source.SessionID, func() (*Derived, error) { return k.newReplay(ctx, c, &source, req) })
}

// newReplay checks a request to replay a Task and returns the Task that does so.
func (k *Keeper) newReplay(ctx context.Context, c *desk.Caller, source *abi.Task, req abi.ReplayTaskRequest) (*Derived, error) {
	req.Mode = cmp.Or(req.Mode, abi.ReplayExact)
	if err := cmp.Or(desk.CheckMetadata(&req.Metadata), checkReplayable(source), checkReplayMode(&req)); err != nil {
		return nil, err
	}
	rec, err := k.recordToCheck(ctx, c.Tenant, source, req.Mode)
	if err != nil {
		return nil, desk.Refusal(err)
	}
	checkpoint, err := k.checkpointOf(ctx, c, rec, &req)
	if err != nil {
		return nil, err
	}
	hashes, err := k.checkOverrides(ctx, c, rec, &req, checkpoint)
	if err != nil {
		return nil, err
	}
	kept, err := k.keepRequest(ctx, &req)
	if err != nil {
		return nil, err
	}
	now := k.parts.Now()
	t := &abi.Task{
		Envelope:  abi.NewEnvelope(abi.ObjectTask, k.parts.IDs.New(abi.ObjectTask), now, req.Metadata),
		SessionID: source.SessionID, WorkspaceID: source.WorkspaceID, CreatedBy: c.Actor, PersonaID: source.PersonaID,
		BranchID: source.BranchID, ParentTaskID: source.ID, InputMessageID: source.InputMessageID, Module: source.Module, PersonaVersion: source.PersonaVersion,
		Replay: &abi.TaskReplay{SourceTaskID: source.ID, Mode: req.Mode, Request: kept, Checkpoint: checkpoint,
			ReplayID: replay.ID(rec, req.Mode, checkpoint, req.Override, hashes)},
	}
	return k.derived(ctx, c.Tenant, t, source)
}

// recordToCheck returns the record that a request is checked against. An exact
// replay names nothing in it, and reads it when it runs.
func (k *Keeper) recordToCheck(ctx context.Context, tenant storage.Tenant, source *abi.Task, mode abi.ReplayMode) (*journal.Record, error) {
	if mode == abi.ReplayExact && source.Module != "" {
		return &journal.Record{TaskID: source.ID, Program: journal.Program{Module: source.Module},
			End: &journal.End{Status: source.Status, Failure: source.Failure, Stopped: records.Stopped(source)}}, nil
	}
	return k.parts.Records.Of(ctx, tenant, source)
}

// derived returns a Task with the input of its source, which it shares.
func (k *Keeper) derived(ctx context.Context, tenant storage.Tenant, t, source *abi.Task) (*Derived, error) {
	res, err := k.parts.Ledger.Find(ctx, tenant, abi.ObjectTask, source.ID)
	if err != nil {
		return nil, err
	}
	in, err := k.parts.Desk.InputOf(ctx, tenant, res)
	if err != nil {
		return nil, err
	}
	return &Derived{Task: t, Input: in.Value, Restricted: in.Restricted}, nil
}

// checkReplayable refuses a source that has no record of its own, or not all of it
// yet.
func checkReplayable(source *abi.Task) error {
	switch {
	case source.Replay != nil:
		return abi.Errorf(abi.CodeInvalidRequest, "task %s is a replay itself: replay its source, %s", source.ID, source.Replay.SourceTaskID)
	case !source.Status.Terminal():
		return abi.Errorf(abi.CodeConflict, "task %s is %s: it can be replayed when it has ended", source.ID, source.Status)
	}
	return nil
}

func checkReplayMode(req *abi.ReplayTaskRequest) error {
	if err := desk.CheckOneOf("mode", req.Mode, abi.ReplayExact, abi.ReplayWithOverrides, abi.ReplayFromCheckpoint); err != nil {
		return err
	}
	switch {
	case req.Mode == abi.ReplayExact && len(req.Override) > 0:
		return abi.InvalidParam("override", "an exact replay takes no overrides: the mode for them is with_overrides")
	case req.Mode == abi.ReplayFromCheckpoint && req.CheckpointID == "" && req.CheckpointEventID == "":
		return abi.InvalidParam("checkpoint_event_id", "from_checkpoint needs checkpoint_event_id, the id of an event of the task, or checkpoint_id, such as call:3")
	case req.Mode != abi.ReplayFromCheckpoint && (req.CheckpointID != "" || req.CheckpointEventID != ""):
		return abi.InvalidParam("checkpoint_id", "a checkpoint belongs to the mode from_checkpoint, not %s", req.Mode)
	}
	return nil
}

// keepRequest keeps what a replay was asked for until it runs, and after a crash.
// Values of secrets are not kept: no replay needs them.
func (k *Keeper) keepRequest(ctx context.Context, req *abi.ReplayTaskRequest) (string, error) {
	kept := *req
	kept.Override = maps.Clone(req.Override)
	for key, o := range kept.Override {
		if o.Kind == abi.OverrideSecret || strings.HasPrefix(key, redact.SecretKey) {
			o.Value = nil
			kept.Override[key] = o
		}
	}
	text, err := json.Marshal(&kept, json.Deterministic(true))
	if err != nil {
		return "", fmt.Errorf("encoding the replay request: %w", err)
	}
	hash, _, err := k.parts.Store.Blobs().Put(ctx, bytes.NewReader(text), nil)
	if err != nil {
		return "", k.parts.Ledger.Failed("keeping the replay request", err)
	}
	return journal.FormatHash(hash), nil
}
