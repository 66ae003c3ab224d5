package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/client"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/show"
	"github.com/wharf-dev/wharf/runtime/connector"
)

const aConnector = "the id of a Connector (see \"wharf connector list\")"

func (a *app) connectorCommand() *cobra.Command {
	return family(&cobra.Command{
		Use:   "connector",
		Short: "Take in what others send, and look after what could not be handled",
		Long: `A Connector turns what a provider sends, or what is polled from it, into Tasks: the
webhooks of GitHub and Slack, CloudEvents, any JSON, or the ticks of a schedule.
What cannot be handled is put aside as a dead letter, which can be looked at and
driven again. docs/connectors.md has the rest.`,
		Example: `  wharf connector create --provider github --webhook --secret hook
  wharf connector list
  wharf connector deadletters conn_01K0...
  wharf connector redrive conn_01K0... --all`,
	}, a.remote(a.connectorListCommand()), a.remote(a.connectorGetCommand()), a.remote(a.connectorCreateCommand()),
		a.remote(a.connectorStatusCommand("pause", "Stop handling deliveries; they are kept meanwhile", abi.ConnectorPaused)),
		a.remote(a.connectorStatusCommand("resume", "Handle deliveries again, and close the circuit breaker", abi.ConnectorActive)),
		a.remote(a.connectorDeadLettersCommand()), a.remote(a.connectorRedriveCommand()), a.connectorProvidersCommand(), a.remote(a.connectorTestCommand()))
}

func (a *app) connectorListCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the Connectors and what they have counted",
		Long: `List shows the Connectors that the key sees, newest first: what they have received,
what came again, what waits, the Tasks they have made, and what was put aside.`,
		Example: "  wharf connector list\n  wharf connector list --json",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			titles := []string{"CONNECTOR", "NAME", "PROVIDER", "STATUS", "RECEIVED", "AGAIN", "WAITING", "TASKS", "FAILED", "NEXT TICK"}
			return listOf(a, c.Connectors, titles, connectorRow)(cmd.Context())
		},
	}
}

func connectorRow(c *abi.Connector) []show.Cell {
	n := counted(c)
	return []show.Cell{{Text: c.ID}, {Text: show.Cut(c.Name, 24)}, {Text: c.Provider}, {Text: string(c.Status), Style: connectorStyle(c.Status)},
		{Text: fmt.Sprint(n.Received)}, {Text: fmt.Sprint(n.Deduped)}, {Text: fmt.Sprint(n.Pending)}, {Text: fmt.Sprint(n.Tasks)},
		{Text: fmt.Sprint(n.Failed)}, {Text: nextTick(c)}}
}

func counted(c *abi.Connector) abi.ConnectorCounters {
	if c.Counters == nil {
		return abi.ConnectorCounters{}
	}
	return *c.Counters
}

func connectorStyle(s abi.ConnectorStatus) show.Style {
	switch s {
	case abi.ConnectorActive:
		return show.Green
	case abi.ConnectorFailed:
		return show.Red
	}
	return show.Yellow
}

func nextTick(c *abi.Connector) string {
	if c.Polling == nil {
		return ""
	}
	return stamp(c.Polling.NextAt)
}

func (a *app) connectorGetCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "get ID",
		Short: "Show a Connector",
		Long: `Get shows how a Connector takes deliveries in, what it has counted, and why it failed
if it has. The public path is shown to keys that may write Connectors.`,
		Example: "  wharf connector get conn_01K0...\n  wharf connector get conn_01K0... --json",
		Args:    oneArg(aConnector),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			doc, err := c.Connector(cmd.Context(), args[0])
			return a.showConnector(doc, err)
		},
	}
}

// showConnector prints a Connector that a node has answered with.
func (a *app) showConnector(doc client.Doc[abi.Connector], err error) error {
	switch {
	case err != nil:
		return hint(err, abi.CodeResourceNotFound, "wharf connector list")
	case a.json:
		a.printJSON(doc.JSON)
		return nil
	}
	c, n := &doc.Value, counted(&doc.Value)
	a.out.Line(c.ID, "  ", a.out.Paint(connectorStyle(c.Status), string(c.Status)), "  ", c.StatusReason)
	a.out.Pairs([2]string{"name", c.Name}, [2]string{"provider", c.Provider}, [2]string{"workspace", c.WorkspaceID}, [2]string{"plugin", c.Plugin},
		[2]string{"events", strings.Join(c.EventKinds, " ")}, [2]string{"persona", c.TargetPersonaID}, [2]string{"session", c.TargetSessionID},
		[2]string{"public path", publicPath(c)}, [2]string{"signatures", asText(c.Auth)}, [2]string{"schedule", asText(c.Polling)},
		[2]string{"counted", fmt.Sprintf("%d received, %d again, %d refused, %d waiting, %d Tasks, %d put aside",
			n.Received, n.Deduped, n.Rejected, n.Pending, n.Tasks, n.Failed)})
	return nil
}

func publicPath(c *abi.Connector) string {
	switch {
	case c.Webhook == nil || !c.Webhook.Enabled:
		return "closed"
	case c.Webhook.Path == "":
		return "open"
	}
	return c.Webhook.Path
}

func (a *app) connectorCreateCommand() *cobra.Command {
	var file, vault string
	var webhook bool
	var secrets []string
	var req abi.CreateConnectorRequest
	var polling abi.Polling
	cmd := &cobra.Command{
		Use:   "create",
		Short: "Make a Connector",
		Long: `Create makes a Connector from flags, or from a file in YAML or JSON ("-" for standard
input) with the members of the route's body; flags count more. It prints the
Connector, with the public path to enter at the provider when --webhook opens it.

--secret names what signatures are checked with: a secret of the node's
configuration or, with --vault, of a vault whose access names the Connector.`,
		Example: `  wharf connector create --provider github --webhook --secret hook --persona persona_agent
  wharf connector create --provider cron --schedule "0 9 * * 1-5" --timezone Europe/Berlin
  wharf connector create -f orders.yaml --json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			given := req
			if file != "" {
				req = abi.CreateConnectorRequest{}
				if err := a.readManifest(file, &req); err != nil {
					return err
				}
			}
			overlay(&req, &given)
			if len(secrets) > 0 {
				auth := abi.WebhookAuth{}
				if req.Auth != nil {
					auth = *req.Auth
				}
				auth.Secrets, auth.VaultID = secrets, firstOf(vault, auth.VaultID)
				req.Auth = &auth
			}
			if webhook {
				req.Webhook = &abi.Webhook{Enabled: true}
			}
			if polling.Schedule != "" {
				req.Polling = &polling
			}
			c, err := a.client()
			if err != nil {
				return err
			}
			doc, err := c.CreateConnector(cmd.Context(), req)
			var refused *client.Refused
			if errors.As(err, &refused) && refused.Answer.Param == "auth.secrets" {
				err = advise(err, "--secret NAME, a secret of the node's configuration, or of a Vault with --vault ID")
			}
			return a.showConnector(doc, err)
		},
	}
	flags := cmd.Flags()
	flags.StringVarP(&file, "file", "f", "", "a file with the Connector, in YAML or JSON")
	flags.StringVar(&req.Provider, "provider", "", "who delivers (see \"wharf connector providers\")")
	flags.StringVar(&req.Name, "name", "", "a name for people")
	flags.StringVar(&req.WorkspaceID, "workspace", "", "the Workspace (default: the tenant's own)")
	flags.StringVar(&req.TargetPersonaID, "persona", "", "what its Tasks run as")
	flags.StringVar(&req.TargetSessionID, "session", "", "the Session of all its Tasks (default: one for each thread)")
	flags.StringVar(&req.Plugin, "plugin", "", "what normalizes deliveries, PLUGIN#EXPORT (default: the provider's own)")
	flags.StringSliceVar(&req.EventKinds, "event", nil, "kinds of events that are wanted (default: all that the plugin knows)")
	flags.BoolVar(&req.Ordered, "ordered", false, "begin a Task only when the one before of its thread has ended")
	flags.BoolVar(&webhook, "webhook", false, "open the public path")
	flags.StringSliceVar(&secrets, "secret", nil, "names of secrets that signatures are checked with")
	flags.StringVar(&vault, "vault", "", "the vault that has the secrets (default: the node's configuration)")
	flags.StringVar(&polling.Schedule, "schedule", "", "act by itself: five fields of cron, or @every 5m, @hourly, …")
	flags.StringVar(&polling.TimeZone, "timezone", "", "of the schedule (default: UTC)")
	flags.StringVar(&polling.Export, "poll", "", "the plugin's export that polls (default: each tick is a delivery)")
	return cmd
}

// overlay puts what flags state over what a file does.
func overlay(to, by *abi.CreateConnectorRequest) {
	to.Provider, to.Name = firstOf(by.Provider, to.Provider), firstOf(by.Name, to.Name)
	to.WorkspaceID, to.Plugin = firstOf(by.WorkspaceID, to.WorkspaceID), firstOf(by.Plugin, to.Plugin)
	to.TargetPersonaID, to.TargetSessionID = firstOf(by.TargetPersonaID, to.TargetPersonaID), firstOf(by.TargetSessionID, to.TargetSessionID)
	to.Ordered = to.Ordered || by.Ordered
	if by.EventKinds != nil {
		to.EventKinds = by.EventKinds
	}
}

func (a *app) connectorStatusCommand(use, short string, status abi.ConnectorStatus) *cobra.Command {
	return &cobra.Command{
		Use:   use + " ID",
		Short: short,
		Long: short + `.

A Connector that is paused takes deliveries and keeps them, and does not poll. One
that failed again and again is FAILED and tries itself again after a while; resuming
it does so at once.`,
		Example: "  wharf connector " + use + " conn_01K0...",
		Args:    oneArg(aConnector),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			doc, err := c.UpdateConnector(cmd.Context(), args[0], abi.UpdateConnectorRequest{Status: &status})
			return a.showConnector(doc, err)
		},
	}
}

func (a *app) connectorDeadLettersCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "deadletters CONNECTOR [ID]",
		Short: "List what a Connector could not handle, or show one of it",
		Long: `Deadletters lists the deliveries that could not be handled, newest first, and why.
With the id of one it shows the delivery too, to keys that may see what is internal.`,
		Example: "  wharf connector deadletters conn_01K0...\n  wharf connector deadletters conn_01K0... dead_01K0... --json",
		Args:    cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			if len(args) == 2 {
				return a.showDeadLetter(cmd.Context(), c, args[0], args[1])
			}
			list := func(ctx context.Context) ([]client.Doc[abi.DeadLetter], error) { return c.DeadLetters(ctx, args[0]) }
			titles := []string{"DEAD LETTER", "FAILED", "ATTEMPTS", "DRIVEN AGAIN", "CODE", "MESSAGE"}
			return hint(listOf(a, list, titles, deadLetterRow)(cmd.Context()), abi.CodeResourceNotFound, "wharf connector list")
		},
	}
}

func deadLetterRow(l *abi.DeadLetter) []show.Cell {
	return []show.Cell{{Text: l.ID}, {Text: show.Ago(l.UpdatedAt, time.Now())}, {Text: fmt.Sprint(l.Attempts)}, {Text: stamp(l.RedrivenAt)},
		{Text: l.Failure.Code}, {Text: show.Cut(show.OneLine(l.Failure.Message), 60)}}
}

func (a *app) showDeadLetter(ctx context.Context, c *client.Client, connectorID, id string) error {
	doc, err := c.DeadLetter(ctx, connectorID, id)
	switch {
	case err != nil:
		return hint(err, abi.CodeResourceNotFound, "wharf connector deadletters "+connectorID)
	case a.json:
		a.printJSON(doc.JSON)
		return nil
	}
	l := &doc.Value
	a.out.Line(l.ID)
	a.out.Pairs([2]string{"failure", l.Failure.Code + ": " + l.Failure.Message}, [2]string{"attempts", fmt.Sprint(l.Attempts)},
		[2]string{"failed", stamp(l.UpdatedAt)}, [2]string{"driven again", stamp(l.RedrivenAt)}, [2]string{"delivery", string(l.Delivery)})
	return nil
}

func (a *app) connectorRedriveCommand() *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:   "redrive CONNECTOR [ID...]",
		Short: "Have deliveries handled again that were put aside",
		Long: `Redrive has dead letters handled again: those named, or with --all every one that was
not driven again already. One that fails again is put aside again.`,
		Example: "  wharf connector redrive conn_01K0... dead_01K0...\n  wharf connector redrive conn_01K0... --all",
		Args:    someArgs(aConnector),
		RunE: func(cmd *cobra.Command, args []string) error {
			if all == (len(args) > 1) {
				return usagef("%s needs the ids of dead letters, or --all", cmd.CommandPath())
			}
			c, err := a.client()
			if err != nil {
				return err
			}
			ids := args[1:]
			if all {
				if ids, err = waiting(cmd.Context(), c, args[0]); err != nil {
					return hint(err, abi.CodeResourceNotFound, "wharf connector list")
				}
			}
			return a.redrive(cmd.Context(), c, args[0], ids)
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "every one that was not driven again already")
	return cmd
}

// waiting returns the ids of the dead letters that were not driven again.
func waiting(ctx context.Context, c *client.Client, connectorID string) (ids []string, err error) {
	letters, err := c.DeadLetters(ctx, connectorID)
	for _, l := range letters {
		if l.Value.RedrivenAt.IsZero() {
			ids = append(ids, l.Value.ID)
		}
	}
	return ids, err
}

func (a *app) redrive(ctx context.Context, c *client.Client, connectorID string, ids []string) error {
	for _, id := range ids {
		doc, err := c.RedriveDeadLetter(ctx, connectorID, id)
		if err != nil {
			return hint(err, abi.CodeResourceNotFound, "wharf connector deadletters "+connectorID)
		}
		if a.json {
			a.printJSON(doc.JSON)
		}
	}
	if !a.json {
		a.out.Line(fmt.Sprintf("%d driven again", len(ids)))
	}
	return nil
}

func (a *app) connectorProvidersCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "providers",
		Short: "List the providers that Wharf knows",
		Long: `Providers lists who Wharf knows: the plugin that normalizes what they send, how they
sign it, and the kinds of events that the plugin knows. Another provider is like
generic, and its Connectors name their plugin.`,
		Example: "  wharf connector providers",
		Args:    noArgs,
		RunE: func(*cobra.Command, []string) error {
			var rows [][]show.Cell
			for _, name := range connector.Names() {
				p, _ := connector.Lookup(name)
				if a.json {
					a.printJSON(providerJSON(&p))
					continue
				}
				rows = append(rows, show.Cells(p.Name, p.Plugin, string(p.Scheme), show.Cut(strings.Join(p.EventKinds, " "), 60)))
			}
			if !a.json {
				a.out.Table([]string{"PROVIDER", "PLUGIN", "SIGNATURES", "EVENTS"}, rows)
			}
			return nil
		},
	}
}
