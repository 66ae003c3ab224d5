package api

import (
	"context"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
)

// toolServersCore serves the servers of tools that tenants add.
type toolServersCore interface {
	CreateToolServer(ctx context.Context, c *desk.Caller, r *desk.Retry, req abi.CreateToolServerRequest) (desk.Doc, error)
	UpdateToolServer(ctx context.Context, c *desk.Caller, r *desk.Retry, id string, req abi.UpdateToolServerRequest) (desk.Doc, error)
	DeleteToolServer(ctx context.Context, c *desk.Caller, r *desk.Retry, id string) error
	PingToolServer(ctx context.Context, c *desk.Caller, id string) (abi.ToolServerPing, error)
	ToolServerTools(ctx context.Context, c *desk.Caller, id string) (tools []abi.Tool, plugins []string, err error)
	ToolServerResources(ctx context.Context, c *desk.Caller, id string) (abi.ToolServerResources, error)
	ToolServerTemplates(ctx context.Context, c *desk.Caller, id string) (abi.ToolServerTemplates, error)
	ToolServerPrompts(ctx context.Context, c *desk.Caller, id string) (abi.ToolServerPrompts, error)
	ReadToolServerResource(ctx context.Context, c *desk.Caller, id string, req abi.ReadResourceRequest) (*abi.CallResourceReadAnswer, error)
	GetToolServerPrompt(ctx context.Context, c *desk.Caller, id string, req abi.GetPromptRequest) (*abi.CallPromptGetAnswer, error)
	ToolServer(ctx context.Context, c *desk.Caller, id string) (desk.Doc, error)
	ToolServers(ctx context.Context, c *desk.Caller, p desk.Page) (desk.DocList, error)
}

// CreateToolServer adds a server, whose tools can be called from then on.
func (a *API) CreateToolServer(ctx context.Context, c *Caller, r *Write, req abi.CreateToolServerRequest) (View, error) {
	return a.to(ctx, c).view(a.core.CreateToolServer(ctx, c, r, req))
}

// UpdateToolServer changes a server.
func (a *API) UpdateToolServer(ctx context.Context, c *Caller, r *Write, id string, req abi.UpdateToolServerRequest) (View, error) {
	return a.to(ctx, c).view(a.core.UpdateToolServer(ctx, c, r, id, req))
}

// ToolServer returns a server, without the values of its headers.
func (a *API) ToolServer(ctx context.Context, c *Caller, id string) (View, error) {
	return a.to(ctx, c).view(a.core.ToolServer(ctx, c, id))
}

// ToolServers lists the servers that the caller may see, newest first.
func (a *API) ToolServers(ctx context.Context, c *Caller, p Page) (List, error) {
	return a.to(ctx, c).list(a.core.ToolServers(ctx, c, p))
}
