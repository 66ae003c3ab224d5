package wharf

import (
	"encoding/json"

	"github.com/wharf-dev/wharf/sdk/go/internal/scan"
)

// What every Task writes is encoded by hand: the tables that encoding/json makes of a
// type when it first sees it would be made by each Task anew.

// append appends p as JSON.
func (p *Part) append(b []byte) []byte {
	b = scan.AppendString(append(b, `{"type":`...), p.Type)
	if p.Type == "text" || p.Text != "" {
		b = scan.AppendString(append(b, `,"text":`...), p.Text)
	}
	b = appendRaw(b, "value", p.Value)
	b = appendText(b, "tool_call_id", p.ToolCallID)
	b = appendText(b, "name", p.Name)
	b = appendRaw(b, "input", p.Input)
	b = appendRaw(b, "output", p.Output)
	b = appendText(b, "status", p.Status)
	b = appendText(b, "artifact_id", p.ArtifactID)
	b = appendText(b, "uri", p.URI)
	b = appendText(b, "mime_type", p.MimeType)
	b = scan.AppendString(append(b, `,"visibility":`...), p.Visibility)
	return append(b, '}')
}

// append appends m as JSON, without an id.
func (m *Message) append(b []byte) []byte {
	b = scan.AppendString(append(b, `{"role":`...), m.Role)
	b = append(b, `,"parts":[`...)
	for i := range m.Parts {
		if i > 0 {
			b = append(b, ',')
		}
		b = m.Parts[i].append(b)
	}
	return append(b, `]}`...)
}

// append appends o as JSON.
func (o *output) append(b []byte) ([]byte, error) {
	b = scan.AppendString(append(b, `{"summary":`...), o.Summary)
	if len(o.Metrics) > 0 {
		metrics, err := json.Marshal(o.Metrics)
		if err != nil {
			return nil, err
		}
		b = appendRaw(b, "metrics", metrics)
	}
	if o.Failure != nil {
		b = scan.AppendString(append(b, `,"failure":{"code":`...), o.Failure.Code)
		b = scan.AppendString(append(b, `,"message":`...), o.Failure.Message)
		b = append(appendRaw(b, "details", o.Failure.Details), '}')
	}
	return append(appendText(b, "stop_reason", string(o.StopReason)), '}'), nil
}

// appendText appends a member that is left out when it is empty.
func appendText(b []byte, name, text string) []byte {
	if text == "" {
		return b
	}
	b = append(append(append(b, `,"`...), name...), `":`...)
	return scan.AppendString(b, text)
}

// appendRaw appends a member that is JSON already, and left out when it is empty.
func appendRaw(b []byte, name string, value []byte) []byte {
	if len(value) == 0 {
		return b
	}
	b = append(append(append(b, `,"`...), name...), `":`...)
	return append(b, value...)
}
