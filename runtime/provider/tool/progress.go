package tool

import (
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/provider"
)

// progressed is the notification by which a server says how far a call is.
const progressed = "notifications/progress"

// What is heard of how far calls are. What comes beyond maxHeard counts as what a server sends of
// itself.
const (
	maxHeard = 60_000 // in each minute, over a connection
	maxTold  = 10     // in each second, of a call; what comes beyond is dropped
)

// progress are the calls under way over a connection that watchers are told of, by the tokens that
// they are sent with. It is heard before the SDK handles a message: so what comes before an answer is
// told before it, and nothing waits to be handled. It is safe for concurrent use.
type progress struct {
	mu    sync.Mutex
	last  int // of the tokens
	calls map[string]*heard
	all   window
}

// heard is one call.
type heard struct {
	mu   sync.Mutex
	tell func(abi.Progress) // nil when the call is over
	told window
}

// window counts within a time.
type window struct {
	since time.Time
	count int
}

// fits reports whether there is room for one more within a time.
func (w *window) fits(now time.Time, within time.Duration, most int) bool {
	if d := now.Sub(w.since); d >= within || d < 0 {
		w.since, w.count = now, 0
	}
	w.count++
	return w.count <= most
}

// begin has a call told of, until end is called.
func (p *progress) begin(tell func(abi.Progress)) (token string, end func()) {
	h := &heard{tell: tell}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.calls == nil {
		p.calls = map[string]*heard{}
	}
	p.last++
	token = "call-" + strconv.Itoa(p.last)
	p.calls[token] = h
	return token, func() {
		p.mu.Lock()
		delete(p.calls, token)
		p.mu.Unlock()
		h.mu.Lock()
		h.tell = nil
		h.mu.Unlock()
	}
}

// take hears what a server says, and reports whether it is about a call under way.
func (p *progress) take(now time.Time, params jsontext.Value) bool {
	var said struct {
		Token    jsontext.Value `json:"progressToken"`
		Progress float64        `json:"progress"`
		Total    float64        `json:"total"`
		Message  string         `json:"message"`
	}
	if len(params) > maxUnaskedBytes || json.Unmarshal(params, &said) != nil || said.Token.Kind() != '"' {
		return false
	}
	h := p.of(now, unquoted(said.Token))
	if h == nil {
		return false
	}
	told := abi.Progress{Message: said.Message}
	if said.Total > 0 {
		told.Fraction = new(min(max(said.Progress/said.Total, 0), 1))
	}
	h.hear(now, told)
	return true
}

// of returns the call that a token means; nil for none, or when too much is heard.
func (p *progress) of(now time.Time, token string) *heard {
	p.mu.Lock()
	defer p.mu.Unlock()
	h := p.calls[token]
	if h == nil || !p.all.fits(now, time.Minute, maxHeard) {
		return nil
	}
	return h
}

func (h *heard) hear(now time.Time, told abi.Progress) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.tell != nil && h.told.fits(now, time.Second, maxTold) {
		h.tell(told)
	}
}

func unquoted(v jsontext.Value) string {
	text, err := jsontext.AppendUnquote(nil, v)
	if err != nil {
		return ""
	}
	return string(text)
}

// paramsOf returns the parameters of a notification; nil for what cannot be read.
func paramsOf(text []byte) jsontext.Value {
	var m struct {
		Params jsontext.Value `json:"params"`
	}
	if json.Unmarshal(text, &m) != nil {
		return nil
	}
	return m.Params
}

// hearProgress has a server say how far a call is, until the call ends.
func (m *MCP) hearProgress(l *link, c *provider.Call, params *mcp.CallToolParams) (end func()) {
	if c.Progress == nil {
		return func() {}
	}
	token, end := l.progress.begin(func(p abi.Progress) {
		p.Message = strings.ToValidUTF8(cut(m.scrub(p.Message)), "\uFFFD")
		c.Progress(p)
	})
	params.SetProgressToken(token)
	return end
}
