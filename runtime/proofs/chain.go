package proofs

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/lockrank"
	"github.com/wharf-dev/wharf/runtime/receipt"
	"github.com/wharf-dev/wharf/storage"
)

// chainTable holds the chains of receipts that are being added to.
type chainTable struct {
	mu   lockrank.Mutex[lockrank.Table]
	byID map[ledger.Key]*chainEntry
}

type chainEntry struct {
	reading lockrank.Mutex[lockrank.ChainRead]
	chain   *receipt.Chain
}

// of returns the entry of a Workspace.
func (c *chainTable) of(workspace ledger.Key) *chainEntry {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byID == nil {
		c.byID = map[ledger.Key]*chainEntry{}
	}
	entry := c.byID[workspace]
	if entry == nil {
		entry = &chainEntry{}
		c.byID[workspace] = entry
	}
	return entry
}

// chain returns the chain of a Workspace, read from the log on first use.
func (k *Keeper) chain(workspace ledger.Key) (*receipt.Chain, error) {
	entry := k.chains.of(workspace)
	entry.reading.Lock()
	defer entry.reading.Unlock()
	if entry.chain != nil {
		return entry.chain, nil
	}
	state, err := k.chainState(context.Background(), workspace)
	if err != nil {
		return nil, err
	}
	entry.chain = receipt.NewChain(workspace.ID, state)
	return entry.chain, nil
}

// chainLink is what a stored receipt says of its place.
type chainLink struct {
	Subject  abi.ResourcePointer `json:"subject"`
	Metadata struct {
		Number *uint64 `json:"chain_number"`
	} `json:"metadata"`
	Wire struct {
		Chain receipt.ChainLink `json:"chain"`
	} `json:"wire"`
}

// chainState reads where a Workspace's chain stands: its last receipt, and the
// hashes of those that are not sealed in a batch yet. Lists are in the order of
// ids, which is almost that of the chain, so a little more is read than needed.
func (k *Keeper) chainState(ctx context.Context, workspace ledger.Key) (receipt.ChainState, error) {
	hashes := map[uint64]string{}
	last, any := uint64(0), false
	page := storage.Page{Limit: 200}
	for enough := false; !enough; {
		list, more, err := k.parts.Store.List(ctx, workspace.Tenant, abi.ObjectReceipt, desk.Scope{Object: abi.ObjectWorkspace, ID: workspace.ID}, page)
		if err != nil {
			return receipt.ChainState{}, k.parts.Ledger.Failed("reading the chain of receipts", err)
		}
		for _, res := range list {
			page.After = res.ID
			var link chainLink
			if err := ledger.Decode(res.State, &link); err != nil {
				return receipt.ChainState{}, err
			}
			if link.Metadata.Number == nil {
				continue // a replay's
			}
			n := *link.Metadata.Number
			hashes[n] = link.Wire.Chain.ReceiptHash
			last, any = max(last, n), true
		}
		enough = !more || len(hashes) >= 2*receipt.BatchSize
	}
	if !any {
		return receipt.ChainState{}, nil
	}
	state := receipt.ChainState{Previous: hashes[last], Count: last + 1}
	for n := state.Count - state.Count%receipt.BatchSize; n < state.Count; n++ {
		if hashes[n] == "" {
			return state, fmt.Errorf("receipt %d of workspace %s is missing", n, workspace.ID)
		}
		state.Pending = append(state.Pending, hashes[n])
	}
	return state, nil
}

// batchHashes returns the hashes of the receipts of the batch that number n of a
// chain belongs to, and the number of the first; nil when n is not in the chain.
func (k *Keeper) batchHashes(ctx context.Context, workspace ledger.Key, n uint64) (hashes []string, first uint64, err error) {
	sealed, err := k.sealedBatch(ctx, workspace, n/receipt.BatchSize)
	if err != nil {
		return nil, 0, err
	}
	if sealed != nil {
		return sealed.Leaves, sealed.First, nil
	}
	chain, err := k.chain(workspace)
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
func (k *Keeper) sealedBatch(ctx context.Context, workspace ledger.Key, number uint64) (*receipt.Batch, error) {
	id := abi.IDPrefix(abi.ObjectReceiptBatch) + workspace.ID + "_" + strconv.FormatUint(number, 10)
	res, err := k.parts.Store.Get(ctx, workspace.Tenant, abi.ObjectReceiptBatch, id)
	if errors.Is(err, storage.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, k.parts.Ledger.Failed("reading a batch of receipts", err)
	}
	b := &receipt.Batch{}
	return b, ledger.Decode(res.State, b)
}
