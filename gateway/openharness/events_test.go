package openharness_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/sandbox"
)

// says logs a line of each level, and then fails.
func says(ctx context.Context, h sandbox.Host) error {
	for _, level := range []string{"debug", "info", "warn", "error"} {
		if err := call(ctx, h, abi.CallLog, `{"level":"`+level+`","message":"a line of `+level+`"}`); err != nil {
			return err
		}
	}
	return breaks(ctx, h)
}

// What a harness has told of is listed newest first, by kind and by time, and is nobody else's.
func TestListEvents(t *testing.T) {
	n := newNode(t, enginetest.Guests{"breaks": breaks})
	n.do(t, "POST", "", register).want(201)
	h, err := n.Harness(t.Context(), n.Root, "mine")
	if err != nil {
		t.Fatal(err)
	}
	session := n.sessionIn(t, h.WorkspaceID)
	for range 3 {
		n.Wait(t, n.Submit(t, session, h.PersonaID))
	}
	elsewhere := n.Session(t)
	n.Wait(t, n.Submit(t, elsewhere, "persona_breaks"))
	kinds := func(a answer) (all string) {
		for i := range 20 {
			if kind := a.get(fmt.Sprintf("data.%d.type", i)); kind != nil {
				all += kind.(string) + " "
			}
		}
		return all
	}
	got := n.do(t, "GET", "/mine/events", nil).want(200)
	if want := strings.Repeat("execution.completed execution.started ", 3) + "session.created "; kinds(got) != want || got.get("total") != 7.0 {
		t.Errorf("%s", got.body)
	}
	if got := n.do(t, "GET", "/mine/events?type=execution.started&limit=2", nil).want(200); kinds(got) != "execution.started execution.started " || got.get("has_more") != true {
		t.Errorf("%s", got.body)
	}
	since := got.text("data.2.timestamp")
	if got := n.do(t, "GET", "/mine/events?since="+since, nil).want(200); kinds(got) != "execution.completed execution.started " {
		t.Errorf("since %s: %s", since, got.body)
	}
	if got := n.do(t, "GET", "/wharf/events", nil).want(200); kinds(got) != "execution.completed execution.started session.created " || got.text("data.0.data.status") != "failed" {
		t.Errorf("%s", got.body)
	}
	n.do(t, "GET", "/mine/events?type=nonsense", nil).fails(400, "VALIDATION_ERROR")
	n.do(t, "GET", "/mine/events?since=yesterday", nil).fails(400, "VALIDATION_ERROR")
	n.do(t, "GET", "/mine/events", nil, by(n.key(t, []string{"harnesses:read"}))).fails(403, "FORBIDDEN")
	n.do(t, "GET", "/mine/events", nil, by(n.key(t, []string{"*"}, "ws_default"))).fails(404, "NOT_FOUND")
	if got := n.do(t, "GET", "/wharf/events", nil, by(n.stranger(t))).want(200); got.get("total") != 0.0 {
		t.Errorf("another tenant sees %s", got.body)
	}
}

// The log of a harness has the lines of its own executions.
func TestLogs(t *testing.T) {
	n := newNode(t, enginetest.Guests{"agent": says})
	n.do(t, "POST", "", register).want(201)
	n.Wait(t, n.Submit(t, n.Session(t), "persona_agent"))
	lines := func(a answer) (all []string) {
		for i := range 20 {
			if message := a.get(fmt.Sprintf("data.%d.message", i)); message != nil {
				all = append(all, message.(string))
			}
		}
		return all
	}
	for query, want := range map[string]int{"": 6, "?level=debug": 6, "?level=info": 5, "?level=warn": 3, "?level=error": 2} {
		if got := n.do(t, "GET", "/wharf/logs"+query, nil).want(200); len(lines(got)) != want {
			t.Errorf("%s: %q, want %d", query, lines(got), want)
		}
	}
	if got := n.do(t, "GET", "/wharf/logs", nil).want(200); got.text("data.0.level") != "error" || got.text("data.0.context.execution_id") == "" {
		t.Errorf("%s", got.body)
	}
	if got := n.do(t, "GET", "/mine/logs", nil).want(200); got.get("total") != 0.0 {
		t.Errorf("%s", got.body)
	}
	n.do(t, "GET", "/wharf/logs?level=loud", nil).fails(400, "VALIDATION_ERROR")
	n.do(t, "GET", "/wharf/logs", nil, by(n.key(t, []string{"tasks:read"}))).fails(403, "FORBIDDEN")
	if got := n.do(t, "GET", "/wharf/logs", nil, by(n.stranger(t))).want(200); got.get("total") != 0.0 {
		t.Errorf("another tenant sees %s", got.body)
	}
}

// What is recent is found in a log of which most is others'.
func TestRecentAmongMuch(t *testing.T) {
	n := newNode(t, nil)
	n.do(t, "POST", "", register).want(201)
	h, err := n.Harness(t.Context(), n.Root, "mine")
	if err != nil {
		t.Fatal(err)
	}
	n.Wait(t, n.Submit(t, n.sessionIn(t, h.WorkspaceID), h.PersonaID))
	elsewhere := n.Session(t)
	text := "x"
	for range 1200 {
		if _, err := n.AppendMessage(t.Context(), n.Root, nil, elsewhere, abi.AppendMessageRequest{Message: &abi.MessageInput{Role: abi.RoleUser,
			Parts: []abi.Part{{Type: "text", Text: &text}}}}); err != nil {
			t.Fatal(err)
		}
	}
	if got := n.do(t, "GET", "/mine/events", nil).want(200); got.get("total") != 3.0 {
		t.Errorf("%s", got.body)
	}
}

func TestDiagnostics(t *testing.T) {
	g, entered, leave := hold()
	n := newNode(t, enginetest.Guests{"agent": g})
	session := n.Session(t)
	task := n.Submit(t, session, "persona_agent")
	<-entered
	got := n.do(t, "GET", "/wharf/diagnostics", nil).want(200)
	if got.get("active_executions") != 1.0 || got.get("active_sessions") != 1.0 || got.text("harness_id") != "wharf" || got.get("uptime_seconds").(float64) > float64(time.Hour) {
		t.Errorf("%s", got.body)
	}
	close(leave)
	n.Wait(t, task)
	if got := n.do(t, "GET", "/wharf/diagnostics", nil).want(200); got.get("active_executions") != 0.0 {
		t.Errorf("%s", got.body)
	}
	n.do(t, "GET", "/wharf/diagnostics", nil, by(n.key(t, []string{"events:read"}))).fails(403, "FORBIDDEN")
}
