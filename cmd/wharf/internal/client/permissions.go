package client

import (
	"context"
	"net/http"
	"net/url"

	"github.com/wharf-dev/wharf/abi"
)

// Permissions lists requests for permission, newest first: at most limit, 0 for all.
// An empty status or Workspace lists those of any.
func (c *Client) Permissions(ctx context.Context, status, workspace string, limit int) ([]Doc[abi.PermissionRequest], error) {
	query := url.Values{}
	setIf(query, "status", status)
	setIf(query, "workspace_id", workspace)
	return collect[abi.PermissionRequest](ctx, c, "/v1/permission-requests", query, limit, nil)
}

// Permission returns one request for permission.
func (c *Client) Permission(ctx context.Context, id string) (doc Doc[abi.PermissionRequest], err error) {
	err = c.call(ctx, request{method: http.MethodGet, path: "/v1/permission-requests/" + url.PathEscape(id)}, nil, &doc)
	return doc, err
}

// Respond decides on a request for permission, or brings what it asks for.
func (c *Client) Respond(ctx context.Context, id string, req abi.RespondRequest) (doc Doc[abi.PermissionRequest], err error) {
	err = c.call(ctx, request{method: http.MethodPost, path: "/v1/permission-requests/" + url.PathEscape(id) + "/respond"}, req, &doc)
	return doc, err
}
