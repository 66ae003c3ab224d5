package records

import (
	"context"
	"fmt"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/storage"
)

// CheckGenerations refuses a child of a Task that would be too far down: plugins that call each other
// would go on for ever. A fork or a replay is of the generation of its source.
func (r *Reader) CheckGenerations(ctx context.Context, tenant storage.Tenant, t *abi.Task, most int) error {
	for up, generation := t, 1; up.ParentTaskID != ""; {
		if up.Fork == nil && up.Replay == nil {
			generation++
		}
		if generation == most {
			return provider.Refuse(abi.CallTooLarge, "too_many_generations", fmt.Sprintf("tasks have at most %d generations", most))
		}
		var err error
		if up, err = r.Task(ctx, tenant, up.ParentTaskID); err != nil {
			if ledger.IsNotFound(err) { // it was deleted: who is left is the first
				return nil
			}
			return err
		}
	}
	return nil
}

// Abandoned reports whether a Task does what was delegated to a subagent by a Task that has ended:
// nobody waits for it.
func (r *Reader) Abandoned(ctx context.Context, tenant storage.Tenant, t *abi.Task) bool {
	if t.ParentTaskID == "" || t.Fork != nil || t.Replay != nil {
		return false
	}
	parent, err := r.Task(ctx, tenant, t.ParentTaskID)
	if err != nil || !parent.Status.Terminal() || parent.PersonaID != t.CreatedBy {
		return false
	}
	s, err := r.parts.Ledger.Find(ctx, tenant, abi.ObjectSession, t.SessionID)
	var of abi.Session
	return err == nil && ledger.Decode(s.State, &of) == nil && of.OnlyTaskID == t.ID
}
