package abi

import "github.com/go-json-experiment/json/jsontext"

// ConnectorStatus says whether a Connector takes and handles deliveries.
type ConnectorStatus string

// The statuses of a Connector.
const (
	// ConnectorActive takes and handles deliveries.
	ConnectorActive ConnectorStatus = "ACTIVE"
	// ConnectorPaused takes deliveries and handles none until it is active again. It
	// does not poll.
	ConnectorPaused ConnectorStatus = "PAUSED"
	// ConnectorFailed is what the circuit breaker makes of one that fails again and
	// again. It takes deliveries, and tries itself again after a while.
	ConnectorFailed ConnectorStatus = "FAILED"
	// ConnectorDisabled takes no deliveries.
	ConnectorDisabled ConnectorStatus = "DISABLED"
)

// Connector turns what a provider sends, or what is polled from it, into Tasks,
// Events or Messages.
type Connector struct {
	Envelope    `json:",inline"`
	Name        string          `json:"name,omitzero"`
	Provider    string          `json:"provider"` // such as github; it decides the defaults of the rest
	WorkspaceID string          `json:"workspace_id"`
	Status      ConnectorStatus `json:"status"` // whether it takes and handles deliveries
	// StatusReason says why it is FAILED.
	StatusReason string        `json:"status_reason,omitzero"`
	EventKinds   []string      `json:"event_kinds"`
	DedupePolicy *DedupePolicy `json:"dedupe_policy,omitzero"`
	Auth         *WebhookAuth  `json:"auth,omitzero"`
	Webhook      *Webhook      `json:"webhook,omitzero"`
	Polling      *Polling      `json:"polling,omitzero"`

	TargetPersonaID string `json:"target_persona_id,omitzero"` // whose Tasks deliveries become
	TargetSessionID string `json:"target_session_id,omitzero"` // the Session of those Tasks

	// Plugin is what normalizes deliveries: PLUGIN#EXPORT.
	Plugin string `json:"plugin"`
	// Settings are the plugin's own, such as the mapping of generic.
	Settings jsontext.Value `json:"settings,omitzero"`
	// Ordered says that the deliveries of one order key are handled strictly one after another:
	// a Task begins when the one before has ended. [ConnectorTask] has the key.
	Ordered bool `json:"ordered,omitzero"`
	// DeletedAt is set on one that was deleted: no read shows it any more.
	DeletedAt Time `json:"deleted_at,omitzero"`
	// Problems are what keeps it from working now, a sentence each. They are filled in when one is
	// read by its id, made or changed.
	Problems []string `json:"problems,omitzero"`
	// Counters are filled in when a Connector is read.
	Counters *ConnectorCounters `json:"counters,omitzero"`
}

// DedupePolicy says how deliveries that come again are recognized.
type DedupePolicy struct {
	// Header is the header with the provider's delivery id; empty: the provider's own.
	Header string `json:"header,omitzero"`
	// WindowSeconds is how long ids are remembered; 0 for the default of a week.
	WindowSeconds int64 `json:"window_seconds,omitzero"`
}

// SignatureScheme says how a provider signs its deliveries.
type SignatureScheme string

// The signature schemes.
const (
	SchemeNone     SignatureScheme = "none"              // deliveries need no signature
	SchemeStandard SignatureScheme = "standard-webhooks" // webhook-id, webhook-timestamp, webhook-signature
	SchemeGitHub   SignatureScheme = "github"            // X-Hub-Signature-256
	SchemeStripe   SignatureScheme = "stripe"            // Stripe-Signature
	SchemeSlack    SignatureScheme = "slack"             // X-Slack-Signature
	SchemeHMAC     SignatureScheme = "hmac"              // a header of its own; see WebhookAuth
)

// WebhookAuth says how deliveries on the public path are checked. Secrets are
// named, never stated: they are those of the node's configuration or of a Vault.
type WebhookAuth struct {
	Scheme SignatureScheme `json:"scheme,omitzero"` // empty: the provider's own
	// Secrets are names; a delivery signed with any of them is taken, so that a
	// secret can be changed without a gap.
	Secrets []string `json:"secrets,omitzero"`
	VaultID string   `json:"vault_id,omitzero"` // where they are; empty: the node's own
	// ToleranceSeconds is how far a timestamp may be from now; 0 for 5 minutes.
	ToleranceSeconds int64 `json:"tolerance_seconds,omitzero"`
	// What follows is of SchemeHMAC alone.

	Header   string `json:"header,omitzero"`   // of hmac: the header with the signature
	Hash     string `json:"hash,omitzero"`     // of hmac: sha256 or sha512
	Encoding string `json:"encoding,omitzero"` // of hmac: the signature's, hex or base64
	Prefix   string `json:"prefix,omitzero"`   // of hmac: what stands before the signature
	// TimestampHeader is the header with the time in seconds, of hmac; then "TIME.BODY" is signed,
	// and else the body alone.
	TimestampHeader string `json:"timestamp_header,omitzero"`
}

// Webhook is the public path of a Connector.
type Webhook struct {
	// Path is where providers send to. It is shown to those who may write
	// Connectors, for it holds an unguessable token.
	Path string `json:"path,omitzero"`
	// Enabled says that the path is open.
	Enabled bool `json:"enabled"`
}

// Polling makes a Connector act by itself.
type Polling struct {
	Schedule string `json:"schedule"`              // five fields of cron, or @every 5m, @hourly, …
	TimeZone string `json:"timezone,omitzero"`     // of the IANA database; UTC if it is empty
	Export   string `json:"export,omitzero"`       // the plugin's export that polls; empty: each tick is a delivery itself
	NextAt   Time   `json:"next_at,omitzero"`      // when it acts next
	LastAt   Time   `json:"last_at,omitzero"`      // the last tick that was acted on
	LastTask string `json:"last_task_id,omitzero"` // the Task of that tick
}

// ConnectorCounters count what became of deliveries, since the Connector was made.
type ConnectorCounters struct {
	Received   uint64 `json:"received"`   // taken in; what had come before is not among them
	Deduped    uint64 `json:"deduped"`    // had come before
	Rejected   uint64 `json:"rejected"`   // for their signature; since the node started
	Normalized uint64 `json:"normalized"` // the plugin has said what they mean
	Tasks      uint64 `json:"tasks"`      // submitted
	Failed     uint64 `json:"failed"`     // put aside as dead letters
	Pending    uint64 `json:"pending"`    // neither handled nor put aside yet
}

// Delivery is what a provider has sent, as it is kept: the body as text when it is
// UTF-8, else as bytes.
type Delivery struct {
	Envelope    `json:",inline"`
	ConnectorID string            `json:"connector_id"`
	WorkspaceID string            `json:"workspace_id"`
	DeliveryID  string            `json:"delivery_id"` // the provider's
	Header      map[string]string `json:"header"`      // names in lower case; no credentials
	Text        string            `json:"text,omitzero"`
	Body        []byte            `json:"body,omitzero"` // base64
}

// DeadLetter is a delivery that could not be handled.
type DeadLetter struct {
	Envelope    `json:",inline"`
	ConnectorID string  `json:"connector_id"`
	WorkspaceID string  `json:"workspace_id"`
	DeliveryID  string  `json:"delivery_id"` // the Delivery's id
	Failure     Failure `json:"failure"`
	Attempts    int     `json:"attempts"`             // how often it failed
	RedrivenAt  Time    `json:"redriven_at,omitzero"` // when it was handled again; absent when it has failed since
}

// CallDeliveriesAnswer answers [CallDeliveries]: a batch for a plugin that
// normalizes.
type CallDeliveriesAnswer struct {
	Connector  Connector  `json:"connector"`
	Deliveries []Delivery `json:"deliveries"`
}

// CallNormalizedRequest is the request of [CallNormalized]: a result for each of the
// deliveries, in their order.
type CallNormalizedRequest struct {
	Results []NormalizedDelivery `json:"results"`
}

// NormalizedDelivery says what a delivery means. With none of the members it means
// nothing and is done with.
type NormalizedDelivery struct {
	ID       string             `json:"id"` // the Delivery's id
	Tasks    []ConnectorTask    `json:"tasks,omitzero"`
	Messages []ConnectorMessage `json:"messages,omitzero"`
	Events   []ConnectorEvent   `json:"events,omitzero"`
	// Ignored says in a word why it means nothing.
	Ignored string `json:"ignored,omitzero"`
	// Failure puts the delivery aside, whatever else it says.
	Failure *Failure `json:"failure,omitzero"`
}

// ConnectorTask is a Task to submit.
type ConnectorTask struct {
	Input jsontext.Value `json:"input"`
	// PersonaID is the Connector's target if it is empty.
	PersonaID string `json:"persona_id,omitzero"`
	// Thread is what belongs to one Session, such as a pull request; empty: the
	// Connector's target Session, or one for all.
	Thread string `json:"thread,omitzero"`
	// OrderKey orders Tasks when the Connector is ordered; empty: Thread.
	OrderKey string         `json:"order_key,omitzero"`
	Metadata jsontext.Value `json:"metadata,omitzero"`
}

// ConnectorMessage is a Message to append.
type ConnectorMessage struct {
	Message MessageInput `json:"message"`
	Thread  string       `json:"thread,omitzero"`
}

// ConnectorEvent is an event to tell.
type ConnectorEvent struct {
	Kind    EventKind      `json:"kind"`
	Payload jsontext.Value `json:"payload,omitzero"`
}

// CallDeliverRequest is the request of [CallDeliver]: what a poll has found. Each is
// taken as if the provider had sent it.
type CallDeliverRequest struct {
	Deliveries []PolledDelivery `json:"deliveries"`
}

// PolledDelivery is one thing that was found. ID is how it is recognized when it is
// found again.
type PolledDelivery struct {
	ID     string            `json:"id"`
	Header map[string]string `json:"header,omitzero"`
	Text   string            `json:"text,omitzero"`
	Body   []byte            `json:"body,omitzero"` // base64; not with Text
}

// CallDeliverAnswer answers [CallDeliver].
type CallDeliverAnswer struct {
	Received int `json:"received"`
	Deduped  int `json:"deduped"`
}

// CreateConnectorRequest is the body of POST /v1/connectors (Wharf's own). Its
// members are those of [Connector].
type CreateConnectorRequest struct {
	Name            string         `json:"name,omitzero"`
	Provider        string         `json:"provider"`
	WorkspaceID     string         `json:"workspace_id,omitzero"`
	EventKinds      []string       `json:"event_kinds,omitzero"`
	DedupePolicy    *DedupePolicy  `json:"dedupe_policy,omitzero"`
	Auth            *WebhookAuth   `json:"auth,omitzero"`
	Webhook         *Webhook       `json:"webhook,omitzero"`
	Polling         *Polling       `json:"polling,omitzero"`
	TargetPersonaID string         `json:"target_persona_id,omitzero"`
	TargetSessionID string         `json:"target_session_id,omitzero"`
	Plugin          string         `json:"plugin,omitzero"`
	Settings        jsontext.Value `json:"settings,omitzero"`
	Ordered         bool           `json:"ordered,omitzero"`
	Metadata        jsontext.Value `json:"metadata,omitzero"`
}

// UpdateConnectorRequest is the body of PATCH /v1/connectors/{id}. Nil members stay
// as they are. A status of ACTIVE also closes the circuit breaker.
type UpdateConnectorRequest struct {
	Name            *string          `json:"name,omitzero"`
	Status          *ConnectorStatus `json:"status,omitzero"`
	EventKinds      []string         `json:"event_kinds,omitzero"`
	DedupePolicy    *DedupePolicy    `json:"dedupe_policy,omitzero"`
	Auth            *WebhookAuth     `json:"auth,omitzero"`
	Webhook         *Webhook         `json:"webhook,omitzero"`
	Polling         *Polling         `json:"polling,omitzero"`
	TargetPersonaID Change[string]   `json:"target_persona_id,omitzero"`
	TargetSessionID Change[string]   `json:"target_session_id,omitzero"`
	Settings        jsontext.Value   `json:"settings,omitzero"`
	Ordered         *bool            `json:"ordered,omitzero"`
	Metadata        jsontext.Value   `json:"metadata,omitzero"`
}
