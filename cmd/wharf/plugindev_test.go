package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/building"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/client"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/show"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/templates"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/watching"
	"github.com/wharf-dev/wharf/plugins"
	"github.com/wharf-dev/wharf/runtime/manifest"
)

// devManifest is that of the plugin that these tests change. TypeScript needs nothing but this program.
const devManifest = `name = "tried"
version = "0.1.0"
kind = "persona"
language = "typescript"
entry = "src/plugin.ts"
capabilities = ["message.append", "input.request"]
`

// saying is a program that answers with a text.
func saying(text string) string {
	return `import { reply } from "wharf";
import { mark } from "./mark";
export async function run() { console.log(mark); await reply("` + text + `"); return { summary: "` + text + `" }; }
`
}

const waiter = `import { inputRequest, reply } from "wharf";
export async function run() { await inputRequest({ prompt: "well?" }); await reply("the first"); return { summary: "the first" }; }
`

// developer is somebody who works on a plugin while "plugin dev" runs.
type developer struct {
	t      testing.TB
	folder string
	temp   string // where the program puts what is temporary
	cmd    *exec.Cmd

	mu    sync.Mutex
	more  *sync.Cond // lines has grown, or it has ended
	lines []devLine
	seen  int // how many of them were waited for
	ended bool
	errs  bytes.Buffer
}

// developing starts "plugin dev" on a folder of its own.
func developing(t testing.TB, source string, args ...string) *developer {
	t.Helper()
	d := newDeveloper(t, filepath.Join(t.TempDir(), "tried"))
	d.writeAll(source)
	d.start(args...)
	return d
}

func newDeveloper(t testing.TB, folder string) *developer {
	d := &developer{t: t, folder: folder, temp: t.TempDir()}
	d.more = sync.NewCond(&d.mu)
	return d
}

func (d *developer) start(args ...string) {
	t := d.t
	t.Helper()
	program, err := buildWharf()
	if err != nil {
		t.Fatal(err)
	}
	d.cmd = exec.Command(program, append([]string{"plugin", "dev", d.folder, "--json"}, args...)...)
	d.cmd.Dir = t.TempDir()
	d.cmd.Env = append(os.Environ(), "WHARF_API_KEY="+testKey, "TMPDIR="+d.temp)
	d.cmd.Stderr = &d.errs
	stdout, err := d.cmd.StdoutPipe()
	if err == nil {
		err = d.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	if until, ok := t.(interface{ Deadline() (time.Time, bool) }); ok {
		if at, ends := until.Deadline(); ends { // if it hangs, what it has said is shown
			late := time.AfterFunc(time.Until(at)-30*time.Second, func() { _ = d.cmd.Process.Kill() })
			t.Cleanup(func() { late.Stop() })
		}
	}
	t.Cleanup(func() {
		_ = d.cmd.Process.Kill()
		d.end()
		if t.Failed() {
			t.Logf("it says\n%s", d.errs.Bytes())
			for _, l := range d.lines {
				t.Logf("%s %s %s %.200s", l.Type, l.Version, l.Message, l.Event)
			}
		}
	})
	go func() {
		lines := bufio.NewScanner(stdout)
		lines.Buffer(nil, 16<<20)
		for lines.Scan() {
			var l devLine
			if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
				l = devLine{Type: "garbage", Message: lines.Text()}
			}
			d.mu.Lock()
			d.lines = append(d.lines, l)
			d.more.Broadcast()
			d.mu.Unlock()
		}
		d.mu.Lock()
		defer d.mu.Unlock()
		d.ended = true
		d.more.Broadcast()
	}()
}

// write saves a file of the plugin, as editors do: by another file that gets its name.
func (d *developer) write(name, text string) {
	d.t.Helper()
	path := filepath.Join(d.folder, name)
	part := filepath.Join(filepath.Dir(path), ".part")
	if err := os.WriteFile(part, []byte(text), 0o600); err != nil {
		d.t.Fatal(err)
	}
	if err := os.Rename(part, path); err != nil {
		d.t.Fatal(err)
	}
}

func (d *developer) writeAll(source string) {
	d.t.Helper()
	if err := os.MkdirAll(filepath.Join(d.folder, "src"), 0o700); err != nil {
		d.t.Fatal(err)
	}
	d.write("src/plugin.ts", source)
	d.write("src/mark.ts", `export const mark = "a mark";`)
	d.write("wharf.toml", devManifest)
}

// next waits for a line of a type, "" for any, after those that were waited for before.
func (d *developer) next(of string, wanted func(*devLine) bool) *devLine {
	d.t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	for {
		for ; d.seen < len(d.lines); d.seen++ {
			if l := &d.lines[d.seen]; (l.Type == of || of == "") && (wanted == nil || wanted(l)) {
				d.seen++
				return l
			}
		}
		if d.ended {
			d.t.Fatalf("it ended before it told %q", of)
		}
		d.more.Wait()
	}
}

// loaded waits for the next load, which has to be a version.
func (d *developer) loaded(version string) *devLine {
	d.t.Helper()
	l := d.next("loaded", nil)
	if l.Version != version {
		d.t.Fatalf("it loaded %s, not %s", l.Version, version)
	}
	return l
}

// failed waits for the next failure.
func (d *developer) failed(stage, part string) {
	d.t.Helper()
	l := d.next("failed", nil)
	if l.Stage != stage || !strings.Contains(l.Message+l.Output, part) {
		d.t.Fatalf("%s: %s %s, want %s: %s", l.Stage, l.Message, l.Output, stage, part)
	}
}

// said waits until a Task of the plugin has said something.
func (d *developer) said(text string) {
	d.t.Helper()
	d.next("event", func(l *devLine) bool {
		var e abi.Event
		return json.Unmarshal(l.Event, &e) == nil && e.Event == abi.EventAgentMessage && strings.Contains(string(l.Event), `"`+text+`"`)
	})
}

// end waits for the end, and returns the exit code.
func (d *developer) end() int {
	d.mu.Lock()
	for !d.ended {
		d.more.Wait()
	}
	d.mu.Unlock()
	_ = d.cmd.Wait()
	return d.cmd.ProcessState.ExitCode()
}

func (d *developer) stop(sig os.Signal) {
	d.t.Helper()
	_ = d.cmd.Process.Signal(sig)
	if code := d.end(); code != 0 {
		d.t.Errorf("it ended with %d: %s", code, d.errs.Bytes())
	}
	if left, err := os.ReadDir(d.temp); err != nil || len(left) > 0 {
		d.t.Errorf("it left %v behind, %v", left, err)
	}
}

// Each save becomes a version, what is wrong is told while the version before goes on, and the end leaves nothing
// behind.
func TestDevLoadsEachSave(t *testing.T) {
	d := developing(t, saying("one"), "--input", "go", "--set", pluginCacheSet())
	node := d.next("node", nil)
	d.loaded("0.1.0-dev.1")
	d.said("one")
	d.write("src/plugin.ts", saying("two"))
	if l := d.loaded("0.1.0-dev.2"); l.Persona != "persona_tried" || l.Digest == "" {
		t.Errorf("it says %+v", l)
	}
	d.said("two")

	d.write("src/plugin.ts", "export const x = ;\n")
	d.failed("build", "src/plugin.ts:1:18: ")
	at := commander{t, node.URL}
	at.must("task", "submit", "--persona", "persona_tried", "--wait=1m", "go")
	d.said("two")
	d.write("src/plugin.ts", saying("three"))
	d.loaded("0.1.0-dev.3")
	d.said("three")

	d.write("src/mark.ts", `export const mark = "another";`) // what the entry imports
	d.loaded("0.1.0-dev.4")
	d.write("wharf.toml", "name = 1\n")
	d.failed("manifest", "wharf.toml:1:")
	d.write("wharf.toml", devManifest)
	d.next("unchanged", nil)
	d.write("wharf.toml", strings.Replace(devManifest, "0.1.0", "0.2.0", 1))
	d.loaded("0.2.0-dev.1")

	if err := os.RemoveAll(d.folder); err != nil {
		t.Fatal(err)
	}
	d.next("failed", func(l *devLine) bool { return l.Stage == "manifest" }) // after others, as it goes piece by piece
	d.writeAll(saying("four"))
	d.next("loaded", func(l *devLine) bool { return strings.HasPrefix(l.Version, "0.1.0-dev.") }) // one, or more as it is written
	d.said("four")
	d.stop(syscall.SIGTERM)
}

// A Task that has begun goes on with the version that it began with.
func TestDevPinsWhatRuns(t *testing.T) {
	d := developing(t, waiter, "--set", pluginCacheSet())
	at := commander{t, d.next("node", nil).URL}
	d.loaded("0.1.0-dev.1")
	at.must("task", "submit", "--persona", "persona_tried", "go")
	var asked abi.Event
	l := d.next("event", func(l *devLine) bool { return strings.Contains(string(l.Event), string(abi.EventTaskInputRequired)) })
	if err := json.Unmarshal(l.Event, &asked); err != nil {
		t.Fatal(err)
	}
	d.write("src/plugin.ts", saying("the second"))
	if l := d.loaded("0.1.0-dev.2"); l.Running != 1 {
		t.Errorf("it says that %d tasks go on", l.Running)
	}
	at.must("task", "submit", "--persona", "persona_tried", "--wait=1m", "go")
	d.said("the second")
	at.must("task", "answer", asked.Resource.ID, "--text", "well")
	d.said("the first")
	d.stop(syscall.SIGINT)
}

// On a node that runs already a save waits for the node while it is away, and what was loaded stays.
func TestDevOnANodeThatRuns(t *testing.T) {
	r := newRig(t)
	u, err := url.Parse(r.node.url)
	if err != nil {
		t.Fatal(err)
	}
	d := developing(t, saying("one"), "--server", r.node.url, "--input", "go")
	d.loaded("0.1.0-dev.1")
	d.said("one")
	r.node.stop(syscall.SIGKILL)
	d.write("src/plugin.ts", saying("two"))
	d.next("waiting", nil)
	r.flags = append(r.flags, "--listen", u.Host)
	r.start()
	d.loaded("0.1.0-dev.2")
	d.said("two")
	d.stop(syscall.SIGTERM)
	doc, err := client.Do[abi.Plugin](t.Context(), r.client, client.Get(onePlugin, "tried"))
	if err != nil || doc.Value.Version != "0.1.0-dev.2" || doc.Value.Status != abi.PluginEnabled {
		t.Errorf("the node has %s, %s, %v", doc.Value.Version, doc.Value.Status, err)
	}
}

// commanded is the manifest of a plugin that a script builds, which writes down each time that it runs. It reads
// which module to take, and waits for a gate that a test may close.
const (
	commanded = `name = "tried"
version = "0.1.0"
kind = "persona"
language = "other"
capabilities = ["message.append"]
[build]
command = ["sh", "build.sh"]
`
	script = `which=$(cat src/which)
echo run >> build/runs
%s
until [ -e .gate ]; do sleep 0.02; done
cp "$which" build/tried.wasm
`
)

// byScript starts "plugin dev" on a plugin that a script builds, of one of three modules.
func byScript(t *testing.T, also string) *developer {
	t.Helper()
	d := newDeveloper(t, filepath.Join(t.TempDir(), "tried"))
	for _, folder := range []string{"src", "build"} {
		if err := os.MkdirAll(filepath.Join(d.folder, folder), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	echo, ok := plugins.Lookup("echo")
	if !ok {
		t.Fatal("there is no echo")
	}
	for n, name := range []string{"a", "b", "c"} {
		d.write("src/"+name+".module", string(echo.Wasm())+"\x00\x03\x01v"+string(rune('0'+n)))
	}
	d.write("src/which", "src/a.module")
	d.write("src/generated", "the same\n")
	d.write("wharf.toml", commanded)
	d.write("build.sh", fmt.Sprintf(script, also))
	d.write(".gate", "open")
	d.start("--set", pluginCacheSet())
	return d
}

// runs counts the builds.
func (d *developer) runs() int {
	text, err := os.ReadFile(filepath.Join(d.folder, "build", "runs"))
	if err != nil {
		d.t.Fatal(err)
	}
	return strings.Count(string(text), "run")
}

// What is saved while a build runs makes for one more build, and what a build writes for none.
func TestDevBuildsOnceMore(t *testing.T) {
	d := byScript(t, "echo the same > src/generated; mkdir -p target; date > target/log; date > build/log")
	d.loaded("0.1.0-dev.1")
	running := watching.New(watching.Options{Settle: time.Millisecond, Most: time.Minute, Every: 100 * time.Millisecond})
	defer running.Close()
	running.Watch(watching.Tree{Folder: filepath.Join(d.folder, "build")})
	if err := os.Remove(filepath.Join(d.folder, ".gate")); err != nil {
		t.Fatal(err)
	}
	before := d.runs()
	d.write("src/which", "src/b.module")
	for d.runs() == before {
		if _, err := running.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for range 5 {
		d.write("src/which", "src/c.module")
	}
	d.write(".gate", "open")
	d.loaded("0.1.0-dev.2")
	d.loaded("0.1.0-dev.3")
	d.write("src/which", "src/a.module")
	d.loaded("0.1.0-dev.4")
	d.stop(syscall.SIGTERM)
	if n := d.runs() - before; n != 3 {
		t.Errorf("it was built %d times for three saves", n)
	}
}

// A command that changes its own sources is told of, and does not keep the machine busy.
func TestDevOfABuildThatChangesItsSources(t *testing.T) {
	d := byScript(t, "echo more >> src/generated")
	d.loaded("0.1.0-dev.1")
	if l := d.next("waiting", nil); !strings.Contains(l.Message, "build.watch") {
		t.Errorf("it says %s", l.Message)
	}
	d.stop(syscall.SIGTERM)
}

func TestDevWithAKeyThatMayNot(t *testing.T) {
	r := newRig(t)
	d := developing(t, saying("one"), "--server", r.node.url, "--api-key", "no-such-key-at-all")
	if code := d.end(); code != exitDenied {
		t.Errorf("it ends with %d: %s", code, d.errs.Bytes())
	}
}

// What people are told: once what no save has changed, and each time what is wrong with sources.
func TestWhatDevTells(t *testing.T) {
	var said bytes.Buffer
	c, err := client.New("http://127.0.0.1:1", testKey)
	if err != nil {
		t.Fatal(err)
	}
	tell := newDevTeller(&app{out: show.NewScreen(&said, "never", os.Getenv)}, c)
	d := &pluginDev{folder: "/plugins/tried", key: "a-key"}
	of := &pluginSource{means: &manifest.Manifest{Name: "tried", Kind: manifest.KindPersona, Hosts: []string{"api.example.com"}}}
	plugin := &abi.Plugin{Name: "tried", Version: "0.1.0-dev.1", PersonaID: "persona_tried"}
	wrong := &devFailure{stage: "build", err: &building.CompileError{Output: "warning: odd\nsrc/a.c:3:7: error: no such thing"}}
	for _, step := range []struct {
		do    func()
		wants []string // in this order; none for silence
	}{
		{func() { tell.node(d) }, []string{"watching /plugins/tried for a node of its own at http://127.0.0.1:1"}},
		{func() { tell.loaded(d, of, plugin, devTimes{whole: 180 * time.Millisecond}) }, []string{"loaded 0.1.0-dev.1 in 180 ms\n", "WHARF_API_KEY=a-key", "task submit --persona persona_tried", "api.example.com"}},
		{func() { tell.loaded(d, of, plugin, devTimes{}) }, []string{"loaded 0.1.0-dev.1 in 0 ms\n"}},
		{func() { tell.failed(wrong) }, []string{"build: the sources do not compile\n", "  src/a.c:3:7: error: no such thing\n"}},
		{func() { tell.failed(wrong) }, []string{"src/a.c:3:7"}},
		{func() { tell.failed(&devFailure{stage: "manifest", err: errors.New("there is none")}) }, []string{"manifest: there is none\n"}},
		{func() { tell.failed(&devFailure{stage: "manifest", err: errors.New("there is none")}) }, nil},
		{func() {
			tell.failed(&devFailure{stage: "build", err: &building.Missing{What: "clang is missing", Get: []string{"apt"}}})
		}, []string{"build: clang is missing\n", "try  apt"}},
		{func() { tell.waiting(errors.New("no node answers")) }, []string{"waiting: no node answers"}},
		{func() { tell.waiting(errors.New("still none")) }, nil},
		{func() { tell.unchanged(&devVersion{version: "0.1.0-dev.1"}, &building.Built{}) }, []string{"0.1.0-dev.1 stays"}},
		{func() { tell.waiting(errors.New("\x1b[2Jagain")) }, []string{"waiting: "}},
	} {
		said.Reset()
		step.do()
		rest := said.String()
		if len(step.wants) == 0 && rest != "" || strings.Contains(rest, "\x1b") {
			t.Errorf("it says %q", rest)
		}
		for _, want := range step.wants {
			_, after, found := strings.Cut(rest, want)
			if !found {
				t.Errorf("it says %q, not %q", said.String(), want)
			}
			rest = after
		}
	}
}

// The place is where editors go to.
func TestWhereCompilersSayThatItIs(t *testing.T) {
	for said, want := range map[string]string{
		"src/plugin.ts:1:18: Unexpected \";\"":                              "src/plugin.ts:1:18",
		"plugin.c:7:3: error: expected ';'\n":                               "plugin.c:7:3",
		"# example.com/hello\n./main.go:12:2: undefined: x":                 "./main.go:12:2",
		"error[E0425]: cannot find value\n  --> src/lib.rs:3:5\n   |\n 3 |": "src/lib.rs:3:5",
		"/plugins/tried/wharf.toml:1:8: name: not a text":                   "/plugins/tried/wharf.toml:1:8",
		"clang ended with exit status 1, and said nothing":                  "",
	} {
		got := ""
		if found := place.FindStringSubmatch(said); found != nil {
			got = found[1]
		}
		if got != want {
			t.Errorf("of %q it is %q, want %q", said, got, want)
		}
	}
}

// BenchmarkSaveToLoaded is how long an author waits after a save, until new Tasks run what was saved.
func BenchmarkSaveToLoaded(b *testing.B) {
	b.Setenv("GOWORK", "off")
	for language, source := range map[string]string{"typescript": "src/plugin.ts", "python": "plugin.py", "c": "plugin.c", "cpp": "plugin.cpp",
		"go": "main.go", "rust": "src/lib.rs", "assemblyscript": "assembly/index.ts"} {
		b.Run(language, func(b *testing.B) {
			useToolchain(b, language)
			made, err := templates.Make(templates.Wanted{Name: "tried", Language: language, Kind: manifest.KindPersona})
			d := newDeveloper(b, filepath.Join(b.TempDir(), "tried"))
			if err == nil {
				err = templates.Write(d.folder, made)
			}
			if err != nil {
				b.Fatal(err)
			}
			text, err := os.ReadFile(filepath.Join(d.folder, source))
			if err != nil {
				b.Fatal(err)
			}
			d.start("--set", pluginCacheSet())
			first := d.next("", func(l *devLine) bool { return l.Type == "loaded" || l.Type == "failed" })
			if first.Type == "failed" {
				b.Skip(first.Message)
			}
			n := 0
			for b.Loop() {
				n++
				d.write(source, strings.Replace(string(text), "Hello", fmt.Sprintf("Hello %d", n), 1))
				d.next("loaded", nil)
			}
			d.stop(syscall.SIGTERM)
		})
	}
}
