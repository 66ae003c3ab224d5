package harn

import (
	"context"
	"maps"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/runtime/engine"
)

func (a *Adapter) personaRoutes() []gateway.Route {
	const tag, reads, writes = "Personas", "personas:read", "personas:write"
	return routes(
		read("/v1/personas", "listPersonas", tag, reads, "Persona", "List Personas, newest first", a.list(abi.ObjectPersona)).list(),
		post("/v1/personas", "createPersona", tag, writes, "CreatePersonaRequest", "Persona", "Create a Persona", statusCreated,
			a.createPersona).
			doc("A plugin of this node must be its `entry_workflow`: PLUGIN or PLUGIN#EXPORT. Unknown members are refused."),
		read("/v1/personas/{persona_id}", "getPersona", tag, reads, "Persona", "Get a Persona", a.get(abi.ObjectPersona, "persona_id")),
		patch("/v1/personas/{persona_id}", "updatePersona", tag, writes, "UpdatePersonaRequest", "Persona", "Change a Persona",
			a.updatePersona).
			doc("A change of policy is a new version; Tasks that have begun keep theirs. Members that are lists and objects are replaced as a "+
				"whole. Unknown members are refused."),
		unversioned(read("/wharf/v1/personas/{persona_id}/versions", "listPersonaVersions", tag, reads, "Persona",
			"List the versions of a Persona, newest first", a.personaVersions).list()),
	)
}

func unversioned(rt row) row {
	rt.Unversioned = true
	return rt
}

// personaCore is what the Personas' routes ask of the engine.
type personaCore interface {
	CreatePersona(ctx context.Context, c *engine.Caller, r *engine.Retry, req abi.CreatePersonaRequest) (engine.Doc, error)
	UpdatePersona(ctx context.Context, c *engine.Caller, r *engine.Retry, id string, req abi.UpdatePersonaRequest) (engine.Doc, error)
	PersonaVersions(ctx context.Context, c *engine.Caller, id string, p engine.Page) (engine.DocList, error)
}

// createPersona refuses members that are not known: a misspelt bound must not pass
// for none.
func (a *Adapter) createPersona(r *gateway.Request) error {
	var req abi.CreatePersonaRequest
	retry, err := decode(r, &req)
	if err != nil {
		return err
	}
	doc, err := a.core.CreatePersona(r.Context(), r.Caller, retry, req)
	if err != nil {
		return err
	}
	return a.send(r, statusCreated, doc)
}

// updatePersona is as strict as createPersona.
func (a *Adapter) updatePersona(r *gateway.Request) error {
	var req abi.UpdatePersonaRequest
	retry, err := decode(r, &req)
	if err != nil {
		return err
	}
	doc, err := a.core.UpdatePersona(r.Context(), r.Caller, retry, r.PathValue("persona_id"), req)
	if err != nil {
		return err
	}
	return a.send(r, statusOK, doc)
}

func (a *Adapter) personaVersions(r *gateway.Request) error {
	return a.sendPage(r, func(p engine.Page) (engine.DocList, error) {
		return a.core.PersonaVersions(r.Context(), r.Caller, r.PathValue("persona_id"), p)
	})
}

func personaSchemas() map[string]schema {
	tiers := []abi.AutonomyTier{abi.TierShadow, abi.TierSuggest, abi.TierActWithApproval, abi.TierActAuto}
	policies := []abi.ReceiptPolicy{abi.ReceiptRequired, abi.ReceiptOptional, abi.ReceiptDisabled}
	persona := func() schema {
		return schema{"name": text(), "version": text(), "entry_workflow": text(), "description": text(),
			"autonomy_tier": enum(tiers...), "receipt_policy": enum(policies...)}
	}
	own := func() schema {
		return schema{"tools": patterns("Of the tools that its Tasks may call, as SERVER:TOOL; none: all that its plugin is granted."),
			"capabilities": patterns("Of the host calls that its Tasks may make; none: all."),
			"handoffs":     patterns("Of the Personas that its Tasks may hand work to; absent: all."),
			"model_policy": shape("Which models its Tasks may ask.", nil, schema{
				"models": listOf(text()), "providers": listOf(text()), "max_tokens": whole()}),
			"quota_id": nullable(text()),
			"budget": shape("What each of its Tasks may spend; 0 bounds nothing.", nil, schema{"usd": number(), "input_tokens": whole(),
				"output_tokens": whole(), "tool_calls": whole(), "host_calls": whole(), "wall_time_ms": whole()}),
			"approvals": shape("How its Tasks' writes are approved.", nil, schema{"quorum": whole(), "approvers": listOf(text()),
				"self_approval": flag(), "timeout_seconds": number(), "without": listOf(text())}),
		}
	}
	return map[string]schema{
		"Persona": resource(abi.ObjectPersona, "An operational role.", persona(), joined(own(), schema{
			"triggers": listOf(anyObject()), "schedules": listOf(anyObject()), "context_packs": listOf(text()), "evals": listOf(text()),
			"owner": nullable(text()), "rollout_policy": anyObject(),
		})),
		"CreatePersonaRequest": shape("A Persona.", persona(), joined(own(), schema{
			"module_ref": described(text(), "The plugin, when entry_workflow names no more than its export."), "owner": text(), "metadata": anyObject()})),
		"UpdatePersonaRequest": shape("What to change.", nil, joined(own(), schema{
			"version":     described(text(), "Of the new version; the next number if it is absent."),
			"description": text(), "autonomy_tier": enum(tiers...), "receipt_policy": enum(policies...), "metadata": anyObject()})),
	}
}

func patterns(doc string) schema {
	return described(listOf(text()), "Patterns, in which * stands for any characters. "+doc)
}

// joined is all that two sets of members have.
func joined(a, b schema) schema {
	maps.Copy(a, b)
	return a
}
