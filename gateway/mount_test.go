package gateway_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/fasthttp/websocket"
	"github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/gateway/jsonrpc"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/engine"
	"github.com/wharf-dev/wharf/runtime/intake"
	"github.com/wharf-dev/wharf/runtime/outbox"
)

// fakeCore knows one key, which may read.
type fakeCore struct{}

func (fakeCore) Authenticate(_ context.Context, credential string) (*desk.Caller, error) {
	if credential != "key" {
		return nil, abi.Errorf(abi.CodeUnauthenticated, "this key is not known")
	}
	return &desk.Caller{TenantID: "tenant_x", Scopes: []string{"toys:read"}}, nil
}

func (fakeCore) Stats() engine.Stats { return engine.Stats{} }

func (fakeCore) DeliveryStats() intake.Deliveries { return intake.Deliveries{} }
func (fakeCore) WebhookStats() outbox.Stats       { return outbox.Stats{} }

// toy is a protocol that shares nothing with Harn: errors are a line of text, the version is
// asked for by a header of its own, and one of its schemas has the name of one of Harn's.
type toy struct{}

func (toy) Mount() gateway.Mount {
	route := func(method, path, operation string, h gateway.Handler) gateway.Route {
		return gateway.Route{Method: method, Path: path, Operation: operation, Tag: "Toys", Scope: "toys:read", Status: 200, Response: "Task", Handle: h}
	}
	wind := route("POST", "/toy/wind", "wind", func(r *gateway.Request) error {
		var body struct {
			Turns int `json:"turns"`
		}
		if _, err := r.Decode(&body); err != nil {
			return err
		}
		if body.Turns > 9 {
			return abi.Errorf(abi.CodeRateLimited, "it is wound up")
		}
		r.Send(200, []byte(`{}`))
		return nil
	})
	wind.Body = gateway.BodyJSON
	broken := route("GET", "/toy/broken", "broken", func(*gateway.Request) error { panic("a spring") })
	forbidden := route("GET", "/toy/forbidden", "forbidden", func(r *gateway.Request) error { return nil })
	forbidden.Scope = "toys:break"
	part := route("GET", "/toy/parts/{path:*}", "part", func(r *gateway.Request) error {
		r.Send(200, fmt.Appendf(nil, "%q", r.PathValue("path")))
		return nil
	})
	name := route("GET", "/toy/names/{name}", "name", func(r *gateway.Request) error {
		r.Send(200, fmt.Appendf(nil, "%q", r.PathValue("name")))
		return nil
	})
	talk := route("GET", "/toy/talk", "talk", func(r *gateway.Request) error {
		if !r.IsUpgrade() {
			return r.UpgradeNeeded()
		}
		return r.Upgrade(func(ctx context.Context, ws *gateway.Socket) {
			_ = jsonrpc.New(ws.Messages(), jsonrpc.Config{Handle: play(ctx)}).Serve(ctx)
			_ = ws.Close(gateway.CloseNormal, "")
		})
	})
	talk.Socket = true
	return gateway.Mount{
		Name: "toy", Prefixes: []string{"/toy", "/v1/toys"}, Subprotocols: []string{"toy.1"},
		Routes:   []gateway.Route{wind, broken, forbidden, part, name, talk},
		Schemas:  map[string]gateway.Schema{"Task": {"type": "object", "description": "A toy's."}},
		Document: &gateway.Document{Path: "/toy/openapi.json", Title: "Toys", Version: "1"},
		Errors: func(r gateway.Refused, err *abi.Error) gateway.ErrorAnswer {
			return gateway.ErrorAnswer{Status: err.HTTPStatus(), Media: "text/x-toy", Body: []byte("toy broken: " + string(err.Code) + " " + r.ID)}
		},
		Version: &gateway.VersionRule{Header: "Toy-Version", Supported: []string{"1"}, Check: func(r *gateway.Request) error {
			if r.Header("Toy-Version") != "1" {
				return abi.Errorf(abi.CodeUnsupportedVersion, "Toy-Version is 1")
			}
			return nil
		}},
	}
}

// play answers what is asked on the toy's socket: "wait" when "go" comes, and "echo" at once.
func play(context.Context) jsonrpc.Handler {
	going := make(chan struct{})
	return func(ctx context.Context, r *jsonrpc.Request) (any, error) {
		switch r.Method {
		case "wait":
			select {
			case <-going:
				return "gone", nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		case "go":
			close(going)
			return nil, nil
		case "echo":
			return r.Params, nil
		}
		return nil, jsonrpc.Errorf(jsonrpc.CodeMethodNotFound, "a toy cannot %s", r.Method)
	}
}

// A socket of another protocol than Harn's has the subprotocol and the errors of its own, and
// reads while it answers.
func TestASocketReadsWhileItAnswers(t *testing.T) {
	addr := serve(t, rest{}, toy{})
	dial := func(header http.Header) (*websocket.Conn, *http.Response, error) {
		return (&websocket.Dialer{}).DialContext(t.Context(), "ws://"+addr+"/toy/talk", header)
	}
	_, refused, err := dial(http.Header{"Authorization": {"Bearer other"}, "Toy-Version": {"1"}})
	if err == nil || refused.StatusCode != 401 || refused.Header.Get("Content-Type") != "text/x-toy" {
		t.Fatalf("%v, %v", refused, err)
	}
	c, _, err := dial(http.Header{"Authorization": {"Bearer key"}, "Toy-Version": {"1"}, "Sec-Websocket-Protocol": {"harn.v1, toy.1"}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if got := c.Subprotocol(); got != "toy.1" {
		t.Errorf("the subprotocol is %q", got)
	}
	for _, m := range []string{`{"jsonrpc":"2.0","id":1,"method":"wait"}`, `{`, `{"jsonrpc":"2.0","id":2,"method":"echo","params":[3]}`} {
		if err := c.WriteMessage(websocket.TextMessage, []byte(m)); err != nil {
			t.Fatal(err)
		}
	}
	hear := func(want string) {
		t.Helper()
		if _, got, err := c.ReadMessage(); err != nil || string(got) != want {
			t.Fatalf("%s, %v, want %s", got, err, want)
		}
	}
	hear(`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"the message is not JSON"}}`)
	hear(`{"jsonrpc":"2.0","id":2,"result":[3]}`)
	if err := c.WriteMessage(websocket.TextMessage, []byte(`{"jsonrpc":"2.0","method":"go"}`)); err != nil {
		t.Fatal(err)
	}
	hear(`{"jsonrpc":"2.0","id":1,"result":"gone"}`)
}

// rest is the protocol that has everything else, with the node's own shape of errors.
type rest struct{}

func (rest) Mount() gateway.Mount {
	return gateway.Mount{
		Name: "rest", Prefixes: []string{"/"},
		Routes: []gateway.Route{{Method: "POST", Path: "/v1/tasks", Operation: "task", Tag: "Tasks", Scope: "toys:read", Body: gateway.BodyJSON, Status: 200, Response: "Task",
			Handle: func(r *gateway.Request) error {
				var body struct{}
				_, err := r.Decode(&body)
				return err
			}}},
		Schemas:  map[string]gateway.Schema{"Task": {"type": "object", "description": "Real work."}},
		Document: &gateway.Document{Path: "/openapi.json", Title: "Rest", Version: "1"},
	}
}

// serve starts a gateway and returns its address.
func serve(t *testing.T, adapters ...gateway.Adapter) (addr string) {
	t.Helper()
	return serveAs(t, gateway.Config{BodyLimit: 4096}, adapters...)
}

func serveAs(t *testing.T, cfg gateway.Config, adapters ...gateway.Adapter) (addr string) {
	t.Helper()
	s := gateway.New(cfg, fakeCore{}, slog.New(slog.NewTextHandler(io.Discard, nil)), adapters...)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(ln) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		if err := errors.Join(s.Shutdown(ctx), <-served); err != nil {
			t.Error(err)
		}
	})
	return ln.Addr().String()
}

// ask sends a request as it stands and returns the answer with its body.
func ask(t *testing.T, addr, request string) (*http.Response, string) {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(30 * time.Second))
	if _, err := io.WriteString(c, request); err != nil {
		t.Fatal(err)
	}
	method, _, _ := strings.Cut(request, " ")
	answer, err := http.ReadResponse(bufio.NewReader(c), &http.Request{Method: method})
	if err != nil {
		t.Fatalf("%q: %v", request, err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer, string(body)
}

const toyHead = "Host: x\r\nConnection: close\r\nAuthorization: Bearer key\r\nToy-Version: 1\r\n"

// What is wrong with a request is said as the protocol says it whose path it is, whoever
// finds it: HTTP's parser, the router, authentication, the version rule or a handler.
func TestEachProtocolAnswersInItsShape(t *testing.T) {
	addr := serve(t, rest{}, toy{})
	long := strings.Repeat("a", 9000)
	for what, test := range map[string]struct {
		status  int
		request string // with %s for the path before its last segment
	}{
		"no such path":         {404, "GET %s/nothing HTTP/1.1\r\n" + toyHead + "\r\n"},
		"the prefix itself":    {404, "GET %s?x=1 HTTP/1.1\r\n" + toyHead + "\r\n"},
		"another method":       {405, "DELETE %s/wind HTTP/1.1\r\n" + toyHead + "\r\n"},
		"an unknown method":    {405, "BREW %s/wind HTTP/1.1\r\n" + toyHead + "\r\n"},
		"two lengths":          {400, "POST %s/wind HTTP/1.1\r\n" + toyHead + "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}"},
		"a line that goes on":  {400, "GET %s/wind HTTP/1.1\r\n" + toyHead + "X: a\r\n b\r\n\r\n"},
		"headers too large":    {431, "GET %s/wind HTTP/1.1\r\n" + toyHead + "X: " + long + "\r\n\r\n"},
		"a target too long":    {431, "GET %s/" + long + " HTTP/1.1\r\n" + toyHead + "\r\n"},
		"a header without end": {400, "GET %s/wind HTTP/1.1\r\nHost x\r\n\r\n"},
	} {
		for prefix, media := range map[string]string{"/toy": "text/x-toy", "/v1/toys": "text/x-toy", "/v1": "application/json", "/toys": "application/json"} {
			request := fmt.Sprintf(test.request, prefix)
			if strings.Contains(what, "method") {
				if prefix != "/toy" {
					continue // there is no route there that would take another method
				}
			}
			answer, body := ask(t, addr, request)
			if answer.StatusCode != test.status || answer.Header.Get("Content-Type") != media || answer.Header.Get("X-Request-Id") == "" {
				t.Errorf("%s at %s: %d %v %q, want %d in %s", what, prefix, answer.StatusCode, answer.Header, body, test.status, media)
			}
		}
	}
	for what, test := range map[string]struct {
		status  int
		request string
	}{
		"no key":            {401, "GET /toy/broken HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"},
		"an unknown key":    {401, "GET /toy/broken HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer other\r\n\r\n"},
		"no version":        {426, "GET /toy/broken HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer key\r\n\r\n"},
		"a missing scope":   {403, "GET /toy/forbidden HTTP/1.1\r\n" + toyHead + "\r\n"},
		"a panic":           {500, "GET /toy/broken HTTP/1.1\r\n" + toyHead + "\r\n"},
		"a large body":      {413, "POST /toy/wind HTTP/1.1\r\n" + toyHead + "Content-Type: application/json\r\nContent-Length: 5000\r\n\r\n" + long[:5000]},
		"another type":      {415, "POST /toy/wind HTTP/1.1\r\n" + toyHead + "Content-Type: text/plain\r\nContent-Length: 2\r\n\r\n{}"},
		"an encoded body":   {415, "POST /toy/wind HTTP/1.1\r\n" + toyHead + "Content-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}"},
		"a malformed body":  {400, "POST /toy/wind HTTP/1.1\r\n" + toyHead + "Content-Length: 1\r\n\r\n{"},
		"an unknown member": {400, "POST /toy/wind HTTP/1.1\r\n" + toyHead + "Content-Length: 11\r\n\r\n{\"other\":1}"},
		"too many":          {429, "POST /toy/wind HTTP/1.1\r\n" + toyHead + "Content-Length: 12\r\n\r\n{\"turns\":10}"},
	} {
		answer, body := ask(t, addr, test.request)
		if answer.StatusCode != test.status || answer.Header.Get("Content-Type") != "text/x-toy" || !strings.HasPrefix(body, "toy broken: ") {
			t.Errorf("%s: %d %q %q, want %d in the toy's words", what, answer.StatusCode, answer.Header.Get("Content-Type"), body, test.status)
		}
		if challenged := answer.Header.Get("WWW-Authenticate") != ""; challenged != (test.status == 401 || test.status == 403) {
			t.Errorf("%s: challenged: %v", what, challenged)
		}
	}
	// The other protocol has no version rule, and its own words.
	answer, body := ask(t, addr, "POST /v1/tasks HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer key\r\nContent-Length: 1\r\n\r\n{")
	if answer.StatusCode != 400 || !strings.HasPrefix(body, `{"error":`) {
		t.Errorf("Harn's side: %d %q", answer.StatusCode, body)
	}
}

// Slashes are part of what is left of a path, written as they are or encoded; of one segment
// only when they are encoded.
func TestTheRestOfAPath(t *testing.T) {
	addr := serve(t, toy{})
	for path, want := range map[string]string{
		"parts/a":           `"a"`,
		"parts/a/b/c.txt":   `"a/b/c.txt"`,
		"parts/a%2Fb/c":     `"a/b/c"`,
		"parts/a//b/":       `"a//b/"`,
		"parts/..%2f../x":   `"../../x"`,
		"parts/%zz":         `"%zz"`,
		"parts/a%20b?x=1/2": `"a b"`,
		"names/a%2Fb":       `"a/b"`,
		"names/a/b":         "",
		"parts":             "",
	} {
		answer, body := ask(t, addr, "GET /toy/"+path+" HTTP/1.1\r\n"+toyHead+"\r\n")
		if want == "" {
			if answer.StatusCode != 404 {
				t.Errorf("%s: %d %s, want nothing there", path, answer.StatusCode, body)
			}
			continue
		}
		if answer.StatusCode != 200 || body != want {
			t.Errorf("%s: %d %s, want %s", path, answer.StatusCode, body, want)
		}
	}
}

// Two protocols may use one name for their schemas, and describe themselves apart.
func TestEachProtocolHasItsDocument(t *testing.T) {
	addr := serve(t, rest{}, toy{})
	for path, want := range map[string]struct {
		task    string
		paths   []string
		version bool
	}{
		"/openapi.json":     {"Real work.", []string{"/v1/tasks", "/healthz", "/openapi.json"}, false},
		"/toy/openapi.json": {"A toy's.", []string{"/toy/wind", "/toy/parts/{path}", "/toy/openapi.json"}, true},
	} {
		_, body := ask(t, addr, "GET "+path+" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
		var doc struct {
			Paths      map[string]any
			Components struct {
				Schemas    map[string]struct{ Description string }
				Parameters map[string]any
			}
		}
		if err := json.Unmarshal([]byte(body), &doc, json.MatchCaseInsensitiveNames(true)); err != nil {
			t.Fatal(err)
		}
		if got := doc.Components.Schemas["Task"].Description; got != want.task {
			t.Errorf("%s: Task is %q, want %q", path, got, want.task)
		}
		for _, p := range want.paths {
			if doc.Paths[p] == nil {
				t.Errorf("%s does not describe %s", path, p)
			}
		}
		if got := doc.Components.Parameters["ProtocolVersion"] != nil; got != want.version {
			t.Errorf("%s asks for a version: %v", path, got)
		}
	}
}

// placed is a protocol of which nothing but the places matters.
type placed struct {
	name, prefix, path string
}

func (p placed) Mount() gateway.Mount {
	return gateway.Mount{Name: p.name, Prefixes: []string{p.prefix}, Routes: []gateway.Route{
		{Method: "GET", Path: p.path, Operation: "x", Tag: "X", Handle: func(*gateway.Request) error { return nil }}}}
}

// What would let one protocol answer for another does not start.
func TestProtocolsDoNotGetInEachOthersWay(t *testing.T) {
	for what, adapters := range map[string][]gateway.Adapter{
		"one name":                 {placed{"a", "/a", "/a/x"}, placed{"a", "/b", "/b/x"}},
		"one prefix":               {placed{"a", "/a", "/a/x"}, placed{"b", "/a", "/a/y"}},
		"a route outside":          {placed{"a", "/a", "/b/x"}},
		"a route beside":           {placed{"a", "/a", "/ab"}},
		"a route of another":       {placed{"a", "/a", "/a/b/x"}, placed{"b", "/a/b", "/a/b/y"}},
		"a route of all below it":  {placed{"a", "/", "/b/x"}, placed{"b", "/b", "/b/y"}},
		"a path of the node's own": {placed{"a", "/healthz", "/healthz/x"}},
	} {
		t.Run(what, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("it was mounted")
				}
			}()
			gateway.New(gateway.Config{}, fakeCore{}, slog.New(slog.DiscardHandler), adapters...)
		})
	}
}
