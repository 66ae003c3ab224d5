package clients

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/conformance/internal/nodetest"
)

// talker is a running client of WebSockets, spoken to in lines.
type talker struct {
	lines *bufio.Scanner
	stdin io.WriteCloser
}

func talk(t *testing.T, program string, args ...string) *talker {
	t.Helper()
	in, lines := launch(t, nil, program, args...)
	return &talker{lines, in}
}

// next reads a line, as the frame in it: what a program for people puts around a frame
// is passed over.
func (k *talker) next(t *testing.T) map[string]any {
	t.Helper()
	for k.lines.Scan() {
		line := k.lines.Text()
		var frame map[string]any
		start, end := strings.Index(line, "{"), strings.LastIndex(line, "}")
		if start >= 0 && end > start && json.Unmarshal([]byte(line[start:end+1]), &frame) == nil {
			return frame
		}
	}
	t.Fatalf("the client has ended (%v)", k.lines.Err())
	return nil
}

// until reads up to the frame of that type.
func (k *talker) until(t *testing.T, kind string) map[string]any {
	t.Helper()
	for {
		if frame := k.next(t); frame["type"] == kind {
			return frame
		}
	}
}

func (k *talker) say(t *testing.T, line string) {
	t.Helper()
	if _, err := io.WriteString(k.stdin, line+"\n"); err != nil {
		t.Fatal(err)
	}
}

const hello = `{"type":"message","id":"1","message":{"role":"user","parts":[{"type":"text","text":"hello"}]}}`

// socketURL is where a path of a node is as a WebSocket.
func socketURL(n *nodetest.Node, path string) string {
	return "ws" + strings.TrimPrefix(n.URL, "http") + path
}

// browser is how a page connects: it can set no header.
func browser(credential string) map[string]any {
	return map[string]any{"protocols": []string{"harn.v1", "bearer." + credential}}
}

// withHeaders is how other programs do.
func withHeaders(credential string) map[string]any {
	return map[string]any{"headers": map[string]any{
		"Authorization": "Bearer " + credential, "Harn-Agents-Protocol-Version": nodetest.Version}}
}

// talkWS connects with the ws package.
func talkWS(t *testing.T, n *nodetest.Node, path string, options map[string]any) *talker {
	t.Helper()
	text, err := json.Marshal(options)
	if err != nil {
		t.Fatal(err)
	}
	return talk(t, "node", "socket.mjs", socketURL(n, path), string(text))
}

// The ws package connects as a browser does, with a key and with an access token, and
// both ends agree on the close.
func TestWS(t *testing.T) {
	needPackages(t)
	n := builder.Start(t)
	session := newSession(t, n)
	for name, credential := range map[string]string{"a key": nodetest.Key, "an access token": accessToken(t, n)} {
		k := talkWS(t, n, "/v1/sessions/"+session+"/connect", browser(credential))
		if open := k.until(t, "open"); open["protocol"] != "harn.v1" || !strings.Contains(fmt.Sprint(open["extensions"]), "permessage-deflate") {
			t.Errorf("%s: opened %v", name, open)
		}
		if h := k.until(t, "hello"); h["session_id"] != session {
			t.Errorf("%s: hello %v", name, h)
		}
		k.say(t, hello)
		if ack := k.until(t, "ack"); ack["id"] != "1" {
			t.Errorf("%s: ack %v", name, ack)
		}
		k.say(t, "!ping")
		k.until(t, "ponged")
		_ = k.stdin.Close()
		if closed := k.until(t, "close"); closed["code"] != float64(4000) {
			t.Errorf("%s: closed %v", name, closed)
		}
	}
}

// accessToken gets a token of the node's own issuer, by hand.
func accessToken(t *testing.T, n *nodetest.Node) string {
	t.Helper()
	key := call(t, n, "POST", "/wharf/v1/keys", map[string]any{"name": "page", "scopes": []string{"*"}})
	answer, err := http.PostForm(n.URL+"/oauth/token", url.Values{"grant_type": {"client_credentials"},
		"client_id": {key["id"].(string)}, "client_secret": {key["key"].(string)}})
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var token struct {
		AccessToken string `json:"access_token"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&token); err != nil || token.AccessToken == "" {
		t.Fatalf("no access token: %d (%v)", answer.StatusCode, err)
	}
	return token.AccessToken
}

// TestWSAcrossRestarts follows a Session with the ws package over deaths of the node:
// each time it connects again with the last event that it saw, and says once more what
// it had said last. What it saw in the end is the log, once, and nothing was done twice.
func TestWSAcrossRestarts(t *testing.T) {
	needPackages(t)
	for name, test := range map[string]struct {
		stop func(*nodetest.Node, testing.TB)
		code int
	}{"killed": {(*nodetest.Node).Kill, 1006}, "drained": {(*nodetest.Node).Stop, 1001}} {
		t.Run(name, func(t *testing.T) {
			n := builder.Start(t)
			path := "/v1/sessions/" + newSession(t, n)
			stream := path + "/events/stream"
			var seen []string
			for round := range 3 {
				k := talkWS(t, n, stream, withHeaders(nodetest.Key))
				k.until(t, "hello")
				if round > 0 {
					k.say(t, keyedMessage(round-1))
					if ack := k.noting(t, &seen, "ack"); ack["idempotent_replayed"] != true {
						t.Errorf("said again, the message was done again: %v", ack)
					}
				}
				k.say(t, keyedMessage(round))
				message := k.noting(t, &seen, "ack")["resource"].(map[string]any)["id"].(string)
				for end := eventOf(t, n, path, message); !slices.Contains(seen, end); {
					seen = note(seen, k.next(t))
				}
				if round < 2 {
					test.stop(n, t)
					if closed := k.noting(t, &seen, "close"); closed["code"] != float64(test.code) {
						t.Errorf("the socket was closed with %v, want %d", closed, test.code)
					}
					n.Run(t)
				}
				stream = path + "/events/stream?after_event_id=" + seen[len(seen)-1]
			}
			if want := eventIDs(t, n, path); !slices.Equal(seen, want) {
				t.Errorf("the client saw\n%v, the log has\n%v", seen, want)
			}
		})
	}
}

func keyedMessage(round int) string {
	return fmt.Sprintf(`{"type":"message","id":"m","idempotency_key":"round %d","message":{"role":"user","parts":[{"type":"text","text":"round %d"}]}}`, round, round)
}

// noting reads up to the frame of that type, and notes the events before it.
func (k *talker) noting(t *testing.T, seen *[]string, kind string) map[string]any {
	t.Helper()
	for {
		frame := k.next(t)
		if *seen = note(*seen, frame); frame["type"] == kind {
			return frame
		}
	}
}

// note adds the event of a frame, if it is one.
func note(seen []string, frame map[string]any) []string {
	if event, ok := frame["event"].(map[string]any); ok && frame["type"] == "event" {
		return append(seen, event["id"].(string))
	}
	return seen
}

// TestWSCloses holds what the ws package is told when it, or its user, does what it
// should not.
func TestWSCloses(t *testing.T) {
	needPackages(t)
	n := builder.StartWith(t, nodetest.Options{Env: []string{"WHARF_SSE_HEARTBEAT=2s"}})
	session := newSession(t, n)
	path := "/v1/sessions/" + session + "/connect"
	none := slices.Repeat([]string{"what?"}, 16)
	for name, test := range map[string]struct {
		say  []string
		code int
	}{
		"a binary message":          {[]string{"!binary"}, 1003},
		"no UTF-8":                  {[]string{"!no utf-8"}, 1007},
		"an unmasked frame":         {[]string{"!unmasked"}, 1002},
		"a large frame":             {[]string{"!large"}, 1009},
		"a large frame, compressed": {[]string{"!large, compressed"}, 1009},
		"frames of no kind":         {none, 4400},
		"some frames of no kind":    {append(slices.Concat(none[1:], []string{`{"type":"ping"}`}), none...), 4400},
	} {
		t.Run(name, func(t *testing.T) {
			k := talkWS(t, n, path, browser(nodetest.Key))
			k.until(t, "hello")
			for _, line := range test.say {
				k.say(t, line)
			}
			if closed := k.until(t, "close"); closed["code"] != float64(test.code) {
				t.Errorf("closed %v, want %d", closed, test.code)
			}
		})
	}
	deaf := browser(nodetest.Key)
	deaf["autoPong"] = false
	if closed := talkWS(t, n, path, deaf).until(t, "close"); closed["code"] != float64(4408) {
		t.Errorf("a client that answers no ping is closed with %v", closed)
	}
	key := call(t, n, "POST", "/wharf/v1/keys", map[string]any{"name": "page", "scopes": []string{"*"}})
	k := talkWS(t, n, path, browser(key["key"].(string)))
	k.until(t, "hello")
	k.until(t, "pinged") // the package answers by itself
	call(t, n, "DELETE", "/wharf/v1/keys/"+key["id"].(string), nil)
	if closed := k.until(t, "close"); closed["code"] != float64(4401) {
		t.Errorf("when the key was revoked, the socket was closed with %v", closed)
	}
	task := complete(t, n, session, "persona_echo")
	if closed := talkWS(t, n, "/v1/tasks/"+task+"/stream", browser(nodetest.Key)).until(t, "close"); closed["code"] != float64(1000) {
		t.Errorf("the stream of a Task that has ended is closed with %v", closed)
	}
}

// TestWSRefused holds which upgrades are refused, and how.
func TestWSRefused(t *testing.T) {
	needPackages(t)
	n := builder.Start(t)
	path := "/v1/sessions/" + newSession(t, n) + "/connect"
	key := call(t, n, "POST", "/wharf/v1/keys", map[string]any{"name": "deaf", "scopes": []string{"sessions:read"}})["key"].(string)
	at := func(origin string) map[string]any {
		options := browser(nodetest.Key)
		options["origin"] = origin
		return options
	}
	for name, test := range map[string]struct {
		path    string
		options map[string]any
		status  int
	}{
		"no key":             {path, map[string]any{"protocols": []string{"harn.v1"}}, 401},
		"a wrong key":        {path, browser("no-key-of-this-node"), 401},
		"a wrong header":     {path, withHeaders("no-key-of-this-node"), 401},
		"a key in the query": {path + "?access_token=" + nodetest.Key, map[string]any{"protocols": []string{"harn.v1"}}, 401},
		"no scope":           {path, browser(key), 403},
		"no version":         {path, map[string]any{"protocols": []string{"bearer." + nodetest.Key}}, 426},
		"no such Session":    {"/v1/sessions/sess_none/connect", browser(nodetest.Key), 404},
		"a foreign page":     {path, at("https://evil.example"), 403},
		"a sandboxed page":   {path, at("null"), 403},
	} {
		if refused := talkWS(t, n, test.path, test.options).until(t, "refused"); refused["status"] != float64(test.status) {
			t.Errorf("%s: refused with %v, want %d", name, refused["status"], test.status)
		}
	}
	own := talkWS(t, n, path, at(n.URL))
	own.until(t, "hello")
}

// What the documents say to type into wscat works, and so does what a browser would do.
func TestWscat(t *testing.T) {
	needPackages(t)
	n := builder.Start(t)
	session := newSession(t, n)
	for name, args := range map[string][]string{
		"headers":      {"-H", "Authorization: Bearer " + nodetest.Key, "-H", "Harn-Agents-Protocol-Version: " + nodetest.Version},
		"subprotocols": {"-s", "harn.v1", "-s", "bearer." + nodetest.Key},
	} {
		args = append([]string{"node_modules/wscat/bin/wscat", "--no-color"}, args...)
		k := talk(t, "node", append(args, "-x", hello, "-w", "2", "-c", socketURL(n, "/v1/sessions/"+session+"/connect"))...)
		k.until(t, "hello")
		if ack := k.until(t, "ack"); ack["id"] != "1" {
			t.Errorf("%s: ack %v", name, ack)
		}
	}
	cmd := exec.CommandContext(t.Context(), "node", "node_modules/wscat/bin/wscat", "-c", socketURL(n, "/v1/sessions/"+session+"/connect"))
	var told bytes.Buffer
	cmd.Stderr = &told
	stdin, err := cmd.StdinPipe() // at whose end it would leave
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	if err := cmd.Run(); err == nil || !strings.Contains(told.String(), "401") {
		t.Errorf("without a key, wscat says %q (%v)", told.String(), err)
	}
}
