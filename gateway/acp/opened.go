package acp

import (
	"cmp"
	"context"
	"io"
	"math"
	"slices"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway/acp/updates"
	"github.com/wharf-dev/wharf/gateway/api"
	"github.com/wharf-dev/wharf/gateway/jsonrpc"
)

// opened is a session that is open on a connection. One goroutine at a time follows its events and
// tells the client of them: at first the one that opens it, then its own.
type opened struct {
	conn      *conn
	id        string
	workspace string
	cwd       string
	resumes   bool        // it was open before
	caller    *api.Caller // who has opened it
	teller    *updates.Teller
	stream    *api.Stream
	live      context.Context // ends when the client is told nothing more
	stop      context.CancelCauseFunc
	following sync.WaitGroup
	host      *api.Host // what the client has for the session's Tasks; nil for nothing

	mu         sync.Mutex
	told       api.Cursor                    // the client was told of the events up to this one
	moved      chan struct{}                 // closed when anything below, or told, changes
	tasks      map[string]*taskState         // that have not ended, or are waited for
	made       map[string]string             // Tasks by what the client has asked for with
	questions  map[string]*question          // that are pending, by id
	idling     map[string]context.CancelFunc // ends telling that a Task is idle, by its id
	asking     bool                          // the client is asked what comes up
	coming     *question                     // that the client is being told of
	persona    string                        // the mode
	controller string                        // the client that controls the Session, "" for none
	model      string                        // "" for what the Persona says
}

// taskState is what the events have said of a Task.
type taskState struct {
	id     string
	parent string // the Task that it belongs to, "" for none
	mine   bool   // it is waited for
	parked bool   // it waits for somebody
	idle   bool   // it waits for the inbox of the Session
	ended  bool
	end    taskEnd    // once it has ended
	last   api.Cursor // its last event, once it has ended
}

// taskEnd is how a Task has ended.
type taskEnd struct {
	canceled bool
	stop     string // the reason that stands for it where it has ended well
	failure  *abi.Failure
}

// openSession begins to follow a Session, from its beginning: so what the client is told does not depend
// on when it has come. What was before is told as told says; resumes says that the client has what it has said
// itself, as long ago as told reaches.
func (c *conn) openSession(ctx context.Context, caller *api.Caller, s *abi.Session, told func(mark) bool, resumes bool) (*opened, error) {
	o := &opened{conn: c, resumes: resumes, id: s.ID, workspace: s.WorkspaceID, cwd: folderOf(s), caller: caller,
		moved: make(chan struct{}), tasks: map[string]*taskState{}, made: map[string]string{}, questions: map[string]*question{}, idling: map[string]context.CancelFunc{}}
	o.live, o.stop = context.WithCancelCause(c.live)
	o.teller = updates.New(o.tellerFor())
	pieces, err := o.lineage(ctx, s)
	if err != nil {
		return nil, err
	}
	told = o.uncut(ctx, pieces, told)
	if err := o.inherit(ctx, s, pieces[:len(pieces)-1], told); err != nil {
		return nil, err
	}
	if o.stream, err = c.adapter.core.Follow(ctx, caller, api.Filter{SessionID: s.ID}, 0); err != nil {
		return nil, err
	}
	if err := o.catchUp(ctx, o.stream, told, 0); err != nil {
		o.stream.Close()
		return nil, err
	}
	c.offer(o)
	return o, nil
}

// tellerFor says who is told.
func (o *opened) tellerFor() updates.For {
	said := o.conn.client()
	f := updates.For{Harn: said.harn, Root: o.cwd, Asks: said.form || said.url, Awaits: o.awaited}
	if said.takes != nil {
		f.Takes = func(name string) bool { return said.takes[name] }
	}
	f.Audit, f.Contents = o.audits(), o.contents
	f.DefaultMode = o.conn.adapter.has.DefaultPersona
	f.ConfigOptions = func(model string) jsontext.Value {
		text, err := json.Marshal(o.conn.adapter.optionsOf(model), json.Deterministic(true))
		if err != nil {
			return nil
		}
		return text
	}
	return f
}

// audits returns what says which mutation session a Task belongs to. It keeps the last one: events of one
// Task follow each other.
func (o *opened) audits() func(task string) *abi.MutationSession {
	last, kept := "", (*abi.MutationSession)(nil)
	return func(task string) *abi.MutationSession {
		if task != last {
			last, kept = task, o.known(o.live, task).Audit()
		}
		return kept
	}
}

// maxShown is the largest content of an image or a sound that a client is sent, in bytes.
const maxShown = 4 << 20

// contents reads what an Artifact holds; false for what cannot be sent.
func (o *opened) contents(artifact string) ([]byte, bool) {
	if !o.caller.Can("artifacts:read") {
		return nil, false
	}
	_, content, err := o.conn.adapter.core.OpenArtifact(o.live, o.caller, artifact)
	if err != nil {
		return nil, false
	}
	defer content.Close()
	data, err := io.ReadAll(io.LimitReader(content, maxShown+1))
	return data, err == nil && len(data) <= maxShown
}

// maxLineage is how many Sessions one may have been forked from, one from the other.
const maxLineage = 100

// lineage returns what a session consists of: what a fork has of the Sessions that it was forked from,
// from the first on, and its own.
func (o *opened) lineage(ctx context.Context, s *abi.Session) ([]piece, error) {
	all := []piece{{session: s.ID}}
	for parent, child := s.ParentSessionID, s.ID; parent != "" && len(all) <= maxLineage; {
		until, err := o.forkedAt(ctx, child)
		if err != nil {
			return nil, err
		}
		all = append(all, piece{parent, until})
		v, err := o.conn.adapter.core.Get(ctx, o.caller, abi.ObjectSession, parent)
		if err != nil {
			break // what cannot be seen any more is not told
		}
		of, err := decoded[abi.Session](v)
		if err != nil {
			return nil, err
		}
		parent, child = of.ParentSessionID, parent
	}
	slices.Reverse(all)
	return all, nil
}

// inherit tells what a fork has of the Sessions that it was forked from.
func (o *opened) inherit(ctx context.Context, s *abi.Session, of []piece, told func(mark) bool) error {
	for _, p := range of {
		stream, err := o.conn.adapter.core.Follow(ctx, o.caller, api.Filter{SessionID: p.session}, 0)
		if err != nil {
			continue
		}
		err = o.catchUp(ctx, stream, told, p.until)
		stream.Close()
		if err != nil {
			return err
		}
	}
	o.tasks, o.questions, o.made = map[string]*taskState{}, map[string]*question{}, map[string]string{}
	o.has(s)
	return nil
}

// forkedAt returns the last event that a fork shares.
func (o *opened) forkedAt(ctx context.Context, session string) (api.Cursor, error) {
	events, _, err := o.conn.adapter.core.Events(ctx, o.caller, api.Filter{SessionID: session}, 0, 1)
	if err != nil || len(events) == 0 {
		return 0, err
	}
	var of struct {
		Payload abi.ForkedFrom `json:"payload"`
	}
	if err := json.Unmarshal(events[0].AppendJSON(nil, false), &of); err != nil {
		return 0, err
	}
	if at, ok := api.ParseCursor(of.Payload.AtEventID); ok {
		return at, nil
	}
	return events[0].At, nil
}

// catchUp takes what a stream has by now, up to an event unless that is 0.
func (o *opened) catchUp(ctx context.Context, s *api.Stream, told func(mark) bool, until api.Cursor) error {
	for {
		entries, err := s.Poll(ctx, func() {})
		if err != nil || len(entries) == 0 {
			return err
		}
		if past := slices.IndexFunc(entries, func(e api.Entry) bool { return until != 0 && e.At() > until }); past >= 0 {
			return o.takeAll(entries[:past], told)
		}
		if err := o.takeAll(entries, told); err != nil {
			return err
		}
	}
}

// begin tells the client of what happens from now on, and asks it what is pending. first comes before.
func (o *opened) begin(first func()) {
	if o.live.Err() != nil {
		return
	}
	o.following.Go(func() {
		first()
		o.askPending()
		o.tellIdle()
		err := o.follow()
		o.stream.Close()
		o.stop(err)
	})
}

// follow takes events until the session is not open any more.
func (o *opened) follow() error {
	for {
		entries, err := o.stream.Next(o.live)
		if err != nil {
			return err
		}
		if err := o.takeAll(entries, tellsAll); err != nil {
			return err
		}
	}
}

// end has the client told nothing more of the session.
func (o *opened) end() {
	o.stop(jsonrpc.ErrClosed)
	if o.host != nil {
		o.host.Close()
	}
	o.callOffQuestions()
	o.following.Wait()
	o.stream.Close()
}

// takeAll takes events in their order. What they are told as leaves together, as far as it is not large.
func (o *opened) takeAll(entries []api.Entry, told func(mark) bool) error {
	t := &telling{}
	for _, entry := range entries {
		if err := o.take(entry, told, t); err != nil {
			return err
		}
	}
	return o.tell(t, seen{})
}

// maxTogether is from how many bytes on updates are sent, and not kept for those that follow.
const maxTogether = 8 << 10

// telling is what the client is about to be told.
type telling struct {
	updates []jsontext.Value // the params of each
	event   jsontext.Value   // the params of the agent's event that follows them, nil for none
	size    int
	at      api.Cursor // the last event that was taken
}

// take takes one event: the client is told of it if told says so, and then what it changes is known to
// whoever waits for it. An event that changes nothing may be told with those that follow.
func (o *opened) take(entry api.Entry, told func(mark) bool, t *telling) error {
	t.at = entry.At()
	if !concerns(entry.Kind()) || o.knows(entry) {
		return nil
	}
	shown := entry.Show()
	ev := eventOf(shown)
	seen := o.look(ev, shown)
	if last := (mark{t.at, math.MaxInt}); seen.own || !told(last) {
		o.teller.Skip(ev)
		return o.tellIf(t, seen)
	}
	for k, update := range o.teller.Tell(ev) {
		m := mark{t.at, k}
		if !told(m) {
			continue
		}
		params := o.conn.updateOf(o.id, update, m.String())
		t.updates, t.size = append(t.updates, params), t.size+len(params)
	}
	if event, ok := o.teller.AgentEvent(ev); ok && told(mark{t.at, 0}) {
		t.event = agentEventOf(event, mark{t.at, 0}.String())
		return o.tell(t, seen)
	}
	return o.tellIf(t, seen)
}

// knows reports whether an event says nothing that is not known: that a Task runs which does.
func (o *opened) knows(entry api.Entry) bool {
	if entry.Kind() != abi.EventTaskStarted {
		return false
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	t := o.tasks[entry.About().ID]
	return t != nil && !t.parked && !t.idle
}

// tellIf tells what there is when something has changed, or it is much.
func (o *opened) tellIf(t *telling, last seen) error {
	if !last.changes() && t.size < maxTogether {
		return nil
	}
	return o.tell(t, last)
}

// concerns reports whether clients are told of events of a kind, or wait for what they change.
func concerns(kind abi.EventKind) bool {
	switch kind {
	case abi.EventTaskSubmitted, abi.EventTaskStarted, abi.EventTaskStatusChanged, abi.EventTaskInputRequired, abi.EventTaskAuthRequired,
		abi.EventPermissionDecided, abi.EventOutcomeCreated:
		return true
	}
	return updates.Tells(kind)
}

// eventOf returns an event with what is read of it here, and by a Teller.
func eventOf(shown *api.Event) *abi.Event {
	ev := &abi.Event{Event: shown.Kind, Payload: shown.Payload(), SessionID: shown.SessionID, TaskID: shown.TaskID}
	ev.ID = shown.At.String()
	return ev
}

// tell sends what the client is told by now, and notes what the last event has changed.
func (o *opened) tell(t *telling, last seen) error {
	o.comes(last.ask)
	if len(t.updates) > 0 {
		if err := o.conn.peer.NotifyAll(updateMethod, t.updates...); err != nil {
			return err
		}
	}
	if t.event != nil {
		if err := o.conn.peer.NotifyAll(agentEventMethod, t.event); err != nil {
			return err
		}
	}
	if t.at != 0 {
		o.note(t.at, last)
	}
	*t = telling{}
	if last.live != nil {
		o.route(last.live.ActiveControllerID)
	}
	return nil
}

// seen is what an event changes.
type seen struct {
	own     bool // the client itself has said it, since it has the session open
	task    *taskState
	by      string  // what has made the Task
	outcome *stated // of a Task
	ask     *question
	done    string // the id of a question that is settled
	session *abi.Session
	live    *abi.LiveClientChange
}

// changes reports whether somebody may wait for what an event changes, or the next one be read by it.
func (s *seen) changes() bool {
	return s.task != nil || s.outcome != nil || s.ask != nil || s.done != "" || s.session != nil || s.live != nil
}

// byWhom is what the node keeps of who has said something, in the metadata of a Message and of a Task.
type byWhom struct {
	ACP struct {
		From    string `json:"from,omitzero"`
		Request string `json:"request,omitzero"`
	} `json:"acp,omitzero"`
}

// states is what is read of the resource that an event states.
type states struct {
	Task    *stated      `json:"task"`
	Message *stated      `json:"message"`
	Outcome *stated      `json:"outcome"`
	Session *abi.Session `json:"session"`
}

// stated is what is read of a Task, of a Message and of an Outcome.
type stated struct {
	ID           string         `json:"id"`
	TaskID       string         `json:"task_id"`
	ParentTaskID string         `json:"parent_task_id"`
	Status       abi.TaskStatus `json:"status"`
	Summary      string         `json:"summary"`
	StopReason   abi.StopReason `json:"stop_reason"`
	Failure      *abi.Failure   `json:"failure"`
	Metadata     jsontext.Value `json:"metadata"`
	Replay       jsontext.Value `json:"replay"`
	Waiting      *struct {
		Inbox jsontext.Value `json:"inbox"`
	} `json:"waiting"`
}

// look reads what an event changes.
func (o *opened) look(ev *abi.Event, shown *api.Event) (s seen) {
	var of states
	switch ev.Event {
	case abi.EventUserMessage:
		if json.Unmarshal(ev.Payload, &of) == nil && of.Message != nil {
			by := o.by(of.Message.Metadata)
			s.own, s.by = by != "" && (o.resumes || o.isLive()), by
			s.task = o.taskOf(by, of.Message.TaskID)
		}
	case abi.EventTaskSubmitted, abi.EventTaskStarted, abi.EventTaskStatusChanged, abi.EventTaskInputRequired, abi.EventTaskAuthRequired,
		abi.EventTaskCompleted, abi.EventTaskFailed, abi.EventTaskCanceled:
		if json.Unmarshal(ev.Payload, &of) == nil && of.Task != nil && !shown.Redone && of.Task.Replay == nil {
			s.task, s.by = stateOf(of.Task, shown), o.by(of.Task.Metadata)
			s.task.mine = s.by != "" && ev.Event == abi.EventTaskSubmitted && o.isLive()
		}
	case abi.EventOutcomeCreated:
		if json.Unmarshal(ev.Payload, &of) == nil {
			s.outcome = of.Outcome
		}
	case abi.EventPermissionRequested, abi.EventPermissionDecided, abi.EventPermissionSettled:
		p := &question{}
		if json.Unmarshal(shown.Stated, &p.PermissionRequest) != nil {
			return s
		}
		if p.Status == abi.PermissionPending {
			s.ask = p
		} else {
			s.done = p.ID
		}
	case abi.EventLiveClient:
		change := &abi.LiveClientChange{}
		if json.Unmarshal(ev.Payload, change) == nil {
			s.live = change
		}
	case abi.EventSessionUpdated:
		if json.Unmarshal(ev.Payload, &of) == nil {
			s.session = of.Session
		}
	}
	return s
}

// taskOf is a Task that a Message of the client's belongs to, as one that is known to be there.
func (o *opened) taskOf(by, task string) *taskState {
	if by == "" || task == "" {
		return nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if known := o.tasks[task]; known != nil {
		now := *known
		return &now
	}
	return &taskState{id: task}
}

// by returns which request of the client something comes from; "" for one of others.
func (o *opened) by(metadata jsontext.Value) string {
	var of byWhom
	if len(metadata) <= 2 || json.Unmarshal(metadata, &of) != nil || of.ACP.From != o.conn.from() {
		return ""
	}
	return of.ACP.Request
}

func stateOf(t *stated, shown *api.Event) *taskState {
	s := &taskState{id: t.ID, parent: t.ParentTaskID, ended: t.Status.Terminal()}
	s.idle = !s.ended && t.Waiting != nil && t.Waiting.Inbox != nil
	s.end.canceled, s.end.failure = t.Status == abi.TaskCanceled, t.Failure
	s.parked = t.Status == abi.TaskInputRequired || t.Status == abi.TaskAuthRequired
	if s.ended {
		s.last = shown.At
		if last, ok := shown.Ends(t.ID); ok {
			s.last = last
		}
	}
	return s
}

// comes notes the question that the client is about to be told of: it may be answered before all else is noted.
func (o *opened) comes(q *question) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.coming = q
}

// note keeps what an event has changed, once the client was told of it.
func (o *opened) note(at api.Cursor, s seen) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.told = at
	if s.task != nil {
		o.noteTask(s.task, s.by)
	}
	if s.outcome != nil {
		if t := o.tasks[s.outcome.TaskID]; t != nil {
			t.end.stop = stopOf(s.outcome.StopReason, s.outcome.Summary)
		}
	}
	if s.session != nil {
		o.has(s.session)
	}
	if s.done != "" {
		o.settled(s.done)
	}
	if o.coming != nil {
		o.pending(o.coming)
	}
	o.coming = nil
	o.wake()
}

// has keeps what a Session's Tasks have that name nothing else. The lock is held, or nobody else has it yet.
func (o *opened) has(s *abi.Session) { o.persona, o.model = s.PersonaID, s.Model }

func (o *opened) noteTask(t *taskState, by string) {
	if by != "" {
		o.made[by] = t.id
	}
	before := o.tasks[t.id]
	o.noteIdle(t)
	if before != nil {
		t.mine = t.mine || before.mine
		t.parent = cmp.Or(t.parent, before.parent)
		t.end.stop = cmp.Or(t.end.stop, before.end.stop)
	}
	if t.ended && !t.mine && by == "" {
		delete(o.tasks, t.id)
		return
	}
	o.tasks[t.id] = t
}

// wake tells whoever waits that something has changed. The lock is held.
func (o *opened) wake() {
	close(o.moved)
	o.moved = make(chan struct{})
}

func (o *opened) isLive() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.asking
}

// quiet waits until nothing runs any more of which the client is told.
func (o *opened) quiet(ctx context.Context) {
	for _, id := range o.running() {
		if _, err := o.await(ctx, id); err != nil {
			return
		}
	}
}

// running returns the Tasks that have not ended, but for those that belong to others.
func (o *opened) running() (ids []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for id, t := range o.tasks {
		if !t.ended && t.parent == "" {
			ids = append(ids, id)
		}
	}
	return ids
}

// below returns the Tasks that have not ended and that a Task, or one below it, has begun.
func (o *opened) below(task string) (ids []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for id, t := range o.tasks {
		for up := t; up != nil && !t.ended; up = o.tasks[up.parent] {
			if up.parent == task {
				ids = append(ids, id)
				break
			}
		}
	}
	return ids
}

// awaited reports whether a request of the client waits for a Task.
func (o *opened) awaited(task string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	t := o.tasks[task]
	return t != nil && t.mine
}

// expect has a Task's end kept until it is forgotten.
func (o *opened) expect(task string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	t := o.tasks[task]
	if t == nil {
		t = &taskState{id: task}
		o.tasks[task] = t
	}
	t.mine = true
}

// expectAgain is expect for a prompt that is sent again, and returns the Task that it has led to; "" for
// none. One that is made and not there was forgotten: it has ended.
func (o *opened) expectAgain(request string) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	id := o.made[request]
	if t := o.tasks[id]; t != nil {
		t.mine = true
	}
	return id
}

// forget ends what expect began.
func (o *opened) forget(task string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	t := o.tasks[task]
	if t == nil {
		return
	}
	if t.mine = false; t.ended {
		delete(o.tasks, task)
	}
	if o.conn.client().pipe == "" { // nobody asks again
		for by, made := range o.made {
			if made == task {
				delete(o.made, by)
			}
		}
	}
}

// await waits until the client was told all of a Task that has ended, or of one that waits for what the
// client cannot be asked. ended says which.
func (o *opened) await(ctx context.Context, task string) (ended bool, err error) {
	for {
		o.mu.Lock()
		t, moved := o.tasks[task], o.moved
		ended := t == nil || t.ended && o.told >= t.last
		stuck := t != nil && t.parked && !t.ended && o.stuck(task)
		o.mu.Unlock()
		if ended || stuck {
			return ended, nil
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return false, context.Cause(ctx)
		case <-o.live.Done():
			return false, context.Cause(o.live)
		}
	}
}

// endOf returns how a Task has ended that somebody waits for; false for one that nobody does.
func (o *opened) endOf(task string) (taskEnd, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	t := o.tasks[task]
	if t == nil || !t.ended {
		return taskEnd{}, false
	}
	return t.end, true
}
