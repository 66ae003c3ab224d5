package tenancy

import (
	"context"
	"errors"
	"slices"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/identity"
	"github.com/wharf-dev/wharf/storage"
)

// tokenCaller returns the caller that an access token stands for.
func (d *Directory) tokenCaller(ctx context.Context, token string) (*desk.Caller, error) {
	id, err := d.parts.Tokens.Verify(ctx, token)
	d.checked.Add(1)
	if err != nil {
		d.refused.Add(1)
		return nil, d.refusedToken(err)
	}
	if id.Key != "" {
		return d.keyTokenCaller(ctx, id)
	}
	tenant := d.tenants.Named(id.Tenant)
	if tenant == nil {
		return nil, d.refusedToken(identity.ErrInvalid)
	}
	return &desk.Caller{Tenant: storage.Tenant(tenant.Number), TenantID: tenant.ID, Actor: id.Actor,
		Scopes: id.Scopes, Workspaces: id.Workspaces}, nil
}

// keyTokenCaller returns the caller of a token that was issued for an API key: that of
// the key, which must still be valid, with the scopes that both have.
func (d *Directory) keyTokenCaller(ctx context.Context, id *identity.Identity) (*desk.Caller, error) {
	key, err := d.keyHolder(ctx, id.Key, nil)
	if errors.Is(err, errUnauthenticated) {
		return nil, d.refusedToken(identity.ErrInvalid)
	}
	if err != nil {
		return nil, err
	}
	caller := *key
	if !slices.Equal(id.Scopes, key.Scopes) {
		caller.Scopes = slices.DeleteFunc(slices.Clone(id.Scopes), func(s string) bool { return !key.Can(s) })
	}
	return &caller, nil
}

// refusedToken turns a reason into what a client is told.
func (d *Directory) refusedToken(reason error) error {
	if errors.Is(reason, identity.ErrUnavailable) {
		later := abi.Errorf(abi.CodeServiceUnavailable, "%v", identity.ErrUnavailable)
		later.RetryAfter = 5
		return later
	}
	for _, told := range []error{identity.ErrExpired, identity.ErrAudience} {
		if errors.Is(reason, told) {
			return abi.Errorf(abi.CodeUnauthenticated, "%v", told)
		}
	}
	return abi.Errorf(abi.CodeUnauthenticated, "%v", identity.ErrInvalid)
}

// issuer returns the node's own issuer of tokens.
func (d *Directory) issuer() (*identity.Own, error) {
	if d.parts.Tokens == nil || d.parts.Tokens.Own() == nil {
		return nil, abi.Errorf(abi.CodeResourceNotFound, "this node issues no access tokens")
	}
	return d.parts.Tokens.Own(), nil
}

// IssueToken answers a request for a token with the client's credentials: the id of an
// API key, and the key. No scopes are all that the key has. The error is an
// [*abi.OAuthError] where the request is at fault. Only a key gets a token: if a token
// did, no token would ever expire.
func (d *Directory) IssueToken(ctx context.Context, client, secret string, scopes []string) (*abi.AccessToken, error) {
	own, err := d.issuer()
	if err != nil {
		return nil, err
	}
	key, err := d.keyCaller(ctx, secret)
	if errors.Is(err, errUnauthenticated) || err == nil && client != key.KeyID && client != abi.APIKeyID(secret) {
		return nil, &abi.OAuthError{Code: abi.OAuthInvalidClient, Description: "the client is unknown, or its secret is wrong"}
	}
	if err != nil {
		return nil, err
	}
	for _, s := range scopes {
		if !key.Can(s) || s != abi.ScopeAll && !slices.Contains(abi.Scopes(), s) {
			return nil, &abi.OAuthError{Code: abi.OAuthInvalidScope, Description: "a scope is unknown, or more than the client has"}
		}
	}
	if len(scopes) == 0 {
		scopes = key.Scopes
	}
	return own.Issue(key.KeyID, scopes)
}

// TokenKeys returns the JWK set that the node's own tokens are verified with.
func (d *Directory) TokenKeys() ([]byte, error) {
	own, err := d.issuer()
	if err != nil {
		return nil, err
	}
	return own.JWKS()
}

// TokenIssuer describes the node's own issuer; base is the URL the node is reached by.
func (d *Directory) TokenIssuer(base string) (abi.AuthorizationServer, error) {
	own, err := d.issuer()
	if err != nil {
		return abi.AuthorizationServer{}, err
	}
	return own.Metadata(base), nil
}
