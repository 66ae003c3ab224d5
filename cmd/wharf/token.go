package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/wharf-dev/wharf/cmd/wharf/internal/client"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/show"
)

func (a *app) tokenCommand() *cobra.Command {
	var scopes []string
	return a.node(page{
		use:   "token",
		short: "Get an access token that stands for the API key for a while",
		long: `Token shows the node the API key, and prints an access token: by itself on
standard output, so that a script can take it. Whoever has it may do what the
key may, or less of it with --scope, until it expires or the key is revoked.
The node's setting oauth.token_lifetime says how long that is.

A token cannot be exchanged for another: that takes the key.`,
		example: `  wharf token --scope tasks:read
  curl -H "Authorization: Bearer $(wharf token)" ...
  wharf token --json`,
		flags: func(f *pflag.FlagSet) {
			f.StringSliceVar(&scopes, "scope", nil, "what the token may do (default: all that the key may)")
		},
	}, steps(func(ctx context.Context, c *client.Client, _ []string) error {
		token, err := c.Token(ctx, scopes)
		if err != nil {
			return err
		}
		return a.print(token.JSON, func() {
			a.out.Line(token.Value.AccessToken)
			expires := time.Duration(token.Value.ExpiresIn) * time.Second
			fmt.Fprintln(a.stderr, "valid for "+expires.String()+", with the scopes "+strings.ReplaceAll(show.OneLine(token.Value.Scope), " ", ", "))
		})
	}))
}
