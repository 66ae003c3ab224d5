package gateway

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway/accesslog"
	"github.com/wharf-dev/wharf/runtime/desk"
)

// guarded knows one caller.
type guarded struct{ keyless }

func (guarded) Authenticate(_ context.Context, key string) (*desk.Caller, error) {
	if key != "right" {
		return nil, abi.Errorf(abi.CodeUnauthenticated, "unknown")
	}
	return &desk.Caller{TenantID: "ten_1", Actor: "ann", KeyID: "key_1", Scopes: []string{"tasks:read"}}, nil
}

// noted is a protocol with all that an operator is told of.
type noted struct{}

func (noted) Mount() Mount {
	answer := func(text string) Handler {
		return func(r *Request) error { r.Send(200, []byte(text)); return nil }
	}
	route := func(method, path, operation, tag, scope string, h Handler) Route {
		return Route{Method: method, Path: path, Operation: operation, Tag: tag, Scope: scope, Status: 200, Handle: h}
	}
	hook := route("POST", "/hooks/{token}", "receiveWebhook", "Connectors", "", answer(`{}`))
	hook.Public = true
	return Mount{Name: "noted", Prefixes: []string{"/"}, Routes: []Route{
		route("GET", "/tasks/{id}", "getTask", "Tasks", "tasks:read", answer(`{"id":"task_1"}`)),
		route("POST", "/tasks", "submitTask", "Tasks", "", answer(`{"id":"task_1"}`)),
		route("POST", "/keys", "createKey", "Administration", "", answer(`{"id":"key_2","key":"canary"}`)),
		route("DELETE", "/keys/{key_id}", "revokeKey", "Administration", "", answer(``)),
		route("GET", "/keys", "listKeys", "Administration", "admin", answer(`{}`)),
		hook,
		route("GET", "/stream", "stream", "Tasks", "", func(r *Request) error {
			return r.Stream(func(_ context.Context, st *Stream) { _, _ = st.Write([]byte("data: x\n\n")) })
		}),
	}}
}

// watched serves noted with a log and an access log, and returns what asks it. stop ends it and returns
// both.
func watched(t *testing.T) (ask func(method, path, key string, header ...string) int, stop func() (log string, access []map[string]any)) {
	t.Helper()
	var log bytes.Buffer
	file := filepath.Join(t.TempDir(), "access.log")
	logger := slog.New(slog.NewJSONHandler(&log, nil))
	access, err := accesslog.Open(file, logger)
	if err != nil {
		t.Fatal(err)
	}
	s := New(Config{AccessLog: access}, guarded{}, logger, noted{})
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(ln) }()
	client := &http.Client{Transport: &http.Transport{}}
	ask = func(method, path, key string, header ...string) int {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, "http://"+ln.Addr().String()+path, strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		if key != "" {
			req.Header.Set("Authorization", "Bearer "+key)
		}
		for i := 0; i+1 < len(header); i += 2 {
			req.Header.Set(header[i], header[i+1])
		}
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode
	}
	return ask, func() (string, []map[string]any) {
		t.Helper()
		client.CloseIdleConnections()
		if err := s.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
		if err := <-served; err != nil {
			t.Error(err)
		}
		if err := access.Close(); err != nil {
			t.Error(err)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var lines []map[string]any
		for line := range bytes.Lines(text) {
			var one map[string]any
			if err := json.Unmarshal(line, &one); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			lines = append(lines, one)
		}
		return log.String(), lines
	}
}

// Requests are in the access log with who asked, what and how it ended, and without what opens doors.
func TestAccessLog(t *testing.T) {
	ask, stop := watched(t)
	const canary = "wharf_canarycanarycanarycanarycanarycanarycanary0"
	ask("GET", "/tasks/task_1?token="+canary, "right", "User-Agent", "me/1")
	ask("GET", "/tasks/task_1", canary)
	ask("POST", "/hooks/"+canary, "")
	ask("DELETE", "/hooks/"+canary, "")
	ask("DELETE", "/%68ooks/"+canary, "")
	ask("GET", "/nothing?key="+canary, "")
	ask("GET", "/stream", "right")
	log, lines := stop()
	if len(lines) != 7 {
		t.Fatalf("%d lines: %v", len(lines), lines)
	}
	if text := fmt.Sprint(lines, log); strings.Contains(text, "canary") {
		t.Errorf("a secret was logged: %s", text)
	}
	byPath := map[string]map[string]any{}
	for _, line := range lines {
		byPath[fmt.Sprint(line["method"], " ", line["path"], " ", line["status"])] = line
	}
	for key, want := range map[string]string{
		"GET /tasks/task_1 200":     "ann key_1 ten_1 /tasks/{id} getTask http me/1 15",
		"GET /tasks/task_1 401":     "- - - /tasks/{id} getTask http Go-http-client/1.1 *",
		"POST /hooks/{token} 200":   "- - - /hooks/{token} receiveWebhook http Go-http-client/1.1 2",
		"DELETE /hooks/{token} 405": "- - - - - http Go-http-client/1.1 *",
		"GET /nothing 404":          "- - - - - http Go-http-client/1.1 *",
		"GET /stream 200":           "ann key_1 ten_1 /stream stream sse Go-http-client/1.1 *",
	} {
		line := byPath[key]
		var got []string
		for _, member := range []string{"actor", "key_id", "tenant_id", "template", "operation", "protocol", "user_agent", "bytes_out"} {
			value := fmt.Sprint(line[member])
			if line[member] == nil {
				value = "-"
			}
			got = append(got, value)
		}
		if strings.HasSuffix(want, "*") {
			got[len(got)-1] = "*"
		}
		if strings.Join(got, " ") != want || line["client"] != "127.0.0.1" || !strings.HasPrefix(fmt.Sprint(line["request_id"]), "req_") {
			t.Errorf("%s: %v, want %s", key, line, want)
		}
	}
	if out, _ := byPath["GET /stream 200"]["bytes_out"].(float64); out < 20 {
		t.Errorf("a stream: %v", byPath["GET /stream 200"])
	}
}

// Who is refused is logged once with what is known, and counted then; what the node does is changed in
// the open.
func TestNotes(t *testing.T) {
	ask, stop := watched(t)
	made := abi.APIKeyPrefix + strings.Repeat("c", 43)
	for range 5 {
		ask("GET", "/tasks/task_1", made)
	}
	ask("POST", "/tasks", "right")
	ask("POST", "/keys", "right")
	ask("DELETE", "/keys/key_2", "right")
	log, _ := stop()
	for _, want := range []string{
		`"msg":"access refused","client":"127.0.0.1","status":401,"operation":"getTask","request_id":"req_`, `"key":"` + abi.APIKeyID(made) + `"`,
		`"msg":"access refused again","client":"127.0.0.1","times":4`,
		`"msg":"configuration changed","operation":"createKey","id":"key_2","actor":"ann","key":"key_1","tenant":"ten_1","request_id":"req_`,
		`"msg":"configuration changed","operation":"revokeKey","key_id":"key_2","actor":"ann"`,
	} {
		if strings.Count(log, want) != 1 {
			t.Errorf("the log does not say once %s: %s", want, log)
		}
	}
	if strings.Contains(log, made) || strings.Contains(log, "canary") || strings.Count(log, "\n") != 4 {
		t.Errorf("%s", log)
	}
}

// A caller that lacks a scope is known; of a token it is said whose it claims to be.
func TestRefusedCallers(t *testing.T) {
	token := "eyJh." + base64.RawURLEncoding.EncodeToString([]byte(`{"iss":"https://issuer.example","sub":"canary"}`)) + ".sig"
	for key, want := range map[string]string{
		"right":      `"status":403,"operation":"listKeys"`,
		token:        `"claimed_issuer":"https://issuer.example"`,
		"eyJh.!!!.x": `"claimed_issuer":""`,
		"pass word":  `"reason":"unknown"`,
	} {
		ask, stop := watched(t)
		ask("GET", "/keys", key)
		log, _ := stop()
		if !strings.Contains(log, want) || strings.Contains(log, "canary") || strings.Contains(log, key) {
			t.Errorf("%s: %s", want, log)
		}
	}
}

// Refusals of ever so many clients take a bounded number of lines and bytes.
func TestRefusalsAreBounded(t *testing.T) {
	var log bytes.Buffer
	f := refusals{log: slog.New(slog.NewTextHandler(&log, nil))}
	for i := range 3 * refusedClients {
		f.note(net.IPv4(10, 0, byte(i>>8), byte(i)), func() []slog.Attr { return nil })
	}
	if lines := strings.Count(log.String(), "\n"); lines != refusedClients || len(f.again) != refusedClients {
		t.Errorf("%d lines of %d clients", lines, len(f.again))
	}
	log.Reset()
	f.tell()
	if got := log.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, fmt.Sprint("times=", 2*refusedClients)) {
		t.Errorf("%s", got)
	}
	log.Reset()
	for i := range 10 { // addresses of one network
		f.note(net.ParseIP(fmt.Sprint("2001:db8::", i)), func() []slog.Attr { return nil })
	}
	f.tell()
	if got := log.String(); strings.Count(got, "\n") != 2 || !strings.Contains(got, `client=2001:db8::/64 times=9`) {
		t.Errorf("%s", got)
	}
	if f.tell(); f.again != nil {
		t.Error("it counts on")
	}
}
