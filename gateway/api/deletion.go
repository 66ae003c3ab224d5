package api

import (
	"context"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
)

// deletionCore deletes, and keeps from being deleted.
type deletionCore interface {
	DeleteTask(ctx context.Context, c *desk.Caller, r *desk.Retry, id string) (desk.Doc, error)
	DeleteArtifact(ctx context.Context, c *desk.Caller, r *desk.Retry, id string) (desk.Doc, error)
	PlaceHold(ctx context.Context, c *desk.Caller, r *desk.Retry, req abi.PlaceHoldRequest) (desk.Doc, error)
	ReleaseHold(ctx context.Context, c *desk.Caller, r *desk.Retry, id string) (desk.Doc, error)
}

// DeleteTask has a Task that has ended shown to nobody any more, and erased with all that belongs to it.
func (a *API) DeleteTask(ctx context.Context, c *Caller, r *Write, id string) error {
	_, err := a.core.DeleteTask(ctx, c, r, id)
	return err
}

// DeleteArtifact has an Artifact shown to nobody any more, and erased.
func (a *API) DeleteArtifact(ctx context.Context, c *Caller, r *Write, id string) error {
	_, err := a.core.DeleteArtifact(ctx, c, r, id)
	return err
}

// PlaceHold keeps something from being deleted.
func (a *API) PlaceHold(ctx context.Context, c *Caller, r *Write, req abi.PlaceHoldRequest) (View, error) {
	return a.to(ctx, c).view(a.core.PlaceHold(ctx, c, r, req))
}

// ReleaseHold lets something be deleted again.
func (a *API) ReleaseHold(ctx context.Context, c *Caller, r *Write, id string) (View, error) {
	return a.to(ctx, c).view(a.core.ReleaseHold(ctx, c, r, id))
}
