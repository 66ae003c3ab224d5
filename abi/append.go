package abi

import (
	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi/jsonw"

	"github.com/go-json-experiment/json/jsontext"
)

// What AppendJSON writes is what json.Marshal writes, which a test holds.

func appendEnvelope(m *jsonw.Object, e *Envelope) {
	m.Text("id", e.ID)
	m.Text("object", string(e.Object))
	m.Time("created_at", e.CreatedAt)
	m.Time("updated_at", e.UpdatedAt)
	if e.Metadata == nil {
		m.JSON("metadata", []byte("null"))
		return
	}
	m.Raw("metadata", e.Metadata)
}

// rare writes a member that few resources have, with the JSON library.
func rare[T any](m *jsonw.Object, name string, v *T) {
	if v == nil {
		return
	}
	text, err := json.Marshal(v)
	if err != nil { // a raw value in it is not JSON: the caller broke its promise
		text = []byte("null")
	}
	m.JSON(name, text)
}

func appendFailure(m *jsonw.Object, f *Failure) {
	if f == nil {
		return
	}
	m.Name("failure")
	inner := jsonw.Begin(m.B)
	inner.Text("code", f.Code)
	inner.Text("message", f.Message)
	inner.Raw("details", f.Details)
	m.B = append(inner.End(), ',')
}

// optionalList writes an array, unless there is none.
func optionalList[T any](m *jsonw.Object, name string, values []T, element func([]byte, *T) []byte) {
	if values != nil {
		jsonw.List(m, name, values, element)
	}
}

func appendText(b []byte, text *string) []byte        { return jsonw.String(b, *text) }
func appendRaw(b []byte, text *jsontext.Value) []byte { return jsonw.Raw(b, *text) }

// AppendJSON appends the Task's JSON to b. The Task must be valid: raw values must
// be JSON.
func (t *Task) AppendJSON(b []byte) []byte {
	m := jsonw.Begin(b)
	appendEnvelope(&m, &t.Envelope)
	m.Text("session_id", t.SessionID)
	m.Text("workspace_id", t.WorkspaceID)
	m.Text("status", string(t.Status))
	m.Raw("input", t.Input)
	m.Text("created_by", t.CreatedBy)
	m.Optional("persona_id", t.PersonaID)
	m.Optional("branch_id", t.BranchID)
	m.Optional("parent_task_id", t.ParentTaskID)
	m.Optional("receipt_id", t.ReceiptID)
	m.Optional("outcome_id", t.OutcomeID)
	m.OptionalTime("started_at", t.StartedAt)
	m.OptionalTime("completed_at", t.CompletedAt)
	m.OptionalTime("canceled_at", t.CanceledAt)
	appendFailure(&m, t.Failure)
	m.Optional("input_message_id", t.InputMessageID)
	m.OptionalTime("deadline_at", t.DeadlineAt)
	rare(&m, "run", t.Run)
	rare(&m, "client", t.Client)
	m.Count("attempt", t.Attempt)
	m.Optional("module", t.Module)
	rare(&m, "waiting", t.Waiting)
	rare(&m, "replay", t.Replay)
	rare(&m, "fork", t.Fork)
	m.Optional("persona_version", t.PersonaVersion)
	m.Optional("quota_id", t.QuotaID)
	m.Optional("connector_id", t.ConnectorID)
	m.Optional("delivery_id", t.DeliveryID)
	m.Optional("order_key", t.OrderKey)
	m.OptionalTime("deleted_at", t.DeletedAt)
	return m.End()
}

// AppendJSON appends the Message's JSON to b. The Message must be valid.
func (msg *Message) AppendJSON(b []byte) []byte {
	m := jsonw.Begin(b)
	appendEnvelope(&m, &msg.Envelope)
	m.Text("role", string(msg.Role))
	optionalList(&m, "parts", msg.Parts, func(b []byte, p *Part) []byte { return p.AppendJSON(b) })
	m.Optional("session_id", msg.SessionID)
	m.Optional("task_id", msg.TaskID)
	return m.End()
}

// AppendJSON appends the part's JSON to b. The part must be valid.
func (p *Part) AppendJSON(b []byte) []byte {
	m := jsonw.Begin(b)
	m.Text("type", string(p.Type))
	if p.Text != nil {
		m.Text("text", *p.Text)
	}
	m.Raw("value", p.Value)
	m.Optional("tool_call_id", p.ToolCallID)
	m.Optional("name", p.Name)
	m.Raw("input", p.Input)
	m.Raw("output", p.Output)
	m.Optional("status", p.Status)
	m.Optional("artifact_id", p.ArtifactID)
	m.Optional("uri", p.URI)
	m.Optional("mime_type", p.MimeType)
	m.Text("visibility", string(p.Visibility))
	m.True("redacted", p.Redacted)
	return m.End()
}

// AppendJSON appends the Outcome's JSON to b. The Outcome must be valid.
func (o *Outcome) AppendJSON(b []byte) []byte {
	m := jsonw.Begin(b)
	appendEnvelope(&m, &o.Envelope)
	m.Text("task_id", o.TaskID)
	m.Text("status", string(o.Status))
	m.Text("summary", o.Summary)
	optionalList(&m, "message_ids", o.MessageIDs, appendText)
	optionalList(&m, "artifact_ids", o.ArtifactIDs, appendText)
	optionalList(&m, "messages", o.Messages, appendRaw)
	optionalList(&m, "artifacts", o.Artifacts, appendRaw)
	m.Optional("receipt_id", o.ReceiptID)
	appendFailure(&m, o.Failure)
	m.Raw("metrics", o.Metrics)
	m.True("stopped", o.Stopped)
	m.Raw("handoff", o.Handoff)
	m.Optional("stop_reason", string(o.StopReason))
	return m.End()
}
