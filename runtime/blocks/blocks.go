package blocks

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/memories"
	"github.com/wharf-dev/wharf/storage"
)

// Parts are what a keeper works with.
type Parts = memories.Parts

// Keeper serves the blocks of Personas, and Memories. It is safe for concurrent use.
type Keeper struct {
	*memories.Keeper // the archives of Personas among them
	parts            Parts
}

// NewKeeper returns a keeper.
func NewKeeper(p Parts) *Keeper { return &Keeper{Keeper: memories.NewKeeper(p), parts: p} }

// ID returns the id of what a Persona has in mind.
func ID(persona string) string {
	return abi.IDPrefix(abi.ObjectAgentMemory) + strings.TrimPrefix(persona, abi.IDPrefix(abi.ObjectPersona))
}

// kept is what a Persona has in mind, as the log has it.
type kept struct {
	abi.AgentMemory
	next  uint64 // the sequence of its next event
	known bool   // there has been one
}

// AgentMemory returns what a Persona has in mind: no blocks and version 0 when that is nothing.
func (k *Keeper) AgentMemory(ctx context.Context, c *desk.Caller, persona string) (*abi.AgentMemory, error) {
	m, err := k.of(ctx, c, persona)
	if err != nil {
		return nil, err
	}
	return &m.AgentMemory, nil
}

// of reads what a Persona has in mind that the caller may see.
func (k *Keeper) of(ctx context.Context, c *desk.Caller, persona string) (*kept, error) {
	p, _, err := desk.Find[abi.Persona](ctx, k.parts.Desk, c, abi.ObjectPersona, persona)
	if err != nil {
		return nil, err
	}
	return k.keptOf(ctx, c.Tenant, &p)
}

func (k *Keeper) keptOf(ctx context.Context, t storage.Tenant, p *abi.Persona) (*kept, error) {
	m, err := k.stored(ctx, t, p.ID)
	if err == nil && !m.known {
		m.AgentMemory = abi.AgentMemory{Envelope: abi.NewEnvelope(abi.ObjectAgentMemory, ID(p.ID), p.CreatedAt, nil),
			WorkspaceID: p.WorkspaceID, PersonaID: p.ID, Blocks: []abi.MemoryBlock{}}
	}
	return m, err
}

func (k *Keeper) stored(ctx context.Context, t storage.Tenant, persona string) (*kept, error) {
	m := &kept{}
	res, err := k.parts.Ledger.Find(ctx, t, abi.ObjectAgentMemory, ID(persona))
	if ledger.IsNotFound(err) {
		return m, nil
	}
	if err == nil {
		err = ledger.Decode(res.State, &m.AgentMemory)
	}
	if err == nil {
		err = ledger.CheckEnvelope(&m.Envelope, abi.ObjectAgentMemory, res.ID)
	}
	if err != nil {
		return nil, ledger.Naming(abi.ObjectAgentMemory, ID(persona), err)
	}
	m.next, m.known = res.Sequence+1, true
	return m, nil
}

// change makes a change of what a Persona has in mind, once. do gets it as it is, and may add
// records that are written in the same batch.
func (k *Keeper) change(ctx context.Context, c *desk.Caller, r *desk.Retry, persona string, status int, do func(*kept) ([]ledger.Record, error)) (desk.Doc, error) {
	first, err := k.of(ctx, c, persona)
	if err != nil {
		return desk.Doc{}, err
	}
	if first.WorkspaceID == "" {
		if err := c.OwnsTenantWide(); err != nil {
			return desk.Doc{}, err
		}
	}
	return k.parts.Desk.Once(ctx, c, r, first.WorkspaceID, func(idem *storage.Idempotency) (desk.Doc, error) {
		return ledger.Change(k.parts.Ledger, c.Tenant, ID(persona), func() (desk.Doc, error) {
			m, err := k.of(ctx, c, persona)
			if err != nil {
				return desk.Doc{}, err
			}
			m.Version, m.Imported = m.Version+1, nil
			more, err := do(m)
			if err != nil {
				return desk.Doc{}, err
			}
			return k.parts.Desk.Commit(c, "", m.WorkspaceID, idem, status, append([]ledger.Record{k.stated(m, c.Actor)}, more...)...)
		})
	})
}

// stated returns the event of a change.
func (k *Keeper) stated(m *kept, actor string) ledger.Record {
	m.ChangedBy, m.UpdatedAt = actor, abi.At(k.parts.Now())
	return ledger.Record{Kind: abi.EventAgentMemoryChanged, Object: abi.ObjectAgentMemory, ID: m.ID, Sequence: m.next, Created: !m.known, State: &m.AgentMemory}
}

// CreateBlock makes a block. The answer is all that the Persona has in mind.
func (k *Keeper) CreateBlock(ctx context.Context, c *desk.Caller, r *desk.Retry, persona string, req abi.CreateBlockRequest) (desk.Doc, error) {
	if err := cmp.Or(checkLabel(req.Label), checkValue(req.Value)); err != nil {
		return desk.Doc{}, err
	}
	return k.change(ctx, c, r, persona, desk.StatusCreated, func(m *kept) ([]ledger.Record, error) {
		if _, found := at(m, req.Label); found {
			return nil, abi.Errorf(abi.CodeConflict, "there is a block %q already", req.Label)
		}
		k.put(m, req.Label, req.Value, req.ReadOnly)
		return nil, checkTotal(m)
	})
}

// UpdateBlock gives a block another value. The answer is all that the Persona has in mind.
func (k *Keeper) UpdateBlock(ctx context.Context, c *desk.Caller, r *desk.Retry, persona, label string, req abi.UpdateBlockRequest) (desk.Doc, error) {
	if err := checkValue(req.Value); err != nil {
		return desk.Doc{}, err
	}
	return k.change(ctx, c, r, persona, desk.StatusOK, func(m *kept) ([]ledger.Record, error) {
		i, err := changeable(m, label)
		if err != nil {
			return nil, err
		}
		if now := m.Blocks[i].Version; req.Version != nil && *req.Version != now {
			return nil, abi.Errorf(abi.CodeConflict, "the block %q has version %d by now, and not %d: read it again", label, now, *req.Version)
		}
		k.put(m, label, req.Value, false)
		return nil, checkTotal(m)
	})
}

// DeleteBlock deletes a block.
func (k *Keeper) DeleteBlock(ctx context.Context, c *desk.Caller, r *desk.Retry, persona, label string) error {
	_, err := k.change(ctx, c, r, persona, desk.StatusNoContent, func(m *kept) ([]ledger.Record, error) {
		i, err := changeable(m, label)
		if err != nil {
			return nil, err
		}
		m.Blocks = slices.Delete(m.Blocks, i, i+1)
		return nil, nil
	})
	return err
}

// at returns where a block is, or would be.
func at(m *kept, label string) (int, bool) {
	return slices.BinarySearchFunc(m.Blocks, label, func(b abi.MemoryBlock, label string) int { return strings.Compare(b.Label, label) })
}

// changeable finds a block that may be changed.
func changeable(m *kept, label string) (int, error) {
	i, found := at(m, label)
	if !found {
		return 0, abi.Errorf(abi.CodeResourceNotFound, "%s has no block %.100q", m.PersonaID, label)
	}
	if m.Blocks[i].ReadOnly {
		return 0, abi.Errorf(abi.CodeConflict, "the block %q is read-only: it stays as it is", label)
	}
	return i, nil
}

// put makes a block, or replaces the one that is there.
func (k *Keeper) put(m *kept, label, value string, readOnly bool) {
	b := abi.MemoryBlock{Label: label, Value: value, ReadOnly: readOnly, Version: m.Version, UpdatedAt: abi.At(k.parts.Now())}
	i, found := at(m, label)
	if found {
		m.Blocks[i] = b
	} else {
		m.Blocks = slices.Insert(m.Blocks, i, b)
	}
}

func checkLabel(label string) error {
	if !abi.IsBlockLabel(label) {
		return abi.InvalidParam("label", "a label is at most %d of a to z, 0 to 9, - and _, and begins and ends with a letter or a digit", abi.MaxBlockLabel)
	}
	return nil
}

func checkValue(value string) error {
	if n := utf8.RuneCountInString(value); n < 1 || n > abi.MaxBlockValue {
		return abi.InvalidParam("value", "the value of a block has 1 to %d characters, and this one %d", abi.MaxBlockValue, n)
	}
	return nil
}

// checkTotal holds all blocks of a Persona to their bounds.
func checkTotal(m *kept) error {
	if len(m.Blocks) > abi.MaxBlocks {
		return abi.InvalidParam("label", "%s has %d blocks, and can have no more", m.PersonaID, abi.MaxBlocks)
	}
	sum := 0
	for i := range m.Blocks {
		sum += utf8.RuneCountInString(m.Blocks[i].Value)
	}
	if sum > abi.MaxBlocksTotal {
		return abi.InvalidParam("value", "all blocks of %s together have at most %d characters, and with this one %d", m.PersonaID, abi.MaxBlocksTotal, sum)
	}
	return nil
}
