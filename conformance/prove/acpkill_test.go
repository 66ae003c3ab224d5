package prove_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wharf-dev/wharf/conformance/internal/nodetest"
	"github.com/wharf-dev/wharf/internal/share"
)

// harbour is a turn in which the agent uses all that an editor has: its tools, files and terminals.
func harbour() []turn {
	return []turn{
		{says: []string{"I look ", "out."}, tool: "client__view", arguments: `{"of":"harbour"}`},
		{tool: "client__fs_read", arguments: `{"path":"/home/ann/project/tides.txt"}`},
		{says: []string{"Now I ", "make it."}, tool: "client__terminal_run", arguments: `{"command":"make"}`},
		{tool: "client__fs_write", arguments: `{"path":"/home/ann/project/tides.txt","content":"Low at noon."}`},
		{says: []string{"It is ", "done, ", "all of it."}},
	}
}

// harbourText is what the agent has said when it has ended.
const harbourText = "I look out.Now I make it.It is done, all of it."

// steered is what the user says meanwhile.
const steered = "Mind the moon."

// prompted is what it has said before.
const prompted = "What of the tide?"

// acpWays are how a client reaches a node.
var acpWays = map[string]func(*testing.T, *nodetest.Node) *acpLink{socket: socketLink, pipe: pipeLink}

const socket, pipe = "WebSocket", "wharf acp"

// acpSteps are the steps of a turn at which a node is killed, each the first time that it comes.
var acpSteps = []string{
	"asked in turn 0", // which is before the first update
	"agent_message_chunk", "hitl_request", "session/request_permission client.view", "answer to session/inject", "builtin_call", "tool_call",
	"tool_call_update", "user_message", "fs/read_text_file", "terminal/create", "terminal/wait_for_exit", "terminal/output", "terminal/release",
	"fs/write_text_file", "piece 1 of turn 4", "answer to session/prompt",
}

// allInOneTurn are those that come still when the node was killed at all before: while something waits in the
// inbox, too, from builtin_call on.
var allInOneTurn = []string{"asked in turn 0", "agent_message_chunk", "session/request_permission client.view", "builtin_call",
	"session/request_permission client.terminal_run", "terminal/create", "fs/write_text_file", "piece 1 of turn 4"}

// TestACPTurnOfAKilledNode kills a node in a turn that a client of the Agent Client Protocol has prompted for,
// while the client is asked for permission, has said something that waits, or is asked for its tools, files and
// terminals. Started again, the node goes on: the turn ends as it would have, everything is told once, what a
// client does is done as often as its tool promises, the receipt holds, and replays ask nobody.
func TestACPTurnOfAKilledNode(t *testing.T) {
	w := newWorld(t, harbour())
	node := builder.StartWith(t, nodetest.Options{Args: agentArgs(t, w.model, w.desk, "approve: destructive", "")})
	mine := share.Of(t)
	for _, way := range slices.Sorted(maps.Keys(acpWays)) {
		t.Run(way+", at all steps", func(t *testing.T) { killACP(t, w, node, way, allInOneTurn...) })
		for i, step := range acpSteps {
			t.Run(way+", at "+step, func(t *testing.T) {
				if !long() {
					t.Skip("kills at each step by itself take minutes: set WHARF_LONG=1")
				}
				share.Skip(t, mine, i)
				killACP(t, w, node, way, step)
			})
		}
	}
}

// killACP has a turn done while the node is killed at some steps of it.
func killACP(t *testing.T, w *world, node *nodetest.Node, way string, steps ...string) {
	t.Helper()
	h := newACPHost(t, w.gate)
	h.connect(acpWays[way](t, node), hostTools)
	defer func() { h.leaveNow() }()
	h.injects = steered
	h.open()
	arrived := w.stop(steps[0])
	answer := h.prompt(prompted)
	for i, step := range steps {
		h.wait(step, arrived)
		node.Kill(t)
		w.letGo()
		if way == socket {
			<-h.over // what the node had said by then is heard
		}
		if i+1 < len(steps) {
			arrived = h.stopBefore(w, steps[i+1])
		}
		node.Run(t)
		if way == socket {
			h.resume(t, node)
		}
	}
	c := newClient(node)
	task := c.onlyTask(t, h.session)
	if done := c.settled(t, task); text(done, "status") != "COMPLETED" {
		t.Fatalf("the task is %v: %v", done["status"], done["failure"])
	}
	if way == pipe { // the pipe outlives the node, and the prompt is answered
		if line := <-answer; line == nil || pick(line.Result, "stopReason") != "end_turn" {
			t.Errorf("the turn ends with %+v", line)
		}
	}
	h.until("the end of the turn", func() bool { return strings.HasSuffix(h.told(), "all of it.") })
	h.wantOnce(t, way)
	h.wantReplayed(t, w, c, task)
}

// wait waits until it has come to a step.
func (h *acpHost) wait(step string, arrived <-chan struct{}) {
	h.t.Helper()
	select {
	case <-arrived:
	case <-time.After(time.Minute):
		h.mu.Lock()
		defer h.mu.Unlock()
		h.t.Fatalf("%s has not come; it has heard %q", step, h.steps)
	}
}

// stopBefore has a step stop the turn, unless it has come already.
func (h *acpHost) stopBefore(w *world, step string) <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	if slices.Contains(h.steps, step) {
		come := make(chan struct{})
		close(come)
		return come
	}
	return w.stop(step)
}

// resume goes on over another connection, where the last has ended.
func (h *acpHost) resume(t *testing.T, n *nodetest.Node) {
	t.Helper()
	<-h.over
	h.connect(socketLink(t, n), hostTools)
	h.mu.Lock()
	last := h.last
	h.mu.Unlock()
	h.ok("session/resume", fmt.Sprintf(`{"sessionId":%q,"cwd":"/home/ann/project","mcpServers":[],"_meta":{"harn":{"after":%q}}}`, h.session, last))
}

// onlyTask returns the one Task of a Session.
func (c *client) onlyTask(t *testing.T, session string) string {
	t.Helper()
	all := c.all(t, "/v1/sessions/"+session+"/tasks")
	if len(all) != 1 {
		t.Fatalf("the session has %d tasks", len(all))
	}
	return text(all[0], "id")
}

// wantOnce holds that everything was told once, and done as often as was promised.
func (h *acpHost) wantOnce(t *testing.T, way string) {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	if got := h.text.String(); got != harbourText {
		t.Errorf("it is told %q, want %q", got, harbourText)
	}
	for event, n := range h.events {
		if n > 1 {
			t.Errorf("update %s is told %d times", event, n)
		}
	}
	for id, statuses := range h.tools {
		begun, ended := 0, 0
		for _, s := range statuses {
			switch {
			case ended > 0:
				t.Errorf("the tool call %s is told of after its end: %q", id, statuses)
			case strings.HasPrefix(s, "tool_call "):
				begun++
			case s == "tool_call_update completed", s == "tool_call_update failed":
				ended++
			}
		}
		if begun != 1 || ended != 1 {
			t.Errorf("the tool call %s is told as %q", id, statuses)
		}
	}
	words := h.words
	if len(words) > 0 && words[0] == prompted && way != pipe { // a connection of its own does not know who has prompted
		words = words[1:]
	}
	if len(words) != 1 || !strings.Contains(words[0], steered) {
		t.Errorf("of what the user has said it is told %q", h.words)
	}
	for what, n := range h.did {
		if n > 1 && (strings.HasPrefix(what, "view") || what == "terminal") {
			t.Errorf("%s was done %d times, and is not to be repeated", what, n)
		}
	}
	if h.did["write Low at noon."] == 0 {
		t.Errorf("nothing was written: %v", h.did)
	}
}

// wantReplayed holds that the receipt is valid, and that replays are the same to the byte and ask nobody: while
// the client is there, and when it has left.
func (h *acpHost) wantReplayed(t *testing.T, w *world, c *client, task string) {
	t.Helper()
	requests, heard := w.requests.Load(), h.asks()
	receipts := replays{}
	replay := func(place string) {
		replayed := c.replayed(t, task, object{"mode": "exact"})
		if text(replayed, "status") != "COMPLETED" {
			t.Errorf("%s: the replay is %v: %v", place, replayed["status"], replayed["failure"])
			return
		}
		receipts[place], _ = c.unsigned(t, text(replayed, "id"))
	}
	replay("with the client")
	h.leaveNow()
	replay("without a client")
	receipts.wantEqual(t, "the turn")
	c.wantProved(t, task)
	if n := w.requests.Load() - requests; n != 0 {
		t.Errorf("replays have asked the model or the tools %d times", n)
	}
	if n := h.asks() - heard; n != 0 {
		t.Errorf("replays have asked the client %d times", n)
	}
}

// asks counts what the node has asked the client.
func (h *acpHost) asks() (n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, step := range h.steps {
		for _, method := range []string{"session/request_permission", "host/", "builtin_call", "fs/", "terminal/"} {
			if strings.HasPrefix(step, method) {
				n++
			}
		}
	}
	return n
}
