package openharness_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/gateway/api"
	"github.com/wharf-dev/wharf/gateway/internal/gatewaytest"
	"github.com/wharf-dev/wharf/gateway/openharness"
	"github.com/wharf-dev/wharf/runtime/engine"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/provider/vault"
	"github.com/wharf-dev/wharf/runtime/sandbox"
	"github.com/wharf-dev/wharf/storage/pebble/crashtest"
)

// patience bounds what a test waits for that should come at once.
const patience = 30 * time.Second

// node is a whole node behind a loopback listener.
type node struct {
	*enginetest.Node
	tools  api.GrantedTools
	server *gateway.Server
	log    gatewaytest.Log
	url    string
}

// newNode starts a node with some plugins besides "echo" and "agent", which the harness wharf
// runs by: unless it is given, it does what echo does.
func newNode(t testing.TB, guests enginetest.Guests, configure ...enginetest.Configure) *node {
	t.Helper()
	return startNode(t, crashtest.NewDisk(), guests, gateway.Config{}, configure...)
}

// startNode starts a node on a disk; a second one on the same disk stands for a restart.
func startNode(t testing.TB, disk *crashtest.Disk, guests enginetest.Guests, cfg gateway.Config, configure ...enginetest.Configure) *node {
	t.Helper()
	all := enginetest.Guests{"echo": enginetest.Echo, "agent": enginetest.Echo}
	for name, g := range guests {
		all[name] = g
	}
	n := &node{}
	vaults := func(c *engine.Config, p *engine.Parts) {
		c.Webhooks.Private = true
		p.ShowEvent, p.WebhookFormats = api.Links{}.PublicEvent, []api.WebhookFormat{openharness.WebhookFormat()}
		p.Log = slog.New(slog.DiscardHandler)
		p.Vaults = vault.New(vault.Config{Dir: filepath.Join(t.TempDir(), "vaults"), KeyFile: filepath.Join(t.TempDir(), "vault.age"), Log: p.Log})
		root, err := os.OpenRoot(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		p.Files = root
	}
	callable := func(_ *engine.Config, p *engine.Parts) {
		tools, _ := p.Performers[abi.CallToolList].(*api.Tools)
		n.tools = api.GrantedTools{Of: tools, Plugin: "invoke"}
	}
	n.Node = enginetest.Boot(t, disk, all, slices.Concat([]enginetest.Configure{vaults}, configure, []enginetest.Configure{callable})...)
	n.listen(t, cfg)
	return n
}

// listen starts the front door, and stops it with the engine at the end of the test.
func (n *node) listen(t testing.TB, cfg gateway.Config) {
	t.Helper()
	cfg.Node, cfg.Version = "test", "0.0.0"
	n.server = gateway.New(cfg, n.Engine, slog.New(slog.NewTextHandler(&n.log, nil)),
		openharness.New(cfg, api.New(n.Engine, cfg.Turns), openharness.Node{
			Plugins: func() []string { return []string{"agent", "echo"} }, Tools: n.tools,
			Models: []string{"fast", "good"}, ModelNames: map[string]string{"opus": "good", "vendor/large": "good"},
		}))
	n.url, _ = gatewaytest.Serve(t, n, n.server, patience)
}

// key makes an API key, bound to Workspaces or not.
func (n *node) key(t testing.TB, scopes []string, workspaces ...string) string {
	t.Helper()
	made, err := n.CreateKey(t.Context(), n.Root, abi.CreateKeyRequest{Name: "k", Scopes: scopes, WorkspaceIDs: workspaces})
	if err != nil {
		t.Fatal(err)
	}
	return gatewaytest.KeyOf(t, made.JSON)
}

// stranger makes a key of another tenant.
func (n *node) stranger(t testing.TB) string {
	t.Helper()
	made, err := n.CreateKey(t.Context(), n.Root, abi.CreateKeyRequest{Name: "s", Tenant: "other", Scopes: []string{abi.ScopeAll}})
	if err != nil {
		t.Fatal(err)
	}
	return gatewaytest.KeyOf(t, made.JSON)
}

// answer is a response, read whole.
type answer struct {
	t      testing.TB
	status int
	header http.Header
	body   []byte
}

// option changes a request before it is sent.
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

// do makes a request as a client would, and holds the answer against the published schema of the
// operation: nobody can forget to. path is below /v1/harnesses.
func (n *node) do(t testing.TB, method, path string, body any, options ...option) answer {
	t.Helper()
	a := n.at(t, method, "/v1/harnesses"+path, body, options...)
	schema.check(t, method, path, a)
	return a
}

// at makes a request of any path, whose answer is held against nothing. body is nil, bytes or a
// text that are sent as they are, or a value that is sent as JSON.
func (n *node) at(t testing.TB, method, path string, body any, options ...option) answer {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, n.url+path, contentOf(t, body))
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
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{t, res.StatusCode, res.Header, text}
}

func contentOf(t testing.TB, body any) io.Reader {
	t.Helper()
	switch b := body.(type) {
	case nil:
		return nil
	case string:
		return strings.NewReader(b)
	case []byte:
		return bytes.NewReader(b)
	}
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.NewReader(text)
}

// want wants a status.
func (a answer) want(status int) answer {
	a.t.Helper()
	if a.status != status {
		a.t.Fatalf("answered %d, want %d: %s", a.status, status, a.body)
	}
	return a
}

// fails wants an error of a status and a code, and returns its message.
func (a answer) fails(status int, code string) string {
	a.t.Helper()
	var e struct {
		Error struct {
			Code    string `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
	}
	if a.want(status); json.Unmarshal(a.body, &e) != nil || e.Error.Code != code || e.Error.Message == "" {
		a.t.Fatalf("answered %s, want the code %s", a.body, code)
	}
	return e.Error.Message
}

// into decodes the answer.
func (a answer) into(v any) answer {
	a.t.Helper()
	if err := json.Unmarshal(a.body, v); err != nil {
		a.t.Fatalf("%v: %s", err, a.body)
	}
	return a
}

// get returns a member of the answer by its path: "agent.id", "data.0.name". Missing is nil.
func (a answer) get(path string) (v any) {
	a.t.Helper()
	a.into(&v)
	for name := range strings.SplitSeq(path, ".") {
		switch in := v.(type) {
		case map[string]any:
			v = in[name]
		case []any:
			i := 0
			for _, c := range name {
				i = i*10 + int(c-'0')
			}
			if v = nil; i < len(in) {
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

// schema holds answers against what the protocol's authors publish.
var schema = &published{}

type published struct {
	once     sync.Once
	compiler *jsonschema.Compiler
	routes   []publishedRoute
	known    map[string]*jsonschema.Schema
	mu       sync.Mutex
}

type publishedRoute struct {
	method  string
	path    *regexp.Regexp
	literal int // how much of the path is no parameter
	answers map[string]string
}

const schemaFile = "testdata/openharness.json"

func (p *published) load(t testing.TB) {
	text, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Paths map[string]map[string]struct {
			Responses map[string]struct {
				Content map[string]struct {
					Schema map[string]any `json:"schema"`
				} `json:"content"`
			} `json:"responses"`
		} `json:"paths"`
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	whole, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	p.compiler, p.known = jsonschema.NewCompiler(), map[string]*jsonschema.Schema{}
	p.compiler.AssertFormat()
	if err := p.compiler.AddResource("oh.json", whole); err != nil {
		t.Fatal(err)
	}
	param := regexp.MustCompile(`\\\{[^}]*\\\}`)
	for path, methods := range doc.Paths {
		below := strings.TrimPrefix(path, "/harnesses")
		rest := strings.ReplaceAll(regexp.QuoteMeta(below), `\{path\}`, `.+`)
		rt := publishedRoute{path: regexp.MustCompile("^" + param.ReplaceAllString(rest, `[^/]+`) + "$"),
			literal: len(regexp.MustCompile(`\{[^}]*\}`).ReplaceAllString(below, ""))}
		for method, op := range methods {
			one := rt
			one.method, one.answers = strings.ToUpper(method), map[string]string{}
			for status, res := range op.Responses {
				if content, ok := res.Content["application/json"]; ok {
					ref, _ := content.Schema["$ref"].(string)
					one.answers[status] = ref
				}
			}
			p.routes = append(p.routes, one)
		}
	}
}

// check holds an answer that is JSON against its operation. One of an operation that nobody has
// published is held against nothing but the shape of errors.
func (p *published) check(t testing.TB, method, path string, a answer) {
	t.Helper()
	p.once.Do(func() { p.load(t) })
	if !strings.HasPrefix(a.header.Get("Content-Type"), "application/json") || len(a.body) == 0 {
		return
	}
	ref := "#/components/schemas/ErrorResponse"
	if a.status == http.StatusAccepted && strings.HasSuffix(path, "/message") {
		return // the answer takes longer than a request may, which nobody has published
	}
	if a.status < 400 {
		if ref = p.answerOf(method, path, a.status); ref == "" {
			return
		}
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(a.body))
	if err != nil {
		t.Fatalf("%s %s answered no JSON: %s", method, path, a.body)
	}
	if err := p.schemaOf(t, ref).Validate(value); err != nil {
		t.Fatalf("%s %s answered what is not published: %v\n%s", method, path, err, a.body)
	}
}

// fits holds a value, such as the data of an event, against a published schema by its name.
func (p *published) fits(t testing.TB, name string, text []byte) {
	t.Helper()
	p.once.Do(func() { p.load(t) })
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatalf("no JSON: %s", text)
	}
	if err := p.schemaOf(t, "#/components/schemas/"+name).Validate(value); err != nil {
		t.Fatalf("this is no %s: %v\n%s", name, err, text)
	}
}

// answerOf returns the schema of a success. Creation and acceptance have the shape of what is
// published as a success.
func (p *published) answerOf(method, path string, status int) string {
	path, _, _ = strings.Cut(path, "?")
	var best *publishedRoute
	for i := range p.routes {
		rt := &p.routes[i]
		if rt.method == method && rt.path.MatchString(path) && (best == nil || rt.literal > best.literal) {
			best = rt
		}
	}
	if best == nil {
		return ""
	}
	for _, known := range []string{http.StatusText(status), "200", "201", "202"} {
		if ref := best.answers[known]; ref != "" {
			return ref
		}
	}
	return ""
}

func (p *published) schemaOf(t testing.TB, ref string) *jsonschema.Schema {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if s := p.known[ref]; s != nil {
		return s
	}
	s, err := p.compiler.Compile("oh.json" + ref)
	if err != nil {
		t.Fatal(err)
	}
	p.known[ref] = s
	return s
}

// hold returns a plugin that runs until it is let go.
func hold() (g enginetest.Guest, entered, leave chan struct{}) { return enginetest.Holding() }

// call makes a host call that is to succeed.
func call(ctx context.Context, h sandbox.Host, name, request string) error {
	return enginetest.Call(ctx, h, name, request)
}

// sessionIn opens a Session in a Workspace.
func (n *node) sessionIn(t testing.TB, workspace string) string {
	t.Helper()
	doc, err := n.CreateSession(t.Context(), n.Root, nil, abi.CreateSessionRequest{WorkspaceID: workspace})
	if err != nil {
		t.Fatal(err)
	}
	return doc.ID
}
