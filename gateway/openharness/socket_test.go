package openharness_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fasthttp/websocket"
	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/gateway/internal/gatewaytest"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/sandbox"
	"github.com/wharf-dev/wharf/storage/pebble/crashtest"
)

// talk is a WebSocket, used as a client does.
type talk struct {
	t    testing.TB
	conn *websocket.Conn
	resp *http.Response
}

// toldFrame is a frame of the node.
type toldFrame struct {
	Type, ID, Content, Data, Prompt, Code, Tool, Param string
	ExecutionID                                        string `json:"execution_id"`
	ReplyTo                                            string `json:"reply_to"`
}

// knock opens a socket, or returns the answer that refused it. path is below /v1/harnesses.
func (n *node) knock(t testing.TB, path, key string, subprotocols ...string) (*talk, *http.Response) {
	t.Helper()
	d := websocket.Dialer{HandshakeTimeout: patience, Subprotocols: subprotocols}
	h := http.Header{}
	if key != "" {
		h.Set("Authorization", "Bearer "+key)
	}
	conn, resp, err := d.Dial("ws"+strings.TrimPrefix(n.url, "http")+"/v1/harnesses"+path, h)
	if err != nil {
		if resp == nil {
			t.Fatal(err)
		}
		return nil, resp
	}
	t.Cleanup(func() { conn.Close() })
	return &talk{t, conn, resp}, resp
}

func (n *node) talks(t testing.TB, session string) *talk {
	t.Helper()
	s, resp := n.knock(t, connectPath(session), enginetest.RootKey)
	if s == nil {
		t.Fatalf("refused with %d", resp.StatusCode)
	}
	return s
}

func connectPath(session string) string { return "/wharf/sessions/" + session + "/connect" }

func (s *talk) says(frame string) {
	s.t.Helper()
	if err := s.conn.WriteMessage(websocket.TextMessage, []byte(frame)); err != nil {
		s.t.Fatal(err)
	}
}

// next reads a frame, which is to be as it is published.
func (s *talk) next() (f toldFrame, err error) {
	s.t.Helper()
	_ = s.conn.SetReadDeadline(time.Now().Add(patience))
	_, text, err := s.conn.ReadMessage()
	if err != nil {
		return f, err
	}
	schema.fits(s.t, "ServerMessage", text)
	if err := json.Unmarshal(text, &f, json.MatchCaseInsensitiveNames(true)); err != nil {
		s.t.Fatalf("%v: %s", err, text)
	}
	return f, nil
}

// until reads frames up to one of a type, and returns all.
func (s *talk) until(kind string) (all []toldFrame) {
	s.t.Helper()
	for {
		f, err := s.next()
		if err != nil {
			s.t.Fatalf("waiting for %s after %v: %v", kind, all, err)
		}
		if all = append(all, f); f.Type == kind {
			return all
		}
	}
}

func (s *talk) last(kind string) toldFrame {
	s.t.Helper()
	all := s.until(kind)
	return all[len(all)-1]
}

func (s *talk) wantClosed(code int) {
	s.t.Helper()
	for {
		_, err := s.next()
		if err == nil {
			continue
		}
		if closed, ok := errors.AsType[*websocket.CloseError](err); !ok || closed.Code != code {
			s.t.Fatalf("closed with %v, want %d", err, code)
		}
		return
	}
}

func (n *node) talkSession(t testing.TB) string {
	t.Helper()
	return n.do(t, "POST", "/wharf/sessions", `{"agent_id":"persona_agent"}`).want(201).text("session.id")
}

// Two messages are answered one after the other, each with all that its Task tells.
func TestConversation(t *testing.T) {
	n := newNode(t, enginetest.Guests{"agent": works}, hostTools)
	s := n.talks(t, n.talkSession(t))
	s.says(`{"type":"message","id":"m1","content":"one"}`)
	s.says(`{"type":"message","id":"m2","content":"two"}`)
	seen := map[string]bool{}
	for _, message := range []string{"m1", "m2"} {
		text, kinds, execution := "", "", ""
		for _, f := range s.until("done") {
			if execution == "" {
				execution = f.ExecutionID
			}
			if f.ReplyTo != message || f.ExecutionID != execution || execution == "" || seen[f.ID] {
				t.Errorf("%+v in the answer to %s", f, message)
			}
			seen[f.ID] = true
			text, kinds = text+f.Content, kinds+f.Type+" "
		}
		if text != workedText || strings.Count(kinds, "tool_call ") != 2 || strings.Count(kinds, "std") != 2 || strings.Count(kinds, "artifact ") != 2 {
			t.Errorf("%q, %s", text, kinds)
		}
	}
}

// What waits is answered by stdin, and what runs is ended by cancel; what cannot be done is said, and
// the socket stays.
func TestStdinAndCancel(t *testing.T) {
	n := newNode(t, enginetest.Guests{"agent": asks})
	session := n.talkSession(t)
	s := n.talks(t, session)
	s.says(`{"type":"stdin","id":"i0","data":"b"}`)
	if f := s.last("error"); f.Code != "CONFLICT" || f.ReplyTo != "i0" {
		t.Errorf("%+v", f)
	}
	s.says(`{"type":"message","id":"m1","content":"ask"}`)
	if f := s.last("prompt"); f.Prompt != "which?" {
		t.Errorf("%+v", f)
	}
	s.says(`{"type":"stdin","id":"i1","data":"b\n"}`)
	if all := s.until("done"); all[0].Content != "you say b" {
		t.Errorf("%+v", all)
	}
	s.says(`{"type":"message","id":"m2","content":"ask"}`)
	waits := s.last("prompt")
	// Who connects while a Task runs is told of it from its beginning, though not what it answers.
	later := n.talks(t, session)
	if f := later.last("prompt"); f.ExecutionID != waits.ExecutionID || f.ID != waits.ID || f.ReplyTo != "" {
		t.Errorf("%+v, want %+v", f, waits)
	}
	other := n.Submit(t, n.Session(t), "persona_agent")
	s.says(`{"type":"cancel","execution_id":"` + other + `"}`)
	if f := s.last("error"); f.Code != "NOT_FOUND" {
		t.Errorf("a task of another session: %+v", f)
	}
	s.says(`{"type":"cancel","execution_id":"` + waits.ExecutionID + `"}`)
	for _, one := range []*talk{s, later} {
		if all := one.until("done"); all[len(all)-2].Code != "canceled" {
			t.Errorf("%+v", all)
		}
	}
}

func TestFramesThatAreWrong(t *testing.T) {
	n := newNode(t, nil)
	s := n.talks(t, n.talkSession(t))
	for frame, param := range map[string]string{
		`x`: "", `[]`: "", `{"type":"hello","id":"1"}`: "type", `{"type":"message","content":"x"}`: "id", `{"type":"message","id":"1"}`: "content",
		`{"type":"message","id":"1","content":""}`: "content", `{"type":"stdin","id":"1"}`: "data", `{"type":"cancel"}`: "execution_id",
	} {
		s.says(frame)
		if f := s.last("error"); f.Code != "VALIDATION_ERROR" || f.Param != param && param != "" {
			t.Errorf("%s: %+v", frame, f)
		}
	}
	s.says(`{"type":"message","id":"ok","content":"x"}`)
	if f := s.last("done"); f.ReplyTo != "ok" {
		t.Errorf("%+v", f)
	}
	for range 16 {
		s.says("x")
	}
	s.wantClosed(gateway.CloseBadFrames)
}

// The key comes in three ways, of which one is only for this route, and the node's log has none.
func TestWaysToShowTheKey(t *testing.T) {
	n := newNode(t, nil)
	session := n.talkSession(t)
	at := connectPath(session)
	for _, way := range []struct {
		path, key string
		offers    []string
		chosen    string
	}{
		{at, enginetest.RootKey, nil, ""}, {at, "", []string{"bearer." + enginetest.RootKey, "openharness.v1"}, "openharness.v1"},
		{at + "?token=" + enginetest.RootKey, "", nil, ""}, {at + "?token=nonsense", enginetest.RootKey, []string{"other"}, ""},
	} {
		s, resp := n.knock(t, way.path, way.key, way.offers...)
		if s == nil || s.conn.Subprotocol() != way.chosen {
			t.Errorf("%s %v answered %d", way.path, way.offers, resp.StatusCode)
		}
	}
	const canary = "wharf_canary_0123456789"
	elsewhere, err := n.CreateWorkspace(t.Context(), n.Root, nil, abi.CreateWorkspaceRequest{Name: "elsewhere", Root: "file:///elsewhere"})
	if err != nil {
		t.Fatal(err)
	}
	narrow, bound := n.key(t, []string{"sessions:read", "tasks:write"}), n.key(t, []string{"events:read"}, elsewhere.ID)
	for key, status := range map[string]int{"": 401, canary: 401, narrow: 403, bound: 404, n.stranger(t): 404} {
		if _, resp := n.knock(t, at+"?token="+key, ""); resp.StatusCode != status {
			t.Errorf("%q answered %d, want %d", key, resp.StatusCode, status)
		}
	}
	answer := n.do(t, "GET", "/wharf/sessions?token="+canary, nil, by(""))
	answer.fails(401, "UNAUTHORIZED")
	n.do(t, "GET", at+"?token="+enginetest.RootKey, nil, by("")).fails(401, "UNAUTHORIZED")
	if plain := n.do(t, "GET", at, nil); plain.fails(400, "VALIDATION_ERROR") == "" || plain.header.Get("Upgrade") != "websocket" {
		t.Errorf("%v", plain.header)
	}
	if log := n.log.String(); strings.Contains(log+string(answer.body), canary) || strings.Contains(log, enginetest.RootKey) {
		t.Errorf("a key was shown: %s", log)
	}
}

// A key without the scope for Tasks hears, and says nothing.
func TestAKeyThatOnlyHears(t *testing.T) {
	n := newNode(t, nil)
	session := n.talkSession(t)
	s, _ := n.knock(t, connectPath(session), n.key(t, []string{"events:read"}))
	for _, frame := range []string{`{"type":"message","id":"1","content":"x"}`, `{"type":"stdin","id":"1","data":"x"}`, `{"type":"cancel","execution_id":"x"}`} {
		s.says(frame)
		if f := s.last("error"); f.Code != "FORBIDDEN" {
			t.Errorf("%s: %+v", frame, f)
		}
	}
	n.Submit(t, session, "persona_agent")
	s.until("done")
}

func TestWhySocketsEnd(t *testing.T) {
	n := startNode(t, crashtest.NewDisk(), nil, gateway.Config{Heartbeat: 50 * time.Millisecond, MessageLimit: 1000})
	session := n.talkSession(t)
	large := n.talks(t, session)
	large.says(`{"type":"message","id":"1","content":"` + strings.Repeat("x", 1000) + `"}`)
	large.wantClosed(gateway.CloseTooBig)
	made, err := n.CreateKey(t.Context(), n.Root, abi.CreateKeyRequest{Name: "k", Scopes: []string{"events:read"}})
	if err != nil {
		t.Fatal(err)
	}
	revoked, _ := n.knock(t, connectPath(session), gatewaytest.KeyOf(t, made.JSON))
	if _, err := n.RevokeKey(t.Context(), n.Root, made.ID); err != nil {
		t.Fatal(err)
	}
	revoked.wantClosed(gateway.CloseUnauthorized)
	silent := n.talks(t, session)
	silent.conn.SetPingHandler(func(string) error { return nil })
	silent.wantClosed(gateway.CloseTimeout)
	paused := n.talks(t, session)
	n.do(t, "PATCH", "/wharf/sessions/"+session, `{"status":"paused"}`).want(200)
	paused.wantClosed(gateway.CloseNormal)
	if _, resp := n.knock(t, connectPath(session), enginetest.RootKey); resp.StatusCode != 409 {
		t.Errorf("a paused session answered %d", resp.StatusCode)
	}
	n.do(t, "POST", "/wharf/sessions/"+session+"/resume", nil).want(200)
	ended := n.talks(t, session)
	n.do(t, "DELETE", "/wharf/sessions/"+session, nil).want(204)
	ended.wantClosed(gateway.CloseNormal)
	drained := n.talks(t, n.talkSession(t))
	n.server.Drain()
	drained.wantClosed(gateway.CloseGoingAway)
}

// Who connects again after the node has died is told of what runs as before, under the same ids, and
// answers it.
func TestConversationOverACrash(t *testing.T) {
	guests := enginetest.Guests{"agent": func(ctx context.Context, h sandbox.Host) error {
		if err := say(ctx, h, "I ask."); err != nil {
			return err
		}
		return asks(ctx, h)
	}}
	n := newNode(t, guests)
	session := n.talkSession(t)
	s := n.talks(t, session)
	s.says(`{"type":"message","id":"m1","content":"ask"}`)
	before := s.until("prompt")
	n = startNode(t, n.Disk.Crash(1, 0), guests, gateway.Config{})
	s = n.talks(t, session)
	after := s.until("prompt")
	for i := range before {
		before[i].ReplyTo = ""
	}
	if !slices.Equal(before, after) {
		t.Errorf("%+v, want %+v", after, before)
	}
	s.says(`{"type":"stdin","id":"i1","data":"b"}`)
	if all := s.until("done"); all[0].Content != "\n\nyou say b" {
		t.Errorf("%+v", all)
	}
}

// A stream that is cut after any event tells the rest alike when the node has died in between.
func TestStreamsResumeOverACrash(t *testing.T) {
	guests := enginetest.Guests{"agent": works}
	n := newNode(t, guests, hostTools)
	id := n.do(t, "POST", "/wharf/execute", `{"message":"go"}`).want(202).text("execution_id")
	path := "/wharf/executions/" + id + "/stream"
	var all []sse
	for s, more := n.streams(t, "GET", path, nil), true; more; {
		var ev sse
		if ev, more = s.next(); more {
			all = append(all, ev)
		}
	}
	n = startNode(t, n.Disk.Crash(1, 0), guests, gateway.Config{}, hostTools)
	for i := range len(all) - 1 {
		s := n.streams(t, "GET", path, nil, header("Last-Event-ID", all[i].id))
		for _, want := range all[i+1:] {
			if ev, _ := s.next(); ev != want {
				t.Fatalf("after %s comes %v, want %v", all[i].id, ev, want)
			}
		}
		if ev, more := s.next(); more {
			t.Errorf("after the end comes %v", ev)
		}
	}
}
