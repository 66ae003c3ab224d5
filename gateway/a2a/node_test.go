package a2a_test

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/gateway/a2a"
	"github.com/wharf-dev/wharf/gateway/api"
	"github.com/wharf-dev/wharf/gateway/internal/gatewaytest"
	"github.com/wharf-dev/wharf/runtime/engine"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/provider/tool"
	"github.com/wharf-dev/wharf/runtime/provider/vault"
	"github.com/wharf-dev/wharf/runtime/sandbox"
	"github.com/wharf-dev/wharf/storage/pebble/crashtest"
)

// patience bounds what a test waits for that should come at once.
const patience = 30 * time.Second

// node is a whole node behind a loopback listener.
type node struct {
	*enginetest.Node
	server *gateway.Server
	url    string
	stop   func()
	log    gatewaytest.Log
}

// newNode starts a node whose Tasks are echoed unless they name a Persona: that of the guest "ask"
// has the id persona_ask.
func newNode(t testing.TB, guests enginetest.Guests) *node {
	t.Helper()
	return startNode(t, crashtest.NewDisk(), t.TempDir(), guests, a2a.Node{})
}

// startNode starts a node on a disk and with a folder for secrets; a second one on the same stands for a
// restart.
func startNode(t testing.TB, disk *crashtest.Disk, dir string, guests enginetest.Guests, has a2a.Node, configure ...enginetest.Configure) *node {
	t.Helper()
	all := enginetest.Guests{"echo": enginetest.Echo}
	for name, g := range guests {
		all[name] = g
	}
	n := &node{}
	n.Node = enginetest.Boot(t, disk, all, func(c *engine.Config, p *engine.Parts) {
		c.Webhooks.Private, c.Webhooks.First = true, time.Millisecond
		p.ShowEvent, p.WebhookFormats = api.Links{}.PublicEvent, []api.WebhookFormat{a2a.WebhookFormat("http://wharf.example")}
		p.Log = slog.New(slog.DiscardHandler)
		p.Vaults = vault.New(vault.Config{Dir: filepath.Join(dir, "vaults"), KeyFile: filepath.Join(dir, "vault.age"), Log: p.Log})
		root, err := os.OpenRoot(dir)
		if err != nil {
			t.Fatal(err)
		}
		p.Files = root
		p.AddedTools = tool.NewAdded()
		tools := tool.New(tool.Config{Added: p.AddedTools, Log: p.Log})
		p.Performers = map[string]provider.Performer{abi.CallToolCall: tools, abi.CallToolList: tools}
		for _, change := range configure {
			change(c, p)
		}
	})
	n.listen(t, has)
	return n
}

// listen starts the front door, and stops it with the engine at the end of the test, or before.
func (n *node) listen(t testing.TB, has a2a.Node) {
	t.Helper()
	cfg := gateway.Config{Node: "test", Version: "0.0.0"}
	n.server = gateway.New(cfg, n.Engine, slog.New(slog.NewTextHandler(&n.log, nil)), a2a.New(cfg, api.New(n.Engine, cfg.Turns), has))
	n.url, n.stop = gatewaytest.Serve(t, n, n.server, patience)
}

// key makes an API key, bound to Workspaces or not.
func (n *node) key(t testing.TB, tenant string, scopes []string, workspaces ...string) string {
	t.Helper()
	made, err := n.CreateKey(t.Context(), n.Root, abi.CreateKeyRequest{Name: "k", Tenant: tenant, Scopes: scopes, WorkspaceIDs: workspaces})
	if err != nil {
		t.Fatal(err)
	}
	return gatewaytest.KeyOf(t, made.JSON)
}

// object is a JSON object.
type object = map[string]any

// answer is a response, read whole.
type answer struct {
	t      testing.TB
	status int
	header http.Header
	body   []byte
}

type option = func(*http.Request)

func header(name, value string) option {
	return func(r *http.Request) {
		if r.Header.Del(name); value != "" {
			r.Header.Set(name, value)
		}
	}
}

// by sends a request with another key than the root's; "" with none.
func by(key string) option {
	if key == "" {
		return header("Authorization", "")
	}
	return header("Authorization", "Bearer "+key)
}

// open makes a request and leaves its answer to be read.
func (n *node) open(t testing.TB, method, path string, body any, options ...option) *http.Response {
	t.Helper()
	var content io.Reader
	switch b := body.(type) {
	case nil:
	case string:
		content = strings.NewReader(b)
	default:
		text, err := json.Marshal(b)
		if err != nil {
			t.Fatal(err)
		}
		content = bytes.NewReader(text)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, method, n.url+path, content)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+enginetest.RootKey)
	for _, o := range options {
		o(r)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// do makes a request as a client would.
func (n *node) do(t testing.TB, method, path string, body any, options ...option) answer {
	t.Helper()
	res := n.open(t, method, path, body, options...)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{t, res.StatusCode, res.Header, text}
}

// rpc calls a method by JSON-RPC.
func (n *node) rpc(t testing.TB, method string, params any, options ...option) answer {
	t.Helper()
	return n.do(t, "POST", "/a2a", object{"jsonrpc": "2.0", "id": "i", "method": method, "params": params}, options...)
}

// want wants a status.
func (a answer) want(status int) answer {
	a.t.Helper()
	if a.status != status {
		a.t.Fatalf("answered %d, want %d: %s", a.status, status, a.body)
	}
	return a
}

// fails wants an error of JSON-RPC with a code, and returns its message.
func (a answer) fails(code int) string {
	a.t.Helper()
	if got, _ := a.get("error.code").(float64); int(got) != code {
		a.t.Fatalf("answered %s, want the code %d", a.body, code)
	}
	return a.text("error.message")
}

// get returns a member of the answer by its path: "result.task.id", "tasks.0.id". Missing is nil.
func (a answer) get(path string) (v any) {
	a.t.Helper()
	if err := json.Unmarshal(a.body, &v); err != nil {
		a.t.Fatalf("%v: %s", err, a.body)
	}
	for name := range strings.SplitSeq(path, ".") {
		switch in := v.(type) {
		case object:
			v = in[name]
		case []any:
			i, err := strconv.Atoi(name)
			if v = nil; err == nil && i < len(in) {
				v = in[i]
			}
		default:
			return nil
		}
	}
	return v
}

// text returns a member that is a text.
func (a answer) text(path string) string {
	a.t.Helper()
	s, ok := a.get(path).(string)
	if !ok {
		a.t.Fatalf("%s is no text in %s", path, a.body)
	}
	return s
}

// says is a message of text, of 1.0.
func says(id, text string) object {
	return object{"messageId": id, "role": "ROLE_USER", "parts": []object{{"text": text}}}
}

// with returns an object with more members.
func with(o object, more object) object {
	all := object{}
	for _, from := range []object{o, more} {
		for name, value := range from {
			all[name] = value
		}
	}
	return all
}

// as asks for a Persona.
func as(guest string) object {
	return object{"wharf": object{"persona_id": "persona_" + guest}}
}

// frame is an event of a stream.
type frame struct {
	id, event string
	data      answer
}

// frames reads a stream until it ends, or visit returns false.
func frames(t testing.TB, res *http.Response, visit func(frame) bool) {
	t.Helper()
	defer res.Body.Close()
	if res.StatusCode != 200 || !strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		text, _ := io.ReadAll(res.Body)
		t.Fatalf("answered %d, %s: %s", res.StatusCode, res.Header.Get("Content-Type"), text)
	}
	lines, f := bufio.NewScanner(res.Body), frame{}
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), ": ")
		switch name {
		case "id":
			f.id = value
		case "event":
			f.event = value
		case "data":
			f.data = answer{t: t, status: 200, body: []byte(value)}
		case "":
			if f.data.body != nil && !visit(f) {
				return
			}
			f = frame{}
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
}

// states reads the states that a stream tells, and what else it tells, of whichever version.
func states(t testing.TB, res *http.Response) (told []string) {
	t.Helper()
	frames(t, res, func(f frame) bool {
		told = append(told, f.told())
		return true
	})
	return told
}

// told says in one word what a frame tells.
func (f frame) told() string {
	in := ""
	if f.data.get("jsonrpc") != nil {
		in = "result."
	}
	for _, kind := range []string{"task", "statusUpdate"} {
		if state, ok := f.data.get(in + kind + ".status.state").(string); ok {
			return kind + " " + strings.TrimPrefix(state, "TASK_STATE_")
		}
	}
	if id, ok := f.data.get(in + "artifactUpdate.artifact.artifactId").(string); ok {
		return "artifact " + id
	}
	if kind, ok := f.data.get(in + "kind").(string); ok {
		state, _ := f.data.get(in + "status.state").(string)
		return strings.TrimSpace(kind + " " + state)
	}
	return string(f.data.body)
}

// wantTold wants what a stream tells, in its order.
func wantTold(t testing.TB, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("told %q, want %q", got, want)
	}
}

// call makes a host call that is to succeed.
func call(ctx context.Context, h sandbox.Host, name, request string) error {
	return enginetest.Call(ctx, h, name, request)
}

// asking asks for a number, and says what it was told.
func asking(ctx context.Context, h sandbox.Host) error {
	if err := call(ctx, h, abi.CallInputRequest, `{"call_id":"n","prompt":"Which port?","schema":{"type":"integer"}}`); err != nil {
		return err
	}
	return enginetest.Echo(ctx, h)
}

// busy tells everything that a Task can.
func busy(ctx context.Context, h sandbox.Host) error {
	for _, c := range []struct{ name, request string }{
		{abi.CallProgress, `{"fraction":0.5,"message":"half way"}`},
		{abi.CallPlan, `{"steps":[{"title":"look","status":"completed"},{"title":"leap","status":"pending"}]}`},
		{abi.CallArtifactPut, `{"kind":"file","mime_type":"text/plain","name":"a.txt"}` + "\nhello"},
	} {
		if err := call(ctx, h, c.name, c.request); err != nil {
			return err
		}
	}
	return enginetest.Echo(ctx, h)
}
