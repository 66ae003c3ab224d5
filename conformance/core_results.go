package conformance

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/wharf-dev/wharf/conformance/internal/answers"
)

func resultChecks() []Check {
	const outcome, artifact = "Outcome", "Message, part, and artifact"
	return []Check{
		{ID: "outcome.get", Title: "a Task's Outcome agrees with the Task", Section: outcome, Strength: Must, run: outcomeAgrees},
		{ID: "outcome.one", Title: "a completed Task has exactly one Outcome", Section: outcome, Strength: Should, run: outcomeOne},
		{ID: "outcome.workspace", Title: "Tasks, Messages, Outcomes and Artifacts name their Workspace", Section: "Workspace", Strength: Must, run: resultsNameWorkspace},
		{ID: "artifact.list", Title: "Artifacts can be listed", Section: artifact, Strength: Must, run: artifactList},
		{ID: "artifact.read", Title: "an Artifact of a Task has its fields, and its content has its hash", Section: artifact, Strength: Must, run: artifactRead},
	}
}

func listChecks() []Check {
	const section = "REST: Pagination"
	return []Check{
		{ID: "list.envelope", Title: "every list has object, data and page", Section: section, Strength: Must, run: listEnvelope},
		{ID: "list.pages", Title: "pages cover a list without gap or double", Section: section, Strength: Must, run: listPages},
		{ID: "list.limit", Title: "a limit outside 1 to 200 gets 400", Section: section, Strength: Should, run: listLimit},
		{ID: "list.bad-cursor", Title: "a cursor that is none gets 400", Section: section, Strength: Should, run: listBadCursor},
	}
}

// verdicts maps a Task's end to the status of its Outcome.
var verdicts = map[string]string{"COMPLETED": "SUCCEEDED", "FAILED": "FAILED", "CANCELED": "CANCELED"}

func outcomeAgrees(p *probe) {
	task := p.finished()
	id, ok := task["outcome_id"].(string)
	if !ok {
		p.skip("the %s Task has no Outcome", answers.Show(task["status"]))
	}
	outcome := p.want(p.get("/v1/outcomes/"+id), 200).doc
	p.oneOf(outcome, "object", "outcome")
	p.equal("task_id", outcome["task_id"], task["id"])
	p.equal("status", outcome["status"], verdicts[p.text(task, "status")])
	if _, ok := outcome["summary"].(string); !ok {
		p.fail("summary is %s, want a string", answers.Show(outcome["summary"]))
	}
	p.note("%s: %s", p.text(outcome, "status"), answers.Show(outcome["summary"]))
}

func outcomeOne(p *probe) {
	task := p.finished()
	if task["status"] != "COMPLETED" {
		p.skip("the Task ended as %s", answers.Show(task["status"]))
	}
	got := p.ids(p.all("/v1/outcomes?limit=200&task_id=" + escape(p.text(task, "id"))))
	p.equal("the Outcomes of the Task", got, []any{task["outcome_id"]})
}

// resultsNameWorkspace looks at all that a Task leaves, each as it is read by itself.
func resultsNameWorkspace(p *probe) {
	task := p.finished()
	p.equal("workspace_id of the Task", task["workspace_id"], p.workspace)
	for _, m := range p.all("/v1/sessions/" + p.text(task, "session_id") + "/messages?limit=200") {
		read := p.want(p.get("/v1/messages/"+p.text(m, "id")), 200).doc
		p.equal("workspace_id of a Message in a list", m["workspace_id"], p.workspace)
		p.equal("workspace_id of a Message", read["workspace_id"], p.workspace)
	}
	for _, a := range p.all("/v1/artifacts?limit=200&task_id=" + escape(p.text(task, "id"))) {
		p.equal("workspace_id of an Artifact", a["workspace_id"], p.workspace)
	}
	if id, ok := task["outcome_id"].(string); ok {
		p.equal("workspace_id of the Outcome", p.want(p.get("/v1/outcomes/"+id), 200).doc["workspace_id"], p.workspace)
	}
}

func artifactList(p *probe) {
	r := p.want(p.get("/v1/artifacts?limit=1"), 200)
	p.oneOf(r.doc, "object", "list")
}

// artifactRead looks at what a Task left behind; a Task that makes no Artifact
// gives nothing to look at.
func artifactRead(p *probe) {
	task := p.finished()
	made := p.all("/v1/artifacts?limit=200&task_id=" + escape(p.text(task, "id")))
	if len(made) == 0 {
		p.skip("the Task made no Artifact")
	}
	for _, listed := range made {
		a := p.want(p.get("/v1/artifacts/"+p.text(listed, "id")), 200).doc
		p.oneOf(a, "kind", "file", "patch", "image", "log", "diff", "receipt", "snapshot", "dataset", "other")
		p.oneOf(a, "visibility", "public", "internal", "receipt_only")
		p.text(a, "mime_type")
		p.artifactHash(a)
	}
	p.note("%d Artifacts", len(made))
}

func (p *probe) artifactHash(a object) {
	want, ok := a["sha256"].(string)
	if !ok {
		return
	}
	r := p.want(p.get("/v1/artifacts/"+p.text(a, "id")+"/content"), 200)
	sum := sha256.Sum256(r.body)
	p.equal("SHA-256 of the content", hex.EncodeToString(sum[:]), strings.ToLower(want))
}

func listEnvelope(p *probe) {
	session := p.newSession()
	for _, path := range []string{"/v1/sessions", "/v1/tasks", "/v1/events", "/v1/artifacts", "/v1/outcomes",
		"/v1/sessions/" + session + "/messages", "/v1/sessions/" + session + "/tasks", "/v1/sessions/" + session + "/events"} {
		r := p.want(p.get(path), 200)
		p.oneOf(r.doc, "object", "list")
		if _, ok := r.doc["data"].([]any); !ok {
			p.fail("GET %s: data is %s, want an array", path, answers.Show(r.doc["data"]))
		}
		page, _ := r.doc["page"].(object)
		if _, ok := page["has_more"].(bool); !ok {
			p.fail("GET %s: page.has_more is %s, want true or false", path, answers.Show(page["has_more"]))
		}
	}
}

func listPages(p *probe) {
	session := p.newSession()
	var made []string
	for range 5 {
		made = append(made, p.text(p.submit(session), "id"))
	}
	slices.Sort(made)
	for _, limit := range []int{1, 2, 5, 200} {
		got := p.ids(p.all(fmt.Sprintf("/v1/sessions/%s/tasks?limit=%d", session, limit)))
		slices.Sort(got)
		p.equal(fmt.Sprintf("the Tasks in pages of %d", limit), got, made)
	}
}

func listLimit(p *probe) {
	for _, limit := range []string{"0", "201", "-1", "many"} {
		p.wantError(p.get("/v1/sessions?limit="+limit), 400, "invalid_request")
	}
}

func listBadCursor(p *probe) {
	p.wantError(p.get("/v1/sessions?cursor=not-a-cursor"), 400, "invalid_request")
}
