package harn

import (
	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
)

func (a *Adapter) personaRoutes() []gateway.Route {
	const tag, reads, writes = "Personas", "personas:read", "personas:write"
	return routes(
		read("/v1/personas", "listPersonas", tag, reads, "Persona", "List Personas, newest first", a.list(abi.ObjectPersona)).list(),
		post("/v1/personas", "createPersona", tag, writes, "CreatePersonaRequest", "Persona", "Create a Persona", statusCreated, nil).later(),
		read("/v1/personas/{persona_id}", "getPersona", tag, reads, "Persona", "Get a Persona", a.get(abi.ObjectPersona, "persona_id")),
		patch("/v1/personas/{persona_id}", "updatePersona", tag, writes, "UpdatePersonaRequest", "Persona", "Change a Persona", nil).later(),
	)
}

// personaCore is what the Personas' routes ask of the engine.
type personaCore interface{}

func personaSchemas() map[string]schema {
	tiers := []abi.AutonomyTier{abi.TierShadow, abi.TierSuggest, abi.TierActWithApproval, abi.TierActAuto}
	policies := []abi.ReceiptPolicy{abi.ReceiptRequired, abi.ReceiptOptional, abi.ReceiptDisabled}
	persona := func() schema {
		return schema{"name": text(), "version": text(), "entry_workflow": text(), "description": text(),
			"autonomy_tier": enum(tiers...), "receipt_policy": enum(policies...)}
	}
	return map[string]schema{
		"Persona": resource(abi.ObjectPersona, "An operational role.", persona(), schema{
			"tools": listOf(text()), "capabilities": listOf(text()), "triggers": listOf(anyObject()), "schedules": listOf(anyObject()),
			"handoffs": listOf(text()), "context_packs": listOf(text()), "evals": listOf(text()), "owner": nullable(text()),
			"model_policy": anyObject(), "rollout_policy": anyObject(), "quota_id": nullable(text()),
		}),
		"CreatePersonaRequest": shape("A Persona.", persona(), schema{"module_ref": text(), "metadata": anyObject()}),
		"UpdatePersonaRequest": shape("What to change.", nil, schema{
			"description": text(), "receipt_policy": enum(policies...), "quota_id": nullable(text()), "metadata": anyObject()}),
	}
}
