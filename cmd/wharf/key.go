package main

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/client"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/show"
)

func (a *app) keyCommand() *cobra.Command {
	return family(&cobra.Command{
		Use:   "key",
		Short: "Make, list and revoke API keys; rotate the key that signs",
		Long: `An API key names who calls and says what they may do: its scopes, and the
Workspaces it sees. A node keeps only a hash of it. These commands need a key
with the scope admin, such as the one that the first start printed.

The key that Receipts are signed with is another matter: a node makes one for
itself; "wharf key published" shows it and "wharf key rotate" replaces it.`,
		Example: `  wharf key create ci --scope tasks:read,tasks:write,sessions:write
  wharf key list
  wharf key revoke key_01K0...`,
	}, a.remote(a.keyCreateCommand()), a.remote(a.keyListCommand()), a.remote(a.keyRevokeCommand()), a.remote(a.keyPublishedCommand()), a.remote(a.keyRotateCommand()))
}

func (a *app) keyCreateCommand() *cobra.Command {
	var req abi.CreateKeyRequest
	cmd := &cobra.Command{
		Use:   "create NAME",
		Short: "Make an API key and show it, this once",
		Long: `Create makes an API key. It is shown once and kept nowhere: store it now.

Without --scope it may read and write every resource, but not administer the
node. The scopes are: ` + wrapped(abi.Scopes()) + `.
The scope "*" is all of them.

--tenant makes a key for another tenant, which is made when it does not exist;
that needs the scope node:admin.`,
		Example: `  wharf key create laptop
  wharf key create dashboard --scope tasks:read,events:read
  wharf key create acme --tenant acme --json`,
		Args: oneArg("a name for the key"),
		RunE: func(cmd *cobra.Command, args []string) error {
			req.Name = args[0]
			return a.keyCreate(cmd.Context(), req)
		},
	}
	flags := cmd.Flags()
	flags.StringSliceVar(&req.Scopes, "scope", nil, "what the key may do (default: every resource, no administration)")
	flags.StringSliceVar(&req.WorkspaceIDs, "workspace", nil, "ids of the Workspaces that the key sees (default: all of its tenant)")
	flags.StringVar(&req.Tenant, "tenant", "", "name of the tenant (default: that of the key in use)")
	flags.StringVar(&req.Actor, "actor", "", "who its events are said to be by (default: \"key:\" and the name)")
	return cmd
}

// wrapped joins words into lines that fit a manual page.
func wrapped(words []string) string {
	var b strings.Builder
	length := len("node. The scopes are: ")
	for i, w := range words {
		if i > 0 {
			b.WriteByte(',')
			if length+len(w) > 74 {
				b.WriteString("\n")
				length = 0
			} else {
				b.WriteByte(' ')
			}
		}
		b.WriteString(w)
		length += len(w) + 2
	}
	return b.String()
}

func (a *app) keyCreate(ctx context.Context, req abi.CreateKeyRequest) error {
	c, err := a.client()
	if err != nil {
		return err
	}
	key, err := c.CreateKey(ctx, req)
	if err != nil {
		return err
	}
	if a.json {
		a.printJSON(key.JSON)
		return nil
	}
	a.out.Line("This key is shown once:")
	a.out.Gap()
	a.out.Line("  ", a.out.Paint(show.Bold, key.Value.Key))
	a.out.Gap()
	a.out.Pairs([2]string{"id", key.Value.ID}, [2]string{"name", key.Value.Name}, [2]string{"actor", key.Value.Actor},
		[2]string{"tenant", key.Value.TenantID}, [2]string{"scopes", strings.Join(key.Value.Scopes, " ")},
		[2]string{"workspaces", strings.Join(key.Value.WorkspaceIDs, " ")})
	return nil
}

func (a *app) keyListCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the API keys of the tenant, newest first",
		Long: `List shows the API keys of the caller's tenant, revoked ones too: what they are
called, who they speak for, and the last four characters of each.`,
		Example: "  wharf key list\n  wharf key list --json",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			keys, err := c.Keys(cmd.Context())
			if err != nil {
				return err
			}
			slices.SortStableFunc(keys, func(a, b client.Doc[abi.APIKey]) int {
				return b.Value.CreatedAt.Compare(a.Value.CreatedAt) // the node lists them by id
			})
			var rows [][]show.Cell
			now := time.Now()
			for _, k := range keys {
				if a.json {
					a.printJSON(k.JSON)
					continue
				}
				rows = append(rows, keyRow(&k.Value, now))
			}
			if !a.json {
				a.out.Table([]string{"KEY", "NAME", "ENDS IN", "ACTOR", "SCOPES", "MADE", "STATE"}, rows)
			}
			return nil
		},
	}
}

func keyRow(k *abi.APIKey, now time.Time) []show.Cell {
	state := show.Cell{Text: "active", Style: show.Green}
	if !k.RevokedAt.IsZero() {
		state = show.Cell{Text: "revoked " + show.Ago(k.RevokedAt, now), Style: show.Red}
	}
	return []show.Cell{{Text: k.ID}, {Text: k.Name}, {Text: k.Hint}, {Text: k.Actor},
		{Text: show.Cut(strings.Join(k.Scopes, " "), 30)}, {Text: show.Ago(k.CreatedAt, now)}, state}
}

func (a *app) keyRevokeCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "revoke ID",
		Short: "Make an API key useless, at once and for ever",
		Long: `Revoke ends an API key: every request that carries it from now on is refused.
Tasks that were submitted with it go on.`,
		Example: "  wharf key revoke key_01K0...",
		Args:    oneArg("the id of a key (see \"wharf key list\")"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			key, err := c.RevokeKey(cmd.Context(), args[0])
			if err != nil {
				return hint(err, abi.CodeResourceNotFound, "wharf key list")
			}
			if a.json {
				a.printJSON(key.JSON)
				return nil
			}
			a.out.Line(key.Value.ID, " (", show.OneLine(key.Value.Name), ") is revoked")
			return nil
		},
	}
}

func (a *app) keyPublishedCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "published",
		Short: "Show the public keys that Receipts are signed with",
		Long: `Published shows the keys at /.well-known/wharf-keys.json: the one that signs, and
those that signed before. With --json it prints that document, which
"wharf verify --trust" takes. Whoever keeps it can tell this node's Receipts
from anybody else's.`,
		Example: `  wharf key published
  wharf key published --json > keys.json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			return a.signingKeys(c.SigningKeys(cmd.Context()))
		},
	}
}

func (a *app) keyRotateCommand() *cobra.Command {
	var lost lostFlags
	cmd := &cobra.Command{
		Use:   "rotate",
		Short: "Make the node sign Receipts with a new key",
		Long: `Rotate makes a new key and signs Receipts with it from now on. The old key signs
no more, and its private half is destroyed; its public half stays published at
/.well-known/wharf-keys.json, so that what it signed can still be checked.

The API key in use needs the scope node:admin.

A node does not start when its signing keys are damaged, or are missing though it
has issued Receipts: put them back from a backup. Without one, --lost makes a new
key in the folder of the stopped node. What of the old public keys can still be
read stays published; Receipts signed with others cannot be verified any more by
this node, and still by those who have a copy of the public keys.`,
		Example: "  wharf key rotate\n  wharf key rotate --lost --data ./wharf-data",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if lost.lost {
				return a.renewSigningKey(cmd.Context(), lost.data)
			}
			c, err := a.client()
			if err != nil {
				return err
			}
			return a.signingKeys(c.RotateSigningKey(cmd.Context()))
		},
	}
	lost.add(cmd)
	return cmd
}

// signingKeys prints the answer of a request about signing keys.
func (a *app) signingKeys(keys client.Doc[abi.SigningKeys], err error) error {
	if err != nil {
		return err
	}
	if a.json {
		a.printJSON(keys.JSON)
		return nil
	}
	a.showSigningKeys(&keys.Value)
	return nil
}

func (a *app) showSigningKeys(keys *abi.SigningKeys) {
	var rows [][]show.Cell
	for _, k := range keys.Keys {
		state := show.Cell{Text: "signs", Style: show.Green}
		if !k.RetiredAt.IsZero() {
			state = show.Cell{Text: "retired " + stamp(k.RetiredAt), Style: show.Dim}
		}
		rows = append(rows, []show.Cell{{Text: k.KeyID}, {Text: k.Algorithm}, {Text: k.PublicKey}, {Text: stamp(k.CreatedAt)}, state})
	}
	a.out.Table([]string{"KEY", "ALGORITHM", "PUBLIC KEY", "MADE", "STATE"}, rows)
}
