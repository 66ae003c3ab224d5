package client

import (
	"bytes"
	"context"
	"net/http"
	"net/url"
)

// Received says what became of a delivery.
type Received struct {
	Status     string `json:"status"`
	DeliveryID string `json:"delivery_id"`
	ID         string `json:"id,omitzero"`
}

// Deliver sends a delivery to a path of the node: that of a Connector's deliveries,
// or its public one.
func (c *Client) Deliver(ctx context.Context, path string, header map[string]string, body []byte) (doc Doc[Received], err error) {
	err = c.call(ctx, request{method: http.MethodPost, path: path, header: header, body: bytes.NewReader(body)}, nil, &doc)
	return doc, err
}

// DeliveriesPath is where a key may deliver to a Connector.
func DeliveriesPath(id string) string { return "/v1/connectors/" + url.PathEscape(id) + "/deliveries" }
