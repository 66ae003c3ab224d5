package agents

import (
	"cmp"
	"context"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/oaf"
	"github.com/wharf-dev/wharf/runtime/personas"
)

// What is said of an agent whose maker says nothing.
const (
	ownVendor = "local"
	firstVer  = "1.0.0"
	noLicense = "LicenseRef-unstated"
)

// CreateAgent makes an agent that comes without a bundle. A subagent begins with the policy of its
// parent, whatever is said of it: it may do no more.
func (k *Keeper) CreateAgent(ctx context.Context, c *desk.Caller, r *desk.Retry, workspace string, req abi.NewAgent) (desk.Doc, error) {
	if err := cmp.Or(desk.CheckPresent("name", req.Name), k.parts.Desk.CheckWorkspace(ctx, c, workspace)); err != nil {
		return desk.Doc{}, err
	}
	return k.parts.Personas.WriteAgents(ctx, c, r, workspace, func() ([]personas.AgentWrite, error) {
		a := req.Agent
		a.VendorKey, a.Version = cmp.Or(a.VendorKey, ownVendor), cmp.Or(a.Version, firstVer)
		if a.AgentKey == "" {
			free, err := k.freeKey(ctx, c, workspace, a.ParentID, a.VendorKey, req.Name)
			if err != nil {
				return nil, err
			}
			a.AgentKey = free
		}
		a.Slug = cmp.Or(a.Slug, a.VendorKey+"/"+a.AgentKey)
		p := abi.Persona{Name: req.Name, Description: req.Description, EntryWorkflow: req.Workflow,
			AutonomyTier: abi.TierActAuto, ReceiptPolicy: abi.ReceiptOptional, Agent: &a}
		if a.ParentID == "" {
			k.derive(&p)
		} else if err := k.inherit(ctx, c, workspace, &p); err != nil {
			return nil, err
		}
		p.ID = k.parts.IDs.New(abi.ObjectPersona)
		return []personas.AgentWrite{{Persona: p}}, nil
	})
}

// inherit gives a new subagent what its parent may do, and the model that it asks unless it names one.
func (k *Keeper) inherit(ctx context.Context, c *desk.Caller, workspace string, p *abi.Persona) error {
	parent, err := k.find(ctx, c, workspace, p.Agent.ParentID)
	if err != nil {
		return err
	}
	own := parent
	own.Envelope, own.Name, own.Description, own.Version, own.Agent, own.RetiredAt = p.Envelope, p.Name, p.Description, p.Version, p.Agent, abi.Time{}
	own.Agent.ToolsNamed, own.Agent.MCPServers = parent.Agent.ToolsNamed, parent.Agent.MCPServers
	if own.Agent.ModelNamed == nil {
		own.Agent.Model, own.Agent.ModelNamed = parent.Agent.Model, parent.Agent.ModelNamed
	} else {
		k.setModel(&own, fieldsOf(&own).Model)
	}
	*p = own
	return nil
}

// derive has the policy of an agent follow from what is named.
func (k *Keeper) derive(p *abi.Persona) {
	f := fieldsOf(p)
	k.setModel(p, f.Model)
	setTools(p, f, nil)
}

// Agent returns an agent of a Workspace.
func (k *Keeper) Agent(ctx context.Context, c *desk.Caller, workspace, id string) (desk.Doc, error) {
	if _, err := k.find(ctx, c, workspace, id); err != nil {
		return desk.Doc{}, err
	}
	return k.parts.Desk.Get(ctx, c, abi.ObjectPersona, id)
}

// Agents lists the agents of a Workspace that are nobody's subagents, newest first.
func (k *Keeper) Agents(ctx context.Context, c *desk.Caller, workspace string, p desk.Page) (desk.DocList, error) {
	return k.parts.Personas.ListAgents(ctx, c, workspace, "", p)
}

// Subagents lists the subagents of an agent, newest first.
func (k *Keeper) Subagents(ctx context.Context, c *desk.Caller, workspace, parent string, p desk.Page) (desk.DocList, error) {
	return k.parts.Personas.ListAgents(ctx, c, workspace, parent, p)
}

// UpdateAgent changes an agent.
func (k *Keeper) UpdateAgent(ctx context.Context, c *desk.Caller, r *desk.Retry, workspace, id string, change abi.AgentChange) (desk.Doc, error) {
	if _, err := k.find(ctx, c, workspace, id); err != nil {
		return desk.Doc{}, err
	}
	return k.parts.Personas.WriteAgents(ctx, c, r, workspace, func() ([]personas.AgentWrite, error) {
		p, err := k.find(ctx, c, workspace, id)
		if err != nil {
			return nil, err
		}
		own := *p.Agent
		p.Agent = &own
		k.change(&p, &change)
		return []personas.AgentWrite{{Persona: p}}, desk.CheckPresent("name", p.Name)
	})
}

func (k *Keeper) change(p *abi.Persona, change *abi.AgentChange) {
	abi.Replace(&p.Name, change.Name)
	abi.Replace(&p.Description, change.Description)
	abi.Replace(&p.Agent.Instructions, change.Instructions)
	abi.Replace(&p.Agent.MaxTokens, change.MaxTokens)
	p.Agent.Temperature = cmp.Or(change.Temperature, p.Agent.Temperature)
	f := fieldsOf(p)
	if change.Model != nil {
		k.setModel(p, oaf.Model{Provider: change.Model.Provider, Name: change.Model.Name, Embedding: change.Model.Embedding})
	}
	if change.Allow == nil && change.Deny == nil {
		return
	}
	excluded := excludedBy(p, f)
	abi.Replace(&f.Allow, change.Allow)
	abi.Replace(&f.Deny, change.Deny)
	setTools(p, f, nil)
	p.ToolsDenied = append(p.ToolsDenied, excluded...)
}

// excludedBy returns what an agent is denied besides the tools that are named: those that its
// bundle excludes of servers.
func excludedBy(p *abi.Persona, f *oaf.Fields) (excluded []string) {
	_, named, _ := f.Patterns()
	if len(p.ToolsDenied) > len(named) {
		excluded = p.ToolsDenied[len(named):]
	}
	return excluded
}

// CloneAgent makes an agent like another one, with its subagents, under another name and a key of
// its own. It remembers nothing, unless memory is set: then what the other does.
func (k *Keeper) CloneAgent(ctx context.Context, c *desk.Caller, r *desk.Retry, workspace, id, name string, memory bool) (desk.Doc, error) {
	if _, err := k.find(ctx, c, workspace, id); err != nil {
		return desk.Doc{}, err
	}
	if memory && k.parts.Memory == nil {
		return desk.Doc{}, abi.Errorf(abi.CodeNotImplemented, "this node keeps no memory of agents")
	}
	if err := desk.CheckPresent("new_name", name); err != nil {
		return desk.Doc{}, err
	}
	copies := map[string]string{}
	doc, err := k.parts.Personas.WriteAgents(ctx, c, r, workspace, func() ([]personas.AgentWrite, error) {
		clear(copies)
		return k.copies(ctx, c, workspace, id, name, copies)
	})
	if err != nil || !memory || doc.Replayed {
		return doc, err
	}
	for from, to := range copies {
		if err := k.parts.Memory.CopyBlocks(ctx, c, from, to); err != nil {
			return doc, err
		}
	}
	return doc, nil
}

// copies returns what a clone is made of, and tells by which ids.
func (k *Keeper) copies(ctx context.Context, c *desk.Caller, workspace, id, name string, ids map[string]string) (writes []personas.AgentWrite, err error) {
	p, err := k.find(ctx, c, workspace, id)
	if err != nil {
		return nil, err
	}
	family, err := k.parts.Personas.AgentsBelow(ctx, c, workspace, id)
	if err != nil {
		return nil, err
	}
	for i, one := range append([]abi.Persona{p}, family...) {
		own := *one.Agent
		ids[one.ID] = k.parts.IDs.New(abi.ObjectPersona)
		one.ID, one.Agent, one.RetiredAt = ids[one.ID], &own, abi.Time{}
		if i == 0 {
			one.Name, own.VendorKey = name, cmp.Or(own.VendorKey, ownVendor)
			if own.AgentKey, err = k.freeKey(ctx, c, workspace, own.ParentID, own.VendorKey, name); err != nil {
				return nil, err
			}
			own.Slug = own.VendorKey + "/" + own.AgentKey
		} else {
			own.ParentID = ids[own.ParentID]
		}
		writes = append(writes, personas.AgentWrite{Persona: one})
	}
	return writes, nil
}

// fieldsOf returns what a Persona says of an agent, as a bundle has it.
func fieldsOf(p *abi.Persona) *oaf.Fields {
	a := p.Agent
	f := &oaf.Fields{Name: p.Name, VendorKey: a.VendorKey, AgentKey: a.AgentKey, Slug: a.Slug, Version: a.Version, Description: p.Description,
		Author: a.Author, License: a.License, Tags: a.Tags, Temperature: a.Temperature, MaxTokens: a.MaxTokens, Instructions: a.Instructions}
	f.Model.Name = a.Model
	if a.ModelNamed != nil {
		f.Model = oaf.Model{Provider: a.ModelNamed.Provider, Name: a.ModelNamed.Name, Embedding: a.ModelNamed.Embedding}
	}
	if a.ToolsNamed != nil {
		f.Allow, f.Deny = a.ToolsNamed.Allow, a.ToolsNamed.Deny
	}
	return f
}
