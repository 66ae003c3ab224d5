package acp_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/engine"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/provider/hosts"
	"github.com/wharf-dev/wharf/runtime/provider/tool"
)

// hosting is what a client declares that has everything for Tasks.
const hosting = `{"fs":{"readTextFile":true,"writeTextFile":true},"terminal":true,
	"_meta":{"harn":{"extensions":"v1","hostMethods":["host/tools/list","builtin_call","skills/list","skills/fetch","skill/match"]}}}`

// used are guests that ask the client for one thing each, and say what they were told.
var used = enginetest.Guests{
	"list":  asks(abi.CallToolList, `{"server":"client"}`),
	"open":  asks(abi.CallToolCall, `{"server":"client","name":"open","arguments":{"path":"/a"}}`),
	"read":  asks(abi.CallToolCall, `{"server":"client","name":"fs_read","arguments":{"path":"/a"}}`),
	"write": asks(abi.CallToolCall, `{"server":"client","name":"fs_write","arguments":{"path":"/a","content":"x"}}`),
	"run":   asks(abi.CallToolCall, `{"server":"client","name":"terminal_run","arguments":{"command":"make"}}`),
	"match": asks(abi.CallSkillMatch, `{"prompt":"ship it","strategy":"host"}`),
	"skill": asks(abi.CallSkillRead, `{"skill":"ship"}`),
}

// newHostingNode starts a node that asks its clients, and waits for a tool of theirs for so long.
func newHostingNode(t *testing.T, patient time.Duration) *node {
	t.Helper()
	hs, grants := hosts.New(hosts.Config{}), map[string][]string{}
	for name := range used {
		grants[name] = []string{"client:*"}
	}
	limits := tool.Limits{Timeout: patient}
	tools := tool.New(tool.Config{Servers: map[string]tool.Server{tool.ServerClient: tool.NewClients(limits, tool.Hints{}).Beside(hs)}, Grants: grants})
	return newNodeFor(t, hs, used, func(_ *engine.Config, p *engine.Parts) {
		p.Hosts, p.Performers = hs, map[string]provider.Performer{abi.CallToolCall: tools, abi.CallToolList: tools}
	})
}

// well is what a client answers that does what it is asked.
var well = map[string]string{
	"host/tools/list": `{"tools":[{"name":"open","short_description":"Opens","parameters":{"type":"object"}}]}`, "builtin_call": `{"opened":true}`,
	"fs/read_text_file": `{"content":"unsaved"}`, "fs/write_text_file": `{}`,
	"terminal/create": `{"terminalId":"t"}`, "terminal/wait_for_exit": `{"exitCode":3}`, "terminal/output": `{"output":"made","truncated":false}`, "terminal/release": `{}`,
	"skills/list": `[{"id":"ship","description":"Ships it"}]`, "skills/fetch": `{"name":"ship","body":"# Ship"}`, "skill/match": `[{"name":"ship"}]`,
}

// host is an editor that is asked for what it has, and keeps what it was asked.
type host struct {
	*editor
	mu    sync.Mutex
	asked []string
}

// hostAt connects a client that answers well, but for one method.
func hostAt(t *testing.T, n *node, method string, badly func(h *host) (any, *rpcError)) *host {
	t.Helper()
	h := &host{editor: n.connect(t, enginetest.RootKey, hosting)}
	h.answer = func(asked string, _ jsontext.Value) (any, *rpcError) {
		h.keep(asked)
		if asked == method && badly != nil {
			return badly(h)
		}
		return jsontext.Value(well[asked]), nil
	}
	return h
}

func (h *host) keep(asked string) {
	h.mu.Lock()
	h.asked = append(h.asked, asked)
	h.mu.Unlock()
	h.editor.mu.Lock()
	defer h.editor.mu.Unlock()
	h.wake()
}

func (h *host) heard() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return strings.Join(h.asked, " ")
}

// wantReplay holds that a Session's only Task is replayed with the same receipt each time, and that nobody is asked.
func (h *host) wantReplay(t *testing.T, n *node, session string) {
	t.Helper()
	_ = h.ws.Close()
	list, err := n.List(t.Context(), n.Root, abi.ObjectTask, desk.Filter{SessionID: session}, desk.Page{Limit: 10})
	if err != nil || len(list.Docs) != 1 {
		t.Fatal(err, len(list.Docs))
	}
	source, heard := enginetest.As[abi.Task](t, list.Docs[0]), h.heard()
	var wires []string
	for range 2 {
		doc, err := n.ReplayTask(t.Context(), n.Root, nil, source.ID, abi.ReplayTaskRequest{})
		if err != nil {
			t.Fatal(err)
		}
		replay := n.Wait(t, doc.ID)
		if replay.Status != source.Status {
			t.Fatalf("the replay of %s: %s, %+v", source.Status, replay.Status, replay.Failure)
		}
		wire, err := n.ReceiptWire(t.Context(), n.Root, replay.ReceiptID)
		if err != nil {
			t.Fatal(err)
		}
		wires = append(wires, string(wire))
	}
	if wires[0] != wires[1] {
		t.Errorf("two replays, two receipts:\n%s\n%s", wires[0], wires[1])
	}
	if now := h.heard(); now != heard {
		t.Errorf("replays have asked the client: %s, and before %s", now, heard)
	}
}

// conversation is what a guest is told of something that a client does, well and not.
type conversation struct {
	guest  string
	method string // that is answered badly
	heard  string // what the client is asked when it answers well

	well, refused, wrong, left string // what the guest is told: 5 is unavailable, 6 is indeterminate
	answer                     string // of the wrong shape; "" where there is none
}

var conversations = []conversation{
	{"list", "host/tools/list", "host/tools/list", `"name":"open"`, `"name":"fs_read"`, `"name":"fs_read"`, `0 {`, `{"tools":7}`},
	{"open", "builtin_call", "host/tools/list builtin_call", `"structured":{"opened":true}`, `"is_error":true`, "", "6 {", ""},
	{"read", "fs/read_text_file", "fs/read_text_file", `"text":"unsaved"`, `"is_error":true`, "cannot be read", "5 {", `{"content":7}`},
	{"write", "fs/write_text_file", "fs/write_text_file", `was written`, `"is_error":true`, "", "6 {", ""},
	{"run", "terminal/create", "terminal/create terminal/wait_for_exit terminal/output terminal/release", `"exit_code":3`, `"is_error":true`, "cannot be read", "6 {", `{"terminalId":7}`},
	{"match", "skill/match", "skills/list skill/match", `"by":"host"`, `"by":"node"`, `"by":"node"`, `"by":"node"`, `{"matches":7}`},
	{"skill", "skills/fetch", "skills/list skills/fetch", `"text":"# Ship"`, "5 {", "5 {", "5 {", `7`},
}

// What a client has for Tasks is asked of it on its connection: it may do it well, refuse it, answer nonsense, answer
// twice, or leave. The Task is told which, the connection goes on, and a replay asks nobody.
func TestHosting(t *testing.T) {
	n := newHostingNode(t, 0)
	for _, c := range conversations {
		ways := map[string]struct {
			badly func(*host) (any, *rpcError)
			told  string
		}{
			"well":    {nil, c.well},
			"refuses": {func(*host) (any, *rpcError) { return nil, &rpcError{Code: -32000, Message: "not today"} }, c.refused},
			"twice": {func(h *host) (any, *rpcError) {
				h.twice.Store(true)
				return jsontext.Value(well[c.method]), nil
			}, c.well},
			"leaves": {func(h *host) (any, *rpcError) {
				_ = h.ws.Close()
				return nil, nil
			}, c.left},
		}
		if c.answer != "" {
			ways["wrong"] = struct {
				badly func(*host) (any, *rpcError)
				told  string
			}{func(*host) (any, *rpcError) { return jsontext.Value(c.answer), nil }, c.wrong}
		}
		for _, way := range slices.Sorted(maps.Keys(ways)) {
			t.Run(c.method+" "+way, func(t *testing.T) {
				h := hostAt(t, n, c.method, ways[way].badly)
				s := h.open(c.guest)
				turn := h.ask("session/prompt", promptOf(s, "go"))
				watch := h.editor
				if way == "leaves" {
					watch = n.connect(t, enginetest.RootKey, stock)
					watch.ok("session/load", fmt.Sprintf(`{"sessionId":%q,"cwd":"/home/ann/project","mcpServers":[]}`, s))
					watch.until("the answer", func() bool { return strings.Contains(watch.said(), "[") })
				} else if got := stopOf(t, receive(t, turn).Result); got != "end_turn" {
					t.Error(got)
				}
				if !strings.Contains(watch.said(), ways[way].told) {
					t.Errorf("it is told %s", watch.said())
				}
				if got := h.heard(); way == "well" && got != c.heard {
					t.Errorf("the client was asked %s", got)
				}
				h.wantReplay(t, n, s)
			})
		}
	}
}

// A client that does not answer is waited for as long as its tools may take, and then the Task goes on.
func TestHostingOfASilentClient(t *testing.T) {
	n := newHostingNode(t, 100*time.Millisecond)
	for guest, method := range map[string]string{"open": "builtin_call", "read": "fs/read_text_file", "write": "fs/write_text_file", "run": "terminal/wait_for_exit"} {
		t.Run(method, func(t *testing.T) {
			h := hostAt(t, n, method, func(*host) (any, *rpcError) {
				<-t.Context().Done()
				return nil, nil
			})
			s := h.open(guest)
			if got := h.prompt(s, "go"); got != "end_turn" || !strings.Contains(h.said(), `7 {"code":"tool_timeout"`) {
				t.Errorf("%s, and it is told %s", got, h.said())
			}
			if method == "terminal/wait_for_exit" {
				h.until("the terminal is released", func() bool { return strings.Contains(h.heard(), "terminal/release") })
			}
			h.wantReplay(t, n, s)
		})
	}
}

// Of two clients of a session that have the same, the one that controls it is asked: not the one that came last.
func TestHostingOfTheController(t *testing.T) {
	n := newHostingNode(t, 0)
	first, last := hostAt(t, n, "", nil), hostAt(t, n, "", nil)
	s := first.open("read")
	last.ok("session/load", fmt.Sprintf(`{"sessionId":%q,"cwd":"/home/ann/project","mcpServers":[]}`, s))
	first.ok("session/attach", fmt.Sprintf(`{"sessionId":%q,"clientId":"first","mode":"controller"}`, s))
	last.ok("session/attach", fmt.Sprintf(`{"sessionId":%q,"clientId":"last","mode":"observer"}`, s))
	first.prompt(s, "go")
	if first.heard() != "fs/read_text_file" || last.heard() != "" {
		t.Errorf("the controller was asked %q, the observer %q", first.heard(), last.heard())
	}
	last.ok("session/takeover", fmt.Sprintf(`{"sessionId":%q,"clientId":"last"}`, s))
	first.until("the takeover", func() bool {
		return slices.ContainsFunc(first.updates(), func(u update) bool {
			return u.kind == "live_session_client" && strings.Contains(string(u.raw), "taken_over")
		})
	})
	last.prompt(s, "go")
	if last.heard() != "fs/read_text_file" || first.heard() != "fs/read_text_file" {
		t.Errorf("the controller was asked %q, the former one %q", last.heard(), first.heard())
	}
}
