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

// ReceiptBytes returns a receipt alone, in the form that a media type names.
func (c *Client) ReceiptBytes(ctx context.Context, id, media string) ([]byte, error) {
	ctx, cancel := c.patient(ctx, 0)
	defer cancel()
	resp, err := c.send(ctx, request{method: http.MethodGet, path: "/v1/receipts/" + url.PathEscape(id), header: map[string]string{"Accept": media}})
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
