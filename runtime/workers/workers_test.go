package workers_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/internal/roomtest"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/personas"
	"github.com/wharf-dev/wharf/runtime/workers"
	"github.com/wharf-dev/wharf/storage"
	"github.com/wharf-dev/wharf/storage/memory"
)

const elsewhere = "sess_elsewhere"

// room is a keeper by itself, which tells when the test has it tell.
type room struct {
	*roomtest.House
	*workers.Keeper
	t     testing.TB
	tasks map[string]*abi.Task // what is durable of them
	seq   map[string]uint64
	clock time.Time
	works []func() // what the node does by itself, and has not begun yet
	reads int      // how many Tasks may be read before the node dies; negative: any number
}

func newRoom(t testing.TB) *room {
	r := &room{House: roomtest.New(t, memory.New(time.Now)), t: t, tasks: map[string]*abi.Task{}, seq: map[string]uint64{},
		clock: time.Now(), reads: -1}
	r.NewSession(t, elsewhere, roomtest.Workspace)
	r.furnish()
	return r
}

func (r *room) furnish() {
	r.works, r.reads = nil, -1
	r.Now = func() time.Time { return r.clock }
	r.Keeper = workers.NewKeeper(workers.Parts{Parts: r.Parts, Task: r.task, Persona: persona, Go: func(do func()) { r.works = append(r.works, do) }})
}

var errDied = errors.New("the node has died")

func (r *room) task(_ context.Context, _ storage.Tenant, id string) (*abi.Task, error) {
	if r.reads == 0 {
		panic(errDied)
	}
	r.reads--
	task := r.tasks[id]
	if task == nil {
		if _, err := r.Ledger.Find(context.Background(), roomtest.Tenant, abi.ObjectTask, id); err != nil {
			return nil, err
		}
		return nil, errors.New("it is lost")
	}
	return new(*task), nil
}

// persona returns Scout, who may do all, Reader, who may change nothing, and none of any other name.
func persona(_ context.Context, _ storage.Tenant, id string) (*personas.Persona, error) {
	switch id {
	case "persona_scout":
		return &personas.Persona{Persona: abi.Persona{Name: "Scout", AutonomyTier: abi.TierActAuto}}, nil
	case "persona_reader":
		return &personas.Persona{Persona: abi.Persona{Name: "Reader", AutonomyTier: abi.TierSuggest}}, nil
	}
	return nil, errors.New("it is gone")
}

// crash ends the node and begins another one over the same disk.
func (r *room) crash() {
	r.Crash()
	r.furnish()
	if err := r.Start(context.Background()); err != nil {
		r.t.Fatal(err)
	}
}

// settle has everything told that is pending. It reports whether the node lives.
func (r *room) settle() (lives bool) {
	defer func() {
		if died := recover(); died != nil && died != any(errDied) {
			panic(died)
		} else if died != nil {
			r.crash()
		}
	}()
	for len(r.works) > 0 {
		do := r.works[0]
		r.works = r.works[1:]
		do()
	}
	return true
}

// parent makes a Task without a parent of its own.
func (r *room) parent(id string) *abi.Task {
	p := &abi.Task{Envelope: abi.NewEnvelope(abi.ObjectTask, id, r.clock, nil), WorkspaceID: roomtest.Workspace, SessionID: roomtest.Session, PersonaID: "persona_scout", Status: abi.TaskWorking}
	r.state(abi.EventTaskSubmitted, p)
	return p
}

// child makes a Task that works for another.
func (r *room) child(id, parent string, shape func(*abi.Task)) *abi.Task {
	c := &abi.Task{Envelope: abi.NewEnvelope(abi.ObjectTask, id, r.clock, nil), WorkspaceID: roomtest.Workspace, SessionID: roomtest.Session, PersonaID: "persona_scout",
		ParentTaskID: parent, Status: abi.TaskSubmitted, Input: jsontext.Value(`{"role":"user","parts":[{"type":"text","text":"Look"}]}`)}
	if shape != nil {
		shape(c)
	}
	r.state(abi.EventTaskSubmitted, c)
	return c
}

// state writes what a Task is now, as the engine does.
func (r *room) state(kind abi.EventKind, task *abi.Task, beside ...ledger.Record) {
	r.t.Helper()
	before := r.tasks[task.ID]
	rec := ledger.Record{Kind: kind, Object: abi.ObjectTask, ID: task.ID, Created: before == nil, Sequence: r.seq[task.ID], State: task}
	if before == nil {
		workers.Accepted(&rec, task)
	} else {
		rec.Intake = workers.Due(before, task)
	}
	records, err := ledger.Encode(append(beside, rec)...)
	if err != nil {
		r.t.Fatal(err)
	}
	b := ledger.Batch(storage.Frame{Tenant: roomtest.Tenant, WorkspaceID: task.WorkspaceID, SessionID: task.SessionID, TaskID: task.ID, Actor: desk.HostActor,
		Time: r.clock, Records: records}, nil, 0, 0)
	commit := r.Ledger.Append(b)
	if _, err := commit.Wait(context.Background()); err != nil {
		r.t.Fatal(err)
	}
	r.tasks[task.ID] = new(*task)
	r.seq[task.ID]++
	r.Noted(roomtest.Tenant, task, records, commit)
}

// waits has a Task wait in one of the ways there are.
func (r *room) waits(c *abi.Task, how string) {
	c.Status, c.Waiting = abi.TaskWorking, &abi.Waiting{Call: abi.CallSleep}
	switch how {
	case "input":
		c.Status, c.Waiting = abi.TaskInputRequired, &abi.Waiting{Call: abi.CallInputRequest}
	case "auth":
		c.Status, c.Waiting = abi.TaskAuthRequired, &abi.Waiting{Call: abi.CallAuthRequest}
	case "inbox":
		c.Waiting.Call = abi.CallInboxTake
	}
	r.state(abi.EventTaskStatusChanged, c)
}

// goesOn ends a Task's wait.
func (r *room) goesOn(c *abi.Task) {
	c.Status, c.Waiting = abi.TaskWorking, nil
	r.state(abi.EventTaskStatusChanged, c)
}

// ends ends a Task in one of the ways there are.
func (r *room) ends(c *abi.Task, how string) {
	c.Waiting = nil
	var beside []ledger.Record
	switch how {
	case "failed":
		c.Status, c.Failure = abi.TaskFailed, &abi.Failure{Code: "lost", Message: "no way"}
	case "cancelled":
		c.Status = abi.TaskCanceled
	default:
		c.Status, c.OutcomeID = abi.TaskCompleted, strings.Replace(c.ID, "task_", "out_", 1)
		o := &abi.Outcome{Envelope: abi.NewEnvelope(abi.ObjectOutcome, c.OutcomeID, r.clock, nil), TaskID: c.ID, Status: abi.OutcomeSucceeded}
		if how == "stopped" {
			o.Stopped, o.Handoff = true, jsontext.Value(`{"next":["b"]}`)
		}
		beside = []ledger.Record{{Kind: abi.EventOutcomeCreated, Object: abi.ObjectOutcome, ID: c.OutcomeID, Created: true, State: o}}
	}
	r.state(abi.EventTaskStatusChanged, c, beside...)
}

// told returns what a Task is told of its children, by steps that last and by ticks that may be lost.
func (r *room) told(parent string) (steps, ticks []abi.Worker) {
	r.t.Helper()
	events, more, err := r.Desk.Events(context.Background(), r.Root(), desk.Filter{SessionID: roomtest.Session}, 0, 1000)
	if err != nil || more {
		r.t.Fatal(err, more)
	}
	ended, next := map[string]bool{}, map[string]uint64{}
	for _, ev := range events {
		rec := ev.Record()
		if rec.Kind != abi.EventWorker || ev.Frame.TaskID != parent {
			continue
		}
		var w abi.Worker
		if err := json.Unmarshal(rec.Payload, &w); err != nil {
			r.t.Fatal(err)
		}
		if ended[w.WorkerID] || rec.Sequence != next[w.WorkerID] {
			r.t.Fatalf("%s of %s comes as number %d, want %d, and it has ended: %v", w.Event, w.WorkerID, rec.Sequence, next[w.WorkerID], ended[w.WorkerID])
		}
		ended[w.WorkerID] = w.Terminal
		next[w.WorkerID]++
		if rec.Hint {
			ticks = append(ticks, w)
		} else {
			steps = append(steps, w)
		}
	}
	return steps, ticks
}

// lives says what is told of the children of a Task, in order.
func (r *room) lives(parent string) (all []string) {
	steps, _ := r.told(parent)
	for _, w := range steps {
		all = append(all, w.WorkerID+" "+strings.TrimPrefix(string(w.Event), "Worker"))
	}
	return all
}

// Each step is told as what it is, with what is known of the child.
func TestSteps(t *testing.T) {
	for how, want := range map[string]string{
		"completed": "Spawned running, WaitingForInput awaiting_input, Progressed progressed, Spawned running, Completed completed",
		"failed":    "Spawned running, WaitingForInput awaiting_input, Progressed progressed, Spawned running, Failed failed",
		"stopped":   "Spawned running, WaitingForInput awaiting_input, Progressed progressed, Spawned running, Stopped stopped",
		"cancelled": "Spawned running, WaitingForInput awaiting_input, Progressed progressed, Spawned running, Cancelled cancelled",
	} {
		for _, waits := range []string{"input", "auth", "inbox"} {
			r := newRoom(t)
			r.parent("task_p")
			c := r.child("task_c", "task_p", func(c *abi.Task) { c.SessionID = elsewhere })
			r.waits(c, "sleep") // nobody is told of that
			r.goesOn(c)
			r.waits(c, waits)
			r.goesOn(c)
			r.ends(c, how)
			r.settle()
			steps, _ := r.told("task_p")
			var got []string
			for _, w := range steps {
				got = append(got, strings.TrimPrefix(string(w.Event), "Worker")+" "+string(w.Status))
				if w.WorkerID != c.ID || w.WorkerName != "Scout" || w.WorkerTask != "Look" || w.WorkerMode != abi.WorkerSubAgent || w.Metadata.ChildRunID != c.ID ||
					(w.Metadata.FinishedAt != nil) != w.Terminal || (w.Metadata.AwaitingStartedAt != nil) != (w.Event == abi.WorkerWaitingForInput) ||
					(w.Metadata.Error != nil) != (how == "failed" && w.Terminal) || (len(w.Metadata.Handoff) > 0) != (how == "stopped" && w.Terminal) {
					t.Errorf("%s: %+v", how, w)
				}
				if a := w.Audit; a == nil || a.WorkerID != c.ID || a.ParentSessionID != roomtest.Session || a.SessionID != elsewhere {
					t.Errorf("%s: %+v", how, a)
				}
			}
			if strings.Join(got, ", ") != want {
				t.Errorf("%s after %s: %s, want %s", how, waits, strings.Join(got, ", "), want)
			}
			if kinds := r.Kinds(t, desk.Filter{TaskID: c.ID}); slices.Contains(kinds, abi.EventWorker) {
				t.Error("the child is told of itself")
			}
		}
	}
}

// Of what cannot be read of a child nothing is told, and the rest is.
func TestLittleIsKnown(t *testing.T) {
	r := newRoom(t)
	r.parent("task_gone")
	delete(r.tasks, "task_gone") // it cannot be read any more
	c := r.child("task_c", "task_gone", func(c *abi.Task) {
		c.PersonaID, c.Input = "persona_gone", jsontext.Value(`{"role":"user","parts":[{"type":"text","text":"Open"},{"type":"text","text":"hush","visibility":"internal"}]}`)
	})
	reads := r.child("task_r", "task_gone", func(c *abi.Task) { c.PersonaID = "persona_reader" })
	c.Status, c.OutcomeID = abi.TaskCompleted, "out_lost"
	r.state(abi.EventTaskStatusChanged, c)
	r.settle()
	if got := r.lives("task_gone"); !slices.Equal(got, []string{"task_c Spawned", "task_r Spawned", "task_c Completed"}) {
		t.Fatal(got)
	}
	steps, _ := r.told("task_gone")
	if w := steps[0]; w.WorkerName != "persona_gone" || w.WorkerTask != "Open" || w.Internal == nil || w.Internal.Text != "Open\nhush" || w.Audit != nil || w.WorkerMode != abi.WorkerDelegatedStage {
		t.Errorf("%+v, %+v", w, w.Internal)
	}
	if w := steps[1]; w.WorkerID != reads.ID || w.WorkerName != "Reader" || w.Audit != nil || w.Internal != nil {
		t.Errorf("one that can change nothing: %+v", w)
	}
}

// A fork, a replay and a Task without a parent are nobody's workers.
func TestNobodysWorkers(t *testing.T) {
	r := newRoom(t)
	r.parent("task_p")
	for id, shape := range map[string]func(*abi.Task){
		"task_fork":   func(c *abi.Task) { c.Fork = &abi.TaskFork{} },
		"task_replay": func(c *abi.Task) { c.Replay = &abi.TaskReplay{} },
		"task_alone":  func(c *abi.Task) { c.ParentTaskID = "" },
	} {
		c := r.child(id, "task_p", shape)
		r.waits(c, "input")
		r.Tick(roomtest.Tenant, c)
		r.ends(c, "completed")
	}
	if len(r.works) != 0 {
		t.Error("there is something to tell")
	}
	r.settle()
	if got := r.lives("task_p"); len(got) != 0 {
		t.Error(got)
	}
}

// How far a child is is told at most once a second, and not after it has ended.
func TestTicks(t *testing.T) {
	r := newRoom(t)
	r.parent("task_p")
	c := r.child("task_c", "task_p", nil)
	tick := func(after time.Duration, want int) {
		t.Helper()
		r.clock = r.clock.Add(after)
		r.Tick(roomtest.Tenant, c)
		r.settle()
		if _, ticks := r.told("task_p"); len(ticks) != want {
			t.Errorf("%d ticks, want %d", len(ticks), want)
		}
	}
	tick(0, 1)
	tick(999*time.Millisecond, 1)
	tick(time.Millisecond, 2)
	r.clock = r.clock.Add(time.Second)
	r.Tick(roomtest.Tenant, c)
	r.ends(c, "completed") // before it was told
	r.settle()
	tick(time.Second, 2)
	if got := r.lives("task_p"); !slices.Equal(got, []string{"task_c Spawned", "task_c Completed"}) {
		t.Error(got)
	}
}

// machine does things in any order, beside a plain list of what each parent is to be told.
type machine struct {
	r        *room
	parents  []*abi.Task
	children []*abi.Task
	want     map[string][]string
}

func (m *machine) expect(c *abi.Task, steps ...string) {
	for _, s := range steps {
		m.want[c.ParentTaskID] = append(m.want[c.ParentTaskID], c.ID+" "+s)
	}
}

func (m *machine) spawn(t *rapid.T) {
	p := rapid.SampledFrom(m.parents).Draw(t, "parent")
	session := rapid.SampledFrom([]string{roomtest.Session, elsewhere}).Draw(t, "session")
	c := m.r.child(fmt.Sprintf("task_c%d", len(m.children)), p.ID, func(c *abi.Task) { c.SessionID = session })
	m.children = append(m.children, c)
	m.expect(c, "Spawned")
}

// one draws a child that has not ended.
func (m *machine) one(t *rapid.T) *abi.Task {
	var live []*abi.Task
	for _, c := range m.children {
		if !c.Status.Terminal() {
			live = append(live, c)
		}
	}
	if len(live) == 0 {
		t.Skip("nobody works")
	}
	return rapid.SampledFrom(live).Draw(t, "child")
}

func awaits(c *abi.Task) bool { return c.Waiting != nil && c.Waiting.Call != abi.CallSleep }

func (m *machine) waits(t *rapid.T) {
	c, how := m.one(t), rapid.SampledFrom([]string{"input", "auth", "inbox", "sleep"}).Draw(t, "how")
	if c.Waiting != nil {
		t.Skip("it waits")
	}
	m.r.waits(c, how)
	if how != "sleep" {
		m.expect(c, "WaitingForInput")
	}
}

func (m *machine) goesOn(t *rapid.T) {
	c := m.one(t)
	if c.Waiting == nil {
		t.Skip("it does not wait")
	}
	if awaits(c) {
		m.expect(c, "Progressed", "Spawned")
	}
	m.r.goesOn(c)
}

func (m *machine) ends(t *rapid.T) {
	c, how := m.one(t), rapid.SampledFrom([]string{"completed", "failed", "stopped", "cancelled"}).Draw(t, "how")
	m.r.ends(c, how)
	m.expect(c, strings.ToUpper(how[:1])+how[1:])
}

func (m *machine) parentEnds(t *rapid.T) {
	p := rapid.SampledFrom(m.parents).Draw(t, "parent")
	if p.Status.Terminal() {
		t.Skip("it has ended")
	}
	m.r.ends(p, rapid.SampledFrom([]string{"completed", "failed", "cancelled"}).Draw(t, "how"))
}

func (m *machine) tick(t *rapid.T) {
	m.r.Tick(roomtest.Tenant, m.one(t))
	m.r.clock = m.r.clock.Add(rapid.SampledFrom([]time.Duration{0, time.Second}).Draw(t, "after"))
}

func (m *machine) settle(*rapid.T) { m.r.settle() }

func (m *machine) crash(*rapid.T) { m.r.crash() }

// dies has the node die in the middle of what it tells.
func (m *machine) dies(t *rapid.T) {
	m.r.reads = rapid.IntRange(0, 8).Draw(t, "reads")
	m.r.settle()
	m.r.reads = -1
}

// check holds what was told against the list: it is the list's beginning.
func (m *machine) check(t *rapid.T) {
	for _, p := range m.parents {
		got, want := m.r.lives(p.ID), m.want[p.ID]
		if len(got) > len(want) || !slices.Equal(got, want[:len(got)]) {
			t.Fatalf("%s is told %v, want %v", p.ID, got, want)
		}
	}
}

// Whatever children do in whatever order, and whenever the node dies, their parents are told each step once
// and in order, and nothing after the last.
func TestParentsAreToldOfEachStep(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := &machine{r: newRoom(t), want: map[string][]string{}}
		for i := range 20 { // more than there are lists: some share one
			m.parents = append(m.parents, m.r.parent(fmt.Sprintf("task_p%d", i)))
		}
		rt.Repeat(map[string]func(*rapid.T){"spawn": m.spawn, "waits": m.waits, "goes on": m.goesOn, "ends": m.ends, "parent ends": m.parentEnds,
			"tick": m.tick, "settle": m.settle, "crash": m.crash, "dies": m.dies, "": m.check})
		m.r.settle()
		for _, p := range m.parents {
			if got, want := m.r.lives(p.ID), m.want[p.ID]; !slices.Equal(got, want) {
				rt.Fatalf("in the end %s is told %v, want %v", p.ID, got, want)
			}
		}
	})
}

// What a child does after its parent was erased is not told as the parent's, and does not stay pending: whether the
// parent is gone when it is looked for or goes right after.
func TestErasedParents(t *testing.T) {
	for when, seen := range map[string]bool{"before": false, "meanwhile": true} {
		t.Run(when, func(t *testing.T) {
			r := newRoom(t)
			p, other := r.parent("task_p"), r.parent("task_other")
			c, beside := r.child("task_c", p.ID, nil), r.child("task_b", other.ID, nil)
			r.settle()
			p.Status = abi.TaskCompleted
			r.state(abi.EventTaskCompleted, p)
			if _, _, err := r.Ledger.Commit(storage.Frame{Tenant: roomtest.Tenant, WorkspaceID: roomtest.Workspace}, nil, 0, ledger.Record{
				Kind: abi.EventTaskErased, Object: abi.ObjectTask, ID: p.ID, Erase: &storage.Erasure{Session: roomtest.Session}}); err != nil {
				t.Fatal(err)
			}
			if !seen {
				delete(r.tasks, p.ID)
			}
			r.Tick(roomtest.Tenant, c)
			r.settle()
			r.waits(c, "input")
			r.goesOn(c)
			r.ends(c, "completed")
			r.ends(beside, "completed")
			r.settle()
			if got := r.lives(p.ID); len(got) > 0 {
				t.Errorf("who is gone is told %q", got)
			}
			if got := r.lives(other.ID); !slices.Equal(got, []string{"task_b Spawned", "task_b Completed"}) {
				t.Errorf("the other is told %q", got)
			}
			if err := r.Store.Backlogs(t.Context(), func(_ storage.Tenant, list string, pending int, _ []byte) error {
				if pending > 0 {
					t.Errorf("%d are left in %s", pending, list)
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		})
	}
}
