package acp_test

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/storage/pebble/crashtest"
)

func loadOf(session string) string {
	return `{"sessionId":"` + session + `","cwd":"/home/me/work","mcpServers":[]}`
}

// turnedAway is a prompt that is refused, for another client controls the session. It returns which one.
func (e *editor) turnedAway(session string) string {
	e.t.Helper()
	is := e.refused(-32600, "session/prompt", promptOf(session, "go"))
	var of struct {
		Reason string `json:"reason"`
		Error  struct {
			Details struct {
				Active string `json:"active_controller_id"`
			} `json:"details"`
		} `json:"error"`
	}
	if err := json.Unmarshal(is.Data, &of); err != nil {
		e.t.Fatal(err)
	}
	if of.Reason != "not_controller" || !strings.Contains(is.Message, of.Error.Details.Active) {
		e.t.Errorf("turned away with %s: %s", is.Message, is.Data)
	}
	return of.Error.Details.Active
}

// liveOf returns who is attached to a session.
func (n *node) liveOf(t testing.TB, session string) *abi.LiveClients {
	t.Helper()
	all, err := n.LiveClients(t.Context(), n.Root, session)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// watching returns a client that only looks on: it is attached as none. What it waits for is what is told
// of others.
func (n *node) watching(t testing.TB, session string) *editor {
	t.Helper()
	e := n.connect(t, enginetest.RootKey, aware)
	e.ok("session/load", loadOf(session))
	return e
}

// detached waits until so many clients were detached.
func (e *editor) detached(clients int) {
	e.t.Helper()
	e.until("a client that leaves", func() bool {
		left := 0
		for _, u := range e.updates() {
			if u.kind == "live_session_client" && strings.Contains(string(u.raw), `"client_exit"`) {
				left++
			}
		}
		return left == clients
	})
}

// Of two stock editors at a session the first controls it: it alone prompts and is asked. The other sees
// all of it, and prompts once the first has left.
func TestStockClientsControl(t *testing.T) {
	n := newNode(t, asking)
	first, second := n.connect(t, enginetest.RootKey, stock), n.connect(t, enginetest.RootKey, stock)
	s := first.open("pay")
	second.ok("session/load", loadOf(s))
	all := n.liveOf(t, s)
	if len(all.Clients) != 2 || all.ActiveControllerID == nil || *all.ActiveControllerID != all.Clients[0].ClientID {
		t.Fatalf("the clients: %+v", all)
	}
	if by := second.turnedAway(s); by != *all.ActiveControllerID {
		t.Errorf("it is said that %q controls the session", by)
	}
	asked, other := answers(first, `{"granted":true}`), answers(second, `{"granted":true}`)
	if got := first.prompt(s, "go"); got != "end_turn" || len(asked) != 1 || len(other) != 0 {
		t.Errorf("the turn: %s; asked: %d, and the one that looks on: %d", got, len(asked), len(other))
	}
	second.until("the turn of the other", func() bool {
		return strings.HasPrefix(second.said(), "<go>") && strings.Contains(second.said(), "approved")
	})
	watcher := n.watching(t, s)
	_ = first.ws.Close()
	watcher.detached(1)
	n.Wait(t, n.tasksOf(t, s)[0].ID)
	if got := second.prompt(s, "go"); got != "end_turn" || len(other) != 1 {
		t.Errorf("the turn after the first has left: %s, asked %d", got, len(other))
	}
	third := n.connect(t, enginetest.RootKey, stock)
	third.ok("session/resume", loadOf(s))
	third.turnedAway(s)
}

// What a turn asks is the business of whoever controls the session by then.
func TestQuestionsFollowStockClients(t *testing.T) {
	n := newNode(t, asking)
	first, second := n.connect(t, enginetest.RootKey, stock), n.connect(t, enginetest.RootKey, stock)
	s := first.open("pay")
	second.ok("session/load", loadOf(s))
	asked := make(chan struct{}, 1)
	first.answer = func(string, jsontext.Value) (any, *rpcError) {
		asked <- struct{}{}
		<-t.Context().Done()
		return nil, nil
	}
	other := answers(second, `{"granted":true}`)
	first.ask("session/prompt", promptOf(s, "go"))
	receive(t, asked)
	if len(other) != 0 {
		t.Error("the one that looks on is asked")
	}
	_ = first.ws.Close()
	receive(t, other)
	second.until("the end of the turn", func() bool { return strings.Contains(second.said(), "approved") })
}

// A stock editor and a host that knows of live sessions share them: the host is none of the clients until
// it attaches itself, or prompts; it takes over, and hands back.
func TestStockAndAwareClients(t *testing.T) {
	n := newNode(t, nil)
	host := n.connect(t, enginetest.RootKey, aware)
	s := host.open()
	if all := n.liveOf(t, s); len(all.Clients) != 0 {
		t.Errorf("a host that has not attached itself: %+v", all)
	}
	host.prompt(s, "hi")
	if all := n.liveOf(t, s); len(all.Clients) != 1 || all.ActiveControllerID == nil {
		t.Errorf("a host that prompts: %+v", all)
	}
	host.ok("session/attach", `{"sessionId":"`+s+`","clientId":"portal","mode":"controller"}`)
	if all := n.liveOf(t, s); len(all.Clients) != 1 || *all.ActiveControllerID != "portal" {
		t.Fatalf("it is the same client under its own name: %+v", all)
	}
	editor := n.connect(t, enginetest.RootKey, stock)
	editor.ok("session/load", loadOf(s))
	if by := editor.turnedAway(s); by != "portal" {
		t.Error(by)
	}
	host.ok("session/attach", `{"sessionId":"`+s+`","clientId":"portal","mode":"observer"}`)
	if got := editor.prompt(s, "mine"); got != "end_turn" {
		t.Error(got)
	}
	host.turnedAway(s)
	host.ok("session/takeover", `{"sessionId":"`+s+`","clientId":"portal"}`)
	editor.turnedAway(s)
	if got := host.prompt(s, "again"); got != "end_turn" {
		t.Error(got)
	}
	late := n.connect(t, enginetest.RootKey, aware)
	late.ok("session/load", loadOf(s))
	if by := late.turnedAway(s); by != "portal" {
		t.Error(by)
	}
}

// Another life of the node knows no clients: whoever comes first controls, whatever the log says of before.
func TestStockClientsAfterRestart(t *testing.T) {
	disk := crashtest.NewDisk()
	n := startNode(t, disk, asking, gateway.Config{})
	first := n.connect(t, enginetest.RootKey, stock)
	s := first.open("pay")
	waits := make(chan struct{}, 1)
	first.answer = func(string, jsontext.Value) (any, *rpcError) {
		waits <- struct{}{}
		<-t.Context().Done()
		return nil, nil
	}
	first.ask("session/prompt", promptOf(s, "go"))
	receive(t, waits)
	n.end()
	n = startNode(t, disk, asking, gateway.Config{})
	second, third := n.connect(t, enginetest.RootKey, stock), n.connect(t, enginetest.RootKey, stock)
	asked := answers(second, `{"granted":true}`)
	second.ok("session/load", loadOf(s))
	third.ok("session/load", loadOf(s))
	receive(t, asked)
	second.until("the turn of before", func() bool { return strings.Contains(second.said(), "approved") })
	n.Wait(t, n.tasksOf(t, s)[0].ID)
	third.turnedAway(s)
	if got := second.prompt(s, "again"); got != "end_turn" {
		t.Error(got)
	}
}

// A pipe that has lost its connection is the client that it was.
func TestPipeKeepsControl(t *testing.T) {
	n := newNode(t, nil)
	pipe := func() *editor {
		e := n.dial(t, enginetest.RootKey)
		e.ok("initialize", `{"protocolVersion":1,"clientCapabilities":{},"_meta":{"harn":{"pipe":{"id":"a-pipe"}}}}`)
		return e
	}
	first := pipe()
	s := first.open()
	other := n.connect(t, enginetest.RootKey, stock)
	other.ok("session/load", loadOf(s))
	again := pipe()
	again.ok("session/resume", loadOf(s))
	_ = first.ws.Close()
	other.turnedAway(s)
	if got := again.prompt(s, "go"); got != "end_turn" {
		t.Error(got)
	}
	other.turnedAway(s)
}

// A key that may control nothing looks on, and prompts where nobody controls, as over REST.
func TestObserversByScope(t *testing.T) {
	n := newNode(t, nil)
	s := n.Session(t)
	weak := n.connect(t, n.key(t, abi.CreateKeyRequest{Scopes: []string{"sessions:read", "events:read", "messages:read", "tasks:read", "tasks:write"}}), stock)
	weak.ok("session/load", loadOf(s))
	if got := weak.prompt(s, "go"); got != "end_turn" {
		t.Error(got)
	}
	strong := n.connect(t, enginetest.RootKey, stock)
	strong.ok("session/load", loadOf(s))
	strong.prompt(s, "go")
	weak.turnedAway(s)
}
