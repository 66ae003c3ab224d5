package prove_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/conformance/internal/nodetest"
	"github.com/wharf-dev/wharf/plugins/plugintest"
	"github.com/wharf-dev/wharf/plugins/plugintest/workers"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/engine"
	"github.com/wharf-dev/wharf/runtime/pinned"
	"github.com/wharf-dev/wharf/runtime/receipt"
	"github.com/wharf-dev/wharf/runtime/sandbox"
	"github.com/wharf-dev/wharf/storage"
	"github.com/wharf-dev/wharf/storage/pebble"
)

// answers is a script for the models of tests.
const answers = `[
  {"match": {"user": "harbour"}, "answer": {"tool_calls": [{"name": "desk__look", "arguments": {"text": "the harbour"}}], "usage": {"input_tokens": 20, "output_tokens": 7}}},
  {"match": {"user": "harbour"}, "answer": {"text": "Ships, mostly.", "usage": {"input_tokens": 30, "output_tokens": 4}}},
  {"answer": {"text": "approved", "usage": {"input_tokens": 3, "output_tokens": 1}}, "times": -1}
]`

// scripted are the flags of a node whose models follow a script, and which has a
// server of tools.
func scripted(t *testing.T) []string {
	t.Helper()
	dir := t.TempDir()
	put(t, filepath.Join(dir, "answers.json"), answers)
	put(t, filepath.Join(dir, "wharf.yaml"), fmt.Sprintf(`
models:
  script: %s
  canned: {provider: script}
prices:
  script/canned: {input: 3, output: 15}
tools:
  desk: {command: %s, env: {%s: "1"}}
grants:
  agent: {tools: ["desk:look"]}
  calls: {tools: ["desk:*"]}
settings:
  calls: {greeting: Hello}
`, filepath.Join(dir, "answers.json"), self(t), asTools))
	return append(withPlugins(t), "--config", filepath.Join(dir, "wharf.yaml"), "--set", "tasks.gas=300000000")
}

const markdown = "# Tides\n\nThe tide comes in twice a day. It goes out again, [as the moon says](https://example.com/moon).\n\n- high\n- low\n\n## Harbour\n\nA harbour fills and empties. Ships wait for the tide, and captains for the harbour master.\n"

// everyCall makes every host call that needs nobody else's answer.
func everyCall() plugintest.Program {
	return program(
		step("clock", ""), step("clock", `{"call_id":"noon"}`), steps("random", 16), step("id", ""),
		steps("wasi.clock", 0), steps("wasi.monotonic", 0), steps("wasi.random", 32), steps("wasi.sleep", 2), put2("wasi.print", "printed"),
		step("log", `{"level":"info","message":"call $n"}`), step("progress", `{"fraction":0.5}`),
		step("plan", `{"steps":[{"title":"all of it","status":"in_progress"}]}`),
		step("plan.set", `{"steps":[{"content":"all of it","status":"in_progress"}]}`), step("plan.get", ""),
		step("composition.begin", `{"language":"none","snippet_hash":"0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f","manifest_hash":"0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f","side_effect_ceiling":"read_only"}`),
		step("tool.call", `{"server":"host","name":"time_now","composition_id":"$composition_id"}`),
		step("composition.end", `{"composition_id":"$composition_id","result":{"digest":"$digest"}}`),
		step("message.delta", `{"text":"half a"}`),
		step("message.append", `{"role":"assistant","parts":[{"type":"text","text":"digest $digest","visibility":"public"}]}`),
		step("transcript.read", `{"last":10}`),
		step("state.set", `{"key":"kept","value":{"digest":"$digest"}}`), step("state.get", `{"key":"kept"}`),
		put2("artifact.put", "{\"kind\":\"log\",\"mime_type\":\"text/plain\",\"name\":\"made.txt\"}\nmade of $digest"),
		step("artifact.get", `{"artifact_id":"$artifact_id"}`),
		step("memory.write", `{"scope":"session","content":"the tide is out"}`), step("memory.query", `{"scope":"session","text":"tide"}`),
		step("skill.match", `{"prompt":"tide","candidates":[{"name":"tides","description":"the tide"}]}`), step("block.list", ""), step("block.write", `{"label":"a","value":"x"}`),
		step("llm.complete", `{"messages":[{"role":"user","text":"well?"}]}`),
		step("tool.list", `{}`), step("tool.call", `{"server":"desk","name":"look","arguments":{"text":"ships"}}`),
		step("tool.call", `{"server":"desk","name":"fail"}`), step("tool.call", `{"server":"nobody","name":"none"}`),
		step("http.fetch", `{"url":"http://127.0.0.1:1/"}`), step("secret.use", `{"name":"none"}`),
		step("config.get", `{"name":"greeting"}`), step("host.fact", `{"name":"task"}`), step("host.fact", `{"name":"arch"}`),
		step("event.emit", `{"kind":"vendor.test.seen","payload":{"at":"$n"}}`),
		step("sleep", `{"ms":5}`),
		step("task.spawn", `{"persona_id":"persona_echo","input":{"from":"$digest"}}`), step("task.await", `{"task_id":"$task_id"}`),
		step("handoff", `{"persona_id":"persona_echo","input":{"over":"to you"},"reason":"it knows better"}`), step("task.await", `{"task_id":"$task_id"}`),
	)
}

// recorded is a Task that has ended, and how it can be replayed.
type recorded struct {
	name, id string
	modes    map[string]object
}

func value(kind string, v any) object { return object{"kind": kind, "value": v} }

// record runs Tasks of every plugin to all kinds of ends.
func record(t *testing.T, c *client) (all []recorded) {
	t.Helper()
	add := func(name, id string, override object) {
		override["time:completed_at"] = value("time", "2030-01-02T03:04:05.000000006Z")
		all = append(all, recorded{name, id, map[string]object{
			"exact":           {"mode": "exact", "reason": "to see"},
			"with_overrides":  {"mode": "with_overrides", "override": override},
			"from_checkpoint": {"mode": "from_checkpoint", "checkpoint_id": "call:1"},
			"of all calls":    {"mode": "from_checkpoint", "checkpoint_id": "call:0", "override": override},
		}})
	}
	run := func(name, persona string, input any, override object) {
		task := c.run(t, persona, input)
		if strings.HasPrefix(name, "fails") != (text(task, "status") == "FAILED") {
			t.Errorf("%s: %v %v", name, task["status"], task["failure"])
		}
		add(name, text(task, "id"), override)
	}
	run("echo", "persona_echo", message("well then"), object{})
	run("digest", "persona_digest", message(markdown), object{})
	run("agent", "persona_agent", message("What is in the harbour?"), object{
		"llm:main:2": value("llm_provider_response", object{"text": "Nothing at all.", "stop_reason": "end"})})
	run("steps, durable", "persona_steps", plugintest.StepsInput{Steps: 5, Kind: "durable", Bytes: 200}, object{})
	run("steps, read", "persona_steps", plugintest.StepsInput{Steps: 5, Kind: "read", Bytes: 100}, object{
		"host:state.get:2": value("host_fact", object{"value": "another"})})
	run("fixture", "persona_fixture", object{"message": "hello"}, object{
		"llm:main:1": value("llm_provider_response", object{"text": "refused", "stop_reason": "end"})})
	run("every call", "persona_calls", everyCall(), object{"time:started_at": value("time", "2030-01-02T03:04:04Z")})
	run("fails by a trap", "persona_calls", program(step("clock", ""), step("trap", "")), object{"time:1": value("time", "2031-01-01T00:00:00Z")})
	run("fails by itself", "persona_calls", program(step("clock", ""), steps("return", 7)), object{"time:1": value("time", "2031-01-01T00:00:00Z")})

	without := func(modes ...string) { // that need more calls than the last Task has made
		for _, mode := range modes {
			delete(all[len(all)-1].modes, mode)
		}
	}
	for _, w := range workers.All() {
		run("floats of "+w.Name, "persona_"+w.Name, work("floats", 100), object{})
		without("from_checkpoint")
		run("calls of "+w.Name, "persona_"+w.Name, work("calls", 2), object{"time:1": value("time", "2031-01-01T00:00:00Z")})
	}
	for how, task := range map[string]workers.Work{"gas": work("busy", 0), "depth": work("recurse", 1_000_000)} {
		run("fails by its "+how, "persona_work-rust", task, object{})
		without("from_checkpoint", "of all calls")
	}

	canceled := c.submit(t, c.session(t), "persona_calls", program(step("clock", ""), step("input.request", `{"prompt":"well?"}`)))
	c.waitsFor(t, canceled, "input.request")
	c.post(t, "/v1/tasks/"+canceled+"/cancel", object{"reason": "enough"})
	c.settled(t, canceled)
	add("canceled", canceled, object{"time:1": value("time", "2031-01-01T00:00:00Z")})

	answered := c.submit(t, c.session(t), "persona_calls", program(step("input.request", `{"prompt":"who?"}`), step("approval.request", `{"action":"go","prompt":"may I?"}`)))
	c.waitsFor(t, answered, "input.request")
	c.post(t, "/v1/tasks/"+answered+"/messages", object{"kind": "input", "message": message("me")})
	c.waitsFor(t, answered, "approval.request")
	c.post(t, "/v1/tasks/"+answered+"/messages", object{"kind": "tool_confirmation", "message": approval("approved")})
	c.settled(t, answered)
	add("answered", answered, object{"host:input.request:1": value("host_fact", object{"actor": "somebody",
		"message": object{"id": "msg_x", "object": "message", "role": "user", "parts": []any{}, "metadata": object{}}})})
	return all
}

func approval(decision string) object {
	return object{"role": "user", "parts": []any{object{"type": "json", "value": object{"decision": decision}, "visibility": "public"}}}
}

// replays holds the receipts of one replay of one Task, by where it was made.
type replays map[string]string

func (r replays) wantEqual(t *testing.T, what string) {
	t.Helper()
	places := slices.Sorted(maps.Keys(r))
	for _, place := range places[1:] {
		if r[place] != r[places[0]] {
			t.Errorf("%s: the receipts of %s and %s differ:\n%s", what, places[0], place, difference(r[places[0]], r[place]))
		}
	}
}

// TestReplaysAreByteIdentical replays every kind of Task in every mode: on the node
// that ran it, on other ones with another data folder, language, time zone and
// number of processors, which do not have the plugins, and on one with another
// clock that interprets what the others compile. All give one receipt.
func TestReplaysAreByteIdentical(t *testing.T) {
	first := builder.StartWith(t, nodetest.Options{Args: scripted(t), Env: []string{"TZ=UTC", "LANG=C", "LC_ALL=C", "GOMAXPROCS=1"}})
	c := newClient(first)
	tasks := record(t, c)
	found := make([]map[string]replays, len(tasks))
	keep := func(place string, at *client, i int, mode string) {
		task := at.replayed(t, tasks[i].id, tasks[i].modes[mode])
		if f := text(task, "failure", "code"); f != "" && (!strings.HasPrefix(tasks[i].name, "fails") || f == "replay_divergence") {
			t.Errorf("%s, %s, %s: the replay has failed: %v", tasks[i].name, mode, place, task["failure"])
			return
		}
		receipt, _ := at.unsigned(t, text(task, "id"))
		found[i][mode][place] = receipt
	}
	replayAll := func(place string, at *client) {
		for i := range tasks {
			for mode := range tasks[i].modes {
				keep(place, at, i, mode)
			}
		}
	}
	for i := range found {
		found[i] = map[string]replays{}
		for mode := range tasks[i].modes {
			found[i][mode] = replays{}
		}
	}
	copies := copyOf(t, c)
	replayAll("the first node", c)
	replayAll("the first node again", c)

	second := builder.StartWith(t, nodetest.Options{Data: restored(t, copies), Args: compiled(),
		Env: []string{"TZ=Asia/Kathmandu", "LANG=tr_TR.UTF-8", "LC_ALL=tr_TR.UTF-8", "GOMAXPROCS=4"}})
	other := newClient(second)
	other.run(t, "persona_echo", message("so that positions differ"))
	replayAll("another node", other)
	elsewhere(t, restored(t, copies), tasks, found)

	for i, modes := range found {
		for mode, r := range modes {
			t.Run(tasks[i].name+", "+mode, func(t *testing.T) {
				if len(r) < 4 {
					t.Fatalf("replayed only at %v", slices.Sorted(maps.Keys(r)))
				}
				r.wantEqual(t, mode)
			})
		}
		if modes["exact"]["the first node"] == modes["with_overrides"]["the first node"] {
			t.Errorf("%s: an override changes nothing of the receipt", tasks[i].name)
		}
	}
}

// copyOf makes a node write a backup.
func copyOf(t *testing.T, c *client) string {
	t.Helper()
	backup := filepath.Join(t.TempDir(), "backup")
	c.post(t, "/wharf/v1/backup", object{"dir": backup})
	return backup
}

// restored makes a data folder from a backup.
func restored(t *testing.T, backup string) string {
	t.Helper()
	data := filepath.Join(t.TempDir(), "somewhere", "else")
	if err := os.MkdirAll(filepath.Dir(data), 0o700); err != nil {
		t.Fatal(err)
	}
	if code, out := wharf(t, "restore", "--from", backup, "--data", data); code != 0 {
		t.Fatalf("restore: %d %s", code, out)
	}
	return data
}

// kept are the modules that a store has kept. They are interpreted.
type kept struct {
	store   storage.Store
	runtime *sandbox.Runtime
	mu      sync.Mutex
	modules map[string]*sandbox.Module
}

func (k *kept) Resolve(context.Context, string) (string, error) {
	return "", &abi.Failure{Code: abi.FailurePluginMissing, Message: "this node has no plugins"}
}

func (k *kept) Wasm(ctx context.Context, digest string) ([]byte, error) {
	wasm, err := pinned.Module(ctx, k.store, digest)
	if err == nil && wasm == nil {
		err = errors.New("the store does not have it")
	}
	return wasm, err
}

func (k *kept) ModuleAt(ctx context.Context, digest string) (engine.Module, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if m := k.modules[digest]; m != nil {
		return m, nil
	}
	wasm, err := k.Wasm(ctx, digest)
	if err != nil {
		return nil, err
	}
	m, err := k.runtime.Compile(ctx, wasm)
	k.modules[digest] = m
	return m, err
}

// elsewhere replays on an engine that interprets, years later.
func elsewhere(t *testing.T, data string, tasks []recorded, found []map[string]replays) {
	t.Helper()
	quiet := slog.New(slog.DiscardHandler)
	store, err := pebble.Open(data, pebble.Options{Logger: quiet})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	runtime, err := sandbox.New(t.Context(), sandbox.Config{Interpreter: true})
	if err != nil {
		t.Fatal(err)
	}
	defer runtime.Close(context.WithoutCancel(t.Context()))
	later := func() time.Time {
		return time.Now().AddDate(3, 2, 1).In(time.FixedZone("far away", -11*3600))
	}
	keys, err := receipt.OpenKeyring(t.TempDir(), "somebody else", later())
	if err != nil {
		t.Fatal(err)
	}
	limits := sandbox.DefaultLimits()
	limits.WallTime = 10 * time.Minute
	e, err := engine.New(engine.Config{Limits: limits}, engine.Parts{Store: store, Keys: keys, Now: later, Log: quiet, Version: "another", Runs: "interpreter", Rewriter: runtime.Rewriter(),
		Modules: &kept{store: store, runtime: runtime, modules: map[string]*sandbox.Module{}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Bootstrap(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	if err := e.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer e.Drain(t.Context())
	caller, err := e.Authenticate(t.Context(), nodetest.Key)
	if err != nil {
		t.Fatal(err)
	}
	for i := range tasks {
		for mode, how := range tasks[i].modes {
			wire, err := interpreted(t.Context(), e, caller, tasks[i].id, how)
			if err != nil {
				t.Errorf("%s, %s: %v", tasks[i].name, mode, err)
				continue
			}
			found[i][mode]["an interpreter, years later"], _ = stripped(t, wire)
		}
	}
}

// interpreted replays a Task and returns the receipt.
func interpreted(ctx context.Context, e *engine.Engine, c *desk.Caller, id string, how object) ([]byte, error) {
	text, err := json.Marshal(how, json.Deterministic(true))
	if err != nil {
		return nil, err
	}
	var req abi.ReplayTaskRequest
	if err := json.Unmarshal(text, &req); err != nil {
		return nil, err
	}
	doc, err := e.ReplayTask(ctx, c, nil, id, req)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	if doc, err = e.WaitTask(ctx, c, doc.ID); err != nil {
		return nil, err
	}
	receipts, err := e.TaskReceipts(ctx, c, doc.ID)
	if err != nil || len(receipts) != 1 {
		return nil, fmt.Errorf("%d receipts of %s: %w", len(receipts), doc.JSON, err)
	}
	return e.ReceiptWire(ctx, c, receipts[0].ID)
}

// An override is known by the hash of its canonical form. However it is written, the
// replay is the same one, and so is the receipt. Each way is tried on a node of its
// own: one node would find the receipt of the first.
func TestHowAnOverrideIsWrittenMakesNoDifference(t *testing.T) {
	first := newClient(builder.StartWith(t, nodetest.Options{Args: scripted(t)}))
	source := text(first.run(t, "persona_calls", program(
		step("state.get", `{"key":"k"}`), step("llm.complete", `{"messages":[{"role":"user","text":"well?"}]}`),
		step("tool.call", `{"server":"desk","name":"look"}`))), "id")
	second := newClient(builder.StartWith(t, nodetest.Options{Args: compiled(), Data: restored(t, copyOf(t, first))}))
	for key, ways := range map[string][2]string{
		"host:state.get:1": {`{"value":{"a":1,"b":[true,"x"]}}`, `{ "value": {"b": [true, "\u0078"], "a": 1.0} }`},
		"llm:1": {`{"text":"yes","stop_reason":"tools","tool_calls":[{"id":"1","name":"t","arguments":{"a":1,"b":2}}]}`,
			`{"tool_calls":[{"arguments":{"b":2, "a":1},"name":"t","id":"1"}],"stop_reason":"tools","text":"yes"}`},
		"mcp:desk:1": {`{"seen":{"a":1,"b":2}}`, `{"seen" : {"b":2,"a":1}}`},
	} {
		t.Run(key, func(t *testing.T) {
			receipts, ids := replays{}, map[string]string{}
			for i, c := range []*client{first, second} {
				task := c.replayed(t, source, object{"mode": "with_overrides", "override": object{
					key: object{"kind": kindOf[strings.SplitN(key, ":", 2)[0]], "value": jsontext.Value(ways[i])}}})
				way := fmt.Sprint("way ", i+1)
				receipts[way], _ = c.unsigned(t, text(task, "id"))
				ids[way] = text(task, "replay", "replay_id")
			}
			if ids["way 1"] != ids["way 2"] {
				t.Fatalf("the replays have the ids %v", ids)
			}
			receipts.wantEqual(t, key)
		})
	}
}

var kindOf = map[string]string{"llm": "llm_provider_response", "mcp": "mcp_tool_return", "host": "host_fact", "time": "time"}
