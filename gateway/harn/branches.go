package harn

import (
	"context"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/runtime/engine"
)

// branchCore is what the routes of a Branch's end and lineage ask of the engine.
type branchCore interface {
	MergeBranch(ctx context.Context, c *engine.Caller, r *engine.Retry, id string, req abi.MergeBranchRequest) (engine.Doc, error)
	AbandonBranch(ctx context.Context, c *engine.Caller, r *engine.Retry, id string, req abi.AbandonBranchRequest) (engine.Doc, error)
	BranchLineage(ctx context.Context, c *engine.Caller, id string, p engine.Page) (engine.DocList, error)
}

func (a *Adapter) branchRoutes() []gateway.Route {
	const tag, writes, at = "Branches", "branches:write", "/wharf/v1/branches/{branch_id}"
	return routes(
		unversioned(post(at+"/merge", "mergeBranch", tag, writes, "MergeBranchRequest", "Branch", "Merge a Branch", statusOK,
			change(a, "branch_id", statusOK, a.core.MergeBranch)).optional().
			doc("The new Messages of a fork that goes along the Branch are appended to the Session that it was forked from. Has that one gone "+
				"on, this is a conflict, unless the strategy is `append`. A Branch that was merged or abandoned is not merged again.")),
		unversioned(post(at+"/abandon", "abandonBranch", tag, writes, "AbandonBranchRequest", "Branch", "Abandon a Branch", statusOK,
			change(a, "branch_id", statusOK, a.core.AbandonBranch)).optional().
			doc("Says that nobody goes on with the Branch. What lies on it stays as it is.")),
		unversioned(read(at+"/lineage", "getBranchLineage", tag, "branches:read", "Branch", "List a Branch and those that it came from, up to the root",
			a.branchLineage).list()),
	)
}

func (a *Adapter) branchLineage(r *gateway.Request) error {
	return a.sendPage(r, func(p engine.Page) (engine.DocList, error) {
		return a.core.BranchLineage(r.Context(), r.Caller, r.PathValue("branch_id"), p)
	})
}

func branchSchemas() map[string]schema {
	return map[string]schema{
		"Branch": resource(abi.ObjectBranch, "The lineage of an alternate path.", schema{
			"workspace_id": text(), "kind": enum(branchKinds...), "base_ref": text(),
		}, schema{
			"parent_branch_id": nullable(text()), "session_id": nullable(text()), "task_id": nullable(text()),
			"worktree_uri": nullable(text()), "created_by": nullable(text()), "merged_into": nullable(text()),
			"merged_at": moment(), "abandoned_at": moment(),
		}),
		"CreateBranchRequest": shape("What to branch off.", schema{"kind": enum(branchKinds...), "base_ref": text()}, schema{
			"parent_branch_id": nullable(text()), "task_id": nullable(text()), "metadata": anyObject()}),
		"MergeBranchRequest":   shape("How to merge.", nil, schema{"strategy": enum(abi.MergeAppend)}),
		"AbandonBranchRequest": shape("Why.", nil, schema{"reason": text()}),
	}
}
