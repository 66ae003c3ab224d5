package agents

import (
	"context"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/filetree"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/oaf"
	"github.com/wharf-dev/wharf/runtime/personas"
)

// Memory has what agents remember in blocks.
type Memory interface {
	// FillBlocks gives an agent blocks. One that it has already stays as it is.
	FillBlocks(ctx context.Context, c *desk.Caller, agent string, blocks []oaf.Block, readOnly bool) error
	// CopyBlocks gives an agent what another one remembers.
	CopyBlocks(ctx context.Context, c *desk.Caller, from, to string) error
	// PackBlocks returns what an agent remembers as the files of a snapshot, and UnpackBlocks gives
	// it to an agent that is new.
	PackBlocks(ctx context.Context, c *desk.Caller, agent string) ([]filetree.File, error)
	UnpackBlocks(ctx context.Context, c *desk.Caller, agent string, files []filetree.File) error
	// ForgetBlocks returns the records by which an agent forgets what it remembers, for the batch that
	// deletes it, and DropBlocks forgets what it was told while that was written.
	ForgetBlocks(ctx context.Context, c *desk.Caller, agent string) ([]ledger.Record, error)
	DropBlocks(ctx context.Context, c *desk.Caller, agent string) error
}

// Parts are what a keeper works with.
type Parts struct {
	desk.Parts
	Personas *personas.Keeper
	// InstallSkill installs a skill that lies in a bundle, if it is not there as it is, and returns
	// which version that is; nil when the node takes none.
	InstallSkill func(ctx context.Context, c *desk.Caller, workspace string, files *filetree.Tree) (abi.AgentSkill, error)
	// Model returns the model that an agent asks which names one; nil when each is asked as it is
	// named. known is false for one that the node does not have: the default is asked then.
	Model  func(name string) (model string, known bool)
	Memory Memory // nil when the node keeps no blocks
}

// Keeper takes in and gives out agents. It is safe for concurrent use.
type Keeper struct{ parts Parts }

// NewKeeper returns a keeper.
func NewKeeper(p Parts) *Keeper { return &Keeper{parts: p} }

// Written is what became of agents.
type Written struct {
	Agents   []desk.Doc // in the order of the bundle
	Skipped  bool       // the first was there, and stays as it was
	Warnings []string
}

// open is how a Session may be that an agent is needed for.
func open() []abi.SessionState {
	return []abi.SessionState{abi.SessionActive, abi.SessionIdle, abi.SessionPaused}
}

// DeleteAgent deletes an agent of a Workspace, with its subagents and what they remember, all of it
// in one batch. It stays while Sessions of it are open, but for those that only one Task has.
func (k *Keeper) DeleteAgent(ctx context.Context, c *desk.Caller, r *desk.Retry, workspace, id string) error {
	gone := map[string]bool{}
	err := k.parts.Personas.RemoveAgent(ctx, c, r, workspace, id, func(p *abi.Persona) ([]ledger.Record, error) {
		if err := k.checkUnused(ctx, c, p); err != nil || k.parts.Memory == nil {
			return nil, err
		}
		gone[p.ID] = true
		return k.parts.Memory.ForgetBlocks(ctx, c, p.ID)
	})
	if err != nil {
		return err
	}
	for agent := range gone { // a write that had found the agent may have come first
		if err := k.parts.Memory.DropBlocks(ctx, c, agent); err != nil {
			return err
		}
	}
	return nil
}

// checkUnused refuses an agent that has Sessions which are open.
func (k *Keeper) checkUnused(ctx context.Context, c *desk.Caller, p *abi.Persona) error {
	for _, state := range open() {
		f := desk.Filter{WorkspaceID: p.WorkspaceID, PersonaID: p.ID, Status: string(state)}
		for page, more := (desk.Page{Limit: 1}), true; more; {
			list, err := k.parts.Desk.List(ctx, c, abi.ObjectSession, f, page)
			if err != nil {
				return err
			}
			if len(list.Docs) > 0 {
				return abi.Errorf(abi.CodeConflict, "session %s of agent %s is open: close it first", list.Docs[0].ID, p.ID)
			}
			page.After, more = list.Next, list.More
		}
	}
	return nil
}
