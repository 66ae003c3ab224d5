package engine

import (
	"context"
	"errors"
	"runtime"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/storage"
)

// owners is what every resource may say of where it belongs.
type owners struct {
	WorkspaceID string `json:"workspace_id"`
	SessionID   string `json:"session_id"`
	TaskID      string `json:"task_id"`
}

// seesState reports whether the caller may see a resource, given its state.
// Resources without a Workspace are seen by the whole tenant.
func (c *Caller) seesState(state []byte) bool {
	if len(c.Workspaces) == 0 {
		return true
	}
	var p owners
	if err := json.Unmarshal(state, &p); err != nil {
		return false
	}
	return p.WorkspaceID == "" || c.Sees(p.WorkspaceID)
}

// Get returns a resource that the caller may see.
func (e *Engine) Get(ctx context.Context, c *Caller, o abi.Object, id string) (Doc, error) {
	res, err := e.find(ctx, c.Tenant, o, id)
	if err != nil {
		return Doc{}, err
	}
	visible, err := e.sees(ctx, c, o, id, res.State)
	if err != nil {
		return Doc{}, naming(o, id, err)
	}
	if !visible {
		return Doc{}, abi.NotFound(o, id)
	}
	doc, err := e.render(ctx, c.Tenant, o, res)
	return doc, naming(o, id, err)
}

// sees reports whether a caller may see a resource. One that names no Workspace of
// its own is seen like the Task or Session that it belongs to.
func (e *Engine) sees(ctx context.Context, c *Caller, o abi.Object, id string, state []byte) (bool, error) {
	if o == abi.ObjectMemory && e.expired(state) {
		return false, nil
	}
	if len(c.Workspaces) == 0 {
		return true, nil
	}
	if o == abi.ObjectWorkspace {
		return c.Sees(id), nil
	}
	var p owners
	if err := decode(state, &p); err != nil {
		return false, err
	}
	owner, ownerID := abi.ObjectSession, p.SessionID
	switch {
	case p.WorkspaceID != "":
		return c.Sees(p.WorkspaceID), nil
	case p.TaskID != "":
		owner, ownerID = abi.ObjectTask, p.TaskID
	case p.SessionID == "":
		return true, nil
	}
	res, err := e.find(ctx, c.Tenant, owner, ownerID)
	if err != nil {
		return false, err
	}
	return c.seesState(res.State), nil
}

// render turns a stored resource into the document that clients get.
func (e *Engine) render(ctx context.Context, t storage.Tenant, o abi.Object, res storage.Resource) (Doc, error) {
	if jsontext.Value(res.State).Kind() != '{' {
		return Doc{}, &UnreadableError{Err: &invalidError{"it is not a JSON object"}}
	}
	doc := Doc{ID: res.ID, JSON: res.State, Restricted: res.Restricted}
	switch o {
	case abi.ObjectTask:
		in, err := e.inputOf(ctx, t, res)
		if err != nil && in.status != "" && (isUnreadable(err) || isNotFound(err)) { // the Task itself can be read
			in.value, err = jsontext.Value(`{"redacted":true,"reason":"unreadable"}`), nil
		}
		if err != nil {
			return Doc{}, err
		}
		doc.Restricted, doc.Task = in.restricted || in.internal, in.status
		if !in.inline {
			doc.JSON = withInput(res.State, in.value, in.workspace)
		}
	case abi.ObjectSession:
		last, err := e.store.Last(ctx, t, Scope{Object: abi.ObjectSession, ID: res.ID})
		if err != nil {
			return Doc{}, e.failed("finding the session's last event", err)
		}
		doc.JSON = withLastEvent(res.State, last)
	case abi.ObjectMessage:
		at, err := e.sessionOf(ctx, t, res.State)
		if err != nil {
			return Doc{}, err
		}
		doc.JSON = Placed(o, res.State, at.WorkspaceID, "")
	case abi.ObjectArtifact:
		receipt, err := e.receiptOf(ctx, t, res)
		if err != nil {
			return Doc{}, err
		}
		doc.JSON = withReceipt(res.State, receipt)
	case abi.ObjectOutcome:
		return e.renderOutcome(ctx, t, doc)
	case abi.ObjectMemory:
		doc.Restricted = true // its own visibility says from whom
	}
	return doc, nil
}

// taskInput is what a Task was submitted with.
type taskInput struct {
	value      jsontext.Value
	workspace  string // of the Task, when the input is a Message
	restricted bool   // it holds parts that are not public
	inline     bool   // the stored Task holds it itself

	// Of the Task, which is read on the way: its status, and whether its failure has
	// details that are not public.
	status   abi.TaskStatus
	internal bool
}

// inputOf returns a Task's input. The log holds it once: as a Message, or in the
// Task's first event.
func (e *Engine) inputOf(ctx context.Context, t storage.Tenant, res storage.Resource) (taskInput, error) {
	var stored struct {
		Status    abi.TaskStatus `json:"status"`
		Input     jsontext.Value `json:"input"`
		MessageID string         `json:"input_message_id"`
		Workspace string         `json:"workspace_id"`
		Failure   *abi.Failure   `json:"failure"`
	}
	if err := decode(res.State, &stored); err != nil {
		return taskInput{}, err
	}
	in := taskInput{status: stored.Status, internal: internal(stored.Failure)}
	if stored.MessageID != "" {
		m, err := e.find(ctx, t, abi.ObjectMessage, stored.MessageID)
		if err == nil && jsontext.Value(m.State).Kind() != '{' {
			err = nonsense(abi.ObjectMessage, m.ID, "it is not a JSON object")
		}
		in.value, in.workspace, in.restricted = m.State, stored.Workspace, m.Restricted
		return in, err
	}
	if stored.Input != nil {
		in.value, in.inline = stored.Input, true
		return in, nil
	}
	origin, err := e.store.Event(ctx, t, res.Origin)
	if errors.Is(err, storage.ErrCursorExpired) {
		in.value = jsontext.Value(`{"redacted":true,"reason":"retention"}`)
		return in, nil
	}
	if err != nil {
		return taskInput{}, e.failed("reading the task's input", err)
	}
	state := origin.Record().State
	err = e.turns.DoFor(ctx, uint64(t), len(state), func() error { return decode(state, &stored) })
	if err == nil && stored.Input == nil {
		err = nonsense(abi.ObjectTask, res.ID, "it has no input")
	}
	in.value = stored.Input
	return in, err
}

// withLastEvent returns a Session as it is shown.
func withLastEvent(session []byte, last Position) []byte {
	return withMember(session, "last_event_id", jsontext.Value(`"`+last.String()+`"`))
}

// withMember returns a JSON object with one more member.
func withMember(object []byte, name string, value jsontext.Value) []byte {
	return append(appendWith(make([]byte, 0, len(object)+len(name)+len(value)+4), object, name, value), '}')
}

// appendWith appends a JSON object with one more member, but for its end.
func appendWith(dst, object []byte, name string, value jsontext.Value) []byte {
	dst = append(dst, object[:len(object)-1]...)
	if len(object) > 2 {
		dst = append(dst, ',')
	}
	dst = append(dst, '"')
	dst = append(dst, name...)
	dst = append(dst, '"', ':')
	return append(dst, value...)
}

// withInput returns a Task with its input as clients see it: with where it belongs, if it
// is a Message, which may be large and is copied once. workspace is "" for other inputs.
func withInput(task []byte, input jsontext.Value, workspace string) []byte {
	if workspace == "" || len(input) < 2 {
		return withMember(task, "input", input)
	}
	out := appendWith(make([]byte, 0, len(task)+len(input)+len(workspace)+64), task, "input", nil)
	out = appendWith(out, input, "workspace_id", quoted(workspace))
	return append(out, '}', '}')
}

// renderOutcome puts the Messages and Artifacts that an Outcome names into it.
func (e *Engine) renderOutcome(ctx context.Context, t storage.Tenant, doc Doc) (Doc, error) {
	var o abi.Outcome
	if err := decode(doc.JSON, &o); err != nil {
		return Doc{}, err
	}
	var err error
	if o.Messages, err = e.states(ctx, t, abi.ObjectMessage, o.MessageIDs, &doc.Restricted); err != nil {
		return Doc{}, err
	}
	if o.Artifacts, err = e.states(ctx, t, abi.ObjectArtifact, o.ArtifactIDs, &doc.Restricted); err != nil {
		return Doc{}, err
	}
	at, err := e.ownersOf(ctx, t, abi.ObjectTask, o.TaskID)
	if err != nil {
		return Doc{}, err
	}
	for i, m := range o.Messages {
		o.Messages[i] = Placed(abi.ObjectMessage, m, at.WorkspaceID, "")
	}
	for i, a := range o.Artifacts {
		o.Artifacts[i] = withReceipt(a, o.ReceiptID)
	}
	text, err := json.Marshal(&o)
	if err != nil { // what it names can be read by itself, and not within it
		return Doc{}, &UnreadableError{Object: abi.ObjectOutcome, ID: o.ID, Err: err}
	}
	doc.JSON = Placed(abi.ObjectOutcome, text, at.WorkspaceID, at.SessionID)
	return doc, err
}

func (e *Engine) states(ctx context.Context, t storage.Tenant, o abi.Object, ids []string, restricted *bool) ([]jsontext.Value, error) {
	states := make([]jsontext.Value, 0, len(ids))
	for _, id := range ids {
		res, err := e.find(ctx, t, o, id)
		if err != nil {
			return nil, err
		}
		*restricted = *restricted || res.Restricted
		states = append(states, res.State)
	}
	return states, nil
}

// listedBy says by which owners a kind of resource is listed, narrowest first.
var listedBy = map[abi.Object][]abi.Object{
	abi.ObjectSession:  {abi.ObjectWorkspace},
	abi.ObjectTask:     {abi.ObjectSession, abi.ObjectWorkspace},
	abi.ObjectArtifact: {abi.ObjectTask, abi.ObjectSession, abi.ObjectWorkspace},
	abi.ObjectBranch:   {abi.ObjectSession},
	abi.ObjectOutcome:  {abi.ObjectTask},
	abi.ObjectMemory:   {abi.ObjectSession, abi.ObjectWorkspace},
	abi.ObjectReceipt:  {abi.ObjectTask, abi.ObjectSession, abi.ObjectWorkspace},
	abi.ObjectVault:    {abi.ObjectWorkspace}, abi.ObjectConnector: {abi.ObjectWorkspace},
	abi.ObjectPermissionRequest: {abi.ObjectTask, abi.ObjectWorkspace},
	abi.ObjectDeadLetter:        {abi.ObjectWorkspace}, abi.ObjectVaultSecret: {abi.ObjectWorkspace},
}

// scopeFor returns the narrowest list that holds everything a filter lets through.
func (f Filter) scopeFor(o abi.Object) Scope {
	for _, by := range listedBy[o] {
		if id := f.id(by); id != "" {
			return Scope{Object: by, ID: id}
		}
	}
	return Scope{}
}

func (f Filter) id(o abi.Object) string {
	switch o {
	case abi.ObjectTask:
		return f.TaskID
	case abi.ObjectSession:
		return f.SessionID
	}
	return f.WorkspaceID
}

// List returns the resources of one kind that a filter lets through and the
// caller may see, newest first.
func (e *Engine) List(ctx context.Context, c *Caller, o abi.Object, f Filter, p Page) (DocList, error) {
	if f.WorkspaceID == "" && len(c.Workspaces) == 1 && o != abi.ObjectWorkspace {
		f.WorkspaceID = c.Workspaces[0]
	}
	scope := f.scopeFor(o)
	var list DocList
	for after, looked := p.After, 0; ; {
		page, more, err := e.store.List(ctx, c.Tenant, o, scope, storage.Page{After: after, Limit: p.Limit})
		if err != nil {
			return DocList{}, e.failed("listing", err)
		}
		for i, res := range page {
			after = res.ID
			doc, ok, err := e.listed(ctx, c, o, f, res)
			switch {
			case err != nil && (e.halted(ctx, err) || !aboutOne(err)):
				return DocList{}, err
			case err != nil:
				list.leaveOut(c, res.ID)
				continue
			case !ok:
				continue
			}
			if list.add(doc, p.Limit) {
				return list.end(after, more || i < len(page)-1), nil
			}
			if i%listBreath == listBreath-1 {
				runtime.Gosched()
			}
		}
		if looked += len(page); !more || looked >= maxLooked {
			return list.end(after, more), nil
		}
	}
}

// listBreath is after how many resources, some 200 µs, a list lets others go first: one of
// 200 Tasks would have a processor for as long as twenty requests that ask for one.
const listBreath = 8

// maxLooked is how much a page looks at that is not in it, for it belongs to others: a
// page may be short, or empty, and more follow.
const maxLooked = 2000

// add takes a document into the page, and reports whether the page is full: by its
// count, or by what it holds.
func (l *DocList) add(doc Doc, limit int) bool {
	l.Docs = append(l.Docs, doc)
	l.bytes += len(doc.JSON)
	return l.full(limit)
}

func (l *DocList) full(limit int) bool {
	return len(l.Docs) >= limit || l.bytes >= storage.PageBytes
}

// listed returns a resource of a list; ok is false when the filter or the caller's rights
// do not let it through.
func (e *Engine) listed(ctx context.Context, c *Caller, o abi.Object, f Filter, res storage.Resource) (doc Doc, ok bool, err error) {
	if res.Err != nil {
		return doc, false, res.Err
	}
	if ok, err = e.lets(ctx, c, o, f, res); err == nil && ok {
		doc, err = e.render(ctx, c.Tenant, o, res)
	}
	return doc, ok, err
}

// aboutOne reports whether an error is about one thing that is stored, so that the
// others can be shown.
func aboutOne(err error) bool { return isUnreadable(err) || isNotFound(err) }

// leaveOut names a resource that cannot be read. Whose it is cannot be read either, so
// those who may see some Workspaces only are not told.
func (l *DocList) leaveOut(c *Caller, id string) {
	if len(c.Workspaces) == 0 {
		l.Unreadable = append(l.Unreadable, id)
	}
}

func (l DocList) end(next string, more bool) DocList {
	l.More = more
	if more {
		l.Next = next
	}
	return l
}

// lets reports whether a filter and the caller's rights let a resource through.
func (e *Engine) lets(ctx context.Context, c *Caller, o abi.Object, f Filter, res storage.Resource) (bool, error) {
	if ok, err := e.sees(ctx, c, o, res.ID, res.State); err != nil || !ok {
		return false, err
	}
	if f == (Filter{}) {
		return true, nil
	}
	var p owners
	if err := decode(res.State, &p); err != nil {
		return false, err
	}
	return matches(f.WorkspaceID, p.WorkspaceID) && matches(f.SessionID, p.SessionID) && matches(f.TaskID, p.TaskID), nil
}

// matches reports whether one member of a filter lets a value through. A resource
// that does not say where it belongs was found by the list's own scope.
func matches(want, got string) bool { return want == "" || got == "" || want == got }

// Messages returns a Session's transcript, oldest first.
func (e *Engine) Messages(ctx context.Context, c *Caller, sessionID string, p Page) (DocList, error) {
	s, _, err := findAs[abi.Session](ctx, e, c, abi.ObjectSession, sessionID)
	if err != nil {
		return DocList{}, err
	}
	page, more, err := e.store.Transcript(ctx, c.Tenant, sessionID, storage.Page{After: p.After, Limit: p.Limit})
	if err != nil {
		return DocList{}, e.failed("reading the transcript", err)
	}
	var list DocList
	next := ""
	for _, res := range page {
		next = res.Origin.String()
		if res.Err != nil || jsontext.Value(res.State).Kind() != '{' {
			list.Unreadable = append(list.Unreadable, res.ID) // whose it is follows from the Session
			continue
		}
		list.Docs = append(list.Docs, Doc{ID: res.ID, JSON: Placed(abi.ObjectMessage, res.State, s.WorkspaceID, ""), Restricted: res.Restricted})
	}
	return list.end(next, more), nil
}

// Event returns one event that the caller may see.
func (e *Engine) Event(ctx context.Context, c *Caller, p Position) (Event, error) {
	ev, err := e.store.Event(ctx, c.Tenant, p)
	if errors.Is(err, storage.ErrNotFound) || err == nil && ev.Frame.WorkspaceID != "" && !c.Sees(ev.Frame.WorkspaceID) {
		return Event{}, abi.NotFound(abi.ObjectEvent, p.String())
	}
	return ev, e.failed("reading the event", err)
}

// Events returns the events of a stream after a position, oldest first.
func (e *Engine) Events(ctx context.Context, c *Caller, f Filter, after Position, limit int) ([]Event, bool, error) {
	scope, err := e.stream(ctx, c, f)
	if err != nil {
		return nil, false, err
	}
	events, more, err := e.store.Events(ctx, c.Tenant, scope, after, limit)
	return events, more, e.failed("reading events", err)
}

// Subscribe starts a live stream after a position. The caller closes it.
func (e *Engine) Subscribe(ctx context.Context, c *Caller, f Filter, after Position) (Subscription, error) {
	scope, err := e.stream(ctx, c, f)
	if err != nil {
		return nil, err
	}
	sub, err := e.store.Subscribe(c.Tenant, scope, after)
	if err != nil {
		return nil, e.failed("subscribing", err)
	}
	return sub, nil
}

// stream picks the narrowest stream that a filter names and checks that the
// caller may see it, and that it belongs to the wider ones the filter names too.
func (e *Engine) stream(ctx context.Context, c *Caller, f Filter) (Scope, error) {
	if f == (Filter{}) && len(c.Workspaces) == 1 {
		f.WorkspaceID = c.Workspaces[0]
	}
	switch {
	case f.TaskID != "":
		t, _, err := findAs[abi.Task](ctx, e, c, abi.ObjectTask, f.TaskID)
		if err == nil && !(matches(f.SessionID, t.SessionID) && matches(f.WorkspaceID, t.WorkspaceID)) {
			err = abi.NotFound(abi.ObjectTask, f.TaskID)
		}
		return Scope{Object: abi.ObjectTask, ID: f.TaskID}, err
	case f.SessionID != "":
		s, _, err := findAs[abi.Session](ctx, e, c, abi.ObjectSession, f.SessionID)
		if err == nil && !matches(f.WorkspaceID, s.WorkspaceID) {
			err = abi.NotFound(abi.ObjectSession, f.SessionID)
		}
		return Scope{Object: abi.ObjectSession, ID: f.SessionID}, err
	case f.WorkspaceID != "":
		return Scope{Object: abi.ObjectWorkspace, ID: f.WorkspaceID}, e.checkWorkspace(ctx, c, f.WorkspaceID)
	case len(c.Workspaces) > 0:
		return Scope{}, abi.Errorf(abi.CodePermissionDenied, "this key sees some workspaces only: name one with workspace_id")
	}
	return Scope{}, nil
}
