package cargotest

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Crate is a file that "cargo package" has made.
type Crate struct {
	Name  string            // with its version
	Files map[string]string // by their names, without the crate's own
	sum   [sha256.Size]byte
}

// ReadCrate reads a crate.
func ReadCrate(t testing.TB, file string) *Crate {
	t.Helper()
	packed, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	c := &Crate{Name: strings.TrimSuffix(filepath.Base(file), ".crate"), Files: map[string]string{}, sum: sha256.Sum256(packed)}
	if err := c.unpack(packed); err != nil {
		t.Fatalf("reading %s: %v", file, err)
	}
	return c
}

func (c *Crate) unpack(packed []byte) error {
	unzipped, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return err
	}
	for files := tar.NewReader(unzipped); ; {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		text, err := io.ReadAll(files)
		if err != nil {
			return err
		}
		c.Files[strings.TrimPrefix(header.Name, c.Name+"/")] = string(text)
	}
}

// Publish has cargo find the crate among those that [UseDebiansCrates] has it find, as if a registry had it.
func (c *Crate) Publish(t testing.TB) {
	t.Helper()
	registry := t.TempDir()
	if err := errors.Join(linkAll(crates, registry), c.writeInto(filepath.Join(registry, c.Name))); err != nil {
		t.Fatal(err)
	}
	useCrates(t, registry)
}

// writeInto writes the files of the crate, and the digest that cargo wants beside them.
func (c *Crate) writeInto(folder string) error {
	files := map[string]string{".cargo-checksum.json": fmt.Sprintf(`{"files":{},"package":"%x"}`, c.sum)}
	for name, text := range c.Files {
		files[name] = text
	}
	for name, text := range files {
		file := filepath.Join(folder, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
			return err
		}
	}
	return nil
}

// linkAll makes links in a folder to what is in another.
func linkAll(from, to string) error {
	found, err := filepath.Glob(filepath.Join(from, "*"))
	for _, each := range found {
		err = errors.Join(err, os.Symlink(each, filepath.Join(to, filepath.Base(each))))
	}
	return err
}
