package conformance

import (
	"slices"
	"strings"

	"github.com/wharf-dev/wharf/conformance/internal/answers"
)

func taskChecks() []Check {
	const task, lifecycle = "Task", "Task lifecycle"
	return []Check{
		{ID: "task.submit", Title: "a Task submitted to a Session is accepted and can be read back", Section: task, Strength: Must, run: submitTask},
		{ID: "task.submit-top-level", Title: "a Task can be submitted with its Session in the body", Section: "REST: Task", Strength: Must, run: submitTopLevel},
		{ID: "task.submit-json", Title: "a structured payload is kept as it was given", Section: task, Strength: Must, run: submitJSON},
		{ID: "task.list", Title: "a Task appears in its Session's list and in the top-level list", Section: task, Strength: Must, run: listTask},
		{ID: "task.ends", Title: "a Task reaches a terminal state", Section: lifecycle, Strength: Must, run: taskEnds},
		{ID: "task.events", Title: "every transition has its event, and none is forbidden", Section: lifecycle, Strength: Must, run: taskEvents},
		{ID: "task.cancel", Title: "a Task can be canceled, unless it ends first", Section: lifecycle, Strength: Must, run: cancelTask},
		{ID: "task.canceled-stays", Title: "nothing replaces CANCELED", Section: lifecycle, Strength: Must, run: canceledStays},
		{ID: "task.terminal-stays", Title: "a terminal Task cannot be moved", Section: lifecycle, Strength: Must, run: terminalStays},
		{ID: "task.session-closed", Title: "a closed Session takes no Task", Section: "Error taxonomy", Strength: Should, run: closedTakesNone},
	}
}

var taskStates = []string{"SUBMITTED", "WORKING", "INPUT_REQUIRED", "AUTH_REQUIRED", "COMPLETED", "FAILED", "CANCELED"}

// transitions is the protocol's table (docs/protocol.md, 5.1); a state that is missing is terminal.
var transitions = map[string][]string{
	"":               {"SUBMITTED"},
	"SUBMITTED":      {"WORKING", "CANCELED", "FAILED"},
	"WORKING":        {"INPUT_REQUIRED", "AUTH_REQUIRED", "COMPLETED", "FAILED", "CANCELED"},
	"INPUT_REQUIRED": {"WORKING", "FAILED", "CANCELED"},
	"AUTH_REQUIRED":  {"WORKING", "FAILED", "CANCELED"},
}

// arrivals maps the events that have a name of their own to the state they report.
var arrivals = map[string]string{
	"task.submitted": "SUBMITTED", "task.started": "WORKING", "task.input_required": "INPUT_REQUIRED",
	"task.auth_required": "AUTH_REQUIRED", "task.completed": "COMPLETED", "task.failed": "FAILED", "task.canceled": "CANCELED",
}

func terminal(state string) bool { return slices.Contains(taskStates[4:], state) }

// order is the body of a submit.
func (p *probe) order(input any) object {
	body := object{"input": input}
	if p.persona != "" {
		body["persona_id"] = p.persona
	}
	return body
}

const sampleText = "# Harbour notes\n\nThe crane lifts at dawn. The tide decides the rest.\n\nSee [the chart](https://example.com/chart)."

// submit submits a small document to a Session and returns the Task.
func (p *probe) submit(session string) object {
	return p.want(p.post("/v1/sessions/"+session+"/tasks", p.order(say(sampleText))), 202, 200, 201).doc
}

// settled waits until a Task is terminal and returns it. A Task that waits for
// somebody is canceled: what it waits for cannot be known here.
func (p *probe) settled(id string) object {
	for {
		task := p.want(p.get("/v1/tasks/"+id), 200).doc
		switch state := p.oneOf(task, "status", taskStates...); {
		case terminal(state):
			return task
		case state == "INPUT_REQUIRED" || state == "AUTH_REQUIRED":
			p.post("/v1/tasks/"+id+"/cancel", object{"reason": "nobody can answer"})
		}
		p.pause()
	}
}

// finished submits a Task to a new Session and waits for its end.
func (p *probe) finished() object { return p.settled(p.text(p.submit(p.newSession()), "id")) }

func submitTask(p *probe) {
	session := p.newSession()
	input := say(sampleText)
	task := p.want(p.post("/v1/sessions/"+session+"/tasks", p.order(input)), 202).doc
	p.oneOf(task, "object", "task")
	p.oneOf(task, "status", taskStates...)
	p.equal("session_id", task["session_id"], session)
	p.equal("workspace_id", task["workspace_id"], p.workspace)
	p.text(task, "created_by")
	read := p.want(p.get("/v1/tasks/"+p.text(task, "id")), 200).doc
	for _, member := range []string{"id", "object", "created_at", "created_by", "input"} {
		p.equal(member+" read back", read[member], task[member])
	}
	given, _ := read["input"].(object)
	p.equal("input.role", given["role"], input["role"])
	p.equal("input.parts", given["parts"], input["parts"])
}

func submitTopLevel(p *probe) {
	body := p.order(say(sampleText))
	body["session_id"] = p.newSession()
	task := p.want(p.post("/v1/tasks", body), 202).doc
	p.equal("session_id", task["session_id"], body["session_id"])
}

func submitJSON(p *probe) {
	input := object{"text": sampleText, "options": object{"depth": 2.0}}
	task := p.want(p.post("/v1/sessions/"+p.newSession()+"/tasks", p.order(input)), 202).doc
	p.equal("input", p.want(p.get("/v1/tasks/"+p.text(task, "id")), 200).doc["input"], input)
}

func listTask(p *probe) {
	session := p.newSession()
	id := p.text(p.submit(session), "id")
	for _, path := range []string{"/v1/sessions/" + session + "/tasks?limit=200", "/v1/tasks?limit=200&session_id=" + escape(session)} {
		p.equal("GET "+path, p.ids(p.all(path)), []string{id})
	}
}

func taskEnds(p *probe) {
	task := p.finished()
	state := p.text(task, "status")
	p.note("%s", state)
	switch state {
	case "COMPLETED":
		p.text(task, "completed_at")
	case "CANCELED":
		p.text(task, "canceled_at")
	case "FAILED":
		if _, ok := task["failure"].(object); !ok {
			p.fail("a FAILED Task says nothing in failure: %s", answers.Show(task["failure"]))
		}
	}
}

// taskEvents follows a Task through its events. task.status_changed says its
// state somewhere in its payload.
func taskEvents(p *probe) { p.wantTransitions(p.finished()) }

func (p *probe) wantTransitions(task object) {
	state, path := "", []string{}
	for _, e := range p.taskEvents(p.text(task, "id")) {
		if e["replayed"] == true { // a replay shows its source again
			continue
		}
		to, named := arrivals[p.text(e, "event")]
		if e["event"] == "task.status_changed" {
			to, named = findState(e["payload"]), true
		}
		if !named {
			continue
		}
		if !slices.Contains(transitions[state], to) {
			p.fail("event %s: from %q to %q is forbidden (so far: %s)", answers.Show(e["id"]), state, to, strings.Join(path, " → "))
		}
		state, path = to, append(path, to)
	}
	p.equal("the state that the events end in", state, task["status"])
	p.note("%s", strings.Join(path, " → "))
}

// findState looks for a task state in a payload, whatever its shape.
func findState(v any) string {
	switch v := v.(type) {
	case object:
		for _, member := range []string{"status", "to", "task"} {
			if state := findState(v[member]); state != "" {
				return state
			}
		}
	case string:
		if slices.Contains(taskStates, v) {
			return v
		}
	}
	return ""
}

// cancelEarly submits and cancels until a cancel came before the end, at most a
// few times: a fast server may finish first. The document is long, so that most
// agents are busy with it for a moment.
func (p *probe) cancelEarly() object {
	path := "/v1/sessions/" + p.newSession() + "/tasks"
	input := say(strings.Repeat(sampleText+"\n\n", 2000))
	for range 10 {
		id := p.text(p.want(p.post(path, p.order(input)), 202, 200, 201).doc, "id")
		r := p.want(p.post("/v1/tasks/"+id+"/cancel", object{"reason": "conformance"}), 200, 202, 400, 409)
		task := p.settled(id)
		if r.status >= 400 {
			if code := r.errorCode(); code != "conflict" && code != "invalid_state_transition" {
				p.fail("a cancel that came too late got code %q", code)
			}
			if p.text(task, "status") == "CANCELED" {
				p.fail("a refused cancel had an effect")
			}
		}
		if p.text(task, "status") == "CANCELED" {
			return task
		}
	}
	p.skip("the Task ended before the cancel in 10 of 10 tries")
	return nil
}

func cancelTask(p *probe) {
	task := p.cancelEarly()
	p.text(task, "canceled_at")
	events := p.taskEvents(p.text(task, "id"))
	kinds := []string{}
	for _, e := range events {
		kinds = append(kinds, p.text(e, "event"))
	}
	if !slices.Contains(kinds, "task.canceled") {
		p.fail("there is no task.canceled event: %s", strings.Join(kinds, ", "))
	}
}

func canceledStays(p *probe) {
	id := p.text(p.cancelEarly(), "id")
	for range 10 {
		p.pause()
	}
	task := p.want(p.get("/v1/tasks/"+id), 200).doc
	p.oneOf(task, "status", "CANCELED")
	for _, outcome := range p.all("/v1/outcomes?limit=200&task_id=" + escape(id)) {
		p.oneOf(outcome, "status", "CANCELED", "FAILED")
	}
}

func terminalStays(p *probe) {
	before := p.finished()
	path := "/v1/tasks/" + p.text(before, "id")
	cancel := p.post(path+"/cancel", object{})
	message := p.post(path+"/messages", object{"kind": "input", "message": say("more")})
	if message.status < 400 {
		p.fail("input for a terminal Task was accepted with %d", message.status)
	}
	after := p.want(p.get(path), 200).doc
	p.equal("status", after["status"], before["status"])
	p.equal("outcome_id", after["outcome_id"], before["outcome_id"])
	p.note("cancel: %d %s; input: %d %s", cancel.status, cancel.errorCode(), message.status, message.errorCode())
}

func closedTakesNone(p *probe) {
	session := p.newSession()
	p.want(p.offered(p.post("/v1/sessions/"+session+"/close", nil)), 200)
	r := p.post("/v1/sessions/"+session+"/tasks", p.order(say(sampleText)))
	if r.status < 400 {
		p.fail("a Task was accepted with %d", r.status)
	}
	p.note("%d %s", r.status, r.errorCode())
}
