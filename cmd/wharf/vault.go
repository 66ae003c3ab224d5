package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/client"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/show"
)

func (a *app) vaultCommand() *cobra.Command {
	return family(page{
		use:   "vault",
		short: "Keep secrets that Tasks and Connectors use and nobody reads",
		long: `A vault holds secrets: tokens and passwords that the node puts into the requests of
plugins, and keys that it checks the signatures of deliveries with. Their values
are encrypted on disk, and no command or route shows them again. Who may use them
is the vault's access policy: without one, nobody.`,
		example: `  wharf vault create --persona "persona_agent"
  wharf vault set vault_01K0... crm --host crm.example.com
  wharf vault list vault_01K0...`,
	}, a.vaultListCommand(), a.vaultShowCommand(), a.vaultCreateCommand(), a.vaultUpdateCommand(), a.vaultSetCommand(), a.vaultRemoveCommand(),
		a.vaultRotateCommand())
}

func (a *app) vaultListCommand() *cobra.Command {
	vaults := list[abi.Vault]{
		call:   gets("/v1/vaults"),
		titles: []string{"VAULT", "PROVIDER", "WORKSPACE", "CAPABILITIES", "PERSONAS", "CONNECTORS"},
		row:    vaultRow,
	}
	secrets := list[abi.VaultSecret]{
		call:   gets("/wharf/v1/vaults/{}/secrets"),
		titles: []string{"NAME", "VERSION", "HOSTS", "CHANGED"},
		row:    secretRow,
		tips:   absent("wharf vault list"),
	}
	return a.node(page{
		use:   "list [VAULT]",
		short: "List the vaults, or the secrets of one, without their values",
		long: `List shows the vaults that the key sees, newest first. With the id of a vault it
shows the names, versions and hosts of its secrets.`,
		example: "  wharf vault list\n  wharf vault list vault_01K0... --json",
		args:    optionalArg,
	}, byArgs{1: secrets, 0: vaults})
}

// aVault is what commands about one take.
const aVault = `the id of a vault (see "wharf vault list")`

func vaultRow(v *abi.Vault) []show.Cell {
	workspace, access := "all", v.Access
	if v.WorkspaceID != nil {
		workspace = *v.WorkspaceID
	}
	if access == nil {
		access = &abi.VaultAccess{}
	}
	return []show.Cell{{Text: v.ID}, {Text: v.Provider}, {Text: workspace}, {Text: strings.Join(v.Capabilities, " ")},
		{Text: strings.Join(access.Personas, " ")}, {Text: strings.Join(access.Connectors, " ")}}
}

func secretRow(s *abi.VaultSecret) []show.Cell {
	return []show.Cell{{Text: s.Name}, {Text: fmt.Sprint(s.Version)}, {Text: strings.Join(s.Hosts, " ")}, {Text: show.Ago(s.UpdatedAt, time.Now())}}
}

func (a *app) vaultCreateCommand() *cobra.Command {
	var req abi.CreateVaultRequest
	var workspace string
	var access abi.VaultAccess
	return a.node(page{
		use:   "create",
		short: "Make a vault",
		long: `Create makes a vault and prints its id. It is the whole tenant's, or that of the
Workspace given. --persona and --connector say who may use its secrets: ids, in
which * stands for any characters.

A vault of the provider env or file has the operator's environment variables or
files, as the settings vaults.env and vaults.files say.`,
		example: `  wharf vault create --persona persona_agent
  wharf vault create --connector "conn_*" --capability write,sign
  wharf vault create --provider env --capability read --persona "*"`,
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&req.Provider, "provider", abi.VaultLocal, "where values are: local, env or file")
			f.StringVar(&workspace, "workspace", "", "the Workspace that the vault is for (default: all of the tenant)")
			f.StringSliceVar(&req.Capabilities, "capability", []string{"read", "write", "sign"}, "what the vault is for: read, write, sign")
			f.StringSliceVar(&access.Personas, "persona", nil, "Personas whose Tasks may use its secrets")
			f.StringSliceVar(&access.Connectors, "connector", nil, "Connectors that may check signatures with its secrets")
		},
	}, ask[abi.Vault]{
		call: func(cmd *cobra.Command, _ []string) (client.Call, error) {
			for i := range access.Personas {
				if err := a.namedPersona(cmd.Context(), &access.Personas[i]); err != nil {
					return client.Call{}, err
				}
			}
			if workspace != "" {
				req.WorkspaceID = &workspace
			}
			if access.Personas != nil || access.Connectors != nil {
				req.Access = &access
			}
			return client.Post(req, "/v1/vaults"), nil
		},
		text: func(v *abi.Vault) { a.out.Line(v.ID) },
	})
}

func (a *app) showVault(v *abi.Vault) {
	row := vaultRow(v)
	access := v.Access
	if access == nil {
		access = &abi.VaultAccess{}
	}
	a.out.Line(v.ID, "  ", v.Provider)
	a.out.Pairs([2]string{"workspace", row[2].Text}, [2]string{"for", row[3].Text}, [2]string{"personas", strings.Join(access.Personas, " ")},
		[2]string{"connectors", strings.Join(access.Connectors, " ")}, [2]string{"made", stamp(v.CreatedAt)}, [2]string{"changed", stamp(v.UpdatedAt)})
}

func (a *app) vaultShowCommand() *cobra.Command {
	return a.node(page{
		use:     "show ID",
		short:   "Show a vault and who may use it",
		long:    "Show shows what a vault is for, and whose Tasks and which Connectors may use its secrets.\n\"wharf vault list ID\" lists these, without their values.",
		example: "  wharf vault show vault_01K0...\n  wharf vault show vault_01K0... --json",
		args:    oneArg(aVault),
	}, ask[abi.Vault]{call: gets("/v1/vaults/{}"), text: a.showVault, tips: absent("wharf vault list")})
}

func (a *app) vaultUpdateCommand() *cobra.Command {
	var capabilities, personas, connectors []string
	return a.node(page{
		use:   "update ID",
		short: "Change who may use a vault, and for what",
		long: `Update replaces the lists that the flags name, and leaves the others as they are. An empty
list lets nobody use the vault's secrets.

A Connector that checks signatures with a secret of a vault has to be named by the vault:
make the vault and its secret, then the Connector, and then name that here.`,
		example: `  wharf vault update vault_01K0... --connector conn_01K0...
  wharf vault update vault_01K0... --persona persona_agent,persona_digest --connector ""`,
		args: oneArg(aVault),
		flags: func(f *pflag.FlagSet) {
			f.StringSliceVar(&capabilities, "capability", nil, "what the vault is for: read, write, sign")
			f.StringSliceVar(&personas, "persona", nil, "Personas whose Tasks may use its secrets")
			f.StringSliceVar(&connectors, "connector", nil, "Connectors that may check signatures with its secrets")
		},
		check: someFlag("capability", "persona", "connector"),
	}, ask[abi.Vault]{
		call: func(cmd *cobra.Command, args []string) (call client.Call, err error) {
			req := abi.UpdateVaultRequest{Capabilities: capabilities}
			if cmd.Flags().Changed("persona") || cmd.Flags().Changed("connector") {
				req.Access, err = a.accessOf(cmd.Context(), args[0])
			}
			if err != nil {
				return call, err
			}
			if cmd.Flags().Changed("persona") {
				req.Access.Personas = personas
			}
			if cmd.Flags().Changed("connector") {
				req.Access.Connectors = connectors
			}
			return client.Patch(req, "/wharf/v1/vaults/{}", args[0]), nil
		},
		text: a.showVault,
		tips: absent("wharf vault list"),
	})
}

// accessOf returns who may use a vault; nobody where it says nothing.
func (a *app) accessOf(ctx context.Context, id string) (*abi.VaultAccess, error) {
	c, err := a.client()
	if err != nil {
		return nil, err
	}
	doc, err := client.Do[abi.Vault](ctx, c, client.Get("/v1/vaults/{}", id))
	if err != nil {
		return nil, hint(err, abi.CodeResourceNotFound, "wharf vault list")
	}
	if doc.Value.Access == nil {
		return &abi.VaultAccess{}, nil
	}
	return doc.Value.Access, nil
}

func (a *app) vaultSetCommand() *cobra.Command {
	var req abi.StoreSecretRequest
	var env, file string
	return a.node(page{
		use:   "set VAULT NAME",
		short: "Store a secret, or a new value of it",
		long: `Set reads a value from standard input, without a line break at its end, and stores
it. On a terminal it asks for the value and does not show it. A value is never an
argument: other users of the machine could see those.

The versions before are destroyed. --host says where the value may be sent; without
it, wherever the plugin that uses it may send requests.`,
		example: `  wharf vault set vault_01K0... crm --host crm.example.com
  wharf vault set vault_01K0... crm --from-env CRM_TOKEN
  wharf vault set vault_01K0... hook --from-file ./hook.secret`,
		args: twoArgs(aVault + ", and the name of a secret"),
		flags: func(f *pflag.FlagSet) {
			f.StringSliceVar(&req.Hosts, "host", nil, "where the value may be sent, such as api.example.com or *.example.com")
			f.StringVar(&env, "from-env", "", "take the value from this environment variable")
			f.StringVar(&file, "from-file", "", "take the value from this file")
		},
	}, ask[abi.VaultSecret]{
		call: func(_ *cobra.Command, args []string) (call client.Call, err error) {
			if env != "" && file != "" {
				return call, usagef("--from-env and --from-file cannot both be given")
			}
			req.Value, err = a.secretValue(env, file)
			return client.Put(req, "/wharf/v1/vaults/{}/secrets/{}", args[0], args[1]), err
		},
		text: func(s *abi.VaultSecret) { a.out.Line(s.Name, " is stored, version ", fmt.Sprint(s.Version)) },
		tips: absent("wharf vault list"),
	})
}

// secretValue reads a value from where the flags say, or from standard input.
func (a *app) secretValue(env, file string) (string, error) {
	var raw []byte
	var err error
	switch in, terminal := a.stdin.(*os.File); {
	case env != "":
		raw = []byte(a.env(env))
	case file != "":
		raw, err = os.ReadFile(file)
	case terminal && term.IsTerminal(int(in.Fd())):
		_, _ = io.WriteString(a.stderr, "Value (not shown): ")
		raw, err = term.ReadPassword(int(in.Fd()))
		_, _ = io.WriteString(a.stderr, "\n")
	default:
		raw, err = io.ReadAll(a.stdin)
	}
	if err != nil {
		return "", fmt.Errorf("reading the value: %w", err)
	}
	raw = bytes.TrimSuffix(bytes.TrimSuffix(raw, []byte("\n")), []byte("\r"))
	if len(raw) == 0 {
		return "", usagef("the value is empty")
	}
	return string(raw), nil
}

func (a *app) vaultRemoveCommand() *cobra.Command {
	return a.node(page{
		use:   "rm VAULT NAME",
		short: "Remove a secret and destroy its value",
		long: `Rm removes a secret from a vault. The encrypted value is removed from the node's
disk; copies in backups are not. Change it at whoever gave it to you, too.`,
		example: "  wharf vault rm vault_01K0... crm",
		args:    twoArgs(aVault + ", and the name of a secret"),
	}, steps(func(ctx context.Context, c *client.Client, args []string) error {
		if err := c.Send(ctx, client.Delete("/wharf/v1/vaults/{}/secrets/{}", args[0], args[1])); err != nil {
			return hint(err, abi.CodeResourceNotFound, "wharf vault list "+args[0])
		}
		if !a.json {
			a.out.Line(args[1], " is removed")
		}
		return nil
	}))
}

func (a *app) vaultRotateCommand() *cobra.Command {
	return a.orRenew(page{
		use:   "rotate",
		short: "Encrypt the secrets of all vaults to a new key",
		long: `Rotate has the node make a new key, encrypt every value to it, and destroy the old
one. Where the setting vaults.key names a key of yours, put the new identity on a
line before the old one, run rotate, and take the old one out. It can be run again
when it was cut short. Backups that were made before need the old key.

The API key in use needs the scope node:admin. To change a value, use
"wharf vault set".

Without its own key a node cannot read the values that it keeps: put keys/vault.age
back from a copy. Without one, --lost puts the values aside and makes a new key in
the folder of the stopped node; every secret has to be stored again.`,
		example: "  wharf vault rotate\n  wharf vault rotate --lost --data ./wharf-data",
	}, ask[abi.VaultKeyRotation]{
		call: sends(func([]string) client.Call { return client.Post(nil, "/wharf/v1/vault-key").Patiently() }),
		text: func(r *abi.VaultKeyRotation) {
			old := "is destroyed"
			if !r.Own {
				old = "is not needed any more: take it out of the secret that vaults.key names"
			}
			a.out.Pairs([2]string{"key", r.Recipient}, [2]string{"files encrypted to it", fmt.Sprint(r.Files)}, [2]string{"the old key", old})
		},
	}, a.renewVaultKey)
}
