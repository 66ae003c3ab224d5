package harn_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	json "github.com/go-json-experiment/json"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway/harn"
	"github.com/wharf-dev/wharf/runtime/engine"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/installs"
	"github.com/wharf-dev/wharf/runtime/parcel"
	"github.com/wharf-dev/wharf/runtime/provider/tool"
	"github.com/wharf-dev/wharf/runtime/provider/vault"
	"github.com/wharf-dev/wharf/runtime/receipt"
	"github.com/wharf-dev/wharf/runtime/sandbox"
	"github.com/wharf-dev/wharf/runtime/tenancy"
	"github.com/wharf-dev/wharf/storage/pebble/crashtest"
)

// asking waits for input.
func asking(ctx context.Context, h sandbox.Host) error {
	if err := enginetest.Call(ctx, h, abi.CallInputRequest, `{"prompt":"?"}`); err != nil {
		return err
	}
	return enginetest.Call(ctx, h, abi.CallOutput, `{"summary":"answered"}`)
}

// approving waits for an approval.
func approving(ctx context.Context, h sandbox.Host) error {
	if err := enginetest.Call(ctx, h, abi.CallApprovalRequest, `{"action":"pay","prompt":"?","arguments":{"eur":1}}`); err != nil {
		return err
	}
	return enginetest.Call(ctx, h, abi.CallOutput, `{"summary":"decided"}`)
}

// authorizing waits for an authorization.
func authorizing(ctx context.Context, h sandbox.Host) error {
	if err := enginetest.Call(ctx, h, abi.CallAuthRequest, `{"provider":"forge","prompt":"?"}`); err != nil {
		return err
	}
	return enginetest.Call(ctx, h, abi.CallOutput, `{"summary":"authorized"}`)
}

// sick puts every delivery aside.
func sick(ctx context.Context, h sandbox.Host) error {
	status, answer, err := h.Call(ctx, abi.CallDeliveries, nil)
	var got abi.CallDeliveriesAnswer
	if err != nil || status != abi.CallOK || json.Unmarshal(answer, &got) != nil {
		return fmt.Errorf("deliveries: %d %w", status, err)
	}
	var told abi.CallNormalizedRequest
	for _, d := range got.Deliveries {
		told.Results = append(told.Results, abi.NormalizedDelivery{ID: d.ID, Failure: &abi.Failure{Code: "sick", Message: "it is sick"}})
	}
	request, err := json.Marshal(told)
	if err != nil {
		return err
	}
	return enginetest.Call(ctx, h, abi.CallNormalized, string(request))
}

// bootWhole starts a node with everything that clients can write to. A second one on
// the same disk and folder stands for a restart.
func bootWhole(t *testing.T, disk *crashtest.Disk, dir string, change ...func(*engine.Parts)) *node {
	t.Helper()
	n := &node{held: make(chan struct{}, 1000), leave: make(chan struct{})}
	names := enginetest.Guests{"echo": echo, "hold": n.hold, "ask": asking, "sick": sick, "make": making,
		"approve": approving, "authorize": authorizing,
		"crowd": func(ctx context.Context, h sandbox.Host) error { return n.crowd(ctx, h) }}
	keys, err := receipt.OpenKeyring(filepath.Join(dir, "signing"), "test", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	n.Node = enginetest.Boot(t, disk, names, func(c *engine.Config, p *engine.Parts) {
		c.Webhooks.Private, p.ShowEvent, p.AddedTools = true, harn.Links().PublicEvent, tool.NewAdded() // receivers are here
		p.Models = func() []abi.NodeModel {
			return []abi.NodeModel{{Name: "main", Aliases: []string{}, Kind: "openai", Model: "gpt", Default: true, Place: abi.ModelLocal, Auth: abi.ModelAuth{Env: []string{}},
				Price: &abi.ModelPrice{Input: 1, Output: 2, Currency: "USD"}, Fallbacks: []string{}}}
		}
		p.Installs = anyModule{}
		p.Keys, p.Log = keys, slog.New(slog.DiscardHandler)
		p.Vaults = vault.New(vault.Config{Dir: filepath.Join(dir, "vaults"), KeyFile: filepath.Join(dir, "vault.age"), Log: p.Log})
		for _, f := range change {
			f(p)
		}
	})
	n.listen(t)
	return n
}

// anyModule has every module load.
type anyModule struct{}

func (anyModule) Try(context.Context, string) (installs.Loaded, error) { return installs.Loaded{}, nil }
func (anyModule) Setting(string, string) jsontext.Value                { return nil }

func (anyModule) Own(string) bool     { return false }
func (anyModule) Trust() parcel.Trust { return nil }
func (anyModule) Left(string)         {}

// keyed is a write under a key of its own, and what may change its resource afterwards.
type keyed struct {
	name, method, path string
	body               any
	with               func(*http.Request) // nil for nothing
	after              func(*node, *testing.T)
	first              *answer
}

func (k *keyed) do(t *testing.T, n *node) *answer {
	t.Helper()
	with := k.with
	if with == nil {
		with = func(*http.Request) {}
	}
	return n.do(t, k.method, k.path, k.body, header("Idempotency-Key", "the key of "+k.name), with)
}

// wantFirst checks that a repetition is answered as the first request was.
func (k *keyed) wantFirst(t *testing.T, again *answer) {
	t.Helper()
	if again.status != k.first.status {
		t.Fatalf("%s: first %d, again %d %s", k.name, k.first.status, again.status, again.body)
	}
	if len(k.first.body) == 0 && len(again.body) == 0 {
		return
	}
	var first, repeated any
	k.first.into(&first)
	again.into(&repeated)
	uncounted(first)
	uncounted(repeated)
	if !reflect.DeepEqual(first, repeated) {
		t.Errorf("%s:\nfirst %s\nagain %s", k.name, k.first.body, again.body)
	}
}

// uncounted takes out what a Connector has counted so far.
func uncounted(v any) {
	if members, ok := v.(object); ok {
		delete(members, "counters")
	}
}

// retried lists a write for each idempotent route, and several where the answer is
// put together in several ways. What they need is made first.
func retried(t *testing.T, n *node) []*keyed {
	var all []*keyed
	add := func(name, method, path string, body any) *keyed {
		k := &keyed{name: name, method: method, path: path, body: body}
		all = append(all, k)
		return k
	}
	post := func(name, path string, body any) *keyed { return add(name, "POST", path, body) }
	made := func(path string, body any) string { return n.do(t, "POST", path, body).want(201).id() }
	running := func(input any, persona string) string {
		at := "/v1/sessions/" + n.session(t) + "/tasks"
		return n.do(t, "POST", at, object{"input": input, "persona_id": persona}).want(202).id()
	}
	ended := func() string { return n.finished(t, n.session(t)) }
	large := strings.Repeat("x", 40<<10)
	withheld := object{"role": "user", "parts": []object{{"type": "text", "text": "open"},
		{"type": "text", "text": "internal", "visibility": "internal"}, {"type": "text", "text": "sealed", "visibility": "receipt_only"}}}

	inputs := map[string]any{
		"json": object{"a": 1, "b": []any{}}, "message": message("hi"), "large json": object{"a": large}, "large message": message(large), "withheld parts": withheld,
	}
	for name, input := range inputs {
		post("cancelTask "+name, "/v1/tasks/"+running(input, "persona_hold")+"/cancel", object{"reason": "enough"})
		post("submitSessionTask "+name, "/v1/sessions/"+n.session(t)+"/tasks", object{"input": input})
		post("submitTask "+name, "/v1/tasks", object{"input": input, "session_id": n.session(t)})
		post("submitTask with its session "+name, "/v1/tasks", object{"input": input, "session": object{"workspace_id": tenancy.DefaultWorkspace, "hidden": true}})
	}
	for name, input := range inputs {
		done := running(input, "persona_echo")
		n.waitEnded(t, done)
		post("replayTask "+name, "/v1/tasks/"+done+"/replay", nil)
		post("forkTask "+name, "/wharf/v1/tasks/"+done+"/fork", nil)
	}
	post("cancelTask without a body", "/v1/tasks/"+running(object{}, "persona_hold")+"/cancel", nil)
	post("cancelTask that waits", "/v1/tasks/"+n.waiting(t, running(object{}, "persona_ask"))+"/cancel", nil)
	for name, m := range map[string]any{"public": message("hi"), "withheld parts": withheld, "large": message(large)} {
		post("appendTaskMessage "+name, "/v1/tasks/"+n.waiting(t, running(object{}, "persona_ask"))+"/messages", object{"kind": "input", "message": m})
		post("appendTaskMessage interrupt "+name, "/v1/tasks/"+running(object{}, "persona_hold")+"/messages", object{"kind": "interrupt", "message": m})
		post("appendMessage "+name, "/v1/sessions/"+n.session(t)+"/messages", object{"message": m})
		asked := n.waiting(t, running(object{}, "persona_ask"))
		request := n.do(t, "GET", "/v1/tasks/"+asked+"/permission-requests", nil).ids()[0]
		post("respondPermissionRequest "+name, "/v1/permission-requests/"+request+"/respond", object{"message": m})
	}

	post("createSession", "/v1/sessions", object{"workspace_id": tenancy.DefaultWorkspace, "initial_messages": []any{message("a"), withheld}})
	session := n.session(t)
	add("updateSession", "PATCH", "/v1/sessions/"+session, object{"summary": "s"}).after = func(n *node, t *testing.T) {
		n.do(t, "PATCH", "/v1/sessions/"+session, object{"summary": "another"}).want(200)
	}
	post("truncateSession", "/v1/sessions/"+n.session(t)+"/truncate", object{"keep_turns": 0})
	post("forkSession", "/v1/sessions/"+n.session(t)+"/fork", nil)
	post("closeSession", "/v1/sessions/"+n.session(t)+"/close", nil)
	post("pauseSession", "/wharf/v1/sessions/"+n.session(t)+"/pause", nil)
	paused := "/wharf/v1/sessions/" + n.session(t)
	n.do(t, "POST", paused+"/pause", nil).want(200)
	post("resumeSession", paused+"/resume", nil)
	add("deleteSession", "DELETE", "/wharf/v1/sessions/"+n.session(t), nil)
	inbox := "/wharf/v1/sessions/" + n.session(t)
	says := func(text string) object { return object{"mode": "queue", "parts": message(text)["parts"]} }
	post("createInjection", inbox+"/injections", says("a"))
	queued := inbox + "/injections/" + made(inbox+"/injections", says("b"))
	add("replaceInjection", "PATCH", queued, object{"parts": message("c")["parts"]}).after = func(n *node, t *testing.T) {
		n.do(t, "PATCH", queued, object{"parts": message("d")["parts"]}).want(200)
	}
	add("revokeInjection", "DELETE", inbox+"/injections/"+made(inbox+"/injections", says("e")), nil)
	post("createReminder", inbox+"/reminders", object{"body": "a"})
	add("revokeReminder", "DELETE", inbox+"/reminders/"+made(inbox+"/reminders", object{"body": "b"}), nil)
	post("createBranch", "/v1/sessions/"+n.session(t)+"/branches", object{"kind": "session", "base_ref": "b"})
	branch := func() string {
		return "/wharf/v1/branches/" + n.do(t, "POST", "/v1/sessions/"+n.session(t)+"/fork", object{}).want(201).get("branch_id").(string)
	}
	post("mergeBranch", branch()+"/merge", object{})
	post("abandonBranch", branch()+"/abandon", object{})
	replayed := n.session(t)
	n.waitEnded(t, n.do(t, "POST", "/v1/sessions/"+replayed+"/tasks", object{"input": object{}}).want(202).id())
	post("replaySession", "/wharf/v1/sessions/"+replayed+"/replay", nil)
	receiptID := n.do(t, "GET", "/v1/tasks/"+ended(), nil).get("receipt_id").(string)
	post("verifyReceipt", "/v1/receipts/"+receiptID+"/verify", nil)

	post("registerArtifact", "/v1/artifacts", object{"kind": "file", "mime_type": "text/plain", "visibility": "internal", "content": "aGk="})
	add("deleteTask", "DELETE", "/wharf/v1/tasks/"+ended(), nil)
	artifact := made("/v1/artifacts", object{"kind": "file", "mime_type": "text/plain", "visibility": "internal", "content": "aGk="})
	add("deleteArtifact", "DELETE", "/wharf/v1/artifacts/"+artifact, nil)
	post("placeHold", "/wharf/v1/holds", object{"resource_id": n.session(t), "reason": "case 1"})
	held := made("/wharf/v1/holds", object{"resource_id": n.session(t), "reason": "case 2"})
	post("releaseHold", "/wharf/v1/holds/"+held+"/release", nil)
	post("createWorkspace", "/v1/workspaces", object{"name": "w", "root": "/w"})
	workspace := made("/v1/workspaces", object{"name": "w", "root": "/w"})
	add("updateWorkspace", "PATCH", "/v1/workspaces/"+workspace, object{"name": "v"}).after = func(n *node, t *testing.T) {
		n.do(t, "PATCH", "/v1/workspaces/"+workspace, object{"name": "u"}).want(200)
	}
	persona := func(name string) object {
		return object{"name": name, "version": "1", "entry_workflow": "echo", "description": "d", "autonomy_tier": "act_auto", "receipt_policy": "optional"}
	}
	post("createPersona", "/v1/personas", persona("one"))
	other := made("/v1/personas", persona("two"))
	post("clonePersona", "/wharf/v1/personas/"+other+"/clone", object{"name": "o"})
	add("updatePersona", "PATCH", "/v1/personas/"+other, object{"description": "e"}).after = func(n *node, t *testing.T) {
		n.do(t, "PATCH", "/v1/personas/"+other, object{"description": "f"}).want(200)
	}
	add("deletePersona", "DELETE", "/wharf/v1/personas/"+made("/v1/personas", persona("three")), nil)
	fact := func() object {
		return object{"scope": "workspace", "owner_id": tenancy.DefaultWorkspace, "content": "a fact", "provenance": object{}, "visibility": "internal"}
	}
	post("createMemory", "/v1/memories", fact())
	add("deleteMemory", "DELETE", "/v1/memories/"+made("/v1/memories", fact()), nil)
	post("createSkill", "/wharf/v1/skills", object{"persona_id": "persona_echo", "name": "s", "description": "d"})
	skill := made("/wharf/v1/skills", object{"persona_id": "persona_echo", "name": "t", "description": "d"})
	add("updateSkill", "PATCH", "/wharf/v1/skills/"+skill, object{"description": "e"}).after = func(n *node, t *testing.T) {
		n.do(t, "PATCH", "/wharf/v1/skills/"+skill, object{"description": "f"}).want(200)
	}
	post("createQuota", "/wharf/v1/quotas", object{"scope": "tenant", "limits": object{"tasks": 100000}})
	quota := made("/wharf/v1/quotas", object{"scope": "workspace", "owner_id": workspace, "limits": object{"tasks": 5}})
	add("updateQuota", "PATCH", "/wharf/v1/quotas/"+quota, object{"limits": object{"tasks": 6}}).after = func(n *node, t *testing.T) {
		n.do(t, "PATCH", "/wharf/v1/quotas/"+quota, object{"limits": object{"tasks": 7}}).want(200)
	}

	keep := func() object { return object{"provider": "local", "capabilities": []string{"read", "write"}} }
	post("createVault", "/v1/vaults", keep())
	store := "/wharf/v1/vaults/" + made("/v1/vaults", keep())
	add("updateVault", "PATCH", store, object{"capabilities": []string{"write"}}).after = func(n *node, t *testing.T) {
		n.do(t, "PATCH", store, object{"capabilities": []string{"write", "sign"}}).want(200)
	}
	add("storeVaultSecret", "PUT", store+"/secrets/a", object{"value": "v"}).after = func(n *node, t *testing.T) {
		n.do(t, "PUT", store+"/secrets/a", object{"value": "w"}).want(200)
	}
	n.do(t, "PUT", store+"/secrets/b", object{"value": "v"}).want(200)
	add("removeVaultSecret", "DELETE", store+"/secrets/b", nil)

	source := func() object { return object{"provider": "generic", "plugin": "sick#" + abi.DefaultExport} }
	post("createConnector", "/v1/connectors", source()).after = func(n *node, t *testing.T) {
		n.do(t, "DELETE", "/v1/connectors/"+all[len(all)-1].first.id(), nil)
	}
	connector := made("/v1/connectors", source())
	add("updateConnector", "PATCH", "/v1/connectors/"+connector, object{"name": "a"}).after = func(n *node, t *testing.T) {
		n.do(t, "PATCH", "/v1/connectors/"+connector, object{"name": "b"}).want(200)
	}
	add("deleteConnector", "DELETE", "/v1/connectors/"+made("/v1/connectors", source()), nil)
	servers := 0
	server := func() object {
		servers++
		return object{"name": fmt.Sprint("tools-", servers), "url": "https://tools.invalid/mcp"}
	}
	post("createToolServer", "/wharf/v1/tool-servers", server())
	added := "/wharf/v1/tool-servers/" + made("/wharf/v1/tool-servers", server())
	add("updateToolServer", "PATCH", added, object{"description": "a"}).after = func(n *node, t *testing.T) {
		n.do(t, "PATCH", added, object{"description": "b"}).want(200)
	}
	add("deleteToolServer", "DELETE", "/wharf/v1/tool-servers/"+made("/wharf/v1/tool-servers", server()), nil)
	bundle := func(name, version string) object {
		return object{"workspace_id": tenancy.DefaultWorkspace, "content": skillZip(name, version)}
	}
	post("installSkillBundle", "/wharf/v1/skill-bundles", bundle("one", ""))
	bundled := "/wharf/v1/skill-bundles/" + made("/wharf/v1/skill-bundles", bundle("two", ""))
	add("updateSkillBundle", "PATCH", bundled, object{"display_title": "a"}).after = func(n *node, t *testing.T) {
		n.do(t, "PATCH", bundled, object{"display_title": "b"}).want(200)
	}
	post("upgradeSkillBundle", bundled+"/versions", object{"content": skillZip("two", ""), "changelog": "c"})
	rolled := "/wharf/v1/skill-bundles/" + made("/wharf/v1/skill-bundles", bundle("three", ""))
	n.do(t, "POST", rolled+"/versions", object{"content": skillZip("three", "")}).want(200)
	post("rollbackSkillBundle", rolled+"/rollback", object{"version": "1.0.0"})
	add("uninstallSkillBundle", "DELETE", "/wharf/v1/skill-bundles/"+made("/wharf/v1/skill-bundles", bundle("four", "")), nil)
	const plugins = "/wharf/v1/plugins/"
	wasm := header("Content-Type", "application/wasm")
	installed := func(name string) string {
		for _, module := range []string{"one", "two"} {
			n.do(t, "POST", plugins+name+"/versions", []byte(module+name), wasm).want(200)
		}
		return plugins + name
	}
	post("installPlugin", plugins+"a/versions?version=1.0", []byte("a module")).with = wasm
	post("rollbackPlugin", installed("b")+"/rollback", object{})
	post("disablePlugin", installed("c")+"/disable", nil)
	post("enablePlugin", installed("d")+"/enable", nil)
	n.do(t, "POST", plugins+"d/disable", nil).want(200)
	add("removePlugin", "DELETE", installed("e"), nil)
	receiver := func() object { return object{"url": "https://receiver.invalid", "events": []string{"task.none"}} }
	post("createWebhook", "/wharf/v1/webhooks", receiver())
	hook := "/wharf/v1/webhooks/" + made("/wharf/v1/webhooks", receiver())
	add("updateWebhook", "PATCH", hook, object{"description": "a"}).after = func(n *node, t *testing.T) {
		n.do(t, "PATCH", hook, object{"description": "b"}).want(200)
	}
	post("rotateWebhook", hook+"/rotate", object{"overlap_seconds": 600})
	add("deleteWebhook", "DELETE", "/wharf/v1/webhooks/"+made("/wharf/v1/webhooks", receiver()), nil)
	post("redriveWebhookDelivery", n.deadDelivery(t)+"/redrive", nil)
	dead := n.deadLetters(t, connector)
	post("redriveDeadLetter", "/wharf/v1/connectors/"+connector+"/dead-letters/"+dead+"/redrive", nil)
	return all
}

// waitEnded waits for the end of a Task.
func (n *node) waitEnded(t *testing.T, task string) {
	t.Helper()
	if _, err := io.ReadAll(n.open(t, "/v1/tasks/"+task+"/stream").Body); err != nil {
		t.Fatal(err)
	}
}

// waiting returns the Task once it waits for input.
func (n *node) waiting(t *testing.T, task string) string {
	t.Helper()
	n.until(t, "/v1/tasks/"+task+"/stream", "task.input_required")
	return task
}

// deadLetters has a Connector put a delivery aside, and returns its id.
func (n *node) deadLetters(t *testing.T, connector string) string {
	t.Helper()
	n.do(t, "POST", "/v1/connectors/"+connector+"/deliveries", "sick", header("Content-Type", "text/plain"), header("webhook-id", "1")).want(202)
	n.until(t, "/v1/events/stream", "vendor.wharf.delivery_dead")
	return n.do(t, "GET", "/wharf/v1/connectors/"+connector+"/dead-letters", nil).ids()[0]
}

// deadDelivery has a Webhook's delivery given up, and returns its path.
func (n *node) deadDelivery(t *testing.T) string {
	t.Helper()
	gone := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusGone) }))
	defer gone.Close()
	hook := "/wharf/v1/webhooks/" + n.do(t, "POST", "/wharf/v1/webhooks", object{"url": gone.URL, "events": []string{"task.completed"}}).want(201).id()
	n.finished(t, n.session(t))
	n.until(t, "/v1/events/stream", "vendor.wharf.webhook_delivery_dead")
	return hook + "/deliveries/" + n.do(t, "GET", hook+"/deliveries?status=DEAD", nil).ids()[0]
}

func (n *node) open(t *testing.T, path string) *http.Response {
	t.Helper()
	resp, err := http.DefaultClient.Do(n.request(t, "GET", path, nil))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return resp
}

// until reads a stream until an event of a kind comes.
func (n *node) until(t *testing.T, path, kind string) {
	t.Helper()
	resp := n.open(t, path)
	defer resp.Body.Close()
	seen := ""
	for buf := make([]byte, 4096); !strings.Contains(seen, "event: "+kind+"\n"); {
		got, err := resp.Body.Read(buf)
		if seen += string(buf[:got]); err != nil {
			t.Fatalf("%s did not come on %s: %v", kind, path, err)
		}
	}
}

// TestEveryRetryIsAnsweredAsAtFirst holds it for every idempotent route: at once, after
// the resource has changed, and after a restart.
func TestEveryRetryIsAnsweredAsAtFirst(t *testing.T) {
	disk, dir := crashtest.NewDisk(), t.TempDir()
	var all []*keyed
	t.Run("before", func(t *testing.T) {
		n := bootWhole(t, disk, dir)
		all = retried(t, n)
		covered := map[string]bool{"redriveDeadLetters": true, "redriveWebhookDeliveries": true} // a page: each retry drives what is left
		for _, k := range all {
			operation, _, _ := strings.Cut(k.name, " ")
			covered[operation] = true
			if k.first = k.do(t, n); k.first.status >= 300 || k.first.header.Get("Idempotent-Replayed") != "" {
				t.Fatalf("%s: %d %s", k.name, k.first.status, k.first.body)
			}
			k.wantFirst(t, k.do(t, n))
		}
		for _, r := range n.server.Routes() {
			if r.Idempotent && !covered[r.Operation] {
				t.Errorf("%s takes a key and is not tried", r.Operation)
			}
		}
		for _, k := range all {
			if k.after != nil {
				k.after(n, t)
			}
			k.wantFirst(t, k.do(t, n))
		}
	})
	t.Run("after", func(t *testing.T) {
		n := bootWhole(t, disk, dir)
		for _, k := range all {
			k.wantFirst(t, k.do(t, n))
		}
	})
}

// TestRetriedCommandsAreAnsweredAsAtFirst holds it for the commands of a WebSocket.
func TestRetriedCommandsAreAnsweredAsAtFirst(t *testing.T) {
	n := newNode(t)
	session := n.session(t)
	s, _ := n.connect(t, connectPath(session))
	at := "/v1/sessions/" + session + "/tasks"
	for name, input := range map[string]any{"json": object{"a": 1}, "large": object{"a": strings.Repeat("x", 40<<10)}, "message": message("hi")} {
		task := n.do(t, "POST", at, object{"input": input, "persona_id": "persona_hold"}).want(202).id()
		for kind, more := range map[string]object{
			"task.submit": {"input": input}, "message": {"message": message("m")}, "session.truncate": {"keep_turns": 100}, "task.cancel": {"task_id": task},
		} {
			more["idempotency_key"] = kind + " " + name
			first, again := s.do(kind, more), s.do(kind, more)
			if first.Again || !again.Again || !reflect.DeepEqual(first.Resource, again.Resource) || kind == "task.cancel" && first.Resource["input"] == nil {
				t.Errorf("%s %s:\nfirst %v\nagain %v", name, kind, first.Resource, again.Resource)
			}
		}
	}
}
