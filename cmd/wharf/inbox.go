package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/client"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/show"
)

func (a *app) inboxCommand() *cobra.Command {
	return family(&cobra.Command{
		Use:   "inbox",
		Short: "See what Tasks ask of somebody, and decide on it",
		Long: `A Task that asks for an approval, for input or for an authorization waits until
somebody answers. The inbox holds what is asked: of an approval what is to be done,
with what, by when, how many have to approve and who has. What was answered, and what
ended otherwise, stays there to be looked up.`,
		Example: `  wharf inbox list
  wharf inbox get perm_01K0...
  wharf inbox approve perm_01K0...
  wharf inbox deny perm_01K0... --reason "not on a Friday"`,
	}, a.remote(a.inboxListCommand()), a.remote(a.inboxGetCommand()), a.remote(a.inboxApproveCommand()),
		a.remote(a.inboxDenyCommand()), a.remote(a.inboxAnswerCommand()))
}

func (a *app) inboxListCommand() *cobra.Command {
	var status, workspace string
	var limit int
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List what waits for an answer, newest first",
		Long: `List shows the requests that are pending. With --status it shows those that are
approved, denied, answered, timeout or canceled, and with --status all every one.`,
		Example: `  wharf inbox list
  wharf inbox list --status denied --json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if limit < 1 {
				return usagef("--limit: %d is less than 1", limit)
			}
			if status == "all" {
				status = ""
			}
			c, err := a.client()
			if err != nil {
				return err
			}
			list, err := c.Permissions(cmd.Context(), status, workspace, limit)
			if err != nil {
				return err
			}
			a.showInbox(list)
			return nil
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&status, "status", string(abi.PermissionPending), "only requests with this status, or all")
	flags.StringVar(&workspace, "workspace", "", "only requests of this Workspace")
	flags.IntVar(&limit, "limit", 50, "the most requests to show")
	return cmd
}

func (a *app) showInbox(list []client.Doc[abi.PermissionRequest]) {
	if a.json {
		for _, p := range list {
			a.printJSON(p.JSON)
		}
		return
	}
	if len(list) == 0 {
		a.out.Line("nothing is asked")
		return
	}
	now := time.Now()
	var rows [][]show.Cell
	for _, doc := range list {
		p := &doc.Value
		rows = append(rows, []show.Cell{{Text: p.ID}, {Text: string(p.Kind)}, {Text: string(p.Status)},
			{Text: show.Cut(show.OneLine(firstOf(p.Action, p.Prompt)), 40)}, {Text: p.RequestedBy}, {Text: show.Ago(p.CreatedAt, now)}})
	}
	a.out.Table([]string{"REQUEST", "KIND", "STATUS", "WHAT", "ASKED BY", "ASKED"}, rows)
}

func (a *app) inboxGetCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "get ID",
		Short:   "Show what is asked, and what was decided",
		Long:    `Get shows one request with all that is needed to decide on it, and who has decided what by now.`,
		Example: `  wharf inbox get perm_01K0...`,
		Args:    oneArg("the id of a request"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			p, err := c.Permission(cmd.Context(), args[0])
			return a.showRequest(p, err)
		},
	}
}

// showRequest writes one request, or returns why there is none.
func (a *app) showRequest(doc client.Doc[abi.PermissionRequest], err error) error {
	if err != nil {
		err = hint(err, abi.CodeResourceNotFound, "wharf inbox list --status all")
		return hint(err, abi.CodeConflict, "wharf inbox get ID, which shows what was decided")
	}
	if a.json {
		a.printJSON(doc.JSON)
		return nil
	}
	p := &doc.Value
	a.out.Line(p.ID, "  ", string(p.Kind), " ", string(p.Status))
	a.out.Pairs([2]string{"prompt", p.Prompt}, [2]string{"action", p.Action}, [2]string{"arguments", string(p.Arguments)},
		[2]string{"open", p.URL}, [2]string{"as", string(p.Schema)}, [2]string{"task", p.TaskID}, [2]string{"asked by", p.RequestedBy},
		[2]string{"approvers", strings.Join(p.Approvers, ", ")}, [2]string{"quorum", quorum(p)},
		[2]string{"until", stamp(p.ExpiresAt)}, [2]string{"settled", stamp(p.SettledAt)})
	for _, d := range p.Decisions {
		a.out.Pairs([2]string{d.Decision, strings.TrimSpace(d.Actor + " " + string(d.Arguments) + " " + d.Reason)})
	}
	return nil
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
	cmd := &cobra.Command{
		Use:   "approve ID",
		Short: "Approve what a Task means to do",
		Long: `Approve decides on an approval. With --arguments it is approved with other arguments
than were asked for; then whoever approves after that states the same ones.`,
		Example: `  wharf inbox approve perm_01K0...
  wharf inbox approve perm_01K0... --arguments '{"eur": 5}'`,
		Args: oneArg("the id of a request"),
		RunE: func(cmd *cobra.Command, args []string) error {
			req := abi.RespondRequest{Decision: "approved", Reason: reason}
			if arguments != "" {
				v, err := jsonFlag("--arguments", arguments)
				if err != nil {
					return err
				}
				req.Arguments = v
			}
			return a.respond(cmd.Context(), args[0], req)
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "why, for the Task and for whoever reads the log")
	cmd.Flags().StringVar(&arguments, "arguments", "", "JSON to go on with instead")
	return cmd
}

func (a *app) inboxDenyCommand() *cobra.Command {
	var reason string
	cmd := &cobra.Command{
		Use:   "deny ID",
		Short: "Deny what a Task asks",
		Long: `Deny decides on an approval, or declines to give input or an authorization. One denial
is enough, however many would have to approve.`,
		Example: `  wharf inbox deny perm_01K0... --reason "not on a Friday"`,
		Args:    oneArg("the id of a request"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.respond(cmd.Context(), args[0], abi.RespondRequest{Decision: "denied", Reason: reason})
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "why, for the Task and for whoever reads the log")
	return cmd
}

func (a *app) inboxAnswerCommand() *cobra.Command {
	var text, value string
	cmd := &cobra.Command{
		Use:   "answer ID",
		Short: "Give the input that a Task asks for",
		Long: `Answer sends text, or a JSON value, to a Task that asks for input or that somebody
authorizes something.`,
		Example: `  wharf inbox answer perm_01K0... --text "the second one"
  wharf inbox answer perm_01K0... --value '{"port": 8080}'`,
		Args: oneArg("the id of a request"),
		RunE: func(cmd *cobra.Command, args []string) error {
			req, err := (&taskAnswer{text: text, value: value}).request()
			if err != nil {
				return err
			}
			return a.respond(cmd.Context(), args[0], abi.RespondRequest{Message: req.Message})
		},
	}
	cmd.Flags().StringVar(&text, "text", "", "answer with text")
	cmd.Flags().StringVar(&value, "value", "", "answer with a JSON value")
	return cmd
}

func (a *app) respond(ctx context.Context, id string, req abi.RespondRequest) error {
	c, err := a.client()
	if err != nil {
		return err
	}
	p, err := c.Respond(ctx, id, req)
	return a.showRequest(p, err)
}
