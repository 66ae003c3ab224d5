package agent

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/policy"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/provider/secret"
	"github.com/wharf-dev/wharf/runtime/provider/tool"
	"github.com/wharf-dev/wharf/runtime/provider/web"
)

// The codes of refusals.
const (
	codeUnreachable = "agent_unavailable" // it cannot be reached, or broke off
	codeRejected    = "agent_rejected"    // it did not take the request
	codeTooLarge    = "agent_too_large"
	codeTimeout     = "agent_timeout"
	codeCard        = "agent_card"   // its card cannot be used
	codeDenied      = "agent_denied" // it wants another key
)

const (
	cardPath  = "/.well-known/agent-card.json"
	cardTime  = 20 * time.Second
	cardBytes = 1 << 20
	cardAge   = 5 * time.Minute // how long a card is used for what costs nothing
)

// Config says where an agent is, and what bounds it.
type Config struct {
	Name string // as plugins call it
	// URL is that of its card, or of the host that has one at /.well-known/agent-card.json.
	URL     string
	Headers map[string]string // of each request; values may hold handles of secrets
	// Hosts are further hosts, with * for any characters, that the card may name for requests, which
	// then get the headers.
	Hosts   []string
	Private bool // loopback, private and link-local addresses are connected to, too
	tool.Limits
	tool.Hints

	Secrets   tool.Secrets      // nil: there are none
	Budget    *provider.Budget  // for the answers of all agents together; nil bounds nothing
	Transport http.RoundTripper // default web.Transport
	Version   string            // of the node, for the agent
}

// Peer is an agent outside. It is safe for concurrent use.
type Peer struct {
	config Config
	base   *url.URL
	send   http.RoundTripper

	mu   sync.Mutex
	card *Card // the last one
	read time.Time
}

// NewPeer returns a Peer. It connects to nothing yet. The URL was checked with the configuration.
func NewPeer(c Config) (*Peer, error) {
	base, err := url.Parse(c.URL)
	if err != nil {
		return nil, fmt.Errorf("the URL of the agent %s: %w", c.Name, err)
	}
	if !strings.HasSuffix(base.Path, ".json") {
		base = base.JoinPath(cardPath)
	}
	c.Timeout, c.Answer = cmp.Or(c.Timeout, time.Minute), cmp.Or(c.Answer, 4<<20)
	if c.Transport == nil {
		c.Transport = web.Transport(web.Reach{Private: c.Private, PerHost: 8})
	}
	return &Peer{config: c, base: base, send: c.Transport}, nil
}

// Close lets go of connections.
func (p *Peer) Close() error {
	if t, ok := p.send.(*http.Transport); ok {
		t.CloseIdleConnections()
	}
	return nil
}

// may reports whether requests may go to a place that a card names. The configured host is one and
// the same by scheme, name and port.
func (p *Peer) may(u *url.URL) bool {
	switch {
	case u.Scheme != "https" && u.Scheme != "http" || u.Host == "":
		return false
	case u.Scheme == p.base.Scheme && port(u) == port(p.base) && strings.EqualFold(u.Hostname(), p.base.Hostname()):
		return true
	}
	return (u.Scheme == "https" || p.base.Scheme == "http") && policy.MatchAny(p.config.Hosts, authority(u))
}

// authority writes where a URL leads as the configuration does: without the port that its scheme
// implies.
func authority(u *url.URL) string {
	host := strings.ToLower(u.Hostname())
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if port(u) == port(&url.URL{Scheme: u.Scheme}) {
		return host
	}
	return host + ":" + port(u)
}

func port(u *url.URL) string {
	return cmp.Or(u.Port(), map[string]string{"https": "443", "http": "80"}[u.Scheme])
}

// Card reads the agent's card, as it is now. The error is a *provider.Refusal.
func (p *Peer) Card(ctx context.Context, tenant string) (*Card, error) {
	ctx, cancel := context.WithTimeout(ctx, cardTime)
	defer cancel()
	text, _, err := p.exchange(ctx, tenant, &request{method: http.MethodGet, url: p.base.String(), most: cardBytes})
	if err != nil {
		return nil, err
	}
	card, err := ParseCard(text, p.may)
	if err != nil {
		return nil, refuse(abi.CallUnavailable, codeCard, "the agent %q cannot be used: %v", p.config.Name, err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.card, p.read = card, time.Now()
	return card, nil
}

// known returns a card that is not too old.
func (p *Peer) known(ctx context.Context, tenant string) (*Card, error) {
	p.mu.Lock()
	card, fresh := p.card, time.Since(p.read) < cardAge
	p.mu.Unlock()
	if card != nil && fresh {
		return card, nil
	}
	return p.Card(ctx, tenant)
}

// Denied reports whether an agent does not let us in; err is of a method of [Peer].
func Denied(err error) bool { return coded(err, codeDenied) }

// Unreached reports whether an agent has not answered; err is of a method of [Peer].
func Unreached(err error) bool { return coded(err, codeUnreachable, codeTimeout) }

func coded(err error, codes ...string) bool {
	said, is := errors.AsType[*provider.Refusal](err)
	return is && slices.Contains(codes, said.Code)
}

func refuse(status abi.CallStatus, code, format string, args ...any) error {
	return provider.Refuse(status, code, fmt.Sprintf(format, args...))
}

// request is what is sent to an agent.
type request struct {
	method, url string
	header      map[string]string
	body        []byte
	most        int64 // bytes of the answer
}

// exchange sends a request and returns what came back, without what is secret. An answer that is no
// JSON, or not of a status that has some, is an error; retry says of it that the same request may
// be answered later.
func (p *Peer) exchange(ctx context.Context, tenant string, r *request) (text []byte, retry bool, err error) {
	req, values, err := p.prepare(ctx, r)
	if err != nil {
		return nil, false, err
	}
	resp, err := p.send.RoundTrip(req)
	if err != nil {
		return nil, web.Denied(err) == "", p.unanswered(ctx, err)
	}
	defer resp.Body.Close()
	if retry, err := p.accepted(resp); err != nil {
		return nil, retry, err
	}
	text, err = p.bounded(ctx, tenant, resp, r.most)
	if err != nil {
		refused, _ := err.(*provider.Refusal)
		return nil, refused == nil || refused.Code != codeTooLarge, err
	}
	return []byte(secret.NewScrub(values).Text(string(text))), false, nil
}

// accepted refuses an answer that is no JSON, or not of a status that has some.
func (p *Peer) accepted(resp *http.Response) (retry bool, err error) {
	switch kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); {
	case resp.StatusCode >= 300 && resp.StatusCode < 400:
		return false, refuse(abi.CallUnavailable, codeRejected, "the agent %q redirects, which is not followed", p.config.Name)
	case resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden:
		return false, refuse(abi.CallUnavailable, codeDenied, "the agent %q does not let us in (HTTP %d)", p.config.Name, resp.StatusCode)
	case resp.StatusCode != http.StatusOK:
		busy := resp.StatusCode >= 500 || resp.StatusCode == http.StatusTooManyRequests
		return busy, refuse(abi.CallUnavailable, codeRejected, "the agent %q has answered with the status %d", p.config.Name, resp.StatusCode)
	case kind != "application/json" && kind != "application/a2a+json":
		return false, refuse(abi.CallUnavailable, codeRejected, "the agent %q has answered with something other than JSON", p.config.Name)
	}
	return false, nil
}

// prepare makes the request that is sent.
func (p *Peer) prepare(ctx context.Context, r *request) (*http.Request, []secret.Value, error) {
	req, err := http.NewRequestWithContext(ctx, r.method, r.url, bytes.NewReader(r.body))
	if err != nil {
		return nil, nil, refuse(abi.CallUnavailable, codeCard, "the URL of the agent %q cannot be asked", p.config.Name)
	}
	req.Header.Set("User-Agent", "wharf/"+p.config.Version)
	req.Header.Set("Accept", "application/json")
	for name, value := range r.header {
		req.Header.Set(name, value)
	}
	var all []secret.Value
	for name, text := range p.config.Headers {
		value, values := text, []secret.Value(nil)
		if p.config.Secrets != nil {
			if value, values, err = p.config.Secrets.Expand(ctx, text); err != nil {
				return nil, nil, err
			}
		}
		all = append(all, values...)
		req.Header.Set(name, value)
	}
	return req, all, nil
}

// bounded reads an answer that is no longer than it may be.
func (p *Peer) bounded(ctx context.Context, tenant string, resp *http.Response, most int64) ([]byte, error) {
	if resp.ContentLength > most {
		return nil, p.tooLarge(most)
	}
	var text bytes.Buffer
	taken := int64(0)
	defer func() { p.config.Budget.Return(tenant, taken) }()
	for {
		step := min(64<<10, most+1-int64(text.Len()))
		if !p.config.Budget.Take(tenant, step) {
			return nil, refuse(abi.CallUnavailable, codeUnreachable, "too many answers of agents are being read: that of %q has to wait", p.config.Name)
		}
		taken += step
		_, err := io.CopyN(&text, resp.Body, step)
		switch {
		case int64(text.Len()) > most:
			return nil, p.tooLarge(most)
		case err == io.EOF:
			return text.Bytes(), nil
		case err != nil:
			return nil, p.unanswered(ctx, err)
		}
	}
}

func (p *Peer) tooLarge(most int64) error {
	return refuse(abi.CallTooLarge, codeTooLarge, "the answer of the agent %q has more than %d bytes", p.config.Name, most)
}

// unanswered says why there is no answer, without an address.
func (p *Peer) unanswered(ctx context.Context, err error) error {
	switch {
	case ctx.Err() == context.DeadlineExceeded, web.TimedOut(err):
		return refuse(abi.CallTimeout, codeTimeout, "the agent %q has not answered in time", p.config.Name)
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return refuse(abi.CallUnavailable, codeUnreachable, "the agent %q cannot be reached: %s", p.config.Name, cmp.Or(web.Denied(err), web.Reason(err)))
}

// rpcError is what an agent says when it does not do what it is asked.
type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// Error implements the error interface.
func (e *rpcError) Error() string { return fmt.Sprintf("%s (%d)", bounded(e.Message), e.Code) }

// The codes of JSON-RPC that say that a method is not there.
const codeNoMethod = -32601

// ask calls a method and decodes what it results in. The error is an *rpcError when the agent has
// answered with one, and else a *provider.Refusal; retry is as in exchange.
func (p *Peer) ask(ctx context.Context, tenant string, card *Card, method string, params, into any) (retry bool, err error) {
	body, err := json.Marshal(call{"2.0", 1, method, params}, json.Deterministic(true))
	if err != nil {
		return false, provider.Malformed(err)
	}
	text, retry, err := p.exchange(ctx, tenant, &request{method: http.MethodPost, url: card.Endpoint, header: card.header(), body: body, most: p.config.Answer})
	if err != nil {
		return retry, err
	}
	return false, p.response(text, into)
}

// call is a request of JSON-RPC.
type call struct {
	Version string `json:"jsonrpc"`
	ID      int    `json:"id"`
	Method  string `json:"method"`
	Params  any    `json:"params"`
}

// header is what requests to an agent are sent with.
func (c *Card) header() map[string]string {
	header := map[string]string{"Content-Type": "application/json"}
	if c.speaks == v1 {
		header["A2A-Version"] = "1.0"
	}
	return header
}

// response decodes what a response of JSON-RPC results in. The errors are those of ask.
func (p *Peer) response(text []byte, into any) error {
	var answer struct {
		Version string         `json:"jsonrpc"`
		ID      jsontext.Value `json:"id"`
		Result  jsontext.Value `json:"result"`
		Error   *rpcError      `json:"error"`
	}
	switch {
	case provider.Readable(text, reflect.TypeOf(answer)) != nil || json.Unmarshal(text, &answer) != nil || answer.Version != "2.0":
		return p.unreadable()
	case answer.Error != nil:
		return answer.Error
	case !slices.Equal(answer.ID, jsontext.Value("1")):
		return refuse(abi.CallUnavailable, codeRejected, "the agent %q has answered another request", p.config.Name)
	case abi.TooDeep(answer.Result, abi.MaxToldDepth) >= 0 || provider.Readable(answer.Result, reflect.TypeOf(into).Elem()) != nil:
		return p.unreadable()
	case json.Unmarshal(answer.Result, into) != nil:
		return p.unreadable()
	}
	return nil
}

func (p *Peer) unreadable() error {
	return refuse(abi.CallUnavailable, codeRejected, "the answer of the agent %q cannot be read", p.config.Name)
}

// rejected makes a refusal of what an agent says against a request; other errors stay.
func (p *Peer) rejected(err error) error {
	if said, ok := err.(*rpcError); ok {
		return refuse(abi.CallUnavailable, codeRejected, "the agent %q has refused: %s", p.config.Name, said)
	}
	return err
}
