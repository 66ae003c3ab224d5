package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/wharf-dev/wharf/cmd/wharf/internal/client"
)

func (a *app) acpCommand() *cobra.Command {
	var s settingFlags
	var o client.ACPOptions
	var embedded bool
	cmd := page{
		use:   "acp",
		short: "Be an agent of the Agent Client Protocol for an editor",
		long: `Acp passes the messages of an editor that speaks the Agent Client Protocol, one a
line, between standard input and output and a node's /acp: the editor has the node's
agents. It is the command to name in the editor's settings. On standard output there
are messages alone; what people should know is on standard error.

A node that goes away is asked again until it is back, and the conversation goes on
where it was: each update is told once, and nothing is done twice. --wait bounds how
long. A node that does not answer at first is not waited for without it.
When standard input ends, what was asked is answered still, unless it needs the
editor; a Task that runs goes on, and session/load finds it again.

MCP servers that the editor names by a command are started here, for the Session that
they are named for, and their tools are the Session's: the node starts no command for
a client. They have the environment that the editor names, and of this one PATH, HOME
and the like. They end with the Session, or with this command.

With --embedded a node runs in this process where none answers, with the settings
and the data folder that "wharf serve" would have. It ends with the editor, and what
it was doing goes on with its next start. Without a key in WHARF_API_KEY it makes one
for itself.`,
		example: `  wharf acp
  wharf acp --server https://wharf.example.com --persona persona_agent
  wharf acp --embedded --data ~/.wharf`,
	}.command(func(cmd *cobra.Command, _ []string) error {
		pass := func(ctx context.Context, c *client.Client) error { return a.acp(ctx, c, o) }
		if embedded {
			return a.embedded(cmd.Context(), &s, pass)
		}
		c, err := a.client()
		if err != nil {
			return err
		}
		return pass(cmd.Context(), c)
	})
	flags := cmd.Flags()
	flags.BoolVar(&embedded, "embedded", false, "run a node in this process where none answers")
	flags.BoolVar(&o.Harn, "harn", false, "take the Harn extensions, for a host that cannot say that it does")
	flags.StringVar(&o.Persona, "persona", "", "the Persona (its name or its id) of Sessions that the editor opens")
	flags.StringVar(&o.Workspace, "workspace", "", "id of the Workspace of Sessions that the editor opens")
	flags.DurationVar(&o.Wait, "wait", 0, "how long to wait for a node that is away")
	s.register(flags)
	return a.remote(cmd)
}

// acp passes messages between an editor and a node.
func (a *app) acp(ctx context.Context, c *client.Client, o client.ACPOptions) error {
	var err error
	if o.Persona, err = personaID(ctx, c, o.Persona); err != nil {
		return err
	}
	p := c.NewACP(a.stdout, o)
	p.Broken = a.warn("wharf acp")
	return p.Run(ctx, a.stdin)
}
