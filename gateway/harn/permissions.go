package harn

import (
	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/gateway/api"
)

func (a *Adapter) permissionRoutes() []gateway.Route {
	const tag, reads = "Permissions", "tasks:read"
	status := gateway.Param{Name: "status", In: "query", Doc: "Only requests with this status. Those that are pending are found at once.",
		Schema: enum("pending", "approved", "denied", "answered", "timeout", "canceled")}
	get := read("/v1/permission-requests/{request_id}", "getPermissionRequest", tag, reads, "PermissionRequest", "Get a request for a human decision",
		a.get(abi.ObjectPermissionRequest, "request_id"))
	return routes(
		read("/v1/permission-requests", "listPermissionRequests", tag, reads, "PermissionRequest", "List requests for a human decision, newest first",
			a.listPermissions).list("workspace_id", "session_id", "task_id").with(status),
		get,
		read("/v1/tasks/{task_id}/permission-requests", "listTaskPermissionRequests", tag, reads, "PermissionRequest",
			"List a Task's requests for a human decision, newest first", a.listTaskPermissions).list().with(status),
		post("/v1/permission-requests/{request_id}/respond", "respondPermissionRequest", tag, "tasks:write", "PermissionResponse",
			"PermissionRequest", "Answer a request for a human decision", statusOK, change(a, "request_id", statusOK, a.core.RespondPermission)).with(clientParam()).
			doc("An approval takes a decision, with arguments when the approver changed them; any other request takes "+
				"a message, or the decision `denied` with a code. The answer is the request: still pending while more have to approve."),
	)
}

func (a *Adapter) listPermissions(r *gateway.Request) error {
	return a.sendPage(r, func(p api.Page) (api.List, error) {
		return a.core.Permissions(r.Context(), r.Caller, queryFilter(r), abi.PermissionStatus(r.Query("status")), p)
	})
}

func (a *Adapter) listTaskPermissions(r *gateway.Request) error {
	id := r.PathValue("task_id")
	if _, err := a.core.Get(r.Context(), r.Caller, abi.ObjectTask, id); err != nil {
		return err
	}
	return a.sendPage(r, func(p api.Page) (api.List, error) {
		return a.core.Permissions(r.Context(), r.Caller, api.Filter{TaskID: id}, abi.PermissionStatus(r.Query("status")), p)
	})
}

func permissionSchemas() map[string]schema {
	decision := of[abi.Decision]("What one actor has decided.", anything("arguments"), but(schema{"decision": enum("approved", "denied")}))
	return map[string]schema{
		"PermissionRequest": resourceOf[abi.PermissionRequest](abi.ObjectPermissionRequest, "What a Task asks somebody: to approve an action, for input, to authorize something, or what its client alone knows.",
			anything("arguments", "params", "schema"), but(schema{"decisions": listOf(decision)})),
		"PermissionResponse": of[abi.RespondRequest]("A decision on an approval, or the Message that answers any other request.",
			anything("arguments"), but(schema{"decision": enum("approved", "denied")})),
	}
}
