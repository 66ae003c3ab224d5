package openharness_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/engine"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/harnesses"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/provider/tool"
	"github.com/wharf-dev/wharf/runtime/provider/vault"
	"github.com/wharf-dev/wharf/runtime/sandbox"
	"github.com/wharf-dev/wharf/storage/pebble/crashtest"
)

// The keys that another server is asked with, and that nothing may tell.
const (
	storedCanary = "canary-stored-4712"
	ownCanary    = "canary-own-4713"
)

// elsewhere is a server of the protocol that takes any key, and says what it was asked, and with which. Its
// executions end when they are let.
type elsewhere struct {
	url   string
	asked chan string
	over  chan struct{}
}

func newElsewhere(t testing.TB) *elsewhere {
	e := &elsewhere{asked: make(chan string, 1000), over: make(chan struct{})}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := r.Method + " " + strings.TrimPrefix(r.URL.Path, "/v1/harnesses/there")
		answer := map[string]string{"GET ": `{"harness":{}}`, "POST /execute": `{"execution_id":"exec_1"}`, "GET /executions/exec_1": `{"execution":{"status":"running"}}`,
			"GET /executions/exec_1/result": `{"result":{"output":"done there"}}`, "POST /executions/exec_1/cancel": `{"cancelled":true}`}[path]
		select {
		case <-e.over:
			answer = strings.ReplaceAll(answer, "running", "completed")
		default:
		}
		e.asked <- path + " " + strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(answer))
	}))
	t.Cleanup(s.Close)
	e.url = s.URL + "/v1/harnesses/there"
	return e
}

// until waits for a request, and returns it with its key.
func (e *elsewhere) until(path string) string {
	for {
		if got := <-e.asked; strings.HasPrefix(got, path+" ") {
			return strings.TrimPrefix(got, path+" ")
		}
	}
}

// hostingIn is a node that asks other servers as the bundled plugin does, and whose vaults are in a folder
// that outlives it.
func hostingIn(t testing.TB, disk *crashtest.Disk, dir string, private bool) *node {
	t.Helper()
	remote := harnesses.NewRemote(private)
	tools := tool.New(tool.Config{Servers: map[string]tool.Server{harnesses.ServerRemote: remote}, Grants: map[string][]string{"agent": {"remote:*"}}})
	agent := func(ctx context.Context, h sandbox.Host) error {
		if err := call(ctx, h, abi.CallToolCall, `{"server":"remote","name":"run","arguments":{"message":"hi"}}`); err != nil {
			return err
		}
		for {
			status, answer, err := h.Call(ctx, abi.CallToolCall, []byte(`{"server":"remote","name":"wait","arguments":{"execution_id":"exec_1"}}`))
			if err != nil { // the node is going down: the task goes on later
				return err
			}
			if status != abi.CallOK {
				return &abi.Failure{Code: "remote_failed", Message: string(answer)}
			}
			if strings.Contains(string(answer), "completed") {
				break
			}
		}
		if err := call(ctx, h, abi.CallToolCall, `{"server":"remote","name":"result","arguments":{"execution_id":"exec_1"}}`); err != nil {
			return err
		}
		return call(ctx, h, abi.CallOutput, `{"summary":"done there"}`)
	}
	return startNode(t, disk, enginetest.Guests{"agent": agent}, gateway.Config{}, func(c *engine.Config, p *engine.Parts) {
		c.Harnesses.Private, p.RemoteHarnesses = private, remote
		p.Performers = map[string]provider.Performer{abi.CallToolCall: tools, abi.CallToolList: tools}
		p.Vaults = vault.New(vault.Config{Dir: filepath.Join(dir, "vaults"), KeyFile: filepath.Join(dir, "vault.age"), Log: p.Log})
	})
}

// crash returns what a crash leaves of a node's disk. The node itself does nothing more: its vaults are those of the next.
func (n *node) crash(t testing.TB) *crashtest.Disk {
	t.Helper()
	disk := n.Disk.Crash(1, 0)
	now, cancel := context.WithCancel(context.Background())
	cancel()
	if err := n.Drain(now); err != nil {
		t.Fatal(err)
	}
	return disk
}

// far registers a hosted harness at a server, with a key that is stored.
func (n *node) far(t testing.TB, url string) {
	t.Helper()
	n.do(t, "POST", "", map[string]any{"id": "far", "name": "Far", "vendor": "v", "description": "d", "execution_type": "hosted", "config": map[string]any{"base_url": url}}).want(201)
	if a := n.do(t, "POST", "/far/validate-credentials", map[string]any{"api_key": storedCanary, "store": true}).want(200); a.get("stored") != true {
		t.Fatalf("%s", a.body)
	}
}

// values returns how many values of secrets a folder of vaults has.
func values(t testing.TB, dir string) int {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "vaults", "*", "*.age"))
	if err != nil {
		t.Fatal(err)
	}
	return len(files)
}

// hides looks for the keys in everything that the node has written of its work.
func (n *node) hides(t testing.TB) {
	t.Helper()
	events, _, err := n.Events(t.Context(), n.Root, desk.Filter{}, 0, 10_000)
	if err != nil {
		t.Fatal(err)
	}
	for _, ev := range events {
		if rec := ev.Record(); strings.Contains(string(rec.State)+string(rec.Payload), "canary") {
			t.Errorf("the log has a key in %s", rec.Kind)
		}
	}
	if strings.Contains(n.log.String(), "canary") {
		t.Error("the node's log has a key")
	}
}

// The credentials of one request are for its execution alone: over a crash of the node, at the address that
// came with them, and gone with its end. Nothing tells them.
func TestCredentialsOfOneRequest(t *testing.T) {
	stored, own, dir := newElsewhere(t), newElsewhere(t), t.TempDir()
	n := hostingIn(t, crashtest.NewDisk(), dir, true)
	n.far(t, stored.url)
	stored.until("GET ")
	before := values(t, dir)
	body := map[string]any{"message": "hi", "harness_credentials": map[string]any{"api_key": ownCanary, "base_url": own.url}}
	made := n.do(t, "POST", "/far/execute", body, header("Idempotency-Key", "k-1")).want(202)
	id := made.text("execution_id")
	if again := n.do(t, "POST", "/far/execute", body, header("Idempotency-Key", "k-1")).want(202); again.text("execution_id") != id {
		t.Errorf("the same request has begun %s", again.body)
	}
	body["harness_credentials"] = map[string]any{"api_key": "another"}
	n.do(t, "POST", "/far/execute", body, header("Idempotency-Key", "k-1")).fails(409, "CONFLICT")
	if key := own.until("POST /execute"); key != ownCanary {
		t.Errorf("the execution is begun with %q", key)
	}
	if got := values(t, dir); got != before+1 {
		t.Errorf("%d values are kept, and %d before", got, before)
	}
	n.hides(t)

	n = hostingIn(t, n.crash(t), dir, true)
	for len(own.asked) > 0 {
		<-own.asked
	}
	if key := own.until("GET /executions/exec_1"); key != ownCanary {
		t.Errorf("after the crash the server is asked with %q", key)
	}
	close(own.over)
	if task := n.Wait(t, id); task.Status != abi.TaskCompleted {
		t.Errorf("it ended as %s: %+v", task.Status, task.Failure)
	}
	if got := values(t, dir); got != before {
		t.Errorf("%d values are left, and there were %d", got, before)
	}
	if len(stored.asked) > 0 {
		t.Errorf("the harness's own server is asked %s", <-stored.asked)
	}
	close(stored.over)
	n.do(t, "POST", "/far/execute", `{"message":"hi"}`).want(202)
	if key := stored.until("POST /execute"); key != storedCanary {
		t.Errorf("another execution is begun with %q", key)
	}
	n.hides(t)
}

func TestCredentialsAreRefused(t *testing.T) {
	e, dir := newElsewhere(t), t.TempDir()
	n := hostingIn(t, crashtest.NewDisk(), dir, true)
	n.far(t, e.url)
	before := values(t, dir)
	for credentials, param := range map[string]string{
		`{}`: "harness_credentials.api_key", `{"api_key":"a b"}`: "harness_credentials.api_key", `{"base_url":"` + e.url + `"}`: "harness_credentials.api_key",
		`{"api_key":"` + strings.Repeat("k", 4097) + `"}`: "harness_credentials.api_key", `{"api_key":"k","base_url":"ftp://x"}`: "harness_credentials.base_url",
		`{"api_key":5}`: "", `[]`: "",
	} {
		a := n.do(t, "POST", "/far/execute", `{"message":"hi","harness_credentials":`+credentials+`}`)
		if a.fails(400, "VALIDATION_ERROR"); param != "" && a.text("error.details.param") != param {
			t.Errorf("%s: %s", credentials, a.body)
		}
	}
	const some = `"harness_credentials":{"api_key":"` + ownCanary + `"}}`
	session := n.do(t, "POST", "/wharf/sessions", `{}`).want(201).text("session.id")
	for path, body := range map[string]string{
		"/wharf/execute": `{"message":"hi",`, "/wharf/execute/stream": `{"message":"hi",`, "/wharf/sessions/" + session + "/message": `{"content":"hi",`,
		"/wharf/sessions/" + session + "/message/stream": `{"content":"hi",`,
	} {
		n.do(t, "POST", path, body+some).fails(400, "VALIDATION_ERROR")
	}
	h, err := n.Harness(t.Context(), n.Root, "far")
	if err != nil {
		t.Fatal(err)
	}
	n.do(t, "POST", "/far/execute", `{"message":"hi","session_id":"`+n.sessionIn(t, h.WorkspaceID)+`",`+some).fails(400, "VALIDATION_ERROR")
	n.do(t, "POST", "/far/execute", `{"message":"hi","model":"none",`+some).fails(400, "model_not_available")
	n.do(t, "POST", "/far/execute", `{"message":"hi","agent_id":"persona_none",`+some).want(404)
	if got := values(t, dir); got != before {
		t.Errorf("%d values are left of what was refused, and there were %d", got, before)
	}
	n.hides(t)

	guarded := hostingIn(t, crashtest.NewDisk(), t.TempDir(), false)
	guarded.do(t, "POST", "", `{"id":"far","name":"Far","vendor":"v","description":"d","execution_type":"hosted","config":{"base_url":"https://example.com"}}`).want(201)
	guarded.do(t, "POST", "/far/execute", `{"message":"hi","harness_credentials":{"api_key":"k","base_url":"`+e.url+`"}}`).fails(400, "VALIDATION_ERROR")
}

// A cancel is passed on: once, with the key that the execution was begun with, also where an earlier life of the
// node has begun it.
func TestCancelIsPassedOn(t *testing.T) {
	for name, crash := range map[string]bool{"at once": false, "after a crash": true} {
		t.Run(name, func(t *testing.T) {
			e, dir := newElsewhere(t), t.TempDir()
			n := hostingIn(t, crashtest.NewDisk(), dir, true)
			n.far(t, e.url)
			id := n.do(t, "POST", "/far/execute", `{"message":"hi","harness_credentials":{"api_key":"`+ownCanary+`"}}`).want(202).text("execution_id")
			e.until("GET /executions/exec_1")
			if crash {
				n = hostingIn(t, n.crash(t), dir, true)
				for len(e.asked) > 0 {
					<-e.asked
				}
				e.until("GET /executions/exec_1")
			}
			n.do(t, "POST", "/far/executions/"+id+"/cancel", nil).want(200)
			if key := e.until("POST /executions/exec_1/cancel"); key != ownCanary {
				t.Errorf("it is cancelled with %q", key)
			}
			n.do(t, "POST", "/far/executions/"+id+"/cancel", nil)
			if task := n.Wait(t, id); task.Status != abi.TaskCanceled {
				t.Errorf("it ended as %s", task.Status)
			}
			n.hides(t)
		})
	}
}

// What has ended at the other server is not cancelled there.
func TestWhatHasEndedIsNotCancelled(t *testing.T) {
	e := newElsewhere(t)
	close(e.over)
	n := hostingIn(t, crashtest.NewDisk(), t.TempDir(), true)
	n.far(t, e.url)
	id := n.do(t, "POST", "/far/execute", `{"message":"hi"}`).want(202).text("execution_id")
	n.Wait(t, id)
	n.do(t, "POST", "/far/execute", `{"message":"again"}`).want(202)
	for asked := 0; asked < 2; { // the second execution comes after whatever the end of the first has caused
		got := <-e.asked
		if strings.Contains(got, "cancel") {
			t.Error("it is cancelled there")
		}
		if strings.HasPrefix(got, "GET /executions/exec_1/result") {
			asked++
		}
	}
}
