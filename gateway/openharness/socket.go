package openharness

import (
	"cmp"
	"context"
	"errors"
	"sync"

	"github.com/valyala/fasthttp"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/gateway/api"
	"github.com/wharf-dev/wharf/gateway/openharness/mapper"
)

// scopeEvents is what opens a socket, for it shows events.
const scopeEvents = "events:read"

func (a *Adapter) connectRoute() gateway.Route {
	rt := read("sessions/{sessionId}/connect", "sessions.connect", scopeEvents, "Talk in a session over a WebSocket", a.at(a.connect))
	rt.Status, rt.Socket, rt.QueryToken = fasthttp.StatusSwitchingProtocols, true, true
	return rt
}

// connect serves the WebSocket of a session. It tells of the Tasks that run and of those that begin
// later, each from its beginning.
func (a *Adapter) connect(r *gateway.Request, h *abi.Harness) error {
	since := a.core.Now() // before the session is looked at: its end is seen there or comes later
	s, err := a.sessionOf(r, h, r.PathValue("sessionId"))
	switch {
	case err != nil:
		return err
	case !r.IsUpgrade():
		return r.UpgradeNeeded()
	case sessionStatus(s.State) != "active":
		return abi.Errorf(abi.CodeConflict, "the session is %s", sessionStatus(s.State))
	}
	running, after, err := a.runningIn(r, s.ID, since)
	if err != nil {
		return err
	}
	sub, err := a.core.Follow(r.Context(), r.Caller, api.Filter{SessionID: s.ID}, after)
	if err != nil {
		return err
	}
	c := &conversation{adapter: a, harness: h.Name, session: s.ID, sub: sub, reads: r.Reading(), since: since,
		tasks: running, asked: map[string]string{}}
	if err = r.Upgrade(c.run); err != nil {
		sub.Close()
	}
	return err
}

// runningIn returns the Tasks of a Session that have not ended and whose beginning is kept, and after
// where in the log they begin.
func (a *Adapter) runningIn(r *gateway.Request, id string, since api.Cursor) (running map[string]*mapper.Mapper, after api.Cursor, err error) {
	running, after = map[string]*mapper.Mapper{}, since
	err = a.eachOpen(r.Context(), r.Caller, id, func(t *abi.Task) error {
		first, _, err := a.core.Events(r.Context(), r.Caller, api.Filter{TaskID: t.ID}, 0, 2)
		if err == nil && begins(first) {
			running[t.ID], after = new(mapper.Mapper), min(after, first[0].At-1)
		}
		return err
	})
	return running, after, err
}

// eachOpen calls visit for the Tasks of a Session that have not ended, the newest first.
func (a *Adapter) eachOpen(ctx context.Context, c *api.Caller, session string, visit func(*abi.Task) error) error {
	_, err := gather(func(p api.Page) (api.List, error) {
		return a.core.List(ctx, c, abi.ObjectTask, api.Filter{SessionID: session}, p)
	}, func(view api.View) (struct{}, bool, error) {
		t, err := as[abi.Task](view)
		if err == nil && !t.Status.Terminal() {
			err = visit(&t)
		}
		return struct{}{}, false, err
	})
	return err
}

// conversation is one WebSocket: a goroutine that reads and does what the client says, one by one,
// and another that tells of the Session's Tasks. Neither holds more than it is writing.
type conversation struct {
	adapter *Adapter
	ws      *gateway.Socket
	harness string
	session string
	sub     *api.Stream
	reads   *gateway.Reading
	since   api.Cursor // of what is told of Tasks that did not run by then

	tasks map[string]*mapper.Mapper // those that are told of, of the goroutine that tells
	batch [][]byte                  // frames that leave together, of the same

	mu    sync.Mutex
	asked map[string]string // by Task: the message that it answers

	wrong  int // frames in a row that could not be read
	errors int // that were told of frames
}

// run serves the socket until it is closed.
func (c *conversation) run(ctx context.Context, ws *gateway.Socket) {
	c.ws = ws
	telling, stop := context.WithCancel(ctx)
	told := make(chan struct{})
	go func() {
		defer close(told)
		c.end(ctx, c.tell(telling))
	}()
	for {
		err := ws.Read(c.hear)
		if err == nil {
			continue
		}
		if _, closed := errors.AsType[*gateway.ClosedError](err); !closed {
			ws.Drop() // it takes no answers
		}
		break
	}
	stop()
	<-told
	c.sub.Close()
}

// errEnded says that the Session takes no messages any more.
var errEnded = errors.New("the session has ended")

// tell tells what happens until something fails.
func (c *conversation) tell(ctx context.Context) error {
	ctx = c.reads.Context(ctx)
	for {
		beat, cancel := context.WithTimeout(ctx, c.ws.Heartbeat())
		err := c.until(beat, ctx)
		cancel()
		if err == nil {
			_, err = c.authenticate()
		}
		if err == nil {
			err = c.ws.Ping()
		}
		if err != nil {
			return err
		}
	}
}

// until tells for a heartbeat's time.
func (c *conversation) until(beat, ctx context.Context) error {
	for {
		entries, err := c.sub.Next(beat)
		c.reads.Leave()
		if err != nil {
			c.reads.Done()
			if beat.Err() != nil && ctx.Err() == nil {
				return nil
			}
			return err
		}
		if err := c.write(ctx, entries); err != nil {
			return err
		}
		if beat.Err() != nil {
			return nil
		}
	}
}

// write sends what entries are told as.
func (c *conversation) write(ctx context.Context, entries []api.Entry) error {
	defer c.reads.Done()
	for _, entry := range entries {
		var ev *api.Event
		if err := c.reads.Do(ctx, entry.Size(), func() { ev = entry.Show() }); err != nil {
			return err
		}
		c.event(ev)
		ends := ev.At > c.since && endsTalk(ev.Kind)
		if ends || len(c.batch) >= batched {
			if err := c.flush(); err != nil {
				return err
			}
		}
		if ends {
			return errEnded
		}
	}
	return c.flush()
}

// batched is how many frames at most leave together.
const batched = 64

// endsTalk reports whether after an event of a kind a Session takes no messages.
func endsTalk(k abi.EventKind) bool {
	return k == abi.EventSessionClosed || k == abi.EventSessionDeleted || k == abi.EventSessionPaused
}

func (c *conversation) flush() error {
	if len(c.batch) == 0 {
		return nil
	}
	err := c.ws.Send(c.batch...)
	clear(c.batch)
	c.batch = c.batch[:0]
	return err
}

// event adds the frames of an event.
func (c *conversation) event(ev *api.Event) {
	switch {
	case ev.Kind == abi.EventTaskSubmitted && ev.At > c.since:
		if id := taskOf(ev); c.tasks[id] == nil {
			c.tasks[id] = new(mapper.Mapper)
		}
		return
	case ev.Kind != abi.EventLog && !mapper.Tells(ev.Kind):
		return
	}
	id := taskOf(ev)
	m := c.tasks[id]
	if m == nil {
		return
	}
	text := ev.AppendJSON(nil, false)
	frames := framesOf(m.Event(ev.Kind, text))
	if ev.Kind == abi.EventLog {
		frames = loggedFrame(text)
	}
	answers := c.answers(id)
	for _, f := range frames {
		f.ID, f.ExecutionID, f.ReplyTo = eventID(ev.At, f.nth), id, answers
		c.batch = append(c.batch, appendJSON(nil, f.serverFrame))
	}
	if m.Over() {
		c.forget(id)
	}
}

// answers returns the id of the message that a Task answers, "" for one of somebody else.
func (c *conversation) answers(task string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.asked[task]
}

func (c *conversation) forget(task string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.asked, task)
	delete(c.tasks, task)
}

// end closes the socket when there is no more to tell.
func (c *conversation) end(live context.Context, err error) {
	shown, ok := errors.AsType[*abi.Error](err)
	_, closed := errors.AsType[*gateway.ClosedError](err)
	switch {
	case closed:
	case errors.Is(err, errEnded):
		_ = c.ws.Close(gateway.CloseNormal, err.Error())
	case live.Err() != nil:
		_ = c.ws.Close(gateway.CloseGoingAway, "the node is draining")
	case errors.Is(err, context.Canceled): // the client has left
	case ok && shown.Code == abi.CodeCursorExpired:
		_ = c.ws.Close(gateway.CloseExpired, "what was to be told is not kept any more")
	default:
		_ = c.ws.Close(gateway.CloseInternal, "") // unless the client is gone, or too slow
		c.ws.Drop()
	}
}

// authenticate returns whom the socket acts for, and closes it when its key does not open it any
// more.
func (c *conversation) authenticate() (*api.Caller, error) {
	caller, err := c.ws.Authenticate()
	if err != nil {
		if shown := c.ws.Shown(err); shown.Code != abi.CodeUnauthenticated {
			return nil, c.ws.Close(gateway.CloseInternal, string(shown.Code))
		}
		return nil, c.ws.Close(gateway.CloseUnauthorized, "the key is not valid any more")
	}
	if !caller.Can(scopeEvents) {
		return nil, c.ws.Close(gateway.CloseForbidden, "the key lacks the scope "+scopeEvents)
	}
	return caller, nil
}

// clientFrame is what a client says.
type clientFrame struct {
	Type        string  `json:"type"`
	ID          string  `json:"id"`
	Content     *string `json:"content"`
	Data        *string `json:"data"`
	ExecutionID string  `json:"execution_id"`
}

// Bounds of what clients say.
const (
	maxWrong   = 16  // frames in a row that cannot be read
	maxFrameID = 128 // bytes
)

// hear does what one frame says. Its error ends the socket.
func (c *conversation) hear(text []byte) error {
	var f clientFrame
	if err := c.read(text, &f); err != nil {
		if c.wrong++; c.wrong >= maxWrong {
			return c.ws.Close(gateway.CloseBadFrames, "too many frames that cannot be read")
		}
		return c.refuse(&f, err)
	}
	c.wrong = 0
	caller, err := c.authenticate()
	if err != nil {
		return err
	}
	if err := c.does(caller, &f); err != nil {
		return c.refuse(&f, err)
	}
	return nil
}

func (c *conversation) read(text []byte, f *clientFrame) error {
	if err := c.ws.Decode(text, f, false); err != nil {
		return err
	}
	switch {
	case len(f.ID) > maxFrameID:
		f.ID = ""
		return abi.InvalidParam("id", "id has at most %d bytes", maxFrameID)
	case f.ID == "" && (f.Type == "message" || f.Type == "stdin"):
		return abi.InvalidParam("id", "a frame of type %s has an id", f.Type)
	}
	return nil
}

// does does what a frame says.
func (c *conversation) does(caller *api.Caller, f *clientFrame) error {
	if err := gateway.Require(caller, "tasks:write"); err != nil {
		return err
	}
	switch f.Type {
	case "message":
		return c.message(caller, f)
	case "stdin":
		return c.stdin(caller, f)
	case "cancel":
		return c.cancel(caller, f)
	}
	return abi.InvalidParam("type", "%q is none of message, stdin, cancel", f.Type)
}

// message begins a Task. It is not told of before it is known what it answers.
func (c *conversation) message(caller *api.Caller, f *clientFrame) error {
	if f.Content == nil {
		return abi.InvalidParam("content", "content is needed")
	}
	if err := checkText("content", *f.Content, maxMessage); err != nil {
		return err
	}
	ctx := c.ws.Context()
	h, err := c.adapter.core.Harness(ctx, caller, c.harness)
	if err == nil {
		err = c.adapter.takesWork(h)
	}
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	made, err := c.adapter.sayIn(ctx, caller, nil, c.session, messageRequest{Content: *f.Content})
	if err == nil {
		c.asked[made.ID] = f.ID
	}
	return err
}

// stdin answers the Task that waits, of several the one that began first.
func (c *conversation) stdin(caller *api.Caller, f *clientFrame) error {
	if f.Data == nil {
		return abi.InvalidParam("data", "data is needed")
	}
	if err := checkText("data", *f.Data, maxMessage); err != nil {
		return err
	}
	var waits *abi.Task
	ctx := c.ws.Context()
	err := c.adapter.eachOpen(ctx, caller, c.session, func(t *abi.Task) error {
		if t.Waiting != nil && (t.Status == abi.TaskInputRequired || t.Status == abi.TaskAuthRequired) {
			waits = t
		}
		return nil
	})
	if err != nil {
		return err
	}
	if waits == nil {
		return abi.Errorf(abi.CodeConflict, "nothing in this session waits for input now")
	}
	return c.adapter.answer(ctx, caller, nil, waits, *f.Data)
}

func (c *conversation) cancel(caller *api.Caller, f *clientFrame) error {
	if f.ExecutionID == "" {
		return abi.InvalidParam("execution_id", "execution_id is needed")
	}
	view, err := c.adapter.core.Get(c.ws.Context(), caller, abi.ObjectTask, f.ExecutionID)
	if err != nil {
		return err
	}
	if t, err := as[abi.Task](view); err != nil || t.SessionID != c.session {
		return cmp.Or(err, error(abi.NotFound(abi.ObjectTask, f.ExecutionID)))
	}
	_, err = c.adapter.core.CancelTask(c.ws.Context(), caller, nil, f.ExecutionID, abi.CancelTaskRequest{})
	return err
}

// refuse says what is wrong with a frame. It lies nowhere in the log: its id counts from 0.1 on.
func (c *conversation) refuse(f *clientFrame, err error) error {
	shown := c.ws.Shown(err)
	code, _ := codeOf(shown)
	c.errors++
	return c.ws.Send(appendJSON(nil, serverFrame{Type: mapper.Error, ID: eventID(0, c.errors), ReplyTo: f.ID, Code: code, Message: &shown.Message, Param: shown.Param}))
}
