package client

import (
	"context"
	"net/http"
	"net/url"

	"github.com/wharf-dev/wharf/abi"
)

// Personas lists the Personas, newest first.
func (c *Client) Personas(ctx context.Context) ([]Doc[abi.Persona], error) {
	return collect[abi.Persona](ctx, c, "/v1/personas", url.Values{}, 0, nil)
}

// Persona returns a Persona.
func (c *Client) Persona(ctx context.Context, id string) (doc Doc[abi.Persona], err error) {
	err = c.call(ctx, request{method: http.MethodGet, path: "/v1/personas/" + url.PathEscape(id)}, nil, &doc)
	return doc, err
}

// PersonaVersions lists the versions of a Persona, newest first.
func (c *Client) PersonaVersions(ctx context.Context, id string) ([]Doc[abi.Persona], error) {
	return collect[abi.Persona](ctx, c, "/wharf/v1/personas/"+url.PathEscape(id)+"/versions", url.Values{}, 0, nil)
}

// CreatePersona makes a Persona.
func (c *Client) CreatePersona(ctx context.Context, req abi.CreatePersonaRequest) (doc Doc[abi.Persona], err error) {
	err = c.call(ctx, request{method: http.MethodPost, path: "/v1/personas"}, req, &doc)
	return doc, err
}

// UpdatePersona changes a Persona.
func (c *Client) UpdatePersona(ctx context.Context, id string, req abi.UpdatePersonaRequest) (doc Doc[abi.Persona], err error) {
	err = c.call(ctx, request{method: http.MethodPatch, path: "/v1/personas/" + url.PathEscape(id)}, req, &doc)
	return doc, err
}
