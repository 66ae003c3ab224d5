package harn

import (
	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
)

// connectorCore is what the Connectors' routes ask of the engine.
type connectorCore interface{}

func (a *Adapter) connectorRoutes() []gateway.Route {
	return routes(
		a.none("/v1/connectors", "listConnectors", "Connectors", "connectors:read", "Connector", "List Connectors", "workspace_id"),
		read("/v1/connectors/{connector_id}", "getConnector", "Connectors", "connectors:read", "Connector", "Get a Connector", absent(abi.ObjectConnector, string(abi.ObjectConnector)+"_id")),
	)
}

func connectorSchemas() map[string]schema {
	return map[string]schema{
		"Connector": resource(abi.ObjectConnector, "A source of external activity.", schema{
			"provider": text(), "workspace_id": text(), "status": enum("ACTIVE", "PAUSED", "FAILED", "DISABLED"), "event_kinds": listOf(text()),
		}, schema{
			"dedupe_policy": anyObject(), "auth": anyObject(), "webhook": anyObject(), "polling": anyObject(),
			"target_persona_id": nullable(text()), "target_session_id": nullable(text()),
		}),
	}
}
