package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"os"

	"github.com/spf13/cobra"

	"github.com/wharf-dev/wharf/cmd/wharf/internal/config"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/datadir"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/holdings"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/node"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/show"
	"github.com/wharf-dev/wharf/storage"
)

func (a *app) doctorCommand() *cobra.Command {
	var data string
	var rebuild bool
	cmd := page{
		use:   "doctor",
		short: "Check the data folder of a stopped node",
		long: `Doctor reads a whole data folder and checks every invariant: no event is damaged
or missing, every projection and index says what the log says, every large value
is there and unchanged, and so are the content of Artifacts, the modules of
Tasks, the files of Workspaces, the values of secrets, and the keys, with those
that stored Receipts were signed with. With --rebuild it also derives all
projections again from the log and compares them with what is stored; while it
runs that needs room for another copy of them in the folder for temporary files
(TMPDIR).

Each problem names a file and what to do. Blobs that nothing refers to, and files
that were changed after the log last told of them, are told and are no problem.
The folder "modules" holds compiled plugins only. One that this node has not
written, or that was changed since, is told; the node does not use it, and makes it
again when it is needed. Nothing is said of a cache elsewhere (plugins.cache).

It tells what each part of the folder takes on the disk, and what is free there
(docs/disk.md). It reads what a start of the node reads, too, and names what that would set
aside because it cannot be read (docs/unreadable.md).

It writes nothing to the data folder, which may lie on a disk that cannot be
written, and ends with code 0 when all is well and 1 when not. The node must be
stopped.`,
		example: `  wharf doctor --data ./wharf-data
  wharf doctor --data /var/lib/wharf --rebuild --json`,
	}.command(func(cmd *cobra.Command, _ []string) error {
		return a.doctor(cmd.Context(), data, rebuild)
	})
	cmd.Flags().StringVar(&data, "data", "./wharf-data", "the data folder")
	cmd.Flags().BoolVar(&rebuild, "rebuild", false, "derive all projections again and compare")
	return cmd
}

// examination is what was found in a data folder.
type examination struct {
	Data      string   `json:"data"`
	OK        bool     `json:"ok"`
	Rebuilt   bool     `json:"rebuilt"`
	Tenants   int      `json:"tenants"`
	Frames    uint64   `json:"frames"`
	Events    uint64   `json:"events"`
	Keys      uint64   `json:"keys"`
	Blobs     uint64   `json:"blobs"`
	BlobBytes uint64   `json:"blob_bytes"`
	First     uint64   `json:"first_event"`
	Last      uint64   `json:"last_event"`
	Kept      uint64   `json:"kept"` // resources whose events retention has removed
	Faults    uint64   `json:"faults"`
	Problems  []string `json:"problems"`
	// What the folder holds beside its log.
	Lost         uint64   `json:"lost"` // of Faults: files, keys and values that are lost or damaged
	Unreferenced uint64   `json:"blobs_unreferenced"`
	Notes        []string `json:"notes"`
	SetAside     []string `json:"set_aside"` // what a start goes on without
	// Disk is what the folder takes on its disk, and what is free there.
	Disk diskFacts `json:"disk"`
}

func (a *app) doctor(ctx context.Context, data string, rebuild bool) error {
	e, err := a.examine(ctx, data, rebuild, os.TempDir())
	if err != nil {
		return startAdvice(err)
	}
	if err := a.print(e, func() { a.showExamination(e) }); err != nil {
		return err
	}
	if !e.OK {
		return &silentError{exitFailed}
	}
	return nil
}

// storeLog returns where a store that a command opens tells what it has to say.
func (a *app) storeLog() *slog.Logger {
	return slog.New(handler(a.stderr, true, &slog.HandlerOptions{Level: slog.LevelWarn}))
}

// openData opens the data folder of a stopped node, to write to it.
func (a *app) openData(ctx context.Context, dir string) (storage.Store, error) {
	if err := datadir.Recognize(dir); err != nil {
		return nil, advise(err, "--data with the data folder of a node")
	}
	eff, err := config.Defaults(nil)
	if err != nil {
		return nil, err
	}
	store, err := node.OpenStore(ctx, dir, eff.Config, a.storeLog())
	return store, startAdvice(err)
}

// readData opens the data folder of a stopped node and writes nothing to it.
func (a *app) readData(dir, scratch string) (storage.Store, error) {
	if err := datadir.Interrupted(dir); err != nil {
		return nil, err
	}
	store, err := node.ReadStore(dir, scratch, a.storeLog())
	return store, startAdvice(err)
}

// examine checks a data folder. What a rebuild needs is put into a folder of its own in
// the folder temp.
func (a *app) examine(ctx context.Context, data string, rebuild bool, temp string) (e examination, err error) {
	scratch := ""
	if rebuild {
		if scratch, err = os.MkdirTemp(temp, ".wharf-doctor-"); err != nil {
			return e, fmt.Errorf("making a folder for the rebuild: %w", err)
		}
		defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	}
	store, err := a.readData(data, scratch)
	if err != nil {
		return e, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	log, err := sound(store)
	if err != nil {
		return e, fmt.Errorf("checking %s: %w", data, err)
	}
	progress := a.progress()
	r, err := log.Check(ctx, progress)
	if err != nil {
		return e, fmt.Errorf("checking %s: %w", data, node.Explain(err))
	}
	e = examination{
		Data: data, OK: r.OK(), Rebuilt: rebuild, Tenants: r.Tenants, Frames: r.Frames, Events: r.Events,
		Keys: r.Keys, Blobs: r.Blobs, BlobBytes: r.BlobBytes, First: uint64(r.Floor) + 1, Last: uint64(r.Last),
		Kept: r.Kept, Faults: r.Faults, Problems: append([]string{}, r.Problems...),
	}
	if err := e.examineStart(ctx, store); err != nil {
		return e, err
	}
	if rebuild {
		again, err := log.Rebuild(ctx, progress)
		if err != nil {
			return e, fmt.Errorf("rebuilding from %s: %w", data, node.Explain(err))
		}
		e.OK = e.OK && again.OK()
		e.Faults += again.Faults
		e.Problems = append(e.Problems, again.Problems...)
	}
	a.progressDone()
	e.Disk = factsOfDisk(ctx, data)
	return e, e.look(ctx, log, data)
}

// inspected is a store that tells what is wrong with it.
type inspected interface {
	storage.Checker
	storage.Walker
}

// sound returns a store as one that can be examined.
func sound(store storage.Store) (inspected, error) {
	log, ok := store.(inspected)
	if !ok {
		return nil, node.ErrNoCheck
	}
	return log, nil
}

// look adds what the folder holds beside its log.
func (e *examination) look(ctx context.Context, log storage.Walker, data string) error {
	r, err := holdings.Check(ctx, log, data, math.MaxUint64)
	if err != nil {
		return err
	}
	e.OK = e.OK && r.Faults == 0
	e.Faults += r.Faults
	e.Lost, e.Unreferenced = r.Faults, r.Unreferenced
	e.Problems = append(e.Problems, r.Lost...)
	e.Notes = append([]string{}, r.Notes...)
	return nil
}

// progress returns a function that tells a watching person how far a check is.
func (a *app) progress() func(storage.Progress) {
	if a.json || !a.out.Terminal() {
		return nil
	}
	return func(p storage.Progress) { fmt.Fprintf(a.stderr, "\r%-12s %12d", p.Phase, p.Done) }
}

func (a *app) progressDone() {
	if !a.json && a.out.Terminal() {
		_, _ = io.WriteString(a.stderr, "\r                          \r")
	}
}

func (a *app) showExamination(e examination) {
	a.out.Line(a.out.Paint(show.Bold, e.Data))
	a.out.Pairs(
		[2]string{"tenants", fmt.Sprint(e.Tenants)},
		[2]string{"events", fmt.Sprintf("%d, in %d frames, from %d to %d", e.Events, e.Frames, e.First, e.Last)},
		[2]string{"keys", fmt.Sprint(e.Keys)},
		[2]string{"blobs", e.blobs()},
		[2]string{"disk", e.Disk.text()},
		[2]string{"checked", checked(e.Rebuilt)},
	)
	for _, n := range e.Notes {
		a.out.Line(a.out.Paint(show.Yellow, "note"), ": ", show.OneLine(n))
	}
	if e.OK {
		a.out.Line(a.out.Paint(show.Green, "ok"), ": every invariant holds")
		return
	}
	a.showSetAside(&e)
	if e.Faults == 0 {
		return
	}
	a.out.Line(a.out.Paint(show.Red, fmt.Sprintf("%d faults", e.Faults)))
	for _, p := range e.Problems {
		a.out.Line("  ", show.OneLine(p))
	}
	if more := e.Faults - uint64(len(e.Problems)); more > 0 && more < e.Faults {
		a.out.Line("  and ", fmt.Sprint(more), " more")
	}
}

func (e *examination) blobs() string {
	text := fmt.Sprintf("%d, %s", e.Blobs, show.Bytes(int64(e.BlobBytes)))
	if e.Unreferenced > 0 {
		text += fmt.Sprintf("; nothing refers to %d of them", e.Unreferenced)
	}
	return text
}

func checked(rebuilt bool) string {
	if rebuilt {
		return "the log, all that refers to it, and all projections rebuilt from it"
	}
	return "the log, and all that refers to it"
}
