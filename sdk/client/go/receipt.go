package wharf

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
)

// ReceiptFormat is the format of the receipts that this client verifies.
const ReceiptFormat = "receipt-2026-04-25"

// ErrReceipt is what the error of a receipt that does not hold is.
var ErrReceipt = errors.New("wharf: the receipt does not hold")

// VerifiedReceipt is what a receipt that holds says.
type VerifiedReceipt struct {
	ReceiptID string
	Hash      string // that the next receipt of the Workspace follows
	Previous  string // the hash of the receipt before; "" for the first
	Subject   string // the id of what it proves something of
	IssuedAt  time.Time
	Signers   []string       // the ids of the keys that have signed it
	Members   map[string]any // all that it says
}

type claims struct {
	Schema    string
	ReceiptID string    `json:"receipt_id"`
	IssuedAt  time.Time `json:"issued_at"`
	Subject   struct{ ID string }
	Issuer    struct {
		PublicKeyID string `json:"public_key_id"`
	}
	Chain struct {
		ReceiptHash string  `json:"receipt_hash"`
		Previous    *string `json:"previous_receipt_hash"`
	}
	Signatures []signature
}

type signature struct {
	Algorithm string
	KeyID     string `json:"key_id"`
	Signature string
	SignedAt  *time.Time `json:"signed_at"`
}

// VerifyReceipt checks the bytes of a receipt: that they are the canonical form (RFC 8785) of
// one of the format [ReceiptFormat], that its hash is that of what it says, and that every signature
// by one of the keys holds and was made while the key was in use, that of the key which the
// receipt names among them. Whoever fetches keys and receipt from one node ([NodeResource.Keys]) learns
// that they fit together; for more, keep the keys from a time when you trusted the node.
// That the receipt follows its closed schema, and that its root is that of the
// Task's record, is checked by the node ([ReceiptsResource.Ask]) and by wharf verify.
func VerifyReceipt(wire []byte, keys []SigningKey) (*VerifiedReceipt, error) {
	verified, err := verifyReceipt(wire, keys)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrReceipt, err)
	}
	return verified, nil
}

func verifyReceipt(wire []byte, keys []SigningKey) (*VerifiedReceipt, error) {
	members, err := canonicalMembers(wire)
	if err != nil {
		return nil, err
	}
	var c claims
	if err := json.Unmarshal(wire, &c); err != nil {
		return nil, fmt.Errorf("it is no receipt: %w", err)
	}
	if c.Schema != ReceiptFormat {
		return nil, fmt.Errorf("its format is %q, and not %s", c.Schema, ReceiptFormat)
	}
	hash, err := receiptHash(members)
	if err != nil {
		return nil, err
	}
	if hash != c.Chain.ReceiptHash {
		return nil, fmt.Errorf("it states the hash %s, and its content gives %s", c.Chain.ReceiptHash, hash)
	}
	signers, err := c.signers(keys)
	if err != nil {
		return nil, err
	}
	v := &VerifiedReceipt{ReceiptID: c.ReceiptID, Hash: hash, Subject: c.Subject.ID, IssuedAt: c.IssuedAt, Signers: signers, Members: members}
	if c.Chain.Previous != nil {
		v.Previous = *c.Chain.Previous
	}
	return v, nil
}

// canonicalMembers reads an object, which must be in its canonical form.
func canonicalMembers(wire []byte) (map[string]any, error) {
	decoder := json.NewDecoder(bytes.NewReader(wire))
	var members map[string]any
	if err := decoder.Decode(&members); err != nil {
		return nil, fmt.Errorf("it is not JSON: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows it")
	}
	text, err := appendCanonical(nil, members)
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(text, wire) {
		return nil, errors.New("its bytes are not the canonical form of what they say")
	}
	return members, nil
}

// receiptHash returns the hash of a receipt without the members that state it.
func receiptHash(members map[string]any) (string, error) {
	chain, ok := members["chain"].(map[string]any)
	if !ok {
		return "", errors.New("it has no chain")
	}
	hashed, chain := maps.Clone(members), maps.Clone(chain)
	delete(hashed, "signatures")
	delete(chain, "receipt_hash")
	hashed["chain"] = chain
	text, err := appendCanonical(nil, hashed)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(sum[:]), nil
}

// signers returns the ids of the keys that have signed.
func (c *claims) signers(keys []SigningKey) ([]string, error) {
	var signers []string
	for _, s := range c.Signatures {
		at := slices.IndexFunc(keys, func(k SigningKey) bool { return k.KeyID == s.KeyID })
		if at < 0 {
			continue
		}
		if err := c.signed(&s, &keys[at]); err != nil {
			return nil, fmt.Errorf("the signature by %s: %w", s.KeyID, err)
		}
		signers = append(signers, s.KeyID)
	}
	named := c.Issuer.PublicKeyID
	switch {
	case named != "" && !slices.Contains(signers, named):
		return nil, fmt.Errorf("it names the key %s, which has not signed it or is not known", named)
	case len(signers) == 0:
		return nil, errors.New("none of its signatures is by a known key")
	}
	return signers, nil
}

// grace is how far a signature may lie outside the time in which its key was in use.
const grace = time.Minute

func (c *claims) signed(s *signature, key *SigningKey) error {
	encoded, ok := strings.CutPrefix(s.Signature, "base64:")
	raw, err := base64.StdEncoding.Strict().DecodeString(encoded)
	if !ok || err != nil || s.Algorithm != "ed25519" || len(key.PublicKey) != ed25519.PublicKeySize {
		return errors.New("it is not of Ed25519")
	}
	sum := sha256.Sum256(key.PublicKey)
	if key.KeyID != "sig_"+hex.EncodeToString(sum[:10]) {
		return errors.New("the key's id is not that of its bytes")
	}
	if !ed25519.Verify(key.PublicKey, []byte(c.Chain.ReceiptHash), raw) {
		return errors.New("it does not hold")
	}
	at := c.IssuedAt
	if s.SignedAt != nil {
		at = *s.SignedAt
	}
	if at.Before(key.CreatedAt.Add(-grace)) || key.RetiredAt != nil && at.After(key.RetiredAt.Add(grace)) {
		return errors.New("its key was not in use at the time")
	}
	return nil
}

// appendCanonical appends the canonical form (RFC 8785) of a value that encoding/json has read.
func appendCanonical(b []byte, value any) ([]byte, error) {
	switch v := value.(type) {
	case map[string]any:
		return appendObject(b, v)
	case []any:
		b = append(b, '[')
		for i, element := range v {
			if i > 0 {
				b = append(b, ',')
			}
			var err error
			if b, err = appendCanonical(b, element); err != nil {
				return nil, err
			}
		}
		return append(b, ']'), nil
	case float64:
		return appendNumber(b, v)
	case string:
		return appendString(b, v), nil
	case bool:
		return strconv.AppendBool(b, v), nil
	case nil:
		return append(b, "null"...), nil
	}
	return nil, fmt.Errorf("%T is not of JSON", value)
}

func appendObject(b []byte, members map[string]any) ([]byte, error) {
	names := slices.SortedFunc(maps.Keys(members), func(x, y string) int {
		return slices.Compare(utf16.Encode([]rune(x)), utf16.Encode([]rune(y)))
	})
	b = append(b, '{')
	for i, name := range names {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendString(b, name), ':')
		var err error
		if b, err = appendCanonical(b, members[name]); err != nil {
			return nil, err
		}
	}
	return append(b, '}'), nil
}

func appendString(b []byte, text string) []byte {
	const escaped = "\b\t\n\f\r\"\\"
	const letters = `btnfr"\`
	b = append(b, '"')
	for i := range len(text) {
		c := text[i]
		if at := strings.IndexByte(escaped, c); at >= 0 {
			b = append(b, '\\', letters[at])
		} else if c < ' ' {
			b = fmt.Appendf(b, `\u%04x`, c)
		} else {
			b = append(b, c)
		}
	}
	return append(b, '"')
}

// appendNumber appends a number as ECMAScript writes it.
func appendNumber(b []byte, f float64) ([]byte, error) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil, errors.New("a number is too large")
	}
	if f == 0 {
		return append(b, '0'), nil
	}
	if size := math.Abs(f); size >= 1e-6 && size < 1e21 {
		return strconv.AppendFloat(b, f, 'f', -1, 64), nil
	}
	text := strconv.FormatFloat(f, 'e', -1, 64)
	digits, exponent, _ := strings.Cut(text, "e")
	return append(b, digits+"e"+exponent[:1]+strings.TrimLeft(exponent[1:], "0")...), nil
}
