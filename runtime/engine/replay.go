package engine

import (
	"context"
	"io"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/journal"
)

func notYet(what string) error {
	return abi.Errorf(abi.CodeNotImplemented, "this build cannot %s", what)
}

// ReplayTask accepts a Task that replays another (Replay contract).
func (e *Engine) ReplayTask(ctx context.Context, c *Caller, r *Retry, id string, req abi.ReplayTaskRequest) (Doc, error) {
	return Doc{}, notYet("replay tasks")
}

// ReplaySession accepts a replay of every Task of a Session, oldest first, and
// returns the replay Tasks.
func (e *Engine) ReplaySession(ctx context.Context, c *Caller, r *Retry, id string, req abi.ReplaySessionRequest) (DocList, error) {
	return DocList{}, notYet("replay sessions")
}

// ForkTask accepts a Task that shares the record of another up to an event, and
// is live from there.
func (e *Engine) ForkTask(ctx context.Context, c *Caller, r *Retry, id string, req abi.ForkTaskRequest) (Doc, error) {
	return Doc{}, notYet("fork tasks")
}

// Record returns the record of a Task. The caller needs abi.ScopeEventsInternal.
func (e *Engine) Record(ctx context.Context, c *Caller, id string) (*journal.Record, error) {
	return nil, notYet("show records")
}

// ExportTask writes a Task's run bundle (docs/bundle-format.md) to w. The caller
// needs abi.ScopeEventsInternal. Errors before the first byte are an *abi.Error.
func (e *Engine) ExportTask(ctx context.Context, c *Caller, id string, w io.Writer) error {
	return notYet("export tasks")
}

// TaskReceipts returns the receipts of a Task; none before it has ended.
func (e *Engine) TaskReceipts(ctx context.Context, c *Caller, id string) ([]Doc, error) {
	return nil, notYet("list receipts")
}

// ReceiptWire returns the canonical (RFC 8785) bytes of a receipt.
func (e *Engine) ReceiptWire(ctx context.Context, c *Caller, id string) ([]byte, error) {
	return nil, notYet("show receipts")
}

// VerifyReceipt checks a receipt: its schema, hash, signatures and chain.
func (e *Engine) VerifyReceipt(ctx context.Context, c *Caller, r *Retry, id string, req abi.VerifyReceiptRequest) (abi.ReceiptVerification, error) {
	return abi.ReceiptVerification{}, notYet("verify receipts")
}

// SigningKeys returns the public keys that this node's receipts are signed with.
func (e *Engine) SigningKeys() abi.SigningKeys { return abi.SigningKeys{Issuer: "wharf"} }

// RotateSigningKey retires the key that signs and makes a new one. The caller
// needs abi.ScopeNode.
func (e *Engine) RotateSigningKey(ctx context.Context, c *Caller) (abi.SigningKeys, error) {
	return abi.SigningKeys{}, notYet("rotate keys")
}
