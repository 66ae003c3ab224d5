package main

import (
	"context"
	"fmt"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/client"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/show"
)

func (a *app) taskReceiptsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "receipts ID",
		Short: "List the Receipts of a Task",
		Long: `Receipts lists the Receipts of a Task: signed proofs of what it did. A Task gets
one when it ends, unless the policy of its Persona says otherwise.`,
		Example: "  wharf task receipts task_01K0...",
		Args:    oneArg("the id of a Task"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			return a.taskReceipts(cmd.Context(), c, args[0])
		},
	}
}

func (a *app) taskReceipts(ctx context.Context, c *client.Client, task string) error {
	receipts, err := c.TaskReceipts(ctx, task)
	if err != nil {
		return hint(err, abi.CodeResourceNotFound, "wharf task list")
	}
	var rows [][]show.Cell
	now := time.Now()
	for _, r := range receipts {
		if a.json {
			a.printJSON(r.JSON)
			continue
		}
		rows = append(rows, show.Cells(r.Value.ID, r.Value.Issuer, show.Ago(r.Value.IssuedAt, now), r.Value.Summary))
	}
	switch {
	case a.json:
	case len(rows) == 0:
		a.out.Line("no receipts")
	default:
		a.out.Table([]string{"RECEIPT", "ISSUER", "ISSUED", "SUMMARY"}, rows)
	}
	return nil
}

func (a *app) receiptCommand() *cobra.Command {
	return family(&cobra.Command{
		Use:   "receipt",
		Short: "Show Receipts and have a node check them",
		Long: `A Receipt is a signed proof of what a Task did, without showing all of it: its
models, tools, costs and side effects, with hashes of what was asked and
answered. Each is chained to the one before it in its Workspace.

To check one without trusting the node that made it: "wharf export" the Task and
"wharf verify" the bundle.`,
		Example: `  wharf task receipts task_01K0...
  wharf receipt get rcpt_01K0...
  wharf receipt verify rcpt_01K0...`,
	}, a.remote(a.receiptGetCommand()), a.remote(a.receiptVerifyCommand()))
}

func (a *app) receiptGetCommand() *cobra.Command {
	var form string
	forms := map[string]string{"json": abi.MediaReceiptJSON, "cbor": abi.MediaReceiptCBOR}
	cmd := &cobra.Command{
		Use:   "get ID",
		Short: "Show a Receipt, or write its bytes",
		Long: `Get shows a Receipt. With --form json it writes the Receipt alone, in the
canonical JSON (RFC 8785) that its hash is computed over, without a line end;
with --form cbor the same in deterministic CBOR, for archives.`,
		Example: `  wharf receipt get rcpt_01K0...
  wharf receipt get rcpt_01K0... --json
  wharf receipt get rcpt_01K0... --form json > receipt.json`,
		Args: oneArg("the id of a Receipt"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			if form == "" {
				return a.receiptGet(cmd.Context(), c, args[0])
			}
			if err := checkChoice("--form", form, []string{"json", "cbor"}); err != nil {
				return err
			}
			if form == "cbor" && a.out.Terminal() {
				return errBinary("--form cbor")
			}
			wire, err := c.ReceiptBytes(cmd.Context(), args[0], forms[form])
			if err == nil {
				_, err = a.stdout.Write(wire)
			}
			return err
		},
	}
	cmd.Flags().StringVar(&form, "form", "", "write the bare Receipt as json or cbor")
	return cmd
}

func errBinary(what string) error {
	return usagef("%s writes bytes that are no text: send them to a file, with > FILE", what)
}

func (a *app) receiptGet(ctx context.Context, c *client.Client, id string) error {
	r, err := c.Receipt(ctx, id)
	if err != nil {
		return err
	}
	if a.json {
		a.printJSON(r.JSON)
		return nil
	}
	a.out.Line(r.Value.ID, "  ", show.OneLine(r.Value.Summary))
	a.out.Pairs([2]string{"task", r.Value.TaskID}, [2]string{"issuer", r.Value.Issuer}, [2]string{"issued", stamp(r.Value.IssuedAt)},
		[2]string{"subject", string(r.Value.Subject.Object) + " " + r.Value.Subject.ID})
	wire := r.Value.Wire.Clone()
	if err := wire.Indent(jsontext.WithIndent("  ")); err != nil {
		return fmt.Errorf("reading the receipt: %w", err)
	}
	a.out.Title("receipt")
	a.out.Block("  ", string(wire))
	return nil
}

func (a *app) receiptVerifyCommand() *cobra.Command {
	var req abi.VerifyReceiptRequest
	cmd := &cobra.Command{
		Use:   "verify ID",
		Short: "Have the node check a Receipt",
		Long: `Verify asks the node to check a Receipt: its form, its hash, its signatures and
its place in the chain. --trust names the key that must have signed, by its id
or as base64.

The exit code is 0 when it is valid, 1 when it is not, and 2 when it cannot be
checked. This trusts the node; "wharf verify" checks an exported bundle without.`,
		Example: `  wharf receipt verify rcpt_01K0...
  wharf receipt verify rcpt_01K0... --trust wharf-2026-1`,
		Args: oneArg("the id of a Receipt"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return undecided(a.receiptVerify(cmd.Context(), args[0], req))
		},
	}
	cmd.Flags().StringVar(&req.TrustAnchor, "trust", "", "the key that must have signed: an id, or base64")
	return cmd
}

func (a *app) receiptVerify(ctx context.Context, id string, req abi.VerifyReceiptRequest) error {
	c, err := a.client()
	if err != nil {
		return err
	}
	verdict, err := c.VerifyReceipt(ctx, id, req)
	if err != nil {
		return err
	}
	switch {
	case a.json:
		a.printJSON(verdict.JSON)
	case verdict.Value.Valid:
		a.out.Line(id, "  ", a.out.Paint(show.Green, "valid"))
	default:
		a.out.Line(id, "  ", a.out.Paint(show.Red, "not valid"), ": ", show.OneLine(verdict.Value.Reason))
	}
	if !verdict.Value.Valid {
		return &silentError{exitFailed}
	}
	return nil
}
