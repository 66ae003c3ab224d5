package deletion_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/deletion"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/internal/roomtest"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/storage"
	"github.com/wharf-dev/wharf/storage/memory"
	"github.com/wharf-dev/wharf/storage/pebble"
	"github.com/wharf-dev/wharf/storage/pebble/crashtest"
)

const day = 24 * time.Hour

// onDisk is the real store on a disk in memory.
type onDisk struct {
	*pebble.Store
	t    testing.TB
	disk *crashtest.Disk
}

func (d onDisk) Reopen() onDisk {
	s, err := d.disk.Open()
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { _ = s.Close() })
	return onDisk{s, d.t, d.disk}
}

// room is a keeper by itself.
type room struct {
	*deletion.Keeper
	*roomtest.House
	t     *testing.T
	store *faulty
	clock time.Time
	live  map[string]bool   // the Tasks that the engine has in hand
	asked func(task string) // called when it is looked whether the engine has a Task in hand; nil for nothing
	next  int
}

// faulty is a store that can be told what of it is damaged, and that counts what is erased at once.
type faulty struct {
	storage.Store
	storage.Eraser
	damaged string     // a batch that erases this Task fails, as what it has is damaged
	limit   int        // how many Tasks one batch erases at most, 0 for any number
	erased  [][]string // the Tasks of each batch that was taken
	after   func(batches int)
}

type refused struct{ error }

func (r refused) Wait(context.Context) (storage.Position, error) { return 0, r.error }

func (f *faulty) Append(b *storage.Batch) storage.Commit {
	var tasks []string
	for i := range b.Frame.Records {
		if r := &b.Frame.Records[i]; r.Erase != nil && r.Resource.Object == abi.ObjectTask {
			tasks = append(tasks, r.Resource.ID)
		}
	}
	if len(tasks) == 0 {
		return f.Store.Append(b)
	}
	if f.damaged != "" && slices.Contains(tasks, f.damaged) {
		return refused{fmt.Errorf("erasing %s: %w", f.damaged, storage.ErrDamaged)}
	}
	if f.limit > 0 && len(tasks) > f.limit {
		return refused{storage.ErrTooLarge}
	}
	c := f.Store.Append(b)
	if _, err := c.Wait(context.Background()); err == nil {
		f.erased = append(f.erased, tasks)
		if f.after != nil {
			f.after(len(f.erased))
		}
	}
	return c
}

// rooms runs a test over each engine.
func rooms(t *testing.T, test func(*testing.T, *room)) {
	t.Run("memory", func(t *testing.T) { test(t, newRoom(t, memory.New(time.Now))) })
	t.Run("pebble", func(t *testing.T) {
		r := newRoom(t, onDisk{t: t, disk: crashtest.NewDisk()}.Reopen())
		test(t, r)
		r.wantSound()
	})
}

func newRoom[S interface {
	storage.Store
	storage.Eraser
	Reopen() S
}](t *testing.T, store S) *room {
	r := &room{t: t, House: roomtest.New(t, store), store: &faulty{Store: store, Eraser: store}, clock: time.Now(), live: map[string]bool{}}
	r.Parts.Store, r.Parts.Now = r.store, func() time.Time { return r.clock }
	r.Parts.Ledger = ledger.New(ledger.Config{Store: r.store, Now: r.Parts.Now, Log: r.Parts.Log, IdleSessions: 10, KeepKeys: time.Hour})
	r.Parts.Desk = desk.New(r.store, r.Parts.Ledger, r.Parts.Now, nil)
	r.furnish()
	return r
}

func (r *room) furnish() {
	r.Keeper = deletion.NewKeeper(deletion.Parts{Parts: r.Parts,
		Live: func(k ledger.Key) (string, abi.TaskStatus, bool) {
			if r.asked != nil {
				r.asked(k.ID)
			}
			return roomtest.Workspace, abi.TaskWorking, r.live[k.ID]
		},
		DropSession: r.drop,
		Tenants: func() []*abi.Tenant {
			return []*abi.Tenant{{Envelope: abi.Envelope{ID: roomtest.TenantID}, Number: uint32(roomtest.Tenant)}}
		},
	})
}

// drop deletes a Session as its keeper does.
func (r *room) drop(ctx context.Context, c *desk.Caller, _ *desk.Retry, id string, admit func(*abi.Session) (func(), error)) (desk.Doc, error) {
	s, res, err := desk.Find[abi.Session](ctx, r.Parts.Desk, c, abi.ObjectSession, id)
	if err != nil {
		return desk.Doc{}, err
	}
	release, err := admit(&s)
	if err != nil {
		return desk.Doc{}, err
	}
	defer release()
	s.State, s.DeletedAt = abi.SessionClosed, abi.At(r.clock)
	return r.Parts.Desk.Commit(c, id, s.WorkspaceID, nil, 0,
		ledger.Record{Kind: abi.EventSessionDeleted, Object: abi.ObjectSession, ID: id, Sequence: res.Sequence + 1, State: &s},
		ledger.Record{Kind: abi.EventHistoryDeleted, Object: abi.ObjectSession, ID: id, Sequence: res.Sequence + 2})
}

func (r *room) wantSound() {
	r.t.Helper()
	check := r.store.Store.(storage.Checker)
	found, err := check.Check(r.t.Context(), nil)
	again, err2 := check.Rebuild(r.t.Context(), nil)
	if err := errors.Join(err, err2); err != nil || !found.OK() || !again.OK() {
		r.t.Fatalf("%v, %q, %q", err, found.Problems, again.Problems)
	}
}

// task makes a Task that has ended some time ago.
func (r *room) task(workspace, session string, ago time.Duration) string {
	r.t.Helper()
	return r.taskAs(workspace, session, ago, func(*abi.Task) {})
}

func (r *room) taskAs(workspace, session string, ago time.Duration, shape func(*abi.Task)) string {
	r.t.Helper()
	at := r.clock.Add(-ago)
	r.next++
	id := abi.NewIDs(func() time.Time { return at }, numbers(r.next)).New(abi.ObjectTask)
	task := &abi.Task{Envelope: abi.NewEnvelope(abi.ObjectTask, id, at, nil), WorkspaceID: workspace, SessionID: session, PersonaID: roomtest.Persona, Status: abi.TaskSubmitted}
	shape(task)
	id = task.ID
	records := []ledger.Record{{Kind: abi.EventTaskSubmitted, Object: abi.ObjectTask, ID: id, Created: true, State: new(*task)}}
	if task.Status == abi.TaskSubmitted {
		task.Status, task.CompletedAt = abi.TaskCompleted, abi.At(at)
		records = append(records, ledger.Record{Kind: abi.EventTaskCompleted, Object: abi.ObjectTask, ID: id, Sequence: 1, State: task})
	}
	if _, _, err := r.Parts.Ledger.Commit(storage.Frame{Tenant: roomtest.Tenant, WorkspaceID: workspace, SessionID: session, TaskID: id}, nil, 0, records...); err != nil {
		r.t.Fatal(err)
	}
	return id
}

// numbers yields what makes an id one of its own.
func numbers(n int) io.Reader { return strings.NewReader(strings.Repeat(fmt.Sprintf("%010d", n), 100)) }

// session makes a Session, closed some time ago unless that is negative.
func (r *room) session(workspace, only string, closed time.Duration) string {
	r.t.Helper()
	r.next++
	id := abi.NewIDs(func() time.Time { return r.clock.Add(-max(closed, 0)) }, numbers(r.next)).New(abi.ObjectSession)
	s := &abi.Session{Envelope: abi.NewEnvelope(abi.ObjectSession, id, r.clock.Add(-closed), nil), WorkspaceID: workspace, State: abi.SessionActive, OnlyTaskID: only}
	if closed >= 0 {
		s.State = abi.SessionClosed
	}
	r.State(r.t, workspace, id, abi.EventSessionCreated, abi.ObjectSession, id, s)
	return id
}

// artifact makes an Artifact of no Task.
func (r *room) artifact(workspace string, ago time.Duration) string {
	r.t.Helper()
	r.next++
	id := abi.NewIDs(func() time.Time { return r.clock.Add(-ago) }, numbers(r.next)).New(abi.ObjectArtifact)
	a := &abi.Artifact{Envelope: abi.NewEnvelope(abi.ObjectArtifact, id, r.clock.Add(-ago), nil), WorkspaceID: workspace}
	r.State(r.t, workspace, "", abi.EventArtifactCreated, abi.ObjectArtifact, id, a)
	return id
}

// artifactOf makes an Artifact of a Task.
func (r *room) artifactOf(session, task string, ago time.Duration) string {
	r.t.Helper()
	r.next++
	id := abi.NewIDs(func() time.Time { return r.clock.Add(-ago) }, numbers(r.next)).New(abi.ObjectArtifact)
	a := &abi.Artifact{Envelope: abi.NewEnvelope(abi.ObjectArtifact, id, r.clock.Add(-ago), nil), WorkspaceID: roomtest.Workspace, SessionID: session, TaskID: task}
	_, commit, err := r.Parts.Ledger.HandOver(storage.Frame{Tenant: roomtest.Tenant, WorkspaceID: roomtest.Workspace, SessionID: session, TaskID: task}, nil, 0,
		ledger.Record{Kind: abi.EventArtifactCreated, Object: abi.ObjectArtifact, ID: id, Created: true, State: a})
	if err == nil {
		_, err = commit.Wait(context.Background())
	}
	if err != nil {
		r.t.Fatal(err)
	}
	return id
}

// there reports whether something is stored.
func (r *room) there(o abi.Object, id string) bool {
	r.t.Helper()
	_, err := r.store.Get(context.Background(), roomtest.Tenant, o, id)
	if err != nil && !errors.Is(err, storage.ErrNotFound) {
		r.t.Fatal(err)
	}
	return err == nil
}

func (r *room) left(ids ...string) (left []string) {
	r.t.Helper()
	for _, id := range ids {
		if r.there(abi.ObjectTask, id) {
			left = append(left, id)
		}
	}
	return left
}

func (r *room) expire(l deletion.Limits) deletion.Removed {
	r.t.Helper()
	removed, err := r.Expire(r.t.Context(), l)
	if err != nil {
		r.t.Fatal(err)
	}
	return removed
}

func (r *room) erase() int {
	r.t.Helper()
	n, err := r.Erase(r.t.Context())
	if err != nil {
		r.t.Fatal(err)
	}
	return n
}

func number(n float64) *float64 { return &n }

// Each limit is for its own kind, a Workspace's own comes first, and 0 is for ever.
func TestLimits(t *testing.T) {
	for name, c := range map[string]struct {
		node deletion.Limits
		own  *abi.WorkspaceRetention
		want deletion.Removed
	}{
		"none":               {},
		"Tasks":              {node: deletion.Limits{Tasks: 5 * day}, want: deletion.Removed{Tasks: 1}},
		"Sessions":           {node: deletion.Limits{Sessions: 5 * day}, want: deletion.Removed{Sessions: 1}},
		"Artifacts":          {node: deletion.Limits{Artifacts: 5 * day}, want: deletion.Removed{Artifacts: 1}},
		"all":                {node: deletion.Limits{Tasks: 5 * day, Sessions: 5 * day, Artifacts: 5 * day}, want: deletion.Removed{Tasks: 1, Sessions: 1, Artifacts: 1}},
		"all are young":      {node: deletion.Limits{Tasks: 50 * day, Sessions: 50 * day, Artifacts: 50 * day}},
		"own ones":           {own: &abi.WorkspaceRetention{TaskDays: number(5), SessionDays: number(5), ArtifactDays: number(5)}, want: deletion.Removed{Tasks: 1, Sessions: 1, Artifacts: 1}},
		"one of its own":     {node: deletion.Limits{Sessions: 5 * day}, own: &abi.WorkspaceRetention{TaskDays: number(1.5)}, want: deletion.Removed{Tasks: 2, Sessions: 1}},
		"it keeps for ever":  {node: deletion.Limits{Tasks: 5 * day, Artifacts: 5 * day}, own: &abi.WorkspaceRetention{TaskDays: number(0)}, want: deletion.Removed{Artifacts: 1}},
		"it keeps no longer": {node: deletion.Limits{Tasks: 50 * day}, own: &abi.WorkspaceRetention{TaskDays: number(5)}, want: deletion.Removed{Tasks: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			rooms(t, func(t *testing.T, r *room) {
				r.State(t, "", "", abi.EventWorkspaceUpdated, abi.ObjectWorkspace, roomtest.Workspace, &abi.Workspace{
					Envelope: abi.NewEnvelope(abi.ObjectWorkspace, roomtest.Workspace, r.clock, nil), Retention: c.own})
				r.task(roomtest.Workspace, roomtest.Session, 10*day)
				r.task(roomtest.Workspace, roomtest.Session, 2*day)
				for _, ago := range []time.Duration{10 * day, 2 * day} {
					r.session(roomtest.Workspace, "", ago)
					r.artifact(roomtest.Workspace, ago)
				}
				r.session(roomtest.Workspace, "", -1)
				if got := r.expire(c.node); got != c.want {
					t.Errorf("it has removed %+v, want %+v", got, c.want)
				}
				if got := r.expire(c.node); got.Total() != 0 {
					t.Errorf("and then %+v", got)
				}
			})
		})
	}
}

// A Hold keeps what it is on, and what is in that, until it is released.
func TestHoldsKeep(t *testing.T) {
	rooms(t, func(t *testing.T, r *room) {
		limits := deletion.Limits{Tasks: day, Sessions: day, Artifacts: day}
		session := r.session(roomtest.Workspace, "", 10*day)
		task, artifact := r.task(roomtest.Workspace, session, 10*day), r.artifact(roomtest.Workspace, 10*day)
		objects := map[string]abi.Object{session: abi.ObjectSession, task: abi.ObjectTask, artifact: abi.ObjectArtifact, roomtest.Workspace: abi.ObjectWorkspace}
		deletes := map[string]func(string) error{
			task:     func(id string) error { _, err := r.DeleteTask(t.Context(), r.Root(), nil, id); return err },
			session:  func(id string) error { _, err := r.DeleteSession(t.Context(), r.Root(), nil, id); return err },
			artifact: func(id string) error { _, err := r.DeleteArtifact(t.Context(), r.Root(), nil, id); return err },
		}
		for held, kept := range map[string][]string{roomtest.Workspace: {task, session, artifact}, session: {session, task}, task: {task, session}, artifact: {artifact}} {
			hold, err := r.PlaceHold(t.Context(), r.Root(), nil, abi.PlaceHoldRequest{ResourceID: held, Reason: "case 4711"})
			if err != nil {
				t.Fatal(err)
			}
			for _, id := range kept {
				err := deletes[id](id)
				if own, ok := errors.AsType[*abi.Error](err); !ok || own.Code != abi.CodeResourceLocked || !strings.Contains(own.Message, "case 4711") {
					t.Errorf("with a hold on the %s the %s is deleted: %v", objects[held], objects[id], err)
				}
			}
			if held == roomtest.Workspace {
				if got := r.expire(limits); got.Total() != 0 {
					t.Errorf("with a hold on all it has removed %+v", got)
				}
				if _, err := r.Shrink(t.Context(), 1); err != nil || !r.there(abi.ObjectTask, task) {
					t.Errorf("for its size it goes: %v", err)
				}
			}
			if _, err := r.ReleaseHold(t.Context(), r.Root(), nil, hold.ID); err != nil {
				t.Fatal(err)
			}
		}
		for _, held := range slices.Sorted(maps.Keys(objects)) { // placed once more, and released: it counts no more
			hold, err := r.PlaceHold(t.Context(), r.Root(), nil, abi.PlaceHoldRequest{ResourceID: held, Reason: "again"})
			if err == nil {
				_, err = r.ReleaseHold(t.Context(), r.Root(), nil, hold.ID)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if got, want := r.expire(limits), (deletion.Removed{Tasks: 1, Sessions: 1, Artifacts: 1}); got != want {
			t.Errorf("once all are released it has removed %+v", got)
		}
		r.erase()
		for id, o := range objects {
			if o != abi.ObjectWorkspace && r.there(o, id) {
				t.Errorf("%s is left", id)
			}
		}
	})
}

// What a Hold comes to be on while retention is at work stays, also when it is about to go: the Task itself, its Session, an
// Artifact of it, all of the Workspace.
func TestHoldInTheMiddle(t *testing.T) {
	for _, held := range []string{"task", "session", "artifact", "workspace"} {
		t.Run(held, func(t *testing.T) {
			rooms(t, func(t *testing.T, r *room) {
				session := r.session(roomtest.Workspace, "", -1)
				var tasks []string
				for range 10 {
					tasks = append(tasks, r.task(roomtest.Workspace, session, 10*day))
				}
				artifact := r.artifactOf(session, tasks[4], 10*day)
				on := map[string]string{"task": tasks[4], "session": session, "artifact": artifact, "workspace": roomtest.Workspace}[held]
				place := func() (string, error) {
					hold, err := r.PlaceHold(t.Context(), r.Root(), nil, abi.PlaceHoldRequest{ResourceID: on, Reason: "case 4711"})
					return hold.ID, err
				}
				var hold string
				r.asked = func(task string) {
					if task != tasks[7] || hold != "" {
						return // those before are in the batch
					}
					var err error
					if hold, err = place(); err != nil {
						t.Error(err)
					}
				}
				got := r.expire(deletion.Limits{Tasks: day})
				want, left := 9, tasks[4:5]
				if held == "session" || held == "workspace" {
					want, left = 0, tasks
				}
				if got.Tasks != want || !slices.Equal(r.left(tasks...), left) || !r.there(abi.ObjectArtifact, artifact) {
					t.Errorf("%d are removed, %q are left", got.Tasks, r.left(tasks...))
				}
				if _, err := r.DeleteTask(t.Context(), r.Root(), nil, tasks[4]); err == nil {
					t.Error("it is deleted by hand")
				}
				if _, err := r.ReleaseHold(t.Context(), r.Root(), nil, hold); err != nil {
					t.Fatal(err)
				}
				if got := r.expire(deletion.Limits{Tasks: day}); got.Tasks != len(left) || len(r.left(tasks...)) > 0 {
					t.Errorf("once it is released %d are removed", got.Tasks)
				}
				if _, err := place(); held != "session" && held != "workspace" && err == nil {
					t.Error("what is gone is held")
				}
			})
		})
	}
}

// A Workspace that cannot be read keeps everything, and hinders no other one.
func TestUnreadableWorkspace(t *testing.T) {
	rooms(t, func(t *testing.T, r *room) {
		r.NewWorkspace(t, "ws_other")
		r.NewSession(t, "sess_other", "ws_other")
		kept, goes := r.task(roomtest.Workspace, roomtest.Session, 10*day), r.task("ws_other", "sess_other", 10*day)
		r.State(t, "", "", abi.EventWorkspaceUpdated, abi.ObjectWorkspace, roomtest.Workspace, jsontext.Value(`{"retention":7}`))
		if got := r.expire(deletion.Limits{Tasks: day}); got.Tasks != 1 || !r.there(abi.ObjectTask, kept) || r.there(abi.ObjectTask, goes) {
			t.Errorf("%+v are removed", got)
		}
	})
}

// Where a batch cannot be, its halves are tried: all go that can, whatever is wrong with one.
func TestHalves(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(r *room, tasks []string)
		stays int
	}{
		"all at once": {func(*room, []string) {}, 0},
		"too large":   {func(r *room, _ []string) { r.store.limit = 5 }, 0},
		"one by one":  {func(r *room, _ []string) { r.store.limit = 1 }, 0},
		"one damaged": {func(r *room, tasks []string) { r.store.damaged = tasks[17] }, 1},
		"one is live": {func(r *room, tasks []string) { r.live[tasks[3]] = true }, 1},
		"one has been used": {func(r *room, tasks []string) {
			r.taskAs(roomtest.Workspace, roomtest.Session, 0, func(f *abi.Task) { f.Fork = &abi.TaskFork{SourceTaskID: tasks[9]} })
		}, 1},
		"the first and the last are": {func(r *room, tasks []string) { r.live[tasks[0]], r.live[tasks[69]] = true, true }, 2},
	} {
		t.Run(name, func(t *testing.T) {
			rooms(t, func(t *testing.T, r *room) {
				var tasks []string
				for range 70 {
					tasks = append(tasks, r.task(roomtest.Workspace, roomtest.Session, 10*day))
				}
				c.spoil(r, tasks)
				if got := r.expire(deletion.Limits{Tasks: day}); got.Tasks != len(tasks)-c.stays {
					t.Errorf("%d are removed", got.Tasks)
				}
				if left := r.left(tasks...); len(left) != c.stays {
					t.Errorf("%q are left", left)
				}
				for _, batch := range r.store.erased {
					if r.store.limit > 0 && len(batch) > r.store.limit || len(batch) > 16 {
						t.Errorf("%d go at once", len(batch))
					}
				}
			})
		})
	}
}

// For size the oldest go first, whosever they are, and none that has just ended, runs or is held.
func TestShrinkOldestFirst(t *testing.T) {
	r := newRoom(t, onDisk{t: t, disk: crashtest.NewDisk()}.Reopen())
	r.NewWorkspace(t, "ws_other")
	r.NewSession(t, "sess_other", "ws_other")
	var tasks []string
	for i := range 200 {
		workspace, session := roomtest.Workspace, roomtest.Session
		if i/20%2 == 1 {
			workspace, session = "ws_other", "sess_other"
		}
		tasks = append(tasks, r.task(workspace, session, time.Duration(1000-i)*time.Hour))
	}
	young := r.task(roomtest.Workspace, roomtest.Session, 0)
	r.live[tasks[0]] = true
	removed, err := r.Shrink(t.Context(), 1)
	if err != nil || removed.Tasks == 0 || removed.Tasks > 16 {
		t.Fatalf("of one byte it has removed %+v, %v", removed, err)
	}
	if _, err := r.Shrink(t.Context(), int64(r.store.Erased().EventBytes)); err != nil {
		t.Fatal(err)
	}
	left := r.left(tasks...)
	gone := len(tasks) - len(left)
	if gone < 3 || gone > 100 || left[0] != tasks[0] {
		t.Fatalf("%d are gone", gone)
	}
	// Those of a batch are of one Workspace: by so many one may be ahead of the other.
	for i, id := range tasks[:max(gone-16, 0)] {
		if i > 0 && slices.Contains(left, id) {
			t.Errorf("%d is left of %d, and younger ones are gone", i, gone)
		}
	}
	if _, err := r.Shrink(t.Context(), 1<<40); err != nil {
		t.Fatal(err)
	}
	if left := r.left(append(tasks, young)...); !slices.Equal(left, []string{tasks[0], young}) {
		t.Errorf("in the end %q are left", left)
	}
	r.wantSound()
}

// A Session that was made for a Task goes with it, unless it has others.
func TestSessionsOfOneTask(t *testing.T) {
	rooms(t, func(t *testing.T, r *room) {
		made := func(ago time.Duration) (task, session string) {
			r.next++
			task = abi.NewIDs(func() time.Time { return r.clock.Add(-ago) }, numbers(r.next)).New(abi.ObjectTask)
			session = r.session(roomtest.Workspace, task, ago)
			return r.taskAs(roomtest.Workspace, session, ago, func(a *abi.Task) { a.ID = task }), session
		}
		alone, itsOwn := made(10 * day)
		shared, itsShared := made(10 * day)
		young := r.task(roomtest.Workspace, itsShared, 0)
		deleted, itsDeleted := made(0)
		if got := r.expire(deletion.Limits{Tasks: day}); got.Tasks != 2 || r.there(abi.ObjectSession, itsOwn) || !r.there(abi.ObjectSession, itsShared) {
			t.Errorf("%+v are removed", got)
		}
		if left := r.left(alone, shared, young, deleted); !slices.Equal(left, []string{young, deleted}) {
			t.Errorf("%q are left", left)
		}
		if _, err := r.DeleteTask(t.Context(), r.Root(), nil, deleted); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Parts.Desk.Get(t.Context(), r.Root(), abi.ObjectSession, itsDeleted); !ledger.IsNotFound(err) {
			t.Errorf("the Session of what is deleted is shown: %v", err)
		}
		if r.erase() != 1 || r.there(abi.ObjectSession, itsDeleted) {
			t.Error("the Session of what is deleted is left")
		}
	})
}

// What ends in the middle has left everything whole, and the rest goes the next time.
func TestEndedInTheMiddle(t *testing.T) {
	rooms(t, func(t *testing.T, r *room) {
		var tasks []string
		for range 100 {
			tasks = append(tasks, r.task(roomtest.Workspace, roomtest.Session, 10*day))
		}
		ctx, cancel := context.WithCancel(t.Context())
		r.store.after = func(batches int) {
			if batches == 2 {
				cancel()
			}
		}
		removed, err := r.Expire(ctx, deletion.Limits{Tasks: day})
		if !errors.Is(err, context.Canceled) && err == nil || removed.Tasks != 32 {
			t.Errorf("%+v, %v", removed, err)
		}
		if left := r.left(tasks...); len(left) != 68 {
			t.Errorf("%d are left", len(left))
		}
		if got := r.expire(deletion.Limits{Tasks: day}); got.Tasks != 68 {
			t.Errorf("then %+v", got)
		}
	})
}

// What cannot be read stays, and hinders nothing; what was deleted before the node has died is erased after.
func TestDamagedAndDied(t *testing.T) {
	rooms(t, func(t *testing.T, r *room) {
		bad := r.session(roomtest.Workspace, "", 10*day)
		r.task(roomtest.Workspace, bad, 10*day)
		if _, err := r.DeleteSession(t.Context(), r.Root(), nil, bad); err != nil {
			t.Fatal(err)
		}
		task := r.task(roomtest.Workspace, roomtest.Session, time.Hour)
		if _, err := r.DeleteTask(t.Context(), r.Root(), nil, task); err != nil {
			t.Fatal(err)
		}
		if _, err := r.DeleteTask(t.Context(), r.Root(), nil, task); !ledger.IsNotFound(err) {
			t.Errorf("a second time: %v", err)
		}
		r.store.damaged = task
		r.erase()
		if !r.there(abi.ObjectTask, task) || r.there(abi.ObjectSession, bad) {
			t.Error("what is damaged is gone, or hinders the other")
		}
		r.store.damaged = ""
		r.Parts.Desk = desk.New(r.store, r.Parts.Ledger, r.Parts.Now, nil) // another life
		r.furnish()
		if err := r.HideDeleted(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := r.erase(); n != 1 || r.there(abi.ObjectTask, task) {
			t.Errorf("%d are erased", n)
		}
		if n := r.erase(); n != 0 {
			t.Errorf("and then %d", n)
		}
	})
}
