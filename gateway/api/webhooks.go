package api

import (
	"context"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
)

// webhooksCore serves Webhooks and what they have not taken.
type webhooksCore interface {
	CheckWebhook(c *desk.Caller, req abi.CreateWebhookRequest) error
	CreateWebhook(ctx context.Context, c *desk.Caller, r *desk.Retry, req abi.CreateWebhookRequest) (desk.Doc, error)
	UpdateWebhook(ctx context.Context, c *desk.Caller, r *desk.Retry, id string, req abi.UpdateWebhookRequest) (desk.Doc, error)
	RotateWebhook(ctx context.Context, c *desk.Caller, r *desk.Retry, id string, req abi.RotateWebhookRequest) (desk.Doc, error)
	DeleteWebhook(ctx context.Context, c *desk.Caller, r *desk.Retry, id string) error
	TryWebhook(ctx context.Context, c *desk.Caller, id string) (abi.WebhookTrial, error)
	Webhook(ctx context.Context, c *desk.Caller, id string) (desk.Doc, error)
	Webhooks(ctx context.Context, c *desk.Caller, f desk.Filter, p desk.Page) (desk.DocList, error)
	WebhookDeliveries(ctx context.Context, c *desk.Caller, webhook string, status abi.WebhookDeliveryStatus, p desk.Page) (desk.DocList, error)
	RedriveWebhookDelivery(ctx context.Context, c *desk.Caller, r *desk.Retry, webhook, id string) (desk.Doc, error)
	RedriveWebhookDeliveries(ctx context.Context, c *desk.Caller, r *desk.Retry, webhook string, p desk.Page) (desk.DocList, error)
}

// PublicEvent returns an event as JSON with these links, as those see it who may see what is public.
func (l Links) PublicEvent(ev desk.Event) []byte {
	shown, err := l.render(ev, false)
	if err != nil {
		shown = l.withoutPayload(ev, false)
	}
	return shown.AppendJSON(nil, false)
}

// CreateWebhook makes a Webhook, which is sent what happens from then on. The view has the
// secret, and none has it afterwards.
func (a *API) CreateWebhook(ctx context.Context, c *Caller, r *Write, req abi.CreateWebhookRequest) (View, error) {
	return a.to(ctx, c).view(a.core.CreateWebhook(ctx, c, r, req))
}

// CheckWebhook refuses what CreateWebhook would refuse, for those that make something else before. Whether
// the caller may have a Webhook where it is to be is not looked at.
func (a *API) CheckWebhook(c *Caller, req abi.CreateWebhookRequest) error {
	return a.core.CheckWebhook(c, req)
}

// UpdateWebhook changes a Webhook.
func (a *API) UpdateWebhook(ctx context.Context, c *Caller, r *Write, id string, req abi.UpdateWebhookRequest) (View, error) {
	return a.to(ctx, c).view(a.core.UpdateWebhook(ctx, c, r, id, req))
}

// RotateWebhook gives a Webhook a new secret. The view has it, and none has it afterwards.
func (a *API) RotateWebhook(ctx context.Context, c *Caller, r *Write, id string, req abi.RotateWebhookRequest) (View, error) {
	return a.to(ctx, c).view(a.core.RotateWebhook(ctx, c, r, id, req))
}

// Webhook returns a Webhook with its counters.
func (a *API) Webhook(ctx context.Context, c *Caller, id string) (View, error) {
	return a.to(ctx, c).view(a.core.Webhook(ctx, c, id))
}

// Webhooks returns the Webhooks that a filter lets through, newest first.
func (a *API) Webhooks(ctx context.Context, c *Caller, f Filter, p Page) (List, error) {
	return a.to(ctx, c).list(a.core.Webhooks(ctx, c, f, p))
}

// WebhookDeliveries lists the deliveries that a receiver has not taken at first, newest first.
func (a *API) WebhookDeliveries(ctx context.Context, c *Caller, webhook string, status abi.WebhookDeliveryStatus, p Page) (List, error) {
	return a.to(ctx, c).list(a.core.WebhookDeliveries(ctx, c, webhook, status, p))
}

// RedriveWebhookDelivery has a delivery tried again that was given up.
func (a *API) RedriveWebhookDelivery(ctx context.Context, c *Caller, r *Write, webhook, id string) (View, error) {
	return a.to(ctx, c).view(a.core.RedriveWebhookDelivery(ctx, c, r, webhook, id))
}

// RedriveWebhookDeliveries has the dead letters of a page of deliveries tried again, and returns
// them.
func (a *API) RedriveWebhookDeliveries(ctx context.Context, c *Caller, r *Write, webhook string, p Page) (List, error) {
	return a.to(ctx, c).list(a.core.RedriveWebhookDeliveries(ctx, c, r, webhook, p))
}
