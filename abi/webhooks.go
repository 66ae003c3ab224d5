package abi

import "github.com/go-json-experiment/json/jsontext"

// WebhookStatus says whether a Webhook is sent what it wants.
type WebhookStatus string

// The statuses of a Webhook.
const (
	// WebhookActive is sent what it wants.
	WebhookActive WebhookStatus = "ACTIVE"
	// WebhookPaused is sent nothing until it is active again. What it wants is kept meanwhile.
	WebhookPaused WebhookStatus = "PAUSED"
	// WebhookDisabled is sent nothing, and nothing that happens meanwhile is kept for it. A
	// receiver that answers with 410 makes its Webhook this.
	WebhookDisabled WebhookStatus = "DISABLED"
)

// WebhookEndpoint is a Webhook: a receiver outside of the node that is sent events as they
// happen. ([Webhook] is the path that a Connector takes deliveries on.)
type WebhookEndpoint struct {
	Envelope    `json:",inline"`
	WorkspaceID string `json:"workspace_id,omitzero"` // empty: every Workspace of the tenant
	// URL is where deliveries go. Events about the Webhook tell no more of it than its host.
	URL          string `json:"url"`
	Description  string `json:"description,omitzero"`
	WebhookWants `json:",inline"`
	// Format says how a delivery is written; empty for harn: the event as JSON.
	Format string `json:"format,omitzero"`
	// Signature is a header beside those of Standard Webhooks, for receivers that want one.
	Signature *WebhookSignature `json:"signature,omitzero"`
	// Headers are the names of the headers that deliveries carry besides. Their values are
	// kept like secrets.
	Headers []string        `json:"headers,omitzero"`
	Secrets []WebhookSecret `json:"secrets"` // what deliveries are signed with, newest first
	Status  WebhookStatus   `json:"status"`
	// StatusReason says why it is DISABLED, where nobody has asked for that.
	StatusReason string `json:"status_reason,omitzero"`
	// AfterEventID is an event before the Webhook was made, after which it is sent what it wants all
	// the same; absent for one that is sent what has happened since it was made.
	AfterEventID string `json:"after_event_id,omitzero"`
	// Hook is set on one that is a hook: no read of Webhooks shows it.
	Hook *HookTerms `json:"hook,omitzero"`
	// DeletedAt is set on one that was deleted: no read shows it any more.
	DeletedAt Time `json:"deleted_at,omitzero"`
	// Counters are filled in when a Webhook is read.
	Counters *WebhookCounters `json:"counters,omitzero"`
}

// WebhookWants says which events a Webhook is sent. Empty members do not narrow.
type WebhookWants struct {
	Events    []string `json:"events"` // kinds; one that ends in * is how kinds begin
	SessionID string   `json:"session_id,omitzero"`
	TaskID    string   `json:"task_id,omitzero"`
	PersonaID string   `json:"persona_id,omitzero"` // of the event's Task
}

// WebhookSignature is a header with the HMAC-SHA256 of the body in hex.
type WebhookSignature struct {
	Header string `json:"header"`          // such as X-Hub-Signature-256
	Prefix string `json:"prefix,omitzero"` // what stands before it; empty for sha256=
}

// WebhookSecret is a secret that deliveries are signed with, without its value.
type WebhookSecret struct {
	ID        string `json:"id"`
	Hint      string `json:"hint"` // the last characters of its value
	CreatedAt Time   `json:"created_at"`
	ExpiresAt Time   `json:"expires_at,omitzero"` // from then on nothing is signed with it
}

// WebhookCounters count what became of a Webhook's deliveries, since it was made.
type WebhookCounters struct {
	Taken    uint64 `json:"taken"`
	Failed   uint64 `json:"failed"` // attempts
	Dead     uint64 `json:"dead"`   // given up, whether driven again since or not
	Redriven uint64 `json:"redriven"`
	Pending  uint64 `json:"pending"` // failed, and to be tried again
	// Behind says that events wait that the node has not looked at for this Webhook, for it
	// takes too few.
	Behind bool `json:"behind"`
	// OldestAt is when the oldest event happened that is still to be taken.
	OldestAt Time `json:"oldest_at,omitzero"`
	LastAt   Time `json:"last_at,omitzero"` // of the last attempt since the node started
}

// WebhookDeliveryStatus says what became of a delivery.
type WebhookDeliveryStatus string

// The statuses of a delivery.
const (
	WebhookDeliveryPending   WebhookDeliveryStatus = "PENDING"   // it is tried again
	WebhookDeliveryDelivered WebhookDeliveryStatus = "DELIVERED" // the receiver has taken it
	WebhookDeliveryDead      WebhookDeliveryStatus = "DEAD"      // it was given up
)

// WebhookDelivery is a delivery that its receiver has not taken at first. One that it took at
// once leaves nothing but a count.
type WebhookDelivery struct {
	Envelope      `json:",inline"`
	WebhookID     string                `json:"webhook_id"`
	WorkspaceID   string                `json:"workspace_id,omitzero"`
	EventID       string                `json:"event_id"`
	ThroughID     string                `json:"through_event_id,omitzero"` // the last of several events, which retention has removed
	Event         EventKind             `json:"event,omitzero"`
	EventAt       Time                  `json:"event_at"`
	Status        WebhookDeliveryStatus `json:"status"`
	Attempts      int                   `json:"attempts"`
	NextAttemptAt Time                  `json:"next_attempt_at,omitzero"`
	HTTPStatus    int                   `json:"http_status,omitzero"` // of the last answer
	Failure       *Failure              `json:"failure,omitzero"`
	RedrivenAt    Time                  `json:"redriven_at,omitzero"`
}

// Codes of the failures of deliveries.
const (
	WebhookStatusFailure = "http_status"         // the receiver did not answer with 2xx
	WebhookRedirected    = "redirect"            // it answered with 3xx, which is not followed
	WebhookUnreachable   = "unreachable"         // it did not answer
	WebhookTimeout       = "timeout"             // it did not answer in time
	WebhookDenied        = "address_denied"      // it is at an address that is not public
	WebhookGone          = "gone"                // it answered with 410
	WebhookTooOld        = "too_old"             // it has not taken it for too long
	WebhookExpired       = "expired"             // retention has removed the event
	WebhookUnsigned      = "secret_unavailable"  // what signs deliveries cannot be read
	HookNoCommand        = "command_not_allowed" // the configuration names no such program any more
	HookFailed           = "program_failed"      // the program of the hook has failed
	WebhookUnreadable    = "unreadable"          // the event cannot be written as the format wants it
)

// WebhookProgress says up to which event a Webhook's deliveries are taken or recorded.
type WebhookProgress struct {
	Through string `json:"through_event_id"`
	Taken   uint64 `json:"taken"` // since the Webhook was made
}

// CreateWebhookRequest is the body of POST /wharf/v1/webhooks.
type CreateWebhookRequest struct {
	WorkspaceID string            `json:"workspace_id,omitzero"`
	URL         string            `json:"url"`
	Description string            `json:"description,omitzero"`
	Events      []string          `json:"events"`
	SessionID   string            `json:"session_id,omitzero"`
	TaskID      string            `json:"task_id,omitzero"`
	PersonaID   string            `json:"persona_id,omitzero"`
	Format      string            `json:"format,omitzero"`
	Signature   *WebhookSignature `json:"signature,omitzero"`
	Headers     map[string]string `json:"headers,omitzero"`
	Secret      string            `json:"secret,omitzero"` // empty: the node makes one, and shows it in the answer alone
	Status      WebhookStatus     `json:"status,omitzero"` // empty for ACTIVE
	Metadata    jsontext.Value    `json:"metadata,omitzero"`
	// AfterEventID is for adapters: see [WebhookEndpoint].
	AfterEventID string `json:"-"`
}

// UpdateWebhookRequest is the body of PATCH /wharf/v1/webhooks/{id}. Nil members stay as they
// are.
type UpdateWebhookRequest struct {
	URL         *string                  `json:"url,omitzero"`
	Description *string                  `json:"description,omitzero"`
	Events      []string                 `json:"events,omitzero"`
	SessionID   Change[string]           `json:"session_id,omitzero"`
	TaskID      Change[string]           `json:"task_id,omitzero"`
	PersonaID   Change[string]           `json:"persona_id,omitzero"`
	Signature   Change[WebhookSignature] `json:"signature,omitzero"`
	Headers     map[string]string        `json:"headers,omitzero"` // all of them anew
	Status      *WebhookStatus           `json:"status,omitzero"`
	Metadata    jsontext.Value           `json:"metadata,omitzero"`
}

// RotateWebhookRequest is the body of POST /wharf/v1/webhooks/{id}/rotate.
type RotateWebhookRequest struct {
	Secret string `json:"secret,omitzero"` // empty: the node makes one, and shows it in the answer alone
	// OverlapSeconds is for how long deliveries are signed with the secrets before, too.
	OverlapSeconds int64 `json:"overlap_seconds,omitzero"`
}

// WebhookTrial is what became of a delivery that tries a Webhook out.
type WebhookTrial struct {
	WebhookID  string   `json:"webhook_id"`
	Taken      bool     `json:"taken"`
	HTTPStatus int      `json:"http_status,omitzero"`
	DurationMs int64    `json:"duration_ms"`
	Failure    *Failure `json:"failure,omitzero"`
}
