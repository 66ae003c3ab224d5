package harn

import (
	"context"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/abi/jsonw"
	"github.com/wharf-dev/wharf/gateway/api"
)

// The most that one client may offer: tools, and bytes of their descriptions.
const (
	maxClientTools     = 64
	maxClientToolBytes = 128 << 10
)

type (
	registerCommand struct {
		Tools []clientTool `json:"tools"`
	}
	// clientTool is an abi.Tool without its server.
	clientTool struct {
		Name        string         `json:"name"`
		Description string         `json:"description,omitzero"`
		InputSchema jsontext.Value `json:"input_schema,omitzero" doc:"A JSON Schema of the arguments."`
		ReadOnly    bool           `json:"read_only,omitzero" doc:"It changes nothing, so that a call may be made again after the node died. No policy takes the client's word for it."`
		Idempotent  bool           `json:"idempotent,omitzero" doc:"Calling it again with the same 'call_id' changes nothing more."`
		Destructive bool           `json:"destructive,omitzero" doc:"A call of it can destroy something."`
	}
	resultCommand struct {
		CallID     string            `json:"call_id" doc:"That of the call."`
		Content    []abi.ToolContent `json:"content,omitzero" doc:"What the tool gave, for a model to read."`
		Structured jsontext.Value    `json:"structured,omitzero" doc:"What it gave, for programs."`
		IsError    bool              `json:"is_error,omitzero" doc:"The call has failed; the content says why."`
	}
)

// registerTools offers the client's tools to the Tasks of its Session.
func (a *Adapter) registerTools(q *request, b *registerCommand) ([]byte, error) {
	s := q.socket
	if a.clients == nil {
		return nil, abi.Errorf(abi.CodeNotImplemented, "this node takes no tools of clients")
	}
	if s.session == "" {
		return nil, abi.InvalidParam("type", "tools are offered on the socket of a Session")
	}
	tools, err := offered(b.Tools)
	if err != nil {
		return nil, err
	}
	former := s.client
	s.client = nil
	if len(tools) > 0 {
		if s.client, err = a.clients.Connect(s.tenant, s.session, q.caller.Actor, tools, s); err != nil {
			s.client = former
			return nil, abi.Errorf(abi.CodeConflict, "%v", err)
		}
	}
	if former != nil {
		former.Close()
	}
	return ack(q.ID, nil, false), nil
}

// offered checks what a client offers. The frame that it came in is not kept.
func offered(tools []clientTool) ([]abi.Tool, error) {
	if len(tools) > maxClientTools {
		return nil, abi.InvalidParam("tools", "a client offers at most %d tools", maxClientTools)
	}
	all, size, seen := make([]abi.Tool, 0, len(tools)), 0, map[string]bool{}
	for i, t := range tools {
		at := "tools[" + strconv.Itoa(i) + "]"
		if err := api.CheckToolName(t.Name); err != nil {
			return nil, abi.InvalidParam(at+".name", "%v", err)
		}
		switch {
		case seen[t.Name]:
			return nil, abi.InvalidParam(at+".name", "the tool %q is offered twice", t.Name)
		case t.InputSchema != nil && t.InputSchema.Kind() != '{':
			return nil, abi.InvalidParam(at+".input_schema", "input_schema is a JSON object")
		}
		seen[t.Name] = true
		size += len(t.Name) + len(t.Description) + len(t.InputSchema)
		all = append(all, abi.Tool{Name: t.Name, Description: t.Description, InputSchema: t.InputSchema.Clone(),
			ReadOnly: t.ReadOnly, Idempotent: t.Idempotent, Destructive: t.Destructive})
	}
	if size > maxClientToolBytes {
		return nil, abi.InvalidParam("tools", "the descriptions of all tools have at most %d bytes", maxClientToolBytes)
	}
	return all, nil
}

// toolResult hands over what the client answers to a call.
func (a *Adapter) toolResult(q *request, b *resultCommand) ([]byte, error) {
	answer := &abi.CallToolCallAnswer{Content: b.Content, Structured: b.Structured.Clone(), IsError: b.IsError}
	if q.socket.client == nil || !q.socket.client.Answer(b.CallID, answer) {
		return nil, abi.Errorf(abi.CodeConflict, "no call %q waits for an answer of this client", b.CallID)
	}
	return ack(q.ID, nil, false), nil
}

var _ api.ToolClientHost = (*socket)(nil)

// CallTool implements [api.ToolClientHost].
func (s *socket) CallTool(_ context.Context, c *api.ToolClientCall) error {
	o := jsonw.Begin(nil)
	o.Text("type", "tool.call")
	o.Optional("call_id", c.ID)
	o.Optional("task_id", c.TaskID)
	o.Optional("name", c.Name)
	o.JSON("arguments", c.Arguments)
	o.OptionalTime("deadline_at", c.Deadline)
	return s.ws.Send(o.End())
}

// CancelTool implements [api.ToolClientHost].
func (s *socket) CancelTool(id string) {
	o := jsonw.Begin(nil)
	o.Text("type", "tool.cancel")
	o.Optional("call_id", id)
	_ = s.ws.Send(o.End())
}
