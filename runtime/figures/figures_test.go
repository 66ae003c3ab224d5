package figures

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wharf-dev/wharf/abi"
)

// Whoever installs plugins and names codes without end makes a bounded number of figures, and none is
// lost.
func TestNamesAreBounded(t *testing.T) {
	b := New(slog.New(slog.DiscardHandler))
	var all sync.WaitGroup
	for i := range 3 * maxPlugins {
		all.Go(func() {
			b.Ran(fmt.Sprint("plugin-", i), time.Second, 2, 3)
			b.Ended("ten_1", "one", &abi.Task{Status: abi.TaskFailed, Failure: &abi.Failure{Code: fmt.Sprint("code_", i, strings.Repeat("\xff", i))}})
			b.Answered(fmt.Sprint("model-", i), "openai", abi.ModelUsage{InputTokens: 1, OutputTokens: 2}, 0.5, "USD")
		})
	}
	all.Wait()
	plugins, models := b.Plugins(), b.Models()
	if len(plugins) > maxPlugins+1 || len(models) > maxModels+1 {
		t.Fatalf("%d plugins, %d models", len(plugins), len(models))
	}
	var runs, failed, calls, answered uint64
	for _, p := range plugins {
		runs, calls = runs+p.Runs, calls+p.HostCalls
		for code, n := range p.Failed {
			if failed += n; len(code) > maxCode || code != strings.ToValidUTF8(code, "") {
				t.Errorf("the code %q", code)
			}
		}
		if len(p.Failed) > maxCodes+1 {
			t.Errorf("%d codes", len(p.Failed))
		}
	}
	for _, m := range models {
		answered += m.Answered
	}
	if want := uint64(3 * maxPlugins); runs != want || calls != 3*want || failed != want || answered != want {
		t.Errorf("%d runs, %d calls, %d failed, %d answered", runs, calls, failed, answered)
	}
}

// A Task that fails is logged once, with ids and without a word of its content; others are not.
func TestFailedTasksAreLogged(t *testing.T) {
	var log bytes.Buffer
	b := New(slog.New(slog.NewTextHandler(&log, nil)))
	about := &abi.Task{Envelope: abi.Envelope{ID: "task_1"}, PersonaID: "persona_x", WorkspaceID: "ws_1", SessionID: "sess_1", Attempt: 2}
	for _, status := range []abi.TaskStatus{abi.TaskCompleted, abi.TaskCanceled} {
		about.Status = status
		b.Ended("ten_1", "echo", about)
	}
	if log.Len() > 0 {
		t.Errorf("%s", log.String())
	}
	about.Status, about.Failure = abi.TaskFailed, &abi.Failure{Code: "plugin_trap", Message: "canary"}
	b.Ended("ten_1", "", about)
	const want = `level=WARN msg="task failed" task=task_1 code=plugin_trap plugin=none persona=persona_x workspace=ws_1 session=sess_1 tenant=ten_1 attempt=2`
	if got := log.String(); !strings.Contains(got, want) || strings.Count(got, "\n") != 1 || strings.Contains(got, "canary") {
		t.Errorf("%s", got)
	}
	got := b.Plugins()
	if len(got) != 2 || got[0].Completed != 1 || got[0].Canceled != 1 || got[1].Name != NoPlugin || got[1].Failed["plugin_trap"] != 1 {
		t.Errorf("%+v", got)
	}
}

func TestModels(t *testing.T) {
	b := New(slog.New(slog.DiscardHandler))
	b.Answered("big", "anthropic", abi.ModelUsage{InputTokens: 10, OutputTokens: 5}, 0.25, "USD")
	b.Answered("big", "anthropic", abi.ModelUsage{InputTokens: 1, OutputTokens: -1}, 0.25, "USD")
	b.Unanswered("big", "anthropic", "model_overloaded")
	got := b.Models()
	if len(got) != 1 || got[0].Provider != "anthropic" || got[0].Answered != 2 || got[0].Input != 11 || got[0].Output != 5 || got[0].Cost["USD"] != 0.5 || got[0].Failed["model_overloaded"] != 1 {
		t.Errorf("%+v", got)
	}
	var none *Book
	none.Ran("x", 0, 0, 0)
	none.Ended("", "", &abi.Task{})
	none.Answered("", "", abi.ModelUsage{}, 0, "")
	none.Unanswered("", "", "")
	if none.Plugins() != nil || none.Models() != nil {
		t.Error("no book counts")
	}
}
