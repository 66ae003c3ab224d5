package engine

import (
	"bytes"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/redact"
)

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
	m.Content = jsontext.Value(redact.NoMemory)
	shown, err := json.Marshal(&m, json.Deterministic(true))
	if err != nil {
		return []byte(redact.NoMemory)
	}
	return shown
}
