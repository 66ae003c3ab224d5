package node

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/config"
	"github.com/wharf-dev/wharf/plugins"
	"github.com/wharf-dev/wharf/runtime/sandbox"
	"github.com/wharf-dev/wharf/runtime/sandbox/kept"
)

// echoWasm is a module that works.
func echoWasm(t *testing.T) []byte {
	t.Helper()
	p, ok := plugins.Lookup("echo")
	if !ok {
		t.Fatal("there is no echo")
	}
	return p.Wasm()
}

func testRuntime(t *testing.T) *sandbox.Runtime {
	t.Helper()
	r, err := sandbox.New(t.Context(), sandbox.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return r
}

func wantMissing(t *testing.T, err error) {
	t.Helper()
	if failure, ok := errors.AsType[*abi.Failure](err); !ok || failure.Code != abi.FailurePluginMissing {
		t.Errorf("got %v, want that the plugin is missing", err)
	}
}

func TestUnknownModulesAreRefusedAndForgotten(t *testing.T) {
	m := newModules(nil, nil, nil)
	_, err := m.Module(t.Context(), "no-such-plugin")
	wantMissing(t, err)
	_, err = m.ModuleAt(t.Context(), "sha256:00")
	wantMissing(t, err)
	_, err = m.Wasm(t.Context(), "sha256:00")
	wantMissing(t, err)
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.byDigest) != 0 {
		t.Errorf("%d digests are kept", len(m.byDigest))
	}
}

func TestANameResolvesToTheModuleThatItsDigestFinds(t *testing.T) {
	m := newModules(testRuntime(t), nil, nil)
	digest, err := m.Resolve(t.Context(), "echo")
	if err != nil || !strings.HasPrefix(digest, "sha256:") {
		t.Fatalf("%q, %v", digest, err)
	}
	wasm, err := m.Wasm(t.Context(), digest)
	if err != nil || !bytes.Equal(wasm, echoWasm(t)) {
		t.Errorf("%d bytes, %v", len(wasm), err)
	}
	named, err := m.Module(t.Context(), "echo")
	if err != nil {
		t.Fatal(err)
	}
	pinned, err := m.ModuleAt(t.Context(), digest)
	if err != nil || named != pinned {
		t.Errorf("the name and the digest give two modules (%v)", err)
	}
}

func TestAModuleThatIsNoLongerOfferedComesFromTheFallback(t *testing.T) {
	asked := ""
	fails := errors.New("the disk is gone")
	m := newModules(testRuntime(t), nil, func(_ context.Context, digest string) ([]byte, error) {
		if digest == "sha256:bad" {
			return nil, fails
		}
		asked = digest
		return echoWasm(t), nil
	})
	module, err := m.ModuleAt(t.Context(), "sha256:old")
	if err != nil || asked != "sha256:old" || !module.HasExport("run") {
		t.Errorf("asked for %q, %v", asked, err)
	}
	if _, err := m.ModuleAt(t.Context(), "sha256:bad"); !errors.Is(err, fails) {
		t.Errorf("got %v", err)
	}
}

func TestPluginsOfAFolder(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "mine.wasm", echoWasm(t))
	put(t, dir, "broken.wasm", []byte("no module"))
	put(t, dir, "notes.txt", []byte("not a plugin"))
	own, err := readPlugins(&config.Plugins{Dir: dir})
	if err != nil || len(own) != 2 {
		t.Fatalf("%d plugins, %v", len(own), err)
	}
	m := newModules(testRuntime(t), own, nil)
	put(t, dir, "mine.wasm", []byte("a new version that is still being written"))
	if module, err := m.Module(t.Context(), "mine"); err != nil || !module.HasExport("run") {
		t.Errorf("what was read at the start is not what runs: %v", err)
	}
	_, err = m.Module(t.Context(), "broken")
	if failure, ok := errors.AsType[*abi.Failure](err); !ok || failure.Code != abi.FailurePluginInvalid {
		t.Errorf("got %v", err)
	}
	var ids []string
	for _, p := range personas(own) {
		ids = append(ids, p.ID+"="+p.EntryWorkflow)
	}
	if got := strings.Join(ids, " "); !strings.HasSuffix(got, "persona_broken=broken persona_mine=mine") {
		t.Errorf("the personas are %s", got)
	}
}

func TestAFolderOfPluginsThatCannotBeUsedStopsTheStart(t *testing.T) {
	for file, want := range map[string]string{
		"Two Words.wasm": "is no name for a plugin",
		"-x.wasm":        "is no name for a plugin",
		"echo.wasm":      "has the name of a plugin that ships with Wharf",
	} {
		dir := t.TempDir()
		put(t, dir, file, echoWasm(t))
		_, err := Start(t.Context(), options(t, map[string]string{"plugins.dir": dir}))
		if start, ok := errors.AsType[*StartError](err); !ok || !strings.Contains(err.Error(), want) || start.Try == "" {
			t.Errorf("%s: got %v", file, err)
		}
	}
	_, err := Start(t.Context(), options(t, map[string]string{"plugins.dir": filepath.Join(t.TempDir(), "absent")}))
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

func put(t *testing.T, dir, name string, content []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// What is prepared is on disk, and in memory for those who have asked for it only.
func TestPreparedModulesAreKeptOnDisk(t *testing.T) {
	r, err := sandbox.New(t.Context(), sandbox.Config{CacheDir: t.TempDir(), CacheKey: kept.NewKey()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close(context.Background()) })
	m := newModules(r, nil, nil)
	digest, err := m.Resolve(t.Context(), "echo")
	if err != nil {
		t.Fatal(err)
	}
	held := func() int {
		m.mu.Lock()
		defer m.mu.Unlock()
		return len(m.byDigest)
	}
	if r.Kept(digest) {
		t.Fatal("a module that was never compiled is on disk")
	}
	for range 2 {
		if err := m.Prepare(t.Context(), "echo"); err != nil {
			t.Fatal(err)
		}
		if !r.Kept(digest) || held() != 0 {
			t.Fatalf("on disk %v, %d in memory", r.Kept(digest), held())
		}
	}
	first, err := m.Module(t.Context(), "echo")
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Prepare(t.Context(), "echo"); err != nil {
		t.Fatal(err)
	}
	if again, err := m.Module(t.Context(), "echo"); err != nil || again != first {
		t.Errorf("a module that is used was freed: %v", err)
	}
	wantMissing(t, m.Prepare(t.Context(), "no-such-plugin"))
}

// Who asks for a module while it is being prepared gets it, and it stays.
func TestAModuleAskedForWhileItIsPrepared(t *testing.T) {
	r, err := sandbox.New(t.Context(), sandbox.Config{CacheDir: t.TempDir(), CacheKey: kept.NewKey()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close(context.Background()) })
	m := newModules(r, nil, nil)
	digest, err := m.Resolve(t.Context(), "echo")
	if err != nil {
		t.Fatal(err)
	}
	l := m.loading(digest, false)
	module, err := m.ModuleAt(t.Context(), digest)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.release(t.Context(), digest, l); err != nil {
		t.Fatal(err)
	}
	if !module.HasExport(abi.DefaultExport) {
		t.Error("the module has lost its export")
	}
	if again, err := m.ModuleAt(t.Context(), digest); err != nil || again != module {
		t.Errorf("the module was freed: %v", err)
	}
}
