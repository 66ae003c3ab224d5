package files

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
)

// The bounds on many files at once.
const (
	MaxWritten  = 500       // files that are written by one request
	MaxTogether = 100 << 20 // bytes of them
	MaxPacked   = 1000      // paths that one archive is made of
)

// Upload is a file that is written with others.
type Upload struct {
	Path    string
	Size    int64 // as far as it is known before it is read
	Content io.Reader
}

// Written says what became of files that were written together. Each is written whole or not at
// all, by itself.
type Written struct {
	Files   []abi.File
	Skipped []string // paths of files that were there
	Failed  []Failed
}

// Failed is a file that was not written, and why.
type Failed struct {
	Path string
	Err  *abi.Error
}

// WriteFiles puts files into a Workspace, one after the other. Without overwrite those that are
// there stay as they are. An error means that the node could not go on: what was written until then
// stays.
func (k *Keeper) WriteFiles(ctx context.Context, c *desk.Caller, workspace string, all []Upload, overwrite bool) (*Written, error) {
	if err := k.checkFile(ctx, c, workspace, "any"); err != nil {
		return nil, err
	}
	if err := checkUploads(all); err != nil {
		return nil, err
	}
	w := &Written{}
	for _, u := range all {
		f, _, err := k.WriteFile(ctx, c, workspace, u.Path, u.Content, Condition{Absent: !overwrite})
		own, shown := errors.AsType[*abi.Error](err)
		switch {
		case err == nil:
			w.Files = append(w.Files, f)
		case shown && own.Code == abi.CodeConflict:
			w.Skipped = append(w.Skipped, u.Path)
		case shown && (own.Code == abi.CodeInvalidRequest || own.Code == abi.CodePayloadTooLarge):
			w.Failed = append(w.Failed, Failed{Path: u.Path, Err: own})
		default:
			return nil, err
		}
	}
	return w, nil
}

// checkUploads refuses more than one request may write.
func checkUploads(all []Upload) error {
	var together int64
	for _, u := range all {
		together += u.Size
	}
	switch {
	case len(all) > MaxWritten:
		return abi.Errorf(abi.CodePayloadTooLarge, "one request writes at most %d files", MaxWritten)
	case together > MaxTogether:
		return abi.Errorf(abi.CodePayloadTooLarge, "the files of one request have at most %d bytes together", MaxTogether)
	}
	return nil
}

// Archive is a zip of files, which is made while it is written. Whoever gets one closes it.
type Archive struct {
	keeper *Keeper
	at     *place
	paths  []string
}

// Close lets go of the Workspace.
func (a *Archive) Close() error { return a.at.Close() }

// PackFiles prepares a zip of files and folders, each of which is there; "" is the whole Workspace.
func (k *Keeper) PackFiles(ctx context.Context, c *desk.Caller, workspace string, paths []string) (*Archive, error) {
	if len(paths) == 0 || len(paths) > MaxPacked {
		return nil, abi.InvalidParam("paths", "paths are 1 to %d", MaxPacked)
	}
	if err := k.checkFile(ctx, c, workspace, "any"); err != nil {
		return nil, err
	}
	at, err := k.clientsPlace(c, workspace, true)
	if err != nil {
		return nil, err
	}
	a := &Archive{keeper: k, at: at}
	if err := a.choose(paths); err != nil {
		return nil, errors.Join(err, at.Close())
	}
	return a, nil
}

// choose takes over paths that are there, each once: what lies in a folder that is chosen is no
// path of its own.
func (a *Archive) choose(paths []string) error {
	chosen := map[string]bool{}
	for _, p := range paths {
		p = strings.TrimSuffix(p, "/")
		if p != "" {
			if err := checkPath(p); err != nil {
				return err
			}
			if _, err := a.at.found(p); err != nil {
				return err
			}
		}
		chosen[p] = true
	}
	for p := range chosen {
		if !within(chosen, p) {
			a.paths = append(a.paths, p)
		}
	}
	slices.Sort(a.paths)
	return nil
}

// within reports whether a path lies in a folder that is chosen.
func within(chosen map[string]bool, p string) bool {
	for p != "" {
		if p = strings.TrimPrefix(path.Dir("/"+p), "/"); chosen[p] {
			return true
		}
	}
	return false
}

// Write writes the archive: the files as they are then, by their paths within the Workspace. One
// that goes meanwhile is left out. It holds a piece of one file at a time.
func (a *Archive) Write(ctx context.Context, to io.Writer) error {
	out := zip.NewWriter(to)
	for _, p := range a.paths {
		if err := a.pack(ctx, out, p); err != nil {
			return fmt.Errorf("packing the files of a workspace: %w", err)
		}
	}
	return out.Close()
}

// pack writes what is at a path.
func (a *Archive) pack(ctx context.Context, out *zip.Writer, p string) error {
	info, err := a.at.root.Lstat(path.Join(".", p))
	switch {
	case err != nil:
		return nil // it has gone meanwhile
	case !info.IsDir():
		return a.packFile(ctx, out, p)
	case p != "":
		err = a.packFolder(out, p)
	}
	if err != nil {
		return err
	}
	err = a.keeper.walk(ctx, a.at, walking{below: p, folders: true}, func(p string, d fs.DirEntry) error {
		if d.IsDir() {
			return a.packFolder(out, p)
		}
		return a.packFile(ctx, out, p)
	})
	if missing, ok := errors.AsType[*abi.Error](err); ok && missing.Code == abi.CodeResourceNotFound {
		return nil
	}
	return err
}

// packFolder writes a folder, for those in which nothing is.
func (a *Archive) packFolder(out *zip.Writer, p string) error {
	h := &zip.FileHeader{Name: p + "/"}
	if info, err := a.at.root.Lstat(p); err == nil {
		h.Modified = info.ModTime().UTC()
	}
	_, err := out.CreateHeader(h)
	return err
}

func (a *Archive) packFile(ctx context.Context, out *zip.Writer, p string) error {
	f, info, err := a.at.file(p)
	if err != nil {
		return nil // it has gone meanwhile
	}
	defer f.Close()
	to, err := out.CreateHeader(&zip.FileHeader{Name: p, Method: zip.Deflate, Modified: info.ModTime().UTC()})
	if err == nil {
		_, err = io.Copy(to, &patient{ctx, f})
	}
	return err
}
