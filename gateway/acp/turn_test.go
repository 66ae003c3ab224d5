package acp_test

import (
	"context"
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/fasthttp/websocket"
	"github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/internal/share"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/sandbox"
)

// A turn is told whole before it is answered, and the client's own words are not told back to it.
func TestTurn(t *testing.T) {
	for name, capabilities := range map[string]string{"stock": stock, "aware": aware} {
		t.Run(name, func(t *testing.T) {
			n := newNode(t, nil)
			e := n.connect(t, enginetest.RootKey, capabilities)
			s := e.open()
			if got := e.prompt(s, "hi"); got != "end_turn" {
				t.Fatalf("the turn has stopped: %s", got)
			}
			if got := e.said(); got != "[hello]" {
				t.Fatalf("told: %s", got)
			}
			marked := e.updates()[0].event != ""
			if marked != (name == "aware") {
				t.Errorf("told with the id of the event: %t", marked)
			}
			if got := e.prompt(s, "again"); got != "end_turn" || !strings.HasSuffix(e.said(), "hello]") || strings.Count(e.said(), "hello") != 2 {
				t.Fatalf("the second turn: %s, %s", got, e.said())
			}
		})
	}
}

// What a session holds is told to whoever loads it, before the answer, on another connection and in
// another order of keys.
func TestLoad(t *testing.T) {
	n := newNode(t, nil)
	e := n.connect(t, enginetest.RootKey, stock)
	s := e.open()
	e.prompt(s, "hi")
	other := n.connect(t, enginetest.RootKey, stock)
	var loaded struct {
		Modes struct {
			Current string `json:"currentModeId"`
		} `json:"modes"`
	}
	if err := json.Unmarshal(other.ok("session/load", `{"sessionId":"`+s+`","cwd":"/home/ann/project","mcpServers":[]}`), &loaded); err != nil {
		t.Fatal(err)
	}
	if got := other.said(); got != "<hi>[hello]" || loaded.Modes.Current != "persona_echo" {
		t.Fatalf("told: %s; the mode: %+v", got, loaded)
	}
	// What one does, the other is told.
	e.prompt(s, "more")
	other.until("the other's turn", func() bool { return strings.HasSuffix(other.said(), "<more>[hello]") })
}

// saysMany is a guest that says many Messages: each its number, and some text.
func saysMany(n int, text string) enginetest.Guest {
	return func(ctx context.Context, h sandbox.Host) error {
		for i := range n {
			if err := say(ctx, h, fmt.Sprint(i, text)); err != nil {
				return err
			}
		}
		return nil
	}
}

// Updates that leave together are each told once, in the order of their events, before the answer that they
// belong before: live, on a load, and to a client that comes back in the middle.
func TestUpdatesTogether(t *testing.T) {
	const many = 500
	n := newNode(t, enginetest.Guests{"many": saysMany(many, " trailers")})
	e := n.connect(t, enginetest.RootKey, aware)
	s := e.open("many")
	e.prompt(s, "go")
	checkNumbers(t, agentsOf(e), 0, many)

	other := n.connect(t, enginetest.RootKey, aware)
	other.ok("session/load", `{"sessionId":"`+s+`","cwd":"/home/ann/project","mcpServers":[]}`)
	loaded := agentsOf(other)
	checkNumbers(t, loaded, 0, many)

	for _, had := range []int{1, 17, 250, many} {
		back := n.connect(t, enginetest.RootKey, aware)
		back.ok("session/resume", fmt.Sprintf(`{"sessionId":%q,"cwd":"/home/ann/project","mcpServers":[],"_meta":{"harn":{"after":%q}}}`, s, loaded[had-1].event))
		checkNumbers(t, agentsOf(back), had, many)
	}
}

// agentsOf returns what the agent was told to have said.
func agentsOf(e *editor) []update {
	return slices.DeleteFunc(e.updates(), func(u update) bool { return u.kind != "agent_message_chunk" })
}

// checkNumbers requires the updates of the Messages from one to another, each under an id of its own.
func checkNumbers(t *testing.T, got []update, from, to int) {
	t.Helper()
	if len(got) != to-from {
		t.Fatalf("%d updates, want %d", len(got), to-from)
	}
	ids := map[string]bool{}
	for i, u := range got {
		said := strings.TrimPrefix(u.text, "\n\n")
		if want := fmt.Sprint(from+i, " trailers"); said != want || ids[u.event] || u.event == "" {
			t.Fatalf("update %d is %q with the id %q, want %q", i, u.text, u.event, want)
		}
		ids[u.event] = true
	}
}

// Clients that read nothing cost what is being written to them and the page of the log that it is from,
// however much there is to tell.
func TestUnreadUpdatesTakeNoMemory(t *testing.T) {
	share.Alone(t)
	const many, clients = 10_000, 8
	const page = 3 << 20 // a page of the log, as it is in memory
	n := newNode(t, enginetest.Guests{"many": saysMany(many, strings.Repeat(" trailers", 100))})
	session := n.Session(t)
	if task := n.Wait(t, n.Submit(t, session, "persona_many")); task.Status != abi.TaskCompleted {
		t.Fatalf("the Task has ended %s", task.Status)
	}
	e := n.connect(t, enginetest.RootKey, stock)
	s := e.open()
	e.prompt(s, "hi")
	before := heap()
	var all []*websocket.Conn
	for range clients {
		ws, _, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(n.url, "http")+"/acp", http.Header{"Authorization": {"Bearer " + enginetest.RootKey}})
		if err != nil {
			t.Fatal(err)
		}
		defer ws.Close()
		all = append(all, ws)
		for i, l := range []string{`"method":"initialize","params":{"protocolVersion":1}`, `"method":"session/load","params":{"sessionId":"` + session + `","cwd":"/x","mcpServers":[]}`} {
			if err := ws.WriteMessage(websocket.TextMessage, fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,%s}`, i, l)); err != nil {
				t.Fatal(err)
			}
		}
	}
	grown := int64(0)
	for i := 0; i < 20 || grown > clients*page && i < 500; i++ { // meanwhile others go on
		e.prompt(s, "hi")
		grown = heap() - before
	}
	if grown > clients*page {
		t.Errorf("%d clients that do not read take %d bytes", clients, grown)
	}
	for _, ws := range all {
		for _, want := range []string{`"result"`, `"sessionUpdate"`} {
			if _, text, err := ws.ReadMessage(); err != nil || !strings.Contains(string(text), want) {
				t.Fatalf("a client is told %s, %v", text, err)
			}
		}
	}
}

// heap is what the process holds.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
