package skillbundles

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/filetree"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/skillmd"
	"github.com/wharf-dev/wharf/storage"
)

// InvalidError says what is wrong with files that are to be installed. It unwraps to what
// callers are shown, an *abi.Error with the report as its details.
type InvalidError struct {
	Report *skillmd.Report
	shown  *abi.Error
}

// Error implements the error interface.
func (e *InvalidError) Error() string { return e.shown.Error() }

// Unwrap returns what callers are shown.
func (e *InvalidError) Unwrap() error { return e.shown }

// maxShown is how many findings an error tells of each severity.
const maxShown = 100

// Refused returns the error for files that could not be read because of what is in them; err
// itself for other errors.
func Refused(err error) error {
	if report, ok := skillmd.Refused(err); ok {
		return invalid(report)
	}
	return err
}

func invalid(r *skillmd.Report) error {
	first := r.Errors[0]
	at := ""
	if first.File != "" {
		at = first.File + ": "
	}
	if first.Line > 0 {
		at = fmt.Sprintf("%s:%d: ", first.File, first.Line)
	}
	shown := abi.InvalidParam("files", "%s%s: %s", at, first.Code, first.Message)
	if n := len(r.Errors) - 1; n > 0 {
		shown.Message += fmt.Sprintf(" (and %d more)", n)
	}
	told := skillmd.Report{Errors: r.Errors[:min(len(r.Errors), maxShown)], Warnings: r.Warnings[:min(len(r.Warnings), maxShown)]}
	if details, err := json.Marshal(&told); err == nil { // it is all text
		shown.Details = details
	}
	return &InvalidError{Report: r, shown: shown}
}

// maxVersion is how many bytes a version may have, and maxLabel how many characters of texts that
// nothing else bounds are shown.
const (
	maxVersion = 64
	maxLabel   = 200
)

// read checks the files of a skill, and returns what it says of itself.
func read(files *filetree.Tree) (*skillmd.Skill, error) {
	report := skillmd.Check(files)
	if !report.Valid {
		return nil, invalid(report)
	}
	if len(report.Skill.Version) > maxVersion {
		return nil, abi.InvalidParam("files", "%s: the version has more than %d bytes", skillmd.FileName, maxVersion)
	}
	return report.Skill, nil
}

// keep stores the files of a version, and describes it.
func (k *Keeper) keep(ctx context.Context, files *filetree.Tree, s *skillmd.Skill, version, changelog string) (abi.SkillBundleVersion, error) {
	var archive bytes.Buffer
	if err := files.WriteZip(&archive, s.Name); err != nil {
		return abi.SkillBundleVersion{}, err
	}
	hash, _, err := k.parts.Store.Blobs().Put(ctx, &archive, nil)
	if err != nil {
		return abi.SkillBundleVersion{}, k.parts.Ledger.Failed("storing a skill", err)
	}
	vendor := s.Metadata["vendor"]
	if vendor == "" {
		vendor = s.Metadata["author"]
	}
	return abi.SkillBundleVersion{
		Version: version, Description: s.Description, WhenToUse: s.WhenToUse, Paths: s.Paths, AllowedTools: toldTools(s.AllowedTools), License: label(s.License), Compatibility: s.Compatibility, Vendor: label(vendor), Changelog: changelog,
		Files: len(s.Files), Bytes: s.Bytes, Digest: s.Digest, Archive: journal.FormatHash(hash), InstalledAt: abi.At(k.parts.Now()),
	}, nil
}

// maxToldTools is how many of the tools that a skill asks for are told.
const maxToldTools = 100

// toldTools returns the tools that a skill asks for; none of one that asks for more than are told, for a
// part of them would keep it from its work.
func toldTools(tools []string) []string {
	for _, name := range tools {
		if len(name) > 2*maxLabel {
			return nil
		}
	}
	if len(tools) > maxToldTools {
		return nil
	}
	return tools
}

// label cuts a text.
func label(text string) string {
	if runes := []rune(text); len(runes) > maxLabel {
		return string(runes[:maxLabel-1]) + "…"
	}
	return text
}

// open opens the archive of a version. Its content is what was stored.
func (k *Keeper) open(ctx context.Context, name, version, archive string) (desk.Blob, error) {
	hash, err := journal.ParseHash(archive)
	if err != nil {
		return nil, k.parts.Ledger.Failed("finding the files of skill "+name, err)
	}
	blob, err := k.parts.Store.Blobs().Open(ctx, hash)
	if err == nil {
		if err = blob.Verify(ctx); err != nil {
			err = errors.Join(err, blob.Close())
		}
	}
	if err != nil {
		return nil, k.parts.Ledger.Failed("opening the files of skill "+name, lost(name, version, err))
	}
	return blob, nil
}

func lost(name, version string, err error) error {
	if damage, ok := errors.AsType[*storage.ContentError](err); ok {
		return &ledger.LostContent{What: "version " + version + " of skill " + name, Cause: damage}
	}
	return err
}

// file is what was found at a path of a skill.
type file struct {
	content []byte
	there   bool
	large   bool
	others  []string // the paths of all other files
}

// readFile reads a file of at most so many bytes.
func (k *Keeper) readFile(ctx context.Context, name, version, archive, path string, most int64) (f file, err error) {
	blob, err := k.open(ctx, name, version, archive)
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, blob.Close()) }()
	in, err := zip.NewReader(blob, blob.Size())
	if err != nil {
		return f, k.parts.Ledger.Failed("reading the files of skill "+name, err)
	}
	for _, member := range in.File {
		at := strings.TrimPrefix(member.Name, name+"/")
		if at != path {
			f.others = append(f.others, at)
			continue
		}
		if f.there = true; int64(member.UncompressedSize64) > most {
			f.large = true
		} else if f.content, err = contentOf(member); err != nil {
			return f, k.parts.Ledger.Failed("reading a file of skill "+name, err)
		}
	}
	return f, nil
}

func contentOf(member *zip.File) (_ []byte, err error) {
	in, err := member.Open()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	return io.ReadAll(in)
}

// isText reports whether content can be told as text.
func isText(content []byte) bool { return utf8.Valid(content) && !bytes.Contains(content, []byte{0}) }
