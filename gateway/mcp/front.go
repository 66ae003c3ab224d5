package mcp

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/auth"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/gateway/api"
	"github.com/wharf-dev/wharf/gateway/jsonrpc"
)

// posted is what the node knows of one HTTP request. The SDK gives the context of the request that has
// opened a session to all messages that come later: what belongs to each comes with it in this.
type posted struct {
	caller    *api.Caller
	workspace string
	live      context.Context // ends when the node drains
	id        jsontext.Value  // of the message, nil for none
	method    string
	body      []byte
	tool      *offered // that is called, where it was looked up already

	mu     sync.Mutex
	stream string // the SDK's name for the stream that answers it
}

// streamID names the stream that answers the message, "" where there is none.
func (p *posted) streamID() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stream
}

func (p *posted) setStream(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stream = id
}

// postedKey is the key of a request's *posted in its context, and in what the SDK keeps with a message.
const postedKey = "wharf"

type postedInContext struct{}

// postedIn returns what is known of the HTTP request that has this context, nil of none.
func postedIn(ctx context.Context) *posted {
	p, _ := ctx.Value(postedInContext{}).(*posted)
	return p
}

// front is before a handler of the SDK: it reads the message, refuses what no handler should have to
// read, and hands the caller, whom the gateway has authenticated, to the SDK in the one place that the SDK
// keeps with each message. So the SDK also refuses a session to whoever did not open it.
func (a *Adapter) front(h http.Handler, stateless bool) http.Handler {
	inner := auth.RequireBearerToken(tokenOf, &auth.RequireBearerTokenOptions{AllowMissingExpiration: true})(h)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p := &posted{caller: gateway.CallerOf(r.Context()), workspace: r.URL.Query().Get("workspace"), live: gateway.LiveOf(r.Context())}
		if r.Method == http.MethodPost {
			err := p.read(r)
			if err == nil {
				err = a.checkHeaders(r.Context(), r, p)
			}
			if err != nil {
				a.answerRefused(w, p, err)
				return
			}
			if q := a.plain(r, p); stateless && q != nil {
				a.answerPlain(r.Context(), w, q)
				return
			}
			w = &unhurried{ResponseWriter: w, quick: p.method != "tools/call"}
		}
		r = r.WithContext(context.WithValue(r.Context(), postedInContext{}, p))
		inner.ServeHTTP(w, r)
	})
}

func tokenOf(ctx context.Context, _ string, _ *http.Request) (*auth.TokenInfo, error) {
	p := postedIn(ctx)
	if p == nil || p.caller == nil {
		return nil, auth.ErrInvalidToken
	}
	return &auth.TokenInfo{UserID: ownerOf(p.caller), Extra: map[string]any{postedKey: p}}, nil
}

// read reads the message of a request, and puts it back.
func (p *posted) read(r *http.Request) error {
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return readingFailed(err)
	}
	if err := p.look(text); err != nil {
		return err
	}
	p.body = text
	r.Body = io.NopCloser(bytes.NewReader(text))
	return nil
}

// refusedMessage is an error that a message is answered with, instead of by a handler.
type refusedMessage struct {
	status int
	told   *jsonrpc.Error
	id     jsontext.Value
}

// Error implements the error interface.
func (e *refusedMessage) Error() string { return e.told.Error() }

// readingFailed says why a body could not be read.
func readingFailed(err error) error {
	if large, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return &refusedMessage{http.StatusRequestEntityTooLarge, jsonrpc.Errorf(jsonrpc.CodeInvalidRequest, "a message has at most %d bytes", large.Limit), nil}
	}
	return &refusedMessage{http.StatusBadRequest, jsonrpc.Errorf(jsonrpc.CodeParse, "the message could not be read"), nil}
}

// look reads of a message what the node has to know.
func (p *posted) look(text []byte) error {
	bad := func(code int, format string, args ...any) error {
		return &refusedMessage{http.StatusBadRequest, jsonrpc.Errorf(code, format, args...), p.id}
	}
	if abi.TooDeep(text, abi.MaxDepth) >= 0 {
		return bad(jsonrpc.CodeParse, "the message nests deeper than %d levels", abi.MaxDepth)
	}
	message := jsontext.Value(text)
	if !message.IsValid() {
		return bad(jsonrpc.CodeParse, "the message is not JSON")
	}
	if message.Kind() == '[' {
		return bad(jsonrpc.CodeInvalidRequest, "batches are not taken: send one message at a time")
	}
	var of struct {
		Version string         `json:"jsonrpc"`
		ID      jsontext.Value `json:"id"`
		Method  string         `json:"method"`
	}
	if err := json.Unmarshal(text, &of); err != nil || of.Version != "2.0" {
		return bad(jsonrpc.CodeInvalidRequest, "the message is none of JSON-RPC 2.0")
	}
	switch of.ID.Kind() {
	case 0, '"', '0':
		p.id, p.method = of.ID, of.Method
		return nil
	}
	return bad(jsonrpc.CodeInvalidRequest, "an id is a string or a number")
}

// answerRefused answers a message instead of a handler. An error that is no refusal is a fault of the node's
// own: it is logged, and not told.
func (a *Adapter) answerRefused(w http.ResponseWriter, p *posted, err error) {
	if refused, ok := errors.AsType[*refusedMessage](err); ok {
		writeRefused(w, refused)
		return
	}
	status := http.StatusInternalServerError
	if is, ok := errors.AsType[*abi.Error](err); ok {
		status = is.HTTPStatus()
	}
	told := a.shown(&request{method: p.method}, err)
	writeRefused(w, &refusedMessage{status, inOwnWords(told), p.id})
}

func writeRefused(w http.ResponseWriter, refused *refusedMessage) {
	id := refused.id
	if len(id) == 0 {
		id = jsontext.Value("null")
	}
	w.Header().Set("Content-Type", gateway.MediaJSON)
	w.WriteHeader(refused.status)
	_, _ = w.Write(encoded(struct {
		Version string         `json:"jsonrpc"`
		ID      jsontext.Value `json:"id"`
		Error   *jsonrpc.Error `json:"error"`
	}{"2.0", id, refused.told}))
}

// unhurried is the answer to a message. The SDK flushes each event, and what was flushed is a stream, which
// takes its connection along. An answer that is one event is none: it goes out when the handler returns,
// which it does right after the response.
type unhurried struct {
	http.ResponseWriter
	quick   bool // the response comes at once: what primes its stream can wait for it
	put     []byte
	flushed bool
}

// Write implements http.ResponseWriter.
func (w *unhurried) Write(b []byte) (int, error) {
	w.put = b[:min(len(b), 256)]
	return w.ResponseWriter.Write(b)
}

// FlushError is for http.ResponseController.
func (w *unhurried) FlushError() error {
	if !w.flushed && (isResponse(w.put) || w.quick && bytes.HasPrefix(w.put, []byte("event: prime\n"))) {
		return nil
	}
	w.flushed = true
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// isResponse reports whether an event is an answer, and not what comes before it. The SDK writes the id
// of a message before anything else of it.
func isResponse(event []byte) bool {
	_, data, is := bytes.Cut(event, []byte("data: "))
	return is && bytes.HasPrefix(data, []byte(`{"jsonrpc":"2.0","id":`)) && (bytes.Contains(data, []byte(`"result":`)) || bytes.Contains(data, []byte(`"error":`))) &&
		!bytes.Contains(data, []byte(`"method":`))
}

// Unwrap is for http.ResponseController.
func (w *unhurried) Unwrap() http.ResponseWriter { return w.ResponseWriter }
