package abi

import "github.com/go-json-experiment/json/jsontext"

// LiveMode is what a live client of a Session may do.
type LiveMode string

// The modes of live clients. A Session has any number of observers and at most one controller.
const (
	LiveObserver   LiveMode = "observer"
	LiveController LiveMode = "controller"
)

// LiveClient is a client that is attached to a Session.
type LiveClient struct {
	ClientID          string         `json:"client_id"`          // as the client calls itself
	Mode              LiveMode       `json:"mode"`               // observer or controller
	AttachedAt        string         `json:"attached_at"`        // in seconds since 1970
	LastSeenAt        string         `json:"last_seen_at"`       // when something was heard of it last, in seconds since 1970
	PromptInjection   bool           `json:"prompt_injection"`   // it may submit Tasks, send Messages and inject
	PermissionRouting bool           `json:"permission_routing"` // it is asked what Tasks ask of people
	Metadata          jsontext.Value `json:"metadata"`           // what it says of itself
}

// LiveClients says which clients are attached to a Session, and what an attach, takeover, detach or
// heartbeat has changed.
type LiveClients struct {
	Client               *LiveClient  `json:"client,omitzero"`        // whom the request was about; none in a list
	PreviousControllerID *string      `json:"previous_controller_id"` // who controlled the Session before, where the request has changed that
	ActiveControllerID   *string      `json:"active_controller_id"`   // who controls the Session from then on
	Clients              []LiveClient `json:"clients"`                // all of them, in the order in which they came

	// Attachment names this attachment of the client to whoever watches its connection: a detach
	// that names an earlier one does nothing.
	Attachment uint64 `json:"-"`
}

// LiveAction says what has happened to a live client.
type LiveAction string

// What happens to live clients.
const (
	LiveAttached  LiveAction = "attached"
	LiveTakenOver LiveAction = "taken_over" // it controls the Session, which another may have done before
	LiveDetached  LiveAction = "detached"
	LiveHeartbeat LiveAction = "heartbeat" // it says something else of itself
)

// LiveClientChange is a change of the clients that are attached to a Session.
type LiveClientChange struct {
	Action               LiveAction `json:"action"`
	Client               LiveClient `json:"client"`                 // as it is, or was at last
	PreviousControllerID *string    `json:"previous_controller_id"` // who controlled the Session before, where this has changed that
	ActiveControllerID   *string    `json:"active_controller_id"`   // who controls the Session from then on
	Reason               string     `json:"reason,omitzero"`        // why it was detached, such as client_exit
}

// LivePermissionRoute says which client is to answer what a Task asks.
type LivePermissionRoute struct {
	RequestID string         `json:"request_id"`           // the permission request
	ClientID  string         `json:"controller_client_id"` // who controls the Session
	Metadata  jsontext.Value `json:"metadata"`             // what that client says of itself
}

// The reasons of a detach that the node and its adapters give.
const (
	DetachedExit   = "client_exit" // its connection has ended
	DetachedSilent = "silent"      // nothing was heard of it for long
)

// AttachClientRequest is the body of POST /wharf/v1/sessions/{id}/clients.
type AttachClientRequest struct {
	ClientID string         `json:"client_id"`         // as the client calls itself, 1 to 128 characters
	Mode     LiveMode       `json:"mode,omitzero"`     // observer or controller; absent: as the client had it, observer for a new one
	Takeover bool           `json:"takeover,omitzero"` // a controller that there is becomes an observer
	Metadata jsontext.Value `json:"metadata,omitzero"` // what it says of itself: an object of at most 2 KiB

	// Held says that whoever attaches the client watches its connection and detaches it when that
	// ends: it is not taken out for its silence.
	Held bool `json:"-"`
}

// TakeoverSessionRequest is the body of POST /wharf/v1/sessions/{id}/clients/takeover.
type TakeoverSessionRequest struct {
	ClientID string         `json:"client_id"`         // who is to control the Session; it is attached if it is not
	Metadata jsontext.Value `json:"metadata,omitzero"` // what it says of itself, in the place of what it said
	Held     bool           `json:"-"`                 // as of an attach
}

// DetachClientRequest is the body of POST /wharf/v1/sessions/{id}/clients/detach.
type DetachClientRequest struct {
	ClientID string `json:"client_id"`
	Reason   string `json:"reason,omitzero"` // why, at most 256 characters

	Attachment uint64 `json:"-"` // which attachment is meant; 0 for whichever there is
}

// HeartbeatClientRequest is the body of POST /wharf/v1/sessions/{id}/clients/heartbeat.
type HeartbeatClientRequest struct {
	ClientID string         `json:"client_id"`
	Metadata jsontext.Value `json:"metadata,omitzero"` // what it says of itself, in the place of what it said
}
