package datadir

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// lockFile marks a folder as open; it is no part of what a folder holds.
const lockFile = "LOCK"

// Recognize returns an error unless dir is a data folder or a backup of one.
func Recognize(dir string) error {
	if err := Interrupted(dir); err != nil {
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

// Copy copies the folder from to the folder to, which must not exist, and syncs
// every file and folder of the copy.
func Copy(from, to string) error {
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
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
	case !d.Type().IsRegular():
		return fmt.Errorf("%s is neither a file nor a folder", from)
	}
	return copyFile(from, to)
}

// copyFile also copies when the file was changed: it tells damage from what somebody
// has written.
func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err := errors.Join(err, out.Sync(), out.Close()); err != nil {
		return err
	}
	info, err := in.Stat()
	if err != nil {
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
)

// Backup writes a copy of the data folder data to dir: the store's by checkpoint,
// the keys, without which a restored node could not continue its receipts, nor
// prove the old ones, and the values of vaults. Nobody may change those meanwhile.
func Backup(checkpoint func(dir string) error, data, dir string) error {
	if err := checkpoint(dir); err != nil {
		return err
	}
	for _, folder := range []string{Keys, Vaults, Workspaces} {
		from := filepath.Join(data, folder)
		if _, err := os.Stat(from); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err := Copy(from, filepath.Join(dir, folder)); err != nil {
			return err
		}
	}
	return nil
}
