package engine

import (
	"bytes"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/journal"
)

// Redact withholds from a JSON document what is not public: every object that has
// both "type" and a "visibility" other than public is replaced by a descriptor, so
// that a reader sees that content existed (narrative, "Privacy and redaction").
// The descriptor of a part has every member that its type requires, without content,
// so that a typed client reads it as what it is. internal lets internal content
// through; receipt_only content is always withheld.
func Redact(doc []byte, internal bool) ([]byte, error) {
	return redaction{internal: internal}.value(doc)
}

// redactBare is Redact with descriptors of "type", "visibility" and "redacted" alone.
// Plugins are told those: a run that is repeated has to be told what it was.
func redactBare(doc []byte, internal bool) ([]byte, error) {
	return redaction{internal: internal, bare: true}.value(doc)
}

// redaction is what is let through, and what is left of the rest.
type redaction struct{ internal, bare bool }

func (r redaction) value(v jsontext.Value) (jsontext.Value, error) {
	switch v.Kind() {
	case '[':
		return r.array(v)
	case '{':
		return r.object(v)
	}
	return v, nil
}

func (r redaction) array(v jsontext.Value) (jsontext.Value, error) {
	var elements []jsontext.Value
	if err := json.Unmarshal(v, &elements); err != nil {
		return nil, err
	}
	for i, element := range elements {
		var err error
		if elements[i], err = r.value(element); err != nil {
			return nil, err
		}
	}
	return json.Marshal(elements)
}

func (r redaction) object(v jsontext.Value) (jsontext.Value, error) {
	var members map[string]jsontext.Value
	if err := json.Unmarshal(v, &members); err != nil {
		return nil, err
	}
	if d, withheld := withhold(members, r.internal); withheld {
		return d.text(r.bare)
	}
	withholdMemory(members, r.internal)
	for name, member := range members {
		redacted, err := r.value(member)
		if err != nil {
			return nil, err
		}
		members[name] = redacted
	}
	return json.Marshal(members, json.Deterministic(true))
}

// descriptor is what is left of a part whose content is withheld.
type descriptor struct {
	Type       string         `json:"type"`
	Visibility abi.Visibility `json:"visibility"`
	Redacted   bool           `json:"redacted"`
}

// withoutContent is what the types of parts require besides type and visibility, as
// empty as it can be. An id or a name is content, too.
var withoutContent = map[abi.PartType]string{
	abi.PartText:        `"text":""`,
	abi.PartJSON:        `"value":null`,
	abi.PartToolCall:    `"tool_call_id":"","name":"","input":{}`,
	abi.PartToolResult:  `"tool_call_id":"","output":null,"status":"ok"`,
	abi.PartArtifactRef: `"artifact_id":""`,
	abi.PartFileRef:     `"uri":"","mime_type":""`,
	abi.PartImageRef:    `"artifact_id":"","mime_type":""`,
}

// text writes the descriptor; a bare one has nothing of what its type requires.
func (d descriptor) text(bare bool) (jsontext.Value, error) {
	text, err := json.Marshal(d)
	required := withoutContent[abi.PartType(d.Type)]
	if err != nil || bare || required == "" {
		return text, err
	}
	text[len(text)-1] = ','
	return append(append(text, required...), '}'), nil
}

func withhold(members map[string]jsontext.Value, internal bool) (d descriptor, withheld bool) {
	if json.Unmarshal(members["type"], &d.Type) != nil || json.Unmarshal(members["visibility"], &d.Visibility) != nil {
		return d, false
	}
	d.Redacted = true
	switch d.Visibility {
	case abi.VisibilityInternal:
		return d, !internal
	case abi.VisibilityReceiptOnly:
		return d, true
	}
	return d, false
}

// noMemory stands for a Memory's content that is withheld, or was taken away.
const noMemory = `{"redacted":true}`

// withholdMemory takes the content out of a Memory that is not public, and out of
// the request to keep one. A Memory that was redacted is stored with null there, which
// is no content that a Memory can have: readers get an object.
func withholdMemory(members map[string]jsontext.Value, internal bool) {
	var visibility abi.Visibility
	switch {
	case members["content"] == nil || members["scope"] == nil:
		return
	case members["redacted_at"] != nil:
		members["content"] = jsontext.Value(noMemory)
		return
	case json.Unmarshal(members["visibility"], &visibility) != nil:
		return
	}
	if visibility == abi.VisibilityPublic || visibility == abi.VisibilityInternal && internal {
		return
	}
	members["content"], members["redacted"] = jsontext.Value(noMemory), jsontext.Value("true")
}

// RedactState withholds a Session's value, which is internal, from an event that
// states it: its hash takes its place. A Connector's public path is withheld from
// every event: reading the Connector shows it to those who may write it.
func RedactState(o abi.Object, state []byte, internal bool) []byte {
	if o == abi.ObjectConnector && state != nil {
		return withoutPath(state)
	}
	if o == abi.ObjectMemory && state != nil {
		return withoutNull(state)
	}
	if o == abi.ObjectQuota && !internal && state != nil {
		return withoutUsage(state)
	}
	if o != abi.ObjectState || internal || state == nil {
		return state
	}
	return []byte(`{"sha256":"` + journal.HashOf(state) + `","redacted":true}`)
}

// withoutNull gives a Memory that was redacted the content that readers get.
func withoutNull(state []byte) []byte {
	var m abi.Memory
	if !bytes.Contains(state, []byte(`"redacted_at"`)) || json.Unmarshal(state, &m) != nil || m.RedactedAt.IsZero() {
		return state
	}
	m.Content = jsontext.Value(noMemory)
	shown, err := json.Marshal(&m, json.Deterministic(true))
	if err != nil {
		return []byte(noMemory)
	}
	return shown
}
