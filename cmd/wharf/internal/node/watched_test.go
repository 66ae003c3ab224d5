package node

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/parcel"
	"github.com/wharf-dev/wharf/runtime/receipt"
)

// told is a log that somebody waits for.
type told struct {
	mu    sync.Mutex
	more  *sync.Cond
	lines []string
	read  int
}

func newTold() *told {
	l := &told{}
	l.more = sync.NewCond(&l.mu)
	return l
}

// Write implements io.Writer: a record a call.
func (l *told) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, string(p))
	l.more.Broadcast()
	return len(p), nil
}

// next waits for a record that has a text, after those that were waited for before.
func (l *told) next(text string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		for ; l.read < len(l.lines); l.read++ {
			if strings.Contains(l.lines[l.read], text) {
				l.read++
				return l.lines[l.read-1]
			}
		}
		l.more.Wait()
	}
}

// count says how many records have a text.
func (l *told) count(text string) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, line := range l.lines {
		if strings.Contains(line, text) {
			n++
		}
	}
	return n
}

// moved puts a file into a folder as a whole.
func moved(t *testing.T, dir, name string, content []byte) {
	t.Helper()
	part := filepath.Join(dir, "."+name+".part")
	if err := os.WriteFile(part, content, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(part, filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
}

func (n *installing) plugin(t *testing.T, name string) abi.Plugin {
	t.Helper()
	p, err := n.engine.Plugin(t.Context(), n.root, name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

const (
	watchedIn      = "installed a plugin of a watched folder"
	watchedRefused = "a plugin of a watched folder cannot be used"
)

// A node that runs installs what comes into a folder and what changes in it. What cannot be used is told, and the
// version before stays. After a restart a version that was switched to since then stays.
func TestPluginsOfAWatchedFolder(t *testing.T) {
	data, dir := t.TempDir(), filepath.Join(t.TempDir(), "plugins")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	log := newTold()
	serve := func() (*installing, func()) {
		o := options(t, map[string]string{"data": data, "plugins.watch": dir + ", " + filepath.Join(dir, "absent")})
		o.Log = slog.New(slog.NewTextHandler(log, nil))
		n := startInstalling(t, o)
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- n.Serve(ctx) }()
		return n, func() {
			stop()
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	}
	first, second := echoWasm(t), variant(echoWasm(t), 1)
	moved(t, dir, "mine.wasm", first) // before the start
	n, stop := serve()
	log.next(watchedIn)
	if p := n.plugin(t, "mine"); p.Digest != parcel.Digest(first) || p.Versions[0].InstalledBy != watchActor {
		t.Errorf("it is %+v", p)
	}
	moved(t, dir, "mine.wasm", second)
	log.next(watchedIn)
	moved(t, dir, "mine.wasm", []byte("no module"))
	log.next(watchedRefused)
	if p := n.plugin(t, "mine"); p.Version != "2" || p.Digest != parcel.Digest(second) {
		t.Errorf("it is %s, %s", p.Version, p.Digest)
	}
	moved(t, dir, "any.wharf", packageOf(t, "packed"))
	log.next(watchedIn)
	if p := n.plugin(t, "packed"); p.Version != "1.2.0" || p.PersonaID != "persona_packed" {
		t.Errorf("it is %+v", p)
	}
	moved(t, dir, "echo.wasm", first)
	if line := log.next(watchedRefused); !strings.Contains(line, "of its own") {
		t.Errorf("it says %s", line)
	}
	moved(t, dir, "mine.wasm", second)
	moved(t, dir, "zlast.wasm", variant(first, 2)) // is told, so what comes before it has been looked at
	log.next(watchedIn)
	if _, err := n.engine.RollbackPlugin(t.Context(), n.root, nil, "mine", abi.RollbackPluginRequest{Version: "1"}); err != nil {
		t.Fatal(err)
	}
	if got := log.count(watchedRefused); got != 2 {
		t.Errorf("%d refusals were told", got)
	}
	stop()
	moved(t, dir, "zz.wasm", variant(first, 3))
	n, stop = serve()
	defer stop()
	log.next(watchedIn)
	if p := n.plugin(t, "mine"); p.Version != "1" {
		t.Errorf("after a restart it is version %s", p.Version)
	}
}

// failing installs nothing, at first.
type failing struct {
	mu    sync.Mutex
	asked []string
	errs  []error // one for each time
}

// Plugin implements installer.
func (f *failing) Plugin(_ context.Context, _ *desk.Caller, name string) (abi.Plugin, error) {
	return abi.Plugin{}, abi.NotFound(abi.ObjectPlugin, name)
}

// InstallPackage implements installer.
func (f *failing) InstallPackage(ctx context.Context, c *desk.Caller, r *desk.Retry, req abi.InstallPluginRequest, _ io.ReaderAt, _ int64) (desk.Doc, error) {
	return f.InstallPlugin(ctx, c, r, req, nil)
}

// InstallPlugin implements installer.
func (f *failing) InstallPlugin(_ context.Context, _ *desk.Caller, _ *desk.Retry, req abi.InstallPluginRequest, _ io.Reader) (desk.Doc, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, req.Name)
	if len(f.errs) == 0 {
		return desk.Doc{}, nil
	}
	err := f.errs[0]
	f.errs = f.errs[1:]
	return desk.Doc{}, err
}

// What cannot be used is refused once for as long as it stays as it is; what the node could not do is tried again.
func TestWhatIsTriedAgain(t *testing.T) {
	dir := t.TempDir()
	to := &failing{errs: []error{errors.New("the disk is full"), abi.Errorf(abi.CodeInternalError, "the disk is full"), abi.InvalidParam("module", "no module")}}
	f := &watchedFolder{dir: dir, to: to, log: slog.New(slog.DiscardHandler)}
	put(t, dir, "mine.wasm", []byte("one"))
	for i, want := range []bool{false, false, true, true} {
		if got := f.pass(t.Context()); got != want {
			t.Errorf("pass %d is settled: %t", i, got)
		}
	}
	if err := os.Chtimes(filepath.Join(dir, "mine.wasm"), time.Time{}, time.Unix(1, 0)); err != nil { // touched, and the same
		t.Fatal(err)
	}
	f.pass(t.Context())
	if len(to.asked) != 3 {
		t.Errorf("it was asked for %v", to.asked)
	}
	put(t, dir, "mine.wasm", []byte("another"))
	f.pass(t.Context())
	if len(to.asked) != 4 {
		t.Errorf("it was asked for %v", to.asked)
	}
}

// Only what may be a plugin, and is signed by who is trusted, gets as far as the node.
func TestWhatIsTakenOfAWatchedFolder(t *testing.T) {
	dir, to := t.TempDir(), &failing{}
	key, err := json.Marshal(signer(1).Public(time.Unix(0, 0)).PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	trust, err := receipt.TrustedKeys([]string{strings.Trim(string(key), `"`)})
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{
		"a.wasm": echoWasm(t), ".b.wharf": packageOf(t, "hidden", signer(1)), "c.txt": []byte("text"), "d.wharf": packageOf(t, "unsigned"),
		"e.wharf": packageOf(t, "stranger", signer(2)), "f.wharf": packageOf(t, "ours", signer(1)), "g.wharf": packageOf(t, "half", signer(1))[:100],
		"h.wharf": []byte(base64.StdEncoding.EncodeToString(bytes.Repeat([]byte("x"), 99))),
	} {
		put(t, dir, name, content)
	}
	if err := os.Mkdir(filepath.Join(dir, "i.wasm"), 0o700); err != nil {
		t.Fatal(err)
	}
	log := newTold()
	f := &watchedFolder{dir: dir, trust: trust, to: to, log: slog.New(slog.NewTextHandler(log, nil))}
	for range 2 {
		if !f.pass(t.Context()) {
			t.Error("it is to be tried again")
		}
	}
	if !slices.Equal(to.asked, []string{"ours"}) || log.count(watchedRefused) != 5 {
		t.Errorf("%v were installed, and %d refused", to.asked, log.count(watchedRefused))
	}
}

func TestAWatchedFolderThatIsAFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "mine.wasm")
	put(t, filepath.Dir(file), "mine.wasm", echoWasm(t))
	n, err := Start(t.Context(), options(t, map[string]string{"plugins.watch": file}))
	if start, ok := errors.AsType[*StartError](err); !ok || !strings.Contains(start.What, "is a file") {
		t.Errorf("it says %v", err)
	}
	if n != nil {
		_ = n.Close()
	}
}
