package receipt

import (
	"crypto/sha256"
	"encoding/base64"
	"sync"
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
	buffer := texts.Get().(*[]byte)
	text := r.AppendHashed((*buffer)[:0])
	hash := journal.FormatHash(sha256.Sum256(text))
	giveBack(buffer, text)
	return hash
}

// texts hold the text of receipts while it is hashed: a new one for each was a tenth of
// what a Task allocated.
var texts = sync.Pool{New: func() any { b := make([]byte, 0, 4096); return &b }}

// maxText is up to which size a buffer is used again.
const maxText = 64 << 10

// giveBack returns a buffer of texts, which has become text.
func giveBack(buffer *[]byte, text []byte) {
	if cap(text) <= maxText {
		*buffer = text
		texts.Put(buffer)
	}
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
	buffer := texts.Get().(*[]byte)
	giveBack(buffer, appendSealed((*buffer)[:0], r, previous, key, at))
}

// appendSealed is [Seal], and appends the canonical JSON of r to b, which is empty: it is
// made once, for what the hash is over and for what is kept.
func appendSealed(b []byte, r *Receipt, previous string, key *Key, at time.Time) []byte {
	r.Chain.PreviousReceiptHash, r.Signatures, r.Issuer.PublicKeyID = nil, nil, ""
	if previous != "" {
		r.Chain.PreviousReceiptHash = &previous
	}
	if key != nil && r.Subject.Object != subjectReplay {
		r.Issuer.PublicKeyID = key.ID
	}
	b, gaps := r.appendHashed(b)
	r.Chain.ReceiptHash = journal.FormatHash(sha256.Sum256(b))
	if key != nil {
		r.sign(key, abi.At(at))
	}
	return r.appendSeal(b, gaps)
}

func (r *Receipt) sign(key *Key, at time.Time) {
	s := Signature{KeyID: key.ID, Algorithm: Algorithm, Signature: key.sign(r.Chain.ReceiptHash)}
	if !at.Equal(r.IssuedAt) {
		s.SignedAt = at
	}
	r.Signatures = []Signature{s}
}
