package receipt

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"time"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/abi/plainly"
	"github.com/wharf-dev/wharf/runtime/journal"
)

// CheckStatus is the result of one check.
type CheckStatus string

// The results of checks.
const (
	CheckOK         CheckStatus = "ok"
	CheckFailed     CheckStatus = "failed"
	CheckNotChecked CheckStatus = "not_checked"
)

// Check is one thing that was looked at. Reason says why it failed or was not
// checked, and otherwise what was found where that is worth saying.
type Check struct {
	Name   string      `json:"name"`
	Status CheckStatus `json:"status"`
	Reason string      `json:"reason,omitzero"`
}

// Report is the result of a verification.
type Report struct {
	Valid  bool    `json:"valid"` // no check failed
	Checks []Check `json:"checks"`
}

// NewReport returns the report on the given checks, which it owns.
func NewReport(checks []Check) Report {
	failed := slices.ContainsFunc(checks, func(c Check) bool { return c.Status == CheckFailed })
	return Report{Valid: !failed, Checks: checks}
}

// Reason names the first check that failed, "" when none did.
func (r *Report) Reason() string {
	for _, c := range r.Checks {
		if c.Status == CheckFailed {
			return c.Name + ": " + c.Reason
		}
	}
	return ""
}

// Passed returns a check that found what it should, or failed with err.
func Passed(name string, err error) Check {
	if err != nil {
		return Check{name, CheckFailed, plainly.Say(err)}
	}
	return Check{Name: name, Status: CheckOK}
}

// Skipped returns a check that was not made.
func Skipped(name, reason string) Check { return Check{name, CheckNotChecked, reason} }

// The checks of a receipt, in the order in which they are made.
const (
	CheckNameSchema     = "schema"         // it has the members that the format asks for, and no others
	CheckNameCanonical  = "canonical_form" // its bytes are those of RFC 8785
	CheckNameHash       = "hash"           // chain.receipt_hash is the hash of the rest
	CheckNameChain      = "chain"          // it follows the receipt that it should
	CheckNameSignatures = "signatures"     // every signature by a known key holds, and there is one
	CheckNameTime       = "time"           // it was issued by the time that was asked for
	CheckNameAnchor     = "trust_anchor"   // the key that was asked for has signed
	CheckNameMerkle     = "merkle_root"    // its root is that of the Task's record
)

// Trust is what a verifier knows besides the receipt.
type Trust struct {
	Keys []abi.SigningKey
	// Anchor is the id of one of Keys, or a public key in base64, that must have signed.
	Anchor string
	// At is the time by which the receipt must have been issued.
	At time.Time
	// Previous is the hash of the receipt before; "" says that there is none, and nil
	// that it is not known.
	Previous *string
	// Leaves are the leaf hashes of the Task's record ([Leaves]); nil when it is not known.
	Leaves []abi.Hash
}

// claims are the members of a receipt that are checked, in whatever receipt.
type claims struct {
	IssuedAt time.Time `json:"issued_at"`
	Issuer   struct {
		PublicKeyID string `json:"public_key_id"`
	} `json:"issuer"`
	Chain      ChainLink   `json:"chain"`
	Signatures []Signature `json:"signatures"`
}

// Verify checks the bytes of a receipt, also of one that another harness issued.
// It takes any input. A receipt is valid when no check has failed; what was not
// checked, and why, is in the report.
func Verify(wire []byte, trust Trust) Report {
	if err := CheckSchema(wire); err != nil {
		return NewReport(unreadable(err))
	}
	var c claims
	if err := json.Unmarshal(wire, &c); err != nil { // such as a member that is there twice
		return NewReport(unreadable(err))
	}
	return NewReport([]Check{
		Passed(CheckNameSchema, nil),
		Passed(CheckNameCanonical, checkCanonical(wire)),
		Passed(CheckNameHash, checkHash(wire, c.Chain.ReceiptHash)),
		checkChain(&c, trust.Previous),
		checkSignatures(&c, trust.Keys),
		checkTime(&c, trust.At),
		checkAnchor(&c, &trust),
		checkMerkle(&c, trust.Leaves),
	})
}

func unreadable(err error) []Check {
	checks := []Check{Passed(CheckNameSchema, err)}
	for _, name := range []string{CheckNameCanonical, CheckNameHash, CheckNameChain, CheckNameSignatures, CheckNameTime, CheckNameAnchor, CheckNameMerkle} {
		checks = append(checks, Skipped(name, "the receipt does not follow its schema"))
	}
	return checks
}

func checkCanonical(wire []byte) error {
	canonical, err := Canonicalize(wire)
	if err == nil && !bytes.Equal(canonical, wire) {
		err = errors.New("the bytes are not in the form of RFC 8785")
	}
	return err
}

// Canonicalize returns the canonical form (RFC 8785) of any JSON. Names that are
// there twice and text that is not UTF-8 are errors.
func Canonicalize(text []byte) ([]byte, error) {
	canonical := jsontext.Value(bytes.Clone(text))
	if err := canonical.Canonicalize(); err != nil {
		return nil, fmt.Errorf("it is not JSON: it may have a name twice, or text that is not UTF-8: %w", err)
	}
	return canonical, nil
}

// HashWire returns the hash of any receipt in JSON, whoever wrote it.
func HashWire(wire []byte) (string, error) {
	var members map[string]jsontext.Value
	if err := json.Unmarshal(wire, &members); err != nil {
		return "", fmt.Errorf("reading the receipt: %w", err)
	}
	var chain map[string]jsontext.Value
	if err := json.Unmarshal(members["chain"], &chain); err != nil {
		return "", fmt.Errorf("reading the receipt's chain: %w", err)
	}
	delete(members, "signatures")
	delete(chain, "receipt_hash")
	var err error
	if members["chain"], err = json.Marshal(chain); err != nil {
		return "", fmt.Errorf("reading the receipt's chain: %w", err)
	}
	rest, err := json.Marshal(members)
	if err != nil {
		return "", fmt.Errorf("reading the receipt: %w", err)
	}
	hashed, err := Canonicalize(rest)
	if err != nil {
		return "", err
	}
	return journal.HashOf(hashed), nil
}

func checkHash(wire []byte, stated string) error {
	actual, err := HashWire(wire)
	if err == nil && actual != stated {
		err = fmt.Errorf("the receipt states %s, and its content gives %s", stated, actual)
	}
	return err
}

func checkChain(c *claims, previous *string) Check {
	if previous == nil {
		return Skipped(CheckNameChain, "the receipt before is not at hand")
	}
	stated := ""
	if c.Chain.PreviousReceiptHash != nil {
		stated = *c.Chain.PreviousReceiptHash
	}
	if stated == *previous {
		return Passed(CheckNameChain, nil)
	}
	return Passed(CheckNameChain, fmt.Errorf("it follows %s, and the receipt before is %s", orNone(stated), orNone(*previous)))
}

func orNone(hash string) string {
	if hash == "" {
		return "none"
	}
	return hash
}

func checkSignatures(c *claims, keys []abi.SigningKey) Check {
	unsigned := len(c.Signatures) == 0 && c.Issuer.PublicKeyID == ""
	switch {
	case len(keys) == 0 && unsigned:
		return Skipped(CheckNameSignatures, "it is not signed, and names no key")
	case len(keys) == 0:
		return Skipped(CheckNameSignatures, "no public keys are at hand")
	case unsigned: // whoever took the signature away took the key's name with it
		return Passed(CheckNameSignatures, errors.New("it is not signed, and there are keys that should have"))
	}
	signers, err := c.signers(keys)
	switch {
	case err != nil:
	case c.Issuer.PublicKeyID != "" && !slices.Contains(signers, c.Issuer.PublicKeyID):
		err = fmt.Errorf("it names the key %s, which has not signed it or is not known", c.Issuer.PublicKeyID)
	case len(signers) == 0:
		err = errors.New("none of its signatures is by a known key")
	}
	return Passed(CheckNameSignatures, err)
}

// signers returns the ids of the known keys that have signed, or the first
// signature of a known key that does not hold.
func (c *claims) signers(keys []abi.SigningKey) ([]string, error) {
	var signers []string
	for i := range c.Signatures {
		s := &c.Signatures[i]
		at := slices.IndexFunc(keys, func(k abi.SigningKey) bool { return k.KeyID == s.KeyID })
		if at < 0 {
			continue
		}
		if err := c.verify(s, &keys[at]); err != nil {
			return nil, err
		}
		signers = append(signers, s.KeyID)
	}
	return signers, nil
}

// grace is how far a signature may lie outside the time in which its key was in
// use: a receipt that is issued while keys rotate may get either, and clocks step.
const grace = time.Minute

// verify checks one signature: by this key, and while the key was in use.
func (c *claims) verify(s *Signature, k *abi.SigningKey) error {
	public, err := parsePublic(k)
	if err != nil {
		return err
	}
	if s.Algorithm != Algorithm {
		return fmt.Errorf("the signature by %s is of the algorithm %q, which is not known", s.KeyID, s.Algorithm)
	}
	signature, err := parseSignature(s.Signature)
	if err != nil {
		return err
	}
	if !ed25519.Verify(public, []byte(c.Chain.ReceiptHash), signature) {
		return fmt.Errorf("the signature by %s does not hold", s.KeyID)
	}
	signed := s.SignedAt
	if signed.IsZero() {
		signed = c.IssuedAt
	}
	if !k.CreatedAt.IsZero() && signed.Before(k.CreatedAt.Add(-grace)) {
		return fmt.Errorf("it was signed at %s, before the key %s was made at %s", stamp(signed), k.KeyID, stamp(k.CreatedAt))
	}
	if !k.RetiredAt.IsZero() && signed.After(k.RetiredAt.Add(grace)) {
		return fmt.Errorf("it was signed at %s, after the key %s was retired at %s", stamp(signed), k.KeyID, stamp(k.RetiredAt))
	}
	return nil
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

func checkTime(c *claims, at time.Time) Check {
	if at.IsZero() {
		return Skipped(CheckNameTime, "no time was asked for")
	}
	if c.IssuedAt.After(at) {
		return Passed(CheckNameTime, fmt.Errorf("it was issued at %s, after %s", stamp(c.IssuedAt), stamp(at)))
	}
	return Passed(CheckNameTime, nil)
}

func checkAnchor(c *claims, trust *Trust) Check {
	if trust.Anchor == "" {
		return Skipped(CheckNameAnchor, "no trust anchor was given")
	}
	return Passed(CheckNameAnchor, c.signedBy(trust))
}

func (c *claims) signedBy(trust *Trust) error {
	key, err := trust.anchor()
	if err != nil {
		return err
	}
	for i := range c.Signatures {
		if c.verify(&c.Signatures[i], &key) == nil {
			return nil
		}
	}
	return fmt.Errorf("the key %s has not signed it", key.KeyID)
}

// anchor returns the key that must have signed.
func (t *Trust) anchor() (abi.SigningKey, error) {
	for _, k := range t.Keys {
		if k.KeyID == t.Anchor || k.PublicKey == t.Anchor {
			return k, nil
		}
	}
	public, err := base64.StdEncoding.Strict().DecodeString(t.Anchor)
	if err != nil || len(public) != ed25519.PublicKeySize {
		return abi.SigningKey{}, fmt.Errorf("%q is neither the id of a known key nor an ed25519 public key in base64", t.Anchor)
	}
	return abi.SigningKey{KeyID: keyID(public), Algorithm: Algorithm, PublicKey: t.Anchor}, nil
}

func checkMerkle(c *claims, leaves []abi.Hash) Check {
	if leaves == nil {
		return Skipped(CheckNameMerkle, "the Task's record is not at hand")
	}
	root := ""
	if len(leaves) > 0 {
		root = journal.FormatHash(Root(leaves))
	}
	if root != c.Chain.MerkleRoot {
		return Passed(CheckNameMerkle, fmt.Errorf("it states %s, and the record of %d calls gives %s", orNone(c.Chain.MerkleRoot), len(leaves), orNone(root)))
	}
	return Passed(CheckNameMerkle, nil)
}

// VerifyText checks a signature over any text by the key with the given id.
func VerifyText(text, keyID, signature string, keys []abi.SigningKey) error {
	public, err := publicKey(keys, keyID)
	if err != nil {
		return err
	}
	raw, err := parseSignature(signature)
	if err != nil {
		return err
	}
	if !ed25519.Verify(public, []byte(text), raw) {
		return fmt.Errorf("the signature by %s does not hold", keyID)
	}
	return nil
}
