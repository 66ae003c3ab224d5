package updates

import (
	"cmp"
	"slices"
	"strings"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway/acp/shapes"
)

// The discriminators of tool calls, and their statuses.
const (
	toolCall       = "tool_call"
	toolCallUpdate = "tool_call_update"

	statusPending    = "pending"
	statusInProgress = "in_progress"
	statusCompleted  = "completed"
	statusFailed     = "failed"
)

// kinds are those of the protocol. A tool of another kind is told without one.
var kinds = []abi.ToolKind{"read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other"}

// calls are the tool calls that were told to begin and have not ended.
type calls struct {
	open   map[string]*call // by their ids at the client
	order  []string
	closed map[string]string // those that were ended before their end came, with their Tasks
}

// call is a tool call that was told.
type call struct {
	task   string
	status string
	denied bool // somebody has said no
}

func (c *calls) add(id string, of *call) {
	c.open[id] = of
	c.order = append(c.order, id)
}

func (c *calls) remove(id string) {
	delete(c.open, id)
	c.order = slices.DeleteFunc(c.order, func(one string) bool { return one == id })
}

// toolEvent is what is read of a tool call's events.
type toolEvent struct {
	Tool        *abi.ToolUse   `json:"tool"`
	Request     jsontext.Value `json:"request"`
	RequestText string         `json:"request_text"`
	Answer      jsontext.Value `json:"answer"`
	AnswerText  string         `json:"answer_text"`
}

// update is a tool call as it is told.
type update struct {
	SessionUpdate string            `json:"sessionUpdate"`
	ToolCallID    string            `json:"toolCallId"`
	Title         string            `json:"title,omitzero"`
	Kind          abi.ToolKind      `json:"kind,omitzero"`
	Status        string            `json:"status,omitzero"`
	Content       []content         `json:"content,omitzero"`
	Locations     []shapes.Location `json:"locations,omitzero"`
	RawInput      jsontext.Value    `json:"rawInput,omitzero"`
	RawOutput     jsontext.Value    `json:"rawOutput,omitzero"`
	Meta          *shapes.Meta      `json:"_meta,omitzero"`
}

// content is a piece of what a tool call has resulted in.
type content struct {
	Type    string        `json:"type"`
	Content *shapes.Block `json:"content,omitzero"`
	Path    string        `json:"path,omitzero"` // of a diff
	OldText *string       `json:"oldText,omitzero"`
	NewText *string       `json:"newText,omitzero"`
}

// lifecycle is what Harn says of a tool call.
type lifecycle struct {
	Audit               *abi.MutationSession  `json:"audit,omitzero"`
	Executor            any                   `json:"executor,omitzero"`
	DurationMs          *int64                `json:"durationMs,omitzero"`
	ExecutionDurationMs *int64                `json:"executionDurationMs,omitzero"`
	Error               string                `json:"error,omitzero"`
	ErrorCategory       abi.ToolErrorCategory `json:"errorCategory,omitzero"`
}

func (l lifecycle) meta() *shapes.Meta {
	if l == (lifecycle{}) {
		return nil
	}
	return &shapes.Meta{Harn: l}
}

// executor names what runs a tool, in Harn's words; nil where that is not known.
func executor(u *abi.ToolUse) any {
	switch u.Executor {
	case abi.ExecutorHarn, abi.ExecutorClient:
		return string(u.Executor)
	case abi.ExecutorServer:
		return mcpServer{"mcp_server", u.Server}
	}
	return nil
}

type mcpServer struct {
	Kind       string `json:"kind"`
	ServerName string `json:"serverName"`
}

// millis returns microseconds as milliseconds; nil where nobody has measured any.
func millis(us int64) *int64 {
	if us <= 0 {
		return nil
	}
	ms := (us + 500) / 1000
	return &ms
}

func (t *Teller) audit(task string) *abi.MutationSession {
	if t.f.Audit == nil || task == "" {
		return nil
	}
	return t.f.Audit(task)
}

// toolRequested tells that a tool is called.
func (t *Teller) toolRequested(ev *abi.Event, o *told) {
	p, ok := payload[toolEvent](ev)
	if !ok || p.Tool == nil || p.Tool.CallID == "" {
		return
	}
	t.begin(ev.TaskID, p, statusInProgress, o)
}

// begin tells that a call has begun, unless it was told.
func (t *Teller) begin(task string, p *toolEvent, status string, o *told) {
	id := shapes.ToolCallID(task, p.Tool.CallID)
	if _, closed := t.calls.closed[id]; closed {
		return
	}
	u := update{SessionUpdate: toolCall, ToolCallID: id, Status: status}
	if c := t.calls.open[id]; c != nil {
		if c.status == status {
			return // another start of its Task tells it again
		}
		c.status = status
		u.SessionUpdate = toolCallUpdate
	} else {
		t.calls.add(id, &call{task: task, status: status})
	}
	t.describe(&u, task, p)
	t.lastChunk = ""
	o.add(u)
}

// describe says which tool it is, and what it is called with.
func (t *Teller) describe(u *update, task string, p *toolEvent) {
	u.Title = cmp.Or(p.Tool.Name, "tool")
	if slices.Contains(kinds, p.Tool.Kind) {
		u.Kind = p.Tool.Kind
	}
	u.RawInput = p.arguments()
	if p.Tool.Server == abi.ToolServerHost || p.Tool.Server == abi.ToolServerClient { // the files of others lie elsewhere
		u.Locations = t.locations(u.RawInput)
	}
	u.Meta = lifecycle{Audit: t.audit(task)}.meta()
}

// arguments returns what a tool is called with, as far as this reader may see it.
func (p *toolEvent) arguments() jsontext.Value {
	text := p.Request
	if len(text) == 0 {
		text = jsontext.Value(p.RequestText)
	}
	var asked struct {
		Arguments jsontext.Value `json:"arguments"`
	}
	if text.Kind() != '{' || json.Unmarshal(text, &asked) != nil {
		return nil
	}
	return asked.Arguments
}

// locations returns the files that arguments name.
func (t *Teller) locations(arguments jsontext.Value) []shapes.Location {
	var named struct {
		Path  jsontext.Value `json:"path"`
		Paths jsontext.Value `json:"paths"`
		Line  jsontext.Value `json:"line"`
	}
	if arguments.Kind() != '{' || json.Unmarshal(arguments, &named) != nil {
		return nil
	}
	var files []string
	if file, ok := stringOf(named.Path); ok {
		files = append(files, file)
	}
	var more []string
	if named.Paths.Kind() == '[' && json.Unmarshal(named.Paths, &more) == nil {
		files = append(files, more...)
	}
	var all []shapes.Location
	for _, file := range files {
		if l, ok := shapes.LocationOf(t.f.Root, file); ok {
			all = append(all, l)
		}
	}
	if line := lineOf(named.Line); line != nil && len(all) == 1 {
		all[0].Line = line
	}
	return all
}

// lineOf reads the number of a line; nil for what is none.
func lineOf(v jsontext.Value) *int {
	var line uint32
	if v.Kind() != '0' || json.Unmarshal(v, &line) != nil {
		return nil
	}
	n := int(line)
	return &n
}

// stringOf returns the string that v is.
func stringOf(v jsontext.Value) (string, bool) {
	var s string
	if v.Kind() != '"' || json.Unmarshal(v, &s) != nil {
		return "", false
	}
	return s, true
}

// toolEnded tells how a call has ended, and before that that it has begun where that was not told.
func (t *Teller) toolEnded(ev *abi.Event, o *told) {
	p, ok := payload[toolEvent](ev)
	if !ok || p.Tool == nil || p.Tool.CallID == "" {
		return
	}
	id := shapes.ToolCallID(ev.TaskID, p.Tool.CallID)
	if _, closed := t.calls.closed[id]; closed {
		delete(t.calls.closed, id)
		return
	}
	if t.calls.open[id] == nil {
		t.begin(ev.TaskID, p, statusInProgress, o)
	}
	t.calls.remove(id)
	u := update{SessionUpdate: toolCallUpdate, ToolCallID: id, Status: statusCompleted, Title: cmp.Or(p.Tool.Name, "tool")}
	about := lifecycle{Audit: t.audit(ev.TaskID), Executor: executor(p.Tool), DurationMs: millis(p.Tool.DurationUs),
		ExecutionDurationMs: millis(p.Tool.ExecutionUs), ErrorCategory: p.Tool.ErrorCategory}
	a := p.answered()
	if ev.Event == abi.EventToolDenied {
		about.ErrorCategory = cmp.Or(about.ErrorCategory, abi.ToolErrorDenied)
	}
	if ev.Event != abi.EventToolCompleted || about.ErrorCategory != "" || a.failed {
		u.Status = statusFailed
		about.ErrorCategory = cmp.Or(about.ErrorCategory, abi.ToolErrorOwn)
		about.Error = cmp.Or(a.failure, errorWords[about.ErrorCategory], "the tool has failed")
	}
	u.RawOutput, u.Content = a.raw, a.content
	if d, ok := t.diff(p.Tool, a.structured); ok {
		u.Content = append(u.Content, d)
	}
	u.Meta = about.meta()
	o.add(u)
}

// errorWords say in which way a call has failed of which a reader may see no more.
var errorWords = map[abi.ToolErrorCategory]string{
	abi.ToolErrorSchema:     "the arguments do not fit, or there is no such tool",
	abi.ToolErrorDenied:     "the call was denied",
	abi.ToolErrorTimeout:    "the tool has not answered in time",
	abi.ToolErrorServer:     "the tool's server has given no answer",
	abi.ToolErrorHostBridge: "the client has given no answer",
	abi.ToolErrorUnknown:    "nobody knows whether the call was made",
	abi.ToolErrorCancelled:  "the task has ended meanwhile",
}

// answer is what a tool has answered, as far as this reader may see it.
type answer struct {
	raw        jsontext.Value
	structured jsontext.Value
	content    []content
	failed     bool
	failure    string
}

// answered reads what a tool, or the node in its place, has answered.
func (p *toolEvent) answered() answer {
	text := p.Answer
	if len(text) == 0 {
		text = jsontext.Value(p.AnswerText)
	}
	if text.Kind() != '{' {
		return answer{}
	}
	var read struct {
		abi.CallToolCallAnswer `json:",inline"`
		Code                   string `json:"code"`
		Message                string `json:"message"`
	}
	if json.Unmarshal(text, &read) != nil {
		return answer{}
	}
	if read.Content == nil && read.Code != "" {
		return answer{failed: true, failure: cmp.Or(read.Message, read.Code)}
	}
	a := answer{structured: read.Structured, raw: read.Structured, failed: read.IsError}
	var words []string
	onlyWords := true
	for i := range read.Content {
		c := &read.Content[i]
		b, ok := shapes.ToolBlock(c)
		if !ok {
			continue
		}
		a.content = append(a.content, content{Type: "content", Content: &b})
		onlyWords = onlyWords && b.Text != nil
		if b.Text != nil {
			words = append(words, *b.Text)
		}
	}
	if a.failed {
		a.failure = strings.Join(words, "\n")
	}
	if len(a.raw) == 0 && onlyWords && len(words) > 0 { // images and sounds are content, and not told twice
		a.raw, _ = json.Marshal(strings.Join(words, "\n"))
	}
	return a
}

// diff returns the change of a file that a tool which edits says it has made.
func (t *Teller) diff(tool *abi.ToolUse, structured jsontext.Value) (content, bool) {
	var change struct {
		Path    string  `json:"path"`
		OldText *string `json:"old_text"`
		NewText *string `json:"new_text"`
	}
	if tool.Kind != abi.ToolKindEdit || structured.Kind() != '{' || json.Unmarshal(structured, &change) != nil || change.NewText == nil {
		return content{}, false
	}
	l, ok := shapes.LocationOf(t.f.Root, change.Path)
	return content{Type: "diff", Path: l.Path, OldText: change.OldText, NewText: change.NewText}, ok
}

// Open returns the ids of the tool calls of a Task, or of all Tasks for "", that were told and have not
// ended, in the order in which they were told.
func (t *Teller) Open(task string) []string {
	var ids []string
	for _, id := range t.calls.order {
		if task == "" || t.calls.open[id].task == task {
			ids = append(ids, id)
		}
	}
	return ids
}

// Close returns updates which tell that the tool calls of a Task, or of all Tasks for "", that are open
// were cancelled. They are told once: their own ends tell nothing more.
func (t *Teller) Close(task string) []jsontext.Value {
	o := &told{}
	for _, id := range t.Open(task) {
		of := t.calls.open[id].task
		t.cut(id, statusFailed, abi.ToolErrorCancelled, o)
		if t.calls.closed == nil {
			t.calls.closed = map[string]string{}
		}
		t.calls.closed[id] = of
	}
	return o.all
}

// cut ends a call of which no end is told.
func (t *Teller) cut(id, status string, category abi.ToolErrorCategory, o *told) {
	about := lifecycle{Audit: t.audit(t.calls.open[id].task)}
	if status == statusFailed {
		about.ErrorCategory, about.Error = category, errorWords[category]
	}
	t.calls.remove(id)
	o.add(update{SessionUpdate: toolCallUpdate, ToolCallID: id, Status: status, Meta: about.meta()})
}

// leave ends the calls that a Task leaves open: the reader may not see how they have ended, or they
// have not. Of a Task that has succeeded all have.
func (t *Teller) leave(task string, end abi.EventKind, o *told) {
	for _, id := range t.Open(task) {
		switch {
		case t.calls.open[id].denied:
			t.cut(id, statusFailed, abi.ToolErrorDenied, o)
		case end == abi.EventTaskCompleted:
			t.cut(id, statusCompleted, "", o)
		case end == abi.EventTaskCanceled:
			t.cut(id, statusFailed, abi.ToolErrorCancelled, o)
		default:
			t.cut(id, statusFailed, abi.ToolErrorUnknown, o)
		}
	}
	for id, of := range t.calls.closed {
		if of == task {
			delete(t.calls.closed, id)
		}
	}
}
