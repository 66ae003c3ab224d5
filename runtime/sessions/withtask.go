package sessions

import (
	"context"
	"slices"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/references"
	"github.com/wharf-dev/wharf/storage"
)

// scopeWrite is the scope of those who may make Sessions, which a submit does not need otherwise.
const scopeWrite = "sessions:write"

// CheckWithTask refuses a Session that the caller may not make with a Task.
func (k *Keeper) CheckWithTask(ctx context.Context, c *desk.Caller, req *abi.SubmitTaskRequest) error {
	switch {
	case req.SessionID != "":
		return abi.InvalidParam("session", "a task is submitted with session_id or with session, not both")
	case !c.Can(scopeWrite):
		return desk.Denied(scopeWrite)
	}
	return desk.Within("session", k.checkPlace(ctx, c, req.Session.WorkspaceID))
}

// Made is a Session that the batch of its first Task makes.
type Made struct {
	ID      string
	Session *ledger.Session
	Release func() // gives the Session back; of one that was not made, the keeper does
	TaskID  string // the Task's
	records []ledger.Record
	taken   []ledger.Record // its references
}

// MakeWithTask has accept write a Task in a Session that is new, with what [Made.Put] adds to its
// batch. An empty id makes up the Task's. Where another Session takes one of the references meanwhile, the batch has left nothing:
// accept is called again, or what is returned says which Session it is.
func (k *Keeper) MakeWithTask(ctx context.Context, c *desk.Caller, id string, req *abi.TaskSession, accept func(*Made) error) error {
	for {
		m, err := k.newWithTask(ctx, c, id, req)
		if err != nil {
			return desk.Within("session", err)
		}
		if err = accept(m); err != nil {
			m.Release()
		}
		if !references.Overtaken(err) || ctx.Err() != nil {
			return err
		}
	}
}

func (k *Keeper) newWithTask(ctx context.Context, c *desk.Caller, id string, req *abi.TaskSession) (*Made, error) {
	s, records, err := k.draft(ctx, c, &req.CreateSessionRequest)
	if err != nil {
		return nil, err
	}
	if id == "" {
		id = k.parts.IDs.New(abi.ObjectTask)
	}
	m := &Made{ID: s.ID, TaskID: id}
	sequence := uint64(0)
	if req.Hidden {
		s.OnlyTaskID, sequence = m.TaskID, 1
		if err := records[0].Encode(); err != nil {
			return nil, err
		}
		records = slices.Insert(records, 1, ledger.Record{Kind: abi.EventSessionHidden, Object: abi.ObjectSession, ID: s.ID, Sequence: sequence, State: records[0].State})
	}
	if m.taken, err = k.refs.Take(ctx, c.Tenant, s); err != nil {
		return nil, err
	}
	m.records = append(records, m.taken...)
	m.Session, m.Release = k.parts.Ledger.Make(c.Tenant, s, sequence)
	return m, nil
}

// Put adds the Session to the batch that accepts its Task. The batch relies on the references: the
// Session has an id that was just made up, and nobody else states it.
func (m *Made) Put(b *storage.Batch) error {
	b.Expect = append(b.Expect, ledger.Expected(m.taken...)...)
	return ledger.Prepend(b, m.records...)
}

// EndTask calls hand, which hands over the batch that ends a Task. A Session that is for that Task
// alone is closed in it. Nobody else has a say in that, so the batch expects nothing of the
// Session: a Task ends whatever became of that.
func EndTask(s *ledger.Session, task string, b *storage.Batch, hand func() error) error {
	if s.OnlyTask() != task {
		return s.While(nil, hand)
	}
	return s.Join(func(next *abi.Session, sequence uint64) (bool, error) {
		if next.State == abi.SessionClosed {
			return false, hand()
		}
		next.State, next.UpdatedAt = abi.SessionClosed, abi.At(b.Frame.Time)
		closed, err := ledger.Encode(ledger.Record{Kind: abi.EventSessionClosed, Object: abi.ObjectSession, ID: next.ID, Sequence: sequence, State: next})
		if err != nil {
			return false, err
		}
		b.Frame.Records = append(b.Frame.Records, closed...)
		return true, hand()
	})
}
