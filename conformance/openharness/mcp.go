package openharness

func mcpChecks() []Check {
	return []Check{
		{ID: "list.page", Title: "Servers of tools are listed page by page", Operation: "mcp.list", run: func(p *probe) { p.pages("mcp-servers") }},
		{ID: "list.status", Title: "Servers are narrowed by status", Operation: "mcp.list", run: func(p *probe) {
			for _, one := range p.list(p.want(p.get("mcp-servers?status=connected&limit=100"), 200), "data") {
				p.equal("status", one.(object)["status"], "connected")
			}
		}},
		{ID: "connect.life", Title: "A server that does not answer is kept and shown as such, or refused", Operation: "mcp.connect", run: mcpLife},
		{ID: "connect.transport", Title: "A transport that is not there is refused", Operation: "mcp.connect", run: func(p *probe) {
			p.invalid(p.post("mcp-servers", object{"name": p.name, "transport": object{"type": "pigeon", "url": "https://mcp.invalid"}}))
		}},
		{ID: "connect.incomplete", Title: "A server without a transport is refused", Operation: "mcp.connect", run: func(p *probe) {
			p.invalid(p.post("mcp-servers", object{"name": p.name}))
		}},
		{ID: "connect.command", Title: "A command that is not there makes no server that works", Operation: "mcp.connect", run: func(p *probe) {
			a := p.post("mcp-servers", object{"name": p.name, "transport": object{"type": "stdio", "command": "/nonexistent/" + p.name}})
			if a.status >= 400 {
				p.want(a, 400, 403, 409, 422, 502, 503)
				return
			}
			p.later("mcp-servers/" + p.text(p.ok(a), "server.id"))
			if a.get("server.status") == "connected" {
				p.fail("%s says that a command that is not there is connected", a.to)
			}
		}},
		{ID: "get.unknown", Title: "A server that is not there is 404", Operation: "mcp.get", run: func(p *probe) { p.missing(p.get("mcp-servers/" + p.name)) }},
		{ID: "list_tools.unknown", Title: "A server that is not there has no tools", Operation: "mcp.listTools", run: func(p *probe) {
			for _, what := range []string{"tools", "resources", "prompts"} {
				p.missing(p.get("mcp-servers/" + p.name + "/" + what))
			}
		}},
		{ID: "health.unknown", Title: "A server that is not there has no health", Operation: "mcp.health", run: func(p *probe) {
			p.missing(p.post("mcp-servers/"+p.name+"/health", nil))
		}},
		{ID: "disconnect.unknown", Title: "A server that is not there cannot be disconnected", Operation: "mcp.disconnect", run: func(p *probe) {
			p.missing(p.remove("mcp-servers/" + p.name))
		}},
	}
}

func mcpLife(p *probe) {
	a := p.post("mcp-servers", object{"name": p.name, "transport": object{"type": "http", "url": "https://mcp.invalid/mcp"}, "auto_reconnect": false})
	if a.status >= 400 {
		p.want(a, 400, 409, 422, 502, 503, 504)
		return
	}
	id := p.text(p.ok(a), "server.id")
	p.later("mcp-servers/" + id)
	if a.get("server.status") == "connected" {
		p.fail("%s says that a server that nobody can reach is connected", a.to)
	}
	p.lists("mcp-servers", "data", id, true)
	if health := p.want(p.post("mcp-servers/"+id+"/health", nil), 200); health.get("status") == "healthy" {
		p.fail("%s says that a server that nobody can reach is healthy", health.to)
	}
	p.gone("mcp-servers/" + id)
	p.lists("mcp-servers", "data", id, false)
}

func toolChecks() []Check {
	return []Check{
		{ID: "tools.list.page", Title: "Tools are listed page by page", Operation: "tools.list", run: func(p *probe) { p.pages("tools") }},
		{ID: "tools.list.source", Title: "Tools are narrowed by where they come from", Operation: "tools.list", run: func(p *probe) {
			p.newTool()
			for _, one := range p.list(p.want(p.get("tools?source=custom&limit=100"), 200), "data") {
				p.equal("source", one.(object)["source"], "custom")
			}
		}},
		{ID: "tools.get.same", Title: "A tool is shown under its id", Operation: "tools.get", run: func(p *probe) {
			id := p.text(p.newTool(), "tool.id")
			a := p.want(p.get("tools/"+id), 200)
			p.equal("tool.id", a.get("tool.id"), id)
			p.equal("tool.input_schema", a.get("tool.input_schema"), toolInput())
		}},
		{ID: "tools.list.skill", Title: "A tool of a skill names the skill it is of", Operation: "tools.list", run: toolsOfSkills},
		{ID: "tools.get.unknown", Title: "A tool that is not there is 404", Operation: "tools.get", run: func(p *probe) { p.missing(p.get("tools/" + p.name)) }},
		{ID: "tools.register.custom", Title: "A tool of one's own is registered and listed", Operation: "tools.register", run: func(p *probe) {
			a := p.newTool()
			p.equal("tool.source", a.get("tool.source"), "custom")
			p.lists("tools", "data", p.text(a, "tool.id"), true)
		}},
		{ID: "tools.register.incomplete", Title: "A tool without a handler is refused", Operation: "tools.register", run: func(p *probe) {
			doc := newTool(p.name)
			delete(doc, "handler")
			p.invalid(p.post("tools", doc))
		}},
		{ID: "tools.register.schema", Title: "A tool whose schema is none is refused", Operation: "tools.register", run: func(p *probe) {
			doc := newTool(p.name)
			doc["input_schema"] = "text"
			p.invalid(p.post("tools", doc))
		}},
		{ID: "tools.unregister.gone", Title: "A tool that was removed is there no more", Operation: "tools.unregister", run: func(p *probe) {
			p.gone("tools/" + p.text(p.newTool(), "tool.id"))
		}},
		{ID: "tools.unregister.others", Title: "A tool that is not one's own cannot be removed", Operation: "tools.unregister", run: func(p *probe) {
			a := p.want(p.get("tools?source=builtin&limit=1"), 200)
			if len(p.list(a, "data")) == 0 {
				p.skip("the harness has no builtin tools")
			}
			p.want(p.remove("tools/"+p.text(a, "data.0.id")), 400, 403, 404, 405, 409, 422)
		}},
		{ID: "tools.invoke.input", Title: "What does not fit the schema of a tool is refused", Operation: "tools.invoke", run: func(p *probe) {
			id := p.text(p.newTool(), "tool.id")
			p.invalid(p.post("tools/"+id+"/invoke", object{"input": object{"text": 7}}))
		}},
		{ID: "tools.invoke.unknown", Title: "A tool that is not there cannot be called", Operation: "tools.invoke", run: func(p *probe) {
			p.missing(p.post("tools/"+p.name+"/invoke", object{"input": object{}}))
		}},
	}
}

func toolsOfSkills(p *probe) {
	made := p.post("skills", skillForm(p.name, skillFiles(p.name, "1.0.0")))
	if made.status >= 400 {
		p.skip("the harness takes no skills")
	}
	p.later("skills/" + p.text(made, "skill.id"))
	tools := p.list(p.want(p.get("tools?source=skill&limit=10"), 200), "data")
	if len(tools) == 0 {
		p.skip("the harness lists no tools of skills")
	}
	for _, one := range tools {
		of, _ := one.(object)["source_id"].(string)
		p.equal("skill.id", p.want(p.get("skills/"+of), 200).get("skill.id"), of)
	}
}

func toolInput() object {
	return object{"type": "object", "properties": object{"text": object{"type": "string"}}, "required": []string{"text"}}
}

// newTool is a tool that nobody answers.
func newTool(name string) object {
	return object{"name": name, "description": "Made by a check.", "input_schema": toolInput(),
		"handler": object{"type": "webhook", "url": "https://tools.example.com/" + name}}
}

func (p *probe) newTool() answer {
	a := p.ok(p.post("tools", newTool(p.name)))
	p.later("tools/" + p.text(a, "tool.id"))
	return a
}
