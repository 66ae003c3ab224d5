package harn

import (
	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
)

// permissionCore is what the permission requests' routes ask of the engine.
type permissionCore interface{}

func (a *Adapter) permissionRoutes() []gateway.Route {
	return routes(
		a.none("/v1/permission-requests", "listPermissionRequests", "Permissions", "tasks:read", "PermissionRequest", "List requests for a human decision"),
		read("/v1/tasks/{task_id}/permission-requests", "listTaskPermissionRequests", "Permissions", "tasks:read", "PermissionRequest",
			"List a Task's requests for a human decision", a.emptyListOf(abi.ObjectTask, "task_id")).list(),
		post("/v1/permission-requests/{request_id}/respond", "respondPermissionRequest", "Permissions", "tasks:write", "PermissionResponse",
			"PermissionRequest", "Answer a request for a human decision", statusOK, nil).later(),
	)
}

func permissionSchemas() map[string]schema {
	return map[string]schema{
		"PermissionRequest":  shape("A request for a human decision.", schema{"id": text()}, nil),
		"PermissionResponse": shape("A human decision.", nil, nil),
	}
}
