package receipt

import (
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"strings"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
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

// VerifyJWS checks a JWS over the canonical form of a document, and returns the id of
// the key of keys that has signed it.
func VerifyJWS(keys []abi.SigningKey, document []byte, protected, signature string) (keyID string, err error) {
	encoding := base64.RawURLEncoding.Strict()
	text, err := encoding.DecodeString(protected)
	if err != nil {
		return "", fmt.Errorf("reading the header of the signature: %w", err)
	}
	var header struct {
		jwsHeader `json:",inline"`
		Critical  jsontext.Value `json:"crit"`
		Unencoded *bool          `json:"b64"`
	}
	if err := json.Unmarshal(text, &header); err != nil {
		return "", fmt.Errorf("reading the header of the signature: %w", err)
	}
	if header.Algorithm != AlgorithmJWS || header.Critical != nil || header.Unencoded != nil {
		return "", fmt.Errorf("the signature is made by other rules than %s", AlgorithmJWS)
	}
	public, err := publicKey(keys, header.KeyID)
	if err != nil {
		return "", err
	}
	canonical := jsontext.Value(document).Clone()
	if err := canonical.Canonicalize(); err != nil {
		return "", fmt.Errorf("bringing what is signed into its canonical form: %w", err)
	}
	raw, err := encoding.DecodeString(signature)
	if err != nil || strings.ContainsAny(signature, "\r\n") || !ed25519.Verify(public, []byte(protected+"."+encoding.EncodeToString(canonical)), raw) {
		return "", fmt.Errorf("the signature by %s is not one of this document", header.KeyID)
	}
	return header.KeyID, nil
}
