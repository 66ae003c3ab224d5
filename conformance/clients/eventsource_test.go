package clients

import (
	"bufio"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/wharf-dev/wharf/conformance/internal/nodetest"
)

// follower is a running follow.mjs.
type follower struct {
	lines *bufio.Scanner
}

// seen is a line that it prints.
type seen struct {
	Open   int
	ID     string
	Event  string
	Agrees bool
}

func follow(t *testing.T, n *nodetest.Node, path string) *follower {
	t.Helper()
	_, lines := launch(t, nil, "node", "follow.mjs", n.URL+path, nodetest.Key, nodetest.Version)
	return &follower{lines}
}

// until reads up to the line that match takes, and returns the ids of the events
// read, the one in that line included.
func (f *follower) until(t *testing.T, match func(seen) bool) (ids []string) {
	t.Helper()
	for f.lines.Scan() {
		var line seen
		if err := json.Unmarshal(f.lines.Bytes(), &line); err != nil {
			t.Fatalf("follow.mjs printed %q: %v", f.lines.Text(), err)
		}
		if line.ID != "" {
			ids = append(ids, line.ID)
			if !line.Agrees {
				t.Errorf("frame %s %s disagrees with the Event in its data", line.ID, line.Event)
			}
		}
		if match(line) {
			return ids
		}
	}
	t.Fatalf("follow.mjs ended early: %v", f.lines.Err())
	return nil
}

// TestEventSourceAcrossRestarts follows a Session with the eventsource package
// while the node is restarted underneath it. The package reconnects by itself and
// sends Last-Event-ID; what it delivers in the end must be the log, once.
func TestEventSourceAcrossRestarts(t *testing.T) {
	needPackages(t)
	for name, stop := range map[string]func(*nodetest.Node, testing.TB){
		"killed": (*nodetest.Node).Kill, "drained": (*nodetest.Node).Stop,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // most of the time, the client waits before it connects again
			n := builder.Start(t)
			session := newSession(t, n)
			path := "/v1/sessions/" + session
			f := follow(t, n, path+"/events/stream")
			var got []string
			for round := range 3 {
				got = append(got, f.until(t, func(s seen) bool { return s.Open == round+1 })...)
				for i := range 3 {
					call(t, n, "POST", path+"/tasks", map[string]any{"input": say(fmt.Sprintf("round %d, task %d", round, i))})
				}
				last := call(t, n, "POST", path+"/messages", map[string]any{"message": say("end of the round")})
				end := eventOf(t, n, path, last["id"].(string))
				got = append(got, f.until(t, func(s seen) bool { return s.ID == end })...)
				if round < 2 {
					stop(n, t)
					n.Run(t)
				}
			}
			want := eventIDs(t, n, path)
			want = want[:slices.Index(want, got[len(got)-1])+1]
			if !slices.Equal(got, want) {
				t.Errorf("the client saw\n%v, the log has\n%v", got, want)
			}
		})
	}
}

// eventOf finds the event that appended a Message.
func eventOf(t *testing.T, n *nodetest.Node, session, message string) string {
	t.Helper()
	for _, e := range list(t, n, session+"/events") {
		if resource, _ := e["resource"].(map[string]any); resource["id"] == message {
			return e["id"].(string)
		}
	}
	t.Fatalf("no event tells of message %s", message)
	return ""
}

func eventIDs(t *testing.T, n *nodetest.Node, session string) []string {
	t.Helper()
	var ids []string
	for _, e := range list(t, n, session+"/events") {
		ids = append(ids, e["id"].(string))
	}
	return ids
}
