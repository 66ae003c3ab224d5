package main

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/client"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/show"
)

func (a *app) inboxCommand() *cobra.Command {
	return family(page{
		use:   "inbox",
		short: "See what Tasks ask of somebody, and decide on it",
		long: `A Task that asks for an approval, for input, for an authorization or for what its client
knows waits until somebody answers. The inbox holds what is asked: of an approval what is
to be done, with what, by when, how many have to approve and who has. What was answered,
and what ended otherwise, stays there to be looked up.`,
		example: `  wharf inbox list
  wharf inbox get perm_01K0...
  wharf inbox approve perm_01K0...
  wharf inbox deny perm_01K0... --reason "not on a Friday"`,
	}, a.inboxListCommand(), a.inboxGetCommand(), a.inboxApproveCommand(),
		a.inboxDenyCommand(), a.inboxAnswerCommand())
}

func (a *app) inboxListCommand() *cobra.Command {
	var status, workspace, task string
	var limit int
	return a.node(page{
		use:   "list",
		short: "List what waits for an answer, newest first",
		long: `List shows the requests that are pending. With --status it shows those that are
approved, denied, answered, timeout or canceled, and with --status all every one.`,
		example: `  wharf inbox list
  wharf inbox list --status denied --json`,
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&status, "status", string(abi.PermissionPending), "only requests with this status, or all")
			f.StringVar(&workspace, "workspace", "", "only requests of this Workspace")
			f.StringVar(&task, "task", "", "only requests of this Task")
			f.IntVar(&limit, "limit", 50, "the most requests to show")
		},
	}, list[abi.PermissionRequest]{
		call: func(*cobra.Command, []string) (call client.Call, err error) {
			if limit < 1 {
				return call, usagef("--limit: %d is less than 1", limit)
			}
			if status == "all" {
				status = ""
			}
			return client.Get(inbox).Narrow("status", status).Narrow("workspace_id", workspace).Narrow("task_id", task).Most(limit), nil
		},
		titles: []string{"REQUEST", "KIND", "STATUS", "WHAT", "ASKED BY", "ASKED"},
		row:    inboxRow,
		none:   "nothing is asked",
	})
}

// inbox is where a node has what is asked.
const inbox = "/v1/permission-requests"

func inboxRow(p *abi.PermissionRequest) []show.Cell {
	return show.Cells(p.ID, string(p.Kind), string(p.Status), show.OneLine(cmp.Or(p.Action, p.Prompt)),
		p.RequestedBy, show.Ago(p.CreatedAt, time.Now()))
}

func (a *app) inboxGetCommand() *cobra.Command {
	return a.node(page{
		use:     "get ID",
		short:   "Show what is asked, and what was decided",
		long:    `Get shows one request with all that is needed to decide on it, and who has decided what by now.`,
		example: `  wharf inbox get perm_01K0...`,
		args:    oneArg("the id of a request"),
	}, a.request(gets(inbox+"/{}")))
}

// request is a request that one entry of the inbox answers.
func (a *app) request(call caller) ask[abi.PermissionRequest] {
	return ask[abi.PermissionRequest]{call: call, text: a.showRequest, tips: tips{
		abi.CodeResourceNotFound: "wharf inbox list --status all",
		abi.CodeConflict:         "wharf inbox get ID, which shows what was decided",
	}}
}

// respond decides on one, or brings what it asks for.
func (a *app) respond(with func() (abi.RespondRequest, error)) ask[abi.PermissionRequest] {
	return a.request(func(_ *cobra.Command, args []string) (client.Call, error) {
		req, err := with()
		return client.Post(req, inbox+"/{}/respond", args[0]), err
	})
}

func (a *app) showRequest(p *abi.PermissionRequest) {
	a.out.Line(p.ID, "  ", string(p.Kind), " ", string(p.Status))
	a.out.Pairs([2]string{"key", p.Key}, [2]string{"prompt", p.Prompt}, [2]string{"action", p.Action}, [2]string{"arguments", string(p.Arguments)}, [2]string{"params", string(p.Params)},
		[2]string{"tool call", p.ToolCallID}, [2]string{"paths", strings.Join(p.DeclaredPaths, ", ")}, [2]string{"risk", riskOf(p)}, [2]string{"rule", p.MatchedRule},
		[2]string{"open", p.URL}, [2]string{"as", string(p.Schema)}, [2]string{"task", p.TaskID}, [2]string{"asked by", p.RequestedBy},
		[2]string{"approvers", strings.Join(p.Approvers, ", ")}, [2]string{"quorum", quorum(p)},
		[2]string{"until", stamp(p.ExpiresAt)}, [2]string{"settled", stamp(p.SettledAt)},
		[2]string{"by", p.AnsweredBy}, [2]string{"code", string(p.Code)}, [2]string{"reason", p.Reason}, [2]string{"message", p.MessageID})
	for _, d := range p.Decisions {
		a.out.Pairs([2]string{d.Decision, strings.TrimSpace(d.Actor + " " + string(d.Arguments) + " " + d.Reason)})
	}
}

// riskOf writes down the labels of what is asked about.
func riskOf(p *abi.PermissionRequest) string {
	labels := make([]string, len(p.RiskLabels))
	for i, label := range p.RiskLabels {
		labels[i] = string(label)
	}
	return strings.Join(labels, ", ")
}

// quorum says how many have to approve, "" for one.
func quorum(p *abi.PermissionRequest) string {
	if p.Quorum < 2 {
		return ""
	}
	return fmt.Sprintf("%d have to approve", p.Quorum)
}

func (a *app) inboxApproveCommand() *cobra.Command {
	var reason, arguments string
	return a.node(page{
		use:   "approve ID",
		short: "Approve what a Task means to do",
		long: `Approve decides on an approval. With --arguments it is approved with other arguments
than were asked for; then whoever approves after that states the same ones.`,
		example: `  wharf inbox approve perm_01K0...
  wharf inbox approve perm_01K0... --arguments '{"eur": 5}'`,
		args: oneArg("the id of a request"),
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&reason, "reason", "", "why, for the Task and for whoever reads the log")
			f.StringVar(&arguments, "arguments", "", "JSON to go on with instead")
		},
	}, a.respond(func() (req abi.RespondRequest, err error) {
		req.Decision, req.Reason = "approved", reason
		if arguments != "" {
			req.Arguments, err = jsonFlag("--arguments", arguments)
		}
		return req, err
	}))
}

func (a *app) inboxDenyCommand() *cobra.Command {
	var reason, code string
	return a.node(page{
		use:   "deny ID",
		short: "Deny what a Task asks",
		long: `Deny decides on an approval, or declines to give what else a Task asks for. One denial
is enough, however many would have to approve. With --code the Task learns in which way
a question that is no approval was not answered.`,
		example: `  wharf inbox deny perm_01K0... --reason "not on a Friday"
  wharf inbox deny perm_01K0... --code unsupported`,
		args: oneArg("the id of a request"),
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&reason, "reason", "", "why, for the Task and for whoever reads the log")
			f.StringVar(&code, "code", "", "declined, cancelled or unsupported (default declined)")
		},
	}, a.respond(func() (abi.RespondRequest, error) {
		return abi.RespondRequest{Decision: "denied", Reason: reason, Code: abi.DeclineCode(code)}, nil
	}))
}

func (a *app) inboxAnswerCommand() *cobra.Command {
	var text, value string
	return a.node(page{
		use:   "answer ID",
		short: "Give the input that a Task asks for",
		long: `Answer sends text, or a JSON value, to a Task that asks for input or that somebody
authorizes something, or that asks what a client knows: what a model says (sampling) and
which folders there are (roots) are JSON values of the form that wharf inbox get shows.`,
		example: `  wharf inbox answer perm_01K0... --text "the second one"
  wharf inbox answer perm_01K0... --value '{"port": 8080}'
  wharf inbox answer perm_01K0... --value '{"roots": [{"uri": "file:///srv/site"}]}'`,
		args: oneArg("the id of a request"),
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&text, "text", "", "answer with text")
			f.StringVar(&value, "value", "", "answer with a JSON value")
		},
	}, a.respond(func() (abi.RespondRequest, error) {
		req, err := (&taskAnswer{text: text, value: value}).request()
		return abi.RespondRequest{Message: req.Message}, err
	}))
}
