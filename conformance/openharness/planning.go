package openharness

import "net/http"

func planningChecks() []Check {
	return []Check{
		{ID: "get.unknown", Title: "An execution that is not there has no plan", Operation: "planning.get", run: func(p *probe) {
			for _, what := range []string{"", "/tasks", "/stream"} {
				p.missing(p.get("executions/" + p.name + "/plan" + what))
			}
		}},
		{ID: "get.plan", Title: "The plan of an execution says whose it is", Operation: "planning.get", NeedsModel: true, run: func(p *probe) {
			id := p.completed()
			p.equal("plan.execution_id", p.want(p.get("executions/"+id+"/plan"), 200).get("plan.execution_id"), id)
		}},
		{ID: "tasks.same", Title: "The tasks of a plan are listed as the plan has them", Operation: "planning.listTasks", NeedsModel: true, run: func(p *probe) {
			at := "executions/" + p.completed() + "/plan"
			p.equal("tasks", p.want(p.get(at+"/tasks"), 200).get("tasks"), p.want(p.get(at), 200).get("plan.tasks"))
		}},
		{ID: "tasks.status", Title: "The tasks of a plan are narrowed by status", Operation: "planning.listTasks", NeedsModel: true, run: func(p *probe) {
			at := "executions/" + p.completed() + "/plan/tasks"
			for _, one := range p.list(p.want(p.get(at+"?status=pending"), 200), "tasks") {
				p.equal("status", one.(object)["status"], "pending")
			}
			p.invalid(p.get(at + "?status=nonsense"))
		}},
		{ID: "update.tasks", Title: "A plan is given other tasks, unless its execution has ended", Operation: "planning.update", NeedsModel: true, run: func(p *probe) {
			at := "executions/" + p.completed() + "/plan"
			tasks := []object{{"id": "t1", "content": "first", "status": "pending", "order": 0}, {"id": "t2", "content": "second", "status": "in_progress", "order": 1}}
			a := p.want(p.patch(at, object{"tasks": tasks}), 200, 409, 410)
			if a.status != http.StatusOK {
				return
			}
			p.equal("plan.tasks.0.content", a.get("plan.tasks.0.content"), "first")
			p.equal("plan.tasks", p.want(p.get(at), 200).get("plan.tasks"), a.get("plan.tasks"))
		}},
		{ID: "update.status", Title: "A task is not set to a status that there is not", Operation: "planning.update", NeedsModel: true, run: func(p *probe) {
			at := "executions/" + p.completed() + "/plan"
			p.want(p.patch(at, object{"tasks": []object{{"id": "t1", "content": "first", "status": "nonsense", "order": 0}}}), 400, 409, 410, 422)
		}},
		{ID: "task.unknown", Title: "A task that is not there cannot be changed", Operation: "planning.updateTask", NeedsModel: true, run: func(p *probe) {
			p.want(p.patch("executions/"+p.completed()+"/plan/tasks/"+p.name, object{"status": "completed"}), 404, 409, 410)
		}},
		{ID: "stream.events", Title: "The changes of a plan are streamed, and end with the execution", Operation: "planning.stream", NeedsModel: true, Slow: true, run: func(p *probe) {
			path := "executions/" + p.completed() + "/plan/stream"
			res := p.openAny(http.MethodGet, path, nil)
			if res.StatusCode == http.StatusGone {
				res.Body.Close()
				p.skip("the server keeps no stream of an execution that has ended")
			}
			p.want(answer{to: "GET " + path, status: res.StatusCode}, 200)
			p.reading(res, "GET "+path, "PlanEvent").all()
		}},
	}
}
