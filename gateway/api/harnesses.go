package api

import (
	"context"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/harnesses"
)

// harnessesCore serves Harnesses.
type harnessesCore interface {
	Harness(ctx context.Context, c *desk.Caller, name string) (*abi.Harness, error)
	Harnesses(ctx context.Context, c *desk.Caller) []*abi.Harness
	HarnessCalls(ctx context.Context, h *abi.Harness) ([]string, error)
	HarnessRunning(c *desk.Caller, h *abi.Harness) int
	CreateHarness(ctx context.Context, c *desk.Caller, r *desk.Retry, req abi.NewHarness) (desk.Doc, error)
	UpdateHarness(ctx context.Context, c *desk.Caller, r *desk.Retry, name string, req abi.HarnessChange) (desk.Doc, error)
	DeleteHarness(ctx context.Context, c *desk.Caller, r *desk.Retry, name string) error
	ValidateHarnessKey(ctx context.Context, c *desk.Caller, h *abi.Harness, key, baseURL string, store bool) (harnesses.Validation, error)
}

// CreateHarness makes a Harness with a Workspace of its own. A key that is bound to Workspaces
// makes none.
func (a *API) CreateHarness(ctx context.Context, c *Caller, r *Write, req abi.NewHarness) (View, error) {
	return a.to(ctx, c).view(a.core.CreateHarness(ctx, c, r, req))
}

// UpdateHarness changes what is said of a Harness. The one that every tenant has stays as it is.
func (a *API) UpdateHarness(ctx context.Context, c *Caller, r *Write, name string, req abi.HarnessChange) (View, error) {
	return a.to(ctx, c).view(a.core.UpdateHarness(ctx, c, r, name, req))
}
