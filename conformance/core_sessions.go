package conformance

import (
	"fmt"
	"slices"

	"github.com/wharf-dev/wharf/conformance/internal/answers"
)

func sessionChecks() []Check {
	const session, message, rest = "Session", "Message, part, and artifact", "REST"
	return []Check{
		{ID: "session.create", Title: "a Session is created and can be read back", Section: session, Strength: Must, run: createSession},
		{ID: "session.list", Title: "a new Session appears in its Workspace's list", Section: session, Strength: Must, run: listSession},
		{ID: "session.metadata", Title: "metadata comes back as it was given", Section: "Resource model", Strength: Must, run: keepsMetadata},
		{ID: "session.close", Title: "close makes a Session CLOSED", Section: rest, Strength: Must, run: closeSession},
		{ID: "session.fork", Title: "a fork is another Session with the same transcript so far", Section: rest, Strength: Must, run: forkSession},
		{ID: "session.truncate", Title: "truncate keeps the first turns and drops the rest in place", Section: session, Strength: Must, run: truncateSession},
		{ID: "message.append", Title: "an appended Message can be read back", Section: message, Strength: Must, run: appendMessage},
		{ID: "message.parts", Title: "parts of every core type come back in order and unchanged", Section: message, Strength: Must, run: keepsParts},
		{ID: "message.order", Title: "the order of Messages is kept", Section: session, Strength: Must, run: keepsOrder},
	}
}

// say is a user Message with one public text part.
func say(text string) object {
	return object{"role": "user", "parts": []any{object{"type": "text", "text": text, "visibility": "public"}}}
}

// newSession makes a Session for one check and returns its id.
func (p *probe) newSession() string {
	return p.text(p.want(p.post("/v1/sessions", object{"workspace_id": p.workspace}), 201, 200).doc, "id")
}

// append appends a Message of the given text and returns the Message.
func (p *probe) append(session, text string) object {
	return p.want(p.post("/v1/sessions/"+session+"/messages", object{"message": say(text)}), 201, 200).doc
}

// messageIDs returns the transcript of a Session as ids, oldest first.
func (p *probe) messageIDs(session string) []string { return p.ids(p.messages(session)) }

// messages returns the transcript of a Session, oldest first. The documents name
// no direction for this list, so it is told by created_at and, for equal times,
// taken as it comes.
func (p *probe) messages(session string) []object {
	all := p.all("/v1/sessions/" + session + "/messages?limit=200")
	if n := len(all); n > 1 && p.text(all[0], "created_at") > p.text(all[n-1], "created_at") {
		slices.Reverse(all)
	}
	return all
}

// all reads every page of a list. The path holds a query.
func (p *probe) all(path string) []object {
	var docs []object
	for page, last := path, ""; ; {
		r := p.want(p.get(page), 200)
		docs = append(docs, r.data()...)
		cursor := r.next()
		if cursor == "" {
			return docs
		}
		if cursor == last {
			p.fail("GET %s: the cursor leads to itself", page)
		}
		page, last = path+"&cursor="+escape(cursor), cursor
	}
}

func (p *probe) ids(docs []object) []string {
	ids := []string{}
	for _, doc := range docs {
		ids = append(ids, p.text(doc, "id"))
	}
	return ids
}

func createSession(p *probe) {
	created := p.want(p.post("/v1/sessions", object{"workspace_id": p.workspace}), 201).doc
	p.oneOf(created, "object", "session")
	p.equal("workspace_id", created["workspace_id"], p.workspace)
	p.oneOf(created, "state", "ACTIVE", "IDLE", "PAUSED", "CLOSED", "FAILED")
	if created["transcript"] == nil {
		p.fail("the Session has no transcript summary or link")
	}
	read := p.want(p.get("/v1/sessions/"+p.text(created, "id")), 200).doc
	for _, member := range []string{"id", "object", "created_at", "workspace_id"} {
		p.equal(member+" read back", read[member], created[member])
	}
}

func listSession(p *probe) {
	session := p.newSession()
	if !slices.Contains(p.ids(p.all("/v1/sessions?limit=200&workspace_id="+escape(p.workspace))), session) {
		p.fail("Session %s is not in the list", session)
	}
}

func keepsMetadata(p *probe) {
	given := object{"team": "conformance", "nested": object{"list": []any{1.0, "two", nil, true}}, "ünïcode": "✓"}
	r := p.want(p.post("/v1/sessions", object{"workspace_id": p.workspace, "metadata": given}), 201, 200)
	read := p.want(p.get("/v1/sessions/"+p.text(r.doc, "id")), 200).doc
	p.equal("metadata", read["metadata"], given)
}

// offered ends the check when the server does not have an operation.
func (p *probe) offered(r response) response {
	if r.status == 501 || r.status == 405 {
		p.skip("%s is not offered: %d %s", r.to, r.status, answers.Excerpt(r.body))
	}
	return r
}

func closeSession(p *probe) {
	path := "/v1/sessions/" + p.newSession()
	p.oneOf(p.want(p.offered(p.post(path+"/close", nil)), 200).doc, "state", "CLOSED")
	p.oneOf(p.want(p.get(path), 200).doc, "state", "CLOSED")
}

func forkSession(p *probe) {
	source := p.newSession()
	for i := range 3 {
		p.append(source, fmt.Sprintf("message %d", i))
	}
	before := p.contents(source)
	fork := p.want(p.offered(p.post("/v1/sessions/"+source+"/fork", object{})), 201, 200).doc
	id := p.text(fork, "id")
	if id == source {
		p.fail("the fork has the id of its source")
	}
	p.equal("parent_session_id of the fork", fork["parent_session_id"], source)
	p.equal("the fork's transcript", p.contents(id), before)
	p.append(id, "only in the fork")
	p.equal("the source's transcript after a write to the fork", p.contents(source), before)
}

// contents returns the parts of a Session's Messages, oldest first.
func (p *probe) contents(session string) []any {
	var all []any
	for _, m := range p.messages(session) {
		all = append(all, m["parts"])
	}
	return all
}

func truncateSession(p *probe) {
	session := p.newSession()
	for i := range 4 {
		p.append(session, fmt.Sprintf("turn %d", i))
	}
	before := p.messageIDs(session)
	r := p.want(p.offered(p.post("/v1/sessions/"+session+"/truncate", object{"keep_turns": 2})), 200)
	p.equal("the id of the truncated Session", r.doc["id"], session)
	p.equal("the transcript after truncate", p.messageIDs(session), before[:2])
	added := p.text(p.append(session, "a new turn"), "id")
	p.equal("the transcript after a write to it", p.messageIDs(session), append(before[:2:2], added))
}

func appendMessage(p *probe) {
	session := p.newSession()
	given := say("Grüße, 世界 🌍")
	created := p.want(p.post("/v1/sessions/"+session+"/messages", object{"message": given}), 201).doc
	p.oneOf(created, "object", "message")
	p.oneOf(created, "role", "user")
	p.equal("parts", created["parts"], given["parts"])
	read := p.want(p.get("/v1/messages/"+p.text(created, "id")), 200).doc
	for _, member := range []string{"id", "role", "parts", "created_at"} {
		p.equal(member+" read back", read[member], created[member])
	}
}

func keepsParts(p *probe) {
	session := p.newSession()
	parts := []any{
		object{"type": "text", "text": "first\nsecond\t\"quoted\" \\ ✓", "visibility": "public"},
		object{"type": "json", "value": object{"n": 1.5, "list": []any{nil, true, "x"}}, "visibility": "public"},
		object{"type": "tool_call", "tool_call_id": "call_1", "name": "search", "input": object{"q": "harbour"}, "visibility": "public"},
		object{"type": "tool_result", "tool_call_id": "call_1", "output": []any{"a", "b"}, "status": "ok", "visibility": "public"},
		object{"type": "file_ref", "uri": "file:///notes.txt", "mime_type": "text/plain", "visibility": "public"},
	}
	r := p.want(p.post("/v1/sessions/"+session+"/messages", object{"message": object{"role": "assistant", "parts": parts}}), 201, 200)
	got, _ := p.want(p.get("/v1/messages/"+p.text(r.doc, "id")), 200).doc["parts"].([]any)
	if len(got) != len(parts) {
		p.fail("%d parts came back, want %d", len(got), len(parts))
	}
	for i, want := range parts {
		part, _ := got[i].(object)
		for member, value := range want.(object) {
			p.equal(fmt.Sprintf("parts[%d].%s", i, member), part[member], value)
		}
	}
}

func keepsOrder(p *probe) {
	session := p.newSession()
	var want []string
	for i := range 12 {
		want = append(want, p.text(p.append(session, fmt.Sprintf("message %d", i)), "id"))
	}
	got := p.ids(p.all("/v1/sessions/" + session + "/messages?limit=5"))
	if slices.Reverse(want); slices.Equal(got, want) {
		p.note("newest first")
		return
	}
	slices.Reverse(want)
	p.equal("the transcript", got, want)
	p.note("oldest first")
}
