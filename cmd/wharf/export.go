package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/client"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/show"
)

func (a *app) exportCommand() *cobra.Command {
	var file string
	return a.node(page{
		use:   "export TASK",
		short: "Write a Task's run bundle, which anybody can verify",
		long: `Export writes a run bundle: a zip with all that a Task recorded, the module that
ran, its Artifacts, its Receipts and the public keys. "wharf verify" checks it
on any machine, without a node, and so can other programs: its format is
described in docs/bundle-format.md.

The Task must have ended. A replay has no record of its own: export its source.
A bundle holds everything that the plugin was told, internal content too, so the
key needs the scope events:internal.

It goes to standard output, or to the file that --output names, which is not
there before it is complete.`,
		example: `  wharf export task_01K0... > run.zip
  wharf export task_01K0... -o run.zip`,
		args: oneArg("the id of a Task"),
		flags: func(f *pflag.FlagSet) {
			f.StringVarP(&file, "output", "o", "", "the file to write (default: standard output)")
		},
		check: func(_ *cobra.Command, args []string) error {
			if file == "" && a.out.Terminal() {
				return advise(errBinary("export"), self()+" export "+args[0]+" -o run.zip")
			}
			return nil
		},
	}, steps(func(ctx context.Context, c *client.Client, args []string) error {
		return hint(a.export(ctx, c, args[0], file), abi.CodeResourceNotFound, "wharf task list")
	}))
}

func (a *app) export(ctx context.Context, c *client.Client, task, file string) error {
	bundle, err := c.Export(ctx, task)
	if err != nil {
		return err
	}
	defer bundle.Close()
	if file == "" {
		return copyBundle(a.stdout, bundle)
	}
	before := replaced(file)
	if err := writeWhole(file, bundle); err != nil {
		return err
	}
	info, err := os.Stat(file)
	if err != nil {
		return fmt.Errorf("looking at the bundle: %w", err)
	}
	if !a.json {
		a.out.Line(file, "  ", show.Bytes(info.Size()), before)
		a.out.Pairs([2]string{"check it", self() + " verify " + file})
	}
	return nil
}

func copyBundle(w io.Writer, bundle io.Reader) error {
	if _, err := io.Copy(w, bundle); err != nil {
		return fmt.Errorf("the bundle is not complete: %w", err)
	}
	return nil
}

// replaced says of a file that is about to be written that it is there already, and goes: before
// [writeWhole], which does not ask. It is "" where there is none.
func replaced(file string) string {
	if _, err := os.Lstat(file); err != nil {
		return ""
	}
	return "  in place of the file that was there"
}

// writeWhole makes a file that is either complete or not there.
func writeWhole(file string, content io.Reader) (err error) {
	f, err := os.CreateTemp(filepath.Dir(file), ".wharf-*")
	if err != nil {
		return fmt.Errorf("making a file: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	err = errors.Join(copyBundle(f, content), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), file)
	}
	return err
}
