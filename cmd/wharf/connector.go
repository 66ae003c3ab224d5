package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/client"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/show"
	"github.com/wharf-dev/wharf/runtime/connector"
)

const aConnector = "the id of a Connector (see \"wharf connector list\")"

func (a *app) connectorCommand() *cobra.Command {
	return family(page{
		use:   "connector",
		short: "Take in what others send, and look after what could not be handled",
		long: `A Connector turns what a provider sends, or what is polled from it, into Tasks: the
webhooks of GitHub and Slack, CloudEvents, any JSON, or the ticks of a schedule.
What cannot be handled is put aside as a dead letter, which can be looked at and
driven again. docs/connectors.md has the rest.`,
		example: `  wharf connector create --provider github --webhook --secret hook
  wharf connector list
  wharf connector deadletters conn_01K0...
  wharf connector redrive conn_01K0... --all`,
	}, a.connectorListCommand(), a.connectorGetCommand(), a.connectorCreateCommand(), a.connectorUpdateCommand(), a.connectorDeleteCommand(),
		a.connectorStatusCommand("pause", "Stop handling deliveries; they are kept meanwhile", abi.ConnectorPaused),
		a.connectorStatusCommand("resume", "Handle deliveries again, and close the circuit breaker", abi.ConnectorActive),
		a.connectorDeadLettersCommand(), a.connectorRedriveCommand(), a.connectorProvidersCommand(), a.connectorTestCommand())
}

func (a *app) connectorListCommand() *cobra.Command {
	var urls bool
	counts := list[abi.Connector]{
		call:   gets("/v1/connectors"),
		titles: []string{"CONNECTOR", "NAME", "PROVIDER", "STATUS", "RECEIVED", "AGAIN", "WAITING", "TASKS", "FAILED", "NEXT TICK"},
		row:    connectorRow,
	}
	places := list[abi.Connector]{
		call:   gets("/v1/connectors"),
		titles: []string{"NAME", "PROVIDER", "URL"},
		row: func(c *abi.Connector) []show.Cell {
			return []show.Cell{{Text: cmp.Or(c.Name, c.ID)}, {Text: c.Provider}, {Text: a.publicURL(c)}}
		},
	}
	return a.node(page{
		use:   "list",
		short: "List the Connectors and what they have counted",
		long: `List shows the Connectors that the key sees, newest first: what they have received,
what came again, what waits, the Tasks they have made, and what was put aside. With --urls
it shows the URL to enter at each provider, to keys that may write Connectors.`,
		example: "  wharf connector list\n  wharf connector list --urls\n  wharf connector list --json",
		flags:   func(f *pflag.FlagSet) { f.BoolVar(&urls, "urls", false, "show the URLs to enter at the providers") },
	}, byFlag{&urls, places, counts})
}

func connectorRow(c *abi.Connector) []show.Cell {
	n := counted(c)
	return []show.Cell{{Text: c.ID}, {Text: c.Name}, {Text: c.Provider}, {Text: string(c.Status), Style: connectorStyle(c.Status)},
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
	return a.node(page{
		use:   "get ID",
		short: "Show a Connector",
		long: `Get shows how a Connector takes deliveries in, what it has counted, and why it failed
if it has. The URL to enter at the provider is shown to keys that may write Connectors:
it begins as --server does, by which the provider has to reach the node.`,
		example: "  wharf connector get conn_01K0...\n  wharf connector get conn_01K0... --json",
		args:    oneArg(aConnector),
	}, a.connector(gets("/v1/connectors/{}")))
}

// connector is a request that a Connector answers.
func (a *app) connector(call caller) ask[abi.Connector] {
	return ask[abi.Connector]{call: call, text: a.showConnector, tips: absent("wharf connector list")}
}

func (a *app) showConnector(c *abi.Connector) {
	n := counted(c)
	a.out.Line(c.ID, "  ", a.out.Paint(connectorStyle(c.Status), string(c.Status)), "  ", c.StatusReason)
	a.out.Pairs([2]string{"name", c.Name}, [2]string{"provider", c.Provider}, [2]string{"workspace", c.WorkspaceID}, [2]string{"plugin", c.Plugin},
		[2]string{"events", strings.Join(c.EventKinds, " ")}, [2]string{"persona", c.TargetPersonaID}, [2]string{"session", c.TargetSessionID},
		[2]string{"url", a.publicURL(c)}, [2]string{"signatures", asText(c.Auth)}, [2]string{"schedule", asText(c.Polling)},
		[2]string{"counted", fmt.Sprintf("%d received, %d again, %d refused, %d waiting, %d Tasks, %d put aside",
			n.Received, n.Deduped, n.Rejected, n.Pending, n.Tasks, n.Failed)})
	if len(c.Problems) > 0 {
		a.out.Title("cannot work as it is")
		for _, one := range c.Problems {
			a.out.Line(a.out.Paint(show.Red, "  "+show.OneLine(one)))
		}
	}
}

// publicURL is what is entered at a provider, where the node is reached by the URL that this command
// has reached it by.
func (a *app) publicURL(c *abi.Connector) string {
	switch {
	case c.Webhook == nil || !c.Webhook.Enabled:
		return "closed"
	case c.Webhook.Path == "":
		return "open"
	}
	return strings.TrimRight(a.serverURL(), "/") + c.Webhook.Path
}

func (a *app) connectorCreateCommand() *cobra.Command {
	var n newConnector
	return a.node(page{
		use:   "create",
		short: "Make a Connector",
		long: `Create makes a Connector from flags, or from a file in YAML or JSON ("-" for standard
input) with the members of the route's body; flags count more. It prints the
Connector, with the URL to enter at the provider when --webhook opens it.

--secret names what signatures are checked with: a secret of the node's
configuration or, with --vault, of a vault whose access names the Connector.`,
		example: `  wharf connector create --provider github --webhook --secret hook --persona persona_agent
  wharf connector create --provider cron --schedule "0 9 * * 1-5" --timezone Europe/Berlin
  wharf connector create -f orders.yaml --json`,
		flags: n.flags,
	}, connectorCreation{a.connector(func(cmd *cobra.Command, _ []string) (client.Call, error) {
		req, err := n.request(a)
		if err == nil {
			err = a.namedPersona(cmd.Context(), &req.TargetPersonaID)
		}
		return client.Post(req, "/v1/connectors"), err
	})})
}

// connectorCreation is an ask with a tip for a secret that is missing.
type connectorCreation struct{ ask[abi.Connector] }

func (k connectorCreation) run(a *app, cmd *cobra.Command, args []string) error {
	err := k.ask.run(a, cmd, args)
	if refused, ok := errors.AsType[*client.Refused](err); ok && refused.Answer.Param == "auth.secrets" {
		err = advise(err, "--secret NAME, a secret of the node's configuration, or of a Vault with --vault ID")
	}
	return err
}

// newConnector is what the flags of "connector create" say.
type newConnector struct {
	file, vault string
	webhook     bool
	secrets     []string
	req         abi.CreateConnectorRequest
	polling     abi.Polling
}

func (n *newConnector) flags(f *pflag.FlagSet) {
	f.StringVarP(&n.file, "file", "f", "", "a file with the Connector, in YAML or JSON")
	f.StringVar(&n.req.Provider, "provider", "", "who delivers (see \"wharf connector providers\")")
	f.StringVar(&n.req.Name, "name", "", "a name for people")
	f.StringVar(&n.req.WorkspaceID, "workspace", "", "the Workspace (default: the tenant's own)")
	f.StringVar(&n.req.TargetPersonaID, "persona", "", "what its Tasks run as: a Persona, by its name or its id")
	f.StringVar(&n.req.TargetSessionID, "session", "", "the Session of all its Tasks (default: one for each thread)")
	f.StringVar(&n.req.Plugin, "plugin", "", "what normalizes deliveries: PLUGIN#EXPORT, or PLUGIN of an installed connector (default: the provider's own)")
	f.StringSliceVar(&n.req.EventKinds, "event", nil, "kinds of events that are wanted (default: all that the plugin knows)")
	f.BoolVar(&n.req.Ordered, "ordered", false, "begin a Task only when the one before of its thread has ended")
	f.BoolVar(&n.webhook, "webhook", false, "open the public path")
	f.StringSliceVar(&n.secrets, "secret", nil, "names of secrets that signatures are checked with")
	f.StringVar(&n.vault, "vault", "", "the vault that has the secrets (default: the node's configuration)")
	f.StringVar(&n.polling.Schedule, "schedule", "", "act by itself: five fields of cron, or @every 5m, @hourly, …")
	f.StringVar(&n.polling.TimeZone, "timezone", "", "of the schedule (default: UTC)")
	f.StringVar(&n.polling.Export, "poll", "", "the plugin's export that polls (default: each tick is a delivery)")
}

// request is what the file says, with what the flags say over it.
func (n *newConnector) request(a *app) (req abi.CreateConnectorRequest, err error) {
	if n.file != "" {
		if err := a.readManifest(n.file, &req); err != nil {
			return req, err
		}
	}
	overlay(&req, &n.req)
	if len(n.secrets) > 0 {
		auth := abi.WebhookAuth{}
		if req.Auth != nil {
			auth = *req.Auth
		}
		auth.Secrets, auth.VaultID = n.secrets, cmp.Or(n.vault, auth.VaultID)
		req.Auth = &auth
	}
	if n.webhook {
		req.Webhook = &abi.Webhook{Enabled: true}
	}
	if n.polling.Schedule != "" {
		req.Polling = &n.polling
	}
	return req, nil
}

// overlay puts what flags state over what a file does.
func overlay(to, by *abi.CreateConnectorRequest) {
	to.Provider, to.Name = cmp.Or(by.Provider, to.Provider), cmp.Or(by.Name, to.Name)
	to.WorkspaceID, to.Plugin = cmp.Or(by.WorkspaceID, to.WorkspaceID), cmp.Or(by.Plugin, to.Plugin)
	to.TargetPersonaID, to.TargetSessionID = cmp.Or(by.TargetPersonaID, to.TargetPersonaID), cmp.Or(by.TargetSessionID, to.TargetSessionID)
	to.Ordered = to.Ordered || by.Ordered
	if by.EventKinds != nil {
		to.EventKinds = by.EventKinds
	}
}

// connectorChange is what the flags of "connector update" say.
type connectorChange struct {
	file, name, persona, session, vault string
	events, secrets                     []string
	ordered, webhook                    bool
	polling                             abi.Polling
}

func (n *connectorChange) flags(f *pflag.FlagSet) {
	f.StringVarP(&n.file, "file", "f", "", "a file with what is to change, in YAML or JSON")
	f.StringVar(&n.name, "name", "", "a name for people")
	f.StringVar(&n.persona, "persona", "", "what its Tasks run as")
	f.StringVar(&n.session, "session", "", "the Session of all its Tasks")
	f.StringSliceVar(&n.events, "event", nil, "kinds of events that are wanted")
	f.BoolVar(&n.ordered, "ordered", false, "begin a Task only when the one before of its thread has ended")
	f.BoolVar(&n.webhook, "webhook", false, "open the public path; --webhook=false closes it")
	f.StringSliceVar(&n.secrets, "secret", nil, "names of secrets that signatures are checked with")
	f.StringVar(&n.vault, "vault", "", "the vault that has the secrets")
	f.StringVar(&n.polling.Schedule, "schedule", "", "act by itself: five fields of cron, or @every 5m, @hourly, …")
	f.StringVar(&n.polling.TimeZone, "timezone", "", "of the schedule")
	f.StringVar(&n.polling.Export, "poll", "", "the plugin's export that polls")
}

// names are those of the flags.
func (n *connectorChange) names() []string {
	return []string{"file", "name", "persona", "session", "event", "ordered", "webhook", "secret", "vault", "schedule", "timezone", "poll"}
}

// request is what the file says, with what the flags say over it. now is the Connector as it is: of what
// is replaced as a whole the rest stays.
func (n *connectorChange) request(a *app, cmd *cobra.Command, now *abi.Connector) (req abi.UpdateConnectorRequest, err error) {
	if n.file != "" {
		if err := a.readManifest(n.file, &req); err != nil {
			return req, err
		}
	}
	flags := cmd.Flags()
	req.Name, req.Ordered = cmp.Or(given(cmd, "name", &n.name), req.Name), cmp.Or(given(cmd, "ordered", &n.ordered), req.Ordered)
	if flags.Changed("persona") {
		req.TargetPersonaID = abi.ChangeTo(n.persona)
	}
	if flags.Changed("session") {
		req.TargetSessionID = abi.ChangeTo(n.session)
	}
	if flags.Changed("event") {
		req.EventKinds = n.events
	}
	if flags.Changed("webhook") {
		req.Webhook = &abi.Webhook{Enabled: n.webhook}
	}
	if flags.Changed("secret") || flags.Changed("vault") {
		auth := *cmp.Or(req.Auth, now.Auth, &abi.WebhookAuth{})
		if flags.Changed("secret") {
			auth.Secrets = n.secrets
		}
		if flags.Changed("vault") {
			auth.VaultID = n.vault
		}
		req.Auth = &auth
	}
	if flags.Changed("schedule") || flags.Changed("timezone") || flags.Changed("poll") {
		was := cmp.Or(req.Polling, now.Polling, &abi.Polling{})
		req.Polling = &abi.Polling{Schedule: cmp.Or(n.polling.Schedule, was.Schedule), TimeZone: cmp.Or(n.polling.TimeZone, was.TimeZone), Export: cmp.Or(n.polling.Export, was.Export)}
	}
	return req, nil
}

func (a *app) connectorUpdateCommand() *cobra.Command {
	var n connectorChange
	return a.node(page{
		use:   "update ID",
		short: "Change a Connector",
		long: `Update changes what the flags and the file name, and leaves the rest; flags count more. The
file has the members of the route's body, which replace what they name as a whole.

"wharf connector pause" and "resume" change whether it handles deliveries.`,
		example: `  wharf connector update conn_01K0... --persona persona_agent
  wharf connector update conn_01K0... --secret hook --vault vault_01K0...
  wharf connector update conn_01K0... --webhook=false`,
		args:  oneArg(aConnector),
		flags: n.flags,
		check: someFlag(n.names()...),
	}, a.connector(func(cmd *cobra.Command, args []string) (call client.Call, err error) {
		c, err := a.client()
		if err != nil {
			return call, err
		}
		doc, err := client.Do[abi.Connector](cmd.Context(), c, client.Get("/v1/connectors/{}", args[0]))
		if err != nil {
			return call, hint(err, abi.CodeResourceNotFound, "wharf connector list")
		}
		req, err := n.request(a, cmd, &doc.Value)
		return client.Patch(req, "/v1/connectors/{}", args[0]), err
	}))
}

func (a *app) connectorDeleteCommand() *cobra.Command {
	return a.node(page{
		use:     "delete ID",
		short:   "Delete a Connector",
		long:    "Delete deletes a Connector, closes its public path for ever, and drops the deliveries that it has\nnot handled. Tasks that it has made go on.",
		example: "  wharf connector delete conn_01K0...",
		args:    oneArg(aConnector),
	}, a.gone("/v1/connectors/{}", "deleted", "wharf connector list"))
}

func (a *app) connectorStatusCommand(use, short string, status abi.ConnectorStatus) *cobra.Command {
	return a.node(page{
		use:   use + " ID",
		short: short,
		long: short + `.

A Connector that is paused takes deliveries and keeps them, and does not poll. One
that failed again and again is FAILED and tries itself again after a while; resuming
it does so at once.`,
		example: "  wharf connector " + use + " conn_01K0...",
		args:    oneArg(aConnector),
	}, a.connector(sends(func(args []string) client.Call {
		return client.Patch(abi.UpdateConnectorRequest{Status: &status}, "/v1/connectors/{}", args[0])
	})))
}

func (a *app) connectorDeadLettersCommand() *cobra.Command {
	letters := list[abi.DeadLetter]{
		call:   gets(deadLetters),
		titles: []string{"DEAD LETTER", "FAILED", "ATTEMPTS", "DRIVEN AGAIN", "CODE", "MESSAGE"},
		row:    deadLetterRow,
		tips:   absent("wharf connector list"),
	}
	letter := ask[deadLetter]{call: gets(deadLetters + "/{}"), text: a.showDeadLetter, tips: absent("wharf connector deadletters {}")}
	return a.node(page{
		use:   "deadletters CONNECTOR [ID]",
		short: "List what a Connector could not handle, or show one of it",
		long: `Deadletters lists the deliveries that could not be handled, newest first, and why.
With the id of one it shows the delivery too, to keys that may see what is internal.`,
		example: "  wharf connector deadletters conn_01K0...\n  wharf connector deadletters conn_01K0... dead_01K0... --json",
		args:    between(1, 2, aConnector),
	}, byArgs{1: letters, 2: letter})
}

// deadLetters is where a node has those of a Connector.
const deadLetters = "/wharf/v1/connectors/{}/dead-letters"

// deadLetter is a delivery that could not be handled, and the delivery.
type deadLetter struct {
	abi.DeadLetter `json:",inline"`
	Delivery       jsontext.Value `json:"delivery,omitzero"`
}

func deadLetterRow(l *abi.DeadLetter) []show.Cell {
	return []show.Cell{{Text: l.ID}, {Text: show.Ago(l.UpdatedAt, time.Now())}, {Text: fmt.Sprint(l.Attempts)}, {Text: stamp(l.RedrivenAt)},
		{Text: l.Failure.Code}, {Text: show.OneLine(l.Failure.Message)}}
}

func (a *app) showDeadLetter(l *deadLetter) {
	a.out.Line(l.ID)
	a.out.Pairs([2]string{"failure", l.Failure.Code + ": " + l.Failure.Message}, [2]string{"attempts", fmt.Sprint(l.Attempts)},
		[2]string{"failed", stamp(l.UpdatedAt)}, [2]string{"driven again", stamp(l.RedrivenAt)}, [2]string{"delivery", string(l.Delivery)})
}

func (a *app) connectorRedriveCommand() *cobra.Command {
	var all bool
	return a.node(page{
		use:   "redrive CONNECTOR [ID...]",
		short: "Have deliveries handled again that were put aside",
		long: `Redrive has dead letters handled again: those named, or with --all every one that was
not driven again already. One that fails again is put aside again.`,
		example: "  wharf connector redrive conn_01K0... dead_01K0...\n  wharf connector redrive conn_01K0... --all",
		args:    someArgs(aConnector),
		flags:   func(f *pflag.FlagSet) { f.BoolVar(&all, "all", false, "every one that was not driven again already") },
		check: func(cmd *cobra.Command, args []string) error {
			if all == (len(args) > 1) {
				return usagef("%s needs the ids of dead letters, or --all", cmd.CommandPath())
			}
			return nil
		},
	}, steps(func(ctx context.Context, c *client.Client, args []string) (err error) {
		ids := args[1:]
		if all {
			if ids, err = waiting(ctx, c, args[0]); err != nil {
				return hint(err, abi.CodeResourceNotFound, "wharf connector list")
			}
		}
		return a.redrive(ctx, c, args[0], ids)
	}))
}

// waiting returns the ids of the dead letters that were not driven again.
func waiting(ctx context.Context, c *client.Client, connectorID string) (ids []string, err error) {
	letters, err := client.List[abi.DeadLetter](ctx, c, client.Get(deadLetters, connectorID))
	for _, l := range letters {
		if l.Value.RedrivenAt.IsZero() {
			ids = append(ids, l.Value.ID)
		}
	}
	return ids, err
}

func (a *app) redrive(ctx context.Context, c *client.Client, connectorID string, ids []string) error {
	for _, id := range ids {
		doc, err := client.Do[abi.DeadLetter](ctx, c, client.Post(nil, deadLetters+"/{}/redrive", connectorID, id))
		if err != nil {
			return hint(err, abi.CodeResourceNotFound, "wharf connector deadletters "+connectorID)
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

func (a *app) connectorProvidersCommand() *cobra.Command {
	return page{
		use:   "providers",
		short: "List the providers that Wharf knows",
		long: `Providers lists who Wharf knows: the plugin that normalizes what they send, how they
sign it, and the kinds of events that the plugin knows. Another provider is like
generic, and its Connectors name their plugin, unless a connector of it was installed
in the node: "wharf plugin installed" lists these.`,
		example: "  wharf connector providers",
	}.command(func(*cobra.Command, []string) error {
		return a.printRows([]string{"PROVIDER", "PLUGIN", "SIGNATURES", "EVENTS"}, "", providers)
	})
}

// providers yields the providers that Wharf knows, for programs and as rows.
func providers(yield func(any, []show.Cell) bool) {
	for _, name := range connector.Names() {
		p, _ := connector.Lookup(name)
		told := struct {
			Name       string              `json:"name"`
			Plugin     string              `json:"plugin"`
			Scheme     abi.SignatureScheme `json:"scheme"`
			IDHeaders  []string            `json:"id_headers"`
			EventKinds []string            `json:"event_kinds"`
		}{p.Name, p.Plugin, p.Scheme, p.IDHeaders, p.EventKinds}
		if !yield(told, show.Cells(p.Name, p.Plugin, string(p.Scheme), strings.Join(p.EventKinds, " "))) {
			return
		}
	}
}
