package main

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/spf13/cobra"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/show"
	"github.com/wharf-dev/wharf/runtime/parcel"
)

func (a *app) pluginKeyCommand() *cobra.Command {
	return family(page{
		use:   "key",
		short: "Make keys that sign packages of plugins",
		long: `A key signs packages of plugins, so that others can tell who made them. Its file
is for its owner alone; its public half is what others trust: by --trust of
"wharf plugin pull", and by the setting plugins.trust.`,
		example: `  wharf plugin key new my.key
  wharf plugin key show my.key --json > my-public-key.json`,
	}, a.pluginKeyNewCommand(), a.pluginKeyShowCommand())
}

func (a *app) pluginKeyNewCommand() *cobra.Command {
	return page{
		use:   "new FILE",
		short: "Make a key that signs packages",
		long: `New makes an Ed25519 key and keeps it in a file that only you can read. A file that
is there already is left as it is. Keep it out of version control, and have a
copy: whoever has it can sign in your name, and without it you cannot.`,
		example: `  wharf plugin key new my.key
  wharf plugin package --sign my.key`,
		args: oneArg("the file to keep the key in"),
	}.command(func(_ *cobra.Command, args []string) error {
		key, err := parcel.NewKey(args[0], time.Now())
		if errors.Is(err, fs.ErrExist) {
			return advise(fmt.Errorf("%s is there already, and may be a key", args[0]), "another name, or "+self()+" plugin key show "+args[0])
		}
		if err != nil {
			return err
		}
		return a.showPackageKey(args[0], key)
	})
}

func (a *app) pluginKeyShowCommand() *cobra.Command {
	return page{
		use:   "show FILE",
		short: "Show the public half of a key that signs packages",
		long: `Show prints the public half of a key, which others trust. With --json it prints a
document of published keys, which --trust and plugins.trust take as a file.`,
		example: `  wharf plugin key show my.key
  wharf plugin key show my.key --json > my-public-key.json`,
		args: oneArg("the file of a key"),
	}.command(func(_ *cobra.Command, args []string) error {
		_, key, err := parcel.ReadKey(args[0])
		if errors.Is(err, fs.ErrNotExist) {
			return advise(err, self()+" plugin key new "+args[0])
		}
		if err != nil {
			return err
		}
		return a.showPackageKey(args[0], key)
	})
}

func (a *app) showPackageKey(file string, key abi.SigningKey) error {
	return a.print(abi.SigningKeys{Keys: []abi.SigningKey{key}}, func() {
		a.out.Line(show.OneLine(file), "  ", a.out.Paint(show.Bold, key.KeyID))
		a.out.Pairs([2]string{"public key", key.PublicKey}, [2]string{"sign with it", self() + " plugin package --sign " + show.OneLine(file)},
			[2]string{"others trust it", self() + " plugin pull REF --trust " + key.PublicKey})
	})
}
