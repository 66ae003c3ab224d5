package sessions

import (
	"context"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/references"
	"github.com/wharf-dev/wharf/storage"
)

// SessionsCalled returns the Sessions that something outside calls so: of a Workspace at most
// one. An empty workspace stands for all those that the caller is bound to.
func (k *Keeper) SessionsCalled(ctx context.Context, c *desk.Caller, workspace string, ref abi.OutsideRef) (list desk.DocList, err error) {
	in := c.Workspaces
	switch {
	case workspace != "":
		in = []string{workspace}
	case len(in) == 0:
		return list, abi.InvalidParam("workspace_id", "a reference is one of a workspace: name it with workspace_id")
	}
	for _, workspace := range in {
		id, err := k.refs.FindSession(ctx, c, workspace, ref)
		if err != nil {
			return list, err
		}
		if id == "" {
			continue
		}
		doc, err := k.parts.Desk.Get(ctx, c, abi.ObjectSession, id)
		switch {
		case err == nil:
			list.Docs = append(list.Docs, doc)
		case desk.AboutOne(err):
			list.LeaveOut(c, id)
		default:
			return list, err
		}
	}
	return list, nil
}

// commitNew writes a Session that is new, and the references that it takes, in one batch.
// Where another Session takes one of them at the same time, one of the two is made, and the
// other is refused with the id of that one.
func (k *Keeper) commitNew(ctx context.Context, c *desk.Caller, idem *storage.Idempotency, s *abi.Session, records []ledger.Record) (desk.Doc, error) {
	for {
		taken, err := k.refs.Take(ctx, c.Tenant, s)
		if err != nil {
			return desk.Doc{}, err
		}
		doc, err := k.parts.Desk.Commit(c, s.ID, s.WorkspaceID, idem, desk.StatusCreated, append(records[:len(records):len(records)], taken...)...)
		if !references.Overtaken(err) || ctx.Err() != nil {
			return doc, err
		}
	}
}
