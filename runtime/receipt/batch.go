package receipt

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/journal"
)

// Batch puts receipts of a Workspace's chain that follow each other under one
// Merkle root. A leaf is the ASCII text of a receipt's hash.
type Batch struct {
	ID          string     `json:"id"` // derived from the Workspace and the number
	Object      abi.Object `json:"object"`
	WorkspaceID string     `json:"workspace_id"`
	Number      uint64     `json:"number"` // of the batch, from 0
	First       uint64     `json:"first"`  // position in the chain of the first receipt, from 0
	Count       int        `json:"count"`
	Root        string     `json:"root"`
	Leaves      []string   `json:"leaves"` // the receipts' hashes
	KeyID       string     `json:"key_id"`
	// Signature is over "wharf receipt batch 1", the Workspace, First, Count and
	// Root, each followed by a newline.
	Signature string   `json:"signature"`
	SealedAt  abi.Time `json:"sealed_at"`
}

// SealBatch seals the receipts with the given hashes, of which the first stands at
// position first of the Workspace's chain. There may be fewer than [BatchSize].
func SealBatch(workspace string, first uint64, hashes []string, key *Key, at time.Time) (Batch, error) {
	leaves, err := batchLeaves(hashes)
	if err != nil {
		return Batch{}, fmt.Errorf("sealing a batch of receipts: %w", err)
	}
	number := first / BatchSize
	b := Batch{ID: abi.IDPrefix(abi.ObjectReceiptBatch) + workspace + "_" + strconv.FormatUint(number, 10),
		Object: abi.ObjectReceiptBatch, WorkspaceID: workspace, Number: number, First: first, Count: len(hashes),
		Root: journal.FormatHash(Root(leaves)), Leaves: hashes, SealedAt: abi.At(at)}
	if key != nil {
		b.KeyID, b.Signature = key.ID, key.sign(b.signed())
	}
	return b, nil
}

func batchLeaves(hashes []string) ([]abi.Hash, error) {
	if len(hashes) == 0 {
		return nil, errors.New("it has none")
	}
	leaves := make([]abi.Hash, len(hashes))
	for i, h := range hashes {
		if _, err := journal.ParseHash(h); err != nil {
			return nil, err
		}
		leaves[i] = HashLeaf([]byte(h))
	}
	return leaves, nil
}

func (b *Batch) signed() string {
	return batchText(b.WorkspaceID, b.First, b.Count, b.Root)
}

func batchText(workspace string, first uint64, count int, root string) string {
	return fmt.Sprintf("wharf receipt batch 1\n%s\n%d\n%d\n%s\n", workspace, first, count, root)
}

// Inclusion proves that a receipt is in a sealed batch, without the other receipts.
type Inclusion struct {
	WorkspaceID string `json:"workspace_id"`
	First       uint64 `json:"first"`
	Root        string `json:"root"`
	ReceiptHash string `json:"receipt_hash"`
	Proof       Proof  `json:"proof"`
	KeyID       string `json:"key_id"`
	Signature   string `json:"signature"` // that of the batch
}

// Include proves that the receipt with the given hash is in the batch.
func (b *Batch) Include(hash string) (Inclusion, error) {
	leaves, err := batchLeaves(b.Leaves)
	if err != nil {
		return Inclusion{}, fmt.Errorf("reading batch %s: %w", b.ID, err)
	}
	for i, h := range b.Leaves {
		if h == hash {
			return Inclusion{WorkspaceID: b.WorkspaceID, First: b.First, Root: b.Root, ReceiptHash: hash,
				Proof: Prove(leaves, i), KeyID: b.KeyID, Signature: b.Signature}, nil
		}
	}
	return Inclusion{}, fmt.Errorf("batch %s does not hold the receipt with the hash %s", b.ID, hash)
}

// Verify checks the proof and the batch's signature against the keys.
func (i *Inclusion) Verify(keys []abi.SigningKey) error {
	root, err := journal.ParseHash(i.Root)
	if err != nil {
		return fmt.Errorf("the root: %w", err)
	}
	if !VerifyProof(root, HashLeaf([]byte(i.ReceiptHash)), i.Proof) {
		return errors.New("the path does not lead from the receipt's hash to the root")
	}
	if err := VerifyText(batchText(i.WorkspaceID, i.First, i.Proof.Count, i.Root), i.KeyID, i.Signature, keys); err != nil {
		return fmt.Errorf("the batch: %w", err)
	}
	return nil
}
