package identity

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/lestrrat-go/jwx/v3/jwk"
)

const (
	// maxKeys bounds the keys of one issuer.
	maxKeys = 64
	// minRSABits and maxRSABits are the shortest and the longest modulus that is taken.
	// What a signature costs grows with the cube of it, and anybody may show one.
	minRSABits = 2048
	maxRSABits = 8192
	// maxRSAExponent is what every library takes; larger ones cost the more.
	maxRSAExponent = 1<<31 - 1
)

// publicKey is a key that signatures are verified with.
type publicKey struct {
	id        string
	algorithm string // what it may be used with; "" for whatever it fits
	key       any    // *rsa.PublicKey, *ecdsa.PublicKey or ed25519.PublicKey
}

// fits reports whether signatures of the given algorithm can be made with the key. The
// algorithm is chosen by whoever made the token, so that it must not choose how a key
// is understood.
func (k *publicKey) fits(algorithm string) bool {
	if k.algorithm != "" && k.algorithm != algorithm {
		return false
	}
	switch key := k.key.(type) {
	case *rsa.PublicKey:
		return strings.HasPrefix(algorithm, "RS") || strings.HasPrefix(algorithm, "PS")
	case *ecdsa.PublicKey:
		return algorithm == curveAlgorithms[key.Curve.Params().Name]
	case ed25519.PublicKey:
		return algorithm == "EdDSA"
	}
	return false
}

// curveAlgorithms are the algorithms that belong to the curves.
var curveAlgorithms = map[string]string{"P-256": "ES256", "P-384": "ES384", "P-521": "ES512"}

// parseKeys reads a JWK set. Keys that are of no use here are left out: those of kinds
// that are not known, those that are not for signatures, short ones, secrets.
func parseKeys(text []byte) ([]publicKey, error) {
	text, err := firstKeys(text)
	if err != nil {
		return nil, fmt.Errorf("reading the keys: %w", err)
	}
	set, err := jwk.Parse(text, jwk.WithIgnoreParseError(true))
	if err != nil {
		return nil, fmt.Errorf("reading the keys: %w", err)
	}
	var keys []publicKey
	for i := range min(set.Len(), maxKeys) {
		if k, ok := set.Key(i); ok && forSignatures(k) {
			if public, ok := usable(k); ok {
				keys = append(keys, public)
			}
		}
	}
	if len(keys) == 0 {
		return nil, fmt.Errorf("none of the issuer's %d keys can verify a token", set.Len())
	}
	return keys, nil
}

// firstKeys returns a JWK set without the keys that are more than [maxKeys]: the
// library would read all of them first. Anything else it returns as it is.
func firstKeys(text []byte) ([]byte, error) {
	var set struct {
		Keys keyList `json:"keys"`
	}
	if err := json.Unmarshal(text, &set); err != nil {
		return nil, err
	}
	if len(set.Keys) < maxKeys {
		return text, nil
	}
	return json.Marshal(&set)
}

// keyList is a list of at most [maxKeys] keys; those behind are passed over.
type keyList []jsontext.Value

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (l *keyList) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	if d.PeekKind() != '[' {
		return d.SkipValue()
	}
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	for d.PeekKind() != ']' {
		v, err := d.ReadValue()
		if err != nil {
			return err
		}
		if len(*l) < maxKeys {
			*l = append(*l, v.Clone())
		}
	}
	_, err := d.ReadToken()
	return err
}

func forSignatures(k jwk.Key) bool {
	if use, ok := k.KeyUsage(); ok && use != "sig" {
		return false
	}
	operations, ok := k.KeyOps()
	return !ok || slices.Contains(operations, jwk.KeyOpVerify)
}

func usable(k jwk.Key) (publicKey, bool) {
	public, err := jwk.PublicKeyOf(k)
	if err != nil {
		return publicKey{}, false
	}
	var raw any
	if err := jwk.Export(public, &raw); err != nil {
		return publicKey{}, false
	}
	switch key := raw.(type) {
	case *rsa.PublicKey:
		if !soundRSA(key) {
			return publicKey{}, false
		}
	case *ecdsa.PublicKey, ed25519.PublicKey:
	default:
		return publicKey{}, false
	}
	p := publicKey{key: raw}
	p.id, _ = k.KeyID()
	if a, ok := k.Algorithm(); ok {
		p.algorithm = a.String()
	}
	return p, true
}

func soundRSA(key *rsa.PublicKey) bool {
	bits := key.N.BitLen()
	return bits >= minRSABits && bits <= maxRSABits && key.E >= 3 && key.E <= maxRSAExponent && key.E%2 == 1
}

// signs reports whether a signature may be of the key, as far as its length tells.
func (k *publicKey) signs(length int) bool {
	key, ok := k.key.(*rsa.PublicKey)
	return !ok || length == key.Size()
}

// withID returns the keys with the given id. "" stands for the only key that there is:
// no token makes the node try several.
func withID(keys []publicKey, id string) []publicKey {
	if id == "" && len(keys) == 1 {
		return keys
	}
	if id == "" {
		return nil
	}
	var found []publicKey
	for _, k := range keys {
		if k.id == id {
			found = append(found, k)
		}
	}
	return found
}
