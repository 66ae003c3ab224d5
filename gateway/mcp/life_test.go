package mcp_test

import (
	"bufio"
	"context"
	"net/http"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/gateway/mcp"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/storage/pebble/crashtest"
)

// ended returns the Task that a node has begun, when it has ended.
func (n *node) ended(t testing.TB) abi.Task {
	t.Helper()
	list, err := n.List(t.Context(), n.Root, abi.ObjectTask, desk.Filter{}, desk.Page{Limit: 10})
	if err != nil || len(list.Docs) != 1 {
		t.Fatalf("%d tasks, %v", len(list.Docs), err)
	}
	return n.Wait(t, list.Docs[0].ID)
}

func TestCancellingACallCancelsItsTask(t *testing.T) {
	both(t, func(t *testing.T, revision string) {
		holding, entered, _ := enginetest.Holding()
		n := newNode(t, enginetest.Guests{"slow": holding})
		n.skill(t, "slow", abi.CreateSkillRequest{Name: "slow-it"})
		s := n.connect(t, enginetest.RootKey, revision, nil)
		ctx, cancel := context.WithCancel(t.Context())
		called := make(chan error, 1)
		go func() {
			_, err := s.CallTool(ctx, &sdk.CallToolParams{Name: "slow-it"})
			called <- err
		}()
		receive(t, entered)
		cancel() // the SDK's client notifies the server, or closes the request
		if err := receive(t, called); err == nil {
			t.Error("the call has succeeded")
		}
		if task := n.ended(t); task.Status != abi.TaskCanceled {
			t.Errorf("the task is %s", task.Status)
		}
	})
}

// post sends a message, and returns the answer, whose body the test closes.
func (n *node) post(t testing.TB, ctx context.Context, key, body string, header map[string]string) *http.Response {
	t.Helper()
	return n.send(t, ctx, http.MethodPost, key, body, header)
}

func (n *node) send(t testing.TB, ctx context.Context, method, key, body string, header map[string]string) *http.Response {
	t.Helper()
	return n.sendTo(t, ctx, method, "/mcp", key, body, header)
}

func (n *node) sendTo(t testing.TB, ctx context.Context, method, path, key, body string, header map[string]string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, method, n.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	for name, value := range header {
		if name == "Host" {
			r.Host = value
			continue
		}
		r.Header.Set(name, value)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = answer.Body.Close() })
	return answer
}

// open begins a session by hand, and returns its id.
func (n *node) open(t testing.TB, key string) string {
	t.Helper()
	answer := n.post(t, t.Context(), key, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"hand","version":"1"}}}`, nil)
	id := answer.Header.Get("Mcp-Session-Id")
	if answer.StatusCode != http.StatusOK || id == "" {
		t.Fatalf("initialize was answered with %d", answer.StatusCode)
	}
	in := map[string]string{"Mcp-Session-Id": id, "Mcp-Protocol-Version": withSessions}
	if answer := n.post(t, t.Context(), key, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, in); answer.StatusCode != http.StatusAccepted {
		t.Fatalf("initialized was answered with %d", answer.StatusCode)
	}
	return id
}

// event reads the next event of a stream that has data, or only an id.
func event(t testing.TB, r *bufio.Reader) (id, data string) {
	t.Helper()
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			t.Fatalf("the stream has ended: %v", err)
		}
		line = strings.TrimRight(line, "\n")
		if rest, ok := strings.CutPrefix(line, "id: "); ok {
			id = rest
		}
		if rest, ok := strings.CutPrefix(line, "data: "); ok {
			data = rest
		}
		if line == "" && id != "" {
			return id, data
		}
	}
}

const callSlow = `{"jsonrpc":"2.0","id":"call-1","method":"tools/call","params":{"name":"slow-it","arguments":{}}}`

func TestClientLeavesAndComesBack(t *testing.T) {
	for _, of := range []struct{ restarted, elsewhere bool }{{false, false}, {true, false}, {false, true}, {true, true}} {
		restarted := of.restarted
		holding, entered, leave := enginetest.Holding()
		guests := enginetest.Guests{"slow": holding}
		disk := crashtest.NewDisk()
		n := startNode(t, disk, guests, gateway.Config{}, mcp.Node{})
		skill := abi.CreateSkillRequest{PersonaID: "persona_slow", Name: "slow-it", Description: "Takes its time."}
		if of.elsewhere { // the Skill is of another Workspace than the session
			made, err := n.CreateWorkspace(t.Context(), n.Root, nil, abi.CreateWorkspaceRequest{Name: "apart", Root: "wharf:///apart"})
			if err != nil {
				t.Fatal(err)
			}
			persona, err := n.ClonePersona(t.Context(), n.Root, nil, skill.PersonaID, abi.ClonePersonaRequest{Name: "apart", WorkspaceID: made.ID})
			if err != nil {
				t.Fatal(err)
			}
			skill.PersonaID = persona.ID
		}
		if _, err := n.CreateSkill(t.Context(), n.Root, nil, skill); err != nil {
			t.Fatal(err)
		}
		session := n.open(t, enginetest.RootKey)
		in := map[string]string{"Mcp-Session-Id": session, "Mcp-Protocol-Version": withSessions}
		ctx, cancel := context.WithCancel(t.Context())
		answer := n.post(t, ctx, enginetest.RootKey, callSlow, in)
		last, _ := event(t, bufio.NewReader(answer.Body))
		receive(t, entered)
		cancel()
		if restarted {
			n.end()
			n = startNode(t, disk, guests, gateway.Config{}, mcp.Node{})
			receive(t, entered)
		}
		close(leave)
		in["Last-Event-ID"] = last
		back := n.send(t, t.Context(), http.MethodGet, enginetest.RootKey, "", in)
		for back.StatusCode == http.StatusConflict { // the node has not noticed yet that the client has left
			back = n.send(t, t.Context(), http.MethodGet, enginetest.RootKey, "", in)
		}
		if back.StatusCode != http.StatusOK {
			t.Fatalf("restarted %v: coming back was answered with %d", restarted, back.StatusCode)
		}
		if _, data := event(t, bufio.NewReader(back.Body)); !strings.Contains(data, `"id":"call-1"`) || !strings.Contains(data, "hello") {
			t.Errorf("restarted %v: coming back gave %s", restarted, data)
		}
		if task := n.ended(t); task.Status != abi.TaskCompleted {
			t.Errorf("restarted %v: the task is %s", restarted, task.Status)
		}
	}
}

func TestSessionGoesOnAfterARestart(t *testing.T) {
	disk := crashtest.NewDisk()
	n := startNode(t, disk, nil, gateway.Config{}, mcp.Node{})
	n.skill(t, "echo", abi.CreateSkillRequest{Name: "greet"})
	session := n.open(t, enginetest.RootKey)
	in := map[string]string{"Mcp-Session-Id": session, "Mcp-Protocol-Version": withSessions}
	n.end()
	n = startNode(t, disk, nil, gateway.Config{}, mcp.Node{})
	const greet = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"greet","arguments":{}}}`
	for who, key := range map[string]string{"a colleague": n.key(t, []string{abi.ScopeAll}), "a stranger": n.stranger(t)} {
		if answer := n.post(t, t.Context(), key, greet, in); answer.StatusCode != http.StatusNotFound {
			t.Errorf("%s was answered with %d: %s", who, answer.StatusCode, &n.log)
		}
	}
	answer := n.post(t, t.Context(), enginetest.RootKey, greet, in)
	body := bufio.NewReader(answer.Body)
	event(t, body) // which primes the stream
	if _, data := event(t, body); !strings.Contains(data, "hello") {
		t.Errorf("status %d: the call gave %s", answer.StatusCode, data)
	}
	for who, key := range map[string]string{"a colleague": n.key(t, []string{abi.ScopeAll}), "a stranger": n.stranger(t)} {
		if answer := n.post(t, t.Context(), key, greet, in); answer.StatusCode != http.StatusNotFound {
			t.Errorf("%s was answered with %d while the session is in use", who, answer.StatusCode)
		}
		if answer := n.send(t, t.Context(), http.MethodDelete, key, "", in); answer.StatusCode != http.StatusNotFound {
			t.Errorf("%s who ends the session was answered with %d", who, answer.StatusCode)
		}
	}
	if answer := n.send(t, t.Context(), http.MethodDelete, enginetest.RootKey, "", in); answer.StatusCode != http.StatusNoContent {
		t.Errorf("the end was answered with %d", answer.StatusCode)
	}
	if answer := n.post(t, t.Context(), enginetest.RootKey, greet, in); answer.StatusCode != http.StatusNotFound {
		t.Errorf("a session that was ended was answered with %d", answer.StatusCode)
	}
}

func TestSessionThatEndsCallsItsCallsOff(t *testing.T) {
	for name, closed := range map[string]bool{"an open Session": false, "a Session that was closed": true} {
		t.Run(name, func(t *testing.T) {
			holding, entered, _ := enginetest.Holding()
			n := newNode(t, enginetest.Guests{"slow": holding})
			n.skill(t, "slow", abi.CreateSkillRequest{Name: "slow-it"})
			session := n.open(t, enginetest.RootKey)
			in := map[string]string{"Mcp-Session-Id": session, "Mcp-Protocol-Version": withSessions}
			n.post(t, t.Context(), enginetest.RootKey, callSlow, in)
			receive(t, entered)
			if closed {
				list, err := n.List(t.Context(), n.Root, abi.ObjectSession, desk.Filter{}, desk.Page{Limit: 10})
				if err != nil || len(list.Docs) != 1 {
					t.Fatalf("%d sessions, %v", len(list.Docs), err)
				}
				if _, err := n.CloseSession(t.Context(), n.Root, nil, list.Docs[0].ID); err != nil {
					t.Fatal(err)
				}
			}
			if answer := n.send(t, t.Context(), http.MethodDelete, enginetest.RootKey, "", in); answer.StatusCode != http.StatusNoContent {
				t.Errorf("the end was answered with %d", answer.StatusCode)
			}
			if task := n.ended(t); task.Status != abi.TaskCanceled {
				t.Errorf("the task is %s", task.Status)
			}
		})
	}
}

// A call that is sent again under one key is one Task.
func TestCallsHaveKeys(t *testing.T) {
	both(t, func(t *testing.T, revision string) {
		n := newNode(t, nil)
		n.skill(t, "echo", abi.CreateSkillRequest{Name: "greet"})
		s := n.connect(t, enginetest.RootKey, revision, nil)
		for range 2 {
			if _, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "greet", Meta: sdk.Meta{"wharf.dev/idempotencyKey": "k"}}); err != nil {
				t.Fatal(err)
			}
		}
		n.ended(t)
	})
}
