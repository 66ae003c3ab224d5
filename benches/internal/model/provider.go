package model

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// The pieces of each answer, and how long after one another they come, as a fast model has them.
const (
	pieces   = 8
	interval = 5 * time.Millisecond
)

// words is what each piece says.
const words = "Two orders are late. "

// Provider answers one call at a time, or all at once. Its answers are the same.
type Provider struct {
	server *httptest.Server
	free   bool
	begin  chan struct{}
	begun  chan time.Time
}

// New starts a provider on loopback, which waits for [Provider.Begin]. The caller closes it.
func New() *Provider { return start(false) }

// NewFree starts a provider that answers every call at once, without a pause. The caller closes it.
func NewFree() *Provider { return start(true) }

func start(free bool) *Provider {
	p := &Provider{free: free, begin: make(chan struct{}, 1), begun: make(chan time.Time, 1)}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", p.complete)
	p.server = httptest.NewServer(mux)
	return p
}

// Close ends it.
func (p *Provider) Close() { p.server.Close() }

// Begin lets the call that waits, or that comes next, have the first piece of its answer.
func (p *Provider) Begin() { p.begin <- struct{}{} }

// Begun returns when the provider began to write the first piece of the answer that [Provider.Begin]
// has let go.
func (p *Provider) Begun(ctx context.Context) (time.Time, error) {
	select {
	case at := <-p.begun:
		return at, nil
	case <-ctx.Done():
		return time.Time{}, fmt.Errorf("waiting for the provider to be asked: %w", context.Cause(ctx))
	}
}

// complete streams an answer. What comes before the first piece is sent at once.
func (p *Provider) complete(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	say := func(event string) {
		fmt.Fprintf(w, "data: %s\n\n", event)
		_ = http.NewResponseController(w).Flush() // a client that has left is noticed below
	}
	say(`{"id":"c","object":"chat.completion.chunk","model":"small","choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}`)
	if !p.mayBegin(r.Context()) {
		return
	}
	at := time.Now()
	for i := range pieces {
		if i > 0 && !p.free {
			time.Sleep(interval)
		}
		say(fmt.Sprintf(`{"id":"c","object":"chat.completion.chunk","model":"small","choices":[{"index":0,"delta":{"content":%q}}]}`, words))
		if i == 0 && !p.free {
			p.begun <- at
		}
	}
	say(`{"id":"c","object":"chat.completion.chunk","model":"small","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`)
	say(`{"id":"c","object":"chat.completion.chunk","model":"small","choices":[],"usage":{"prompt_tokens":30,"completion_tokens":40,"total_tokens":70}}`)
	say("[DONE]")
}

// mayBegin waits until an answer may begin; false when nobody waits for it any more.
func (p *Provider) mayBegin(ctx context.Context) bool {
	if p.free {
		return true
	}
	select {
	case <-p.begin:
		return true
	case <-ctx.Done():
		return false
	}
}

// Text is what an answer says.
func Text() string { return strings.Repeat(words, pieces) }

// WriteConfig writes the settings of a node whose agents ask the provider, and returns their path.
func (p *Provider) WriteConfig(dir string) (string, error) {
	path := filepath.Join(dir, "models.yaml")
	text := fmt.Sprintf("models:\n  default: small\n  small: {provider: openai, base_url: %q, model: small}\ngrants:\n  agent: {models: [\"*\"]}\n", p.server.URL+"/v1")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return "", fmt.Errorf("writing a configuration: %w", err)
	}
	return path, nil
}
