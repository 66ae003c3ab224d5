package proofs

import (
	"context"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/storage"
)

// TaskReceipts returns the receipts of a Task; none before it has ended.
func (k *Keeper) TaskReceipts(ctx context.Context, c *desk.Caller, id string) ([]desk.Doc, error) {
	t, _, err := desk.Find[abi.Task](ctx, k.parts.Desk, c, abi.ObjectTask, id)
	if err != nil || t.ReceiptID == "" {
		return nil, err
	}
	doc, err := k.parts.Desk.Get(ctx, c, abi.ObjectReceipt, t.ReceiptID)
	if err != nil {
		return nil, err
	}
	return []desk.Doc{doc}, nil
}

// ReceiptWire returns the canonical (RFC 8785) bytes of a receipt.
func (k *Keeper) ReceiptWire(ctx context.Context, c *desk.Caller, id string) ([]byte, error) {
	r, _, err := desk.Find[abi.ReceiptResource](ctx, k.parts.Desk, c, abi.ObjectReceipt, id)
	return r.Wire, err
}

// VerifyReceipt checks a receipt: its schema, hash, signatures and chain. An event records the
// answer too.
func (k *Keeper) VerifyReceipt(ctx context.Context, c *desk.Caller, r *desk.Retry, id string, req abi.VerifyReceiptRequest) (abi.ReceiptVerification, error) {
	stored, res, err := desk.Find[abi.ReceiptResource](ctx, k.parts.Desk, c, abi.ObjectReceipt, id)
	if err != nil {
		return abi.ReceiptVerification{}, err
	}
	v, err := k.verify(ctx, c, &stored, req)
	if err != nil {
		return v, err
	}
	kind := abi.EventReceiptVerified
	if !v.Valid {
		kind = abi.EventReceiptVerificationFailed
	}
	doc, err := k.parts.Desk.Once(ctx, c, r, stored.WorkspaceID, func(idem *storage.Idempotency) (desk.Doc, error) {
		return ledger.Change(k.parts.Ledger, c.Tenant, id, func() (desk.Doc, error) {
			seq, _, err := k.parts.Store.Sequence(ctx, c.Tenant, abi.ResourcePointer{Object: abi.ObjectReceipt, ID: id})
			if err != nil {
				return desk.Doc{}, k.parts.Ledger.Failed("reading the receipt's events", err)
			}
			return k.parts.Desk.CommitLasting(c, stored.SessionID, stored.WorkspaceID, idem, desk.StatusOK, ledger.Record{
				Kind: kind, Object: abi.ObjectReceipt, ID: id, Sequence: seq + 1, State: jsontext.Value(res.State), Payload: &v,
			})
		})
	})
	if err == nil && doc.Replayed { // a retry: what was found at first
		v = abi.ReceiptVerification{}
		err = ledger.Decode(doc.Told, &v)
	}
	return v, err
}
