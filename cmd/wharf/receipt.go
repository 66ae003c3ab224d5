package main

import (
	"context"
	"fmt"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/client"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/show"
)

func (a *app) taskReceiptsCommand() *cobra.Command {
	return a.node(page{
		use:   "receipts ID",
		short: "List the Receipts of a Task",
		long: `Receipts lists the Receipts of a Task: signed proofs of what it did. A Task gets
one when it ends, unless the policy of its Persona says otherwise.`,
		example: "  wharf task receipts task_01K0...",
		args:    oneArg("the id of a Task"),
	}, list[abi.ReceiptResource]{
		call:   gets("/v1/tasks/{}/receipts"),
		titles: []string{"RECEIPT", "ISSUER", "ISSUED", "SUMMARY"},
		row:    receiptRow,
		none:   "no receipts",
		tips:   absent("wharf task list"),
	})
}

func receiptRow(r *abi.ReceiptResource) []show.Cell {
	return show.Cells(r.ID, r.Issuer, show.Ago(r.IssuedAt, time.Now()), r.Summary)
}

func (a *app) receiptCommand() *cobra.Command {
	return family(page{
		use:   "receipt",
		short: "Show Receipts and have a node check them",
		long: `A Receipt is a signed proof of what a Task did, without showing all of it: its
models, tools, costs and side effects, with hashes of what was asked and
answered. Each is chained to the one before it in its Workspace.

To check one without trusting the node that made it: "wharf export" the Task and
"wharf verify" the bundle.`,
		example: `  wharf task receipts task_01K0...
  wharf receipt get rcpt_01K0...
  wharf receipt verify rcpt_01K0...`,
	}, a.receiptGetCommand(), a.receiptVerifyCommand())
}

func (a *app) receiptGetCommand() *cobra.Command {
	var form string
	forms := map[string]string{"json": abi.MediaReceiptJSON, "cbor": abi.MediaReceiptCBOR}
	return a.node(page{
		use:   "get ID",
		short: "Show a Receipt, or write its bytes",
		long: `Get shows a Receipt. With --form json it writes the Receipt alone, in the
canonical JSON (RFC 8785) that its hash is computed over, without a line end;
with --form cbor the same in deterministic CBOR, for archives.`,
		example: `  wharf receipt get rcpt_01K0...
  wharf receipt get rcpt_01K0... --json
  wharf receipt get rcpt_01K0... --form json > receipt.json`,
		args:  oneArg("the id of a Receipt"),
		flags: func(f *pflag.FlagSet) { f.StringVar(&form, "form", "", "write the bare Receipt as json or cbor") },
	}, steps(func(ctx context.Context, c *client.Client, args []string) error {
		if form == "" {
			return a.receiptGet(ctx, c, args[0])
		}
		if err := checkChoice("--form", form, []string{"json", "cbor"}); err != nil {
			return err
		}
		if form == "cbor" && a.out.Terminal() {
			return errBinary("--form cbor")
		}
		wire, err := c.ReceiptBytes(ctx, args[0], forms[form])
		if err == nil {
			_, err = a.stdout.Write(wire)
		}
		return err
	}))
}

func errBinary(what string) error {
	return usagef("%s writes bytes that are no text: send them to a file, with > FILE", what)
}

func (a *app) receiptGet(ctx context.Context, c *client.Client, id string) error {
	r, err := client.Do[abi.ReceiptResource](ctx, c, client.Get("/v1/receipts/{}", id))
	if err != nil {
		return err
	}
	wire := r.Value.Wire.Clone()
	if err := wire.Indent(jsontext.WithIndent("  ")); err != nil {
		return fmt.Errorf("reading the receipt: %w", err)
	}
	return a.print(r.JSON, func() {
		a.out.Line(r.Value.ID, "  ", show.OneLine(r.Value.Summary))
		a.out.Pairs([2]string{"task", r.Value.TaskID}, [2]string{"issuer", r.Value.Issuer}, [2]string{"issued", stamp(r.Value.IssuedAt)},
			[2]string{"subject", string(r.Value.Subject.Object) + " " + r.Value.Subject.ID})
		a.out.Title("receipt")
		a.out.Block("  ", string(wire))
	})
}

func (a *app) receiptVerifyCommand() *cobra.Command {
	var req abi.VerifyReceiptRequest
	return a.node(page{
		use:   "verify ID",
		short: "Have the node check a Receipt",
		long: `Verify asks the node to check a Receipt: its form, its hash, its signatures and
its place in the chain. --trust names the key that must have signed, by its id
or as base64.

The exit code is 0 when it is valid, 1 when it is not, and 2 when it cannot be
checked. This trusts the node; "wharf verify" checks an exported bundle without.`,
		example: `  wharf receipt verify rcpt_01K0...
  wharf receipt verify rcpt_01K0... --trust wharf-2026-1`,
		args: oneArg("the id of a Receipt"),
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&req.TrustAnchor, "trust", "", "the key that must have signed: an id, or base64")
		},
	}, judgement{steps(func(ctx context.Context, c *client.Client, args []string) error {
		verdict, err := client.Do[abi.ReceiptVerification](ctx, c, client.Post(req, "/v1/receipts/{}/verify", args[0]))
		if err != nil {
			return err
		}
		return a.showVerdict(args[0], verdict)
	})})
}

func (a *app) showVerdict(id string, verdict client.Doc[abi.ReceiptVerification]) error {
	err := a.print(verdict.JSON, func() {
		if verdict.Value.Valid {
			a.out.Line(id, "  ", a.out.Paint(show.Green, "valid"))
			return
		}
		a.out.Line(id, "  ", a.out.Paint(show.Red, "not valid"), ": ", show.OneLine(verdict.Value.Reason))
	})
	if err == nil && !verdict.Value.Valid {
		return &silentError{exitFailed}
	}
	return err
}
