package conformance

import (
	"crypto/rand"
	"slices"
	"strings"
	"sync"
)

func idempotencyChecks() []Check {
	const section = "Idempotency"
	return []Check{
		{ID: "idempotency.task", Title: "a retried submit answers with the same Task", Section: section, Strength: Must, run: retriedTask},
		{ID: "idempotency.task-later", Title: "so does a retry after the Task has ended", Section: section, Strength: Must, run: retriedLater},
		{ID: "idempotency.equivalent", Title: "a body that differs in spelling only is the same body", Section: section, Strength: Must, run: equivalentBody},
		{ID: "idempotency.reused", Title: "another body under the same key gets 409 idempotency_key_reused", Section: section, Strength: Must, run: reusedKey},
		{ID: "idempotency.concurrent", Title: "concurrent retries make one Task", Section: section, Strength: Must, run: concurrentRetries},
		{ID: "idempotency.message", Title: "a retried append makes one Message", Section: section, Strength: Must, run: retriedMessage},
		{ID: "idempotency.session", Title: "a retried create makes one Session", Section: section, Strength: Must, run: retriedSession},
		{ID: "idempotency.cancel", Title: "a retried cancel answers with the same Task, whatever its input is", Section: section, Strength: Must, run: retriedCancel},
		{ID: "idempotency.target", Title: "the same key on another target is another key", Section: section, Strength: Must, run: otherTarget},
		{ID: "idempotency.length", Title: "a key longer than 255 characters gets 400", Section: "REST: Idempotency-Key", Strength: Should, run: longKey},
	}
}

func keyed(key string) map[string]string { return map[string]string{"Idempotency-Key": key} }

// keyed posts with an Idempotency-Key.
func (p *probe) keyed(path, key string, body any) response {
	return p.do(request{method: "POST", path: path, body: body, header: keyed(key)})
}

func retriedTask(p *probe) {
	session, key := p.newSession(), rand.Text()
	path := "/v1/sessions/" + session + "/tasks"
	first := p.want(p.keyed(path, key, p.order(say(sampleText))), 202, 200).doc
	second := p.want(p.keyed(path, key, p.order(say(sampleText))), 202, 200).doc
	p.equal("id of the retried Task", second["id"], p.text(first, "id"))
	p.equal("input of the retried Task", second["input"], first["input"])
	p.equal("the Session's Tasks", p.ids(p.all(path+"?limit=200")), []string{p.text(first, "id")})
}

func retriedLater(p *probe) {
	session, key := p.newSession(), rand.Text()
	path := "/v1/sessions/" + session + "/tasks"
	id := p.text(p.want(p.keyed(path, key, p.order(say(sampleText))), 202, 200).doc, "id")
	p.settled(id)
	before := len(p.taskEvents(id))
	again := p.want(p.keyed(path, key, p.order(say(sampleText))), 202, 200).doc
	p.equal("id of the retried Task", again["id"], id)
	p.equal("how many events the Task has", len(p.taskEvents(id)), before)
}

func equivalentBody(p *probe) {
	session, key := p.newSession(), rand.Text()
	path := "/v1/sessions/" + session + "/tasks"
	first := p.want(p.keyed(path, key, []byte(`{"input":{"text":"caf\u00e9 \u2713","depth":10},"metadata":{"a":1,"b":2}}`)), 202, 200).doc
	second := p.want(p.keyed(path, key, []byte("{\"metadata\": {\"b\": 2.0, \"a\": 1},\r\n \"input\": {\"depth\": 1e1, \"text\": \"café ✓\"}}\n")), 202, 200).doc
	p.equal("id of the retried Task", second["id"], p.text(first, "id"))
}

func reusedKey(p *probe) {
	session, key := p.newSession(), rand.Text()
	tasks, messages := "/v1/sessions/"+session+"/tasks", "/v1/sessions/"+session+"/messages"
	p.want(p.keyed(tasks, key, p.order(say("one"))), 202, 200)
	p.wantError(p.keyed(tasks, key, p.order(say("two"))), 409, "idempotency_key_reused")
	p.want(p.keyed(messages, key, object{"message": say("one")}), 201, 200)
	p.wantError(p.keyed(messages, key, object{"message": say("two")}), 409, "idempotency_key_reused")
}

func concurrentRetries(p *probe) {
	session, key := p.newSession(), rand.Text()
	path := "/v1/sessions/" + session + "/tasks"
	answers := make([]response, 8)
	errs := make([]error, len(answers))
	var wg sync.WaitGroup
	for i := range answers {
		wg.Go(func() {
			answers[i], errs[i] = p.send(p.ctx, request{method: "POST", path: path, body: p.order(say(sampleText)), header: keyed(key)})
		})
	}
	wg.Wait()
	var ids []string
	for i, r := range answers {
		if errs[i] != nil {
			p.fail("retry %d: %v", i, errs[i])
		}
		if p.want(r, 202, 200, 409).status < 400 {
			ids = append(ids, p.text(r.doc, "id"))
		}
	}
	slices.Sort(ids)
	if ids = slices.Compact(ids); len(ids) != 1 {
		p.fail("%d retries at once were answered with %d Tasks", len(answers), len(ids))
	}
	p.equal("the Session's Tasks", p.ids(p.all(path+"?limit=200")), ids)
}

func retriedMessage(p *probe) {
	session, key := p.newSession(), rand.Text()
	path := "/v1/sessions/" + session + "/messages"
	body := object{"message": say("once")}
	first := p.want(p.keyed(path, key, body), 201, 200).doc
	second := p.want(p.keyed(path, key, body), 201, 200).doc
	p.equal("id of the retried Message", second["id"], p.text(first, "id"))
	p.equal("the transcript", p.messageIDs(session), []string{p.text(first, "id")})
}

func retriedSession(p *probe) {
	key := rand.Text()
	body := object{"workspace_id": p.workspace}
	first := p.want(p.keyed("/v1/sessions", key, body), 201, 200).doc
	second := p.want(p.keyed("/v1/sessions", key, body), 201, 200).doc
	p.equal("id of the retried Session", second["id"], p.text(first, "id"))
}

// retriedCancel cancels a Task with an input that is no Message. One that ends before it
// is canceled gives nothing to look at.
func retriedCancel(p *probe) {
	input := object{"text": strings.Repeat(sampleText+"\n\n", 2000)}
	for range 10 {
		task := p.want(p.post("/v1/sessions/"+p.newSession()+"/tasks", p.order(input)), 202, 200, 201).doc
		path, key := "/v1/tasks/"+p.text(task, "id")+"/cancel", rand.Text()
		first := p.want(p.keyed(path, key, object{}), 200, 202, 400, 409)
		if first.status >= 400 {
			continue
		}
		again := p.want(p.keyed(path, key, object{}), first.status).doc
		for _, member := range []string{"id", "status", "input"} {
			p.equal(member+" of the retried Task", again[member], first.doc[member])
		}
		p.text(again, "id")
		return
	}
	p.skip("the Task had ended in 10 of 10 tries")
}

func otherTarget(p *probe) {
	key := rand.Text()
	body := object{"message": say("once in each")}
	first := p.want(p.keyed("/v1/sessions/"+p.newSession()+"/messages", key, body), 201).doc
	second := p.want(p.keyed("/v1/sessions/"+p.newSession()+"/messages", key, body), 201).doc
	if p.text(first, "id") == p.text(second, "id") {
		p.fail("two Sessions share the Message %s", p.text(first, "id"))
	}
}

func longKey(p *probe) {
	path := "/v1/sessions/" + p.newSession() + "/messages"
	p.wantError(p.keyed(path, strings.Repeat("k", 256), object{"message": say("x")}), 400, "invalid_request")
	p.want(p.keyed(path, strings.Repeat("k", 255), object{"message": say("x")}), 201)
}
