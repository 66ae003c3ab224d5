package conformance

import "github.com/wharf-dev/wharf/conformance/internal/answers"

func errorChecks() []Check {
	const section = "Error taxonomy"
	return []Check{
		{ID: "errors.malformed-json", Title: "a body that is no JSON gets 400 invalid_request", Section: section, Strength: Must, run: malformedJSON},
		{ID: "errors.wrong-type", Title: "a member of the wrong type gets 400 invalid_request", Section: section, Strength: Must, run: wrongType},
		{ID: "errors.missing-member", Title: "a missing required member gets 400 invalid_request", Section: section, Strength: Must, run: missingMember},
		{ID: "errors.param", Title: "the error names the member that is missing", Section: section, Strength: Should, run: namesParam},
		{ID: "errors.unknown-enum", Title: "a role that does not exist gets 400 invalid_request", Section: section, Strength: Must, run: unknownRole},
		{ID: "errors.not-found", Title: "an absent resource gets 404 resource_not_found", Section: section, Strength: Must, run: notFound},
		{ID: "errors.unknown-path", Title: "an unknown path gets 404 with the error envelope", Section: section, Strength: Must, run: unknownPath},
		{ID: "errors.unknown-members", Title: "unknown members of a submit are no error", Section: "Versioning", Strength: Should, run: unknownMembers},
	}
}

func malformedJSON(p *probe) {
	session := p.newSession()
	for _, body := range []string{`{"input":`, `nonsense`, `{"input":{}}}`, ``, `[]`} {
		r := p.post("/v1/sessions/"+session+"/tasks", []byte(body))
		if r.status != 400 || r.errorCode() != "invalid_request" {
			p.fail("the body %q: answered %d %s", body, r.status, answers.Excerpt(r.body))
		}
	}
}

func wrongType(p *probe) {
	session := p.newSession()
	path := "/v1/sessions/" + session
	p.wantError(p.post(path+"/messages", object{"message": "a string"}), 400, "invalid_request")
	p.wantError(p.post(path+"/messages", object{"message": object{"role": 7, "parts": []any{}}}), 400, "invalid_request")
	p.wantError(p.post(path+"/tasks", object{"input": 7}), 400, "invalid_request")
}

func missingMember(p *probe) {
	session := p.newSession()
	p.wantError(p.post("/v1/sessions/"+session+"/tasks", object{}), 400, "invalid_request")
	p.wantError(p.post("/v1/sessions/"+session+"/messages", object{}), 400, "invalid_request")
	p.wantError(p.post("/v1/sessions", object{}), 400, "invalid_request")
}

func namesParam(p *probe) {
	r := p.post("/v1/sessions/"+p.newSession()+"/tasks", object{})
	if got := r.error()["param"]; got != "input" && got != "/input" {
		p.fail("error.param is %s, want input", answers.Show(got))
	}
}

func unknownRole(p *probe) {
	message := say("hello")
	message["role"] = "no-such-role"
	p.wantError(p.post("/v1/sessions/"+p.newSession()+"/messages", object{"message": message}), 400, "invalid_request")
}

func notFound(p *probe) {
	for _, path := range []string{"/v1/sessions/sess_00000000000000000000000000", "/v1/tasks/task_00000000000000000000000000",
		"/v1/messages/msg_00000000000000000000000000", "/v1/outcomes/out_00000000000000000000000000",
		"/v1/artifacts/art_00000000000000000000000000", "/v1/events/18446744073709551615"} {
		p.wantError(p.get(path), 404, "resource_not_found")
	}
}

func unknownPath(p *probe) {
	r := p.want(p.get("/v1/no-such-collection"), 404)
	if r.error() == nil {
		p.fail("the answer has no error object: %s", answers.Excerpt(r.body))
	}
}

func unknownMembers(p *probe) {
	p.want(p.post("/v1/sessions/"+p.newSession()+"/tasks",
		object{"input": say("hello"), "member_of_a_later_version": object{"a": 1}}), 202)
}
