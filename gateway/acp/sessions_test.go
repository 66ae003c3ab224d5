package acp_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/tenancy"
	"github.com/wharf-dev/wharf/storage/pebble/crashtest"
)

type sessionList struct {
	Sessions []struct {
		SessionID string `json:"sessionId"`
		CWD       string `json:"cwd"`
	} `json:"sessions"`
	NextCursor string `json:"nextCursor"`
}

func (e *editor) list(params string) (l sessionList) {
	e.t.Helper()
	if err := json.Unmarshal(e.ok("session/list", params), &l); err != nil {
		e.t.Fatal(err)
	}
	return l
}

// Sessions are found by their folder, page by page, also in another life of the node.
func TestList(t *testing.T) {
	disk := crashtest.NewDisk()
	n := startNode(t, disk, nil, gateway.Config{})
	e := n.connect(t, enginetest.RootKey, stock)
	for i := range 120 {
		e.ok("session/new", fmt.Sprintf(`{"cwd":"/home/%d","mcpServers":[]}`, i%2))
	}
	n.end()
	n = startNode(t, disk, nil, gateway.Config{})
	e = n.connect(t, enginetest.RootKey, stock)
	seen := map[string]bool{}
	for cursor := ""; ; {
		l := e.list(`{"cwd":"/home/1","cursor":"` + cursor + `"}`)
		for _, s := range l.Sessions {
			if s.CWD != "/home/1" || seen[s.SessionID] {
				t.Fatalf("%+v", s)
			}
			seen[s.SessionID] = true
		}
		if cursor = l.NextCursor; cursor == "" {
			break
		}
	}
	if full := e.list(`{}`); len(full.Sessions) != 50 || full.NextCursor == "" {
		t.Errorf("a page of %d sessions, and then %q", len(full.Sessions), full.NextCursor)
	}
	if len(seen) != 60 {
		t.Errorf("%d sessions, want 60", len(seen))
	}
	e.refused(-32602, "session/list", `{"cursor":"!"}`)
}

// A folder whose Sessions lie far behind others is found by asking on: pages that have none end with a
// cursor, and none looks at more than its share. So it is for a key that sees only a part of them.
func TestListFar(t *testing.T) {
	n := newNode(t, nil)
	w := enginetest.As[abi.Workspace](t, must(n.CreateWorkspace(t.Context(), n.Root, nil, abi.CreateWorkspaceRequest{Name: "w", Root: "file:///w"}))(t)).ID
	e := n.connect(t, enginetest.RootKey, stock)
	session := func(workspace, cwd string) {
		t.Helper()
		must(n.CreateSession(t.Context(), n.Root, nil, abi.CreateSessionRequest{WorkspaceID: workspace, Metadata: jsontext.Value(`{"acp":{"cwd":"` + cwd + `"}}`)}))(t)
	}
	session(w, "/far")
	session(tenancy.DefaultWorkspace, "/far")
	for range 2100 {
		session(tenancy.DefaultWorkspace, "/near")
	}
	bound := n.connect(t, n.key(t, abi.CreateKeyRequest{Scopes: []string{"sessions:read"}, WorkspaceIDs: []string{w}}), stock)
	for who, want := range map[*editor]struct{ found, pages int }{e: {2, 3}, bound: {1, 1}} {
		found, pages := 0, 1
		for cursor := ""; ; pages++ {
			l := who.list(`{"cwd":"/far","cursor":"` + cursor + `"}`)
			found += len(l.Sessions)
			if cursor = l.NextCursor; cursor == "" {
				break
			}
		}
		if found != want.found || pages != want.pages {
			t.Errorf("%d sessions on %d pages, want %+v", found, pages, want)
		}
	}
}

func TestClose(t *testing.T) {
	holding, entered, _ := enginetest.Holding()
	n := newNode(t, enginetest.Guests{"hold": holding})
	e := n.connect(t, enginetest.RootKey, stock)
	s := e.open("hold")
	turn := e.ask("session/prompt", promptOf(s, "go"))
	receive(t, entered)
	e.ok("session/close", `{"sessionId":"`+s+`"}`)
	if got := stopOf(t, receive(t, turn).Result); got != "cancelled" {
		t.Errorf("the turn: %s", got)
	}
	e.refused(-32602, "session/prompt", promptOf(s, "go"))
	e.ok("session/close", `{"sessionId":"`+s+`"}`)
}

// A fork begins as the other session is, for whoever loads it.
func TestFork(t *testing.T) {
	n := newNode(t, nil)
	e := n.connect(t, enginetest.RootKey, stock)
	s := e.open()
	e.prompt(s, "one")
	fork := func(params string) string {
		var of struct {
			SessionID string `json:"sessionId"`
			ParentID  string `json:"parent_id"`
		}
		if err := json.Unmarshal(e.ok("session/fork", params), &of); err != nil || of.ParentID != s {
			t.Fatal(err, of)
		}
		return of.SessionID
	}
	whole := fork(`{"sessionId":"` + s + `","cwd":"/elsewhere"}`)
	first := fork(`{"sessionId":"` + s + `","keep_first":1}`)
	e.prompt(s, "two")
	e.prompt(whole, "three")
	for id, want := range map[string]string{s: "<one>[hello]<two>[hello]", whole: "<one>[hello]<three>[hello]", first: "<one>"} {
		other := n.connect(t, enginetest.RootKey, stock)
		other.ok("session/load", `{"sessionId":"`+id+`","cwd":"/x","mcpServers":[]}`)
		if got := strings.ReplaceAll(other.said(), `\n`, ""); got != want {
			t.Errorf("%s was loaded as %s, want %s", id, got, want)
		}
	}
	if l := e.list(`{"cwd":"/elsewhere"}`); len(l.Sessions) != 1 || l.Sessions[0].SessionID != whole {
		t.Errorf("in the folder of the fork: %+v", l)
	}
}

// Modes are Personas, options are models, commands are Skills.
func TestSettings(t *testing.T) {
	n := newNode(t, enginetest.Guests{"other": says("I am other")})
	if _, err := n.CreateSkill(t.Context(), n.Root, nil, abi.CreateSkillRequest{Name: "do it", Description: "d", PersonaID: "persona_other"}); err != nil {
		t.Fatal(err)
	}
	e := n.connect(t, enginetest.RootKey, stock)
	s := e.open()
	e.until("the commands", func() bool {
		e.mu.Lock()
		defer e.mu.Unlock()
		return len(e.heard) > 0
	})
	if got := string(e.heard[0].raw); !strings.Contains(got, `"do-it"`) {
		t.Fatalf("commands: %s", got)
	}
	e.prompt(s, "/do-it now")
	e.prompt(s, "/nothing")
	e.ok("session/set_mode", `{"sessionId":"`+s+`","modeId":"persona_other"}`)
	e.prompt(s, "go")
	if got := e.said(); strings.Count(got, "I am other") != 2 || strings.Count(got, "hello") != 1 {
		t.Errorf("said: %s", got)
	}
	e.refused(-32602, "session/set_mode", `{"sessionId":"`+s+`","modeId":"persona_none"}`)
	set := e.ok("session/set_config_option", `{"sessionId":"`+s+`","configId":"model","value":"large"}`)
	if !strings.Contains(string(set), `"currentValue":"large"`) {
		t.Errorf("set: %s", set)
	}
	e.prompt(s, "go")
	models := ""
	for _, task := range n.tasksOf(t, s) {
		if task.Run != nil {
			models += task.Run.Model
		}
	}
	if models != "large" {
		t.Errorf("asked models: %q", models)
	}
	e.refused(-32602, "session/set_config_option", `{"sessionId":"`+s+`","configId":"model","value":"none"}`)
	e.refused(-32602, "session/set_config_option", `{"sessionId":"`+s+`","configId":"other","value":"large"}`)
}

// A pipe that has lost its connection goes on where it was: nothing is told twice, nothing is left out,
// and what it asks again is not done again.
func TestPipeGoesOn(t *testing.T) {
	holding, entered, leave := enginetest.Holding()
	n := newNode(t, enginetest.Guests{"hold": holding})
	const hello = `{"protocolVersion":1,"clientCapabilities":{},"_meta":{"harn":{"pipe":{"id":"p1"}}}}`
	first := n.dial(t, enginetest.RootKey)
	first.ok("initialize", hello)
	s := first.open("hold")
	first.askAs("41", "session/prompt", promptOf(s, "go"))
	receive(t, entered)
	_ = first.ws.Close()
	second := n.dial(t, enginetest.RootKey)
	second.ok("initialize", hello)
	again := strings.TrimSuffix(promptOf(s, "go"), "}") + `,"_meta":{"harn":{"again":true}}}`
	second.ok("session/resume", `{"sessionId":"`+s+`","cwd":"/x","mcpServers":[],"_meta":{"harn":{"after":""}}}`) // it was told nothing
	turn := second.askAs("41", "session/prompt", again)
	leave <- struct{}{}
	if got := stopOf(t, receive(t, turn).Result); got != "end_turn" || second.said() != "[hello]" {
		t.Fatalf("%s, %s", got, second.said())
	}
	if tasks := n.tasksOf(t, s); len(tasks) != 1 {
		t.Errorf("%d tasks", len(tasks))
	}
	last := second.updates()[len(second.updates())-1].event
	third := n.dial(t, enginetest.RootKey)
	third.ok("initialize", hello)
	third.ok("session/resume", `{"sessionId":"`+s+`","cwd":"/x","mcpServers":[],"_meta":{"harn":{"after":"`+last+`"}}}`)
	for range 2 { // also once that is answered and forgotten
		if got := stopOf(t, receive(t, third.askAs("41", "session/prompt", again)).Result); got != "end_turn" || third.said() != "" {
			t.Errorf("%s, %s", got, third.said())
		}
	}
	fourth := n.dial(t, enginetest.RootKey)
	fourth.ok("initialize", hello)
	fourth.ok("session/resume", `{"sessionId":"`+s+`","cwd":"/x","mcpServers":[],"_meta":{"harn":{"after":"1.0"}}}`)
	if got := fourth.said(); got != "[hello]" { // its own words it has
		t.Errorf("told: %s", got)
	}
	fifth := n.dial(t, enginetest.RootKey)
	fifth.ok("initialize", hello)
	fifth.ok("session/load", `{"sessionId":"`+s+`","cwd":"/x","mcpServers":[]}`)
	if got := fifth.said(); got != "<go>[hello]" {
		t.Errorf("loaded: %s", got)
	}
	fourth.refused(-32602, "session/resume", `{"sessionId":"`+s+`","cwd":"/x","mcpServers":[],"_meta":{"harn":{"after":"x"}}}`)
}

// What a pipe sends again with its files is kept once: of a prompt, and of what is said meanwhile. Another request
// keeps the same file for itself.
func TestFilesAreKeptOnce(t *testing.T) {
	n := newNode(t, nil)
	const hello = `{"protocolVersion":1,"clientCapabilities":{},"_meta":{"harn":{"pipe":{"id":"p1"}}}}`
	const image = `{"type":"image","mimeType":"image/png","data":"iVBORw0KGgo="}`
	e := n.dial(t, enginetest.RootKey)
	e.ok("initialize", hello)
	s := e.open()
	prompt := `{"sessionId":"` + s + `","prompt":[{"type":"text","text":"look"},` + image + `,` + image + `]}`
	said := `{"sessionId":"` + s + `","mode":"queue","content":[` + image + `]}`
	for life := range 3 {
		e = n.dial(t, enginetest.RootKey)
		e.ok("initialize", hello)
		e.ok("session/resume", `{"sessionId":"`+s+`","cwd":"/x","mcpServers":[]}`)
		for id, ask := range map[string][2]string{"41": {"session/prompt", prompt}, "42": {"session/inject", said}, "43": {"session/inject", said}} {
			if l := receive(t, e.askAs(id, ask[0], ask[1])); l.Error != nil {
				t.Fatalf("life %d, %s: %+v", life, ask[0], l.Error)
			}
		}
	}
	kept := 0
	for _, kind := range n.Kinds(t, desk.Filter{SessionID: s}) {
		if kind == string(abi.EventArtifactCreated) {
			kept++
		}
	}
	if kept != 4 {
		t.Errorf("%d files are kept, want 4", kept)
	}
}
