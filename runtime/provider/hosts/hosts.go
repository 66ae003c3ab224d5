package hosts

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi/plainly"
	"github.com/wharf-dev/wharf/runtime/provider/tool"
)

// Caller asks a client, and waits for its answer. It is safe for concurrent use. An error that the
// client itself has answered with has the code of JSON-RPC, see [Refused]; any other says that there
// is no answer.
type Caller interface {
	Call(ctx context.Context, method string, params, result any) error
}

// Refused is an error that a client has answered with.
type Refused interface {
	error
	// Answered returns the error's code, of JSON-RPC, and its message.
	Answered() (code int, message string)
}

// The codes by which clients say what a failure is.
const (
	codeMethodNotFound = -32601
	codeInvalidParams  = -32602
	codeRejected       = -32001 // the tool was rejected
)

// The methods that clients serve beside ACP's own. They are declared by these names.
const (
	MethodTools       = "host/tools/list"
	MethodBuiltin     = "builtin_call"
	MethodCall        = "host/call"
	MethodSkills      = "skills/list"
	MethodSkill       = "skills/fetch"
	MethodMatchSkills = "skill/match"
	// MethodCapabilities is what a client declares that says only when it is asked which operations of
	// shells it serves.
	MethodCapabilities = "host/capabilities"
	// MethodProcess is what a client declares whose shells are asked for by host/call.
	MethodProcess = "process"
)

// Declared is what a client says that it serves.
type Declared struct {
	ReadsFiles  bool // fs/read_text_file
	WritesFiles bool // fs/write_text_file
	Terminals   bool // terminal/create, and all that follows it
	// Methods are further ones, by their names here, or by those of an operation, such as
	// process.list_shells. Each has another name, which begins with "_harn/", and is asked for by the
	// one that is declared. A client that lists tools is taken to call them.
	Methods []string
}

// Client is a connection of a client, for one Session.
type Client struct {
	Tenant, Session string // their ids
	// SessionID is the Session as the client names it; Session, if it is empty.
	SessionID string
	Actor     string // who answers for what the client offers
	Declared  Declared
	Caller    Caller
}

// Config says how clients are asked. The zero value is ready.
type Config struct {
	Hints  tool.Hints // the operator's, of tools that clients list
	Limits tool.Limits
	// Returning is for how long after [New] a tool of a client is waited for in a Session that has none: clients
	// come back after the node was started again, and Tasks go on at once. 0: for no time.
	Returning time.Duration
	Log       *slog.Logger // default: nowhere
}

// Hosts are the clients that are connected. It is safe for concurrent use.
type Hosts struct {
	cfg      Config
	returned chan struct{} // closed when no more clients are taken to come back

	mu       sync.Mutex
	sessions map[session][]*Host       // oldest first
	awaited  map[session]chan struct{} // closed when the Session has a client
}

type session struct{ tenant, id string }

// New returns Hosts without any clients.
func New(c Config) *Hosts {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	hs := &Hosts{cfg: c, returned: make(chan struct{}), sessions: map[session][]*Host{}, awaited: map[session]chan struct{}{}}
	time.AfterFunc(c.Returning, hs.allReturned)
	return hs
}

// allReturned has nobody wait any more.
func (hs *Hosts) allReturned() {
	close(hs.returned)
	hs.mu.Lock()
	defer hs.mu.Unlock()
	clear(hs.awaited)
}

// Host is one client that is connected. It is safe for concurrent use.
type Host struct {
	all    *Hosts
	client Client
	life   context.Context // ends when the client has left
	leave  context.CancelCauseFunc
	tools  kept[listed]
	skills kept[Skill]
	able   kept[string] // operations of shells
	first  atomic.Bool  // it controls the Session
}

// errLeft is the cause of the end of what a client was asked when it left.
var errLeft = errors.New("the client has left")

// Connect has Tasks of the client's Session reach it until the Host is closed.
func (hs *Hosts) Connect(c Client) *Host {
	if c.SessionID == "" {
		c.SessionID = c.Session
	}
	h := &Host{all: hs, client: c}
	h.life, h.leave = context.WithCancelCause(context.Background())
	hs.mu.Lock()
	defer hs.mu.Unlock()
	of := session{c.Tenant, c.Session}
	hs.sessions[of] = append(hs.sessions[of], h)
	if came := hs.awaited[of]; came != nil {
		close(came)
		delete(hs.awaited, of)
	}
	return h
}

// await waits for a client of a Session that has none, as long as clients come back.
func (hs *Hosts) await(ctx context.Context, tenant, id string) {
	select {
	case <-hs.returned:
		return
	default:
	}
	select {
	case <-hs.comes(session{tenant, id}):
	case <-hs.returned:
	case <-ctx.Done():
	}
}

// comes is closed when a Session has a client.
func (hs *Hosts) comes(of session) <-chan struct{} {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	came := hs.awaited[of]
	if came != nil {
		return came
	}
	came = make(chan struct{})
	if len(hs.sessions[of]) > 0 {
		close(came)
		return came
	}
	hs.awaited[of] = came
	return came
}

// Close has nobody reach the client any more. Calls that it has not answered end.
func (h *Host) Close() {
	h.leave(errLeft)
	hs, of := h.all, session{h.client.Tenant, h.client.Session}
	hs.mu.Lock()
	defer hs.mu.Unlock()
	left := slices.DeleteFunc(slices.Clone(hs.sessions[of]), func(other *Host) bool { return other == h })
	if len(left) == 0 {
		delete(hs.sessions, of)
		return
	}
	hs.sessions[of] = left
}

// Controls says whether the client controls its Session by now: who does is asked before all others.
func (h *Host) Controls(controls bool) { h.first.Store(controls) }

// ToolsChanged has the client asked again for its tools, and for what it can do, when that is next
// needed.
func (h *Host) ToolsChanged() {
	h.tools.changed()
	h.able.changed()
}

// SkillsChanged has the client asked again for its skills when they are next needed: it has said
// skills/update.
func (h *Host) SkillsChanged() { h.skills.changed() }

// of returns the clients of a Session, in the order in which they are asked.
func (hs *Hosts) of(tenant, id string) []*Host {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	all := slices.Clone(hs.sessions[session{tenant, id}])
	slices.Reverse(all)
	var first, others []*Host
	for _, h := range all {
		if h.first.Load() {
			first = append(first, h)
		} else {
			others = append(others, h)
		}
	}
	return append(first, others...)
}

// ask asks the client something, until ctx ends or the client has left.
func (h *Host) ask(ctx context.Context, method string, params any) (result jsontext.Value, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(h.life, func() { cancel(errLeft) })()
	err = h.client.Caller.Call(ctx, method, params, &result)
	return result, err
}

// askFor is ask with the answer as an object of a type.
func askFor[T any](ctx context.Context, h *Host, method string, params any) (answer T, err error) {
	result, err := h.ask(ctx, method, params)
	if err != nil {
		return answer, err
	}
	if err := json.Unmarshal(result, &answer); err != nil {
		return answer, &unreadable{method, err}
	}
	return answer, nil
}

// unreadable says that a client's answer is not what the method answers.
type unreadable struct {
	method string
	err    error
}

// Error implements the error interface.
func (u *unreadable) Error() string {
	return "the client's answer to " + u.method + " cannot be read: " + plainly.Say(u.err)
}

// Unwrap returns what is wrong with it.
func (u *unreadable) Unwrap() error { return u.err }

// How long a client gets to list something, and how long one that has failed to is not asked again.
const (
	listTime  = 10 * time.Second
	pauseTime = 30 * time.Second
)

// kept is a list of what a client has, kept until the client says that it has changed. It is safe
// for concurrent use; the zero value is ready.
type kept[T any] struct {
	mu      sync.Mutex
	items   []T
	known   bool
	failed  error     // of the last time; nil when the client has answered
	until   time.Time // it is not asked again before, then
	changes int
	asked   *asking[T] // that is under way; nil for none
}

type asking[T any] struct {
	done  chan struct{} // closed when the rest is set
	items []T
	err   error
}

func (k *kept[T]) changed() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.items, k.known, k.failed = nil, false, nil
	k.asked = nil // what is under way is of before
	k.changes++
}

// get returns the list: as it is kept, or as read gives it, once for all who wait for it. read has
// a context of its own.
func (k *kept[T]) get(ctx, life context.Context, read func(context.Context) ([]T, error)) ([]T, error) {
	k.mu.Lock()
	switch {
	case k.known:
		defer k.mu.Unlock()
		return k.items, nil
	case k.failed != nil && time.Now().Before(k.until):
		defer k.mu.Unlock()
		return nil, k.failed
	}
	a, changes := k.asked, k.changes
	if a == nil {
		a = &asking[T]{done: make(chan struct{})}
		k.asked = a
		go func() {
			within, cancel := context.WithTimeoutCause(life, listTime, errSilent)
			defer cancel()
			a.items, a.err = read(within)
			k.keep(a, changes)
		}()
	}
	k.mu.Unlock()
	select {
	case <-a.done:
		return a.items, a.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

var errSilent = errors.New("the client has not answered within " + listTime.String())

// keep keeps what was read, unless it has changed meanwhile.
func (k *kept[T]) keep(a *asking[T], changes int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.changes == changes {
		k.items, k.known, k.failed, k.asked = a.items, a.err == nil, a.err, nil
		k.until = time.Now().Add(pauseTime)
	}
	close(a.done)
}
