package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/show"
	"github.com/wharf-dev/wharf/runtime/bundle"
	"github.com/wharf-dev/wharf/runtime/receipt"
	"github.com/wharf-dev/wharf/runtime/replay"
	"github.com/wharf-dev/wharf/runtime/sandbox"
)

func (a *app) verifyCommand() *cobra.Command {
	var chainOnly bool
	var trust []string
	cmd := page{
		use:   "verify FILE",
		short: "Check a run bundle, offline, down to running it again",
		long: `Verify checks a run bundle that "wharf export" wrote, and prints each check: the
form of the archive, every hash, the signatures, the Receipts and their chain,
and whether the record gives these very Receipts. Then it runs the module again
against the record and sees whether it does the same. It needs no node, no data
folder and no network.

The signatures are held against the keys in the bundle, which shows that it is
whole, but not who made it. --trust names keys that you know: a file such as
/.well-known/wharf-keys.json of the node that you mean, or one public key in
base64; then nothing else counts.

The exit code is 0 when the bundle is valid, 1 when it is not, and 2 when it
cannot be checked.`,
		example: `  wharf verify run.zip
  wharf verify run.zip --trust wharf-keys.json
  wharf verify run.zip --chain-only --json`,
		args: oneArg("a run bundle"),
	}.command(func(cmd *cobra.Command, args []string) error {
		r := rerun{most: mostFor(cmd)}
		return undecided(a.verify(cmd.Context(), args[0], trust, &r, chainOnly))
	})
	cmd.Flags().BoolVar(&chainOnly, "chain-only", false, "do not run the module again")
	cmd.Flags().StringArrayVar(&trust, "trust", nil, "a public key in base64, or a file with published keys; may be repeated")
	return cmd
}

func (a *app) verify(ctx context.Context, file string, trust []string, again *rerun, chainOnly bool) error {
	keys, err := trustedKeys(trust)
	if err != nil {
		return err
	}
	report, err := verifyFile(ctx, file, bundle.Options{ChainOnly: chainOnly, TrustKeys: keys, Rerun: again.run})
	if err != nil {
		return err
	}
	text := func() {
		a.showReport(report, len(keys) > 0)
		a.out.Stack(again.failed)
	}
	if err := a.print(report, text); err != nil {
		return err
	}
	if !report.Valid {
		return &silentError{exitFailed}
	}
	return nil
}

// verifyFile checks the run bundle in a file.
func verifyFile(ctx context.Context, file string, o bundle.Options) (report *receipt.Report, err error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("opening the bundle: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("opening the bundle: %w", err)
	}
	if len(o.TrustKeys) > 0 {
		nameKeys(o.TrustKeys, f, info.Size())
	}
	checked := bundle.Verify(ctx, f, info.Size(), o)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return &checked, nil
}

// trustedKeys reads the values of --trust. A key that is given in base64 has no id
// yet: see [nameKeys].
func trustedKeys(trust []string) ([]abi.SigningKey, error) {
	keys, err := receipt.TrustedKeys(trust)
	if errors.Is(err, receipt.ErrNoKeys) {
		return nil, usagef("--trust: %w", err)
	}
	return keys, err
}

// nameKeys gives keys without an id the one that the bundle knows them by. A key
// that the bundle does not know stays without: it has signed nothing in it.
func nameKeys(keys []abi.SigningKey, f *os.File, size int64) {
	published, err := bundle.ReadKeys(f, size)
	if err != nil {
		return // which is what the verification will say
	}
	for i := range keys {
		for _, stated := range published.Keys {
			if keys[i].KeyID == "" && keys[i].PublicKey == stated.PublicKey {
				keys[i] = stated
			}
		}
	}
}

// rerun executes modules of bundles against their records.
type rerun struct {
	most   sandbox.Limits // that a run may have, whatever its record says
	failed *abi.Failure   // how the last one ended that was another than its record
}

func (r *rerun) run(ctx context.Context, c *bundle.Contents) ([]receipt.Check, error) {
	switch {
	case c.Record.Program.Module == "":
		return []receipt.Check{receipt.Skipped(bundle.CheckNameRerun, "the Task never ran")}, nil
	case len(c.Module) == 0:
		return []receipt.Check{receipt.Skipped(bundle.CheckNameRerun, "the bundle does not hold the module")}, nil
	}
	runtime, err := sandbox.New(ctx, sandbox.Config{Source: always(c.Module)})
	if err != nil {
		return nil, fmt.Errorf("making a sandbox: %w", err)
	}
	defer runtime.Close(context.WithoutCancel(ctx))
	module, err := runtime.Compile(ctx, c.Module)
	if err != nil {
		return nil, fmt.Errorf("compiling the module: %w", err)
	}
	result, err := replay.Run(ctx, module, c.Record, replay.Options{Rewriter: runtime.Rewriter(), Most: r.most})
	if err != nil {
		return nil, adviseCapped(err)
	}
	if result.Divergence != nil {
		r.failed = result.End.Failure
		return nil, fmt.Errorf("%w\n%s", result.Divergence, result.Divergence.Diff)
	}
	ran := receipt.Passed(bundle.CheckNameRerun, nil)
	ran.Reason = fmt.Sprintf("%d calls, the same", len(result.Entries))
	return []receipt.Check{ran}, nil
}

func (a *app) showReport(r *receipt.Report, trusted bool) {
	for _, c := range r.Checks {
		a.showCheck(&c)
	}
	switch {
	case !r.Valid:
		a.out.Gap()
		a.out.Line(a.out.Paint(show.Red, "not valid"), ": ", show.OneLine(r.Reason()))
	case trusted:
		a.out.Gap()
		a.out.Line(a.out.Paint(show.Green, "valid"), ", and signed by a key that you trust")
	default:
		a.out.Gap()
		a.out.Line(a.out.Paint(show.Green, "valid"), ": it is whole. Who signed it is another matter: --trust says whom you know")
	}
}

// showCheck writes a line about a check, and what a failed one says below it.
func (a *app) showCheck(c *receipt.Check) {
	word, style := "ok", show.Green
	switch c.Status {
	case receipt.CheckFailed:
		word, style = "failed", show.Red
	case receipt.CheckNotChecked:
		word, style = "not checked", show.Yellow
	}
	reason := show.Cut(show.OneLine(c.Reason), maxReason)
	if c.Status == receipt.CheckFailed {
		reason = ""
	}
	line := "  " + a.out.Paint(style, fmt.Sprintf("%-11s", word)) + "  "
	if reason != "" {
		line += fmt.Sprintf("%-36s", c.Name) + a.out.Paint(show.Dim, reason)
	} else {
		line += c.Name
	}
	a.out.Line(line)
	switch {
	case c.Status != receipt.CheckFailed:
	case c.Name == bundle.CheckNameRerun: // a diff, whose lines each begin with a sign
		a.showPatch(c.Reason)
	default: // texts of the bundle are in it, which make no line of their own
		a.out.Line("  ", show.OneLine(c.Reason))
	}
}

// maxReason is how much is shown of what a check that did not fail has to say.
const maxReason = 120
