package localtools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/abi/plainly"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/provider/secret"
	"github.com/wharf-dev/wharf/runtime/provider/tool"
)

// The most that a node takes of one client: tools, and bytes of their descriptions.
const (
	MaxTools     = 256
	MaxToolBytes = 512 << 10
)

// Options say how the servers of a [Set] are run. Warn and Changed are called on any goroutine.
type Options struct {
	Dir      string        // where they run
	Warn     func(error)   // is told what people should know
	Changed  func()        // is called when List may have another answer
	Patience time.Duration // how long List waits for a server; default 8 s, which is less than a node waits for List
}

// Set are the tool servers of one session. It is safe for concurrent use.
type Set struct {
	options Options
	servers []*server
	life    context.Context
	end     context.CancelFunc
	waits   sync.WaitGroup // for servers that are late

	mu    sync.Mutex
	owner map[string]*server // by the names of the tools that were listed last
	said  map[string]bool    // what people were told already
}

// server is one that is started when it is needed.
type server struct {
	name string
	mcp  *tool.MCP

	mu      sync.Mutex
	awaited bool // somebody waits for it to answer
	missed  bool // a list is without its tools
}

// Start starts the servers, and waits for none of them. Close the Set to end them.
func Start(commands []Command, o Options) *Set {
	o.Patience = cmp.Or(o.Patience, 8*time.Second)
	s := &Set{options: o, owner: map[string]*server{}, said: map[string]bool{}}
	s.life, s.end = context.WithCancel(context.Background())
	log := slog.New(&people{tell: s.warn})
	for _, c := range commands {
		of := &server{name: c.Name, mcp: tool.NewMCP(tool.MCPConfig{Name: c.Name, Command: c.Path, Args: c.Args, Env: c.Env, Dir: o.Dir,
			Secrets: asItIs{}, Changed: o.Changed, LogAt: "The standard error of the client's pipe", Log: log})}
		s.servers = append(s.servers, of)
		s.await(of, false)
	}
	return s
}

// Close ends the servers. When it returns their processes are gone.
func (s *Set) Close() {
	s.end()
	var all sync.WaitGroup
	for _, of := range s.servers {
		all.Go(func() { _ = of.mcp.Close() })
	}
	all.Wait()
	s.waits.Wait()
}

// Has reports whether a tool was listed last.
func (s *Set) Has(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.owner[name] != nil
}

// Others are tools that somebody else has, which come before those of a [Set].
type Others struct {
	Names []string
	Bytes int // of what describes them
}

// List returns the tools that there are by now, at most as many as a node takes beside the others.
func (s *Set) List(ctx context.Context, others Others) []abi.Tool {
	lists := make([][]abi.Tool, len(s.servers))
	var each sync.WaitGroup
	for i, of := range s.servers {
		each.Go(func() { lists[i] = s.listOf(ctx, of) })
	}
	each.Wait()
	m := merging{left: MaxTools - len(others.Names), room: MaxToolBytes - others.Bytes, by: map[string]string{}, owner: map[string]*server{}}
	for _, name := range others.Names {
		m.by[name] = "the client"
	}
	for i, of := range s.servers {
		for _, t := range lists[i] {
			if wrong := m.add(of, t); wrong != nil {
				s.once(wrong)
			}
		}
	}
	if m.dropped > 0 {
		s.once(fmt.Errorf("a node takes at most %d tools and %d bytes of their descriptions: %d tools are left out", MaxTools, MaxToolBytes, m.dropped))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.owner = m.owner
	return m.tools
}

// merging is a list of tools that is made of several.
type merging struct {
	tools      []abi.Tool
	left, room int // how much more there may be
	dropped    int
	by         map[string]string // who has a name
	owner      map[string]*server
}

// add adds a tool, unless somebody has one of its name.
func (m *merging) add(of *server, t abi.Tool) error {
	if by, taken := m.by[t.Name]; taken {
		return fmt.Errorf("the tool %s of %s is left out: %s has one of this name", t.Name, of.name, by)
	}
	m.by[t.Name] = of.name
	size := len(t.Name) + len(t.Description) + len(t.InputSchema)
	if m.left == 0 || size > m.room {
		m.dropped++
		return nil
	}
	m.left--
	m.room -= size
	m.tools, m.owner[t.Name] = append(m.tools, t), of
	return nil
}

// listOf returns the tools of a server, none of one that does not answer in time.
func (s *Set) listOf(ctx context.Context, of *server) []abi.Tool {
	within, cancel := context.WithTimeoutCause(ctx, s.options.Patience, errLate)
	defer cancel()
	tools, err := of.mcp.List(within)
	if err == nil || ctx.Err() != nil || s.life.Err() != nil {
		return tools
	}
	if errors.Is(err, errLate) {
		s.once(fmt.Errorf("the tool server %s has not answered in %s: its tools are there when it has", of.name, s.options.Patience))
		s.await(of, true)
	}
	return nil // why it cannot be reached was told
}

// errLate is the cause of the end of waiting for a server.
var errLate = errors.New("the server has not answered in time")

// await waits beside all else until a server answers. missed says that a list is without its tools.
func (s *Set) await(of *server, missed bool) {
	of.mu.Lock()
	defer of.mu.Unlock()
	of.missed = of.missed || missed
	if of.awaited || s.life.Err() != nil {
		return
	}
	of.awaited = true
	s.waits.Go(func() {
		_, err := of.mcp.List(s.life)
		of.mu.Lock()
		late := of.missed && err == nil
		of.awaited, of.missed = false, false
		of.mu.Unlock()
		if late {
			s.options.Changed()
		}
	})
}

// mostSaid bounds what is told once: a server can change the names of its tools for ever.
const mostSaid = 2000

// once tells people something that was not told before.
func (s *Set) once(err error) {
	s.mu.Lock()
	told := s.said[err.Error()] || len(s.said) == mostSaid
	if !told {
		s.said[err.Error()] = true
	}
	s.mu.Unlock()
	if !told {
		s.options.Warn(err)
	}
}

// warn tells people something, while anybody cares.
func (s *Set) warn(err error) {
	if s.life.Err() == nil {
		s.options.Warn(err)
	}
}

// Failure is why a tool has not done what it was asked, with a code by which a node knows what it means.
type Failure struct {
	Code    int // of JSON-RPC
	Message string
}

// Error implements the error interface.
func (f *Failure) Error() string { return f.Message }

// What the codes of a [Failure] mean to a node.
const (
	CodeNoTool    = -32601
	CodeArguments = -32602
	CodeRejected  = -32001
	CodeFailed    = -32603
)

// Call calls a tool that was listed. The error is a [*Failure], or that of the context.
func (s *Set) Call(ctx context.Context, name string, arguments jsontext.Value) (jsontext.Value, error) {
	s.mu.Lock()
	of := s.owner[name]
	s.mu.Unlock()
	if of == nil {
		return nil, &Failure{CodeNoTool, "there is no tool " + name}
	}
	answer, err := of.mcp.Call(ctx, &provider.Call{}, name, arguments)
	if err != nil {
		return nil, failure(ctx, err)
	}
	if answer.IsError {
		return nil, &Failure{CodeFailed, words(answer.Content)}
	}
	if answer.Structured != nil {
		return answer.Structured, nil
	}
	return jsontext.AppendQuote(nil, words(answer.Content))
}

// failure says what a call's error means to a node.
func failure(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	refused, ok := errors.AsType[*provider.Refusal](err)
	if !ok {
		return &Failure{CodeFailed, plainly.Say(err)}
	}
	switch refused.Status {
	case abi.CallNotFound:
		return &Failure{CodeNoTool, refused.Message}
	case abi.CallInvalid:
		return &Failure{CodeArguments, refused.Message}
	case abi.CallDenied:
		return &Failure{CodeRejected, refused.Message}
	}
	return &Failure{CodeFailed, refused.Message}
}

// words is what a tool answers, as far as it can be said in words: a node takes nothing else of a client's tool.
func words(content []abi.ToolContent) string {
	said := make([]string, len(content))
	for i := range content {
		c := &content[i]
		switch {
		case c.Type == "text":
			said[i] = c.Text
		case len(c.Data) > 0:
			said[i] = fmt.Sprintf("(%s, %s, %d bytes)", c.Type, c.MimeType, len(c.Data))
		default:
			said[i] = strings.TrimSpace(c.URI + "\n" + c.Text)
		}
	}
	return strings.ToValidUTF8(strings.Join(said, "\n\n"), "\uFFFD")
}

// asItIs leaves what an entry says as it is: it names no secrets of a node's.
type asItIs struct{}

// Expand implements [tool.Secrets].
func (asItIs) Expand(_ context.Context, text string) (string, []secret.Value, error) {
	return text, nil, nil
}

// people is a log that people read line by line.
type people struct {
	tell  func(error)
	attrs []slog.Attr
}

// Enabled implements [slog.Handler].
func (p *people) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelWarn }

// Handle implements [slog.Handler].
func (p *people) Handle(_ context.Context, r slog.Record) error {
	var line strings.Builder
	line.WriteString(r.Message)
	say := func(a slog.Attr) bool {
		fmt.Fprintf(&line, ", %s: %s", a.Key, a.Value)
		return true
	}
	for _, a := range p.attrs {
		say(a)
	}
	r.Attrs(say)
	p.tell(errors.New(line.String()))
	return nil
}

// WithAttrs implements [slog.Handler].
func (p *people) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &people{p.tell, append(p.attrs[:len(p.attrs):len(p.attrs)], attrs...)}
}

// WithGroup implements [slog.Handler].
func (p *people) WithGroup(string) slog.Handler { return p }
