package files

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/lockrank"
	"github.com/wharf-dev/wharf/storage"
)

// The bounds on Workspaces' files.
const (
	MaxBytes          = 8 << 20 // of one file
	maxWorkspaceBytes = 1 << 30 // of all files of a Workspace, with what each entry costs
	entryBytes        = 4 << 10 // that a file or a folder costs, for the disk, beside its content
	maxPathBytes      = 1024
	maxNameBytes      = 200
	maxFolders        = 32 // how deep a file may lie
)

// unfinished begins the names of files that are being written. No path has one.
const unfinished = ".wharf-"

// Condition is what a file must be before it is changed: ETags as in HTTP, ""
// for anything. Absent asks that it is not there.
type Condition struct {
	Match  string
	Absent bool
}

// usageTable knows how much the files of Workspaces take, of those that were written
// to since the node started.
type usageTable struct {
	writing lockrank.RWMutex[lockrank.Files] // held for reading by those that write or remove a file
	mu      lockrank.Mutex[lockrank.Table]
	bytes   map[ledger.Key]int64
}

// checkPath accepts the path of a file within a Workspace.
func checkPath(p string) error {
	bad := abi.InvalidParam("path", "%.100q is not the path of a file: names separated by /, relative to the workspace", p)
	if p == "" || len(p) > maxPathBytes || !utf8.ValidString(p) || strings.ContainsFunc(p, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\\' || r == ':' }) {
		return bad
	}
	names := strings.Split(p, "/")
	if len(names) > maxFolders {
		return bad
	}
	for _, name := range names {
		if name == "" || name == "." || name == ".." || len(name) > maxNameBytes || strings.HasPrefix(name, unfinished) {
			return bad
		}
	}
	return nil
}

// checkFile checks that the caller may see a Workspace, and that a path is one of it.
func (k *Keeper) checkFile(ctx context.Context, c *desk.Caller, workspace, p string) error {
	if err := k.parts.Desk.CheckWorkspace(ctx, c, workspace); err != nil {
		return err
	}
	if k.parts.Root == nil {
		return abi.Errorf(abi.CodeNotImplemented, "this node keeps no files")
	}
	return checkPath(p)
}

// openFiles opens the folder of a Workspace. make makes it if need be; otherwise it
// is nil when there is none.
func (k *Keeper) openFiles(c *desk.Caller, workspace string, make bool) (*os.Root, error) {
	dir := path.Join(strconv.FormatUint(uint64(c.Tenant), 10), workspace)
	if make {
		if err := k.parts.Root.MkdirAll(dir, 0o700); err != nil {
			return nil, k.parts.Ledger.Failed("making the workspace's folder", err)
		}
	}
	root, err := k.parts.Root.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return root, k.parts.Ledger.Failed("opening the workspace's folder", err)
}

func errNoFile(p string) error {
	return abi.Errorf(abi.CodeResourceNotFound, "there is no file %q", p)
}

// ReadFile returns a file of a Workspace and what describes it.
func (k *Keeper) ReadFile(ctx context.Context, c *desk.Caller, workspace, p string) (abi.File, []byte, error) {
	if err := k.checkFile(ctx, c, workspace, p); err != nil {
		return abi.File{}, nil, err
	}
	root, err := k.openFiles(c, workspace, false)
	if err != nil {
		return abi.File{}, nil, err
	}
	if root == nil {
		return abi.File{}, nil, errNoFile(p)
	}
	defer root.Close()
	f, content, err := readFile(root, p)
	f.WorkspaceID = workspace
	return f, content, err
}

// readFile reads a regular file. What is none, or lies outside, is not there.
func readFile(root *os.Root, p string) (abi.File, []byte, error) {
	info, err := root.Lstat(p)
	if err != nil || !info.Mode().IsRegular() {
		return abi.File{}, nil, errNoFile(p)
	}
	f, err := root.Open(p)
	if err != nil {
		return abi.File{}, nil, errNoFile(p)
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, MaxBytes+1))
	if err != nil {
		return abi.File{}, nil, fmt.Errorf("reading a workspace's file: %w", err)
	}
	if len(content) > MaxBytes {
		return abi.File{}, nil, abi.Errorf(abi.CodePayloadTooLarge, "the file has more than %d bytes", MaxBytes)
	}
	return described(p, content, info.ModTime()), content, nil
}

func described(p string, content []byte, at time.Time) abi.File {
	sum := sha256.Sum256(content)
	return abi.File{Object: "file", Path: p, Size: int64(len(content)), SHA256: hex.EncodeToString(sum[:]), UpdatedAt: abi.At(at)}
}

// WriteFile puts a file into a Workspace, whole or not at all. created reports
// whether it was not there before.
func (k *Keeper) WriteFile(ctx context.Context, c *desk.Caller, workspace, p string, content []byte, when Condition) (f abi.File, created bool, err error) {
	if err := k.checkFile(ctx, c, workspace, p); err != nil {
		return f, false, err
	}
	if len(content) > MaxBytes {
		return f, false, abi.Errorf(abi.CodePayloadTooLarge, "a file has at most %d bytes", MaxBytes)
	}
	root, err := k.openFiles(c, workspace, true)
	if err != nil {
		return f, false, err
	}
	defer root.Close()
	k.room.writing.RLock()
	defer k.room.writing.RUnlock()
	unlock := k.parts.Ledger.Lock(c.Tenant, workspace)
	defer unlock()
	before, _, err := readFile(root, p)
	created = err != nil
	if err := when.check(before, created); err != nil {
		return f, false, err
	}
	is := footprint(root, p)
	becomes := int64(len(content)) + entryBytes*int64(strings.Count(p, "/")+1)
	if err := k.takeRoom(root, ledger.Key{Tenant: c.Tenant, ID: workspace}, becomes-is); err != nil {
		return f, false, err
	}
	err = k.replaceFile(root, p, content)
	if err != nil {
		removeEmpty(root, path.Dir(p))
	}
	k.room.add(ledger.Key{Tenant: c.Tenant, ID: workspace}, footprint(root, p)-becomes)
	if err != nil {
		return f, false, err
	}
	f = described(p, content, k.parts.Now())
	f.WorkspaceID = workspace
	return f, created, k.tellFile(ctx, c, abi.EventFileWritten, workspace, &f)
}

// RemoveFile takes a file out of a Workspace.
func (k *Keeper) RemoveFile(ctx context.Context, c *desk.Caller, workspace, p string, when Condition) error {
	if err := k.checkFile(ctx, c, workspace, p); err != nil {
		return err
	}
	root, err := k.openFiles(c, workspace, false)
	if err != nil {
		return err
	}
	if root == nil {
		return errNoFile(p)
	}
	defer root.Close()
	k.room.writing.RLock()
	defer k.room.writing.RUnlock()
	unlock := k.parts.Ledger.Lock(c.Tenant, workspace)
	defer unlock()
	before, _, err := readFile(root, p)
	if err != nil {
		return err
	}
	if err := when.check(before, false); err != nil {
		return err
	}
	if err := k.takeRoom(root, ledger.Key{Tenant: c.Tenant, ID: workspace}, 0); err != nil {
		return err
	}
	// The log first: a file that it tells of is there, or is lost.
	removed := &abi.File{Object: "file", WorkspaceID: workspace, Path: p, Size: before.Size, SHA256: before.SHA256}
	if err := k.tellFile(ctx, c, abi.EventFileRemoved, workspace, removed); err != nil {
		return err
	}
	is := footprint(root, p)
	err = root.Remove(p)
	removeEmpty(root, path.Dir(p))
	k.room.add(ledger.Key{Tenant: c.Tenant, ID: workspace}, footprint(root, p)-is)
	return k.parts.Ledger.Failed("removing a workspace's file", err)
}

// footprint is what a file and the folders that it lies in take, as far as they are there.
func footprint(root *os.Root, p string) (n int64) {
	for i, c := range p + "/" {
		if c != '/' {
			continue
		}
		if info, err := root.Lstat(p[:i]); err == nil {
			n += entrySize(info)
		}
	}
	return n
}

// entrySize is what one entry of a folder takes.
func entrySize(info fs.FileInfo) int64 {
	if info.Mode().IsRegular() {
		return entryBytes + info.Size()
	}
	return entryBytes
}

// removeEmpty removes a folder, and those that it lies in, up to the first in which
// something is.
func removeEmpty(root *os.Root, dir string) {
	for ; dir != "."; dir = path.Dir(dir) {
		info, err := root.Lstat(dir)
		if err == nil && !info.IsDir() || root.Remove(dir) != nil && err == nil {
			return
		}
	}
}

// add corrects what is counted of a Workspace, once it is known what was done.
func (t *usageTable) add(workspace ledger.Key, more int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.bytes[workspace] += more
}

func (w Condition) check(f abi.File, absent bool) error {
	if w.Absent && !absent || w.Match != "" && (absent || w.Match != "*" && w.Match != `"`+f.SHA256+`"`) {
		return abi.Errorf(abi.CodeConflict, "the file is not what the request expects it to be")
	}
	return nil
}

// replaceFile writes a file beside the old one and renames it.
func (k *Keeper) replaceFile(root *os.Root, p string, content []byte) error {
	blocked := abi.InvalidParam("path", "%q cannot be a file: a folder is there, or a file where a folder would have to be", p)
	dir := path.Dir(p)
	if err := root.MkdirAll(dir, 0o700); err != nil {
		return blocked
	}
	temporary := path.Join(dir, unfinished+strings.ToLower(k.parts.IDs.New(abi.ObjectEvent)))
	f, err := root.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return k.parts.Ledger.Failed("writing a workspace's file", err)
	}
	_, err = f.Write(content)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		if info, there := root.Lstat(p); there == nil && info.IsDir() {
			err = blocked
		} else {
			err = root.Rename(temporary, p)
		}
	}
	if err != nil {
		_ = root.Remove(temporary) // what is left of it is no file of the Workspace
		return err
	}
	return syncFolder(root, dir)
}

// syncFolder makes the names in a folder durable.
func syncFolder(root *os.Root, dir string) error {
	d, err := root.Open(dir)
	if err != nil {
		return fmt.Errorf("syncing a workspace's folder: %w", err)
	}
	return errors.Join(d.Sync(), d.Close())
}

// takeRoom counts what a Workspace's files take, and refuses more than they may. The
// first time it removes what was being written when the node died. The caller holds
// the Workspace's lock.
func (k *Keeper) takeRoom(root *os.Root, workspace ledger.Key, more int64) error {
	k.room.mu.Lock()
	defer k.room.mu.Unlock()
	used, known := k.room.bytes[workspace]
	if !known {
		err := fs.WalkDir(root.FS(), ".", func(at string, d fs.DirEntry, err error) error {
			if err == nil && strings.HasPrefix(d.Name(), unfinished) { // a crash has left it
				return root.Remove(at)
			}
			if err != nil || at == "." {
				return err
			}
			if info, err := d.Info(); err == nil {
				used += entrySize(info)
			}
			return nil
		})
		if err != nil {
			return k.parts.Ledger.Failed("counting a workspace's files", err)
		}
	}
	if more > 0 && used+more > maxWorkspaceBytes {
		return abi.Errorf(abi.CodePayloadTooLarge, "the files of a workspace have at most %d bytes together, and each file and folder counts %d", int64(maxWorkspaceBytes), entryBytes)
	}
	if k.room.bytes == nil {
		k.room.bytes = map[ledger.Key]int64{}
	}
	k.room.bytes[workspace] = used + more
	return nil
}

// tellFile records a change of a file. The caller holds the Workspace's lock.
func (k *Keeper) tellFile(ctx context.Context, c *desk.Caller, kind abi.EventKind, workspace string, f *abi.File) error {
	_, err := k.parts.Desk.CommitNext(ctx, storage.Frame{Tenant: c.Tenant, WorkspaceID: workspace, Actor: c.Actor}, nil, 0,
		ledger.Record{Kind: kind, Object: abi.ObjectWorkspace, ID: workspace, Payload: f})
	return err
}

// ListFiles returns what is in a folder of a Workspace, "" for the whole, by name.
func (k *Keeper) ListFiles(ctx context.Context, c *desk.Caller, workspace, dir string, p desk.Page) (desk.DocList, error) {
	dir = strings.TrimSuffix(dir, "/")
	if err := k.checkFile(ctx, c, workspace, cmp.Or(dir, "any")); err != nil {
		return desk.DocList{}, err
	}
	root, err := k.openFiles(c, workspace, false)
	if err != nil || root == nil {
		return desk.DocList{}, err
	}
	defer root.Close()
	entries, err := fs.ReadDir(root.FS(), path.Join(".", dir))
	if err != nil {
		return desk.DocList{}, errNoFile(dir + "/")
	}
	entries = slices.DeleteFunc(entries, func(d fs.DirEntry) bool {
		return d.Name() <= p.After || strings.HasPrefix(d.Name(), unfinished) || !d.IsDir() && !d.Type().IsRegular()
	})
	var list desk.DocList
	for i, d := range entries {
		f := abi.File{Object: "folder", WorkspaceID: workspace, Path: path.Join(dir, d.Name())}
		if info, err := d.Info(); err == nil && !d.IsDir() {
			f.Object, f.Size, f.UpdatedAt = "file", info.Size(), abi.At(info.ModTime())
		}
		text, err := json.Marshal(&f)
		if err != nil {
			return desk.DocList{}, err
		}
		list.Docs = append(list.Docs, desk.Doc{ID: d.Name(), JSON: text})
		if len(list.Docs) == p.Limit {
			return list.End(d.Name(), i < len(entries)-1), nil
		}
	}
	return list.End("", false), nil
}
