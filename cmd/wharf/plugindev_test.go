package main

import (
	"bufio"
	"bytes"
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
	"github.com/wharf-dev/wharf/cmd/wharf/internal/client"
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
	t      *testing.T
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
func developing(t *testing.T, source string, args ...string) *developer {
	t.Helper()
	program, err := buildWharf()
	if err != nil {
		t.Fatal(err)
	}
	d := &developer{t: t, folder: filepath.Join(t.TempDir(), "tried"), temp: t.TempDir()}
	d.more = sync.NewCond(&d.mu)
	d.writeAll(source)
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
	late := time.AfterFunc(5*time.Minute, func() { _ = d.cmd.Process.Kill() }) // it hangs: show what was said
	t.Cleanup(func() {
		late.Stop()
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
	return d
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

// next waits for a line of a type, after those that were waited for before.
func (d *developer) next(of string, wanted func(*devLine) bool) *devLine {
	d.t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	for {
		for ; d.seen < len(d.lines); d.seen++ {
			if l := &d.lines[d.seen]; l.Type == of && (wanted == nil || wanted(l)) {
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
	d.failed("manifest", "tried")
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

func TestDevWithAKeyThatMayNot(t *testing.T) {
	r := newRig(t)
	d := developing(t, saying("one"), "--server", r.node.url, "--api-key", "no-such-key-at-all")
	if code := d.end(); code != exitDenied {
		t.Errorf("it ends with %d: %s", code, d.errs.Bytes())
	}
}
