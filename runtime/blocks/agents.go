package blocks

import (
	"context"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/filetree"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/oaf"
	"github.com/wharf-dev/wharf/storage"
)

// FillBlocks gives a Persona the blocks that it begins with. One that it has already stays.
func (k *Keeper) FillBlocks(ctx context.Context, c *desk.Caller, persona string, blocks []oaf.Block, readOnly bool) error {
	_, err := k.change(ctx, c, nil, persona, desk.StatusOK, func(m *kept) ([]ledger.Record, error) {
		for _, b := range blocks {
			if err := checkLabel(b.Label); err != nil {
				return nil, err
			}
			if _, found := at(m, b.Label); found || b.Value == "" {
				continue
			}
			if err := checkValue(b.Value); err != nil {
				return nil, err
			}
			k.put(m, b.Label, b.Value, readOnly)
		}
		return nil, checkTotal(m)
	})
	return err
}

// CopyBlocks gives a Persona what another one knows.
func (k *Keeper) CopyBlocks(ctx context.Context, c *desk.Caller, from, to string) error {
	files, err := k.PackBlocks(ctx, c, from)
	if err != nil {
		return err
	}
	return k.UnpackBlocks(ctx, c, to, files)
}

// PackBlocks returns all that a Persona knows as the files of a snapshot.
func (k *Keeper) PackBlocks(ctx context.Context, c *desk.Caller, persona string) ([]filetree.File, error) {
	return k.MemorySnapshot(ctx, c, persona, true)
}

// UnpackBlocks gives a Persona that is new what the files of a snapshot hold.
func (k *Keeper) UnpackBlocks(ctx context.Context, c *desk.Caller, persona string, files []filetree.File) error {
	_, err := k.ImportMemory(ctx, c, nil, persona, abi.MemoryOverwrite, files)
	return err
}

// ForgetBlocks returns the record by which a Persona has nothing in mind any more; none when that is
// so. Its batch takes effect only if nobody has changed what the Persona has in mind meanwhile.
func (k *Keeper) ForgetBlocks(ctx context.Context, c *desk.Caller, persona string) ([]ledger.Record, error) {
	m, err := k.stored(ctx, c.Tenant, persona)
	if err != nil || len(m.Blocks) == 0 {
		return nil, err
	}
	m.Version, m.Blocks, m.Imported = m.Version+1, []abi.MemoryBlock{}, nil
	return []ledger.Record{k.stated(m, c.Actor)}, nil
}

// DropBlocks forgets what a Persona had in mind that was deleted.
func (k *Keeper) DropBlocks(ctx context.Context, c *desk.Caller, persona string) error {
	_, err := ledger.Change(k.parts.Ledger, c.Tenant, ID(persona), func() (desk.Doc, error) {
		forgotten, err := k.ForgetBlocks(ctx, c, persona)
		if err != nil || len(forgotten) == 0 {
			return desk.Doc{}, err
		}
		m := forgotten[0].State.(*abi.AgentMemory)
		return k.parts.Desk.Commit(c, "", m.WorkspaceID, nil, desk.StatusNoContent, forgotten...)
	})
	return err
}

// AddToArchive puts a text into a Persona's archive.
func (k *Keeper) AddToArchive(ctx context.Context, c *desk.Caller, r *desk.Retry, persona string, req abi.ArchiveRequest) (desk.Doc, error) {
	m, err := k.of(ctx, c, persona)
	if err != nil {
		return desk.Doc{}, err
	}
	if m.WorkspaceID == "" {
		if err := c.OwnsTenantWide(); err != nil {
			return desk.Doc{}, err
		}
	}
	return k.parts.Desk.Once(ctx, c, r, m.WorkspaceID, func(idem *storage.Idempotency) (desk.Doc, error) {
		rec, err := k.Keeper.ArchiveRecord(c, m.WorkspaceID, persona, req.Content, req.Metadata)
		if err != nil {
			return desk.Doc{}, err
		}
		return k.parts.Desk.Commit(c, "", m.WorkspaceID, idem, desk.StatusCreated, rec)
	})
}
