package harn

import (
	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/gateway/api"
)

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
	return a.sendPage(r, func(p api.Page) (api.List, error) { return a.core.Quotas(r.Context(), r.Caller, p) })
}

func (a *Adapter) getQuota(r *gateway.Request) error {
	doc, err := a.core.Quota(r.Context(), r.Caller, r.PathValue("quota_id"))
	if err != nil {
		return err
	}
	return a.send(r, statusOK, doc)
}

func quotaSchemas() map[string]schema {
	limits := says(map[string]string{
		"limits": "By what is limited: usd, input_tokens, output_tokens, tool_calls, wall_time_ms, tasks, concurrent."})
	return map[string]schema{
		"Quota": resourceOf[abi.Quota](abi.ObjectQuota, "A ceiling on what work uses.", limits,
			maybe("reset_at", "hard_limit", "soft_limit", "exhaustion_reason", "last_receipt_id")),
		"CreateQuotaRequest": requestOf[abi.CreateQuotaRequest]("A Quota to make.", limits),
		"UpdateQuotaRequest": requestOf[abi.UpdateQuotaRequest]("What to change of a Quota.", limits),
	}
}
