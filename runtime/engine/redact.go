package engine

import (
	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/journal"
)

// Redact withholds from a JSON document what is not public: every object that has
// both "type" and a "visibility" other than public is replaced by a descriptor
// that keeps those two, so that a reader sees that content existed (narrative,
// "Privacy and redaction"). internal lets internal content through; receipt_only
// content is always withheld.
func Redact(doc []byte, internal bool) ([]byte, error) {
	return redact(jsontext.Value(doc), internal)
}

func redact(v jsontext.Value, internal bool) (jsontext.Value, error) {
	switch v.Kind() {
	case '[':
		return redactArray(v, internal)
	case '{':
		return redactObject(v, internal)
	}
	return v, nil
}

func redactArray(v jsontext.Value, internal bool) (jsontext.Value, error) {
	var elements []jsontext.Value
	if err := json.Unmarshal(v, &elements); err != nil {
		return nil, err
	}
	for i, element := range elements {
		var err error
		if elements[i], err = redact(element, internal); err != nil {
			return nil, err
		}
	}
	return json.Marshal(elements)
}

// descriptor is what is left of a part whose content is withheld.
type descriptor struct {
	Type       string         `json:"type"`
	Visibility abi.Visibility `json:"visibility"`
	Redacted   bool           `json:"redacted"`
}

func redactObject(v jsontext.Value, internal bool) (jsontext.Value, error) {
	var members map[string]jsontext.Value
	if err := json.Unmarshal(v, &members); err != nil {
		return nil, err
	}
	if d, withheld := withhold(members, internal); withheld {
		return json.Marshal(d)
	}
	withholdMemory(members, internal)
	for name, member := range members {
		redacted, err := redact(member, internal)
		if err != nil {
			return nil, err
		}
		members[name] = redacted
	}
	return json.Marshal(members, json.Deterministic(true))
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

// withholdMemory takes the content out of a Memory that is not public, and out of
// the request to keep one.
func withholdMemory(members map[string]jsontext.Value, internal bool) {
	var visibility abi.Visibility
	if members["content"] == nil || members["scope"] == nil || json.Unmarshal(members["visibility"], &visibility) != nil {
		return
	}
	if visibility == abi.VisibilityPublic || visibility == abi.VisibilityInternal && internal {
		return
	}
	members["content"], members["redacted"] = jsontext.Value("null"), jsontext.Value("true")
}

// RedactState withholds a Session's value, which is internal, from an event that
// states it: its hash takes its place. A Connector's public path is withheld from
// every event: reading the Connector shows it to those who may write it.
func RedactState(o abi.Object, state []byte, internal bool) []byte {
	if o == abi.ObjectConnector && state != nil {
		return withoutPath(state)
	}
	if o == abi.ObjectQuota && !internal && state != nil {
		return withoutUsage(state)
	}
	if o != abi.ObjectState || internal || state == nil {
		return state
	}
	return []byte(`{"sha256":"` + journal.HashOf(state) + `","redacted":true}`)
}
