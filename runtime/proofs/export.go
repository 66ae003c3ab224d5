package proofs

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/bundle"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/receipt"
	"github.com/wharf-dev/wharf/runtime/redact"
	"github.com/wharf-dev/wharf/storage"
)

// TaskRecord returns the record of a Task. The caller needs abi.ScopeEventsInternal.
func (k *Keeper) TaskRecord(ctx context.Context, c *desk.Caller, id string) (*journal.Record, error) {
	if !c.Can(abi.ScopeEventsInternal) {
		return nil, desk.Denied(abi.ScopeEventsInternal)
	}
	t, _, err := desk.Find[abi.Task](ctx, k.parts.Desk, c, abi.ObjectTask, id)
	if err != nil {
		return nil, err
	}
	if t.Replay != nil {
		return nil, abi.Errorf(abi.CodeConflict, "task %s is a replay: the record is that of its source, %s", id, t.Replay.SourceTaskID)
	}
	rec, err := k.parts.TaskRecord(ctx, c.Tenant, &t)
	if err != nil {
		return nil, desk.Refusal(err)
	}
	return rec, nil
}

// ExportTask writes a Task's run bundle (docs/bundle-format.md) to w. The caller
// needs abi.ScopeEventsInternal. Errors before the first byte are an *abi.Error.
func (k *Keeper) ExportTask(ctx context.Context, c *desk.Caller, id string, w io.Writer) error {
	rec, err := k.TaskRecord(ctx, c, id)
	if err != nil {
		return err
	}
	if rec.End == nil {
		return abi.Errorf(abi.CodeConflict, "task %s has not ended yet: it can be exported then", id)
	}
	if k.parts.Keys == nil {
		return abi.Errorf(abi.CodeNotImplemented, "this node signs nothing, and so exports nothing")
	}
	contents, err := k.bundleOf(ctx, c, id, rec)
	if err != nil {
		return err
	}
	if err := bundle.Write(w, contents, k.parts.Keys.Current()); err != nil {
		return fmt.Errorf("exporting task %s: %w", id, err)
	}
	return nil
}

func (k *Keeper) bundleOf(ctx context.Context, c *desk.Caller, id string, rec *journal.Record) (*bundle.Contents, error) {
	doc, err := k.parts.Desk.Get(ctx, c, abi.ObjectTask, id)
	if err != nil {
		return nil, err
	}
	about, err := k.parts.Task(ctx, c.Tenant, id)
	if err != nil {
		return nil, err
	}
	b := &bundle.Contents{Record: rec, Keys: k.SigningKeys()}
	if b.Task, err = redact.ForPlugins(doc.JSON); err != nil { // and no more for strangers
		return nil, err
	}
	outcome, err := k.parts.Desk.Get(ctx, c, abi.ObjectOutcome, about.OutcomeID)
	if err != nil {
		return nil, err
	}
	if b.Outcome, err = redact.ForPlugins(outcome.JSON); err != nil {
		return nil, err
	}
	persona, err := k.parts.PersonaAt(ctx, c.Tenant, about.PersonaID, rec.Program.Persona)
	if err != nil {
		return nil, desk.Refusal(err)
	}
	b.Persona = persona.Text
	if b.Module, err = k.parts.Modules.Wasm(ctx, rec.Program.Module); err != nil {
		return nil, desk.Refusal(err)
	}
	if err := k.bundleReceipt(ctx, c, about, b); err != nil {
		return nil, err
	}
	return b, k.bundleBlobs(ctx, rec, b)
}

// bundleReceipt adds a Task's receipt, and the proof that it is in a sealed batch.
func (k *Keeper) bundleReceipt(ctx context.Context, c *desk.Caller, t *abi.Task, b *bundle.Contents) error {
	if t.ReceiptID == "" {
		return nil
	}
	stored, _, err := desk.Find[abi.ReceiptResource](ctx, k.parts.Desk, c, abi.ObjectReceipt, t.ReceiptID)
	if err != nil {
		return err
	}
	b.Receipts = []jsontext.Value{stored.Wire}
	n, ok := chainNumber(&stored)
	if !ok {
		return nil
	}
	hashes, first, err := k.batchHashes(ctx, ledger.Key{Tenant: c.Tenant, ID: t.WorkspaceID}, n)
	if err != nil || hashes == nil {
		return err
	}
	key, at := k.parts.Keys.Signer(k.parts.Now())
	batch, err := receipt.SealBatch(t.WorkspaceID, first, hashes, key, at)
	if err != nil {
		return err
	}
	proof, err := batch.Include(hashes[n-first])
	b.Proof = &proof
	return err
}

// bundleBlobs adds the content of the Artifacts that the record has put.
func (k *Keeper) bundleBlobs(ctx context.Context, rec *journal.Record, b *bundle.Contents) error {
	f := Facts{Tally: receipt.NewTally(&rec.Program, rec.Input, rec.TaskID)}
	if err := f.TakeAll(rec.Entries); err != nil {
		return err
	}
	seen := []storage.Hash{}
	for _, a := range f.Artifacts {
		hash, err := journal.ParseHash(a.SHA256)
		if err != nil {
			return err
		}
		if slices.Contains(seen, hash) {
			continue
		}
		seen = append(seen, hash)
		content, err := k.parts.Store.Blobs().Open(ctx, hash)
		if err != nil {
			return desk.Refusal(ledger.Missing("artifact", a.ArtifactID, err))
		}
		b.Blobs = append(b.Blobs, bundle.Blob{Hash: hash, Size: content.Size(), Open: func() (io.ReadCloser, error) {
			return k.parts.Store.Blobs().Open(ctx, hash)
		}})
		_ = content.Close()
	}
	return nil
}
