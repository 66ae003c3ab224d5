package openharness

import (
	"io"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/gateway/api"
)

func (a *Adapter) agentRoutes() []gateway.Route {
	const reads, writes, one = "personas:read", "personas:write", "agents/{agentId}"
	raw := func(rt gateway.Route) gateway.Route {
		rt.Body = gateway.BodyRaw
		return rt
	}
	export := read(one+"/export", "agents.export", reads, "Export an agent", a.at(a.exportAgent))
	export.Media = mediaBundle
	return []gateway.Route{
		read("agents", "agents.list", reads, "List agents", a.at(a.listAgents)),
		raw(post("agents", "agents.create", writes, "Create an agent", statusCreated, a.at(a.createAgent))),
		raw(post("agents/import", "agents.import", writes, "Import an agent", statusCreated, a.at(a.importAgent))),
		read(one, "agents.get", reads, "Get an agent", a.at(a.getAgent)),
		patch(one, "agents.update", writes, "Change an agent", a.at(a.updateAgent)),
		remove(one, "agents.delete", writes, "Delete an agent", a.at(a.deleteAgent)),
		post(one+"/clone", "agents.clone", writes, "Clone an agent", statusCreated, a.at(a.cloneAgent)),
		export,
	}
}

const mediaBundle = "application/zip"

// agentShown is an agent as the protocol shows it, with what its authors' clients read besides.
type agentShown struct {
	ID           string        `json:"id"`
	Name         string        `json:"name"`
	VendorKey    string        `json:"vendorKey"`
	AgentKey     string        `json:"agentKey"`
	Version      string        `json:"version"`
	Slug         string        `json:"slug"`
	Description  string        `json:"description"`
	Author       string        `json:"author,omitzero"`
	License      string        `json:"license,omitzero"`
	Tags         []string      `json:"tags"`
	Skills       []agentSkill  `json:"skills"`
	MCPServers   []agentServer `json:"mcp_servers"`
	Config       agentConfig   `json:"config"`
	Model        string        `json:"model,omitzero"`
	SystemPrompt string        `json:"system_prompt,omitzero"`
	CreatedAt    abi.Time      `json:"created_at"`
	UpdatedAt    abi.Time      `json:"updated_at"`
}

type agentSkill struct {
	SkillID  string `json:"skill_id"`
	Version  string `json:"version,omitzero"`
	Required bool   `json:"required"`
}

type agentServer struct {
	ServerID string   `json:"server_id"`
	Tools    []string `json:"tools,omitzero"`
	Required bool     `json:"required"`
}

// agentConfig is how an agent works. In a change of one, what is absent stays.
type agentConfig struct {
	Model        jsontext.Value `json:"model,omitzero"` // its name, or an agentModel
	Temperature  *float64       `json:"temperature,omitzero"`
	MaxTokens    *int           `json:"max_tokens,omitzero"`
	SystemPrompt *string        `json:"system_prompt,omitzero"`
	ToolsAccess  *toolsAccess   `json:"tools_access,omitzero"`
}

type agentModel struct {
	Provider  string `json:"provider"`
	Name      string `json:"name"`
	Embedding string `json:"embedding,omitzero"`
}

type toolsAccess struct {
	Allow *[]string `json:"allow,omitzero"`
	Deny  *[]string `json:"deny,omitzero"`
}

func shownAgent(view api.View) (agentShown, error) {
	p, err := as[abi.Persona](view)
	if err != nil || p.Agent == nil {
		return agentShown{}, err
	}
	of := p.Agent
	shown := agentShown{ID: p.ID, Name: p.Name, VendorKey: of.VendorKey, AgentKey: of.AgentKey, Version: of.Version, Slug: of.Slug,
		Description: p.Description, Author: of.Author, License: of.License, Tags: orNone(of.Tags), Skills: []agentSkill{}, MCPServers: []agentServer{},
		Model: of.Model, SystemPrompt: of.Instructions, CreatedAt: p.CreatedAt, UpdatedAt: p.UpdatedAt}
	for _, s := range of.Skills {
		shown.Skills = append(shown.Skills, agentSkill{s.Name, s.Version, s.Required})
	}
	for _, s := range of.MCPServers {
		shown.MCPServers = append(shown.MCPServers, agentServer{s.Name, s.Tools, s.Required})
	}
	shown.Config, err = configOf(of)
	return shown, err
}

func configOf(of *abi.Agent) (c agentConfig, err error) {
	c.Temperature = of.Temperature
	if of.MaxTokens > 0 {
		c.MaxTokens = &of.MaxTokens
	}
	if of.Instructions != "" {
		c.SystemPrompt = &of.Instructions
	}
	if t := of.ToolsNamed; t != nil {
		c.ToolsAccess = &toolsAccess{}
		if t.Allow != nil {
			c.ToolsAccess.Allow = &t.Allow
		}
		if t.Deny != nil {
			c.ToolsAccess.Deny = &t.Deny
		}
	}
	c.Model, err = modelShown(of)
	return c, err
}

func orNone(texts []string) []string {
	if texts == nil {
		return []string{}
	}
	return texts
}

type agentAnswer struct {
	Agent agentShown `json:"agent"`
}

func sentAgent(r *gateway.Request, status int, written api.View) error {
	one, err := shownAgent(written)
	if err != nil {
		return err
	}
	return sent(r, status, written, agentAnswer{one})
}

func (a *Adapter) listAgents(r *gateway.Request, h *abi.Harness) error {
	return listed(r, func(p api.Page) (api.List, error) { return a.core.Agents(r.Context(), r.Caller, h.WorkspaceID, p) }, shownAgent, "agents")
}

func (a *Adapter) getAgent(r *gateway.Request, h *abi.Harness) error {
	view, err := a.core.Agent(r.Context(), r.Caller, h.WorkspaceID, r.PathValue("agentId"))
	if err != nil {
		return err
	}
	return sentAgent(r, statusOK, view)
}

func (a *Adapter) updateAgent(r *gateway.Request, h *abi.Harness) error {
	req, retry, err := decode[struct {
		Name        *string     `json:"name"`
		Description *string     `json:"description"`
		Config      agentConfig `json:"config"`
		flatConfig  `json:",inline"`
	}](r)
	if err != nil {
		return err
	}
	change, err := req.Config.under(req.flatConfig).change()
	if err != nil {
		return err
	}
	change.Name, change.Description = req.Name, req.Description
	view, err := a.core.UpdateAgent(r.Context(), r.Caller, retry, h.WorkspaceID, r.PathValue("agentId"), change)
	if err != nil {
		return placed(err)
	}
	return sentAgent(r, statusOK, view)
}

func (a *Adapter) deleteAgent(r *gateway.Request, h *abi.Harness) error {
	retry, err := r.Retry(nil)
	if err != nil {
		return err
	}
	if err := a.core.DeleteAgent(r.Context(), r.Caller, retry, h.WorkspaceID, r.PathValue("agentId")); err != nil {
		return err
	}
	return empty(r)
}

func (a *Adapter) cloneAgent(r *gateway.Request, h *abi.Harness) error {
	req, retry, err := decode[struct {
		NewName       string `json:"new_name"`
		Name          string `json:"name"` // another name for new_name
		IncludeMemory bool   `json:"include_memory"`
	}](r)
	if err != nil {
		return err
	}
	if req.NewName == "" {
		req.NewName = req.Name
	}
	view, err := a.core.CloneAgent(r.Context(), r.Caller, retry, h.WorkspaceID, r.PathValue("agentId"), req.NewName, req.IncludeMemory)
	if err != nil {
		return placed(err)
	}
	return sentAgent(r, statusCreated, view)
}

func (a *Adapter) exportAgent(r *gateway.Request, h *abi.Harness) error {
	mode, err := oneOf(r, "contents_mode", "bundled", "referenced")
	if err != nil {
		return err
	}
	how := abi.AgentExport{Referenced: mode == "referenced"}
	if how.Memory, err = flag(r, "include_memory", false); err != nil {
		return err
	}
	if how.Versions, err = flag(r, "include_versions", false); err != nil {
		return err
	}
	bundle, err := a.core.ExportAgent(r.Context(), r.Caller, h.WorkspaceID, r.PathValue("agentId"), how)
	if err != nil {
		return err
	}
	r.SetHeader("Content-Type", mediaBundle)
	r.SetHeader("Content-Disposition", "attachment; filename="+strconv.Quote(bundle.Key+".zip"))
	r.SetHeader("X-Content-Type-Options", "nosniff")
	packed, into := io.Pipe()
	go func() { _ = into.CloseWithError(bundle.Write(into)) }() // ends when the answer is closed, too
	r.HTTP.SetBodyStream(packed, -1)
	return nil
}
