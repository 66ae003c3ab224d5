package client

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
)

// DefaultServer is where a node listens unless it is told otherwise.
const DefaultServer = "http://127.0.0.1:8080"

// Client speaks to one node. It is safe for concurrent use.
type Client struct {
	base string
	key  string
	http *http.Client
	// trust is how TLS is spoken, nil for what the system says.
	trust *tls.Config
	// pause waits before attempt number n, from 1, to open a broken stream again.
	pause func(ctx context.Context, n int) error
}

// Doc is a resource as the client understands it, and as the node sent it.
type Doc[T any] struct {
	Value T
	JSON  jsontext.Value
}

// UnmarshalJSONFrom decodes the value and keeps the text.
func (d *Doc[T]) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	text, err := dec.ReadValue()
	if err != nil {
		return fmt.Errorf("reading a resource: %w", err)
	}
	d.JSON = text.Clone()
	return json.Unmarshal(d.JSON, &d.Value)
}

// page is a list envelope with typed entries.
type page[T any] struct {
	Data []Doc[T]     `json:"data"`
	Page abi.PageInfo `json:"page"`
}

// New returns a client for the node at the given URL. Nothing is sent yet.
func New(server, key string) (*Client, error) { return NewOver(server, key, nil) }

// NewOver is [New] for a node that TLS is spoken with as a configuration says; nil is what the system says.
func NewOver(server, key string, trust *tls.Config) (*Client, error) {
	u, err := url.Parse(server)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, fmt.Errorf("%q is not the URL of a node, such as %s", server, DefaultServer)
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DialContext = dialer().DialContext
	transport.DisableCompression, transport.TLSClientConfig = true, trust.Clone() // it changes its own
	return &Client{
		base:  strings.TrimRight(u.String(), "/"),
		key:   key,
		trust: trust,
		http:  &http.Client{Transport: transport},
		pause: backoff,
	}, nil
}

// dialer opens connections to a node.
func dialer() *net.Dialer { return &net.Dialer{Timeout: 5 * time.Second} }

// Server returns the URL of the node.
func (c *Client) Server() string { return c.base }

// request is one call to the node.
type request struct {
	method, path string
	query        url.Values
	header       map[string]string
	body         io.Reader
	size         int64         // of body, 0 when it is not known
	patience     time.Duration // how long to wait for the answer; 0 is [patience], < 0 for ever
}

// patience is how long a node may take for an ordinary answer.
const patience = 30 * time.Second

// send performs a request and returns the answer of a node that did not refuse
// it. The caller closes the body.
func (c *Client) send(ctx context.Context, r request) (*http.Response, error) {
	resp, err := c.exchange(ctx, r)
	if err == nil && resp.StatusCode >= 400 {
		defer resp.Body.Close()
		return nil, refusal(resp)
	}
	return resp, err
}

// exchange performs a request and returns the answer, whatever it says. The caller closes the body.
func (c *Client) exchange(ctx context.Context, r request) (*http.Response, error) {
	target := c.base + r.path
	if len(r.query) > 0 {
		target += "?" + r.query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, r.method, target, r.body)
	if err != nil {
		return nil, fmt.Errorf("making the request: %w", err)
	}
	req.Header.Set(abi.VersionHeader, abi.ProtocolVersion)
	req.Header.Set("User-Agent", "wharf")
	if c.key != "" {
		req.Header.Set("Authorization", "Bearer "+c.key)
	}
	for name, value := range r.header {
		req.Header.Set(name, value)
	}
	if r.size > 0 {
		req.ContentLength = r.size
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, c.unreachable(ctx, err)
	}
	return resp, nil
}

// Answers reports whether a node answers.
func (c *Client) Answers(ctx context.Context) bool {
	ctx, cancel := c.patient(ctx, 0)
	defer cancel()
	resp, err := c.exchange(ctx, request{method: http.MethodGet, path: "/healthz"})
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

func (c *Client) unreachable(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	return &Unreachable{Server: c.base, Err: err}
}

// call sends a JSON request and decodes the JSON answer into out, which may be
// nil.
func (c *Client) call(ctx context.Context, r request, in, out any) error {
	if in != nil {
		body, err := json.Marshal(in, json.Deterministic(true))
		if err != nil {
			return fmt.Errorf("encoding the request: %w", err)
		}
		r.body = bytes.NewReader(body)
		r.header = withHeader(r.header, "Content-Type", "application/json")
	}
	ctx, cancel := c.patient(ctx, r.patience)
	defer cancel()
	resp, err := c.send(ctx, r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if out == nil {
		return nil
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return c.unreachable(ctx, err)
	}
	if err := json.Unmarshal(body, out); err != nil {
		return &Stray{Server: c.base, Status: resp.StatusCode, Start: excerpt(body), Err: err}
	}
	return nil
}

// patient bounds ctx by d, as request.patience says.
func (c *Client) patient(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	if d < 0 {
		return context.WithCancel(ctx)
	}
	if d == 0 {
		d = patience
	}
	return context.WithTimeoutCause(ctx, d, &Unreachable{Server: c.base, Err: fmt.Errorf("no answer within %s", d)})
}

func withHeader(h map[string]string, name, value string) map[string]string {
	all := map[string]string{name: value}
	for n, v := range h {
		all[n] = v
	}
	return all
}

// collect reads pages of the list that answers a call until there are as many entries as it
// wants or no more.
func collect[T any](ctx context.Context, c *Client, call Call, keep func(*T) bool) ([]Doc[T], error) {
	const pageSize = 200
	query, limit := call.query, call.limit
	if call.method == http.MethodGet { // what a write answers has pages of the node's own size
		query.Set("limit", fmt.Sprint(pageSize))
	}
	if keep == nil && limit > 0 {
		query.Set("limit", fmt.Sprint(min(limit, pageSize)))
	}
	var all []Doc[T]
	for {
		var p page[T]
		if err := c.call(ctx, call.request(), call.body, &p); err != nil {
			return nil, err
		}
		for _, doc := range p.Data {
			if keep != nil && !keep(&doc.Value) {
				continue
			}
			if all = append(all, doc); len(all) == limit {
				return all, nil
			}
		}
		if !p.Page.HasMore || p.Page.NextCursor == nil {
			return all, nil
		}
		query.Set("cursor", *p.Page.NextCursor)
	}
}
