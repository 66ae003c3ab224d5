package client

import (
	"context"
	"net/http"
	"net/url"

	"github.com/wharf-dev/wharf/abi"
)

// Quotas lists the Quotas that the key sees, newest first.
func (c *Client) Quotas(ctx context.Context) ([]Doc[abi.Quota], error) {
	return collect[abi.Quota](ctx, c, "/v1/quotas", url.Values{}, 0, nil)
}

// CreateQuota makes a Quota.
func (c *Client) CreateQuota(ctx context.Context, req abi.CreateQuotaRequest) (doc Doc[abi.Quota], err error) {
	err = c.call(ctx, request{method: http.MethodPost, path: "/wharf/v1/quotas"}, req, &doc)
	return doc, err
}

// UpdateQuota changes a Quota.
func (c *Client) UpdateQuota(ctx context.Context, id string, req abi.UpdateQuotaRequest) (doc Doc[abi.Quota], err error) {
	err = c.call(ctx, request{method: http.MethodPatch, path: "/wharf/v1/quotas/" + url.PathEscape(id)}, req, &doc)
	return doc, err
}
