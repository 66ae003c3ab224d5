package harn

import (
	"context"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/runtime/engine"
)

// permissionCore is what the permission requests' routes ask of the engine.
type permissionCore interface {
	Permissions(ctx context.Context, c *engine.Caller, f engine.Filter, status abi.PermissionStatus, p engine.Page) (engine.DocList, error)
	RespondPermission(ctx context.Context, c *engine.Caller, r *engine.Retry, id string, req abi.RespondRequest) (engine.Doc, error)
}

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
			"PermissionRequest", "Answer a request for a human decision", statusOK, change(a, "request_id", statusOK, a.core.RespondPermission)).
			doc("An approval takes a decision, with arguments when the approver changed them; a request for input or authorization takes "+
				"a message, or the decision `denied`. The answer is the request: still pending while more have to approve."),
	)
}

func (a *Adapter) listPermissions(r *gateway.Request) error {
	return a.sendPage(r, func(p engine.Page) (engine.DocList, error) {
		return a.core.Permissions(r.Context(), r.Caller, queryFilter(r), abi.PermissionStatus(r.Query("status")), p)
	})
}

func (a *Adapter) listTaskPermissions(r *gateway.Request) error {
	id := r.PathValue("task_id")
	if _, err := a.core.Get(r.Context(), r.Caller, abi.ObjectTask, id); err != nil {
		return err
	}
	return a.sendPage(r, func(p engine.Page) (engine.DocList, error) {
		return a.core.Permissions(r.Context(), r.Caller, engine.Filter{TaskID: id}, abi.PermissionStatus(r.Query("status")), p)
	})
}

func permissionSchemas() map[string]schema {
	decision := shape("What one actor has decided.", schema{
		"actor": text(), "decision": enum("approved", "denied"), "decided_at": moment(),
	}, schema{"reason": text(), "arguments": anyJSON()})
	return map[string]schema{
		"PermissionRequest": resource(abi.ObjectPermissionRequest, "What a Task asks somebody: to approve an action, for input, or to authorize something.", schema{
			"task_id": text(), "session_id": text(), "workspace_id": text(),
			"kind":         enum("approval", "input", "authorization"),
			"status":       enum("pending", "approved", "denied", "answered", "timeout", "canceled"),
			"requested_by": text(), "quorum": whole(), "self_approval": flag(), "decisions": listOf(decision),
		}, schema{
			"persona_id": text(), "prompt": text(), "action": text(), "arguments": anyJSON(), "schema": anyJSON(), "url": text(),
			"approvers": listOf(text()), "expires_at": moment(), "settled_at": moment(),
		}),
		"PermissionResponse": shape("A decision on an approval, or the Message that answers a request for input or authorization.", nil, schema{
			"decision": enum("approved", "denied"), "reason": text(), "arguments": anyJSON(), "message": ref("MessageInput"),
		}),
	}
}
