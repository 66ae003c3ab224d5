package harn

import (
	"context"
	"errors"
	"strconv"
	"sync"

	"github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/abi/jsonw"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/gateway/api"
)

// connect serves the WebSocket of a Session. Without a cursor its stream begins with
// what happens from now on.
func (a *Adapter) connect(r *gateway.Request) error {
	if !r.IsUpgrade() {
		if _, err := a.core.Get(r.Context(), r.Caller, abi.ObjectSession, r.PathValue("session_id")); err != nil {
			return err
		}
		return r.UpgradeNeeded()
	}
	after, resumed, err := a.streamCursor(r)
	if err != nil {
		return err
	}
	if !resumed {
		after = a.core.Now()
	}
	return a.upgrade(r, bySession(r), after, resumed, "")
}

// upgrade makes a WebSocket of a request for a stream.
func (a *Adapter) upgrade(r *gateway.Request, f api.Filter, after api.Cursor, resumed bool, until string) error {
	sub, err := a.core.Follow(r.Context(), r.Caller, f, after)
	if err != nil && !api.IsExpired(err) {
		return err
	}
	s := &socket{adapter: a, reads: r.Reading(), filter: f, until: until, session: f.SessionID, tenant: r.Caller.TenantID, number: uint64(r.Caller.Tenant), named: r.Caller.Client}
	if until != "" {
		s.session, err = a.sessionOf(r, until)
	}
	caller := r.Caller
	if err == nil || api.IsExpired(err) {
		err = r.Upgrade(func(ctx context.Context, ws *gateway.Socket) {
			s.ws, s.live = ws, ctx
			s.run(caller, sub, after, resumed)
		})
	}
	if err != nil && sub != nil {
		sub.Close()
	}
	return err
}

// sessionOf returns the Session of a Task.
func (a *Adapter) sessionOf(r *gateway.Request, task string) (string, error) {
	doc, err := a.core.Get(r.Context(), r.Caller, abi.ObjectTask, task)
	if err != nil {
		return "", err
	}
	var of struct {
		SessionID string `json:"session_id"`
	}
	return of.SessionID, json.Unmarshal(doc.JSON, &of)
}

// socket is one WebSocket: a goroutine that reads and performs commands, in their
// order, and a trail that follows the log. Both write; neither holds more than it is
// writing, so that a client that does not read is not read from either.
type socket struct {
	adapter *Adapter
	ws      *gateway.Socket
	live    context.Context
	reads   *gateway.Reading
	filter  api.Filter // of the stream
	until   string     // the Task whose end ends the stream
	session string     // that commands are about when they name none
	tenant  string
	number  uint64 // of the tenant

	unread int // frames in a row that could not be read

	trail  *trail          // nil for none
	client *api.ToolClient // what the client offers; nil for nothing
	is     *attached       // the live client that it is; nil for none
	named  string          // the live client that the request for the socket named, until it is attached as one
}

// run serves the socket until it is closed.
func (s *socket) run(caller *api.Caller, sub *api.Stream, after api.Cursor, resumed bool) {
	defer s.end()
	if sub == nil {
		s.expired()
		return
	}
	if err := s.welcome(caller, after); err != nil {
		sub.Close()
		return
	}
	s.follow(sub, resumed)
	for {
		if err := s.ws.Read(s.perform); err != nil {
			if _, closed := errors.AsType[*gateway.ClosedError](err); closed {
				return
			}
			s.ws.Drop() // it takes no answers
			return
		}
	}
}

// end stops what the socket has started.
func (s *socket) end() {
	s.unfollow()
	if s.client != nil {
		s.client.Close()
	}
	s.leave()
}

// expired tells the client that its cursor is too old.
func (s *socket) expired() {
	shown := errExpired()
	_ = s.ws.Send(s.errorFrame("", shown))
	_ = s.ws.Close(gateway.CloseExpired, string(shown.Code))
}

// follow starts to send what a subscription has, which it owns.
func (s *socket) follow(sub *api.Stream, resumed bool) {
	out := &eventFrames{socket: s}
	s.trail = follow(s, &follower{
		out: out, sub: sub, resumed: resumed,
		until: s.until, heartbeat: s.ws.Heartbeat(), reads: s.reads, restless: true,
	})
}

// over closes the socket when what it follows has ended by itself.
func (s *socket) over(f *follower) {
	switch {
	case s.live.Err() != nil:
		s.bye(gateway.CloseGoingAway, "the node is draining")
	case f.done():
		s.bye(gateway.CloseNormal, "the task has ended")
	default:
		_ = s.ws.Close(gateway.CloseInternal, "") // unless the client was told more, or is gone
		s.ws.Drop()
	}
}

// bye says that nothing more comes, and why.
func (s *socket) bye(code int, reason string) {
	o := jsonw.Begin(nil)
	o.Text("type", "bye")
	o.Int("code", int64(code))
	o.Optional("reason", reason)
	_ = s.ws.Send(o.End())
	_ = s.ws.Close(code, reason)
}

// unfollow ends what follow began.
func (s *socket) unfollow() {
	if s.trail != nil {
		s.trail.end()
		s.trail = nil
	}
}

// welcome says what the socket is, and which requests wait for an answer.
func (s *socket) welcome(caller *api.Caller, after api.Cursor) error {
	first := helloFrame{
		Type: "hello", Version: abi.ProtocolVersion, RequestID: s.ws.ID(), Actor: caller.Actor,
		SessionID: s.session, TaskID: s.filter.TaskID, Cursor: after.String(),
	}
	first.Limits.MessageBytes, first.Limits.HeartbeatMS, first.Limits.Tools = s.ws.MessageLimit(), s.ws.Heartbeat().Milliseconds(), maxClientTools
	hello, err := json.Marshal(&first)
	if err != nil {
		return err
	}
	return s.ws.Send(append([][]byte{hello}, s.pending(caller)...)...)
}

// maxPending is how many pending requests a client is told of at first.
const maxPending = 100

// pending returns the frames of the requests that wait for an answer.
func (s *socket) pending(caller *api.Caller) (frames [][]byte) {
	if !caller.Can("tasks:read") {
		return nil
	}
	list, err := s.adapter.core.Permissions(s.ws.Context(), caller, s.filter, abi.PermissionPending, api.Page{Limit: maxPending})
	if err != nil {
		s.ws.Shown(err) // logged, if it is the node's affair: the list is there over REST too
	}
	for _, doc := range list.Views {
		frames = append(frames, appendRequest(nil, doc.JSON))
	}
	return frames
}

// helloFrame is the first that a client gets.
type helloFrame struct {
	Type      string `json:"type"`
	Version   string `json:"version" doc:"Of the protocol."`
	RequestID string `json:"request_id" doc:"Names the socket in the node's log."`
	Actor     string `json:"actor" doc:"Whom the commands are from."`
	SessionID string `json:"session_id,omitzero" doc:"What commands are about that name no Session."`
	TaskID    string `json:"task_id,omitzero" doc:"What commands are about that name no Task, and whose events come."`
	Cursor    string `json:"cursor" doc:"The events that follow come after this one."`
	Limits    struct {
		MessageBytes int64 `json:"message_bytes" doc:"Of a message of the client."`
		HeartbeatMS  int64 `json:"heartbeat_ms" doc:"How often the node pings, in milliseconds. A client of which nothing is heard for twice as long is dropped."`
		Tools        int   `json:"tools" doc:"How many tools a client may offer."`
	} `json:"limits" doc:"What the node takes."`
}

// eventFrames sends events as frames. It holds a buffer only while it fills it.
type eventFrames struct {
	socket *socket
	batch  *frameBatch
}

// frameBatch is frames that leave together.
type frameBatch struct {
	text []byte
	ends []int
	list [][]byte
}

// frameBatches keeps batches for the next socket that has something to send.
type frameBatches struct{ pool sync.Pool }

func (b *frameBatches) get() *frameBatch {
	if batch, ok := b.pool.Get().(*frameBatch); ok {
		return batch
	}
	return &frameBatch{}
}

func (b *frameBatches) put(batch *frameBatch) {
	if cap(batch.text) <= 2*writeSize {
		clear(batch.list)
		batch.text, batch.ends, batch.list = batch.text[:0], batch.ends[:0], batch.list[:0]
		b.pool.Put(batch)
	}
}

// end completes a frame.
func (b *frameBatch) end(text []byte) {
	b.text, b.ends = text, append(b.ends, len(text))
}

// frames returns the frames. They are valid until the batch is put back.
func (b *frameBatch) frames() [][]byte {
	start := 0
	for _, end := range b.ends {
		b.list = append(b.list, b.text[start:end])
		start = end
	}
	return b.list
}

// event implements [outlet].
func (e *eventFrames) event(ev *api.Event, again bool) error {
	if e.batch == nil {
		e.batch = e.socket.adapter.batches.get()
	}
	b := append(e.batch.text, `{"type":"event","replayed":`...)
	b = strconv.AppendBool(b, again || ev.Redone)
	b = ev.AppendJSON(append(b, `,"event":`...), again)
	e.batch.end(append(b, '}'))
	if !again && ev.Stated != nil {
		// What a Task asks of people, and what became of that, can be answered without reading
		// events.
		e.batch.end(appendRequest(e.batch.text, ev.Stated))
	}
	if len(e.batch.text) >= writeSize {
		return e.flush()
	}
	return nil
}

func appendRequest(b []byte, state []byte) []byte {
	return append(append(append(b, `{"type":"request","request":`...), state...), '}')
}

// flush implements [outlet].
func (e *eventFrames) flush() error {
	if e.batch == nil {
		return nil
	}
	err := e.socket.ws.Send(e.batch.frames()...)
	e.socket.adapter.batches.put(e.batch)
	e.batch = nil
	if err != nil {
		return errors.Join(errGone, err)
	}
	return nil
}

// pulse implements [outlet]: it asks whether the client lives, and whether its key
// still opens the socket.
func (e *eventFrames) pulse() error {
	if _, err := e.socket.authenticate(); err != nil {
		return errGone
	}
	if err := e.socket.ws.Ping(); err != nil {
		return errors.Join(errGone, err)
	}
	return nil
}

// fail implements [outlet].
func (e *eventFrames) fail(shown *abi.Error) {
	if shown.Code == abi.CodeCursorExpired {
		e.socket.expired()
		return
	}
	_ = e.socket.ws.Send(e.socket.errorFrame("", shown))
	_ = e.socket.ws.Close(gateway.CloseInternal, string(shown.Code))
}

// authenticate returns whom the socket acts for, and closes it when its key does not
// open it any more.
func (s *socket) authenticate() (*api.Caller, error) {
	caller, err := s.ws.Authenticate()
	if err != nil {
		if shown := s.ws.Shown(err); shown.Code != abi.CodeUnauthenticated {
			return nil, s.ws.Close(gateway.CloseInternal, string(shown.Code))
		}
		return nil, s.ws.Close(gateway.CloseUnauthorized, "the key is not valid any more")
	}
	if !caller.Can(scopeEvents) {
		return nil, s.ws.Close(gateway.CloseForbidden, "the key lacks the scope "+scopeEvents)
	}
	return caller, nil
}

// scopeEvents is what opens a socket, for it shows events.
const scopeEvents = "events:read"

// errorFrame answers the command with that id; "" is none.
func (s *socket) errorFrame(id string, shown *abi.Error) []byte {
	o := jsonw.Begin(nil)
	o.Text("type", "error")
	o.Optional("id", id)
	return append(o.B, gateway.EncodeError(s.ws.ID(), shown)[1:]...)
}

// ack says that a command was done, and what resource came of it, nil for none.
func ack(id string, resource []byte, again bool) []byte {
	o := jsonw.Begin(nil)
	o.Text("type", "ack")
	o.True("ok", true)
	o.Optional("id", id)
	o.True("idempotent_replayed", again)
	if resource != nil {
		o.JSON("resource", resource)
	}
	return o.End()
}
