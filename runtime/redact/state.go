package redact

import (
	"bytes"
	"net/url"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/journal"
)

// State withholds a Session's value, which is internal, from an event that
// states it: its hash takes its place. A Connector's public path is withheld from
// every event: reading the Connector shows it to those who may write it.
func State(o abi.Object, state []byte, internal bool) []byte {
	if o == abi.ObjectConnector && state != nil {
		return withoutPath(state)
	}
	if o == abi.ObjectWebhook && state != nil {
		return withoutAddress(state, func(w *abi.WebhookEndpoint) *string { return &w.URL })
	}
	if o == abi.ObjectHarness && state != nil {
		return withoutAddress(state, func(h *abi.Harness) *string { return &h.BaseURL })
	}
	if o == abi.ObjectToolServer && state != nil {
		return withoutAddress(state, func(s *abi.ToolServer) *string {
			s.Args = nil
			return &s.URL
		})
	}
	if o == abi.ObjectCustomTool && state != nil {
		return withoutAddress(state, func(t *abi.CustomTool) *string {
			t.Handler.Args = nil
			return &t.Handler.URL
		})
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
	m.Content = jsontext.Value(NoMemory)
	shown, err := json.Marshal(&m, json.Deterministic(true))
	if err != nil {
		return []byte(NoMemory)
	}
	return shown
}

// withoutPath takes the public path out of a stored Connector.
func withoutPath(state []byte) []byte {
	var c abi.Connector
	if json.Unmarshal(state, &c) != nil {
		return []byte(`{"redacted":true}`)
	}
	if c.Webhook != nil {
		c.Webhook = &abi.Webhook{Enabled: c.Webhook.Enabled}
	}
	shown, err := json.Marshal(&c, json.Deterministic(true))
	if err != nil {
		return []byte(`{"redacted":true}`)
	}
	return shown
}

// withoutUsage returns of a Quota what readers of a Task's events may know: that it
// was counted, and whether it is used up. What others use under it is not their
// business; reading the Quota takes a scope of its own.
func withoutUsage(state []byte) []byte {
	var q struct {
		ID               string         `json:"id"`
		Object           abi.Object     `json:"object"`
		CreatedAt        abi.Time       `json:"created_at"`
		UpdatedAt        abi.Time       `json:"updated_at"`
		Metadata         struct{}       `json:"metadata"`
		Scope            abi.QuotaScope `json:"scope"`
		Limits           struct{}       `json:"limits"`
		Usage            struct{}       `json:"usage"`
		ExhaustionReason *string        `json:"exhaustion_reason"`
		Redacted         bool           `json:"redacted"`
	}
	if err := json.Unmarshal(state, &q); err != nil {
		return []byte(`{"redacted":true}`)
	}
	q.Redacted = true
	left, err := json.Marshal(&q)
	if err != nil {
		return []byte(`{"redacted":true}`)
	}
	return left
}

// withoutAddress leaves of a stored Webhook's URL the host: the rest is often all that a
// receiver knows its senders by.
func withoutAddress[T any](state []byte, address func(*T) *string) []byte {
	var v T
	if json.Unmarshal(state, &v) != nil {
		return []byte(`{"redacted":true}`)
	}
	at := address(&v)
	*at = hostOf(*at)
	shown, err := json.Marshal(&v, json.Deterministic(true))
	if err != nil {
		return []byte(`{"redacted":true}`)
	}
	return shown
}

func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host}).String()
}
