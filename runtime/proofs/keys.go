package proofs

import (
	"context"
	"fmt"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/receipt"
)

// Signature is a JWS over the canonical form of a document.
type Signature struct {
	Algorithm, KeyID     string
	Protected, Signature string // its parts; the payload is not among them
}

// SignDocument signs a JSON document with the key that signs receipts. It returns nil
// when the node has none. keySet is where the key is published.
func (k *Keeper) SignDocument(document []byte, keySet string) (*Signature, error) {
	if k.parts.Keys == nil {
		return nil, nil
	}
	key := k.parts.Keys.Current()
	protected, signature, err := key.JWS(document, keySet)
	return &Signature{receipt.AlgorithmJWS, key.ID, protected, signature}, err
}

// SigningKeys returns the public keys that this node's receipts are signed with.
func (k *Keeper) SigningKeys() abi.SigningKeys {
	if k.parts.Keys == nil {
		return abi.SigningKeys{Keys: []abi.SigningKey{}}
	}
	return k.parts.Keys.Public()
}

// RotateSigningKey retires the key that signs and makes a new one. The caller
// needs abi.ScopeNode.
func (k *Keeper) RotateSigningKey(ctx context.Context, c *desk.Caller) (abi.SigningKeys, error) {
	if !c.Can(abi.ScopeNode) {
		return abi.SigningKeys{}, desk.Denied(abi.ScopeNode)
	}
	if k.parts.Keys == nil {
		return abi.SigningKeys{}, abi.Errorf(abi.CodeNotImplemented, "this node signs no receipts")
	}
	if err := k.parts.Keys.Rotate(k.parts.Now()); err != nil {
		return abi.SigningKeys{}, fmt.Errorf("rotating the signing key: %w", err)
	}
	k.parts.Log.Info("the signing key was rotated", "key", k.parts.Keys.Current().ID, "actor", c.Actor)
	return k.parts.Keys.Public(), nil
}
