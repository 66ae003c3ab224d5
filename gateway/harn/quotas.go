package harn

import (
	"context"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/runtime/engine"
)

// quotaCore is what the Quotas' routes ask of the engine.
type quotaCore interface {
	Quota(ctx context.Context, c *engine.Caller, id string) (engine.Doc, error)
	Quotas(ctx context.Context, c *engine.Caller, p engine.Page) (engine.DocList, error)
	CreateQuota(ctx context.Context, c *engine.Caller, r *engine.Retry, req abi.CreateQuotaRequest) (engine.Doc, error)
	UpdateQuota(ctx context.Context, c *engine.Caller, r *engine.Retry, id string, req abi.UpdateQuotaRequest) (engine.Doc, error)
}

func (a *Adapter) quotaRoutes() []gateway.Route {
	const tag, reads, writes = "Quotas", "quotas:read", "quotas:write"
	create := post("/wharf/v1/quotas", "createQuota", tag, writes, "CreateQuotaRequest", "Quota", "Make a Quota", statusCreated,
		create(a, statusCreated, a.core.CreateQuota)).
		doc("One for the whole node, or for another tenant, needs the scope `node:admin`.")
	update := patch("/wharf/v1/quotas/{quota_id}", "updateQuota", tag, writes, "UpdateQuotaRequest", "Quota", "Change a Quota",
		change(a, "quota_id", statusOK, a.core.UpdateQuota)).
		doc("What was used stays. What was exhausted is judged anew.")
	create.Unversioned, update.Unversioned = true, true
	return routes(
		read("/v1/quotas", "listQuotas", tag, reads, "Quota", "List Quotas, newest first", a.listQuotas).list(),
		read("/v1/quotas/{quota_id}", "getQuota", tag, reads, "Quota", "Get a Quota", a.getQuota),
		create, update,
	)
}

func (a *Adapter) listQuotas(r *gateway.Request) error {
	return a.sendPage(r, func(p engine.Page) (engine.DocList, error) { return a.core.Quotas(r.Context(), r.Caller, p) })
}

func (a *Adapter) getQuota(r *gateway.Request) error {
	doc, err := a.core.Quota(r.Context(), r.Caller, r.PathValue("quota_id"))
	if err != nil {
		return err
	}
	return a.send(r, statusOK, doc)
}

func quotaSchemas() map[string]schema {
	scope := enum("persona", "workspace", "tenant", "organization")
	limits := described(mapOf(number()), "By what is limited: usd, input_tokens, output_tokens, tool_calls, wall_time_ms, tasks, concurrent.")
	return map[string]schema{
		"Quota": resource(abi.ObjectQuota, "A ceiling on what work uses.", schema{
			"scope": scope, "limits": limits, "usage": mapOf(number()),
		}, schema{
			"owner_id": text(), "template_id": text(), "window_seconds": whole(),
			"reset_at": nullable(moment()), "hard_limit": flag(), "soft_limit": flag(),
			"exhaustion_reason": nullable(text()), "last_receipt_id": nullable(text()),
		}),
		"CreateQuotaRequest": shape("A Quota to make.", schema{"scope": scope, "limits": limits}, schema{
			"owner_id": text(), "window_seconds": whole(), "hard_limit": flag(), "soft_limit": flag(), "metadata": anyObject(),
		}),
		"UpdateQuotaRequest": shape("What to change of a Quota.", nil, schema{
			"limits": limits, "hard_limit": flag(), "soft_limit": flag(), "metadata": anyObject(),
		}),
	}
}
