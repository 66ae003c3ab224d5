package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"

	"github.com/spf13/cobra"

	"github.com/wharf-dev/wharf/abi/plainly"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/client"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/node"
)

func (a *app) mcpCommand() *cobra.Command {
	var s settingFlags
	var embedded bool
	cmd := page{
		use:   "mcp",
		short: "Be an MCP server over standard input and output",
		long: `Mcp passes the messages of an MCP client, one a line, between standard input and
output and a node's /mcp: the node's Skills are the client's tools. It is what a
desktop client runs that knows servers by a command. On standard output there are
messages alone; what people should know is on standard error.

A node that goes away is asked again until it is back, and what it was about to say
is asked for where it stopped. When standard input ends, what was asked is answered
still, and the session ends.

With --embedded a node runs in this process where none answers, with the settings
and the data folder that "wharf serve" would have. It ends with the client, and what
it was doing goes on with its next start. Without a key in WHARF_API_KEY it makes one
for itself.`,
		example: `  wharf mcp
  wharf mcp --server https://wharf.example.com
  wharf mcp --embedded --data ~/.wharf`,
	}.command(func(cmd *cobra.Command, _ []string) error {
		if !embedded {
			c, err := a.client()
			if err != nil {
				return err
			}
			return a.pipe(cmd.Context(), c)
		}
		return a.embedded(cmd.Context(), &s, a.pipe)
	})
	cmd.Flags().BoolVar(&embedded, "embedded", false, "run a node in this process where none answers")
	s.register(cmd.Flags())
	return a.remote(cmd)
}

// pipe passes messages between the client and a node.
func (a *app) pipe(ctx context.Context, c *client.Client) error {
	p := c.NewPipe(a.stdout)
	p.Broken = a.warn("wharf mcp")
	return p.Run(ctx, a.stdin)
}

// warn tells people what goes on besides the messages.
func (a *app) warn(who string) func(error) {
	var mu sync.Mutex
	return func(err error) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintf(a.stderr, "%s: %s\n", who, plainly.Say(err))
	}
}

// embedded passes messages to a node that answers, or else to one of its own.
func (a *app) embedded(ctx context.Context, s *settingFlags, pass func(context.Context, *client.Client) error) (err error) {
	there, err := a.keyless()
	if err != nil {
		return err
	}
	if there.Answers(ctx) {
		if a.key() == "" {
			return errNoKey
		}
		return pass(ctx, there)
	}
	eff, err := s.load(a)
	if err != nil {
		return err
	}
	eff.Config.Shutdown.Grace = 0 // what runs goes on with the next start
	key := cmp.Or(a.key(), rand.Text()+rand.Text())
	log := a.logger(eff.Config.Log)
	node.BoundHeap(log)
	n, err := node.Start(ctx, node.Options{Config: eff.Config, Version: thisBuild().Version, APIKey: key, Log: log})
	if err != nil {
		return startAdvice(err)
	}
	stop := serveInBackground(n)
	defer func() { err = errors.Join(err, stop()) }()
	c, err := client.New(n.URL(), key)
	if err != nil {
		return err
	}
	return pass(ctx, c)
}
