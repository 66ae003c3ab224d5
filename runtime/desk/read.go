package desk

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"time"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/abi/jsonw"
	"github.com/wharf-dev/wharf/runtime/ledger"
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

// Together returns a context for several reads of what belongs together, for one answer: see
// [storage.Together].
func Together(ctx context.Context) context.Context { return storage.Together(ctx) }

// Get returns a resource that the caller may see.
func (d *Desk) Get(ctx context.Context, c *Caller, o abi.Object, id string) (Doc, error) {
	ctx = storage.Together(ctx)
	res, err := d.ledger.Find(ctx, c.Tenant, o, id)
	if err != nil {
		return Doc{}, err
	}
	visible, err := d.sees(ctx, c, o, id, res.State)
	if err != nil {
		return Doc{}, ledger.Naming(o, id, err)
	}
	if !visible {
		return Doc{}, abi.NotFound(o, id)
	}
	doc, err := d.render(ctx, c.Tenant, o, res)
	return doc, ledger.Naming(o, id, err)
}

// sees reports whether a caller may see a resource. One that names no Workspace of
// its own is seen like the Task or Session that it belongs to.
func (d *Desk) sees(ctx context.Context, c *Caller, o abi.Object, id string, state []byte) (bool, error) {
	if o == abi.ObjectMemory && d.MemoryExpired(state) || d.gone(c.Tenant, o, id, state) {
		return false, nil
	}
	if len(c.Workspaces) == 0 {
		return true, nil
	}
	if o == abi.ObjectWorkspace {
		return c.Sees(id), nil
	}
	var p owners
	if err := ledger.Decode(state, &p); err != nil {
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
	res, err := d.ledger.Find(ctx, c.Tenant, owner, ownerID)
	if err != nil {
		return false, err
	}
	return c.seesState(res.State), nil
}

// render turns a stored resource into the document that clients get.
func (d *Desk) render(ctx context.Context, t storage.Tenant, o abi.Object, res storage.Resource) (Doc, error) {
	if err := ledger.CheckObject(res.State); err != nil {
		return Doc{}, err
	}
	doc := Doc{ID: res.ID, JSON: res.State, Restricted: res.Restricted}
	switch o {
	case abi.ObjectTask:
		in, err := d.InputOf(ctx, t, res)
		if err != nil && in.Status != "" && (ledger.IsUnreadable(err) || ledger.IsNotFound(err)) { // the Task itself can be read
			in.Value, err = jsontext.Value(`{"redacted":true,"reason":"unreadable"}`), nil
		}
		if err != nil {
			return Doc{}, err
		}
		doc.Restricted, doc.Task = in.Restricted || in.Internal, in.Status
		if !in.Inline {
			doc.JSON = WithInput(res.State, in.Value, in.Workspace)
		}
	case abi.ObjectSession:
		last, err := d.store.Last(ctx, t, Scope{Object: abi.ObjectSession, ID: res.ID})
		if err != nil {
			return Doc{}, d.ledger.Failed("finding the session's last event", err)
		}
		doc.JSON = withLastEvent(res.State, last)
	case abi.ObjectMessage:
		at, err := d.sessionOf(ctx, t, res.State)
		if err != nil {
			return Doc{}, err
		}
		doc.JSON = Placed(o, res.State, at.WorkspaceID, "")
	case abi.ObjectArtifact:
		receipt, err := d.receiptOf(ctx, t, res)
		if err != nil {
			return Doc{}, err
		}
		doc.JSON = withReceipt(res.State, receipt)
	case abi.ObjectOutcome:
		return d.renderOutcome(ctx, t, doc)
	case abi.ObjectMemory:
		doc.Restricted = true // its own visibility says from whom
	}
	return doc, nil
}

// TaskInput is what a Task was submitted with.
type TaskInput struct {
	Value      jsontext.Value
	Workspace  string // of the Task, when the input is a Message
	Restricted bool   // it holds parts that are not public
	Inline     bool   // the stored Task holds it itself

	// Of the Task, which is read on the way: its status, and whether its failure has
	// details that are not public.
	Status   abi.TaskStatus
	Internal bool
}

// InputOf returns a Task's input. The log holds it once: as a Message, or in the
// Task's first event.
func (d *Desk) InputOf(ctx context.Context, t storage.Tenant, res storage.Resource) (TaskInput, error) {
	var stored struct {
		Status    abi.TaskStatus `json:"status"`
		Input     span           `json:"input"`
		MessageID string         `json:"input_message_id"`
		Workspace string         `json:"workspace_id"`
		Failure   *abi.Failure   `json:"failure"`
	}
	if err := ledger.Decode(res.State, &stored); err != nil {
		return TaskInput{}, err
	}
	in := TaskInput{Status: stored.Status, Internal: Internal(stored.Failure)}
	if stored.MessageID != "" {
		m, err := d.ledger.Find(ctx, t, abi.ObjectMessage, stored.MessageID)
		if err == nil && jsontext.Value(m.State).Kind() != '{' {
			err = ledger.Nonsense(abi.ObjectMessage, m.ID, "it is not a JSON object")
		}
		in.Value, in.Workspace, in.Restricted = m.State, stored.Workspace, m.Restricted
		return in, err
	}
	if stored.Input.there() {
		in.Value, in.Inline = stored.Input.in(res.State), true
		return in, nil
	}
	origin, err := d.store.Event(ctx, t, res.Origin)
	if errors.Is(err, storage.ErrCursorExpired) {
		in.Value = jsontext.Value(`{"redacted":true,"reason":"retention"}`)
		return in, nil
	}
	if err != nil {
		return TaskInput{}, d.ledger.Failed("reading the task's input", err)
	}
	state := origin.Record().State
	err = d.turns.DoFor(ctx, uint64(t), len(state), func() error { return ledger.Decode(state, &stored) })
	if err != nil {
		return in, err
	}
	if !stored.Input.there() {
		return in, ledger.Nonsense(abi.ObjectTask, res.ID, "it has no input")
	}
	in.Value = stored.Input.in(state)
	return in, nil
}

// span is where a member's value stands in the text that it is decoded from: one that may
// be large is not copied.
type span struct{ from, to int64 }

// UnmarshalJSONFrom implements [json.UnmarshalerFrom].
func (s *span) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	value, err := dec.ReadValue()
	s.to = dec.InputOffset()
	s.from = s.to - int64(len(value))
	return err
}

func (s *span) there() bool { return s.to > 0 }

func (s *span) in(text []byte) jsontext.Value { return text[s.from:s.to:s.to] }

// withLastEvent returns a Session as it is shown.
func withLastEvent(session []byte, last Position) []byte {
	return WithMember(session, "last_event_id", jsontext.Value(`"`+last.String()+`"`))
}

// WithMember returns a JSON object with one more member.
func WithMember(object []byte, name string, value jsontext.Value) []byte {
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

// WithInput returns a Task with its input as clients see it: with where it belongs, if it
// is a Message, which may be large and is copied once. workspace is "" for other inputs.
func WithInput(task []byte, input jsontext.Value, workspace string) []byte {
	if workspace == "" || len(input) < 2 {
		return WithMember(task, "input", input)
	}
	out := appendWith(make([]byte, 0, len(task)+len(input)+len(workspace)+64), task, "input", nil)
	out = appendWith(out, input, "workspace_id", jsonw.String(nil, workspace))
	return append(out, '}', '}')
}

// renderOutcome puts the Messages and Artifacts that an Outcome names into it.
func (d *Desk) renderOutcome(ctx context.Context, t storage.Tenant, doc Doc) (Doc, error) {
	var o abi.Outcome
	if err := ledger.Decode(doc.JSON, &o); err != nil {
		return Doc{}, err
	}
	var err error
	if o.Messages, err = d.states(ctx, t, abi.ObjectMessage, o.MessageIDs, &doc.Restricted); err != nil {
		return Doc{}, err
	}
	if o.Artifacts, err = d.states(ctx, t, abi.ObjectArtifact, o.ArtifactIDs, &doc.Restricted); err != nil {
		return Doc{}, err
	}
	at, err := d.ownersOf(ctx, t, abi.ObjectTask, o.TaskID)
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
		return Doc{}, &ledger.UnreadableError{Object: abi.ObjectOutcome, ID: o.ID, Err: err}
	}
	doc.JSON = Placed(abi.ObjectOutcome, text, at.WorkspaceID, at.SessionID)
	return doc, err
}

func (d *Desk) states(ctx context.Context, t storage.Tenant, o abi.Object, ids []string, restricted *bool) ([]jsontext.Value, error) {
	all, err := d.ledger.FindAll(ctx, t, o, ids)
	if err != nil {
		return nil, err
	}
	states := make([]jsontext.Value, 0, len(ids))
	for _, res := range all {
		*restricted = *restricted || res.Restricted
		states = append(states, res.State)
	}
	return states, nil
}

// ScopeFor returns the narrowest list that holds everything a filter lets through.
func (f Filter) ScopeFor(o abi.Object) Scope {
	by := storage.ListedBy(o)
	for _, owner := range []abi.Object{abi.ObjectTask, abi.ObjectSession, abi.ObjectWorkspace} {
		if id := f.id(owner); id != "" && slices.Contains(by, owner) {
			return Scope{Object: owner, ID: id}
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
// caller may see, newest first. It takes every member of a page.
func (d *Desk) List(ctx context.Context, c *Caller, o abi.Object, f Filter, p Page) (DocList, error) {
	if f.WorkspaceID == "" && len(c.Workspaces) == 1 && !beyondWorkspaces(o) {
		f.WorkspaceID = c.Workspaces[0]
	}
	ctx = storage.Together(ctx)
	scope := f.ScopeFor(o)
	var list DocList
	if err := d.count(ctx, c, o, f, scope, p, &list); err != nil {
		return DocList{}, err
	}
	at, first := p.within(o), ""
	for looked := 0; ; at.Offset = 0 {
		page, more, err := d.store.List(ctx, c.Tenant, o, scope, at)
		if err != nil {
			return DocList{}, d.ledger.Failed("listing", err)
		}
		for i, res := range page {
			at.After, first = res.ID, cmp.Or(first, res.ID)
			doc, ok, err := d.Listed(ctx, c, o, f, res)
			if ok && err == nil && p.MessageCounts && o == abi.ObjectSession {
				doc, err = d.withMessageCount(ctx, c.Tenant, doc)
			}
			switch {
			case err != nil && (d.ledger.Halted(ctx, err) || !AboutOne(err)):
				return DocList{}, err
			case err != nil:
				list.LeaveOut(c, res.ID)
				continue
			case !ok:
				continue
			}
			if list.Add(doc, p.Limit) {
				return list.turned(p, first, at.After, more || i < len(page)-1), nil
			}
			if i%listBreath == listBreath-1 {
				runtime.Gosched()
			}
		}
		if looked += len(page); !more || looked >= MaxLooked {
			return list.turned(p, first, at.After, more), nil
		}
	}
}

// beyondWorkspaces reports whether a key that is bound to a Workspace is shown more of a kind of
// resource than that Workspace's list has: Workspaces are in no list of one, and Personas and
// Skills of the whole tenant are for all of them.
func beyondWorkspaces(o abi.Object) bool {
	return o == abi.ObjectWorkspace || o == abi.ObjectPersona || o == abi.ObjectSkill
}

// within returns the page of the store that a page of resources begins with.
func (p *Page) within(o abi.Object) storage.Page {
	at := storage.Page{After: p.After, Limit: p.Limit, Oldest: p.Reversed != p.Back, Offset: p.Offset}
	if !p.CreatedAfter.IsZero() {
		at.Least = abi.LeastID(o, p.CreatedAfter.Add(time.Millisecond))
	}
	if !p.CreatedBefore.IsZero() {
		at.Below = abi.LeastID(o, p.CreatedBefore)
	}
	return at
}

// turned ends a page that may have been read backwards, and puts it into the order of the list.
// first and last are the cursors of the first and the last entry that were read, shown or not.
func (l DocList) turned(p Page, first, last string, more bool) DocList {
	if !p.Back {
		if p.After != "" || p.Offset > 0 {
			l.Previous = first
		}
		return l.End(last, more)
	}
	slices.Reverse(l.Docs)
	slices.Reverse(l.Unreadable)
	if l.More, l.Next = more, first; more {
		l.Previous = last
	}
	return l
}

// listBreath is after how many resources, some 200 µs, a list lets others go first: one of
// 200 Tasks would have a processor for as long as twenty requests that ask for one.
const listBreath = 8

// MaxLooked is how many resources that belong to others a page looks at and leaves out: a page
// may be short, or empty, although more follow.
const MaxLooked = 2000

// Add takes a document into the page, and reports whether the page is full: by its
// count, or by what it holds.
func (l *DocList) Add(doc Doc, limit int) bool {
	l.Docs = append(l.Docs, doc)
	l.bytes += len(doc.JSON)
	return l.Full(limit)
}

// Full reports whether the page is full.
func (l *DocList) Full(limit int) bool {
	return len(l.Docs) >= limit || l.bytes >= storage.PageBytes
}

// Listed returns a resource of a list; ok is false when the filter or the caller's rights
// do not let it through.
func (d *Desk) Listed(ctx context.Context, c *Caller, o abi.Object, f Filter, res storage.Resource) (doc Doc, ok bool, err error) {
	if res.Err != nil {
		return doc, false, res.Err
	}
	if ok, err = d.lets(ctx, c, o, f, res); err == nil && ok {
		doc, err = d.render(ctx, c.Tenant, o, res)
	}
	return doc, ok, err
}

// AboutOne reports whether an error is about one thing that is stored, so that the
// others can be shown.
func AboutOne(err error) bool { return ledger.IsUnreadable(err) || ledger.IsNotFound(err) }

// LeaveOut names a resource that cannot be read. Its owner cannot be read either, so callers
// that may see only some Workspaces do not get the name.
func (l *DocList) LeaveOut(c *Caller, id string) {
	if len(c.Workspaces) == 0 {
		l.Unreadable = append(l.Unreadable, id)
	}
}

// End ends a page: next is the cursor of those that follow, if there are more.
func (l DocList) End(next string, more bool) DocList {
	l.More = more
	if more {
		l.Next = next
	}
	return l
}

// lets reports whether a filter and the caller's rights let a resource through.
func (d *Desk) lets(ctx context.Context, c *Caller, o abi.Object, f Filter, res storage.Resource) (bool, error) {
	if ok, err := d.sees(ctx, c, o, res.ID, res.State); err != nil || !ok || o == abi.ObjectSession && hidden(res.State) {
		return false, err
	}
	if f == (Filter{}) {
		return true, nil
	}
	var p struct {
		owners    `json:",inline"`
		Status    string `json:"status"`
		State     string `json:"state"`
		PersonaID string `json:"persona_id"`
	}
	if err := ledger.Decode(res.State, &p); err != nil {
		return false, err
	}
	if f.Status != "" && f.Status != cmp.Or(p.Status, p.State) || f.PersonaID != "" && f.PersonaID != p.PersonaID {
		return false, nil
	}
	return Matches(f.WorkspaceID, p.WorkspaceID) && Matches(f.SessionID, p.SessionID) && Matches(f.TaskID, p.TaskID), nil
}

// Matches reports whether one member of a filter lets a value through. A resource
// that does not say where it belongs was found by the list's own scope.
func Matches(want, got string) bool { return want == "" || got == "" || want == got }

// Messages returns a Session's transcript, oldest first. It takes pages in both directions, and
// offsets.
func (d *Desk) Messages(ctx context.Context, c *Caller, sessionID string, p Page) (DocList, error) {
	ctx = storage.Together(ctx)
	s, _, err := Find[abi.Session](ctx, d, c, abi.ObjectSession, sessionID)
	if err != nil {
		return DocList{}, err
	}
	at := storage.Page{After: p.After, Limit: p.Limit, Newest: p.Reversed != p.Back, Offset: p.Offset}
	page, more, err := d.store.Transcript(ctx, c.Tenant, sessionID, at)
	if err != nil {
		return DocList{}, d.ledger.Failed("reading the transcript", err)
	}
	var list DocList
	if p.Total {
		list.Total, list.TotalMore, err = d.store.Count(ctx, c.Tenant, abi.ObjectMessage, Scope{Object: abi.ObjectSession, ID: sessionID}, storage.Page{Limit: storage.MaxOffset})
		if err != nil {
			return DocList{}, d.ledger.Failed("counting the transcript", err)
		}
	}
	first, last := "", ""
	for _, res := range page {
		last = res.Origin.String()
		first = cmp.Or(first, last)
		if res.Err != nil || jsontext.Value(res.State).Kind() != '{' {
			list.Unreadable = append(list.Unreadable, res.ID) // whose it is follows from the Session
			continue
		}
		list.Docs = append(list.Docs, Doc{ID: res.ID, JSON: Placed(abi.ObjectMessage, res.State, s.WorkspaceID, ""), Restricted: res.Restricted})
	}
	return list.turned(p, first, last, more), nil
}

// Event returns one event that the caller may see.
func (d *Desk) Event(ctx context.Context, c *Caller, p Position) (Event, error) {
	ev, err := d.store.Event(ctx, c.Tenant, p)
	if errors.Is(err, storage.ErrNotFound) || err == nil && (ev.Frame.WorkspaceID != "" && !c.Sees(ev.Frame.WorkspaceID) || d.goneEvent(&ev)) {
		return Event{}, abi.NotFound(abi.ObjectEvent, p.String())
	}
	return ev, d.ledger.Failed("reading the event", err)
}

// Events returns the events of a stream after a position, oldest first.
func (d *Desk) Events(ctx context.Context, c *Caller, f Filter, after Position, limit int) ([]Event, bool, error) {
	scope, err := d.stream(ctx, c, f)
	if err != nil {
		return nil, false, err
	}
	for {
		events, more, err := d.store.Events(ctx, c.Tenant, scope, after, limit)
		shown := d.shown(events, math.MaxUint64)
		if err != nil || !more || len(shown) > 0 {
			return shown, more, d.ledger.Failed("reading events", err)
		}
		after = events[len(events)-1].Position()
	}
}

// Subscribe starts a live stream after a position. The caller closes it.
func (d *Desk) Subscribe(ctx context.Context, c *Caller, f Filter, after Position) (Subscription, error) {
	scope, err := d.stream(ctx, c, f)
	if err != nil {
		return nil, err
	}
	sub, err := d.store.Subscribe(c.Tenant, scope, after)
	if err != nil {
		return nil, d.ledger.Failed("subscribing", err)
	}
	return &withoutDeleted{Subscription: sub, desk: d}, nil
}

// stream picks the narrowest stream that a filter names and checks that the
// caller may see it, and that it belongs to the wider ones the filter names too.
func (d *Desk) stream(ctx context.Context, c *Caller, f Filter) (Scope, error) {
	if f == (Filter{}) && len(c.Workspaces) == 1 {
		f.WorkspaceID = c.Workspaces[0]
	}
	switch {
	case f.TaskID != "":
		t, _, err := Find[abi.Task](ctx, d, c, abi.ObjectTask, f.TaskID)
		if err == nil && !(Matches(f.SessionID, t.SessionID) && Matches(f.WorkspaceID, t.WorkspaceID)) {
			err = abi.NotFound(abi.ObjectTask, f.TaskID)
		}
		return Scope{Object: abi.ObjectTask, ID: f.TaskID}, err
	case f.SessionID != "":
		s, _, err := Find[abi.Session](ctx, d, c, abi.ObjectSession, f.SessionID)
		if err == nil && !Matches(f.WorkspaceID, s.WorkspaceID) {
			err = abi.NotFound(abi.ObjectSession, f.SessionID)
		}
		return Scope{Object: abi.ObjectSession, ID: f.SessionID}, err
	case f.WorkspaceID != "":
		return Scope{Object: abi.ObjectWorkspace, ID: f.WorkspaceID}, d.CheckWorkspace(ctx, c, f.WorkspaceID)
	case len(c.Workspaces) > 0:
		return Scope{}, abi.Errorf(abi.CodePermissionDenied, "this key sees some workspaces only: name one with workspace_id")
	}
	return Scope{}, nil
}

// Find reads a resource that the caller may see into a typed value.
func Find[T any](ctx context.Context, d *Desk, c *Caller, o abi.Object, id string) (T, storage.Resource, error) {
	var v T
	res, err := d.ledger.Find(ctx, c.Tenant, o, id)
	if err != nil {
		return v, res, err
	}
	if err := ledger.Decode(res.State, &v); err != nil {
		return v, res, ledger.Naming(o, id, err)
	}
	if !c.seesState(res.State) || d.gone(c.Tenant, o, id, res.State) {
		return v, res, abi.NotFound(o, id)
	}
	return v, res, nil
}

// MemoryExpired reports whether a Memory's time is over. Most have none.
func (d *Desk) MemoryExpired(state []byte) bool {
	if !bytes.Contains(state, []byte(`"expires_at"`)) {
		return false
	}
	var m struct {
		ExpiresAt abi.Time `json:"expires_at"`
	}
	return json.Unmarshal(state, &m) == nil && !m.ExpiresAt.IsZero() && !m.ExpiresAt.After(d.now())
}

// Internal reports whether a failure's details are not public.
func Internal(f *abi.Failure) bool { return f != nil && f.Code == abi.FailureDivergence }

// CheckWorkspace demands a Workspace that is there and that the caller sees. For any other it
// answers not found.
func (d *Desk) CheckWorkspace(ctx context.Context, c *Caller, id string) error {
	if !c.Sees(id) {
		return abi.NotFound(abi.ObjectWorkspace, id)
	}
	key := ledger.Key{Tenant: c.Tenant, ID: id}
	if d.places.has(key) {
		return nil
	}
	_, err := d.ledger.Find(ctx, c.Tenant, abi.ObjectWorkspace, id)
	if err == nil {
		d.places.put(key)
	}
	return err
}

// Redo does something to each document of a list, and returns the list with what became of it.
// Documents that are in no state for it any more are left out: somebody else was there first.
func (l DocList) Redo(do func(id string) (Doc, error)) (DocList, error) {
	docs := l.Docs
	l.Docs = nil
	for _, doc := range docs {
		now, err := do(doc.ID)
		if refused, ok := errors.AsType[*abi.Error](err); ok && refused.Code == abi.CodeConflict {
			continue
		}
		if err != nil {
			return DocList{}, err
		}
		l.Docs = append(l.Docs, now)
	}
	return l, nil
}
