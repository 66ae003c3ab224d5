package receipt

import (
	"crypto/sha256"
	"encoding/base64"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/journal"
)

// Algorithm is the one that Wharf signs with.
const Algorithm = "ed25519"

// signaturePrefix says how the bytes of a signature are written.
const signaturePrefix = "base64:"

func appendBase64(b, data []byte) []byte { return base64.StdEncoding.AppendEncode(b, data) }

// Hash returns the hash of r: "sha256:" and hex of SHA-256 over [Receipt.AppendHashed].
func Hash(r *Receipt) string {
	return journal.FormatHash(sha256.Sum256(r.AppendHashed(make([]byte, 0, 4096))))
}

// Seal gives r its place after the receipt with the hash previous ("" for the
// first of a chain), its hash, and a signature of key made at the given time. A
// nil key leaves r unsigned. The receipts of a Workspace are sealed by its [Chain];
// a replay's receipt follows the receipt of its source.
//
// A receipt that is signed when it is issued does not state signed_at: no hash
// covers that member, so anybody could change it. A replay's receipt is issued at
// a time of its record and names no key, since two nodes give it the same hash.
func Seal(r *Receipt, previous string, key *Key, at time.Time) {
	r.Chain.PreviousReceiptHash, r.Signatures, r.Issuer.PublicKeyID = nil, nil, ""
	if previous != "" {
		r.Chain.PreviousReceiptHash = &previous
	}
	if key != nil && r.Subject.Object != subjectReplay {
		r.Issuer.PublicKeyID = key.ID
	}
	r.Chain.ReceiptHash = Hash(r)
	if key != nil {
		r.sign(key, abi.At(at))
	}
}

func (r *Receipt) sign(key *Key, at time.Time) {
	s := Signature{KeyID: key.ID, Algorithm: Algorithm, Signature: key.sign(r.Chain.ReceiptHash)}
	if !at.Equal(r.IssuedAt) {
		s.SignedAt = at
	}
	r.Signatures = []Signature{s}
}
