package agents

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"regexp"
	"strings"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/filetree"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/oaf"
	"github.com/wharf-dev/wharf/runtime/personas"
)

// ImportAgents takes in the agents of a bundle. An error about the bundle has the param "bundle",
// and names all that is wrong in its details.
func (k *Keeper) ImportAgents(ctx context.Context, c *desk.Caller, r *desk.Retry, workspace string, req abi.AgentImport, files *filetree.Tree) (*Written, error) {
	req.Merge = cmp.Or(req.Merge, abi.MergeFail)
	if err := cmp.Or(desk.CheckOneOf("merge_strategy", req.Merge, abi.MergeFail, abi.MergeOverwrite, abi.MergeSkip), k.parts.Desk.CheckWorkspace(ctx, c, workspace)); err != nil {
		return nil, err
	}
	report := oaf.Read(files, &oaf.Fill{Name: cmp.Or(req.RenameTo, req.Name), Description: req.Description})
	if len(report.Errors) > 0 {
		return nil, Invalid(report)
	}
	r, err := judged(r, &req, files)
	if err != nil {
		return nil, err
	}
	in := &importing{keeper: k, c: c, workspace: workspace, req: &req, agents: report.Agents}
	for _, w := range report.Warnings {
		in.warnings = append(in.warnings, fmt.Sprintf("%s:%d: %s (%s)", w.File, w.Line, w.Message, w.Code))
	}
	return in.do(ctx, r)
}

// judged is a write that is the same as another when what is asked for and the files are.
func judged(r *desk.Retry, req *abi.AgentImport, files *filetree.Tree) (*desk.Retry, error) {
	if r == nil {
		return nil, nil
	}
	asked, err := json.Marshal(req, json.Deterministic(true))
	if err != nil {
		return nil, err
	}
	h := sha256.New()
	h.Write(asked)
	for _, f := range files.Files {
		_, _ = fmt.Fprintf(h, "%x %q\n", sha256.Sum256(f.Content), f.Path)
	}
	own := *r
	own.Fingerprint = [sha256.Size]byte(h.Sum(nil))
	return &own, nil
}

// Invalid says what is wrong with a bundle.
func Invalid(report *oaf.Report) error {
	first := report.Errors[0]
	where := first.File
	if first.Line > 0 {
		where += fmt.Sprintf(":%d", first.Line)
	}
	refused := abi.InvalidParam("bundle", "%s: %s (%s)", cmp.Or(where, "the bundle"), first.Message, first.Code)
	refused.Details, _ = json.Marshal(map[string][]oaf.Finding{"errors": report.Errors, "warnings": report.Warnings}, json.Deterministic(true)) // plain values
	return refused
}

// importing is the import of one bundle.
type importing struct {
	keeper    *Keeper
	c         *desk.Caller
	workspace string
	req       *abi.AgentImport
	agents    []oaf.Agent
	warnings  []string

	skills  [][]abi.AgentSkill
	bundles []*abi.AgentBundle
	ids     []string
	made    []bool // whether the import makes the agent
}

func (in *importing) do(ctx context.Context, r *desk.Retry) (*Written, error) {
	if r == nil { // else it may have been done before: that has to be looked for first
		if first, err := in.skips(ctx); err != nil || first != nil {
			return first, err
		}
	}
	if err := in.prepare(ctx); err != nil {
		return nil, err
	}
	doc, err := in.keeper.parts.Personas.WriteAgents(ctx, in.c, r, in.workspace, func() ([]personas.AgentWrite, error) { return in.draft(ctx) })
	if errors.Is(err, errThere) { // since it was looked for
		return in.skips(ctx)
	}
	if err != nil {
		return nil, err
	}
	out := &Written{Agents: []desk.Doc{doc}, Warnings: in.warnings}
	if doc.Replayed {
		return out, in.others(ctx, doc.ID, out)
	}
	for i, id := range in.ids {
		if i > 0 {
			if err := in.add(ctx, id, out); err != nil {
				return nil, err
			}
		}
		if err := in.remember(ctx, i); err != nil {
			return nil, err
		}
	}
	out.Warnings = in.warnings
	return out, nil
}

// add adds an agent to what is answered.
func (in *importing) add(ctx context.Context, id string, out *Written) error {
	doc, err := in.keeper.parts.Desk.Get(ctx, in.c, abi.ObjectPersona, id)
	if err == nil {
		out.Agents = append(out.Agents, doc)
	}
	return err
}

// others adds the agents that an import before has made with the first.
func (in *importing) others(ctx context.Context, first string, out *Written) error {
	ids, parents := []string{first}, in.parents()
	for i := 1; i < len(in.agents); i++ {
		a, parent := &in.agents[i], ""
		if parents[i] >= 0 {
			parent = ids[parents[i]]
		}
		id, err := in.keeper.parts.Personas.AgentOf(ctx, in.c, personas.AgentKey(in.workspace, parent, a.VendorKey, a.AgentKey))
		if err != nil {
			return err
		}
		if ids = append(ids, id); id == "" {
			continue // it was deleted since
		}
		if err := in.add(ctx, id, out); err != nil {
			return err
		}
	}
	return nil
}

// errThere says that an agent is there which is to stay as it is.
var errThere = errors.New("agents: it is there already")

// skips returns the agent that is there already, when it is to stay as it is; and refuses early
// what is in the way.
func (in *importing) skips(ctx context.Context) (*Written, error) {
	holder, err := in.holder(ctx, &in.agents[0], "")
	if err != nil || holder == "" || in.req.Merge != abi.MergeSkip {
		return nil, err
	}
	doc, err := in.keeper.parts.Desk.Get(ctx, in.c, abi.ObjectPersona, holder)
	if err != nil {
		return nil, err
	}
	return &Written{Agents: []desk.Doc{doc}, Skipped: true,
		Warnings: append(in.warnings, fmt.Sprintf("agent %s is there already, and stays as it is", holder))}, nil
}

// holder returns the agent that is there with the key of an imported one, or with its name; ""
// for none. Where there may be none it is a conflict, as it is where two are in the way.
func (in *importing) holder(ctx context.Context, a *oaf.Agent, parent string) (string, error) {
	key, name := personas.AgentKey(in.workspace, parent, a.VendorKey, a.AgentKey), personas.AgentName(in.workspace, parent, a.Name)
	byKey, err := in.keeper.parts.Personas.AgentOf(ctx, in.c, key)
	if err != nil {
		return "", err
	}
	byName, err := in.keeper.parts.Personas.AgentOf(ctx, in.c, name)
	switch {
	case err != nil:
		return "", err
	case byName != "" && (in.req.Merge == abi.MergeFail || byKey != "" && byKey != byName):
		return "", personas.AgentTaken(name, byName)
	case byKey != "" && in.req.Merge == abi.MergeFail && in.req.RenameTo == "":
		return "", personas.AgentTaken(key, byKey)
	case byKey != "" && in.req.Merge == abi.MergeFail:
		return "", in.otherKey(ctx, a, parent, byKey)
	}
	return cmp.Or(byKey, byName), nil
}

// otherKey gives an agent that is imported under another name a key that follows from it.
func (in *importing) otherKey(ctx context.Context, a *oaf.Agent, parent, holder string) error {
	before := a.AgentKey
	free, err := in.keeper.freeKey(ctx, in.c, in.workspace, parent, a.VendorKey, a.Name)
	if err != nil {
		return err
	}
	a.AgentKey, a.Slug = free, a.VendorKey+"/"+free
	in.warnings = append(in.warnings, fmt.Sprintf("agent %s has the key %s/%s: this one has %s", holder, a.VendorKey, before, a.Slug))
	return nil
}

var unplain = regexp.MustCompile(`[^a-z0-9]+`)

// plain returns the key that follows from a name.
func plain(name string) string {
	key := strings.Trim(unplain.ReplaceAllString(strings.ToLower(name), "-"), "-")
	return cmp.Or(strings.Trim(key[:min(len(key), 50)], "-"), "agent")
}

// freeKey returns a key that follows from a name and that no agent has.
func (k *Keeper) freeKey(ctx context.Context, c *desk.Caller, workspace, parent, vendor, name string) (string, error) {
	base := plain(name)
	for n, key := 2, base; ; n++ {
		holder, err := k.parts.Personas.AgentOf(ctx, c, personas.AgentKey(workspace, parent, vendor, key))
		if err != nil || holder == "" {
			return key, err
		}
		key = fmt.Sprintf("%s-%d", base, n)
	}
}

// prepare keeps what the bundle has besides its Personas: blobs and skills.
func (in *importing) prepare(ctx context.Context) error {
	for i := range in.agents {
		a := &in.agents[i]
		bundle, err := in.keeper.keep(ctx, a)
		if err != nil {
			return err
		}
		skills, err := in.install(ctx, a)
		if err != nil {
			return err
		}
		in.bundles, in.skills = append(in.bundles, bundle), append(in.skills, skills)
		in.warnTools(a)
	}
	return nil
}

func (in *importing) warnTools(a *oaf.Agent) {
	if _, _, unknown := a.Patterns(); len(unknown) > 0 {
		in.warnings = append(in.warnings, fmt.Sprintf("%s may use tools that are none here: %s", a.Name, strings.Join(unknown, ", ")))
	}
	if a.Model.Name != "" && in.keeper.parts.Model != nil {
		if _, known := in.keeper.parts.Model(a.Model.Name); !known {
			in.warnings = append(in.warnings, fmt.Sprintf("%s wants the model %q, which this node does not have: it asks the default", a.Name, a.Model.Name))
		}
	}
}

// install installs the skills that lie in a bundle, and names those that lie elsewhere.
func (in *importing) install(ctx context.Context, a *oaf.Agent) (all []abi.AgentSkill, err error) {
	for i := range a.Skills {
		s := &a.Skills[i]
		named := abi.AgentSkill{Name: s.Name, Version: s.Version}
		files := a.SkillTree(s.Name)
		switch {
		case !s.Local():
			in.warnings = append(in.warnings, fmt.Sprintf("the skill %s is not fetched from %s: install it", s.Name, s.Source))
		case files == nil:
		case in.keeper.parts.InstallSkill == nil:
			in.warnings = append(in.warnings, fmt.Sprintf("the skill %s is not installed: this node takes no skills", s.Name))
		default:
			if named, err = in.keeper.parts.InstallSkill(ctx, in.c, in.workspace, files); err != nil {
				return nil, fmt.Errorf("installing the skill %s: %w", s.Name, err)
			}
		}
		named.Required = s.Required
		all = append(all, named)
	}
	return all, nil
}

// draft returns the agents to write. It is called again when others were faster.
func (in *importing) draft(ctx context.Context) (writes []personas.AgentWrite, err error) {
	in.ids, in.made = nil, nil
	parents := in.parents()
	for i := range in.agents {
		a, parent := &in.agents[i], ""
		if parents[i] >= 0 {
			parent = in.ids[parents[i]]
		}
		holder, err := in.holder(ctx, a, parent)
		if err != nil {
			return nil, err
		}
		if holder != "" && in.req.Merge == abi.MergeSkip {
			return nil, errThere
		}
		p := abi.Persona{AutonomyTier: abi.TierActAuto, ReceiptPolicy: abi.ReceiptOptional, EntryWorkflow: in.req.Workflow}
		if holder != "" {
			if p, err = in.keeper.parts.Personas.FindAgent(ctx, in.c, in.workspace, holder); err != nil {
				return nil, err
			}
		} else {
			p.ID = in.keeper.parts.IDs.New(abi.ObjectPersona)
		}
		in.ids, in.made = append(in.ids, p.ID), append(in.made, holder == "")
		in.describe(&p, i)
		if parent != "" {
			p.Agent.ParentID, p.Agent.Role = parent, in.agents[parents[i]].Names(a).Role
		}
		writes = append(writes, personas.AgentWrite{Persona: p})
	}
	return writes, nil
}

// parents returns whose subagent each agent is, -1 for none: of the first before it that names it.
func (in *importing) parents() []int {
	parents := make([]int, len(in.agents))
	for i := range parents {
		parents[i] = -1
	}
	for i := range in.agents {
		for j := i + 1; j < len(in.agents); j++ {
			if parents[j] < 0 && in.agents[i].Names(&in.agents[j]) != nil {
				parents[j] = i
			}
		}
	}
	return parents
}

// describe puts what a bundle says into a Persona.
func (in *importing) describe(p *abi.Persona, i int) {
	a := &in.agents[i]
	p.Name, p.Description = a.Name, a.Description
	if a.Confirm && p.AutonomyTier == abi.TierActAuto {
		p.AutonomyTier = abi.TierActWithApproval
	}
	p.Agent = &abi.Agent{Instructions: a.Instructions, Temperature: a.Temperature, MaxTokens: a.MaxTokens, Skills: in.skills[i],
		VendorKey: a.VendorKey, AgentKey: a.AgentKey, Slug: a.Slug, Version: a.Version, Author: a.Author, License: a.License, Tags: a.Tags, Bundle: in.bundles[i]}
	for _, s := range a.Servers {
		p.Agent.MCPServers = append(p.Agent.MCPServers, abi.AgentServer{Name: s.Name, Tools: s.Tools, Required: s.Required})
	}
	in.keeper.setModel(p, a.Model)
	setTools(p, &a.Fields, a.Servers)
}

// setModel has an agent ask a model that is named.
func (k *Keeper) setModel(p *abi.Persona, m oaf.Model) {
	p.Agent.Model, p.Agent.ModelNamed = m.Name, nil
	if m.Name == "" {
		return
	}
	p.Agent.ModelNamed = &abi.AgentModel{Provider: m.Provider, Name: m.Name, Embedding: m.Embedding}
	if k.parts.Model != nil {
		p.Agent.Model, _ = k.parts.Model(m.Name)
	}
}

// setTools lets an agent use the tools that are named, and no other ones.
func setTools(p *abi.Persona, f *oaf.Fields, servers []oaf.Server) {
	p.Tools, p.ToolsDenied, _ = f.Patterns()
	for _, s := range servers {
		for _, tool := range s.Excluded {
			p.ToolsDenied = append(p.ToolsDenied, s.Name+":"+tool)
		}
	}
	if p.Tools == nil {
		p.Tools = []string{}
	}
	if p.Capabilities == nil {
		p.Capabilities = []string{}
	}
	p.Agent.ToolsNamed = nil
	if len(f.Allow)+len(f.Deny) > 0 {
		p.Agent.ToolsNamed = &abi.AgentTools{Allow: f.Allow, Deny: f.Deny}
	}
}

// remember gives an agent the memory that its bundle begins it with. One that was there keeps its
// own.
func (in *importing) remember(ctx context.Context, i int) error {
	a, memory := &in.agents[i], in.keeper.parts.Memory
	snapshot := a.Snapshot()
	switch {
	case !in.made[i] || len(a.Blocks) == 0 && len(snapshot) == 0:
		return nil
	case memory == nil:
		in.warnings = append(in.warnings, fmt.Sprintf("what %s remembers is not kept: this node keeps no blocks of memory", a.Name))
		return nil
	case len(snapshot) > 0:
		return memory.UnpackBlocks(ctx, in.c, in.ids[i], snapshot)
	}
	return memory.FillBlocks(ctx, in.c, in.ids[i], a.Blocks, a.ReadOnly)
}

// find returns an agent of a Workspace.
func (k *Keeper) find(ctx context.Context, c *desk.Caller, workspace, id string) (abi.Persona, error) {
	p, err := k.parts.Personas.FindAgent(ctx, c, workspace, id)
	if ledger.IsNotFound(err) {
		err = abi.NotFound(abi.ObjectPersona, id)
	}
	return p, err
}
