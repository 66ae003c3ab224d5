package harn_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/runtime/enginetest"
)

func TestMalformedJSON(t *testing.T) {
	n := newNode(t)
	at := "/v1/sessions/" + n.session(t) + "/messages"
	deep := strings.Repeat(`{"message":`, 300) + "1" + strings.Repeat("}", 300)
	for name, c := range map[string]struct {
		body, param string
		offset      int
	}{
		"cut short":          {`{"message":{"role":"user"`, "message", 25},
		"no JSON":            {`hello`, "", 0},
		"trailing text":      {`{} {}`, "", 3},
		"trailing comma":     {`{"message":null,}`, "", 15},
		"comment":            {`{/* */}`, "", 1},
		"single quotes":      {`{'message':1}`, "", 1},
		"duplicate name":     {`{"message":null,"message":null}`, "message", 16},
		"duplicate in depth": {`{"message":{"role":"user","role":"tool","parts":[]}}`, "message.role", 26},
		"invalid UTF-8":      {"{\"message\":{\"role\":\"\xff\",\"parts\":[]}}", "message.role", 20},
		"lone surrogate":     {`{"message":{"role":"\ud800","parts":[]}}`, "message.role", 20},
		"wrong type":         {`{"message":{"role":"user","parts":"x"}}`, "message.parts", 34},
		"wrong type in list": {`{"message":{"role":"user","parts":[{"type":7}]}}`, "message.parts[0].type", 43},
		"wrong type on top":  {`[1,2]`, "", 0},
		"a string on top":    {`"message"`, "", 0},
		"too deep":           {deep, "", 200 * len(`{"message":`)},
		"too deep in lists":  {`{"metadata":` + strings.Repeat("[", 100_000), "", 12 + 199},
		"huge number":        {`{"message":{"role":1e999999,"parts":[]}}`, "message.role", 19},
		"control character":  {"{\"message\":\"\x01\"}", "message", 12},
		"byte order mark":    {"\ufeff{}", "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			err := n.do(t, "POST", at, c.body).wantError(400, abi.CodeInvalidRequest)
			var details struct {
				ByteOffset *int `json:"byte_offset"`
			}
			if json.Unmarshal(err.Details, &details) != nil || details.ByteOffset == nil {
				t.Fatalf("no byte_offset in %s: %s", err.Details, err.Message)
			}
			if *details.ByteOffset != c.offset || err.Param != c.param {
				t.Errorf("byte_offset %d param %q, want %d %q: %s", *details.ByteOffset, err.Param, c.offset, c.param, err.Message)
			}
		})
	}
}

func TestBadValues(t *testing.T) {
	n := newNode(t)
	session := "/v1/sessions/" + n.session(t)
	for name, c := range map[string]struct{ path, body, param string }{
		"no body":                    {session + "/messages", ``, ""},
		"null":                       {session + "/messages", `null`, ""},
		"missing member":             {session + "/messages", `{}`, "message"},
		"null member":                {session + "/messages", `{"message":null}`, "message"},
		"missing input":              {session + "/tasks", `{}`, "input"},
		"input is no object":         {session + "/tasks", `{"input":"do it"}`, "input"},
		"input is null":              {session + "/tasks", `{"input":null}`, "input"},
		"metadata is no object":      {session + "/tasks", `{"input":{},"metadata":[]}`, "metadata"},
		"number out of range":        {session + "/truncate", `{"keep_turns":99999999999999999999}`, "keep_turns"},
		"a fraction":                 {session + "/truncate", `{"keep_turns":1.5}`, "keep_turns"},
		"negative":                   {session + "/truncate", `{"keep_turns":-1}`, "keep_turns"},
		"nothing to keep":            {session + "/truncate", `{}`, "keep_turns"},
		"name of another case":       {"/v1/workspaces", `{"Name":"n","root":"/r"}`, "name"},
		"empty required":             {"/v1/workspaces", `{"name":"","root":"/r"}`, "name"},
		"unknown enum":               {session + "/branches", `{"kind":"trunk","base_ref":"b"}`, "kind"},
		"deadline of the wrong type": {session + "/tasks", `{"input":{},"deadline_seconds":"soon"}`, "deadline_seconds"},
		"huge deadline":              {session + "/tasks", `{"input":{},"deadline_seconds":1e999}`, "deadline_seconds"},
		"bad base64":                 {"/v1/artifacts", `{"kind":"file","mime_type":"a/b","visibility":"public","content":"%%%"}`, "content"},
		"bad hash":                   {"/v1/artifacts", `{"kind":"file","mime_type":"a/b","visibility":"public","sha256":"abc"}`, "sha256"},
	} {
		t.Run(name, func(t *testing.T) {
			err := n.do(t, "POST", c.path, c.body).wantError(400, abi.CodeInvalidRequest)
			if err.Param != c.param {
				t.Errorf("param %q, want %q: %s", err.Param, c.param, err.Message)
			}
			for _, leak := range []string{"abi.", "jsontext", "Go ", "struct", "*"} {
				if strings.Contains(err.Message, leak) {
					t.Errorf("the message tells of the program: %s", err.Message)
				}
			}
		})
	}
}

func TestUnknownFieldsAreIgnored(t *testing.T) {
	n := newNode(t)
	n.do(t, "POST", "/v1/workspaces", `{"name":"n","root":"/r","later":{"x":[1,2,{"y":null}]},"image":"i"}`).want(201)
	n.do(t, "POST", "/v1/sessions/"+n.session(t)+"/tasks", `{"input":{"role":"user","parts":[{"type":"text","text":"x","style":"bold"}],"weight":1},"x":0}`).want(202)
}

// Numbers that no double holds are kept as they were written.
func TestHugeNumbersInFreeJSON(t *testing.T) {
	n := newNode(t)
	body := `{"input":{"n":123456789012345678901234567890,"f":0.1000000000000000055511151231257827}}`
	a := n.do(t, "POST", "/v1/sessions/"+n.session(t)+"/tasks", body).want(202)
	if got := string(n.do(t, "GET", "/v1/tasks/"+a.id(), nil).body); !strings.Contains(got, "123456789012345678901234567890") ||
		!strings.Contains(got, "0.1000000000000000055511151231257827") {
		t.Errorf("%s", got)
	}
}

func TestMediaTypes(t *testing.T) {
	n := newNode(t)
	post := func(o ...func(*http.Request)) *answer {
		return n.do(t, "POST", "/v1/workspaces", `{"name":"n","root":"/r"}`, o...)
	}
	for _, good := range []string{"application/json", "Application/JSON; charset=UTF-8", "application/vnd.x+json", ""} {
		post(header("Content-Type", good)).want(201)
	}
	for _, bad := range []string{"text/plain", "application/x-www-form-urlencoded", "application/json; charset=latin1", "application/xml", "json"} {
		post(header("Content-Type", bad)).wantError(415, abi.CodeInvalidRequest)
	}
	for _, bad := range []string{"text/plain", "json"} {
		if err := post(header("Content-Type", bad)).wantError(415, abi.CodeInvalidRequest); err.Param != "Content-Type" {
			t.Errorf("param %q", err.Param)
		}
	}
}

// Nothing decodes a body: what is compressed is refused wherever it would be kept as it
// is, or read as something else.
func TestContentEncodings(t *testing.T) {
	n := newNode(t)
	for name, a := range map[string]*answer{
		"JSON":     n.do(t, "POST", "/v1/workspaces", `{"name":"n","root":"/r"}`, header("Content-Encoding", "gzip")),
		"upload":   n.do(t, "POST", "/v1/artifacts?kind=file", "bytes", header("Content-Type", "text/plain"), header("Content-Encoding", "br")),
		"form":     n.do(t, "POST", "/v1/artifacts", "--x--", header("Content-Type", "multipart/form-data; boundary=x"), header("Content-Encoding", "gzip")),
		"artifact": n.do(t, "POST", "/v1/artifacts", `{"kind":"file","mime_type":"a/b","visibility":"public"}`, header("Content-Encoding", "gzip")),
	} {
		if err := a.wantError(415, abi.CodeInvalidRequest); err.Param != "Content-Encoding" {
			t.Errorf("%s: param %q", name, err.Param)
		}
	}
}

func TestPathsAndMethods(t *testing.T) {
	n := newNode(t)
	session := n.session(t)
	for _, path := range []string{"/", "/v2", "/v1/", "/v1/nothing", "/v1//sessions", "//v1/sessions", "/v1/sessions/", "/V1/sessions", "/v1/sessions/" + session + "/",
		"/v1/sessions/" + session + "%2Fmessages", "/v1/sessions/x%2F..%2F..%2Fsessions", "/v1/../v1/sessions", "/v1/sessions/%zz"} {
		n.raw(t, "GET "+path+" HTTP/1.1\r\n").wantError(404, abi.CodeResourceNotFound)
	}
	for _, id := range []string{"nope", "task_" + strings.Repeat("x", 500), "sess_%00", "%F0%9F%8D%8C", "sess_'; drop table"} {
		n.raw(t, "GET /v1/sessions/"+strings.ReplaceAll(id, " ", "%20")+" HTTP/1.1\r\n").wantError(404, abi.CodeResourceNotFound)
	}
	// A percent-encoded id is the same id.
	n.do(t, "GET", "/v1/sessions/"+strings.Replace(session, "_", "%5F", 1), nil).want(200)

	for path, allow := range map[string]string{
		"/v1": "GET, HEAD, OPTIONS", "/v1/tasks": "GET, HEAD, OPTIONS, POST", "/v1/sessions/" + session: "GET, HEAD, OPTIONS, PATCH",
		"/v1/memories/mem_1": "DELETE, GET, HEAD, OPTIONS", "/v1/sessions/" + session + "/close": "OPTIONS, POST",
	} {
		for _, method := range []string{"PUT", "TRACE", "BREW"} {
			a := n.do(t, method, path, nil)
			if a.wantError(405, abi.CodeInvalidRequest); a.header.Get("Allow") != allow {
				t.Errorf("%s %s: Allow %q, want %q", method, path, a.header.Get("Allow"), allow)
			}
		}
		if a := n.do(t, "OPTIONS", path, nil).want(204); a.header.Get("Allow") != allow {
			t.Errorf("OPTIONS %s: Allow %q, want %q", path, a.header.Get("Allow"), allow)
		}
	}
	n.do(t, "OPTIONS", "/v1/nothing", nil).wantError(404, abi.CodeResourceNotFound)
	if a := n.do(t, "HEAD", "/v1/sessions/"+session, nil).want(200); a.header.Get("Content-Length") == "0" || a.header.Get("Content-Length") == "" {
		t.Errorf("HEAD: Content-Length %q", a.header.Get("Content-Length"))
	}
	if a := n.do(t, "HEAD", "/v1/events/stream", nil).want(200); a.header.Get("Content-Type") != "text/event-stream" {
		t.Errorf("HEAD of a stream: %v", a.header)
	}
}

func TestBodySizes(t *testing.T) {
	n := newNode(t, func(c *gateway.Config) { c.BodyLimit = 100_000 })
	at := "/v1/sessions/" + n.session(t) + "/tasks"
	sized := func(size int) string {
		frame := `{"input":{"s":""}}`
		return `{"input":{"s":"` + strings.Repeat("x", size-len(frame)) + `"}}`
	}
	for _, size := range []int{100, 8191, 8192, 8193, 65_536, 65_537, 99_999, 100_000} {
		n.do(t, "POST", at, sized(size)).want(202)
		n.send(t, chunked(n.request(t, "POST", at, sized(size)))).want(202)
	}
	for _, size := range []int{100_001, 131_072, 131_073, 5_000_000} {
		n.do(t, "POST", at, sized(size)).wantError(413, abi.CodePayloadTooLarge)
		n.send(t, chunked(n.request(t, "POST", at, sized(size)))).wantError(413, abi.CodePayloadTooLarge)
	}
	// A refused request is read no further, and still answered.
	n.do(t, "POST", at, sized(1_000_000), header("Authorization", "")).wantError(401, abi.CodeUnauthenticated)
	n.do(t, "POST", "/v1/nothing", sized(1_000_000)).wantError(404, abi.CodeResourceNotFound)
	n.do(t, "POST", at, sized(50_000), header("Expect", "100-continue")).want(202)
}

// chunked makes a request whose length is not known beforehand.
func chunked(r *http.Request) *http.Request {
	r.Body = io.NopCloser(r.Body)
	r.ContentLength = -1
	return r
}

// Bodies that do not fit into what the node gives to all of them are refused,
// and the memory is there again afterwards.
func TestBodiesInFlightAreBounded(t *testing.T) {
	n := newNode(t, func(c *gateway.Config) { c.InFlightBytes = 150_000 })
	at := "/v1/sessions/" + n.session(t) + "/tasks"
	large := `{"input":{"s":"` + strings.Repeat("x", 200_000) + `"}}`
	for range 3 {
		a := n.do(t, "POST", at, large)
		if a.wantError(503, abi.CodeServiceUnavailable); a.header.Get("Retry-After") == "" {
			t.Error("no Retry-After")
		}
		n.do(t, "POST", at, `{"input":{"s":"`+strings.Repeat("x", 100_000)+`"}}`).want(202)
	}
}

// raw writes a request head as it is, with the usual headers, and reads the answer.
func (n *node) raw(t *testing.T, head string) *answer {
	t.Helper()
	return n.rawBytes(t, head+"Host: x\r\nConnection: close\r\nAuthorization: Bearer "+enginetest.RootKey+"\r\n"+abi.VersionHeader+": "+abi.ProtocolVersion+"\r\n\r\n")
}

func (n *node) rawBytes(t *testing.T, text string) *answer {
	t.Helper()
	c := n.dial(t)
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
	return readAnswer(t, c)
}

func (n *node) dial(t testing.TB) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", n.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	return c
}

func readAnswer(t *testing.T, c net.Conn) *answer {
	t.Helper()
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return &answer{t, resp.StatusCode, resp.Header, body}
}

func TestBrokenHTTP(t *testing.T) {
	n := newNode(t)
	usual := "Host: x\r\nAuthorization: Bearer " + enginetest.RootKey + "\r\n" + abi.VersionHeader + ": " + abi.ProtocolVersion + "\r\n"
	for name, c := range map[string]struct {
		text   string
		status int
		code   abi.ErrorCode
	}{
		"not HTTP":          {"hello\r\n\r\n", 400, abi.CodeInvalidRequest},
		"TLS":               {"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 400, abi.CodeInvalidRequest},
		"header too large":  {"GET /v1 HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("x", 100_000) + "\r\n\r\n", 431, abi.CodeInvalidRequest},
		"path too large":    {"GET /" + strings.Repeat("x", 100_000) + " HTTP/1.1\r\nHost: x\r\n\r\n", 431, abi.CodeInvalidRequest},
		"bad length":        {"POST /v1/tasks HTTP/1.1\r\n" + usual + "Content-Length: -5\r\n\r\n", 400, abi.CodeInvalidRequest},
		"bad chunk":         {"POST /v1/tasks HTTP/1.1\r\n" + usual + "Transfer-Encoding: chunked\r\n\r\nZZ\r\n{}\r\n0\r\n\r\n", 400, abi.CodeInvalidRequest},
		"two lengths":       {"POST /v1/tasks HTTP/1.1\r\n" + usual + "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}", 400, abi.CodeInvalidRequest},
		"length and chunks": {"POST /v1/tasks HTTP/1.1\r\n" + usual + "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400, abi.CodeInvalidRequest},
	} {
		t.Run(name, func(t *testing.T) {
			n.rawBytes(t, c.text).wantError(c.status, c.code)
		})
	}
}

// A client that sends too slowly is answered and let go, whether it is the
// headers, a small or a large body that does not come.
func TestSlowRequests(t *testing.T) {
	n := newNode(t, func(c *gateway.Config) { c.ReadTimeout = 200 * time.Millisecond })
	usual := "Host: x\r\nAuthorization: Bearer " + enginetest.RootKey + "\r\n" + abi.VersionHeader + ": " + abi.ProtocolVersion + "\r\n"
	for name, text := range map[string]string{
		"headers":      "GET /v1 HTTP/1.1\r\nHost: x\r\n",
		"small body":   "POST /v1/tasks HTTP/1.1\r\n" + usual + "Content-Length: 20\r\n\r\n{",
		"large body":   "POST /v1/tasks HTTP/1.1\r\n" + usual + "Content-Length: 20000\r\n\r\n" + strings.Repeat(" ", 10_000),
		"chunked body": "POST /v1/tasks HTTP/1.1\r\n" + usual + "Transfer-Encoding: chunked\r\n\r\n5\r\n{",
		"upload":       "POST /v1/artifacts HTTP/1.1\r\n" + usual + "Content-Type: text/plain\r\nContent-Length: 20000\r\n\r\n" + strings.Repeat(" ", 10_000),
	} {
		t.Run(name, func(t *testing.T) {
			n.rawBytes(t, text).wantError(408, abi.CodeDeadlineExceeded)
		})
	}
}

// What is left of a refused request is never taken for the next one.
func TestLeftoversAreNoRequest(t *testing.T) {
	n := newNode(t)
	smuggled := "GET /v1 HTTP/1.1\r\nHost: x\r\n\r\n"
	body := strings.Repeat(" ", 20_000) + smuggled
	text := fmt.Sprintf("POST /v1/nothing HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	c := n.dial(t)
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
	all, err := io.ReadAll(c)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(string(all), "HTTP/1.1 "); got != 1 {
		t.Errorf("%d answers to one request: %s", got, all)
	}
	// Small leftovers are skipped, and the connection goes on.
	c = n.dial(t)
	body = "not read by anybody"
	text = fmt.Sprintf("GET /v1 HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	if _, err := io.WriteString(c, text+smuggled); err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(c)
	for range 2 {
		resp, err := http.ReadResponse(r, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, resp.Body); err != nil || resp.StatusCode != 200 {
			t.Fatal(resp.StatusCode, err)
		}
	}
}

func TestConnectionLimit(t *testing.T) {
	n := newNode(t, func(c *gateway.Config) { c.Connections = 3 })
	var open []net.Conn
	for range 3 {
		c := n.dial(t)
		// Answered once, so that it is known to be accepted.
		if _, err := io.WriteString(c, "GET /v1 HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		resp, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil || resp.StatusCode != 200 {
			t.Fatal(resp, err)
		}
		open = append(open, c)
	}
	a := readAnswer(t, n.dial(t))
	if a.wantRefused(); a.header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	open[0].Close()
	deadline := time.Now().Add(patience)
	for a.status != 200 {
		if time.Now().After(deadline) {
			t.Fatal("a closed connection still counts")
		}
		c := n.dial(t)
		if _, err := io.WriteString(c, "GET /v1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"); err == nil {
			a = readAnswer(t, c)
		}
	}
}

// wantRefused checks the answer to a connection beyond the limit.
func (a *answer) wantRefused() {
	a.t.Helper()
	a.want(503)
	var envelope abi.ErrorEnvelope
	a.into(&envelope)
	if envelope.Error.Code != abi.CodeServiceUnavailable {
		a.t.Errorf("%s", a.body)
	}
}

// A request whose end is not clear is refused, and nothing that follows it on the
// connection is taken for another request.
func TestUnclearFramingClosesTheConnection(t *testing.T) {
	n := newNode(t)
	const second = "GET /v1 HTTP/1.1\r\nHost: x\r\n\r\n"
	for name, c := range map[string]struct {
		headers, body string
		answers       int
	}{
		"both":             {"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n", 1},
		"both, other case": {"transfer-encoding: chunked\r\ncontent-length: 5\r\n", "0\r\n\r\n", 1},
		"identity":         {"Transfer-Encoding: identity\r\nContent-Length: 2\r\n", "{}", 1},
		"identity alone":   {"Transfer-Encoding: identity\r\n", "", 1},
		"folded coding":    {"Transfer-Encoding:\r\n chunked\r\n", "0\r\n\r\n", 1},
		"folded length":    {"Content-Length:\r\n 2\r\n", "{}", 1},
		"folded":           {"X-Anything: a\r\n\tb\r\nContent-Length: 2\r\n", "{}", 1},
		"length":           {"Content-Length: 2\r\n", "{}", 2},
		"chunked":          {"Transfer-Encoding: chunked\r\n", "2\r\n{}\r\n0\r\n\r\n", 2},
	} {
		t.Run(name, func(t *testing.T) {
			conn := n.dial(t)
			head := "POST /v1/sessions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nAuthorization: Bearer " + enginetest.RootKey + "\r\n" +
				abi.VersionHeader + ": " + abi.ProtocolVersion + "\r\n"
			if _, err := io.WriteString(conn, head+c.headers+"\r\n"+c.body+second+"GET /v1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"); err != nil {
				t.Fatal(err)
			}
			all, err := io.ReadAll(conn)
			if err != nil {
				t.Fatal(err)
			}
			answers := strings.Count(string(all), "HTTP/1.1 ")
			if c.answers == 1 && (answers != 1 || !strings.HasPrefix(string(all), "HTTP/1.1 400") || !strings.Contains(string(all), "Connection: close")) {
				t.Errorf("%d answers: %s", answers, all)
			}
			if c.answers > 1 && answers != 3 {
				t.Errorf("%d answers: %s", answers, all)
			}
		})
	}
}
