package main

import (
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/client"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/show"
)

const aBranch = "the id of a Branch (see \"wharf branch list\")"

func (a *app) branchCommand() *cobra.Command {
	return family(page{
		use:   "branch",
		short: "Keep account of where Sessions were forked, and merge them",
		long: `A Branch says where something goes off from something else: a fork of a Session from that
Session, or what its maker says. Merging one puts what is new in a fork into the Session
that it was forked from. docs/sessions.md has the rest.`,
		example: `  wharf branch list sess_01K0...
  wharf branch lineage branch_01K0...
  wharf branch merge branch_01K0... --append`,
	}, a.branchListCommand(), a.branchShowCommand(), a.branchCreateCommand(), a.branchLineageCommand(), a.branchMergeCommand(), a.branchAbandonCommand())
}

func branches(call caller, tip string) list[abi.Branch] {
	return list[abi.Branch]{
		call:   call,
		titles: []string{"BRANCH", "KIND", "STATE", "MADE", "FROM"},
		row: func(b *abi.Branch) []show.Cell {
			state, style := branchState(b)
			return []show.Cell{{Text: b.ID}, {Text: string(b.Kind)}, {Text: state, Style: style}, {Text: show.Ago(b.CreatedAt, time.Now())}, {Text: b.BaseRef}}
		},
		none: "no branches",
		tips: absent(tip),
	}
}

func branchState(b *abi.Branch) (string, show.Style) {
	switch {
	case !b.MergedAt.IsZero():
		return "merged", show.Dim
	case !b.AbandonedAt.IsZero():
		return "abandoned", show.Dim
	}
	return "open", show.Green
}

func (a *app) branchListCommand() *cobra.Command {
	return a.node(page{
		use:     "list SESSION",
		short:   "List the Branches of a Session, newest first",
		long:    "List shows the Branches that were made of a Session and of its Tasks, newest first, and whether\neach is open, merged or abandoned.",
		example: "  wharf branch list sess_01K0...\n  wharf branch list sess_01K0... --json",
		args:    oneArg(aSession),
	}, branches(gets("/v1/sessions/{}/branches"), "wharf session list"))
}

func (a *app) branchLineageCommand() *cobra.Command {
	return a.node(page{
		use:     "lineage ID",
		short:   "List what a Branch goes off from",
		long:    "Lineage shows a Branch, the one that it goes off from, and so on.",
		example: "  wharf branch lineage branch_01K0...",
		args:    oneArg(aBranch),
	}, branches(gets("/wharf/v1/branches/{}/lineage"), "wharf branch list SESSION"))
}

// branch is a request that a Branch answers.
func (a *app) branch(call caller, tip string) ask[abi.Branch] {
	return ask[abi.Branch]{call: call, text: a.showBranch, tips: tips{abi.CodeResourceNotFound: tip, abi.CodeInvalidStateTransition: "wharf branch show {}"}}
}

func (a *app) showBranch(b *abi.Branch) {
	state, style := branchState(b)
	a.out.Line(b.ID, "  ", a.out.Paint(style, state))
	a.out.Pairs([2]string{"kind", string(b.Kind)}, [2]string{"from", b.BaseRef}, [2]string{"parent", b.ParentBranchID}, [2]string{"session", b.SessionID},
		[2]string{"task", b.TaskID}, [2]string{"by", b.CreatedBy}, [2]string{"made", stamp(b.CreatedAt)}, [2]string{"merged", stamp(b.MergedAt)},
		[2]string{"into", b.MergedInto}, [2]string{"abandoned", stamp(b.AbandonedAt)})
}

func (a *app) branchShowCommand() *cobra.Command {
	return a.node(page{
		use:     "show ID",
		short:   "Show a Branch",
		long:    "Show shows where a Branch goes off, and what has become of it.",
		example: "  wharf branch show branch_01K0...\n  wharf branch show branch_01K0... --json",
		args:    oneArg(aBranch),
	}, a.branch(gets("/v1/branches/{}"), "wharf branch list SESSION"))
}

func (a *app) branchCreateCommand() *cobra.Command {
	var req abi.CreateBranchRequest
	var kind string
	return a.node(page{
		use:   "create SESSION",
		short: "Make a Branch of a Session",
		long: `Create makes a Branch of a Session, which "wharf session fork --branch" and Tasks can go
along. What it goes off from is said in words of your own.`,
		example: "  wharf branch create sess_01K0... --from main\n  wharf branch create sess_01K0... --from main --parent branch_01K0... --json",
		args:    oneArg(aSession),
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&kind, "kind", "session", "what it is a branch of: session, task, workspace or sandbox")
			f.StringVar(&req.BaseRef, "from", "", "what it goes off from")
			f.StringVar(&req.ParentBranchID, "parent", "", "the Branch that it goes off from")
			f.StringVar(&req.TaskID, "task", "", "the Task that it is for")
		},
	}, a.branch(sends(func(args []string) client.Call {
		req.Kind = abi.BranchKind(kind)
		return client.Post(req, "/v1/sessions/{}/branches", args[0])
	}), "wharf session list"))
}

func (a *app) branchMergeCommand() *cobra.Command {
	var appends bool
	return a.node(page{
		use:   "merge ID",
		short: "Merge a Branch into what it goes off from",
		long: `Merge puts what is new in the fork of a Branch into the Session that it was forked from.
Where both went on, that is a conflict, unless --append says what to do.`,
		example: "  wharf branch merge branch_01K0...\n  wharf branch merge branch_01K0... --append",
		args:    oneArg(aBranch),
		flags: func(f *pflag.FlagSet) {
			f.BoolVar(&appends, "append", false, "put what is new in the fork after what is new in the Session")
		},
	}, ask[abi.Branch]{
		call: sends(func(args []string) client.Call {
			var req abi.MergeBranchRequest
			if appends {
				req.Strategy = abi.MergeAppend
			}
			return client.Post(req, "/wharf/v1/branches/{}/merge", args[0])
		}),
		text: a.showBranch,
		tips: tips{abi.CodeResourceNotFound: "wharf branch list SESSION", abi.CodeInvalidStateTransition: "wharf branch show {}", abi.CodeConflict: "wharf branch merge {} --append"},
	})
}

func (a *app) branchAbandonCommand() *cobra.Command {
	var req abi.AbandonBranchRequest
	return a.node(page{
		use:     "abandon ID",
		short:   "Give a Branch up",
		long:    "Abandon says of a Branch that it is not merged any more. What was forked along it stays.",
		example: "  wharf branch abandon branch_01K0... --reason \"the other one was better\"",
		args:    oneArg(aBranch),
		flags:   func(f *pflag.FlagSet) { f.StringVar(&req.Reason, "reason", "", "why, for people") },
	}, a.branch(sends(func(args []string) client.Call { return client.Post(req, "/wharf/v1/branches/{}/abandon", args[0]) }), "wharf branch list SESSION"))
}
