package kept

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var key = Key{Module: "sha256:12", Rewriter: "wharf-1", Snapshot: "1"}

func place(dir string, limit int64) Place {
	return Place{Dir: dir, Key: bytes.Repeat([]byte{1}, KeyBytes), Limit: limit}
}

func open(t testing.TB, limit int64) *Folder {
	t.Helper()
	f, err := Open(place(filepath.Join(t.TempDir(), "cache", "kept"), limit))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func store(t testing.TB, f *Folder, k Key, e *Entry) {
	t.Helper()
	if err := f.Store(k, e); err != nil {
		t.Fatal(err)
	}
}

func load(t testing.TB, f *Folder, k Key) *Entry {
	t.Helper()
	e, err := f.Load(k)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// drawEntry draws an entry whose image has zeros in it, with and without one.
func drawEntry(t *rapid.T) *Entry {
	blob := rapid.SliceOfN(rapid.Byte(), 0, 2000)
	e := &Entry{Wasm: blob.Draw(t, "wasm"), Meta: blob.Draw(t, "meta"), Globals: rapid.SliceOf(rapid.Uint64()).Draw(t, "globals")}
	if rapid.Bool().Draw(t, "snapshot") {
		e.Image = []byte{}
		for range rapid.IntRange(0, 6).Draw(t, "parts") {
			e.Image = append(e.Image, make([]byte, rapid.IntRange(0, 3*blockBytes).Draw(t, "zeros"))...)
			e.Image = append(e.Image, blob.Draw(t, "bytes")...)
		}
	}
	return e
}

func TestEntriesComeBack(t *testing.T) {
	f := open(t, 1<<30)
	rapid.Check(t, func(t *rapid.T) {
		e := drawEntry(t)
		if err := f.Store(key, e); err != nil {
			t.Fatal(err)
		}
		got, err := f.Load(key)
		if err != nil || got == nil {
			t.Fatalf("Load() = %v, %v", got, err)
		}
		if !reflect.DeepEqual(got, e) {
			t.Fatalf("got %+v, want %+v", got, e)
		}
	})
}

func TestWhatIsNotThereIsNil(t *testing.T) {
	f := open(t, 1<<30)
	store(t, f, key, &Entry{Wasm: []byte("wasm")})
	for _, k := range []Key{
		{Module: "sha256:13", Rewriter: "wharf-1", Snapshot: "1"},
		{Module: "sha256:12", Rewriter: "wharf-2", Snapshot: "1"},
		{Module: "sha256:12", Rewriter: "wharf-1", Snapshot: "2"},
		{Module: "sha256:12w", Rewriter: "harf-1", Snapshot: "1"},
	} {
		if e := load(t, f, k); e != nil {
			t.Errorf("%+v has the entry of another key", k)
		}
	}
}

// TestDamagedEntriesAreRemoved changes each byte of a file, and cuts it off after each.
func TestDamagedEntriesAreRemoved(t *testing.T) {
	f := open(t, 1<<30)
	e := &Entry{Wasm: []byte("wasm"), Image: []byte("image"), Globals: []uint64{1}}
	store(t, f, key, e)
	good, err := os.ReadFile(f.files.path(name(key)))
	if err != nil {
		t.Fatal(err)
	}
	check := func(bad []byte) {
		t.Helper()
		if err := os.WriteFile(f.files.path(name(key)), bad, 0o600); err != nil {
			t.Fatal(err)
		}
		if got := load(t, f, key); got != nil {
			t.Fatalf("loaded %+v of %q", got, bad)
		}
		if _, err := os.Stat(f.files.path(name(key))); !errors.Is(err, os.ErrNotExist) {
			t.Fatalf("a damaged file is still there: %v", err)
		}
	}
	for i := range good {
		bad := bytes.Clone(good)
		bad[i] ^= 0x10
		check(bad)
		check(good[:i])
	}
	check(append(bytes.Clone(good), 0))
}

// TestFileOfAnotherKeyIsNotUsed renames a file to the name of another's.
func TestFileOfAnotherKeyIsNotUsed(t *testing.T) {
	f := open(t, 1<<30)
	store(t, f, key, &Entry{Wasm: []byte("wasm")})
	other := Key{Module: "sha256:13"}
	if err := os.Rename(f.files.path(name(key)), f.files.path(name(other))); err != nil {
		t.Fatal(err)
	}
	if e := load(t, f, other); e != nil {
		t.Error("loaded what was derived from another module")
	}
}

// TestFolderKeepsWhatWasUsedLast fills a folder beyond its limit.
func TestFolderKeepsWhatWasUsedLast(t *testing.T) {
	f := open(t, 3500)
	keys := make([]Key, 4)
	for n := range keys {
		keys[n] = Key{Module: strconv.Itoa(n)}
	}
	for n, k := range keys[:3] {
		store(t, f, k, &Entry{Wasm: make([]byte, 1000)})
		old := time.Now().Add(time.Duration(n-10) * time.Minute)
		if err := os.Chtimes(f.files.path(name(k)), old, old); err != nil {
			t.Fatal(err)
		}
	}
	load(t, f, keys[0])
	unrelated := filepath.Join(f.files.Dir, "README")
	if err := os.WriteFile(unrelated, make([]byte, 5000), 0o600); err != nil {
		t.Fatal(err)
	}
	store(t, f, keys[3], &Entry{Wasm: make([]byte, 1000)})
	for n, want := range []bool{true, false, true, true} {
		if got := load(t, f, keys[n]) != nil; got != want {
			t.Errorf("entry %d is there: %v, want %v", n, got, want)
		}
	}
	if _, err := os.Stat(unrelated); err != nil {
		t.Error("a file of somebody else is gone")
	}
}

func TestUnfinishedFilesAreRemoved(t *testing.T) {
	f := open(t, 1<<20)
	fresh, stale := filepath.Join(f.files.Dir, tempPrefix+"1"), filepath.Join(f.files.Dir, tempPrefix+"2")
	for _, path := range []string{fresh, stale} {
		if err := os.WriteFile(path, []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	old := time.Now().Add(-2 * tempAge)
	if err := os.Chtimes(stale, old, old); err != nil {
		t.Fatal(err)
	}
	store(t, f, key, &Entry{})
	if _, err := os.Stat(stale); err == nil {
		t.Error("a file that was left is still there")
	}
	if _, err := os.Stat(fresh); err != nil {
		t.Error("a file that another process writes is gone")
	}
}

func TestLargeEntriesAreNotKept(t *testing.T) {
	f := open(t, 1000)
	for name, e := range map[string]*Entry{
		"larger than the folder": {Wasm: make([]byte, 1000)},
		"a huge image":           {Image: make([]byte, maxImageBytes+1)},
	} {
		if err := f.Store(key, e); !errors.Is(err, ErrTooLarge) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestFoldersAreShared stores and loads through folders in the same place at once.
func TestFoldersAreShared(t *testing.T) {
	first := open(t, 20_000)
	var users sync.WaitGroup
	for g := range 4 {
		users.Go(func() {
			f, err := Open(first.files.Place)
			if err != nil {
				t.Error(err)
				return
			}
			for n := range 100 {
				k := Key{Module: strconv.Itoa((g + n) % 30)}
				if err := f.Store(k, &Entry{Wasm: bytes.Repeat([]byte(k.Module), 1000)}); err != nil {
					t.Error(err)
				}
				e, err := f.Load(k)
				if err != nil || e != nil && string(e.Wasm[:len(k.Module)]) != k.Module {
					t.Errorf("Load() = %v, %v", e, err)
				}
			}
		})
	}
	users.Wait()
}

// TestBodiesThatLieAreDamaged decodes what no checksum would tell, as another version of
// the program could have written it.
func TestBodiesThatLieAreDamaged(t *testing.T) {
	// No module, no meta data, no globals; then an image.
	for name, body := range map[string]string{
		"cut off":                     "\x00\x00",
		"a module longer than all":    "\x7f",
		"more globals than there are": "\x00\x00\x02\x01\x02\x03\x04\x05\x06\x07\x08",
		"bytes behind the end":        "\x00\x00\x00\x00\x00",
		"more zeros than the image":   "\x00\x00\x00\x05\x06\x00",
		"more bytes than the image":   "\x00\x00\x00\x05\x02\x03abc",
		"a run of nothing":            "\x00\x00\x00\x05\x00\x00\x04\x00",
		"a huge image":                "\x00\x00\x00\xff\xff\xff\xff\x7f\x00\x00",
	} {
		if e, err := decodeBody([]byte(body)); !errors.Is(err, errDamaged) {
			t.Errorf("%s: %+v, %v", name, e, err)
		}
	}
	if _, err := decodeBody([]byte("\x00\x00\x00\x05\x02\x02ab")); err != nil {
		t.Errorf("a body that does not lie: %v", err)
	}
}

// FuzzDecode holds that no file makes decoding fail in another way than by saying so,
// and that what is read can be written and read again.
func FuzzDecode(f *testing.F) {
	for _, e := range []*Entry{
		{},
		{Wasm: []byte("wasm"), Meta: []byte("meta"), Globals: []uint64{1, 1 << 63}, Image: []byte{}},
		{Image: append(make([]byte, 2000), "image"...)},
	} {
		file, err := encode(key, e)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(file[len(appendKey(nil, key)):])
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		e, err := decodeBody(body)
		if err != nil {
			return
		}
		file, err := encode(key, e)
		if err != nil {
			t.Fatal(err)
		}
		again, err := decode(file, key)
		if err != nil || !reflect.DeepEqual(again, e) {
			t.Fatalf("%+v became %+v, %v", e, again, err)
		}
	})
}

// TestNobodyElseLooksIntoAFolder holds it for folders of earlier versions, too.
func TestNobodyElseLooksIntoAFolder(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no such modes")
	}
	dir := filepath.Join(t.TempDir(), "prepared")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(place(dir, 1)); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(dir)
	if err != nil {
		t.Fatal(err)
	}
	if mode := info.Mode().Perm(); mode != 0o700 {
		t.Errorf("the mode is %v", mode)
	}
}
