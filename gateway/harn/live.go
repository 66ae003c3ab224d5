package harn

import (
	"context"
	"errors"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/gateway/api"
)

// clientParam names the live client that a request comes from.
func clientParam() gateway.Param {
	return gateway.Param{Name: gateway.ClientHeader, In: "header", Schema: text(),
		Doc: "The live client of the Session that the request comes from. One that does not control the Session is refused with 409, and `details` say who does " +
			"(docs/live-sessions.md). A request without it is as any other."}
}

func (a *Adapter) liveRoutes() []gateway.Route {
	const tag, reads, all = "Live sessions", "sessions:read", "/wharf/v1/sessions/{session_id}/clients"
	const controls = " To control the Session takes the scope `sessions:write`."
	rows := []row{
		read(all, "listLiveClients", tag, reads, "LiveClients", "List the clients that are attached to a Session", a.listLiveClients),
		post(all, "attachLiveClient", tag, reads, "AttachClientRequest", "LiveClients", "Attach a client to a Session", statusOK, live(a.core.AttachClient)).
			doc("A Session has any number of observers and at most one controller: a second one is refused with 409, unless it takes over. A client that is attached is taken in again." + controls),
		post(all+"/takeover", "takeoverSession", tag, reads, "TakeoverSessionRequest", "LiveClients", "Have a client control a Session", statusOK, live(a.core.TakeoverSession)).
			doc("A controller that there is becomes an observer." + controls),
		post(all+"/heartbeat", "heartbeatLiveClient", tag, reads, "HeartbeatClientRequest", "LiveClients", "Say that a client is there", statusOK, live(a.core.HeartbeatClient)).
			doc("A client of which nothing is heard for two minutes counts as gone. What is said anew of it is an event; a heartbeat alone is none."),
		post(all+"/detach", "detachLiveClient", tag, reads, "DetachClientRequest", "LiveClients", "Detach a client from a Session", statusOK, live(a.core.DetachClient)).
			doc("When it was the controller, nobody controls the Session then."),
	}
	for i := range rows {
		rows[i].Unversioned, rows[i].Idempotent = true, false
	}
	return routes(rows...)
}

func liveSchemas() map[string]schema {
	mode := enum(abi.LiveObserver, abi.LiveController)
	return map[string]schema{
		"LiveClient": of[abi.LiveClient]("A client that is attached to a Session.", but(schema{"mode": mode, "metadata": anyObject()})),
		"LiveClients": of[abi.LiveClients]("The clients of a Session, and what the request has changed of them.",
			null("previous_controller_id", "active_controller_id")),
		"AttachClientRequest":    of[abi.AttachClientRequest]("Which client is there, and as what.", but(schema{"mode": mode, "metadata": anyObject()})),
		"TakeoverSessionRequest": of[abi.TakeoverSessionRequest]("Which client is to control the Session.", but(schema{"metadata": anyObject()})),
		"DetachClientRequest":    of[abi.DetachClientRequest]("Which client leaves."),
		"HeartbeatClientRequest": of[abi.HeartbeatClientRequest]("Which client is there.", but(schema{"metadata": anyObject()})),
	}
}

// liveMembers describes what the commands about live clients have in common.
func liveMembers() aspect {
	return func(s schema) {
		for name := range s["properties"].(schema) {
			switch name {
			case "mode":
				but(schema{name: enum(abi.LiveObserver, abi.LiveController)})(s)
			case "metadata":
				but(schema{name: anyObject()})(s)
			}
		}
	}
}

// changeClients is one change of the clients of a Session.
type changeClients[T any] func(context.Context, *api.Caller, string, T) (*abi.LiveClients, error)

func live[T any](do changeClients[T]) gateway.Handler {
	return func(r *gateway.Request) error {
		var req T
		if _, err := r.Decode(&req); err != nil {
			return err
		}
		all, err := do(r.Context(), r.Caller, r.PathValue("session_id"), req)
		if err != nil {
			return err
		}
		return sendValue(r, statusOK, all)
	}
}

func (a *Adapter) listLiveClients(r *gateway.Request) error {
	all, err := a.core.LiveClients(r.Context(), r.Caller, r.PathValue("session_id"))
	if err != nil {
		return err
	}
	return sendValue(r, statusOK, all)
}

// The members of commands about live clients.
type (
	attachCommand struct {
		SessionID string                  `json:"session_id,omitzero" doc:"Default: that of the socket."`
		Request   abi.AttachClientRequest `json:",embed"`
	}
	takeoverCommand struct {
		SessionID string                     `json:"session_id,omitzero" doc:"Default: that of the socket."`
		Request   abi.TakeoverSessionRequest `json:",embed"`
	}
	detachCommand struct {
		Reason string `json:"reason,omitzero" doc:"Why, at most 256 characters."`
	}
	heartbeatCommand struct {
		Metadata jsontext.Value `json:"metadata,omitzero" doc:"What the client says of itself, in the place of what it said."`
	}
)

// attached is the live client that a socket is.
type attached struct {
	session, client string
	number          uint64
	caller          *api.Caller // who attached it
}

// attachClient makes the socket a live client: what it does from then on comes from that client,
// which is detached when the socket is closed.
func (a *Adapter) attachClient(q *request, b *attachCommand) ([]byte, error) {
	session, err := q.mayBe(b.SessionID, b.Request.ClientID)
	if err != nil {
		return nil, err
	}
	b.Request.Held = true
	all, err := a.core.AttachClient(q.context(), q.caller, session, b.Request)
	return q.became(session, b.Request.ClientID, all, err)
}

// takeoverClient is attachClient for a client that is to control the Session.
func (a *Adapter) takeoverClient(q *request, b *takeoverCommand) ([]byte, error) {
	session, err := q.mayBe(b.SessionID, b.Request.ClientID)
	if err != nil {
		return nil, err
	}
	b.Request.Held = true
	all, err := a.core.TakeoverSession(q.context(), q.caller, session, b.Request)
	return q.became(session, b.Request.ClientID, all, err)
}

// mayBe returns the Session that a socket is to be a client of. It is one client at most.
func (q *request) mayBe(session, client string) (string, error) {
	session, err := q.sessionOr(session)
	if is := q.socket.is; err == nil && is != nil && (is.session != session || is.client != client) {
		return "", abi.Errorf(abi.CodeConflict, "this socket is the client %q of session %s: detach it first", is.client, is.session)
	}
	return session, err
}

// became notes which client the socket is, and acknowledges.
func (q *request) became(session, client string, all *abi.LiveClients, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	q.socket.is = &attached{session: session, client: client, number: all.Attachment, caller: q.caller}
	return q.clients(all, nil)
}

func (q *request) clients(all *abi.LiveClients, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(all)
	if err != nil {
		return nil, err
	}
	return ack(q.ID, text, false), nil
}

func (a *Adapter) detachClient(q *request, b *detachCommand) ([]byte, error) {
	is := q.socket.is
	if is == nil {
		return nil, abi.Errorf(abi.CodeConflict, "this socket is no client of a session: attach it first")
	}
	all, err := a.core.DetachClient(q.context(), q.caller, is.session, abi.DetachClientRequest{ClientID: is.client, Reason: b.Reason, Attachment: is.number})
	if gone, is := errors.AsType[*abi.Error](err); err == nil || is && gone.Code == abi.CodeResourceNotFound {
		q.socket.is = nil
	}
	return q.clients(all, err)
}

func (a *Adapter) heartbeatClient(q *request, b *heartbeatCommand) ([]byte, error) {
	is := q.socket.is
	if is == nil {
		return nil, abi.Errorf(abi.CodeConflict, "this socket is no client of a session: attach it first")
	}
	req := abi.HeartbeatClientRequest{ClientID: is.client, Metadata: b.Metadata}
	return q.clients(a.core.HeartbeatClient(q.context(), q.caller, is.session, req))
}

// liveClient is the live client that commands come from, "" for none.
func (s *socket) liveClient() string {
	if s.is != nil {
		return s.is.client
	}
	return s.named
}

// leave detaches the client that the socket was.
func (s *socket) leave() {
	if s.is == nil {
		return
	}
	req := abi.DetachClientRequest{ClientID: s.is.client, Reason: abi.DetachedExit, Attachment: s.is.number}
	if _, err := s.adapter.core.DetachClient(s.ws.Context(), s.is.caller, s.is.session, req); err != nil {
		s.ws.Shown(err) // logged, if it is the node's affair
	}
}
