package memories

import (
	"context"
	"unicode/utf8"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/storage"
)

// The bounds of a Persona's archive.
const (
	MaxEntry        = 100_000 // characters of an entry
	maxArchive      = 2000    // entries that are looked at, the newest
	maxArchiveBytes = 16 << 20
)

// Archive returns what the caller may read of the Memories of a Persona, newest first. It looks at
// the newest 2,000 at most, and at 16 MiB of them.
func (k *Keeper) Archive(ctx context.Context, c *desk.Caller, persona string) (all []abi.Memory, err error) {
	q, size := storage.Query{Owner: persona, Limit: 100}, 0
	for range maxArchive / q.Limit {
		found, after, err := k.parts.Store.Search(ctx, c.Tenant, q)
		if err != nil {
			return nil, k.parts.Ledger.Failed("reading an archive", err)
		}
		for i := range found {
			var m abi.Memory
			if err := ledger.ReadListed(&found[i], &m); err != nil {
				continue // one that cannot be read is not in it
			}
			if size += len(found[i].State); size > maxArchiveBytes {
				return all, nil
			}
			if m.Scope == abi.MemoryPersona && m.OwnerID == persona && k.readable(c, &m) {
				all = append(all, m)
			}
		}
		if q.After = after; after == "" {
			break
		}
	}
	return all, nil
}

// readable reports whether a caller may read what a Memory says.
func (k *Keeper) readable(c *desk.Caller, m *abi.Memory) bool {
	seen := m.Visibility == abi.VisibilityPublic || m.Visibility == abi.VisibilityInternal && c.Can(abi.ScopeEventsInternal)
	return seen && c.Sees(m.WorkspaceID) && Alive(m, k.parts.Now())
}

// TextOf returns what a Memory says, as text.
func TextOf(m *abi.Memory) string {
	var text string
	if m.Content.Kind() == '"' && json.Unmarshal(m.Content, &text) == nil {
		return text
	}
	return string(m.Content)
}

// ArchiveRecord returns the event that puts a text into a Persona's archive. workspace is that of the
// Persona.
func (k *Keeper) ArchiveRecord(c *desk.Caller, workspace, persona, text string, metadata jsontext.Value) (ledger.Record, error) {
	if n := utf8.RuneCountInString(text); n < 1 || n > MaxEntry {
		return ledger.Record{}, abi.InvalidParam("content", "an entry of an archive has 1 to %d characters", MaxEntry)
	}
	if err := desk.CheckMetadata(&metadata); err != nil {
		return ledger.Record{}, err
	}
	content, err := json.Marshal(text)
	m := &abi.Memory{Envelope: abi.NewEnvelope(abi.ObjectMemory, k.parts.IDs.New(abi.ObjectMemory), k.parts.Now(), metadata),
		Scope: abi.MemoryPersona, OwnerID: persona, Content: content, Visibility: abi.VisibilityPublic, WorkspaceID: workspace,
		Provenance: namedBy(abi.EmptyObject(), c.Actor)}
	return ledger.Record{Kind: abi.EventMemoryCreated, Object: abi.ObjectMemory, ID: m.ID, Created: true, State: m}, err
}
