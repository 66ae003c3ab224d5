package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/engine"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/tenancy"
	"github.com/wharf-dev/wharf/storage/pebble/crashtest"
)

// withSession is a Task that makes its Session, with some references.
func withSession(refs ...string) abi.SubmitTaskRequest {
	s := &abi.TaskSession{CreateSessionRequest: abi.CreateSessionRequest{WorkspaceID: tenancy.DefaultWorkspace}}
	for _, ref := range refs {
		s.Refs = append(s.Refs, abi.OutsideRef{Kind: "test", Ref: ref})
	}
	return abi.SubmitTaskRequest{Session: s, Input: enginetest.Text("hi")}
}

// hiddenSession is one whose Session is hidden.
func hiddenSession(persona string) abi.SubmitTaskRequest {
	req := withSession()
	req.Session.Hidden, req.PersonaID = true, persona
	return req
}

// accepts submits a Task and returns it.
func (n *node) accepts(t testing.TB, req abi.SubmitTaskRequest) abi.Task {
	t.Helper()
	doc, err := n.SubmitTask(t.Context(), n.Root, nil, req)
	if err != nil {
		t.Fatal(err)
	}
	return enginetest.As[abi.Task](t, doc)
}

func (n *node) session(t testing.TB, id string) abi.Session {
	t.Helper()
	doc, err := n.Get(t.Context(), n.Root, abi.ObjectSession, id)
	if err != nil {
		t.Fatal(err)
	}
	return enginetest.As[abi.Session](t, doc)
}

// told lists the events of a stream, with what their resources are and their sequences.
func (n *node) told(t testing.TB, f desk.Filter) (all []string) {
	t.Helper()
	events, _, err := n.Events(t.Context(), n.Root, f, 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	for _, ev := range events {
		rec := ev.Record()
		all = append(all, fmt.Sprintf("%s of a %s, %d", rec.Kind, rec.Resource.Object, rec.Sequence))
	}
	return all
}

// A Task and its Session that are made together read as if one was made after the other: from
// the stream of the Session and from that of the Task.
func TestATaskMakesItsSession(t *testing.T) {
	n := newNode(t, enginetest.Guests{})
	req := withSession("one", "two")
	req.Session.Metadata, req.Metadata = jsontext.Value(`{"of":"session"}`), jsontext.Value(`{"of":"task"}`)
	both := n.Wait(t, n.accepts(t, req).ID)
	if both.Status != abi.TaskCompleted || both.WorkspaceID != tenancy.DefaultWorkspace || both.SessionID == "" {
		t.Fatalf("%+v", both)
	}
	made := n.session(t, both.SessionID)
	if made.State != abi.SessionActive || string(made.Metadata) != `{"of":"session"}` || len(made.Refs) != 2 || made.RootSessionID != made.ID || made.OnlyTaskID != "" {
		t.Errorf("%+v", made)
	}
	apart := withSession("three", "four")
	doc, err := n.CreateSession(t.Context(), n.Root, nil, apart.Session.CreateSessionRequest)
	if err != nil {
		t.Fatal(err)
	}
	after := n.Wait(t, n.accepts(t, abi.SubmitTaskRequest{SessionID: doc.ID, Input: enginetest.Text("hi")}).ID)
	for name, f := range map[string][2]desk.Filter{
		"session": {{SessionID: both.SessionID}, {SessionID: after.SessionID}}, "task": {{TaskID: both.ID}, {TaskID: after.ID}},
	} {
		if got, want := n.told(t, f[0]), n.told(t, f[1]); !slices.Equal(got, want) {
			t.Errorf("the stream of the %s:\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	events, _, err := n.Events(t.Context(), n.Root, desk.Filter{SessionID: both.SessionID}, 0, 1000)
	if err != nil || events[0].Frame != events[4].Frame || events[4].Record().Kind != abi.EventTaskSubmitted {
		t.Errorf("they are not in one batch: %v %v", n.told(t, desk.Filter{SessionID: both.SessionID}), err)
	}
	found, err := n.SessionsCalled(t.Context(), n.Root, tenancy.DefaultWorkspace, abi.OutsideRef{Kind: "test", Ref: "two"})
	if err != nil || len(found.Docs) != 1 || found.Docs[0].ID != both.SessionID {
		t.Errorf("by its reference: %v %v", found.Docs, err)
	}
	again := n.Wait(t, n.accepts(t, abi.SubmitTaskRequest{SessionID: both.SessionID, Input: enginetest.Text("more")}).ID)
	if got := n.transcript(t, both.SessionID); again.Status != abi.TaskCompleted || len(got) != 4 {
		t.Errorf("it goes on like any other: %s %q", again.Status, got)
	}
	n.wantSound(t)
}

// The Session begins with its Messages, which are told before the Task's own.
func TestASessionThatIsMadeWithATaskHasMessages(t *testing.T) {
	n := newNode(t, enginetest.Guests{})
	req := hiddenSession("")
	req.Session.InitialMessages = []abi.MessageInput{*message("before")}
	task := n.Wait(t, n.accepts(t, req).ID)
	if got := n.transcript(t, task.SessionID); !slices.Equal(got, []string{"before", "hi", "hello"}) {
		t.Errorf("%q", got)
	}
	if got := n.session(t, task.SessionID); got.OnlyTaskID != task.ID || got.State != abi.SessionClosed {
		t.Errorf("%+v", got)
	}
}

// What is refused leaves neither a Task nor a Session: nothing is written at all.
func TestARefusedTaskLeavesNoSession(t *testing.T) {
	hold, entered, leave := enginetest.Holding()
	n := newNode(t, enginetest.Guests{"hold": hold}, func(c *engine.Config, _ *engine.Parts) { c.MaxRunning, c.MaxQueued = 1, 2 })
	doc, err := n.CreateWorkspace(t.Context(), n.Root, nil, abi.CreateWorkspaceRequest{Name: "other", Root: "/o"})
	if err != nil {
		t.Fatal(err)
	}
	other := doc.ID
	n.Wait(t, n.accepts(t, withSession("taken")).ID)
	n.quota(t, abi.CreateQuotaRequest{Scope: abi.QuotaWorkspace, OwnerID: other, Limits: limits("tasks", 0)})
	key := func(workspace string, scopes ...string) *desk.Caller {
		c := *n.Root
		if c.Scopes = scopes; workspace != "" {
			c.Workspaces = []string{workspace}
		}
		return &c
	}
	refused := func(name string, c *desk.Caller, change func(*abi.SubmitTaskRequest), code abi.ErrorCode, param string) {
		t.Helper()
		for _, hidden := range []bool{false, true} {
			req := withSession("free")
			req.Session.Hidden = hidden
			if change != nil {
				change(&req)
			}
			before := n.Store.Watermark()
			_, err := n.SubmitTask(t.Context(), c, retry(name, "{}"), req)
			if got := enginetest.WantCode(t, err, code); got.Param != param {
				t.Errorf("%s: the error is about %q, want %q: %v", name, got.Param, param, err)
			}
			if n.Store.Watermark() != before {
				t.Errorf("%s: something was written", name)
			}
		}
	}
	invalid := abi.CodeInvalidRequest
	refused("both", n.Root, func(r *abi.SubmitTaskRequest) { r.SessionID = "sess_x" }, invalid, "session")
	refused("no workspace", n.Root, func(r *abi.SubmitTaskRequest) { r.Session.WorkspaceID = "" }, invalid, "session.workspace_id")
	refused("another workspace beside", n.Root, func(r *abi.SubmitTaskRequest) { r.WorkspaceID = other }, invalid, "workspace_id")
	refused("no such workspace", n.Root, func(r *abi.SubmitTaskRequest) { r.Session.WorkspaceID = "ws_none" }, abi.CodeResourceNotFound, "")
	refused("a reference too long", n.Root, func(r *abi.SubmitTaskRequest) { r.Session.Refs[0].Ref = strings.Repeat("x", 3000) }, invalid, "session.refs[0].ref")
	refused("metadata of the session", n.Root, func(r *abi.SubmitTaskRequest) { r.Session.Metadata = jsontext.Value("1") }, invalid, "session.metadata")
	refused("persona of the session", n.Root, func(r *abi.SubmitTaskRequest) { r.Session.PersonaID = "persona_none" }, abi.CodeResourceNotFound, "")
	refused("persona of the task", n.Root, func(r *abi.SubmitTaskRequest) { r.PersonaID = "persona_none" }, abi.CodeResourceNotFound, "")
	refused("no input", n.Root, func(r *abi.SubmitTaskRequest) { r.Input = nil }, invalid, "input")
	refused("input of a wrong role", n.Root, func(r *abi.SubmitTaskRequest) { r.Input = jsontext.Value(`{"role":"king","parts":[]}`) }, invalid, "input.role")
	refused("an artifact that is not there", n.Root, func(r *abi.SubmitTaskRequest) {
		r.Input = jsontext.Value(`{"role":"user","parts":[{"type":"artifact_ref","artifact_id":"art_none"}]}`)
	}, abi.CodeResourceNotFound, "input.parts[0].artifact_id")
	refused("deadline", n.Root, func(r *abi.SubmitTaskRequest) { r.DeadlineSeconds = -1 }, invalid, "deadline_seconds")
	refused("a parent that is not there", n.Root, func(r *abi.SubmitTaskRequest) { r.ParentTaskID = "task_none" }, abi.CodeResourceNotFound, "")
	refused("a reference that is taken", n.Root, func(r *abi.SubmitTaskRequest) { r.Session.Refs = withSession("free", "taken").Session.Refs }, abi.CodeConflict, "")
	refused("a quota", n.Root, func(r *abi.SubmitTaskRequest) { r.Session.WorkspaceID = other }, abi.CodePolicyViolation, "")
	refused("no right to make sessions", key("", "tasks:write"), nil, abi.CodePermissionDenied, "")
	refused("a key of another workspace", key(other, abi.ScopeAll), nil, abi.CodeResourceNotFound, "")

	busy := n.Session(t)
	for err = nil; err == nil; {
		_, err = n.SubmitTask(t.Context(), n.Root, nil, abi.SubmitTaskRequest{SessionID: busy, PersonaID: "persona_hold", Input: enginetest.Text("hi")})
	}
	<-entered
	refused("a full queue", n.Root, nil, abi.CodeRateLimited, "")
	if _, err := n.SubmitTask(t.Context(), n.Root, nil, abi.SubmitTaskRequest{Input: enginetest.Text("hi")}); enginetest.WantCode(t, err, invalid).Param != "session_id" || !strings.Contains(err.Error(), `"session"`) {
		t.Errorf("neither: %v", err)
	}
	close(leave)
	found, err := n.SessionsCalled(t.Context(), n.Root, tenancy.DefaultWorkspace, abi.OutsideRef{Kind: "test", Ref: "free"})
	if err != nil || len(found.Docs) != 0 {
		t.Errorf("a refused Session holds its reference: %v %v", found.Docs, err)
	}
	drained, over := context.WithCancel(t.Context())
	over()
	if err := n.Drain(drained); err != nil {
		t.Fatal(err)
	}
	refused("a node that drains", n.Root, nil, abi.CodeServiceUnavailable, "")
}

// A key with just the two scopes is enough, also one that is bound to the Workspace.
func TestWhoMayMakeASessionWithATask(t *testing.T) {
	n := newNode(t, enginetest.Guests{})
	c := *n.Root
	c.Scopes, c.Workspaces = []string{"tasks:write", "sessions:write"}, []string{tenancy.DefaultWorkspace}
	if _, err := n.SubmitTask(t.Context(), &c, nil, withSession()); err != nil {
		t.Error(err)
	}
}

// Of Tasks that are submitted at once with one reference, one is accepted with its Session. The
// others leave nothing, and are told of it.
func TestTasksAtOnceWithOneReference(t *testing.T) {
	n := newNode(t, enginetest.Guests{})
	var mu sync.Mutex
	var made []abi.Task
	var told []string
	var all sync.WaitGroup
	for i := range 24 {
		all.Go(func() {
			req := withSession(fmt.Sprint("own ", i), "shared")
			if i%2 == 0 {
				slices.Reverse(req.Session.Refs)
			}
			doc, err := n.SubmitTask(t.Context(), n.Root, retry(fmt.Sprint(i), "{}"), req)
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				made = append(made, enginetest.As[abi.Task](t, doc))
				return
			}
			var refused *abi.Error
			var about struct {
				SessionID string `json:"session_id"`
			}
			if !errors.As(err, &refused) || refused.Code != abi.CodeConflict || json.Unmarshal(refused.Details, &about) != nil {
				t.Error(err)
			}
			told = append(told, about.SessionID)
		})
	}
	all.Wait()
	if len(made) != 1 || len(told) != 23 || slices.ContainsFunc(told, func(id string) bool { return id != made[0].SessionID }) {
		t.Errorf("made %v, told of %v", made, told)
	}
	n.Wait(t, made[0].ID)
	for o, want := range map[abi.Object]int{abi.ObjectTask: 1, abi.ObjectSession: 1} {
		if list, err := n.List(t.Context(), n.Root, o, desk.Filter{}, desk.Page{Limit: 100}); err != nil || len(list.Docs) != want {
			t.Errorf("there are %d of %s, %v", len(list.Docs), o, err)
		}
	}
	n.rested(made[0].ID) // its place is free a moment after its end is told
	if s := n.Stats(); s.Accepted != 1 || s.Queued != 0 || s.Running != 0 {
		t.Errorf("places are held by what was refused: %+v", s)
	}
}

// A retry is answered with the Task, which names the Session: at once with the first, after it, and
// after a restart.
func TestARetryMakesNoSecondSession(t *testing.T) {
	g := enginetest.Guests{"echo": enginetest.Echo}
	for name, req := range map[string]abi.SubmitTaskRequest{"hidden": hiddenSession(""), "with a reference": withSession("r")} {
		t.Run(name, func(t *testing.T) {
			n := boot(t, crashtest.NewDisk(), g)
			answers := make([]string, 8)
			var all sync.WaitGroup
			for i := range answers {
				all.Go(func() {
					doc, err := n.SubmitTask(t.Context(), n.Root, retry("k", "{}"), req)
					if err != nil {
						t.Error(err)
					}
					answers[i] = string(doc.JSON)
				})
			}
			all.Wait()
			first := enginetest.As[abi.Task](t, desk.Doc{JSON: []byte(answers[0])})
			n.Wait(t, first.ID)
			n.Stop(t)
			n = boot(t, n.Disk, g)
			defer n.Stop(t)
			doc, err := n.SubmitTask(t.Context(), n.Root, retry("k", "{}"), req)
			if err != nil {
				t.Fatal(err)
			}
			for i, got := range append(answers, string(doc.JSON)) {
				if got != answers[0] {
					t.Errorf("answer %d is %s, want %s", i, got, answers[0])
				}
			}
			if got := n.session(t, first.SessionID); got.WorkspaceID != tenancy.DefaultWorkspace {
				t.Errorf("the Task's Session is %+v", got)
			}
			_, err = n.SubmitTask(t.Context(), n.Root, retry("k", `{"other":1}`), req)
			enginetest.WantCode(t, err, abi.CodeIdempotencyKeyReused)
		})
	}
}

// A hidden Session is in no list, and takes no other Task, however that names it.
func TestAHiddenSession(t *testing.T) {
	hold, entered, leave := enginetest.Holding()
	n := newNode(t, enginetest.Guests{"hold": hold})
	shown := n.Session(t)
	task := n.accepts(t, hiddenSession("persona_hold"))
	<-entered
	s := n.session(t, task.SessionID)
	if s.OnlyTaskID != task.ID || s.State != abi.SessionActive {
		t.Errorf("%+v", s)
	}
	wantListed := func() {
		t.Helper()
		for name, f := range map[string]desk.Filter{"all": {}, "of the workspace": {WorkspaceID: tenancy.DefaultWorkspace}, "active": {Status: string(abi.SessionActive)}} {
			list, err := n.List(t.Context(), n.Root, abi.ObjectSession, f, desk.Page{Limit: 10, Total: name == "of the workspace"})
			if err != nil || len(list.Docs) != 1 || list.Docs[0].ID != shown || name == "of the workspace" && list.Total != 1 {
				t.Errorf("%s: %v of %d, %v", name, list.Docs, list.Total, err)
			}
		}
	}
	wantListed()
	wantTold := func(want ...string) {
		t.Helper()
		var got []string
		for _, kind := range n.Kinds(t, desk.Filter{SessionID: task.SessionID}) {
			if strings.Contains(kind, "session") {
				got = append(got, kind)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("told of the Session: %v, want %v", got, want)
		}
	}
	wantTold("session.created", "vendor.wharf.session_hidden")
	for name, req := range map[string]abi.SubmitTaskRequest{
		"another": {}, "a child that a client submits": {ParentTaskID: task.ID}, "a part of another": {ParentTaskID: n.Wait(t, n.Submit(t, shown, "")).ID},
	} {
		req.SessionID, req.Input = task.SessionID, enginetest.Text("hi")
		if _, err := n.SubmitTask(t.Context(), n.Root, nil, req); enginetest.WantCode(t, err, abi.CodeConflict) == nil || !strings.Contains(err.Error(), task.ID) {
			t.Errorf("%s: %v", name, err)
		}
	}
	n.say(t, task.SessionID, "meanwhile")
	close(leave)
	n.Wait(t, task.ID)
	wantTold("session.created", "vendor.wharf.session_hidden", "session.closed")
	wantListed()
	_, err := n.SubmitTask(t.Context(), n.Root, nil, abi.SubmitTaskRequest{SessionID: task.SessionID, Input: enginetest.Text("hi")})
	enginetest.WantCode(t, err, abi.CodeConflict)
	if kinds := n.Kinds(t, desk.Filter{TaskID: task.ID}); kinds[0] != string(abi.EventUserMessage) || kinds[len(kinds)-1] != string(abi.EventTaskCompleted) {
		t.Errorf("the Task's stream tells of its Session: %v", kinds)
	}
	if _, err := n.ReplayTask(t.Context(), n.Root, nil, task.ID, abi.ReplayTaskRequest{}); err != nil {
		t.Errorf("what it did cannot be proved any more: %v", err)
	}
	n.wantSound(t)
}

// However its Task ends, a hidden Session is closed in that batch, once.
func TestAHiddenSessionClosesWithItsTask(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*abi.SubmitTaskRequest)
		end    func(t *testing.T, n *node, task abi.Task, leave chan struct{})
		status abi.TaskStatus
		before bool // the Session is closed before
	}{
		"completed": {end: func(_ *testing.T, _ *node, _ abi.Task, leave chan struct{}) { close(leave) }, status: abi.TaskCompleted},
		"canceled": {end: func(t *testing.T, n *node, task abi.Task, _ chan struct{}) {
			if _, err := n.CancelTask(t.Context(), n.Root, retry("c", "{}"), task.ID, abi.CancelTaskRequest{Reason: "enough"}); err != nil {
				t.Error(err)
			}
		}, status: abi.TaskCanceled},
		"out of time": {change: func(r *abi.SubmitTaskRequest) { r.DeadlineSeconds = 1 }, end: func(*testing.T, *node, abi.Task, chan struct{}) {}, status: abi.TaskFailed},
		"changed and paused meanwhile": {end: func(t *testing.T, n *node, task abi.Task, leave chan struct{}) {
			_, err := n.UpdateSession(t.Context(), n.Root, nil, task.SessionID, abi.UpdateSessionRequest{Summary: abi.ChangeTo("s")})
			_, paused := n.PauseSession(t.Context(), n.Root, nil, task.SessionID)
			if err = errors.Join(err, paused); err != nil {
				t.Error(err)
			}
			close(leave)
		}, status: abi.TaskCompleted},
		"closed by a client": {end: func(t *testing.T, n *node, task abi.Task, leave chan struct{}) {
			if _, err := n.CloseSession(t.Context(), n.Root, nil, task.SessionID); err != nil {
				t.Error(err)
			}
			close(leave)
		}, status: abi.TaskCompleted, before: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				hold, entered, leave := enginetest.Holding()
				n := newNode(t, enginetest.Guests{"hold": hold})
				req := hiddenSession("persona_hold")
				if test.change != nil {
					test.change(&req)
				}
				task := n.accepts(t, req)
				<-entered
				test.end(t, n, task, leave)
				if got := n.Wait(t, task.ID); got.Status != test.status {
					t.Fatalf("the Task is %s: %+v", got.Status, got.Failure)
				}
				n.wantClosedWith(t, task, test.before)
			})
		})
	}
}

// wantClosedWith checks that a hidden Session is closed, once, in the batch that ends its Task, or
// before, and that its events are numbered without a gap.
func (n *node) wantClosedWith(t *testing.T, task abi.Task, before bool) {
	t.Helper()
	if got := n.session(t, task.SessionID); got.State != abi.SessionClosed {
		t.Errorf("the Session is %s", got.State)
	}
	events, _, err := n.Events(t.Context(), n.Root, desk.Filter{SessionID: task.SessionID}, 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	var closed, ended []desk.Event
	next := uint64(0)
	for _, ev := range events {
		rec := ev.Record()
		if rec.Resource.ID == task.SessionID {
			if rec.Sequence != next {
				t.Errorf("%s has the sequence %d, want %d", rec.Kind, rec.Sequence, next)
			}
			next++
		}
		if rec.Kind == abi.EventSessionClosed {
			closed = append(closed, ev)
		}
		if rec.Resource.ID == task.ID && slices.Contains([]abi.EventKind{abi.EventTaskCompleted, abi.EventTaskFailed, abi.EventTaskCanceled}, rec.Kind) {
			ended = append(ended, ev)
		}
	}
	switch {
	case len(closed) != 1 || len(ended) != 1:
		t.Errorf("closed %d times, ended %d times: %v", len(closed), len(ended), n.told(t, desk.Filter{SessionID: task.SessionID}))
	case before != (closed[0].Frame != ended[0].Frame), before != (closed[0].Position() < ended[0].Position()):
		t.Errorf("closed at %s, ended at %s", closed[0].Position(), ended[0].Position())
	}
	n.wantSound(t)
}

// A Task that waits or runs when the node dies closes its hidden Session in the next life, also when
// it cannot be read any more.
func TestAHiddenSessionClosesAfterARestart(t *testing.T) {
	p := newProgram(op{abi.CallInputRequest, `{"prompt":"who?"}`})
	g := enginetest.Guests{"program": p.run, "echo": enginetest.Echo}
	for name, then := range map[string]func(t *testing.T, n *node, id string){
		"answered": func(t *testing.T, n *node, id string) { n.answer(t, id) },
		"canceled": func(t *testing.T, n *node, id string) {
			if _, err := n.CancelTask(t.Context(), n.Root, nil, id, abi.CancelTaskRequest{}); err != nil {
				t.Error(err)
			}
		},
		"unreadable": nil,
	} {
		t.Run(name, func(t *testing.T) {
			n := boot(t, crashtest.NewDisk(), g)
			task := n.accepts(t, hiddenSession("persona_program"))
			n.parked(t, task.ID)
			if then == nil {
				n.restate(t, n.Root.Tenant, abi.ObjectTask, task.ID, replace1(`"attempt":1`, `"attempt":{}`))
			}
			n.Stop(t)
			n = boot(t, n.Disk, g)
			defer n.Stop(t)
			if then != nil {
				then(t, n, task.ID)
				n.Wait(t, task.ID)
			}
			n.wantClosedWith(t, task, false)
		})
	}
}

// What a Task in a hidden Session spawns runs there too.
func TestATaskSpawnsInItsHiddenSession(t *testing.T) {
	p := newProgram(op{abi.CallTaskSpawn, `{"persona_id":"persona_echo","input":{"x":1}}`})
	n := newNode(t, enginetest.Guests{"program": p.run})
	task := n.Wait(t, n.accepts(t, hiddenSession("persona_program")).ID)
	if task.Status != abi.TaskCompleted {
		t.Fatalf("%s %+v", task.Status, task.Failure)
	}
	list, err := n.List(t.Context(), n.Root, abi.ObjectTask, desk.Filter{SessionID: task.SessionID}, desk.Page{Limit: 10})
	if err != nil || len(list.Docs) != 2 {
		t.Fatalf("%v %v", list.Docs, err)
	}
	for _, doc := range list.Docs {
		if ended := n.Wait(t, doc.ID); ended.Status != abi.TaskCompleted {
			t.Errorf("%s: %+v", ended.Status, ended.Failure)
		}
	}
	n.wantClosedWith(t, task, false)
}

// After a power cut at any moment either both a Task and its Session are there or neither, the
// reference is with the Session, and a hidden Session is open as long as its Task has not ended.
func TestPowerCutsBetweenATaskAndItsSession(t *testing.T) {
	hold, entered, leave := enginetest.Holding()
	defer close(leave)
	g := enginetest.Guests{"hold": hold, "echo": enginetest.Echo}
	n := boot(t, crashtest.NewDisk(), g)
	defer n.Stop(t)
	seed := uint64(0)
	cut := func(t *testing.T) {
		for _, kept := range []float64{0, 0.3, 0.6, 1} {
			seed++
			disk := n.Disk.Crash(seed, kept)
			n := boot(t, disk, enginetest.Guests{"hold": enginetest.Echo, "echo": enginetest.Echo})
			n.wantTogether(t)
			n.Stop(t)
		}
	}
	for i := range 6 {
		req := hiddenSession("persona_echo")
		if i%2 == 0 {
			req = withSession(fmt.Sprint(i))
		}
		if i%3 == 0 {
			req.PersonaID = "persona_hold"
		}
		done := make(chan error)
		go func() {
			_, err := n.SubmitTask(context.Background(), n.Root, retry(fmt.Sprint(i), "{}"), req)
			done <- err
		}()
		cut(t) // somewhere within it
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if i%3 == 0 {
			<-entered
		}
		cut(t)
	}
}

// wantTogether checks that every Task has its Session, and every Session its Task.
func (n *node) wantTogether(t *testing.T) {
	t.Helper()
	list, err := n.List(t.Context(), n.Root, abi.ObjectTask, desk.Filter{}, desk.Page{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	of := map[string]bool{}
	for _, doc := range list.Docs {
		task := n.Wait(t, doc.ID)
		of[task.SessionID] = true
		if s := n.session(t, task.SessionID); s.OnlyTaskID != "" {
			n.wantClosedWith(t, task, false)
		} else if found, err := n.SessionsCalled(t.Context(), n.Root, tenancy.DefaultWorkspace, s.Refs[0]); err != nil || len(found.Docs) != 1 || found.Docs[0].ID != s.ID {
			t.Errorf("the reference of %s: %v %v", s.ID, found.Docs, err)
		}
	}
	events, _, err := n.Events(t.Context(), n.Root, desk.Filter{}, 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	for _, ev := range events {
		if rec := ev.Record(); rec.Kind == abi.EventSessionCreated && !of[rec.Resource.ID] {
			t.Errorf("session %s has no Task", rec.Resource.ID)
		}
	}
}
