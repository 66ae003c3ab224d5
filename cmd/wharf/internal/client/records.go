package client

import (
	"context"
	"io"
	"net/http"
	"net/url"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/journal"
)

func taskPath(id, verb string) string { return "/v1/tasks/" + url.PathEscape(id) + verb }

// Answer sends a Task what it waits for.
func (c *Client) Answer(ctx context.Context, id string, req abi.AppendTaskMessageRequest) (doc Doc[abi.Message], err error) {
	err = c.call(ctx, request{method: http.MethodPost, path: taskPath(id, "/messages")}, req, &doc)
	return doc, err
}

// Replay submits a replay of a Task.
func (c *Client) Replay(ctx context.Context, id string, req abi.ReplayTaskRequest) (doc Doc[abi.Task], err error) {
	err = c.call(ctx, request{method: http.MethodPost, path: taskPath(id, "/replay")}, req, &doc)
	return doc, err
}

// Fork submits a Task that shares the record of another.
func (c *Client) Fork(ctx context.Context, id string, req abi.ForkTaskRequest) (doc Doc[abi.Task], err error) {
	err = c.call(ctx, request{method: http.MethodPost, path: "/wharf" + taskPath(id, "/fork")}, req, &doc)
	return doc, err
}

// Record returns what a Task recorded.
func (c *Client) Record(ctx context.Context, id string) (doc Doc[journal.Record], err error) {
	err = c.call(ctx, request{method: http.MethodGet, path: "/wharf" + taskPath(id, "/record"), patience: -1}, nil, &doc)
	return doc, err
}

// TaskEvents lists the events of a Task so far, oldest first.
func (c *Client) TaskEvents(ctx context.Context, id string) ([]Doc[abi.Event], error) {
	var all []Doc[abi.Event]
	query := url.Values{"limit": {"200"}}
	for {
		var p page[abi.Event]
		if err := c.call(ctx, request{method: http.MethodGet, path: taskPath(id, "/events"), query: query}, nil, &p); err != nil {
			return nil, err
		}
		if all = append(all, p.Data...); !p.Page.HasMore || p.Page.NextCursor == nil {
			return all, nil
		}
		query.Set("after_event_id", *p.Page.NextCursor)
	}
}

// Export returns a Task's run bundle as it is being made. The caller closes it. A
// bundle that breaks off ends with an error other than io.EOF.
func (c *Client) Export(ctx context.Context, id string) (io.ReadCloser, error) {
	resp, err := c.send(ctx, request{method: http.MethodGet, path: "/wharf" + taskPath(id, "/bundle")})
	if err != nil {
		return nil, err
	}
	return resp.Body, nil
}

// TaskReceipts lists the receipts of a Task.
func (c *Client) TaskReceipts(ctx context.Context, id string) ([]Doc[abi.ReceiptResource], error) {
	return collect[abi.ReceiptResource](ctx, c, taskPath(id, "/receipts"), url.Values{}, 0, nil)
}

func receiptPath(id, verb string) string { return "/v1/receipts/" + url.PathEscape(id) + verb }

// Receipt returns a receipt as a resource.
func (c *Client) Receipt(ctx context.Context, id string) (doc Doc[abi.ReceiptResource], err error) {
	err = c.call(ctx, request{method: http.MethodGet, path: receiptPath(id, "")}, nil, &doc)
	return doc, err
}

// ReceiptBytes returns a receipt alone, in the form that a media type names.
func (c *Client) ReceiptBytes(ctx context.Context, id, media string) ([]byte, error) {
	ctx, cancel := c.patient(ctx, 0)
	defer cancel()
	resp, err := c.send(ctx, request{method: http.MethodGet, path: receiptPath(id, ""), header: map[string]string{"Accept": media}})
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	wire, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, c.unreachable(ctx, err)
	}
	return wire, nil
}

// VerifyReceipt has the node check a receipt.
func (c *Client) VerifyReceipt(ctx context.Context, id string, req abi.VerifyReceiptRequest) (doc Doc[abi.ReceiptVerification], err error) {
	err = c.call(ctx, request{method: http.MethodPost, path: receiptPath(id, "/verify")}, req, &doc)
	return doc, err
}

// RotateSigningKey makes the node sign receipts with a new key.
func (c *Client) RotateSigningKey(ctx context.Context) (doc Doc[abi.SigningKeys], err error) {
	err = c.call(ctx, request{method: http.MethodPost, path: "/wharf/v1/signing-keys"}, nil, &doc)
	return doc, err
}

// SigningKeys returns the public keys that the node's receipts are signed with.
func (c *Client) SigningKeys(ctx context.Context) (doc Doc[abi.SigningKeys], err error) {
	err = c.call(ctx, request{method: http.MethodGet, path: "/.well-known/wharf-keys.json"}, nil, &doc)
	return doc, err
}
