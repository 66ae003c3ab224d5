package datadir

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// lockFile marks a folder as open; it is no part of what a folder holds.
const lockFile = "LOCK"

// Recognize returns an error unless dir is a data folder or a backup of one.
func Recognize(dir string) error {
	if err := errors.Join(Interrupted(dir), unfinished(dir)); err != nil {
		return err
	}
	info, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("opening the data folder: %w", err)
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is not a folder", dir)
	}
	for _, part := range []string{"db", "HEAD"} {
		if _, err := os.Stat(filepath.Join(dir, part)); err != nil {
			return fmt.Errorf("%s is not a data folder: it holds no %s", dir, part)
		}
	}
	return nil
}

// Vacant reports whether dir is missing or empty.
func Vacant(dir string) (bool, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("looking into the target: %w", err)
	}
	return len(entries) == 0, nil
}

// parts are what a data folder holds that cannot be had again. Whatever else lies in one,
// such as compiled modules, which are native code, is not taken from a backup.
var parts = []string{"FORMAT", "HEAD", "db", "blobs", Keys, Vaults, Workspaces}

// Restore copies the known parts of the backup from to the folder to, which must not
// exist, and syncs them. It returns the names of what it has left out. What does not fit on
// the disk, or is neither a file nor a folder, is refused before anything is written.
func Restore(from, to string) (left []string, err error) {
	if err := CheckRoom(from, to); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(from)
	if err != nil {
		return nil, fmt.Errorf("looking into the backup: %w", err)
	}
	if err := os.Mkdir(to, 0o700); err != nil {
		return nil, fmt.Errorf("making the data folder: %w", err)
	}
	for _, e := range entries {
		switch {
		case e.Name() == lockFile:
		case !slices.Contains(parts, e.Name()):
			left = append(left, e.Name())
		default:
			if err := Copy(filepath.Join(from, e.Name()), filepath.Join(to, e.Name())); err != nil {
				return left, err
			}
		}
	}
	return left, syncFolder(to)
}

// Copy copies the folder or file from to the place to, which must not exist, and syncs
// every file and folder of the copy. It takes no links.
func Copy(from, to string) error {
	return copyTree(from, to, func(path string) error { return fmt.Errorf("%s is neither a file nor a folder", path) })
}

// copyTree has other say what becomes of what is neither a file nor a folder: without an
// error it is left out.
func copyTree(from, to string, other func(path string) error) error {
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if !d.IsDir() && !d.Type().IsRegular() {
			return other(path)
		}
		return copyEntry(path, filepath.Join(to, rel), d)
	})
	if err != nil {
		return fmt.Errorf("copying %s: %w", from, err)
	}
	return syncFolders(to)
}

func copyEntry(from, to string, d fs.DirEntry) error {
	switch {
	case d.IsDir():
		return os.Mkdir(to, 0o700)
	case d.Name() == lockFile:
		return nil
	}
	return copyFile(from, to)
}

// copyFile also copies when the file was changed: it tells damage from what somebody
// has written. It copies as much as the file has when it is opened.
func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, io.LimitReader(in, info.Size()))
	if err := errors.Join(err, out.Sync(), out.Close()); err != nil {
		return err
	}
	return os.Chtimes(to, time.Time{}, info.ModTime())
}

// syncFolders makes the names in root and everything below it durable.
func syncFolders(root string) error {
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		return syncFolder(path)
	})
}

func syncFolder(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("syncing a folder: %w", err)
	}
	return errors.Join(f.Sync(), f.Close())
}

// The folders, within a data folder, of what the store does not keep: the keys that
// sign receipts and encrypt vaults, and the encrypted values of vaults.
const (
	Keys   = "keys"
	Vaults = "vaults"
	// Workspaces holds the files of Workspaces.
	Workspaces = "workspaces"
	// Modules holds compiled plugins, which are made anew when they are lost.
	Modules = "modules"
)

// The files in the folder of keys: those that sign receipts and access tokens, and the
// ones that vaults are encrypted and compiled plugins authenticated with.
const (
	SigningKeys = "signing-keys.json"
	TokenKeys   = "token-keys.json"
	VaultKey    = "vault.age"
	CacheKey    = "cache.key"
)
