package openharness

import (
	"net/http"
	"strings"

	"github.com/wharf-dev/wharf/conformance/internal/answers"
)

func subagentChecks() []Check {
	return []Check{
		{ID: "list.empty", Title: "A new agent has no subagents", Operation: "subagents.list", run: func(p *probe) {
			p.equal("subagents", len(p.list(p.want(p.get(p.parent()+"/subagents"), 200), "subagents")), 0)
		}},
		{ID: "list.has", Title: "A subagent is listed", Operation: "subagents.list", run: func(p *probe) {
			at, id := p.spawned()
			p.lists(at+"/subagents", "subagents", id, true)
		}},
		{ID: "spawn.idle", Title: "A subagent is idle, and says whose it is", Operation: "subagents.spawn", run: func(p *probe) {
			at := p.parent()
			a := p.ok(p.post(at+"/subagents", newSubagent()))
			p.later(at + "/subagents/" + p.text(a, "subagent.id"))
			p.equal("subagent.name", a.get("subagent.name"), "scout")
			p.equal("subagent.status", a.get("subagent.status"), "idle")
			p.equal("subagent.parent_agent_id", a.get("subagent.parent_agent_id"), strings.TrimPrefix(at, "agents/"))
		}},
		{ID: "spawn.incomplete", Title: "A subagent without a name is refused", Operation: "subagents.spawn", run: func(p *probe) {
			p.invalid(p.post(p.parent()+"/subagents", object{"description": "Looks ahead."}))
		}},
		{ID: "spawn.unknown", Title: "An agent that is not there spawns nothing", Operation: "subagents.spawn", run: func(p *probe) {
			p.missing(p.post("agents/"+p.name+"/subagents", newSubagent()))
		}},
		{ID: "get.same", Title: "A subagent is shown under its id", Operation: "subagents.get", run: func(p *probe) {
			at, id := p.spawned()
			p.equal("subagent.id", p.want(p.get(at+"/subagents/"+id), 200).get("subagent.id"), id)
		}},
		{ID: "get.unknown", Title: "A subagent that is not there is 404", Operation: "subagents.get", run: func(p *probe) {
			p.missing(p.get(p.parent() + "/subagents/" + p.name))
		}},
		{ID: "terminate.gone", Title: "A subagent that was terminated is there no more", Operation: "subagents.terminate", run: func(p *probe) {
			at, id := p.spawned()
			p.gone(at + "/subagents/" + id)
			p.lists(at+"/subagents", "subagents", id, false)
		}},
		{ID: "result.none", Title: "A subagent that was asked nothing has no result", Operation: "subagents.result", run: func(p *probe) {
			at, id := p.spawned()
			p.want(p.get(at+"/subagents/"+id+"/result"), 404, 409)
		}},
		{ID: "delegate.empty", Title: "Nothing cannot be delegated", Operation: "subagents.delegate", run: func(p *probe) {
			at, id := p.spawned()
			p.invalid(p.post(at+"/subagents/"+id+"/delegate", object{"task": ""}))
		}},
		{ID: "delegate.result", Title: "What is delegated is an execution, whose result the subagent has", Operation: "subagents.delegate", NeedsModel: true, Slow: true, run: func(p *probe) {
			at, id := p.spawned()
			execution := p.text(p.ok(p.post(at+"/subagents/"+id+"/delegate", object{"task": hello})), "execution_id")
			p.await(execution, "completed")
			a := p.want(p.get(at+"/subagents/"+id+"/result"), 200)
			p.equal("result.execution_id", a.get("result.execution_id"), execution)
			p.text(a, "result.output")
		}},
		{ID: "delegate.stream", Title: "What is delegated is streamed, and ends with done", Operation: "subagents.delegateStream", NeedsModel: true, Slow: true, run: func(p *probe) {
			at, id := p.spawned()
			frames := p.open(http.MethodPost, at+"/subagents/"+id+"/delegate/stream", "ExecutionEvent", object{"task": hello}).all()
			if len(frames) == 0 || !frames[len(frames)-1].is("done") {
				p.fail("the stream does not end with done: %s", answers.Show(dataOf(frames)))
			}
		}},
	}
}

func newSubagent() object { return object{"name": "scout", "description": "Looks ahead."} }

// parent makes an agent and returns where it is.
func (p *probe) parent() string { return "agents/" + p.text(p.newAgent(p.name), "agent.id") }

// spawned makes an agent and a subagent of it.
func (p *probe) spawned() (at, id string) {
	at = p.parent()
	id = p.text(p.ok(p.post(at+"/subagents", newSubagent())), "subagent.id")
	p.later(at + "/subagents/" + id)
	return at, id
}
