package keyfile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Exposed says that others than its owner can read a file.
type Exposed struct {
	Path string
	Mode os.FileMode
}

func (e *Exposed) Error() string {
	return fmt.Sprintf("%s can be read by others (mode %#o): run chmod 600 on it, and rotate the key if somebody may have copied it", e.Path, e.Mode)
}

// Read returns a file's content: an error that is fs.ErrNotExist when there is no
// file, and an [*Exposed] beside the content when others can read it.
func Read(path string) ([]byte, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return content, &Exposed{path, mode}
	}
	return content, nil
}

// Write replaces a file so that, whenever the machine stops, either the old or the
// new content is there. The file is for its owner alone, and so is the folder when
// it has to be made.
func Write(path string, content []byte) error {
	dir, name := filepath.Dir(path), filepath.Base(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, name+".new-*") // mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return syncDir(dir)
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
