package journal

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/wharf-dev/wharf/abi"
)

// hashPrefix is how hashes begin in records and receipts.
const hashPrefix = "sha256:"

// HashOf returns the SHA-256 of b as "sha256:" and lower-case hex.
func HashOf(b []byte) string {
	h := sha256.Sum256(b)
	return FormatHash(h)
}

// FormatHash returns h as "sha256:" and lower-case hex.
func FormatHash(h abi.Hash) string { return hashPrefix + hex.EncodeToString(h[:]) }

// ParseHash reads what [FormatHash] wrote.
func ParseHash(s string) (h abi.Hash, err error) {
	digits, ok := strings.CutPrefix(s, hashPrefix)
	if !ok || len(digits) != 2*len(h) {
		return h, fmt.Errorf("%q is not a hash: it is %s and 64 hex digits", s, hashPrefix)
	}
	if _, err := hex.Decode(h[:], []byte(digits)); err != nil || strings.ToLower(digits) != digits {
		return h, fmt.Errorf("%q is not a hash: it is %s and 64 lower-case hex digits", s, hashPrefix)
	}
	return h, nil
}
