package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/datadir"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/node"
	"github.com/wharf-dev/wharf/runtime/receipt"
)

// orRenew makes a command that asks a node to change a key or, where the key is lost, makes
// one anew in the folder of a stopped node.
func (a *app) orRenew(p page, do action, renew func(ctx context.Context, data string) error) *cobra.Command {
	var lost bool
	var data string
	p.flags = func(f *pflag.FlagSet) {
		f.BoolVar(&lost, "lost", false, "the key is lost or damaged for good: make a new one in the folder of a stopped node")
		f.StringVar(&data, "data", "./wharf-data", "the data folder, with --lost")
	}
	return a.remote(p.command(func(cmd *cobra.Command, args []string) error {
		if lost {
			return renew(cmd.Context(), data)
		}
		return do.run(a, cmd, args)
	}))
}

// renew makes a key anew while nobody else has the folder open.
func (a *app) renew(ctx context.Context, data string, make func() error) (err error) {
	store, err := a.openData(ctx, data)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	return make()
}

// renewSigningKey makes a new key that signs Receipts, for a node that has lost its own.
func (a *app) renewSigningKey(ctx context.Context, data string) error {
	return a.renew(ctx, data, func() error {
		keys, aside, err := receipt.RenewKeyring(filepath.Join(data, datadir.Keys), time.Now())
		if err != nil {
			return err
		}
		renewed := struct {
			Keys  []abi.SigningKey `json:"keys"`
			Aside string           `json:"aside,omitzero"`
		}{keys, aside}
		return a.print(renewed, func() {
			a.out.Pairs([2]string{"key", keys[0].KeyID}, [2]string{"old keys that are still known", fmt.Sprint(len(keys) - 1)},
				[2]string{"the damaged file", cmp.Or(aside, "none was there")})
		})
	})
}

// renewVaultKey makes a new key of the vaults, for a node that has lost its own.
func (a *app) renewVaultKey(ctx context.Context, data string) error {
	return a.renew(ctx, data, func() error {
		aside, err := node.OwnVaults(data).Renew(time.Now())
		if err != nil {
			return err
		}
		renewed := struct {
			Aside []string `json:"aside"`
		}{append([]string{}, aside...)}
		return a.print(renewed, func() {
			a.out.Line("a new key was made: store every secret again")
			for _, path := range aside {
				a.out.Line("put aside: ", path)
			}
		})
	})
}
