package harn

import (
	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/gateway/api"
)

func (a *Adapter) deadLetterRoutes() []gateway.Route {
	const tag, reads, writes = "Connectors", "connectors:read", abi.ScopeConnectorsWrite
	const all = "/wharf/v1/connectors/{connector_id}/dead-letters"
	own := []row{
		read(all, "listDeadLetters", tag, reads, "DeadLetter", "List the deliveries that a Connector could not handle, newest first", a.listDeadLetters).list(),
		read(all+"/{dead_letter_id}", "getDeadLetter", tag, reads, "DeadLetter", "Look at a delivery that could not be handled", a.getDeadLetter).
			doc("With the delivery, which is internal."),
		post(all+"/{dead_letter_id}/redrive", "redriveDeadLetter", tag, writes, "", "DeadLetter", "Have a delivery handled again", statusAccepted,
			a.redriveDeadLetter).bodyless().doc("Once, until it fails again."),
		post("/wharf/v1/connectors/{connector_id}/redrive", "redriveDeadLetters", tag, writes, "", "DeadLetter", "Have the deliveries of a page handled again", statusAccepted,
			a.redriveDeadLetters).bodyless().list().
			doc("The page is one of its dead letters, newest first. The answer has those that were not driven again already; `page` says whether more follow."),
	}
	for i := range own {
		own[i].Unversioned = true
	}
	return routes(own...)
}

func (a *Adapter) listDeadLetters(r *gateway.Request) error {
	return a.sendPage(r, func(p api.Page) (api.List, error) {
		return a.core.DeadLetters(r.Context(), r.Caller, r.PathValue("connector_id"), p)
	})
}

func (a *Adapter) getDeadLetter(r *gateway.Request) error {
	doc, err := a.core.DeadLetter(r.Context(), r.Caller, r.PathValue("connector_id"), r.PathValue("dead_letter_id"))
	if err != nil {
		return err
	}
	return a.send(r, statusOK, doc)
}

func (a *Adapter) redriveDeadLetter(r *gateway.Request) error {
	retry, err := r.Retry(nil)
	if err != nil {
		return err
	}
	doc, err := a.core.RedriveDeadLetter(r.Context(), r.Caller, retry, r.PathValue("connector_id"), r.PathValue("dead_letter_id"))
	if err != nil {
		return err
	}
	return a.send(r, statusAccepted, doc)
}

func (a *Adapter) redriveDeadLetters(r *gateway.Request) error {
	retry, err := r.Retry(nil)
	if err != nil {
		return err
	}
	return a.sendPageAs(r, statusAccepted, func(p api.Page) (api.List, error) {
		return a.core.RedriveDeadLetters(r.Context(), r.Caller, retry, r.PathValue("connector_id"), p)
	})
}

func deadLetterSchemas() map[string]schema {
	return map[string]schema{
		"DeadLetter": resourceOf[abi.DeadLetter](abi.ObjectDeadLetter, "A delivery that could not be handled.",
			but(schema{"redriven_at": text(), "delivery": anyObject()})),
	}
}
