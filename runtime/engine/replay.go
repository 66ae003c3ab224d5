package engine

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/quotas"
	"github.com/wharf-dev/wharf/runtime/redact"
	"github.com/wharf-dev/wharf/runtime/replay"
	"github.com/wharf-dev/wharf/storage"
)

// ReplayTask accepts a Task that replays another (docs/protocol.md, 6).
func (e *Engine) ReplayTask(ctx context.Context, c *desk.Caller, r *desk.Retry, id string, req abi.ReplayTaskRequest) (desk.Doc, error) {
	source, _, err := desk.Find[abi.Task](ctx, e.Desk, c, abi.ObjectTask, id)
	if err != nil {
		return desk.Doc{}, err
	}
	return e.submit(ctx, c, r, source.SessionID, func(s *ledger.Session) (*task, *abi.Message, error) {
		if err := e.open(); err != nil {
			return nil, nil, err
		}
		t, err := e.newReplay(ctx, c, &source, req)
		return t, nil, err
	})
}

// newReplay checks a request to replay a Task and returns the Task that does so.
func (e *Engine) newReplay(ctx context.Context, c *desk.Caller, source *abi.Task, req abi.ReplayTaskRequest) (*task, error) {
	req.Mode = cmp.Or(req.Mode, abi.ReplayExact)
	if err := cmp.Or(desk.CheckMetadata(&req.Metadata), checkReplayable(source), checkReplayMode(&req)); err != nil {
		return nil, err
	}
	rec, err := e.recordToCheck(ctx, c.Tenant, source, req.Mode)
	if err != nil {
		return nil, desk.Refusal(err)
	}
	checkpoint, err := e.checkpointOf(ctx, c, rec, &req)
	if err != nil {
		return nil, err
	}
	hashes, err := e.checkOverrides(ctx, c, rec, &req, checkpoint)
	if err != nil {
		return nil, err
	}
	kept, err := e.keepRequest(ctx, &req)
	if err != nil {
		return nil, err
	}
	now := e.now()
	t := &abi.Task{
		Envelope:  abi.NewEnvelope(abi.ObjectTask, e.ids.New(abi.ObjectTask), now, req.Metadata),
		SessionID: source.SessionID, WorkspaceID: source.WorkspaceID, CreatedBy: c.Actor, PersonaID: source.PersonaID,
		BranchID: source.BranchID, ParentTaskID: source.ID, InputMessageID: source.InputMessageID, Module: source.Module, PersonaVersion: source.PersonaVersion,
		Replay: &abi.TaskReplay{SourceTaskID: source.ID, Mode: req.Mode, Request: kept, Checkpoint: checkpoint,
			ReplayID: replay.ID(rec, req.Mode, checkpoint, req.Override, hashes)},
	}
	return e.derivedTask(ctx, c.Tenant, t, source)
}

// recordToCheck returns the record that a request is checked against. An exact
// replay names nothing in it, and reads it when it runs.
func (e *Engine) recordToCheck(ctx context.Context, tenant storage.Tenant, source *abi.Task, mode abi.ReplayMode) (*journal.Record, error) {
	if mode == abi.ReplayExact && source.Module != "" {
		return &journal.Record{TaskID: source.ID, Program: journal.Program{Module: source.Module},
			End: &journal.End{Status: source.Status, Failure: source.Failure, Stopped: stoppedFromOutside(source)}}, nil
	}
	return e.taskRecord(ctx, tenant, source)
}

// derivedTask returns the live form of a Task that shares another's input.
func (e *Engine) derivedTask(ctx context.Context, tenant storage.Tenant, t, source *abi.Task) (*task, error) {
	res, err := e.ledger.Find(ctx, tenant, abi.ObjectTask, source.ID)
	if err != nil {
		return nil, err
	}
	in, err := e.InputOf(ctx, tenant, res)
	if err != nil {
		return nil, err
	}
	return &task{tenant: tenant, id: t.ID, about: *t, task: *t, input: in.Value, restricted: in.Restricted}, nil
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

// checkpointOf returns how many calls lie before the boundary that a request
// names. Every recorded call is one: checkpoint call:N lies after N calls.
func (e *Engine) checkpointOf(ctx context.Context, c *desk.Caller, rec *journal.Record, req *abi.ReplayTaskRequest) (calls int, err error) {
	if req.CheckpointID != "" {
		if calls, err = checkpointNumber(rec, req.CheckpointID); err != nil {
			return 0, err
		}
	}
	if req.CheckpointEventID == "" {
		return calls, nil
	}
	at, err := e.checkpointAt(ctx, c, rec, req.CheckpointEventID)
	if err == nil && req.CheckpointID != "" && at != calls {
		err = abi.InvalidParam("checkpoint_id", "%s is another checkpoint than event %s, which is call:%d", req.CheckpointID, req.CheckpointEventID, at)
	}
	return at, err
}

// checkpointNumber reads a checkpoint's id, which has one spelling.
func checkpointNumber(rec *journal.Record, id string) (int, error) {
	calls := journal.Closed(rec.Entries)
	n, err := strconv.Atoi(strings.TrimPrefix(id, checkpointPrefix))
	if err != nil || n < 0 || n > calls || id != checkpointPrefix+strconv.Itoa(n) {
		return 0, abi.InvalidParam("checkpoint_id", "%q is no checkpoint of this task: it has call:0 to call:%d", id, calls)
	}
	return n, nil
}

const checkpointPrefix = "call:"

// checkpointAt returns how many calls were complete at an event that completed one.
func (e *Engine) checkpointAt(ctx context.Context, c *desk.Caller, rec *journal.Record, event string) (int, error) {
	const param = "checkpoint_event_id"
	for i := range journal.Closed(rec.Entries) {
		if rec.Entries[i].EventID == event {
			return i + 1, nil
		}
	}
	at, ok := desk.ParsePosition(event)
	if !ok {
		return 0, abi.InvalidParam(param, "%q is not an event id", event)
	}
	ev, err := e.Event(ctx, c, at)
	switch {
	case err != nil:
		return 0, err
	case ev.Frame.TaskID != rec.TaskID:
		return 0, abi.InvalidParam(param, "event %s is not one of task %s", event, rec.TaskID)
	}
	return 0, abi.InvalidParam(param, "event %s is no checkpoint: it tells no call that was answered", event)
}

// callsUpTo returns how many calls were complete at an event.
func callsUpTo(rec *journal.Record, param, event string) (int, error) {
	at, ok := desk.ParsePosition(event)
	if !ok {
		return 0, abi.InvalidParam(param, "%q is not an event id", event)
	}
	n := 0
	for i := range rec.Entries {
		p, _ := desk.ParsePosition(rec.Entries[i].EventID)
		if rec.Entries[i].Open || p > at {
			break
		}
		n++
	}
	return n, nil
}

// checkOverrides checks every override and returns the hashes of their content.
// What was restored from a checkpoint cannot be replaced.
func (e *Engine) checkOverrides(ctx context.Context, c *desk.Caller, rec *journal.Record, req *abi.ReplayTaskRequest, checkpoint int) (map[string]string, error) {
	hashes := map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(req.Override)) {
		o := req.Override[key]
		o.Visibility = cmp.Or(o.Visibility, abi.VisibilityReceiptOnly)
		if err := checkOverride(key, &o); err != nil {
			return nil, err
		}
		content, err := e.overrideContent(ctx, c, key, &o)
		if err != nil {
			return nil, err
		}
		r, err := replay.Resolve(rec, key, &o, content)
		if err != nil {
			return nil, err
		}
		if r.Index >= 0 && r.Index < checkpoint {
			return nil, abi.InvalidParam("override", "%s lies before the checkpoint, and is restored as it was", key)
		}
		hashes[key] = r.Delta.AfterSHA256
		o.SHA256 = r.Delta.AfterSHA256
		req.Override[key] = o
	}
	return hashes, nil
}

func checkOverride(key string, o *abi.ReplayOverride) error {
	at := "override." + key
	if err := desk.CheckOneOf(at+".kind", o.Kind, abi.OverrideModel, abi.OverrideMCP, abi.OverrideSecret, abi.OverrideTime,
		abi.OverrideHostFact, abi.OverrideTool, abi.OverridePayload, abi.OverrideCheckpoint); err != nil {
		return err
	}
	if err := desk.CheckVisibility(at+".visibility", o.Visibility); err != nil {
		return err
	}
	if (len(o.Value) == 0) == (o.ArtifactID == "") {
		return abi.InvalidParam(at+".value", "an override has a value or an artifact_id, and not both")
	}
	if o.SHA256 != "" {
		if _, err := journal.ParseHash(o.SHA256); err != nil {
			return abi.InvalidParam(at+".sha256", "%v", err)
		}
	}
	return nil
}

// maxOverride is the largest Artifact that can replace an answer, in bytes.
const maxOverride = 32 << 20

// overrideContent returns what an override replaces with.
func (e *Engine) overrideContent(ctx context.Context, c *desk.Caller, key string, o *abi.ReplayOverride) ([]byte, error) {
	if o.ArtifactID == "" {
		return o.Value, nil
	}
	a, _, err := desk.Find[abi.Artifact](ctx, e.Desk, c, abi.ObjectArtifact, o.ArtifactID)
	if err != nil {
		return nil, err
	}
	if a.SizeBytes != nil && *a.SizeBytes > maxOverride {
		return nil, abi.InvalidParam("override."+key+".artifact_id", "the artifact has %d bytes; an override has at most %d", *a.SizeBytes, maxOverride)
	}
	content, err := e.ReadArtifact(ctx, &a, 0, 0, maxOverride)
	if ledger.Lost(err) != nil {
		return nil, err
	}
	if err != nil {
		return nil, abi.InvalidParam("override."+key+".artifact_id", "reading artifact %s: %v", o.ArtifactID, err)
	}
	return content, nil
}

// keepRequest keeps what a replay was asked for until it runs, and after a crash.
// Values of secrets are not kept: no replay needs them.
func (e *Engine) keepRequest(ctx context.Context, req *abi.ReplayTaskRequest) (string, error) {
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
	hash, _, err := e.store.Blobs().Put(ctx, bytes.NewReader(text), nil)
	if err != nil {
		return "", e.ledger.Failed("keeping the replay request", err)
	}
	return journal.FormatHash(hash), nil
}

// taskRecord returns the record of a Task that has started.
func (e *Engine) taskRecord(ctx context.Context, tenant storage.Tenant, about *abi.Task) (*journal.Record, error) {
	h, err := e.history(ctx, tenant, about)
	if err != nil {
		return nil, missingCause(err)
	}
	if about.StartedAt.IsZero() && (h.program == nil || about.Status.Terminal()) { // a fork has the program of its source
		return nil, &abi.Failure{Code: abi.FailureReplayMissing, Message: "task " + about.ID + " never started: there is nothing to replay"}
	}
	if h.program == nil {
		return nil, ledger.Missing("event", "task.started of "+about.ID, errors.New("retention has removed it"))
	}
	t, err := e.derivedTask(ctx, tenant, about, about)
	if err != nil {
		return nil, err
	}
	input, from, _, err := e.givenTo(ctx, t)
	if err != nil {
		return nil, err
	}
	persona, err := e.personaAt(ctx, tenant, about.PersonaID, h.program.Persona)
	if err != nil {
		return nil, err
	}
	rec := &journal.Record{TaskID: about.ID, Program: *h.program, Input: journal.Text(given(from, input, persona.Text)),
		CreatedAt: about.CreatedAt, StartedAt: about.StartedAt, Entries: h.entries}
	if about.Fork != nil {
		rec.StartedAt = from.StartedAt
	}
	if about.Status.Terminal() {
		rec.EndedAt = endOf(about)
		rec.End = &journal.End{Status: about.Status, Failure: about.Failure, Calls: journal.Closed(h.entries), Stopped: stoppedFromOutside(about)}
		rec.End.Gas, err = e.gasOf(ctx, tenant, about)
	}
	return rec, err
}

// gasOf returns what the run of a Task that has ended used, 0 where nothing tells.
func (e *Engine) gasOf(ctx context.Context, tenant storage.Tenant, about *abi.Task) (uint64, error) {
	if about.OutcomeID == "" {
		return 0, nil
	}
	res, err := e.ledger.Find(ctx, tenant, abi.ObjectOutcome, about.OutcomeID)
	if err != nil {
		return 0, err
	}
	var outcome struct {
		Metrics struct {
			Gas uint64 `json:"gas"`
		} `json:"metrics"`
	}
	err = ledger.Decode(res.State, &outcome)
	return outcome.Metrics.Gas, err
}

// missingCause names what a record refers to and is no longer there.
func missingCause(err error) error {
	if errors.Is(err, storage.ErrNotFound) || ledger.Lost(err) != nil {
		return ledger.Missing("blob", "of the record", err)
	}
	return err
}

func endOf(t *abi.Task) time.Time {
	if t.Status == abi.TaskCanceled {
		return t.CanceledAt
	}
	return t.CompletedAt
}

// stoppedFromOutside reports whether a Task's plugin did not end by itself.
func stoppedFromOutside(t *abi.Task) bool {
	if t.Status == abi.TaskCanceled {
		return true
	}
	return t.Failure != nil && outside[t.Failure.Code]
}

// outside are the failures that are not the plugin's own: run again, it would not
// fail so.
var outside = map[string]bool{abi.FailureDeadline: true, abi.FailurePluginTimeout: true, abi.FailureAttempts: true,
	abi.FailureHost: true, abi.FailureDivergence: true, abi.FailureBudget: true, quotas.Code: true}
