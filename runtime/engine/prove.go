package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/bundle"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/receipt"
	"github.com/wharf-dev/wharf/storage"
)

// verify checks a stored receipt against what the node knows: its keys, the
// receipt before it, and the Task's record.
func (e *Engine) verify(ctx context.Context, c *desk.Caller, stored *abi.ReceiptResource, req abi.VerifyReceiptRequest) (abi.ReceiptVerification, error) {
	trust := receipt.Trust{Keys: e.SigningKeys().Keys, Anchor: req.TrustAnchor, At: req.AtTime}
	previous, err := e.previousHash(ctx, c.Tenant, stored)
	if err != nil {
		return abi.ReceiptVerification{}, err
	}
	trust.Previous = previous
	if trust.Leaves, err = e.leavesOf(ctx, c.Tenant, stored); err != nil {
		return abi.ReceiptVerification{}, err
	}
	report := receipt.Verify(stored.Wire, trust)
	details, err := json.Marshal(map[string]any{"checks": report.Checks})
	if err != nil {
		return abi.ReceiptVerification{}, fmt.Errorf("encoding the report: %w", err)
	}
	return abi.ReceiptVerification{Valid: report.Valid, CheckedAt: abi.At(e.now()), Reason: report.Reason(), Details: details}, nil
}

// number returns a receipt's place in its chain; ok is false for a replay's.
func chainNumber(stored *abi.ReceiptResource) (n uint64, ok bool) {
	var m struct {
		Number *uint64 `json:"chain_number"`
	}
	if json.Unmarshal(stored.Metadata, &m) != nil || m.Number == nil {
		return 0, false
	}
	return *m.Number, true
}

// previousHash returns the hash of the receipt before one, as the node knows it by
// another way than the receipt itself; nil when it does not.
func (e *Engine) previousHash(ctx context.Context, t storage.Tenant, stored *abi.ReceiptResource) (*string, error) {
	none := ""
	n, ok := chainNumber(stored)
	switch {
	case !ok:
		return e.sourceHash(ctx, t, stored)
	case n == 0:
		return &none, nil
	}
	hashes, first, err := e.batchHashes(ctx, ledger.Key{Tenant: t, ID: stored.WorkspaceID}, n-1)
	if err != nil || hashes == nil {
		return nil, err
	}
	return &hashes[n-1-first], nil
}

// sourceHash returns the hash of the receipt that a replay's follows.
func (e *Engine) sourceHash(ctx context.Context, t storage.Tenant, stored *abi.ReceiptResource) (*string, error) {
	replayed, err := e.storedTask(ctx, t, stored.TaskID)
	if err != nil || replayed.Replay == nil {
		return nil, err
	}
	source, err := e.storedTask(ctx, t, replayed.Replay.SourceTaskID)
	if err != nil || source.ReceiptID == "" {
		return nil, err
	}
	wire, err := e.receiptWire(ctx, t, source.ReceiptID)
	if err != nil {
		return nil, err
	}
	return &wire.Chain.ReceiptHash, nil
}

// batchHashes returns the hashes of the receipts of the batch that number n of a
// chain belongs to, and the number of the first; nil when n is not in the chain.
func (e *Engine) batchHashes(ctx context.Context, workspace ledger.Key, n uint64) (hashes []string, first uint64, err error) {
	sealed, err := e.sealedBatch(ctx, workspace, n/receipt.BatchSize)
	if err != nil {
		return nil, 0, err
	}
	if sealed != nil {
		return sealed.Leaves, sealed.First, nil
	}
	chain, err := e.chains.of(e, workspace)
	if err != nil {
		return nil, 0, err
	}
	state := chain.State()
	first = state.Count - uint64(len(state.Pending))
	if n < first || n >= state.Count {
		return nil, 0, nil
	}
	return state.Pending, first, nil
}

// sealedBatch returns a batch of a Workspace's chain; nil when it is not full yet.
func (e *Engine) sealedBatch(ctx context.Context, workspace ledger.Key, number uint64) (*receipt.Batch, error) {
	id := abi.IDPrefix(abi.ObjectReceiptBatch) + workspace.ID + "_" + strconv.FormatUint(number, 10)
	res, err := e.store.Get(ctx, workspace.Tenant, abi.ObjectReceiptBatch, id)
	if errors.Is(err, storage.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, e.ledger.Failed("reading a batch of receipts", err)
	}
	b := &receipt.Batch{}
	return b, ledger.Decode(res.State, b)
}

// leavesOf returns the leaf hashes of the record that a receipt is about; nil when
// it is not there any more, or the receipt is a replay's with replaced answers.
func (e *Engine) leavesOf(ctx context.Context, t storage.Tenant, stored *abi.ReceiptResource) ([]storage.Hash, error) {
	about, err := e.storedTask(ctx, t, stored.TaskID)
	if err != nil || about.Replay != nil {
		return nil, err
	}
	rec, err := e.taskRecord(ctx, t, about)
	if isFailure(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return receipt.Leaves(rec.Entries[:closed(rec.Entries)]), nil
}

// ExportTask writes a Task's run bundle (docs/bundle-format.md) to w. The caller
// needs abi.ScopeEventsInternal. Errors before the first byte are an *abi.Error.
func (e *Engine) ExportTask(ctx context.Context, c *desk.Caller, id string, w io.Writer) error {
	rec, err := e.Record(ctx, c, id)
	if err != nil {
		return err
	}
	if rec.End == nil {
		return abi.Errorf(abi.CodeConflict, "task %s has not ended yet: it can be exported then", id)
	}
	if e.signing == nil {
		return abi.Errorf(abi.CodeNotImplemented, "this node signs nothing, and so exports nothing")
	}
	contents, err := e.bundleOf(ctx, c, id, rec)
	if err != nil {
		return err
	}
	if err := bundle.Write(w, contents, e.signing.Current()); err != nil {
		return fmt.Errorf("exporting task %s: %w", id, err)
	}
	return nil
}

func (e *Engine) bundleOf(ctx context.Context, c *desk.Caller, id string, rec *journal.Record) (*bundle.Contents, error) {
	doc, err := e.Get(ctx, c, abi.ObjectTask, id)
	if err != nil {
		return nil, err
	}
	about, err := e.storedTask(ctx, c.Tenant, id)
	if err != nil {
		return nil, err
	}
	b := &bundle.Contents{Record: rec, Keys: e.SigningKeys()}
	if b.Task, err = forPlugins(doc.JSON); err != nil { // and no more for strangers
		return nil, err
	}
	outcome, err := e.Get(ctx, c, abi.ObjectOutcome, about.OutcomeID)
	if err != nil {
		return nil, err
	}
	if b.Outcome, err = forPlugins(outcome.JSON); err != nil {
		return nil, err
	}
	persona, err := e.personaAt(ctx, c.Tenant, about.PersonaID, rec.Program.Persona)
	if err != nil {
		return nil, replayRefusal(err)
	}
	b.Persona = persona.Text
	if b.Module, err = e.modules.Wasm(ctx, rec.Program.Module); err != nil {
		return nil, replayRefusal(err)
	}
	if err := e.bundleReceipt(ctx, c, about, b); err != nil {
		return nil, err
	}
	return b, e.bundleBlobs(ctx, rec, b)
}

// bundleReceipt adds a Task's receipt, and the proof that it is in a sealed batch.
func (e *Engine) bundleReceipt(ctx context.Context, c *desk.Caller, t *abi.Task, b *bundle.Contents) error {
	if t.ReceiptID == "" {
		return nil
	}
	stored, _, err := desk.Find[abi.ReceiptResource](ctx, e.Desk, c, abi.ObjectReceipt, t.ReceiptID)
	if err != nil {
		return err
	}
	b.Receipts = []jsontext.Value{stored.Wire}
	n, ok := chainNumber(&stored)
	if !ok {
		return nil
	}
	hashes, first, err := e.batchHashes(ctx, ledger.Key{Tenant: c.Tenant, ID: t.WorkspaceID}, n)
	if err != nil || hashes == nil {
		return err
	}
	key, at := e.signing.Signer(e.now())
	batch, err := receipt.SealBatch(t.WorkspaceID, first, hashes, key, at)
	if err != nil {
		return err
	}
	proof, err := batch.Include(hashes[n-first])
	b.Proof = &proof
	return err
}

// bundleBlobs adds the content of the Artifacts that the record has put.
func (e *Engine) bundleBlobs(ctx context.Context, rec *journal.Record, b *bundle.Contents) error {
	f := facts{tally: receipt.NewTally(&rec.Program, rec.Input, rec.TaskID)}
	for i := range rec.Entries[:closed(rec.Entries)] {
		if err := f.take(&rec.Entries[i]); err != nil {
			return err
		}
	}
	seen := []storage.Hash{}
	for _, a := range f.artifacts {
		hash, err := journal.ParseHash(a.SHA256)
		if err != nil {
			return err
		}
		if slices.Contains(seen, hash) {
			continue
		}
		seen = append(seen, hash)
		content, err := e.store.Blobs().Open(ctx, hash)
		if err != nil {
			return replayRefusal(missing("artifact", a.ArtifactID, err))
		}
		b.Blobs = append(b.Blobs, bundle.Blob{Hash: hash, Size: content.Size(), Open: func() (io.ReadCloser, error) {
			return e.store.Blobs().Open(ctx, hash)
		}})
		_ = content.Close()
	}
	return nil
}
