package conformance

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"
)

// protocolVersion and versionHeader are the protocol's (docs/protocol.md, 1).
const (
	protocolVersion = "agents-protocol-2026-04-25"
	versionHeader   = "Harn-Agents-Protocol-Version"
)

// maxBody is more than any answer to these checks has a reason to be.
const maxBody = 32 << 20

// object is a JSON object.
type object = map[string]any

// client speaks the REST profile to one server and shows every answer to the
// observer. It is safe for concurrent use.
type client struct {
	base string
	key  string
	http *http.Client
	seen *observer
}

// request is one call. The zero values of auth and version mean: the right ones.
type request struct {
	method, path string
	body         any    // encoded as JSON, unless it is []byte
	auth         string // the whole Authorization header; "-" sends none
	version      string // "-" sends none
	header       map[string]string
}

// response is an answer that was read whole.
type response struct {
	to     string // method and path, for messages
	status int
	header http.Header
	body   []byte
	doc    object // nil when the body is no JSON object
}

func (c *client) send(ctx context.Context, r request) (response, error) {
	answer, err := c.open(ctx, r)
	if err != nil {
		return response{}, err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxBody))
	if err != nil {
		return response{}, fmt.Errorf("reading the answer: %w", err)
	}
	got := response{to: r.method + " " + r.path, status: answer.StatusCode, header: answer.Header, body: body}
	if json.Unmarshal(body, &got.doc) != nil {
		got.doc = nil
	}
	c.seen.response(got)
	return got, nil
}

// open sends the request and leaves the answer's body to the caller.
func (c *client) open(ctx context.Context, r request) (*http.Response, error) {
	body, err := encode(r.body)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, r.method, c.base+r.path, body)
	if err != nil {
		return nil, fmt.Errorf("making a request: %w", err)
	}
	if r.body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	setUnless(req.Header, "Authorization", r.auth, "Bearer "+c.key)
	setUnless(req.Header, versionHeader, r.version, protocolVersion)
	for name, value := range r.header {
		req.Header.Set(name, value)
	}
	answer, err := c.http.Do(req)
	if err != nil {
		return nil, fmt.Errorf("no answer: %w", err)
	}
	return answer, nil
}

func setUnless(h http.Header, name, value, usual string) {
	switch value {
	case "-":
	case "":
		h.Set(name, usual)
	default:
		h.Set(name, value)
	}
}

func encode(body any) (io.Reader, error) {
	switch body := body.(type) {
	case nil:
		return nil, nil
	case []byte:
		return bytes.NewReader(body), nil
	}
	text, err := json.Marshal(body, json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("encoding a request: %w", err)
	}
	return bytes.NewReader(text), nil
}

// data returns the objects of a list answer.
func (r response) data() []object {
	list, _ := r.doc["data"].([]any)
	var docs []object
	for _, entry := range list {
		if doc, ok := entry.(object); ok {
			docs = append(docs, doc)
		}
	}
	return docs
}

// next returns the cursor of the page after this one, "" when this is the last.
func (r response) next() string {
	page, _ := r.doc["page"].(object)
	if more, _ := page["has_more"].(bool); !more {
		return ""
	}
	cursor, _ := page["next_cursor"].(string)
	return cursor
}

func (r response) error() object {
	doc, _ := r.doc["error"].(object)
	return doc
}

func (r response) errorCode() string {
	code, _ := r.error()["code"].(string)
	return code
}

// describe names a resource in a message.
func describe(doc object) string {
	if doc == nil {
		return "the answer, which is no JSON object"
	}
	kind, _ := doc["object"].(string)
	id, _ := doc["id"].(string)
	if kind == "" {
		return "an object"
	}
	return strings.TrimSpace(kind + " " + id)
}
