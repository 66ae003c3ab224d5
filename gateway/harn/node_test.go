package harn_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wharf-dev/wharf/runtime/provider/vault"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/gateway/api"
	"github.com/wharf-dev/wharf/gateway/harn"
	"github.com/wharf-dev/wharf/gateway/internal/gatewaytest"
	"github.com/wharf-dev/wharf/runtime/engine"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/owntools"
	"github.com/wharf-dev/wharf/runtime/provider/tool"
	"github.com/wharf-dev/wharf/runtime/sandbox"
	"github.com/wharf-dev/wharf/runtime/tenancy"
	"github.com/wharf-dev/wharf/storage/pebble/crashtest"
)

// patience bounds what a test waits for that should come at once.
const patience = 30 * time.Second

// echo answers with a public and an internal part.
func echo(ctx context.Context, h sandbox.Host) error {
	if err := enginetest.Call(ctx, h, abi.CallMessageAppend, `{"role":"assistant","parts":[{"type":"text","text":"hello"},
		{"type":"text","text":"the hidden thought","visibility":"internal"},
		{"type":"text","text":"the sealed proof","visibility":"receipt_only"}]}`); err != nil {
		return err
	}
	return enginetest.Call(ctx, h, abi.CallOutput, `{"summary":"said hello"}`)
}

// keep keeps something for the Session, and remembers something.
func keep(ctx context.Context, h sandbox.Host) error {
	if err := enginetest.Call(ctx, h, abi.CallStateSet, `{"key":"k","value":"the kept value"}`); err != nil {
		return err
	}
	return enginetest.Call(ctx, h, abi.CallMemoryWrite, `{"scope":"session","content":"the kept fact"}`)
}

// node is a whole node behind a loopback listener.
type node struct {
	*enginetest.Node
	recorded *recorded
	corp     *corp // an issuer whose tokens the node takes
	server   *gateway.Server
	logged   gatewaytest.Log // by the gateway
	url      string
	addr     string
	held     chan struct{}    // receives when the persona "hold" runs
	leave    chan struct{}    // lets one run of it end
	crowd    enginetest.Guest // what the persona "crowd" does
	schema   *schemas
	offers   *tool.Clients // what clients offer to Tasks
	has      harn.Node
	extra    *swapped // the server of tools "extra"
}

// swapped is a server of tools that tests put another in the place of.
type swapped struct{ tool.Server }

func newNode(t testing.TB, configure ...func(*gateway.Config)) *node {
	t.Helper()
	return startNode(t, nil, configure...)
}

// newNodeWith starts a node that has something else besides its engine.
func newNodeWith(t testing.TB, has harn.Node) *node {
	t.Helper()
	return startNode(t, &has)
}

func startNode(t testing.TB, has *harn.Node, configure ...func(*gateway.Config)) *node {
	t.Helper()
	n := &node{corp: newCorp(t), held: make(chan struct{}, 1000), leave: make(chan struct{})}
	added := tool.NewAdded()
	names := enginetest.Guests{"echo": echo, "hold": n.hold, "keep": keep, "crowd": func(ctx context.Context, h sandbox.Host) error { return n.crowd(ctx, h) }}
	n.Node = enginetest.Boot(t, crashtest.NewDisk(), names, func(_ *engine.Config, p *engine.Parts) {
		p.Keys = nil // the receipts are those of recorded
		p.Log, p.Tokens = slog.New(slog.DiscardHandler), n.corp.tokens(t)
		p.AddedTools = added
		p.Vaults = vault.New(vault.Config{Dir: filepath.Join(t.TempDir(), "vaults"), KeyFile: filepath.Join(t.TempDir(), "vault.age"), Log: p.Log})
	})
	n.recorded = &recorded{Engine: n.Engine}
	n.extra = &swapped{owntools.Server{}}
	servers := map[string]tool.Server{"extra": n.extra}
	for name, own := range owntools.All(names.Personas()) {
		servers[name] = own
	}
	n.has.Tools = tool.New(tool.Config{Servers: servers, Added: added, Grants: map[string][]string{"echo": {"host:*", "extra:*"}, "keep": {"skills:persona_k*", "extra:a*"}}})
	if has != nil {
		n.has = *has
	}
	n.listen(t, configure...)
	return n
}

// listen starts the front door and stops everything at the end of the test.
func (n *node) listen(t testing.TB, configure ...func(*gateway.Config)) {
	t.Helper()
	cfg := gateway.Config{Node: "test", Version: "0.0.0"}
	for _, f := range configure {
		f(&cfg)
	}
	n.offers = tool.NewClients(tool.Limits{}, tool.Hints{})
	core := api.Core(n.Engine)
	if n.recorded != nil {
		core = n.recorded
	}
	n.server = gateway.New(cfg, n.Engine, slog.New(slog.NewTextHandler(&n.logged, nil)), harn.New(cfg, api.New(core, cfg.Turns)).WithClients(n.offers).WithNode(n.has))
	n.schema = newSchemas(t, n.server)
	n.url, _ = gatewaytest.Serve(t, n, n.server, patience)
	n.addr = strings.TrimPrefix(n.url, "http://")
}

func (n *node) hold(ctx context.Context, h sandbox.Host) error {
	return enginetest.Hold(n.held, n.leave, echo)(ctx, h)
}

// header sets a request header; an empty value removes it.
func header(name, value string) func(*http.Request) {
	return func(r *http.Request) {
		if value == "" {
			r.Header.Del(name)
			return
		}
		r.Header.Set(name, value)
	}
}

func key(k string) func(*http.Request) { return header("Authorization", "Bearer "+k) }

// answer is a response, read whole.
type answer struct {
	t      testing.TB
	status int
	header http.Header
	body   []byte
}

// request makes a request as a well-behaved client would. body is nil, a string
// that is sent as it is, or a value that is sent as JSON.
func (n *node) request(t testing.TB, method, path string, body any, options ...func(*http.Request)) *http.Request {
	t.Helper()
	var content io.Reader
	switch b := body.(type) {
	case nil:
	case string:
		content = strings.NewReader(b)
	case []byte:
		content = bytes.NewReader(b)
	default:
		text, err := json.Marshal(b)
		if err != nil {
			t.Fatal(err)
		}
		content = bytes.NewReader(text)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*patience)
	t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, method, n.url+path, content)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+enginetest.RootKey)
	r.Header.Set(abi.VersionHeader, abi.ProtocolVersion)
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	for _, o := range options {
		o(r)
	}
	return r
}

// do makes a request and checks what holds for every answer: it has a request id,
// and it is what the OpenAPI document says.
func (n *node) do(t testing.TB, method, path string, body any, options ...func(*http.Request)) *answer {
	t.Helper()
	return n.send(t, n.request(t, method, path, body, options...))
}

func (n *node) send(t testing.TB, r *http.Request) *answer {
	t.Helper()
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	content, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	a := &answer{t, resp.StatusCode, resp.Header, content}
	if id := a.header.Get("X-Request-Id"); !strings.HasPrefix(id, "req_") || len(id) != len("req_")+26 {
		t.Errorf("%s %s: X-Request-Id %q", r.Method, r.URL, id)
	}
	n.schema.check(t, r, a)
	return a
}

func (a *answer) want(status int) *answer {
	a.t.Helper()
	if a.status != status {
		a.t.Fatalf("status %d, want %d: %s", a.status, status, a.body)
	}
	return a
}

// wantError checks the error envelope and returns the error.
func (a *answer) wantError(status int, code abi.ErrorCode) *abi.Error {
	a.t.Helper()
	a.want(status)
	var envelope abi.ErrorEnvelope
	a.into(&envelope)
	if envelope.Error == nil || envelope.Error.Code != code || envelope.Error.Type != code.Class().Type || envelope.Error.Message == "" {
		a.t.Fatalf("error %s, want code %s", a.body, code)
	}
	if envelope.Error.RequestID != a.header.Get("X-Request-Id") {
		a.t.Errorf("request_id %q in the body, %q in the header", envelope.Error.RequestID, a.header.Get("X-Request-Id"))
	}
	return envelope.Error
}

func (a *answer) into(v any) {
	a.t.Helper()
	if err := json.Unmarshal(a.body, v); err != nil {
		a.t.Fatalf("%v: %s", err, a.body)
	}
}

// get returns the value of a member, by its path.
func (a *answer) get(path ...string) any {
	a.t.Helper()
	var v any
	a.into(&v)
	for _, name := range path {
		members, ok := v.(map[string]any)
		if !ok {
			a.t.Fatalf("no member %v in %s", path, a.body)
		}
		v = members[name]
	}
	return v
}

func (a *answer) id() string {
	a.t.Helper()
	id, _ := a.get("id").(string)
	if id == "" {
		a.t.Fatalf("no id in %s", a.body)
	}
	return id
}

// ids lists the resources of a list.
func (a *answer) ids() (ids []string) {
	a.t.Helper()
	for _, item := range a.want(200).get("data").([]any) {
		ids = append(ids, item.(map[string]any)["id"].(string))
	}
	return ids
}

type object = map[string]any

func message(words string) object {
	return object{"role": "user", "parts": []object{{"type": "text", "text": words}}}
}

func (n *node) session(t testing.TB) string {
	t.Helper()
	return n.do(t, "POST", "/v1/sessions", object{"workspace_id": tenancy.DefaultWorkspace}).want(201).id()
}

func (n *node) submit(t testing.TB, session, persona string, options ...func(*http.Request)) *answer {
	t.Helper()
	return n.do(t, "POST", "/v1/sessions/"+session+"/tasks", object{"input": message("hi"), "persona_id": persona}, options...)
}

// finished submits a Task and waits for its end.
func (n *node) finished(t testing.TB, session string) string {
	t.Helper()
	a := n.submit(t, session, "persona_echo", header("Prefer", "wait=30")).want(200)
	if status := a.get("status"); status != "COMPLETED" {
		t.Fatalf("status %v: %s", status, a.body)
	}
	return a.id()
}

// newKey makes a key with the given scopes.
func (n *node) newKey(t testing.TB, tenant string, scopes ...string) string {
	t.Helper()
	a := n.do(t, "POST", "/wharf/v1/keys", object{"name": "made for a test", "tenant": tenant, "scopes": scopes}).want(201)
	return a.get("key").(string)
}

// schemas checks answers against the OpenAPI document that the node serves.
type schemas struct {
	routes   []gateway.Route
	compiler *jsonschema.Compiler
	mu       sync.Mutex
	compiled map[string]*jsonschema.Schema
}

func newSchemas(t testing.TB, s *gateway.Server) *schemas {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(s.OpenAPI()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	if err := c.AddResource("mem:///openapi.json", doc); err != nil {
		t.Fatal(err)
	}
	return &schemas{routes: s.Routes(), compiler: c, compiled: map[string]*jsonschema.Schema{}}
}

func (s *schemas) named(t testing.TB, name string) *jsonschema.Schema {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.compiled[name] == nil {
		compiled, err := s.compiler.Compile("mem:///openapi.json#/components/schemas/" + name)
		if err != nil {
			t.Fatal(err)
		}
		s.compiled[name] = compiled
	}
	return s.compiled[name]
}

func (s *schemas) validate(t testing.TB, name string, text []byte) {
	t.Helper()
	if !jsontext.Value(text).IsValid() {
		t.Errorf("no JSON: %q", text)
		return
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Errorf("%v: %q", err, text)
		return
	}
	if err := s.named(t, name).Validate(v); err != nil {
		t.Errorf("no valid %s: %v\n%s", name, err, text)
	}
}

func (s *schemas) check(t testing.TB, r *http.Request, a *answer) {
	t.Helper()
	if r.Method == http.MethodHead || a.status == http.StatusNoContent || a.status == http.StatusNotModified {
		s.checkStatus(t, r, a)
		if len(a.body) > 0 {
			t.Errorf("%s %s: status %d with a body", r.Method, r.URL, a.status)
		}
		return
	}
	if also := s.answer(r, a.status); also.Response != "" {
		s.validate(t, also.Response, a.body)
		return
	}
	if a.status >= 400 && a.header.Get("Content-Type") == "application/json" && !strings.HasSuffix(r.URL.Path, "/readyz") {
		s.validate(t, "Error", a.body)
		return
	}
	s.checkStatus(t, r, a)
	for _, rt := range s.routes {
		if rt.Method == r.Method && matchPath(rt.Path, r.URL.Path) && rt.Response != "" && rt.Media == "" {
			if form := a.header.Get("Content-Type"); form != gateway.MediaJSON && describedForm(&rt, form) {
				return
			}
			s.validate(t, rt.Response, a.body)
			return
		}
	}
}

// answer returns the answer with a schema of its own that a route has for a status.
func (s *schemas) answer(r *http.Request, status int) (also gateway.Answer) {
	for _, rt := range s.routes {
		if rt.Method == r.Method && matchPath(rt.Path, r.URL.Path) {
			if i := slices.IndexFunc(rt.Also, func(a gateway.Answer) bool { return a.Status == status }); i >= 0 {
				return rt.Also[i]
			}
		}
	}
	return also
}

func describedForm(rt *gateway.Route, media string) bool {
	return slices.ContainsFunc(rt.Forms, func(f gateway.Form) bool { return f.Media == media })
}

// checkStatus checks that an answer that is no error is one that is described.
func (s *schemas) checkStatus(t testing.TB, r *http.Request, a *answer) {
	t.Helper()
	for _, rt := range s.routes {
		if rt.Method != r.Method || !matchPath(rt.Path, r.URL.Path) {
			continue
		}
		described := rt.Status == a.status
		for _, also := range rt.Also {
			described = described || also.Status == a.status
		}
		if !described && (a.status < 400 || rt.Public) {
			t.Errorf("%s %s: status %d is not described", r.Method, rt.Path, a.status)
		}
		return
	}
}

func matchPath(pattern, path string) bool {
	want, got := strings.Split(pattern, "/"), strings.Split(path, "/")
	if len(want) != len(got) {
		return false
	}
	for i := range want {
		if !strings.HasPrefix(want[i], "{") && want[i] != got[i] {
			return false
		}
	}
	return true
}
