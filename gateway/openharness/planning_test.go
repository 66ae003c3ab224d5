package openharness_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/sandbox"
)

// plans sets a plan, waits to be let go, and reads what has become of it.
func plans(entered, leave chan struct{}, told chan string) enginetest.Guest {
	return func(ctx context.Context, h sandbox.Host) error {
		if err := call(ctx, h, abi.CallPlanSet, `{"steps":[{"id":"a","content":"look","status":"in_progress"},{"content":"write","status":"pending"}]}`); err != nil {
			return err
		}
		return enginetest.Hold(entered, leave, func(ctx context.Context, h sandbox.Host) error {
			_, answer, err := h.Call(ctx, abi.CallPlanGet, nil)
			told <- string(answer)
			return err
		})(ctx, h)
	}
}

// planned starts an execution that has a plan, in the harness wharf.
func planned(t *testing.T) (n *node, path string, leave chan struct{}, told chan string, end func()) {
	entered, leave, told := make(chan struct{}, 10), make(chan struct{}), make(chan string, 10)
	n = newNode(t, enginetest.Guests{"agent": plans(entered, leave, told)})
	h, err := n.Harness(t.Context(), n.Root, "wharf")
	if err != nil {
		t.Fatal(err)
	}
	task := n.Submit(t, n.sessionIn(t, h.WorkspaceID), h.PersonaID)
	<-entered
	return n, "/wharf/executions/" + task + "/plan", leave, told, func() {
		close(leave)
		n.Wait(t, task)
	}
}

// Whoever uses the API sees the plan of an execution, and changes it while that goes on: the plugin
// is told, and the stream tells each change once, also to a client that was away.
func TestPlanOfAnExecution(t *testing.T) {
	n, path, _, told, end := planned(t)
	if a := n.do(t, "GET", path, nil).want(200); a.text("plan.tasks.0.id") != "a" || a.text("plan.tasks.1.content") != "write" || !strings.Contains(path, a.text("plan.execution_id")) {
		t.Errorf("%s", a.body)
	}
	second := n.do(t, "GET", path+"/tasks?status=pending", nil).want(200).text("tasks.0.id")
	if a := n.do(t, "PATCH", path+"/tasks/a", map[string]any{"status": "completed", "content": "looked"}).want(200); a.text("task.status") != "completed" {
		t.Errorf("%s", a.body)
	}
	a := n.do(t, "PATCH", path, map[string]any{"tasks": []any{
		map[string]any{"id": "b", "content": "new", "status": "pending", "order": 2},
		map[string]any{"id": "a", "content": "looked", "status": "completed", "order": 1},
		map[string]any{"id": second, "content": "write", "status": "completed", "order": 0, "skipped": true}}}).want(200)
	if a.text("plan.tasks.0.id") != second || a.get("plan.tasks.0.skipped") != true || a.text("plan.tasks.2.id") != "b" {
		t.Errorf("%s", a.body)
	}
	n.do(t, "PATCH", path, nil).want(200) // nothing to replace
	end()
	if got := <-told; !strings.Contains(got, `"version":3`) || !strings.Contains(got, `"status":"skipped"`) || !strings.Contains(got, `"changed_by":"key:root"`) {
		t.Errorf("the plugin is told %s", got)
	}
	n.do(t, "GET", path, nil).want(200)
	n.do(t, "PATCH", path+"/tasks/a", map[string]any{"status": "pending"}).fails(409, "CONFLICT")
	n.do(t, "PATCH", path, map[string]any{"tasks": []any{}}).fails(409, "CONFLICT")

	var all []sse
	for s := n.streams(t, "GET", path+"/stream", nil); ; {
		ev, ok := s.next()
		if !ok {
			break
		}
		schema.fits(t, "PlanEvent", []byte(ev.data))
		all = append(all, ev)
	}
	kinds := ""
	for _, ev := range all {
		kinds += ev.event + " "
	}
	if kinds != "task.added task.added task.updated task.added task.updated plan.reordered " {
		t.Fatalf("the stream tells %s", kinds)
	}
	for i, seen := range all { // cut after each, and resumed
		s := n.streams(t, "POST", path+"/stream", nil, header("Last-Event-ID", seen.id))
		for _, want := range all[i+1:] {
			if ev, ok := s.next(); !ok || ev != want {
				t.Errorf("after %s comes %v, want %v", seen.id, ev, want)
			}
		}
		if ev, ok := s.next(); ok {
			t.Errorf("after %s comes %v too", seen.id, ev)
		}
	}
}

func TestPlansAreRefused(t *testing.T) {
	n, path, _, _, end := planned(t)
	defer end()
	other, err := n.CreateWorkspace(t.Context(), n.Root, nil, abi.CreateWorkspaceRequest{Name: "o", Root: "/o"})
	if err != nil {
		t.Fatal(err)
	}
	reads, writes := []string{path, path + "/tasks", path + "/stream"}, []string{path, path + "/tasks/a"}
	for method, paths := range map[string][]string{"GET": reads, "PATCH": writes} {
		scope := map[string]string{"GET": "tasks:write", "PATCH": "tasks:read"}[method]
		for _, at := range paths {
			n.do(t, method, at, nil, by("")).fails(401, "UNAUTHORIZED")
			n.do(t, method, at, nil, by(n.key(t, []string{scope, "harnesses:read"}))).fails(403, "FORBIDDEN")
			n.do(t, method, at, nil, by(n.stranger(t))).fails(404, "NOT_FOUND")
			n.do(t, method, at, nil, by(n.key(t, []string{abi.ScopeAll}, other.ID))).fails(404, "NOT_FOUND")
			if method == "GET" || at != path {
				n.do(t, method, strings.Replace(at, "/executions/task_", "/executions/task_x", 1), nil).fails(404, "NOT_FOUND")
			}
		}
	}
	n.do(t, "PATCH", path+"/tasks/none", map[string]any{"status": "pending"}).fails(404, "NOT_FOUND")
	n.do(t, "GET", path+"/tasks?status=skipped", nil).fails(400, "VALIDATION_ERROR")
	n.do(t, "PATCH", path+"/tasks/a", map[string]any{"status": "done"}).fails(400, "VALIDATION_ERROR")
	n.do(t, "PATCH", path, map[string]any{"tasks": 5}).fails(400, "VALIDATION_ERROR")
	many := make([]any, abi.MaxPlannedSteps)
	for i := range many {
		many[i] = map[string]any{"id": fmt.Sprint(i), "content": strings.Repeat("é", abi.MaxStepContent), "status": "pending", "order": i}
	}
	n.do(t, "PATCH", path, map[string]any{"tasks": many}).want(200)
	n.do(t, "PATCH", path, map[string]any{"tasks": append(many, map[string]any{"id": "x", "content": "c", "status": "pending", "order": 999})}).fails(400, "VALIDATION_ERROR")
	if a := n.do(t, "PATCH", path, map[string]any{"tasks": []any{map[string]any{"id": "x", "content": strings.Repeat("é", abi.MaxStepContent+1), "status": "pending", "order": 0}}}); a.want(400).text("error.details.param") != "tasks.0.content" {
		t.Errorf("%s", a.body)
	}
}
