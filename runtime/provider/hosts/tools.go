package hosts

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/provider/tool"
)

var _ tool.PerCall = (*Hosts)(nil)

// ListFor implements [tool.PerCall]: what the clients of the Session have by what they have declared,
// and what they list when they are asked. Of one that does not say, the rest is listed.
func (hs *Hosts) ListFor(ctx context.Context, c *provider.Call) ([]abi.Tool, error) {
	all := hs.of(c.Tenant, c.SessionID)
	lists := make([][]abi.Tool, len(all))
	var each sync.WaitGroup
	for i, h := range all {
		each.Go(func() { lists[i] = h.offers(ctx) })
	}
	each.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	var tools []abi.Tool
	seen := map[string]bool{}
	for _, t := range slices.Concat(lists...) {
		if !seen[t.Name] {
			seen[t.Name] = true
			tools = append(tools, t)
		}
	}
	slices.SortFunc(tools, func(a, b abi.Tool) int { return strings.Compare(a.Name, b.Name) })
	return tools, nil
}

// offers returns the client's tools; those that it has by what it has declared come first.
func (h *Host) offers(ctx context.Context) (tools []abi.Tool) {
	for _, own := range ownTools() {
		if own.declared(&h.client.Declared) {
			tools = append(tools, own.tool)
		}
	}
	list, err := h.listTools(ctx)
	if err != nil && ctx.Err() == nil {
		h.all.cfg.Log.Warn("the tools of a client cannot be listed", "session", h.client.Session, "error", err)
	}
	for i := range list {
		tools = append(tools, list[i].tool(h.all.cfg.Hints))
	}
	return tools
}

// Find implements [tool.PerCall].
func (hs *Hosts) Find(ctx context.Context, c *provider.Call, name string) (*tool.Found, error) {
	hs.await(ctx, c.Tenant, c.SessionID)
	for _, h := range hs.of(c.Tenant, c.SessionID) {
		if found := h.find(ctx, c, name); found != nil {
			return found, nil
		}
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return nil, provider.Refuse(abi.CallNotFound, tool.CodeUnknown, "no client of this session has a tool "+name)
}

// find returns the client's tool of a name; nil for none.
func (h *Host) find(ctx context.Context, c *provider.Call, name string) *tool.Found {
	for _, own := range ownTools() {
		if own.tool.Name == name && own.declared(&h.client.Declared) {
			return &tool.Found{Tool: own.tool, By: h.client.Actor, Call: func(ctx context.Context, arguments jsontext.Value) (*abi.CallToolCallAnswer, error) {
				return own.call(ctx, h, arguments)
			}}
		}
	}
	list, err := h.listTools(ctx)
	i := slices.IndexFunc(list, func(t listed) bool { return t.Name == name })
	if err != nil || i < 0 {
		return nil
	}
	t := list[i].tool(h.all.cfg.Hints)
	return &tool.Found{Tool: t, By: h.client.Actor, Call: func(ctx context.Context, arguments jsontext.Value) (*abi.CallToolCallAnswer, error) {
		return h.callBuiltin(ctx, c, &t, arguments)
	}}
}

// builtinCall are the params of builtin_call.
type builtinCall struct {
	Name string           `json:"name"`
	Args []jsontext.Value `json:"args"`
	Meta builtinMeta      `json:"_meta"`
}

type builtinMeta struct {
	Harn builtinAbout `json:"harn"`
}

// builtinAbout says what a call belongs to. CallID is the same when the very call is made again.
type builtinAbout struct {
	SessionID string `json:"sessionId"`
	TaskID    string `json:"taskId"`
	CallID    string `json:"callId"`
}

// callBuiltin calls a tool that the client has listed. One that it has no more has it asked for its
// list again.
func (h *Host) callBuiltin(ctx context.Context, c *provider.Call, t *abi.Tool, arguments jsontext.Value) (*abi.CallToolCallAnswer, error) {
	result, err := h.askHarn(ctx, MethodBuiltin, builtinCall{Name: t.Name, Args: []jsontext.Value{arguments},
		Meta: builtinMeta{builtinAbout{SessionID: h.client.SessionID, TaskID: c.TaskID, CallID: c.IdempotencyKey}}})
	if refused, ok := errors.AsType[Refused](err); ok {
		if code, _ := refused.Answered(); code == codeMethodNotFound {
			h.ToolsChanged()
		}
	}
	if err != nil {
		return failed(ctx, err, t.Name, t.ReadOnly)
	}
	return told(result), nil
}

// told is what a client answers, as plugins read it: a text as it is, anything else as JSON.
func told(result jsontext.Value) *abi.CallToolCallAnswer {
	switch result.Kind() {
	case 'n', 0:
		return &abi.CallToolCallAnswer{}
	case '"':
		var s string
		if json.Unmarshal(result, &s) == nil {
			return text(s)
		}
	}
	answer := text(string(result))
	answer.Structured = result
	return answer
}

func text(s string) *abi.CallToolCallAnswer {
	return &abi.CallToolCallAnswer{Content: []abi.ToolContent{{Type: "text", Text: s}}}
}

// structured is a tool's answer for programs, and in words.
func structured(v any, words string) (*abi.CallToolCallAnswer, error) {
	raw, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		return nil, err
	}
	answer := text(words)
	answer.Structured = raw
	return answer, nil
}

// wrong is the answer of a tool that says itself that it failed.
func wrong(why string) *abi.CallToolCallAnswer {
	answer := text(why)
	answer.IsError = true
	return answer
}

// maxMessage is how much of the message of a client's error a plugin is told, in bytes.
const maxMessage = 2 << 10

// failed says what became of a tool's call that the client has not done: its error is what a plugin
// is told of it, and what it says itself is an answer. reads says that nothing was changed by it.
func failed(ctx context.Context, err error, name string, reads bool) (*abi.CallToolCallAnswer, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if refused, ok := errors.AsType[Refused](err); ok {
		code, message := refused.Answered()
		message = cmp.Or(short(message), "the client says that it failed")
		switch code {
		case codeMethodNotFound:
			return nil, provider.Refuse(abi.CallNotFound, tool.CodeUnknown, "the client has no tool "+name+" any more: "+message)
		case codeInvalidParams:
			return nil, provider.Refuse(abi.CallInvalid, tool.CodeRejected, "the client does not take these arguments: "+message)
		case codeRejected:
			return nil, provider.Refuse(abi.CallDenied, tool.CodeRejected, "the client has rejected the call: "+message)
		}
		return wrong(message), nil
	}
	if bad, ok := errors.AsType[*unreadable](err); ok {
		return nil, provider.Refuse(abi.CallUnavailable, tool.CodeUnavailable, short(bad.Error()))
	}
	if reads {
		return nil, provider.Refuse(abi.CallUnavailable, tool.CodeUnavailable, "the client left before it answered")
	}
	return nil, provider.Refuse(abi.CallIndeterminate, tool.CodeUnavailable, "the client left before it answered; whether it did what it was asked is not known")
}

func short(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= maxMessage {
		return s
	}
	cut := maxMessage
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + " …"
}
