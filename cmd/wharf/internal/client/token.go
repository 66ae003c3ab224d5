package client

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
)

// Token gets an access token that stands for the client's API key, with the given scopes
// or all that the key has.
func (c *Client) Token(ctx context.Context, scopes []string) (token Doc[abi.AccessToken], err error) {
	form := url.Values{"grant_type": {abi.GrantClientCredentials}, "client_id": {abi.APIKeyID(c.key)}, "client_secret": {c.key}}
	if len(scopes) > 0 {
		form.Set("scope", strings.Join(scopes, " "))
	}
	err = c.call(ctx, request{
		method: http.MethodPost, path: "/oauth/token", body: strings.NewReader(form.Encode()),
		header: map[string]string{"Content-Type": "application/x-www-form-urlencoded", "Authorization": ""},
	}, nil, &token)
	return token, err
}

// grantRefusal reads a refusal of the token endpoint, or returns nil. What is wrong is
// put into the words of the other refusals.
func grantRefusal(status int, body []byte) *abi.Error {
	var refused abi.OAuthError
	if json.Unmarshal(body, &refused) != nil || refused.Code == "" {
		return nil
	}
	code := abi.CodeInvalidRequest
	switch {
	case status == http.StatusUnauthorized:
		code = abi.CodeUnauthenticated
	case refused.Code == abi.OAuthInvalidScope:
		code = abi.CodePermissionDenied
	}
	return abi.Errorf(code, "%s", refused.Description)
}
