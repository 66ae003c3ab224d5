package openharness

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
)

// maxBody is more than any answer to these checks has a reason to be.
const maxBody = 32 << 20

// object is a JSON object.
type object = map[string]any

// client speaks to one server.
type client struct {
	base string // with /v1/harnesses
	key  string
	http *http.Client
	doc  *published
}

// option changes a request before it is sent.
type option = func(*http.Request)

// header sets a header of a request; "" removes it.
func header(name, value string) option {
	return func(r *http.Request) {
		if r.Header.Del(name); value != "" {
			r.Header.Set(name, value)
		}
	}
}

// request is one call. Its body is nil, a content, or a value that is sent as JSON.
type request struct {
	method, path string // path is below /v1/harnesses
	body         any
	with         []option
}

// content is a body that is no JSON.
type content struct {
	media string
	bytes []byte
}

// answer is what a server answered, read whole.
type answer struct {
	method, path string
	to           string // method and path, for messages
	status       int
	header       http.Header
	body         []byte
	doc          any // nil when the body is no JSON
}

func (c *client) send(ctx context.Context, r request) (answer, error) {
	res, err := c.open(ctx, r)
	if err != nil {
		return answer{}, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxBody))
	if err != nil {
		return answer{}, fmt.Errorf("reading the answer: %w", err)
	}
	a := answer{method: r.method, path: r.path, to: r.method + " " + r.path, status: res.StatusCode, header: res.Header, body: body}
	if json.Unmarshal(body, &a.doc) != nil {
		a.doc = nil
	}
	return a, nil
}

// open sends the request and leaves the answer's body to the caller.
func (c *client) open(ctx context.Context, r request) (*http.Response, error) {
	body, media, err := encode(r.body)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, r.method, c.base+r.path, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("making a request: %w", err)
	}
	if media != "" {
		req.Header.Set("Content-Type", media)
	}
	req.Header.Set("Authorization", "Bearer "+c.key)
	for _, option := range r.with {
		option(req)
	}
	res, err := c.http.Do(req)
	if err != nil {
		return nil, fmt.Errorf("no answer: %w", err)
	}
	return res, nil
}

func encode(body any) (bytes []byte, media string, err error) {
	switch body := body.(type) {
	case nil:
		return nil, "", nil
	case content:
		return body.bytes, body.media, nil
	}
	text, err := json.Marshal(body, json.Deterministic(true))
	if err != nil {
		return nil, "", fmt.Errorf("encoding a request: %w", err)
	}
	return text, "application/json", nil
}

// get returns a member of the answer by its path: "agent.id", "data.0.name". Missing is nil.
func (a answer) get(path string) any {
	v := a.doc
	for name := range strings.SplitSeq(path, ".") {
		switch in := v.(type) {
		case object:
			v = in[name]
		case []any:
			i, err := strconv.Atoi(name)
			if v = nil; err == nil && i < len(in) {
				v = in[i]
			}
		default:
			return nil
		}
	}
	return v
}

// code returns the code of an answer that is an error.
func (a answer) code() string {
	code, _ := a.get("error.code").(string)
	return code
}
