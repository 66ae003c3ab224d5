package openharness_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/gateway/api"
	"github.com/wharf-dev/wharf/gateway/internal/gatewaytest"
	"github.com/wharf-dev/wharf/gateway/openharness"
)

// checking is a suite that does what a test lets it do.
type checking struct {
	begun chan openharness.SuiteRun
	more  chan string // the ids of checks that pass; closed at the end
	found openharness.SuiteResult
	fails error
	ended chan struct{} // gets one for each run that is over
}

func newChecking() *checking {
	return &checking{begun: make(chan openharness.SuiteRun, 8), more: make(chan string), ended: make(chan struct{}, 8), found: openharness.SuiteResult{Verdict: "pass", Passed: 2}}
}

func (c *checking) suite() openharness.Suite {
	return openharness.Suite{Domains: []string{"agents", "files"}, Run: func(ctx context.Context, run openharness.SuiteRun, tell func(jsontext.Value)) (openharness.SuiteResult, error) {
		defer func() { c.ended <- struct{}{} }()
		c.begun <- run
		for {
			select {
			case <-ctx.Done():
				return openharness.SuiteResult{}, ctx.Err()
			case id, ok := <-c.more:
				if !ok {
					return c.found, c.fails
				}
				tell(jsontext.Value(fmt.Sprintf(`{"type":"test.passed","test_id":%q}`, id)))
			}
		}
	}}
}

// checked puts a front door with a suite before a node, and returns what reaches it and closes it.
func checked(t *testing.T, n *node, c *checking) (front *node, shut func()) {
	t.Helper()
	cfg := gateway.Config{Node: "test", Version: "0.0.0", Heartbeat: 20 * time.Millisecond}
	server := gateway.New(cfg, n.Engine, slog.New(slog.DiscardHandler),
		openharness.New(cfg, api.New(n.Engine, nil), openharness.Node{Suite: c.suite()}))
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(ln) }()
	shut = sync.OnceFunc(func() {
		http.DefaultClient.CloseIdleConnections()
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := errors.Join(server.Shutdown(ctx), <-served); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(shut)
	return &node{Node: n.Node, url: "http://" + ln.Addr().String()}, shut
}

const conformancePath = "/wharf/conformance/"

// A run is told of as it goes on and from its beginning, ends with done, once, and is kept: in the
// results, in the status, and in its stream, also when the node has started again.
func TestConformanceRun(t *testing.T) {
	behind, c := newNode(t, nil), newChecking()
	n, shut := checked(t, behind, c)
	n.do(t, "GET", conformancePath+"run/stream", nil).fails(404, "NOT_FOUND")
	if a := n.do(t, "GET", conformancePath+"status", nil).want(200); a.text("status") != "not_tested" || a.get("last_run_at") != nil {
		t.Errorf("before the first run: %s", a.body)
	}

	a := n.do(t, "POST", conformancePath+"run", nil).want(202)
	id := a.text("run_id")
	if run := <-c.begun; run.Harness != "wharf" || run.APIKey == "" || run.Quick || len(run.Domains) > 0 {
		t.Errorf("asked for %+v", run)
	}
	n.do(t, "POST", conformancePath+"run", nil).fails(409, "CONFLICT")

	early := n.streams(t, "GET", strings.TrimPrefix(a.text("stream_url"), "/v1/harnesses"), nil)
	c.more <- "agents.one"
	first := early.wants("test.passed")
	c.more <- "agents.two"
	close(c.more)
	second, done := early.wants("test.passed"), early.wants("done")
	if _, more := early.next(); more {
		t.Error("something comes after done")
	}
	for _, ev := range []sse{first, second, done} {
		schema.fits(t, "ConformanceEvent", []byte(ev.data))
	}
	late := func(n *node, method, query string, o ...option) {
		t.Helper()
		s := n.streams(t, method, conformancePath+"run/stream"+query, nil, o...)
		for _, want := range []sse{first, second, done} {
			if want == first && len(o) > 0 {
				continue // a client that resumes has it
			}
			if ev, _ := s.next(); ev != want {
				t.Errorf("told %v, want %v", ev, want)
			}
		}
		if _, more := s.next(); more {
			t.Error("something comes after done")
		}
	}
	kept := func(n *node) {
		t.Helper()
		late(n, "GET", "")
		late(n, "POST", "?run_id="+id)
		late(n, "GET", "", header("Last-Event-ID", first.id))
		if a := n.do(t, "GET", conformancePath+"results?limit=1", nil).want(200); a.text("data.0.id") != id || a.text("data.0.result") != "pass" || a.get("total") != 1.0 {
			t.Errorf("results: %s", a.body)
		}
		if a := n.do(t, "GET", conformancePath+"status", nil).want(200); a.text("status") != "certified" || a.text("certified_version") != "0.0.0" || a.get("pass_rate") != 1.0 || a.get("golden_rule_compliant") != true {
			t.Errorf("status: %s", a.body)
		}
	}
	kept(n)
	for _, wrong := range []string{"x", id + ".0", id + ".x", "run_other.1"} {
		n.do(t, "GET", conformancePath+"run/stream?run_id="+id, nil, header("Last-Event-ID", wrong)).fails(400, "VALIDATION_ERROR")
	}
	n.do(t, "GET", conformancePath+"run/stream?run_id=run_none", nil).fails(404, "NOT_FOUND")

	shut()
	again, _ := checked(t, behind, newChecking()) // which knows nothing but what is stored
	kept(again)
}

// What was asked for is what is run. A run of some domains certifies nothing, whatever it finds.
func TestConformanceOfDomains(t *testing.T) {
	c := newChecking()
	n, _ := checked(t, newNode(t, nil), c)
	n.do(t, "POST", conformancePath+"run", `{"categories":["agents","nonsense"]}`).fails(400, "VALIDATION_ERROR")
	n.do(t, "POST", conformancePath+"run", `{"categories":["agents"],"quick":true,"unknown":1}`).want(202)
	if run := <-c.begun; len(run.Domains) != 1 || run.Domains[0] != "agents" || !run.Quick {
		t.Errorf("asked for %+v", run)
	}
	close(c.more)
	n.streams(t, "GET", conformancePath+"run/stream", nil).wants("done")
	if a := n.do(t, "GET", conformancePath+"status", nil).want(200); a.text("status") != "partial" || a.get("certified_version") != nil {
		t.Errorf("status: %s", a.body)
	}
}

// A run that could not be made is told of, and kept nowhere; another can be begun.
func TestConformanceFails(t *testing.T) {
	c := newChecking()
	c.fails = errors.New("the harness does not answer")
	n, _ := checked(t, newNode(t, nil), c)
	n.do(t, "POST", conformancePath+"run", nil).want(202)
	s := n.streams(t, "GET", conformancePath+"run/stream", nil)
	close(c.more)
	if done := s.wants("done"); !strings.Contains(done.data, "does not answer") {
		t.Errorf("told %s", done.data)
	}
	if a := n.do(t, "GET", conformancePath+"results", nil).want(200); a.get("total") != 0.0 {
		t.Errorf("results: %s", a.body)
	}
	n.do(t, "POST", conformancePath+"run", nil).want(202)
}

// The last run counts, and one that has failed is no certificate.
func TestConformanceStatus(t *testing.T) {
	c := newChecking()
	n, _ := checked(t, newNode(t, nil), c)
	for _, found := range []openharness.SuiteResult{{Verdict: "pass", Passed: 4}, {Verdict: "fail", Passed: 1, Failed: 3, Skipped: 1, Violations: 2}} {
		c.found = found
		n.do(t, "POST", conformancePath+"run", nil).want(202)
		s := n.streams(t, "GET", conformancePath+"run/stream", nil)
		close(c.more)
		s.wants("done")
		c.more = make(chan string)
	}
	a := n.do(t, "GET", conformancePath+"status", nil).want(200)
	if a.text("status") != "failing" || a.text("certified_version") != "0.0.0" || a.get("pass_rate") != 0.25 || a.get("golden_rule_compliant") != false {
		t.Errorf("status: %s", a.body)
	}
	if a := n.do(t, "GET", conformancePath+"results", nil).want(200); a.text("data.0.result") != "fail" || a.get("data.0.golden_rule_violations") != 2.0 || a.text("data.1.result") != "pass" {
		t.Errorf("results: %s", a.body)
	}
}

// A run ends with the node, whoever waits for it.
func TestConformanceDrains(t *testing.T) {
	c := newChecking()
	n, shut := checked(t, newNode(t, nil), c)
	n.do(t, "POST", conformancePath+"run", nil).want(202)
	<-c.begun
	s := n.streams(t, "GET", conformancePath+"run/stream", nil)
	shut()
	<-c.ended
	for _, more := s.next(); more; _, more = s.next() {
	}
}

// Who may run checks, and who may look at what they have found.
func TestConformanceScopes(t *testing.T) {
	c := newChecking()
	n, _ := checked(t, newNode(t, nil), c)
	looks, runs := n.key(t, []string{"harnesses:read"}), n.key(t, []string{"harnesses:write"})
	n.do(t, "POST", conformancePath+"run", nil, by(looks)).fails(403, "FORBIDDEN")
	n.do(t, "POST", conformancePath+"run", nil, by("")).fails(401, "UNAUTHORIZED")
	n.do(t, "POST", conformancePath+"run", nil, by(runs)).want(202)
	if run := <-c.begun; run.APIKey != runs {
		t.Error("the run has another key than its caller's")
	}
	for _, path := range []string{"results", "status", "run/stream"} {
		n.do(t, "GET", conformancePath+path, nil, by(runs)).fails(403, "FORBIDDEN")
	}
	s := n.streams(t, "GET", conformancePath+"run/stream", nil, by(looks))
	close(c.more)
	s.wants("done")

	if a := n.do(t, "GET", conformancePath+"results", nil, by(looks)).want(200); a.get("total") != 1.0 {
		t.Errorf("results: %s", a.body)
	}
	other := n.stranger(t)
	if a := n.do(t, "GET", conformancePath+"results", nil, by(other)).want(200); a.get("total") != 0.0 {
		t.Errorf("another tenant sees %s", a.body)
	}
	n.do(t, "GET", conformancePath+"run/stream", nil, by(other)).fails(404, "NOT_FOUND")
	elsewhere, err := n.CreateWorkspace(t.Context(), n.Root, nil, abi.CreateWorkspaceRequest{Name: "elsewhere", Root: "/elsewhere"})
	if err != nil {
		t.Fatal(err)
	}
	n.do(t, "GET", conformancePath+"results", nil, by(n.key(t, []string{"harnesses:read"}, elsewhere.ID))).fails(404, "NOT_FOUND")
}

// A stream says that it lives while nothing is told, and lasts no longer than the key that opened it.
func TestConformanceStreamEndsWithItsKey(t *testing.T) {
	c := newChecking()
	n, _ := checked(t, newNode(t, nil), c)
	n.do(t, "POST", conformancePath+"run", nil).want(202)
	made, err := n.CreateKey(t.Context(), n.Root, abi.CreateKeyRequest{Name: "k", Scopes: []string{"harnesses:read"}})
	if err != nil {
		t.Fatal(err)
	}
	s := n.streams(t, "GET", conformancePath+"run/stream", nil, by(gatewaytest.KeyOf(t, made.JSON)))
	if line, err := s.body.ReadString('\n'); err != nil || line != ": \n" {
		t.Errorf("a quiet stream says %q, %v", line, err)
	}
	if _, err := n.RevokeKey(t.Context(), n.Root, made.ID); err != nil {
		t.Fatal(err)
	}
	if ev, more := s.next(); more {
		t.Errorf("it goes on with %v", ev)
	}
	close(c.more)
}
