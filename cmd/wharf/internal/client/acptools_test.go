package client

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/cmd/wharf/internal/localtools"
)

// fakeTools are the tools of commands that nobody runs.
type fakeTools struct {
	commands map[string][]localtools.Command
	jobs     []*job // that were begun
	stopped  int    // how many of them were called off
}

func (f *fakeTools) open(session, _ string, commands []localtools.Command) {
	if f.commands == nil {
		f.commands = map[string][]localtools.Command{}
	}
	f.commands[session] = commands
}

func (f *fakeTools) close(session string) { delete(f.commands, session) }

func (f *fakeTools) has(session, tool string) bool {
	named := func(c localtools.Command) bool { return tool == "" || c.Name == tool }
	return slices.ContainsFunc(f.commands[session], named)
}

func (f *fakeTools) do(j *job) {
	j.stop = func() { f.stopped++ }
	f.jobs = append(f.jobs, j)
}

const harnClient = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"clientCapabilities":{"_meta":{"harn":{"extensions":"v1","hostMethods":["host/tools/list"]}}}}}`

// begin has a client open a Session with a tool server "local".
func begin(t *testing.T, initialize string) (*talk, *fakeTools) {
	t.Helper()
	f := &fakeTools{}
	k := newTalk("me", ACPOptions{}, f)
	k.opened()
	k.take([]byte(initialize))
	if _, _, err := k.told([]byte(`{"jsonrpc":"2.0","id":1,"result":{}}`)); err != nil {
		t.Fatal(err)
	}
	toNode, _ := k.take([]byte(`{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":"/x","mcpServers":[{"name":"local","command":"/bin/local","args":[],"env":[{"name":"A","value":"secret"}]}]}}`))
	if text := string(bytes.Join(toNode, nil)); strings.Contains(text, "secret") || strings.Contains(text, "local") {
		t.Errorf("the node is told %s", text)
	}
	if len(f.commands) != 0 {
		t.Error("commands run before the node has opened the Session")
	}
	if _, _, err := k.told([]byte(`{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s"}}`)); err != nil {
		t.Fatal(err)
	}
	if len(f.commands["s"]) != 1 || f.commands["s"][0].Env["A"] != "secret" {
		t.Errorf("the commands are %+v", f.commands)
	}
	return k, f
}

func tellTalk(t *testing.T, k *talk, text string) (client, node string) {
	t.Helper()
	toClient, toNode, err := k.told([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return string(bytes.Join(toClient, nil)), string(bytes.Join(toNode, nil))
}

const (
	asksTools = `{"jsonrpc":"2.0","id":7,"method":"host/tools/list","params":{"_meta":{"harn":{"sessionId":"s"}}}}`
	callsTool = `{"jsonrpc":"2.0","id":8,"method":"builtin_call","params":{"name":%q,"args":[{"a":1}],"_meta":{"harn":{"sessionId":"s"}}}}`
)

// A client that knows no tools is asked nothing about them, and its answers are the pipe's.
func TestACPToolsOfAStockClient(t *testing.T) {
	k, f := begin(t, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`)
	for _, text := range []string{asksTools, fmt.Sprintf(callsTool, "local"), fmt.Sprintf(callsTool, "other")} {
		if client, node := tellTalk(t, k, text); client+node != "" {
			t.Errorf("%s: told %s and %s", text, client, node)
		}
	}
	if len(f.jobs) != 3 || f.jobs[0].tool != "" || f.jobs[1].tool != "local" || string(f.jobs[1].args) != `{"a":1}` {
		t.Fatalf("the jobs are %+v", f.jobs)
	}
	if got := k.did(f.jobs[0], []byte("answer")); len(got) != 1 || string(got[0]) != "answer" {
		t.Errorf("the node is told %q", got)
	}
	if got := k.did(f.jobs[0], []byte("answer")); got != nil {
		t.Errorf("the node is told twice: %q", got)
	}
	tellTalk(t, k, fmt.Sprintf(callsTool, "local"))
	tellTalk(t, k, `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":8}}`)
	if f.stopped != 1 || k.did(f.jobs[3], []byte("answer")) != nil {
		t.Error("a call that was called off goes on")
	}
	tellTalk(t, k, fmt.Sprintf(callsTool, "local"))
	k.lost()
	if f.stopped != 2 || k.did(f.jobs[4], []byte("answer")) != nil {
		t.Error("a call goes on when nobody waits for it")
	}
	k.take([]byte(`{"jsonrpc":"2.0","id":3,"method":"session/close","params":{"sessionId":"s"}}`))
	if got := k.changed(); got != nil {
		t.Errorf("told %q on no connection", got)
	}
	k.opened()
	tellTalk(t, k, `{"jsonrpc":"2.0","id":"me/1","result":{}}`)
	if _, node := tellTalk(t, k, `{"jsonrpc":"2.0","id":"me/2","result":{}}`); strings.Count(node, toolsChanged) != 1 {
		t.Errorf("when it goes on, the node is told %s", node)
	}
	if got := k.changed(); len(got) != 1 {
		t.Errorf("the node is told %q", got)
	}
	tellTalk(t, k, `{"jsonrpc":"2.0","id":3,"result":{}}`)
	if len(f.commands) != 0 {
		t.Error("the commands go on when the Session is closed")
	}
}

// The tools of a Harn host come with those that run beside the pipe, and its own calls are passed on.
func TestACPToolsBesideAHost(t *testing.T) {
	k, f := begin(t, harnClient)
	client, node := tellTalk(t, k, asksTools)
	if node != "" || strings.Contains(client, "sessionId") || !strings.Contains(client, `"params":{}`) {
		t.Fatalf("the host is asked %s", client)
	}
	toNode, _ := k.take([]byte(`{"jsonrpc":"2.0","id":"1:7","result":{"result":{"tools":[{"name":"theirs"}]}}}`))
	if len(toNode) != 0 || len(f.jobs) != 1 || len(f.jobs[0].client) != 1 || string(f.jobs[0].node) != "7" {
		t.Errorf("told %q, jobs %+v", toNode, f.jobs)
	}
	if client, _ := tellTalk(t, k, fmt.Sprintf(callsTool, "theirs")); !strings.Contains(client, "theirs") {
		t.Errorf("the host is asked %q", client)
	}
	if client, _ := tellTalk(t, k, fmt.Sprintf(callsTool, "local")); client != "" || len(f.jobs) != 2 {
		t.Errorf("the host is asked %q for what is not its own", client)
	}
}

// Lists are read however hosts write them.
func TestToolsOf(t *testing.T) {
	for _, text := range []string{`[{"name":"a"}]`, `{"tools":[{"name":"a"}]}`, `{"result":{"tools":[{"name":"a"}]}}`, `{"result":[{"name":"a"}]}`} {
		if got := toolsOf(jsontext.Value(text)); len(got) != 1 {
			t.Errorf("%s is read as %q", text, got)
		}
	}
	for _, text := range []string{``, `null`, `7`, `{}`, `{"result":{"result":[1]}}`, `{"tools":7}`} {
		if got := toolsOf(jsontext.Value(text)); len(got) != 0 {
			t.Errorf("%s is read as %q", text, got)
		}
	}
}
