package watching_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wharf-dev/wharf/cmd/wharf/internal/watching"
)

// rarely is when all is looked at in tests of what the system tells, and of what nobody noticed.
const rarely = time.Hour

func newWatcher(t *testing.T, every time.Duration, tree watching.Tree) *watching.Watcher {
	t.Helper()
	return watched(t, watching.New(watching.Options{Settle: time.Millisecond, Most: time.Minute, Every: every}), tree)
}

func watched(t *testing.T, w *watching.Watcher, tree watching.Tree) *watching.Watcher {
	t.Helper()
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	w.Watch(tree)
	return w
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// until waits for changes until something is so. A change may be told of in parts.
func until(t *testing.T, w *watching.Watcher, what string, is func() bool) {
	t.Helper()
	for {
		if _, err := w.Wait(t.Context()); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if is() {
			return
		}
	}
}

func reads(path, text string) func() bool {
	return func() bool {
		got, err := os.ReadFile(path)
		return err == nil && string(got) == text
	}
}

// Every way in which a file is saved is noticed, by notices of the system and by looking alike.
func TestSavesAreNoticed(t *testing.T) {
	o := watching.Options{Settle: time.Millisecond, Most: time.Minute, Every: rarely}
	often := o
	often.Every = 5 * time.Millisecond
	for name, made := range map[string]*watching.Watcher{"notices": watching.New(o), "looking": watching.NewDeaf(often)} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, "src", "a.c")
			write(t, file, "one")
			w := watched(t, made, watching.Tree{Folder: dir})
			for what, save := range map[string]func(){
				"written":  func() { write(t, file, "written") },
				"appended": func() { write(t, file, "appended") },
				"renamed": func() {
					write(t, file+".new", "renamed")
					if err := os.Rename(file+".new", file); err != nil {
						t.Error(err)
					}
				},
				"replaced": func() {
					if err := os.Remove(file); err != nil {
						t.Error(err)
					}
					write(t, file, "replaced")
				},
			} {
				save()
				until(t, w, what, reads(file, what))
			}
			deep := filepath.Join(dir, "new", "and", "deeper", "b.c")
			write(t, deep, "deep")
			until(t, w, "a new folder", reads(deep, "deep"))
			write(t, deep, "deeper")
			until(t, w, "a file of a new folder", reads(deep, "deeper"))
			if err := os.Remove(deep); err != nil {
				t.Fatal(err)
			}
			until(t, w, "a file that is gone", func() bool { _, err := os.Stat(deep); return err != nil })
		})
	}
}

// A folder that goes and comes back is watched again, whatever came between.
func TestAFolderThatComesBack(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "plugin")
	file := filepath.Join(dir, "src", "a.c")
	write(t, file, "one")
	w := newWatcher(t, 5*time.Millisecond, watching.Tree{Folder: dir})
	for _, gone := range []func() error{func() error { return os.RemoveAll(dir) }, func() error { return os.Rename(dir, dir+"-away") }} {
		if err := gone(); err != nil {
			t.Fatal(err)
		}
		until(t, w, "the folder is gone", func() bool { _, err := os.Stat(dir); return err != nil })
		write(t, file, "back")
		until(t, w, "the folder is back", reads(file, "back"))
		write(t, file, "and saved")
		until(t, w, "a file of it is saved", reads(file, "and saved"))
	}
}

// What is saved while nobody waits is told of by the next Wait.
func TestAChangeWhileNobodyWaits(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a.c")
	write(t, file, "one")
	w := newWatcher(t, rarely, watching.Tree{Folder: dir})
	for range 50 {
		write(t, file, "two")
		if _, err := w.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		write(t, file, "three") // as large, and maybe within the same tick of the clock
		if _, err := w.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// What is left out makes nobody build: neither by notices nor by looking.
func TestWhatIsLeftOut(t *testing.T) {
	dir, beyond := t.TempDir(), filepath.Join(t.TempDir(), "shared.h")
	write(t, filepath.Join(dir, "src", "a.c"), "one")
	write(t, beyond, "one")
	skip := func(path string, folder bool) bool {
		return folder && path == "build" || strings.HasSuffix(path, ".wasm")
	}
	w := newWatcher(t, time.Millisecond, watching.Tree{Folder: dir, Skip: skip, Files: []string{beyond}})
	write(t, filepath.Join(dir, "build", "a.wasm"), "built")
	write(t, filepath.Join(dir, "build", "deep", "record.json"), "built")
	write(t, filepath.Join(dir, "src", "a.wasm"), "built")
	write(t, filepath.Join(filepath.Dir(beyond), "another.h"), "not read")
	ended, cancel := context.WithTimeoutCause(t.Context(), 100*time.Millisecond, errors.New("nothing came"))
	defer cancel()
	if _, err := w.Wait(ended); err == nil {
		t.Error("what is left out was told of")
	}
	write(t, beyond, "two")
	until(t, w, "a file elsewhere", reads(beyond, "two"))
	w.Watch(watching.Tree{Folder: dir})
	write(t, filepath.Join(dir, "build", "a.wasm"), "built again")
	until(t, w, "what was left out before", reads(filepath.Join(dir, "build", "a.wasm"), "built again"))
}

// Somebody who goes on writing does not keep what was written from being told of.
func TestAWriterWhoGoesOn(t *testing.T) {
	dir := t.TempDir()
	w := watching.New(watching.Options{Settle: time.Hour, Most: 10 * time.Millisecond, Every: rarely})
	defer w.Close()
	w.Watch(watching.Tree{Folder: dir})
	write(t, filepath.Join(dir, "a.c"), "one")
	if at, err := w.Wait(t.Context()); err != nil || at.IsZero() {
		t.Fatal(at, err)
	}
}

func TestAWaitThatIsEnded(t *testing.T) {
	w := newWatcher(t, rarely, watching.Tree{Folder: filepath.Join(t.TempDir(), "never")})
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	cancel(why)
	if _, err := w.Wait(ctx); !errors.Is(err, why) {
		t.Errorf("it ends with %v", err)
	}
}
