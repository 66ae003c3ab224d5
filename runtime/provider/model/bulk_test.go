package model

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/provider"
)

// bulk is how large the answers of these tests are.
const bulk = 512 << 10

// fillers are the smallest members that a list or an object can have many of.
var fillers = []string{`{}`, `[]`, `0`, `null`, `""`, `{"a":{}}`, `{"index":1,"id":"x","type":"tool_use"}`, `{"function":{"arguments":{}}}`}

// places are where an answer can have lists: @ stands for what fills them.
var places = map[string][]string{
	ProviderOpenAI: {
		`{"choices":[@]}`, `{"choices":[{"message":{"tool_calls":[@]},"delta":{"tool_calls":[@]}}]}`,
		`{"choices":[{"message":{"annotations":[@]},"logprobs":{"content":[@]},"delta":{"x":[@]}}]}`,
		`{"choices":[{"message":{"tool_calls":[{"function":{"arguments":{"a":[@]}}}]},"delta":{"tool_calls":[{"function":{"arguments":{"a":[@]}}}]}}]}`,
		`{"usage":{"prompt_tokens":[@]},"x":[@]}`, `{"choices":[{"message":{"content":[@]},"delta":{"content":[@]}}]}`, `[@]`,
		`{"error":[@]}`,
	},
	ProviderAnthropic: {
		`{"type":"message_start","content":[@],"message":{"content":[@]}}`, `{"stop_reason":"x","content":[{"type":"tool_use","input":{"a":[@]}}]}`,
		`{"type":"content_block_start","content":[{"citations":[@]}],"content_block":{"type":"text","citations":[@],"text":[@]}}`,
		`{"type":"content_block_start","content_block":{"type":"tool_use","input":{"a":[@]}}}`,
		`{"type":"message_delta","usage":{"iterations":[@]},"x":[@]}`, `[@]`,
	},
}

func filled(place, filler string) string {
	times := bulk / strings.Count(place, "@") / (len(filler) + 1)
	return strings.ReplaceAll(place, "@", strings.TrimSuffix(strings.Repeat(filler+",", times), ","))
}

// answerOf is a response that has a body, whole or as one event.
func answerOf(kind, body string) *http.Response {
	return &http.Response{Header: http.Header{"Content-Type": {kind}}, Body: io.NopCloser(strings.NewReader(body))}
}

// readAs reads an answer of a provider, and returns how many bytes it took to do so.
func readAs(provider string, streamed bool, body string) (took uint64, err error) {
	kind := "application/json"
	if streamed {
		kind = "text/event-stream"
	}
	response, t := answerOf(kind, body), newText(testKey, func(string) {})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	switch {
	case provider == ProviderOpenAI && streamed:
		_, err = readOpenAIStream(context.Background(), response, t)
	case provider == ProviderOpenAI:
		_, err = readOpenAI(response, t)
	case streamed:
		_, err = readClaudeStream(context.Background(), response, t)
	default:
		_, err = readClaude(response, t)
	}
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc, err
}

// texts are where an answer can have one long text.
var texts = map[string][]string{
	ProviderOpenAI: {`{"choices":[{"message":{"content":"@"},"delta":{"content":"@"}}]}`,
		`{"choices":[{"message":{"tool_calls":[{"function":{"arguments":"@"}}]},"delta":{"tool_calls":[{"function":{"arguments":"@"}}]}}]}`, `{"model":"@"}`},
	ProviderAnthropic: {`{"type":"content_block_start","stop_reason":"x","content":[{"type":"text","text":"@"}],"content_block":{"type":"text","text":"@"}}`, `{"model":"@","type":"@"}`},
}

// Long texts are no worse, also when each character is written as an escape. What is
// counted here is all that was allocated, most of which is free again by then.
func TestAnswersOfLongText(t *testing.T) {
	for provider, all := range texts {
		for _, place := range all {
			for _, filler := range []string{"x", `\n`, "\u00e9", "\xff", " ", "<think>"} {
				body := strings.ReplaceAll(place, "@", strings.Repeat(filler, bulk/len(filler)))
				for streamed, body := range map[bool]string{false: body, true: "event: message\ndata: " + body + "\n\n"} {
					if took, err := readAs(provider, streamed, body); took > 16*uint64(len(body)) {
						t.Errorf("%s with %q, streamed %v: %d bytes took %d (%v)", place, filler, streamed, len(body), took, err)
					}
				}
			}
		}
	}
}

// Whatever list of an answer is filled with whatever is smallest, reading it takes at
// most eight times the bytes that it has.
func TestAnswersOfManyParts(t *testing.T) {
	for provider, all := range places {
		for _, place := range all {
			for _, filler := range fillers {
				body := filled(place, filler)
				event := "event: message\ndata: " + body + "\n\n"
				for _, try := range []struct {
					streamed bool
					body     string
				}{{false, body}, {true, event}} {
					took, err := readAs(provider, try.streamed, try.body)
					if took > 8*uint64(len(try.body)) {
						t.Errorf("%s with %s, streamed %v: %d bytes took %d (%v)", place, filler, try.streamed, len(try.body), took, err)
					}
				}
			}
		}
	}
}

// What an answer has too many of is refused as too much, in one event or in many.
func TestTooManyParts(t *testing.T) {
	call := `{"choices":[{"delta":{"tool_calls":[{"index":%d,"function":{}}]}}]}`
	block := `{"type":"content_block_start","index":%d,"content_block":{"type":"tool_use"}}`
	for name, try := range map[string]struct {
		provider string
		body     string
	}{
		"calls":  {ProviderOpenAI, manyEvents(call, maxParts+1)},
		"blocks": {ProviderAnthropic, manyEvents(block, maxParts+1)},
	} {
		if _, err := readAs(try.provider, true, try.body); !errors.Is(err, errTooMany) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, body := range []string{filled(places[ProviderOpenAI][0], `{}`), filled(places[ProviderOpenAI][1], `{}`)} {
		if _, err := readAs(ProviderOpenAI, false, body); !errors.Is(err, errTooMany) {
			t.Errorf("%.40s: %v", body, err)
		}
	}
	if _, err := readAs(ProviderAnthropic, false, filled(places[ProviderAnthropic][0], `{}`)); !errors.Is(err, errTooMany) {
		t.Error(err)
	}
	if _, err := readAs(ProviderOpenAI, true, manyEvents(call, maxParts)+"data: {\"choices\":[{\"finish_reason\":\"stop\"}]}\n\n"); err != nil {
		t.Errorf("at the bound: %v", err)
	}
}

func manyEvents(format string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "event: message\ndata: "+format+"\n\n", i)
	}
	return b.String()
}

// What comes in small pieces takes no more for each the more there are: twice the
// pieces take about twice the bytes.
func TestPiecesAreTakenOnce(t *testing.T) {
	many := func(event string, n int) string { return strings.Repeat("event: message\ndata: "+event+"\n\n", n) }
	for name, try := range map[string]struct{ provider, event string }{
		"arguments":   {ProviderOpenAI, `{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"arguments":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}}]}}]}`},
		"input":       {ProviderAnthropic, `{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}}`},
		"white space": {ProviderOpenAI, `{"choices":[{"delta":{"content":"          "}}]}`},
		"reasoning":   {ProviderOpenAI, `{"choices":[{"delta":{"content":"<think>         "}}]}`},
		"text":        {ProviderOpenAI, `{"choices":[{"delta":{"content":"some more words"}}]}`},
	} {
		begin := ""
		if name == "input" {
			begin = "event: message\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\"}}\n\n"
		}
		const pieces = 10_000
		once, _ := readAs(try.provider, true, begin+many(try.event, pieces))
		twice, _ := readAs(try.provider, true, begin+many(try.event, 2*pieces))
		if twice > 3*once {
			t.Errorf("%s: %d pieces take %d bytes, and twice as many %d", name, pieces, once, twice)
		}
	}
	told := func(n int) float64 {
		return testing.AllocsPerRun(1, func() {
			tell := (&watcher{emit: func(string) {}, on: true}).attempt()
			for range n {
				tell("word ")
			}
		})
	}
	if few, more := told(10_000), told(100_000); few > 200 || more > 400 {
		t.Errorf("a watcher's text is copied %v times for 10,000 pieces, and %v for 100,000", few, more)
	}
}

// A stream is given up when nobody waits for it any more, however much of it has come.
func TestACanceledStreamIsLeft(t *testing.T) {
	for provider, read := range map[string]func(context.Context, *http.Response, *text) (*reply, error){
		ProviderOpenAI: readOpenAIStream, ProviderAnthropic: readClaudeStream,
	} {
		ctx, cancel := context.WithCancel(t.Context())
		heard := 0
		told := newText("", func(string) {
			if heard++; heard == 3 {
				cancel()
			}
		})
		event := `{"choices":[{"delta":{"content":"word"}}]}`
		if provider == ProviderAnthropic {
			event = `{"type":"content_block_delta","delta":{"type":"text_delta","text":"word"}}`
		}
		body := strings.Repeat("event: message\ndata: "+event+"\n\n", 10_000)
		if _, err := read(ctx, answerOf("text/event-stream", body), told); !errors.Is(err, context.Canceled) || heard != 3 {
			t.Errorf("%s: %d events were taken, %v", provider, heard, err)
		}
	}
}

// Servers write numbers and texts in other ways than is written down, and put pieces
// of one character into two events.
func TestAnswersThatAreNearlyRight(t *testing.T) {
	for body, want := range map[string]reply{
		`{"model":7,"choices":[{"index":"0","finish_reason":"stop","message":{"content":["x"],"tool_calls":[null,{"id":5,"function":{"name":"f","arguments":null}}]}}],"usage":{"prompt_tokens":"12","completion_tokens":3.0}}`: {
			model: "7", stop: "end", calls: []toolCall{{}, {id: "5", name: "f"}}},
		`{"choices":[{"finish_reason":"stop","message":{}}],"usage":{"prompt_tokens":-1e15,"completion_tokens":9e18},"usage":{"prompt_tokens":-5,"completion_tokens":[]}}`: {stop: "end"},
	} {
		got, err := readOpenAI(answerOf("application/json", body), newText("", func(string) {}))
		if err != nil {
			t.Errorf("%s: %v", body, err)
			continue
		}
		want.usage = got.usage
		equal(t, body, fmt.Sprint(*got), fmt.Sprint(want))
		if got.usage.InputTokens < 0 || got.usage.OutputTokens < 0 || got.usage.InputTokens > maxTokenCount {
			t.Errorf("%s: it is counted as %+v", body, got.usage)
		}
	}
	stream := "data: {\"choices\":[{\"delta\":{\"content\":\"a\\n\xe6\xa4\"}}]}\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"\x9c\\n\"},\"finish_reason\":\"stop\"}]}\n\n"
	heard := newText("", func(string) {})
	if _, err := readOpenAIStream(t.Context(), answerOf("text/event-stream", stream), heard); err != nil || heard.String() != "a\n検\n" {
		t.Errorf("a character in two pieces: %q, %v", heard.String(), err)
	}
}

// watchedBody tells when so much of the first answer was read.
type watchedBody struct {
	io.ReadCloser
	got, most int
	read      chan struct{}
}

func (w *watchedBody) Read(p []byte) (int, error) {
	n, err := w.ReadCloser.Read(p)
	if w.got += n; w.got >= w.most && w.got-n < w.most {
		close(w.read)
	}
	return n, err
}

// of watches the body of the first answer that comes through a transport.
func (w *watchedBody) of(next http.RoundTripper) http.RoundTripper {
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		answer, err := next.RoundTrip(r)
		if err == nil && w.ReadCloser == nil {
			w.ReadCloser = answer.Body
			answer.Body = w
		}
		return answer, err
	})
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// All answers together take what the node has for them, each tenant at most half of
// it; what is refused for that is asked for again, and all is given back.
func TestAnswersAtOneTime(t *testing.T) {
	open := make(chan struct{})
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"choices":[{"finish_reason":"stop","message":{"content":"`+strings.Repeat("x", 3000))
		w.(http.Flusher).Flush()
		<-open
		_, _ = io.WriteString(w, `"}}]}`)
	}, jsonBody(`{"choices":[{"finish_reason":"stop","message":{"content":"`+strings.Repeat("x", 3000)+`"}}]}`))
	release := sync.OnceFunc(func() { close(open) })
	t.Cleanup(release)
	r := one(t, withRetries(s.openAI(), 1))
	budget := provider.NewBudget(8000)
	body := &watchedBody{most: 3000, read: make(chan struct{})}
	r.client.Transport.(*strict).budget = budget
	r.client.Transport = body.of(r.client.Transport)
	first := make(chan told)
	go func() { first <- r.askAs(t, t.Context(), hello(false), provider.Call{Tenant: "a"}) }()
	<-body.read
	refused(t, r.askAs(t, t.Context(), hello(false), provider.Call{Tenant: "a"}).err, abi.CallUnavailable, "model_busy")
	equal(t, "asked again", len(r.waits), 1)
	answered(t, r.askAs(t, t.Context(), hello(false), provider.Call{Tenant: "b"}))
	release()
	answered(t, <-first)
	answered(t, r.askAs(t, t.Context(), hello(false), provider.Call{Tenant: "a"}))
	if !budget.Take("a", 4000) || !budget.Take("b", 4000) {
		t.Error("something was not given back")
	}
}
