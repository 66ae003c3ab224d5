package plans_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/hostcall"
	"github.com/wharf-dev/wharf/runtime/internal/roomtest"
	"github.com/wharf-dev/wharf/runtime/plans"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/storage"
	"github.com/wharf-dev/wharf/storage/memory"
)

// room is a keeper by itself, with a Task.
type room struct {
	*roomtest.House
	*plans.Keeper
	task *abi.Task
}

func newRoom(t testing.TB) *room {
	r := &room{House: roomtest.New(t, memory.New(time.Now))}
	r.Keeper, r.task = plans.NewKeeper(r.Parts), r.Task()
	r.is(t, abi.TaskWorking)
	return r
}

// is has the Task be in a status.
func (r *room) is(t testing.TB, status abi.TaskStatus) {
	t.Helper()
	r.task.Status = status
	r.State(t, roomtest.Workspace, roomtest.Session, abi.EventTaskStatusChanged, abi.ObjectTask, r.task.ID, r.task)
}

// call makes a host call of a Task, and writes what it states as the engine does.
func (r *room) call(t testing.TB, task *abi.Task, index int, name, request string) (abi.CallPlanAnswer, error) {
	t.Helper()
	answer, err := r.HostCalls()[name](t.Context(), &hostcall.Call{Tenant: roomtest.Tenant, Task: task, Index: index, Request: []byte(request)})
	if err != nil {
		return abi.CallPlanAnswer{}, err
	}
	if len(answer.Extra) > 0 {
		_, _, err = r.Ledger.Commit(storage.Frame{Tenant: roomtest.Tenant, WorkspaceID: task.WorkspaceID, SessionID: task.SessionID, TaskID: task.ID, Actor: task.PersonaID}, nil, 0, answer.Extra...)
		answer.Release(err)
	}
	var told abi.CallPlanAnswer
	return told, errors.Join(err, json.Unmarshal(answer.JSON, &told))
}

func (r *room) plan(t testing.TB, task string) abi.Plan {
	t.Helper()
	doc, err := r.Plan(t.Context(), r.Root(), task)
	if err != nil {
		t.Fatal(err)
	}
	return roomtest.As[abi.Plan](t, doc)
}

// listed says what a plan is, in short.
func listed(version int64, by string, steps []abi.PlannedStep) string {
	text := fmt.Sprintf("%d %s:", version, by)
	for _, s := range steps {
		text += fmt.Sprintf(" %s=%s/%s", s.ID, s.Content, s.Status)
	}
	return text
}

func status(s abi.StepStatus) *abi.StepStatus { return &s }

// What the plugin plans and what people make of it is one plan, with the actor of each change, and
// it is there after a crash and after the Task's end.
func TestPluginsAndPeopleShareAPlan(t *testing.T) {
	r := newRoom(t)
	if p := r.plan(t, r.task.ID); p.Version != 0 || p.Steps == nil || len(p.Steps) > 0 || p.TaskID != r.task.ID {
		t.Errorf("before there is one, the plan is %+v", p)
	}
	told, err := r.call(t, r.task, 7, abi.CallPlanSet, `{"steps":[{"content":"look","status":"in_progress"},{"id":"mine","content":"write","status":"pending"}]}`)
	if got := listed(told.Version, told.ChangedBy, told.Steps); err != nil || got != "1 persona_test: step_7_1=look/in_progress mine=write/pending" {
		t.Fatalf("the plugin is told %s, %v", got, err)
	}
	content := "write it down"
	if _, err := r.UpdatePlanStep(t.Context(), r.Root(), nil, r.task.ID, "mine", abi.UpdatePlanStepRequest{Content: &content}); err != nil {
		t.Fatal(err)
	}
	doc, err := r.UpdatePlanStep(t.Context(), r.Root(), nil, r.task.ID, "step_7_1", abi.UpdatePlanStepRequest{Status: status(abi.StepCompleted)})
	if err != nil {
		t.Fatal(err)
	}
	want := "3 root: step_7_1=look/completed mine=write it down/pending"
	shown := roomtest.As[abi.Plan](t, doc)
	if got := listed(shown.Version, shown.ChangedBy, shown.Steps); got != want {
		t.Errorf("the change is answered with %s, want %s", got, want)
	}
	r.Crash()
	r.Keeper = plans.NewKeeper(r.Parts)
	told, err = r.call(t, r.task, 8, abi.CallPlanGet, ``)
	if got := listed(told.Version, told.ChangedBy, told.Steps); err != nil || got != want {
		t.Errorf("the plugin is told %s, %v", got, err)
	}
	doc, err = r.UpdatePlan(t.Context(), r.Root(), nil, r.task.ID, abi.UpdatePlanRequest{Steps: []abi.PlannedStep{{ID: "mine", Content: "a", Status: abi.StepPending}, {Content: "b", Status: abi.StepPending}}})
	if err != nil {
		t.Fatal(err)
	}
	p := roomtest.As[abi.Plan](t, doc)
	if got := listed(p.Version, p.ChangedBy, p.Steps); got != "4 root: mine=a/pending step_v4_2=b/pending" {
		t.Errorf("the list is %s", got)
	}
	r.is(t, abi.TaskCompleted)
	if got := r.plan(t, r.task.ID); got.Version != 4 {
		t.Errorf("after the end the plan is %+v", got)
	}
	kinds := 0
	for _, kind := range r.Kinds(t, desk.Filter{TaskID: r.task.ID}) {
		if kind == abi.EventPlanChanged {
			kinds++
		}
	}
	if kinds != 4 {
		t.Errorf("%d changes are among the Task's events", kinds)
	}
}

// A Task that has ended keeps its plan, and whoever names a version changes no other.
func TestConflicts(t *testing.T) {
	r := newRoom(t)
	set := func(version, content string) error {
		_, err := r.call(t, r.task, 1, abi.CallPlanSet, `{"steps":[{"content":"`+content+`","status":"pending"}]`+version+`}`)
		return err
	}
	if err := set(`,"version":0`, "first"); err != nil {
		t.Fatal(err)
	}
	change := abi.UpdatePlanStepRequest{Status: status(abi.StepSkipped)}
	if _, err := r.UpdatePlanStep(t.Context(), r.Root(), nil, r.task.ID, "step_1_1", change); err != nil {
		t.Fatal(err)
	}
	refused, ok := errors.AsType[*provider.Refusal](set(`,"version":1`, "second"))
	if !ok || refused.Code != plans.CodeChanged || !strings.Contains(refused.Message, `"skipped"`) || !strings.Contains(refused.Message, "root has changed") {
		t.Errorf("the plugin is told %+v", refused)
	}
	one := int64(1)
	_, err := r.UpdatePlan(t.Context(), r.Root(), nil, r.task.ID, abi.UpdatePlanRequest{Steps: []abi.PlannedStep{}, Version: &one})
	roomtest.WantCode(t, err, abi.CodeConflict)
	if err := set(``, "third"); err != nil { // it takes whatever is there
		t.Error(err)
	}
	r.is(t, abi.TaskFailed)
	_, err = r.UpdatePlanStep(t.Context(), r.Root(), nil, r.task.ID, "step_1_1", change)
	roomtest.WantCode(t, err, abi.CodeConflict)
	_, err = r.UpdatePlan(t.Context(), r.Root(), nil, r.task.ID, abi.UpdatePlanRequest{})
	roomtest.WantCode(t, err, abi.CodeConflict)
}

// Of many who change a plan at once, each change is in it.
func TestManyChangeAtOnce(t *testing.T) {
	r := newRoom(t)
	var steps []abi.PlannedStep
	for i := range 8 {
		steps = append(steps, abi.PlannedStep{ID: fmt.Sprint(i), Content: "c", Status: abi.StepPending})
	}
	if _, err := r.UpdatePlan(t.Context(), r.Root(), nil, r.task.ID, abi.UpdatePlanRequest{Steps: steps}); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			if _, err := r.UpdatePlanStep(t.Context(), r.Root(), nil, r.task.ID, fmt.Sprint(i), abi.UpdatePlanStepRequest{Status: status(abi.StepCompleted)}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	p := r.plan(t, r.task.ID)
	if got := listed(p.Version, "", p.Steps); p.Version != 9 || strings.Contains(got, "pending") {
		t.Errorf("the plan is %s", got)
	}
}

// A change is made or the Task ends first: nothing is changed afterwards.
func TestAChangeAndTheEndOfItsTask(t *testing.T) {
	for range 50 {
		r := newRoom(t)
		var both sync.WaitGroup
		both.Go(func() { r.is(t, abi.TaskCanceled) })
		_, err := r.UpdatePlan(t.Context(), r.Root(), nil, r.task.ID, abi.UpdatePlanRequest{Steps: []abi.PlannedStep{}})
		both.Wait()
		if err != nil {
			roomtest.WantCode(t, err, abi.CodeConflict)
		}
		kinds := r.Kinds(t, desk.Filter{})
		changed := kinds[len(kinds)-1] == abi.EventPlanChanged
		if changed || (err == nil) != (kinds[len(kinds)-2] == abi.EventPlanChanged) {
			t.Fatalf("%v, and the events are %v", err, kinds)
		}
	}
}

// A change that is sent again is made once.
func TestAChangeIsMadeOnce(t *testing.T) {
	r := newRoom(t)
	for range 2 {
		doc, err := r.UpdatePlan(t.Context(), r.Root(), roomtest.Retry("k", "{}"), r.task.ID, abi.UpdatePlanRequest{Steps: []abi.PlannedStep{}})
		if p := roomtest.As[abi.Plan](t, doc); err != nil || p.Version != 1 {
			t.Errorf("%+v, %v", p, err)
		}
	}
}

// Whoever does not see a Task sees no plan of it.
func TestStrangersSeeNoPlan(t *testing.T) {
	r := newRoom(t)
	for who, c := range r.Strangers() {
		_, err := r.Plan(t.Context(), c, r.task.ID)
		_, err2 := r.UpdatePlan(t.Context(), c, nil, r.task.ID, abi.UpdatePlanRequest{})
		_, err3 := r.UpdatePlanStep(t.Context(), c, nil, r.task.ID, "x", abi.UpdatePlanStepRequest{})
		for _, err := range []error{err, err2, err3} {
			if own := roomtest.WantCode(t, err, abi.CodeResourceNotFound); !strings.Contains(own.Message, r.task.ID) {
				t.Errorf("%s is told %s", who, own.Message)
			}
		}
	}
	_, err := r.UpdatePlanStep(t.Context(), r.Bound(roomtest.Workspace), nil, r.task.ID, "x", abi.UpdatePlanStepRequest{})
	if own := roomtest.WantCode(t, err, abi.CodeResourceNotFound); !strings.Contains(own.Message, `no step "x"`) {
		t.Errorf("a step that is not there: %s", own.Message)
	}
}

// A plan is as large as it may be, and no larger.
func TestLimitsOfAPlan(t *testing.T) {
	r := newRoom(t)
	step := func(change func(*abi.PlannedStep)) []abi.PlannedStep {
		s := abi.PlannedStep{ID: "a", Content: "c", Status: abi.StepPending}
		change(&s)
		return []abi.PlannedStep{s}
	}
	many := make([]abi.PlannedStep, abi.MaxPlannedSteps)
	for i := range many {
		many[i] = abi.PlannedStep{Content: strings.Repeat("é", abi.MaxStepContent), Status: abi.StepSkipped}
	}
	if _, err := r.UpdatePlan(t.Context(), r.Root(), nil, r.task.ID, abi.UpdatePlanRequest{Steps: many}); err != nil {
		t.Error(err)
	}
	for param, steps := range map[string][]abi.PlannedStep{
		"steps":           append(many, many[0]),
		"steps.0.content": step(func(s *abi.PlannedStep) { s.Content = strings.Repeat("é", abi.MaxStepContent+1) }),
		"steps.0.status":  step(func(s *abi.PlannedStep) { s.Status = "done" }),
		"steps.0.id":      step(func(s *abi.PlannedStep) { s.ID = "a b" }),
		"steps.1.id":      append(step(func(*abi.PlannedStep) {}), step(func(*abi.PlannedStep) {})...),
		"steps.1.content": append(step(func(*abi.PlannedStep) {}), abi.PlannedStep{Status: abi.StepPending}),
	} {
		_, err := r.UpdatePlan(t.Context(), r.Root(), nil, r.task.ID, abi.UpdatePlanRequest{Steps: steps})
		roomtest.WantParam(t, err, param)
	}
	_, err := r.UpdatePlanStep(t.Context(), r.Root(), nil, r.task.ID, r.plan(t, r.task.ID).Steps[3].ID, abi.UpdatePlanStepRequest{Status: status("done")})
	roomtest.WantParam(t, err, "status")
	if got := r.plan(t, r.task.ID); got.Version != 1 {
		t.Errorf("something was written: version %d", got.Version)
	}
}

// An id that the host makes is none that the list has.
func TestIdsAreFree(t *testing.T) {
	r := newRoom(t)
	told, err := r.call(t, r.task, 3, abi.CallPlanSet, `{"steps":[{"id":"step_3_2","content":"a","status":"pending"},{"content":"b","status":"pending"}]}`)
	if got := listed(0, "", told.Steps); err != nil || got != "0 : step_3_2=a/pending step_3_2_=b/pending" {
		t.Errorf("%s, %v", got, err)
	}
}

// A fork begins with the plan that its source had where it leaves it, and changes its own.
func TestAForkHasThePlanOfItsSource(t *testing.T) {
	r := newRoom(t)
	at := func() string { return r.Store.Watermark().String() }
	begin := at()
	if _, err := r.call(t, r.task, 1, abi.CallPlanSet, `{"steps":[{"content":"a","status":"pending"}]}`); err != nil {
		t.Fatal(err)
	}
	first := at()
	if _, err := r.UpdatePlanStep(t.Context(), r.Root(), nil, r.task.ID, "step_1_1", abi.UpdatePlanStepRequest{Status: status(abi.StepCompleted)}); err != nil {
		t.Fatal(err)
	}
	fork := func(id, of, event string) *abi.Task {
		f := *r.Task()
		f.ID, f.Fork = id, &abi.TaskFork{SourceTaskID: of, AtEventID: event}
		r.State(t, roomtest.Workspace, roomtest.Session, abi.EventTaskSubmitted, abi.ObjectTask, id, &f)
		return &f
	}
	for id, test := range map[string]struct{ of, event, want string }{
		"task_begin":  {r.task.ID, begin, "0 :"},
		"task_first":  {r.task.ID, first, "1 persona_test: step_1_1=a/pending"},
		"task_latest": {r.task.ID, at(), "2 root: step_1_1=a/completed"},
		"task_whole":  {r.task.ID, "", "2 root: step_1_1=a/completed"},
	} {
		f := fork(id, test.of, test.event)
		told, err := r.call(t, f, 5, abi.CallPlanGet, `{}`)
		if got := listed(told.Version, told.ChangedBy, told.Steps); err != nil || got != test.want {
			t.Errorf("%s begins with %s, %v", id, got, err)
		}
	}
	again := fork("task_again", "task_first", "")
	if _, err := r.call(t, again, 6, abi.CallPlanSet, `{"version":1,"steps":[]}`); err != nil {
		t.Error(err)
	}
	if mine, source := r.plan(t, "task_again"), r.plan(t, r.task.ID); mine.Version != 2 || len(mine.Steps) != 0 || mine.TaskID != "task_again" || len(source.Steps) != 1 {
		t.Errorf("the fork has %+v, and its source %+v", mine, source)
	}
}
