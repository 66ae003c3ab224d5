package client

import (
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
)

// Refused is the error of a request that the node answered with an error.
type Refused struct {
	Status int
	Answer *abi.Error
	// Retry is the Retry-After header, "" when there was none.
	Retry string
}

// Error implements the error interface.
func (r *Refused) Error() string { return r.Answer.Message }

// Unwrap returns the node's own error.
func (r *Refused) Unwrap() error { return r.Answer }

// Unreachable is the error of a request that got no answer.
type Unreachable struct {
	Server string
	Err    error
}

// Error implements the error interface.
func (u *Unreachable) Error() string {
	return fmt.Sprintf("no node answers at %s: %v", u.Server, u.Err)
}

// Unwrap returns what went wrong.
func (u *Unreachable) Unwrap() error { return u.Err }

// Stray is the error of an answer that no Wharf node gives: there is something
// else at the address.
type Stray struct {
	Server string
	Status int
	Start  string // of the answer
	Err    error
}

// Error implements the error interface.
func (s *Stray) Error() string {
	return fmt.Sprintf("what answers at %s is no Wharf node: HTTP %d, %q", s.Server, s.Status, s.Start)
}

// Unwrap returns why the answer could not be understood.
func (s *Stray) Unwrap() error { return s.Err }

// maxErrorBody bounds what is read of an error's body.
const maxErrorBody = 64 << 10

func refusal(resp *http.Response) error {
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
	if err != nil {
		return &Stray{Server: resp.Request.URL.Host, Status: resp.StatusCode, Err: err}
	}
	return refusalFrom(resp, body)
}

func refusalFrom(resp *http.Response, body []byte) error {
	var envelope abi.ErrorEnvelope
	err := json.Unmarshal(body, &envelope)
	if refused := grantRefusal(resp.StatusCode, body); refused != nil {
		return &Refused{Status: resp.StatusCode, Answer: refused}
	}
	if err != nil || envelope.Error == nil {
		return &Stray{Server: resp.Request.URL.Host, Status: resp.StatusCode, Start: excerpt(body), Err: err}
	}
	return &Refused{Status: resp.StatusCode, Answer: envelope.Error, Retry: resp.Header.Get("Retry-After")}
}

// excerpt returns the first line of body, cut.
func excerpt(body []byte) string {
	const most = 80
	line, _, _ := strings.Cut(strings.TrimSpace(string(body)), "\n")
	if len(line) > most {
		line = strings.ToValidUTF8(line[:most], "") + "…"
	}
	return line
}
