package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/config"
	"github.com/wharf-dev/wharf/runtime/engine"
	"github.com/wharf-dev/wharf/runtime/sandbox"
	"github.com/wharf-dev/wharf/runtime/tenancy"
	"github.com/wharf-dev/wharf/storage/pebble"
)

// options returns those of a node on a folder of its own.
func options(t *testing.T, settings map[string]string) Options {
	t.Helper()
	all := map[string]string{"listen": "127.0.0.1:0", "data": filepath.Join(t.TempDir(), "data")}
	for name, text := range settings {
		all[name] = text
	}
	eff, err := config.Defaults(all)
	if err != nil {
		t.Fatal(err)
	}
	return Options{Config: eff.Config, Version: "test", Log: slog.New(slog.NewTextHandler(io.Discard, nil))}
}

func TestANodeCanBeStoppedAtAnyMoment(t *testing.T) {
	o := options(t, nil)
	for range 10 {
		n, err := Start(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		served := make(chan error, 1)
		go func() { served <- n.Serve(ctx) }()
		cancel()
		if err := <-served; err != nil {
			t.Fatal(err)
		}
	}
}

func TestAServedNodeAnswersAndThenFreesItsPort(t *testing.T) {
	n, err := Start(t.Context(), options(t, nil))
	if err != nil {
		t.Fatal(err)
	}
	if n.NewKey == "" || !n.Loopback() {
		t.Errorf("key %q, loopback %t", n.NewKey, n.Loopback())
	}
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- n.Serve(ctx) }()
	resp, err := http.Get(n.URL() + "/version")
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	if err != nil || !strings.Contains(string(body), `"version":"test"`) {
		t.Errorf("%s, %v", body, err)
	}
	cancel()
	if err := <-served; err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", strings.TrimPrefix(n.URL(), "http://"))
	if err != nil {
		t.Fatalf("the port is still taken: %v", err)
	}
	ln.Close()
}

// What a guest that cannot be stopped still uses is left to the end of the process.
func TestANodeEndsThoughAGuestDoesNot(t *testing.T) {
	n, err := Start(t.Context(), options(t, nil))
	if err != nil {
		t.Fatal(err)
	}
	err = n.finish(fmt.Errorf("waiting for running tasks: %w", engine.ErrStuck))
	if !errors.Is(err, engine.ErrStuck) || !strings.Contains(err.Error(), "shutdown.grace") {
		t.Errorf("the node ended with %v", err)
	}
	if err := n.store.Failed(); err != nil {
		t.Errorf("the store was closed: %v", err)
	}
	if err := n.Close(); err != nil {
		t.Error(err)
	}
}

func TestNothingHoldsTheEndUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		never := make(chan struct{})
		defer close(never)
		if err := within(closeTime, func() error { <-never; return nil }); !errors.Is(err, errCloseTime) {
			t.Errorf("waiting for what does not end: %v", err)
		}
		if err := within(closeTime, func() error { return io.EOF }); !errors.Is(err, io.EOF) {
			t.Errorf("what ends with an error: %v", err)
		}
	})
}

func TestStartErrorsSayWhatToDo(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	used := options(t, nil)
	n, err := Start(t.Context(), used)
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	for name, test := range map[string]struct {
		settings map[string]string
		want     string
	}{
		"port taken":    {map[string]string{"listen": taken.Addr().String()}, "something else listens"},
		"no such host":  {map[string]string{"listen": "no-such-host.invalid:0"}, "this machine has no address"},
		"not a folder":  {map[string]string{"data": file}, "is not a folder"},
		"below a file":  {map[string]string{"data": filepath.Join(file, "x")}, "is not a folder"},
		"folder in use": {map[string]string{"data": used.Config.Data}, "in use by another process"},
		"foreign cache": {map[string]string{"plugins.cache": file}, "starting the sandbox"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Start(t.Context(), options(t, test.settings))
			if err == nil {
				t.Fatal(errors.Join(errors.New("it started"), got.Close()))
			}
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestAFailedStartLeavesNothingOpen(t *testing.T) {
	o := options(t, map[string]string{"plugins.cache": filepath.Join(t.TempDir(), "file")})
	if err := os.WriteFile(o.Config.Plugins.Cache, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Start(t.Context(), o); err == nil {
		t.Fatal("it started")
	}
	store, err := pebble.Open(o.Config.Data, pebble.Options{})
	if err != nil {
		t.Fatalf("the data folder is still open: %v", err)
	}
	if err := store.Close(); err != nil {
		t.Error(err)
	}
}

func TestAFolderThatCannotBeWritten(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may write anywhere")
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	_, err := Start(t.Context(), options(t, map[string]string{"data": filepath.Join(dir, "data")}))
	var start *StartError
	if !errors.As(err, &start) || !strings.Contains(start.Try, "--data") {
		t.Errorf("got %v", err)
	}
}

func TestModulesAreCompiledOnce(t *testing.T) {
	r, err := sandbox.New(t.Context(), sandbox.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close(t.Context())
	m := newModules(r, nil, nil)
	var all sync.WaitGroup
	got := make([]engine.Module, 8)
	for i := range got {
		all.Go(func() {
			module, err := m.Module(t.Context(), "echo")
			if err != nil {
				t.Error(err)
			}
			got[i] = module
		})
	}
	all.Wait()
	for _, module := range got {
		if module != got[0] {
			t.Error("two modules for one plugin")
		}
	}
	if !m.idle() {
		t.Error("something is still being compiled")
	}
}

func TestProfilesAreServedOnLoopbackOnly(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if err := ServeDebug(ctx, "0.0.0.0:0"); err == nil {
		t.Error("profiles are open to the world")
	}
	if err := ServeDebug(ctx, "127.0.0.1:0"); err != nil {
		t.Error(err)
	}
}

// Every limit of the configuration reaches the engine, those of a plugin under its name.
func TestLimitsReachTheEngine(t *testing.T) {
	o := options(t, map[string]string{"tasks.memory": "1MiB", "tasks.wall_time": "2s", "tasks.host_calls": "3", "tasks.payload": "4KiB",
		"tasks.output": "5KiB", "tasks.gas": "6000", "tasks.depth": "70"})
	o.Config.PluginLimits = map[string]config.RunLimits{
		"own": {Memory: 10, WallTime: 20, HostCalls: 30, Payload: 40, Output: 50, Gas: 60, Depth: 70}}
	c := o.engineConfig()
	if want := (sandbox.Limits{MemoryBytes: 1 << 20, WallTime: 2 * time.Second, HostCalls: 3, PayloadBytes: 4 << 10, OutputBytes: 5 << 10, Gas: 6000, Depth: 70}); c.Limits != want {
		t.Errorf("%+v, want %+v", c.Limits, want)
	}
	if got, want := c.PluginLimits["own"], (sandbox.Limits{MemoryBytes: 10, WallTime: 20, HostCalls: 30, PayloadBytes: 40, OutputBytes: 50, Gas: 60, Depth: 70}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// The node says how much its plugins have computed, and what became of their instances.
func TestMetricsTellOfPlugins(t *testing.T) {
	for idle, want := range map[string]struct{ fresh, again string }{"1MiB": {"1", "2"}, "0": {"3", "0"}} {
		o := options(t, map[string]string{"plugins.idle_memory": idle, "tasks.persona": "persona_echo"})
		o.APIKey = "a-key-for-this-test"
		n, err := Start(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			runOne(t, n)
		}
		ctx, cancel := context.WithCancel(t.Context())
		served := make(chan error, 1)
		go func() { served <- n.Serve(ctx) }()
		shown := get(t, n.URL()+"/metrics")
		for _, line := range []string{`wharf_instances_taken_total{instance="new"} ` + want.fresh, `wharf_instances_taken_total{instance="idle"} ` + want.again, "wharf_instances_running 0"} {
			if !strings.Contains(shown, line+"\n") {
				t.Errorf("%s: there is no line %s:\n%s", idle, line, shown)
			}
		}
		if strings.Contains(shown, "wharf_gas_used_total 0\n") || !strings.Contains(shown, "wharf_gas_used_total ") {
			t.Errorf("three Tasks used no gas:\n%s", shown)
		}
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
	}
}

// runOne runs a Task to its end.
func runOne(t *testing.T, n *Node) {
	t.Helper()
	root, err := n.engine.Authenticate(t.Context(), n.options.APIKey)
	if err != nil {
		t.Fatal(err)
	}
	session, err := n.engine.CreateSession(t.Context(), root, nil, abi.CreateSessionRequest{WorkspaceID: tenancy.DefaultWorkspace})
	if err != nil {
		t.Fatal(err)
	}
	task, err := n.engine.SubmitTask(t.Context(), root, nil, abi.SubmitTaskRequest{SessionID: session.ID, Input: []byte(`{"n":1}`)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := n.engine.WaitTask(t.Context(), root, task.ID); err != nil {
		t.Fatal(err)
	}
}

func get(t *testing.T, url string) string {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// What the node says of where it is comes from its configuration.
func TestPublicURL(t *testing.T) {
	for name, c := range map[string]struct {
		settings map[string]string
		port     int
		want     string
	}{
		"nothing":       {nil, 8080, ""},
		"public_url":    {map[string]string{"public_url": "https://wharf.example.com/agents/"}, 443, "https://wharf.example.com/agents"},
		"a domain":      {map[string]string{"acme.domains": "a.example.com, b.example.com", "acme.accept_terms": "yes"}, 443, "https://a.example.com"},
		"a port":        {map[string]string{"acme.domains": "a.example.com", "acme.accept_terms": "yes"}, 8443, "https://a.example.com:8443"},
		"public_url is": {map[string]string{"acme.domains": "a.example.com", "acme.accept_terms": "yes", "public_url": "https://c.example.com"}, 443, "https://c.example.com"},
	} {
		n := &Node{options: options(t, c.settings), addr: &net.TCPAddr{IP: net.IPv4zero, Port: c.port}}
		if got := n.publicURL(); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
