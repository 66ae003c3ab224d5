package replays

import (
	"context"
	"strconv"
	"strings"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/journal"
)

// checkpointOf returns how many calls lie before the boundary that a request
// names. Every recorded call is one: checkpoint call:N lies after N calls.
func (k *Keeper) checkpointOf(ctx context.Context, c *desk.Caller, rec *journal.Record, req *abi.ReplayTaskRequest) (calls int, err error) {
	if req.CheckpointID != "" {
		if calls, err = checkpointNumber(rec, req.CheckpointID); err != nil {
			return 0, err
		}
	}
	if req.CheckpointEventID == "" {
		return calls, nil
	}
	at, err := k.checkpointAt(ctx, c, rec, req.CheckpointEventID)
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
func (k *Keeper) checkpointAt(ctx context.Context, c *desk.Caller, rec *journal.Record, event string) (int, error) {
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
	ev, err := k.parts.Desk.Event(ctx, c, at)
	switch {
	case err != nil:
		return 0, err
	case ev.Frame.TaskID != rec.TaskID:
		return 0, abi.InvalidParam(param, "event %s is not one of task %s", event, rec.TaskID)
	}
	return 0, abi.InvalidParam(param, "event %s is no checkpoint: it tells no call that was answered", event)
}
