package receipt

import (
	"crypto/ed25519"
	"encoding/base64"
	"fmt"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// AlgorithmJWS is the name of the node's signatures in a JWS (RFC 8037).
const AlgorithmJWS = "EdDSA"

// jwsHeader is the protected header of a JWS.
type jwsHeader struct {
	Algorithm string `json:"alg"`
	KeyID     string `json:"kid"`
	Type      string `json:"typ"`
	KeySet    string `json:"jku,omitzero"`
}

// JWS signs a JSON document in its canonical form (RFC 8785) and returns the parts of
// a JWS (RFC 7515) whose payload is that form. keySet, which may be empty, is where
// the public key is published.
func (k *Key) JWS(document []byte, keySet string) (protected, signature string, err error) {
	header, err := json.Marshal(jwsHeader{AlgorithmJWS, k.ID, "JOSE", keySet})
	if err != nil {
		return "", "", fmt.Errorf("writing the header of a signature: %w", err)
	}
	canonical := jsontext.Value(document).Clone()
	if err := canonical.Canonicalize(); err != nil {
		return "", "", fmt.Errorf("bringing what is signed into its canonical form: %w", err)
	}
	encoding := base64.RawURLEncoding
	protected = encoding.EncodeToString(header)
	return protected, encoding.EncodeToString(ed25519.Sign(k.private, []byte(protected+"."+encoding.EncodeToString(canonical)))), nil
}
