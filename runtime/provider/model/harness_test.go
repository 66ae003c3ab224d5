package model

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/provider"
)

const testKey = "sk-canary-0123456789abcdef"

// server is a real HTTP server that answers each request with the next handler,
// and the last one from then on.
type server struct {
	*httptest.Server
	mu       sync.Mutex
	handlers []http.HandlerFunc
	requests []received
}

type received struct {
	path   string
	header http.Header
	body   jsontext.Value
}

func serve(t *testing.T, handlers ...http.HandlerFunc) *server {
	t.Helper()
	s := &server{handlers: handlers}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		s.mu.Lock()
		handler := s.handlers[min(len(s.requests), len(s.handlers)-1)]
		s.requests = append(s.requests, received{r.URL.Path, r.Header.Clone(), body})
		s.mu.Unlock()
		handler(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *server) seen() []received {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// only returns the body of the one request that came, indented.
func (s *server) only(t *testing.T) string {
	t.Helper()
	seen := s.seen()
	if len(seen) != 1 {
		t.Fatalf("%d requests came, not 1", len(seen))
	}
	body := seen[0].body.Clone()
	if err := body.Indent(jsontext.WithIndent("  ")); err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func (s *server) openAI() Model {
	return Model{Provider: ProviderOpenAI, BaseURL: s.URL + "/v1", Model: "small", APIKey: staticKey(testKey)}
}

func (s *server) anthropic() Model {
	return Model{Provider: ProviderAnthropic, BaseURL: s.URL, Model: "small", APIKey: staticKey(testKey)}
}

func jsonBody(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, body)
	}
}

func status(code int, body string, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
	}
}

// events streams server-sent events, each flushed by itself. An event of the form
// "name data" without a brace in its name has that name.
func events(list ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { stream(w, list...) }
}

func stream(w http.ResponseWriter, list ...string) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range list {
		if name, data, ok := strings.Cut(e, " "); ok && !strings.Contains(name, "{") {
			_, _ = fmt.Fprintf(w, "event: %s\ndata: %s\n\n", name, data)
		} else {
			_, _ = fmt.Fprintf(w, "data: %s\n\n", e)
		}
		w.(http.Flusher).Flush()
	}
}

// cut streams events and then breaks the connection off.
func cut(list ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		stream(w, list...)
		panic(http.ErrAbortHandler)
	}
}

// rig is Models whose waits take no time and are written down.
type rig struct {
	*Models
	mu    sync.Mutex
	waits []time.Duration
}

func newRig(t *testing.T, c Config) *rig {
	t.Helper()
	m, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	r := &rig{Models: m}
	m.jitter = func() float64 { return 0 }
	m.sleep = func(ctx context.Context, d time.Duration) error {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.waits = append(r.waits, d)
		return ctx.Err()
	}
	return r
}

func one(t *testing.T, m Model) *rig { return newRig(t, Config{Models: map[string]Model{"main": m}}) }

// told is what a call came to.
type told struct {
	raw    []byte
	answer abi.ModelAnswer
	deltas []string
	err    error
}

func (r *rig) ask(t *testing.T, request *abi.ModelRequest) told {
	t.Helper()
	return r.askAs(t, t.Context(), request, provider.Call{Plugin: "agent", TaskID: "task_1"})
}

func (r *rig) askAs(t *testing.T, ctx context.Context, request *abi.ModelRequest, c provider.Call) (got told) {
	t.Helper()
	var err error
	if c.Request, err = json.Marshal(request); err != nil {
		t.Fatal(err)
	}
	c.Name = abi.CallLLMComplete
	plan, err := r.Prepare(ctx, &c)
	if err != nil {
		return told{err: err}
	}
	if plan.Effect != abi.EffectRead {
		t.Errorf("the effect is %q, not a read", plan.Effect)
	}
	got.raw, got.err = plan.Do(ctx, func(s string) { got.deltas = append(got.deltas, s) })
	if got.err == nil {
		if err := json.Unmarshal(got.raw, &got.answer, json.RejectUnknownMembers(true)); err != nil {
			t.Fatalf("the answer is not understood: %v\n%s", err, got.raw)
		}
	}
	return got
}

func hello(stream bool) *abi.ModelRequest {
	return &abi.ModelRequest{Messages: []abi.ModelMessage{{Role: "user", Text: "hello"}}, Stream: stream}
}

func refused(t *testing.T, err error, code abi.CallStatus, name string) *provider.Refusal {
	t.Helper()
	var refusal *provider.Refusal
	if !errors.As(err, &refusal) {
		t.Fatalf("got %v, not a refusal", err)
	}
	if refusal.Status != code || refusal.Code != name {
		t.Fatalf("refused with %d %s (%s), not with %d %s", refusal.Status, refusal.Code, refusal.Message, code, name)
	}
	return refusal
}

func answered(t *testing.T, got told) abi.ModelAnswer {
	t.Helper()
	if got.err != nil {
		t.Fatalf("the call failed: %v", got.err)
	}
	return got.answer
}

func equal[T any](t *testing.T, what string, got, want T) {
	t.Helper()
	g, errG := json.Marshal(got, json.Deterministic(true))
	w, errW := json.Marshal(want, json.Deterministic(true))
	if err := errors.Join(errG, errW); err != nil {
		t.Fatal(err)
	}
	if string(g) != string(w) {
		t.Errorf("%s:\n got %s\nwant %s", what, g, w)
	}
}

func encodeRequest(r *abi.ModelRequest) ([]byte, error) { return json.Marshal(r) }

// staticKey is a [Model] APIKey that never changes.
func staticKey(key string) func(context.Context) (Secret, error) {
	secret := NewSecret(key)
	return func(context.Context) (Secret, error) { return secret, nil }
}
