package harn

import (
	"github.com/valyala/fasthttp"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/gateway/api"
)

func (a *Adapter) webhookRoutes() []gateway.Route {
	const tag, reads, writes = "Webhooks", "webhooks:read", abi.ScopeWebhooksWrite
	const all = "/wharf/v1/webhooks"
	const one, deliveries = all + "/{webhook_id}", all + "/{webhook_id}/deliveries"
	try := post(one+"/test", "testWebhook", tag, writes, "", "WebhookTrial", "Send a Webhook a delivery that tells of nothing", statusOK, a.testWebhook).
		bodyless().doc("It counts for nothing, and is not tried again.")
	try.Idempotent = false
	own := []row{
		read(all, "listWebhooks", tag, reads, "WebhookEndpoint", "List Webhooks, newest first", a.listWebhooks).list("workspace_id"),
		post(all, "createWebhook", tag, writes, "CreateWebhookRequest", "WebhookEndpoint", "Make a Webhook", statusCreated,
			create(a, statusCreated, a.core.CreateWebhook)).
			doc("It is sent what happens from then on. The answer has `secret`, and no other answer has it."),
		read(one, "getWebhook", tag, reads, "WebhookEndpoint", "Get a Webhook", a.getWebhook).
			doc("Of the URL the host alone is shown to those who may not write Webhooks."),
		patch(one, "updateWebhook", tag, writes, "UpdateWebhookRequest", "WebhookEndpoint", "Change a Webhook",
			change(a, "webhook_id", statusOK, a.core.UpdateWebhook)).
			doc("What it wants from then on counts for events from then on. While it is PAUSED, what it wants is kept; while it is DISABLED, it wants nothing."),
		write(fasthttp.MethodDelete, one, "deleteWebhook", tag, writes, "", "", "Delete a Webhook", statusNoContent, a.deleteWebhook).bodyless().
			doc("What was still to be sent is dropped."),
		post(one+"/rotate", "rotateWebhook", tag, writes, "RotateWebhookRequest", "WebhookEndpoint", "Give a Webhook a new secret", statusOK,
			change(a, "webhook_id", statusOK, a.core.RotateWebhook)).
			doc("Those before sign beside it for as long as the request says. The answer has `secret`, and no other answer has it."),
		try,
		read(deliveries, "listWebhookDeliveries", tag, reads, "WebhookDelivery", "List the deliveries that were not taken at first, newest first", a.listWebhookDeliveries).
			list().with(gateway.Param{Name: "status", In: "query", Schema: enum(abi.WebhookDeliveryPending, abi.WebhookDeliveryDelivered, abi.WebhookDeliveryDead)}).
			doc("One that was taken at once leaves nothing but a count."),
		post(deliveries+"/{delivery_id}/redrive", "redriveWebhookDelivery", tag, writes, "", "WebhookDelivery", "Have a delivery tried again that was given up", statusAccepted,
			a.redriveWebhookDelivery).bodyless(),
		post(one+"/redrive", "redriveWebhookDeliveries", tag, writes, "", "WebhookDelivery", "Have the dead letters of a page tried again", statusAccepted,
			a.redriveWebhookDeliveries).bodyless().list().
			doc("The page is one of its deliveries that are DEAD, newest first; `page` says whether more follow."),
	}
	for i := range own {
		own[i].Unversioned = true
	}
	return routes(own...)
}

func (a *Adapter) listWebhooks(r *gateway.Request) error {
	return a.sendPage(r, func(p api.Page) (api.List, error) {
		return a.core.Webhooks(r.Context(), r.Caller, queryFilter(r), p)
	})
}

func (a *Adapter) getWebhook(r *gateway.Request) error {
	doc, err := a.core.Webhook(r.Context(), r.Caller, r.PathValue("webhook_id"))
	if err != nil {
		return err
	}
	return a.send(r, statusOK, doc)
}

func (a *Adapter) deleteWebhook(r *gateway.Request) error {
	retry, err := r.Retry(nil)
	if err != nil {
		return err
	}
	if err := a.core.DeleteWebhook(r.Context(), r.Caller, retry, r.PathValue("webhook_id")); err != nil {
		return err
	}
	r.Send(statusNoContent, nil)
	return nil
}

func (a *Adapter) testWebhook(r *gateway.Request) error {
	tried, err := a.core.TryWebhook(r.Context(), r.Caller, r.PathValue("webhook_id"))
	if err != nil {
		return err
	}
	return sendValue(r, statusOK, tried)
}

func (a *Adapter) listWebhookDeliveries(r *gateway.Request) error {
	return a.sendPage(r, func(p api.Page) (api.List, error) {
		return a.core.WebhookDeliveries(r.Context(), r.Caller, r.PathValue("webhook_id"), abi.WebhookDeliveryStatus(r.Query("status")), p)
	})
}

func (a *Adapter) redriveWebhookDelivery(r *gateway.Request) error {
	retry, err := r.Retry(nil)
	if err != nil {
		return err
	}
	doc, err := a.core.RedriveWebhookDelivery(r.Context(), r.Caller, retry, r.PathValue("webhook_id"), r.PathValue("delivery_id"))
	if err != nil {
		return err
	}
	return a.send(r, statusAccepted, doc)
}

func (a *Adapter) redriveWebhookDeliveries(r *gateway.Request) error {
	retry, err := r.Retry(nil)
	if err != nil {
		return err
	}
	return a.sendPageAs(r, statusAccepted, func(p api.Page) (api.List, error) {
		return a.core.RedriveWebhookDeliveries(r.Context(), r.Caller, retry, r.PathValue("webhook_id"), p)
	})
}

func webhookSchemas() map[string]schema {
	wants := map[string]string{
		"events":     "Kinds of events; one that ends in * is how kinds begin, such as task.*. Events about Webhooks are sent to none.",
		"persona_id": "Of the Task that an event belongs to.",
		"format":     "How deliveries are written; harn, which is the default: the event as JSON.",
		"headers":    "Headers that deliveries carry besides. Their values are never shown.",
		"secret":     "16 to 512 visible characters; none: the node makes one.",
		"signature":  "A header beside those of Standard Webhooks. The key is the secret as it was shown, whsec_ included.",
	}
	return map[string]schema{
		"WebhookEndpoint": resourceOf[abi.WebhookEndpoint](abi.ObjectWebhook, "A receiver that is sent events.", says(map[string]string{
			"workspace_id": "None: every Workspace of the tenant.", "events": wants["events"], "persona_id": wants["persona_id"], "format": wants["format"],
			"headers": "The names of the headers that deliveries carry besides."}),
			hidden("deleted_at", "hook"), but(schema{"secret": described(text(), "In the answer that has made it, and in no other.")})),
		"WebhookSignature":     of[abi.WebhookSignature]("A header with the HMAC-SHA256 of the body in hex.", says(map[string]string{"prefix": "What stands before it; none: sha256=."})),
		"WebhookSecret":        of[abi.WebhookSecret]("What deliveries are signed with.", says(map[string]string{"hint": "The last characters of its value."})),
		"WebhookCounters":      of[abi.WebhookCounters]("What became of deliveries.", says(map[string]string{"failed": "Attempts.", "dead": "Given up, whether driven again since or not."})),
		"WebhookDelivery":      resourceOf[abi.WebhookDelivery](abi.ObjectWebhookDelivery, "A delivery that its receiver has not taken at first."),
		"WebhookTrial":         of[abi.WebhookTrial]("What became of a delivery that tries a Webhook out."),
		"CreateWebhookRequest": requestOf[abi.CreateWebhookRequest]("A Webhook to make.", says(wants)),
		"UpdateWebhookRequest": requestOf[abi.UpdateWebhookRequest]("What to change of a Webhook.", says(map[string]string{"events": wants["events"], "headers": "All of them anew."})),
		"RotateWebhookRequest": requestOf[abi.RotateWebhookRequest]("What is to sign from now on.", says(map[string]string{"secret": wants["secret"], "overlap_seconds": "For how long the secrets before sign beside it."})),
	}
}
