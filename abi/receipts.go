package abi

import "github.com/go-json-experiment/json/jsontext"

// ReceiptSchema is the format of receipts, and the value of their schema member.
const ReceiptSchema = "receipt-2026-04-25"

// The media types of a receipt. The JSON one answers with the canonical
// (RFC 8785) bytes alone.
const (
	MediaReceiptJSON = "application/vnd.harn.receipt+json"
	MediaReceiptCBOR = "application/vnd.harn.receipt+cbor"
)

// ReceiptResource is a receipt as a REST resource (docs/protocol.md, 8.3). Wire
// holds the receipt itself.
type ReceiptResource struct {
	Envelope     `json:",inline"`
	Subject      ResourcePointer      `json:"subject"`   // what it proves something of
	Format       string               `json:"format"`    // of the receipt: receipt-2026-04-25
	Summary      string               `json:"summary"`   // in a few words
	IssuedAt     Time                 `json:"issued_at"` // when it was signed
	Issuer       string               `json:"issuer"`    // the id of the node that signed it
	TaskID       string               `json:"task_id"`
	WorkspaceID  string               `json:"workspace_id"`
	SessionID    string               `json:"session_id"`
	Wire         jsontext.Value       `json:"wire"` // the receipt itself
	Verification *ReceiptVerification `json:"verification,omitzero"`
}

// VerifyReceiptRequest is the body of POST /v1/receipts/{id}/verify. TrustAnchor
// is the id of a key, or a base64 Ed25519 public key, that must have signed.
type VerifyReceiptRequest struct {
	TrustAnchor string `json:"trust_anchor,omitzero"` // who must have signed: the id of a key, or an Ed25519 public key in base64
	AtTime      Time   `json:"at_time,omitzero"`      // when the key must have been good; now if it is absent
}

// ReceiptVerification answers POST /v1/receipts/{id}/verify. Reason names the
// first check that failed; Details lists all of them.
type ReceiptVerification struct {
	Valid     bool           `json:"valid"` // every check holds
	CheckedAt Time           `json:"checked_at"`
	Reason    string         `json:"reason,omitzero"`  // the first check that failed
	Details   jsontext.Value `json:"details,omitzero"` // all checks
}

// SigningKey is a public key that receipts are signed with, as
// /.well-known/wharf-keys.json publishes it.
type SigningKey struct {
	KeyID     string `json:"key_id"`
	Algorithm string `json:"algorithm"`  // of the signatures: ed25519
	PublicKey string `json:"public_key"` // 32 bytes in base64
	CreatedAt Time   `json:"created_at"`
	RetiredAt Time   `json:"retired_at,omitzero"` // it signs no more from then on
}

// SigningKeys is the document at /.well-known/wharf-keys.json, the current key first.
type SigningKeys struct {
	Issuer string       `json:"issuer"` // the node's id as receipts name it
	Keys   []SigningKey `json:"keys"`   // the one that signs first
}
