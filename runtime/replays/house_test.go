package replays

import (
	"bytes"
	"context"
	"log/slog"
	"slices"
	"testing"
	"time"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/artifacts"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/internal/roomtest"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/personas"
	"github.com/wharf-dev/wharf/runtime/proofs"
	"github.com/wharf-dev/wharf/runtime/receipt"
	"github.com/wharf-dev/wharf/runtime/records"
	"github.com/wharf-dev/wharf/runtime/replay"
	"github.com/wharf-dev/wharf/runtime/sandbox"
	"github.com/wharf-dev/wharf/runtime/sessions"
	"github.com/wharf-dev/wharf/storage"
	"github.com/wharf-dev/wharf/storage/memory"
)

// session is one of the house's Workspace.
const session = "sess_test"

var began = time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)

// guest is a plugin written in Go: it speaks to the host as a module would.
type guest func(ctx context.Context, h sandbox.Host) error

func (guest) HasExport(name string) bool { return name == abi.DefaultExport }

func (g guest) Run(ctx context.Context, _ string, h sandbox.Host, _ sandbox.Limits) (sandbox.Usage, error) {
	return sandbox.Usage{Gas: 7}, g(ctx, h)
}

// room is a keeper by itself: what accepts and runs Tasks, and what is known of how they ran, is
// played by the test.
type room struct {
	*roomtest.House
	*Keeper
	plugin   guest  // what every module is
	lost     *lossy // what it reads records from
	logged   bytes.Buffer
	limits   journal.Limits // of the programs of Tasks that run
	accepted []*Derived
	held     int // receipts that somebody holds
	gas      uint64
}

func newRoom(t *testing.T) *room {
	t.Helper()
	r := &room{House: roomtest.New(t, memory.New(time.Now))}
	r.NewSession(t, session, roomtest.Workspace)
	r.furnish()
	return r
}

func (r *room) furnish() {
	persona := func(context.Context, storage.Tenant, string, string) (*personas.Persona, error) {
		return &personas.Persona{}, nil
	}
	personaAt := func(context.Context, storage.Tenant, string, string) (*personas.Persona, error) {
		return &personas.Persona{Text: []byte(`{}`)}, nil
	}
	r.Parts.Log = slog.New(slog.NewTextHandler(&r.logged, nil))
	read := r.Parts
	r.lost = &lossy{Store: r.Store, starts: map[string]bool{}}
	read.Store = r.lost
	r.Keeper = NewKeeper(Parts{Parts: r.Parts, Records: records.NewReader(records.Parts{Parts: read, PersonaAt: personaAt}), PersonaAt: personaAt,
		Sessions:  sessions.NewKeeper(sessions.Parts{Parts: r.Parts, PersonaIn: persona}),
		Artifacts: artifacts.NewKeeper(artifacts.Parts{Parts: r.Parts, DefaultWorkspaceOf: func(*desk.Caller) string { return roomtest.Workspace }}),
		Receipts:  r, Submit: r.submit, Controls: func(*desk.Caller, string) error { return nil }, Limits: func(string) sandbox.Limits { return sandbox.DefaultLimits() },
		Module: func(context.Context, string) (replay.Module, error) {
			if r.plugin == nil {
				return nil, &abi.Failure{Code: abi.FailurePluginMissing, Message: "there is no such plugin"}
			}
			return r.plugin, nil
		},
		Used: func(gas uint64) { r.gas += gas }})
}

// lossy is a store that has lost some of what records are read from: those starts, or all blobs.
type lossy struct {
	storage.Store
	starts map[string]bool // of Tasks
	blobs  bool
}

func (l *lossy) Events(ctx context.Context, t storage.Tenant, scope storage.Scope, after storage.Position, limit int) ([]storage.Event, bool, error) {
	page, more, err := l.Store.Events(ctx, t, scope, after, limit)
	page = slices.DeleteFunc(page, func(ev storage.Event) bool {
		return ev.Record().Kind == abi.EventTaskStarted && l.starts[ev.Frame.TaskID]
	})
	return page, more, err
}

func (l *lossy) Blobs() storage.Blobs { return lossyBlobs{l.Store.Blobs(), l} }

type lossyBlobs struct {
	storage.Blobs
	of *lossy
}

func (b lossyBlobs) Open(ctx context.Context, h storage.Hash) (storage.Blob, error) {
	if b.of.blobs {
		return nil, storage.ErrNotFound
	}
	return b.Blobs.Open(ctx, h)
}

// ReceiptOfReplay implements [Receipts].
func (r *room) ReceiptOfReplay(_ context.Context, _ storage.Tenant, about *abi.TaskReplay, source *abi.Task, _ *journal.Record, applied []replay.Replacement) (*proofs.Replayed, error) {
	made := &proofs.Replayed{Replay: receipt.Replay{ID: about.ReplayID, SourceTaskID: source.ID, Mode: about.Mode}}
	for _, by := range applied {
		made.Deltas = append(made.Deltas, by.Delta)
	}
	return made, nil
}

// HoldReceipt implements [Receipts].
func (r *room) HoldReceipt(storage.Tenant, *proofs.Replayed) (unlock func(), err error) {
	r.held++
	return func() { r.held-- }, nil
}

// submit accepts what describe returns.
func (r *room) submit(_ context.Context, c *desk.Caller, _ *desk.Retry, sessionID string, describe func() (*Derived, error)) (desk.Doc, error) {
	d, err := describe()
	if err != nil {
		return desk.Doc{}, err
	}
	about := *d.Task
	about.Status, about.Input = abi.TaskSubmitted, d.Input
	doc, err := r.Desk.Commit(c, sessionID, about.WorkspaceID, nil, 0,
		ledger.Record{Kind: abi.EventTaskSubmitted, Object: abi.ObjectTask, ID: about.ID, Created: true, State: &about})
	if err == nil {
		r.accepted = append(r.accepted, d)
	}
	return doc, err
}

// step is a call and how it was answered.
type step struct{ call, request, answer string }

const (
	hello  = `{"role":"assistant","parts":[{"type":"text","text":"hello"}]}`
	output = `{"summary":"said"}`
)

// talk asks the time, asks a model, says what it says, and gives an output.
var talk = []step{
	{abi.CallClock, `{"call_id":"begun"}`, `{"unix_nano":"1"}`},
	{abi.CallLLMComplete, `{"call_id":"main:1","messages":[]}`, `{"text":"yes","stop_reason":"end"}`},
	{abi.CallMessageAppend, hello, `{}`},
	{abi.CallOutput, output, `{}`},
}

// making returns a guest that makes the calls of steps.
func making(steps ...step) guest {
	return func(ctx context.Context, h sandbox.Host) error {
		for _, s := range steps {
			if _, _, err := h.Call(ctx, s.call, []byte(s.request)); err != nil {
				return err
			}
		}
		return nil
	}
}

// ran has the log know of a Task that made the calls of steps and completed, unless change
// says otherwise.
func (r *room) ran(t *testing.T, id string, change func(*abi.Task), steps ...step) {
	t.Helper()
	program := &journal.Program{Plugin: "p", Module: journal.HashOf([]byte("m")), Export: abi.DefaultExport, ABI: abi.ABIVersion,
		Persona: journal.HashOf(nil), Seed: []byte("0123456789abcdef"), Limits: r.limits}
	about := &abi.Task{Envelope: abi.NewEnvelope(abi.ObjectTask, id, began, nil), SessionID: session, WorkspaceID: roomtest.Workspace,
		PersonaID: roomtest.Persona, Input: jsontext.Value(`{}`), Status: abi.TaskCompleted, StartedAt: began, CompletedAt: began.Add(time.Minute),
		Module: program.Module}
	if change != nil {
		change(about)
	}
	r.State(t, roomtest.Workspace, session, abi.EventTaskSubmitted, abi.ObjectTask, id, about)
	if about.StartedAt.IsZero() {
		return
	}
	told := []ledger.Record{{Kind: abi.EventTaskStarted, Object: abi.ObjectTask, ID: id, Payload: records.Started(program)}}
	var keys journal.Keys
	for i, s := range steps {
		def, _ := abi.LookupHostCall(s.call)
		entry := &journal.Entry{Index: i, Call: s.call, Key: keys.Next(&def, []byte(s.request)), At: began.Add(time.Second),
			Request: journal.Canonical(s.call, []byte(s.request)), Answer: journal.Text(s.answer)}
		refs, err := entry.Keep(t.Context(), r.Store.Blobs(), journal.Whole)
		if err != nil {
			t.Fatal(err)
		}
		rec := &ledger.Record{Kind: abi.EventCall, Object: abi.ObjectTask, ID: id}
		if s.call == abi.CallMessageAppend { // the Message stands for request and answer
			if rec, err = (&underWay{keeper: r.Keeper, about: about}).madeRecord(replay.Made{Call: s.call, ID: "msg_" + id, Request: []byte(s.request)}); err != nil {
				t.Fatal(err)
			}
		}
		rec.Text = entry.AppendPayload(nil, journal.Whole, refs)
		told = append(told, *rec)
	}
	l := &life{room: r, about: about, seq: 1}
	if err := l.Tell(told); err != nil {
		t.Fatal(err)
	}
}

// record returns the record of a Task.
func (r *room) record(t *testing.T, id string) *journal.Record {
	t.Helper()
	about, err := r.parts.Records.Task(t.Context(), roomtest.Tenant, id)
	if err != nil {
		t.Fatal(err)
	}
	rec, err := r.parts.Records.Of(t.Context(), roomtest.Tenant, about)
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

// replay has a replay accepted and returns it as it is when it runs first.
func (r *room) replay(t *testing.T, id string, req abi.ReplayTaskRequest) *life {
	t.Helper()
	if _, err := r.ReplayTask(t.Context(), r.Root(), nil, id, req); err != nil {
		t.Fatal(err)
	}
	return &life{room: r, about: r.accepted[len(r.accepted)-1].Task, first: true, seq: 1}
}

// life is a start of a replay Task.
type life struct {
	room  *room
	about *abi.Task
	first bool
	seq   uint64

	ended   bool  // from outside
	stopped bool  // so is the run
	batches []int // how many events were told at once
	end     *Ending
	held    int // receipts that were held when it ended
}

func (l *life) Tenant() storage.Tenant       { return roomtest.Tenant }
func (l *life) About() *abi.Task             { return l.about }
func (l *life) First() bool                  { return l.first }
func (l *life) Stopped(context.Context) bool { return l.stopped }
func (l *life) End(e *Ending)                { l.end, l.held = e, l.room.held }

func (l *life) Tell(records []ledger.Record) error {
	if l.ended {
		return ErrEnded
	}
	l.batches = append(l.batches, len(records))
	for i := range records {
		records[i].Sequence = l.seq
		l.seq++
	}
	encoded, err := ledger.Encode(records...)
	if err != nil {
		return err
	}
	_, err = l.room.Ledger.Append(&storage.Batch{Frame: storage.Frame{Tenant: l.Tenant(), Time: began, WorkspaceID: l.about.WorkspaceID,
		SessionID: l.about.SessionID, TaskID: l.about.ID, Actor: desk.HostActor, Records: encoded}}).Wait(context.Background())
	return err
}

// again is the next start of the same replay.
func (l *life) again() *life { return &life{room: l.room, about: l.about, seq: l.seq} }

// told returns the kinds of all that was told of the replay, on disk and with its end, and the
// calls among it.
func (l *life) told(t *testing.T) (kinds []abi.EventKind, calls []int, marks []abi.ReplayMarks) {
	t.Helper()
	note := func(kind abi.EventKind, payload []byte) {
		kinds = append(kinds, kind)
		if kind != abi.EventReplayEventReplayed {
			return
		}
		var p struct {
			Replay abi.ReplayMarks `json:"replay"`
			Index  int             `json:"replayed_index"`
		}
		if err := json.Unmarshal(payload, &p); err != nil {
			t.Fatal(err)
		}
		calls, marks = append(calls, p.Index), append(marks, p.Replay)
	}
	for after, more := desk.Position(0), true; more; {
		var page []storage.Event
		var err error
		page, more, err = l.room.Store.Events(t.Context(), l.Tenant(), desk.Scope{Object: abi.ObjectTask, ID: l.about.ID}, after, 1000)
		if err != nil {
			t.Fatal(err)
		}
		for _, ev := range page {
			after = ev.Position()
			note(ev.Record().Kind, ev.Record().Payload)
		}
	}
	if l.end != nil {
		for _, rec := range l.end.Records {
			note(rec.Kind, rec.Text)
		}
	}
	return kinds, calls, marks
}

// outcome is the Outcome that an ending makes.
func (l *life) outcome(status abi.OutcomeStatus) *abi.Outcome {
	o := &abi.Outcome{Status: status}
	l.end.Outcome(o)
	return o
}

func upTo(from, to int) (list []int) {
	for i := from; i < to; i++ {
		list = append(list, i)
	}
	return list
}

func count(kinds []abi.EventKind, kind abi.EventKind) (n int) {
	for _, k := range kinds {
		if k == kind {
			n++
		}
	}
	return n
}
