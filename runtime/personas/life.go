package personas

import (
	"context"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/storage"
)

// firstVersion is that of a Persona that nobody has named a version of.
const firstVersion = "1"

// ClonePersona makes a Persona with the policy that another one has now, and a name and versions
// of its own. It has none of the other's Memories. One that is retired may be cloned: the clone
// is not.
func (k *Keeper) ClonePersona(ctx context.Context, c *desk.Caller, r *desk.Retry, id string, req abi.ClonePersonaRequest) (desk.Doc, error) {
	if err := mayGovern(c); err != nil {
		return desk.Doc{}, err
	}
	return k.parts.Desk.Once(ctx, c, r, "", func(idem *storage.Idempotency) (desk.Doc, error) {
		if err := desk.CheckPresent("name", req.Name); err != nil {
			return desk.Doc{}, err
		}
		if err := desk.CheckMetadata(&req.Metadata); err != nil {
			return desk.Doc{}, err
		}
		p, _, err := desk.Find[abi.Persona](ctx, k.parts.Desk, c, abi.ObjectPersona, id)
		if err != nil {
			return desk.Doc{}, err
		}
		if req.Metadata == nil {
			req.Metadata = p.Metadata
		}
		p.Envelope = abi.NewEnvelope(abi.ObjectPersona, k.parts.IDs.New(abi.ObjectPersona), k.parts.Now(), req.Metadata)
		p.Name, p.Version, p.RetiredAt = req.Name, firstVersion, abi.Time{}
		if err := k.checkPersona(ctx, c, &p); err != nil {
			return desk.Doc{}, err
		}
		return k.parts.Desk.Commit(c, "", "", idem, desk.StatusCreated, ledger.Record{Kind: abi.EventPersonaCreated, Object: abi.ObjectPersona, ID: p.ID,
			Created: true, State: &p, Payload: abi.PersonaVersion{Version: p.Version}})
	})
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
