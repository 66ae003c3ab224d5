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
	ToolOfHost   = "host"   // the node
	ToolOfServer = "server" // a ToolServer
	ToolOfSkill  = "skill"  // a Skill
	ToolOfOwn    = "own"    // the Workspace's own
)

// WorkspaceTool is a tool that the Tasks of a Workspace may call, as far as their Persona and the
// grants of their plugin go.
type WorkspaceTool struct {
	abi.Tool
	ID     string // stays the same while the tool is there, whatever its server is renamed to
	From   string
	FromID string // the id of the ToolServer or Skill; "" for none
	Title  string // how people call it; "" for its name
}

// lookTime is how long a look at all tools waits for a server.
const lookTime = 3 * time.Second

// WorkspaceTools returns the tools of a Workspace that the caller may see: of the node, of the
// servers that are connected, Skills and the Workspace's own. A server that does not say within
// three seconds what it has is left out.
func (a *API) WorkspaceTools(ctx context.Context, c *Caller, workspace string) ([]WorkspaceTool, error) {
	var all []WorkspaceTool
	for _, t := range hosttools.All() {
		t.Tool.Server = abi.ToolServerHost
		all = append(all, WorkspaceTool{Tool: t.Tool, ID: toolID(abi.ToolServerHost, t.Name), From: ToolOfHost})
	}
	of, err := a.serverTools(ctx, c, workspace)
	if err != nil {
		return nil, err
	}
	skills, err := a.skillTools(ctx, c, workspace)
	if err != nil {
		return nil, err
	}
	all = slices.Concat(all, of, skills)
	for _, t := range a.core.CustomTools(ctx, c, workspace) {
		tool := abi.Tool{Server: abi.ToolServerCustom, Name: t.Name, Description: t.Description, InputSchema: t.InputSchema}
		all = append(all, WorkspaceTool{Tool: tool, ID: t.ID, From: ToolOfOwn})
	}
	return all, nil
}

// toolID is the id of a tool that has none of its own.
func toolID(of, name string) string { return of + ":" + url.PathEscape(name) }

func (a *API) serverTools(ctx context.Context, c *Caller, workspace string) ([]WorkspaceTool, error) {
	servers, err := a.core.ToolServersIn(ctx, c, workspace, true)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	of := make([][]WorkspaceTool, len(servers))
	var asking sync.WaitGroup
	for i, s := range servers {
		if s.Status != abi.ToolServerConnected {
			continue
		}
		asking.Go(func() {
			tools, _, err := a.core.ToolServerTools(ctx, c, s.ID)
			if err != nil {
				return // it is left out
			}
			for _, t := range tools {
				of[i] = append(of[i], WorkspaceTool{Tool: t, ID: toolID(s.ID, t.Name), From: ToolOfServer, FromID: s.ID})
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

func (a *API) skillTools(ctx context.Context, c *Caller, workspace string) (all []WorkspaceTool, err error) {
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
			if !s.Deprecated && s.PersonaID != PersonaInvoke && (s.WorkspaceID == "" || s.WorkspaceID == workspace) {
				all = append(all, skillTool(&s))
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
	if t.InputSchema.Kind() != '{' {
		t.InputSchema = jsontext.Value(`{"type":"object"}`)
	}
	return WorkspaceTool{Tool: t, ID: toolID(abi.ToolServerSkills, s.ID), From: ToolOfSkill, FromID: s.ID, Title: s.Name}
}

// WorkspaceTool returns a tool of a Workspace by its id.
func (a *API) WorkspaceTool(ctx context.Context, c *Caller, workspace, id string) (*WorkspaceTool, error) {
	all, err := a.WorkspaceTools(ctx, c, workspace)
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
func (a *API) DeleteWorkspaceTool(ctx context.Context, c *Caller, r *Write, workspace, id string) error {
	if strings.Contains(id, ":") {
		if _, err := a.WorkspaceTool(ctx, c, workspace, id); err != nil {
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
