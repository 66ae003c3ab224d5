package prove_test

import (
	"fmt"
	"testing"

	"github.com/wharf-dev/wharf/conformance/internal/nodetest"
)

// outline tells the calls of a record with their keys and statuses.
func (a *account) outline() (calls []string) {
	for _, e := range a.record.Entries {
		calls = append(calls, fmt.Sprint(e.Call, " ", e.Key, " ", e.Status))
	}
	return calls
}

// sharedCalls counts the first calls that two records have in common, answers and
// times included.
func sharedCalls(a, b *account) (n int) {
	for n < len(a.record.Entries) && n < len(b.record.Entries) {
		x, y := a.record.Entries[n], b.record.Entries[n]
		if x.Call != y.Call || !x.At.Equal(y.At) || string(x.Answer) != string(y.Answer) {
			break
		}
		n++
	}
	return n
}

// TestForksAtTheirBoundaries forks a Task before its first call, after each of some,
// at its last, and at its end. Each fork shares what it says, does the rest anew, and
// has a receipt and a replay of its own.
func TestForksAtTheirBoundaries(t *testing.T) {
	c := newClient(builder.StartWith(t, nodetest.Options{Args: scripted(t)}))
	c.run(t, "persona_echo", message("so that the chain does not begin here"))
	id := text(c.run(t, "persona_calls", everyCall()), "id")
	source := c.inspect(t, id)
	last := len(source.record.Entries) - 1
	for name, at := range map[string]struct {
		event  string
		shared int
	}{
		"at 0":                 {"0", 0},
		"after the first call": {source.record.Entries[0].EventID, 1},
		"in the middle":        {source.record.Entries[last/2].EventID, last/2 + 1},
		"at the last call":     {source.record.Entries[last].EventID, last + 1},
		"at the end":           {"", last + 1},
	} {
		t.Run(name, func(t *testing.T) {
			body := object{}
			if at.event != "" {
				body["at_event_id"] = at.event
			}
			fork := text(c.post(t, "/wharf/v1/tasks/"+id+"/fork", body), "id")
			if task := c.settled(t, fork); text(task, "status") != "COMPLETED" {
				t.Fatalf("the fork is %v: %v", task["status"], task["failure"])
			}
			a := c.inspect(t, fork)
			// Events that were written at once may be shared together.
			if n := sharedCalls(source, a); n < at.shared || at.shared == 0 && n > 0 {
				t.Errorf("%d calls are shared, not %d", n, at.shared)
			}
			if got, want := fmt.Sprint(a.outline()), fmt.Sprint(source.outline()); got != want {
				t.Errorf("the fork has another course:\n%s\n%s", got, want)
			}
			c.wantProved(t, fork)
		})
	}
	c.wantProved(t, id)
}

// TestTruncatedSessionsAreReplayed truncates and forks a Session whose Tasks have read
// its transcript: what they were told stays what it was.
func TestTruncatedSessionsAreReplayed(t *testing.T) {
	c := newClient(builder.StartWith(t, nodetest.Options{Args: scripted(t)}))
	session := c.session(t)
	var tasks []string
	for range 3 {
		id := c.submit(t, session, "persona_calls", program(step("transcript.read", `{"last":50}`),
			step("message.append", `{"role":"assistant","parts":[{"type":"text","text":"said $digest","visibility":"public"}]}`)))
		c.settled(t, id)
		tasks = append(tasks, id)
	}
	before := map[string]string{}
	for _, id := range tasks {
		before[id], _ = c.unsigned(t, text(c.replayed(t, id, object{"mode": "exact"}), "id"))
	}
	fork := text(c.post(t, "/v1/sessions/"+session+"/fork", object{}), "id")
	c.post(t, "/v1/sessions/"+session+"/truncate", object{"keep_turns": 1})
	if n := len(c.all(t, "/v1/sessions/"+session+"/messages")); n != 1 {
		t.Errorf("%d Messages are left", n)
	}
	if n := len(c.all(t, "/v1/sessions/"+fork+"/messages")); n != 3 {
		t.Errorf("the fork has %d Messages", n)
	}
	elsewhere := newClient(builder.StartWith(t, nodetest.Options{Args: compiled(), Data: restored(t, copyOf(t, c))}))
	for _, id := range tasks {
		c.wantProved(t, id)
		replay := elsewhere.replayed(t, id, object{"mode": "exact"})
		if after, _ := elsewhere.unsigned(t, text(replay, "id")); after != before[id] {
			t.Errorf("the receipt has changed:\n%s", difference(before[id], after))
		}
	}
	list, _ := c.post(t, "/wharf/v1/sessions/"+session+"/replay", object{})["data"].([]any)
	if len(list) != len(tasks) {
		t.Errorf("the Session is replayed as %d Tasks", len(list))
	}
	for _, replay := range list {
		if task := c.settled(t, text(replay.(object), "id")); text(task, "status") != "COMPLETED" {
			t.Errorf("replaying the Session: %v", task["failure"])
		}
	}
}
