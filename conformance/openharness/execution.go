package openharness

import (
	"context"
	"io"
	"net/http"
	"strings"
)

func executionChecks() []Check {
	return []Check{
		{ID: "run.accepted", Title: "An execution is accepted with its id and where it streams", Operation: "execution.run", NeedsModel: true, run: func(p *probe) {
			a := p.execute(object{})
			if id := a.header.Get("X-Execution-ID"); id != "" {
				p.equal("X-Execution-ID", id, a.get("execution_id"))
			}
			if a.status == http.StatusAccepted && !strings.Contains(a.header.Get("Location"), p.text(a, "execution_id")) {
				p.fail("%s answered 202 with the Location %q", a.to, a.header.Get("Location"))
			}
		}},
		{ID: "run.message", Title: "A message of no or of more than 100,000 characters is refused", Operation: "execution.run", run: func(p *probe) {
			p.invalid(p.post("execute", object{"message": ""}))
			p.want(p.post("execute", object{"message": strings.Repeat("x", 100_001)}), 400, 413, 422)
		}},
		{ID: "run.limits", Title: "Options beyond their limits are refused", Operation: "execution.run", run: func(p *probe) {
			p.invalid(p.post("execute", object{"message": hello, "temperature": 1.5}))
			p.invalid(p.post("execute", object{"message": hello, "max_tokens": 0}))
			p.invalid(p.post("execute", object{"message": hello, "max_tokens": 200_001}))
		}},
		{ID: "run.model", Title: "A model that is not there is model_not_available", Operation: "execution.run", run: func(p *probe) {
			a := p.want(p.post("execute", object{"message": hello, "model": p.name}), 400)
			if !strings.EqualFold(a.code(), "model_not_available") {
				p.fail("%s answered with the code %q, want model_not_available", a.to, a.code())
			}
		}},
		{ID: "run.agent", Title: "An agent that is not there runs nothing", Operation: "execution.run", run: func(p *probe) {
			p.want(p.post("execute", object{"message": hello, "agent_id": p.name}), 400, 404, 422)
		}},
		{ID: "run.session", Title: "A session that is not there is continued by nothing", Operation: "execution.run", run: func(p *probe) {
			p.want(p.post("execute", object{"message": hello, "session_id": p.name}), 400, 404, 422)
		}},
		{ID: "list.has", Title: "An execution is listed, and narrowed by status", Operation: "execution.list", NeedsModel: true, run: func(p *probe) {
			id := p.completed()
			p.lists("executions", "data", id, true)
			p.lists("executions?status=completed", "data", id, true)
			p.lists("executions?status=failed", "data", id, false)
		}},
		{ID: "list.since", Title: "No execution has begun at a time that is to come", Operation: "execution.list", NeedsModel: true, run: func(p *probe) {
			p.completed()
			p.equal("data", len(p.list(p.want(p.get("executions?since=2999-01-01T00:00:00Z"), 200), "data")), 0)
			p.invalid(p.get("executions?since=yesterday"))
		}},
		{ID: "list.page", Title: "Executions are listed page by page", Operation: "execution.list", run: func(p *probe) { p.pages("executions") }},
		{ID: "get.completed", Title: "An execution completes", Operation: "execution.get", NeedsModel: true, run: func(p *probe) {
			a := p.want(p.get("executions/"+p.completed()), 200)
			p.equal("execution.harness_id", a.get("execution.harness_id"), p.harness)
			p.text(a, "execution.completed_at")
		}},
		{ID: "get.unknown", Title: "An execution that is not there is 404", Operation: "execution.get", run: func(p *probe) {
			for _, what := range []string{"", "/result", "/artifacts", "/tool-calls", "/stream"} {
				p.missing(p.get("executions/" + p.name + what))
			}
		}},
		{ID: "result.output", Title: "The result of an execution has its output and what it used", Operation: "execution.result", NeedsModel: true, run: func(p *probe) {
			id := p.completed()
			a := p.want(p.get("executions/"+id+"/result"), 200)
			p.equal("result.execution_id", a.get("result.execution_id"), id)
			p.equal("result.status", a.get("result.status"), "completed")
			p.text(a, "result.output")
			in, _ := a.get("result.usage.input_tokens").(float64)
			out, _ := a.get("result.usage.output_tokens").(float64)
			p.equal("result.usage.total_tokens", a.get("result.usage.total_tokens"), in+out)
		}},
		{ID: "artifacts.list", Title: "The artifacts of an execution are as many as it says", Operation: "execution.listArtifacts", NeedsModel: true, run: func(p *probe) {
			id := p.completed()
			n := len(p.list(p.want(p.get("executions/"+id+"/artifacts"), 200), "artifacts"))
			p.equal("execution.artifacts_count", p.get("executions/"+id).get("execution.artifacts_count"), n)
		}},
		{ID: "artifacts.unknown", Title: "An artifact that is not there is 404", Operation: "execution.downloadArtifact", NeedsModel: true, run: func(p *probe) {
			p.missing(p.get("executions/" + p.completed() + "/artifacts/" + p.name))
		}},
		{ID: "tool_calls.list", Title: "The tool calls of an execution are listed", Operation: "execution.listToolCalls", NeedsModel: true, run: func(p *probe) {
			p.list(p.want(p.get("executions/"+p.completed()+"/tool-calls"), 200), "tool_calls")
		}},
		{ID: "cancel.finished", Title: "An execution that has ended cannot be cancelled", Operation: "execution.cancel", NeedsModel: true, run: func(p *probe) {
			p.want(p.post("executions/"+p.completed()+"/cancel", nil), 409)
		}},
		{ID: "cancel.unknown", Title: "An execution that is not there cannot be cancelled", Operation: "execution.cancel", run: func(p *probe) {
			p.missing(p.post("executions/"+p.name+"/cancel", nil))
		}},
		{ID: "stream.done", Title: "A stream ends with done, which comes once and last", Operation: "execution.stream", NeedsModel: true, Slow: true, run: func(p *probe) {
			frames := p.executed()
			for i := range frames {
				if last := i == len(frames)-1; frames[i].is("done") != last {
					p.fail("event %d of %d is %s", i+1, len(frames), frames[i].data)
				}
			}
		}},
		{ID: "stream.type", Title: "The type of an event is on its line too", Operation: "execution.stream", NeedsModel: true, Slow: true, run: func(p *probe) {
			for _, f := range p.executed() {
				if f.event == "" {
					p.fail("an event has no event line: %s", f.data)
				}
			}
		}},
		{ID: "stream.tools", Title: "A tool call starts, ends and has its result, in this order", Operation: "execution.stream", NeedsModel: true, Slow: true, run: func(p *probe) {
			toolsInOrder(p, p.executed())
		}},
		{ID: "stream.text", Title: "The texts of a stream are the output of its result", Operation: "execution.stream", NeedsModel: true, Slow: true, run: func(p *probe) {
			id := p.completed()
			frames := p.attached(id, "")
			output := p.want(p.get("executions/"+id+"/result"), 200).get("result.output")
			p.equal("the text of the stream", textOf(frames), output)
		}},
		{ID: "stream.resume", Title: "A stream goes on after Last-Event-ID, and repeats nothing", Operation: "execution.attachStream", NeedsModel: true, Slow: true, run: func(p *probe) {
			id := p.completed()
			whole := p.attached(id, "")
			if whole[0].id == "" {
				p.fail("the events of the stream have no ids")
			}
			for i := 0; i < len(whole)-1; i += 1 + len(whole)/mostResumed {
				rest := p.attached(id, whole[i].id)
				p.equal("what comes after event "+whole[i].id, dataOf(rest), dataOf(whole[i+1:]))
			}
		}},
		{ID: "input.finished", Title: "An execution that has ended takes no input", Operation: "execution.sendInput", NeedsModel: true, run: func(p *probe) {
			p.want(p.post("executions/"+p.completed()+"/input", object{"data": "yes\n"}), 409, 410)
		}},
		{ID: "input.unknown", Title: "An execution that is not there takes no input", Operation: "execution.sendInput", run: func(p *probe) {
			p.missing(p.post("executions/"+p.name+"/input", object{"data": "yes\n"}))
		}},
	}
}

// mostResumed bounds from how many places of a stream it is resumed.
const mostResumed = 10

// hello is what models are asked.
const hello = "Say hello."

// execute begins an execution.
func (p *probe) execute(options object) answer {
	options["message"] = hello
	return p.want(p.post("execute", options), 200, 202)
}

// completed returns an execution that has completed.
func (p *probe) completed() string {
	id := p.text(p.execute(object{}), "execution_id")
	p.await(id, "completed")
	return id
}

// await waits for an execution to end, which has to end so.
func (p *probe) await(id, status string) {
	for {
		a := p.want(p.get("executions/"+id), 200)
		switch got := a.get("execution.status"); got {
		case status:
			return
		case "completed", "failed", "cancelled":
			p.fail("the execution %s is %v, want %s", id, got, status)
		}
		p.pause()
	}
}

// executed returns what an execution streams.
func (p *probe) executed() []frame {
	frames := p.open(http.MethodPost, "execute/stream", "ExecutionEvent", object{"message": hello}).all()
	if len(frames) == 0 {
		p.fail("the stream of an execution is empty")
	}
	return frames
}

// attached returns what the stream of an execution that has ended tells, after an event or all.
func (p *probe) attached(id, after string) []frame {
	path := "executions/" + id + "/stream"
	res := p.openAny(http.MethodGet, path, nil, header("Last-Event-ID", after))
	if res.StatusCode == http.StatusGone {
		res.Body.Close()
		p.skip("the server keeps no stream of an execution that has ended")
	}
	p.want(answer{to: "GET " + path, status: res.StatusCode}, 200)
	frames := p.reading(res, "GET "+path, "ExecutionEvent").all()
	if len(frames) == 0 {
		p.fail("the stream of the execution %s after %q is empty", id, after)
	}
	return frames
}

func textOf(frames []frame) string {
	var b strings.Builder
	for i := range frames {
		if text, ok := frames[i].doc["content"].(string); ok && frames[i].is("text") {
			b.WriteString(text)
		}
	}
	return b.String()
}

func dataOf(frames []frame) (all []object) {
	for i := range frames {
		all = append(all, frames[i].doc)
	}
	return all
}

// toolsInOrder looks at what a stream tells of each tool call.
func toolsInOrder(p *probe, frames []frame) {
	order := map[string]int{"tool_call_start": 1, "tool_call_delta": 2, "tool_call_end": 3, "tool_result": 4}
	at := map[any]int{}
	for _, f := range frames {
		kind, _ := f.doc["type"].(string)
		step, told := order[kind]
		if !told {
			continue
		}
		id := f.doc["id"]
		// The narrative has the end before the result, a test of the authors' after it.
		if before := at[id]; (before == 0) != (step == 1) || step < before && !(before == 4 && step == 3) {
			p.fail("of the tool call %v comes %s in the wrong place", id, kind)
		}
		at[id] = step
	}
}

// noModel says why there is no model that answers; "" when there is one. It is asked once.
func (s *suite) noModel(ctx context.Context) string {
	if s.model == nil {
		ctx, cancel := context.WithTimeout(ctx, s.timeout)
		defer cancel()
		why := s.askModel(ctx)
		s.model = &why
	}
	return *s.model
}

// askModel runs an execution, and looks for an error that says that there is no model.
func (s *suite) askModel(ctx context.Context) string {
	res, err := s.open(ctx, request{method: http.MethodPost, path: s.at("execute/stream"), body: object{"message": hello}})
	if err != nil {
		return "" // whatever is wrong, the checks say it
	}
	defer res.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(res.Body, maxBody))
	for _, code := range []string{"model_not_available", "model_not_configured"} {
		if strings.Contains(strings.ToLower(string(text)), `"`+code+`"`) {
			return "the harness has no model that answers: " + code
		}
	}
	return ""
}
