package blocks

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/filetree"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/memories"
)

// The files of a snapshot.
const (
	blocksFile   = "blocks.json"
	archiveFile  = "archive.json"
	metadataFile = "metadata.json"
)

const (
	maxEntries  = 2000 // of a snapshot's archive
	maxWarnings = 100
)

// SnapshotLimits bound a snapshot that is read.
func SnapshotLimits() filetree.Limits {
	return filetree.Limits{Files: 16, FileBytes: 16 << 20, Bytes: 20 << 20, Ratio: 200}
}

type blockInFile struct {
	Label     string   `json:"label"`
	Value     string   `json:"value"`
	ReadOnly  bool     `json:"read_only"`
	UpdatedAt abi.Time `json:"updated_at,omitzero"`
}

type entryInFile struct {
	ID        string         `json:"id,omitzero"`
	Content   string         `json:"content"`
	CreatedAt abi.Time       `json:"created_at,omitzero"`
	Metadata  jsontext.Value `json:"metadata,omitzero"`
}

// about says what a snapshot is of.
type about struct {
	AgentID string `json:"agent_id"`
	Version int64  `json:"version"`
	Blocks  int    `json:"blocks"`
	Entries int    `json:"archive_entries"`
}

// MemorySnapshot returns what a Persona knows as files: its blocks, what they are of, and with archive the
// entries of its archive, oldest first.
func (k *Keeper) MemorySnapshot(ctx context.Context, c *desk.Caller, persona string, archive bool) ([]filetree.File, error) {
	m, err := k.of(ctx, c, persona)
	if err != nil {
		return nil, err
	}
	blocks, entries := []blockInFile{}, []entryInFile{}
	for _, b := range m.Blocks {
		blocks = append(blocks, blockInFile{b.Label, b.Value, b.ReadOnly, b.UpdatedAt})
	}
	if archive {
		if entries, err = k.packed(ctx, c, persona); err != nil {
			return nil, err
		}
	}
	var files []filetree.File
	for _, f := range []struct {
		path string
		what any
	}{{archiveFile, entries}, {blocksFile, blocks}, {metadataFile, about{persona, m.Version, len(blocks), len(entries)}}} {
		text, err := json.Marshal(f.what, json.Deterministic(true), jsontext.WithIndent("  "))
		if err != nil {
			return nil, err
		}
		if f.path != archiveFile || archive {
			files = append(files, filetree.File{Path: f.path, Content: append(text, '\n')})
		}
	}
	return files, nil
}

func (k *Keeper) packed(ctx context.Context, c *desk.Caller, persona string) ([]entryInFile, error) {
	list, err := k.Archive(ctx, c, persona)
	entries := []entryInFile{}
	for i := range slices.Backward(list) {
		m := &list[i]
		entries = append(entries, entryInFile{m.ID, memories.TextOf(m), m.CreatedAt, m.Metadata})
	}
	return entries, err
}

// ImportMemory takes a snapshot in, as one change. The answer is all that the Persona has in mind,
// with what became of the snapshot.
func (k *Keeper) ImportMemory(ctx context.Context, c *desk.Caller, r *desk.Retry, persona string, merge abi.MemoryMerge, files []filetree.File) (desk.Doc, error) {
	if merge == "" {
		merge = abi.MemoryOverwrite
	}
	if err := desk.CheckOneOf("merge_strategy", merge, abi.MemoryOverwrite, abi.MemorySkip, abi.MemoryMergeBoth); err != nil {
		return desk.Doc{}, err
	}
	blocks, entries, err := unpacked(files)
	if err != nil {
		return desk.Doc{}, err
	}
	return k.change(ctx, c, r, persona, desk.StatusOK, func(m *kept) ([]ledger.Record, error) {
		in := &importing{k: k, m: m, merge: merge, did: &abi.MemoryImported{Warnings: []string{}}}
		m.Imported = in.did
		for _, b := range blocks {
			in.block(b)
		}
		if err := checkTotal(m); err != nil {
			return nil, err
		}
		return in.archive(ctx, c, entries)
	})
}

// unpacked reads a snapshot. Each mistake in it names its file.
func unpacked(files []filetree.File) (blocks []blockInFile, entries []entryInFile, err error) {
	found := false
	for _, f := range files {
		switch f.Path {
		case blocksFile:
			found = true
			blocks, err = listIn[blockInFile](f, "blocks")
		case archiveFile:
			entries, err = listIn[entryInFile](f, "entries")
		}
		if err != nil {
			return nil, nil, err
		}
	}
	if !found {
		return nil, nil, abi.InvalidParam("snapshot", "the snapshot has no %s", blocksFile)
	}
	return blocks, entries, checkUnpacked(blocks, entries)
}

// listIn reads a list, or an object that holds one.
func listIn[T any](f filetree.File, name string) (list []T, err error) {
	text := jsontext.Value(f.Content)
	if text.Kind() == '{' {
		var object map[string]jsontext.Value
		if json.Unmarshal(text, &object) == nil {
			text = object[name]
		}
	}
	if text.Kind() != '[' || json.Unmarshal(text, &list) != nil {
		return nil, abi.InvalidParam("snapshot", "%s is no list of what belongs in it", f.Path)
	}
	return list, nil
}

func checkUnpacked(blocks []blockInFile, entries []entryInFile) error {
	if len(entries) > maxEntries {
		return abi.InvalidParam("snapshot", "%s has more than %d entries", archiveFile, maxEntries)
	}
	labels := map[string]bool{}
	for i, b := range blocks {
		if labels[b.Label] {
			return abi.InvalidParam("snapshot", "%s has the label %q twice", blocksFile, b.Label)
		}
		labels[b.Label] = true
		for _, err := range []error{checkLabel(b.Label), checkValue(b.Value)} {
			if err != nil {
				return abi.InvalidParam("snapshot", "%s, block %d: %v", blocksFile, i, err)
			}
		}
	}
	return nil
}

// importing is a snapshot on its way in.
type importing struct {
	k     *Keeper
	m     *kept
	merge abi.MemoryMerge
	did   *abi.MemoryImported
}

func (in *importing) warn(format string, args ...any) {
	if len(in.did.Warnings) < maxWarnings {
		in.did.Warnings = append(in.did.Warnings, fmt.Sprintf(format, args...))
	}
}

// block takes in a block. What is there and the same stays.
func (in *importing) block(b blockInFile) {
	i, found := at(in.m, b.Label)
	if !found {
		in.k.put(in.m, b.Label, b.Value, b.ReadOnly)
		in.did.Blocks++
		return
	}
	old := in.m.Blocks[i]
	if old.Value == b.Value {
		return
	}
	in.did.Conflicts++
	value := in.merged(old.Value, b.Value)
	switch {
	case old.ReadOnly:
		in.warn("the block %q is read-only, and stays as it is", b.Label)
	case utf8.RuneCountInString(value) > abi.MaxBlockValue:
		in.warn("both values of the block %q together are too long: it stays as it is", b.Label)
	case value != old.Value:
		in.k.put(in.m, b.Label, value, in.merge == abi.MemoryOverwrite && b.ReadOnly)
		in.did.Blocks++
	}
}

// merged returns the value of a block that is there with another one.
func (in *importing) merged(old, other string) string {
	switch {
	case in.merge == abi.MemoryOverwrite:
		return other
	case in.merge == abi.MemorySkip || strings.Contains(old, other):
		return old
	case strings.Contains(other, old):
		return other
	}
	return old + "\n" + other
}

// archive returns what puts entries into the archive that are not there.
func (in *importing) archive(ctx context.Context, c *desk.Caller, entries []entryInFile) (records []ledger.Record, err error) {
	if len(entries) == 0 {
		return nil, nil
	}
	there, err := in.k.Archive(ctx, c, in.m.PersonaID)
	if err != nil {
		return nil, err
	}
	known := map[[sha256.Size]byte]bool{}
	for i := range there {
		known[sha256.Sum256([]byte(memories.TextOf(&there[i])))] = true
	}
	for i, e := range entries {
		sum := sha256.Sum256([]byte(e.Content))
		if known[sum] {
			continue
		}
		known[sum] = true
		rec, err := in.k.Keeper.ArchiveRecord(c, in.m.WorkspaceID, in.m.PersonaID, e.Content, e.Metadata)
		if err != nil {
			in.warn("%s, entry %d is left out: %v", archiveFile, i, err)
			continue
		}
		records = append(records, rec)
		in.did.Entries++
	}
	return records, nil
}
