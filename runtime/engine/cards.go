package engine

import (
	"github.com/wharf-dev/wharf/runtime/receipt"
)

// Signature is a JWS over the canonical form of a document.
type Signature struct {
	Algorithm, KeyID     string
	Protected, Signature string // its parts; the payload is not among them
}

// SignDocument signs a JSON document with the key that signs receipts. It returns nil
// when the node has none. keySet is where the key is published.
func (e *Engine) SignDocument(document []byte, keySet string) (*Signature, error) {
	if e.signing == nil {
		return nil, nil
	}
	key := e.signing.Current()
	protected, signature, err := key.JWS(document, keySet)
	return &Signature{receipt.AlgorithmJWS, key.ID, protected, signature}, err
}
