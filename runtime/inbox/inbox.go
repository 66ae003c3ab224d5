package inbox

import (
	"context"
	"strings"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/lockrank"
	"github.com/wharf-dev/wharf/runtime/waiting"
	"github.com/wharf-dev/wharf/storage"
)

// Messages makes the Messages that clients say.
type Messages interface {
	// NewClientMessage checks a Message and gives it its id; what it refers to is there for the client.
	NewClientMessage(ctx context.Context, c *desk.Caller, in *abi.MessageInput, sessionID, taskID string) (*abi.Message, error)
}

// Parts are what a keeper needs.
type Parts struct {
	desk.Parts
	Messages Messages
	// May returns what refuses a caller whose live client does not control the Session, nil for a caller that names
	// none. nil refuses nobody.
	May func(c *desk.Caller) func(*abi.Session) error
	// Task returns a Task as the log has it, without its input.
	Task func(ctx context.Context, t storage.Tenant, id string) (*abi.Task, error)
	// Parked has the Tasks that wait for a Session's inbox.
	Parked *waiting.Parked
	// Wake brings a parked Task what it waits for, and waits until that is durable.
	// waiting.ErrNotWaiting says that it does not wait for this any more.
	Wake func(ctx context.Context, task ledger.Key, a *waiting.Answer) error
	// Go runs what nobody waits for.
	Go func(func())
}

// Keeper serves inboxes. It is safe for concurrent use.
type Keeper struct {
	parts Parts
	empty emptyTable
	// alone are held by whoever changes an inbox. They are no locks of resources: a Task that is woken under
	// one may be brought into memory for it, which takes the lock of its own.
	alone ledger.Stripes[lockrank.Inbox]
}

// NewKeeper returns a keeper.
func NewKeeper(p Parts) *Keeper {
	if p.May == nil {
		p.May = func(*desk.Caller) func(*abi.Session) error { return nil }
	}
	return &Keeper{parts: p}
}

// ID returns the id of a Session's inbox.
func ID(session string) string {
	return abi.IDPrefix(abi.ObjectInbox) + strings.TrimPrefix(session, abi.IDPrefix(abi.ObjectSession))
}

// kept is an inbox as the log has it, and what becomes of it.
type kept struct {
	abi.Inbox
	tenant storage.Tenant
	next   uint64 // the sequence of its next event
	known  bool   // there has been one
}

// of returns a Session's inbox: an empty one when it has none. The caller holds its lock.
func (k *Keeper) of(ctx context.Context, t storage.Tenant, workspace, session string) (*kept, error) {
	in := &kept{tenant: t}
	res, err := k.parts.Ledger.Find(ctx, t, abi.ObjectInbox, ID(session))
	if ledger.IsNotFound(err) {
		in.Inbox = abi.Inbox{Envelope: abi.NewEnvelope(abi.ObjectInbox, ID(session), k.parts.Now(), nil), WorkspaceID: workspace, SessionID: session}
		return in, nil
	}
	if err == nil {
		err = ledger.Decode(res.State, &in.Inbox)
	}
	if err == nil {
		err = ledger.CheckEnvelope(&in.Envelope, abi.ObjectInbox, ID(session))
	}
	in.next, in.known = res.Sequence+1, true
	return in, ledger.Naming(abi.ObjectInbox, ID(session), err)
}

// record returns the event that states the inbox as it is by now.
func (k *Keeper) record(in *kept) ledger.Record {
	in.UpdatedAt = abi.At(k.parts.Now())
	if in.Pending == nil {
		in.Pending = []abi.PendingInjection{}
	}
	return ledger.Record{Kind: abi.EventInboxChanged, Object: abi.ObjectInbox, ID: in.ID, Sequence: in.next, Created: !in.known, State: &in.Inbox}
}

// find returns the place of what waits; -1 for none.
func (in *kept) find(is func(*abi.PendingInjection) bool) int {
	for i := range in.Pending {
		if is(&in.Pending[i]) {
			return i
		}
	}
	return -1
}

// injection is one as the log has it.
type injection struct {
	abi.Injection
	next  uint64
	known bool
}

// states returns the event that states an injection as it is by now.
func (i *injection) states(kind abi.EventKind) ledger.Record {
	return ledger.Record{Kind: kind, Object: abi.ObjectInjection, ID: i.ID, Sequence: i.next, Created: !i.known, Restricted: restricted(i.Parts), State: &i.Injection}
}

func restricted(parts []abi.Part) bool {
	for i := range parts {
		if parts[i].Visibility != abi.VisibilityPublic {
			return true
		}
	}
	return false
}

// read reads injections of a Session.
func (k *Keeper) read(ctx context.Context, t storage.Tenant, ids ...string) ([]injection, error) {
	all, err := k.parts.Ledger.FindAll(ctx, t, abi.ObjectInjection, ids)
	if err != nil {
		return nil, err
	}
	out := make([]injection, len(all))
	for i, res := range all {
		err := ledger.Decode(res.State, &out[i].Injection)
		if err == nil {
			err = ledger.CheckEnvelope(&out[i].Envelope, abi.ObjectInjection, res.ID)
		}
		if err != nil {
			return nil, ledger.Naming(abi.ObjectInjection, res.ID, err)
		}
		out[i].next, out[i].known = res.Sequence+1, true
	}
	return out, nil
}

// emptyTable remembers Sessions in whose inbox nothing waits: most Tasks look into one of those. A
// Session is forgotten before anything can wait in it.
type emptyTable struct {
	mu   lockrank.RWMutex[lockrank.Table]
	kept map[ledger.Key]struct{}
}

// maxEmpty bounds an emptyTable.
const maxEmpty = 1 << 14

func (e *emptyTable) has(session ledger.Key) bool {
	e.mu.RLock()
	defer e.mu.RUnlock()
	_, is := e.kept[session]
	return is
}

// note remembers, under the inbox's lock, whether nothing waits.
func (e *emptyTable) note(session ledger.Key, empty bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !empty {
		delete(e.kept, session)
		return
	}
	if e.kept == nil {
		e.kept = map[ledger.Key]struct{}{}
	}
	if len(e.kept) >= maxEmpty {
		for other := range e.kept { // any will do
			delete(e.kept, other)
			break
		}
	}
	e.kept[session] = struct{}{}
}
