package conformance

import (
	"encoding/base64"
	"net/url"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/conformance/internal/answers"
)

// extendedChecks lists the checks of the Extended level.
func extendedChecks() []Check {
	const oauth, persona, workspace, branch, memory, vault = "OAuth2 client credentials", "Persona", "Workspace", "Branch", "Memory", "Vault"
	const connector, card = "Connector", "HarnAgentCard"
	all := []Check{
		{ID: "extended.discovery", Title: "discovery says that there are WebSockets", Section: "REST: Discovery", Strength: Should, run: discovers("websocket")},
		{ID: "discovery.tools", Title: "what the node is and what Tasks can call is told", Section: "REST: Discovery", Strength: Should, run: tellsOfTools},
		{ID: "oauth.token", Title: "a client gets a token for its credentials, and is let in with it", Section: oauth, Strength: Must, run: tokenLetsIn},
		{ID: "oauth.wrong-secret", Title: "wrong credentials get no token", Section: oauth, Strength: Must, run: wrongSecret},
		{ID: "oauth.scopes", Title: "a token with too few scopes gets 403", Section: oauth, Strength: Must, run: narrowToken},
		{ID: "oauth.tampered", Title: "a token that was changed gets 401", Section: oauth, Strength: Must, run: tamperedToken},
		{ID: "persona.crud", Title: "a Persona is made, read, listed and changed", Section: persona, Strength: Must, run: personaLife},
		{ID: "persona.required", Title: "a Persona without a required field gets 400", Section: persona, Strength: Must, run: personaRequired},
		{ID: "persona.receipt-policy", Title: "a Persona's receipt policy holds for its Tasks", Section: persona, Strength: Must, run: personaReceipts},
		{ID: "persona.on-task", Title: "a Task shows the Persona that it names", Section: persona, Strength: Must, run: personaOnTask},
		{ID: "persona.absent", Title: "a Task for an absent Persona is refused", Section: persona, Strength: Must, run: absentPersona},
		{ID: "workspace.crud", Title: "a Workspace is made, read, listed and changed", Section: workspace, Strength: Must, run: workspaceLife},
		{ID: "workspace.isolates", Title: "what belongs to one Workspace is not listed in another", Section: workspace, Strength: Must, run: workspaceIsolates},
		{ID: "branch.crud", Title: "a Branch is made, read and listed, with its lineage", Section: branch, Strength: Must, run: branchLife},
		{ID: "memory.crud", Title: "a Memory is made, read and listed", Section: memory, Strength: Must, run: memoryLife},
		{ID: "memory.forgotten", Title: "a deleted Memory has lost its content", Section: memory, Strength: Must, run: memoryForgotten},
		{ID: "memory.apart", Title: "Memory is no part of a transcript", Section: memory, Strength: Must, run: memoryApart},
		{ID: "vault.crud", Title: "a Vault is made, read and listed, and shows no secret", Section: vault, Strength: Must, run: vaultLife},
		{ID: "connector.list", Title: "Connectors are listed with their required fields", Section: connector, Strength: Must,
			run: listsOf("/v1/connectors", "connector", "provider", "workspace_id", "status")},
		{ID: "connector.dedupe", Title: "a delivery that comes twice has one effect", Section: connector, Strength: Must, run: deliveryTwice},
		{ID: "skill.list", Title: "Skills are listed with their required fields", Section: "Skill", Strength: Must, run: skillFields},
		{ID: "quota.list", Title: "Quotas are listed with their required fields", Section: "Quota", Strength: Must, run: listsOf("/v1/quotas", "quota", "scope")},
		{ID: "permission.list", Title: "requests for a decision can be listed", Section: "REST: permission requests", Strength: Must,
			run: listsOf("/v1/permission-requests", "permission_request", "task_id", "status")},
		{ID: "permission.answered", Title: "a Task that asks waits, and goes on when it is answered", Section: "Task lifecycle", Strength: Must, run: askedAndAnswered},
		{ID: "artifact.upload", Title: "an Artifact is registered and read back", Section: "Message, part, and artifact", Strength: Must, run: artifactRegistered},
		{ID: "card.signed", Title: "the card is signed, and says with what", Section: card, Strength: Must, run: cardSigned},
	}
	all = append(all, socketChecks()...)
	for i := range all {
		all[i].Level = LevelExtended
	}
	return all
}

// listsOf wants a list of one kind of resource, each with some members that are
// text.
func listsOf(path, kind string, members ...string) func(*probe) {
	return func(p *probe) {
		r := p.want(p.get(path+"?limit=200"), 200)
		p.oneOf(r.doc, "object", "list")
		for _, doc := range r.data() {
			p.oneOf(doc, "object", kind)
			for _, m := range members {
				p.text(doc, m)
			}
		}
		p.note("%d of them", len(r.data()))
	}
}

// tellsOfTools looks at routes that the published client has and the documents do not
// describe.
func tellsOfTools(p *probe) {
	runtime := p.get("/v1/runtime")
	if runtime.status == 404 || runtime.status == 501 {
		p.skip("there is no /v1/runtime")
	}
	p.text(p.want(runtime, 200).doc, "version")
	listsOf("/v1/capabilities", "capability", "id", "name")(p)
	listsOf("/v1/tools", "tool", "id", "name", "description")(p)
}

// tokenPath is where tokens come from.
const tokenPath = "/oauth/token"

// token asks for a token with the client credentials grant; the check is skipped
// when no client was named.
func (p *probe) token(secret string, scopes ...string) response {
	if p.clientID == "" {
		p.skip("no OAuth2 client was named")
	}
	form := url.Values{"grant_type": {"client_credentials"}}
	if len(scopes) > 0 {
		form.Set("scope", strings.Join(scopes, " "))
	}
	basic := base64.StdEncoding.EncodeToString([]byte(url.QueryEscape(p.clientID) + ":" + url.QueryEscape(secret)))
	return p.do(request{method: "POST", path: tokenPath, body: []byte(form.Encode()), auth: "Basic " + basic, version: "-",
		header: map[string]string{"Content-Type": "application/x-www-form-urlencoded"}})
}

func (p *probe) granted(scopes ...string) string {
	doc := p.want(p.token(p.clientSecret, scopes...), 200).doc
	if !strings.EqualFold(p.text(doc, "token_type"), "bearer") {
		p.fail("token_type is %s, want Bearer", answers.Show(doc["token_type"]))
	}
	return "Bearer " + p.text(doc, "access_token")
}

func tokenLetsIn(p *probe) {
	p.want(p.do(request{method: "GET", path: "/v1/sessions?limit=1", auth: p.granted()}), 200)
}

func wrongSecret(p *probe) {
	r := p.want(p.token(p.clientSecret+"x"), 401, 400)
	if r.doc["access_token"] != nil || r.doc["error"] == nil {
		p.fail("it answered %s", answers.Excerpt(r.body))
	}
}

func narrowToken(p *probe) {
	token := p.granted("sessions:read")
	p.want(p.do(request{method: "GET", path: "/v1/sessions?limit=1", auth: token}), 200)
	r := p.do(request{method: "POST", path: "/v1/sessions", auth: token, body: object{"workspace_id": p.workspace}})
	p.wantError(r, 403, "permission_denied")
}

func tamperedToken(p *probe) {
	token := p.granted()
	last := "A"
	if strings.HasSuffix(token, "A") {
		last = "Q"
	}
	half := len(token) - 20
	for _, bad := range []string{token[:len(token)-1] + last, token[:half] + "AAAA" + token[half+4:], token[:strings.LastIndexByte(token, '.')+1]} {
		p.wantError(p.do(request{method: "GET", path: "/v1/sessions", auth: bad}), 401, "unauthenticated")
	}
}

// someWorkflow returns the entry workflow of a Persona that the server has.
func (p *probe) someWorkflow() string {
	path := "/v1/personas/" + p.persona
	if p.persona == "" {
		task := p.finished()
		path = "/v1/personas/" + p.text(task, "persona_id")
	}
	return p.text(p.want(p.get(path), 200).doc, "entry_workflow")
}

func (p *probe) personaRequest() object {
	return object{"name": "conformance", "version": "1", "entry_workflow": p.someWorkflow(), "description": "Made by a check.",
		"autonomy_tier": "act_auto", "receipt_policy": "optional"}
}

func (p *probe) newPersona(change object) object {
	body := p.personaRequest()
	for name, value := range change {
		body[name] = value
	}
	return p.want(p.post("/v1/personas", body), 201, 200).doc
}

func (p *probe) patch(path string, body any) response {
	return p.do(request{method: "PATCH", path: path, body: body})
}

func personaLife(p *probe) {
	made := p.newPersona(nil)
	path := "/v1/personas/" + p.text(made, "id")
	p.oneOf(made, "object", "persona")
	p.oneOf(made, "autonomy_tier", "act_auto")
	p.equal("the Persona read back", p.want(p.get(path), 200).doc, made)
	if !slices.Contains(p.ids(p.all("/v1/personas?limit=200")), p.text(made, "id")) {
		p.fail("it is not listed")
	}
	p.oneOf(p.want(p.patch(path, object{"description": "Changed by a check."}), 200).doc, "description", "Changed by a check.")
	p.oneOf(p.want(p.get(path), 200).doc, "description", "Changed by a check.")
}

func personaRequired(p *probe) {
	for _, name := range []string{"name", "version", "entry_workflow", "description", "autonomy_tier", "receipt_policy"} {
		body := p.personaRequest()
		delete(body, name)
		p.wantError(p.post("/v1/personas", body), 400, "invalid_request")
	}
	body := p.personaRequest()
	body["autonomy_tier"] = "does_as_it_likes"
	p.wantError(p.post("/v1/personas", body), 400, "invalid_request")
}

// ranAs returns a Task of a Persona that has ended.
func (p *probe) ranAs(persona string) object {
	body := object{"input": say(sampleText), "persona_id": persona}
	task := p.want(p.post("/v1/sessions/"+p.newSession()+"/tasks", body), 202, 200, 201).doc
	return p.settled(p.text(task, "id"))
}

func personaReceipts(p *probe) {
	without := p.ranAs(p.text(p.newPersona(object{"receipt_policy": "disabled"}), "id"))
	if found := p.receiptsOf(without); len(found) > 0 {
		p.fail("receipt_policy is disabled, and the Task has the receipt %s", answers.Show(found[0]["id"]))
	}
	with := p.ranAs(p.text(p.newPersona(object{"receipt_policy": "required"}), "id"))
	p.receipt(with)
}

func personaOnTask(p *probe) {
	persona := p.text(p.newPersona(nil), "id")
	p.equal("persona_id of the Task", p.ranAs(persona)["persona_id"], persona)
}

func absentPersona(p *probe) {
	body := object{"input": say(sampleText), "persona_id": "persona_00000000000000000000000000"}
	p.want(p.post("/v1/sessions/"+p.newSession()+"/tasks", body), 400, 404, 422)
}

func (p *probe) newWorkspace() object {
	return p.want(p.post("/v1/workspaces", object{"name": "conformance", "root": "wharf:///conformance"}), 201, 200).doc
}

func workspaceLife(p *probe) {
	made := p.newWorkspace()
	path := "/v1/workspaces/" + p.text(made, "id")
	p.oneOf(made, "object", "workspace")
	p.text(made, "root")
	if branch, known := made["default_branch_id"]; !known {
		p.fail("default_branch_id is missing; it is %s", answers.Show(branch))
	}
	p.oneOf(p.want(p.get(path), 200).doc, "name", "conformance")
	if !slices.Contains(p.ids(p.all("/v1/workspaces?limit=200")), p.text(made, "id")) {
		p.fail("it is not listed")
	}
	p.oneOf(p.want(p.patch(path, object{"name": "renamed"}), 200).doc, "name", "renamed")
	p.wantError(p.post("/v1/workspaces", object{"root": "x"}), 400, "invalid_request")
}

func workspaceIsolates(p *probe) {
	other := p.text(p.newWorkspace(), "id")
	session := p.newSession()
	if slices.Contains(p.ids(p.all("/v1/sessions?limit=200&workspace_id="+escape(other))), session) {
		p.fail("Session %s of another Workspace is listed", session)
	}
	theirs := p.text(p.want(p.post("/v1/sessions", object{"workspace_id": other}), 201, 200).doc, "id")
	if slices.Contains(p.ids(p.all("/v1/sessions?limit=200&workspace_id="+escape(p.workspace))), theirs) {
		p.fail("Session %s of another Workspace is listed", theirs)
	}
}

func branchLife(p *probe) {
	session := p.newSession()
	path := "/v1/sessions/" + session + "/branches"
	first := p.want(p.post(path, object{"kind": "session", "base_ref": "main"}), 201, 200).doc
	p.oneOf(first, "object", "branch")
	p.oneOf(first, "kind", "session")
	p.text(first, "workspace_id")
	second := p.want(p.post(path, object{"kind": "sandbox", "base_ref": "try", "parent_branch_id": p.text(first, "id")}), 201, 200).doc
	read := p.want(p.get("/v1/branches/"+p.text(second, "id")), 200).doc
	p.equal("parent_branch_id", read["parent_branch_id"], first["id"])
	p.equal("base_ref", read["base_ref"], "try")
	listed := p.ids(p.all(path + "?limit=200"))
	for _, b := range []object{first, second} {
		if !slices.Contains(listed, p.text(b, "id")) {
			p.fail("Branch %s is not listed", answers.Show(b["id"]))
		}
	}
	p.wantError(p.post(path, object{"kind": "twig", "base_ref": "main"}), 400, "invalid_request")
}

func (p *probe) newMemory(session, content string) object {
	return p.want(p.post("/v1/memories", object{"scope": "session", "owner_id": session, "content": content,
		"provenance": object{"actor": "conformance"}}), 201, 200).doc
}

func memoryLife(p *probe) {
	session := p.newSession()
	made := p.newMemory(session, "the tide turns at nine")
	p.oneOf(made, "object", "memory")
	p.oneOf(made, "scope", "session")
	p.member(made, "provenance")
	p.equal("the content read back", p.want(p.get("/v1/memories/"+p.text(made, "id")), 200).doc["content"], "the tide turns at nine")
	if !slices.Contains(p.ids(p.all("/v1/memories?limit=200&session_id="+escape(session))), p.text(made, "id")) {
		p.fail("it is not listed for its Session")
	}
	p.wantError(p.post("/v1/memories", object{"scope": "galaxy", "owner_id": session, "content": "x", "provenance": object{}}), 400, "invalid_request")
}

func memoryForgotten(p *probe) {
	made := p.newMemory(p.newSession(), "to be forgotten")
	path := "/v1/memories/" + p.text(made, "id")
	p.want(p.do(request{method: "DELETE", path: path}), 204)
	r := p.want(p.get(path), 200, 404, 410)
	if strings.Contains(string(r.body), "to be forgotten") {
		p.fail("it is still there: %s", answers.Excerpt(r.body))
	}
}

func memoryApart(p *probe) {
	session := p.newSession()
	p.newMemory(session, "no part of what was said")
	p.equal("the transcript", p.contents(session), []any(nil))
}

func vaultLife(p *probe) {
	made := p.want(p.post("/v1/vaults", object{"provider": "local", "capabilities": []string{"read"}, "workspace_id": p.workspace}), 201, 200).doc
	p.oneOf(made, "object", "vault")
	p.text(made, "provider")
	read := p.want(p.get("/v1/vaults/"+p.text(made, "id")), 200).doc
	for _, name := range []string{"value", "values", "secret", "secrets"} {
		if read[name] != nil {
			p.fail("a read shows %q", name)
		}
	}
	if !slices.Contains(p.ids(p.all("/v1/vaults?limit=200")), p.text(made, "id")) {
		p.fail("it is not listed")
	}
}

// deliveryTwice needs a way to make a Connector, which the documents leave to the
// server: it takes Wharf's where it is there.
func deliveryTwice(p *probe) {
	made := p.want(p.offered(p.post("/v1/connectors", object{"provider": "generic", "workspace_id": p.workspace})), 201, 200).doc
	path := "/v1/connectors/" + p.text(made, "id")
	p.oneOf(p.want(p.get(path), 200).doc, "status", "ACTIVE", "PAUSED", "FAILED", "DISABLED")
	deliver := request{method: "POST", path: path + "/deliveries", body: object{"message": "high water"}, header: map[string]string{"webhook-id": "msg_conformance"}}
	p.want(p.offered(p.do(deliver)), 202)
	again := p.want(p.do(deliver), 200, 202)
	if doc := p.want(p.get(path), 200).doc; doc["counters"] != nil {
		p.equal("deliveries received", p.member(doc, "counters")["received"], 1.0)
	}
	p.note("the second was answered with %s", answers.Excerpt(again.body))
	p.want(p.do(request{method: "DELETE", path: path}), 200, 204)
}

func skillFields(p *probe) {
	r := p.want(p.get("/v1/skills?limit=200"), 200)
	p.oneOf(r.doc, "object", "list")
	skills := r.data()
	for _, doc := range skills {
		p.oneOf(doc, "object", "skill")
		p.text(doc, "name")
		p.text(doc, "description")
		for _, name := range []string{"input_schema", "output_schema"} {
			if value, known := doc[name]; !known {
				p.fail("%s: %q is missing; it is %s", describe(doc), name, answers.Show(value))
			}
		}
		p.equal("the Skill read back", p.want(p.get("/v1/skills/"+p.text(doc, "id")), 200).doc["name"], doc["name"])
	}
	p.note("%d of them", len(skills))
}

// asks is the body of a submit of a Task that asks for input. The check is skipped
// when no Persona was named whose Tasks do.
func (p *probe) asks() object {
	if p.asking == "" {
		p.skip("no Persona was named whose Tasks ask for input")
	}
	body := object{"input": say("ask me"), "persona_id": p.asking}
	if p.question != "" {
		body["input"] = jsontext.Value(p.question)
	}
	return body
}

func askedAndAnswered(p *probe) {
	id := p.text(p.want(p.post("/v1/sessions/"+p.newSession()+"/tasks", p.asks()), 202, 200, 201).doc, "id")
	asked := p.request(id)
	p.equal("the request's Task", asked["task_id"], id)
	p.equal("the Task's status", p.want(p.get("/v1/tasks/"+id), 200).doc["status"], "INPUT_REQUIRED")
	answer := object{"kind": "input", "message": say("nine o'clock")}
	p.want(p.post("/v1/tasks/"+id+"/messages", answer), 201, 200)
	p.equal("the Task's end", p.settled(id)["status"], "COMPLETED")
	p.wantError(p.post("/v1/tasks/"+id+"/messages", answer), 400, "invalid_state_transition")
}

// request waits for what a Task asks.
func (p *probe) request(task string) object {
	for {
		if all := p.want(p.get("/v1/tasks/"+task+"/permission-requests"), 200).data(); len(all) > 0 {
			return all[0]
		}
		p.pause()
	}
}

func artifactRegistered(p *probe) {
	made := p.want(p.post("/v1/artifacts", object{"kind": "dataset", "mime_type": "text/csv", "visibility": "public",
		"uri": "https://example.com/tides.csv", "workspace_id": p.workspace}), 201, 200).doc
	read := p.want(p.get("/v1/artifacts/"+p.text(made, "id")), 200).doc
	p.oneOf(read, "uri", "https://example.com/tides.csv")
	p.oneOf(read, "kind", "dataset")
}

func cardSigned(p *probe) {
	signature := p.member(p.card(), "signature")
	for _, name := range []string{"algorithm", "key_id", "value"} {
		p.text(signature, name)
	}
}
