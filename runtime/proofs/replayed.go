package proofs

import (
	"context"
	"errors"
	"fmt"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/receipt"
	"github.com/wharf-dev/wharf/runtime/replay"
	"github.com/wharf-dev/wharf/storage"
)

// Replayed is what the receipt of a replay is made from besides. [Keeper.ReceiptOfReplay] makes it.
type Replayed struct {
	receipt.Replay
	record    *journal.Record
	previous  string // the hash of the source's receipt; "" when it has none
	receiptID string
	applied   []replay.Replacement
	issued    []byte // the receipt's resource, when the same replay has been done before
	sequence  uint64 // of its next event
}

// ReceiptOfReplay returns what the receipt of a replay is made from: about says how source was
// replayed, record is that of source, and applied is what was replaced in it.
func (k *Keeper) ReceiptOfReplay(ctx context.Context, t storage.Tenant, about *abi.TaskReplay, source *abi.Task, record *journal.Record, applied []replay.Replacement) (*Replayed, error) {
	r := &Replayed{record: record, applied: applied, receiptID: abi.IDPrefix(abi.ObjectReceipt) + about.ReplayID,
		Replay: receipt.Replay{ID: about.ReplayID, SourceTaskID: source.ID, Mode: about.Mode}}
	for _, by := range applied {
		r.Deltas = append(r.Deltas, by.Delta)
	}
	if source.ReceiptID == "" {
		return r, nil
	}
	var err error
	r.previous, err = k.hashOf(ctx, t, source.ReceiptID)
	return r, err
}

// hashOf returns the hash of a receipt that the log has.
func (k *Keeper) hashOf(ctx context.Context, t storage.Tenant, id string) (string, error) {
	res, err := k.parts.Ledger.Find(ctx, t, abi.ObjectReceipt, id)
	if err != nil {
		return "", err
	}
	wire, err := wireOf(res.State)
	return wire.Chain.ReceiptHash, err
}

// wireOf returns the receipt that a resource holds.
func wireOf(state []byte) (receipt.Receipt, error) {
	var stored struct {
		Wire receipt.Receipt `json:"wire"`
	}
	err := ledger.Decode(state, &stored)
	return stored.Wire, err
}

// HoldReceipt makes the caller the only one to issue the receipt of this replay, until it calls
// unlock, and finds out whether the same replay was done before. The caller unlocks it even
// when the error says that this cannot be known.
func (k *Keeper) HoldReceipt(t storage.Tenant, r *Replayed) (unlock func(), err error) {
	unlock = k.parts.Ledger.Lock(t, r.receiptID)
	return unlock, k.issuedBefore(t, r)
}

// issuedBefore finds the receipt of an earlier replay of the same.
func (k *Keeper) issuedBefore(t storage.Tenant, r *Replayed) error {
	res, err := k.parts.Store.Get(context.Background(), t, abi.ObjectReceipt, r.receiptID)
	if errors.Is(err, storage.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	seq, _, err := k.parts.Store.Sequence(context.Background(), t, abi.ResourcePointer{Object: abi.ObjectReceipt, ID: r.receiptID})
	r.issued, r.sequence = res.State, seq+1
	return err
}

// apply makes the facts those of a replay: what differs between two nodes that
// replay the same is left out, and times are those of the record.
func (r *Replayed) apply(f *receipt.Facts) {
	f.ReceiptID, f.Replay = r.receiptID, &r.Replay
	f.TaskID, f.TenantID = r.ID, ""
	f.CreatedAt, f.StartedAt, f.CompletedAt = r.record.CreatedAt, r.record.StartedAt, r.record.EndedAt
	for _, by := range r.applied {
		switch by.Key {
		case replay.KeyCreatedAt:
			f.CreatedAt = by.Time
		case replay.KeyStartedAt:
			f.StartedAt = by.Time
		case replay.KeyCompletedAt:
			f.CompletedAt = by.Time
		}
	}
	f.IssuedAt = f.CompletedAt
}

// check reports a replay that has another receipt than the same replay had before:
// then one of the two was not exact.
func (r *Replayed) check(built *receipt.Receipt) error {
	if r.issued == nil {
		return nil
	}
	before, err := wireOf(r.issued)
	if err != nil {
		return err
	}
	again := *built
	receipt.Seal(&again, r.previous, nil, built.IssuedAt)
	if was, is := before.Chain.ReceiptHash, again.Chain.ReceiptHash; was != is {
		return fmt.Errorf("the same replay had the receipt %s before, and has %s now", was, is)
	}
	return nil
}
