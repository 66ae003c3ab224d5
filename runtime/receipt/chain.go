package receipt

import (
	"sync"
	"time"
)

// BatchSize is how many receipts of a Workspace's chain are sealed under one root.
const BatchSize = 256

// ChainState is where a chain stands.
type ChainState struct {
	Previous string   // the hash of the last receipt; "" when there is none
	Count    uint64   // receipts in the chain
	Pending  []string // hashes of the last Count % BatchSize receipts, in order
}

// Chain orders the receipts of one Workspace. It is safe for concurrent use: one
// Workspace never waits for another.
type Chain struct {
	workspace string
	mu        sync.Mutex
	state     ChainState
}

// NewChain returns the chain of a Workspace that goes on from state, which it owns
// from then on.
func NewChain(workspace string, state ChainState) *Chain {
	return &Chain{workspace: workspace, state: state}
}

// Seal seals r as the next of the chain and hands it over, both under the chain's
// lock, so that receipts are handed over in the order of the chain. hand must put
// the receipt where nothing that is handed over later can become durable before
// it; text is its canonical JSON, which is not kept. batch is not nil when this receipt
// completes one, which then belongs into the same write. When hand fails, the chain is as
// it was before.
func (c *Chain) Seal(r *Receipt, key *Key, at time.Time, hand func(text []byte, number uint64, batch *Batch) error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	buffer := texts.Get().(*[]byte)
	text := appendSealed((*buffer)[:0], r, c.state.Previous, key, at)
	defer giveBack(buffer, text)
	pending := append(c.state.Pending, r.Chain.ReceiptHash)
	var batch *Batch
	if len(pending) >= BatchSize {
		first := c.state.Count + 1 - uint64(len(pending))
		sealed, err := SealBatch(c.workspace, first, pending, key, at)
		if err != nil {
			return err
		}
		batch, pending = &sealed, nil
	}
	if err := hand(text, c.state.Count, batch); err != nil {
		return err
	}
	c.state = ChainState{Previous: r.Chain.ReceiptHash, Count: c.state.Count + 1, Pending: pending}
	return nil
}

// State returns where the chain stands. The caller owns the result.
func (c *Chain) State() ChainState {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.state
	s.Pending = append([]string(nil), s.Pending...)
	return s
}
