package live

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/lockrank"
	"github.com/wharf-dev/wharf/storage"
)

// Silence is after how long a client counts as gone of which nothing was heard, and whose connection
// nobody watches. It is taken out when the clients of its Session change next.
const Silence = 2 * time.Minute

// What is kept at most: some 40 MB.
const (
	maxClients     = 64      // of a Session
	maxOfTenant    = 4_096   // clients of one tenant
	maxOfNode      = 16_384  // clients
	maxMetadata    = 2 << 10 // bytes that one says of itself
	maxReason      = 256     // bytes
	maxRouted      = 100     // requests that one change of the controller routes to the new one
	maxSwept       = 256     // Sessions that are looked through at once when there are too many clients
	maxOvertakings = 16
)

// scopeControls is what controlling a Session takes.
const scopeControls = "sessions:write"

// Parts are what a keeper works with.
type Parts struct {
	desk.Parts
	// Pending returns the ids of up to so many requests that the Tasks of a Session wait on, newest first.
	Pending func(t storage.Tenant, session string, limit int) []string
}

// Keeper is the registry of live clients. It is safe for concurrent use.
type Keeper struct {
	parts Parts

	mu          lockrank.Mutex[lockrank.Table]
	rooms       map[ledger.Key]room // of Sessions that have clients
	byTenant    map[storage.Tenant]int
	all         int
	attachments uint64
}

// NewKeeper returns a keeper.
func NewKeeper(p Parts) *Keeper {
	return &Keeper{parts: p, rooms: map[ledger.Key]room{}, byTenant: map[storage.Tenant]int{}}
}

// AttachClient attaches a client to a Session, as an observer or as the controller. A client that is
// attached already is taken in again, and keeps control if it had that and asks for no other mode.
func (k *Keeper) AttachClient(ctx context.Context, c *desk.Caller, session string, req abi.AttachClientRequest) (*abi.LiveClients, error) {
	if req.Mode != "" {
		if err := desk.CheckOneOf("mode", req.Mode, abi.LiveObserver, abi.LiveController); err != nil {
			return nil, err
		}
	}
	if err := cmp.Or(desk.CheckClientID("client_id", req.ClientID), checkMetadata(&req.Metadata)); err != nil {
		return nil, err
	}
	if req.Takeover && req.Mode != abi.LiveController {
		return nil, abi.InvalidParam("takeover", "only a controller takes a session over: the mode is %q", req.Mode)
	}
	attach := func(s *step, now time.Time) error { return s.attach(c, &req, k.nextAttachment(), now) }
	done, err := k.change(ctx, c, session, req.ClientID, attach)
	if err == errFull && k.sweep(ctx) > 0 {
		done, err = k.change(ctx, c, session, req.ClientID, attach)
	}
	return done, err
}

// TakeoverSession makes a client the controller of a Session; a former one becomes an observer.
func (k *Keeper) TakeoverSession(ctx context.Context, c *desk.Caller, session string, req abi.TakeoverSessionRequest) (*abi.LiveClients, error) {
	return k.AttachClient(ctx, c, session, abi.AttachClientRequest{ClientID: req.ClientID, Mode: abi.LiveController, Takeover: true,
		Metadata: req.Metadata, Held: req.Held})
}

// DetachClient takes a client out of a Session, which nobody controls then if it did.
func (k *Keeper) DetachClient(ctx context.Context, c *desk.Caller, session string, req abi.DetachClientRequest) (*abi.LiveClients, error) {
	if err := desk.CheckPresent("client_id", req.ClientID); err != nil {
		return nil, err
	}
	if len(req.Reason) > maxReason || !utf8.ValidString(req.Reason) {
		return nil, abi.InvalidParam("reason", "reason has at most %d bytes of text", maxReason)
	}
	return k.change(ctx, c, session, req.ClientID, func(s *step, _ time.Time) error { return s.detach(c, &req) })
}

// HeartbeatClient notes that a client is there, and what it says of itself by now.
func (k *Keeper) HeartbeatClient(ctx context.Context, c *desk.Caller, session string, req abi.HeartbeatClientRequest) (*abi.LiveClients, error) {
	if err := cmp.Or(desk.CheckPresent("client_id", req.ClientID), checkMetadata(&req.Metadata)); err != nil {
		return nil, err
	}
	return k.change(ctx, c, session, req.ClientID, func(s *step, now time.Time) error { return s.heartbeat(c, &req, now) })
}

// LiveClients returns the clients that are attached to a Session.
func (k *Keeper) LiveClients(ctx context.Context, c *desk.Caller, session string) (*abi.LiveClients, error) {
	if _, _, err := desk.Find[abi.Session](ctx, k.parts.Desk, c, abi.ObjectSession, session); err != nil {
		return nil, err
	}
	return k.of(ledger.Key{Tenant: c.Tenant, ID: session}).shown(), nil
}

// Controls refuses what only the controller of a Session may do, when the request names another
// client. A request that names none is let through: its scopes decide.
func (k *Keeper) Controls(c *desk.Caller, session string) error {
	if c.Client == "" {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	r := k.rooms[ledger.Key{Tenant: c.Tenant, ID: session}]
	own := r.controller()
	if own == nil || own.id != c.Client || own.actor != c.Actor {
		return notController(c.Client, r.controllerID())
	}
	own.seen = k.parts.Now()
	return nil
}

// May returns the check of [Keeper.Controls] that is made when what the caller does is handed over,
// nil for a request that names no client.
func (k *Keeper) May(c *desk.Caller) func(*abi.Session) error {
	if c.Client == "" {
		return nil
	}
	return func(s *abi.Session) error { return k.Controls(c, s.ID) }
}

// Routes returns the event that a request goes to the client that controls its Session; none when
// nobody does. The caller says what the event is about.
func (k *Keeper) Routes(t storage.Tenant, session, request string) []ledger.Record {
	k.mu.Lock()
	defer k.mu.Unlock()
	c := k.rooms[ledger.Key{Tenant: t, ID: session}].controller()
	if c == nil {
		return nil
	}
	return []ledger.Record{routed(c, request)}
}

func routed(c *client, request string) ledger.Record {
	return ledger.Record{Kind: abi.EventLivePermissionRoute, Payload: abi.LivePermissionRoute{RequestID: request, ClientID: c.id, Metadata: c.metadata}}
}

// checkMetadata accepts none, and an object that is not too large. What is kept is a copy.
func checkMetadata(m *jsontext.Value) error {
	if err := desk.CheckPlainMetadata(m); err != nil || *m == nil {
		return err
	}
	if len(*m) > maxMetadata {
		return abi.InvalidParam("metadata", "metadata has at most %d bytes", maxMetadata)
	}
	*m = m.Clone()
	return nil
}

func (k *Keeper) nextAttachment() uint64 {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.attachments++
	return k.attachments
}

// of returns a copy of a Session's room.
func (k *Keeper) of(key ledger.Key) room {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.rooms[key])
}

// errFull says that the node keeps as many clients as it may.
var errFull error = &abi.Error{Code: abi.CodeRateLimited, Type: abi.CodeRateLimited.Class().Type, RetryAfter: int(Silence.Seconds()),
	Message: "as many clients are attached to sessions as this node, or this tenant, may have; try again later"}

// reserve takes places for clients that are about to be kept.
func (k *Keeper) reserve(t storage.Tenant, n int) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if n > 0 && (k.all+n > maxOfNode || k.byTenant[t]+n > maxOfTenant) {
		return errFull
	}
	k.count(t, n)
	return nil
}

// count counts places. The caller holds mu.
func (k *Keeper) count(t storage.Tenant, n int) {
	k.all += n
	if k.byTenant[t] += n; k.byTenant[t] == 0 {
		delete(k.byTenant, t)
	}
}

// put keeps a room whose places were taken.
func (k *Keeper) put(key ledger.Key, r room) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(r) == 0 {
		delete(k.rooms, key)
		return
	}
	k.rooms[key] = r
}

// change makes a caller's change of the clients of a Session. heard is the client that it is about.
func (k *Keeper) change(ctx context.Context, c *desk.Caller, session, heard string, do func(*step, time.Time) error) (*abi.LiveClients, error) {
	s, release, err := k.parts.Desk.OpenSession(ctx, c, session)
	if ledger.IsNotFound(err) {
		return nil, k.forgotten(ctx, c, session, err)
	}
	if err != nil {
		return nil, err
	}
	defer release()
	return k.changeIn(ctx, s, c.Tenant, c.Actor, session, heard, do)
}

// forgotten drops the clients of a Session that is deleted by now, and returns why nobody sees it.
func (k *Keeper) forgotten(ctx context.Context, c *desk.Caller, session string, why error) error {
	_, release, err := k.parts.Desk.OpenDeleted(ctx, c, session)
	if err == nil {
		release()
		k.forget(ledger.Key{Tenant: c.Tenant, ID: session})
	}
	return why
}

// forget drops the clients of a Session that is gone.
func (k *Keeper) forget(key ledger.Key) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.count(key.Tenant, -len(k.rooms[key]))
	delete(k.rooms, key)
}

// changeIn makes a change while nothing is handed over for the Session. It is kept once its events
// are durable.
func (k *Keeper) changeIn(ctx context.Context, s *ledger.Session, t storage.Tenant, actor, session, heard string, do func(*step, time.Time) error) (done *abi.LiveClients, err error) {
	key := ledger.Key{Tenant: t, ID: session}
	err = s.Alone(func(is *abi.Session) error {
		before, now := k.of(key), k.parts.Now()
		next := before.begin(heard, now)
		if err := do(next, now); err != nil {
			return err
		}
		grown := max(len(next.room)-len(before), 0)
		if err := k.reserve(t, grown); err != nil {
			return err
		}
		f := storage.Frame{Tenant: t, WorkspaceID: is.WorkspaceID, SessionID: session, Actor: actor}
		if err := k.write(ctx, f, k.records(t, session, before, next)); err != nil {
			return cmp.Or(err, k.reserve(t, -grown))
		}
		done = next.answer() // before others reach the room
		k.put(key, next.room)
		return k.reserve(t, min(len(next.room)-len(before), 0))
	})
	return done, err
}

// records are the events of a step, and of what is routed to another controller by it.
func (k *Keeper) records(t storage.Tenant, session string, before room, next *step) (all []ledger.Record) {
	for i := range next.changes {
		all = append(all, ledger.Record{Kind: abi.EventLiveClient, Payload: &next.changes[i]})
	}
	controller := next.room.controller()
	if controller == nil || same(before.controllerID(), &controller.id) {
		return all
	}
	waits := k.parts.Pending(t, session, maxRouted)
	slices.Reverse(waits)
	for _, id := range waits {
		all = append(all, routed(controller, id))
	}
	return all
}

// liveID returns the id of what events about the clients of a Session are about.
func liveID(session string) string {
	return abi.IDPrefix(abi.ObjectLiveSession) + strings.TrimPrefix(session, abi.IDPrefix(abi.ObjectSession))
}

// write makes events durable. The caller is alone with the Session, but for writers elsewhere on the
// same store: where one of them was faster, the events get the next numbers.
func (k *Keeper) write(ctx context.Context, f storage.Frame, records []ledger.Record) error {
	if len(records) == 0 {
		return nil
	}
	about := abi.ResourcePointer{Object: abi.ObjectLiveSession, ID: liveID(f.SessionID)}
	for try := 1; ; try++ {
		last, found, err := k.parts.Store.Sequence(ctx, f.Tenant, about)
		if err != nil {
			return k.parts.Ledger.Failed("reading the number of the last event of live clients", err)
		}
		if found {
			last++
		}
		for i := range records {
			records[i].Object, records[i].ID, records[i].Sequence = about.Object, about.ID, last+uint64(i)
		}
		if _, _, err = k.parts.Ledger.Commit(f, nil, 0, records...); !ledger.Overtaken(err) || try == maxOvertakings {
			return err
		}
	}
}

// sweep takes silent clients out of Sessions, and returns of how many Sessions.
func (k *Keeper) sweep(ctx context.Context) (swept int) {
	for _, key := range k.withSilent() {
		if err := k.purge(ctx, key); err != nil {
			k.parts.Log.Warn("the silent clients of a session could not be taken out", "session", key.ID, "error", err)
			continue
		}
		swept++
	}
	return swept
}

// withSilent returns Sessions that have silent clients.
func (k *Keeper) withSilent() (keys []ledger.Key) {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := k.parts.Now()
	for key, r := range k.rooms {
		if slices.ContainsFunc(r, func(c client) bool { return c.silent(now) }) {
			keys = append(keys, key)
		}
		if len(keys) == maxSwept {
			break
		}
	}
	return keys
}

// purge takes the silent clients out of a Session.
func (k *Keeper) purge(ctx context.Context, key ledger.Key) error {
	s, release, err := k.parts.Ledger.Open(ctx, key)
	if err != nil {
		return err
	}
	defer release()
	if is := s.State(); !is.DeletedAt.IsZero() {
		k.forget(key)
		return nil
	}
	_, err = k.changeIn(ctx, s, key.Tenant, desk.HostActor, key.ID, "", func(*step, time.Time) error { return nil })
	return err
}
