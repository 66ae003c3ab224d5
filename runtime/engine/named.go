package engine

import (
	"context"
	"slices"

	"github.com/wharf-dev/wharf/abi"
)

// maxSessionNames is how many Memories, and how many Skills, a Session may name.
const maxSessionNames = 32

// checkMemoryIDs checks the Memories that a Session is to name: its Workspace has a part
// in them, and the caller may read them, for its Tasks may tell what they read.
func (e *Engine) checkMemoryIDs(ctx context.Context, c *Caller, workspace string, ids []string) error {
	if len(ids) > maxSessionNames {
		return abi.InvalidParam("memory_ids", "a session names at most %d memories", maxSessionNames)
	}
	for i, id := range ids {
		m, res, err := findAs[abi.Memory](ctx, e, c, abi.ObjectMemory, id)
		switch {
		case err != nil:
			return err
		case m.WorkspaceID != "" && m.WorkspaceID != workspace, e.expired(res.State):
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
func (e *Engine) checkSkillIDs(ctx context.Context, c *Caller, ids []string) error {
	if len(ids) > maxSessionNames {
		return abi.InvalidParam("skill_ids", "a session names at most %d skills", maxSessionNames)
	}
	for _, id := range ids {
		if _, _, err := findAs[abi.Skill](ctx, e, c, abi.ObjectSkill, id); err != nil {
			return err
		}
	}
	return nil
}

// memories returns the Memories that the Session's Tasks find beside its own.
func (s *session) memories() []string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.state.MemoryIDs
}
