package client

import (
	"bytes"
	"context"
	"net/http"
	"net/url"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
)

// Connectors lists the Connectors that the key sees, newest first.
func (c *Client) Connectors(ctx context.Context) ([]Doc[abi.Connector], error) {
	return collect[abi.Connector](ctx, c, "/v1/connectors", url.Values{}, 0, nil)
}

func connectorPath(id string) string { return "/v1/connectors/" + url.PathEscape(id) }

// Connector returns a Connector.
func (c *Client) Connector(ctx context.Context, id string) (doc Doc[abi.Connector], err error) {
	err = c.call(ctx, request{method: http.MethodGet, path: connectorPath(id)}, nil, &doc)
	return doc, err
}

// CreateConnector makes a Connector.
func (c *Client) CreateConnector(ctx context.Context, req abi.CreateConnectorRequest) (doc Doc[abi.Connector], err error) {
	err = c.call(ctx, request{method: http.MethodPost, path: "/v1/connectors"}, req, &doc)
	return doc, err
}

// UpdateConnector changes a Connector.
func (c *Client) UpdateConnector(ctx context.Context, id string, req abi.UpdateConnectorRequest) (doc Doc[abi.Connector], err error) {
	err = c.call(ctx, request{method: http.MethodPatch, path: connectorPath(id)}, req, &doc)
	return doc, err
}

// DeadLetter is a delivery that could not be handled, and the delivery.
type DeadLetter struct {
	abi.DeadLetter `json:",inline"`
	Delivery       jsontext.Value `json:"delivery,omitzero"`
}

func deadLettersPath(connector string) string {
	return "/wharf" + connectorPath(connector) + "/dead-letters"
}

// DeadLetters lists what a Connector could not handle, newest first.
func (c *Client) DeadLetters(ctx context.Context, connector string) ([]Doc[abi.DeadLetter], error) {
	return collect[abi.DeadLetter](ctx, c, deadLettersPath(connector), url.Values{}, 0, nil)
}

// DeadLetter returns what a Connector could not handle, with the delivery.
func (c *Client) DeadLetter(ctx context.Context, connector, id string) (doc Doc[DeadLetter], err error) {
	err = c.call(ctx, request{method: http.MethodGet, path: deadLettersPath(connector) + "/" + url.PathEscape(id)}, nil, &doc)
	return doc, err
}

// RedriveDeadLetter has a delivery handled again.
func (c *Client) RedriveDeadLetter(ctx context.Context, connector, id string) (doc Doc[abi.DeadLetter], err error) {
	err = c.call(ctx, request{method: http.MethodPost, path: deadLettersPath(connector) + "/" + url.PathEscape(id) + "/redrive"}, nil, &doc)
	return doc, err
}

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
func DeliveriesPath(id string) string { return connectorPath(id) + "/deliveries" }
