package files

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
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
	"github.com/wharf-dev/wharf/storage"
)

// The bounds on Workspaces' files.
const (
	MaxUpload         = 100 << 20 // of one file
	MaxBytes          = 8 << 20   // of one that a plugin writes, or that is sent within JSON
	maxWorkspaceBytes = 1 << 30   // of all files of a Workspace, with what each entry costs
	entryBytes        = 4 << 10   // that a file or a folder costs, for the disk, beside its content
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

// place is the folder of a Workspace, on behalf of somebody.
type place struct {
	root  *os.Root
	key   ledger.Key
	frame storage.Frame // of the events that tell of changes; it lacks time and records
}

// clientsPlace returns the folder of a Workspace on behalf of a client, who may see it. make
// makes it if need be; otherwise it is nil when there is none.
func (k *Keeper) clientsPlace(c *desk.Caller, workspace string, make bool) (*place, error) {
	return k.open(storage.Frame{Tenant: c.Tenant, WorkspaceID: workspace, Actor: c.Actor}, make)
}

func (k *Keeper) open(f storage.Frame, make bool) (*place, error) {
	dir := path.Join(strconv.FormatUint(uint64(f.Tenant), 10), f.WorkspaceID)
	if make {
		if err := k.parts.Root.MkdirAll(dir, 0o700); err != nil {
			return nil, k.parts.Ledger.Failed("making the workspace's folder", err)
		}
	}
	root, err := k.parts.Root.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, k.parts.Ledger.Failed("opening the workspace's folder", err)
	}
	return &place{root: root, key: ledger.Key{Tenant: f.Tenant, ID: f.WorkspaceID}, frame: f}, nil
}

// Close lets go of the folder. nil is closed.
func (p *place) Close() error {
	if p == nil {
		return nil
	}
	return p.root.Close()
}

func errNoFile(p string) error {
	return abi.Errorf(abi.CodeResourceNotFound, "there is no file %q", p)
}

// Content is what is in a file. Whoever gets one closes it; it stays the same when the file
// is replaced or removed meanwhile.
type Content interface {
	io.ReaderAt
	io.ReadCloser
}

// OpenFile returns a file of a Workspace and what describes it.
func (k *Keeper) OpenFile(ctx context.Context, c *desk.Caller, workspace, p string) (abi.File, Content, error) {
	if err := k.checkFile(ctx, c, workspace, p); err != nil {
		return abi.File{}, nil, err
	}
	at, err := k.clientsPlace(c, workspace, false)
	if err != nil {
		return abi.File{}, nil, err
	}
	defer at.Close()
	f, info, err := at.file(p)
	if err != nil {
		return abi.File{}, nil, err
	}
	sum, err := hashOf(ctx, f, info.Size())
	if err != nil {
		return abi.File{}, nil, errors.Join(k.parts.Ledger.Failed("reading a workspace's file", err), f.Close())
	}
	return described(workspace, p, info.Size(), sum, MediaOf(p, func() []byte { return headOf(f) }), info.ModTime()), f, nil
}

// file opens a regular file. What is none, or lies outside, is not there.
func (p *place) file(name string) (*os.File, fs.FileInfo, error) {
	if p == nil {
		return nil, nil, errNoFile(name)
	}
	info, err := p.root.Lstat(name)
	if err != nil || !info.Mode().IsRegular() {
		return nil, nil, errNoFile(name)
	}
	f, err := p.root.Open(name)
	if err != nil {
		return nil, nil, errNoFile(name)
	}
	if info, err = f.Stat(); err != nil || !info.Mode().IsRegular() {
		_ = f.Close() // nothing was written to it
		return nil, nil, errNoFile(name)
	}
	return f, info, nil
}

// hashOf returns the SHA-256 of a file's first bytes, in hexadecimal, and leaves the file at its
// beginning.
func hashOf(ctx context.Context, f *os.File, size int64) (string, error) {
	h := sha256.New()
	if _, err := io.Copy(h, &patient{ctx, io.LimitReader(f, size)}); err != nil {
		return "", err
	}
	_, err := f.Seek(0, io.SeekStart)
	return hex.EncodeToString(h.Sum(nil)), err
}

// patient reads until nobody waits for it any more.
type patient struct {
	ctx context.Context
	io.Reader
}

func (p *patient) Read(b []byte) (int, error) {
	if p.ctx.Err() != nil {
		return 0, context.Cause(p.ctx)
	}
	return p.Reader.Read(b)
}

func described(workspace, p string, size int64, sum, media string, at time.Time) abi.File {
	return abi.File{Object: "file", WorkspaceID: workspace, Path: p, Size: size, SHA256: sum, MediaType: media, UpdatedAt: abi.At(at)}
}

// now describes the file that is at a path; its SHA256 is "" when there is none.
func (p *place) now(ctx context.Context, name string) (abi.File, error) {
	f, info, err := p.file(name)
	if err != nil {
		return abi.File{}, nil // that it is not there is the answer
	}
	defer f.Close()
	sum, err := hashOf(ctx, f, info.Size())
	return described(p.key.ID, name, info.Size(), sum, MediaOf(name, func() []byte { return headOf(f) }), info.ModTime()), err
}

// WriteFile puts a file into a Workspace, whole or not at all. created reports whether it was
// not there before. No other change of the Workspace waits for the content to come.
func (k *Keeper) WriteFile(ctx context.Context, c *desk.Caller, workspace, p string, content io.Reader, when Condition) (f abi.File, created bool, err error) {
	if err := k.checkFile(ctx, c, workspace, p); err != nil {
		return f, false, err
	}
	at, err := k.clientsPlace(c, workspace, true)
	if err != nil {
		return f, false, err
	}
	defer at.Close()
	// What a crash has left is removed before there is anything new.
	if err := k.change(at, func() error { return nil }); err != nil {
		return f, false, err
	}
	d, err := k.draft(at, content, MaxUpload, footprint(at.root, p), k.discard)
	if err != nil {
		return f, false, err
	}
	err = k.change(at, func() error {
		before, err := at.now(ctx, p)
		if err == nil {
			err = when.check(before.SHA256)
		}
		if err != nil {
			return errors.Join(k.parts.Ledger.Failed("reading a workspace's file", err), k.drop(at, d))
		}
		created = before.SHA256 == ""
		f, err = k.put(at, p, d)
		return err
	})
	return f, created, err
}

// RemoveFile takes a file out of a Workspace.
func (k *Keeper) RemoveFile(ctx context.Context, c *desk.Caller, workspace, p string, when Condition) error {
	if err := k.checkFile(ctx, c, workspace, p); err != nil {
		return err
	}
	at, err := k.clientsPlace(c, workspace, false)
	if err != nil {
		return err
	}
	defer at.Close()
	if at == nil {
		return errNoFile(p)
	}
	return k.change(at, func() error {
		before, err := at.now(ctx, p)
		switch {
		case err != nil:
			return k.parts.Ledger.Failed("reading a workspace's file", err)
		case before.SHA256 == "":
			return errNoFile(p)
		}
		if err := when.check(before.SHA256); err != nil {
			return err
		}
		return k.remove(at, &before)
	})
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

// check refuses a file that is not what the condition asks; sum is "" for none.
func (w Condition) check(sum string) error {
	if w.Absent && sum != "" || w.Match != "" && (sum == "" || w.Match != "*" && w.Match != `"`+sum+`"`) {
		return errOther()
	}
	return nil
}

func errOther() error {
	return abi.Errorf(abi.CodeConflict, "the file is not what the request expects it to be")
}

// ListFiles returns what is in a folder of a Workspace, "" for the whole, by name.
func (k *Keeper) ListFiles(ctx context.Context, c *desk.Caller, workspace, dir string, p desk.Page) (desk.DocList, error) {
	dir = strings.TrimSuffix(dir, "/")
	if err := k.checkFile(ctx, c, workspace, cmp.Or(dir, "any")); err != nil {
		return desk.DocList{}, err
	}
	at, err := k.clientsPlace(c, workspace, false)
	if err != nil || at == nil {
		return desk.DocList{}, err
	}
	defer at.Close()
	entries, err := fs.ReadDir(at.root.FS(), path.Join(".", dir))
	if err != nil {
		return desk.DocList{}, errNoFile(dir + "/")
	}
	entries = slices.DeleteFunc(entries, func(d fs.DirEntry) bool {
		return d.Name() <= p.After || strings.HasPrefix(d.Name(), unfinished) || !d.IsDir() && !d.Type().IsRegular()
	})
	var list desk.DocList
	for i, d := range entries {
		text, err := json.Marshal(at.entry(path.Join(dir, d.Name()), d))
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
