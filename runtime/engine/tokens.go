package engine

import (
	"context"
	"errors"
	"slices"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/identity"
	"github.com/wharf-dev/wharf/storage"
)

// tokenCaller returns the caller that an access token stands for.
func (e *Engine) tokenCaller(ctx context.Context, token string) (*Caller, error) {
	id, err := e.tokens.Verify(ctx, token)
	e.counts.tokens.Add(1)
	if err != nil {
		e.counts.badTokens.Add(1)
		return nil, e.refusedToken(err)
	}
	if id.Key != "" {
		return e.keyTokenCaller(ctx, id)
	}
	tenant := e.tenants.named(id.Tenant)
	if tenant == nil {
		return nil, e.refusedToken(identity.ErrInvalid)
	}
	return &Caller{Tenant: storage.Tenant(tenant.Number), TenantID: tenant.ID, Actor: id.Actor,
		Scopes: id.Scopes, Workspaces: id.Workspaces}, nil
}

// keyTokenCaller returns the caller of a token that was issued for an API key: that of
// the key, which must still be valid, with the scopes that both have.
func (e *Engine) keyTokenCaller(ctx context.Context, id *identity.Identity) (*Caller, error) {
	key, err := e.keyHolder(ctx, id.Key, nil)
	if errors.Is(err, errUnauthenticated) {
		return nil, e.refusedToken(identity.ErrInvalid)
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
func (e *Engine) refusedToken(reason error) error {
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
func (e *Engine) issuer() (*identity.Own, error) {
	if e.tokens == nil || e.tokens.Own() == nil {
		return nil, abi.Errorf(abi.CodeResourceNotFound, "this node issues no access tokens")
	}
	return e.tokens.Own(), nil
}

// IssueToken answers a request for a token with the client's credentials: the id of an
// API key, and the key. No scopes are all that the key has. The error is an
// [*abi.OAuthError] where the request is at fault. Only a key gets a token: if a token
// did, no token would ever expire.
func (e *Engine) IssueToken(ctx context.Context, client, secret string, scopes []string) (*abi.AccessToken, error) {
	own, err := e.issuer()
	if err != nil {
		return nil, err
	}
	key, err := e.keyCaller(ctx, secret)
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
func (e *Engine) TokenKeys() ([]byte, error) {
	own, err := e.issuer()
	if err != nil {
		return nil, err
	}
	return own.JWKS()
}

// TokenIssuer describes the node's own issuer; base is the URL the node is reached by.
func (e *Engine) TokenIssuer(base string) (abi.AuthorizationServer, error) {
	own, err := e.issuer()
	if err != nil {
		return abi.AuthorizationServer{}, err
	}
	return own.Metadata(base), nil
}
