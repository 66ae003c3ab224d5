package files

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/disk"
)

// A folder that a file was written into goes with its last file. One that somebody has made holds
// an entry that no list shows, by which it stays.
const madeFolder = unfinished + "folder"

// The bounds on folders.
const (
	maxRemoved = 10_000 // entries that a client's request removes with their folder
	maxListed  = 10_000 // entries that a walk gives at once
)

// MakeFolder makes a folder of a Workspace, and those that it lies in. It stays when nothing is in
// it. created is false when it was there before.
func (k *Keeper) MakeFolder(ctx context.Context, c *desk.Caller, workspace, dir string) (f abi.File, created bool, err error) {
	dir = strings.TrimSuffix(dir, "/")
	if err := k.checkFile(ctx, c, workspace, dir); err != nil {
		return f, false, err
	}
	at, err := k.clientsPlace(c, workspace, true)
	if err != nil {
		return f, false, err
	}
	defer at.Close()
	err = k.change(at, func() error {
		created, err = k.makeFolder(at, dir)
		f = at.folder(dir)
		return err
	})
	return f, created, err
}

// folder describes a folder.
func (p *place) folder(dir string) abi.File {
	f := abi.File{Object: "folder", WorkspaceID: p.key.ID, Path: dir}
	if info, err := p.root.Lstat(dir); err == nil {
		f.UpdatedAt = abi.At(info.ModTime())
	}
	return f
}

// makeFolder makes a folder unless it is there, and has it stay. The caller is within change.
func (k *Keeper) makeFolder(at *place, dir string) (created bool, err error) {
	info, err := at.root.Lstat(dir)
	if err == nil && !info.IsDir() {
		return false, blocked("folder", dir)
	}
	created = err != nil
	is := footprint(at.root, dir)
	becomes := entryBytes * int64(strings.Count(dir, "/")+1)
	if becomes <= is { // something else is in the way, or it is there
		k.room.add(at.key, becomes-is)
	} else if err := k.room.take(at.key, becomes-is, 0); err != nil {
		return false, err
	}
	err = at.keepFolder(dir)
	k.room.add(at.key, footprint(at.root, dir)-becomes)
	if err != nil {
		return false, k.parts.Ledger.Failed("making a workspace's folder", err)
	}
	if !created {
		return false, nil
	}
	made := at.folder(dir)
	return true, k.tell(at, abi.EventFolderMade, &made)
}

// keepFolder makes a folder, durably, with what keeps it and those above it. Where it fails, nothing of that stays.
func (p *place) keepFolder(dir string) error {
	var kept []string
	err := p.root.MkdirAll(dir, 0o700)
	if err != nil {
		err = unmade("folder", dir, err)
	}
	for d := dir; d != "." && err == nil; d = path.Dir(d) {
		var made bool
		if made, err = p.keep(d); made {
			kept = append(kept, d)
		}
	}
	if err == nil {
		return nil
	}
	for _, d := range kept {
		_ = p.root.Remove(path.Join(d, madeFolder)) // one that stays keeps an empty folder
	}
	removeEmpty(p.root, dir)
	return err
}

// keep has a folder stay when it is empty. made is false when it did before.
func (p *place) keep(dir string) (made bool, err error) {
	f, err := p.root.OpenFile(path.Join(dir, madeFolder), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	switch {
	case err == nil:
		made, err = true, f.Close()
	case errors.Is(err, fs.ErrExist):
		err = nil
	}
	return made, errors.Join(err, syncFolder(p.root, dir), syncFolder(p.root, path.Dir(dir)))
}

// unmade says why a folder could not be made that is to be, or to hold, what is at a path.
func unmade(what, p string, err error) error {
	if disk.IsFull(err) {
		return err
	}
	return blocked(what, p)
}

// blocked refuses a path at which something else is.
func blocked(what, p string) error {
	return abi.InvalidParam("path", "%q cannot be a %s: a folder is there, or a file where a folder would have to be", p, what)
}

// Removed says what went with a folder.
type Removed struct{ Files, Folders int }

// RemoveFolder takes a folder out of a Workspace: an empty one, or one with what is in it when
// recursive is set. When it fails, what it says went has gone, and no more.
func (k *Keeper) RemoveFolder(ctx context.Context, c *desk.Caller, workspace, dir string, recursive bool) (gone Removed, err error) {
	dir = strings.TrimSuffix(dir, "/")
	if err := k.checkFile(ctx, c, workspace, dir); err != nil {
		return gone, err
	}
	at, err := k.clientsPlace(c, workspace, false)
	if err != nil {
		return gone, err
	}
	defer at.Close()
	inside, err := k.inside(ctx, at, dir, recursive, maxRemoved)
	if err != nil {
		return gone, err
	}
	for _, p := range inside.files {
		// Others have their turn between two files.
		removed, err := k.removeIfThere(ctx, at, p)
		if err != nil {
			return gone, err
		}
		gone.Files += removed
	}
	err = k.change(at, func() error { gone.Folders, err = k.removeFolders(at, inside.folders); return err })
	return gone, err
}

// removeIfThere removes a file, and returns how many that were: one that has gone meanwhile is none.
func (k *Keeper) removeIfThere(ctx context.Context, at *place, p string) (n int, err error) {
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	err = k.change(at, func() error {
		before, err := at.now(ctx, p)
		if err != nil || before.SHA256 == "" {
			return k.parts.Ledger.Failed("reading a workspace's file", err)
		}
		n = 1
		return k.remove(at, &before)
	})
	return n, err
}

// held is what a folder holds: files, and folders from the folder itself on.
type held struct{ files, folders []string }

// inside returns what is in a folder that is to be removed, at most so much.
func (k *Keeper) inside(ctx context.Context, at *place, dir string, recursive bool, most int) (in held, err error) {
	in.folders = []string{dir}
	err = k.walk(ctx, at, walking{below: dir, folders: true}, func(p string, d fs.DirEntry) error {
		switch {
		case !recursive:
			return abi.Errorf(abi.CodeConflict, "the folder %q is not empty: recursive removes it with what is in it", dir)
		case len(in.files)+len(in.folders) > most:
			return abi.Errorf(abi.CodePayloadTooLarge, "the folder %q has more than %d files and folders in it: remove those within it first", dir, most)
		case d.IsDir():
			in.folders = append(in.folders, p)
		default:
			in.files = append(in.files, p)
		}
		return nil
	})
	return in, err
}

// removeFolders removes folders in which nothing is any more, the last first, and returns how many
// have gone. Something that others have put into one stays. The caller is within change.
func (k *Keeper) removeFolders(at *place, folders []string) (n int, err error) {
	for i := len(folders) - 1; i >= 0; i-- {
		dir := folders[i]
		if at.holdsMore(dir) {
			continue
		}
		if _, err := at.root.Lstat(path.Join(dir, madeFolder)); err == nil {
			if err := k.tell(at, abi.EventFolderRemoved, &abi.File{Object: "folder", WorkspaceID: at.key.ID, Path: dir}); err != nil {
				return n, err
			}
		}
		if err := k.removeFolder(at, dir); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// holdsMore reports whether anything is in a folder but what keeps it.
func (p *place) holdsMore(dir string) bool {
	entries, err := fs.ReadDir(p.root.FS(), dir)
	return err == nil && (len(entries) > 1 || len(entries) == 1 && entries[0].Name() != madeFolder)
}

// removeFolder removes an empty folder, and those above it that nothing keeps.
func (k *Keeper) removeFolder(at *place, dir string) error {
	is := footprint(at.root, dir)
	err := at.root.Remove(path.Join(dir, madeFolder))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	removeEmpty(at.root, dir)
	k.room.add(at.key, footprint(at.root, dir)-is)
	if err == nil {
		err = syncAbove(at.root, dir)
	}
	return k.parts.Ledger.Failed("removing a workspace's folder", err)
}

// syncAbove makes it durable that a folder is gone, and those above it that went with it.
func syncAbove(root *os.Root, dir string) error {
	for dir != "." {
		dir = path.Dir(dir)
		if err := syncFolder(root, dir); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// Walk asks for part of what is in a folder.
type Walk struct {
	Path          string // of the folder; "" for the whole Workspace
	Recursive     bool   // what is in the folders in it, too
	Offset, Limit int    // Limit is at most 10,000; 0 for that
}

// WalkFiles returns files and folders in the order of their paths' names. more says that there are
// others behind them.
func (k *Keeper) WalkFiles(ctx context.Context, c *desk.Caller, workspace string, w Walk) (all []abi.File, more bool, err error) {
	w.Path = strings.TrimSuffix(w.Path, "/")
	w.Limit = cmp.Or(w.Limit, maxListed)
	if w.Offset < 0 || w.Limit < 0 || w.Limit > maxListed {
		return nil, false, abi.InvalidParam("limit", "offset is not negative, and limit is 1 to %d", maxListed)
	}
	if err := k.checkFile(ctx, c, workspace, cmp.Or(w.Path, "any")); err != nil {
		return nil, false, err
	}
	at, err := k.clientsPlace(c, workspace, false)
	if err != nil || at == nil && w.Path == "" {
		return nil, false, err
	}
	defer at.Close()
	n := 0
	err = k.walk(ctx, at, walking{below: w.Path, flat: !w.Recursive, folders: true}, func(p string, d fs.DirEntry) error {
		if n++; n <= w.Offset {
			return nil
		}
		if more = len(all) == w.Limit; more {
			return fs.SkipAll
		}
		all = append(all, at.entry(p, d))
		return nil
	})
	return all, more, err
}

// entry describes what a walk has met.
func (p *place) entry(at string, d fs.DirEntry) abi.File {
	if d.IsDir() {
		return p.folder(at)
	}
	f := abi.File{Object: "file", WorkspaceID: p.key.ID, Path: at, MediaType: p.mediaAt(at)}
	if info, err := d.Info(); err == nil {
		f.Size, f.UpdatedAt = info.Size(), abi.At(info.ModTime())
	}
	return f
}

// FindEntry describes the file or folder at a path; of a file without its hash.
func (k *Keeper) FindEntry(ctx context.Context, c *desk.Caller, workspace, p string) (abi.File, error) {
	p = strings.TrimSuffix(p, "/")
	if err := k.checkFile(ctx, c, workspace, p); err != nil {
		return abi.File{}, err
	}
	at, err := k.clientsPlace(c, workspace, false)
	if err != nil {
		return abi.File{}, err
	}
	defer at.Close()
	return at.found(p)
}

// found describes what is at a path.
func (p *place) found(name string) (abi.File, error) {
	if p == nil {
		return abi.File{}, errNoFile(name)
	}
	info, err := p.root.Lstat(name)
	if err != nil || !info.IsDir() && !info.Mode().IsRegular() {
		return abi.File{}, errNoFile(name)
	}
	return p.entry(name, fs.FileInfoToDirEntry(info)), nil
}
