package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/wharf-dev/wharf/plugins/plugintest"
	"github.com/wharf-dev/wharf/runtime/sandbox/kept"
)

var update = flag.Bool("update", false, "rewrite what the scripts expect")

// workshop is a folder that the tests share: see buildWharf.
var workshop string

// tests are the tests of the package, with what comes before and after them.
type tests struct{ *testing.M }

func (m tests) Run() int {
	var err error
	if workshop, err = os.MkdirTemp("", "wharf-test-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(workshop)
	if err := kept.WriteKey(pluginCacheKey(), kept.NewKey()); err != nil { // nodes that start at one time would make several
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.M.Run()
}

func TestMain(m *testing.M) {
	if kind := os.Getenv(toolsVar); kind != "" {
		if err := serveTools(kind); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	testscript.Main(tests{m}, map[string]func(){"wharf": func() { os.Exit(run()) }})
}

// TestScripts runs each command the way a user does, against nodes in processes of
// their own. Besides what testscript offers, scripts can use:
//
//	node start [FLAG...]    start "wharf serve", wait until it listens, and set
//	                        WHARF_SERVER and WHARF_API_KEY; what it printed is in
//	                        serve.stdout
//	node stop               end it with SIGTERM; it has to exit with 0. Its log is
//	                        in serve.stderr
//	code N COMMAND...       run a command that has to exit with N
//	gone COMMAND...         run a command again and again until it exits with 1
//	neat FILE               write standard output to FILE, with ids and times that
//	                        differ between runs replaced
//	json LINE PATH REGEX    look into a line of standard output, counted from 1, or
//	                        from -1 backwards; PATH is like a.b.0.c
//	capture NAME REGEX      set a variable to what the regex's group matches in
//	                        standard output
//	flip FILE OFFSET        change a byte of a file; an offset below 0 counts from
//	                        its end
//
// PLUGINS names a folder with the plugin "calls", which makes the host calls that
// its input lists, and OTHER a module that does something else. SHARED is a module
// that shares its memory between threads, and BEFORE a folder of run bundles from
// before modules were rewritten. EXTISM is a folder of plugins made with Extism's PDKs.
func TestScripts(t *testing.T) {
	plugins, err := pluginFolder()
	if err != nil {
		t.Fatal(err)
	}
	before, err := filepath.Abs(filepath.Join("testdata", "before"))
	if err != nil {
		t.Fatal(err)
	}
	extism, err := filepath.Abs(filepath.FromSlash("../../runtime/sandbox/testdata/extism"))
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:           filepath.Join("testdata", "script"),
		UpdateScripts: *update,
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", env.Getenv("WORK"))
			env.Setenv("XDG_CACHE_HOME", workshop)
			env.Setenv("WHARF_PLUGINS_CACHE", pluginCache())
			env.Setenv("WHARF_PLUGINS_CACHE_KEY", pluginCacheKey())
			env.Setenv("PLUGINS", plugins)
			env.Setenv("OTHER", filepath.Join(workshop, "other.wasm"))
			env.Setenv("SHARED", filepath.Join(workshop, "shared.wasm"))
			env.Setenv("BEFORE", before)
			env.Setenv("EXTISM", extism)
			env.Values[nodeKey{}] = &scriptNode{}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"node": cmdNode, "code": cmdCode, "gone": cmdGone, "neat": cmdNeat, "json": cmdJSON, "capture": cmdCapture, "flip": cmdFlip,
		},
	})
}

// pluginCache is where every node of these tests keeps compiled plugins: compiling
// takes longer than everything else. Demos find it as the user's cache.
func pluginCache() string { return filepath.Join(workshop, "wharf", "modules") }

// pluginCacheKey is the file of the key that all of them share.
func pluginCacheKey() string { return filepath.Join(workshop, "wharf", cacheKeyFile) }

// pluginCacheSet is what "serve --set" wants for both.
func pluginCacheSet() string {
	return "plugins.cache=" + pluginCache() + ",plugins.cache_key=" + pluginCacheKey()
}

// pluginFolder makes the folder that PLUGINS names, and the file that OTHER does.
func pluginFolder() (string, error) {
	dir := filepath.Join(workshop, "plugins")
	return dir, errors.Join(
		os.MkdirAll(dir, 0o755),
		os.WriteFile(filepath.Join(dir, "calls.wasm"), plugintest.Calls(), 0o644),
		os.WriteFile(filepath.Join(workshop, "other.wasm"), plugintest.Steps(), 0o644),
		os.WriteFile(filepath.Join(workshop, "shared.wasm"), []byte("\x00asm\x01\x00\x00\x00\x05\x04\x01\x03\x01\x01"), 0o644),
	)
}

type nodeKey struct{}

// scriptNode is the node of a script.
type scriptNode struct{ process *process }

func cmdNode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: node start [FLAG...] | node stop")
	}
	n := ts.Value(nodeKey{}).(*scriptNode)
	switch args[0] {
	case "start":
		n.start(ts, args[1:])
	case "stop":
		code := n.process.stop(syscall.SIGTERM)
		ts.Check(os.WriteFile(ts.MkAbs("serve.stderr"), n.process.log(), 0o600))
		if code != 0 {
			ts.Fatalf("the node ended with %d:\n%s", code, n.process.log())
		}
	default:
		ts.Fatalf("unknown: node %s", args[0])
	}
}

func (n *scriptNode) start(ts *testscript.TestScript, flags []string) {
	args := append([]string{"serve", "--listen", "127.0.0.1:0", "--log-format", "json"}, flags...)
	cmd := exec.Command("wharf", args...)
	cmd.Dir = ts.MkAbs(".")
	cmd.Env = append(os.Environ(), "WHARF_API_KEY="+ts.Getenv("WHARF_API_KEY"), "WHARF_PLUGINS_CACHE="+ts.Getenv("WHARF_PLUGINS_CACHE"), "WHARF_PLUGINS_CACHE_KEY="+ts.Getenv("WHARF_PLUGINS_CACHE_KEY"))
	p, err := startProcess(cmd, ts.MkAbs("serve.stdout"))
	ts.Check(err)
	n.process = p
	ts.Defer(func() { p.stop(syscall.SIGKILL) })
	ts.Setenv("WHARF_SERVER", p.url)
	ts.Setenv("ADDRESS", strings.TrimPrefix(p.url, "http://"))
	if key := regexp.MustCompile(`wharf_[\w-]+`).FindString(ts.ReadFile("serve.stdout")); key != "" {
		ts.Setenv("WHARF_API_KEY", key)
	}
}

// process is a running "wharf serve" that logs JSON.
type process struct {
	cmd *exec.Cmd
	url string

	mu     sync.Mutex
	more   *sync.Cond // errors has grown
	errors bytes.Buffer
	ended  chan struct{}
}

// startProcess starts cmd and waits until it listens. Its standard output goes to
// the file of the given name.
func startProcess(cmd *exec.Cmd, stdout string) (*process, error) {
	p := &process{cmd: cmd, ended: make(chan struct{})}
	p.more = sync.NewCond(&p.mu)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	out, err := os.Create(stdout)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	cmd.Stdout = out
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	listening := make(chan string, 1)
	go p.readLog(stderr, listening)
	select {
	case p.url = <-listening:
		return p, nil
	case <-p.ended:
		return nil, fmt.Errorf("the node did not start:\n%s", p.log())
	}
}

// readLog keeps the log, and tells the URL when the node says it.
func (p *process) readLog(r io.Reader, listening chan<- string) {
	defer close(p.ended)
	for lines := bufio.NewScanner(r); lines.Scan(); {
		p.mu.Lock()
		p.errors.Write(append(lines.Bytes(), '\n'))
		p.more.Broadcast()
		p.mu.Unlock()
		var line struct{ Msg, URL string }
		if json.Unmarshal(lines.Bytes(), &line) == nil && line.Msg == "listening" {
			listening <- line.URL
		}
	}
	_ = p.cmd.Wait()
}

// stop sends a signal, waits for the end and returns the exit code.
func (p *process) stop(sig os.Signal) int {
	_ = p.cmd.Process.Signal(sig)
	<-p.ended
	return p.cmd.ProcessState.ExitCode()
}

func (p *process) log() []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	return bytes.Clone(p.errors.Bytes())
}

// waitForLog returns when the log holds text. It must come while the process runs.
func (p *process) waitForLog(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for !bytes.Contains(p.errors.Bytes(), []byte(text)) {
		p.more.Wait()
	}
}

// cmdGone runs a command until it finds nothing any more.
func cmdGone(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: gone COMMAND...")
	}
	for until := time.Now().Add(2 * time.Minute); time.Now().Before(until); {
		var exit *exec.ExitError
		err := ts.Exec(args[0], args[1:]...)
		if errors.As(err, &exit) && exit.ExitCode() == 1 {
			return
		}
		if err != nil {
			ts.Fatalf("%q: %v", args, err)
		}
	}
	ts.Fatalf("%q still finds something", args)
}

func cmdCode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N COMMAND [ARG...]")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if fmt.Sprint(got) != args[0] {
		ts.Fatalf("exit code %d, want %s", got, args[0])
	}
}

// unsteady matches what differs between two runs, and says what stands for it.
var unsteady = []struct {
	pattern *regexp.Regexp
	instead string
}{
	{regexp.MustCompile(`\b(task|sess|msg|art|out|req|rcpt|tenant|ws)_[0-9A-HJKMNP-TV-Z]{26}\b`), "${1}_00000000000000000000000000"},
	{regexp.MustCompile(`\bkey_[0-9a-f]{32}\b`), "key_00000000000000000000000000000000"},
	{regexp.MustCompile(`\bwharf_[\w-]{40,}`), "wharf_KEY"},
	{regexp.MustCompile(`(?m)^(key_0+  \w+ +)[\w-]{4} `), "${1}LAST "},
	{regexp.MustCompile(`MADE +STATE +SCOPES`), "MADE STATE SCOPES"},
	{regexp.MustCompile(`\bactive +`), "active "},
	// How many events a new node begins with, and how they are batched, is the engine's
	// business.
	{regexp.MustCompile(`\d+, in \d+ frames, from 1 to \d+`), "N, in N frames, from 1 to N"},
	{regexp.MustCompile(`(?m)^  keys +\d+$`), "  keys     N"},
	{regexp.MustCompile(`(?m)^  disk     [\d.]+ \w+: log .*; [\d.]+ \w+ free of [\d.]+ \w+$`), "  disk     TAKEN; FREE"},
	{regexp.MustCompile(`echoed \d+ bytes`), "echoed N bytes"},
	{regexp.MustCompile(`digest [0-9a-f]{16}`), "digest SUM"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d[.0-9]*Z?`), "DATE"},
	{regexp.MustCompile(`\d\d:\d\d:\d\d\.\d{3}`), "00:00:00.000"},
	{regexp.MustCompile(`(?m)^ +\d+\.\d{3}s`), "     0.000s"},
	{regexp.MustCompile(`\b(now|\d+[smh] ago)( *)`), "AGO "},
	{regexp.MustCompile(`127\.0\.0\.1:\d+`), "127.0.0.1:PORT"},
	{regexp.MustCompile(`[\d.]+ (ns|µs|ms|s)\b`), "0 ms"},
	{regexp.MustCompile(` +[█▏]+ +`), " █ "},
	{regexp.MustCompile(`(module +)sha256:[0-9a-f]{64}`), "${1}DIGEST"},
}

func cmdNeat(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: neat FILE")
	}
	text := strings.ReplaceAll(ts.ReadFile("stdout"), ts.Getenv("WORK"), "WORK")
	for _, u := range unsteady {
		text = u.pattern.ReplaceAllString(text, u.instead)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o600))
}

func cmdJSON(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: json LINE PATH REGEX")
	}
	lines := strings.Split(strings.TrimSpace(ts.ReadFile("stdout")), "\n")
	var n int
	if _, err := fmt.Sscan(args[0], &n); err != nil || n == 0 || max(n, -n) > len(lines) {
		ts.Fatalf("there is no line %s: there are %d", args[0], len(lines))
	}
	if n < 0 {
		n += len(lines) + 1
	}
	var v any
	if err := json.Unmarshal([]byte(lines[n-1]), &v); err != nil {
		ts.Fatalf("line %d is no JSON: %v: %s", n, err, lines[n-1])
	}
	got := dig(v, strings.Split(args[1], "."))
	if regexp.MustCompile(args[2]).MatchString(got) == neg {
		ts.Fatalf("%s is %s; matching %s is %t", args[1], got, args[2], neg)
	}
}

// dig returns what lies at a path as text, strings without quotes.
func dig(v any, path []string) string {
	for _, name := range path {
		switch at := v.(type) {
		case map[string]any:
			v = at[name]
		case []any:
			var i int
			if _, err := fmt.Sscan(name, &i); err != nil || i >= len(at) {
				return "absent"
			}
			v = at[i]
		default:
			return "absent"
		}
	}
	if s, ok := v.(string); ok {
		return s
	}
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func cmdCapture(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: capture NAME REGEX")
	}
	m := regexp.MustCompile(args[1]).FindStringSubmatch(ts.ReadFile("stdout"))
	if len(m) < 2 {
		ts.Fatalf("standard output has no %s", args[1])
	}
	ts.Setenv(args[0], m[1])
}

func cmdFlip(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: flip FILE OFFSET")
	}
	text := []byte(ts.ReadFile(args[0]))
	var at int
	if _, err := fmt.Sscan(args[1], &at); err != nil || at >= len(text) || at < -len(text) {
		ts.Fatalf("%s has %d bytes, none of them at %s", args[0], len(text), args[1])
	}
	if at < 0 {
		at += len(text)
	}
	text[at] ^= 1
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), text, 0o600))
}
