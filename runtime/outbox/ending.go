package outbox

import (
	"context"
	"time"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/alarm"
	"github.com/wharf-dev/wharf/runtime/ledger"
)

// ending is when a queue looks whether its Webhook has outlived its Task.
type ending struct {
	ends  bool // as the format has it
	looks time.Time
}

// lasting is how often as long as an event may wait a Webhook is kept behind the end of its Task: the last
// event may be given up after the first of them, and is to be seen for another.
const lasting = 2

// outlived reports whether nothing comes to a Webhook any more, and its dead letters were there for long
// enough. That follows from the Task, so it is the same after a restart, and for a Webhook that was made
// when the Task had ended.
func (q *queue) outlived(ctx context.Context, now time.Time) bool {
	about := q.about.Load()
	if !q.ends || about.TaskID == "" || now.Before(q.looks) || len(q.retries) > 0 || len(q.window) > 0 {
		return false
	}
	kept := lasting * q.o.parts.Config.Age
	since := about.CreatedAt
	if now.Before(since.Add(kept)) {
		q.looks = since.Add(kept)
		return false
	}
	q.looks = now.Add(alarm.LookEvery)
	end, over, err := q.o.endOf(ctx, q, about.TaskID)
	if err != nil || !over {
		return false // it is looked at again
	}
	q.looks = end.Add(kept)
	return !now.Before(q.looks)
}

// endOf returns when a Task has ended, and whether it has. One that is gone has ended long ago.
func (o *Outbox) endOf(ctx context.Context, q *queue, task string) (end time.Time, over bool, err error) {
	res, err := o.parts.Ledger.Find(ctx, q.key.Tenant, abi.ObjectTask, task)
	if ledger.IsNotFound(err) {
		return time.Time{}, true, nil
	}
	var about struct {
		Status    abi.TaskStatus `json:"status"`
		UpdatedAt abi.Time       `json:"updated_at"`
	}
	if err == nil {
		err = json.Unmarshal(res.State, &about)
	}
	return about.UpdatedAt, about.Status.Terminal(), err
}
