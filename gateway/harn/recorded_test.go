package harn_test

import (
	"context"
	"io"
	"strings"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/engine"
	"github.com/wharf-dev/wharf/runtime/journal"
)

// recorded is an engine whose Tasks have receipts and records of a known content:
// what the adapter makes of them is all that is tested here.
type recorded struct {
	*engine.Engine
	replay  abi.ReplayTaskRequest // the last ones that arrived
	fork    abi.ForkTaskRequest
	verify  abi.VerifyReceiptRequest
	retry   *desk.Retry
	tears   bool // an export ends too early
	rotated int
}

const wire = `{"receipt_id":"rcpt_x","schema":"receipt-2026-04-25"}`

func receiptOf(task string) string { return "rcpt_" + strings.TrimPrefix(task, "task_") }

func (c *recorded) task(ctx context.Context, by *desk.Caller, receipt string) (string, error) {
	id := "task_" + strings.TrimPrefix(receipt, "rcpt_")
	if _, err := c.Engine.Get(ctx, by, abi.ObjectTask, id); err != nil {
		return "", abi.NotFound(abi.ObjectReceipt, receipt)
	}
	return id, nil
}

func receiptDoc(task string) desk.Doc {
	id := receiptOf(task)
	return desk.Doc{ID: id, JSON: []byte(`{"id":"` + id + `","object":"receipt","created_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-01T00:00:00Z",` +
		`"metadata":{},"subject":{"object":"task","id":"` + task + `"},"format":"receipt-2026-04-25","summary":"s","issued_at":"2026-01-01T00:00:00Z",` +
		`"issuer":"wharf","task_id":"` + task + `","workspace_id":"ws","session_id":"s","wire":` + wire + `}`)}
}

func (c *recorded) Get(ctx context.Context, by *desk.Caller, o abi.Object, id string) (desk.Doc, error) {
	if o != abi.ObjectReceipt {
		return c.Engine.Get(ctx, by, o, id)
	}
	task, err := c.task(ctx, by, id)
	return receiptDoc(task), err
}

func (c *recorded) TaskReceipts(ctx context.Context, by *desk.Caller, id string) ([]desk.Doc, error) {
	if _, err := c.Engine.Get(ctx, by, abi.ObjectTask, id); err != nil {
		return nil, err
	}
	return []desk.Doc{receiptDoc(id), receiptDoc("task_2"), receiptDoc("task_3")}, nil
}

func (c *recorded) ReceiptWire(ctx context.Context, by *desk.Caller, id string) ([]byte, error) {
	_, err := c.task(ctx, by, id)
	return []byte(wire), err
}

func (c *recorded) VerifyReceipt(ctx context.Context, by *desk.Caller, r *desk.Retry, id string, req abi.VerifyReceiptRequest) (abi.ReceiptVerification, error) {
	c.verify, c.retry = req, r
	_, err := c.task(ctx, by, id)
	return abi.ReceiptVerification{Valid: true}, err
}

func (c *recorded) SigningKeys() abi.SigningKeys {
	return abi.SigningKeys{Issuer: "wharf", Keys: []abi.SigningKey{{KeyID: "k1", Algorithm: "ed25519", PublicKey: "AAAA"}}}
}

func (c *recorded) RotateSigningKey(context.Context, *desk.Caller) (abi.SigningKeys, error) {
	c.rotated++
	return c.SigningKeys(), nil
}

func (c *recorded) ReplayTask(ctx context.Context, by *desk.Caller, r *desk.Retry, id string, req abi.ReplayTaskRequest) (desk.Doc, error) {
	c.replay, c.retry = req, r
	return c.Engine.Get(ctx, by, abi.ObjectTask, id)
}

func (c *recorded) ForkTask(ctx context.Context, by *desk.Caller, r *desk.Retry, id string, req abi.ForkTaskRequest) (desk.Doc, error) {
	c.fork, c.retry = req, r
	return c.Engine.Get(ctx, by, abi.ObjectTask, id)
}

func (c *recorded) ReplaySession(ctx context.Context, by *desk.Caller, r *desk.Retry, id string, _ abi.ReplaySessionRequest, _ string) (desk.DocList, error) {
	c.retry = r
	if _, err := c.Engine.Get(ctx, by, abi.ObjectSession, id); err != nil {
		return desk.DocList{}, err
	}
	return c.List(ctx, by, abi.ObjectTask, desk.Filter{SessionID: id}, desk.Page{Limit: 200})
}

func (c *recorded) TaskRecord(ctx context.Context, by *desk.Caller, id string) (*journal.Record, error) {
	_, err := c.Engine.Get(ctx, by, abi.ObjectTask, id)
	return &journal.Record{TaskID: id, Input: journal.Text("in\xff"), Entries: []journal.Entry{{Call: "clock", Answer: journal.Text(`{"t":1}`)}}}, err
}

// bundleSize is more than what fits between the adapter and a client.
const bundleSize = 8 << 20

func (c *recorded) ExportTask(ctx context.Context, by *desk.Caller, id string, w io.Writer) error {
	if _, err := c.Engine.Get(ctx, by, abi.ObjectTask, id); err != nil {
		return err
	}
	size := int64(bundleSize)
	if c.tears {
		size /= 2
	}
	if _, err := io.CopyN(w, zeros{}, size); err != nil {
		return err
	}
	if c.tears {
		return io.ErrUnexpectedEOF
	}
	return nil
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }
