package personas

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"unicode/utf8"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/ledger"
)

// Limits of an agent.
const (
	MaxAgentInstructions = 100_000 // characters
	maxAgentName         = 100     // characters
	maxAgentList         = 200     // of skills, servers and tags
	maxAgentText         = 256     // bytes of one of its texts
)

// agentKey is the form of a vendor_key and an agent_key.
var agentKey = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// checkAgent accepts what makes a Persona an agent of its own.
func checkAgent(p *abi.Persona) error {
	a := p.Agent
	switch {
	case a == nil:
		return nil
	case p.WorkspaceID == "":
		return abi.InvalidParam("workspace_id", "an agent is of one workspace: name it")
	case utf8.RuneCountInString(p.Name) > maxAgentName:
		return abi.InvalidParam("name", "the name of an agent has at most %d characters", maxAgentName)
	case utf8.RuneCountInString(a.Instructions) > MaxAgentInstructions:
		return abi.InvalidParam("agent.instructions", "instructions have at most %d characters", MaxAgentInstructions)
	case (a.VendorKey == "") != (a.AgentKey == ""):
		return abi.InvalidParam("agent.agent_key", "vendor_key and agent_key name an agent together: give both, or none")
	}
	run := &abi.RunOptions{Model: a.Model, MaxTokens: a.MaxTokens, Temperature: a.Temperature}
	return desk.Within("agent", cmp.Or(checkOptions(run), checkAgentTexts(a), checkAgentLists(a)))
}

func checkAgentTexts(a *abi.Agent) error {
	for _, text := range []struct{ param, value string }{{"parent_id", a.ParentID}, {"role", a.Role}, {"vendor_key", a.VendorKey}, {"agent_key", a.AgentKey},
		{"slug", a.Slug}, {"version", a.Version}, {"author", a.Author}, {"license", a.License}} {
		if len(text.value) > maxAgentText {
			return abi.InvalidParam(text.param, "%s has at most %d bytes", text.param, maxAgentText)
		}
	}
	for _, key := range []struct{ param, value string }{{"vendor_key", a.VendorKey}, {"agent_key", a.AgentKey}} {
		if key.value != "" && !agentKey.MatchString(key.value) {
			return abi.InvalidParam(key.param, "%s is of a-z, 0-9 and single - between them", key.param)
		}
	}
	return nil
}

func checkAgentLists(a *abi.Agent) error {
	for _, list := range []struct {
		param string
		n     int
	}{{"skills", len(a.Skills)}, {"mcp_servers", len(a.MCPServers)}, {"tags", len(a.Tags)}} {
		if list.n > maxAgentList {
			return abi.InvalidParam(list.param, "%s has %d entries; it may have %d", list.param, list.n, maxAgentList)
		}
	}
	seen := map[string]bool{}
	for i, s := range a.Skills {
		if s.Name == "" || len(s.Name) > maxAgentText || seen[s.Name] {
			return abi.InvalidParam(fmt.Sprintf("skills[%d].name", i), "a skill is named once, with 1 to %d bytes", maxAgentText)
		}
		seen[s.Name] = true
	}
	servers := map[string]bool{}
	for i, s := range a.MCPServers {
		at := fmt.Sprintf("mcp_servers[%d]", i)
		if s.Name == "" || len(s.Name) > maxAgentText || servers[s.Name] {
			return abi.InvalidParam(at+".name", "a server of tools is named once, with 1 to %d bytes", maxAgentText)
		}
		servers[s.Name] = true
		if err := checkPatterns(at+".tools", s.Tools); err != nil {
			return err
		}
	}
	return nil
}

// checkParent accepts the agent whose subagent a Persona is: one of the same Workspace.
func (k *Keeper) checkParent(ctx context.Context, c *desk.Caller, p *abi.Persona) error {
	if p.Agent == nil || p.Agent.ParentID == "" {
		return nil
	}
	parent, err := k.PersonaIn(ctx, c.Tenant, p.WorkspaceID, p.Agent.ParentID)
	if ledger.IsNotFound(err) || err == nil && (parent.Agent == nil || parent.WorkspaceID != p.WorkspaceID || parent.ID == p.ID) {
		return abi.InvalidParam("agent.parent_id", "there is no agent %q in this workspace", p.Agent.ParentID)
	}
	return err
}

// keepsParent refuses to make a Persona the subagent of another agent than before: a subagent is
// one of its parent for as long as it is there.
func keepsParent(before, next *abi.Persona) error {
	was, is := "", ""
	if before.Agent != nil {
		was = before.Agent.ParentID
	}
	if next.Agent != nil {
		is = next.Agent.ParentID
	}
	if was != is {
		return abi.InvalidParam("agent.parent_id", "whose subagent a persona is cannot be changed")
	}
	return nil
}

// unnamed returns an agent as its clone has it: without the key, of which there is one only.
func unnamed(a *abi.Agent) *abi.Agent {
	if a == nil {
		return nil
	}
	own := *a
	own.VendorKey, own.AgentKey, own.Slug = "", "", ""
	return &own
}
