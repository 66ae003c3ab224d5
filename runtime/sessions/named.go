package sessions

import (
	"context"
	"slices"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/storage"
)

// MaxNames is how many Memories, and how many Skills, a Session may name.
const MaxNames = 32

// checkMemoryIDs checks the Memories that a Session is to name: its Workspace has a part
// in them, and the caller may read them, for its Tasks may tell what they read.
func (k *Keeper) checkMemoryIDs(ctx context.Context, c *desk.Caller, workspace string, ids []string) error {
	if len(ids) > MaxNames {
		return abi.InvalidParam("memory_ids", "a session names at most %d memories", MaxNames)
	}
	for i, id := range ids {
		m, res, err := desk.Find[abi.Memory](ctx, k.parts.Desk, c, abi.ObjectMemory, id)
		switch {
		case err != nil:
			return err
		case m.WorkspaceID != "" && m.WorkspaceID != workspace, k.parts.Desk.MemoryExpired(res.State):
			return abi.NotFound(abi.ObjectMemory, id)
		case m.Visibility == abi.VisibilityReceiptOnly, m.Visibility == abi.VisibilityInternal && !c.Can(abi.ScopeEventsInternal):
			return abi.Errorf(abi.CodePermissionDenied, "the content of memory %s is not for this caller", id)
		case slices.Contains(ids[:i], id):
			return abi.InvalidParam("memory_ids", "memory %s is named twice", id)
		}
	}
	return nil
}

// checkSkillIDs checks the Skills that the Tasks of a Session are to be bound to.
func (k *Keeper) checkSkillIDs(ctx context.Context, t storage.Tenant, workspace string, ids []string) error {
	if len(ids) > MaxNames {
		return abi.InvalidParam("skill_ids", "a session names at most %d skills", MaxNames)
	}
	for _, id := range ids {
		if _, err := k.parts.SkillIn(ctx, t, workspace, id); err != nil {
			return err
		}
	}
	return nil
}
