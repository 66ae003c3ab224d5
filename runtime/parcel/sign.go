package parcel

import (
	"fmt"
	"slices"
	"strings"
	"time"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/receipt"
)

// maxSignatures is how many a package has at most.
const maxSignatures = 16

// signedFor stands before what is signed, so that the signature of a package can be no other's.
const signedFor = "wharf package\n"

// Signature is what somebody has signed a package with.
type Signature struct {
	KeyID     string `json:"key_id"`
	Algorithm string `json:"algorithm"`  // ed25519
	PublicKey string `json:"public_key"` // 32 bytes in base64
	Value     string `json:"signature"`  // "base64:" and 64 bytes
}

// signatures is the file of signatures.
type signatures struct {
	Signatures []Signature `json:"signatures"`
}

// Sign adds the signature of a key, once.
func (p *Package) Sign(key *receipt.Key) {
	public := key.Public(time.Time{})
	p.Signatures = slices.DeleteFunc(p.Signatures, func(s Signature) bool { return s.PublicKey == public.PublicKey })
	p.Signatures = append(p.Signatures, Signature{public.KeyID, public.Algorithm, public.PublicKey, key.Sign(signedFor + string(p.Contents))})
	p.sortSignatures()
}

func (p *Package) sortSignatures() {
	slices.SortFunc(p.Signatures, func(a, b Signature) int { return strings.Compare(a.PublicKey, b.PublicKey) })
}

// SignaturesJSON returns the file of signatures.
func (p *Package) SignaturesJSON() ([]byte, error) {
	text, err := json.Marshal(signatures{p.Signatures}, jsontext.WithIndent("  "))
	if err != nil {
		return nil, fmt.Errorf("writing the signatures: %w", err)
	}
	return append(text, '\n'), nil
}

// readSignatures checks the signatures that a package carries.
func (p *Package) readSignatures(text []byte) error {
	var s signatures
	if err := json.Unmarshal(text, &s, json.RejectUnknownMembers(true)); err != nil {
		return refuse("%s holds no signatures: sign the package again", SignaturesPath)
	}
	if len(s.Signatures) > maxSignatures {
		return refuse("%s holds %d signatures, and at most %d are read", SignaturesPath, len(s.Signatures), maxSignatures)
	}
	seen := map[string]bool{}
	for _, one := range s.Signatures {
		if err := p.verify(&one); err != nil {
			return refuse("the signature of the key %q is not right: %v. The package was changed after it was signed, or somebody has put the signature of another there", clip(one.KeyID), err)
		}
		if seen[one.PublicKey] {
			return refuse("%s holds two signatures of the key %s", SignaturesPath, one.KeyID)
		}
		seen[one.PublicKey] = true
	}
	p.Signatures = s.Signatures
	p.sortSignatures()
	return nil
}

// verify holds a signature against the package, and the key's id against the key.
func (p *Package) verify(s *Signature) error {
	id, err := receipt.KeyID(s.PublicKey)
	if err != nil {
		return err
	}
	if s.KeyID != id {
		return fmt.Errorf("that key is %s", id)
	}
	return receipt.VerifyText(signedFor+string(p.Contents), id, s.Value,
		[]abi.SigningKey{{KeyID: id, Algorithm: s.Algorithm, PublicKey: s.PublicKey}})
}

// Trust is a policy: whose signatures count. Without a key it lets every package pass.
type Trust []abi.SigningKey

// Untrusted is the error for a package that nobody has signed who is trusted.
type Untrusted struct {
	What   string   // the package, by name and version
	Signed []string // by the keys with these ids
}

func (u *Untrusted) Error() string {
	if len(u.Signed) == 0 {
		return fmt.Sprintf("%s is not signed, and only packages of trusted keys are taken", u.What)
	}
	return fmt.Sprintf("%s is signed by %s, and no such key is trusted", u.What, strings.Join(u.Signed, ", "))
}

// Check returns an [*Untrusted] for a package that the policy does not let pass. A signature does not say when it
// was made, so that of a retired key does not count.
func (t Trust) Check(p *Package) error {
	return t.CheckSigned(p.Manifest.Name+" "+p.Manifest.Version, p.SignedBy())
}

// CheckSigned is [Trust.Check] of a package that was read before: what it is, and the public keys that have signed
// it. Keys are told apart by these, never by their names.
func (t Trust) CheckSigned(what string, by []string) error {
	if len(t) == 0 {
		return nil
	}
	var signed []string
	for _, public := range by {
		if slices.ContainsFunc(t, func(k abi.SigningKey) bool { return k.PublicKey == public && k.RetiredAt.IsZero() }) {
			return nil
		}
		id, err := receipt.KeyID(public)
		if err != nil {
			id = clip(public)
		}
		signed = append(signed, id)
	}
	return &Untrusted{What: what, Signed: signed}
}

// SignedBy returns the public keys that have signed a package.
func (p *Package) SignedBy() []string {
	var by []string
	for _, s := range p.Signatures {
		by = append(by, s.PublicKey)
	}
	return by
}
