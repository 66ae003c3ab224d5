package mcp

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway/jsonrpc"
)

// A session of the protocol is a Session of Wharf, which is found by the protocol's id. What the client
// has said when it was opened is in the Session's metadata: so the session goes on after a restart, and
// after it was forgotten because nobody used it.

// refKind is the kind of references that protocol sessions have.
const refKind = "mcp_session"

func refOf(session string) abi.OutsideRef { return abi.OutsideRef{Kind: refKind, Ref: session} }

// newSessionID makes the id of a session, which nobody can guess.
func newSessionID() string { return rand.Text() }

// idleDefault is how long a session is kept that nobody uses.
const idleDefault = 30 * time.Minute

// kept is what a Session's metadata has of the session that it stands for.
type kept struct {
	MCP struct {
		Session string `json:"session"`
		Owner   string `json:"owner"`
		// Initialize are the parameters of that message, in the Session that was made by it.
		Initialize jsontext.Value `json:"initialize,omitzero"`
	} `json:"mcp"`
}

// sessionRequest describes the Session that stands for a request's session.
func (a *Adapter) sessionRequest(q *request, workspace string) (abi.CreateSessionRequest, error) {
	params := q.session.InitializeParams()
	var of kept
	of.MCP.Session, of.MCP.Owner = q.session.ID(), ownerOf(q.caller)
	name := "MCP"
	if params != nil && params.ClientInfo != nil && params.ClientInfo.Name != "" {
		name = "MCP: " + params.ClientInfo.Name
	}
	if q.method == "initialize" {
		var said struct {
			Params jsontext.Value `json:"params"`
		}
		if err := json.Unmarshal(q.posted.body, &said); err != nil {
			return abi.CreateSessionRequest{}, fmt.Errorf("keeping what a client has said: %w", err)
		}
		of.MCP.Initialize = said.Params
	}
	metadata, err := json.Marshal(&of, json.Deterministic(true))
	if err != nil {
		return abi.CreateSessionRequest{}, fmt.Errorf("keeping what a client has said: %w", err)
	}
	return abi.CreateSessionRequest{WorkspaceID: workspace, Name: firstRunes(name, 100), Refs: []abi.OutsideRef{refOf(q.session.ID())}, Metadata: metadata}, nil
}

// firstRunes returns the first n characters of a text.
func firstRunes(s string, n int) string {
	for i := range s {
		if n--; n < 0 {
			return s[:i]
		}
	}
	return s
}

// initialize opens a session, and the Session that it stands for. A caller who may write no Sessions has
// one for as long as this life of the node.
func (a *Adapter) initialize(ctx context.Context, next sdk.MethodHandler, in sdk.Request) (sdk.Result, error) {
	q, err := read("initialize", in)
	if err != nil {
		return nil, err
	}
	res, err := next(ctx, "initialize", in)
	if err != nil || q.session.ID() == "" || q.may("sessions:write") != nil {
		return res, err
	}
	workspace := a.workspaceOf(q, "")
	found, err := a.core.SessionsCalled(ctx, q.caller, workspace, refOf(q.session.ID()))
	if err != nil || len(found.Views) > 0 { // it is opened again
		return res, a.shownOrNil(q, err)
	}
	req, err := a.sessionRequest(q, workspace)
	if err == nil {
		_, err = a.core.CreateSession(ctx, q.caller, nil, req)
	}
	return res, a.shownOrNil(q, err)
}

func (a *Adapter) shownOrNil(q *request, err error) error {
	if err == nil {
		return nil
	}
	return a.shown(q, err)
}

// sessions is the handler of revisions with sessions.
type sessions struct {
	adapter  *Adapter
	features []feature
	sdk      *sdk.StreamableHTTPHandler
	streams  *streams
	asked    askedOf
}

func (a *Adapter) withSessions(features []feature) http.Handler {
	h := &sessions{adapter: a, features: features, streams: newStreams(a)}
	ordinary := a.server(features, false)
	idle := a.has.Idle
	if idle == 0 {
		idle = idleDefault
	}
	h.sdk = sdk.NewStreamableHTTPHandler(func(r *http.Request) *sdk.Server {
		if id, again := r.Context().Value(againKey{}).(string); again {
			return a.serverOf(features, id)
		}
		return ordinary(r)
	}, &sdk.StreamableHTTPOptions{DisableLocalhostProtection: true, MaxRequestBodyBytes: -1, SessionTimeout: idle,
		EventStore: h.streams, Logger: a.log})
	return h
}

// againKey is the key of the id that a session has which is opened again, in a context.
type againKey struct{}

// serverOf returns a server for one session, whose id is given.
func (a *Adapter) serverOf(features []feature, id string) *sdk.Server {
	options := a.options(features, false)
	options.GetSessionID = func() string { return id }
	return a.newServer(features, options)
}

// ServeHTTP implements http.Handler. A session that the SDK does not know is opened again, if there was
// one of that id.
func (h *sessions) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id := r.Header.Get("Mcp-Session-Id")
	if id == "" {
		h.sdk.ServeHTTP(w, r)
		return
	}
	if r.Method == http.MethodDelete {
		h.end(w, r, id)
		return
	}
	if h.asked.give(postedIn(r.Context())) {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	if h.resume(w, r, postedIn(r.Context()), id) {
		return
	}
	first := &unlessUnknown{ResponseWriter: w}
	h.sdk.ServeHTTP(first, r)
	if !first.unknown {
		return
	}
	p := postedIn(r.Context())
	if err := h.reopen(r, p, id); err != nil {
		h.adapter.answerRefused(w, p, err)
		return
	}
	if p.body != nil {
		r.Body = io.NopCloser(bytes.NewReader(p.body))
	}
	h.sdk.ServeHTTP(w, r)
}

// errUnknownSession says that there is no session of an id, or that it is somebody else's: a client
// begins anew.
func errUnknownSession() error {
	return &refusedMessage{http.StatusNotFound, jsonrpc.Errorf(jsonrpc.CodeInvalidRequest, "there is no such session: begin a new one"), nil}
}

// home is the Workspace of a request that no Skill decides: the one that the client has chosen by its URL,
// or else the caller's own.
func (a *Adapter) home(p *posted) string {
	if p.workspace != "" {
		return p.workspace
	}
	return a.core.DefaultWorkspaceOf(p.caller)
}

// find returns the Session that a session of the caller stands for.
func (h *sessions) find(ctx context.Context, p *posted, id string) (*abi.Session, *kept, error) {
	list, err := h.adapter.core.SessionsCalled(ctx, p.caller, h.adapter.home(p), refOf(id))
	if err != nil {
		return nil, nil, err
	}
	for _, v := range list.Views {
		s, of := &abi.Session{}, &kept{}
		if err := json.Unmarshal(v.JSON, s); err != nil {
			return nil, nil, fmt.Errorf("reading session %s: %w", v.ID, err)
		}
		if json.Unmarshal(s.Metadata, of) == nil && of.MCP.Session == id && of.MCP.Owner == ownerOf(p.caller) && len(of.MCP.Initialize) > 0 {
			return s, of, nil
		}
	}
	return nil, nil, errUnknownSession()
}

// reopen opens a session again by the messages that have opened it.
func (h *sessions) reopen(r *http.Request, p *posted, id string) error {
	s, of, err := h.find(r.Context(), p, id)
	if err != nil {
		return err
	}
	if s.State == abi.SessionClosed {
		return errUnknownSession()
	}
	ctx := context.WithValue(r.Context(), againKey{}, id)
	initialize := append(append([]byte(`{"jsonrpc":"2.0","id":"wharf-reopen","method":"initialize","params":`), of.MCP.Initialize...), '}')
	for i, message := range [][]byte{initialize, []byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)} {
		again := r.Clone(ctx)
		again.Method, again.Body = http.MethodPost, io.NopCloser(bytes.NewReader(message))
		again.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
		if i > 0 {
			again.Header.Set("Mcp-Session-Id", id)
		}
		answer := &discarded{header: http.Header{}}
		h.sdk.ServeHTTP(answer, again)
		if answer.status >= http.StatusBadRequest {
			return fmt.Errorf("opening session %s again: the SDK has answered with %d", id, answer.status)
		}
	}
	return nil
}

// end ends a session: its calls are called off, and its Session is closed, if it has one.
func (h *sessions) end(w http.ResponseWriter, r *http.Request, id string) {
	p := postedIn(r.Context())
	done := h.adapter.calls.end(ownSession{ownerOf(p.caller), id})
	defer done()
	s, _, err := h.find(r.Context(), p, id)
	if refused := (*refusedMessage)(nil); err != nil && !errors.As(err, &refused) {
		h.adapter.answerRefused(w, p, err)
		return
	}
	if s != nil && s.State != abi.SessionClosed {
		if _, err := h.adapter.core.CloseSession(r.Context(), p.caller, nil, s.ID); err != nil {
			h.adapter.log.Debug("a session that has ended was not closed", slog.String("session", s.ID), slog.Any("error", err))
		}
		first := &unlessUnknown{ResponseWriter: w}
		if h.sdk.ServeHTTP(first, r); first.unknown { // another life of the node has opened it
			w.WriteHeader(http.StatusNoContent)
		}
		return
	}
	first := &unlessUnknown{ResponseWriter: w}
	if h.sdk.ServeHTTP(first, r); first.unknown {
		h.adapter.answerRefused(w, p, errUnknownSession())
	}
}

// unlessUnknown passes an answer on, unless it says that a session is not known, or is another's.
type unlessUnknown struct {
	http.ResponseWriter
	unknown, begun bool
}

// WriteHeader implements http.ResponseWriter.
func (w *unlessUnknown) WriteHeader(status int) {
	if !w.begun && (status == http.StatusNotFound || status == http.StatusForbidden) {
		w.unknown = true
	}
	if w.begun = true; !w.unknown {
		w.ResponseWriter.WriteHeader(status)
	}
}

// Write implements http.ResponseWriter.
func (w *unlessUnknown) Write(b []byte) (int, error) {
	if w.begun = true; w.unknown {
		return len(b), nil
	}
	return w.ResponseWriter.Write(b)
}

// Unwrap is for http.ResponseController.
func (w *unlessUnknown) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// discarded is an answer of which nobody reads more than the status.
type discarded struct {
	header http.Header
	status int
}

// Header implements http.ResponseWriter.
func (d *discarded) Header() http.Header { return d.header }

// Write implements http.ResponseWriter.
func (d *discarded) Write(b []byte) (int, error) {
	if d.status == 0 {
		d.status = http.StatusOK
	}
	return len(b), nil
}

// WriteHeader implements http.ResponseWriter.
func (d *discarded) WriteHeader(status int) { d.status = status }

// Flush implements http.Flusher.
func (d *discarded) Flush() {}
