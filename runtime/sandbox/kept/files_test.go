package kept

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

var codeKey = [32]byte{1, 2, 3}

func openCode(t testing.TB, p Place) *Code {
	t.Helper()
	c, err := OpenCode(p, "engine-1")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func get(t testing.TB, c *Code, key [32]byte) []byte {
	t.Helper()
	r, ok, err := c.Get(key)
	if err != nil {
		t.Fatal(err)
	}
	if !ok {
		return nil
	}
	content, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// TestCodeIsTakenFromNobody puts something else in the place of a file of machine code, in
// each way in which somebody could who can write to the folder and lacks the key. None of it is used,
// what was put there is gone, and it is told once.
func TestCodeIsTakenFromNobody(t *testing.T) {
	code := make([]byte, 3*pieceBytes+77)
	_, _ = rand.Read(code)
	other := [32]byte{9}
	for _, test := range []struct {
		name string
		do   func(t *testing.T, c *Code, path string, good []byte) error
	}{
		{"a byte of the last piece", func(_ *testing.T, _ *Code, path string, good []byte) error {
			good[len(good)-1] ^= 1
			return os.WriteFile(path, good, 0o600)
		}},
		{"two pieces exchanged", func(_ *testing.T, _ *Code, path string, good []byte) error {
			first, second := good[headerBytes:headerBytes+pieceBytes], good[headerBytes+pieceBytes:headerBytes+2*pieceBytes]
			return os.WriteFile(path, bytes.Join([][]byte{good[:headerBytes], second, first, good[headerBytes+2*pieceBytes:]}, nil), 0o600)
		}},
		{"cut at a piece", func(_ *testing.T, _ *Code, path string, good []byte) error {
			return os.WriteFile(path, good[:headerBytes+pieceBytes], 0o600)
		}},
		{"nothing but a header", func(_ *testing.T, _ *Code, path string, good []byte) error {
			return os.WriteFile(path, good[:headerBytes], 0o600)
		}},
		{"empty", func(_ *testing.T, _ *Code, path string, _ []byte) error { return os.WriteFile(path, nil, 0o600) }},
		{"what the engine writes itself", func(_ *testing.T, _ *Code, path string, good []byte) error {
			return os.WriteFile(path, good[headerBytes:], 0o600)
		}},
		{"code of another module", func(_ *testing.T, c *Code, path string, _ []byte) error {
			return os.Rename(c.files.path(c.name(other)), path)
		}},
		{"written under another key", func(t *testing.T, c *Code, _ string, _ []byte) error {
			p := c.files.Place
			p.Key = bytes.Repeat([]byte{2}, KeyBytes)
			return openCode(t, p).Add(codeKey, bytes.NewReader(code))
		}},
		{"of another version of the engine, renamed", func(t *testing.T, c *Code, path string, _ []byte) error {
			newer, err := OpenCode(c.files.Place, "engine-2")
			if err != nil {
				return err
			}
			return errors.Join(newer.Add(codeKey, bytes.NewReader(code)), os.Rename(newer.files.path(newer.name(codeKey)), path))
		}},
		{"far larger than all that is kept", func(_ *testing.T, c *Code, path string, _ []byte) error {
			return os.Truncate(path, c.files.Limit+1)
		}},
		{"a folder", func(_ *testing.T, _ *Code, path string, _ []byte) error {
			return errors.Join(os.Remove(path), os.MkdirAll(filepath.Join(path, "x"), 0o700))
		}},
		{"a link to itself elsewhere", func(t *testing.T, _ *Code, path string, _ []byte) error {
			if runtime.GOOS == "windows" {
				t.Skip("links need a privilege there")
			}
			away := filepath.Join(t.TempDir(), "away")
			return errors.Join(os.Rename(path, away), os.Symlink(away, path))
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var log strings.Builder
			p := place(t.TempDir(), 32<<20)
			p.Log = slog.New(slog.NewTextHandler(&log, nil))
			c := openCode(t, p)
			for _, key := range [][32]byte{codeKey, other} {
				if err := c.Add(key, bytes.NewReader(code)); err != nil {
					t.Fatal(err)
				}
			}
			if !bytes.Equal(get(t, c, codeKey), code) {
				t.Fatal("what was kept is not found again")
			}
			path := c.files.path(c.name(codeKey))
			good, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := test.do(t, c, path, good); err != nil {
				t.Fatal(err)
			}
			if got := get(t, c, codeKey); got != nil {
				t.Errorf("%d bytes were taken", len(got))
			}
			if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("it is still there: %v", err)
			}
			if got := get(t, c, codeKey); got != nil || strings.Count(log.String(), "not used") != 1 {
				t.Errorf("told %q", log.String())
			}
			if err := c.Add(codeKey, bytes.NewReader(code)); err != nil || !bytes.Equal(get(t, c, codeKey), code) {
				t.Errorf("what was made anew is not found again: %v", err)
			}
		})
	}
}

// TestForeignFilesAreTold holds that a look at a folder finds what is not used, and changes
// nothing.
func TestForeignFilesAreTold(t *testing.T) {
	p := place(t.TempDir(), 1<<20)
	f, err := Open(p)
	if err != nil {
		t.Fatal(err)
	}
	c := openCode(t, p)
	store(t, f, key, &Entry{Wasm: []byte("wasm")})
	if err := c.Add(codeKey, strings.NewReader("code")); err != nil {
		t.Fatal(err)
	}
	if all, err := Foreign(p); err != nil || len(all) > 0 {
		t.Errorf("%v, %v", all, err)
	}
	p.Key = bytes.Repeat([]byte{3}, KeyBytes)
	for range 2 {
		if all, err := Foreign(p); err != nil || len(all) != 2 {
			t.Errorf("under another key: %v, %v", all, err)
		}
	}
	p.Dir = filepath.Join(p.Dir, "missing")
	if all, err := Foreign(p); err != nil || len(all) > 0 {
		t.Errorf("of a folder that is missing: %v, %v", all, err)
	}
}

func TestKeysOfFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys", "cache.key")
	if _, err := ReadKey(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a file: %v", err)
	}
	key := NewKey()
	if err := WriteKey(path, key); err != nil {
		t.Fatal(err)
	}
	if got, err := ReadKey(path); err != nil || !bytes.Equal(got, key) {
		t.Errorf("%x, %v; want %x", got, err, key)
	}
	if err := os.WriteFile(path, []byte("short"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadKey(path); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("a short one: %v", err)
	}
	for _, size := range []int{0, 16, 64} {
		if _, err := OpenCode(Place{Dir: t.TempDir(), Key: make([]byte, size), Limit: 1}, ""); err == nil {
			t.Errorf("a key of %d bytes was taken", size)
		}
	}
}

// TestCodeIsLent holds that code in memory is found without a file until it is back, also where
// two lend the same.
func TestCodeIsLent(t *testing.T) {
	c := openCode(t, Place{Dir: t.TempDir(), Key: NewKey(), Limit: 1 << 20})
	first := c.Lend(codeKey, []byte("code"))
	second := c.Lend(codeKey, []byte("code"))
	for _, back := range []func(){first, second} {
		if got := get(t, c, codeKey); string(got) != "code" {
			t.Errorf("got %q while it is lent", got)
		}
		if got := get(t, c, [32]byte{9}); got != nil {
			t.Errorf("got %q of another key", got)
		}
		back()
	}
	if got := get(t, c, codeKey); got != nil {
		t.Errorf("got %q after it is back", got)
	}
}
