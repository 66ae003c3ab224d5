package clients

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/conformance/internal/nodetest"
	"github.com/wharf-dev/wharf/gateway/acp/acptest"
)

// acpClient is the official SDK for TypeScript, told what to do line by line. Each line that the node says to it
// is held against the schema, and a complaint of the SDK fails the test.
type acpClient struct {
	t     *testing.T
	in    io.WriteCloser
	lines *bufio.Scanner
	check *acptest.Checker
	asked int
	said  strings.Builder // the agent's text, of all sessions
}

// acpStep is what a step has come to.
type acpStep struct {
	Step   string
	Result map[string]any
	Error  *struct {
		Code    int
		Message string
		Data    map[string]any
	}
	Updates []map[string]any
}

func startACP(t *testing.T, node string, args ...string) *acpClient {
	t.Helper()
	in, lines := launch(t, []string{"WHARF_API_KEY=" + nodetest.Key}, node, append([]string{"acp-tour.mjs"}, args...)...)
	check, err := acptest.New()
	if err != nil {
		t.Fatal(err)
	}
	return &acpClient{t: t, in: in, lines: lines, check: check}
}

// do has the SDK send a request, and returns what it has come to.
func (c *acpClient) do(name, method string, params map[string]any, decide ...string) acpStep {
	c.t.Helper()
	say := map[string]any{"name": name, "method": method, "params": params}
	if len(decide) > 0 {
		say["decide"] = decide[0]
	}
	text, err := json.Marshal(say)
	if err != nil {
		c.t.Fatal(err)
	}
	if _, err := c.in.Write(append(text, '\n')); err != nil {
		c.t.Fatal(err)
	}
	var step acpStep
	c.read(name, func(told *acpStep) bool {
		if told == nil || told.Step != name {
			return false
		}
		step = *told
		return true
	})
	return step
}

// until reads until the agent has said something.
func (c *acpClient) until(words string) {
	c.t.Helper()
	c.read(words, func(*acpStep) bool { return strings.HasSuffix(c.said.String(), words) })
}

// read takes what the SDK tells until it is enough, which is asked after each line, with the step that the line is
// of; nil for another line.
func (c *acpClient) read(what string, enough func(*acpStep) bool) {
	c.t.Helper()
	for !enough(nil) {
		if !c.lines.Scan() {
			c.t.Fatalf("%s: the SDK has ended", what)
		}
		var told struct {
			acpStep
			Complaint  string
			Line, Sent json.RawMessage
			Asked      map[string]any
		}
		if err := json.Unmarshal(c.lines.Bytes(), &told); err != nil {
			c.t.Fatalf("%v: %s", err, c.lines.Text())
		}
		switch {
		case told.Complaint != "":
			c.t.Errorf("%s: the SDK complains: %s", what, told.Complaint)
		case told.Line != nil:
			if err := c.check.Agent(told.Line); err != nil {
				c.t.Errorf("%s: the node says %v", what, err)
			}
			c.hear(told.Line)
		case told.Sent != nil:
			if err := c.check.Client(told.Sent); err != nil {
				c.t.Errorf("%s: the SDK says %v", what, err)
			}
		case told.Asked != nil:
			c.asked++
		case told.Step != "" && enough(&told.acpStep):
			return
		}
	}
}

// hear keeps what the agent says.
func (c *acpClient) hear(line json.RawMessage) {
	var of struct {
		Params struct {
			Update struct {
				SessionUpdate string
				Content       json.RawMessage
			}
		}
	}
	var content struct{ Text string }
	if json.Unmarshal(line, &of) == nil && of.Params.Update.SessionUpdate == "agent_message_chunk" && json.Unmarshal(of.Params.Update.Content, &content) == nil {
		c.said.WriteString(content.Text)
	}
}

// must is as do, and wants no error.
func (c *acpClient) must(name, method string, params map[string]any, decide ...string) acpStep {
	c.t.Helper()
	step := c.do(name, method, params, decide...)
	if step.Error != nil {
		c.t.Fatalf("%s: %+v", name, *step.Error)
	}
	return step
}

func (c *acpClient) begin() {
	c.t.Helper()
	begun := c.must("initialize", "initialize", map[string]any{"protocolVersion": 1, "clientCapabilities": map[string]any{}, "clientInfo": map[string]any{"name": "tour", "version": "1"}})
	if begun.Result["protocolVersion"] != 1.0 {
		c.t.Errorf("the node speaks version %v", begun.Result["protocolVersion"])
	}
}

// acpFolder is the folder of the sessions of these tests.
const acpFolder = "/home/ann/project"

func (c *acpClient) open() string {
	c.t.Helper()
	made := c.must("new", "session/new", map[string]any{"cwd": acpFolder, "mcpServers": []any{}, "_meta": map[string]any{"harn": map[string]any{"personaId": "persona_conformance_turn"}}})
	id, _ := made.Result["sessionId"].(string)
	return id
}

func (c *acpClient) prompt(session, words string, decide ...string) acpStep {
	c.t.Helper()
	return c.must(words, "session/prompt", promptOf(session, words), decide...)
}

func promptOf(session, words string) map[string]any {
	return map[string]any{"sessionId": session, "prompt": []any{map[string]any{"type": "text", "text": words}}}
}

// kinds are the discriminators of updates, without those that say the same as the one before.
func (s acpStep) kinds() []string {
	var all []string
	for _, u := range s.Updates {
		all = append(all, fmt.Sprint(u["sessionUpdate"]))
	}
	return slices.Compact(all)
}

// text is what updates of a kind say, together.
func (s acpStep) text(kind string) string {
	var all strings.Builder
	for _, u := range s.Updates {
		if content, ok := u["content"].(map[string]any); ok && u["sessionUpdate"] == kind {
			fmt.Fprint(&all, content["text"])
		}
	}
	return all.String()
}

// acpWays are the ways in which an editor reaches a node.
func acpWays(t *testing.T, n *nodetest.Node) map[string][]string {
	t.Helper()
	return map[string][]string{
		"stdio":     {"stdio", builder.Binary(t), "acp", "--server", n.URL},
		"WebSocket": {"ws", socketURL(n, "/acp"), nodetest.Key},
	}
}

// TestACPSDK has the official SDK use a node over a pipe and over its WebSocket: turns with text, a plan, a tool
// and a question that is answered in each way; what was said is found again after a kill.
func TestACPSDK(t *testing.T) {
	node := newNode(t)
	n, _ := startConformance(t, node)
	for way, args := range acpWays(t, n) {
		t.Run(way, func(t *testing.T) {
			c := startACP(t, node, args...)
			c.begin()
			session := c.open()
			for _, turn := range []struct {
				words, decide, reason, says string
				asked                       int
				kinds                       []string
			}{
				{"hello", "", "end_turn", "1 words.", 0, nil},
				{"plan", "", "end_turn", "1 words.", 0, []string{"plan"}},
				{"tool", "", "end_turn", "1 words.", 0, []string{"tool_call", "tool_call_update"}},
				{"ask", "allow_once", "end_turn", "1 words, approved.", 1, nil},
				{"plan ask", "reject_once", "end_turn", "2 words, denied.", 1, []string{"plan"}},
				{"ask", "cancel", "cancelled", "", 1, nil},
				{"plan work", "cancel at the plan", "cancelled", "", 0, []string{"plan"}},
			} {
				before := c.asked
				step := c.prompt(session, turn.words, turn.decide)
				if step.Result["stopReason"] != turn.reason || step.text("agent_message_chunk") != turn.says || c.asked-before != turn.asked {
					t.Errorf("%q (%s): %v, %q, asked %d times; the updates: %v", turn.words, turn.decide, step.Result["stopReason"], step.text("agent_message_chunk"), c.asked-before, step.Updates)
				}
				for _, kind := range turn.kinds {
					if !slices.Contains(step.kinds(), kind) {
						t.Errorf("%q: no %s among %v", turn.words, kind, step.kinds())
					}
				}
			}
			if list := c.must("list", "session/list", map[string]any{"cwd": acpFolder}); !strings.Contains(fmt.Sprint(list.Result), session) {
				t.Errorf("the session is not listed: %v", list.Result)
			}
			if unknown := c.do("unknown", "session/load", map[string]any{"sessionId": "sess_none", "cwd": acpFolder, "mcpServers": []any{}}); unknown.Error == nil || unknown.Error.Code != -32002 {
				t.Errorf("no such session: %+v", unknown)
			}
			n.Kill(t)
			n.Run(t)
			if way != "stdio" { // which goes on by itself
				c = startACP(t, node, args...)
				c.begin()
			}
			loaded := c.must("load", "session/load", map[string]any{"sessionId": session, "cwd": acpFolder, "mcpServers": []any{}})
			if said := loaded.text("agent_message_chunk"); !strings.HasPrefix(said, "1 words.1 words.1 words.1 words, approved.2 words, denied.") {
				t.Errorf("loaded: %q", said)
			}
			if got := loaded.text("user_message_chunk"); got != "helloplantoolaskplan askaskplan work" {
				t.Errorf("loaded: the user has said %q", got)
			}
			if after := c.prompt(session, "hello"); after.text("agent_message_chunk") != "1 words." {
				t.Errorf("after a kill: %v", after.Updates)
			}
			c.must("close", "session/close", map[string]any{"sessionId": session})
		})
	}
}

// TestACPTakeover has two clients of the official SDK at one session, over each way one: both see the turns, and
// the one that has taken over prompts and is asked, while the other is refused.
func TestACPTakeover(t *testing.T) {
	node := newNode(t)
	n, _ := startConformance(t, node)
	ways := acpWays(t, n)
	one, two := startACP(t, node, ways["stdio"]...), startACP(t, node, ways["WebSocket"]...)
	one.begin()
	two.begin()
	s := one.open()
	two.must("load", "session/load", map[string]any{"sessionId": s, "cwd": acpFolder, "mcpServers": []any{}})
	one.must("attach", "_harn/session/attach", map[string]any{"sessionId": s, "clientId": "one", "mode": "controller"})
	two.must("attach", "_harn/session/attach", map[string]any{"sessionId": s, "clientId": "two", "mode": "observer"})
	wantRefused := func(c *acpClient) {
		t.Helper()
		if is := c.do("refused", "session/prompt", promptOf(s, "hello")).Error; is == nil || is.Code != -32600 || is.Data["reason"] != "not_controller" {
			t.Errorf("who does not control prompts: %+v", is)
		}
	}
	one.prompt(s, "hello")
	two.until("1 words.")
	wantRefused(two)
	if all := two.must("take over", "_harn/session/takeover", map[string]any{"sessionId": s, "clientId": "two"}); all.Result["active_controller_id"] != "two" || all.Result["previous_controller_id"] != "one" {
		t.Errorf("the takeover: %v", all.Result)
	}
	wantRefused(one)
	for _, turn := range []struct{ decide, reason, says string }{
		{"allow_once", "end_turn", "1 words, approved."}, {"reject_once", "end_turn", "1 words, denied."}, {"cancel", "cancelled", ""},
	} {
		step := two.prompt(s, "ask", turn.decide)
		if step.Result["stopReason"] != turn.reason || step.text("agent_message_chunk") != turn.says {
			t.Errorf("%s: %v, %q", turn.decide, step.Result["stopReason"], step.text("agent_message_chunk"))
		}
		one.until(turn.says)
	}
	if one.asked != 0 || two.asked != 3 {
		t.Errorf("the former controller was asked %d times, the other %d times", one.asked, two.asked)
	}
	two.must("detach", "_harn/session/detach", map[string]any{"sessionId": s, "clientId": "two"})
	one.must("take over", "_harn/session/takeover", map[string]any{"sessionId": s, "clientId": "one"})
	one.prompt(s, "hello")
	two.until("1 words.")
}
