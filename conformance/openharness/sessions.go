package openharness

import (
	"net/http"
	"strings"

	"github.com/wharf-dev/wharf/conformance/internal/answers"
)

func sessionChecks() []Check {
	return []Check{
		{ID: "create.named", Title: "A session is active, has its name and says where to connect", Operation: "sessions.create", run: func(p *probe) {
			a := p.newSession()
			p.equal("session.name", a.get("session.name"), p.name)
			p.equal("session.status", a.get("session.status"), "active")
			p.equal("session.harness_id", a.get("session.harness_id"), p.harness)
			p.equal("session.message_count", a.get("session.message_count"), 0)
			if url := p.text(a, "connect_url"); !strings.Contains(url, p.text(a, "session.id")) {
				p.fail("connect_url is %q, and does not name the session", url)
			}
		}},
		{ID: "create.name", Title: "A name of more than 100 characters is refused", Operation: "sessions.create", run: func(p *probe) {
			p.invalid(p.post("sessions", object{"name": strings.Repeat("n", 101)}))
		}},
		{ID: "create.agent", Title: "A session with an agent that is not there is refused", Operation: "sessions.create", run: func(p *probe) {
			p.want(p.post("sessions", object{"agent_id": p.name}), 400, 404, 422)
		}},
		{ID: "get.same", Title: "A session is shown as it was made", Operation: "sessions.get", run: func(p *probe) {
			a := p.newSession()
			p.equal("session", p.want(p.get("sessions/"+p.text(a, "session.id")), 200).get("session.id"), a.get("session.id"))
		}},
		{ID: "get.unknown", Title: "A session that is not there is 404", Operation: "sessions.get", run: func(p *probe) { p.missing(p.get("sessions/" + p.name)) }},
		{ID: "list.has", Title: "A session is listed, and narrowed by status", Operation: "sessions.list", run: func(p *probe) {
			id := p.text(p.newSession(), "session.id")
			p.lists("sessions", "data", id, true)
			p.lists("sessions?status=active", "data", id, true)
			p.lists("sessions?status=ended", "data", id, false)
		}},
		{ID: "list.agent", Title: "Sessions are narrowed by agent", Operation: "sessions.list", run: func(p *probe) {
			if !p.supported[Agents] {
				p.skip("the harness has no agents")
			}
			agent, other := p.text(p.newAgent(p.name), "agent.id"), p.text(p.newAgent(p.name+"-2"), "agent.id")
			a := p.ok(p.post("sessions", object{"name": p.name, "agent_id": agent}))
			id := p.text(a, "session.id")
			p.later("sessions/" + id)
			p.lists("sessions?agent_id="+agent, "data", id, true)
			p.lists("sessions?agent_id="+other, "data", id, false)
		}},
		{ID: "list.pages", Title: "Sessions are listed page by page", Operation: "sessions.list", run: func(p *probe) {
			p.newSession()
			p.newSession()
			p.pages("sessions")
		}},
		{ID: "update.name", Title: "A session is named otherwise", Operation: "sessions.update", run: func(p *probe) {
			at := "sessions/" + p.text(p.newSession(), "session.id")
			p.ok(p.patch(at, object{"name": p.name + "-2"}))
			p.equal("session.name", p.want(p.get(at), 200).get("session.name"), p.name+"-2")
		}},
		{ID: "update.status", Title: "A session is not set to a status that it cannot be set to", Operation: "sessions.update", run: func(p *probe) {
			p.invalid(p.patch("sessions/"+p.text(p.newSession(), "session.id"), object{"status": "nonsense"}))
		}},
		{ID: "resume.paused", Title: "A session is paused and resumed", Operation: "sessions.resume", run: func(p *probe) {
			at := "sessions/" + p.text(p.newSession(), "session.id")
			p.equal("session.status", p.ok(p.patch(at, object{"status": "paused"})).get("session.status"), "paused")
			p.equal("session.status", p.want(p.get(at), 200).get("session.status"), "paused")
			a := p.ok(p.post(at+"/resume", nil))
			p.equal("session.status", a.get("session.status"), "active")
			p.text(a, "connect_url")
		}},
		{ID: "end.ended", Title: "A session that was ended takes no messages", Operation: "sessions.end", run: func(p *probe) {
			at := "sessions/" + p.text(p.newSession(), "session.id")
			p.want(p.remove(at), 204)
			if a := p.want(p.get(at), 200, 404, 410); a.status == http.StatusOK {
				p.equal("session.status", a.get("session.status"), "ended")
			}
			p.want(p.post(at+"/message", object{"content": hello}), 400, 404, 409, 410, 422)
		}},
		{ID: "end.unknown", Title: "A session that is not there cannot be ended", Operation: "sessions.end", run: func(p *probe) { p.missing(p.remove("sessions/" + p.name)) }},
		{ID: "history.empty", Title: "The history of a new session is empty", Operation: "sessions.history", run: func(p *probe) {
			a := p.want(p.get("sessions/"+p.text(p.newSession(), "session.id")+"/history"), 200)
			p.equal("total", a.get("total"), 0)
		}},
		{ID: "history.since", Title: "The history of a session has nothing from a time that is to come", Operation: "sessions.history", NeedsModel: true, run: func(p *probe) {
			at := p.answered()
			p.equal("data", len(p.list(p.want(p.get(at+"/history?since=2999-01-01T00:00:00Z"), 200), "data")), 0)
		}},
		{ID: "history.unknown", Title: "A session that is not there has no history", Operation: "sessions.history", run: func(p *probe) {
			p.missing(p.get("sessions/" + p.name + "/history"))
		}},
		{ID: "message.empty", Title: "A message without content is refused", Operation: "sessions.sendMessage", run: func(p *probe) {
			p.invalid(p.post("sessions/"+p.text(p.newSession(), "session.id")+"/message", object{"content": ""}))
		}},
		{ID: "message.answered", Title: "A message is answered, and both are in the history", Operation: "sessions.sendMessage", NeedsModel: true, run: func(p *probe) {
			at := p.answered()
			a := p.want(p.get(at+"/history"), 200)
			p.equal("total", a.get("total"), 2)
			if roles := []any{a.get("data.0.role"), a.get("data.1.role")}; roles[0] == roles[1] {
				p.fail("both messages of the history have the role %v", roles[0])
			}
			p.equal("session.message_count", p.want(p.get(at), 200).get("session.message_count"), 2)
		}},
		{ID: "message.stream", Title: "The answer to a message is streamed, and ends with done", Operation: "sessions.sendMessageStream", NeedsModel: true, Slow: true, run: func(p *probe) {
			at := "sessions/" + p.text(p.newSession(), "session.id")
			frames := p.open(http.MethodPost, at+"/message/stream", "ExecutionEvent", object{"content": hello}).all()
			if len(frames) == 0 || !frames[len(frames)-1].is("done") {
				p.fail("the stream does not end with done: %s", answers.Show(dataOf(frames)))
			}
			if textOf(frames) == "" {
				p.fail("the stream has no text")
			}
		}},
		{ID: "fork.empty", Title: "A fork is another session, and says of which", Operation: "sessions.fork", run: func(p *probe) {
			id := p.text(p.newSession(), "session.id")
			a := p.ok(p.post("sessions/"+id+"/fork", object{"new_name": p.name + "-2"}))
			p.later("sessions/" + p.text(a, "session.id"))
			p.equal("forked_from", a.get("forked_from"), id)
			p.equal("session.name", a.get("session.name"), p.name+"-2")
			if a.get("session.id") == id {
				p.fail("the fork has the id of the session that it was made of")
			}
		}},
		{ID: "fork.history", Title: "A fork has the messages of its session", Operation: "sessions.fork", NeedsModel: true, Slow: true, run: func(p *probe) {
			a := p.ok(p.post(p.answered()+"/fork", object{}))
			id := p.text(a, "session.id")
			p.later("sessions/" + id)
			p.equal("message_count", a.get("message_count"), 2)
			p.equal("total", p.want(p.get("sessions/"+id+"/history"), 200).get("total"), 2)
		}},
		{ID: "connect.upgrade", Title: "A session is connected to by a WebSocket of openharness.v1", Operation: "sessions.connect", run: connect},
	}
}

func (p *probe) newSession() answer {
	a := p.ok(p.post("sessions", object{"name": p.name}))
	p.later("sessions/" + p.text(a, "session.id"))
	return a
}

// answered returns where a session is in which a message was answered.
func (p *probe) answered() string {
	at := "sessions/" + p.text(p.newSession(), "session.id")
	a := p.want(p.post(at+"/message", object{"content": hello}), 200, 201)
	p.equal("message.role", a.get("message.role"), "user")
	p.equal("message.content", a.get("message.content"), hello)
	p.equal("response.role", a.get("response.role"), "assistant")
	p.text(a, "response.content")
	return at
}

// connect makes the handshake of a WebSocket, with the key and the answer of RFC 6455's example.
func connect(p *probe) {
	path := "sessions/" + p.text(p.newSession(), "session.id") + "/connect"
	res := p.openAny(http.MethodGet, path, nil, header("Accept", ""), header("Connection", "Upgrade"), header("Upgrade", "websocket"),
		header("Sec-WebSocket-Version", "13"), header("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="), header("Sec-WebSocket-Protocol", "openharness.v1"))
	defer res.Body.Close()
	p.want(answer{to: "GET " + path, status: res.StatusCode}, http.StatusSwitchingProtocols)
	p.equal("Sec-WebSocket-Accept", res.Header.Get("Sec-WebSocket-Accept"), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
	p.equal("Sec-WebSocket-Protocol", res.Header.Get("Sec-WebSocket-Protocol"), "openharness.v1")
}
