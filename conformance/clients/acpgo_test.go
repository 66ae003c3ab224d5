package clients

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/coder/acp-go-sdk"

	"github.com/wharf-dev/wharf/conformance/internal/nodetest"
	"github.com/wharf-dev/wharf/gateway/acp/acptest"
)

// acpEditor is a client of the Go SDK. It has no files and no terminals.
type acpEditor struct {
	acp.Client
	conn     *acp.ClientSideConnection
	decide   acp.PermissionOptionKind
	mu       sync.Mutex
	said     map[acp.SessionId]*strings.Builder
	kinds    []string
	asked    int
	watching func(acp.SessionNotification)
}

func (e *acpEditor) SessionUpdate(_ context.Context, n acp.SessionNotification) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	u := n.Update
	if e.said[n.SessionId] == nil {
		e.said[n.SessionId] = &strings.Builder{}
	}
	switch {
	case u.AgentMessageChunk != nil:
		e.said[n.SessionId].WriteString(u.AgentMessageChunk.Content.Text.Text)
	case u.UserMessageChunk != nil:
		e.said[n.SessionId].WriteString("<" + u.UserMessageChunk.Content.Text.Text + ">")
	case u.Plan != nil:
		e.kinds = append(e.kinds, "plan")
	case u.ToolCall != nil:
		e.kinds = append(e.kinds, "tool_call")
	case u.ToolCallUpdate != nil:
		e.kinds = append(e.kinds, "tool_call_update")
	}
	if e.watching != nil {
		e.watching(n)
	}
	return nil
}

func (e *acpEditor) RequestPermission(ctx context.Context, p acp.RequestPermissionRequest) (acp.RequestPermissionResponse, error) {
	e.mu.Lock()
	decide := e.decide
	e.asked++
	e.mu.Unlock()
	for _, o := range p.Options {
		if o.Kind == decide {
			return acp.RequestPermissionResponse{Outcome: acp.NewRequestPermissionOutcomeSelected(o.OptionId)}, nil
		}
	}
	if err := e.conn.Cancel(ctx, acp.CancelNotification{SessionId: p.SessionId}); err != nil {
		return acp.RequestPermissionResponse{}, err
	}
	return acp.RequestPermissionResponse{Outcome: acp.NewRequestPermissionOutcomeCancelled()}, nil
}

// saidIn is what was said in a session so far.
func (e *acpEditor) saidIn(session acp.SessionId) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.said[session] == nil {
		return ""
	}
	return e.said[session].String()
}

// saying returns what is closed once something was said in a session.
func (e *acpEditor) saying(session acp.SessionId, words string) <-chan struct{} {
	seen := make(chan struct{})
	var once sync.Once
	e.mu.Lock()
	defer e.mu.Unlock()
	e.watching = func(acp.SessionNotification) {
		if e.said[session] != nil && strings.HasSuffix(e.said[session].String(), words) {
			once.Do(func() { close(seen) })
		}
	}
	return seen
}

// checked passes lines on, and holds each against the schema.
type checked struct {
	io.Reader
	line  bytes.Buffer
	check func([]byte)
}

func (c *checked) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	for _, b := range p[:n] {
		if b != '\n' {
			c.line.WriteByte(b)
			continue
		}
		c.check(c.line.Bytes())
		c.line.Reset()
	}
	return n, err
}

// startGoACP runs "wharf acp" below the Go SDK. What the SDK complains of fails the test.
func startGoACP(t *testing.T, n *nodetest.Node) *acpEditor {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), builder.Binary(t), "acp", "--server", n.URL, "--persona", "persona_conformance_turn")
	cmd.Env = append(os.Environ(), "WHARF_API_KEY="+nodetest.Key)
	cmd.Stderr = os.Stderr
	in, out := nodetest.Talk(t, cmd)
	check, err := acptest.New()
	if err != nil {
		t.Fatal(err)
	}
	sent := &checked{check: func(line []byte) { _ = check.Client(line) }} // which is of a newer schema
	told := &checked{Reader: out, check: func(line []byte) {
		if err := check.Agent(line); err != nil {
			t.Errorf("the node says %v", err)
		}
	}}
	e := &acpEditor{decide: acp.PermissionOptionKindAllowOnce, said: map[acp.SessionId]*strings.Builder{}}
	e.conn = acp.NewClientSideConnection(e, &teed{in, sent}, told)
	var complaints bytes.Buffer
	e.conn.SetLogger(slog.New(slog.NewTextHandler(&complaints, &slog.HandlerOptions{Level: slog.LevelWarn})))
	t.Cleanup(func() {
		_ = in.Close()
		<-e.conn.Done()
		if err := cmd.Wait(); err != nil && t.Context().Err() == nil {
			t.Errorf("wharf acp: %v", err)
		}
		if said := complaints.String(); strings.Contains(said, "level=ERROR") || strings.Contains(said, "nvalid") {
			t.Errorf("the SDK complains: %s", said)
		}
	})
	begun, err := e.conn.Initialize(t.Context(), acp.InitializeRequest{ProtocolVersion: acp.ProtocolVersionNumber})
	if err != nil || begun.ProtocolVersion != 1 || !begun.AgentCapabilities.LoadSession {
		t.Fatalf("%+v, %v", begun, err)
	}
	return e
}

// teed writes to a pipe what is looked at first.
type teed struct {
	io.Writer
	sees *checked
}

func (w *teed) Write(p []byte) (int, error) {
	w.sees.Reader = bytes.NewReader(p)
	_, _ = io.Copy(io.Discard, struct{ io.Reader }{w.sees})
	return w.Writer.Write(p)
}

func (e *acpEditor) prompt(t *testing.T, session acp.SessionId, words string) acp.StopReason {
	t.Helper()
	answer, err := e.conn.Prompt(t.Context(), acp.PromptRequest{SessionId: session, Prompt: []acp.ContentBlock{acp.TextBlock(words)}})
	if err != nil {
		t.Fatalf("%s: %v", words, err)
	}
	return answer.StopReason
}

// TestACPGoSDK has the SDK for Go, a second stock client, use a node by "wharf acp"; another editor loads what it
// has, and both see what the first goes on with; it alone may.
func TestACPGoSDK(t *testing.T) {
	node := newNode(t)
	n, _ := startConformance(t, node)
	e := startGoACP(t, n)
	made, err := e.conn.NewSession(t.Context(), acp.NewSessionRequest{Cwd: acpFolder, McpServers: []acp.McpServer{}})
	if err != nil {
		t.Fatal(err)
	}
	s := made.SessionId
	for _, turn := range []struct {
		words  string
		decide acp.PermissionOptionKind
		reason acp.StopReason
	}{
		{"plan tool", "", acp.StopReasonEndTurn},
		{"ask", acp.PermissionOptionKindAllowOnce, acp.StopReasonEndTurn},
		{"ask", acp.PermissionOptionKindRejectOnce, acp.StopReasonEndTurn},
		{"ask", "none", acp.StopReasonCancelled},
	} {
		e.mu.Lock()
		e.decide = turn.decide
		e.mu.Unlock()
		if got := e.prompt(t, s, turn.words); got != turn.reason {
			t.Errorf("%q (%s): %s", turn.words, turn.decide, got)
		}
	}
	if got, want := e.saidIn(s), "2 words.1 words, approved.1 words, denied."; got != want || e.asked != 3 {
		t.Errorf("said %q, want %q; asked %d times", got, want, e.asked)
	}
	for _, kind := range []string{"plan", "tool_call", "tool_call_update"} {
		if !slices.Contains(e.kinds, kind) {
			t.Errorf("no %s among %v", kind, e.kinds)
		}
	}
	other := startGoACP(t, n)
	list, err := other.conn.ListSessions(t.Context(), acp.ListSessionsRequest{})
	if err != nil || !slices.ContainsFunc(list.Sessions, func(i acp.SessionInfo) bool { return i.SessionId == s && i.Cwd == acpFolder }) {
		t.Errorf("listed: %+v, %v", list, err)
	}
	if _, err := other.conn.LoadSession(t.Context(), acp.LoadSessionRequest{SessionId: s, Cwd: acpFolder, McpServers: []acp.McpServer{}}); err != nil {
		t.Fatal(err)
	}
	if got, want := other.saidIn(s), "<plan tool>2 words.<ask>1 words, approved.<ask>1 words, denied.<ask>"; got != want {
		t.Errorf("loaded %q, want %q", got, want)
	}
	seen := other.saying(s, "<more>1 words.")
	e.prompt(t, s, "more")
	select {
	case <-seen:
	case <-t.Context().Done():
		t.Errorf("the other editor has seen %q", other.saidIn(s))
	}
	_, err = other.conn.Prompt(t.Context(), acp.PromptRequest{SessionId: s, Prompt: []acp.ContentBlock{acp.TextBlock("mine")}})
	if refused, ok := errors.AsType[*acp.RequestError](err); !ok || refused.Code != -32600 || !strings.Contains(refused.Error(), "not_controller") {
		t.Errorf("the prompt of the editor that looks on: %v", err)
	}
	_, err = other.conn.LoadSession(t.Context(), acp.LoadSessionRequest{SessionId: "sess_none", Cwd: acpFolder, McpServers: []acp.McpServer{}})
	if refused, ok := errors.AsType[*acp.RequestError](err); !ok || refused.Code != -32002 {
		t.Errorf("no such session: %v", err)
	}
}

// TestACPGoSDKTakeover has two clients of the SDK for Go at one session: the one that has taken over prompts and is
// asked, the other is refused and sees all of it.
func TestACPGoSDKTakeover(t *testing.T) {
	n, _ := startConformance(t, newNode(t))
	one, two := startGoACP(t, n), startGoACP(t, n)
	made, err := one.conn.NewSession(t.Context(), acp.NewSessionRequest{Cwd: acpFolder, McpServers: []acp.McpServer{}})
	if err != nil {
		t.Fatal(err)
	}
	s := made.SessionId
	if _, err := two.conn.LoadSession(t.Context(), acp.LoadSessionRequest{SessionId: s, Cwd: acpFolder, McpServers: []acp.McpServer{}}); err != nil {
		t.Fatal(err)
	}
	live := func(e *acpEditor, method, id, mode string) {
		t.Helper()
		params := map[string]any{"sessionId": s, "clientId": id}
		if mode != "" {
			params["mode"] = mode
		}
		if _, err := e.conn.CallExtension(t.Context(), "_harn/session/"+method, params); err != nil {
			t.Fatalf("%s %s: %v", method, id, err)
		}
	}
	live(one, "attach", "one", "controller")
	live(two, "attach", "two", "observer")
	seen := one.saying(s, "1 words, denied.")
	live(two, "takeover", "two", "")
	_, err = one.conn.Prompt(t.Context(), acp.PromptRequest{SessionId: s, Prompt: []acp.ContentBlock{acp.TextBlock("hello")}})
	if refused, ok := errors.AsType[*acp.RequestError](err); !ok || refused.Code != -32600 || !strings.Contains(fmt.Sprint(refused.Data), "not_controller") {
		t.Errorf("who does not control prompts: %v", err)
	}
	for _, decide := range []acp.PermissionOptionKind{acp.PermissionOptionKindAllowOnce, acp.PermissionOptionKindRejectOnce} {
		two.mu.Lock()
		two.decide = decide
		two.mu.Unlock()
		if got := two.prompt(t, s, "ask"); got != acp.StopReasonEndTurn {
			t.Errorf("%s: %s", decide, got)
		}
	}
	select {
	case <-seen:
	case <-t.Context().Done():
		t.Errorf("the former controller has seen %q", one.saidIn(s))
	}
	if one.asked != 0 || two.asked != 2 {
		t.Errorf("the former controller was asked %d times, the other %d times", one.asked, two.asked)
	}
}
