package skillmd

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/wharf-dev/wharf/runtime/filetree"
)

// FileName is the file that makes a folder a skill.
const FileName = "SKILL.md"

// DefaultVersion is that of a skill which states none.
const DefaultVersion = "1.0.0"

// Skill is what a bundle says that it is.
type Skill struct {
	Name          string            `json:"name"`
	Description   string            `json:"description"`
	Version       string            `json:"version"`
	License       string            `json:"license,omitzero"`
	Compatibility string            `json:"compatibility,omitzero"`
	Metadata      map[string]string `json:"metadata,omitzero"`
	AllowedTools  []string          `json:"allowed_tools,omitzero"`
	WhenToUse     string            `json:"when_to_use,omitzero"`
	Paths         []string          `json:"paths,omitzero"` // patterns of the files that it is for
	HasVersion    bool              `json:"-"`              // it states its version: otherwise that is [DefaultVersion]
	BodyLine      int               `json:"body_line"`      // of SKILL.md, where the instructions begin, from 1

	Files  []File `json:"files"`
	Bytes  int64  `json:"bytes"`  // of all files
	Digest string `json:"digest"` // of all files: see [Digest]
}

// File is a file of a skill.
type File struct {
	Path   string `json:"path"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"` // in hexadecimal
}

// Limits are those of a skill: 500 files with 10 MiB altogether.
func Limits() filetree.Limits {
	return filetree.Limits{Files: 500, FileBytes: 10 << 20, Bytes: 10 << 20, Ratio: 200}
}

// Files describes the files of a tree, in its order.
func Files(t *filetree.Tree) []File {
	files := make([]File, len(t.Files))
	for i, f := range t.Files {
		sum := sha256.Sum256(f.Content)
		files[i] = File{f.Path, int64(len(f.Content)), hex.EncodeToString(sum[:])}
	}
	return files
}

// Digest returns the digest of files in the order of their paths, byte by byte: SHA-256 over a
// line for each, which is its SHA-256 in hexadecimal, two spaces and its path. This is what
// sha256sum prints, so that anybody can compute it; an archive's order, times and form are not in it.
func Digest(files []File) string {
	var lines strings.Builder
	for _, f := range files {
		lines.WriteString(f.SHA256 + "  " + f.Path + "\n")
	}
	return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(lines.String())))
}
