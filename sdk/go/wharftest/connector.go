//go:build !wasip1

package wharftest

import (
	"encoding/json"
	"slices"

	wharf "github.com/wharf-dev/wharf/sdk/go"
	"github.com/wharf-dev/wharf/sdk/go/internal/hostcall"
)

// Delivery is what a provider has sent. The names of the header are written in lower
// case.
type Delivery struct {
	ID        string            `json:"id"`
	CreatedAt string            `json:"created_at,omitempty"`
	Header    map[string]string `json:"header"`
	Text      string            `json:"text,omitempty"`
	Body      []byte            `json:"body,omitempty"`
}

// Result is what a delivery was said to mean.
type Result struct {
	ID    string `json:"id"`
	Tasks []struct {
		Input     json.RawMessage `json:"input"`
		PersonaID string          `json:"persona_id,omitempty"`
		Thread    string          `json:"thread,omitempty"`
		OrderKey  string          `json:"order_key,omitempty"`
		Metadata  json.RawMessage `json:"metadata,omitempty"`
	} `json:"tasks,omitempty"`
	Messages []struct {
		Message wharf.Message `json:"message"`
		Thread  string        `json:"thread,omitempty"`
	} `json:"messages,omitempty"`
	Events  []Event        `json:"events,omitempty"`
	Ignored string         `json:"ignored,omitempty"`
	Failure *wharf.Failure `json:"failure,omitempty"`
}

// Normalize hands deliveries of a Connector to what an export hands to
// [wharf.Normalize], and returns what they mean, in their order. It panics if that is
// not told.
func (h *Host) Normalize(prepare func(*wharf.Connector) (wharf.Normalizer, error), c wharf.Connector, all ...Delivery) []Result {
	connector := map[string]any{"id": c.ID, "object": "connector", "name": c.Name, "provider": c.Provider,
		"workspace_id": c.WorkspaceID, "target_persona_id": c.TargetPersonaID, "target_session_id": c.TargetSessionID,
		"event_kinds": append([]string{}, c.EventKinds...)}
	if c.Settings != nil {
		connector["settings"] = c.Settings
	}
	h.batch = mustMarshal(map[string]any{"connector": connector, "deliveries": all})
	h.results = nil
	hostcall.Serve(h.call, func() { wharf.Normalize(prepare) })
	if len(h.results) != len(all) {
		panic("wharftest: the plugin has not said what each delivery means")
	}
	return h.results
}

func (h *Host) deliveries([]byte) (uint32, []byte) {
	if h.batch == nil {
		return unknown("there are no deliveries in a Task")
	}
	return hostcall.OK, h.batch
}

func (h *Host) takeNormalized(request []byte) (uint32, []byte) {
	var said struct {
		Results []Result `json:"results"`
	}
	if err := json.Unmarshal(request, &said); err != nil {
		return invalid("%v", err)
	}
	h.results = said.Results
	return hostcall.OK, nil
}

func (h *Host) deliver(request []byte) (uint32, []byte) {
	return with(request, func(r struct {
		Deliveries []wharf.Found `json:"deliveries"`
	}) (uint32, []byte) {
		received := 0
		for _, d := range r.Deliveries {
			if !slices.ContainsFunc(h.Found, func(f wharf.Found) bool { return f.ID == d.ID }) {
				h.Found = append(h.Found, d)
				received++
			}
		}
		return hostcall.OK, mustMarshal(map[string]int{"received": received, "deduped": len(r.Deliveries) - received})
	})
}
