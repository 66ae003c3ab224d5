package harn

import (
	"context"

	"github.com/valyala/fasthttp"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/gateway/api"
)

func (a *Adapter) deletionRoutes() []gateway.Route {
	return routes(
		write(fasthttp.MethodDelete, "/wharf/v1/tasks/{task_id}", "deleteTask", "Tasks", "tasks:write", "", "", "Delete a Task that has ended", statusNoContent,
			a.deletes("task_id", a.core.DeleteTask)).bodyless().
			doc("It is shown nowhere any more, and is erased with its events, its Outcome, its Artifacts and all content that nothing else refers to: at once, or when the "+
				"last replay or fork of it is. Messages stay with their Session, and its receipt stays. One that has not ended is refused, and one that a Hold is on with 423."),
		write(fasthttp.MethodDelete, "/wharf/v1/artifacts/{artifact_id}", "deleteArtifact", "Artifacts", "artifacts:write", "", "", "Delete an Artifact", statusNoContent,
			a.deletes("artifact_id", a.core.DeleteArtifact)).bodyless().
			doc("It is shown nowhere any more, and its content is erased: at once, or with the Task whose plugin made it, for a replay needs it until then."),
		read("/wharf/v1/holds", "listHolds", "Holds", "holds:read", "Hold", "List Holds, newest first", a.list(abi.ObjectHold)).paged(descending, "workspace_id"),
		post("/wharf/v1/holds", "placeHold", "Holds", abi.ScopeHoldsWrite, "PlaceHoldRequest", "Hold", "Keep something from being deleted", statusCreated,
			create(a, statusCreated, a.core.PlaceHold)).
			doc("Nobody can delete it until the Hold is released, and no retention does. That on a Workspace or a Session is for all that is in it. What has a Hold already keeps it, and gets the new reason."),
		read("/wharf/v1/holds/{hold_id}", "getHold", "Holds", "holds:read", "Hold", "Get a Hold", a.get(abi.ObjectHold, "hold_id")),
		post("/wharf/v1/holds/{hold_id}/release", "releaseHold", "Holds", abi.ScopeHoldsWrite, "", "Hold", "Let something be deleted again", statusOK,
			a.releaseHold).bodyless().doc("The Hold stays, and says who has released it."),
	)
}

// deletes answers a DELETE of what a member of the path names.
func (a *Adapter) deletes(param string, call func(context.Context, *api.Caller, *api.Write, string) error) gateway.Handler {
	return func(r *gateway.Request) error {
		retry, err := r.Retry(nil)
		if err != nil {
			return err
		}
		if err := call(r.Context(), r.Caller, retry, r.PathValue(param)); err != nil {
			return err
		}
		r.Send(statusNoContent, nil)
		return nil
	}
}

func (a *Adapter) releaseHold(r *gateway.Request) error {
	retry, err := r.Retry(nil)
	if err != nil {
		return err
	}
	doc, err := a.core.ReleaseHold(r.Context(), r.Caller, retry, r.PathValue("hold_id"))
	if err != nil {
		return err
	}
	return a.send(r, statusOK, doc)
}

func deletionSchemas() map[string]schema {
	return map[string]schema{
		"Hold":             resourceOf[abi.Hold](abi.ObjectHold, "Something that must not be deleted: a legal hold."),
		"PlaceHoldRequest": requestOf[abi.PlaceHoldRequest]("What must not be deleted, and why."),
	}
}
