package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/client"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/show"
)

const (
	aWebhook = "the id of a Webhook (see \"wharf webhook list\")"
	// webhooks is where a node has them.
	webhooks   = "/wharf/v1/webhooks"
	oneWebhook = webhooks + "/{}"
)

func (a *app) webhookCommand() *cobra.Command {
	return family(page{
		use:   "webhook",
		short: "Send events to receivers outside, and look after what they have not taken",
		long: `A Webhook is a receiver that is sent events as they happen: signed, at least once, and
tried again while it does not take them. What it does not take in the end is kept as
a dead letter, and can be driven again. docs/webhooks.md has the rest.`,
		example: `  wharf webhook create https://receiver.example/in --event task.completed,task.failed
  wharf webhook list
  wharf webhook deliveries hook_01K0... --status dead
  wharf webhook redrive hook_01K0... --all`,
	}, a.webhookListCommand(), a.webhookShowCommand(), a.webhookCreateCommand(), a.webhookUpdateCommand(),
		a.webhookStatusCommand("pause", "Send a Webhook nothing; what it wants is kept meanwhile", abi.WebhookPaused),
		a.webhookStatusCommand("resume", "Send a Webhook what it wants again", abi.WebhookActive),
		a.webhookDeleteCommand(), a.webhookRotateCommand(), a.webhookTestCommand(), a.webhookDeliveriesCommand(), a.webhookRedriveCommand())
}

func (a *app) webhookListCommand() *cobra.Command {
	return a.node(page{
		use:   "list",
		short: "List the Webhooks and what they have counted",
		long: `List shows the Webhooks that the key sees, newest first: deliveries that were taken,
attempts that failed, what is tried again, what was given up, and since when the
oldest event waits.`,
		example: "  wharf webhook list\n  wharf webhook list --json",
	}, list[abi.WebhookEndpoint]{
		call:   gets(webhooks),
		titles: []string{"WEBHOOK", "URL", "STATUS", "TAKEN", "FAILED", "PENDING", "DEAD", "WAITS SINCE"},
		row:    webhookRow,
	})
}

func webhookRow(w *abi.WebhookEndpoint) []show.Cell {
	n := sent(w)
	return []show.Cell{{Text: w.ID}, {Text: w.URL}, {Text: string(w.Status), Style: webhookStyle(w.Status)},
		{Text: fmt.Sprint(n.Taken)}, {Text: fmt.Sprint(n.Failed)}, {Text: fmt.Sprint(n.Pending)}, {Text: fmt.Sprint(n.Dead)}, {Text: stamp(n.OldestAt)}}
}

func sent(w *abi.WebhookEndpoint) abi.WebhookCounters {
	if w.Counters == nil {
		return abi.WebhookCounters{}
	}
	return *w.Counters
}

func webhookStyle(s abi.WebhookStatus) show.Style {
	switch s {
	case abi.WebhookActive:
		return show.Green
	case abi.WebhookDisabled:
		return show.Red
	}
	return show.Yellow
}

func (a *app) webhookShowCommand() *cobra.Command {
	return a.node(page{
		use:     "show ID",
		short:   "Show a Webhook",
		long:    `Show shows what a Webhook wants, what it has counted, and why it is disabled if it is.`,
		example: "  wharf webhook show hook_01K0...\n  wharf webhook show hook_01K0... --json",
		args:    oneArg(aWebhook),
	}, a.webhook(gets(oneWebhook)))
}

// shownWebhook is a Webhook, and the secret that was just made for it.
type shownWebhook struct {
	abi.WebhookEndpoint `json:",inline"`
	Secret              string `json:"secret,omitzero"`
}

// webhook is a request that a Webhook answers.
func (a *app) webhook(call caller) ask[shownWebhook] {
	return ask[shownWebhook]{call: call, text: a.showWebhook, tips: absent("wharf webhook list")}
}

func (a *app) showWebhook(w *shownWebhook) {
	n := sent(&w.WebhookEndpoint)
	a.out.Line(w.ID, "  ", a.out.Paint(webhookStyle(w.Status), string(w.Status)), "  ", w.StatusReason)
	a.out.Pairs([2]string{"url", w.URL}, [2]string{"description", w.Description}, [2]string{"workspace", w.WorkspaceID},
		[2]string{"events", strings.Join(w.Events, " ")}, [2]string{"session", w.SessionID}, [2]string{"task", w.TaskID}, [2]string{"persona", w.PersonaID},
		[2]string{"format", w.Format}, [2]string{"headers", strings.Join(w.Headers, " ")},
		[2]string{"counted", fmt.Sprintf("%d taken, %d attempts failed, %d pending, %d given up, %d driven again", n.Taken, n.Failed, n.Pending, n.Dead, n.Redriven)},
		[2]string{"waits since", stamp(n.OldestAt)}, [2]string{"secret, shown here only", w.Secret})
}

func (a *app) webhookCreateCommand() *cobra.Command {
	var req abi.CreateWebhookRequest
	var headers map[string]string
	var paused bool
	return a.node(page{
		use:   "create URL",
		short: "Make a Webhook",
		long: `Create makes a Webhook, which is sent what happens from then on, and prints the secret
that its deliveries are signed with. The secret is not shown again.`,
		example: `  wharf webhook create https://receiver.example/in --event "task.*"
  wharf webhook create https://receiver.example/in --event task.failed --persona persona_echo --json`,
		args: oneArg("the URL of a receiver"),
		flags: func(f *pflag.FlagSet) {
			f.StringSliceVar(&req.Events, "event", nil, "kinds of events, or how they begin and * (required)")
			f.StringVar(&req.Description, "description", "", "words for people")
			f.StringVar(&req.WorkspaceID, "workspace", "", "events of this Workspace only")
			f.StringVar(&req.SessionID, "session", "", "events of this Session only")
			f.StringVar(&req.TaskID, "task", "", "events of this Task only")
			f.StringVar(&req.PersonaID, "persona", "", "events of this Persona's Tasks only")
			f.StringToStringVar(&headers, "header", nil, "headers that deliveries carry besides, NAME=VALUE")
			f.BoolVar(&paused, "paused", false, "send nothing before it is resumed")
		},
		check: func(cmd *cobra.Command, _ []string) error {
			if len(req.Events) == 0 {
				return usagef("%s needs --event", cmd.CommandPath())
			}
			return nil
		},
	}, a.webhook(func(cmd *cobra.Command, args []string) (client.Call, error) {
		err := a.namedPersona(cmd.Context(), &req.PersonaID)
		if req.URL, req.Headers = args[0], headers; paused {
			req.Status = abi.WebhookPaused
		}
		return client.Post(req, webhooks), err
	}))
}

func (a *app) webhookUpdateCommand() *cobra.Command {
	var url, description, session, task, persona string
	var events []string
	var headers map[string]string
	return a.node(page{
		use:     "update ID",
		short:   "Change a Webhook",
		long:    "Update changes what the flags name, and leaves the rest: events and headers as a whole. An empty\nSession, Task or Persona takes away what was there.",
		example: "  wharf webhook update hook_01K0... --url https://receiver.example/new\n  wharf webhook update hook_01K0... --event task.failed --persona \"\"",
		args:    oneArg(aWebhook),
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&url, "url", "", "the URL of the receiver")
			f.StringVar(&description, "description", "", "words for people")
			f.StringSliceVar(&events, "event", nil, "kinds of events, or how they begin and *")
			f.StringVar(&session, "session", "", "events of this Session only")
			f.StringVar(&task, "task", "", "events of this Task only")
			f.StringVar(&persona, "persona", "", "events of this Persona's Tasks only")
			f.StringToStringVar(&headers, "header", nil, "headers that deliveries carry besides, NAME=VALUE")
		},
		check: someFlag("url", "description", "event", "session", "task", "persona", "header"),
	}, a.webhook(func(cmd *cobra.Command, args []string) (client.Call, error) {
		return client.Patch(abi.UpdateWebhookRequest{URL: given(cmd, "url", &url), Description: given(cmd, "description", &description), Events: events,
			SessionID: changed(cmd, "session", session), TaskID: changed(cmd, "task", task), PersonaID: changed(cmd, "persona", persona), Headers: headers}, oneWebhook, args[0]), nil
	}))
}

func (a *app) webhookStatusCommand(use, short string, status abi.WebhookStatus) *cobra.Command {
	return a.node(page{
		use:   use + " ID",
		short: short,
		long: short + `.

What a Webhook wants is decided when it happens, and kept while it is paused: until it
has waited for webhooks.age. One that a receiver's answer of 410 has disabled wants
nothing until it is resumed.`,
		example: "  wharf webhook " + use + " hook_01K0...",
		args:    oneArg(aWebhook),
	}, a.webhook(sends(func(args []string) client.Call {
		return client.Patch(abi.UpdateWebhookRequest{Status: &status}, oneWebhook, args[0])
	})))
}

func (a *app) webhookDeleteCommand() *cobra.Command {
	return a.node(page{
		use:     "delete ID",
		short:   "Delete a Webhook",
		long:    `Delete deletes a Webhook, its secrets, and what was still to be sent.`,
		example: "  wharf webhook delete hook_01K0...",
		args:    oneArg(aWebhook),
	}, steps(func(ctx context.Context, c *client.Client, args []string) error {
		if err := c.Send(ctx, client.Delete(oneWebhook, args[0])); err != nil {
			return hint(err, abi.CodeResourceNotFound, "wharf webhook list")
		}
		return nil
	}))
}

func (a *app) webhookRotateCommand() *cobra.Command {
	var overlap time.Duration
	return a.node(page{
		use:   "rotate ID",
		short: "Give a Webhook a new secret",
		long: `Rotate makes a new secret, and prints it. For as long as --overlap says, deliveries are
signed with the secrets before, too, so that the receiver can be changed meanwhile.`,
		example: "  wharf webhook rotate hook_01K0... --overlap 24h",
		args:    oneArg(aWebhook),
		flags: func(f *pflag.FlagSet) {
			f.DurationVar(&overlap, "overlap", 0, "for how long the secrets before sign, too")
		},
	}, a.webhook(sends(func(args []string) client.Call {
		return client.Post(abi.RotateWebhookRequest{OverlapSeconds: int64(overlap / time.Second)}, oneWebhook+"/rotate", args[0])
	})))
}

func (a *app) webhookTestCommand() *cobra.Command {
	return a.node(page{
		use:   "test ID",
		short: "Send a Webhook a delivery that tells of nothing",
		long: `Test sends a delivery that tells of nothing, signed as every other, and shows what
became of it. It counts for nothing, and is not tried again.`,
		example: "  wharf webhook test hook_01K0...",
		args:    oneArg(aWebhook),
	}, ask[abi.WebhookTrial]{
		call: sends(func(args []string) client.Call { return client.Post(nil, oneWebhook+"/test", args[0]) }),
		text: a.showTrial, tips: absent("wharf webhook list"),
	})
}

func (a *app) showTrial(t *abi.WebhookTrial) {
	if t.Taken {
		a.out.Line(fmt.Sprintf("taken: the receiver has answered with %d, after %d ms", t.HTTPStatus, t.DurationMs))
		return
	}
	a.out.Line("not taken: ", failureText(t.Failure))
}

func failureText(f *abi.Failure) string {
	if f == nil {
		return ""
	}
	return f.Code + ": " + show.OneLine(f.Message)
}

func (a *app) webhookDeliveriesCommand() *cobra.Command {
	var status string
	return a.node(page{
		use:   "deliveries ID",
		short: "List what a receiver has not taken at first",
		long: `Deliveries lists the deliveries that a receiver has not taken at first, newest first, and
why. One that was taken at once leaves nothing but a count.`,
		example: "  wharf webhook deliveries hook_01K0...\n  wharf webhook deliveries hook_01K0... --status dead",
		args:    oneArg(aWebhook),
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&status, "status", "", "only those that are pending, delivered or dead")
		},
	}, list[abi.WebhookDelivery]{
		call: sends(func(args []string) client.Call {
			return client.Get(webhookDeliveries, args...).Narrow("status", strings.ToUpper(status))
		}),
		titles: []string{"DELIVERY", "EVENT", "KIND", "STATUS", "ATTEMPTS", "NEXT", "WHY"},
		row:    webhookDeliveryRow,
		tips:   absent("wharf webhook list"),
	})
}

// webhookDeliveries is where a node has those of a Webhook.
const webhookDeliveries = oneWebhook + "/deliveries"

func webhookDeliveryRow(d *abi.WebhookDelivery) []show.Cell {
	return []show.Cell{{Text: d.ID}, {Text: d.EventID}, {Text: string(d.Event)}, {Text: string(d.Status)}, {Text: fmt.Sprint(d.Attempts)},
		{Text: stamp(d.NextAttemptAt)}, {Text: failureText(d.Failure)}}
}

func (a *app) webhookRedriveCommand() *cobra.Command {
	var all bool
	return a.node(page{
		use:   "redrive ID [DELIVERY...]",
		short: "Have deliveries tried again that were given up",
		long: `Redrive has dead letters tried again: those named, or with --all every one. What is
given up again can be driven again.`,
		example: "  wharf webhook redrive hook_01K0... whd_01K0...\n  wharf webhook redrive hook_01K0... --all",
		args:    someArgs(aWebhook),
		flags:   func(f *pflag.FlagSet) { f.BoolVar(&all, "all", false, "every one that was given up") },
		check: func(cmd *cobra.Command, args []string) error {
			if all == (len(args) > 1) {
				return usagef("%s needs the ids of deliveries, or --all", cmd.CommandPath())
			}
			return nil
		},
	}, steps(func(ctx context.Context, c *client.Client, args []string) (err error) {
		ids := args[1:]
		if all {
			if ids, err = deadDeliveries(ctx, c, args[0]); err != nil {
				return hint(err, abi.CodeResourceNotFound, "wharf webhook list")
			}
		}
		return a.redriveWebhook(ctx, c, args[0], ids)
	}))
}

// deadDeliveries returns the ids of the deliveries to a Webhook that were given up.
func deadDeliveries(ctx context.Context, c *client.Client, webhook string) (ids []string, err error) {
	all, err := client.List[abi.WebhookDelivery](ctx, c, client.Get(webhookDeliveries, webhook).Narrow("status", string(abi.WebhookDeliveryDead)))
	for _, d := range all {
		ids = append(ids, d.Value.ID)
	}
	return ids, err
}

func (a *app) redriveWebhook(ctx context.Context, c *client.Client, webhook string, ids []string) error {
	for _, id := range ids {
		doc, err := client.Do[abi.WebhookDelivery](ctx, c, client.Post(nil, webhookDeliveries+"/{}/redrive", webhook, id))
		if err != nil {
			return hint(err, abi.CodeResourceNotFound, "wharf webhook deliveries "+webhook)
		}
		if err := a.print(doc.JSON, func() {}); err != nil {
			return err
		}
	}
	if !a.json {
		a.out.Line(fmt.Sprintf("%d driven again", len(ids)))
	}
	return nil
}
