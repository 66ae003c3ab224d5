package openharness

import (
	"cmp"
	"io"
	"mime"
	"slices"
	"strings"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/gateway/api"
)

// maxAgentMetadata is how many bytes say what an agent is called.
const maxAgentMetadata = 64 << 10

// agentForm is an agent as a form has it.
type agentForm struct {
	fields map[string]string
	files  []gateway.UploadedFile
}

// readAgentForm reads a form whose files have one of some names. Fields may stand behind the
// files, and come as files, as some clients send them.
func readAgentForm(r *gateway.Request, names ...string) (*agentForm, error) {
	form, err := r.Multipart()
	if err != nil {
		return nil, err
	}
	out := &agentForm{fields: map[string]string{}}
	for name, values := range form.Fields {
		if len(values) != 1 {
			return nil, abi.InvalidParam(name, "the field %.100q is there %d times", name, len(values))
		}
		out.fields[name] = values[0]
	}
	for i := range form.Files {
		f := &form.Files[i]
		switch {
		case slices.Contains(names, f.Field):
			out.files = append(out.files, *f)
		case f.Field == "metadata":
			if out.fields["metadata"], err = textOf(f); err != nil {
				return nil, err
			}
		default:
			return nil, abi.InvalidParam(f.Field, "the files of this form are sent as %s, not as %.100q", names[0], f.Field)
		}
	}
	if len(out.files) == 0 {
		return nil, abi.InvalidParam(names[0], "the form has no file %s", names[0])
	}
	return out, nil
}

func textOf(f *gateway.UploadedFile) (string, error) {
	text, err := io.ReadAll(io.LimitReader(f, maxAgentMetadata+1))
	if err == nil && len(text) > maxAgentMetadata {
		err = abi.InvalidParam(f.Field, "%s has at most %d bytes", f.Field, maxAgentMetadata)
	}
	return string(text), err
}

// bundle reads the files of the form: a zip, or files with their paths as their names.
func (f *agentForm) bundle() (*api.AgentFiles, error) {
	size := int64(0)
	for i := range f.files {
		size += f.files[i].Size
	}
	if size > api.MaxAgentBundle {
		return nil, abi.Errorf(abi.CodePayloadTooLarge, "a bundle has at most %d bytes", api.MaxAgentBundle)
	}
	if one := &f.files[0]; len(f.files) == 1 && isZip(one) {
		return api.AgentZip(one, one.Size)
	}
	return api.AgentTree(func(yield func(api.AgentFile, error) bool) {
		for i := range f.files {
			if !yield(api.AgentFile{Path: f.files[i].Path, Content: &f.files[i]}, nil) {
				return
			}
		}
	})
}

// isZip reports whether a file is meant as a zip: whatever is no AGENTS.md alone.
func isZip(f *gateway.UploadedFile) bool { return !strings.HasSuffix(f.Path, ".md") }

// createAgent makes an agent of the files of a form, or of JSON, which some clients send.
func (a *Adapter) createAgent(r *gateway.Request, h *abi.Harness) error {
	if media, _, _ := mime.ParseMediaType(r.Header("Content-Type")); media != "multipart/form-data" {
		return a.createAgentByJSON(r, h)
	}
	form, err := readAgentForm(r, "files", "files[]", "file", "bundle")
	if err != nil {
		return err
	}
	var named struct {
		Name        string `json:"name"`
		Description string `json:"description"`
	}
	if err := json.Unmarshal([]byte(cmp.Or(form.fields["metadata"], "{}")), &named); err != nil {
		return abi.InvalidParam("metadata", "metadata must be a JSON object with texts: name and description")
	}
	req := abi.AgentImport{Name: cmp.Or(named.Name, form.fields["name"]), Description: cmp.Or(named.Description, form.fields["description"])}
	written, err := a.importForm(r, h, form, req)
	if err != nil {
		return err
	}
	return sentAgent(r, statusCreated, written.Agents[0])
}

type importAnswer struct {
	Agent    agentShown   `json:"agent"`
	Agents   []agentShown `json:"agents"` // all of the bundle
	Warnings []string     `json:"warnings"`
}

func (a *Adapter) importAgent(r *gateway.Request, h *abi.Harness) error {
	form, err := readAgentForm(r, "bundle", "file")
	if err != nil {
		return err
	}
	written, err := a.importForm(r, h, form, abi.AgentImport{RenameTo: form.fields["rename_to"], Merge: abi.AgentMerge(form.fields["merge_strategy"])})
	if err != nil {
		return err
	}
	answer := importAnswer{Warnings: orNone(written.Warnings)}
	for _, view := range written.Agents {
		one, err := shownAgent(view)
		if err != nil {
			return err
		}
		answer.Agents = append(answer.Agents, one)
	}
	answer.Agent = answer.Agents[0]
	if written.Skipped {
		return send(r, statusOK, &answer)
	}
	return sent(r, statusCreated, written.Agents[0], &answer)
}

func (a *Adapter) importForm(r *gateway.Request, h *abi.Harness, form *agentForm, req abi.AgentImport) (*api.AgentsWritten, error) {
	files, err := form.bundle()
	if err != nil {
		return nil, placed(err)
	}
	retry, err := r.Retry(nil) // the engine judges by what is asked for and the files
	if err != nil {
		return nil, err
	}
	req.Workflow = h.EntryWorkflow
	written, err := a.core.ImportAgents(r.Context(), r.Caller, retry, h.WorkspaceID, req, files)
	return written, placed(err)
}

// placed says of an error where it is in the protocol's words: what is wrong with a bundle is no
// wrong request.
func placed(err error) error {
	wrong, ok := err.(*abi.Error)
	if !ok {
		return err
	}
	named := *wrong
	switch wrong.Param {
	case "bundle":
		named.Code, named.Status = codeInvalidBundle, 422
	case "agent.instructions":
		named.Param = "config.system_prompt"
	case "agent.temperature", "agent.max_tokens", "agent.model":
		named.Param = "config." + strings.TrimPrefix(wrong.Param, "agent.")
	}
	return &named
}

// flatConfig is a config as some clients send it: beside the other members of an agent.
type flatConfig struct {
	Model        jsontext.Value `json:"model"`
	SystemPrompt *string        `json:"system_prompt"`
	Instructions *string        `json:"instructions"` // another name for system_prompt
	Temperature  *float64       `json:"temperature"`
	MaxTokens    *int           `json:"max_tokens"`
}

// under completes a config with what stands beside it.
func (c agentConfig) under(flat flatConfig) agentConfig {
	if len(c.Model) == 0 {
		c.Model = flat.Model
	}
	c.SystemPrompt = cmp.Or(c.SystemPrompt, flat.SystemPrompt, flat.Instructions)
	c.Temperature, c.MaxTokens = cmp.Or(c.Temperature, flat.Temperature), cmp.Or(c.MaxTokens, flat.MaxTokens)
	return c
}

// change returns what a config asks for.
func (c agentConfig) change() (change abi.AgentChange, err error) {
	change = abi.AgentChange{Instructions: c.SystemPrompt, Temperature: c.Temperature, MaxTokens: c.MaxTokens}
	if c.ToolsAccess != nil {
		change.Allow, change.Deny = c.ToolsAccess.Allow, c.ToolsAccess.Deny
	}
	switch c.Model.Kind() {
	case 0, 'n':
		return change, nil
	case '"':
		change.Model = &abi.AgentModel{}
		err = json.Unmarshal(c.Model, &change.Model.Name)
	default:
		var m agentModel
		err = json.Unmarshal(c.Model, &m)
		change.Model = &abi.AgentModel{Provider: m.Provider, Name: m.Name, Embedding: m.Embedding}
		if m.Name == "" {
			err = io.ErrUnexpectedEOF
		}
	}
	if err != nil {
		return change, abi.InvalidParam("config.model", "a model is a name, or an object with provider and name")
	}
	return change, nil
}

// modelShown is a model as its agent's bundle names it.
func modelShown(of *abi.Agent) (jsontext.Value, error) {
	switch m := of.ModelNamed; {
	case m != nil && m.Provider != "":
		return json.Marshal(agentModel{m.Provider, m.Name, m.Embedding}, json.Deterministic(true))
	case m != nil:
		return json.Marshal(m.Name)
	case of.Model != "":
		return json.Marshal(of.Model)
	}
	return nil, nil
}

// jsonAgent is an agent without a bundle.
type jsonAgent struct {
	Name        string        `json:"name"`
	Description string        `json:"description"`
	VendorKey   string        `json:"vendorKey"`
	AgentKey    string        `json:"agentKey"`
	Version     string        `json:"version"`
	Slug        string        `json:"slug"`
	Author      string        `json:"author"`
	License     string        `json:"license"`
	Tags        []string      `json:"tags"`
	Skills      []nameOrSkill `json:"skills"`
	MCPServers  []agentServer `json:"mcp_servers"`
	Config      agentConfig   `json:"config"`
	Tools       *[]string     `json:"tools"`
	flatConfig  `json:",inline"`
}

// nameOrSkill is a skill that is named by its id alone, or with more.
type nameOrSkill struct{ agentSkill }

// UnmarshalJSON implements json.Unmarshaler.
func (s *nameOrSkill) UnmarshalJSON(text []byte) error {
	if jsontext.Value(text).Kind() == '"' {
		return json.Unmarshal(text, &s.SkillID)
	}
	return json.Unmarshal(text, &s.agentSkill)
}

func (a *Adapter) createAgentByJSON(r *gateway.Request, h *abi.Harness) error {
	req, retry, err := decode[jsonAgent](r)
	if err != nil {
		return err
	}
	change, err := req.Config.under(req.flatConfig).change()
	if err != nil {
		return err
	}
	view, err := a.core.CreateAgent(r.Context(), r.Caller, retry, h.WorkspaceID, req.agent(h, &change))
	if err != nil {
		return placed(err)
	}
	return sentAgent(r, statusCreated, view)
}

func (j *jsonAgent) agent(h *abi.Harness, change *abi.AgentChange) abi.NewAgent {
	of := abi.Agent{VendorKey: j.VendorKey, AgentKey: j.AgentKey, Version: j.Version, Slug: j.Slug, Author: j.Author, License: j.License, Tags: j.Tags,
		Temperature: change.Temperature, ModelNamed: change.Model}
	abi.Replace(&of.Instructions, change.Instructions)
	abi.Replace(&of.MaxTokens, change.MaxTokens)
	for _, s := range j.Skills {
		of.Skills = append(of.Skills, abi.AgentSkill{Name: s.SkillID, Version: s.Version, Required: s.Required})
	}
	for _, s := range j.MCPServers {
		of.MCPServers = append(of.MCPServers, abi.AgentServer{Name: s.ServerID, Tools: s.Tools, Required: s.Required})
	}
	var tools abi.AgentTools
	abi.Replace(&tools.Allow, cmp.Or(change.Allow, j.Tools))
	abi.Replace(&tools.Deny, change.Deny)
	if len(tools.Allow)+len(tools.Deny) > 0 {
		of.ToolsNamed = &tools
	}
	return abi.NewAgent{Workflow: h.EntryWorkflow, Name: j.Name, Description: j.Description, Agent: of}
}
