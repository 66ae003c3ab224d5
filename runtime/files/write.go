package files

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/ledger"
)

// change runs f while nobody else changes the Workspace's files, and no backup copies them.
func (k *Keeper) change(at *place, f func() error) error {
	k.room.writing.RLock()
	defer k.room.writing.RUnlock()
	unlock := k.parts.Ledger.Lock(at.key.Tenant, at.key.ID)
	defer unlock()
	if err := k.count(at); err != nil {
		return err
	}
	return f()
}

// draft is content on the disk that is no file yet.
type draft struct {
	name string
	size int64
	sum  string
	head beginning
}

// cost is what a draft counts.
func (d *draft) cost() int64 { return d.size + entryBytes }

// draft writes what is to become a file of at most so many bytes. spare is what the file
// takes whose place it will have. What is written counts at once: many that are sent at the
// same time do not fill the disk together. drop takes away what becomes no draft.
func (k *Keeper) draft(at *place, content io.Reader, most, spare int64, drop func(*place, *draft) error) (*draft, error) {
	d := &draft{name: unfinished + strings.ToLower(k.parts.IDs.New(abi.ObjectEvent))}
	if err := k.room.take(at.key, d.cost(), spare); err != nil {
		return nil, err
	}
	err := k.write(at, d, content, most, spare)
	if err == nil {
		return d, nil
	}
	return nil, errors.Join(err, drop(at, d))
}

func (k *Keeper) write(at *place, d *draft, content io.Reader, most, spare int64) error {
	f, err := at.root.OpenFile(d.name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return k.parts.Ledger.Failed("writing a workspace's file", err)
	}
	h := sha256.New()
	counted := func(p []byte) error {
		if d.size+int64(len(p)) > most {
			return abi.Errorf(abi.CodePayloadTooLarge, "a file has at most %d bytes", most)
		}
		if err := k.room.take(at.key, int64(len(p)), spare); err != nil {
			return err
		}
		d.size += int64(len(p))
		_, err := io.MultiWriter(h, &d.head, f).Write(p)
		return k.parts.Ledger.Failed("writing a workspace's file", err)
	}
	err = pieces(content, counted)
	if err == nil {
		err = k.parts.Ledger.Failed("writing a workspace's file", f.Sync())
	}
	d.sum = hex.EncodeToString(h.Sum(nil))
	return errors.Join(err, f.Close())
}

// pieces hands on what is read.
func pieces(content io.Reader, to func([]byte) error) error {
	buffer := make([]byte, 256<<10)
	for {
		n, err := content.Read(buffer)
		if n > 0 {
			if err := to(buffer[:n]); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// discard takes away a draft that becomes no file. No backup meets it half gone.
func (k *Keeper) discard(at *place, d *draft) error {
	k.room.writing.RLock()
	defer k.room.writing.RUnlock()
	return k.drop(at, d)
}

// drop is discard, for those who hold writing.
func (k *Keeper) drop(at *place, d *draft) error {
	k.room.add(at.key, -d.cost())
	if err := at.root.Remove(d.name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing what was written of a workspace's file: %w", err)
	}
	return nil
}

// put makes a draft the file at a path, and tells of it. Of a draft that does not become one
// nothing stays. The caller is within change.
func (k *Keeper) put(at *place, name string, d *draft) (abi.File, error) {
	is := footprint(at.root, name)
	becomes := d.size + entryBytes*int64(strings.Count(name, "/")+1)
	if err := k.room.settle(at.key, d.cost(), becomes-is); err != nil {
		return abi.File{}, errors.Join(err, k.drop(at, d))
	}
	err := k.replace(at, name, d)
	if err != nil {
		removeEmpty(at.root, path.Dir(name))
	}
	k.room.add(at.key, footprint(at.root, name)-becomes)
	if err != nil {
		return abi.File{}, err
	}
	f := described(at.key.ID, name, d.size, d.sum, MediaOf(name, d.head.Bytes), k.parts.Now())
	return f, k.tell(at, abi.EventFileWritten, &f)
}

// replace renames a draft to its place, or removes it.
func (k *Keeper) replace(at *place, name string, d *draft) error {
	err := blocked("file", name)
	info, there := at.root.Lstat(name)
	if there != nil || !info.IsDir() {
		if err = at.root.MkdirAll(path.Dir(name), 0o700); err != nil {
			err = unmade("file", name, err)
		} else {
			err = at.root.Rename(d.name, name)
		}
	}
	if err != nil {
		_ = at.root.Remove(d.name) // what is left of it is no file of the Workspace
		return k.parts.Ledger.Failed("writing a workspace's file", err)
	}
	return k.parts.Ledger.Failed("writing a workspace's file", syncFolder(at.root, path.Dir(name)))
}

// syncFolder makes the names in a folder durable.
func syncFolder(root *os.Root, dir string) error {
	d, err := root.Open(dir)
	if err != nil {
		return fmt.Errorf("syncing a workspace's folder: %w", err)
	}
	return errors.Join(d.Sync(), d.Close())
}

// remove takes a file away that was there before. The caller is within change.
func (k *Keeper) remove(at *place, before *abi.File) error {
	// The log first: a file that it tells of is there, or is lost.
	removed := &abi.File{Object: "file", WorkspaceID: at.key.ID, Path: before.Path, Size: before.Size, SHA256: before.SHA256}
	if err := k.tell(at, abi.EventFileRemoved, removed); err != nil {
		return err
	}
	is := footprint(at.root, before.Path)
	err := at.root.Remove(before.Path)
	if err == nil {
		err = syncFolder(at.root, path.Dir(before.Path))
	}
	removeEmpty(at.root, path.Dir(before.Path))
	k.room.add(at.key, footprint(at.root, before.Path)-is)
	return k.parts.Ledger.Failed("removing a workspace's file", err)
}

// tell records a change of a file. The caller is within change.
func (k *Keeper) tell(at *place, kind abi.EventKind, f *abi.File) error {
	// Whoever asked for the change may be gone: it is told all the same.
	_, err := k.parts.Ledger.AppendNext(context.Background(), at.frame, nil, 0,
		ledger.Record{Kind: kind, Object: abi.ObjectWorkspace, ID: at.key.ID, Payload: f})
	return err
}
