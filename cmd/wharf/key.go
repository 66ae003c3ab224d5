package main

import (
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/client"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/show"
)

func (a *app) keyCommand() *cobra.Command {
	return family(page{
		use:   "key",
		short: "Make, list and revoke API keys; rotate the key that signs",
		long: `An API key names who calls and says what they may do: its scopes, and the
Workspaces it sees. A node keeps only a hash of it. These commands need a key
with the scope admin, such as the one that the first start printed.

The key that Receipts are signed with is another matter: a node makes one for
itself; "wharf key published" shows it and "wharf key rotate" replaces it.`,
		example: `  wharf key create ci --scope tasks:read,tasks:write,sessions:write
  wharf key list
  wharf key revoke key_01K0...`,
	}, a.keyCreateCommand(), a.keyListCommand(), a.keyRevokeCommand(), a.keyPublishedCommand(), a.keyRotateCommand())
}

func (a *app) keyCreateCommand() *cobra.Command {
	var req abi.CreateKeyRequest
	return a.node(page{
		use:   "create NAME",
		short: "Make an API key and show it, this once",
		long: `Create makes an API key. It is shown once and kept nowhere: store it now.

Without --scope it may read and write every resource, but not administer the
node. The scopes are: ` + wrapped(abi.Scopes()) + `.
The scope "*" is all of them.

--tenant makes a key for another tenant, which is made when it does not exist;
that needs the scope node:admin.`,
		example: `  wharf key create laptop
  wharf key create dashboard --scope tasks:read,events:read
  wharf key create acme --tenant acme --json`,
		args: oneArg("a name for the key"),
		flags: func(f *pflag.FlagSet) {
			f.StringSliceVar(&req.Scopes, "scope", nil, "what the key may do (default: every resource, no administration)")
			f.StringSliceVar(&req.WorkspaceIDs, "workspace", nil, "ids of the Workspaces that the key sees (default: all of its tenant)")
			f.StringVar(&req.Tenant, "tenant", "", "name of the tenant (default: that of the key in use)")
			f.StringVar(&req.Actor, "actor", "", "who its events are said to be by (default: \"key:\" and the name)")
		},
	}, ask[abi.CreatedKey]{
		call: sends(func(args []string) client.Call {
			req.Name = args[0]
			return client.Post(req, "/wharf/v1/keys")
		}),
		text: a.showCreatedKey,
	})
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

func (a *app) showCreatedKey(k *abi.CreatedKey) {
	a.out.Line("This key is shown once:")
	a.out.Gap()
	a.out.Line("  ", a.out.Paint(show.Bold, k.Key))
	a.out.Gap()
	a.out.Pairs([2]string{"id", k.ID}, [2]string{"name", k.Name}, [2]string{"actor", k.Actor}, [2]string{"tenant", k.TenantID},
		[2]string{"scopes", strings.Join(k.Scopes, " ")}, [2]string{"workspaces", strings.Join(k.WorkspaceIDs, " ")})
}

func (a *app) keyListCommand() *cobra.Command {
	return a.node(page{
		use:   "list",
		short: "List the API keys of the tenant, newest first",
		long: `List shows the API keys of the caller's tenant, revoked ones too: what they are
called, who they speak for, and the last four characters of each.`,
		example: "  wharf key list\n  wharf key list --json",
	}, list[abi.APIKey]{
		call:   gets("/wharf/v1/keys"),
		sort:   func(x, y *abi.APIKey) int { return y.CreatedAt.Compare(x.CreatedAt) }, // the node lists them by id
		titles: []string{"KEY", "NAME", "ENDS IN", "ACTOR", "MADE", "STATE", "SCOPES"},
		row:    keyRow,
	})
}

func keyRow(k *abi.APIKey) []show.Cell {
	now := time.Now()
	state := show.Cell{Text: "active", Style: show.Green}
	if !k.RevokedAt.IsZero() {
		state = show.Cell{Text: "revoked " + show.Ago(k.RevokedAt, now), Style: show.Red}
	}
	return []show.Cell{{Text: k.ID}, {Text: k.Name}, {Text: k.Hint}, {Text: k.Actor},
		{Text: show.Ago(k.CreatedAt, now)}, state, {Text: strings.Join(k.Scopes, " ")}}
}

func (a *app) keyRevokeCommand() *cobra.Command {
	return a.node(page{
		use:   "revoke ID",
		short: "Make an API key useless, at once and for ever",
		long: `Revoke ends an API key: every request that carries it from now on is refused.
Tasks that were submitted with it go on.`,
		example: "  wharf key revoke key_01K0...",
		args:    oneArg("the id of a key (see \"wharf key list\")"),
	}, ask[abi.APIKey]{
		call: sends(func(args []string) client.Call { return client.Delete("/wharf/v1/keys/{}", args[0]) }),
		text: func(k *abi.APIKey) { a.out.Line(k.ID, " (", show.OneLine(k.Name), ") is revoked") },
		tips: absent("wharf key list"),
	})
}

func (a *app) keyPublishedCommand() *cobra.Command {
	return a.node(page{
		use:   "published",
		short: "Show the public keys that Receipts are signed with",
		long: `Published shows the keys at /.well-known/wharf-keys.json: the one that signs, and
those that signed before. With --json it prints that document, which
"wharf verify --trust" takes. Whoever keeps it can tell this node's Receipts
from anybody else's.`,
		example: `  wharf key published
  wharf key published --json > keys.json`,
	}, ask[abi.SigningKeys]{
		call: gets("/.well-known/wharf-keys.json"),
		text: a.showSigningKeys,
	})
}

func (a *app) keyRotateCommand() *cobra.Command {
	return a.orRenew(page{
		use:   "rotate",
		short: "Make the node sign Receipts with a new key",
		long: `Rotate makes a new key and signs Receipts with it from now on. The old key signs
no more, and its private half is destroyed; its public half stays published at
/.well-known/wharf-keys.json, so that what it signed can still be checked.

The API key in use needs the scope node:admin.

A node does not start when its signing keys are damaged, or are missing though it
has issued Receipts: put them back from a backup. Without one, --lost makes a new
key in the folder of the stopped node. What of the old public keys can still be
read stays published; Receipts signed with others cannot be verified any more by
this node, and still by those who have a copy of the public keys.`,
		example: "  wharf key rotate\n  wharf key rotate --lost --data ./wharf-data",
	}, ask[abi.SigningKeys]{
		call: sends(func([]string) client.Call { return client.Post(nil, "/wharf/v1/signing-keys") }),
		text: a.showSigningKeys,
	}, a.renewSigningKey)
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
