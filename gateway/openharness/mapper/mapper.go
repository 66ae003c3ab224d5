package mapper

import (
	"math"
	"slices"
	"strings"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
)

// Separator stands between the texts of two Messages.
const Separator = "\n\n"

// Told is something that a stream of an execution tells. Its members follow from its Type.
type Told struct {
	Type string `json:"type"`

	Content string `json:"content,omitzero"` // of text and thinking

	ID       string         `json:"id,omitzero"` // of a tool call, or an artifact
	Name     string         `json:"name,omitzero"`
	Input    jsontext.Value `json:"input,omitzero"`
	ToolID   string         `json:"tool_id,omitzero"`
	Success  *bool          `json:"success,omitzero"`
	Output   jsontext.Value `json:"output,omitzero"`
	Error    string         `json:"error,omitzero"`
	MimeType *string        `json:"mime_type,omitzero"`
	Size     *int64         `json:"size_bytes,omitzero"`

	Percentage *float64 `json:"percentage,omitzero"`
	Step       *string  `json:"step,omitzero"`
	StepNumber int      `json:"step_number,omitzero"`
	TotalSteps int      `json:"total_steps,omitzero"`
	Waiting    *Waiting `json:"waiting,omitzero"`

	Code        string `json:"code,omitzero"`
	Message     string `json:"message,omitzero"`
	Recoverable *bool  `json:"recoverable,omitzero"`

	Usage         *Usage `json:"usage,omitzero"`
	OutputDiffers bool   `json:"output_differs,omitzero"`

	TookUS int64 `json:"-"` // of a tool's result: how long the call took, where it was told
}

// The types of what is told.
const (
	Text      = "text"
	Thinking  = "thinking"
	ToolStart = "tool_call_start"
	ToolEnd   = "tool_call_end"
	Result    = "tool_result"
	Artifact  = "artifact"
	Progress  = "progress"
	Error     = "error"
	Done      = "done"
)

// Waiting says what an execution waits for.
type Waiting struct {
	Kind      string `json:"kind"`
	Prompt    string `json:"prompt"`
	RequestID string `json:"request_id"`
}

// Usage is what the models of an execution have read and written.
type Usage struct {
	InputTokens  int64 `json:"input_tokens"`
	OutputTokens int64 `json:"output_tokens"`
	TotalTokens  int64 `json:"total_tokens"`
	DurationMS   int64 `json:"duration_ms,omitzero"`
}

// UsageOf returns what an Outcome says that was used, and how long its Task has run.
func UsageOf(metrics jsontext.Value) Usage {
	var m struct {
		Input  int64   `json:"input_tokens"`
		Output int64   `json:"output_tokens"`
		RunMS  float64 `json:"run_ms"`
	}
	if len(metrics) > 0 {
		_ = json.Unmarshal(metrics, &m) // older ones have less
	}
	return Usage{InputTokens: m.Input, OutputTokens: m.Output, TotalTokens: m.Input + m.Output, DurationMS: int64(m.RunMS)}
}

// Mapper makes of a Task's events what is told of an execution. It is used by one goroutine at a
// time. The zero Mapper is at the beginning.
type Mapper struct {
	writing string          // the Message that pieces were told of and that has not come yet
	index   int             // of the call that it answers
	told    strings.Builder // of that Message
	spoken  bool            // text of a Message was told
	differs bool            // something was told that no Message says

	calls map[string]bool // tool calls that were told to begin, until they have ended
	plan  planned
	at    float64 // the percentage that was told last
	used  *Usage
	over  bool
}

// planned is how far a plan is.
type planned struct{ done, total int }

// Over reports whether the end was told.
func (m *Mapper) Over() bool { return m.over }

// Tells reports whether events of a kind may be told at all: others need not be looked at.
func Tells(k abi.EventKind) bool {
	switch k {
	case abi.EventMessageDelta, abi.EventReasoningDelta, abi.EventAgentMessage, abi.EventToolRequested, abi.EventToolCompleted, abi.EventToolFailed, abi.EventToolDenied,
		abi.EventArtifactCreated, abi.EventFileWritten, abi.EventProgress, abi.EventPlan, abi.EventPermissionRequested,
		abi.EventOutcomeCreated, abi.EventTaskCompleted, abi.EventTaskFailed, abi.EventTaskCanceled:
		return true
	}
	return false
}

// Event is an event that is read: what it is told as follows from it and from those before it. It
// serves any number of Mappers, of which none changes it.
type Event struct {
	kind    abi.EventKind
	delta   *abi.MessageDelta // of the kinds that have one, as the others
	message *message
	tool    *toolEvent
	payload *payload
}

// message is what is read of a Message.
type message struct{ id, text string }

// Read reads an event, of which text is what its reader sees. It returns nil for one that is told as
// nothing, and for one that cannot be read: those that follow can.
func Read(kind abi.EventKind, text []byte) *Event {
	if !Tells(kind) {
		return nil
	}
	ev, ok := &Event{kind: kind}, false
	switch kind {
	case abi.EventMessageDelta, abi.EventReasoningDelta:
		ev.delta, ok = payloadOf[abi.MessageDelta](text)
	case abi.EventAgentMessage:
		ev.message, ok = messageOf(text)
	case abi.EventToolRequested, abi.EventToolCompleted, abi.EventToolFailed, abi.EventToolDenied:
		ev.tool, ok = payloadOf[toolEvent](text)
	default:
		ev.payload, ok = payloadOf[payload](text)
	}
	if !ok {
		return nil
	}
	return ev
}

func payloadOf[T any](text []byte) (*T, bool) {
	var ev struct {
		Payload T `json:"payload"`
	}
	err := json.Unmarshal(text, &ev)
	return &ev.Payload, err == nil
}

func messageOf(text []byte) (*message, bool) {
	p, ok := payloadOf[struct {
		Message *abi.Message `json:"message"`
	}](text)
	if !ok || p.Message == nil {
		return nil, false
	}
	return &message{p.Message.ID, TextOf(p.Message)}, true
}

// Event returns what an event is told as, in this order. text is the event as its reader sees it.
func (m *Mapper) Event(kind abi.EventKind, text []byte) []Told {
	if m.over {
		return nil
	}
	return m.Tell(Read(kind, text))
}

// Tell returns what an event that is read is told as, in this order; nothing for nil.
func (m *Mapper) Tell(ev *Event) []Told {
	if m.over || ev == nil {
		return nil
	}
	p := ev.payload
	switch ev.kind {
	case abi.EventMessageDelta:
		return m.piece(ev.delta)
	case abi.EventReasoningDelta:
		if ev.delta.Text == "" {
			return nil // it is withheld
		}
		return []Told{{Type: Thinking, Content: ev.delta.Text}}
	case abi.EventAgentMessage:
		return m.message(ev.message)
	case abi.EventToolRequested:
		return m.begins(ev.tool)
	case abi.EventToolCompleted, abi.EventToolFailed, abi.EventToolDenied:
		return m.ends(ev.kind, ev.tool)
	case abi.EventArtifactCreated:
		return artifact(p.Artifact)
	case abi.EventFileWritten:
		return file(p)
	case abi.EventProgress:
		return m.progress(p)
	case abi.EventPlan:
		return m.planned(p.Steps)
	case abi.EventPermissionRequested:
		return m.waits(p.Request)
	case abi.EventOutcomeCreated:
		return m.outcome(p.Outcome)
	}
	return m.end(ev.kind, p.Task)
}

// payload is what is read of other events.
type payload struct {
	Message  jsontext.Value         `json:"message"` // of progress: a text
	Request  *abi.PermissionRequest `json:"permission_request"`
	Artifact *abi.Artifact          `json:"artifact"`
	Outcome  *abi.Outcome           `json:"outcome"`
	Task     *abi.Task              `json:"task"`
	Steps    []step                 `json:"steps"`
	Fraction float64                `json:"fraction"`
	Type     string                 `json:"type"`
	Path     string                 `json:"path"`
	Size     int64                  `json:"size"`
}

type step struct {
	Title   string `json:"title"`
	Content string `json:"content"`
	Status  string `json:"status"`
}

// TextOf returns the text of a Message that everybody may see; "" of one that is not the agent's.
func TextOf(m *abi.Message) string {
	if m.Role != abi.RoleAssistant && m.Role != abi.RoleAgent {
		return ""
	}
	return WordsOf(m)
}

// WordsOf returns the text of a Message, whoever speaks, that everybody may see.
func WordsOf(m *abi.Message) string {
	var all []string
	for _, p := range m.Parts {
		if p.Type == "text" && p.Text != nil && *p.Text != "" && (p.Visibility == "" || p.Visibility == abi.VisibilityPublic) {
			all = append(all, *p.Text)
		}
	}
	return strings.Join(all, "\n")
}

// Output returns what an execution has said, of the texts of its Messages in their order: the same
// as what its stream tells.
func Output(texts []string) string {
	return strings.Join(slices.DeleteFunc(slices.Clone(texts), func(t string) bool { return t == "" }), Separator)
}

// piece tells what of a text was not told. What was recorded before a call comes before its pieces: a
// text whose Message has not come by then was given up. Other pieces than those of the Message that
// is being written wait for the Message that has them.
func (m *Mapper) piece(d *abi.MessageDelta) []Told {
	if d.MessageID == "" {
		return nil // of an older build
	}
	if m.writing != "" && m.writing != d.MessageID {
		if d.Index <= m.index || d.Offset > 0 {
			return nil
		}
		m.giveUp()
	}
	had := m.told.Len()
	if m.writing == "" {
		had = 0
	}
	if d.Offset > had || d.Offset+len(d.Text) <= had {
		return nil // something before it was lost, or all of it was told
	}
	begins := m.writing == ""
	m.writing, m.index = d.MessageID, d.Index
	rest := d.Text[had-d.Offset:]
	m.told.WriteString(rest)
	return []Told{m.text(rest, begins)}
}

// giveUp ends a text that has no Message. It cannot be taken back.
func (m *Mapper) giveUp() {
	m.writing, m.differs, m.spoken = "", true, true
	m.told.Reset()
}

// message tells what of a Message its pieces have not.
func (m *Mapper) message(msg *message) []Told {
	whole, had := msg.text, ""
	begins := m.writing == ""
	if !begins {
		if had = m.told.String(); m.writing != msg.id {
			if whole == "" {
				return nil
			}
			had, begins = "", true
			m.giveUp()
		}
		m.writing = ""
		m.told.Reset()
	}
	if !strings.HasPrefix(whole, had) {
		m.differs, m.spoken = true, true
		return nil
	}
	var out []Told
	if rest := whole[len(had):]; rest != "" {
		out = append(out, m.text(rest, begins))
	}
	m.spoken = m.spoken || whole != "" || had != ""
	return out
}

// text tells a piece of text. The first of a Message that comes after another begins with what
// stands between them.
func (m *Mapper) text(content string, begins bool) Told {
	if begins && m.spoken {
		content = Separator + content
	}
	return Told{Type: Text, Content: content}
}

// outcome takes over what a Task has used.
func (m *Mapper) outcome(o *abi.Outcome) []Told {
	if o != nil {
		used := UsageOf(o.Metrics)
		m.used = &used
	}
	return nil
}

// end tells the end, which comes last and once.
func (m *Mapper) end(kind abi.EventKind, t *abi.Task) []Told {
	m.over = true
	var out []Told
	if kind != abi.EventTaskCompleted {
		code, message := "canceled", "the execution was canceled"
		if kind == abi.EventTaskFailed {
			code, message = "execution_failed", "the execution has failed"
			if t != nil && t.Failure != nil {
				code, message = t.Failure.Code, t.Failure.Message
			}
		}
		out = append(out, Told{Type: Error, Code: code, Message: message, Recoverable: new(bool)})
	}
	used := m.used
	if used == nil {
		used = &Usage{}
	}
	return append(out, Told{Type: Done, Usage: used, OutputDiffers: m.differs || m.writing != ""})
}

// progress tells how far an execution is. That a tool is halfway says nothing about the execution
// that calls it, where it is told for what the tool says it does.
func (m *Mapper) progress(p *payload) []Told {
	var says string
	_ = json.Unmarshal(p.Message, &says) // it may have none
	switch {
	case p.Type != abi.ProgressOfTool:
		m.at = Percentage(p.Fraction)
	case says == "":
		return nil
	}
	return []Told{m.step(m.at, says)}
}

// Percentage returns a fraction as it is told.
func Percentage(fraction float64) float64 { return math.Round(min(max(fraction, 0), 1)*1000) / 10 }

// step tells how far an execution is. Steps are those of its plan; without one there is one.
func (m *Mapper) step(percentage float64, says string) Told {
	number, total := 1, 1
	if m.plan.total > 0 {
		number, total = min(m.plan.done+1, m.plan.total), m.plan.total
	}
	return Told{Type: Progress, Percentage: &percentage, Step: &says, StepNumber: number, TotalSteps: total}
}

// planned tells how far a plan is.
func (m *Mapper) planned(steps []step) []Told {
	m.plan = planned{total: len(steps)}
	says := ""
	for _, s := range steps {
		switch s.Status {
		case "completed", "skipped":
			m.plan.done++
		case "in_progress":
			if says == "" {
				says = s.Title + s.Content
			}
		}
	}
	if len(steps) == 0 {
		return nil
	}
	m.at = m.percentage()
	return []Told{m.step(m.at, says)}
}

// waits tells what an execution waits for, which the protocol has no event for.
func (m *Mapper) waits(r *abi.PermissionRequest) []Told {
	if r == nil || r.Status != abi.PermissionPending {
		return nil
	}
	prompt := r.Prompt
	told := m.step(m.percentage(), prompt)
	told.Waiting = &Waiting{Kind: string(r.Kind), Prompt: prompt, RequestID: r.ID}
	return []Told{told}
}

func (m *Mapper) percentage() float64 {
	if m.plan.total == 0 {
		return 0
	}
	return Percentage(float64(m.plan.done) / float64(m.plan.total))
}
