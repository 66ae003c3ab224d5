package harn

import (
	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
)

// quotaCore is what the Quotas' routes ask of the engine.
type quotaCore interface{}

func (a *Adapter) quotaRoutes() []gateway.Route {
	return routes(
		a.none("/v1/quotas", "listQuotas", "Quotas", "quotas:read", "Quota", "List Quotas"),
		read("/v1/quotas/{quota_id}", "getQuota", "Quotas", "quotas:read", "Quota", "Get a Quota", absent(abi.ObjectQuota, string(abi.ObjectQuota)+"_id")),
	)
}

func quotaSchemas() map[string]schema {
	return map[string]schema{
		"Quota": resource(abi.ObjectQuota, "A ceiling.", schema{
			"scope": enum("persona", "workspace", "tenant", "organization"), "limits": mapOf(number()), "usage": mapOf(number()),
		}, schema{
			"reset_at": nullable(moment()), "hard_limit": flag(), "soft_limit": flag(),
			"exhaustion_reason": nullable(text()), "last_receipt_id": nullable(text()),
		}),
	}
}
