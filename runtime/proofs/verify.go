package proofs

import (
	"context"
	"errors"
	"fmt"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/receipt"
	"github.com/wharf-dev/wharf/storage"
)

// verify checks a stored receipt against what the node knows: its keys, the
// receipt before it, and the Task's record.
func (k *Keeper) verify(ctx context.Context, c *desk.Caller, stored *abi.ReceiptResource, req abi.VerifyReceiptRequest) (abi.ReceiptVerification, error) {
	trust := receipt.Trust{Keys: k.SigningKeys().Keys, Anchor: req.TrustAnchor, At: req.AtTime}
	previous, err := k.previousHash(ctx, c.Tenant, stored)
	if err != nil {
		return abi.ReceiptVerification{}, err
	}
	trust.Previous = previous
	if trust.Leaves, err = k.leavesOf(ctx, c.Tenant, stored); err != nil {
		return abi.ReceiptVerification{}, err
	}
	report := receipt.Verify(stored.Wire, trust)
	details, err := json.Marshal(map[string]any{"checks": report.Checks})
	if err != nil {
		return abi.ReceiptVerification{}, fmt.Errorf("encoding the report: %w", err)
	}
	return abi.ReceiptVerification{Valid: report.Valid, CheckedAt: abi.At(k.parts.Now()), Reason: report.Reason(), Details: details}, nil
}

// chainNumber returns a receipt's place in its chain; ok is false for a replay's.
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
func (k *Keeper) previousHash(ctx context.Context, t storage.Tenant, stored *abi.ReceiptResource) (*string, error) {
	none := ""
	n, ok := chainNumber(stored)
	switch {
	case !ok:
		return k.sourceHash(ctx, t, stored)
	case n == 0:
		return &none, nil
	}
	hashes, first, err := k.batchHashes(ctx, ledger.Key{Tenant: t, ID: stored.WorkspaceID}, n-1)
	if err != nil || hashes == nil {
		return nil, err
	}
	return &hashes[n-1-first], nil
}

// sourceHash returns the hash of the receipt that a replay's follows.
func (k *Keeper) sourceHash(ctx context.Context, t storage.Tenant, stored *abi.ReceiptResource) (*string, error) {
	replayed, err := k.parts.Task(ctx, t, stored.TaskID)
	if ledger.IsNotFound(err) { // it was deleted: its receipt says all that is known
		return nil, nil
	}
	if err != nil || replayed.Replay == nil {
		return nil, err
	}
	source, err := k.parts.Task(ctx, t, replayed.Replay.SourceTaskID)
	if err != nil || source.ReceiptID == "" {
		return nil, err
	}
	hash, err := k.hashOf(ctx, t, source.ReceiptID)
	if err != nil {
		return nil, err
	}
	return &hash, nil
}

// leavesOf returns the leaf hashes of the record that a receipt is about; nil when
// it is not there any more, or the receipt is a replay's with replaced answers.
func (k *Keeper) leavesOf(ctx context.Context, t storage.Tenant, stored *abi.ReceiptResource) ([]storage.Hash, error) {
	about, err := k.parts.Task(ctx, t, stored.TaskID)
	if ledger.IsNotFound(err) { // it was deleted
		return nil, nil
	}
	if err != nil || about.Replay != nil {
		return nil, err
	}
	rec, err := k.parts.TaskRecord(ctx, t, about)
	if _, gone := errors.AsType[*abi.Failure](err); gone {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return receipt.Leaves(rec.Entries[:journal.Closed(rec.Entries)]), nil
}
