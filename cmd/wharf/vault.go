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
	"golang.org/x/term"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/client"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/show"
)

func (a *app) vaultCommand() *cobra.Command {
	return family(&cobra.Command{
		Use:   "vault",
		Short: "Keep secrets that Tasks and Connectors use and nobody reads",
		Long: `A vault holds secrets: tokens and passwords that the node puts into the requests of
plugins, and keys that it checks the signatures of deliveries with. Their values
are encrypted on disk, and no command or route shows them again. Who may use them
is the vault's access policy: without one, nobody.`,
		Example: `  wharf vault create --persona "persona_agent"
  wharf vault set vault_01K0... crm --host crm.example.com
  wharf vault list vault_01K0...`,
	}, a.remote(a.vaultListCommand()), a.remote(a.vaultCreateCommand()), a.remote(a.vaultSetCommand()), a.remote(a.vaultRemoveCommand()),
		a.remote(a.vaultRotateCommand()))
}

func (a *app) vaultListCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "list [VAULT]",
		Short: "List the vaults, or the secrets of one, without their values",
		Long: `List shows the vaults that the key sees, newest first. With the id of a vault it
shows the names, versions and hosts of its secrets.`,
		Example: "  wharf vault list\n  wharf vault list vault_01K0... --json",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			if len(args) == 0 {
				return listOf(a, c.Vaults, []string{"VAULT", "PROVIDER", "WORKSPACE", "CAPABILITIES", "PERSONAS", "CONNECTORS"}, vaultRow)(cmd.Context())
			}
			list := func(ctx context.Context) ([]client.Doc[abi.VaultSecret], error) { return c.VaultSecrets(ctx, args[0]) }
			return hint(listOf(a, list, []string{"NAME", "VERSION", "HOSTS", "CHANGED"}, secretRow)(cmd.Context()), abi.CodeResourceNotFound, "wharf vault list")
		},
	}
}

// listOf prints a list, one row each.
func listOf[T any](a *app, list func(context.Context) ([]client.Doc[T], error), titles []string, row func(*T) []show.Cell) func(context.Context) error {
	return func(ctx context.Context) error {
		docs, err := list(ctx)
		if err != nil {
			return err
		}
		var rows [][]show.Cell
		for _, d := range docs {
			if a.json {
				a.printJSON(d.JSON)
				continue
			}
			rows = append(rows, row(&d.Value))
		}
		if !a.json {
			a.out.Table(titles, rows)
		}
		return nil
	}
}

func vaultRow(v *abi.Vault) []show.Cell {
	workspace, access := "all", v.Access
	if v.WorkspaceID != nil {
		workspace = *v.WorkspaceID
	}
	if access == nil {
		access = &abi.VaultAccess{}
	}
	return []show.Cell{{Text: v.ID}, {Text: v.Provider}, {Text: workspace}, {Text: strings.Join(v.Capabilities, " ")},
		{Text: show.Cut(strings.Join(access.Personas, " "), 30)}, {Text: show.Cut(strings.Join(access.Connectors, " "), 30)}}
}

func secretRow(s *abi.VaultSecret) []show.Cell {
	return []show.Cell{{Text: s.Name}, {Text: fmt.Sprint(s.Version)}, {Text: show.Cut(strings.Join(s.Hosts, " "), 40)}, {Text: show.Ago(s.UpdatedAt, time.Now())}}
}

func (a *app) vaultCreateCommand() *cobra.Command {
	var req abi.CreateVaultRequest
	var workspace string
	var access abi.VaultAccess
	cmd := &cobra.Command{
		Use:   "create",
		Short: "Make a vault",
		Long: `Create makes a vault and prints its id. It is the whole tenant's, or that of the
Workspace given. --persona and --connector say who may use its secrets: ids, in
which * stands for any characters.

A vault of the provider env or file has the operator's environment variables or
files, as the settings vaults.env and vaults.files say.`,
		Example: `  wharf vault create --persona persona_agent
  wharf vault create --connector "conn_*" --capability write,sign
  wharf vault create --provider env --capability read --persona "*"`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			if workspace != "" {
				req.WorkspaceID = &workspace
			}
			if access.Personas != nil || access.Connectors != nil {
				req.Access = &access
			}
			v, err := c.CreateVault(cmd.Context(), req)
			if err != nil {
				return err
			}
			if a.json {
				a.printJSON(v.JSON)
				return nil
			}
			a.out.Line(v.Value.ID)
			return nil
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&req.Provider, "provider", abi.VaultLocal, "where values are: local, env or file")
	flags.StringVar(&workspace, "workspace", "", "the Workspace that the vault is for (default: all of the tenant)")
	flags.StringSliceVar(&req.Capabilities, "capability", []string{"read", "write", "sign"}, "what the vault is for: read, write, sign")
	flags.StringSliceVar(&access.Personas, "persona", nil, "Personas whose Tasks may use its secrets")
	flags.StringSliceVar(&access.Connectors, "connector", nil, "Connectors that may check signatures with its secrets")
	return cmd
}

func (a *app) vaultSetCommand() *cobra.Command {
	var req abi.StoreSecretRequest
	var env, file string
	cmd := &cobra.Command{
		Use:   "set VAULT NAME",
		Short: "Store a secret, or a new value of it",
		Long: `Set reads a value from standard input, without a line break at its end, and stores
it. On a terminal it asks for the value and does not show it. A value is never an
argument: other users of the machine could see those.

The versions before are destroyed. --host says where the value may be sent; without
it, wherever the plugin that uses it may send requests.`,
		Example: `  wharf vault set vault_01K0... crm --host crm.example.com
  wharf vault set vault_01K0... crm --from-env CRM_TOKEN
  wharf vault set vault_01K0... hook --from-file ./hook.secret`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if env != "" && file != "" {
				return usagef("--from-env and --from-file cannot both be given")
			}
			if req.Value, err = a.secretValue(env, file); err != nil {
				return err
			}
			c, err := a.client()
			if err != nil {
				return err
			}
			s, err := c.StoreSecret(cmd.Context(), args[0], args[1], req)
			if err != nil {
				return hint(err, abi.CodeResourceNotFound, "wharf vault list")
			}
			if a.json {
				a.printJSON(s.JSON)
				return nil
			}
			a.out.Line(s.Value.Name, " is stored, version ", fmt.Sprint(s.Value.Version))
			return nil
		},
	}
	flags := cmd.Flags()
	flags.StringSliceVar(&req.Hosts, "host", nil, "where the value may be sent, such as api.example.com or *.example.com")
	flags.StringVar(&env, "from-env", "", "take the value from this environment variable")
	flags.StringVar(&file, "from-file", "", "take the value from this file")
	return cmd
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
	return &cobra.Command{
		Use:   "rm VAULT NAME",
		Short: "Remove a secret and destroy its value",
		Long: `Rm removes a secret from a vault. The encrypted value is removed from the node's
disk; copies in backups are not. Change it at whoever gave it to you, too.`,
		Example: "  wharf vault rm vault_01K0... crm",
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			if err := c.RemoveSecret(cmd.Context(), args[0], args[1]); err != nil {
				return hint(err, abi.CodeResourceNotFound, "wharf vault list "+args[0])
			}
			if !a.json {
				a.out.Line(args[1], " is removed")
			}
			return nil
		},
	}
}

func (a *app) vaultRotateCommand() *cobra.Command {
	var lost lostFlags
	cmd := &cobra.Command{
		Use:   "rotate",
		Short: "Encrypt the secrets of all vaults to a new key",
		Long: `Rotate has the node make a new key, encrypt every value to it, and destroy the old
one. Where the setting vaults.key names a key of yours, put the new identity on a
line before the old one, run rotate, and take the old one out. It can be run again
when it was cut short. Backups that were made before need the old key.

The API key in use needs the scope node:admin. To change a value, use
"wharf vault set".

Without its own key a node cannot read the values that it keeps: put keys/vault.age
back from a copy. Without one, --lost puts the values aside and makes a new key in
the folder of the stopped node; every secret has to be stored again.`,
		Example: "  wharf vault rotate\n  wharf vault rotate --lost --data ./wharf-data",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if lost.lost {
				return a.renewVaultKey(cmd.Context(), lost.data)
			}
			c, err := a.client()
			if err != nil {
				return err
			}
			done, err := c.RotateVaultKey(cmd.Context())
			if err != nil {
				return err
			}
			if a.json {
				a.printJSON(done.JSON)
				return nil
			}
			old := "is destroyed"
			if !done.Value.Own {
				old = "is not needed any more: take it out of the secret that vaults.key names"
			}
			a.out.Pairs([2]string{"key", done.Value.Recipient}, [2]string{"files encrypted to it", fmt.Sprint(done.Value.Files)}, [2]string{"the old key", old})
			return nil
		},
	}
	lost.add(cmd)
	return cmd
}
