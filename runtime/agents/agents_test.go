package agents_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/agents"
	remembered "github.com/wharf-dev/wharf/runtime/blocks"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/filetree"
	"github.com/wharf-dev/wharf/runtime/internal/roomtest"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/oaf"
	"github.com/wharf-dev/wharf/runtime/personas"
	"github.com/wharf-dev/wharf/storage"
	"github.com/wharf-dev/wharf/storage/memory"
)

// room is a keeper by itself, with a shelf of skills and of blocks.
type room struct {
	*roomtest.House
	*agents.Keeper
	personas *personas.Keeper
	skills   []string // that were installed, as WORKSPACE/NAME
	memory   blocks
}

func newRoom(t testing.TB) *room {
	r := &room{House: roomtest.New(t, memory.New(time.Now)), memory: blocks{}}
	r.start()
	return r
}

func (r *room) start() {
	r.personas = personas.NewKeeper(personas.Parts{Parts: r.Parts, Started: r.Now(), Calls: abi.HostCallsByName(),
		Offers:   func(_ context.Context, plugin, _ string) (bool, error) { return plugin == "agent", nil },
		LeaveOut: func(storage.Tenant, abi.Object, string, error) {}})
	r.Keeper = agents.NewKeeper(agents.Parts{Parts: r.Parts, Personas: r.personas, Memory: r.memory,
		InstallSkill: func(_ context.Context, _ *desk.Caller, workspace string, files *filetree.Tree) (abi.AgentSkill, error) {
			if files.File("SKILL.md") == nil {
				return abi.AgentSkill{}, errors.New("no skill")
			}
			r.skills = append(r.skills, workspace+"/"+files.Root)
			return abi.AgentSkill{Name: files.Root, Version: "2.0.0", Digest: "sha256:x"}, nil
		},
		Model: func(name string) (string, bool) { return map[string]string{"sonnet": "claude"}[name], name == "sonnet" },
	})
}

// blocks are what agents remember, by their ids.
type blocks map[string][]string

func (b blocks) FillBlocks(_ context.Context, _ *desk.Caller, agent string, some []oaf.Block, _ bool) error {
	for _, one := range some {
		b[agent] = append(b[agent], one.Label+"="+one.Value)
	}
	return nil
}

func (b blocks) CopyBlocks(_ context.Context, _ *desk.Caller, from, to string) error {
	b[to] = slices.Clone(b[from])
	return nil
}

func (b blocks) PackBlocks(_ context.Context, _ *desk.Caller, agent string) ([]filetree.File, error) {
	return []filetree.File{{Path: "blocks.json", Content: []byte(strings.Join(b[agent], ";"))}}, nil
}

func (b blocks) UnpackBlocks(_ context.Context, _ *desk.Caller, agent string, files []filetree.File) error {
	b[agent] = strings.Split(string(files[0].Content), ";")
	return nil
}

func (b blocks) ForgetBlocks(context.Context, *desk.Caller, string) ([]ledger.Record, error) {
	return nil, nil
}

func (b blocks) DropBlocks(_ context.Context, _ *desk.Caller, agent string) error {
	delete(b, agent)
	return nil
}

// manifest is an AGENTS.md of an agent, with lines of its own in its front matter.
func manifest(key string, lines ...string) string {
	return fmt.Sprintf(`---
# %[1]s
name: "The %[1]s"
vendorKey: acme
agentKey: %[1]s
version: 1.0.0
slug: acme/%[1]s
description: "A helper that is described in more than fifty characters."
author: "@acme"
license: MIT
tags: [a, b]
%[2]s
---

You are %[1]s.
`, key, strings.Join(lines, "\n"))
}

func tree(pairs ...string) *filetree.Tree {
	t := &filetree.Tree{}
	for i := 0; i < len(pairs); i += 2 {
		t.Files = append(t.Files, filetree.File{Path: pairs[i], Content: []byte(pairs[i+1])})
	}
	slices.SortFunc(t.Files, func(a, b filetree.File) int { return strings.Compare(a.Path, b.Path) })
	return t
}

// take imports a bundle into Workspace.
func (r *room) take(t testing.TB, req abi.AgentImport, files *filetree.Tree) (*agents.Written, error) {
	t.Helper()
	req.Workflow = "agent"
	return r.ImportAgents(t.Context(), r.Root(), nil, roomtest.Workspace, req, files)
}

func (r *room) took(t testing.TB, req abi.AgentImport, files *filetree.Tree) (*agents.Written, abi.Persona) {
	t.Helper()
	w, err := r.take(t, req, files)
	if err != nil {
		t.Fatal(err)
	}
	return w, roomtest.As[abi.Persona](t, w.Agents[0])
}

func (r *room) export(t testing.TB, id string, how abi.AgentExport) []byte {
	t.Helper()
	e, err := r.ExportAgent(t.Context(), r.Root(), roomtest.Workspace, id, how)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := e.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func unpack(t testing.TB, zip []byte) *filetree.Tree {
	t.Helper()
	read, err := filetree.ReadZip(bytes.NewReader(zip), int64(len(zip)), oaf.Limits())
	if err != nil {
		t.Fatal(err)
	}
	return read
}

func holder(t testing.TB, err error) string {
	t.Helper()
	var details map[string]string
	if json.Unmarshal(roomtest.WantCode(t, err, abi.CodeConflict).Details, &details) != nil {
		t.Fatal(err)
	}
	return details["agent_id"]
}

func (r *room) names(t testing.TB) (names []string) {
	t.Helper()
	list, err := r.Agents(t.Context(), r.Root(), roomtest.Workspace, desk.Page{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	for _, doc := range list.Docs {
		names = append(names, roomtest.As[abi.Persona](t, doc).Name)
	}
	return names
}

// What a bundle says becomes policy of the Persona: instructions, model, tools, skills, memory.
func TestABundleBecomesAnAgent(t *testing.T) {
	r := newRoom(t)
	w, p := r.took(t, abi.AgentImport{}, tree("AGENTS.md", manifest("coder", "model: sonnet", "config:", "  temperature: 0", "  require_confirmation: true",
		"tools: [Read, Bash]", "skills: [{name: fix, source: local, required: true}, {name: pdf, source: 'https://x.test'}]",
		"mcpServers: [{vendor: v, server: gh}]", "memory: {blocks: {mood: dry}}"), "skills/fix/SKILL.md", "x", "docs/a", "a",
		"mcp-configs/gh/ActiveMCP.json", `{"selectedTools":[{"name":"issues"}],"excludedTools":["delete"]}`))
	a := p.Agent
	if p.Name != "The coder" || p.AutonomyTier != abi.TierActWithApproval || a.Instructions != "You are coder." || a.Model != "claude" || a.ModelNamed.Name != "sonnet" || *a.Temperature != 0 {
		t.Errorf("%+v %+v", p, a)
	}
	if fmt.Sprint(p.Tools, p.ToolsDenied, a.MCPServers) != "[host:file_read] [gh:delete] [{gh [issues] false}]" {
		t.Error(p.Tools, p.ToolsDenied, a.MCPServers)
	}
	if fmt.Sprint(a.Skills) != "[{fix 2.0.0 sha256:x true} {pdf   false}]" || fmt.Sprint(r.skills) != "[ws_test/fix]" || fmt.Sprint(r.memory[p.ID]) != "[mood=dry]" {
		t.Error(a.Skills, r.skills, r.memory)
	}
	if all := strings.Join(w.Warnings, "\n"); !strings.Contains(all, "none here: Bash") || !strings.Contains(all, "pdf is not fetched") {
		t.Error(all)
	}
	w, p = r.took(t, abi.AgentImport{}, tree("AGENTS.md", manifest("other", "model: {provider: x, name: gpt-9}")))
	if p.Agent.Model != "" || p.Agent.ModelNamed.Name != "gpt-9" || !strings.Contains(strings.Join(w.Warnings, "\n"), "gpt-9") {
		t.Error(p.Agent, w.Warnings)
	}
}

// Names and keys are one agent's, whoever asks for them, and however often.
func TestNamesAndKeysAreTaken(t *testing.T) {
	r := newRoom(t)
	_, first := r.took(t, abi.AgentImport{}, tree("AGENTS.md", manifest("coder")))
	_, err := r.take(t, abi.AgentImport{}, tree("AGENTS.md", manifest("coder")))
	if holder(t, err) != first.ID {
		t.Error(err)
	}
	_, err = r.take(t, abi.AgentImport{}, tree("AGENTS.md", strings.Replace(manifest("other"), "The other", "The coder", 1)))
	if holder(t, err) != first.ID {
		t.Error("the name is taken:", err)
	}
	_, err = r.take(t, abi.AgentImport{}, tree("AGENTS.md", strings.Replace(manifest("coder"), "The coder", "Another", 1)))
	if holder(t, err) != first.ID {
		t.Error("the key is taken:", err)
	}
	description := "d"
	_, err = r.personas.CreatePersona(t.Context(), r.Root(), nil, abi.CreatePersonaRequest{Name: "The coder", Version: "1", EntryWorkflow: "agent", Description: &description,
		AutonomyTier: abi.TierActAuto, ReceiptPolicy: abi.ReceiptOptional, WorkspaceID: roomtest.Workspace, Agent: &abi.Agent{}})
	if holder(t, err) != first.ID {
		t.Error("by a Persona's request:", err)
	}
	w, second := r.took(t, abi.AgentImport{RenameTo: "My Coder!"}, tree("AGENTS.md", manifest("coder")))
	if second.ID == first.ID || second.Name != "My Coder!" || second.Agent.AgentKey != "my-coder" || len(w.Warnings) != 1 {
		t.Errorf("%+v %v", second, w.Warnings)
	}
	r.NewWorkspace(t, "ws_2")
	if _, err := r.ImportAgents(t.Context(), r.Root(), nil, "ws_2", abi.AgentImport{Workflow: "agent"}, tree("AGENTS.md", manifest("coder"))); err != nil {
		t.Error("another workspace has names of its own:", err)
	}
	if _, err := r.UpdateAgent(t.Context(), r.Root(), nil, roomtest.Workspace, second.ID, abi.AgentChange{Name: new("The coder")}); holder(t, err) != first.ID {
		t.Error(err)
	}
	if _, err := r.UpdateAgent(t.Context(), r.Root(), nil, roomtest.Workspace, first.ID, abi.AgentChange{Name: new("Free")}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.UpdateAgent(t.Context(), r.Root(), nil, roomtest.Workspace, second.ID, abi.AgentChange{Name: new("The coder")}); err != nil {
		t.Error("the name was given back:", err)
	}
	r.Crash()
	r.start()
	if got := fmt.Sprint(r.names(t)); got != "[The coder Free]" {
		t.Error(got)
	}
}

// Of many who import one agent at once, one does.
func TestImportedAtOnce(t *testing.T) {
	r := newRoom(t)
	var wg sync.WaitGroup
	made := make(chan string, 8)
	for i := range 8 {
		wg.Go(func() {
			req := abi.AgentImport{Workflow: "agent", Merge: []abi.AgentMerge{abi.MergeFail, abi.MergeSkip}[i%2]}
			w, err := r.ImportAgents(t.Context(), r.Root(), nil, roomtest.Workspace, req, tree("AGENTS.md", manifest("coder")))
			if err == nil && !w.Skipped {
				made <- w.Agents[0].ID
			}
		})
	}
	wg.Wait()
	close(made)
	ids := map[string]bool{}
	for id := range made {
		ids[id] = true
	}
	if names := r.names(t); len(names) != 1 || len(ids) != 1 {
		t.Error(names, ids)
	}
	if kinds := r.Kinds(t, desk.Filter{WorkspaceID: roomtest.Workspace}); slices.Contains(kinds, abi.EventPersonaUpdated) {
		t.Error("what is to stay was written again")
	}
}

// An agent that is overwritten stays the same one, with a version more and what it remembers; one that
// is skipped stays as it is.
func TestMerges(t *testing.T) {
	r := newRoom(t)
	_, first := r.took(t, abi.AgentImport{}, tree("AGENTS.md", manifest("coder", "memory: {blocks: {mood: dry}}")))
	shadow := abi.TierShadow
	if _, err := r.personas.UpdatePersona(t.Context(), r.Root(), nil, first.ID, abi.UpdatePersonaRequest{AutonomyTier: &shadow}); err != nil {
		t.Fatal(err)
	}
	next := strings.Replace(manifest("coder", "memory: {blocks: {mood: wet}}"), "1.0.0", "1.1.0", 1)
	w, same := r.took(t, abi.AgentImport{Merge: abi.MergeSkip}, tree("AGENTS.md", next))
	if !w.Skipped || same.ID != first.ID || same.Agent.Version != "1.0.0" || len(w.Warnings) != 1 {
		t.Errorf("%+v", w)
	}
	w, same = r.took(t, abi.AgentImport{Merge: abi.MergeOverwrite}, tree("AGENTS.md", next))
	if w.Skipped || same.ID != first.ID || same.Agent.Version != "1.1.0" || same.Version != "3" || fmt.Sprint(r.memory[same.ID]) != "[mood=dry]" {
		t.Errorf("%+v %v", same, r.memory)
	}
	if same.AutonomyTier != shadow || !same.CreatedAt.Equal(first.CreatedAt) {
		t.Error("a bundle frees nobody of what the operator has set:", same.AutonomyTier)
	}
	if p, err := r.personas.Persona(t.Context(), roomtest.Tenant, first.ID); err != nil || p.Agent.Version != "1.1.0" {
		t.Error("Tasks run as it was:", err)
	}
	_, other := r.took(t, abi.AgentImport{}, tree("AGENTS.md", manifest("other")))
	both := strings.Replace(next, "The coder", "The other", 1)
	if _, err := r.take(t, abi.AgentImport{Merge: abi.MergeOverwrite}, tree("AGENTS.md", both)); holder(t, err) != other.ID {
		t.Error("it would be two agents:", err)
	}
	_, err := r.take(t, abi.AgentImport{Merge: "mix"}, tree("AGENTS.md", next))
	roomtest.WantParam(t, err, "merge_strategy")
}

// What was given out is taken in as the same agent, and given out again as the same bytes: also
// what was changed since, and what is not known here.
func TestExportImportExport(t *testing.T) {
	r := newRoom(t)
	_, p := r.took(t, abi.AgentImport{}, tree("AGENTS.md", manifest("coder", "x-own: {a: [1, 2]} # kept", "tools: [Read, Bash]"),
		"docs/a.md", strings.Repeat("long ", 1000), "skills/fix/SKILL.md", "x", "versions/v0.9.0/AGENTS.md", "old"))
	plain := r.export(t, p.ID, abi.AgentExport{})
	files := unpack(t, plain)
	if string(files.File("AGENTS.md").Content) != manifest("coder", "x-own: {a: [1, 2]} # kept", "tools: [Read, Bash]") || files.File("docs/a.md") == nil || files.File("versions/v0.9.0/AGENTS.md") != nil {
		t.Fatalf("%+v", files)
	}
	heat := 0.5
	if _, err := r.UpdateAgent(t.Context(), r.Root(), nil, roomtest.Workspace, p.ID, abi.AgentChange{Description: new("Changed: \"so\""), Temperature: &heat,
		Instructions: new("You are changed.\n\nReally."), Model: &abi.AgentModel{Provider: "a", Name: "sonnet"}, Deny: &[]string{"weather:*"}}); err != nil {
		t.Fatal(err)
	}
	r.memory[p.ID] = []string{"k=v"}
	r.Crash()
	r.start()
	for name, how := range map[string]abi.AgentExport{"plain": {}, "all": {Memory: true, Versions: true}, "referenced": {Referenced: true}} {
		first := r.export(t, p.ID, how)
		r.NewWorkspace(t, "ws_"+name)
		w, err := r.ImportAgents(t.Context(), r.Root(), nil, "ws_"+name, abi.AgentImport{Workflow: "agent"}, unpack(t, first))
		if err != nil {
			t.Fatal(name, err)
		}
		e, err := r.ExportAgent(t.Context(), r.Root(), "ws_"+name, w.Agents[0].ID, how)
		if err != nil {
			t.Fatal(name, err)
		}
		var second bytes.Buffer
		if err := e.Write(&second); err != nil || !bytes.Equal(first, second.Bytes()) {
			t.Errorf("%s: %v\n%s", name, err, unpack(t, second.Bytes()).File("AGENTS.md").Content)
		}
		before, after := roomtest.As[abi.Persona](t, r.agent(t, p.ID)), roomtest.As[abi.Persona](t, w.Agents[0])
		before.Agent.Bundle, after.Agent.Bundle = nil, nil
		if x, y := must(json.Marshal(before.Agent)), must(json.Marshal(after.Agent)); x != y || fmt.Sprint(before.Tools, before.ToolsDenied) != fmt.Sprint(after.Tools, after.ToolsDenied) {
			t.Errorf("%s: it is %s, was %s", name, y, x)
		}
		if how.Memory && (fmt.Sprint(r.memory[after.ID]) != "[k=v]" || unpack(t, first).File("versions/v0.9.0/AGENTS.md") == nil) {
			t.Error("memory or versions are lost", r.memory)
		}
		if text := string(unpack(t, first).File("AGENTS.md").Content); !strings.Contains(text, "# kept") || !strings.Contains(text, "You are changed.\n\nReally.") {
			t.Error(text)
		}
	}
}

func (r *room) agent(t testing.TB, id string) desk.Doc {
	t.Helper()
	doc, err := r.Agent(t.Context(), r.Root(), roomtest.Workspace, id)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func must(text []byte, err error) string { return string(text) + fmt.Sprint(err) }

// Agents of one bundle are written together, subagents below those that name them; one that
// cannot be leaves none.
func TestSubagents(t *testing.T) {
	r := newRoom(t)
	pack := []string{"PACKAGE.yaml", "agents: [acme/boss, acme/worker, acme/alone]", "b/AGENTS.md", manifest("boss", "agents: [{vendor: acme, agent: worker, role: digs}]"),
		"w/AGENTS.md", manifest("worker"), "a/AGENTS.md", manifest("alone")}
	w, boss := r.took(t, abi.AgentImport{}, tree(pack...))
	if len(w.Agents) != 3 {
		t.Fatal(w)
	}
	worker := roomtest.As[abi.Persona](t, w.Agents[1])
	if boss.Agent.AgentKey != "boss" || worker.Agent.ParentID != boss.ID || worker.Agent.Role != "digs" || fmt.Sprint(r.names(t)) != "[The alone The boss]" {
		t.Errorf("%+v %v", worker.Agent, r.names(t))
	}
	if _, err := r.take(t, abi.AgentImport{}, tree("AGENTS.md", manifest("worker"))); err != nil {
		t.Error("a subagent's name is its parent's to give:", err)
	}
	for range 2 { // also by a retry
		req := abi.AgentImport{Workflow: "agent", Merge: abi.MergeOverwrite}
		all, err := r.ImportAgents(t.Context(), r.Root(), roomtest.Retry("k", ""), roomtest.Workspace, req, tree(pack...))
		if err != nil || len(all.Agents) != 3 || all.Agents[0].ID != boss.ID || all.Agents[1].ID != worker.ID {
			t.Error(all, err)
		}
	}
	before := len(r.names(t))
	if _, err := r.take(t, abi.AgentImport{}, tree("PACKAGE.yaml", "agents: [acme/new, acme/alone]", "n/AGENTS.md", manifest("new"), "a/AGENTS.md", manifest("alone"))); err == nil || len(r.names(t)) != before {
		t.Error("half of it is there:", err, r.names(t))
	}
	if _, err := r.take(t, abi.AgentImport{}, tree("PACKAGE.yaml", "agents: [a, b]", "a/AGENTS.md", manifest("same"), "b/AGENTS.md", manifest("same"))); err == nil {
		t.Error("two agents have one name")
	}
	again, same := r.took(t, abi.AgentImport{Merge: abi.MergeOverwrite}, tree(pack...))
	if same.ID != boss.ID || again.Agents[1].ID != worker.ID {
		t.Error("other agents were made")
	}
	doc, err := r.CloneAgent(t.Context(), r.Root(), nil, roomtest.Workspace, boss.ID, "Second", false)
	if err != nil {
		t.Fatal(err)
	}
	below, err := r.personas.AgentsBelow(t.Context(), r.Root(), roomtest.Workspace, doc.ID)
	if err != nil || len(below) != 1 || below[0].Name != "The worker" || below[0].ID == worker.ID {
		t.Error(below, err)
	}
	first := r.export(t, boss.ID, abi.AgentExport{})
	r.NewWorkspace(t, "ws_2")
	in, err := r.ImportAgents(t.Context(), r.Root(), nil, "ws_2", abi.AgentImport{Workflow: "agent"}, unpack(t, first))
	if err != nil || len(in.Agents) != 2 {
		t.Fatal(err, in)
	}
	if err := r.DeleteAgent(t.Context(), r.Root(), nil, roomtest.Workspace, boss.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Agent(t.Context(), r.Root(), roomtest.Workspace, worker.ID); err == nil {
		t.Error("a subagent has outlived its parent")
	}
}

// A clone has a name and a key of its own, and remembers what the other does only if that is asked for.
func TestClone(t *testing.T) {
	r := newRoom(t)
	_, p := r.took(t, abi.AgentImport{}, tree("AGENTS.md", manifest("coder", "memory: {blocks: {mood: dry}}"), "docs/a", "a"))
	for i, memory := range []bool{false, true} {
		doc, err := r.CloneAgent(t.Context(), r.Root(), nil, roomtest.Workspace, p.ID, fmt.Sprint("Coder ", i), memory)
		if err != nil {
			t.Fatal(err)
		}
		c := roomtest.As[abi.Persona](t, doc)
		if c.ID == p.ID || c.Version != "1" || c.Agent.Slug != fmt.Sprintf("acme/coder-%d", i) || c.Agent.Instructions != p.Agent.Instructions || (len(r.memory[c.ID]) == 1) != memory {
			t.Errorf("%+v %v", c, r.memory)
		}
		if text := unpack(t, r.export(t, c.ID, abi.AgentExport{})).File("AGENTS.md").Content; !bytes.Contains(text, []byte(`agentKey: "coder-`+fmt.Sprint(i)+`"`)) {
			t.Errorf("%s", text)
		}
	}
	_, err := r.CloneAgent(t.Context(), r.Root(), nil, roomtest.Workspace, p.ID, "The coder", false)
	if holder(t, err) != p.ID {
		t.Error(err)
	}
	_, err = r.CloneAgent(t.Context(), r.Root(), nil, roomtest.Workspace, p.ID, "", false)
	roomtest.WantParam(t, err, "new_name")
	_, err = r.CloneAgent(t.Context(), r.Root(), nil, roomtest.Workspace, p.ID, strings.Repeat("n", 101), false)
	roomtest.WantParam(t, err, "name")
}

// An agent that is in use stays. One that was deleted is nowhere, its name is free, and its Tasks
// that have begun know it.
func TestDelete(t *testing.T) {
	r := newRoom(t)
	_, p := r.took(t, abi.AgentImport{}, tree("AGENTS.md", manifest("coder", "memory: {blocks: {mood: dry}}")))
	session := &abi.Session{Envelope: abi.NewEnvelope(abi.ObjectSession, "sess_2", r.Now(), nil), WorkspaceID: roomtest.Workspace, PersonaID: p.ID, State: abi.SessionPaused}
	r.State(t, roomtest.Workspace, "sess_2", abi.EventSessionCreated, abi.ObjectSession, "sess_2", session)
	roomtest.WantCode(t, r.DeleteAgent(t.Context(), r.Root(), nil, roomtest.Workspace, p.ID), abi.CodeConflict)
	session.State = abi.SessionClosed
	r.State(t, roomtest.Workspace, "sess_2", abi.EventSessionClosed, abi.ObjectSession, "sess_2", session)
	for range 2 { // a retry is answered as the first was
		if err := r.DeleteAgent(t.Context(), r.Root(), roomtest.Retry("k", ""), roomtest.Workspace, p.ID); err != nil {
			t.Fatal(err)
		}
	}
	if len(r.memory) != 0 || len(r.names(t)) != 0 {
		t.Error(r.memory, r.names(t))
	}
	r.Crash()
	r.start()
	_, err := r.Agent(t.Context(), r.Root(), roomtest.Workspace, p.ID)
	roomtest.WantCode(t, err, abi.CodeResourceNotFound)
	_, err = r.personas.PersonaIn(t.Context(), roomtest.Tenant, roomtest.Workspace, p.ID)
	roomtest.WantCode(t, err, abi.CodeResourceNotFound)
	_, err = r.personas.UpdatePersona(t.Context(), r.Root(), nil, p.ID, abi.UpdatePersonaRequest{Name: new("back")})
	roomtest.WantCode(t, err, abi.CodeResourceNotFound)
	for _, f := range []desk.Filter{{}, {WorkspaceID: roomtest.Workspace}} {
		list, err := r.Desk.List(t.Context(), r.Root(), abi.ObjectPersona, f, desk.Page{Limit: 10, Total: f.WorkspaceID != ""})
		if err != nil || len(list.Docs) != 0 || list.Total != 0 {
			t.Error(f, list, err)
		}
	}
	if known, err := r.personas.Persona(t.Context(), roomtest.Tenant, p.ID); err != nil || known.DeletedAt.IsZero() {
		t.Error(err)
	}
	if _, again := r.took(t, abi.AgentImport{}, tree("AGENTS.md", manifest("coder"))); again.ID == p.ID {
		t.Error("it is back")
	}
}

// Agents of a Workspace are those of who sees it; who may not make policy there makes none.
func TestWhoHasAgents(t *testing.T) {
	r := newRoom(t)
	_, p := r.took(t, abi.AgentImport{}, tree("AGENTS.md", manifest("coder")))
	for who, c := range r.Strangers() {
		_, err := r.Agent(t.Context(), c, roomtest.Workspace, p.ID)
		roomtest.WantCode(t, err, abi.CodeResourceNotFound)
		_, err = r.ImportAgents(t.Context(), c, nil, roomtest.Workspace, abi.AgentImport{Workflow: "agent"}, tree("AGENTS.md", manifest("x")))
		roomtest.WantCode(t, err, abi.CodeResourceNotFound)
		_, err = r.ExportAgent(t.Context(), c, roomtest.Workspace, p.ID, abi.AgentExport{})
		roomtest.WantCode(t, err, abi.CodeResourceNotFound)
		_, err = r.CloneAgent(t.Context(), c, nil, roomtest.Workspace, p.ID, "n", false)
		roomtest.WantCode(t, err, abi.CodeResourceNotFound)
		roomtest.WantCode(t, r.DeleteAgent(t.Context(), c, nil, roomtest.Workspace, p.ID), abi.CodeResourceNotFound)
		if list, err := r.Agents(t.Context(), c, roomtest.Workspace, desk.Page{Limit: 10}); err == nil {
			t.Error(who, list)
		}
	}
	own := r.Bound(roomtest.Workspace)
	own.Scopes = []string{"personas:write"}
	_, err := r.UpdateAgent(t.Context(), own, nil, roomtest.Workspace, p.ID, abi.AgentChange{Name: new("n")})
	roomtest.WantCode(t, err, abi.CodePermissionDenied)
	roomtest.WantCode(t, r.DeleteAgent(t.Context(), own, nil, roomtest.Workspace, p.ID), abi.CodePermissionDenied)
	own.Scopes = append(own.Scopes, abi.ScopePersonasOwn)
	if _, err := r.UpdateAgent(t.Context(), own, nil, roomtest.Workspace, p.ID, abi.AgentChange{Name: new("n")}); err != nil {
		t.Error(err)
	}
	r.NewWorkspace(t, "ws_2")
	_, err = r.Agent(t.Context(), r.Root(), "ws_2", p.ID)
	roomtest.WantCode(t, err, abi.CodeResourceNotFound)
}

// dying is a store whose node dies before a second batch is handed over.
type dying struct {
	storage.Store
	left int
}

func (d *dying) Append(b *storage.Batch) storage.Commit {
	if d.left--; d.left < 0 {
		return refused{}
	}
	return d.Store.Append(b)
}

type refused struct{}

func (refused) Wait(context.Context) (storage.Position, error) {
	return 0, errors.New("the node has died")
}

// remembers returns what keeps blocks in the log.
func (r *room) remembers() *remembered.Keeper {
	return remembered.NewKeeper(remembered.Parts{Parts: r.Parts, TenantID: func(storage.Tenant) string { return roomtest.TenantID }, Persona: r.personas.Persona})
}

// An agent that was deleted leaves nothing that it and its subagents remember, also when the node
// dies on the way.
func TestADeletedAgentLeavesNoBlocks(t *testing.T) {
	for _, batches := range []int{0, 1, 2} {
		r := newRoom(t)
		in, boss := r.took(t, abi.AgentImport{}, tree("PACKAGE.yaml", "agents: [acme/boss, acme/worker]",
			"b/AGENTS.md", manifest("boss", "agents: [{vendor: acme, agent: worker, role: digs}]"), "w/AGENTS.md", manifest("worker")))
		family := []string{boss.ID, roomtest.As[abi.Persona](t, in.Agents[1]).ID}
		for _, agent := range family {
			if _, err := r.remembers().CreateBlock(t.Context(), r.Root(), nil, agent, abi.CreateBlockRequest{Label: "mood", Value: "dry"}); err != nil {
				t.Fatal(err)
			}
		}
		over := &dying{Store: r.Store, left: batches}
		r.Parts.Store = over
		r.Parts.Ledger = ledger.New(ledger.Config{Store: over, Now: time.Now, Log: r.Log, IdleSessions: 10, KeepKeys: time.Hour})
		r.Parts.Desk = desk.New(over, r.Parts.Ledger, time.Now, nil)
		r.start()
		keeper := agents.NewKeeper(agents.Parts{Parts: r.Parts, Personas: r.personas, Memory: r.remembers()})
		deleted := keeper.DeleteAgent(t.Context(), r.Root(), nil, roomtest.Workspace, boss.ID) == nil
		r.Crash()
		r.start()
		if _, err := r.Agent(t.Context(), r.Root(), roomtest.Workspace, boss.ID); (err != nil) != deleted || deleted != (batches > 0) {
			t.Errorf("after %d batches it was deleted: %t; and then %v", batches, deleted, err)
		}
		for _, agent := range family {
			res, err := r.Ledger.Find(t.Context(), roomtest.Tenant, abi.ObjectAgentMemory, remembered.ID(agent))
			if kept := bytes.Contains(res.State, []byte("dry")); err != nil || kept == deleted {
				t.Errorf("after %d batches: %s %v", batches, res.State, err)
			}
		}
	}
}

// What somebody tells an agent while it is deleted is forgotten with it, whichever comes first.
func TestAnAgentIsToldWhileItIsDeleted(t *testing.T) {
	for range 50 {
		r := newRoom(t)
		keeper := r.remembers()
		_, p := r.took(t, abi.AgentImport{}, tree("AGENTS.md", manifest("coder")))
		var both sync.WaitGroup
		both.Go(func() {
			_, err := keeper.CreateBlock(t.Context(), r.Root(), nil, p.ID, abi.CreateBlockRequest{Label: "mood", Value: "dry"})
			if err != nil {
				roomtest.WantCode(t, err, abi.CodeResourceNotFound)
			}
		})
		deletes := agents.NewKeeper(agents.Parts{Parts: r.Parts, Personas: r.personas, Memory: keeper})
		if err := deletes.DeleteAgent(t.Context(), r.Root(), nil, roomtest.Workspace, p.ID); err != nil {
			t.Error(err)
		}
		both.Wait()
		if res, err := r.Ledger.Find(t.Context(), roomtest.Tenant, abi.ObjectAgentMemory, remembered.ID(p.ID)); err == nil && bytes.Contains(res.State, []byte("dry")) {
			t.Fatalf("%s", res.State)
		}
	}
}

// A page by offset and one by cursor have the same, and say how many there are.
func TestPages(t *testing.T) {
	r := newRoom(t)
	for _, key := range []string{"a", "b", "c", "d", "e"} {
		r.took(t, abi.AgentImport{}, tree("AGENTS.md", manifest(key)))
	}
	after := ""
	for offset := 0; offset < 5; offset += 2 {
		by := map[string]desk.Page{"offset": {Limit: 2, Offset: offset, Total: true}, "cursor": {Limit: 2, After: after, Total: true}}
		var next string
		for how, page := range by {
			list, err := r.Agents(t.Context(), r.Root(), roomtest.Workspace, page)
			if err != nil || list.Total != 5 || list.More != (offset < 4) || roomtest.As[abi.Persona](t, list.Docs[0]).Name != "The "+string("edcba"[offset]) {
				t.Errorf("%s %d: %+v, %v", how, offset, list, err)
			}
			next = list.Next
		}
		after = next
	}
}

// An agent that came without a bundle has a key, and a bundle when it is given out.
func TestCreateWithoutABundle(t *testing.T) {
	r := newRoom(t)
	create := func(req abi.NewAgent) (abi.Persona, error) {
		req.Workflow = "agent"
		doc, err := r.CreateAgent(t.Context(), r.Root(), nil, roomtest.Workspace, req)
		if err != nil {
			return abi.Persona{}, err
		}
		return roomtest.As[abi.Persona](t, doc), nil
	}
	p, err := create(abi.NewAgent{Name: "Über Helper", Agent: abi.Agent{Instructions: "Help.", ModelNamed: &abi.AgentModel{Name: "sonnet"},
		ToolsNamed: &abi.AgentTools{Allow: []string{"Read"}}, Skills: []abi.AgentSkill{{Name: "fix", Required: true}}}})
	if err != nil || p.Agent.Slug != "local/ber-helper" || p.Agent.Model != "claude" || fmt.Sprint(p.Tools) != "[host:file_read]" {
		t.Fatalf("%+v %v", p, err)
	}
	w, again := r.took(t, abi.AgentImport{Merge: abi.MergeOverwrite}, unpack(t, r.export(t, p.ID, abi.AgentExport{})))
	if again.ID != p.ID || again.Agent.Instructions != "Help." || fmt.Sprint(again.Agent.Skills) != "[{fix   true}]" {
		t.Errorf("%+v %v", again, w.Warnings)
	}
	_, err = create(abi.NewAgent{})
	roomtest.WantParam(t, err, "name")
	_, err = create(abi.NewAgent{Name: "n", Agent: abi.Agent{Instructions: strings.Repeat("ä", 100_001)}})
	roomtest.WantParam(t, err, "agent.instructions")
	if _, err = create(abi.NewAgent{Name: "n", Agent: abi.Agent{Instructions: strings.Repeat("ä", 100_000)}}); err != nil {
		t.Error(err)
	}
}

// What is no bundle leaves nothing, and says all that is wrong with it.
func TestRefusedBundlesLeaveNothing(t *testing.T) {
	r := newRoom(t)
	before := r.Store.Watermark()
	_, err := r.take(t, abi.AgentImport{}, tree("AGENTS.md", strings.Replace(manifest("coder"), "license: MIT", "license: Nope", 1)))
	roomtest.WantParam(t, err, "bundle")
	if refused := roomtest.WantCode(t, err, abi.CodeInvalidRequest); !strings.Contains(refused.Message, "AGENTS.md:10: ") || !bytes.Contains(refused.Details, []byte(`"LICENSE_UNKNOWN"`)) {
		t.Error(refused.Message, string(refused.Details))
	}
	if r.Store.Watermark() != before || len(r.skills) != 0 {
		t.Error("something is left")
	}
}
