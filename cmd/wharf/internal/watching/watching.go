package watching

import (
	"context"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
)

// Tree is what is watched.
type Tree struct {
	Folder string // with all that is in it
	// Skip leaves out what lies at a path, which is as seen from the folder and has slashes: a folder with
	// all that is in it. nil leaves out nothing.
	Skip  func(path string, folder bool) bool
	Files []string // elsewhere
}

// Options say how long a watcher waits.
type Options struct {
	Settle time.Duration // how long files have to be left alone
	Most   time.Duration // after which they are told of though somebody goes on writing
	Every  time.Duration // how often all is looked at
}

// Watcher tells when files have changed. One caller waits at a time; the rest is safe for concurrent use.
type Watcher struct {
	o       Options
	system  *fsnotify.Watcher // nil where there is none
	changed chan struct{}     // holds one while there is a change that nobody was told of
	done    chan struct{}
	pumping sync.WaitGroup

	mu    sync.Mutex
	tree  Tree
	seen  map[string]fs.FileInfo // files as they were looked at last, by path
	since time.Time              // of the first change that nobody was told of
	held  map[string]fs.FileInfo // folders that the system watches
}

// New returns a watcher that watches nothing yet. Where the system gives no notices, files are looked at.
func New(o Options) *Watcher {
	system, err := fsnotify.NewWatcher()
	if err != nil { // too many are open, perhaps
		system = nil
	}
	return newWatcher(o, system)
}

func newWatcher(o Options, system *fsnotify.Watcher) *Watcher {
	w := &Watcher{o: o, system: system, changed: make(chan struct{}, 1), done: make(chan struct{}), held: map[string]fs.FileInfo{}}
	w.pumping.Go(w.pump)
	return w
}

// Close lets go of what is watched.
func (w *Watcher) Close() error {
	close(w.done)
	w.pumping.Wait()
	if w.system == nil {
		return nil
	}
	return w.system.Close()
}

// Watch replaces what is watched. How it is now is what later changes are changes of.
func (w *Watcher) Watch(t Tree) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tree = t
	w.seen = w.look()
}

// Wait returns once something has changed since the Wait before, or since Watch, and was left alone then. It
// returns when that was noticed.
func (w *Watcher) Wait(ctx context.Context) (time.Time, error) {
	select {
	case <-w.changed:
	case <-ctx.Done():
		return time.Time{}, context.Cause(ctx)
	}
	first := w.noticed()
	most := time.NewTimer(w.o.Most)
	defer most.Stop()
	alone := time.NewTimer(w.o.Settle)
	defer alone.Stop()
	for {
		select {
		case <-w.changed:
			w.noticed()
			alone.Reset(w.o.Settle)
			continue
		case <-alone.C:
		case <-most.C:
		case <-ctx.Done():
			return time.Time{}, context.Cause(ctx)
		}
		w.caughtUp()
		return first, nil
	}
}

// caughtUp has what there is be what later changes are changes of: the caller is about to look.
func (w *Watcher) caughtUp() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen = w.look()
}

// Nudge has the next Wait return as if something had changed.
func (w *Watcher) Nudge() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.since.IsZero() {
		w.since = time.Now()
	}
	select {
	case w.changed <- struct{}{}:
	default: // somebody is about to be told
	}
}

// noticed returns when what is told of now was noticed.
func (w *Watcher) noticed() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	first := w.since
	w.since = time.Time{}
	return first
}

// pump takes what the system tells, always: what is not taken is lost after some thousands.
func (w *Watcher) pump() {
	tick := time.NewTicker(w.o.Every)
	defer tick.Stop()
	var events <-chan fsnotify.Event
	var errs <-chan error
	if w.system != nil {
		events, errs = w.system.Events, w.system.Errors
	}
	for {
		select {
		case e := <-events:
			if w.counts(e) {
				w.Nudge()
			}
		case <-errs: // what was lost is found by looking
			if w.differs() {
				w.Nudge()
			}
		case <-tick.C:
			if w.differs() {
				w.Nudge()
			}
		case <-w.done:
			return
		}
	}
}

// counts reports whether a notice is about what is watched. A folder that came is watched from then on.
func (w *Watcher) counts(e fsnotify.Event) bool {
	if e.Op == fsnotify.Chmod {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, file := range w.tree.Files {
		if filepath.Clean(file) == e.Name {
			return true
		}
	}
	name, err := filepath.Rel(w.tree.Folder, e.Name)
	if err != nil || w.tree.Folder == "" || !filepath.IsLocal(name) {
		return false
	}
	info, err := os.Lstat(e.Name)
	folder := err == nil && info.IsDir()
	if w.skips(filepath.ToSlash(name), folder) {
		return false
	}
	if folder {
		w.seen = w.look()
	}
	return true
}

// skips reports whether something is left out, by itself or with a folder that it is in.
func (w *Watcher) skips(name string, folder bool) bool {
	if w.tree.Skip == nil || name == "." {
		return false
	}
	for up := path.Dir(name); up != "."; up = path.Dir(up) {
		if w.tree.Skip(up, true) {
			return true
		}
	}
	return w.tree.Skip(name, folder)
}

// differs looks at everything, and reports whether it is otherwise than it was.
func (w *Watcher) differs() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	before := w.seen
	w.seen = w.look()
	return !maps.EqualFunc(before, w.seen, same)
}

func same(a, b fs.FileInfo) bool {
	return a.Size() == b.Size() && a.Mode() == b.Mode() && a.ModTime().Equal(b.ModTime()) && os.SameFile(a, b)
}

// look lists the files that are watched, each folder after the system was asked to watch it. It is called
// under mu. What cannot be read is not there.
func (w *Watcher) look() map[string]fs.FileInfo {
	found, folders := map[string]fs.FileInfo{}, map[string]bool{}
	if w.tree.Folder != "" {
		w.lookInto(".", found, folders)
	}
	for _, file := range w.tree.Files {
		w.hold(filepath.Dir(file), folders)
		if info, err := os.Stat(file); err == nil {
			found[file] = info
		}
	}
	for folder := range w.held {
		if !folders[folder] {
			w.release(folder)
		}
	}
	return found
}

func (w *Watcher) lookInto(name string, found map[string]fs.FileInfo, folders map[string]bool) {
	folder := filepath.Join(w.tree.Folder, filepath.FromSlash(name))
	w.hold(folder, folders)
	entries, err := os.ReadDir(folder)
	if err != nil {
		return
	}
	for _, e := range entries {
		within := path.Join(name, e.Name())
		if w.tree.Skip != nil && w.tree.Skip(within, e.IsDir()) {
			continue
		}
		if e.IsDir() {
			w.lookInto(within, found, folders)
			continue
		}
		if info, err := os.Stat(filepath.Join(folder, e.Name())); err == nil {
			found[strings.TrimPrefix(within, "./")] = info
		}
	}
}

// hold has the system watch a folder, which may be another one than had its name before.
func (w *Watcher) hold(folder string, folders map[string]bool) {
	folders[folder] = true
	if w.system == nil {
		return
	}
	info, err := os.Stat(folder)
	was, known := w.held[folder]
	switch {
	case err != nil:
		if known {
			w.release(folder)
		}
		return
	case known && os.SameFile(was, info):
		return
	case known:
		w.release(folder)
	}
	if w.system.Add(folder) == nil { // too many are watched: a change is found by looking
		w.held[folder] = info
	}
}

func (w *Watcher) release(folder string) {
	delete(w.held, folder)
	_ = w.system.Remove(folder) // which has gone with the folder, mostly
}
