package receipt

import (
	"crypto/sha256"
	"math/bits"
	"slices"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/journal"
)

// The Merkle trees are those of RFC 6962, section 2.1, over SHA-256: a leaf is
// hashed with a 0 byte in front and a node with a 1, so that neither passes for
// the other.

// HashLeaf returns the hash of a leaf with the given content.
func HashLeaf(content []byte) abi.Hash {
	h := sha256.New()
	h.Write([]byte{0})
	h.Write(content)
	return abi.Hash(h.Sum(nil))
}

func hashNode(left, right *abi.Hash) abi.Hash {
	var b [1 + 2*sha256.Size]byte
	b[0] = 1
	copy(b[1:], left[:])
	copy(b[1+sha256.Size:], right[:])
	return sha256.Sum256(b[:])
}

// Root returns the root of the tree over the given leaf hashes, at least one.
func Root(leaves []abi.Hash) abi.Hash {
	var t tree
	for i := range leaves {
		t.add(leaves[i])
	}
	return t.root()
}

// tree is the right edge of a Merkle tree that grows: the roots of its full
// subtrees from the largest to the smallest, one for each bit of count.
type tree struct {
	edge  []abi.Hash
	count int
}

func (t *tree) add(leaf abi.Hash) {
	t.edge = append(t.edge, leaf)
	for n := t.count; n&1 == 1; n >>= 1 { // two subtrees of one size become one
		last := len(t.edge) - 1
		t.edge[last-1] = hashNode(&t.edge[last-1], &t.edge[last])
		t.edge = t.edge[:last]
	}
	t.count++
}

// root returns the root; count is at least 1.
func (t *tree) root() abi.Hash {
	h := t.edge[len(t.edge)-1]
	for i := len(t.edge) - 2; i >= 0; i-- {
		h = hashNode(&t.edge[i], &h)
	}
	return h
}

// Proof shows that a leaf is the one at Index of a tree of Count leaves without
// showing the others (RFC 6962, section 2.1.1). Path holds hashes as "sha256:"
// and hex, from the leaf's sibling upwards.
type Proof struct {
	Index int      `json:"index"`
	Count int      `json:"count"`
	Path  []string `json:"path"`
}

// Prove returns the proof for the leaf at index, which must be one of leaves.
func Prove(leaves []abi.Hash, index int) Proof {
	p := Proof{Index: index, Count: len(leaves), Path: []string{}}
	for len(leaves) > 1 {
		split := splitAt(len(leaves))
		var other abi.Hash
		if index < split {
			other, leaves = Root(leaves[split:]), leaves[:split]
		} else {
			other, leaves, index = Root(leaves[:split]), leaves[split:], index-split
		}
		p.Path = append(p.Path, journal.FormatHash(other))
	}
	slices.Reverse(p.Path)
	return p
}

// splitAt returns the largest power of two below n, which is at least 2.
func splitAt(n int) int { return 1 << (bits.Len(uint(n-1)) - 1) }

// VerifyProof reports whether p proves that leaf is in the tree with the given root.
func VerifyProof(root, leaf abi.Hash, p Proof) bool {
	if p.Index < 0 || p.Index >= p.Count {
		return false
	}
	at, last := p.Index, p.Count-1
	for _, text := range p.Path {
		sibling, err := journal.ParseHash(text)
		if err != nil || last == 0 {
			return false
		}
		if at&1 == 0 && at < last {
			leaf = hashNode(&leaf, &sibling)
		} else {
			leaf = hashNode(&sibling, &leaf)
			for at&1 == 0 { // the right edge skips levels that have no sibling
				at, last = at>>1, last>>1
			}
		}
		at, last = at>>1, last>>1
	}
	return last == 0 && leaf == root
}
