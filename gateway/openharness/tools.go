package openharness

import (
	"errors"
	"slices"
	"strconv"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/gateway/api"
	"github.com/wharf-dev/wharf/gateway/openharness/mapper"
)

func (a *Adapter) toolRoutes() []gateway.Route {
	const reads, writes, calls = "tools:read", abi.ScopeToolsWrite, "tasks:write"
	stream := post("tools/{toolId}/invoke/stream", "tools.invokeStream", calls, "Call a tool, and stream what it answers", statusOK, a.at(a.streamTool))
	stream.Media = gateway.MediaEventStream
	return []gateway.Route{
		read("tools", "tools.list", reads, "List tools", a.at(a.listTools)),
		post("tools", "tools.register", writes, "Register a tool", statusCreated, a.at(a.registerTool)),
		read("tools/{toolId}", "tools.get", reads, "Get a tool", a.at(a.getTool)),
		remove("tools/{toolId}", "tools.unregister", writes, "Unregister a tool", a.at(a.unregisterTool)),
		post("tools/{toolId}/invoke", "tools.invoke", calls, "Call a tool", statusOK, a.at(a.invokeTool)),
		stream,
	}
}

// toolSource says where a tool comes from.
type toolSource string

const (
	sourceBuiltin toolSource = "builtin"
	sourceMCP     toolSource = "mcp"
	sourceSkill   toolSource = "skill"
	sourceCustom  toolSource = "custom"
)

var sources = map[string]toolSource{api.ToolOfHost: sourceBuiltin, api.ToolOfServer: sourceMCP, api.ToolOfSkill: sourceSkill, api.ToolOfOwn: sourceCustom}

// shownTool is a tool as the protocol shows it.
type shownTool struct {
	ID          string         `json:"id"`
	Name        string         `json:"name"`
	Description string         `json:"description"`
	Source      toolSource     `json:"source"`
	SourceID    string         `json:"source_id,omitzero"`
	InputSchema jsontext.Value `json:"input_schema"`
	// Secret signs the requests that call the tool. Only the answer that has made it has one.
	Secret string `json:"secret,omitzero"`
}

type toolAnswer struct {
	Tool shownTool `json:"tool"`
}

func toolOf(t *api.WorkspaceTool) shownTool {
	shown := shownTool{ID: t.ID, Name: t.Name, Description: t.Description, Source: sources[t.From], SourceID: t.FromID, InputSchema: t.InputSchema}
	if t.Title != "" {
		shown.Name = t.Title
	}
	return shown
}

func (a *Adapter) listTools(r *gateway.Request, h *abi.Harness) error {
	source, err := oneOf(r, "source", sourceBuiltin, sourceMCP, sourceSkill, sourceCustom)
	if err != nil {
		return err
	}
	tools, err := a.core.WorkspaceTools(r.Context(), r.Caller, h.WorkspaceID, a.has.Tools)
	if err != nil {
		return err
	}
	all := []shownTool{}
	for i := range tools {
		if one := toolOf(&tools[i]); source == "" || one.Source == source {
			all = append(all, one)
		}
	}
	return page(r, all, "tools")
}

func (a *Adapter) getTool(r *gateway.Request, h *abi.Harness) error {
	t, err := a.core.WorkspaceTool(r.Context(), r.Caller, h.WorkspaceID, r.PathValue("toolId"), a.has.Tools)
	if err != nil {
		return err
	}
	return send(r, statusOK, toolAnswer{toolOf(t)})
}

type registerToolRequest struct {
	Name        string         `json:"name"`
	Description string         `json:"description"`
	InputSchema jsontext.Value `json:"input_schema"`
	Handler     struct {
		Type    string   `json:"type"`
		URL     string   `json:"url"`
		Command string   `json:"command"`
		Args    []string `json:"args"`
	} `json:"handler"`
}

// handlerOf returns what answers the calls of a tool.
func (q *registerToolRequest) handlerOf() (h abi.ToolHandler, err error) {
	switch q.Handler.Type {
	case "webhook":
		if q.Handler.URL == "" {
			return h, abi.InvalidParam("handler.url", "missing url")
		}
		return abi.ToolHandler{URL: q.Handler.URL, Signature: &abi.WebhookSignature{Header: headerSignature, Prefix: "sha256="}}, nil
	case "command":
		if q.Handler.Command == "" {
			return h, abi.InvalidParam("handler.command", "missing command")
		}
		return abi.ToolHandler{Command: q.Handler.Command, Args: q.Handler.Args}, nil
	}
	return h, abi.InvalidParam("handler.type", "the type of a handler is webhook or command, not %q", q.Handler.Type)
}

func (a *Adapter) registerTool(r *gateway.Request, h *abi.Harness) error {
	req, retry, err := decode[registerToolRequest](r)
	if err != nil {
		return err
	}
	handler, err := req.handlerOf()
	if err != nil {
		return err
	}
	made, err := a.core.CreateCustomTool(r.Context(), r.Caller, retry, abi.CreateCustomToolRequest{WorkspaceID: h.WorkspaceID,
		Name: req.Name, Description: req.Description, InputSchema: req.InputSchema, Handler: handler})
	if err != nil {
		return notAllowed(err)
	}
	t, err := as[shownTool](made)
	if err != nil {
		return err
	}
	t.Source = sourceCustom
	return sent(r, statusCreated, made, toolAnswer{t})
}

func (a *Adapter) unregisterTool(r *gateway.Request, h *abi.Harness) error {
	retry, err := r.Retry(nil)
	if err != nil {
		return err
	}
	if err := a.core.DeleteWorkspaceTool(r.Context(), r.Caller, retry, h.WorkspaceID, r.PathValue("toolId"), a.has.Tools); err != nil {
		return err
	}
	return empty(r)
}

type invokeRequest struct {
	Input jsontext.Value `json:"input"`
}

// invoked accepts the Task that calls the tool which the path names, in a Session that is hidden.
func (a *Adapter) invoked(r *gateway.Request, h *abi.Harness) (task api.View, err error) {
	req, retry, err := decode[invokeRequest](r)
	if err != nil {
		return task, err
	}
	if req.Input.Kind() != '{' {
		return task, abi.InvalidParam("input", "input is an object: what the tool is called with")
	}
	t, err := a.core.WorkspaceTool(r.Context(), r.Caller, h.WorkspaceID, r.PathValue("toolId"), a.has.Tools)
	if err != nil {
		return task, err
	}
	if err := a.core.CheckToolInput(r.Context(), t, req.Input); err != nil {
		return task, err
	}
	invocation, run, err := t.Invocation(req.Input)
	if err != nil {
		return task, err
	}
	input, err := json.Marshal(invocation, json.Deterministic(true))
	if err != nil {
		return task, err
	}
	session := &abi.TaskSession{CreateSessionRequest: abi.CreateSessionRequest{WorkspaceID: h.WorkspaceID, PersonaID: api.PersonaInvoke}, Hidden: true}
	return a.core.SubmitTask(r.Context(), r.Caller, retry, abi.SubmitTaskRequest{Input: input, Session: session, PersonaID: api.PersonaInvoke, Run: run})
}

// invocation is what came of a call.
type invocation struct {
	Success    bool           `json:"success"`
	Output     jsontext.Value `json:"output"`
	DurationMS int64          `json:"duration_ms"`
	Error      string         `json:"error,omitzero"`
	// ExecutionID is the execution that has called the tool.
	ExecutionID string `json:"execution_id"`
	StreamURL   string `json:"stream_url,omitzero"` // while it runs
}

func (a *Adapter) invokeTool(r *gateway.Request, h *abi.Harness) error {
	accepted, err := a.invoked(r, h)
	if err != nil {
		return err
	}
	task, err := a.wait(r, accepted.ID)
	if err != nil {
		return err
	}
	answer := invocation{Output: jsontext.Value("{}"), DurationMS: tookMS(task), ExecutionID: task.ID}
	if !task.Status.Terminal() {
		answer.Error, answer.StreamURL = "the tool has not answered yet", prefix+"/"+h.Name+"/executions/"+task.ID+"/stream"
		return sent(r, statusAccepted, accepted, answer)
	}
	if err := a.answered(r, task, &answer); err != nil {
		return err
	}
	return sent(r, statusOK, accepted, answer)
}

func tookMS(t *abi.Task) int64 {
	if t.StartedAt.IsZero() || t.CompletedAt.IsZero() {
		return 0
	}
	return t.CompletedAt.Sub(t.StartedAt).Milliseconds()
}

// answered fills in what a tool has answered to a Task that has ended.
func (a *Adapter) answered(r *gateway.Request, task *abi.Task, answer *invocation) error {
	if task.Status != abi.TaskCompleted {
		answer.Error = failureOf(task).Message
		return nil
	}
	list, err := a.core.Messages(r.Context(), r.Caller, task.SessionID, api.Page{Limit: 10})
	if err != nil {
		return err
	}
	for _, view := range slices.Backward(list.Views) {
		m, err := as[abi.Message](view)
		if err != nil {
			return err
		}
		if said, ok := answerOf(&m); ok {
			answer.Success, answer.Output, answer.Error = !said.IsError, said.output(), said.wrong()
			return nil
		}
	}
	return errors.New("a task that has called a tool has no answer of it")
}

// failureOf says why a Task has not completed.
func failureOf(task *abi.Task) abi.Failure {
	if task.Failure != nil {
		return *task.Failure
	}
	return abi.Failure{Code: "canceled", Message: "the call was canceled"}
}

// toolSaid is what a tool has answered.
type toolSaid struct {
	Content    []jsontext.Value `json:"content"`
	Structured jsontext.Value   `json:"structured"`
	IsError    bool             `json:"is_error"`
}

// answerOf reads what a tool has answered of the Message that the Task has left.
func answerOf(m *abi.Message) (said toolSaid, ok bool) {
	if m.Role != abi.RoleAssistant || len(m.Parts) != 1 || m.Parts[0].Type != abi.PartJSON {
		return said, false
	}
	return said, json.Unmarshal(m.Parts[0].Value, &said) == nil
}

// output is the structured answer, or else its blocks of content.
func (s *toolSaid) output() jsontext.Value {
	if s.Structured.Kind() == '{' {
		return s.Structured
	}
	blocks := s.Content
	if blocks == nil {
		blocks = []jsontext.Value{}
	}
	text, err := json.Marshal(map[string]any{"content": blocks}, json.Deterministic(true))
	if err != nil {
		return jsontext.Value("{}")
	}
	return text
}

// wrong is what a tool says that failed; "" for one that did not.
func (s *toolSaid) wrong() string {
	if !s.IsError {
		return ""
	}
	for _, block := range s.Content {
		var said struct {
			Text string `json:"text"`
		}
		if json.Unmarshal(block, &said) == nil && said.Text != "" {
			return said.Text
		}
	}
	return "the tool says that it has failed"
}

func (a *Adapter) streamTool(r *gateway.Request, h *abi.Harness) error {
	at, told, err := resumeAt(r, 0)
	if err != nil {
		return err
	}
	if at > 0 && r.Header("Idempotency-Key") == "" {
		return abi.InvalidParam("Last-Event-ID", "the stream of a call goes on with the Idempotency-Key that the call was made with")
	}
	task, err := a.invoked(r, h)
	if err != nil {
		return err
	}
	t := &toolTeller{at: at, told: told}
	return a.stream(r, api.Filter{TaskID: task.ID}, max(at, 1)-1, t)
}

// toolTeller tells what comes of a call of a tool.
type toolTeller struct {
	at     api.Cursor // the last entry of which the client was told something
	told   int        // and how many events of it it was told before that one
	failed bool
}

// toolEvent is what a stream tells. Its members follow from its type.
type toolEvent struct {
	Type       string         `json:"type"`
	Data       jsontext.Value `json:"data,omitzero"`
	Percentage *float64       `json:"percentage,omitzero"`
	Message    *string        `json:"message,omitzero"`
	Code       string         `json:"code,omitzero"`
	Success    *bool          `json:"success,omitzero"`
	DurationMS *int64         `json:"duration_ms,omitzero"`
}

// tell implements teller.
func (t *toolTeller) tell(b []byte, ev *api.Event) ([]byte, bool) {
	var logged struct {
		Kind    abi.EventKind `json:"event"`
		Payload struct {
			Task     *abi.Task      `json:"task"`
			Message  jsontext.Value `json:"message"` // a Message; of progress, a text
			Fraction float64        `json:"fraction"`
			Redacted bool           `json:"redacted"`
		} `json:"payload"`
	}
	_ = json.Unmarshal(ev.AppendJSON(nil, false), &logged) // of what is told, what is read of it has these types
	switch p := logged.Payload; logged.Kind {
	case abi.EventAgentMessage:
		var m abi.Message
		if json.Unmarshal(p.Message, &m) == nil {
			return t.frames(b, ev, t.said(&m)), false
		}
	case abi.EventProgress:
		if !p.Redacted {
			return t.frames(b, ev, []toolEvent{progressed(p.Fraction, p.Message)}), false
		}
	case abi.EventTaskCompleted, abi.EventTaskFailed, abi.EventTaskCanceled:
		if p.Task != nil {
			return t.frames(b, ev, t.end(p.Task)), true
		}
	}
	return b, false
}

// progressed tells how far a tool says it is: 0 when it does not know.
func progressed(fraction float64, message jsontext.Value) toolEvent {
	var says string
	_ = json.Unmarshal(message, &says) // it may have none
	return toolEvent{Type: "progress", Percentage: new(mapper.Percentage(fraction)), Message: &says}
}

// said tells what a tool has answered: its structured answer, or each block of content.
func (t *toolTeller) said(m *abi.Message) (events []toolEvent) {
	said, ok := answerOf(m)
	if !ok {
		return nil
	}
	blocks := said.Content
	if said.Structured.Kind() == '{' {
		blocks = append(blocks, said.Structured)
	}
	for _, block := range blocks {
		events = append(events, toolEvent{Type: "output", Data: block})
	}
	if said.IsError {
		t.failed = true
		events = append(events, toolEvent{Type: "error", Code: "TOOL_ERROR", Message: new(said.wrong())})
	}
	return events
}

func (t *toolTeller) end(task *abi.Task) (events []toolEvent) {
	if task.Status != abi.TaskCompleted {
		t.failed = true
		f := failureOf(task)
		events = append(events, toolEvent{Type: "error", Code: f.Code, Message: new(f.Message)})
	}
	return append(events, toolEvent{Type: "done", Success: new(!t.failed), DurationMS: new(tookMS(task))})
}

// frames appends events, each with the position of what it came of and how many came before.
func (t *toolTeller) frames(b []byte, ev *api.Event, events []toolEvent) []byte {
	for i, one := range events {
		if ev.At == t.at && i <= t.told {
			continue
		}
		id := ev.At.String()
		if i > 0 {
			id += "." + strconv.Itoa(i)
		}
		b = frame(b, id, one.Type, appendJSON(nil, &one))
	}
	return b
}
