package mcp_test

import (
	"errors"
	"log/slog"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/gateway/api"
	"github.com/wharf-dev/wharf/gateway/internal/gatewaytest"
	"github.com/wharf-dev/wharf/gateway/mcp"
	"github.com/wharf-dev/wharf/runtime/engine"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/receipt"
	"github.com/wharf-dev/wharf/storage/pebble/crashtest"
)

// patience bounds what a test waits for that should come at once.
const patience = 30 * time.Second

// The two revisions that the node speaks.
const (
	withSessions = "2025-11-25"
	stateless    = "2026-07-28"
)

// node is a whole node behind a loopback listener.
type node struct {
	*enginetest.Node
	server *gateway.Server
	log    gatewaytest.Log
	url    string
	end    func()
}

// newNode starts a node with some plugins besides "echo".
func newNode(t testing.TB, guests enginetest.Guests) *node {
	t.Helper()
	return startNode(t, crashtest.NewDisk(), guests, gateway.Config{}, mcp.Node{})
}

// startNode starts a node on a disk; a second one on the same disk stands for a restart.
func startNode(t testing.TB, disk *crashtest.Disk, guests enginetest.Guests, cfg gateway.Config, has mcp.Node, configure ...enginetest.Configure) *node {
	t.Helper()
	all := enginetest.Guests{"echo": enginetest.Echo}
	for name, g := range guests {
		all[name] = g
	}
	n := &node{}
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	n.Node = enginetest.Boot(t, disk, all, append(configure, func(_ *engine.Config, p *engine.Parts) {
		p.Log, p.Files = slog.New(slog.DiscardHandler), root
	})...)
	cfg.Node, cfg.Version = "test", "0.0.0"
	log := slog.New(slog.NewTextHandler(&n.log, nil))
	has.Log = log
	n.server = gateway.New(cfg, n.Engine, log, mcp.New(cfg, api.New(n.Engine, cfg.Turns), has))
	n.url, n.end = gatewaytest.Serve(t, n, n.server, patience)
	return n
}

// sameKeys gives every node that it configures the same keys: so one is another life of the other.
func sameKeys(t testing.TB) enginetest.Configure {
	t.Helper()
	keys, err := receipt.OpenKeyring(t.TempDir(), "test", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return func(_ *engine.Config, p *engine.Parts) { p.Keys = keys }
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

// skill offers the Persona of a guest as a Skill. The request's other members are as given.
func (n *node) skill(t testing.TB, guest string, req abi.CreateSkillRequest) string {
	t.Helper()
	req.PersonaID = "persona_" + guest
	if req.Name == "" {
		req.Name = guest + "-tool"
	}
	if req.Description == "" {
		req.Description = "what " + guest + " does"
	}
	made, err := n.CreateSkill(t.Context(), n.Root, nil, req)
	if err != nil {
		t.Fatal(err)
	}
	return made.ID
}

// bearing sends a key with every request.
type bearing struct {
	key  string
	next http.RoundTripper
}

func (b bearing) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	if b.key != "" {
		r.Header.Set("Authorization", "Bearer "+b.key)
	}
	return b.next.RoundTrip(r)
}

// connect connects the SDK's own client, which speaks one revision.
func (n *node) connect(t testing.TB, key, revision string, options *sdk.ClientOptions) *sdk.ClientSession {
	t.Helper()
	if options == nil {
		options = &sdk.ClientOptions{}
	}
	c := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, options)
	s, err := c.Connect(t.Context(), &sdk.StreamableClientTransport{
		Endpoint: n.url + "/mcp", HTTPClient: &http.Client{Transport: bearing{key, http.DefaultTransport}},
	}, &sdk.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if got := s.InitializeResult().ProtocolVersion; got != revision {
		t.Fatalf("revision %s was agreed upon, want %s", got, revision)
	}
	return s
}

// both runs a test in both revisions.
func both(t *testing.T, f func(t *testing.T, revision string)) {
	for _, revision := range []string{withSessions, stateless} {
		t.Run(revision, func(t *testing.T) { f(t, revision) })
	}
}

// text returns the one text of a result.
func text(t testing.TB, r *sdk.CallToolResult) string {
	t.Helper()
	if len(r.Content) != 1 {
		t.Fatalf("%d pieces of content, want 1", len(r.Content))
	}
	c, ok := r.Content[0].(*sdk.TextContent)
	if !ok {
		t.Fatalf("content %T, want a text", r.Content[0])
	}
	return c.Text
}

// code returns the code of an error of JSON-RPC, 0 for any other.
func code(err error) int64 {
	var e *jsonrpc.Error
	if !errors.As(err, &e) {
		return 0
	}
	return e.Code
}

// receive returns what comes next.
func receive[T any](t testing.TB, from <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-from:
	case <-time.After(patience):
		t.Fatal("nothing has come")
	}
	return v
}
