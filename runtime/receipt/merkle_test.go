package receipt

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/journal"
)

// mth is the definition of RFC 6962, section 2.1, word by word.
func mth(leaves [][]byte) abi.Hash {
	if len(leaves) == 1 {
		return sha256.Sum256(append([]byte{0}, leaves[0]...))
	}
	k := 1
	for k*2 < len(leaves) {
		k *= 2
	}
	left, right := mth(leaves[:k]), mth(leaves[k:])
	return sha256.Sum256(append(append([]byte{1}, left[:]...), right[:]...))
}

func hashLeaves(leaves [][]byte) []abi.Hash {
	hashes := make([]abi.Hash, len(leaves))
	for i := range leaves {
		hashes[i] = HashLeaf(leaves[i])
	}
	return hashes
}

func someLeaves(n int) (leaves [][]byte) {
	for i := range n {
		leaves = append(leaves, fmt.Append(nil, "leaf ", i))
	}
	return leaves
}

// TestRootOfCertificateTransparency is the test vector that Certificate
// Transparency logs publish.
func TestRootOfCertificateTransparency(t *testing.T) {
	var leaves [][]byte
	for _, digits := range []string{"", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f"} {
		leaf, _ := hex.DecodeString(digits)
		leaves = append(leaves, leaf)
	}
	root := Root(hashLeaves(leaves))
	if got := hex.EncodeToString(root[:]); got != "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328" {
		t.Error(got)
	}
}

func TestEveryProof(t *testing.T) {
	for n := 1; n <= 40; n++ {
		leaves := someLeaves(n)
		hashes, root := hashLeaves(leaves), mth(leaves)
		if Root(hashes) != root {
			t.Fatalf("the root of %d leaves differs from its definition", n)
		}
		for i := range n {
			p := Prove(hashes, i)
			for j := range hashes {
				if VerifyProof(root, hashes[j], p) != (i == j) {
					t.Fatalf("the proof of leaf %d of %d, used for leaf %d", i, n, j)
				}
			}
		}
	}
}

// TestChangedProofsFail changes one thing of a proof. (Index and count are only
// held as far as the path depends on them: what is signed is the count.)
func TestChangedProofsFail(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 300).Draw(t, "leaves")
		hashes := hashLeaves(someLeaves(n))
		i := rapid.IntRange(0, n-1).Draw(t, "index")
		root, p := Root(hashes), Prove(hashes, i)
		switch rapid.SampledFrom([]string{"index", "hash", "longer", "shorter", "text"}).Draw(t, "change") {
		case "index":
			p.Index = rapid.IntRange(-1, n).Filter(func(j int) bool { return j != i }).Draw(t, "other index")
		case "hash":
			at := rapid.IntRange(0, len(p.Path)).Draw(t, "at")
			if at == len(p.Path) {
				hashes[i][3]++
			} else {
				p.Path[at] = journal.HashOf([]byte("other"))
			}
		case "longer":
			p.Path = append(p.Path, journal.HashOf([]byte("more")))
		case "shorter":
			if len(p.Path) == 0 {
				t.Skip("a tree of one leaf")
			}
			p.Path = p.Path[1:]
		case "text":
			p.Path = append([]string{"sha256:"}, p.Path...)
		}
		if VerifyProof(root, hashes[i], p) {
			t.Fatalf("accepted %+v", p)
		}
	})
}

// TestProofHasItsLength holds that no path is taken for one of a larger tree.
func TestProofHasItsLength(t *testing.T) {
	leaf := HashLeaf([]byte("only"))
	if !VerifyProof(leaf, leaf, Proof{Index: 0, Count: 1}) {
		t.Error("the leaf of a tree of one is its root")
	}
	if VerifyProof(leaf, leaf, Proof{Index: 0, Count: 2}) || VerifyProof(leaf, leaf, Proof{Index: 1, Count: 1}) {
		t.Error("a leaf is proved in a tree of another size")
	}
}

// TestOneStepIsProvedAlone is what the root is for: show one call of a run, with
// its content, and nothing of the others.
func TestOneStepIsProvedAlone(t *testing.T) {
	r, run := sealed(t), agentRun()
	root, err := journal.ParseHash(r.Chain.MerkleRoot)
	if err != nil {
		t.Fatal(err)
	}
	shown, proof := run[3], Prove(Leaves(run), 3)
	if !VerifyProof(root, HashLeaf(AppendLeaf(nil, &shown)), proof) {
		t.Error("a true step is not proved")
	}
	shown.Answer = journal.Text(`{"status":500}`)
	if VerifyProof(root, HashLeaf(AppendLeaf(nil, &shown)), proof) {
		t.Error("a changed answer is proved")
	}
}

// TestLeafSeesEverything changes each member that a leaf stands for.
func TestLeafSeesEverything(t *testing.T) {
	base := agentRun()[2]
	leaf := AppendLeaf(nil, &base)
	for name, change := range map[string]func(*journal.Entry){
		"index": func(e *journal.Entry) { e.Index++ }, "call": func(e *journal.Entry) { e.Call = "x" }, "effect": func(e *journal.Entry) { e.Effect = abi.EffectRead },
		"key": func(e *journal.Entry) { e.Key += "x" }, "at": func(e *journal.Entry) { e.At = e.At.Add(time.Microsecond) }, "status": func(e *journal.Entry) { e.Status++ },
		"request": func(e *journal.Entry) { e.Request = append(journal.Text(nil), 'x') }, "answer": func(e *journal.Entry) { e.Answer = nil },
	} {
		e := base
		change(&e)
		if bytes.Equal(AppendLeaf(nil, &e), leaf) {
			t.Errorf("%s: the leaf is the same", name)
		}
	}
	for name, change := range map[string]func(*journal.Entry){
		"event id":    func(e *journal.Entry) { e.EventID = "77" },
		"resource":    func(e *journal.Entry) { e.Resource.ID = "x" },
		"nanoseconds": func(e *journal.Entry) { e.At = e.At.Add(time.Nanosecond) },
		"time zone":   func(e *journal.Entry) { e.At = e.At.In(time.FixedZone("x", 3600)) },
	} {
		e := base
		change(&e)
		if got := AppendLeaf(nil, &e); !bytes.Equal(got, leaf) {
			t.Errorf("%s: the leaf is %s, not %s", name, got, leaf)
		}
	}
	if canonical, err := Canonicalize(leaf); err != nil || !bytes.Equal(canonical, leaf) {
		t.Errorf("%s is not canonical (%v)", leaf, err)
	}
}
