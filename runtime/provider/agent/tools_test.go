package agent_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/provider/agent"
	"github.com/wharf-dev/wharf/runtime/provider/tool"
)

// stock is an agent on the SDK's own server. It works until it is told to end, and counts.
type stock struct {
	begun, canceled chan string
	asked           chan struct{} // how its task stands
	end             chan struct{}
}

func (s *stock) Execute(ctx context.Context, c *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		if !yield(a2a.NewSubmittedTask(c, c.Message), nil) || !yield(a2a.NewStatusUpdateEvent(c, a2a.TaskStateWorking, nil), nil) {
			return
		}
		s.begun <- c.Message.ID
		select {
		case <-s.end:
		case <-ctx.Done():
			return
		}
		if !yield(a2a.NewArtifactEvent(c, a2a.NewTextPart("report"), a2a.NewDataPart(map[string]any{"n": 1}), a2a.NewRawPart([]byte("png"))), nil) {
			return
		}
		yield(a2a.NewStatusUpdateEvent(c, a2a.TaskStateCompleted, nil), nil)
	}
}

func (s *stock) Cancel(_ context.Context, c *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		yield(a2a.NewStatusUpdateEvent(c, a2a.TaskStateCanceled, nil), nil)
		s.canceled <- string(c.TaskID)
	}
}

func newStock(t *testing.T) (*stock, agent.Server) {
	s := &stock{begun: make(chan string, 1), canceled: make(chan string, 1), asked: make(chan struct{}), end: make(chan struct{})}
	rpc, once := a2asrv.NewJSONRPCHandler(a2asrv.NewHandler(s)), sync.Once{}
	return s, serve(t, "1.0", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if strings.Contains(string(body), `"GetTask"`) {
			once.Do(func() { close(s.asked) })
		}
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		rpc.ServeHTTP(w, r)
	})
}

// serve returns the tools of an agent that answers so.
func serve(t *testing.T, version string, rpc http.HandlerFunc) agent.Server {
	var server *httptest.Server
	server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			rpc(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		at := fmt.Sprintf(`"supportedInterfaces":[{"url":%q,"protocolBinding":"JSONRPC","protocolVersion":"1.0"}]`, server.URL)
		if version == "0.3" {
			at = fmt.Sprintf(`"url":%q,"protocolVersion":"0.3.0"`, server.URL)
		}
		_, _ = io.WriteString(w, `{"name":"a","skills":[{"id":"fix"}],`+at+`}`)
	}))
	t.Cleanup(server.Close)
	peer, err := agent.NewPeer(agent.Config{Name: "a", URL: server.URL, Private: true, Limits: tool.Limits{Answer: 1 << 20}})
	if err != nil {
		t.Fatal(err)
	}
	return agent.Server{Peer: peer}
}

func call(ctx context.Context, s agent.Server) (*abi.CallToolCallAnswer, error) {
	return s.Call(ctx, &provider.Call{Tenant: "t", IdempotencyKey: "k"}, "fix", jsontext.Value(`{"message":"do it","data":{"a":1}}`))
}

// A task that takes its time is waited for; its artifacts are the tool's answer.
func TestALongTask(t *testing.T) {
	s, tools := newStock(t)
	go func() {
		if id := <-s.begun; id != agent.MessageID("k") {
			t.Errorf("the message is %s", id)
		}
		close(s.end)
	}()
	got, err := call(t.Context(), tools)
	if err != nil {
		t.Fatal(err)
	}
	if got.IsError || len(got.Content) != 3 || got.Content[0].Text != "report" || string(got.Structured) != `{"n":1}` || string(got.Content[2].Data) != "png" {
		t.Errorf("%+v", got)
	}
}

// Who ends the Task ends the agent's work, too. A node that ends leaves the work for its next start.
func TestTheRemoteTaskEndsWithTheTask(t *testing.T) {
	for name, try := range map[string]struct {
		cause    error
		canceled bool
	}{
		"the task has ended": {fmt.Errorf("%w: it was canceled", provider.ErrEnded), true},
		"the node ends":      {errors.New("the node ends"), false},
	} {
		t.Run(name, func(t *testing.T) {
			s, tools := newStock(t)
			ctx, stop := context.WithCancelCause(t.Context())
			go func() { <-s.asked; stop(try.cause) }()
			if _, err := call(ctx, tools); !errors.Is(err, try.cause) {
				t.Fatalf("%v", err)
			}
			if try.canceled {
				<-s.canceled
				return
			}
			close(s.end)
			select {
			case id := <-s.canceled:
				t.Errorf("the task %s was canceled", id)
			default:
			}
		})
	}
}

// old is an agent of A2A 0.3. It answers by method, and tells a message that comes twice.
type old struct {
	mu     sync.Mutex
	tasks  []string // ids of messages
	calls  []string
	answer map[string][]string // by method, one after the other; the last one stays
}

func (o *old) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var req struct {
		Method string `json:"method"`
		Params struct {
			Message struct {
				ID    string `json:"messageId"`
				Kind  string `json:"kind"`
				Parts []struct {
					Kind string `json:"kind"`
				} `json:"parts"`
			} `json:"message"`
		} `json:"params"`
	}
	body, _ := io.ReadAll(r.Body)
	_ = json.Unmarshal(body, &req)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.calls = append(o.calls, req.Method)
	m := req.Params.Message
	if req.Method == "message/send" && (m.Kind != "message" || len(m.Parts) != 2 || m.Parts[0].Kind != "text" || m.Parts[1].Kind != "data") {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	if req.Method == "message/send" && !slices.Contains(o.tasks, m.ID) {
		o.tasks = append(o.tasks, m.ID)
	}
	said := o.answer[req.Method]
	if len(said) > 1 {
		o.answer[req.Method] = said[1:]
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":1,"result":%s}`, said[0])
}

func oldTask(state, more string) string {
	return `{"kind":"task","id":"t1","contextId":"c1","status":{"state":"` + state + `"}` + more + `}`
}

// An agent of 0.3 is asked in its own words, and the same call is the same message to it.
func TestAnAgentOfTheOldVersion(t *testing.T) {
	done := oldTask("completed", `,"artifacts":[{"artifactId":"a","parts":[{"kind":"text","text":"x"},{"kind":"data","data":{"n":2}},{"kind":"file","file":{"mimeType":"image/png","bytes":"cG5n"}},{"kind":"file","file":{"uri":"https://a.example/f"}}]}]`)
	o := &old{answer: map[string][]string{"message/send": {oldTask("submitted", "")}, "tasks/get": {oldTask("working", ""), done}}}
	tools := serve(t, "0.3", o.ServeHTTP)
	for range 2 {
		got, err := call(t.Context(), tools)
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Content) != 4 || got.Content[2].Type != "image" || got.Content[3].URI != "https://a.example/f" || string(got.Structured) != `{"n":2}` {
			t.Errorf("%+v", got)
		}
	}
	if len(o.tasks) != 1 {
		t.Errorf("the same call was %d messages", len(o.tasks))
	}
	if !slices.Equal(o.calls[:3], []string{"message/send", "tasks/get", "tasks/get"}) {
		t.Errorf("%v", o.calls)
	}
}

// What an agent's task ends as, the plugin is told: how to go on, or that it has failed.
func TestHowATaskEnds(t *testing.T) {
	for answer, want := range map[string]struct {
		isError    bool
		structured string
	}{
		oldTask("input-required", ""): {false, `{"context_id":"c1","state":"input-required","task_id":"t1"}`},
		oldTask("auth-required", ""):  {false, `{"context_id":"c1","state":"auth-required","task_id":"t1"}`},
		oldTask("rejected", ""):       {true, ""},
		oldTask("failed", ""):         {true, ""},
		oldTask("canceled", ""):       {true, ""},
		`{"kind":"message","messageId":"m","role":"agent","parts":[{"kind":"text","text":"hi"}]}`: {false, ""},
	} {
		o := &old{answer: map[string][]string{"message/send": {answer}}}
		got, err := call(t.Context(), serve(t, "0.3", o.ServeHTTP))
		if err != nil || got.IsError != want.isError || string(got.Structured) != want.structured {
			t.Errorf("%s: %+v %v", answer, got, err)
		}
	}
}

// An agent that does not keep to the protocol is refused, and nobody waits for it without end.
func TestAgentsThatMisbehave(t *testing.T) {
	flood := func(kind string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			w.Header().Set("Content-Type", kind)
			for r.Context().Err() == nil {
				if _, err := io.WriteString(w, strings.Repeat(" ", 1<<16)); err != nil {
					return
				}
			}
		}
	}
	says := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, text)
		}
	}
	for name, try := range map[string]struct {
		rpc  http.HandlerFunc
		code string
	}{
		"answers without end":   {flood("application/json"), "agent_too_large"},
		"streams without end":   {flood("text/event-stream"), "agent_rejected"},
		"has a task without id": {says(`{"jsonrpc":"2.0","id":1,"result":{"task":{"status":{"state":"TASK_STATE_WORKING"}}}}`), "agent_rejected"},
		"answers another":       {says(`{"jsonrpc":"2.0","id":2,"result":{}}`), "agent_rejected"},
		"nests":                 {says(`{"jsonrpc":"2.0","id":1,"result":{"task":{"artifacts":[{"parts":[{"data":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + `}]}]}}}`), "agent_rejected"},
		"says a name twice":     {says(`{"jsonrpc":"2.0","id":1,"result":{},"result":{}}`), "agent_rejected"},
		"refuses":               {says(`{"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"no"}}`), "agent_rejected"},
	} {
		_, err := call(t.Context(), serve(t, "1.0", try.rpc))
		refused, ok := errors.AsType[*provider.Refusal](err)
		if !ok || refused.Code != try.code {
			t.Errorf("an agent that %s: %v, want %s", name, err, try.code)
		}
	}

	left := make(chan struct{})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	stalls := serve(t, "1.0", func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
		close(left)
	})
	if _, err := stalls.List(t.Context()); err != nil { // it has a card
		t.Fatal(err)
	}
	_, err := call(ctx, stalls)
	if refused, ok := errors.AsType[*provider.Refusal](err); !ok || refused.Status != abi.CallTimeout {
		t.Errorf("an agent that stalls: %v", err)
	}
	<-left
}
