package abi

import "github.com/go-json-experiment/json/jsontext"

// AgentMemory is what a Persona has in mind: blocks of text, in order of label. A Persona has one
// at most; without one it has none, and version 0.
type AgentMemory struct {
	Envelope    `json:",inline"`
	WorkspaceID string        `json:"workspace_id,omitzero"` // of the Persona; "" for one of the tenant
	PersonaID   string        `json:"persona_id"`
	Version     int64         `json:"version"`    // counts the changes, from 1
	ChangedBy   string        `json:"changed_by"` // the actor of the last change
	Blocks      []MemoryBlock `json:"blocks"`     // in order of label
	// Imported says what the change was, when it was an import of a snapshot.
	Imported *MemoryImported `json:"imported,omitzero"`
}

// MemoryBlock is a text with a label in an [AgentMemory].
type MemoryBlock struct {
	Label     string `json:"label"`
	Value     string `json:"value,omitzero"` // left out of events
	ReadOnly  bool   `json:"read_only"`      // nobody changes or deletes it
	Version   int64  `json:"version"`        // that of the memory that has stated it
	UpdatedAt Time   `json:"updated_at"`
}

// MemoryImported says what became of a snapshot.
type MemoryImported struct {
	Blocks    int      `json:"blocks"`    // made or changed
	Entries   int      `json:"entries"`   // put into the archive
	Conflicts int      `json:"conflicts"` // blocks that were there with another value, or stay as they are
	Warnings  []string `json:"warnings"`
}

// CreateBlockRequest makes a block of a Persona's memory.
type CreateBlockRequest struct {
	Label    string `json:"label"`
	Value    string `json:"value"`
	ReadOnly bool   `json:"read_only,omitzero"`
}

// UpdateBlockRequest gives a block another value.
type UpdateBlockRequest struct {
	Value string `json:"value"`
	// Version is that of the block which is to be replaced; left out for whatever is there.
	Version *int64 `json:"version,omitzero"`
}

// MemoryMerge says what becomes of a block that is there when a snapshot has another value of it.
type MemoryMerge string

// What can become of it.
const (
	MemoryOverwrite MemoryMerge = "overwrite" // the snapshot's value takes its place
	MemorySkip      MemoryMerge = "skip"      // it stays
	MemoryMergeBoth MemoryMerge = "merge"     // it gets both, unless one holds the other
)

// The bounds of what a Persona has in mind.
const (
	MaxBlocks      = 64
	MaxBlockLabel  = 100     // characters
	MaxBlockValue  = 100_000 // characters
	MaxBlocksTotal = 400_000 // characters of all values together
)

// IsBlockLabel reports whether a block may have a label: words of a to z and 0 to 9, with one - or
// _ between two of them.
func IsBlockLabel(label string) bool {
	parted := true // there is no part before the first
	for _, r := range label {
		plain := r >= 'a' && r <= 'z' || r >= '0' && r <= '9'
		if !plain && (parted || r != '-' && r != '_') {
			return false
		}
		parted = !plain
	}
	return !parted && len(label) <= MaxBlockLabel
}

// ArchiveRequest puts a text into the archive of a Persona.
type ArchiveRequest struct {
	Content  string         `json:"content"` // 1 to 100,000 characters
	Metadata jsontext.Value `json:"metadata,omitzero"`
}
