package personas

import (
	"cmp"
	"context"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/storage"
)

// firstVersion is that of a Persona that nobody has named a version of.
const firstVersion = "1"

// ClonePersona makes a Persona with the policy that another one has now, and a name and versions
// of its own. It has none of the other's Memories. One that is retired may be cloned: the clone
// is not. The clone is of the Workspace that is named, if the other may be used there, or else of
// the same as the other.
func (k *Keeper) ClonePersona(ctx context.Context, c *desk.Caller, r *desk.Retry, id string, req abi.ClonePersonaRequest) (desk.Doc, error) {
	p, err := k.cloned(ctx, c, id, req.WorkspaceID)
	if err != nil {
		return desk.Doc{}, err
	}
	return k.parts.Desk.Once(ctx, c, r, p.WorkspaceID, func(idem *storage.Idempotency) (desk.Doc, error) {
		if err := desk.CheckPresent("name", req.Name); err != nil {
			return desk.Doc{}, err
		}
		if err := desk.CheckMetadata(&req.Metadata); err != nil {
			return desk.Doc{}, err
		}
		if req.Metadata == nil {
			req.Metadata = p.Metadata
		}
		p.Envelope = abi.NewEnvelope(abi.ObjectPersona, k.parts.IDs.New(abi.ObjectPersona), k.parts.Now(), req.Metadata)
		p.Name, p.Version, p.RetiredAt = req.Name, firstVersion, abi.Time{}
		p.Agent = unnamed(p.Agent)
		if err := k.checkPersona(ctx, c, &p); err != nil {
			return desk.Doc{}, err
		}
		return k.commitNew(ctx, c, idem, &p)
	})
}

// cloned returns a Persona as one that its clone is made from, of the clone's Workspace.
func (k *Keeper) cloned(ctx context.Context, c *desk.Caller, id, workspace string) (abi.Persona, error) {
	p, _, err := desk.Find[abi.Persona](ctx, k.parts.Desk, c, abi.ObjectPersona, id)
	if err != nil {
		return p, err
	}
	workspace = cmp.Or(workspace, p.WorkspaceID)
	if err := k.mayPlace(ctx, c, workspace); err != nil {
		return p, err
	}
	_, err = k.PersonaIn(ctx, c.Tenant, workspace, id)
	p.WorkspaceID = workspace
	return p, err
}

// retire retires a Persona or takes that back. One that is retired already stays so since then.
func (k *Keeper) retire(p *abi.Persona, retired *bool) {
	switch {
	case retired == nil:
	case !*retired:
		p.RetiredAt = abi.Time{}
	case p.RetiredAt.IsZero():
		p.RetiredAt = abi.At(k.parts.Now())
	}
}

// CheckServes refuses a Persona that is retired to whatever is new. What names it already goes on.
func CheckServes(p *abi.Persona) error {
	if p.RetiredAt.IsZero() {
		return nil
	}
	return abi.Errorf(abi.CodeConflict, "persona %s is retired", p.ID)
}
