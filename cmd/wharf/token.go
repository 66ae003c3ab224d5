package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wharf-dev/wharf/cmd/wharf/internal/show"
)

func (a *app) tokenCommand() *cobra.Command {
	var scopes []string
	cmd := &cobra.Command{
		Use:   "token",
		Short: "Get an access token that stands for the API key for a while",
		Long: `Token shows the node the API key, and prints an access token: by itself on
standard output, so that a script can take it. Whoever has it may do what the
key may, or less of it with --scope, until it expires or the key is revoked.
The node's setting oauth.token_lifetime says how long that is.

A token cannot be exchanged for another: that takes the key.`,
		Example: `  wharf token --scope tasks:read
  curl -H "Authorization: Bearer $(wharf token)" ...
  wharf token --json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			token, err := c.Token(cmd.Context(), scopes)
			if err != nil {
				return err
			}
			if a.json {
				a.printJSON(token.JSON)
				return nil
			}
			a.out.Line(token.Value.AccessToken)
			expires := time.Duration(token.Value.ExpiresIn) * time.Second
			fmt.Fprintln(a.stderr, "valid for "+expires.String()+", with the scopes "+strings.ReplaceAll(show.OneLine(token.Value.Scope), " ", ", "))
			return nil
		},
	}
	cmd.Flags().StringSliceVar(&scopes, "scope", nil, "what the token may do (default: all that the key may)")
	return cmd
}
