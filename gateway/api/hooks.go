package api

import (
	"context"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
)

// hooksCore serves the hooks of Workspaces.
type hooksCore interface {
	CreateHook(ctx context.Context, c *desk.Caller, r *desk.Retry, req abi.CreateHookRequest) (desk.Doc, error)
	UpdateHook(ctx context.Context, c *desk.Caller, r *desk.Retry, id string, req abi.UpdateHookRequest) (desk.Doc, error)
	DeleteHook(ctx context.Context, c *desk.Caller, r *desk.Retry, id string) error
	Hook(ctx context.Context, c *desk.Caller, id string) (desk.Doc, error)
	Hooks(ctx context.Context, c *desk.Caller, workspace string) (desk.DocList, error)
}

// CreateHook makes a hook of a Workspace. The view has its secret, and none has it afterwards.
func (a *API) CreateHook(ctx context.Context, c *Caller, r *Write, req abi.CreateHookRequest) (View, error) {
	return a.to(ctx, c).view(a.core.CreateHook(ctx, c, r, req))
}

// UpdateHook changes a hook.
func (a *API) UpdateHook(ctx context.Context, c *Caller, r *Write, id string, req abi.UpdateHookRequest) (View, error) {
	return a.to(ctx, c).view(a.core.UpdateHook(ctx, c, r, id, req))
}

// Hook returns a hook.
func (a *API) Hook(ctx context.Context, c *Caller, id string) (View, error) {
	return a.to(ctx, c).view(a.core.Hook(ctx, c, id))
}

// Hooks lists the hooks of a Workspace in the order in which they were made.
func (a *API) Hooks(ctx context.Context, c *Caller, workspace string) (List, error) {
	return a.to(ctx, c).list(a.core.Hooks(ctx, c, workspace))
}
