package receipt

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/wharf-dev/wharf/runtime/journal"
)

// ledger is what a chain handed over, in order.
type ledger struct {
	receipts []*Receipt
	batches  []*Batch
}

func (l *ledger) seal(t *testing.T, c *Chain) {
	r := build(t, facts(), NewTally(program(), nil, "task_1"))
	err := c.Seal(r, testKey(1), r.IssuedAt, func(text []byte, number uint64, b *Batch) error {
		if number != uint64(len(l.receipts)) {
			t.Errorf("receipt %d has the number %d", len(l.receipts), number)
		}
		if is := r.AppendCanonical(nil); !bytes.Equal(text, is) {
			t.Errorf("it is handed over as\n%s, and is\n%s", text, is)
		}
		l.receipts = append(l.receipts, r)
		if b != nil {
			l.batches = append(l.batches, b)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// check holds the links, and that every full batch is sealed, in order, and its
// members can be proved.
func (l *ledger) check(t *testing.T) {
	t.Helper()
	previous := ""
	for i, r := range l.receipts {
		if stated := r.Chain.PreviousReceiptHash; previous == "" && stated != nil || previous != "" && *stated != previous {
			t.Errorf("receipt %d does not follow the one before", i)
		}
		if previous = r.Chain.ReceiptHash; Hash(r) != previous {
			t.Errorf("receipt %d does not have the hash that it states", i)
		}
		if err := VerifyText(previous, testKey(1).ID, r.Signatures[0].Signature, known(testKey(1))); err != nil {
			t.Errorf("receipt %d: %v", i, err)
		}
		if i/BatchSize >= len(l.batches) {
			continue
		}
		in, err := l.batches[i/BatchSize].Include(previous)
		if err == nil {
			err = in.Verify(known(testKey(1)))
		}
		if err != nil || in.First+uint64(in.Proof.Index) != uint64(i) {
			t.Errorf("receipt %d: %+v, %v", i, in, err)
		}
	}
	if want := len(l.receipts) / BatchSize; len(l.batches) != want {
		t.Errorf("%d receipts gave %d batches", len(l.receipts), len(l.batches))
	}
}

func TestChainFromManyGoroutines(t *testing.T) {
	chain, l := NewChain("ws_1", ChainState{}), &ledger{}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 80 {
				l.seal(t, chain)
			}
		})
	}
	all.Wait()
	l.check(t)
}

// TestChainGoesOn stops a chain at every kind of place and goes on from its state.
func TestChainGoesOn(t *testing.T) {
	for _, stop := range []int{0, 1, BatchSize - 1, BatchSize, BatchSize + 1} {
		chain, l := NewChain("ws_1", ChainState{}), &ledger{}
		for range stop {
			l.seal(t, chain)
		}
		chain = NewChain("ws_1", chain.State())
		for range BatchSize {
			l.seal(t, chain)
		}
		l.check(t)
	}
}

func TestChainForgetsWhatWasNotHandedOver(t *testing.T) {
	chain, l := NewChain("ws_1", ChainState{}), &ledger{}
	for range BatchSize - 1 {
		l.seal(t, chain)
	}
	full := errors.New("the disk is full")
	for range 2 {
		r := build(t, facts(), NewTally(program(), nil, "task_1"))
		if err := chain.Seal(r, testKey(1), r.IssuedAt, func([]byte, uint64, *Batch) error { return full }); !errors.Is(err, full) {
			t.Fatal(err)
		}
	}
	l.seal(t, chain)
	l.seal(t, chain)
	l.check(t)
}

func hashes(n int) (all []string) {
	for i := range n {
		all = append(all, journal.HashOf(fmt.Append(nil, i)))
	}
	return all
}

func TestPartialBatch(t *testing.T) {
	for _, n := range []int{1, 2, 3, 100} {
		b, err := SealBatch("ws_1", 512, hashes(n), testKey(1), start)
		if err != nil {
			t.Fatal(err)
		}
		if b.Number != 2 || b.Count != n || b.ID != "rbatch_ws_1_2" {
			t.Errorf("batch %+v", b)
		}
		for i, h := range b.Leaves {
			in, err := b.Include(h)
			if err != nil || in.Proof.Index != i || in.Verify(known(testKey(1))) != nil {
				t.Errorf("receipt %d of %d: %v", i, n, err)
			}
		}
	}
}

func TestInclusionIsTamperProof(t *testing.T) {
	b, err := SealBatch("ws_1", 0, hashes(5), testKey(1), start)
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*Inclusion){
		"workspace": func(i *Inclusion) { i.WorkspaceID = "ws_2" }, "first": func(i *Inclusion) { i.First++ }, "root": func(i *Inclusion) { i.Root = b.Leaves[0] },
		"receipt": func(i *Inclusion) { i.ReceiptHash = b.Leaves[1] }, "count": func(i *Inclusion) { i.Proof.Count++ }, "index": func(i *Inclusion) { i.Proof.Index-- },
		"path": func(i *Inclusion) { i.Proof.Path = i.Proof.Path[1:] }, "key": func(i *Inclusion) { i.KeyID = testKey(2).ID },
		"signature": func(i *Inclusion) { i.Signature = testKey(2).Sign("x") }, "not base64": func(i *Inclusion) { i.Signature = "base64:?" },
	} {
		in, err := b.Include(b.Leaves[2])
		if err != nil {
			t.Fatal(err)
		}
		change(&in)
		if in.Verify(known(testKey(1), testKey(2))) == nil {
			t.Errorf("another %s is accepted", name)
		}
	}
	if _, err := b.Include(hashes(9)[8]); err == nil || !strings.Contains(err.Error(), "does not hold") {
		t.Errorf("a receipt of another batch: %v", err)
	}
	if _, err := SealBatch("ws_1", 0, nil, testKey(1), start); err == nil {
		t.Error("an empty batch was sealed")
	}
}
