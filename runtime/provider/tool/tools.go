package tool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/abi/plainly"
	"github.com/wharf-dev/wharf/runtime/policy"
	"github.com/wharf-dev/wharf/runtime/provider"
)

// The codes of refusals.
const (
	CodeInvalid     = "invalid_request"
	CodeDenied      = "tool_denied"      // no grant covers the tool
	CodeUnknown     = "tool_unknown"     // there is no such server or tool
	CodeRejected    = "tool_rejected"    // the server did not take the call
	CodeUnavailable = "tool_unavailable" // the server cannot be reached, or broke off
	CodeTimeout     = "tool_timeout"
	CodeTooLarge    = "tool_too_large"
)

// Server has tools. It is safe for concurrent use. Its errors are *provider.Refusal
// for what a plugin is to be told; others say that the host failed.
type Server interface {
	// List returns the tools, in any order; the caller does not change them.
	// Tool.Server need not be set.
	List(ctx context.Context) ([]abi.Tool, error)
	// Call calls the tool that List names, with arguments that are a JSON object. c
	// says for whom; its IdempotencyKey is the same when the call is made again.
	Call(ctx context.Context, c *provider.Call, name string, arguments jsontext.Value) (*abi.CallToolCallAnswer, error)
}

// Limits are those of a Server's calls.
type Limits struct {
	Timeout time.Duration // default 1 min
	Answer  int64         // bytes of an answer as JSON; default 4 MiB
}

// Limited is a [Server] with limits of its own.
type Limited interface{ Limits() Limits }

// Config says which tools there are, and which plugins may use them.
type Config struct {
	Servers map[string]Server
	// Grants are patterns of server:tool by plugin. * stands for any characters.
	Grants map[string][]string
	Added  *Added       // that tenants add while the node runs; nil for none
	Log    *slog.Logger // default slog.Default
}

// Tools answers the host calls about tools. It is safe for concurrent use.
type Tools struct {
	servers map[string]Server
	made    map[string][]string // the grants that it was made with
	added   *Added
	log     *slog.Logger

	regrants provider.Regrants[string]
}

var _ provider.Performer = (*Tools)(nil)

// New returns Tools. It connects to nothing yet.
func New(c Config) *Tools {
	if c.Log == nil {
		c.Log = slog.Default()
	}
	c.Added.reserve(c.Servers)
	return &Tools{servers: c.Servers, made: c.Grants, added: c.Added, log: c.Log}
}

// grants are patterns of server:tool by plugin, as they hold.
func (t *Tools) grants() map[string][]string { return t.regrants.Or(t.made) }

// Regrant says which tools plugins may use from now on.
func (t *Tools) Regrant(grants map[string][]string) { t.regrants.Replace(grants) }

// Close closes the servers that can be closed, all at once.
func (t *Tools) Close() error {
	var all sync.WaitGroup
	errs := make(chan error, len(t.servers)+1)
	all.Go(func() { errs <- t.added.Close() })
	for _, s := range t.servers {
		if c, ok := s.(io.Closer); ok {
			all.Go(func() { errs <- c.Close() })
		}
	}
	all.Wait()
	close(errs)
	var err error
	for e := range errs {
		err = errors.Join(err, e)
	}
	return err
}

// Prepare implements [provider.Performer] for all calls about servers of tools.
func (t *Tools) Prepare(ctx context.Context, c *provider.Call) (provider.Plan, error) {
	switch c.Name {
	case abi.CallToolList:
		return t.prepareList(c)
	case abi.CallResourceList:
		return t.prepareResources(c)
	case abi.CallResourceRead:
		return t.prepareRead(c)
	case abi.CallPromptGet:
		return t.preparePrompt(c)
	}
	return t.prepareCall(ctx, c)
}

func refuse(status abi.CallStatus, code, format string, args ...any) error {
	plainly.Put(args)
	return provider.Refuse(status, code, fmt.Sprintf(format, args...))
}

func (t *Tools) prepareList(c *provider.Call) (provider.Plan, error) {
	var req abi.CallToolListRequest
	if len(c.Request) > 0 {
		if err := json.Unmarshal(c.Request, &req); err != nil {
			return provider.Plan{}, refuse(abi.CallInvalid, CodeInvalid, "the request of tool.list cannot be read: %v", err)
		}
	}
	if req.Server != "" {
		if err := t.checkServer(c, req.Server); err != nil {
			return provider.Plan{}, err
		}
	}
	return provider.Plan{Effect: abi.EffectRead, Do: func(ctx context.Context, _ func(string)) ([]byte, error) {
		tools, err := t.list(ctx, c, req.Server)
		if err != nil {
			return nil, err
		}
		return json.Marshal(abi.CallToolListAnswer{Tools: tools}, json.Deterministic(true))
	}}, nil
}

// checkServer refuses servers of which the plugin may use no tool.
func (t *Tools) checkServer(c *provider.Call, server string) error {
	plugin := c.Plugin
	if t.servers[server] == nil && t.may(c, server, "") {
		return nil
	}
	if !t.reaches(plugin, server) {
		return refuse(abi.CallDenied, CodeDenied, "the plugin %q may not use the tools of %q: no entry of grants.%s.tools begins with %s:",
			plugin, server, plugin, server)
	}
	if t.servers[server] == nil {
		return refuse(abi.CallNotFound, CodeUnknown, "there is no server of tools %q", server)
	}
	return nil
}

// reaches reports whether the plugin may use any tool of the server.
func (t *Tools) reaches(plugin, server string) bool {
	return slices.ContainsFunc(t.grants()[plugin], func(pattern string) bool {
		name, _, _ := strings.Cut(pattern, ":")
		return policy.Match(name, server)
	})
}

func (t *Tools) granted(plugin, server, name string) bool {
	return slices.ContainsFunc(t.grants()[plugin], func(pattern string) bool {
		serverPattern, toolPattern, _ := strings.Cut(pattern, ":")
		return policy.Match(serverPattern, server) && policy.Match(toolPattern, name)
	})
}

// list returns what a plugin may use of one server, or of all. Of all, those that
// cannot be reached are left out.
func (t *Tools) list(ctx context.Context, c *provider.Call, only string) ([]abi.Tool, error) {
	tools := []abi.Tool{}
	for _, server := range t.names(c) {
		if only != "" && only != server {
			continue
		}
		of, err := t.listServer(ctx, c, server)
		switch {
		case err == nil:
		case only != "" || ctx.Err() != nil:
			return nil, err
		default:
			t.log.Warn("the tools of a server cannot be listed", "server", server, "error", err)
		}
		for _, tool := range of {
			switch {
			case !t.may(c, server, tool.Name):
			case abi.TooDeep(tool.InputSchema, abi.MaxToldDepth) >= 0:
				t.log.Warn("a tool is not offered: its schema nests too deep", "server", server, "tool", tool.Name)
			default:
				tool.Server = server
				tools = append(tools, tool)
			}
		}
	}
	slices.SortFunc(tools, func(a, b abi.Tool) int {
		return cmp.Or(strings.Compare(a.Server, b.Server), strings.Compare(a.Name, b.Name))
	})
	return tools, nil
}

func (t *Tools) listServer(ctx context.Context, c *provider.Call, server string) ([]abi.Tool, error) {
	s, _ := t.server(c, server)
	if s == nil {
		return nil, gone(server)
	}
	limits := limitsOf(s)
	within, cancel := context.WithTimeout(ctx, limits.Timeout)
	defer cancel()
	tools, err := listFor(within, s, c)
	if err != nil {
		return nil, verdict(ctx, within, err, "listing the tools of "+server, limits)
	}
	return tools, nil
}

// gone refuses a call of a server that was removed since it was looked at.
func gone(server string) error {
	return refuse(abi.CallNotFound, CodeUnknown, "there is no server of tools %q", server)
}

func listFor(ctx context.Context, s Server, c *provider.Call) ([]abi.Tool, error) {
	if own, ok := s.(PerCall); ok {
		return own.ListFor(ctx, c)
	}
	return s.List(ctx)
}

func limitsOf(s Server) Limits {
	var l Limits
	if own, ok := s.(Limited); ok {
		l = own.Limits()
	}
	l.Timeout = cmp.Or(l.Timeout, time.Minute)
	l.Answer = cmp.Or(l.Answer, 4<<20)
	return l
}

// verdict tells a timeout of the call's own from what ended the Task, and both from
// what the server said. within is ctx with the call's timeout.
func verdict(ctx, within context.Context, err error, doing string, l Limits) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case within.Err() != nil, errors.Is(err, context.DeadlineExceeded): // of a list that is read for several, too
		return refuse(abi.CallTimeout, CodeTimeout, "%s was not done within %s", doing, l.Timeout)
	}
	return err
}

func (t *Tools) prepareCall(ctx context.Context, c *provider.Call) (provider.Plan, error) {
	var req abi.CallToolCallRequest
	if err := json.Unmarshal(c.Request, &req); err != nil || req.Server == "" || req.Name == "" {
		return provider.Plan{}, refuse(abi.CallInvalid, CodeInvalid, `tool.call takes {"server": "...", "name": "...", "arguments": {...}}`)
	}
	if req.Arguments == nil || req.Arguments.Kind() == 'n' {
		req.Arguments = jsontext.Value("{}")
	}
	if req.Arguments.Kind() != '{' {
		return provider.Plan{}, refuse(abi.CallInvalid, CodeInvalid, "the arguments of a tool are a JSON object")
	}
	if err := t.checkServer(c, req.Server); err != nil {
		return provider.Plan{}, err
	}
	if !t.may(c, req.Server, req.Name) {
		return provider.Plan{}, refuse(abi.CallDenied, CodeDenied, "the plugin %q may not use the tool %q of %q: no entry of grants.%s.tools covers %s:%s",
			c.Plugin, req.Name, req.Server, c.Plugin, req.Server, req.Name)
	}
	found, err := t.find(ctx, c, req.Server, req.Name)
	if err != nil {
		return provider.Plan{}, err
	}
	s, _ := t.server(c, req.Server)
	limits := limitsOf(s)
	plan := provider.Plan{Effect: abi.EffectWrite, Repeatable: found.Tool.Idempotent, By: found.By, Tool: &found.Tool}
	if found.Tool.ReadOnly {
		plan.Effect, plan.Repeatable = abi.EffectRead, false
	}
	if plan.Ask = found.Ask; plan.Ask != nil {
		return plan, nil
	}
	if found.Delegate != nil {
		plan.Delegate, err = found.Delegate(req.Arguments)
		return plan, err
	}
	plan.Do = func(ctx context.Context, _ func(string)) ([]byte, error) { return t.call(ctx, limits, found, &req) }
	return plan, nil
}

// find returns the tool that a call is decided on and then made of.
func (t *Tools) find(ctx context.Context, c *provider.Call, server, name string) (*Found, error) {
	s, by := t.server(c, server)
	if own, ok := s.(PerCall); ok {
		return own.Find(ctx, c, name)
	}
	tools, err := t.listServer(ctx, c, server)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(tools, func(tool abi.Tool) bool { return tool.Name == name })
	if i < 0 {
		return nil, refuse(abi.CallNotFound, CodeUnknown, "%q has no tool %q", server, name)
	}
	return &Found{Tool: tools[i], By: by, Call: func(ctx context.Context, arguments jsontext.Value) (*abi.CallToolCallAnswer, error) {
		return s.Call(ctx, c, name, arguments)
	}}, nil
}

func (t *Tools) call(ctx context.Context, limits Limits, found *Found, req *abi.CallToolCallRequest) ([]byte, error) {
	within, cancel := context.WithTimeout(ctx, limits.Timeout)
	defer cancel()
	doing := req.Server + ":" + req.Name
	answer, err := found.Call(within, req.Arguments)
	if err != nil {
		return nil, verdict(ctx, within, err, doing, limits)
	}
	if abi.TooDeep(answer.Structured, abi.MaxToldDepth) >= 0 {
		return nil, refuse(abi.CallTooLarge, CodeTooLarge, "the answer of %s nests deeper than %d levels", doing, abi.MaxToldDepth)
	}
	if answer.Content == nil {
		answer.Content = []abi.ToolContent{}
	}
	return encode(answer, doing, limits)
}

// encode writes an answer, unless it is larger than a server's answers may be.
func encode(answer any, doing string, limits Limits) ([]byte, error) {
	raw, err := json.Marshal(answer, json.Deterministic(true))
	if err != nil {
		return nil, refuse(abi.CallUnavailable, CodeUnavailable, "the answer of %s cannot be written as JSON", doing)
	}
	if int64(len(raw)) > limits.Answer {
		return nil, refuse(abi.CallTooLarge, CodeTooLarge, "the answer of %s has %d bytes; it may have %d", doing, len(raw), limits.Answer)
	}
	return raw, nil
}
