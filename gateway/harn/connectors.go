package harn

import (
	"iter"

	"github.com/valyala/fasthttp"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/abi/jsonw"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/gateway/api"
)

func (a *Adapter) connectorRoutes() []gateway.Route {
	const tag, reads, writes = "Connectors", "connectors:read", abi.ScopeConnectorsWrite
	const one = "/v1/connectors/{connector_id}"
	deliver := post(one+"/deliveries", "deliver", tag, writes, "", "Received", "Hand a Connector a delivery", statusAccepted, a.deliver).
		also(statusOK, "The delivery has been taken before.", false).
		doc("The body and the headers are those of the provider; a caller with a key needs no signature. The delivery is on disk when this answers.")
	hook := post("/hooks/{token}", "receiveWebhook", tag, "", "", "Received", "The public path of a Connector", statusAccepted, a.hook).
		also(statusOK, "The delivery has been taken before; or the provider has asked something, and this answers it.", false).
		doc("Deliveries are signed as the Connector says.")
	handshake := row{Method: fasthttp.MethodOptions, Path: "/hooks/{token}", Operation: "validateWebhook", Tag: tag,
		Summary: "Ask whether a Connector takes deliveries", Status: statusOK, Handle: a.hook}
	for _, rt := range []*row{&deliver, &hook} {
		rt.Body, rt.Idempotent = gateway.BodyRaw, false
	}
	deliver.Unversioned = true // providers send no such header
	hook.Public, handshake.Public = true, true
	return routes(
		read("/v1/connectors", "listConnectors", tag, reads, "Connector", "List Connectors, newest first", a.listConnectors).list("workspace_id"),
		post("/v1/connectors", "createConnector", tag, writes, "CreateConnectorRequest", "Connector", "Create a Connector", statusCreated,
			create(a, statusCreated, a.core.CreateConnector)),
		read(one, "getConnector", tag, reads, "Connector", "Get a Connector", a.getConnector),
		patch(one, "updateConnector", tag, writes, "UpdateConnectorRequest", "Connector", "Change a Connector",
			change(a, "connector_id", statusOK, a.core.UpdateConnector)),
		write(fasthttp.MethodDelete, one, "deleteConnector", tag, writes, "", "", "Delete a Connector", statusNoContent, a.deleteConnector).bodyless().
			doc("Deliveries that are not handled yet are dropped. Tasks that were submitted go on."),
		deliver, hook, handshake,
	)
}

func (a *Adapter) listConnectors(r *gateway.Request) error {
	return a.sendPage(r, func(p api.Page) (api.List, error) {
		return a.core.ListConnectors(r.Context(), r.Caller, queryFilter(r), p)
	})
}

func (a *Adapter) getConnector(r *gateway.Request) error {
	doc, err := a.core.GetConnector(r.Context(), r.Caller, r.PathValue("connector_id"))
	if err != nil {
		return err
	}
	return a.send(r, statusOK, doc)
}

func (a *Adapter) deleteConnector(r *gateway.Request) error {
	retry, err := r.Retry(nil)
	if err != nil {
		return err
	}
	if err := a.core.DeleteConnector(r.Context(), r.Caller, retry, r.PathValue("connector_id")); err != nil {
		return err
	}
	r.Send(statusNoContent, nil)
	return nil
}

// deliver takes a delivery of an authenticated caller.
func (a *Adapter) deliver(r *gateway.Request) error {
	in, err := a.incoming(r)
	if err != nil {
		return err
	}
	got, err := a.core.ReceiveDelivery(r.Context(), r.Caller, r.PathValue("connector_id"), in)
	return sendReceived(r, got, err)
}

// hook takes what comes in on a public path. Of a path that there is not, nothing is read.
func (a *Adapter) hook(r *gateway.Request) error {
	tenant, err := a.core.HookTenant(r.PathValue("token"))
	if err != nil {
		return err
	}
	r.ForHookOf(tenant)
	in, err := a.incoming(r)
	if err != nil {
		return err
	}
	got, err := a.core.ReceiveHook(r.Context(), r.PathValue("token"), in)
	return sendReceived(r, got, err)
}

func (a *Adapter) incoming(r *gateway.Request) (*api.Delivery, error) {
	in := &api.Delivery{Method: r.Route.Method, Header: header{&r.HTTP.Request.Header}}
	if r.Route.Method == fasthttp.MethodOptions {
		return in, nil
	}
	var err error
	in.Body, err = r.Whole(a.cfg.DeliveryLimit)
	return in, err
}

func sendReceived(r *gateway.Request, got api.Received, err error) error {
	switch {
	case err != nil:
		return err
	case got.Answer != nil:
		r.Send(got.Answer.Status, got.Answer.Body)
		for name, value := range got.Answer.Header {
			r.SetHeader(name, value)
		}
		return nil
	}
	status := statusAccepted
	if got.Status == api.DeliveryDeduped {
		status = statusOK
	}
	o := jsonw.Begin(make([]byte, 0, 160))
	o.Text("status", string(got.Status))
	o.Text("delivery_id", got.DeliveryID)
	o.Optional("id", got.ID)
	r.Send(status, o.End())
	return nil
}

// header is a request's header as the engine reads it.
type header struct{ *fasthttp.RequestHeader }

// Get implements [engine.IncomingHeader].
func (h header) Get(name string) []byte { return h.Peek(name) }

// All implements [engine.IncomingHeader].
func (h header) All() iter.Seq2[[]byte, []byte] { return h.RequestHeader.All() }

func connectorSchemas() map[string]schema {
	return map[string]schema{
		"Connector":              resourceOf[abi.Connector](abi.ObjectConnector, "A source of external activity.", hidden("deleted_at")),
		"CreateConnectorRequest": requestOf[abi.CreateConnectorRequest]("A Connector to be made."),
		"UpdateConnectorRequest": requestOf[abi.UpdateConnectorRequest]("What is to change of a Connector.",
			but(schema{"status": enum(abi.ConnectorActive, abi.ConnectorPaused, abi.ConnectorDisabled)})),
		"DedupePolicy": of[abi.DedupePolicy]("How deliveries that come again are recognized."),
		"WebhookAuth": of[abi.WebhookAuth]("How deliveries on the public path are checked. Secrets are names.",
			but(schema{"hash": enum("sha256", "sha512"), "encoding": enum("hex", "base64")})),
		"Webhook":           of[abi.Webhook]("The public path. It is shown to those who may write Connectors."),
		"Polling":           of[abi.Polling]("How a Connector acts by itself.", but(schema{"next_at": text(), "last_at": text()})),
		"ConnectorCounters": of[abi.ConnectorCounters]("What became of deliveries."),
		"Received":          shape("What became of a delivery.", schema{"status": enum("accepted", "deduped"), "delivery_id": text()}, schema{"id": text()}),
	}
}
