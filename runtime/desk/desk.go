package desk

import (
	"crypto/sha256"
	"log/slog"
	"slices"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/turns"
	"github.com/wharf-dev/wharf/storage"
)

// Parts are what everything that serves a kind of resource works with.
type Parts struct {
	Store  storage.Store // for reading: what is written goes through the ledger
	Ledger *ledger.Ledger
	Desk   *Desk
	IDs    *abi.IDs
	Now    func() time.Time
	Log    *slog.Logger
}

// Desk serves callers. It is safe for concurrent use.
type Desk struct {
	store     storage.Store // for reading: what is written goes through the ledger
	ledger    *ledger.Ledger
	now       func() time.Time
	turns     *turns.Turns
	places    places
	deletions deletions
}

// New returns a desk over what a ledger writes to. turns are the places of long work; nil
// bounds nothing.
func New(store storage.Store, l *ledger.Ledger, now func() time.Time, turns *turns.Turns) *Desk {
	return &Desk{store: store, ledger: l, now: now, turns: turns}
}

// Adapters speak to the desk and to the engine; these names are the parts of storage that
// show through.
type (
	// Event is one event of the log, shared between readers: do not change it.
	Event = storage.Event
	// Subscription is a live stream of events.
	Subscription = storage.Subscription
	// Position is an event's place in the log; its decimal string is the event's id.
	Position = storage.Position
	// Scope selects the events of a tenant, Workspace, Session or Task.
	Scope = storage.Scope
	// Blob is an open Artifact content.
	Blob = storage.Blob
	// UnreadableError says that something is stored that cannot be read.
	UnreadableError = ledger.UnreadableError
)

// ErrCursorExpired ends a [Subscription] whose reader retention has overtaken.
var ErrCursorExpired = storage.ErrCursorExpired

// ParsePosition reads an event id; ok is false for anything else.
func ParsePosition(id string) (p Position, ok bool) { return storage.ParsePosition(id) }

// HostActor is the actor of what the node does by itself.
const HostActor = "wharf"

// Caller is an authenticated actor and what it may do.
type Caller struct {
	Tenant     storage.Tenant
	TenantID   string
	Actor      string
	KeyID      string
	Scopes     []string // abi.ScopeAll is all of them
	Workspaces []string // empty: every Workspace of the tenant
	// Client is the live client of a Session that the request comes from, as it calls itself; "" for a
	// request that names none.
	Client string
	// Retries says who owns the caller's Idempotency-Keys, when that is not the actor.
	Retries string
}

// Can reports whether the caller has the given scope. A caller that is bound to Workspaces
// never has abi.ScopeNode nor abi.ScopeMetrics, which reach over all of them, whatever Scopes holds; abi.ScopeNode implies abi.ScopeMetrics.
func (c *Caller) Can(scope string) bool {
	if (scope == abi.ScopeNode || scope == abi.ScopeMetrics) && len(c.Workspaces) > 0 {
		return false
	}
	if scope == abi.ScopeMetrics && slices.Contains(c.Scopes, abi.ScopeNode) {
		return true
	}
	return slices.Contains(c.Scopes, abi.ScopeAll) || slices.Contains(c.Scopes, scope)
}

// As returns the caller as the live client of a Session that it names. The caller itself is shared.
func (c *Caller) As(client string) *Caller {
	if client == c.Client {
		return c
	}
	as := *c
	as.Client = client
	return &as
}

// Sees reports whether the caller may see the given Workspace.
func (c *Caller) Sees(workspace string) bool {
	return len(c.Workspaces) == 0 || slices.Contains(c.Workspaces, workspace)
}

// OwnsTenantWide refuses a key that is bound to Workspaces. It guards what reaches beyond them.
func (c *Caller) OwnsTenantWide() error {
	if len(c.Workspaces) > 0 {
		return abi.Errorf(abi.CodePermissionDenied, "this key is bound to workspaces and cannot change what others share")
	}
	return nil
}

// Retry identifies a write that a client may send again. A nil *Retry is a write without a
// key. Writes are the same when caller, Workspace, Scope and Key are; then they must have the same
// Fingerprint. The caller is its API key, or else its actor.
type Retry struct {
	Key   string // as the client sent it, 1 to 255 characters
	Scope string // what the key is for, as the client's protocol says: over HTTP method and path
	// Fingerprint is the hash of what is asked for: equal for whatever the protocol calls equal.
	Fingerprint [sha256.Size]byte
}

// Part is the identity of one of many writes that are done for this one; nil for nil.
func (r *Retry) Part(name string) *Retry {
	if r == nil {
		return nil
	}
	return &Retry{Key: r.Key, Scope: r.Scope + "/" + name, Fingerprint: r.Fingerprint}
}

// Doc is a resource as JSON, ready to be sent.
type Doc struct {
	ID   string
	JSON []byte // do not change
	// Restricted says that JSON holds parts that are not public: runtime/redact takes
	// them out for a caller without abi.ScopeEventsInternal.
	Restricted bool
	// Replayed says that the document answers a write that was made before, as it was answered
	// then.
	Replayed bool
	// Task is the Task's status when the document is a Task, else "".
	Task abi.TaskStatus

	Told []byte // what the first response's event says besides the resource, of a retried write
}

// Page asks for part of a list. After is the cursor of the last answer, "" for
// the beginning. Limit is 1 to 200. The members after it are for lists that say so.
type Page struct {
	After string
	Limit int

	Reversed bool // the list in the other order than its own
	Back     bool // what lies just before After, in the order of the list, and not after it
	Offset   int  // how many are left out first, at most storage.MaxOffset
	// Only what was made after, and before, a time. Times are those in the ids: milliseconds.
	CreatedAfter, CreatedBefore time.Time
	Total                       bool // count all that the list has
	MessageCounts               bool // show of each Session how many Messages it has
}

// DocList is part of a list.
type DocList struct {
	Docs []Doc
	More bool   // there are more in the direction in which the page was read
	Next string // cursor for the next page, "" when there is none
	// Previous is the cursor to read back from, "" at the beginning. Lists that are read one way
	// only have none.
	Previous string
	// Total is how many the list has in all, where that was asked for; at least so many when
	// TotalMore is set.
	Total     int
	TotalMore bool
	// Unreadable holds the ids of what belongs in this part and cannot be read.
	Unreadable []string

	bytes int // of Docs, as far as add has taken them
}

// Filter narrows a list of resources. Empty members do not narrow.
type Filter struct {
	WorkspaceID string
	SessionID   string
	TaskID      string
	Status      string // of a Task, or the state of a Session
	PersonaID   string // of a Task or Session
}

// narrows reports whether the filter takes out more than what belongs elsewhere.
func (f Filter) narrows() bool { return f.Status != "" || f.PersonaID != "" }
