package harn_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wharf-dev/wharf/runtime/deletion"
	"github.com/wharf-dev/wharf/runtime/engine"
	"github.com/wharf-dev/wharf/storage/pebble/crashtest"
)

// tellsOfRoom counts the lines of a log that say that a Workspace stays above its limit.
type tellsOfRoom struct {
	lines *atomic.Int64
}

// Handle implements slog.Handler.
func (h tellsOfRoom) Handle(_ context.Context, r slog.Record) error {
	if strings.Contains(r.Message, "more room than it may") {
		h.lines.Add(1)
	}
	return nil
}

// Enabled implements slog.Handler.
func (tellsOfRoom) Enabled(context.Context, slog.Level) bool { return true }

// WithAttrs implements slog.Handler.
func (h tellsOfRoom) WithAttrs([]slog.Attr) slog.Handler { return h }

// WithGroup implements slog.Handler.
func (h tellsOfRoom) WithGroup(string) slog.Handler { return h }

// hands is a clock that stands, but for when it is moved on.
type hands struct {
	start time.Time
	by    atomic.Int64
}

func (h *hands) now() time.Time { return h.start.Add(time.Duration(h.by.Load())) }

func (h *hands) move(d time.Duration) { h.by.Add(int64(d)) }

// worked submits Tasks of a Workspace, each with a Session of its own and some 8 KiB that do not pack, and waits for their ends.
func (n *node) worked(t *testing.T, workspace string, count int) (tasks []string) {
	t.Helper()
	for i := range count {
		var text strings.Builder
		for j := range 128 {
			fmt.Fprintf(&text, "%x", sha256.Sum256(fmt.Append(nil, workspace, i, j)))
		}
		task := n.do(t, "POST", "/v1/tasks", object{"persona_id": "persona_echo", "input": object{"text": text.String()}, "session": object{"workspace_id": workspace}}).want(202).id()
		n.waitEnded(t, task)
		tasks = append(tasks, task)
	}
	return tasks
}

func (n *node) used(t *testing.T, workspace string) int64 {
	t.Helper()
	used, ok := n.do(t, "GET", "/v1/workspaces/"+workspace, nil).want(200).get("used_bytes").(float64)
	if !ok {
		t.Fatalf("%s does not say what it takes", workspace)
	}
	return int64(used)
}

func (n *node) limit(t *testing.T, workspace string, bytes int64) {
	t.Helper()
	n.do(t, "PATCH", "/v1/workspaces/"+workspace, object{"retention": object{"max_bytes": bytes}}).want(200)
}

// missing returns which of some Tasks are gone.
func (n *node) missing(t *testing.T, tasks []string) (gone []string) {
	t.Helper()
	for _, id := range tasks {
		if a := n.do(t, "GET", "/v1/tasks/"+id, nil); a.status == 404 {
			gone = append(gone, id)
		} else {
			a.want(200)
		}
	}
	return gone
}

// TestWorkspaceLimit checks that a Workspace that takes more than it may loses its oldest Tasks, no more of them than needed, and
// none that is held, shared or has not ended; that no other Workspace does; and that what cannot be helped is told once.
func TestWorkspaceLimit(t *testing.T) {
	clock := hands{start: time.Now()}
	var told atomic.Int64
	n := bootWhole(t, crashtest.NewDisk(), t.TempDir(), func(p *engine.Parts) {
		p.Now, p.Log = clock.now, slog.New(tellsOfRoom{lines: &told})
	})
	full := n.do(t, "POST", "/v1/workspaces", object{"name": "full", "root": "/f"}).want(201).id()
	other := n.do(t, "POST", "/v1/workspaces", object{"name": "other", "root": "/o"}).want(201).id()
	waiting := n.waiting(t, n.do(t, "POST", "/v1/tasks", object{"persona_id": "persona_ask", "input": object{}, "session": object{"workspace_id": full}}).want(202).id())
	tasks, others := n.worked(t, full, 20), n.worked(t, other, 5)
	source, held := tasks[0], tasks[1]
	fork := n.do(t, "POST", "/wharf/v1/tasks/"+source+"/fork", object{}).want(202).id()
	n.waitEnded(t, fork)
	hold := n.do(t, "POST", "/wharf/v1/holds", object{"resource_id": held, "reason": "case 4711"}).want(201).id()

	limiter := n.NewLimiter()
	shrink := func(want bool) deletion.Removed {
		t.Helper()
		removed, err := limiter.Shrink(t.Context())
		if err != nil || removed.Tasks > 0 != want {
			t.Fatalf("%+v were removed, %v", removed, err)
		}
		return removed
	}
	shrink(false) // nothing has a limit
	limit := n.used(t, full) * 3 / 4
	n.limit(t, full, limit)
	clock.move(30 * time.Second) // a new limit is seen, and nothing has settled yet
	shrink(false)
	clock.move(5 * time.Minute)
	removed := shrink(true)
	if used := n.used(t, full); used > limit || used < limit*7/10 {
		t.Errorf("it takes %d, and may %d", used, limit)
	}
	if gone := n.missing(t, tasks); len(gone) != removed.Tasks || gone[0] != tasks[2] || gone[len(gone)-1] != tasks[len(gone)+1] {
		t.Errorf("%d were removed; of %q these are gone: %q", removed.Tasks, tasks, gone)
	}
	shrink(false)
	if gone := n.missing(t, append(others, waiting, fork, source, held)); len(gone) > 0 {
		t.Errorf("these are gone, too: %q", gone)
	}
	n.wantSound(t)

	onAll := n.do(t, "POST", "/wharf/v1/holds", object{"resource_id": full, "reason": "case 4712"}).want(201).id()
	n.limit(t, full, 1)
	told.Store(0)
	for range 3 {
		clock.move(5 * time.Minute)
		shrink(false)
	}
	if told.Load() != 1 {
		t.Errorf("it was told %d times that a held Workspace is too large", told.Load())
	}
	n.do(t, "POST", "/wharf/v1/holds/"+onAll+"/release", nil).want(200)
	n.do(t, "POST", "/wharf/v1/holds/"+hold+"/release", nil).want(200)
	clock.move(5 * time.Minute)
	shrink(true)
	for end := time.Now().Add(patience); len(n.missing(t, append(tasks, fork))) < len(tasks)+1; { // the source goes once its fork is gone
		if time.Now().After(end) {
			t.Fatalf("of what has ended these alone are gone: %q", n.missing(t, append(tasks, fork)))
		}
		clock.move(5 * time.Minute)
		if _, err := limiter.Shrink(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if gone := n.missing(t, append(others, waiting)); len(gone) > 0 {
		t.Errorf("these are gone, too: %q", gone)
	}
	if told.Load() != 1 {
		t.Errorf("it was told %d times that the Workspace is too large", told.Load())
	}
	n.wantSound(t)
}

// TestWorkspaceLimitIsChecked sends limits of every spelling.
func TestWorkspaceLimitIsChecked(t *testing.T) {
	n := bootWhole(t, crashtest.NewDisk(), t.TempDir())
	w := n.do(t, "POST", "/v1/workspaces", object{"name": "w", "root": "/w"}).want(201).id()
	for _, bad := range []string{"0", "-1", "1.5", `"10GiB"`, `"10"`, "1125899906842625", "9223372036854775807", "9223372036854775808", "1e300", "true", "{}", "[1]"} {
		a := n.do(t, "PATCH", "/v1/workspaces/"+w, `{"retention":{"max_bytes":`+bad+`}}`).want(400)
		if text := string(a.body); !strings.Contains(text, "max_bytes") || strings.Contains(text, "int64") {
			t.Errorf("%s: %s", bad, text)
		}
	}
	for _, good := range []string{"1", "1125899906842624"} {
		a := n.do(t, "PATCH", "/v1/workspaces/"+w, `{"retention":{"task_days":3,"max_bytes":`+good+`}}`).want(200)
		if got := fmt.Sprintf("%.0f", a.get("retention", "max_bytes")); got != good {
			t.Errorf("%s is %s", good, got)
		}
	}
	for _, none := range []string{`{"retention":{"task_days":3}}`, `{"retention":{"max_bytes":null,"task_days":3}}`} {
		n.limit(t, w, 5)
		if a := n.do(t, "PATCH", "/v1/workspaces/"+w, none).want(200); a.get("retention", "max_bytes") != nil {
			t.Errorf("%s: %s", none, a.body)
		}
	}
	n.limit(t, w, 5)
	if a := n.do(t, "PATCH", "/v1/workspaces/"+w, `{"retention":null}`).want(200); a.get("retention") != nil {
		t.Errorf("it has %s", a.body)
	}
	scopes := []string{"workspaces:write", "workspaces:read"}
	secret := n.do(t, "POST", "/wharf/v1/keys", object{"name": "no admin", "scopes": scopes}).want(201).get("key").(string)
	n.do(t, "PATCH", "/v1/workspaces/"+w, object{"retention": object{"max_bytes": 1}}, key(secret)).want(403)
	n.do(t, "GET", "/v1/workspaces/"+w, nil, key(secret)).want(200)
	n.do(t, "GET", "/v1/workspaces/ws_none", nil).want(404)
}
