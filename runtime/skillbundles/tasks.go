package skillbundles

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/filetree"
	"github.com/wharf-dev/wharf/runtime/hostcall"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/skillmd"
	"github.com/wharf-dev/wharf/storage"
)

// maxNames is how many skills a Session, and how many a Task, may name.
const maxNames = 32

// CheckSkillNames refuses names, or ids, of skills that are not installed in a Workspace.
func (k *Keeper) CheckSkillNames(t storage.Tenant, workspace string, names []string) error {
	if len(names) > maxNames {
		return abi.InvalidParam("skills", "at most %d skills are named", maxNames)
	}
	for i, name := range names {
		if k.named(t, workspace, name) == nil {
			return abi.InvalidParam("skills", "no skill %.100q is installed in workspace %s", name, workspace)
		}
		if slices.Contains(names[:i], name) {
			return abi.InvalidParam("skills", "the skill %q is named twice", name)
		}
	}
	return nil
}

// CheckRunSkills is CheckSkillNames for those that a Task names.
func (k *Keeper) CheckRunSkills(t storage.Tenant, workspace string, run *abi.RunOptions) error {
	if run == nil {
		return nil
	}
	return desk.Within("run", k.CheckSkillNames(t, workspace, run.Skills))
}

// SkillsFor returns the skills that a Task has, in the order of their names: those that its Session,
// it itself or the agent that it runs as names, as far as they are installed in its Workspace. An
// agent is given the version that it names, while that is kept. persona is the text of its Persona.
func (k *Keeper) SkillsFor(t storage.Tenant, task *abi.Task, session []string, persona []byte) ([]abi.TaskSkill, error) {
	wanted, err := wantedBy(persona)
	if err != nil {
		return nil, err
	}
	names := session
	if task.Run != nil {
		names = slices.Concat(session, task.Run.Skills)
	}
	for _, name := range names {
		if b := k.named(t, task.WorkspaceID, name); b != nil && wanted[b.Name] == "" { // the agent's version stays
			wanted[b.Name] = ""
		}
	}
	var has []abi.TaskSkill
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		if b := k.named(t, task.WorkspaceID, name); b != nil {
			has = append(has, taskSkill(b, wanted[name]))
		}
	}
	return has, nil
}

func taskSkill(b *abi.SkillBundle, version string) abi.TaskSkill {
	v := kept(b, version)
	if v == nil {
		v = &b.SkillBundleVersion
	}
	return abi.TaskSkill{InputSkill: abi.InputSkill{Name: b.Name, Description: v.Description, Version: v.Version,
		WhenToUse: v.WhenToUse, Paths: v.Paths, AllowedTools: v.AllowedTools}, Digest: v.Digest, Archive: v.Archive}
}

// agent is what a Persona says of the skills that it knows.
type agent struct {
	DeletedAt abi.Time `json:"deleted_at"`
	Agent     struct {
		Skills []struct {
			Name    string `json:"name"`
			Version string `json:"version"`
		} `json:"skills"`
	} `json:"agent"`
}

// wantedBy returns the versions of the skills that an agent names; "" for any.
func wantedBy(persona []byte) (map[string]string, error) {
	wanted := map[string]string{}
	if !bytes.Contains(persona, []byte(`"agent":`)) { // most are none
		return wanted, nil
	}
	var p agent
	if err := ledger.Decode(persona, &p); err != nil {
		return nil, err
	}
	for _, s := range p.Agent.Skills {
		wanted[s.Name] = s.Version
	}
	return wanted, nil
}

// agentsWith returns the agents of a Workspace that name a skill.
func (k *Keeper) agentsWith(ctx context.Context, t storage.Tenant, workspace, name string) (ids []string, err error) {
	page := storage.Page{Limit: 100}
	for {
		list, more, err := k.parts.Store.List(ctx, t, abi.ObjectPersona, storage.Scope{Object: abi.ObjectWorkspace, ID: workspace}, page)
		if err != nil {
			return nil, k.parts.Ledger.Failed("looking for agents with the skill", err)
		}
		for _, res := range list {
			page.After = res.ID
			var p agent
			if err := ledger.ReadListed(&res, &p); err != nil || !p.DeletedAt.IsZero() {
				continue // one that cannot be read runs nothing
			}
			for _, s := range p.Agent.Skills {
				if s.Name == name {
					ids = append(ids, res.ID)
					break
				}
			}
		}
		if !more {
			return ids, nil
		}
	}
}

// HostCalls are the calls of plugins that the keeper answers.
func (k *Keeper) HostCalls() map[string]hostcall.Func {
	return map[string]hostcall.Func{abi.CallSkillRead: hostcall.Of(k.readFor)}
}

func (k *Keeper) readFor(ctx context.Context, c *hostcall.Call, req *abi.CallSkillReadRequest) (hostcall.Answer, error) {
	has := c.Run.Skills()
	i := slices.IndexFunc(has, func(s abi.TaskSkill) bool { return s.Name == req.Skill })
	if i < 0 {
		return k.readElsewhere(ctx, c, req)
	}
	s := &has[i]
	path := req.Path
	if path == "" {
		path = skillmd.FileName
	}
	f, err := k.readFile(ctx, s.Name, s.Version, s.Archive, path, k.parts.MostTold)
	switch {
	case err != nil:
		return hostcall.Answer{}, err
	case !f.there:
		return hostcall.Answer{}, provider.Refuse(abi.CallNotFound, "unknown_file", fmt.Sprintf("the skill %q has no file %.100q; it has %s", s.Name, path, some(f.others)))
	case f.large:
		return hostcall.Answer{}, provider.Refuse(abi.CallTooLarge, string(abi.CodePayloadTooLarge), fmt.Sprintf("%q has more than %d bytes, which one call reads", path, k.parts.MostTold))
	case !isText(f.content):
		return hostcall.Answer{}, provider.Refuse(abi.CallInvalid, "no_text", fmt.Sprintf("%q is no text", path))
	}
	answer := abi.CallSkillReadAnswer{Skill: s.Name, Version: s.Version, Path: path, Text: string(f.content)}
	if path == skillmd.FileName {
		answer.Files = f.others
	}
	return hostcall.Encoded(&answer)
}

// readElsewhere reads a skill that the Task has not, but can read all the same.
func (k *Keeper) readElsewhere(ctx context.Context, c *hostcall.Call, req *abi.CallSkillReadRequest) (hostcall.Answer, error) {
	if k.parts.Elsewhere != nil {
		if answer, err := k.parts.Elsewhere(ctx, c, req.Skill, req.Path); answer != nil || err != nil {
			encoded, bad := hostcall.Encoded(answer)
			return encoded, cmp.Or(err, bad)
		}
	}
	return hostcall.Answer{}, errNoSkill(c.Run.Skills(), req.Skill)
}

func errNoSkill(has []abi.TaskSkill, name string) error {
	var names []string
	for _, s := range has {
		names = append(names, s.Name)
	}
	return provider.Refuse(abi.CallNotFound, "unknown_skill", fmt.Sprintf("this task has no skill %.100q; it has %s", name, some(names)))
}

// some names at most so many that a model reads them.
func some(names []string) string {
	const most = 20
	switch n := len(names); {
	case n == 0:
		return "none"
	case n > most:
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), n-most)
	}
	return strings.Join(names, ", ")
}

// scopeWrite is the scope of those who may install skills.
const scopeWrite = "skills:write"

// SkillForAgent sees to it that a skill which comes with an agent is installed in the agent's
// Workspace, and returns which version that is: one that is there, if its files are the same.
func (k *Keeper) SkillForAgent(ctx context.Context, c *desk.Caller, workspace string, files *filetree.Tree) (abi.AgentSkill, error) {
	if !c.Can(scopeWrite) {
		return abi.AgentSkill{}, desk.Denied(scopeWrite)
	}
	skill, err := read(files)
	if err != nil {
		return abi.AgentSkill{}, err
	}
	there := k.named(c.Tenant, workspace, skill.Name)
	if there != nil {
		for _, v := range there.Versions {
			if v.Digest == skill.Digest {
				return abi.AgentSkill{Name: there.Name, Version: v.Version, Digest: v.Digest}, nil
			}
		}
	}
	var doc desk.Doc
	if there == nil {
		doc, err = k.InstallSkillBundle(ctx, c, nil, abi.InstallSkillBundleRequest{WorkspaceID: workspace}, files)
	} else {
		doc, _, err = k.UpgradeSkillBundle(ctx, c, nil, there.ID, abi.UpgradeSkillBundleRequest{}, files)
	}
	if err != nil {
		return abi.AgentSkill{}, err
	}
	var b abi.SkillBundle
	if err := ledger.Decode(doc.JSON, &b); err != nil {
		return abi.AgentSkill{}, err
	}
	return abi.AgentSkill{Name: b.Name, Version: b.Version, Digest: b.Digest}, nil
}
