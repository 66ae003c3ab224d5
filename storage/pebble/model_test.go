package pebble

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"pgregory.net/rapid"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/storage"
)

// TestModel holds the store against a plain model of a log, its projections and
// its subscribers, under random writes, truncations, forks, retention, crashes and
// restarts.
func TestModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newMachine(t)
		defer m.close()
		t.Repeat(rapid.StateMachineActions(m))
	})
}

// machine is the store and the model side by side.
type machine struct {
	fs    *vfs.MemFS
	store *Store
	now   time.Time

	frames      []*storage.Frame // the model: everything ever appended, by position
	last        storage.Position
	floor       storage.Position
	resources   map[storage.Tenant]map[abi.ResourcePointer]storage.Resource
	transcripts map[storage.Tenant]map[string][]entry
	active      map[storage.Tenant]map[string]storage.Position // where each began
	seen        map[storage.Tenant]map[storage.DeliveryKey]storage.Position
	backlogs    map[storage.Tenant]map[string]*owed
	created     int
	sessions    []string
	subs        []*watcher
}

// owed is what a Connector has not settled, and its tally.
type owed struct {
	pending []storage.Position
	tally   string
}

// watcher is a subscription and what it should yield next.
type watcher struct {
	sub    storage.Subscription
	tenant storage.Tenant
	scope  storage.Scope
	after  storage.Position
}

// ctx is that of calls in tests that nobody interrupts.
var ctx = context.Background()

func newMachine(t *rapid.T) *machine {
	m := &machine{
		fs: vfs.NewCrashableMem(), now: epoch, created: 10,
		resources:   make(map[storage.Tenant]map[abi.ResourcePointer]storage.Resource),
		transcripts: make(map[storage.Tenant]map[string][]entry),
		active:      make(map[storage.Tenant]map[string]storage.Position),
		seen:        make(map[storage.Tenant]map[storage.DeliveryKey]storage.Position),
		backlogs:    make(map[storage.Tenant]map[string]*owed),
		sessions:    []string{newID(abi.ObjectSession, 1), newID(abi.ObjectSession, 2), "sess_of-a-stranger"},
	}
	m.open(t)
	return m
}

func (m *machine) open(t *rapid.T) {
	o := testOptions(m.fs)
	o.MemtableBytes = 64 << 10
	s, err := Open("data", o)
	if err != nil {
		t.Fatal(err)
	}
	m.store = s
}

func (m *machine) close() {
	for _, w := range m.subs {
		w.sub.Close()
	}
	m.subs = nil
	_ = m.store.Close()
}

func (m *machine) tenant(t *rapid.T) storage.Tenant {
	return storage.Tenant(rapid.IntRange(1, 2).Draw(t, "tenant"))
}

// append appends a frame to the store and to the model.
func (m *machine) append(t *rapid.T, f storage.Frame) {
	m.now = m.now.Add(time.Second)
	f.Time = m.now
	kept := f
	kept.Records = slices.Clone(f.Records)
	first, err := m.store.Append(&storage.Batch{Frame: f}).Wait(ctx)
	if err != nil || first != m.last+1 {
		t.Fatalf("appended at %s, %v, want %s", first, err, m.last+1)
	}
	kept.First = first
	m.last += storage.Position(len(kept.Records))
	m.frames = append(m.frames, &kept)
	for i := range kept.Records {
		m.project(&kept, i)
	}
}

// project is the model's own form of the rules of projection.
func (m *machine) project(f *storage.Frame, i int) {
	r, at := f.Records[i], f.First+storage.Position(i)
	if m.resources[f.Tenant] == nil {
		m.resources[f.Tenant] = make(map[abi.ResourcePointer]storage.Resource)
		m.transcripts[f.Tenant] = make(map[string][]entry)
		m.active[f.Tenant] = make(map[string]storage.Position)
		m.seen[f.Tenant] = make(map[storage.DeliveryKey]storage.Position)
		m.backlogs[f.Tenant] = make(map[string]*owed)
	}
	if r.State != nil {
		res := storage.Resource{ID: r.Resource.ID, State: r.State, Position: at, Sequence: r.Sequence,
			Restricted: r.Restricted, Origin: m.resources[f.Tenant][r.Resource].Origin}
		if r.Created {
			res.Origin = at
		}
		m.resources[f.Tenant][r.Resource] = res
	}
	m.projectTranscript(f, r, at)
	m.projectIntake(f.Tenant, r.Intake, at)
	switch {
	case r.Kind == abi.EventTaskSubmitted:
		m.active[f.Tenant][r.Resource.ID] = f.First
	case isTerminal(r.Kind):
		delete(m.active[f.Tenant], r.Resource.ID)
	}
}

func (m *machine) projectTranscript(f *storage.Frame, r storage.Record, at storage.Position) {
	all := m.transcripts[f.Tenant]
	switch r.Transcript.Kind {
	case storage.TranscriptAppend:
		all[f.SessionID] = append(all[f.SessionID], entry{at, r.Resource.ID})
	case storage.TranscriptTruncate:
		all[f.SessionID] = slices.DeleteFunc(slices.Clone(all[f.SessionID]), func(e entry) bool { return e.position >= r.Transcript.At })
	case storage.TranscriptCopy:
		all[f.SessionID] = slices.DeleteFunc(slices.Clone(all[r.Transcript.From]), func(e entry) bool { return e.position > r.Transcript.At })
	}
}

// next returns the id of a new resource.
func (m *machine) next(o abi.Object) string {
	m.created++
	return newID(o, m.created)
}

func (m *machine) session(t *rapid.T) string { return rapid.SampledFrom(m.sessions).Draw(t, "session") }

func doc(t *rapid.T, id string) []byte {
	padding := rapid.SampledFrom([]int{0, 10, 400, 3000}).Draw(t, "padding")
	return fmt.Appendf(nil, `{"id":%q,"padding":"%0*d"}`, id, padding, 0)
}

// Submit accepts a Task with a Message.
func (m *machine) Submit(t *rapid.T) {
	task, msg := m.next(abi.ObjectTask), m.next(abi.ObjectMessage)
	m.append(t, storage.Frame{Tenant: m.tenant(t), WorkspaceID: newID(abi.ObjectWorkspace, 1), SessionID: m.session(t), TaskID: task,
		Records: []storage.Record{
			{Kind: abi.EventUserMessage, Resource: ptr(abi.ObjectMessage, msg), Created: true, State: doc(t, msg),
				Transcript: storage.TranscriptOp{Kind: storage.TranscriptAppend}},
			{Kind: abi.EventTaskSubmitted, Resource: ptr(abi.ObjectTask, task), Created: true, State: doc(t, task), Restricted: true},
		}})
}

// Progress appends an event that a resource is not stated by.
func (m *machine) Progress(t *rapid.T) {
	tenant, task := m.anyActive(t)
	m.append(t, storage.Frame{Tenant: tenant, WorkspaceID: newID(abi.ObjectWorkspace, 1), TaskID: task,
		Records: m.withOthers(t, storage.Record{Kind: abi.EventProgress, Resource: ptr(abi.ObjectTask, task), Sequence: 1, Hint: true})})
}

// Finish ends a Task.
func (m *machine) Finish(t *rapid.T) {
	tenant, task := m.anyActive(t)
	kind := rapid.SampledFrom([]abi.EventKind{abi.EventTaskCompleted, abi.EventTaskFailed, abi.EventTaskCanceled}).Draw(t, "kind")
	m.append(t, storage.Frame{Tenant: tenant, WorkspaceID: newID(abi.ObjectWorkspace, 1), TaskID: task,
		Records: m.withOthers(t, storage.Record{Kind: kind, Resource: ptr(abi.ObjectTask, task), Sequence: 2, State: doc(t, task)})})
}

func (m *machine) anyActive(t *rapid.T) (storage.Tenant, string) {
	tenant := m.tenant(t)
	var ids []string
	for id := range m.active[tenant] {
		ids = append(ids, id)
	}
	if len(ids) == 0 {
		t.Skip("no Task is active")
	}
	slices.Sort(ids)
	return tenant, rapid.SampledFrom(ids).Draw(t, "task")
}

// Truncate drops the end of a transcript.
func (m *machine) Truncate(t *rapid.T) {
	session := m.session(t)
	m.append(t, storage.Frame{Tenant: m.tenant(t), SessionID: session, Records: []storage.Record{{
		Kind: abi.EventSessionTruncated, Resource: ptr(abi.ObjectSession, session), State: doc(t, session),
		Transcript: storage.TranscriptOp{Kind: storage.TranscriptTruncate, At: storage.Position(rapid.IntRange(0, int(m.last)+1).Draw(t, "at"))}}}})
}

// Fork copies the beginning of a transcript into a new Session, handing over a
// Message for the source just before, without waiting for it.
func (m *machine) Fork(t *rapid.T) {
	from, fork, msg, tenant := m.session(t), m.next(abi.ObjectSession), m.next(abi.ObjectMessage), m.tenant(t)
	m.sessions = append(m.sessions, fork)
	before := storage.Frame{Tenant: tenant, SessionID: from, Records: []storage.Record{{Kind: abi.EventAgentMessage,
		Resource: ptr(abi.ObjectMessage, msg), Created: true, State: doc(t, msg), Transcript: storage.TranscriptOp{Kind: storage.TranscriptAppend}}}}
	at := storage.Position(rapid.IntRange(0, int(m.last)+1).Draw(t, "at"))
	after := storage.Frame{Tenant: tenant, SessionID: fork, WorkspaceID: newID(abi.ObjectWorkspace, 1), Records: []storage.Record{{
		Kind: abi.EventSessionCreated, Resource: ptr(abi.ObjectSession, fork), Created: true, State: doc(t, fork),
		Transcript: storage.TranscriptOp{Kind: storage.TranscriptCopy, From: from, At: at}}}}
	before.Time, after.Time = m.now, m.now
	for _, f := range []storage.Frame{before, after} {
		kept := f
		kept.Records, kept.First = slices.Clone(f.Records), m.last+1
		m.last++
		m.frames = append(m.frames, &kept)
		m.project(&kept, 0)
	}
	m.store.Append(&storage.Batch{Frame: before})
	if _, err := m.store.Append(&storage.Batch{Frame: after}).Wait(ctx); err != nil {
		t.Fatal(err)
	}
}

// Retain removes old events.
func (m *machine) Retain(t *rapid.T) {
	age := time.Duration(rapid.IntRange(0, 30).Draw(t, "age")) * time.Second
	before := m.now.Add(-age)
	floor := m.last
	for _, f := range slices.Backward(m.frames) {
		if !f.Time.Before(before) {
			floor = f.First - 1
		}
	}
	for _, tasks := range m.active {
		for _, first := range tasks {
			floor = min(floor, first-1)
		}
	}
	for _, connectors := range m.backlogs {
		for _, o := range connectors {
			for _, p := range o.pending {
				floor = min(floor, m.frameOf(p).First-1)
			}
		}
	}
	floor = max(floor, m.floor)
	removed, err := m.store.Retain(ctx, before)
	if err != nil || storage.Position(removed) != floor-m.floor {
		t.Fatalf("Retain = %d, %v, want %d", removed, err, floor-m.floor)
	}
	m.floor = floor
}

// Restart closes and opens the store.
func (m *machine) Restart(t *rapid.T) {
	m.close()
	m.open(t)
}

// Crash takes the power away; everything here was acknowledged.
func (m *machine) Crash(t *rapid.T) {
	m.fs = m.fs.CrashClone(vfs.CrashCloneCfg{})
	m.close()
	m.open(t)
}

// Watch starts a subscription somewhere.
func (m *machine) Watch(t *rapid.T) {
	w := &watcher{tenant: m.tenant(t), scope: m.scope(t), after: storage.Position(rapid.IntRange(0, int(m.last)).Draw(t, "after"))}
	sub, err := m.store.Subscribe(w.tenant, w.scope, w.after)
	if w.after != 0 && w.after < m.floor {
		if !errors.Is(err, storage.ErrCursorExpired) {
			t.Fatalf("subscribing after %s with the floor at %s: %v", w.after, m.floor, err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	w.sub, w.after = sub, max(w.after, m.floor)
	m.subs = append(m.subs, w)
}

// Follow lets a subscriber read up to now.
func (m *machine) Follow(t *rapid.T) {
	if len(m.subs) == 0 {
		t.Skip("nobody watches")
	}
	w := rapid.SampledFrom(m.subs).Draw(t, "watcher")
	for {
		// What retention has removed may still be in memory for those who follow.
		want := m.eventsAbove(w.tenant, w.scope, w.after)
		if len(want) == 0 || (w.after == 0 && len(m.events(w.tenant, w.scope, 0)) == 0) {
			return
		}
		got, err := w.sub.Next(ctx)
		if errors.Is(err, storage.ErrCursorExpired) && w.after < m.floor {
			return
		}
		if w.after == 0 && len(got) > 0 && got[0].Position() > m.floor {
			want = m.events(w.tenant, w.scope, 0) // 0 is the oldest that is kept
		}
		if err != nil || len(got) == 0 || len(got) > len(want) {
			t.Fatalf("Next after %s = %d events, %v; %d are there", w.after, len(got), err, len(want))
		}
		for i, e := range got {
			mustEqualEvent(t, e, want[i])
		}
		w.after = got[len(got)-1].Position()
	}
}

// scope draws a scope to read by.
func (m *machine) scope(t *rapid.T) storage.Scope {
	switch rapid.IntRange(0, 3).Draw(t, "scope") {
	case 0:
		return storage.Scope{}
	case 1:
		return storage.Scope{Object: abi.ObjectWorkspace, ID: newID(abi.ObjectWorkspace, 1)}
	case 2:
		return storage.Scope{Object: abi.ObjectSession, ID: m.session(t)}
	}
	return storage.Scope{Object: abi.ObjectTask, ID: newID(abi.ObjectTask, rapid.IntRange(1, m.created+1).Draw(t, "n"))}
}

// events returns what the log should hold of a scope after a position.
func (m *machine) events(tenant storage.Tenant, scope storage.Scope, after storage.Position) []storage.Event {
	return m.eventsAbove(tenant, scope, max(after, m.floor))
}

// beside reports whether what is stated of a resource in a Task's frame is no event of
// the Task.
func beside(o abi.Object) bool { return o == abi.ObjectQuota || o == abi.ObjectReceiptBatch }

// withOthers puts what is stated beside a Task's work before or after its records.
func (m *machine) withOthers(t *rapid.T, own ...storage.Record) []storage.Record {
	for range rapid.IntRange(0, 2).Draw(t, "others") {
		o := rapid.SampledFrom([]abi.Object{abi.ObjectQuota, abi.ObjectReceiptBatch}).Draw(t, "other")
		id := m.next(o)
		other := storage.Record{Kind: abi.EventReceiptsSealed, Resource: ptr(o, id), Created: true, State: doc(t, id)}
		own = slices.Insert(own, rapid.IntRange(0, len(own)).Draw(t, "at"), other)
	}
	return own
}

// eventsAbove returns what was ever appended to a scope after a position.
func (m *machine) eventsAbove(tenant storage.Tenant, scope storage.Scope, after storage.Position) (events []storage.Event) {
	for _, f := range m.frames {
		if f.Tenant != tenant || (scope.Object != "" && ownerOf(f, scope.Object) != scope.ID) {
			continue
		}
		for i, r := range f.Records {
			if beside(r.Resource.Object) && (scope.Object == abi.ObjectTask || scope.Object == abi.ObjectSession) {
				continue
			}
			if p := f.First + storage.Position(i); p > after {
				events = append(events, storage.Event{Frame: f, Index: i})
			}
		}
	}
	return events
}

func mustEqualEvent(t *rapid.T, got, want storage.Event) {
	if got.Position() != want.Position() || !reflect.DeepEqual(*got.Record(), *want.Record()) ||
		got.Frame.SessionID != want.Frame.SessionID || !got.Frame.Time.Equal(want.Frame.Time) {
		t.Fatalf("event %s = %.200q, want %s %.200q", got.Position(), fmt.Sprint(*got.Record()), want.Position(), fmt.Sprint(*want.Record()))
	}
}

// Read reads a range of a scope in pages.
func (m *machine) Read(t *rapid.T) {
	tenant, scope := m.tenant(t), m.scope(t)
	after := storage.Position(rapid.IntRange(0, int(m.last)).Draw(t, "after"))
	limit := rapid.IntRange(1, 5).Draw(t, "limit")
	want := m.events(tenant, scope, after)
	for {
		got, more, err := m.store.Events(ctx, tenant, scope, after, limit)
		if after != 0 && after < m.floor {
			if !errors.Is(err, storage.ErrCursorExpired) {
				t.Fatalf("reading after %s with the floor at %s: %v", after, m.floor, err)
			}
			return
		}
		if err != nil || len(got) > limit || more != (len(want) > len(got)) {
			t.Fatalf("Events after %s = %d, more %v, %v; %d are there", after, len(got), more, err, len(want))
		}
		for i, e := range got {
			mustEqualEvent(t, e, want[i])
		}
		if !more {
			return
		}
		want, after = want[len(got):], got[len(got)-1].Position()
	}
}

// Single reads one event, and the last of a scope.
func (m *machine) Single(t *rapid.T) {
	tenant, p := m.tenant(t), storage.Position(rapid.IntRange(1, int(m.last)+2).Draw(t, "position"))
	scope := m.scope(t)
	var newest storage.Position
	if all := m.events(tenant, scope, 0); len(all) > 0 {
		newest = all[len(all)-1].Position()
	}
	if got, err := m.store.Last(ctx, tenant, scope); err != nil || got != newest {
		t.Fatalf("Last of %v = %s, %v, want %s", scope, got, err, newest)
	}
	got, err := m.store.Event(ctx, tenant, p)
	want := m.events(tenant, storage.Scope{}, p-1)
	switch {
	case p <= m.floor:
		if !errors.Is(err, storage.ErrCursorExpired) {
			t.Fatalf("Event(%s) = %v", p, err)
		}
	case len(want) == 0 || want[0].Position() != p:
		if !errors.Is(err, storage.ErrNotFound) {
			t.Fatalf("Event(%s) = %v", p, err)
		}
	case err != nil:
		t.Fatalf("Event(%s): %v", p, err)
	default:
		mustEqualEvent(t, got, want[0])
	}
}

// Resources reads every resource, the lists of Tasks, and every transcript.
func (m *machine) Resources(t *rapid.T) {
	tenant := m.tenant(t)
	for r, want := range m.resources[tenant] {
		got, err := m.store.Get(ctx, tenant, r.Object, r.ID)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("Get(%s) = %.200q, %v, want %.200q", r.ID, fmt.Sprint(got), err, fmt.Sprint(want))
		}
	}
	m.lists(t, tenant)
	for session, want := range m.transcripts[tenant] {
		m.transcript(t, tenant, session, want)
	}
}

func (m *machine) lists(t *rapid.T, tenant storage.Tenant) {
	for _, scope := range []storage.Scope{{}, {Object: abi.ObjectWorkspace, ID: newID(abi.ObjectWorkspace, 1)}} {
		var want []string
		for r := range m.resources[tenant] {
			if r.Object == abi.ObjectTask {
				want = append(want, r.ID)
			}
		}
		slices.Sort(want)
		slices.Reverse(want)
		page := storage.Page{Limit: rapid.IntRange(1, 4).Draw(t, "limit")}
		var got []string
		for more := true; more; {
			var list []storage.Resource
			var err error
			if list, more, err = m.store.List(ctx, tenant, abi.ObjectTask, scope, page); err != nil {
				t.Fatal(err)
			}
			for _, r := range list {
				got = append(got, r.ID)
				page.After = r.ID
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("the list by %v is %v, want %v", scope, got, want)
		}
	}
}

func (m *machine) transcript(t *rapid.T, tenant storage.Tenant, session string, want []entry) {
	page := storage.Page{Limit: rapid.IntRange(1, 4).Draw(t, "limit"), Newest: rapid.Bool().Draw(t, "newest first")}
	var got []entry
	for more := true; more; {
		var list []storage.Resource
		var err error
		if list, more, err = m.store.Transcript(ctx, tenant, session, page); err != nil {
			t.Fatal(err)
		}
		for _, r := range list {
			got = append(got, entry{r.Origin, r.ID})
			page.After = r.Origin.String()
		}
	}
	if page.Newest {
		slices.Reverse(got)
	}
	if !slices.Equal(got, want) {
		t.Fatalf("the transcript of %s is %v, want %v", session, got, want)
	}
	n := rapid.IntRange(0, len(want)).Draw(t, "turn")
	p, ok, err := m.store.Turn(ctx, tenant, session, n)
	if err != nil || ok != (n < len(want)) || (ok && p != want[n].position) {
		t.Fatalf("Turn(%d) = %s, %v, %v", n, p, ok, err)
	}
}

// Check runs after every action.
func (m *machine) Check(t *rapid.T) {
	if got := m.store.Watermark(); got != m.last {
		t.Fatalf("the watermark is %s, want %s", got, m.last)
	}
	active := make(map[storage.Tenant][]string)
	err := m.store.Active(ctx, func(tenant storage.Tenant, id string) error {
		active[tenant] = append(active[tenant], id)
		return nil
	})
	for tenant, tasks := range m.active {
		if err != nil || len(active[tenant]) != len(tasks) || !slices.IsSorted(active[tenant]) {
			t.Fatalf("the active Tasks of %d are %v, %v", tenant, active[tenant], err)
		}
	}
}

// Inspect checks every invariant and rebuilds the projections.
func (m *machine) Inspect(t *rapid.T) {
	for _, f := range []func(context.Context, func(Progress)) (Report, error){m.store.Check, m.store.Rebuild} {
		if report, err := f(ctx, nil); err != nil || !report.OK() || report.Last != m.last || report.Floor != m.floor {
			t.Fatalf("%v, %.500q", err, fmt.Sprint(report))
		}
	}
}
