package model

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/abi/plainly"
	"github.com/wharf-dev/wharf/runtime/askclient"
)

// maxMessage bounds what a failure repeats of a server's words, in bytes.
const maxMessage = 300

// failure is why an attempt gave no answer. Its message holds no key.
type failure struct {
	status  abi.CallStatus
	code    string
	message string
	retry   bool          // it may pass by itself
	asked   time.Duration // how long the server asked to wait; 0 when it did not
}

// after returns f, saying how many attempts there were.
func (f *failure) after(attempts int) *failure {
	if attempts > 1 {
		f.message = fmt.Sprintf("%s (%d attempts)", f.message, attempts)
	}
	return f
}

// errNotWhole says that an answer ended early or cannot be read.
var errNotWhole = errors.New("the answer is not whole")

// errReported says that the server told of an error within its answer.
var errReported = errors.New("it reports an error")

// errAbsent says that a client's model is to be asked, and that the Task's client has none for it.
var errAbsent = errors.New("the client that gave the task has no model that takes this request")

// statusError is an answer with an HTTP status that is no success.
type statusError struct {
	code    int
	message string // what the server said, "" for nothing readable
	tooLong bool   // what was said to the model is more than it can take in
	asked   time.Duration
}

func (e *statusError) Error() string { return fmt.Sprintf("HTTP %d: %s", e.code, e.message) }

// failureOf says what an error of an attempt means. ctx is the attempt's.
func failureOf(ctx context.Context, err error, key string, timeout time.Duration) *failure {
	var status *statusError
	switch {
	case errors.Is(err, errTooLarge):
		return &failure{status: abi.CallTooLarge, code: "model_answer_too_large", message: errTooLarge.Error()}
	case errors.Is(err, errBusy):
		return &failure{status: abi.CallUnavailable, code: "model_busy", message: errBusy.Error(), retry: true}
	case errors.Is(err, errTooMany):
		return &failure{status: abi.CallTooLarge, code: "model_answer_too_large", message: errTooMany.Error()}
	case errors.Is(err, errRedirect):
		return &failure{status: abi.CallUnavailable, code: "model_unavailable", message: errRedirect.Error()}
	case errors.Is(err, errAbsent):
		return &failure{status: abi.CallUnavailable, code: askclient.CodeNoSampling, message: errAbsent.Error()}
	case errors.Is(err, errExhausted):
		return &failure{status: abi.CallUnavailable, code: "script_exhausted", message: err.Error()}
	case errors.As(err, &status):
		return status.failure(key)
	case ctx.Err() != nil:
		return &failure{status: abi.CallTimeout, code: "model_timeout", retry: true,
			message: fmt.Sprintf("it did not answer within %v", timeout)}
	}
	return &failure{status: abi.CallUnavailable, code: "model_unavailable", retry: true,
		message: shorten(scrub(describe(err), key))}
}

// describe leaves out what a connection's error says about where it went.
func describe(err error) string {
	var operation *net.OpError
	if errors.As(err, &operation) {
		return "the connection failed: " + operation.Err.Error()
	}
	var request *url.Error
	if errors.As(err, &request) {
		return "the connection failed: " + request.Err.Error()
	}
	if errors.Is(err, errNotWhole) || errors.Is(err, errReported) {
		return plainly.Say(err)
	}
	return "its answer is not understood: " + plainly.Say(err)
}

// failure says what a status means. The words of a server that refuses the key
// are not repeated: they may hold a part of it.
func (e *statusError) failure(key string) *failure {
	f := &failure{status: abi.CallUnavailable, code: "model_unavailable", asked: e.asked}
	said := e.message
	switch e.code {
	case http.StatusUnauthorized, http.StatusForbidden:
		f.code, said = "model_unauthorized", "the provider refuses the API key"
	case http.StatusNotFound:
		f.code = "model_not_found"
	case http.StatusTooManyRequests:
		f.code, f.retry = "model_rate_limited", true
	case http.StatusRequestTimeout:
		f.retry = true
	case http.StatusRequestEntityTooLarge:
		f.status, f.code = abi.CallTooLarge, "model_request_too_large"
	case http.StatusBadRequest, http.StatusUnprocessableEntity:
		f.status, f.code = abi.CallInvalid, "model_rejected"
	}
	if e.tooLong {
		f.status, f.code = abi.CallTooLarge, "context_length_exceeded"
	}
	f.retry = f.retry || e.code >= 500
	f.message = fmt.Sprintf("HTTP %d", e.code)
	if said != "" {
		f.message += ": " + shorten(scrub(said, key))
	}
	return f
}

func shorten(s string) string {
	s = valid(strings.TrimSpace(s))
	if len(s) <= maxMessage {
		return s
	}
	end := maxMessage
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "…"
}
