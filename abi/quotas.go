package abi

import "github.com/go-json-experiment/json/jsontext"

// QuotaScope says whose work a Quota bounds.
type QuotaScope string

// The scopes of Quotas.
const (
	QuotaPersona      QuotaScope = "persona"
	QuotaWorkspace    QuotaScope = "workspace"
	QuotaTenant       QuotaScope = "tenant"
	QuotaOrganization QuotaScope = "organization" // here: the whole node
)

// What a Quota can bound: the names of its limits and of its usage.
const (
	QuotaUSD          = "usd"
	QuotaInputTokens  = "input_tokens"
	QuotaOutputTokens = "output_tokens"
	QuotaToolCalls    = "tool_calls"
	QuotaWallTimeMS   = "wall_time_ms"
	QuotaTasks        = "tasks"      // accepted in the window
	QuotaConcurrent   = "concurrent" // not ended at one time
)

// Quota is a ceiling on spend, tokens, concurrency, runtime or rate.
type Quota struct {
	Envelope `json:",inline"`
	Scope    QuotaScope `json:"scope"` // whose work it bounds
	// OwnerID is the id of what the scope says; empty: the Quota is for each of them by itself.
	OwnerID string `json:"owner_id,omitzero"`
	// TemplateID is the Quota that is for each of its scope, on what one of them has used.
	TemplateID       string             `json:"template_id,omitzero"`
	Limits           map[string]float64 `json:"limits"`
	Usage            map[string]float64 `json:"usage"`                   // in the window, counted from the log
	WindowSeconds    int64              `json:"window_seconds,omitzero"` // how long until counting begins anew; 0: it never does
	ResetAt          *Time              `json:"reset_at"`                // when the window ends and counting begins anew; null: it has none
	HardLimit        bool               `json:"hard_limit"`              // work beyond is refused
	SoftLimit        bool               `json:"soft_limit"`              // work beyond is told of by an event
	ExhaustionReason *string            `json:"exhaustion_reason"`       // the limit that was reached first in the window; null: none
	LastReceiptID    *string            `json:"last_receipt_id"`         // the newest receipt of what was counted
}

// Each reports whether the Quota is for each of its scope by itself: then it counts
// nothing, and there is one more Quota for each that has used something.
func (q *Quota) Each() bool {
	return q.OwnerID == "" && (q.Scope == QuotaPersona || q.Scope == QuotaWorkspace)
}

// CreateQuotaRequest is the body of POST /wharf/v1/quotas.
type CreateQuotaRequest struct {
	Scope         QuotaScope         `json:"scope"`
	OwnerID       string             `json:"owner_id,omitzero"`
	Limits        map[string]float64 `json:"limits"`
	WindowSeconds int64              `json:"window_seconds,omitzero"`
	HardLimit     *bool              `json:"hard_limit,omitzero"` // default true
	SoftLimit     bool               `json:"soft_limit,omitzero"`
	Metadata      jsontext.Value     `json:"metadata,omitzero"`
}

// UpdateQuotaRequest is the body of PATCH /wharf/v1/quotas/{id}.
type UpdateQuotaRequest struct {
	Limits    map[string]float64 `json:"limits,omitzero"`
	HardLimit *bool              `json:"hard_limit,omitzero"`
	SoftLimit *bool              `json:"soft_limit,omitzero"`
	Metadata  jsontext.Value     `json:"metadata,omitzero"`
}
