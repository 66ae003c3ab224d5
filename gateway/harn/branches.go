package harn

import (
	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/gateway/api"
)

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
	return a.sendPage(r, func(p api.Page) (api.List, error) {
		return a.core.BranchLineage(r.Context(), r.Caller, r.PathValue("branch_id"), p)
	})
}

func branchSchemas() map[string]schema {
	return map[string]schema{
		"Branch": resourceOf[abi.Branch](abi.ObjectBranch, "The lineage of an alternate path.",
			null("parent_branch_id", "session_id", "task_id", "created_by", "merged_into"), but(schema{"worktree_uri": nullable(text())})),
		"CreateBranchRequest":  requestOf[abi.CreateBranchRequest]("What to branch off.", null("parent_branch_id", "task_id")),
		"MergeBranchRequest":   requestOf[abi.MergeBranchRequest]("How to merge."),
		"AbandonBranchRequest": requestOf[abi.AbandonBranchRequest]("Why."),
	}
}
