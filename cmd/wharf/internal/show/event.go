package show

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
)

// payload is what events carry that is worth a line. Message holds a Message or,
// for hints, a text.
type payload struct {
	Task     *abi.Task              `json:"task"`
	Message  jsontext.Value         `json:"message"`
	Artifact *abi.Artifact          `json:"artifact"`
	Outcome  *abi.Outcome           `json:"outcome"`
	Session  *abi.Session           `json:"session"`
	Receipt  *abi.ReceiptResource   `json:"receipt"`
	Request  *abi.PermissionRequest `json:"permission_request"`
	Quota    *abi.Quota             `json:"quota"`
	Memory   *abi.Memory            `json:"memory"`
	Decision string                 `json:"decision"`
	Level    string                 `json:"level"`
	Reason   string                 `json:"reason"`
	Fraction *float64               `json:"fraction"`
	Text     jsontext.Value         `json:"text"`
}

// Event writes one line about an event; on a terminal, a progress report takes the
// place of the one before it. since is what its time is shown against;
// when it is zero, the line shows the time of day.
func (s *Screen) Event(e *abi.Event, since time.Time) {
	const kindWidth = 22
	at := e.CreatedAt.Local().Format("15:04:05.000")
	if !since.IsZero() {
		at = fmt.Sprintf("%8.3fs", e.CreatedAt.Sub(since).Seconds())
	}
	name, style := shortKind(e.Event), kindStyle(e.Event)
	if verdict := withheld(e); verdict != "" {
		name, style = verdict, Yellow
	}
	line := at + "  " + name
	room := 100
	if s.Terminal() {
		room = max(20, s.width-width(at)-kindWidth-6)
	}
	detail := Cut(OneLine(eventDetail(e)), room)
	if s.passing && e.Event == abi.EventProgress {
		_, _ = io.WriteString(s.w, "\x1b[1A\x1b[2K") // over the line before
	}
	s.passing = s.Terminal() && e.Event == abi.EventProgress
	pad := strings.Repeat(" ", max(0, len(at)+2+kindWidth-width(line)))
	s.Line("  ", s.Paint(Dim, at), "  ", s.Paint(style, name), strings.TrimRight(pad+"  "+detail, " "))
}

func shortKind(k abi.EventKind) string {
	return OneLine(strings.TrimPrefix(string(k), "vendor.wharf."))
}

func kindStyle(k abi.EventKind) Style {
	switch k {
	case abi.EventTaskCompleted:
		return Green
	case abi.EventTaskFailed:
		return Red
	case abi.EventTaskCanceled:
		return Yellow
	}
	family, _, _ := strings.Cut(string(k), ".")
	switch family {
	case "task":
		return Blue
	case "user", "agent":
		return Cyan
	case "artifact":
		return Purple
	}
	return Dim
}

func eventDetail(e *abi.Event) string {
	if detail := sessionDetail(e); detail != "" {
		return detail
	}
	var p payload
	if err := json.Unmarshal(e.Payload, &p); err != nil {
		return string(e.Payload)
	}
	switch {
	case e.Event == abi.EventLog:
		return p.Level + ": " + textOf(p.Message)
	case e.Event == abi.EventMessageDelta || e.Event == abi.EventReasoningDelta:
		return textOf(p.Text)
	case e.Event == abi.EventProgress && p.Fraction != nil:
		return progress(*p.Fraction) + " " + textOf(p.Message)
	case e.Event == abi.EventProgress:
		return textOf(p.Message)
	case p.Outcome != nil:
		return string(p.Outcome.Status) + ": " + p.Outcome.Summary
	case p.Task != nil:
		return taskDetail(p.Task)
	case p.Artifact != nil:
		return artifactDetail(p.Artifact)
	case len(p.Message) > 0 && p.Message.Kind() == '{':
		return messageDetail(p.Message)
	case p.Session != nil:
		return p.Session.ID + " " + string(p.Session.State)
	case p.Receipt != nil:
		return p.Receipt.ID + ": " + p.Receipt.Summary
	case p.Request != nil:
		return requestDetail(p.Request)
	case p.Quota != nil:
		return quotaDetail(p.Quota)
	case p.Memory != nil:
		return p.Memory.ID + ", of the " + string(p.Memory.Scope)
	case e.Event == abi.EventUserToolConfirmation:
		return joined(": ", p.Decision, p.Reason)
	}
	return firstText(callDetail(e.Payload), replayDetail(e), p.Reason)
}

// requestDetail says what is asked, and how far its decision is.
func requestDetail(p *abi.PermissionRequest) string {
	line := string(p.Kind) + " " + string(p.Status)
	if p.Quorum > 1 {
		line += fmt.Sprintf(", %d of %d decisions", len(p.Decisions), p.Quorum)
	}
	return joined(": ", line, firstText(p.Action, p.Prompt))
}

// quotaDetail says how much of each limit is used.
func quotaDetail(q *abi.Quota) string {
	var used []string
	for _, name := range slices.Sorted(maps.Keys(q.Limits)) {
		used = append(used, fmt.Sprintf("%s %g of %g", name, q.Usage[name], q.Limits[name]))
	}
	return joined(": ", q.ID, strings.Join(used, ", "))
}

// joined puts the texts that there are together.
func joined(with string, texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(s string) bool { return s == "" }), with)
}

func firstText(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}

// replayDetail says what a replay did again, or how it went.
func replayDetail(e *abi.Event) string {
	var p struct {
		Call    string       `json:"replayed_call"`
		Index   int          `json:"replayed_index"`
		Mode    string       `json:"mode"`
		Calls   *int         `json:"calls"`
		Failure *abi.Failure `json:"failure"`
	}
	if json.Unmarshal(e.Payload, &p) != nil {
		return ""
	}
	switch marks := e.Replay; {
	case p.Failure != nil:
		return p.Failure.Code + ": " + p.Failure.Message
	case marks != nil && marks.OverrideKey != "":
		return fmt.Sprintf("call %d, %s: answered by the override of %s", p.Index, p.Call, marks.OverrideKey)
	case marks != nil && p.Call != "":
		return fmt.Sprintf("call %d, %s, as in event %s", p.Index, p.Call, marks.OriginalEventID)
	case marks != nil:
		return "event " + marks.OriginalEventID
	case p.Calls != nil:
		return fmt.Sprintf("%d calls", *p.Calls)
	}
	return p.Mode
}

// textOf returns the text of a JSON string, "" for anything else.
func textOf(v jsontext.Value) string {
	var text string
	if v.Kind() != '"' || json.Unmarshal(v, &text) != nil {
		return ""
	}
	return text
}

func progress(fraction float64) string {
	const cells = 10
	full := int(min(max(fraction, 0), 1)*cells + 0.5)
	return fmt.Sprintf("%s%s %3.0f%%", strings.Repeat("█", full), strings.Repeat("░", cells-full), fraction*100)
}

func taskDetail(t *abi.Task) string {
	detail := string(t.Status)
	if t.Status == abi.TaskSubmitted && t.PersonaID != "" {
		detail += " for " + t.PersonaID
	}
	if t.Attempt > 1 {
		detail += fmt.Sprintf(", attempt %d", t.Attempt)
	}
	if w := t.Waiting; w != nil {
		detail += ": " + firstText(w.Prompt, w.Action, w.TaskID, w.Call)
	}
	if t.Failure != nil {
		detail += ": " + t.Failure.Code + ": " + t.Failure.Message
	}
	return detail
}

func artifactDetail(a *abi.Artifact) string {
	detail := a.ID
	if a.Name != "" {
		detail = a.Name
	}
	detail += ", " + a.MimeType
	if a.SizeBytes != nil {
		detail += ", " + Bytes(*a.SizeBytes)
	}
	return detail
}

func messageDetail(v jsontext.Value) string {
	var m abi.Message
	if err := json.Unmarshal(v, &m); err != nil {
		return ""
	}
	return string(m.Role) + ": " + Parts(m.Parts)
}

// Parts are what a Message says, in words.
func Parts(parts []abi.Part) string {
	var texts []string
	for _, p := range parts {
		switch {
		case p.Redacted:
			texts = append(texts, "("+string(p.Type)+", withheld)")
		case p.Text != nil:
			texts = append(texts, *p.Text)
		case p.ArtifactID != "":
			texts = append(texts, p.ArtifactID)
		case p.Value != nil:
			texts = append(texts, string(p.Value))
		default:
			texts = append(texts, "("+string(p.Type)+")")
		}
	}
	return strings.Join(texts, " ")
}
