package api

import (
	"context"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/intake"
)

// connectorsCore serves Connectors and what they could not handle.
type connectorsCore interface {
	CreateConnector(ctx context.Context, c *desk.Caller, r *desk.Retry, req abi.CreateConnectorRequest) (desk.Doc, error)
	UpdateConnector(ctx context.Context, c *desk.Caller, r *desk.Retry, id string, req abi.UpdateConnectorRequest) (desk.Doc, error)
	DeleteConnector(ctx context.Context, c *desk.Caller, r *desk.Retry, id string) error
	GetConnector(ctx context.Context, c *desk.Caller, id string) (desk.Doc, error)
	ListConnectors(ctx context.Context, c *desk.Caller, f desk.Filter, p desk.Page) (desk.DocList, error)
	ReceiveDelivery(ctx context.Context, c *desk.Caller, id string, in *intake.Incoming) (intake.Received, error)
	HookTenant(token string) (string, error)
	ReceiveHook(ctx context.Context, token string, in *intake.Incoming) (intake.Received, error)
	DeadLetters(ctx context.Context, c *desk.Caller, connectorID string, p desk.Page) (desk.DocList, error)
	DeadLetter(ctx context.Context, c *desk.Caller, connectorID, id string) (desk.Doc, error)
	RedriveDeadLetter(ctx context.Context, c *desk.Caller, r *desk.Retry, connectorID, id string) (desk.Doc, error)
	RedriveDeadLetters(ctx context.Context, c *desk.Caller, r *desk.Retry, connectorID string, p desk.Page) (desk.DocList, error)
}

// CreateConnector makes a Connector, which is ACTIVE at once.
func (a *API) CreateConnector(ctx context.Context, c *Caller, r *Write, req abi.CreateConnectorRequest) (View, error) {
	return a.to(ctx, c).view(a.core.CreateConnector(ctx, c, r, req))
}

// UpdateConnector changes a Connector.
func (a *API) UpdateConnector(ctx context.Context, c *Caller, r *Write, id string, req abi.UpdateConnectorRequest) (View, error) {
	return a.to(ctx, c).view(a.core.UpdateConnector(ctx, c, r, id, req))
}

// GetConnector returns a Connector with its counters.
func (a *API) GetConnector(ctx context.Context, c *Caller, id string) (View, error) {
	return a.to(ctx, c).view(a.core.GetConnector(ctx, c, id))
}

// ListConnectors returns the Connectors that a filter lets through, newest first.
func (a *API) ListConnectors(ctx context.Context, c *Caller, f Filter, p Page) (List, error) {
	return a.to(ctx, c).list(a.core.ListConnectors(ctx, c, f, p))
}

// DeadLetters lists the dead letters of a Connector, newest first, without the deliveries
// themselves.
func (a *API) DeadLetters(ctx context.Context, c *Caller, connectorID string, p Page) (List, error) {
	return a.to(ctx, c).list(a.core.DeadLetters(ctx, c, connectorID, p))
}

// DeadLetter returns a dead letter of a Connector, with the delivery.
func (a *API) DeadLetter(ctx context.Context, c *Caller, connectorID, id string) (View, error) {
	return a.to(ctx, c).view(a.core.DeadLetter(ctx, c, connectorID, id))
}

// RedriveDeadLetter has a delivery that was put aside handled again: once, until it fails
// again.
func (a *API) RedriveDeadLetter(ctx context.Context, c *Caller, r *Write, connectorID, id string) (View, error) {
	return a.to(ctx, c).view(a.core.RedriveDeadLetter(ctx, c, r, connectorID, id))
}

// RedriveDeadLetters has a page of a Connector's dead letters handled again, and returns them.
// It leaves out those that were driven again already.
func (a *API) RedriveDeadLetters(ctx context.Context, c *Caller, r *Write, connectorID string, p Page) (List, error) {
	return a.to(ctx, c).list(a.core.RedriveDeadLetters(ctx, c, r, connectorID, p))
}
