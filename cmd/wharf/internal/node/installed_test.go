package node

import (
	"bytes"
	"context"
	"encoding/binary"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/plugins/plugintest"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/tenancy"
)

// variant returns another module that does the same: one with a section that nothing reads.
func variant(wasm []byte, n int) []byte {
	section := append([]byte{7}, "variant"...)
	section = binary.BigEndian.AppendUint32(section, uint32(n))
	return append(append(bytes.Clone(wasm), 0, byte(len(section))), section...)
}

type installing struct {
	*Node
	root *desk.Caller
}

func startInstalling(t *testing.T, o Options) *installing {
	t.Helper()
	o.APIKey = "a-key-for-this-test"
	n, err := Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	root, err := n.engine.Authenticate(t.Context(), o.APIKey)
	if err != nil {
		t.Fatal(err)
	}
	return &installing{n, root}
}

func (n *installing) install(t *testing.T, name string, wasm []byte) abi.Plugin {
	t.Helper()
	doc, err := n.engine.InstallPlugin(t.Context(), n.root, nil, abi.InstallPluginRequest{Name: name}, bytes.NewReader(wasm))
	if err != nil {
		t.Fatal(err)
	}
	var p abi.Plugin
	if err := json.Unmarshal(doc.JSON, &p); err != nil {
		t.Fatal(err)
	}
	return p
}

func (n *installing) persona(t *testing.T, entry string) string {
	t.Helper()
	about := "a persona of this test"
	doc, err := n.engine.CreatePersona(t.Context(), n.root, nil, abi.CreatePersonaRequest{Name: entry, Version: "1", EntryWorkflow: entry, Description: &about,
		AutonomyTier: abi.TierActAuto, ReceiptPolicy: abi.ReceiptOptional, Tools: []string{}, Capabilities: []string{}})
	if err != nil {
		t.Fatal(err)
	}
	return doc.ID
}

// run runs a Task to its end, and returns its id and the module that ran it.
func (n *installing) run(ctx context.Context, persona string) (task, module string, status abi.TaskStatus, err error) {
	session, err := n.engine.CreateSession(ctx, n.root, nil, abi.CreateSessionRequest{WorkspaceID: tenancy.DefaultWorkspace})
	if err != nil {
		return "", "", "", err
	}
	doc, err := n.engine.SubmitTask(ctx, n.root, nil, abi.SubmitTaskRequest{SessionID: session.ID, PersonaID: persona, Input: []byte(`{"n":1}`)})
	if err != nil {
		return "", "", "", err
	}
	if doc, err = n.engine.WaitTask(ctx, n.root, doc.ID); err != nil {
		return doc.ID, "", "", err
	}
	rec, err := n.engine.TaskRecord(ctx, n.root, doc.ID)
	if err != nil {
		return doc.ID, "", doc.Task, err
	}
	return doc.ID, rec.Program.Module, doc.Task, nil
}

func (n *installing) held() int {
	n.modules.mu.Lock()
	defer n.modules.mu.Unlock()
	return len(n.modules.byDigest)
}

func openFilesNow(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("open files cannot be counted here")
	}
	return len(entries)
}

// Versions follow each other while Tasks run: none fails, each runs a version that was there, and what
// the node holds does not grow.
func TestReplacementsUnderLoad(t *testing.T) {
	count := 100
	if os.Getenv("WHARF_LONG") != "" {
		count = 1000
	}
	n := startInstalling(t, options(t, nil))
	defer n.Close()
	wasm := echoWasm(t)
	known := map[string]bool{n.install(t, "busy", variant(wasm, 0)).Digest: true}
	persona := n.persona(t, "busy")
	ctx, stop := context.WithCancel(t.Context())
	var load sync.WaitGroup
	var mu sync.Mutex
	ran, last := map[string]bool{}, ""
	for range 2 {
		load.Go(func() {
			for ctx.Err() == nil {
				id, module, status, err := n.run(t.Context(), persona)
				if err != nil || status != abi.TaskCompleted {
					t.Errorf("task %s is %s: %v", id, status, err)
					return
				}
				mu.Lock()
				ran[module], last = true, id
				mu.Unlock()
			}
		})
	}
	files, heap := 0, uint64(0)
	for i := 1; i <= count; i++ {
		known[n.install(t, "busy", variant(wasm, i)).Digest] = true
		if i == count/10 {
			files, heap = openFilesNow(t), heapNow()
		}
	}
	stop()
	load.Wait()
	for module := range ran {
		if !known[module] {
			t.Errorf("a task ran %s, which was never installed", module)
		}
	}
	if held := n.held(); held > maxSpare+1 {
		t.Errorf("%d modules are held", held)
	}
	if now := openFilesNow(t); now > files+20 {
		t.Errorf("%d files are open, %d were", now, files)
	}
	if now := heapNow(); now > heap+64<<20 {
		t.Errorf("the heap has %d MiB, it had %d", now>>20, heap>>20)
	}
	t.Logf("%d replacements, tasks of %d versions", count, len(ran))
	n.replays(t, last)
}

func heapNow() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// replays holds that a Task is replayed by the module that it ran.
func (n *installing) replays(t *testing.T, task string) {
	t.Helper()
	doc, err := n.engine.ReplayTask(t.Context(), n.root, nil, task, abi.ReplayTaskRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if doc, err = n.engine.WaitTask(t.Context(), n.root, doc.ID); err != nil || doc.Task != abi.TaskCompleted {
		t.Errorf("the replay is %s: %v %s", doc.Task, err, doc.JSON)
	}
}

// What was installed is there after a restart; a Task of a plugin that was removed is replayed.
func TestInstalledPluginsOutliveTheNode(t *testing.T) {
	o := options(t, nil)
	n := startInstalling(t, o)
	wasm := echoWasm(t)
	first := n.install(t, "busy", variant(wasm, 1)).Digest
	persona := n.persona(t, "busy")
	task, module, status, err := n.run(t.Context(), persona)
	if err != nil || module != first || status != abi.TaskCompleted {
		t.Fatalf("it ran %s, %s: %v", module, status, err)
	}
	second := n.install(t, "busy", variant(wasm, 2)).Digest
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	n = startInstalling(t, o)
	defer n.Close()
	if _, module, _, err := n.run(t.Context(), persona); err != nil || module != second {
		t.Errorf("after a restart it ran %s, want %s: %v", module, second, err)
	}
	if err := n.engine.RemovePlugin(t.Context(), n.root, nil, "busy", true); err != nil {
		t.Fatal(err)
	}
	if _, _, status, _ := n.run(t.Context(), persona); status != abi.TaskFailed {
		t.Errorf("a task of a plugin that was removed is %s", status)
	}
	n.replays(t, task)
	if _, err := n.engine.InstallPlugin(t.Context(), n.root, nil, abi.InstallPluginRequest{Name: "busy"}, bytes.NewReader([]byte("no module"))); err == nil {
		t.Error("no module was installed")
	}
	if _, err := n.engine.InstallPlugin(t.Context(), n.root, nil, abi.InstallPluginRequest{Name: "echo"}, bytes.NewReader(wasm)); err == nil {
		t.Error("a plugin that comes with the node was replaced")
	}
}

// A plugin with a manifest is reached by its own Persona, may do what the manifest names, and reads the
// defaults of its settings.
func TestAPluginWithAManifest(t *testing.T) {
	o := options(t, nil)
	o.Config.Settings = map[string]map[string]jsontext.Value{"triage": {"name": jsontext.Value(`"Ann"`)}}
	n := startInstalling(t, o)
	defer n.Close()
	said := &abi.PluginManifest{Text: `name = "triage"
version = "1.0.0"
kind = "persona"
capabilities = ["config.get"]
[config.greeting]
type = "string"
default = "good morning"
[config.name]
type = "string"
`}
	_, err := n.engine.InstallPlugin(t.Context(), n.root, nil, abi.InstallPluginRequest{Name: "triage", Manifest: said}, bytes.NewReader(plugintest.Calls()))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"good morning", "Ann"} {
		setting := map[string]string{"good morning": "greeting", "Ann": "name"}[want]
		task, status := n.runs(t, "persona_triage", `{"program":[{"call":"config.get","request":{"name":"`+setting+`"}}]}`)
		if rec := n.recordOf(t, task); status != abi.TaskCompleted || !strings.Contains(rec, want) {
			t.Errorf("%s: the task is %s: %s", setting, status, rec)
		}
	}
	if task, _ := n.runs(t, "persona_triage", `{"program":[{"call":"clock"},{"call":"state.set","request":{"key":"a","value":1}}]}`); !strings.Contains(n.recordOf(t, task), "denied") {
		t.Error("a call that the manifest does not name was not denied")
	}
	said.Text = strings.Replace(said.Text, "1.0.0", "1.1.0", 1) + "[config.count]\ntype = \"integer\"\n"
	n.modules.settings["triage"]["count"] = jsontext.Value(`"seven"`)
	_, err = n.engine.InstallPlugin(t.Context(), n.root, nil, abi.InstallPluginRequest{Name: "triage", Manifest: said}, bytes.NewReader(plugintest.Calls()))
	if err == nil || !strings.Contains(err.Error(), "settings.triage.count") {
		t.Errorf("a setting of another type: %v", err)
	}
}

// runs does a Task of a Persona with an input.
func (n *installing) runs(t *testing.T, persona, input string) (task string, status abi.TaskStatus) {
	t.Helper()
	session, err := n.engine.CreateSession(t.Context(), n.root, nil, abi.CreateSessionRequest{WorkspaceID: tenancy.DefaultWorkspace})
	if err != nil {
		t.Fatal(err)
	}
	doc, err := n.engine.SubmitTask(t.Context(), n.root, nil, abi.SubmitTaskRequest{SessionID: session.ID, PersonaID: persona, Input: []byte(input)})
	if err != nil {
		t.Fatal(err)
	}
	if doc, err = n.engine.WaitTask(t.Context(), n.root, doc.ID); err != nil {
		t.Fatal(err)
	}
	return doc.ID, doc.Task
}

func (n *installing) recordOf(t *testing.T, task string) string {
	t.Helper()
	rec, err := n.engine.TaskRecord(t.Context(), n.root, task)
	if err != nil {
		t.Fatal(err)
	}
	return textOf(t, rec)
}

func textOf(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
