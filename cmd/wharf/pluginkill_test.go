package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/fsnotify/fsnotify"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/client"
	"github.com/wharf-dev/wharf/plugins"
)

// variant is a version of a bundled plugin, another module for each number.
type variant struct {
	wasm   []byte
	digest string
}

// longInstalls has tests install 3 MB of Go, which take seconds to compile, instead of 2 KB of C.
func longInstalls() bool { return os.Getenv("WHARF_LONG") != "" }

func newVariant(t *testing.T, n int) variant {
	t.Helper()
	name := "echo"
	if longInstalls() {
		name = "digest"
	}
	of, ok := plugins.Lookup(name)
	if !ok {
		t.Fatal("there is no plugin " + name)
	}
	section := append([]byte{7}, "variant"...)
	section = binary.BigEndian.AppendUint32(section, uint32(n))
	wasm := append(append(bytes.Clone(of.Wasm()), 0, byte(len(section))), section...)
	sum := sha256.Sum256(wasm)
	return variant{wasm, "sha256:" + hex.EncodeToString(sum[:])}
}

// halfway calls reached once half of a body was read.
type halfway struct {
	io.Reader
	left    int
	reached func()
}

func (h *halfway) Read(p []byte) (int, error) {
	n, err := h.Reader.Read(p)
	if h.left -= n; h.left <= 0 && h.reached != nil {
		h.reached()
		h.reached = nil
	}
	return n, err
}

// install sends a module as the plugin triage. An error is what a client of a dying node gets.
func (r *rig) install(b variant, reached func()) (abi.Plugin, error) {
	body := &halfway{bytes.NewReader(b.wasm), len(b.wasm) / 2, reached}
	doc, err := r.client.UploadModule(r.t.Context(), client.Post(nil, onePlugin+"/versions", "triage"), body, int64(len(b.wasm)), nil)
	return doc.Value, err
}

// sees calls reached once a change of a file below a folder is the one that is looked for.
func (r *rig) sees(dir string, wanted func(fsnotify.Event) bool, reached func()) {
	r.t.Helper()
	w, err := fsnotify.NewBufferedWatcher(1000)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = w.Close() })
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		return w.Add(path)
	})
	if err != nil {
		r.t.Fatal(err)
	}
	go func() {
		for e := range w.Events {
			if wanted(e) {
				reached()
				return
			}
		}
	}()
}

// installSteps are the steps of an install, and how one is told from outside of the process.
var installSteps = map[string]func(r *rig, b variant, kill func()) (reached func()){
	"half of the module has come": func(_ *rig, _ variant, kill func()) func() { return kill },
	"the module gets its name": func(r *rig, b variant, kill func()) func() {
		name := strings.TrimPrefix(b.digest, "sha256:")
		folder := filepath.Join(r.dir, "data", "blobs", name[:2])
		if err := os.MkdirAll(folder, 0o700); err != nil {
			r.t.Fatal(err)
		}
		r.sees(folder, func(e fsnotify.Event) bool { return filepath.Base(e.Name) == name }, kill)
		return nil
	},
	"it was compiled": func(r *rig, _ variant, kill func()) func() {
		r.sees(pluginCache(), func(e fsnotify.Event) bool { return e.Has(fsnotify.Create) }, kill)
		return nil
	},
	"the event is written": func(r *rig, _ variant, kill func()) func() {
		r.sees(pluginCache(), func(e fsnotify.Event) bool { return e.Has(fsnotify.Create) }, func() {
			r.sees(filepath.Join(r.dir, "data", "db"), func(e fsnotify.Event) bool { return e.Has(fsnotify.Write) }, kill)
		})
		return nil
	},
}

// quickSteps are those at which a node is killed each time that the tests run.
var quickSteps = []string{"the module gets its name", "the event is written"}

// TestInstallsOfAKilledNode kills the real program in each step of an install. The next life has the
// version of before or the new one, whole, Tasks run it, and it can be installed again.
func TestInstallsOfAKilledNode(t *testing.T) {
	r := newRig(t, "--set", "tasks.persona=persona_digest")
	has, err := r.install(newVariant(t, 0), nil)
	if err != nil {
		t.Fatal(err)
	}
	persona := r.personaOf("triage")
	rounds := 1
	if longInstalls() {
		rounds = 3
	}
	n := os.Getpid() * 100 // modules that no cache has
	for range rounds {
		for step, watch := range installSteps {
			if !longInstalls() && !slices.Contains(quickSteps, step) {
				continue
			}
			n++
			has = r.killedInstalling(step, watch, newVariant(t, n), has.Digest, persona)
		}
	}
	if code := r.node.stop(syscall.SIGTERM); code != 0 {
		t.Errorf("the node ended with %d:\n%s", code, r.node.log())
	}
	r.examine()
}

func (r *rig) killedInstalling(step string, watch func(*rig, variant, func()) func(), next variant, before, persona string) abi.Plugin {
	r.t.Helper()
	reached := watch(r, next, func() { r.node.stop(syscall.SIGKILL) })
	_, failed := r.install(next, reached)
	r.node.stop(syscall.SIGKILL)
	r.start()
	doc, err := client.Do[abi.Plugin](r.t.Context(), r.client, client.Get(onePlugin, "triage"))
	if err != nil {
		r.t.Fatalf("killed when %s: %v", step, err)
	}
	switch now := doc.Value.Digest; {
	case now != before && now != next.digest, failed == nil && now != next.digest:
		r.t.Errorf("killed when %s: the plugin is %s; it was %s, and %s was sent, with %v", step, now, before, next.digest, failed)
	case now == before:
		r.t.Logf("killed when %s: it is the version of before", step)
	default:
		r.t.Logf("killed when %s: it is the new version", step)
	}
	r.runs(persona, doc.Value.Digest)
	has, err := r.install(next, nil)
	if err != nil || has.Digest != next.digest {
		r.t.Fatalf("killed when %s, it cannot be installed again: %v", step, err)
	}
	r.runs(persona, next.digest)
	return has
}

// personaOf makes a Persona that runs a plugin.
func (r *rig) personaOf(plugin string) string {
	r.t.Helper()
	about := "of this test"
	doc, err := client.Do[abi.Persona](r.t.Context(), r.client, client.Post(abi.CreatePersonaRequest{Name: plugin, Version: "1", EntryWorkflow: plugin, Description: &about,
		AutonomyTier: abi.TierActAuto, ReceiptPolicy: abi.ReceiptOptional, Tools: []string{}, Capabilities: []string{}}, "/v1/personas"))
	if err != nil {
		r.t.Fatal(err)
	}
	return doc.Value.ID
}

// runs holds that a new Task is done by a module.
func (r *rig) runs(persona, digest string) {
	r.t.Helper()
	task, err := r.client.Submit(r.t.Context(), abi.SubmitTaskRequest{SessionID: r.session, PersonaID: persona,
		Input: []byte(`{"role":"user","parts":[{"type":"text","text":"One sentence. Another.","visibility":"public"}]}`)}, client.SubmitOptions{})
	if err != nil {
		r.t.Fatal(err)
	}
	r.waitFor(task.Value.ID)
	rec, err := r.client.Record(r.t.Context(), task.Value.ID)
	if err != nil {
		r.t.Fatal(err)
	}
	done, err := r.client.Task(r.t.Context(), task.Value.ID)
	if err != nil || done.Value.Status != abi.TaskCompleted || rec.Value.Program.Module != digest {
		r.t.Errorf("the task is %s, and has run %s, not %s: %v", done.Value.Status, rec.Value.Program.Module, digest, err)
	}
}
