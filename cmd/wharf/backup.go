package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/wharf-dev/wharf/cmd/wharf/internal/client"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/datadir"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/holdings"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/node"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/show"
	"github.com/wharf-dev/wharf/storage"
	"github.com/wharf-dev/wharf/storage/pebble"
)

func (a *app) backupCommand() *cobra.Command {
	var data string
	cmd := page{
		use:   "backup DIR",
		short: "Copy the data of a node to a folder, while it runs",
		long: `Backup makes a running node write a copy of its data to DIR, a folder on the
node's machine that must not exist. The copy holds everything that was
acknowledged when the command began. On the same file system its files are hard
links, which cost little room at first; copy the folder elsewhere to be safe from
the loss of the disk. The key needs the scope node:admin. The copy holds the
node's secrets too: the keys that sign receipts, and what its Tasks were told.

DIR must not lie in a folder that the node uses. The copy is made in DIR.partial
and gets its name when it is whole. Links that somebody has put into the folder of
a Workspace are left out, and told.

The copy is checked as "wharf doctor" does. When the node has lost or damaged
files, the copy lacks them, too: it stays, the command says what is missing and
ends with code 1.

With --data the copy is made of the data folder of a stopped node.`,
		example: `  wharf backup /backups/wharf-2026-04-25
  wharf backup --data ./wharf-data ./copy`,
		args: oneArg("the folder to write to"),
	}.command(func(cmd *cobra.Command, args []string) error {
		dir, err := filepath.Abs(args[0])
		if err != nil {
			return fmt.Errorf("finding %s: %w", args[0], err)
		}
		if data != "" {
			err = a.backupStopped(cmd.Context(), data, dir)
		} else {
			err = a.backupOnline(cmd.Context(), dir)
		}
		if err != nil {
			return err
		}
		return a.wrote(dir)
	})
	cmd.Flags().StringVar(&data, "data", "", "data folder of a stopped node, instead of asking a running one")
	return a.remote(cmd)
}

func (a *app) backupOnline(ctx context.Context, dir string) error {
	c, err := a.client()
	if err != nil {
		return err
	}
	err = c.Backup(ctx, dir)
	var gone *client.Unreachable
	if errors.As(err, &gone) {
		return advise(err, "--data, if the node is stopped")
	}
	return err
}

func (a *app) backupStopped(ctx context.Context, data, dir string) error {
	store, err := a.openData(ctx, data)
	if err != nil {
		return err
	}
	log, ok := store.(storage.Backuper)
	if !ok {
		return errors.Join(node.ErrNoBackup, store.Close())
	}
	copying := &datadir.Copying{Checkpoint: log.Checkpoint, Data: data}
	links, err := copying.Write(dir)
	if err = errors.Join(err, store.Close()); err != nil {
		return err
	}
	for _, path := range links {
		fmt.Fprintf(a.stderr, "%s is a link and no file of its workspace: the copy lacks it\n", show.OneLine(path))
	}
	return startAdvice(holdings.CheckCopy(ctx, dir, a.storeLog()))
}

func (a *app) wrote(dir string) error {
	written := struct {
		Dir string `json:"dir"`
	}{dir}
	return a.print(written, func() {
		a.out.Line("the copy is at ", a.out.Paint(show.Bold, dir))
		a.out.Pairs([2]string{"check it", "wharf doctor --data " + dir},
			[2]string{"use it", "wharf restore --from " + dir + " --data NEW"})
	})
}

func (a *app) restoreCommand() *cobra.Command {
	var from, data string
	var force, incomplete bool
	cmd := page{
		use:   "restore --from BACKUP --data DIR",
		short: "Make a data folder from a backup",
		long: `Restore copies a backup to a new data folder and checks the copy as "wharf
doctor --rebuild" does. The folder appears only when the check has found nothing
wrong. The backup itself is not changed.

When the log of a backup is whole and something beside it is lost or damaged, such
as the content of an Artifact, --incomplete restores what is there.

Only what a backup holds is copied: the log and what it refers to, keys, vaults and
the files of Workspaces. Whatever else lies in the folder is named and left out:
compiled modules above all, which are native code. A backup that holds links, pipes
or devices, or more than the disk has room for, is refused before anything is written.

A folder that is not empty is left alone, unless --force is given: then it is
replaced, after the check. No node may be using it.`,
		example: `  wharf restore --from /backups/wharf-2026-04-25 --data ./wharf-data
  wharf serve --data ./wharf-data`,
	}.command(func(cmd *cobra.Command, _ []string) error {
		if from == "" || data == "" {
			return usagef("restore needs --from BACKUP and --data DIR")
		}
		return a.restore(cmd.Context(), from, filepath.Clean(data), force, incomplete)
	})
	flags := cmd.Flags()
	flags.StringVar(&from, "from", "", "the backup")
	flags.StringVar(&data, "data", "", "the data folder to make")
	flags.BoolVar(&incomplete, "incomplete", false, "restore although files beside the log are lost or damaged")
	flags.BoolVar(&force, "force", false, "replace a data folder that is not empty")
	return cmd
}

func (a *app) restore(ctx context.Context, from, data string, force, incomplete bool) (err error) {
	if err := datadir.Recognize(from); err != nil {
		return advise(err, "--from with a folder that \"wharf backup\" has written")
	}
	if err := datadir.CheckRoom(from, data); err != nil { // also before anything in it is opened, such as a pipe
		return fmt.Errorf("the backup cannot be used: %w", err)
	}
	if err := a.checkBackup(from); err != nil {
		return fmt.Errorf("the backup cannot be used: %w", err)
	}
	if err := a.recoverTarget(data, force); err != nil {
		return err
	}
	if err := a.checkTarget(data, force); err != nil {
		return err
	}
	a.tellLeftovers(data)
	work, err := os.MkdirTemp(filepath.Dir(data), ".wharf-restore-")
	if err != nil {
		return fmt.Errorf("making a folder beside the target: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	fresh := filepath.Join(work, "data")
	left, err := datadir.Restore(from, fresh)
	if err != nil {
		return err
	}
	for _, name := range left {
		fmt.Fprintf(a.stderr, "%s is no part of a backup: it is left out\n", show.OneLine(filepath.Join(from, name)))
	}
	e, err := a.examine(ctx, fresh, true, work)
	if err != nil {
		return fmt.Errorf("the backup cannot be used: %w", startAdvice(err))
	}
	e.Data = data
	if err := a.judge(&e, incomplete); err != nil {
		return err
	}
	if err := datadir.Replace(fresh, data); err != nil {
		return err
	}
	return a.print(e, func() {
		a.showExamination(e)
		a.out.Pairs([2]string{"use it", "wharf serve --data " + data})
	})
}

// judge decides whether what was found in a backup may be restored.
func (a *app) judge(e *examination, incomplete bool) error {
	onlyLost := e.Faults == e.Lost
	if e.Faults == 0 || incomplete && onlyLost { // a node starts without what cannot be read
		return nil
	}
	a.showExamination(*e)
	err := errors.New("the backup is damaged; nothing was restored")
	if onlyLost {
		return advise(err, "another backup, or --incomplete to restore what is there")
	}
	return err
}

// checkBackup refuses a backup that does not open, before anything is copied.
func (a *app) checkBackup(from string) error {
	store, err := a.readData(from, "")
	if err != nil {
		return err
	}
	return store.Close()
}

// recoverTarget brings an earlier restore that was interrupted to its end: the old folder
// comes back, or is removed when the new one has taken its place.
func (a *app) recoverTarget(data string, force bool) error {
	recovery, old, err := datadir.Recover(data)
	switch {
	case err != nil:
		return err
	case recovery == datadir.RolledBack:
		fmt.Fprintf(a.stderr, "a restore was interrupted: what was at %s is there again\n", data)
	case recovery == datadir.LeftOver && !force:
		return advise(fmt.Errorf("a restore was interrupted: %s holds what it has restored, and %s what was there before", data, old),
			"removing the one that is not needed, or --force to remove the old one and restore again")
	case recovery == datadir.LeftOver && datadir.Recognize(old) != nil:
		return advise(fmt.Errorf("%s is in the way, and is no data folder: it is not removed", old), "moving it elsewhere")
	case recovery == datadir.LeftOver:
		return discard(old)
	}
	return nil
}

// tellLeftovers tells of the folders that restores which were killed have left. They are
// not removed: another restore may be at work in one.
func (a *app) tellLeftovers(data string) {
	left, _ := filepath.Glob(filepath.Join(filepath.Dir(data), ".wharf-restore-*")) // the pattern is sound
	for _, dir := range left {
		fmt.Fprintf(a.stderr, "%s is what an interrupted restore has left: remove it, unless another restore is running\n", show.OneLine(dir))
	}
}

// discard removes a folder. It has another name first, so that half of it is never taken
// for the whole.
func discard(dir string) error {
	work, err := os.MkdirTemp(filepath.Dir(dir), ".wharf-restore-")
	if err == nil {
		err = os.Rename(dir, filepath.Join(work, "old"))
	}
	if err == nil {
		err = os.RemoveAll(work)
	}
	if err != nil {
		return fmt.Errorf("removing what an interrupted restore has left: %w", err)
	}
	return nil
}

// checkTarget refuses a folder that holds something, or that a node uses.
func (a *app) checkTarget(data string, force bool) error {
	vacant, err := datadir.Vacant(data)
	switch {
	case err != nil:
		return err
	case vacant:
		return nil
	case !force:
		return advise(fmt.Errorf("%s is not empty", data), "another folder, or --force to replace it")
	case datadir.Recognize(data) != nil:
		return fmt.Errorf("%s is not empty and is no data folder: it is not replaced", data)
	}
	store, err := a.readData(data, "")
	var locked *pebble.LockedError
	if errors.As(err, &locked) {
		return err
	}
	if err != nil {
		return nil // damaged: what a restore is for
	}
	return store.Close()
}
