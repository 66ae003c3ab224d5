package model

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/runtime/provider"
)

const (
	// maxAnswer bounds the body of an answer, in bytes, however it is streamed.
	maxAnswer = 32 << 20
	// maxAnswers bounds the answers that are being read at one time, in bytes. Reading
	// takes a few times as much memory, and a node may have 1 GiB.
	maxAnswers = 64 << 20
	// maxErrorBody is how much of an error's body is read.
	maxErrorBody = 64 << 10
)

var (
	errTooLarge = errors.New("its answer is larger than this node takes")
	errBusy     = errors.New("this node is reading as many answers as it has memory for: come back later")
	errRedirect = errors.New("it redirects to another address: configure that one as its base URL")
)

// newClient returns a client whose answers are either a success with a bounded
// body, or a [statusError]. It follows no redirect, which could take the key and
// the conversation elsewhere.
func newClient(limit int64) *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 16
	return &http.Client{
		Transport:     &strict{next: transport, limit: limit, budget: provider.NewBudget(maxAnswers)},
		CheckRedirect: func(*http.Request, []*http.Request) error { return errRedirect },
	}
}

type strict struct {
	next   *http.Transport
	limit  int64
	budget *provider.Budget
}

// tenantKey is where the context of a request has its tenant.
type tenantKey struct{}

// CloseIdleConnections is what the method of the same name of a client calls.
func (s *strict) CloseIdleConnections() { s.next.CloseIdleConnections() }

// RoundTrip implements [http.RoundTripper].
func (s *strict) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := s.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode < 400 {
		tenant, _ := r.Context().Value(tenantKey{}).(string)
		answer.Body = &bounded{body: answer.Body, left: s.limit, budget: s.budget, tenant: tenant}
		return answer, nil
	}
	defer func() { _ = answer.Body.Close() }()
	body, _ := io.ReadAll(io.LimitReader(answer.Body, maxErrorBody)) // what there is of it serves
	return nil, &statusError{code: answer.StatusCode, message: said(body), tooLong: tooLong(answer.StatusCode, body), asked: retryAfter(answer.Header)}
}

// bounded is a body that fails, instead of ending, where it gets too large, or where
// the node reads too much at once. What it takes of the budget it holds until it is
// closed.
type bounded struct {
	body   io.ReadCloser
	left   int64
	budget *provider.Budget
	tenant string
	taken  int64
	busy   bool
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, errTooLarge
	}
	if b.busy {
		return 0, errBusy
	}
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.body.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return n - 1, errTooLarge
	}
	if b.busy = !b.budget.Take(b.tenant, int64(n)); b.busy {
		return 0, errBusy
	}
	b.taken += int64(n)
	return n, err
}

func (b *bounded) Close() error {
	b.budget.Return(b.tenant, b.taken)
	b.taken = 0
	return b.body.Close()
}

// said finds the words in an error's body: {"error": {"message": "..."}},
// {"error": "..."}, {"message": "..."}, {"detail": "..."}, else the text itself.
func said(body []byte) string {
	var told struct {
		Error   jsontext.Value `json:"error"`
		Message jsontext.Value `json:"message"`
		Detail  jsontext.Value `json:"detail"`
	}
	if json.Unmarshal(body, &told, jsontext.AllowInvalidUTF8(true)) != nil {
		return string(body)
	}
	for _, v := range []jsontext.Value{told.Error, told.Message, told.Detail} {
		switch v.Kind() {
		case '"':
			var s string
			if json.Unmarshal(v, &s, jsontext.AllowInvalidUTF8(true)) == nil {
				return s
			}
		case '{':
			return said(v)
		}
	}
	return string(body)
}

// tooLong reports whether a request was refused because the model cannot take so much in. There is no
// status for it: providers say it by a code, or in words of their own.
func tooLong(status int, body []byte) bool {
	switch status {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
	default:
		return false
	}
	body = bytes.ToLower(body)
	for _, words := range []string{"context_length_exceeded", "exceed_context_size", "prompt is too long", "maximum context length", "maximum number of tokens"} {
		if bytes.Contains(body, []byte(words)) {
			return true
		}
	}
	return false
}

// retryAfter returns what a server asks to wait: Retry-After in seconds or as a
// date. An answer without it gives 0.
func retryAfter(h http.Header) time.Duration {
	v := h.Get("Retry-After")
	if seconds, err := strconv.ParseFloat(v, 64); err == nil && seconds >= 0 {
		// The clamp keeps the conversion within range; so long a wait is given up anyway.
		return time.Duration(min(seconds, (24*time.Hour).Seconds()) * float64(time.Second))
	}
	if at, err := http.ParseTime(v); err == nil {
		return max(time.Until(at), 0)
	}
	return 0
}
