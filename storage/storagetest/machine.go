package storagetest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/storage"
	plain "github.com/wharf-dev/wharf/storage/memory"
)

// machine makes the same writes to an engine and to the model, and asks both the same.
type machine struct {
	*harness
	model *plain.Store

	now       time.Time
	last      storage.Position
	floor     storage.Position
	past      []storage.Event // all that was ever appended
	created   int
	sequence  uint64 // of the last event of any resource: sequences never fall
	tasks     []string
	sessions  []string
	watchers  []*watcher
	scattered []made
	forks     []forked

	// reading has all that is read read together, over crashes and retention: that changes nothing.
	reading context.Context
}

// made is a Session that was created at some number, and its tenant.
type made struct {
	tenant  storage.Tenant
	session int
}

// forked is a Session that was made from another one, and its tenant.
type forked struct {
	tenant        storage.Tenant
	session, from string
}

// scatter is the first of the numbers of Sessions that are created in any order.
const scatter = 1000

// watcher is a subscription of the engine and what it has read.
type watcher struct {
	storage.Subscription
	tenant storage.Tenant
	scope  storage.Scope
	after  storage.Position
}

func newMachine(t *rapid.T, e Engine) *machine {
	return &machine{
		harness: start(t, e), model: plain.New(func() time.Time { return Epoch }), now: Epoch, created: 10,
		sessions: []string{id(abi.ObjectSession, 1), id(abi.ObjectSession, 2), "sess_of-a-stranger"},
		tasks:    []string{id(abi.ObjectTask, 1)},
		reading:  storage.Together(ctx),
	}
}

// append hands batches over to both, and waits when all are handed over.
func (m *machine) append(t *rapid.T, batches ...*storage.Batch) {
	t.Helper()
	var engine, model []storage.Commit
	for _, b := range batches {
		m.now = m.now.Add(time.Second)
		b.Frame.Time = m.now
		kept := cloned(b)
		engine, model = append(engine, m.store.Append(cloned(b))), append(model, m.model.Append(kept))
		if kept.Frame.First != 0 {
			for i := range kept.Frame.Records {
				m.past = append(m.past, storage.Event{Frame: &kept.Frame, Index: i})
			}
		}
	}
	for i := range batches {
		got, err := engine[i].Wait(ctx)
		want, wantErr := model[i].Wait(ctx)
		if got != want || !alike(err, wantErr) {
			t.Fatalf("batch %d is at %s, %v, want %s, %v", i, got, err, want, wantErr)
		}
	}
	m.last = m.model.Watermark()
}

// alike reports whether two errors say the same to whoever decides on them.
func alike(a, b error) bool {
	for _, e := range []error{storage.ErrNotFound, storage.ErrInUse, storage.ErrCursorExpired, storage.ErrClosed, storage.ErrDamaged} {
		if errors.Is(a, e) != errors.Is(b, e) {
			return false
		}
	}
	got, _ := errors.AsType[*storage.ConflictError](a)
	want, _ := errors.AsType[*storage.ConflictError](b)
	return same(got, want) && (a == nil) == (b == nil)
}

// same reports whether two answers are.
func same(a, b any) bool { return reflect.DeepEqual(a, b) }

// answer is what a store has answered: values and an error.
type answer struct {
	values []any
	err    error
}

func answered(err error, values ...any) answer { return answer{values, err} }

// both asks the engine and the model, and returns what they agree on.
func (m *machine) both(t *rapid.T, what string, ask func(s storage.Store) answer) answer {
	t.Helper()
	got, want := ask(m.store), ask(m.model)
	if !alike(got.err, want.err) {
		t.Fatalf("%s: %v, want %v", what, got.err, want.err)
	}
	if want.err == nil && !same(got.values, want.values) {
		t.Fatalf("%s: %s, want %s", what, shown(got.values), shown(want.values))
	}
	return want
}

func shown(v any) string { return fmt.Sprintf("%.2000s", fmt.Sprintf("%+v", v)) }

func (m *machine) next(o abi.Object) string {
	m.created++
	return id(o, m.created)
}

// later returns the next sequence.
func (m *machine) later() uint64 {
	m.sequence++
	return m.sequence
}

func (m *machine) tenant(t *rapid.T) storage.Tenant {
	return storage.Tenant(rapid.IntRange(1, 2).Draw(t, "tenant"))
}

func (m *machine) session(t *rapid.T) string { return rapid.SampledFrom(m.sessions).Draw(t, "session") }

func (m *machine) task(t *rapid.T) string { return rapid.SampledFrom(m.tasks).Draw(t, "task") }

func (m *machine) position(t *rapid.T) storage.Position {
	return storage.Position(rapid.IntRange(0, int(m.last)+1).Draw(t, "position"))
}

func limit(t *rapid.T) int { return rapid.IntRange(1, 5).Draw(t, "limit") }

// document returns a state, small or too large for where an engine keeps small ones.
func document(t *rapid.T, id string) []byte {
	padding := rapid.SampledFrom([]int{0, 10, 400, 3000}).Draw(t, "padding")
	return fmt.Appendf(nil, `{"id":%q,"padding":"%0*d"}`, id, padding, 0)
}

func (m *machine) scope(t *rapid.T) storage.Scope {
	switch rapid.IntRange(0, 3).Draw(t, "scope") {
	case 0:
		return storage.Scope{}
	case 1:
		return storage.Scope{Object: abi.ObjectWorkspace, ID: id(abi.ObjectWorkspace, 1)}
	case 2:
		return storage.Scope{Object: abi.ObjectSession, ID: m.session(t)}
	}
	return storage.Scope{Object: abi.ObjectTask, ID: m.task(t)}
}

// frame returns a batch of any tenant. A Task's may state what is no event of it.
func (m *machine) frame(t *rapid.T, session, task string, records ...storage.Record) *storage.Batch {
	for range rapid.SampledFrom([]int{0, 0, 0, 1, 2}).Draw(t, "others") {
		o := rapid.SampledFrom([]abi.Object{abi.ObjectQuota, abi.ObjectReceiptBatch}).Draw(t, "other")
		r := m.next(o)
		other := storage.Record{Kind: abi.EventReceiptsSealed, Resource: pointer(o, r), Created: true, State: document(t, r)}
		records = slices.Insert(records, rapid.IntRange(0, len(records)).Draw(t, "at"), other)
	}
	b := frame(0, task, records...)
	b.Frame.Tenant, b.Frame.SessionID = m.tenant(t), session
	return b
}

// Submit accepts a Task with a Message, with an answer to the write or without.
func (m *machine) Submit(t *rapid.T) {
	task, msg := m.next(abi.ObjectTask), m.next(abi.ObjectMessage)
	m.tasks = append(m.tasks, task)
	b := m.frame(t, m.session(t), task,
		storage.Record{Kind: abi.EventUserMessage, Resource: pointer(abi.ObjectMessage, msg), Created: true, State: document(t, msg),
			Transcript: storage.TranscriptOp{Kind: storage.TranscriptAppend}},
		storage.Record{Kind: abi.EventTaskSubmitted, Resource: pointer(abi.ObjectTask, task), Created: true, State: document(t, task), Restricted: true})
	if rapid.Bool().Draw(t, "with a key") {
		b.Idempotency = &storage.Idempotency{Key: key(m.created), Status: 202, Record: len(b.Frame.Records) - 1,
			Answer: document(t, task), Expires: m.now.Add(time.Duration(rapid.IntRange(1, 60).Draw(t, "minutes")) * time.Minute).UTC()}
	}
	m.append(t, b)
}

// Scatter creates Sessions whose ids come in no order, several in a batch and several batches at
// once.
func (m *machine) Scatter(t *rapid.T) {
	var all []*storage.Batch
	for range rapid.IntRange(1, 4).Draw(t, "batches") {
		var records []storage.Record
		b := m.frame(t, m.session(t), "")
		for range rapid.IntRange(1, 9).Draw(t, "sessions") {
			s := made{b.Frame.Tenant, scatter + rapid.IntRange(0, 200).Draw(t, "number")}
			if slices.Contains(m.scattered, s) {
				continue
			}
			m.scattered = append(m.scattered, s)
			r := id(abi.ObjectSession, s.session)
			records = append(records, storage.Record{Kind: abi.EventSessionCreated, Resource: pointer(abi.ObjectSession, r), Created: true, State: document(t, r)})
			if rapid.IntRange(0, 3).Draw(t, "hidden") == 0 {
				records = append(records, storage.Record{Kind: abi.EventSessionHidden, Resource: pointer(abi.ObjectSession, r), Sequence: m.later(), State: document(t, r)})
			}
		}
		if b.Frame.Records = append(b.Frame.Records, records...); len(b.Frame.Records) > 0 {
			all = append(all, b)
		}
	}
	m.append(t, all...)
}

// Unlist takes Sessions out of the list of their Workspace, some of them again.
func (m *machine) Unlist(t *rapid.T) {
	if len(m.scattered) == 0 {
		t.Skip("there are none")
	}
	var all []*storage.Batch
	for range rapid.IntRange(1, 5).Draw(t, "sessions") {
		s := rapid.SampledFrom(m.scattered).Draw(t, "session")
		r := id(abi.ObjectSession, s.session)
		b := m.frame(t, r, "", storage.Record{Kind: abi.EventSessionDeleted, Resource: pointer(abi.ObjectSession, r), Sequence: m.later(), State: document(t, r)})
		b.Frame.Tenant = s.tenant
		all = append(all, b)
	}
	m.append(t, all...)
}

// Burst hands over several batches before it waits for the first.
func (m *machine) Burst(t *rapid.T) {
	var all []*storage.Batch
	for range rapid.IntRange(2, 6).Draw(t, "batches") {
		task := m.task(t)
		all = append(all, m.frame(t, m.session(t), task, storage.Record{Kind: abi.EventProgress, Resource: pointer(abi.ObjectTask, task),
			Sequence: m.later(), Hint: true}))
	}
	m.append(t, all...)
}

// Guard hands over batches that expect something, some of it of each other.
func (m *machine) Guard(t *rapid.T) {
	var all []*storage.Batch
	for range rapid.IntRange(1, 5).Draw(t, "batches") {
		task := m.task(t)
		b := m.frame(t, m.session(t), task, storage.Record{Kind: abi.EventTaskStatusChanged, Resource: pointer(abi.ObjectTask, task),
			Sequence: m.later(), State: document(t, task)})
		if rapid.Bool().Draw(t, "with a key") {
			b.Idempotency = &storage.Idempotency{Key: key(rapid.IntRange(0, 3).Draw(t, "key")), Status: 200, Record: len(b.Frame.Records) - 1,
				Answer: []byte("{}"), Expires: m.now.Add(time.Hour).UTC()}
			b.Expect = append(b.Expect, storage.Expectation{Kind: storage.ExpectNoAnswer, Key: b.Idempotency.Key, Time: m.now})
		}
		for range rapid.IntRange(0, 2).Draw(t, "expectations") {
			b.Expect = append(b.Expect, m.expectation(t, b.Frame.Tenant))
		}
		all = append(all, b)
	}
	m.append(t, all...)
}

// expectation draws one that holds more often than chance has it.
func (m *machine) expectation(t *rapid.T, tenant storage.Tenant) storage.Expectation {
	r := pointer(abi.ObjectTask, m.task(t))
	e := storage.Expectation{Kind: storage.ExpectKind(rapid.IntRange(int(storage.ExpectUnseen), int(storage.ExpectStated)).Draw(t, "kind")),
		Delivery: m.delivery(t), Time: Epoch, Resource: r}
	e.Sequence, _, _ = m.model.Sequence(ctx, tenant, r) // the model never fails
	if res, err := m.model.Get(ctx, tenant, r.Object, r.ID); err == nil {
		e.Position, e.Head = res.Position, sha256.Sum256(res.State)
	}
	return e
}

// Finish ends a Task, or something that is not a Task.
func (m *machine) Finish(t *rapid.T) {
	task := m.task(t)
	kind := rapid.SampledFrom([]abi.EventKind{abi.EventTaskStarted, abi.EventTaskCompleted, abi.EventTaskFailed, abi.EventTaskCanceled}).Draw(t, "kind")
	m.append(t, m.frame(t, m.session(t), task, storage.Record{Kind: kind, Resource: pointer(abi.ObjectTask, task), Sequence: m.later(), State: document(t, task)}))
}

// Truncate drops the end of a transcript.
func (m *machine) Truncate(t *rapid.T) { m.append(t, truncate(m.session(t), m.position(t))) }

// Fork copies the beginning of a transcript into a new Session, just after a Message for
// the source was handed over.
func (m *machine) Fork(t *rapid.T) {
	from, session, msg := m.session(t), m.next(abi.ObjectSession), m.next(abi.ObjectMessage)
	m.sessions = append(m.sessions, session)
	before := m.frame(t, from, "", storage.Record{Kind: abi.EventAgentMessage, Resource: pointer(abi.ObjectMessage, msg), Created: true,
		State: document(t, msg), Transcript: storage.TranscriptOp{Kind: storage.TranscriptAppend}})
	after := fork(session, m.position(t))
	m.forks = append(m.forks, forked{before.Frame.Tenant, session, from})
	after.Frame.Tenant, after.Frame.Records[0].Transcript.From = before.Frame.Tenant, from
	m.append(t, before, after)
}

// words are those of Memories.
func words() []string { return []string{"sky", "skylark", "sea", "blue", "a", "ab"} }

// Remember makes a Memory.
func (m *machine) Remember(t *rapid.T) {
	m.created++
	m.append(t, memory(m.created, strings.Join(rapid.SliceOfN(rapid.SampledFrom(words()), 0, 5).Draw(t, "content"), " ")))
}

// Redact takes the content of a Memory away, if there is one.
func (m *machine) Redact(t *rapid.T) {
	m.append(t, redact(rapid.IntRange(10, m.created).Draw(t, "memory")))
}

// Receive takes deliveries, some of them again: noticing that is up to the caller.
func (m *machine) Receive(t *rapid.T) {
	b := take(0, storage.IntakeOp{})
	b.Frame.Records = nil
	for range rapid.IntRange(1, 3).Draw(t, "deliveries") {
		b.Frame.Records = append(b.Frame.Records, m.taken(t, storage.IntakeOp{Kind: storage.IntakeReceive, Delivery: m.delivery(t)}))
	}
	b.Frame.Tenant = m.tenant(t)
	m.append(t, b)
}

// Take does something else with what a Connector has received.
func (m *machine) Take(t *rapid.T) {
	op := storage.IntakeOp{Kind: rapid.SampledFrom([]storage.IntakeKind{storage.IntakePend, storage.IntakeSettle, storage.IntakeSettle,
		storage.IntakeSettle, storage.IntakeTally, storage.IntakeDrop}).Draw(t, "operation")}
	b := take(0, storage.IntakeOp{})
	b.Frame.Tenant = m.tenant(t)
	switch op.Kind {
	case storage.IntakeSettle:
		op.At, op.Tally = m.position(t), fmt.Sprint("settled ", m.last)
	case storage.IntakeTally:
		op.Tally = fmt.Sprint("counted ", m.last)
	}
	if b.Frame.Records = []storage.Record{m.taken(t, op)}; op.At == m.last+1 {
		t.Skip("nothing is there yet")
	}
	m.append(t, b)
}

func (m *machine) taken(t *rapid.T, op storage.IntakeOp) storage.Record {
	r := m.next(abi.ObjectDelivery)
	op.Connector = m.connector(t)
	return storage.Record{Kind: abi.EventConnectorDeliveryReceived, Resource: pointer(abi.ObjectDelivery, r), Payload: document(t, r), Restricted: true, Intake: op}
}

// connector draws the id of a Connector; one has no usual form.
func (m *machine) connector(t *rapid.T) string {
	return rapid.SampledFrom([]string{connector, id(abi.ObjectConnector, 2), "a-stranger's"}).Draw(t, "connector")
}

func (m *machine) delivery(t *rapid.T) storage.DeliveryKey {
	return delivery(rapid.IntRange(0, 9).Draw(t, "delivery"))
}

// Retain removes old events, where the engine does.
func (m *machine) Retain(t *rapid.T) {
	before := m.now.Add(-time.Duration(rapid.IntRange(0, 30).Draw(t, "age")) * time.Second)
	if _, ok := m.store.(storage.Retainer); !ok {
		t.Skip("the engine keeps all events")
	}
	removed := m.both(t, "Retain", func(s storage.Store) answer {
		n, err := s.(storage.Retainer).Retain(ctx, before)
		return answered(err, n)
	})
	m.floor += storage.Position(removed.values[0].(int))
}

// Erase removes what has ended, several at once, or what somebody still needs.
func (m *machine) Erase(t *rapid.T) {
	if _, ok := m.store.(storage.Eraser); !ok {
		t.Skip("the engine erases nothing")
	}
	m.leave()                         // subscribers may still see what is erased, or may not
	m.reading = storage.Together(ctx) // and so may who has read it
	b := frame(0, "")
	b.Frame.Tenant, b.Frame.SessionID = m.tenant(t), ""
	for range rapid.IntRange(1, 3).Draw(t, "resources") {
		b.Frame.Records = append(b.Frame.Records, m.erasure(t, b.Frame.Tenant))
	}
	all := append(m.beside(t, b), b)
	if rapid.IntRange(0, 3).Draw(t, "again") == 0 { // two that want the same at once
		all = append(all, cloned(b))
	}
	m.append(t, all...)
	m.past = slices.DeleteFunc(m.past, func(ev storage.Event) bool {
		_, err := m.model.Event(ctx, ev.Frame.Tenant, ev.Position())
		return errors.Is(err, storage.ErrNotFound)
	})
	m.sound()
}

// beside draws what others hand over just before a batch that erases, and that concerns it: its writer may have looked at the
// store before, and has to find out.
func (m *machine) beside(t *rapid.T, erases *storage.Batch) (all []*storage.Batch) {
	tenant := erases.Frame.Tenant
	for _, rec := range erases.Frame.Records {
		session, task := rec.Erase.Session, rec.Resource.ID
		if rec.Resource.Object == abi.ObjectSession {
			session, task = rec.Resource.ID, ""
		}
		var b *storage.Batch
		switch what := rapid.IntRange(0, 7).Draw(t, "beside"); {
		case what == 0 && task != "": // one more event, or its end
			kind := rapid.SampledFrom([]abi.EventKind{abi.EventProgress, abi.EventTaskCompleted}).Draw(t, "kind")
			b = m.frame(t, session, task, storage.Record{Kind: kind, Resource: rec.Resource, Sequence: m.later(), State: document(t, task)})
		case what == 1 && session != "": // a new user
			fresh := m.next(abi.ObjectSession)
			m.sessions = append(m.sessions, fresh)
			m.forks = append(m.forks, forked{tenant, fresh, session})
			b = fork(fresh, m.last)
			b.Frame.Records[0].Transcript.From = session
		case what == 2: // what the events state is stated anew
			b = m.restated(t, tenant, rec.Resource)
		case what == 3: // and it is erased by somebody else
			other := rec
			other.Sequence = m.later()
			b = frame(0, "", other)
			b.Frame.SessionID = ""
		}
		if b != nil {
			b.Frame.Tenant = tenant
			all = append(all, b)
		}
	}
	return all
}

// restated returns a batch that states anew a Message or what else the events of a resource have stated, nil for none.
func (m *machine) restated(t *rapid.T, tenant storage.Tenant, of abi.ResourcePointer) *storage.Batch {
	var stated []storage.Event
	for _, ev := range m.past {
		r := ev.Record().Resource
		if ev.Frame.Tenant == tenant && (ev.Frame.TaskID == of.ID || ev.Frame.SessionID == of.ID) &&
			(r.Object == abi.ObjectMessage || r.Object == abi.ObjectQuota) {
			stated = append(stated, ev)
		}
	}
	if len(stated) == 0 {
		return nil
	}
	ev := rapid.SampledFrom(stated).Draw(t, "restated")
	r := ev.Record().Resource
	if _, err := m.model.Get(ctx, tenant, r.Object, r.ID); err != nil {
		return nil
	}
	b := frame(0, "", storage.Record{Kind: abi.EventAgentMessage, Resource: r, Sequence: m.later(), State: document(t, r.ID)})
	b.Frame.SessionID = ev.Frame.SessionID
	return b
}

// erasure draws a Task, or a Session that was made from another one.
func (m *machine) erasure(t *rapid.T, tenant storage.Tenant) storage.Record {
	r, op := pointer(abi.ObjectTask, m.task(t)), &storage.Erasure{}
	shares := func(f forked) bool { return m.shares(tenant, f.session) }
	if tidy := slices.DeleteFunc(slices.Clone(m.forks), shares); len(tidy) > 0 && rapid.IntRange(0, 2).Draw(t, "a session") == 0 {
		f := rapid.SampledFrom(tidy).Draw(t, "fork")
		r = pointer(abi.ObjectSession, f.session)
		if f.tenant == tenant {
			op.Source = pointer(abi.ObjectSession, f.from)
		}
	} else {
		op.Session = m.listing(tenant, r.ID)
	}
	return storage.Record{Kind: "test.erased", Resource: r, Sequence: m.later(), Erase: op}
}

// shares reports whether a Task has events in a Session and in others, which no Task of a node has.
func (m *machine) shares(tenant storage.Tenant, session string) bool {
	in, out := map[string]bool{}, map[string]bool{}
	for _, ev := range m.past {
		if ev.Frame.Tenant != tenant || ev.Frame.TaskID == "" {
			continue
		}
		if ev.Frame.SessionID == session {
			in[ev.Frame.TaskID] = true
		} else {
			out[ev.Frame.TaskID] = true
		}
	}
	for task := range in {
		if out[task] {
			return true
		}
	}
	return false
}

// listing returns the Session that lists a Task, "" for none.
func (m *machine) listing(tenant storage.Tenant, task string) string {
	for _, s := range m.sessions {
		list, _, _ := m.model.List(ctx, tenant, abi.ObjectTask, storage.Scope{Object: abi.ObjectSession, ID: s}, storage.Page{Limit: 10_000})
		if slices.Contains(ids(list), task) {
			return s
		}
	}
	return ""
}

// Restart closes and opens the store.
func (m *machine) Restart(t *rapid.T) {
	m.leave()
	m.restart()
	m.model = m.model.Reopen()
}

// Crash takes the power away; everything here was acknowledged.
func (m *machine) Crash(t *rapid.T) {
	m.leave()
	m.crash()
	m.model = m.model.Reopen()
}

// leave ends all subscriptions.
func (m *machine) leave() {
	for _, w := range m.watchers {
		w.Close()
	}
	m.watchers = nil
}

func (m *machine) stop() {
	m.leave()
	m.harness.stop()
}

// Watch starts a subscription somewhere.
func (m *machine) Watch(t *rapid.T) {
	w := &watcher{tenant: m.tenant(t), scope: m.scope(t), after: min(m.position(t), m.last)}
	var err error
	w.Subscription, err = m.store.Subscribe(w.tenant, w.scope, w.after)
	if expired := w.after != 0 && w.after < m.floor; expired != errors.Is(err, storage.ErrCursorExpired) || !expired && err != nil {
		t.Fatalf("subscribing after %s with the floor at %s: %v", w.after, m.floor, err)
	}
	if err == nil {
		w.after = max(w.after, m.floor)
		m.watchers = append(m.watchers, w)
	}
}

// Follow lets a subscriber read up to now. Subscribers may still see what retention has
// removed.
func (m *machine) Follow(t *rapid.T) {
	if len(m.watchers) == 0 {
		t.Skip("nobody watches")
	}
	w := rapid.SampledFrom(m.watchers).Draw(t, "watcher")
	for {
		want := m.since(w, w.after)
		if len(want) == 0 || w.after == 0 && len(m.since(w, m.floor)) == 0 {
			return
		}
		got, err := either(w, rapid.IntRange(0, 1).Draw(t, "polled")).Next(ctx)
		if errors.Is(err, storage.ErrCursorExpired) && w.after < m.floor {
			return
		}
		if w.after == 0 && len(got) > 0 && got[0].Position() > m.floor {
			want = m.since(w, m.floor) // 0 is the oldest that is kept
		}
		if err != nil || len(got) == 0 || len(got) > len(want) || !same(allSeen(got), allSeen(want[:len(got)])) {
			t.Fatalf("Next after %s: %s, %v; there are %s", w.after, shown(allSeen(got)), err, shown(allSeen(want)))
		}
		w.after = got[len(got)-1].Position()
	}
}

// since returns what was ever appended of what a watcher sees, after a position.
func (m *machine) since(w *watcher, after storage.Position) (all []storage.Event) {
	for _, ev := range m.past {
		in := w.scope.Object == "" || ev.Frame.Owner(w.scope.Object) == w.scope.ID
		if in && ev.Frame.Tenant == w.tenant && ev.Position() > after && w.scope.Shows(ev.Record()) {
			all = append(all, ev)
		}
	}
	return all
}

// Events reads a page of a scope, an event and the last one.
func (m *machine) Events(t *rapid.T) {
	tenant, scope, p, n := m.tenant(t), m.scope(t), m.position(t), limit(t)
	m.both(t, fmt.Sprintf("Events of %v after %s", scope, p), func(s storage.Store) answer {
		events, more, err := s.Events(m.reading, tenant, scope, p, n)
		return answered(err, allSeen(events), more)
	})
	m.both(t, fmt.Sprintf("Event %s", p), func(s storage.Store) answer {
		ev, err := s.Event(m.reading, tenant, p)
		if err != nil {
			return answered(err)
		}
		return answered(nil, seen(ev))
	})
	m.both(t, fmt.Sprintf("Last of %v", scope), func(s storage.Store) answer {
		last, err := s.Last(m.reading, tenant, scope)
		return answered(err, last)
	})
}

// Resources asks for a resource, its sequence, and a page of a list of its kind.
func (m *machine) Resources(t *rapid.T) {
	tenant := m.tenant(t)
	o := rapid.SampledFrom([]abi.Object{abi.ObjectTask, abi.ObjectMessage, abi.ObjectSession, abi.ObjectQuota, abi.ObjectMemory}).Draw(t, "object")
	r := id(o, rapid.IntRange(1, m.created+1).Draw(t, "number"))
	m.both(t, "Get "+r, func(s storage.Store) answer {
		res, err := s.Get(m.reading, tenant, o, r)
		return answered(err, res)
	})
	several := rapid.SliceOfN(rapid.Map(rapid.IntRange(1, max(m.created, 1)), func(n int) string { return id(o, n) }), 0, 5).Draw(t, "several")
	m.both(t, fmt.Sprintf("GetAll %v", several), func(s storage.Store) answer {
		all, err := s.GetAll(m.reading, tenant, o, several)
		return answered(err, all)
	})
	m.both(t, "Sequence of "+r, func(s storage.Store) answer {
		n, ok, err := s.Sequence(m.reading, tenant, pointer(o, r))
		return answered(err, n, ok)
	})
	scope, page := m.scope(t), storage.Page{Limit: limit(t), Oldest: rapid.Bool().Draw(t, "oldest first")}
	page.Offset = rapid.IntRange(0, rapid.SampledFrom([]int{3, 60}).Draw(t, "offset up to")).Draw(t, "offset")
	for _, place := range []*string{&page.After, &page.Least, &page.Below} {
		if rapid.IntRange(0, 2).Draw(t, "from a place") == 0 {
			*place = id(o, m.place(t))
		}
	}
	m.both(t, fmt.Sprintf("List of %s by %v: %+v", o, scope, page), func(s storage.Store) answer {
		list, more, err := s.List(m.reading, tenant, o, scope, page)
		return answered(err, append([]storage.Resource{}, list...), more)
	})
}

// place draws the number of an id.
func (m *machine) place(t *rapid.T) int {
	if rapid.Bool().Draw(t, "scattered") {
		return scatter + rapid.IntRange(-1, 201).Draw(t, "place")
	}
	return rapid.IntRange(0, m.created+1).Draw(t, "place")
}

// Counts asks how long lists are.
func (m *machine) Counts(t *rapid.T) {
	o := rapid.SampledFrom([]abi.Object{abi.ObjectTask, abi.ObjectSession, abi.ObjectMessage}).Draw(t, "object")
	tenant, scope, page := m.tenant(t), m.scope(t), storage.Page{Limit: rapid.SampledFrom([]int{limit(t), 10_000}).Draw(t, "up to")}
	for _, place := range []*string{&page.Least, &page.Below} {
		if rapid.Bool().Draw(t, "from a place") {
			*place = id(o, m.place(t))
		}
	}
	m.both(t, fmt.Sprintf("Count of %s by %v: %+v", o, scope, page), func(s storage.Store) answer {
		n, more, err := s.Count(m.reading, tenant, o, scope, page)
		return answered(err, n, more)
	})
}

// Transcripts asks for a page of a transcript from either end, and a turn.
func (m *machine) Transcripts(t *rapid.T) {
	tenant, session := m.tenant(t), m.session(t)
	page := storage.Page{Limit: limit(t), Newest: rapid.Bool().Draw(t, "newest first"), Offset: rapid.IntRange(0, 3).Draw(t, "offset")}
	if rapid.Bool().Draw(t, "from a place") {
		page.After = m.position(t).String()
	}
	m.both(t, fmt.Sprintf("Transcript %+v", page), func(s storage.Store) answer {
		list, more, err := s.Transcript(m.reading, tenant, session, page)
		return answered(err, append([]storage.Resource{}, list...), more)
	})
	n := rapid.IntRange(0, 9).Draw(t, "turn")
	m.both(t, "Turn", func(s storage.Store) answer {
		p, ok, err := s.Turn(m.reading, tenant, session, n)
		return answered(err, p, ok)
	})
}

// Search looks for words, through all pages: the engine decides where a page ends.
func (m *machine) Search(t *rapid.T) {
	text := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"sky", "sky*", "s*", "blue", "a*", "ab", "none"}), 0, 3).Draw(t, "query"), " ")
	n := limit(t)
	m.both(t, "Search "+text, func(s storage.Store) answer {
		return answered(nil, (&harness{TB: t, store: s}).searchAll(text, n))
	})
}

// Answers asks for the answers to writes.
func (m *machine) Answers(t *rapid.T) {
	tenant, k := m.tenant(t), key(rapid.IntRange(1, m.created).Draw(t, "key"))
	now := m.now.Add(time.Duration(rapid.IntRange(0, 60).Draw(t, "minutes")) * time.Minute)
	m.both(t, "Idempotency", func(s storage.Store) answer {
		i, err := s.Idempotency(ctx, tenant, k, now)
		if err != nil {
			return answered(err)
		}
		return answered(nil, *i)
	})
}

// Deliveries asks what was seen and what is pending.
func (m *machine) Deliveries(t *rapid.T) {
	tenant, k, c, p, n := m.tenant(t), m.delivery(t), m.connector(t), m.position(t), limit(t)
	for _, since := range []time.Time{Epoch, m.now.Add(time.Second)} {
		m.both(t, "Seen", func(s storage.Store) answer {
			p, ok, err := s.Seen(ctx, tenant, k, since)
			return answered(err, p, ok)
		})
	}
	m.both(t, fmt.Sprintf("Pending after %s", p), func(s storage.Store) answer {
		events, more, err := s.Pending(ctx, tenant, c, p, n)
		return answered(err, allSeen(events), more)
	})
	m.both(t, "Backlogs", func(s storage.Store) answer {
		return answered(nil, (&harness{TB: t, store: s}).backlogs())
	})
}

// Blob stores content, and asks for it or for a blob that is not there.
func (m *machine) Blob(t *rapid.T) {
	content := rapid.SliceOfN(rapid.Byte(), 0, 100).Draw(t, "content")
	m.both(t, "a blob", func(s storage.Store) answer {
		h, size, err := s.Blobs().Put(ctx, bytes.NewReader(content), nil)
		if err != nil {
			return answered(err)
		}
		b, err := s.Blobs().Open(ctx, h)
		if err != nil {
			return answered(err)
		}
		return answered(b.Close(), h, size, b.Size())
	})
}

// Call tells of a call whose answer is a blob, or of one that is not there.
func (m *machine) Call(t *rapid.T) {
	h := storage.Hash{1}
	if rapid.Bool().Draw(t, "with content") {
		content := fmt.Sprintf("answer %0*d", rapid.IntRange(1, 2000).Draw(t, "bytes"), m.created)
		for _, s := range []storage.Store{m.store, m.model} {
			var err error
			if h, _, err = s.Blobs().Put(ctx, strings.NewReader(content), nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	task := m.task(t)
	m.append(t, m.frame(t, m.session(t), task, call(task, m.later(), h)))
}

// Check runs after every action.
func (m *machine) Check(t *rapid.T) {
	m.sizes(m.model)
	m.both(t, "Watermark", func(s storage.Store) answer { return answered(nil, s.Watermark()) })
	m.both(t, "Active", func(s storage.Store) answer {
		var all []string
		err := s.Active(ctx, func(tenant storage.Tenant, task string) error {
			all = append(all, fmt.Sprint(tenant, " ", task))
			return nil
		})
		return answered(err, all)
	})
}

// Inspect looks for damage, where the engine can.
func (m *machine) Inspect(t *rapid.T) { m.sound() }
