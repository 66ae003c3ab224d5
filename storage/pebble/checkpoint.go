package pebble

import (
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/wharf-dev/wharf/storage"
)

// Checkpoint implements [storage.Backuper]. The copy can be opened with [Open]. On one
// file system its files are hard links, so it costs little room until the store moves on.
func (s *Store) Checkpoint(dir string) error {
	release, err := s.use()
	if err != nil {
		return err
	}
	defer release()
	if err := s.fail.err(); err != nil {
		return err
	}
	if err := errors.Join(s.checkpoint(dir), s.fail.err()); err != nil {
		return fmt.Errorf("copying the data folder to %s: %w", dir, err)
	}
	return nil
}

// checkpoint copies the database first: the blobs that it refers to were there
// before, and none is removed meanwhile.
func (s *Store) checkpoint(dir string) error {
	s.blobs.removing.RLock()
	defer s.blobs.removing.RUnlock()
	fs := s.opts.FS
	if _, err := fs.Stat(dir); err == nil {
		return errors.New("the folder exists already")
	}
	if err := fs.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	durable := s.mark.position()
	if err := s.db.Checkpoint(fs.PathJoin(dir, databaseDir), pebble.WithFlushedWAL()); err != nil {
		return err
	}
	if err := s.blobs.copyTo(fs.PathJoin(dir, blobsDir)); err != nil {
		return err
	}
	if err := writeHead(fs, fs.PathJoin(dir, headName), durable); err != nil {
		return err
	}
	if err := writeFormat(fs, dir); err != nil {
		return err
	}
	return errors.Join(syncDir(fs, dir), syncDir(fs, fs.PathDir(dir)))
}

func writeHead(fs vfs.FS, name string, p storage.Position) error {
	h, err := openHead(fs, name, p)
	if err != nil {
		return err
	}
	return errors.Join(h.begin(p), h.close())
}

// copyTo links, or copies, every finished blob into another folder.
func (b *blobStore) copyTo(dir string) error {
	if err := b.fs.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	err := b.eachFolder(func(name string) error {
		from, to := b.fs.PathJoin(b.dir, name), b.fs.PathJoin(dir, name)
		if err := b.fs.MkdirAll(to, 0o700); err != nil {
			return err
		}
		files, err := b.fs.List(from)
		if err != nil {
			return err
		}
		for _, f := range files {
			if err := vfs.LinkOrCopy(b.fs, b.fs.PathJoin(from, f), b.fs.PathJoin(to, f)); err != nil {
				return err
			}
		}
		return syncDir(b.fs, to)
	})
	return errors.Join(err, syncDir(b.fs, dir))
}

// eachFolder calls f with the name of every folder that holds finished blobs.
func (b *blobStore) eachFolder(f func(name string) error) error {
	names, err := list(b.fs, b.dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		if name == unfinishedDir {
			continue
		}
		if err := f(name); err != nil {
			return err
		}
	}
	return nil
}
