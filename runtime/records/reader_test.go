package records

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/internal/roomtest"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/personas"
	"github.com/wharf-dev/wharf/storage"
	"github.com/wharf-dev/wharf/storage/memory"
)

var began = time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)

// room is a reader by itself: the test writes what it reads.
type room struct {
	*roomtest.House
	*Reader
	sequence map[string]uint64 // of the next event of a Task
}

func newRoom(t *testing.T) *room {
	t.Helper()
	r := &room{House: roomtest.New(t, memory.New(time.Now)), sequence: map[string]uint64{}}
	r.read(r.Store)
	return r
}

// read makes a reader over a store.
func (r *room) read(from storage.Store) {
	parts := r.Parts
	parts.Store = from
	r.Reader = NewReader(Parts{Parts: parts, PersonaAt: func(_ context.Context, _ storage.Tenant, id, hash string) (*personas.Persona, error) {
		return &personas.Persona{Text: fmt.Appendf(nil, `{"id":%q,"hash":%q}`, id, hash)}, nil
	}})
}

// task has the log state a Task.
func (r *room) task(t *testing.T, id string, change func(*abi.Task)) *abi.Task {
	t.Helper()
	about := &abi.Task{Envelope: abi.NewEnvelope(abi.ObjectTask, id, began, nil), SessionID: roomtest.Session, WorkspaceID: roomtest.Workspace,
		PersonaID: roomtest.Persona, Input: jsontext.Value(`{"of":"` + id + `"}`), Status: abi.TaskWorking, StartedAt: abi.At(began)}
	if change != nil {
		change(about)
	}
	r.State(t, roomtest.Workspace, roomtest.Session, abi.EventTaskSubmitted, abi.ObjectTask, id, about)
	r.sequence[id] = 1
	return about
}

// tell writes events of a Task.
func (r *room) tell(t *testing.T, id string, events ...ledger.Record) {
	t.Helper()
	for i := range events {
		events[i].Object, events[i].ID, events[i].Sequence = abi.ObjectTask, id, r.sequence[id]
		r.sequence[id]++
	}
	encoded, err := ledger.Encode(events...)
	if err != nil {
		t.Fatal(err)
	}
	commit := r.Ledger.Append(&storage.Batch{Frame: storage.Frame{Tenant: roomtest.Tenant, Time: began, WorkspaceID: roomtest.Workspace,
		SessionID: roomtest.Session, TaskID: id, Actor: desk.HostActor, Records: encoded}})
	if _, err := commit.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func started(program string) ledger.Record {
	return ledger.Record{Kind: abi.EventTaskStarted, Payload: Started(&journal.Program{Plugin: program, Persona: "of " + program})}
}

func trial(life abi.TaskTrial) ledger.Record {
	return ledger.Record{Kind: abi.EventTaskStatusChanged, Payload: &life}
}

// call is the event of a phase of a call of http.fetch.
func (r *room) call(t *testing.T, index int, phase journal.Phase, request, answer string) ledger.Record {
	t.Helper()
	e := &journal.Entry{Index: index, Call: abi.CallHTTPFetch, At: began, Request: journal.Text(request), Answer: journal.Text(answer)}
	refs, err := e.Keep(t.Context(), r.Store.Blobs(), phase)
	if err != nil {
		t.Fatal(err)
	}
	return ledger.Record{Kind: journal.Kind(e.Call, phase, e.Status), Text: e.AppendPayload(nil, phase, refs)}
}

func said(entries []journal.Entry) (list []string) {
	for _, e := range entries {
		list = append(list, fmt.Sprintf("%s %s %v", e.Request, e.Answer, e.Open))
	}
	return list
}

// A record has each call once, with what both its events tell, however many events there are
// and however large what they tell is.
func TestHistory(t *testing.T) {
	r := newRoom(t)
	about := r.task(t, "task_1", nil)
	large := `"` + strings.Repeat("x", journal.MaxInline) + `"`
	want := []string{large + " " + large + " false", "1 2 false"}
	r.tell(t, "task_1", started("p"), r.call(t, 0, journal.Whole, large, large),
		ledger.Record{Kind: abi.EventProgress, Hint: true, Payload: abi.Reason{Reason: "no call"}},
		r.call(t, 1, journal.Intent, "1", ""), r.call(t, 1, journal.Result, "", "2"))
	for i := 2; i < pageOfEvents+2; i++ {
		r.tell(t, "task_1", r.call(t, i, journal.Whole, "3", "4"))
		want = append(want, "3 4 false")
	}
	last := len(want)
	r.tell(t, "task_1", r.call(t, last, journal.Intent, "5", ""))
	want = append(want, "5  true")
	h, err := r.History(t.Context(), roomtest.Tenant, about)
	if err != nil {
		t.Fatal(err)
	}
	if got := said(h.Entries); !slices.Equal(got, want) || h.Program == nil || h.Program.Plugin != "p" || !h.Progress {
		t.Errorf("%d entries of %+v, want %d", len(got), h.Program, len(want))
	}
	for i := range h.Entries {
		if i > 0 && h.Entries[i].EventID == h.Entries[i-1].EventID {
			t.Errorf("calls %d and %d have one event", i-1, i)
		}
	}
}

// What a Task's last start came to follows from what was told after it.
func TestStarts(t *testing.T) {
	alone, lived, drained := trial(abi.TaskTrial{Alone: true}), trial(abi.TaskTrial{Lived: true}), trial(abi.TaskTrial{Drained: true})
	again := ledger.Record{Kind: abi.EventTaskStatusChanged}
	r := newRoom(t)
	a := func(records ...ledger.Record) []ledger.Record {
		return append([]ledger.Record{started("p")}, records...)
	}
	for name, c := range map[string]struct {
		told            []ledger.Record
		progress, alone bool
		last            int // the event of the last start, as a number of told
	}{
		"started":                       {a(), false, false, 0},
		"a call":                        {a(r.call(t, 0, journal.Whole, "1", "2")), true, false, 0},
		"a call, and again":             {a(r.call(t, 0, journal.Whole, "1", "2"), again), false, false, 2},
		"alone":                         {a(again, alone), false, true, 2},
		"alone, and a call":             {a(alone, r.call(t, 0, journal.Whole, "1", "2")), true, true, 1},
		"alone, and lived":              {a(alone, lived), false, false, 1},
		"drained":                       {a(drained), true, false, 0},
		"alone, and drained":            {a(alone, drained), false, false, 1},
		"alone, lived, and drained":     {a(alone, lived, drained), true, false, 1},
		"drained, and then started":     {a(drained, again), false, false, 2},
		"an intent that has no answer":  {a(r.call(t, 0, journal.Intent, "1", "")), true, false, 0},
		"a hint, which says of nothing": {a(ledger.Record{Kind: abi.EventProgress, Hint: true}), false, false, 0},
	} {
		id := "task_" + strings.Map(func(c rune) rune {
			if c < 'a' || c > 'z' {
				return -1
			}
			return c
		}, name)
		about := r.task(t, id, nil)
		r.tell(t, id, c.told...)
		h, err := r.History(t.Context(), roomtest.Tenant, about)
		if err != nil {
			t.Fatal(err)
		}
		events, _, err := r.Store.Events(t.Context(), roomtest.Tenant, desk.Scope{Object: abi.ObjectTask, ID: id}, 0, 100)
		if err != nil {
			t.Fatal(err)
		}
		if h.Progress != c.progress || h.Alone != c.alone || h.LastStart != events[c.last].Position() {
			t.Errorf("%s: progress %v, alone %v, last started at %v; want %v, %v, %v", name, h.Progress, h.Alone, h.LastStart, c.progress, c.alone, events[c.last].Position())
		}
	}
}

// What makes no sense is reported, and nothing of it is left out.
func TestOutOfOrder(t *testing.T) {
	r := newRoom(t)
	one := r.call(t, 0, journal.Whole, "1", "2")
	for name, told := range map[string][]ledger.Record{
		"a call is missing":         {one, r.call(t, 2, journal.Whole, "1", "2")},
		"a call comes twice":        {one, one},
		"an answer to nothing":      {r.call(t, 0, journal.Result, "", "2")},
		"an answer to another call": {one, r.call(t, 1, journal.Intent, "1", ""), r.call(t, 0, journal.Result, "", "2")},
		"a call before the answer":  {r.call(t, 0, journal.Intent, "1", ""), r.call(t, 1, journal.Whole, "1", "2")},
		"no start":                  {{Kind: abi.EventTaskStarted, Text: []byte(`{"program":[]}`)}},
		"no call":                   {{Kind: abi.EventCall, Text: []byte(`{"call":"http.fetch","index":"x"}`)}},
	} {
		id := "task_" + strings.ReplaceAll(name, " ", "")
		about := r.task(t, id, nil)
		r.tell(t, id, told...)
		if h, err := r.History(t.Context(), roomtest.Tenant, about); err == nil {
			t.Errorf("%s: %v", name, said(h.Entries))
		}
	}
}

// A fork has what it shares with its source, over however many generations, and goes on from there.
func TestForks(t *testing.T) {
	r := newRoom(t)
	r.task(t, "task_1", nil)
	r.tell(t, "task_1", started("p"), r.call(t, 0, journal.Whole, "1", "1"), r.call(t, 1, journal.Whole, "2", "2"), r.call(t, 2, journal.Whole, "3", "3"))
	fork := func(id, source string, calls int) *abi.Task {
		return r.task(t, id, func(a *abi.Task) {
			a.Fork, a.StartedAt = &abi.TaskFork{SourceTaskID: source, Calls: calls}, abi.At(began.Add(time.Hour))
		})
	}
	fork("task_2", "task_1", 2)
	r.tell(t, "task_2", r.call(t, 2, journal.Whole, "two", ""))
	third := fork("task_3", "task_2", 3)
	r.tell(t, "task_3", r.call(t, 3, journal.Whole, "three", ""))
	rec, err := r.Of(t.Context(), roomtest.Tenant, third)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := said(rec.Entries), []string{"1 1 false", "2 2 false", "two  false", "three  false"}; !slices.Equal(got, want) {
		t.Errorf("it has %q, want %q", got, want)
	}
	if rec.Program.Plugin != "p" || !strings.Contains(string(rec.Input), `{"of":"task_3"}`) || !strings.Contains(string(rec.Input), `"id":"task_1"`) || !rec.StartedAt.Equal(began) {
		t.Errorf("it runs %s, given %s, since %v", rec.Program.Plugin, rec.Input, rec.StartedAt)
	}
	for name, about := range map[string]*abi.Task{
		"more than there is": fork("task_4", "task_1", 4),
		"less than nothing":  fork("task_5", "task_1", -1),
		"no source":          fork("task_6", "task_none", 0),
		"itself":             fork("task_7", "task_7", 0),
	} {
		if h, err := r.History(t.Context(), roomtest.Tenant, about); err == nil {
			t.Errorf("%s: %v", name, said(h.Entries))
		}
	}
	a := fork("task_a", "task_b", 0)
	fork("task_b", "task_a", 0)
	if _, err := r.History(t.Context(), roomtest.Tenant, a); !ledger.IsUnreadable(err) {
		t.Errorf("a circle of two: %v", err)
	}
}

// A Task is read as it was stored, or not at all.
func TestTask(t *testing.T) {
	r := newRoom(t)
	r.task(t, "task_1", nil)
	if about, err := r.Reader.Task(t.Context(), roomtest.Tenant, "task_1"); err != nil || about.ID != "task_1" || about.Input != nil {
		t.Errorf("%+v, %v", about, err)
	}
	if _, err := r.Reader.Task(t.Context(), roomtest.Tenant, "task_none"); !ledger.IsNotFound(err) {
		t.Errorf("one that is not there: %v", err)
	}
	if _, err := r.Reader.Task(t.Context(), 2, "task_1"); !ledger.IsNotFound(err) {
		t.Errorf("one of another tenant: %v", err)
	}
	for name, state := range map[string]any{"no Task": []int{1}, "of another": &abi.Task{Envelope: abi.NewEnvelope(abi.ObjectTask, "task_other", began, nil)}} {
		id := "task_" + strings.ReplaceAll(name, " ", "")
		r.State(t, roomtest.Workspace, roomtest.Session, abi.EventTaskSubmitted, abi.ObjectTask, id, state)
		if _, err := r.Reader.Task(t.Context(), roomtest.Tenant, id); !ledger.IsUnreadable(err) || !strings.Contains(err.Error(), id) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A plugin is given the input that its Task was submitted with, wherever that is kept, and not
// what is for receipts only.
func TestGiven(t *testing.T) {
	r := newRoom(t)
	const parts = `{"parts":[{"type":"text","text":"open"},{"type":"text","text":"sealed","visibility":"receipt_only"}]}`
	inline := r.task(t, "task_1", func(a *abi.Task) { a.Input = jsontext.Value(parts) })
	r.State(t, roomtest.Workspace, roomtest.Session, abi.EventUserMessage, abi.ObjectMessage, "msg_1", jsontext.Value(parts))
	message := r.task(t, "task_2", func(a *abi.Task) { a.InputMessageID, a.Input = "msg_1", nil })
	for name, c := range map[string]struct {
		about *abi.Task
		whole jsontext.Value
	}{"with the task": {inline, nil}, "a message": {message, nil}, "in memory": {&abi.Task{}, jsontext.Value(parts)}} {
		given, err := r.Given(t.Context(), roomtest.Tenant, c.about, c.whole)
		if err != nil {
			t.Fatal(name, err)
		}
		if told := string(given.Answer([]byte(`{}`), &journal.Program{})); !strings.Contains(told, "open") || strings.Contains(told, "sealed") || len(given.Withheld) != 1 {
			t.Errorf("%s: %s, withheld %+v", name, told, given.Withheld)
		}
	}
	lost := r.task(t, "task_3", func(a *abi.Task) { a.InputMessageID, a.Input = "msg_none", nil })
	if given, err := r.Given(t.Context(), roomtest.Tenant, lost, nil); err == nil {
		t.Errorf("of a message that is not there: %s", given.Input)
	}
}

// A record says how its Task ended, and whether the plugin ended by itself.
func TestEnds(t *testing.T) {
	r := newRoom(t)
	failed := func(code string) func(*abi.Task) {
		return func(a *abi.Task) {
			a.Status, a.CompletedAt, a.Failure = abi.TaskFailed, abi.At(began.Add(time.Minute)), &abi.Failure{Code: code}
		}
	}
	r.State(t, roomtest.Workspace, roomtest.Session, abi.EventOutcomeCreated, abi.ObjectOutcome, "out_1",
		&abi.Outcome{Envelope: abi.NewEnvelope(abi.ObjectOutcome, "out_1", began, nil), Metrics: jsontext.Value(`{"gas":7}`)})
	for name, c := range map[string]struct {
		end     func(*abi.Task)
		stopped bool
	}{
		"trapped":  {failed(abi.FailurePluginTrap), false},
		"late":     {failed(abi.FailureDeadline), true},
		"stuck":    {failed(abi.FailurePluginTimeout), true},
		"killing":  {failed(abi.FailureAttempts), true},
		"unlucky":  {failed(abi.FailureHost), true},
		"diverged": {failed(abi.FailureDivergence), true},
		"slow":     {failed(abi.FailureBudget), true},
		"poor":     {failed("quota_exhausted"), true},
		"canceled": {func(a *abi.Task) { a.Status, a.CanceledAt = abi.TaskCanceled, abi.At(began.Add(time.Minute)) }, true},
		"completed": {func(a *abi.Task) {
			a.Status, a.CompletedAt, a.OutcomeID = abi.TaskCompleted, abi.At(began.Add(time.Minute)), "out_1"
		}, false},
	} {
		about := r.task(t, "task_"+name, c.end)
		r.tell(t, about.ID, started("p"), r.call(t, 0, journal.Whole, "1", "2"), r.call(t, 1, journal.Intent, "3", ""))
		rec, err := r.Of(t.Context(), roomtest.Tenant, about)
		if err != nil {
			t.Fatal(name, err)
		}
		if rec.End == nil || rec.End.Stopped != c.stopped || rec.End.Calls != 1 || rec.End.Status != about.Status || !rec.EndedAt.Equal(began.Add(time.Minute)) ||
			(rec.End.Gas == 7) != (name == "completed") {
			t.Errorf("%s: %+v at %v", name, rec.End, rec.EndedAt)
		}
	}
	runs := r.task(t, "task_runs", nil)
	r.tell(t, runs.ID, started("p"))
	if rec, err := r.Of(t.Context(), roomtest.Tenant, runs); err != nil || rec.End != nil || !rec.EndedAt.IsZero() || !strings.Contains(string(rec.Input), "of p") {
		t.Errorf("one that runs: %+v, %v", rec, err)
	}
}

// noBlobs is a store that has lost its blobs.
type noBlobs struct{ storage.Store }

func (n noBlobs) Blobs() storage.Blobs { return lostBlobs{n.Store.Blobs()} }

type lostBlobs struct{ storage.Blobs }

func (lostBlobs) Open(context.Context, storage.Hash) (storage.Blob, error) {
	return nil, storage.ErrNotFound
}

// A record that is not all there names what is missing.
func TestMissing(t *testing.T) {
	r := newRoom(t)
	never := r.task(t, "task_never", func(a *abi.Task) { a.Status, a.StartedAt = abi.TaskCanceled, abi.Time{} })
	expired := r.task(t, "task_expired", nil)
	r.tell(t, expired.ID, r.call(t, 0, journal.Whole, "1", "2"))
	large := r.task(t, "task_large", nil)
	r.tell(t, large.ID, started("p"), r.call(t, 0, journal.Whole, "1", `"`+strings.Repeat("x", journal.MaxInline)+`"`))
	r.read(noBlobs{r.Store})
	for says, about := range map[string]*abi.Task{"never started": never, "retention": expired, "blob of the record": large} {
		_, err := r.Of(t.Context(), roomtest.Tenant, about)
		failure, ok := errors.AsType[*abi.Failure](err)
		if !ok || failure.Code != abi.FailureReplayMissing || !strings.Contains(failure.Message, says) {
			t.Errorf("%s: %v, want one that says %q", about.ID, err, says)
		}
	}
}
