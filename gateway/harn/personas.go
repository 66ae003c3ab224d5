package harn

import (
	"github.com/valyala/fasthttp"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/gateway/api"
)

func (a *Adapter) personaRoutes() []gateway.Route {
	const tag, reads, writes = "Personas", "personas:read", "personas:write"
	return routes(
		read("/v1/personas", "listPersonas", tag, reads, "Persona", "List Personas, newest first", a.list(abi.ObjectPersona)).paged(descending, "workspace_id").
			doc(ofWorkspace),
		post("/v1/personas", "createPersona", tag, writes, "CreatePersonaRequest", "Persona", "Create a Persona", statusCreated,
			a.createPersona).
			doc("A plugin of this node must be its `entry_workflow`: PLUGIN or PLUGIN#EXPORT. One with a `workspace_id` is seen and used in that Workspace alone, and stays there. Unknown members are refused."),
		read("/v1/personas/{persona_id}", "getPersona", tag, reads, "Persona", "Get a Persona", a.get(abi.ObjectPersona, "persona_id")),
		patch("/v1/personas/{persona_id}", "updatePersona", tag, writes, "UpdatePersonaRequest", "Persona", "Change a Persona",
			a.updatePersona).
			doc("A change of policy is a new version, a new name is not; Tasks that have begun keep theirs. Members that are lists and objects are replaced as a "+
				"whole. Unknown members are refused."),
		post("/wharf/v1/personas/{persona_id}/clone", "clonePersona", tag, writes, "ClonePersonaRequest", "Persona", "Make a Persona with the policy of another", statusCreated,
			change(a, "persona_id", statusCreated, a.core.ClonePersona)).
			doc("It has the policy that the other has now, versions of its own from `1` on, and none of its Memories. It belongs where the other does, or to the Workspace that `workspace_id` names: "+
				"the other must be one that may be used there."),
		write(fasthttp.MethodDelete, "/wharf/v1/personas/{persona_id}", "deletePersona", tag, writes, "", "", "Delete a Persona", statusNoContent, a.deletePersona).bodyless().
			doc("Nothing new may name it then. Tasks that were taken go on, and what was recorded stays. 409 for one that comes with a plugin of the node, for an agent, "+
				"and while a Connector, a harness or a Skill of clients names it; the message names them."),
		unversioned(read("/wharf/v1/personas/{persona_id}/versions", "listPersonaVersions", tag, reads, "Persona",
			"List the versions of a Persona, newest first", a.personaVersions).list()),
	)
}

func unversioned(rt row) row {
	rt.Unversioned = true
	return rt
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

func (a *Adapter) deletePersona(r *gateway.Request) error {
	retry, err := r.Retry(nil)
	if err != nil {
		return err
	}
	if err := a.core.DeletePersona(r.Context(), r.Caller, retry, r.PathValue("persona_id")); err != nil {
		return err
	}
	r.Send(statusNoContent, nil)
	return nil
}

func (a *Adapter) personaVersions(r *gateway.Request) error {
	return a.sendPage(r, func(p api.Page) (api.List, error) {
		return a.core.PersonaVersions(r.Context(), r.Caller, r.PathValue("persona_id"), p)
	})
}

func personaSchemas() map[string]schema {
	own := says(map[string]string{
		"tools":        patterns + "Of the tools that its Tasks may call, as SERVER:TOOL; none: all that its plugin is granted.",
		"capabilities": patterns + "Of the host calls that its Tasks may make; none: all.",
		"handoffs":     patterns + "Of the Personas that its Tasks may hand work to; absent: all.",
		"model_policy": "Which models its Tasks may ask.",
		"budget":       "What each of its Tasks may spend; 0 bounds nothing.",
		"approvals":    "How its Tasks' writes are approved.",
	})
	placed := says(map[string]string{"workspace_id": "The Workspace that alone sees and uses it; none: the whole tenant. It never changes."})
	return map[string]schema{
		"Persona": resourceOf[abi.Persona](abi.ObjectPersona, "An operational role.", own, placed, null("owner", "quota_id"), maybe("tools", "capabilities")),
		"CreatePersonaRequest": requestOf[abi.CreatePersonaRequest]("A Persona.", own, placed, null("quota_id"), but(schema{"description": text()}),
			says(map[string]string{"module_ref": "The plugin, when entry_workflow names no more than its export."})),
		"ClonePersonaRequest": requestOf[abi.ClonePersonaRequest]("What to call the clone.", says(map[string]string{"metadata": "Instead of those of the other.", "workspace_id": "The Workspace that it is for; that of the other if it is absent."})),
		"UpdatePersonaRequest": requestOf[abi.UpdatePersonaRequest]("What to change.", own, but(schema{"quota_id": nullable(text())}),
			says(map[string]string{"version": "Of the new version; the next number if it is absent.",
				"retired": "Whether it is retired: a new Task or Session that names it is refused with 409. Tasks that have begun go on."})),
	}
}

// ofWorkspace says what a list holds that has resources of the whole tenant besides.
const ofWorkspace = "With `workspace_id` it has those of that Workspace alone, and none of the whole tenant, which are for all Workspaces."

// patterns begins what is said of a list of patterns.
const patterns = "Patterns, in which * stands for any characters. "
