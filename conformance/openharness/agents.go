package openharness

import (
	"fmt"
	"strings"

	"github.com/wharf-dev/wharf/conformance/internal/answers"
)

func agentChecks() []Check {
	return []Check{
		{ID: "create.bundle", Title: "An agent is made of the files of a bundle", Operation: "agents.create", run: func(p *probe) {
			a := p.newAgent(p.name)
			p.equal("agent.name", a.get("agent.name"), p.name)
		}},
		{ID: "create.unique_name", Title: "A second agent of the same name is refused", Operation: "agents.create", run: func(p *probe) {
			p.newAgent(p.name)
			again := manifestOf(p.name)
			again.key += "-2"
			p.want(p.post("agents", again.form()), 409)
		}},
		{ID: "create.manifest", Title: "A bundle without AGENTS.md is refused", Operation: "agents.create", run: func(p *probe) {
			parts := append([]part{metadata(p.name)}, files{"README.md": "nothing"}.parts("files")...)
			p.invalid(p.post("agents", form(parts...)))
		}},
		{ID: "get.same", Title: "An agent is shown as it was made", Operation: "agents.get", run: func(p *probe) {
			a := p.newAgent(p.name)
			again := p.want(p.get("agents/"+p.text(a, "agent.id")), 200)
			for _, member := range []string{"agent.id", "agent.name", "agent.vendorKey", "agent.agentKey", "agent.version", "agent.description"} {
				p.equal(member, again.get(member), a.get(member))
			}
		}},
		{ID: "get.front_matter", Title: "An agent has what the front matter of its bundle says", Operation: "agents.get", run: func(p *probe) {
			a := p.newAgent(p.name)
			p.equal("agent.vendorKey", a.get("agent.vendorKey"), vendor)
			p.equal("agent.agentKey", a.get("agent.agentKey"), p.name)
			p.equal("agent.version", a.get("agent.version"), "1.0.0")
			p.equal("agent.tags", a.get("agent.tags"), []string{"conformance"})
		}},
		{ID: "get.unknown", Title: "An agent that is not there is 404", Operation: "agents.get", run: func(p *probe) { p.missing(p.get("agents/" + p.name)) }},
		{ID: "list.has", Title: "An agent is listed", Operation: "agents.list", run: func(p *probe) {
			p.lists("agents", "data", p.text(p.newAgent(p.name), "agent.id"), true)
		}},
		{ID: "list.pages", Title: "Agents are listed page by page", Operation: "agents.list", run: func(p *probe) {
			p.newAgent(p.name)
			p.newAgent(p.name + "-2")
			p.pages("agents")
		}},
		{ID: "update.description", Title: "An agent is changed, and stays so", Operation: "agents.update", run: func(p *probe) {
			at := "agents/" + p.text(p.newAgent(p.name), "agent.id")
			p.equal("agent.description", p.ok(p.patch(at, object{"description": "Changed."})).get("agent.description"), "Changed.")
			p.equal("agent.description", p.want(p.get(at), 200).get("agent.description"), "Changed.")
		}},
		{ID: "update.config", Title: "What an agent runs by is changed", Operation: "agents.update", run: func(p *probe) {
			at := "agents/" + p.text(p.newAgent(p.name), "agent.id")
			p.ok(p.patch(at, object{"config": object{"temperature": 0.5, "system_prompt": "Be brief."}}))
			a := p.want(p.get(at), 200)
			p.equal("agent.config.temperature", a.get("agent.config.temperature"), 0.5)
			p.equal("agent.config.system_prompt", a.get("agent.config.system_prompt"), "Be brief.")
		}},
		{ID: "update.temperature", Title: "A temperature beyond 0 to 1 is refused", Operation: "agents.update", run: func(p *probe) {
			at := "agents/" + p.text(p.newAgent(p.name), "agent.id")
			p.invalid(p.patch(at, object{"config": object{"temperature": 1.5}}))
		}},
		{ID: "update.unknown", Title: "An agent that is not there cannot be changed", Operation: "agents.update", run: func(p *probe) {
			p.missing(p.patch("agents/"+p.name, object{"description": "Changed."}))
		}},
		{ID: "delete.gone", Title: "An agent that was removed is there no more", Operation: "agents.delete", run: func(p *probe) {
			id := p.text(p.newAgent(p.name), "agent.id")
			p.gone("agents/" + id)
			p.lists("agents", "data", id, false)
		}},
		{ID: "delete.unknown", Title: "An agent that is not there cannot be removed", Operation: "agents.delete", run: func(p *probe) { p.missing(p.remove("agents/" + p.name)) }},
		{ID: "clone.copy", Title: "A clone is another agent under another name", Operation: "agents.clone", run: func(p *probe) {
			a := p.newAgent(p.name)
			id := p.text(a, "agent.id")
			b := p.ok(p.post("agents/"+id+"/clone", object{"new_name": p.name + "-2"}))
			p.later("agents/" + p.text(b, "agent.id"))
			p.equal("agent.name", b.get("agent.name"), p.name+"-2")
			p.equal("agent.description", b.get("agent.description"), a.get("agent.description"))
			if b.get("agent.id") == id {
				p.fail("the clone has the id of the agent that it was made of")
			}
		}},
		{ID: "clone.unique_name", Title: "A clone of a name that is taken is refused", Operation: "agents.clone", run: func(p *probe) {
			p.want(p.post("agents/"+p.text(p.newAgent(p.name), "agent.id")+"/clone", object{"new_name": p.name}), 409)
		}},
		{ID: "export.bundle", Title: "An agent is exported as a bundle with AGENTS.md", Operation: "agents.export", run: func(p *probe) {
			a := p.want(p.get("agents/"+p.text(p.newAgent(p.name), "agent.id")+"/export"), 200)
			text, ok := p.archive(a).named("AGENTS.md")
			if !ok || !strings.Contains(text, p.name) {
				p.fail("%s: there is no AGENTS.md of the agent in the bundle", a.to)
			}
			if name := a.header.Get("Content-Disposition"); !strings.Contains(name, p.name+".zip") {
				p.fail("%s: Content-Disposition is %q, want the name %s.zip", a.to, name, p.name)
			}
		}},
		{ID: "export.same", Title: "What was exported imports to the same agent", Operation: "agents.export", run: exportSame},
		{ID: "import.bundle", Title: "An agent is imported from an archive", Operation: "agents.import", run: func(p *probe) {
			a := p.importAgent(manifestOf(p.name))
			p.later("agents/" + p.text(p.ok(a), "agent.id"))
			p.equal("agent.name", a.get("agent.name"), p.name)
			p.list(a, "warnings")
		}},
		{ID: "import.fail", Title: "An agent that is there is not imported again", Operation: "agents.import", run: func(p *probe) {
			p.newAgent(p.name)
			p.want(p.importAgent(manifestOf(p.name)), 409)
			p.want(p.importAgent(manifestOf(p.name), field("merge_strategy", "fail")), 409)
		}},
		{ID: "import.skip", Title: "With skip the agent that is there stays as it is", Operation: "agents.import", run: func(p *probe) {
			id := p.text(p.newAgent(p.name), "agent.id")
			m := manifestOf(p.name)
			m.version = "2.0.0"
			a := p.ok(p.importAgent(m, field("merge_strategy", "skip")))
			p.equal("agent.id", a.get("agent.id"), id)
			p.equal("agent.version", p.want(p.get("agents/"+id), 200).get("agent.version"), "1.0.0")
		}},
		{ID: "import.overwrite", Title: "With overwrite the bundle takes the place of the agent", Operation: "agents.import", run: func(p *probe) {
			p.newAgent(p.name)
			m := manifestOf(p.name)
			m.version = "2.0.0"
			a := p.ok(p.importAgent(m, field("merge_strategy", "overwrite")))
			p.later("agents/" + p.text(a, "agent.id"))
			p.equal("agent.version", a.get("agent.version"), "2.0.0")
		}},
		{ID: "import.rename", Title: "An agent is imported under another name", Operation: "agents.import", run: func(p *probe) {
			a := p.ok(p.importAgent(manifestOf(p.name), field("rename_to", p.name+"-2")))
			p.later("agents/" + p.text(a, "agent.id"))
			p.equal("agent.name", a.get("agent.name"), p.name+"-2")
		}},
		{ID: "import.archive", Title: "What is no archive is refused", Operation: "agents.import", run: func(p *probe) {
			bundle := part{name: "bundle", file: "agent.zip", media: "application/zip", content: []byte("no archive")}
			p.want(p.post("agents/import", form(bundle)), 400, 415, 422)
		}},
		{ID: "import.front_matter", Title: "A bundle that does not say its vendor is refused", Operation: "agents.import", run: func(p *probe) {
			m := manifestOf(p.name)
			m.vendor = ""
			p.invalid(p.importAgent(m))
		}},
		{ID: "import.license", Title: "A license that SPDX does not know is refused", Operation: "agents.import", run: func(p *probe) {
			m := manifestOf(p.name)
			m.license = "No-Such-License-9.9"
			p.invalid(p.importAgent(m))
		}},
	}
}

// vendor is who makes the agents of checks.
const vendor = "conformance"

// agentManifest is what an AGENTS.md says.
type agentManifest struct{ name, vendor, key, version, license string }

func manifestOf(name string) agentManifest {
	return agentManifest{name: name, vendor: vendor, key: name, version: "1.0.0", license: "MIT"}
}

// text is the AGENTS.md.
func (m agentManifest) text() string {
	from := ""
	if m.vendor != "" {
		from = "vendorKey: \"" + m.vendor + "\"\n"
	}
	return fmt.Sprintf("---\nname: %q\n%sagentKey: %q\nversion: %q\nslug: %q\ndescription: \"Made by a check.\"\nauthor: \"@conformance\"\nlicense: %q\n"+
		"tags: [\"conformance\"]\n---\n\n# Instructions\n\nAnswer in few words.\n", m.name, from, m.key, m.version, vendor+"/"+m.key, m.license)
}

func (m agentManifest) form() content {
	return form(append([]part{metadata(m.name)}, files{"AGENTS.md": m.text()}.parts("files")...)...)
}

// metadata is the part of a form that says what a bundle is called.
func metadata(name string) part {
	return part{name: "metadata", media: "application/json", content: []byte(answers.Show(object{"name": name, "description": "Made by a check."}))}
}

// newAgent makes an agent, which is removed with the check.
func (p *probe) newAgent(name string) answer {
	a := p.ok(p.post("agents", manifestOf(name).form()))
	p.later("agents/" + p.text(a, "agent.id"))
	return a
}

func (p *probe) importAgent(m agentManifest, fields ...part) answer {
	return p.post("agents/import", form(append(fields, part{name: "bundle", file: "agent.zip", media: "application/zip",
		content: files{"AGENTS.md": m.text()}.zipped()})...))
}

func exportSame(p *probe) {
	a := p.newAgent(p.name)
	at := "agents/" + p.text(a, "agent.id")
	bundle := p.want(p.get(at+"/export"), 200)
	p.want(p.remove(at), 204)
	b := p.ok(p.post("agents/import", form(part{name: "bundle", file: "agent.zip", media: "application/zip", content: bundle.body})))
	p.later("agents/" + p.text(b, "agent.id"))
	for _, member := range []string{"agent.name", "agent.vendorKey", "agent.agentKey", "agent.version", "agent.slug", "agent.description",
		"agent.author", "agent.license", "agent.tags", "agent.config"} {
		p.equal(member, b.get(member), a.get(member))
	}
}
