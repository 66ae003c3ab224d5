package model

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/provider"
)

// both runs a test against both wires.
func both(t *testing.T, test func(t *testing.T, model func(*server) Model, w wire)) {
	t.Run(ProviderOpenAI, func(t *testing.T) {
		test(t, (*server).openAI, wire{whole: openAIText, stream: openAITextStream, begins: 3})
	})
	t.Run(ProviderAnthropic, func(t *testing.T) {
		test(t, (*server).anthropic, wire{whole: anthropicText, stream: anthropicTextStream, begins: 10})
	})
}

// wire is an answer with the text "Hello, you!". The first events up to begins
// hold the text "Hello, ".
type wire struct {
	whole  string
	stream []string
	begins int
}

func withRetries(m Model, n int) Model {
	m.Retries = n
	return m
}

func TestRetries(t *testing.T) {
	both(t, func(t *testing.T, model func(*server) Model, w wire) {
		for _, c := range []struct {
			name     string
			handlers []http.HandlerFunc
			waits    []time.Duration
		}{
			{"429 says when", []http.HandlerFunc{status(429, "", "Retry-After", "7")}, []time.Duration{7 * time.Second}},
			{"429 says when, in parts of a second", []http.HandlerFunc{status(429, "", "Retry-After", "0.25")}, []time.Duration{250 * time.Millisecond}},
			{"429 does not say", []http.HandlerFunc{status(429, "", "Retry-After", "soon")}, []time.Duration{firstWait}},
			{"500, 529 and a page of HTML", []http.HandlerFunc{status(500, `{"error":{"message":"oh"}}`), status(529, ""), status(502, "<html>")},
				[]time.Duration{firstWait, 2 * firstWait, 4 * firstWait}},
			{"connection closed", []http.HandlerFunc{cut()}, []time.Duration{firstWait}},
			{"malformed", []http.HandlerFunc{jsonBody(`{"choices":[{"mess`), jsonBody(`{}`), status(200, "hello?")},
				[]time.Duration{firstWait, 2 * firstWait, 4 * firstWait}},
			{"408", []http.HandlerFunc{status(408, "")}, []time.Duration{firstWait}},
		} {
			t.Run(c.name, func(t *testing.T) {
				s := serve(t, append(c.handlers, jsonBody(w.whole))...)
				r := one(t, withRetries(model(s), len(c.handlers)))
				equal(t, "text", answered(t, r.ask(t, hello(false))).Text, "Hello, you!")
				equal(t, "waits", fmt.Sprint(r.waits), fmt.Sprint(c.waits))
			})
		}
	})
}

func TestFailures(t *testing.T) {
	both(t, func(t *testing.T, model func(*server) Model, _ wire) {
		for _, c := range []struct {
			name     string
			handler  http.HandlerFunc
			status   abi.CallStatus
			code     string
			says     string
			requests int
		}{
			{"400", status(400, `{"error":{"message":"too many words"}}`), abi.CallInvalid, "model_rejected", `model "main": HTTP 400: too many words`, 1},
			{"too long, by a code", status(400, `{"error":{"message":"cut it","type":"invalid_request_error","code":"context_length_exceeded"}}`), abi.CallTooLarge, "context_length_exceeded", `model "main": HTTP 400: cut it`, 1},
			{"too long, by a type", status(400, `{"error":{"code":400,"message":"no","type":"exceed_context_size_error"}}`), abi.CallTooLarge, "context_length_exceeded", `model "main": HTTP 400: no`, 1},
			{"too long, in words", status(400, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 9 tokens > 8 maximum"}}`), abi.CallTooLarge, "context_length_exceeded", `model "main": HTTP 400: prompt is too long: 9 tokens > 8 maximum`, 1},
			{"too long, in others", status(422, `{"detail":"This model's maximum context length is 8 tokens"}`), abi.CallTooLarge, "context_length_exceeded", `model "main": HTTP 422: This model's maximum context length is 8 tokens`, 1},
			{"broken, and too long", status(404, `{"message":"no docs of context_length_exceeded"}`), abi.CallUnavailable, "model_not_found", `model "main": HTTP 404: no docs of context_length_exceeded`, 1},
			{"401", status(401, `{"error":{"message":"Incorrect API key: sk-ca*****cdef"}}`), abi.CallUnavailable, "model_unauthorized", `model "main": HTTP 401: the provider refuses the API key`, 1},
			{"404", status(404, `{"error":"no model small"}`), abi.CallUnavailable, "model_not_found", `model "main": HTTP 404: no model small`, 1},
			{"413", status(413, `{"detail":"large"}`), abi.CallTooLarge, "model_request_too_large", `model "main": HTTP 413: large`, 1},
			{"422", status(422, `{"message":"odd"}`), abi.CallInvalid, "model_rejected", `model "main": HTTP 422: odd`, 1},
			{"429", status(429, `{"error":{"message":"slow down"}}`), abi.CallUnavailable, "model_rate_limited", `model "main": HTTP 429: slow down (3 attempts)`, 3},
			{"429 for long", status(429, ``, "Retry-After", "3600"), abi.CallUnavailable, "model_rate_limited", `model "main": HTTP 429`, 1},
			{"500", status(500, "\xff"+strings.Repeat("é", 400)), abi.CallUnavailable, "model_unavailable", `model "main": HTTP 500: ` + "\ufffd" + strings.Repeat("é", 148) + `… (3 attempts)`, 3},
			{"redirect", status(307, "", "Location", "http://127.0.0.1:1/"), abi.CallUnavailable, "model_unavailable", `model "main": it redirects to another address: configure that one as its base URL`, 1},
			{"closed", cut(), abi.CallUnavailable, "model_unavailable", `model "main": the connection failed: EOF (3 attempts)`, 3},
		} {
			for _, stream := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/stream=%v", c.name, stream), func(t *testing.T) {
					if c.name == "closed" && stream {
						t.Skip("a stream that breaks off has a test of its own")
					}
					s := serve(t, func(w http.ResponseWriter, r *http.Request) {
						if c.name == "closed" {
							panic(http.ErrAbortHandler) // before any header
						}
						c.handler(w, r)
					})
					refusal := refused(t, one(t, withRetries(model(s), 2)).ask(t, hello(stream)).err, c.status, c.code)
					equal(t, "message", refusal.Message, c.says)
					equal(t, "requests", len(s.seen()), c.requests)
				})
			}
		}
	})
}

func TestNobodyListens(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	s.Close()
	r := one(t, Model{Provider: ProviderOpenAI, BaseURL: s.URL, Model: "small", Retries: 1})
	refusal := refused(t, r.ask(t, hello(false)).err, abi.CallUnavailable, "model_unavailable")
	equal(t, "message", refusal.Message, `model "main": the connection failed: connect: connection refused (2 attempts)`)
}

// TestCutStreams holds that an answer which breaks off is asked for again, and
// that watchers are told nothing twice.
func TestCutStreams(t *testing.T) {
	both(t, func(t *testing.T, model func(*server) Model, w wire) {
		begin := w.stream[:w.begins]
		other := make([]string, len(w.stream))
		for i, e := range w.stream {
			other[i] = strings.Replace(e, "Hello, ", "Good day, ", 1)
		}
		for _, c := range []struct {
			name     string
			handlers []http.HandlerFunc
			text     string
			deltas   []string
		}{
			{"at once", []http.HandlerFunc{cut(), events(w.stream...)}, "Hello, you!", []string{"Hello, ", "you!"}},
			{"broken off", []http.HandlerFunc{cut(begin...), events(w.stream...)}, "Hello, you!", []string{"Hello, ", "you!"}},
			{"ended early", []http.HandlerFunc{events(begin...), events(w.stream...)}, "Hello, you!", []string{"Hello, ", "you!"}},
			{"another answer", []http.HandlerFunc{cut(begin...), events(other...)}, "Good day, you!", []string{"Hello, "}},
			{"cut, then longer, then whole", []http.HandlerFunc{cut(begin...), cut(w.stream[:w.begins+1]...), events(w.stream...)}, "Hello, you!", []string{"Hello, ", "you!"}},
			{"malformed event", []http.HandlerFunc{events(append(begin[:len(begin):len(begin)], `message_delta {"type":`)...), events(w.stream...)}, "Hello, you!", []string{"Hello, ", "you!"}},
			{"an error within", []http.HandlerFunc{events(append(begin[:len(begin):len(begin)], `error {"type":"error","error":{"type":"overloaded_error","message":"busy"}}`)...), events(w.stream...)}, "Hello, you!", []string{"Hello, ", "you!"}},
		} {
			t.Run(c.name, func(t *testing.T) {
				got := one(t, withRetries(model(serve(t, c.handlers...)), 2)).ask(t, hello(true))
				equal(t, "text", answered(t, got).Text, c.text)
				equal(t, "deltas", got.deltas, c.deltas)
			})
		}
		t.Run("for good", func(t *testing.T) {
			got := one(t, withRetries(model(serve(t, cut(begin...))), 1)).ask(t, hello(true))
			refused(t, got.err, abi.CallUnavailable, "model_unavailable")
			equal(t, "deltas", got.deltas, []string{"Hello, "})
		})
		t.Run("with the server's words", func(t *testing.T) {
			s := serve(t, events(`error {"type":"error","error":{"type":"overloaded_error","message":"busy `+testKey+`"}}`))
			refusal := refused(t, one(t, model(s)).ask(t, hello(true)).err, abi.CallUnavailable, "model_unavailable")
			equal(t, "message", refusal.Message, `model "main": it reports an error: busy [secret]`)
		})
	})
}

// TestSlowStream holds that text is told when it comes, and not at the end.
func TestSlowStream(t *testing.T) {
	both(t, func(t *testing.T, model func(*server) Model, w wire) {
		goOn := make(chan struct{})
		s := serve(t, func(rw http.ResponseWriter, _ *http.Request) {
			stream(rw, w.stream[:w.begins]...)
			<-goOn // until the watcher has the first piece
			stream(rw, w.stream[w.begins:]...)
		})
		r := one(t, model(s))
		plan := prepared(t, r, hello(true))
		var heard []string
		_, err := plan.Do(t.Context(), func(piece string) {
			if heard = append(heard, piece); len(heard) == 1 {
				close(goOn)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "heard", heard, []string{"Hello, ", "you!"})
	})
}

func prepared(t *testing.T, r *rig, request *abi.ModelRequest) provider.Plan {
	t.Helper()
	b, err := encodeRequest(request)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := r.Prepare(t.Context(), &provider.Call{Request: b})
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// hang answers nothing until its client leaves.
func hang(begin ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		stream(w, begin...)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}
}

func TestTimeouts(t *testing.T) {
	both(t, func(t *testing.T, model func(*server) Model, w wire) {
		for _, stream := range []bool{false, true} {
			s := serve(t, hang(w.stream[:w.begins]...))
			m := withRetries(model(s), 1)
			m.Timeout = 20 * time.Millisecond
			refusal := refused(t, one(t, m).ask(t, hello(stream)).err, abi.CallTimeout, "model_timeout")
			equal(t, "message", refusal.Message, `model "main": it did not answer within 20ms (2 attempts)`)
		}
	})
}

func TestCancel(t *testing.T) {
	both(t, func(t *testing.T, model func(*server) Model, w wire) {
		why := errors.New("the user has left")
		ctx, cancel := context.WithCancelCause(t.Context())
		s := serve(t, func(rw http.ResponseWriter, r *http.Request) {
			cancel(why)
			hang(w.stream[:w.begins]...)(rw, r)
		})
		r := newRig(t, Config{Default: "main", Models: map[string]Model{
			"main":  {Provider: model(s).Provider, BaseURL: model(s).BaseURL, Model: "small", Retries: 3, Fallbacks: []string{"other"}},
			"other": model(s),
		}})
		got := r.askAs(t, ctx, hello(false), provider.Call{})
		if !errors.Is(got.err, why) {
			t.Errorf("got %v, not why it was canceled", got.err)
		}
		if n := len(s.seen()); n != 1 {
			t.Errorf("%d requests were made, not 1: nobody waits for an answer", n)
		}
	})
}

// TestNoWaitPastDeadline holds that a wait which the Task would not survive is
// not begun.
func TestNoWaitPastDeadline(t *testing.T) {
	s := serve(t, status(429, "", "Retry-After", "50"))
	ctx, cancel := context.WithTimeout(t.Context(), 40*time.Second)
	defer cancel()
	r := one(t, withRetries(s.openAI(), 3))
	refused(t, r.askAs(t, ctx, hello(false), provider.Call{}).err, abi.CallUnavailable, "model_rate_limited")
	equal(t, "waits", len(r.waits), 0)
}

// TestHugeAnswers holds that an answer is not read beyond what the node takes.
func TestHugeAnswers(t *testing.T) {
	flood := func(w http.ResponseWriter, kind string, before, piece string) {
		w.Header().Set("Content-Type", kind)
		_, _ = io.WriteString(w, before)
		for range 1000 {
			if _, err := io.WriteString(w, piece); err != nil {
				return
			}
		}
	}
	both(t, func(t *testing.T, model func(*server) Model, w wire) {
		for _, handler := range []http.HandlerFunc{
			func(w http.ResponseWriter, _ *http.Request) {
				flood(w, "application/json", `{"x":"`, strings.Repeat("x", 1000))
			},
			func(rw http.ResponseWriter, _ *http.Request) {
				var piece strings.Builder
				for _, e := range w.stream[:w.begins] {
					name, data, ok := strings.Cut(e, " ")
					if !ok || strings.Contains(name, "{") {
						name, data = "message", e
					}
					_, _ = fmt.Fprintf(&piece, "event: %s\ndata: %s\n\n", name, data)
				}
				flood(rw, "text/event-stream", "", piece.String())
			},
		} {
			s := serve(t, handler)
			r := one(t, withRetries(model(s), 2))
			r.client.Transport.(*strict).limit = 64 << 10
			refused(t, r.ask(t, hello(false)).err, abi.CallTooLarge, "model_answer_too_large")
			refused(t, r.ask(t, hello(true)).err, abi.CallTooLarge, "model_answer_too_large")
		}
	})
}

// TestEcho holds that the key reaches neither the plugin nor the watchers when
// the server sends it back, wherever it puts it.
func TestEcho(t *testing.T) {
	echo := func(list []string) []string {
		var all []string
		for _, e := range list {
			e = strings.ReplaceAll(e, "Hello, ", "Hello, "+testKey[:9])
			e = strings.ReplaceAll(e, "you!", testKey[9:]+"! "+testKey+" "+testKey[:20])
			all = append(all, strings.ReplaceAll(strings.ReplaceAll(e, "small-2", testKey), "12345678", testKey))
		}
		return all
	}
	calls := strings.NewReplacer(`find`, testKey, `\"x\"`, `\"`+testKey+`\"`, `"x"`, `"`+testKey+`"`, `"a"`, `"`+testKey+`"`)
	both(t, func(t *testing.T, model func(*server) Model, w wire) {
		tool, toolStream := openAITool, openAIToolStream
		if w.begins > 3 {
			tool, toolStream = anthropicTool, anthropicToolStream
		}
		for name, c := range map[string]struct {
			handler http.HandlerFunc
			stream  bool
		}{
			"text":           {jsonBody(strings.ReplaceAll(w.whole, "you", testKey)), false},
			"text streamed":  {events(echo(w.stream)...), true},
			"tool calls":     {jsonBody(calls.Replace(tool)), false},
			"calls streamed": {events(strings.Split(calls.Replace(strings.Join(toolStream, "\n")), "\n")...), true},
			"400": {func(w http.ResponseWriter, r *http.Request) {
				http.Error(w, fmt.Sprint(r.Header), 400)
			}, false},
			"500": {func(w http.ResponseWriter, r *http.Request) {
				status(500, `{"error":{"message":"`+r.Header.Get("Authorization")+r.Header.Get("X-Api-Key")+`"}}`)(w, r)
			}, true},
			"redirect": {status(302, "", "Location", "/"+testKey), false},
		} {
			t.Run(name, func(t *testing.T) {
				got := one(t, model(serve(t, c.handler))).ask(t, hello(c.stream))
				all := string(got.raw) + strings.Join(got.deltas, "") + fmt.Sprint(got.err)
				if strings.Contains(all, testKey) {
					t.Errorf("the key is told: %s", all)
				}
				if c.stream && got.err == nil && strings.Join(got.deltas, "") != got.answer.Text {
					t.Errorf("watchers were told %q, and the text is %q", got.deltas, got.answer.Text)
				}
			})
		}
	})
}

// TestKeyIsSent holds that the key does go where it belongs, and is asked for
// anew each time.
func TestKeyIsSent(t *testing.T) {
	n := 0
	rotating := func(context.Context) (Secret, error) {
		n++
		return NewSecret(fmt.Sprintf("key-%d", n)), nil
	}
	t.Setenv("OPENAI_API_KEY", "from the environment")
	t.Setenv("OPENAI_BASE_URL", "http://127.0.0.1:1")
	t.Setenv("ANTHROPIC_API_KEY", "from the environment")
	both(t, func(t *testing.T, model func(*server) Model, w wire) {
		n = 0
		s := serve(t, status(500, ""), jsonBody(w.whole))
		m := withRetries(model(s), 1)
		m.APIKey = rotating
		answered(t, one(t, m).ask(t, hello(false)))
		for i, r := range s.seen() {
			got := strings.TrimPrefix(r.header.Get("Authorization"), "Bearer ") + r.header.Get("X-Api-Key")
			equal(t, "key", got, fmt.Sprintf("key-%d", i+1))
		}
		m.APIKey = nil
		answered(t, one(t, m).ask(t, hello(false)))
		last := s.seen()[2].header
		equal(t, "headers", []string{last.Get("Authorization"), last.Get("X-Api-Key")}, []string{"", ""})
	})
}

func TestKeyUnreadable(t *testing.T) {
	m := Model{Provider: ProviderOpenAI, Model: "small", Retries: 2, APIKey: func(context.Context) (Secret, error) {
		return Secret{}, errors.New("the variable KEY is not set")
	}}
	refusal := refused(t, one(t, m).ask(t, hello(false)).err, abi.CallUnavailable, "model_key_unavailable")
	equal(t, "message", refusal.Message, `model "main": its API key could not be read: the variable KEY is not set`)
}
