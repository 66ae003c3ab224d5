package proofs

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/receipt"
	"github.com/wharf-dev/wharf/storage"
)

// The receipts of a Workspace are one chain, also over restarts, and those that fill a batch
// are sealed with the one that does.
func TestTheChainGoesOnAfterARestart(t *testing.T) {
	r := newRoom(t)
	previous := ""
	for n := range uint64(receipt.BatchSize + 2) {
		if n == 1 || n == receipt.BatchSize-1 || n == receipt.BatchSize+1 {
			r.restart()
		}
		about := r.done(t)
		_, number, wire := r.stored(t, about)
		if number == nil || *number != n {
			t.Fatalf("receipt %d has the number %v", n, number)
		}
		if got := wire.Chain.PreviousReceiptHash; n == 0 && got != nil || n > 0 && (got == nil || *got != previous) {
			t.Fatalf("receipt %d follows %v, want %s", n, got, previous)
		}
		previous = wire.Chain.ReceiptHash
		if v, checks := r.checks(t, about); !v.Valid || checks[receipt.CheckNameChain] != receipt.CheckOK {
			t.Fatalf("receipt %d: %s, %v", n, v.Reason, checks)
		}
		want := 0
		if n >= receipt.BatchSize-1 {
			want = 1
		}
		if n+3 > receipt.BatchSize && r.kinds(t)[abi.EventReceiptsSealed] != want {
			t.Fatalf("after receipt %d, %d batches are sealed, want %d", n, r.kinds(t)[abi.EventReceiptsSealed], want)
		}
	}
	var batch receipt.Batch
	res, err := r.store.Get(t.Context(), r.root.Tenant, abi.ObjectReceiptBatch, abi.IDPrefix(abi.ObjectReceiptBatch)+workspace+"_0")
	if err == nil {
		err = ledger.Decode(res.State, &batch)
	}
	if err != nil || batch.Count != receipt.BatchSize || batch.First != 0 {
		t.Errorf("the batch is %+v (%v)", batch, err)
	}
}

// What could not be handed over has no place in the chain: the next receipt takes it.
func TestAFailedBatchLeavesNoGap(t *testing.T) {
	r := newRoom(t)
	first := r.done(t)
	broken, lost := errors.New("no"), r.runs(t)
	err := r.endsWith(t, lost, r.facts(t, lost.ID), func(*storage.Batch) error { return broken })
	if !errors.Is(err, broken) {
		t.Fatal(err)
	}
	_, _, before := r.stored(t, first)
	_, number, after := r.stored(t, r.done(t))
	if *number != 1 || *after.Chain.PreviousReceiptHash != before.Chain.ReceiptHash {
		t.Errorf("receipt %d follows %s, want 1 and %s", *number, *after.Chain.PreviousReceiptHash, before.Chain.ReceiptHash)
	}
}

// forgetful is a store that has lost a receipt.
type forgetful struct {
	storage.Store
	lost string
}

func (f *forgetful) List(ctx context.Context, t storage.Tenant, o abi.Object, s desk.Scope, p storage.Page) (kept []storage.Resource, more bool, err error) {
	list, more, err := f.Store.List(ctx, t, o, s, p)
	for _, res := range list {
		if res.ID != f.lost {
			kept = append(kept, res)
		}
	}
	return kept, more, err
}

// A chain in which a receipt is missing is not gone on with: the Task that ends is told why
// it has no receipt.
func TestAMissingReceiptEndsTheChain(t *testing.T) {
	r := newRoom(t)
	r.done(t)
	second := r.done(t)
	last := r.done(t)
	r.store = &forgetful{r.disk, second.ReceiptID}
	r.open()
	about := r.runs(t)
	if err := r.ends(t, about, r.facts(t, about.ID)); err == nil || !strings.Contains(err.Error(), "receipt 1 of workspace "+workspace+" is missing") {
		t.Errorf("the error is %v", err)
	}
	if _, err := r.VerifyReceipt(t.Context(), r.root, nil, last.ReceiptID, abi.VerifyReceiptRequest{}); err == nil {
		t.Error("a receipt is verified in a chain that cannot be read")
	}
}

// Each Workspace has a chain of its own.
func TestAChainIsOfOneWorkspace(t *testing.T) {
	r := newRoom(t)
	r.done(t)
	other := r.runs(t)
	other.WorkspaceID = "ws_other"
	f := r.facts(t, other.ID)
	if err := r.ends(t, other, f); err != nil {
		t.Fatal(err)
	}
	if _, number, wire := r.stored(t, other); *number != 0 || wire.Chain.PreviousReceiptHash != nil {
		t.Errorf("the first receipt of a workspace has the number %d and follows %v", *number, wire.Chain.PreviousReceiptHash)
	}
}

// Tasks that end at once have places in the chain in the order in which the log has them.
func TestTheLogHasTheOrderOfTheChain(t *testing.T) {
	r := newRoom(t)
	tasks := make([]*abi.Task, 40)
	for i := range tasks {
		tasks[i] = r.runs(t)
	}
	var all sync.WaitGroup
	for _, about := range tasks {
		f := r.facts(t, about.ID)
		all.Go(func() {
			if err := r.ends(t, about, f); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	events, _, err := r.store.Events(t.Context(), r.root.Tenant, desk.Scope{Object: abi.ObjectWorkspace, ID: workspace}, 0, 200)
	if err != nil {
		t.Fatal(err)
	}
	next := uint64(0)
	for _, ev := range events {
		if ev.Record().Kind != abi.EventReceiptIssued {
			continue
		}
		var link chainLink
		if err := ledger.Decode(ev.Record().State, &link); err != nil || *link.Metadata.Number != next {
			t.Fatalf("the log has receipt %d where %d has to be (%v)", *link.Metadata.Number, next, err)
		}
		next++
	}
	if next != uint64(len(tasks)) {
		t.Errorf("the log has %d receipts", next)
	}
}
