package wharf

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// ProtocolVersion is the version of the protocol that this client speaks.
const ProtocolVersion = "agents-protocol-2026-04-25"

// Config says which node a client speaks to, and how.
type Config struct {
	URL string // of the node, such as http://127.0.0.1:8080
	Key string // an API key or access token
	// HTTP sends the requests; nil is a client of its own. It must have no Timeout, which
	// would cut streams off: use contexts.
	HTTP *http.Client
	// Retries is how often a request is sent again at most; 0 is 4, and less than 0 never.
	Retries int
	// MaxWait bounds how long the client waits before it sends a request again: when a node
	// asks for more, its error is returned instead. So long a stream tries to reach a node that
	// is not there. 0 is a minute.
	MaxWait time.Duration
}

// Client sends requests to one node. It can be used by many goroutines.
type Client struct{ config Config }

// New returns a client of a node. No request is sent.
func New(config Config) *Client {
	config.URL = strings.TrimRight(config.URL, "/")
	if config.HTTP == nil {
		config.HTTP = &http.Client{}
	}
	if config.Retries == 0 {
		config.Retries = 4
	}
	if config.MaxWait == 0 {
		config.MaxWait = time.Minute
	}
	return &Client{config}
}

// Operation is something that can be asked of a node.
type Operation struct {
	Name, Method, Path string
	Keyed              bool // it takes an idempotency key
}

// Option is what one call wants otherwise.
type Option func(http.Header)

// IdempotencyKey names a write, so that it is done once however often it is sent, by whichever
// process. Without it each call has a new one.
func IdempotencyKey(key string) Option { return Header("Idempotency-Key", key) }

// Header sends a header.
func Header(name, value string) Option {
	return func(h http.Header) { h.Set(name, value) }
}

// Call sends the request of an operation. path has what is put into its path; query and body may
// be nil, and so may answer, which the answer is decoded into.
func (c *Client) Call(ctx context.Context, op Operation, path []string, query, body, answer any, options ...Option) error {
	var content Content
	header := http.Header{}
	if !empty(body) {
		text, err := json.Marshal(body)
		if err != nil {
			return fmt.Errorf("wharf: encoding the body of %s: %w", op.Name, err)
		}
		content = bytes.NewReader(text)
		header.Set("Content-Type", "application/json")
	}
	response, err := c.send(ctx, op, path, query, content, header, options)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if answer == nil || response.StatusCode == http.StatusNoContent {
		return nil
	}
	if err := json.NewDecoder(response.Body).Decode(answer); err != nil {
		return fmt.Errorf("wharf: reading the answer of %s: %w", op.Name, err)
	}
	return nil
}

// Content is what is uploaded: an open [os.File], a [bytes.Reader] or a [strings.Reader]. All of it is sent, from its
// beginning, whenever the request is sent again, so that it must not change meanwhile.
type Content interface {
	io.ReaderAt
	io.Seeker
}

// upload sends bytes, of which no more are in memory than are on their way.
func upload[T any](ctx context.Context, c *Client, op Operation, path []string, query any, content Content, media string, options []Option) (*T, error) {
	if content == nil {
		return nil, fmt.Errorf("wharf: %s has no content", op.Name)
	}
	response, err := c.send(ctx, op, path, query, content, http.Header{"Content-Type": {media}}, options)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	return decoded[T](response.Body)
}

// download returns the bytes that a request is answered with. The caller closes them.
func (c *Client) download(ctx context.Context, op Operation, path []string, query any, options []Option) (io.ReadCloser, error) {
	response, err := c.send(ctx, op, path, query, nil, http.Header{}, options)
	if err != nil {
		return nil, err
	}
	return response.Body, nil
}

func decoded[T any](body io.Reader) (*T, error) {
	answer := new(T)
	if err := json.NewDecoder(body).Decode(answer); err != nil {
		return nil, fmt.Errorf("wharf: reading the answer: %w", err)
	}
	return answer, nil
}

// empty reports whether there is nothing to send: methods pass a nil pointer of their type.
func empty(body any) bool {
	text, err := json.Marshal(body)
	return err == nil && string(text) == "null"
}

func call[T any](ctx context.Context, c *Client, op Operation, path []string, query, body any, options []Option) (*T, error) {
	answer := new(T)
	if err := c.Call(ctx, op, path, query, body, answer, options...); err != nil {
		return nil, err
	}
	return answer, nil
}

// send sends a request until it is answered with success, or for good without. The caller
// closes the answer's body.
func (c *Client) send(ctx context.Context, op Operation, path []string, query any, content Content, header http.Header, options []Option) (*http.Response, error) {
	target, err := c.target(op.Path, path, query)
	if err != nil {
		return nil, err
	}
	var size int64
	if content != nil {
		if size, err = content.Seek(0, io.SeekEnd); err != nil {
			return nil, fmt.Errorf("wharf: finding the size of what is sent: %w", err)
		}
	}
	if op.Keyed {
		header.Set("Idempotency-Key", newKey())
	}
	for _, option := range options {
		option(header)
	}
	repeatable := op.Keyed || op.Method == http.MethodGet
	for attempt := 0; ; attempt++ {
		response, err := c.once(ctx, op.Method, target, content, size, header)
		if err == nil {
			return response, nil
		}
		wait, again := c.again(err, attempt, repeatable)
		if !again || ctx.Err() != nil {
			return nil, err
		}
		if err := pause(ctx, wait); err != nil {
			return nil, err
		}
	}
}

// newKey returns an idempotency key that nobody has used.
func newKey() string { return "go-" + rand.Text() }

// target returns the URL of a request.
func (c *Client) target(path string, values []string, query any) (string, error) {
	for _, value := range values {
		before, rest, _ := strings.Cut(path, "{")
		_, after, ok := strings.Cut(rest, "}")
		if !ok || value == "" || value == "." || value == ".." {
			return "", fmt.Errorf("wharf: %q cannot be an id in %s", value, path)
		}
		path = before + url.PathEscape(value) + after
	}
	if strings.Contains(path, "{") {
		return "", fmt.Errorf("wharf: an id is missing for %s", path)
	}
	if encoded, err := encodeQuery(query); err != nil || encoded == "" {
		return c.config.URL + path, err
	} else {
		return c.config.URL + path + "?" + encoded, nil
	}
}

func encodeQuery(query any) (string, error) {
	text, err := json.Marshal(query)
	if err != nil {
		return "", fmt.Errorf("wharf: encoding a query: %w", err)
	}
	var members map[string]any
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&members); err != nil {
		return "", fmt.Errorf("wharf: encoding a query: %w", err)
	}
	values := url.Values{}
	for name, member := range members {
		values.Set(name, fmt.Sprint(member))
	}
	return values.Encode(), nil
}

// once sends a request, once. An answer of 400 and above is an *Error.
func (c *Client) once(ctx context.Context, method, target string, content io.ReaderAt, size int64, header http.Header) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, method, target, http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("wharf: %w", err)
	}
	if size > 0 { // a reader for each time: that of one which failed may still be read from
		request.ContentLength = size
		request.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(io.NewSectionReader(content, 0, size)), nil }
		request.Body, _ = request.GetBody() // which has no error
	}
	request.Header = header.Clone()
	request.Header.Set("Harn-Agents-Protocol-Version", ProtocolVersion)
	if c.config.Key != "" {
		request.Header.Set("Authorization", "Bearer "+c.config.Key)
	}
	response, err := c.config.HTTP.Do(request)
	if err != nil {
		return nil, fmt.Errorf("wharf: the node does not answer: %w", err)
	}
	if response.StatusCode < 400 {
		return response, nil
	}
	defer response.Body.Close()
	return nil, readError(response)
}

// Error is an error that the node has answered with.
type Error struct {
	Status    int           // of HTTP; 0 when it came within a stream
	Code      string        // one of the Code constants, or of a newer node
	Type      string        // the group that the code belongs to
	Message   string        // for people
	Param     string        // the member, parameter or header that is wrong, if it is one
	Advice    string        // what to do about it
	RequestID string        // names the request in the node's log
	Details   any           // more about it, where there is more to say
	After     time.Duration // how long the node asks to wait, 0 if it does not
}

// Error says what is wrong, what to do, and the request's id.
func (e *Error) Error() string {
	text := "wharf: " + e.Code + ": " + e.Message
	if e.Param != "" {
		text += " (" + e.Param + ")"
	}
	if e.Advice != "" {
		text += "\n" + e.Advice
	}
	if e.RequestID != "" {
		text += "\nrequest " + e.RequestID
	}
	return text
}

// IsCode reports whether an error is the node's, with a code such as [CodeConflict].
func IsCode(err error, code string) bool {
	shown, ok := errors.AsType[*Error](err)
	return ok && shown.Code == code
}

const longestError = 1 << 20

func readError(response *http.Response) error {
	text, _ := io.ReadAll(io.LimitReader(response.Body, longestError)) // what is there will do
	e := decodeError(text)
	e.Status = response.StatusCode
	if e.RequestID == "" {
		e.RequestID = response.Header.Get("X-Request-Id")
	}
	e.After = retryAfter(response.Header.Get("Retry-After"))
	if e.Code == "" { // something between the client and the node has answered
		e.Code, e.Message = "http_"+strconv.Itoa(response.StatusCode), "the answer is "+response.Status+", and not from a node"
		e.Advice = "Check the URL, and what is between you and the node."
	}
	return e
}

func decodeError(text []byte) *Error {
	var envelope struct {
		Error struct {
			Code, Type, Message, Param string
			RequestID                  string `json:"request_id"`
			Details                    any
		}
	}
	if err := json.Unmarshal(text, &envelope); err != nil {
		return &Error{}
	}
	said := envelope.Error
	return &Error{Code: said.Code, Type: said.Type, Message: said.Message, Param: said.Param, RequestID: said.RequestID,
		Details: said.Details, Advice: advised[said.Code]}
}

func retryAfter(header string) time.Duration {
	if seconds, err := strconv.Atoi(header); err == nil && seconds > 0 {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(header); err == nil {
		return max(time.Until(at), 0)
	}
	return 0
}

// again says whether a request that failed is sent again, and when. One that may have been
// done is only when doing it again makes no difference.
func (c *Client) again(err error, attempt int, repeatable bool) (time.Duration, bool) {
	if attempt >= c.config.Retries || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return 0, false
	}
	refused, ok := errors.AsType[*Error](err)
	if !ok {
		return backoff(attempt), repeatable
	}
	switch refused.Status {
	case http.StatusTooManyRequests: // was not done
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		if !repeatable {
			return 0, false
		}
	default:
		return 0, false
	}
	if refused.After > 0 {
		return refused.After + time.Duration(mathrand.Int64N(int64(250*time.Millisecond))), refused.After <= c.config.MaxWait
	}
	return min(backoff(attempt), c.config.MaxWait), true
}

// backoff returns how long to wait after an attempt: longer each time, and never as long as
// other clients do that failed at the same moment.
func backoff(attempt int) time.Duration {
	longest := min(200*time.Millisecond<<min(attempt, 10), 10*time.Second)
	return longest/2 + time.Duration(mathrand.Int64N(int64(longest/2)))
}

func pause(ctx context.Context, wait time.Duration) error {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
