package openharness

import "net/http"

func memoryChecks() []Check {
	return []Check{
		{ID: "get.state", Title: "The memory of an agent says whose it is", Operation: "memory.get", run: func(p *probe) {
			id := p.text(p.newAgent(p.name), "agent.id")
			p.equal("memory.agent_id", p.want(p.get("agents/"+id+"/memory"), 200).get("memory.agent_id"), id)
		}},
		{ID: "get.unknown", Title: "An agent that is not there has no memory", Operation: "memory.get", run: func(p *probe) {
			p.missing(p.get("agents/" + p.name + "/memory"))
		}},
		{ID: "create.block", Title: "A block of memory is made", Operation: "memory.createBlock", run: func(p *probe) {
			at := p.remembering()
			a := p.newBlock(at, "notes", "first", false)
			p.equal("block.label", a.get("block.label"), "notes")
			p.equal("block.value", a.get("block.value"), "first")
			p.equal("block.read_only", a.get("block.read_only"), false)
		}},
		{ID: "create.unique", Title: "A second block of the same label is refused", Operation: "memory.createBlock", run: func(p *probe) {
			at := p.remembering()
			p.newBlock(at, "notes", "first", false)
			p.want(p.post(at+"/blocks", object{"label": "notes", "value": "second"}), 409)
		}},
		{ID: "create.label", Title: "A label that is none is refused", Operation: "memory.createBlock", run: func(p *probe) {
			p.invalid(p.post(p.remembering()+"/blocks", object{"label": "Not A Label!", "value": "first"}))
		}},
		{ID: "create.value", Title: "A block without a value is refused", Operation: "memory.createBlock", run: func(p *probe) {
			p.invalid(p.post(p.remembering()+"/blocks", object{"label": "notes", "value": ""}))
		}},
		{ID: "block.same", Title: "A block is shown under its label", Operation: "memory.getBlock", run: func(p *probe) {
			at := p.remembering()
			p.newBlock(at, "notes", "first", false)
			p.equal("block.value", p.want(p.get(at+"/blocks/notes"), 200).get("block.value"), "first")
		}},
		{ID: "block.unknown", Title: "A block that is not there is 404", Operation: "memory.getBlock", run: func(p *probe) {
			at := p.remembering()
			p.missing(p.get(at + "/blocks/none"))
			p.missing(p.do(http.MethodPut, at+"/blocks/none", object{"value": "x"}))
			p.missing(p.remove(at + "/blocks/none"))
		}},
		{ID: "update.value", Title: "A block is given another value", Operation: "memory.updateBlock", run: func(p *probe) {
			at := p.remembering()
			p.newBlock(at, "notes", "first", false)
			p.ok(p.do(http.MethodPut, at+"/blocks/notes", object{"value": "second"}))
			p.equal("block.value", p.want(p.get(at+"/blocks/notes"), 200).get("block.value"), "second")
		}},
		{ID: "read_only.stays", Title: "A block that is read-only is neither changed nor removed", Operation: "memory.updateBlock", run: func(p *probe) {
			at := p.remembering()
			p.newBlock(at, "rules", "first", true)
			p.want(p.do(http.MethodPut, at+"/blocks/rules", object{"value": "second"}), 400, 403, 409, 422)
			p.want(p.remove(at+"/blocks/rules"), 400, 403, 409, 422)
			p.equal("block.value", p.want(p.get(at+"/blocks/rules"), 200).get("block.value"), "first")
		}},
		{ID: "delete.gone", Title: "A block that was removed is there no more", Operation: "memory.deleteBlock", run: func(p *probe) {
			at := p.remembering()
			p.newBlock(at, "notes", "first", false)
			p.gone(at + "/blocks/notes")
		}},
		{ID: "list.has", Title: "The blocks of an agent are listed, and are its memory", Operation: "memory.listBlocks", run: func(p *probe) {
			at := p.remembering()
			p.newBlock(at, "notes", "first", false)
			p.equal("blocks", len(p.list(p.want(p.get(at+"/blocks"), 200), "blocks")), 1)
			p.equal("memory.blocks", len(p.list(p.want(p.get(at), 200), "memory.blocks")), 1)
		}},
		{ID: "search.block", Title: "What a block says is found, with a score of 0 to 1", Operation: "memory.search", run: func(p *probe) {
			at := p.remembering()
			p.newBlock(at, "harbour", "The wharf opens at noon.", false)
			p.newBlock(at, "kitchen", "Bread is baked early.", false)
			a := p.ok(p.post(at+"/search", object{"query": "wharf noon"}))
			if len(p.list(a, "results")) == 0 {
				p.fail("%s finds nothing", a.to)
			}
			p.equal("results.0.label", a.get("results.0.label"), "harbour")
			if score, _ := a.get("results.0.relevance_score").(float64); score < 0 || score > 1 {
				p.fail("the score is %v", score)
			}
		}},
		{ID: "search.archive", Title: "The archive is searched unless it is left out", Operation: "memory.search", run: func(p *probe) {
			at := p.remembering()
			p.ok(p.post(at+"/archive", object{"content": "The lighthouse is green."}))
			a := p.ok(p.post(at+"/search", object{"query": "lighthouse"}))
			p.equal("results.0.source", a.get("results.0.source"), "archive")
			without := p.ok(p.post(at+"/search", object{"query": "lighthouse", "include_archive": false}))
			p.equal("results", len(p.list(without, "results")), 0)
		}},
		{ID: "search.limits", Title: "A search for nothing, or for too much, is refused", Operation: "memory.search", run: func(p *probe) {
			at := p.remembering()
			p.invalid(p.post(at+"/search", object{"query": ""}))
			p.invalid(p.post(at+"/search", object{"query": "x", "limit": 101}))
		}},
		{ID: "archive.entry", Title: "An entry is added to the archive, and listed", Operation: "memory.addToArchive", run: func(p *probe) {
			at := p.remembering()
			a := p.ok(p.post(at+"/archive", object{"content": "kept", "metadata": object{"from": "check"}}))
			p.equal("entry.content", a.get("entry.content"), "kept")
			p.equal("entry.metadata", a.get("entry.metadata"), object{"from": "check"})
			p.lists(at+"/archive", "data", p.text(a, "entry.id"), true)
			p.equal("memory.archive_size", p.want(p.get(at), 200).get("memory.archive_size"), 1)
		}},
		{ID: "export.snapshot", Title: "A memory is exported with its blocks and its archive", Operation: "memory.export", run: func(p *probe) {
			at := p.remembering()
			p.newBlock(at, "notes", "first", false)
			a := p.want(p.post(at+"/export", object{}), 200)
			found := p.archive(a)
			for _, name := range []string{"blocks.json", "archive.json", "metadata.json"} {
				if _, ok := found.named(name); !ok {
					p.fail("%s: there is no %s in the archive", a.to, name)
				}
			}
		}},
		{ID: "import.same", Title: "What was exported imports to the same blocks and entries", Operation: "memory.import", run: importMemory},
		{ID: "import.skip", Title: "With skip the block that is there stays as it is", Operation: "memory.import", run: func(p *probe) { mergeMemory(p, "skip", "here") }},
		{ID: "import.overwrite", Title: "With overwrite the snapshot's block takes its place", Operation: "memory.import", run: func(p *probe) { mergeMemory(p, "overwrite", "there") }},
		{ID: "import.blocks", Title: "A snapshot without blocks.json is refused", Operation: "memory.import", run: func(p *probe) {
			p.invalid(p.post(p.remembering()+"/import", snapshot(files{"other.json": "[]"}.zipped())))
		}},
	}
}

// remembering makes an agent and returns where its memory is.
func (p *probe) remembering() string { return p.rememberingAs(p.name) }

func (p *probe) rememberingAs(name string) string {
	return "agents/" + p.text(p.newAgent(name), "agent.id") + "/memory"
}

func (p *probe) newBlock(at, label, value string, readOnly bool) answer {
	return p.ok(p.post(at+"/blocks", object{"label": label, "value": value, "read_only": readOnly}))
}

func snapshot(archive []byte, fields ...part) content {
	return form(append(fields, part{name: "snapshot", file: "memory.zip", media: "application/zip", content: archive})...)
}

func importMemory(p *probe) {
	from, to := p.remembering(), p.rememberingAs(p.name+"-2")
	p.newBlock(from, "notes", "first", false)
	p.ok(p.post(from+"/archive", object{"content": "kept"}))
	saved := p.want(p.post(from+"/export", object{}), 200)
	a := p.ok(p.post(to+"/import", snapshot(saved.body)))
	p.equal("blocks_imported", a.get("blocks_imported"), 1)
	p.equal("archive_entries_imported", a.get("archive_entries_imported"), 1)
	p.equal("block.value", p.want(p.get(to+"/blocks/notes"), 200).get("block.value"), "first")
	again := p.ok(p.post(to+"/import", snapshot(saved.body)))
	p.equal("archive_entries_imported", again.get("archive_entries_imported"), 0)
}

// mergeMemory imports a block that is there with another value.
func mergeMemory(p *probe, strategy, want string) {
	from, to := p.remembering(), p.rememberingAs(p.name+"-2")
	p.newBlock(from, "notes", "there", false)
	p.newBlock(to, "notes", "here", false)
	saved := p.want(p.post(from+"/export", object{}), 200)
	a := p.ok(p.post(to+"/import", snapshot(saved.body, field("merge_strategy", strategy))))
	p.equal("conflicts", a.get("conflicts"), 1)
	p.equal("block.value", p.want(p.get(to+"/blocks/notes"), 200).get("block.value"), want)
}
