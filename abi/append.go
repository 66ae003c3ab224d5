package abi

import (
	json "github.com/go-json-experiment/json"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// The resources that every Task writes are encoded by hand: reflection took an
// eighth of a Task's processor time. What AppendJSON writes is what json.Marshal
// writes, which a test holds.

// members writes the members of a JSON object.
type members struct{ b []byte }

func begin(b []byte) members { return members{append(b, '{')} }

// end closes the object.
func (m members) end() []byte {
	if last := len(m.b) - 1; m.b[last] == ',' {
		m.b[last] = '}'
		return m.b
	}
	return append(m.b, '}')
}

// name starts a member. Names need no escapes.
func (m *members) name(name string) {
	m.b = append(append(append(m.b, '"'), name...), '"', ':')
}

func (m *members) text(name, value string) {
	m.name(name)
	m.b = append(quote(m.b, value), ',')
}

func (m *members) optional(name, value string) {
	if value != "" {
		m.text(name, value)
	}
}

func (m *members) raw(name string, value jsontext.Value) {
	if value == nil {
		return
	}
	m.name(name)
	m.b = append(raw(m.b, value), ',')
}

func (m *members) time(name string, t Time) {
	m.name(name)
	m.b = t.AppendFormat(append(m.b, '"'), time.RFC3339Nano)
	m.b = append(m.b, '"', ',')
}

func (m *members) optionalTime(name string, t Time) {
	if !t.IsZero() {
		m.time(name, t)
	}
}

// list writes an array, unless there is none.
func list[T any](m *members, name string, values []T, element func([]byte, T) []byte) {
	if values == nil {
		return
	}
	m.name(name)
	m.b = append(m.b, '[')
	for i, v := range values {
		if i > 0 {
			m.b = append(m.b, ',')
		}
		m.b = element(m.b, v)
	}
	m.b = append(m.b, ']', ',')
}

// raw writes a JSON text without the white space between its tokens.
func raw(b []byte, v jsontext.Value) []byte {
	if !Spaced(v) {
		return append(b, v...)
	}
	compact := v.Clone()
	if compact.Compact() != nil { // not JSON: the caller broke its promise
		return append(b, v...)
	}
	return append(b, compact...)
}

// Spaced reports whether there is white space between the tokens of a JSON text.
func Spaced(v jsontext.Value) bool {
	quoted := false
	for i := 0; i < len(v); i++ {
		switch v[i] {
		case '"':
			quoted = !quoted
		case '\\':
			i++
		case ' ', '\t', '\r', '\n':
			if !quoted {
				return true
			}
		}
	}
	return false
}

// quote writes a JSON string; what is no UTF-8 is replaced.
func quote(b []byte, s string) []byte {
	b, _ = jsontext.AppendQuote(b, s)
	return b
}

func (m *members) envelope(e *Envelope) {
	m.text("id", e.ID)
	m.text("object", string(e.Object))
	m.time("created_at", e.CreatedAt)
	m.time("updated_at", e.UpdatedAt)
	m.name("metadata")
	if e.Metadata == nil {
		m.b = append(m.b, "null,"...)
		return
	}
	m.b = append(raw(m.b, e.Metadata), ',')
}

// rare writes a member that few resources have, with the JSON library.
func rare[T any](m *members, name string, v *T) {
	if v == nil {
		return
	}
	text, err := json.Marshal(v)
	if err != nil { // a raw value in it is not JSON: the caller broke its promise
		text = []byte("null")
	}
	m.name(name)
	m.b = append(append(m.b, text...), ',')
}

func (m *members) failure(f *Failure) {
	if f == nil {
		return
	}
	m.name("failure")
	inner := begin(m.b)
	inner.text("code", f.Code)
	inner.text("message", f.Message)
	inner.raw("details", f.Details)
	m.b = append(inner.end(), ',')
}

// AppendJSON appends the Task's JSON to b. The Task must be valid: raw values must
// be JSON.
func (t *Task) AppendJSON(b []byte) []byte {
	m := begin(b)
	m.envelope(&t.Envelope)
	m.text("session_id", t.SessionID)
	m.text("workspace_id", t.WorkspaceID)
	m.text("status", string(t.Status))
	m.raw("input", t.Input)
	m.text("created_by", t.CreatedBy)
	m.optional("persona_id", t.PersonaID)
	m.optional("branch_id", t.BranchID)
	m.optional("parent_task_id", t.ParentTaskID)
	m.optional("receipt_id", t.ReceiptID)
	m.optional("outcome_id", t.OutcomeID)
	m.optionalTime("started_at", t.StartedAt)
	m.optionalTime("completed_at", t.CompletedAt)
	m.optionalTime("canceled_at", t.CanceledAt)
	m.failure(t.Failure)
	m.optional("input_message_id", t.InputMessageID)
	m.optionalTime("deadline_at", t.DeadlineAt)
	if t.Attempt != 0 {
		m.name("attempt")
		m.b = append(strconv.AppendInt(m.b, int64(t.Attempt), 10), ',')
	}
	m.optional("module", t.Module)
	rare(&m, "waiting", t.Waiting)
	rare(&m, "replay", t.Replay)
	rare(&m, "fork", t.Fork)
	m.optional("persona_version", t.PersonaVersion)
	m.optional("quota_id", t.QuotaID)
	m.optional("connector_id", t.ConnectorID)
	m.optional("delivery_id", t.DeliveryID)
	m.optional("order_key", t.OrderKey)
	return m.end()
}

// AppendJSON appends the Message's JSON to b. The Message must be valid.
func (msg *Message) AppendJSON(b []byte) []byte {
	m := begin(b)
	m.envelope(&msg.Envelope)
	m.text("role", string(msg.Role))
	list(&m, "parts", msg.Parts, func(b []byte, p Part) []byte { return p.AppendJSON(b) })
	m.optional("session_id", msg.SessionID)
	m.optional("task_id", msg.TaskID)
	return m.end()
}

// AppendJSON appends the part's JSON to b. The part must be valid.
func (p *Part) AppendJSON(b []byte) []byte {
	m := begin(b)
	m.text("type", string(p.Type))
	if p.Text != nil {
		m.text("text", *p.Text)
	}
	m.raw("value", p.Value)
	m.optional("tool_call_id", p.ToolCallID)
	m.optional("name", p.Name)
	m.raw("input", p.Input)
	m.raw("output", p.Output)
	m.optional("status", p.Status)
	m.optional("artifact_id", p.ArtifactID)
	m.optional("uri", p.URI)
	m.optional("mime_type", p.MimeType)
	m.text("visibility", string(p.Visibility))
	if p.Redacted {
		m.name("redacted")
		m.b = append(m.b, "true,"...)
	}
	return m.end()
}

// AppendJSON appends the Outcome's JSON to b. The Outcome must be valid.
func (o *Outcome) AppendJSON(b []byte) []byte {
	m := begin(b)
	m.envelope(&o.Envelope)
	m.text("task_id", o.TaskID)
	m.text("status", string(o.Status))
	m.text("summary", o.Summary)
	list(&m, "message_ids", o.MessageIDs, quote)
	list(&m, "artifact_ids", o.ArtifactIDs, quote)
	list(&m, "messages", o.Messages, raw)
	list(&m, "artifacts", o.Artifacts, raw)
	m.optional("receipt_id", o.ReceiptID)
	m.failure(o.Failure)
	m.raw("metrics", o.Metrics)
	return m.end()
}
