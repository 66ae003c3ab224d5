package sandbox_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/engine"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/filetree"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/owntools"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/provider/agent"
	"github.com/wharf-dev/wharf/runtime/provider/model"
	"github.com/wharf-dev/wharf/runtime/provider/secret"
	"github.com/wharf-dev/wharf/runtime/provider/settings"
	"github.com/wharf-dev/wharf/runtime/provider/tool"
	"github.com/wharf-dev/wharf/runtime/provider/web"
	"github.com/wharf-dev/wharf/runtime/receipt"
	"github.com/wharf-dev/wharf/runtime/sandbox"
	"github.com/wharf-dev/wharf/runtime/skillmd"
	"github.com/wharf-dev/wharf/runtime/tenancy"
)

// shop is the name of the plugin of examples on its node.
const shop = "shop"

// world is what is outside of the nodes: one for all languages, so that addresses are the same.
type world struct {
	desk, shop, coder *httptest.Server
	script            string // of the model
	keys              *receipt.Keyring
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{script: filepath.Join(t.TempDir(), "answers.json")}
	if err := os.WriteFile(w.script, []byte(`[{"answer": {"text": "Sencha.", "usage": {"input_tokens": 12, "output_tokens": 3}}, "times": -1}]`), 0o600); err != nil {
		t.Fatal(err)
	}
	var err error
	if w.keys, err = receipt.OpenKeyring(t.TempDir(), "examples", newYear); err != nil {
		t.Fatal(err)
	}
	tools := deskTools()
	w.desk = served(t, mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return tools }, nil))
	w.shop = served(t, http.HandlerFunc(takeOrder))
	w.coder = served(t, http.HandlerFunc(w.mendKettles))
	return w
}

func served(t *testing.T, h http.Handler) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

// deskTools is a server of tools that has one of everything.
func deskTools() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "desk", Version: "1"}, nil)
	type place struct {
		Where string `json:"where"`
	}
	mcp.AddTool(s, &mcp.Tool{Name: "look", Description: "looks somewhere", Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}},
		func(_ context.Context, _ *mcp.CallToolRequest, in place) (*mcp.CallToolResult, any, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "ships in the " + in.Where}}}, nil, nil
		})
	s.AddResource(&mcp.Resource{Name: "teas", URI: "notes://teas", MIMEType: "text/plain"},
		func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: "notes://teas", MIMEType: "text/plain", Text: "green, black"}}}, nil
		})
	s.AddPrompt(&mcp.Prompt{Name: "greet", Arguments: []*mcp.PromptArgument{{Name: "name", Required: true}}},
		func(_ context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: "Greet " + r.Params.Arguments["name"] + "."}}}}, nil
		})
	return s
}

// takeOrder answers without a date, which would be another one each time.
func takeOrder(rw http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	rw.Header()["Date"] = nil
	if r.Header.Get("Authorization") != "Bearer open-sesame" || r.Header.Get("Idempotency-Key") == "" {
		rw.WriteHeader(http.StatusForbidden)
	}
	_, _ = fmt.Fprintf(rw, "%s of %s", r.Method, body)
}

// mendKettles is an agent outside that keeps no work.
func (w *world) mendKettles(rw http.ResponseWriter, r *http.Request) {
	rw.Header().Set("Content-Type", "application/json")
	if r.Method == http.MethodGet {
		_, _ = io.WriteString(rw, `{"name":"Coder","supportedInterfaces":[{"url":"`+w.coder.URL+`/rpc","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],
			"skills":[{"id":"fix","name":"Fix","description":"fixes"}],"capabilities":{"externalAgent":{"schema":"harn.external_agent.v1",
			"pre_dispatch_checkpoint":true,"budget_cap":true,"idempotency":true,"reviewable_handoff":true,"dispatch":true,
			"operations":["_harn/externalAgent.plan","_harn/externalAgent.dispatch"]}}}`)
		return
	}
	body, _ := io.ReadAll(r.Body)
	id := jsontext.Value("null")
	for name, value := range members(body) {
		if name == "id" {
			id = value
		}
	}
	result := `{"checkpoint_id":"cp-1","plan":{"steps":["look at it"]},"expected_scope":"all"}`
	if strings.Contains(string(body), abi.MethodExternalDispatch) {
		result = `{"status":"completed","task_id":"outside-1","handoff":{"summary":"done"},"budget_used":{"usd":0.5,"tokens":100,"seconds":2,"tool_calls":3},"receipts":["r1"]}`
	}
	_, _ = fmt.Fprintf(rw, `{"jsonrpc":"2.0","id":%s,"result":%s}`, id, result)
}

// heldClock stands still until the test puts it forward.
type heldClock struct {
	mu  sync.Mutex
	now time.Time
}

// newYear is when every node begins.
var newYear = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func (c *heldClock) read() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *heldClock) forward(by time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(by)
}

// chance is the same on every node.
type chance struct {
	mu   sync.Mutex
	from *rand.ChaCha8
}

func (c *chance) Read(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.from.Read(p)
}

// modules are the guests of a node and the plugin of examples.
type modules struct {
	enginetest.Guests
	wasm     []byte
	compiled *sandbox.Module
}

func (m *modules) Resolve(ctx context.Context, name string) (string, error) {
	if name == shop {
		return journal.HashOf(m.wasm), nil
	}
	return m.Guests.Resolve(ctx, name)
}

func (m *modules) ModuleAt(ctx context.Context, digest string) (engine.Module, error) {
	if digest == journal.HashOf(m.wasm) {
		return m.compiled, nil
	}
	return m.Guests.ModuleAt(ctx, digest)
}

func (m *modules) Wasm(ctx context.Context, digest string) ([]byte, error) {
	if digest == journal.HashOf(m.wasm) {
		return m.wasm, nil
	}
	return m.Guests.Wasm(ctx, digest)
}

// shopNode is a node that has the plugin of examples, and everything that it asks for.
type shopNode struct {
	*enginetest.Node
	clock  *heldClock
	files  *os.Root
	plugin *sandbox.Module
}

func (w *world) node(t *testing.T, wasm []byte) *shopNode {
	t.Helper()
	dir, key := sandbox.CacheDir()
	r, err := sandbox.New(t.Context(), sandbox.Config{CacheDir: dir, CacheKey: key})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close(context.Background()) })
	compiled, err := r.Compile(t.Context(), wasm)
	if err != nil {
		t.Fatal(err)
	}
	files, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = files.Close() })
	clock, guests := &heldClock{now: newYear}, enginetest.Guests{}
	outside := w.performers(t)
	n := enginetest.New(t, guests, func(c *engine.Config, p *engine.Parts) {
		c.MaxRunning = 1
		p.Modules = &modules{guests, wasm, compiled}
		p.Now, p.Entropy, p.Keys = clock.read, &chance{from: rand.NewChaCha8([32]byte{1})}, w.keys
		p.Files, p.Version, p.Runs, p.Rewriter = files, "test", "wazero", r.Rewriter()
		p.Performers, p.Agents = outside, w.agents(t)
		poll := abi.Persona{Name: "poll", Version: "1.0.0", EntryWorkflow: "connectors#poll", AutonomyTier: abi.TierActAuto,
			ReceiptPolicy: abi.ReceiptOptional, Tools: []string{}, Capabilities: []string{"*"}}
		poll.Envelope = abi.NewEnvelope(abi.ObjectPersona, "persona_poll", newYear, nil)
		p.Personas = append(p.Personas, poll)
	})
	s := &shopNode{n, clock, files, compiled}
	s.installSkill(t)
	return s
}

func (w *world) agents(t *testing.T) *agent.Agents {
	t.Helper()
	peer, err := agent.NewPeer(agent.Config{Name: "coder", URL: w.coder.URL, Private: true})
	if err != nil {
		t.Fatal(err)
	}
	return &agent.Agents{Peers: map[string]*agent.Peer{"coder": peer}, Grants: map[string][]string{shop: {"coder"}}}
}

// performers are what a node has of them, each made of what it is on a real one.
func (w *world) performers(t *testing.T) map[string]provider.Performer {
	t.Helper()
	secrets := secret.New(secret.Config{Sources: map[string]secret.Source{"shop-key": {Env: "SHOP_KEY"}}, Grants: map[string][]string{shop: {"shop-key"}},
		Getenv: func(string) (string, bool) { return "open-sesame", true }})
	models, err := model.New(model.Config{Models: map[string]model.Model{"small": {Provider: "script"}}, Default: "small", Script: w.script})
	if err != nil {
		t.Fatal(err)
	}
	servers := map[string]tool.Server{"desk": tool.NewMCP(tool.MCPConfig{Name: "desk", URL: w.desk.URL})}
	for name, own := range owntools.All(nil) {
		servers[name] = own
	}
	tools := tool.New(tool.Config{Servers: servers, Grants: map[string][]string{shop: {"desk:*", "host:*"}}})
	fetch := web.New(web.Config{Secrets: secrets, Timeout: 5 * time.Minute, Grants: map[string][]web.Grant{
		shop: {{Hosts: []string{strings.TrimPrefix(w.shop.URL, "http://")}, Private: true, Methods: []string{"POST"}}}}})
	t.Cleanup(func() { _, _, _ = models.Close(), tools.Close(), fetch.Close() })
	return map[string]provider.Performer{
		abi.CallLLMComplete: models, abi.CallToolList: tools, abi.CallToolCall: tools, abi.CallResourceList: tools,
		abi.CallResourceRead: tools, abi.CallPromptGet: tools, abi.CallHTTPFetch: fetch, abi.CallSecretUse: secrets,
		abi.CallConfigGet: settings.Settings{shop: {"currency": jsontext.Value(`"EUR"`), "shop": jsontext.Value(`"` + w.shop.URL + `"`)}},
	}
}

// installSkill gives the default Workspace the skill that examples read.
func (n *shopNode) installSkill(t *testing.T) {
	t.Helper()
	tree, err := filetree.ReadFiles(func(yield func(filetree.Named, error) bool) {
		_ = yield(filetree.Named{Path: "brewing/SKILL.md", Content: strings.NewReader("---\nname: brewing\ndescription: How long tea takes.\nversion: 1.0.0\n---\nRead times.md.\n")}, nil) &&
			yield(filetree.Named{Path: "brewing/times.md", Content: strings.NewReader("Green: two minutes.")}, nil)
	}, skillmd.Limits())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := n.InstallSkillBundle(t.Context(), n.Root, nil, abi.InstallSkillBundleRequest{WorkspaceID: tenancy.DefaultWorkspace}, tree); err != nil {
		t.Fatal(err)
	}
}
