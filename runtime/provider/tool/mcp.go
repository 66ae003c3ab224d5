package tool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/provider/secret"
)

// Limits of every server.
const (
	connectTime = time.Minute // a package runner may have to fetch the server first
	maxListed   = 1000
	maxListing  = 1 << 20 // bytes of the names, descriptions and schemas of all of a list
	maxPages    = 100     // of a list
	maxValues   = 32      // values of secrets that answers are searched for
	maxSaid     = 4 << 10 // bytes of what a server says of a failure
)

// Secrets fills in the handles in a server's configuration. *secret.Store does.
type Secrets interface {
	// Expand returns text with values for handles, and those values; its error is a
	// *provider.Refusal.
	Expand(ctx context.Context, text string) (string, []secret.Value, error)
}

// MCPConfig says what an [MCP] is: a Command or a URL.
type MCPConfig struct {
	Name string // as plugins call it

	Command string
	// Start returns a program and its arguments, in place of Command and Args, each time that it
	// is started. What it refuses by a *provider.Refusal is told.
	Start func() ([]string, error)
	Args  []string
	Env   map[string]string // values may hold handles of secrets
	Dir   string            // "" for the node's own
	// Environ is the node's environment, of which the process gets what every
	// program needs; default os.Environ.
	Environ func() []string

	URL string
	// Legacy says that URL speaks the transport of 2024-11-05: a stream of events that says
	// where messages go.
	Legacy  bool
	Headers map[string]string // of each request; values may hold handles of secrets
	// NewTransport returns what connects to URL; default a copy of http.DefaultTransport.
	NewTransport func() *http.Transport

	Limits
	Hints

	// Changed is called when the server says that it has other tools, on whichever goroutine that is heard; nil
	// when nobody listens.
	Changed func()
	// LogAt is where people read Log, as plugins are told it; default "The node's log".
	LogAt string

	Reconnect Reconnect
	// Turns bounds how many MCPs connect by themselves at a time, with room for so many; nil
	// bounds nothing.
	Turns chan struct{}

	Secrets Secrets          // nil: there are none
	Budget  *provider.Budget // for the answers of all servers together; default one of its own
	Version string           // of the node, for the server
	Log     *slog.Logger     // default slog.Default
}

// MCP is a server of the Model Context Protocol. It is safe for concurrent use.
type MCP struct {
	config MCPConfig
	log    *slog.Logger
	lanes  *provider.Lanes
	life   context.Context // ends with Close
	end    context.CancelFunc

	mu         sync.Mutex
	closed     bool
	connecting *attempt  // nil when none is under way
	link       *link     // nil when there is no connection
	failures   int       // connections in a row that failed or died young
	notBefore  time.Time // when the next may be tried
	resting    bool      // nothing connects before Begin
	refused    bool      // the last attempt has failed
	lastError  string    // why, or how the last connection ended; "" while there is one
	values     []secret.Value
	links      sync.WaitGroup // connections that are not gone yet
}

// attempt is a connection that is being made.
type attempt struct {
	done chan struct{} // closed when the rest is set
	link *link
	err  error
}

var (
	_ Server  = (*MCP)(nil)
	_ Limited = (*MCP)(nil)
)

// NewMCP returns an MCP. It connects to nothing yet. Close it to end what it
// started.
func NewMCP(c MCPConfig) *MCP {
	if c.Log == nil {
		c.Log = slog.Default()
	}
	if c.Changed == nil {
		c.Changed = func() {}
	}
	c.LogAt = cmp.Or(c.LogAt, "The node's log")
	m := &MCP{config: c, log: c.Log.With("server", c.Name), lanes: provider.NewLanes(provider.MaxCalls)}
	if m.config.Budget == nil {
		m.config.Budget = NewBudget(c.Answer)
	}
	m.life, m.end = context.WithCancel(context.Background())
	return m
}

// Limits implements [Limited].
func (m *MCP) Limits() Limits { return m.config.Limits }

// maxMessage is the most bytes that one message of the protocol may have: an answer
// that is allowed, however it is written, and a list of tools.
func (m *MCP) maxMessage() int { return 2*int(limitsOf(m).Answer) + 1<<20 }

// Close ends the connection, and the process if there is one. Calls under way
// fail. When it returns the process is gone.
func (m *MCP) Close() error {
	m.mu.Lock()
	m.closed = true
	l := m.link
	m.mu.Unlock()
	m.end()
	if l != nil {
		l.close()
	}
	m.links.Wait()
	return nil
}

// List implements [Server]. The list is kept until the server says that it has
// changed, or the connection is gone.
func (m *MCP) List(ctx context.Context) ([]abi.Tool, error) {
	return listed(ctx, m, func(l *link) *kept[abi.Tool] { return &l.tools }, m.fetchTools)
}

// Ping asks the server whether it is there, connecting to it if need be.
func (m *MCP) Ping(ctx context.Context) error {
	return m.within(ctx, func(ctx context.Context, l *link) error { return l.session.Ping(ctx, nil) })
}

// within makes a request of a server that is no call of a tool, for nobody's Task.
func (m *MCP) within(ctx context.Context, ask func(context.Context, *link) error) error {
	l, err := m.connected(ctx)
	if err != nil {
		return err
	}
	a := &answering{budget: m.config.Budget}
	defer a.end()
	ctx, cancel := context.WithTimeout(context.WithValue(ctx, answeringKey{}, a), limitsOf(m).Timeout)
	defer cancel()
	if err := ask(ctx, l); err != nil {
		return m.failed(ctx, l, err)
	}
	return nil
}

func (m *MCP) fetchTools(ctx context.Context, l *link) ([]abi.Tool, error) {
	taken := newTaken[abi.Tool](m.log, "tool")
	err := m.pages("tools", func(cursor string) (string, bool, error) {
		list, err := l.session.ListTools(ctx, &mcp.ListToolsParams{Cursor: cursor})
		if err != nil {
			return "", false, err
		}
		for _, t := range list.Tools {
			tool, err := m.describe(t)
			if err != nil {
				return "", false, err
			}
			takeTool(taken, tool)
		}
		return list.NextCursor, taken.full, nil
	})
	return taken.items, err
}

func takeTool(k *taken[abi.Tool], t abi.Tool) {
	wrong := CheckName(t.Name)
	if t.InputSchema.Kind() != '{' {
		wrong = fmt.Errorf("the schema of the tool %.128q is no object", t.Name)
	}
	k.take(t, t.Name, len(t.Name)+len(t.Description)+len(t.InputSchema), wrong)
}

// describe says what a tool is. Hints that are not given have the defaults of the
// protocol: it changes things, and for the worse.
func (m *MCP) describe(t *mcp.Tool) (abi.Tool, error) {
	schema, err := json.Marshal(t.InputSchema, json.Deterministic(true))
	if err != nil {
		return abi.Tool{}, fmt.Errorf("reading the schema of the tool %s: %w", t.Name, err)
	}
	tool := abi.Tool{Server: m.config.Name, Name: t.Name, Description: strings.ToValidUTF8(t.Description, "\uFFFD"),
		InputSchema: schema, Destructive: true, OpenWorld: true}
	if hints := t.Annotations; hints != nil {
		tool.ReadOnly, tool.Idempotent = hints.ReadOnlyHint, hints.IdempotentHint
		tool.Destructive = !hints.ReadOnlyHint && (hints.DestructiveHint == nil || *hints.DestructiveHint)
		tool.OpenWorld = hints.OpenWorldHint == nil || *hints.OpenWorldHint
	}
	m.config.Hints.Believe(&tool)
	return tool, nil
}

// Call implements [Server].
func (m *MCP) Call(ctx context.Context, c *provider.Call, name string, arguments jsontext.Value) (*abi.CallToolCallAnswer, error) {
	var result *mcp.CallToolResult
	err := m.ask(ctx, c.Tenant, func(ctx context.Context, l *link) (err error) {
		params := &mcp.CallToolParams{Name: name, Arguments: rawJSON(arguments)}
		defer m.hearProgress(l, c, params)()
		result, err = l.session.CallTool(ctx, params)
		return err
	})
	if err != nil {
		return nil, err
	}
	return m.answer(name, result)
}

// ask makes a request of a tenant's call, again when the server has forgotten the session.
func (m *MCP) ask(ctx context.Context, tenant string, do func(context.Context, *link) error) error {
	l, err := m.connected(ctx)
	if err != nil {
		return err
	}
	leave, err := m.lanes.Enter(ctx, tenant)
	if err != nil {
		return err
	}
	defer leave()
	a := &answering{budget: m.config.Budget, tenant: tenant}
	defer a.end()
	ctx = context.WithValue(ctx, answeringKey{}, a)
	err = do(ctx, l)
	if errors.Is(err, mcp.ErrSessionMissing) { // it was restarted, and has not taken the call
		m.drop(l)
		if l, err = m.connected(ctx); err != nil {
			return err
		}
		err = do(ctx, l)
	}
	if err != nil {
		return m.failed(ctx, l, err)
	}
	return nil
}

// rawJSON is JSON that the SDK passes on as it is.
type rawJSON jsontext.Value

// MarshalJSON implements json.Marshaler, for the library that the SDK uses.
func (r rawJSON) MarshalJSON() ([]byte, error) { return r, nil }

// failed says why a call failed. A connection that broke is given up.
func (m *MCP) failed(ctx context.Context, l *link, err error) error {
	var refused *provider.Refusal
	var said *jsonrpc.Error
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &refused):
		return refused
	case m.life.Err() != nil:
		return refuse(abi.CallUnavailable, CodeUnavailable, "%s was removed, or the node is being shut down, before it answered; whether it did what it was asked is not known", m.config.Name)
	case errors.As(err, &said):
		return m.rejected(said)
	}
	m.log.Warn("a server of tools broke off", "error", m.scrub(err.Error()))
	m.drop(l)
	return refuse(abi.CallUnavailable, CodeUnavailable, "%s broke off before it answered; whether it did what it was asked is not known", m.config.Name)
}

// rejected is what the server itself said against a call.
func (m *MCP) rejected(said *jsonrpc.Error) error {
	status := abi.CallUnavailable
	switch said.Code {
	case jsonrpc.CodeInvalidParams:
		status = abi.CallInvalid
	case jsonrpc.CodeMethodNotFound:
		status = abi.CallNotFound
	case codeCrowded:
		return refuse(abi.CallTooLarge, CodeTooLarge, "the answer of %s cannot be taken: %s", m.config.Name, errCrowded.Message)
	case codeBusy:
		return refuse(abi.CallUnavailable, CodeUnavailable, "the answer of %s cannot be taken: %s", m.config.Name, errBusy.Message)
	}
	message := strings.ToValidUTF8(cut(m.scrub(said.Message)), "\uFFFD")
	return refuse(status, CodeRejected, "%s did not take the call: %s (code %d)", m.config.Name, message, said.Code)
}

// cut cuts what a server says of a failure: it is told, and kept in the record.
func cut(said string) string {
	if len(said) > maxSaid {
		return said[:maxSaid] + "..."
	}
	return said
}

// answer makes an answer of a result, without what is secret.
func (m *MCP) answer(name string, r *mcp.CallToolResult) (*abi.CallToolCallAnswer, error) {
	if r.NeedsInput() {
		return nil, refuse(abi.CallUnavailable, CodeRejected, "the tool %q of %s asks for input, which it cannot be given", name, m.config.Name)
	}
	answer := &abi.CallToolCallAnswer{Content: contents(r.Content), IsError: r.IsError}
	if r.StructuredContent != nil {
		structured, err := json.Marshal(r.StructuredContent, json.Deterministic(true))
		if err != nil {
			return nil, refuse(abi.CallUnavailable, CodeUnavailable, "the answer of the tool %q cannot be read", name)
		}
		answer.Structured = structured
	}
	values := m.secrets()
	if len(values) == 0 {
		return answer, nil
	}
	scrub := secret.NewScrub(values)
	for i := range answer.Content {
		c := &answer.Content[i]
		c.Text, c.URI, c.Data = scrub.Text(c.Text), scrub.Text(c.URI), []byte(scrub.Text(string(c.Data)))
	}
	if answer.Structured != nil {
		answer.Structured = jsontext.Value(scrub.Text(string(answer.Structured)))
	}
	return answer, nil
}

func contents(from []mcp.Content) []abi.ToolContent {
	out := []abi.ToolContent{}
	for _, c := range from {
		switch c := c.(type) {
		case *mcp.TextContent:
			out = append(out, abi.ToolContent{Type: "text", Text: strings.ToValidUTF8(c.Text, "\uFFFD")})
		case *mcp.ImageContent:
			out = append(out, abi.ToolContent{Type: "image", Data: c.Data, MimeType: c.MIMEType})
		case *mcp.AudioContent:
			out = append(out, abi.ToolContent{Type: "audio", Data: c.Data, MimeType: c.MIMEType})
		case *mcp.ResourceLink:
			out = append(out, abi.ToolContent{Type: "resource", URI: c.URI, MimeType: c.MIMEType, Text: cmp.Or(c.Title, c.Name)})
		case *mcp.EmbeddedResource:
			if r := c.Resource; r != nil {
				out = append(out, abi.ToolContent{Type: "resource", URI: r.URI, MimeType: r.MIMEType, Text: r.Text, Data: r.Blob})
			}
		}
	}
	return out
}

// expand fills handles in, and remembers the values so that they can be found in
// what comes back.
func (m *MCP) expand(ctx context.Context, text string) (string, error) {
	if len(secret.Names(text)) == 0 {
		return text, nil
	}
	if m.config.Secrets == nil {
		return "", refuse(abi.CallUnavailable, CodeUnavailable, "the configuration of %s names a secret, and there are none", m.config.Name)
	}
	filled, values, err := m.config.Secrets.Expand(ctx, text)
	if err != nil {
		return "", err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, v := range values {
		if !slices.Contains(m.values, v) {
			m.values = append(m.values, v)
		}
	}
	m.values = m.values[max(0, len(m.values)-maxValues):]
	return filled, nil
}

func (m *MCP) secrets() []secret.Value {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.values)
}

func (m *MCP) scrub(text string) string { return secret.NewScrub(m.secrets()).Text(text) }
