package api

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/plugins"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/hosttools"
	"github.com/wharf-dev/wharf/runtime/policy"
	"github.com/wharf-dev/wharf/runtime/skill"
)

// PersonaInvoke is the Persona whose Tasks call one tool. Their input is a [ToolInvocation].
const PersonaInvoke = plugins.PersonaInvoke

// ToolInvocation names a tool that a Task calls, and what with.
type ToolInvocation struct {
	Server    string         `json:"server"`
	Name      string         `json:"name"`
	Arguments jsontext.Value `json:"arguments"`
}

// customToolsCore serves the tools that Workspaces have of their own.
type customToolsCore interface {
	CreateCustomTool(ctx context.Context, c *desk.Caller, r *desk.Retry, req abi.CreateCustomToolRequest) (desk.Doc, error)
	CustomTools(ctx context.Context, c *desk.Caller, workspace string) []*abi.CustomTool
	DeleteCustomTool(ctx context.Context, c *desk.Caller, r *desk.Retry, workspace, id string) error
	ToolServersIn(ctx context.Context, c *desk.Caller, workspace string, shared bool) ([]abi.ToolServer, error)
}

// CreateCustomTool gives a Workspace a tool of its own.
func (a *API) CreateCustomTool(ctx context.Context, c *Caller, r *Write, req abi.CreateCustomToolRequest) (View, error) {
	return a.to(ctx, c).view(a.core.CreateCustomTool(ctx, c, r, req))
}

// Where a tool of a Workspace comes from.
const (
	ToolOfHost   = "host"   // the node: its own tools, and the Skills that it and the tenant offer
	ToolOfServer = "server" // a server of the Model Context Protocol: a ToolServer, or one of the configuration
	ToolOfSkill  = "skill"  // a SkillBundle of the Workspace
	ToolOfOwn    = "own"    // the Workspace's own
)

// WorkspaceTool is a tool that the Tasks of a Workspace may call, as far as their Persona and the
// grants of their plugin go.
type WorkspaceTool struct {
	abi.Tool
	ID     string // stays the same while the tool is there, whatever its server is renamed to
	From   string
	FromID string // the id of the ToolServer or SkillBundle; "" for none
	Title  string // how people call it; "" for its name
	skill  string // the skill of a SkillBundle that the call reads
}

// Invocation is the call of the tool, and what the Task that makes it needs besides.
func (t *WorkspaceTool) Invocation(arguments jsontext.Value) (ToolInvocation, *abi.RunOptions, error) {
	call := ToolInvocation{Server: t.Server, Name: t.Name, Arguments: arguments}
	if t.From != ToolOfSkill {
		return call, nil, nil
	}
	var read abi.CallSkillReadRequest
	if err := json.Unmarshal(arguments, &read); err != nil {
		return call, nil, abi.InvalidParam("input", "%v", err)
	}
	read.Skill = t.skill
	text, err := json.Marshal(read, json.Deterministic(true))
	call.Arguments = text
	return call, &abi.RunOptions{Skills: []string{t.skill}}, err
}

// lookTime is how long a look at all tools waits for a server.
const lookTime = 3 * time.Second

// WorkspaceTools returns the tools of a Workspace that the caller may see and a plugin may use: of
// the node, of the servers that are connected, of the skills that are installed, and the Workspace's
// own. A server that does not say within three seconds what it has is left out.
func (a *API) WorkspaceTools(ctx context.Context, c *Caller, workspace string, granted GrantedTools) ([]WorkspaceTool, error) {
	configured, _ := granted.Offered(ctx)
	all := slices.Concat(hostTools(granted), configuredTools(configured))
	of, err := a.serverTools(ctx, c, workspace, granted)
	if err != nil {
		return nil, err
	}
	offered, err := a.skillTools(ctx, c, workspace, granted)
	if err != nil {
		return nil, err
	}
	installed, err := a.bundleTools(ctx, c, workspace, granted)
	if err != nil {
		return nil, err
	}
	return slices.Concat(all, of, offered, installed, a.ownTools(ctx, c, workspace)), nil
}

// toolID is the id of a tool that has none of its own.
func toolID(of, name string) string { return of + ":" + url.PathEscape(name) }

func hostTools(granted GrantedTools) (all []WorkspaceTool) {
	for _, t := range hosttools.All() {
		if granted.May(abi.ToolServerHost, t.Name) {
			t.Tool.Server = abi.ToolServerHost
			all = append(all, WorkspaceTool{Tool: t.Tool, ID: toolID(abi.ToolServerHost, t.Name), From: ToolOfHost})
		}
	}
	return all
}

// configuredTools are those of the servers that the configuration names: they belong to no tenant,
// and so have no id that anybody could look up.
func configuredTools(offered []abi.Tool) (all []WorkspaceTool) {
	for _, t := range offered {
		if t.Server != abi.ToolServerHost && t.Server != abi.ToolServerSkills {
			all = append(all, WorkspaceTool{Tool: taking(t), ID: toolID(t.Server, t.Name), From: ToolOfServer})
		}
	}
	return all
}

// taking gives a tool that does not say what it takes a schema that says so.
func taking(t abi.Tool) abi.Tool {
	if t.InputSchema.Kind() != '{' {
		t.InputSchema = jsontext.Value(`{"type":"object"}`)
	}
	return t
}

func (a *API) ownTools(ctx context.Context, c *Caller, workspace string) (all []WorkspaceTool) {
	for _, t := range a.core.CustomTools(ctx, c, workspace) {
		tool := abi.Tool{Server: abi.ToolServerCustom, Name: t.Name, Description: t.Description, InputSchema: t.InputSchema}
		all = append(all, WorkspaceTool{Tool: tool, ID: t.ID, From: ToolOfOwn})
	}
	return all
}

func (a *API) serverTools(ctx context.Context, c *Caller, workspace string, granted GrantedTools) ([]WorkspaceTool, error) {
	servers, err := a.core.ToolServersIn(ctx, c, workspace, true)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	of := make([][]WorkspaceTool, len(servers))
	var asking sync.WaitGroup
	for i, s := range servers {
		if s.Status != abi.ToolServerConnected || !policy.MatchAny(s.Plugins, granted.Plugin) {
			continue
		}
		asking.Go(func() {
			tools, _, err := a.core.ToolServerTools(ctx, c, s.ID)
			if err != nil {
				return // it is left out
			}
			for _, t := range tools {
				of[i] = append(of[i], WorkspaceTool{Tool: taking(t), ID: toolID(s.ID, t.Name), From: ToolOfServer, FromID: s.ID})
			}
		})
	}
	asking.Wait()
	all := slices.Concat(of...)
	slices.SortStableFunc(all, func(a, b WorkspaceTool) int {
		return cmp.Or(strings.Compare(a.FromID, b.FromID), strings.Compare(a.Name, b.Name))
	})
	return all, nil
}

func (a *API) skillTools(ctx context.Context, c *Caller, workspace string, granted GrantedTools) (all []WorkspaceTool, err error) {
	for p, more := (desk.Page{Limit: 100}), true; more; {
		list, err := a.core.List(ctx, c, abi.ObjectSkill, desk.Filter{}, p)
		if err != nil {
			return nil, err
		}
		for _, doc := range list.Docs {
			var s abi.Skill
			if err := json.Unmarshal(doc.JSON, &s); err != nil {
				return nil, err
			}
			t := skillTool(&s)
			if !s.Deprecated && s.PersonaID != PersonaInvoke && (s.WorkspaceID == "" || s.WorkspaceID == workspace) && granted.May(t.Server, t.Name) {
				all = append(all, t)
			}
		}
		p.After, more = list.Next, list.More
	}
	return all, nil
}

// sourceNode is who offers the Skills that every node has.
const sourceNode = "node"

func skillTool(s *abi.Skill) WorkspaceTool {
	t := abi.Tool{Server: abi.ToolServerSkills, Name: s.ID, Description: s.Description, InputSchema: s.InputSchema}
	if s.Source == sourceNode {
		t.Name = s.PersonaID
	}
	return WorkspaceTool{Tool: taking(t), ID: toolID(abi.ToolServerSkills, s.ID), From: ToolOfHost, Title: s.Name}
}

// toolSkillRead is the node's tool that gives what is in a skill.
const toolSkillRead = "skill_read"

// readsSkill is what the tool of a SkillBundle takes.
var readsSkill = jsontext.Value(`{"type":"object","properties":{"path":{"type":"string","description":"A file of the skill. Without it: its instructions."}},"additionalProperties":false}`)

// bundleTools are the skills that are installed: a model, and whoever calls one, reads it.
func (a *API) bundleTools(ctx context.Context, c *Caller, workspace string, granted GrantedTools) (all []WorkspaceTool, err error) {
	if !granted.May(abi.ToolServerHost, toolSkillRead) {
		return nil, nil
	}
	for p, more := (desk.Page{Limit: 100}), true; more; {
		list, err := a.core.SkillBundles(ctx, c, SkillFilter{WorkspaceID: workspace}, p)
		if err != nil {
			return nil, err
		}
		for _, doc := range list.Docs {
			var b abi.SkillBundle
			if err := json.Unmarshal(doc.JSON, &b); err != nil {
				return nil, err
			}
			t := abi.Tool{Server: abi.ToolServerHost, Name: toolSkillRead, Description: b.Description, InputSchema: readsSkill, ReadOnly: true, Idempotent: true}
			all = append(all, WorkspaceTool{Tool: t, ID: toolID(b.ID, toolSkillRead), From: ToolOfSkill, FromID: b.ID, Title: b.Name, skill: b.Name})
		}
		p.After, more = list.Next, list.More
	}
	return all, nil
}

// WorkspaceTool returns a tool of a Workspace by its id, and asks no other server for it than the
// one that has it. An error says when nobody knows because that one does not answer.
func (a *API) WorkspaceTool(ctx context.Context, c *Caller, workspace, id string, granted GrantedTools) (*WorkspaceTool, error) {
	of, _, named := strings.Cut(id, ":")
	all, err := a.toolsOf(ctx, c, workspace, of, named, granted)
	if err != nil {
		return nil, err
	}
	for i := range all {
		if all[i].ID == id {
			return &all[i], nil
		}
	}
	return nil, abi.NotFound("tool", id)
}

// toolsOf returns the tools of which one has an id that begins with of.
func (a *API) toolsOf(ctx context.Context, c *Caller, workspace, of string, named bool, granted GrantedTools) ([]WorkspaceTool, error) {
	switch {
	case !named:
		return a.ownTools(ctx, c, workspace), nil
	case of == abi.ToolServerHost:
		return hostTools(granted), nil
	case of == abi.ToolServerSkills:
		return a.skillTools(ctx, c, workspace, granted)
	case strings.HasPrefix(of, abi.IDPrefix(abi.ObjectSkillBundle)):
		return a.bundleTools(ctx, c, workspace, granted)
	case strings.HasPrefix(of, abi.IDPrefix(abi.ObjectToolServer)):
		return a.serverTools(ctx, c, workspace, granted)
	}
	offered, err := granted.OfferedBy(ctx, of)
	if err != nil {
		return nil, abi.Errorf(abi.CodeUpstreamUnavailable, "the server of tools %q does not say what it has", of)
	}
	return configuredTools(offered), nil
}

// CheckToolInput holds what a tool is to be called with against its schema. A schema that the node
// cannot read is the tool's own to hold.
func (a *API) CheckToolInput(ctx context.Context, t *WorkspaceTool, input jsontext.Value) error {
	schema, err := skill.Compile(t.InputSchema)
	if err != nil {
		return nil
	}
	err = schema.Check(ctx, a.turns, input)
	if err == nil || ctx.Err() != nil || !skill.Wrong(err) {
		return errors.Join(ctx.Err(), err)
	}
	return abi.InvalidParam("input", "the input does not fit the input_schema of the tool %q: %v", t.Name, err)
}

// DeleteWorkspaceTool takes one of a Workspace's own tools away. No other can be.
func (a *API) DeleteWorkspaceTool(ctx context.Context, c *Caller, r *Write, workspace, id string, granted GrantedTools) error {
	if strings.Contains(id, ":") {
		if _, err := a.WorkspaceTool(ctx, c, workspace, id, granted); err != nil {
			return err
		}
		return abi.Errorf(abi.CodePermissionDenied, "only tools of the source custom can be removed")
	}
	return a.core.DeleteCustomTool(ctx, c, r, workspace, id)
}

// ToolServersIn returns the servers of a Workspace alone that the caller may see, oldest first, with how their
// connections are.
func (a *API) ToolServersIn(ctx context.Context, c *Caller, workspace string) ([]abi.ToolServer, error) {
	return a.core.ToolServersIn(ctx, c, workspace, false)
}
