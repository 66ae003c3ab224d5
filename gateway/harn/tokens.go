package harn

import (
	"encoding/base64"
	"errors"
	"net/url"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/valyala/fasthttp"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
)

// tokenRoutes are the node's own issuer of access tokens. They are where OAuth has
// them, and not parts of the protocol.
func (a *Adapter) tokenRoutes() []gateway.Route {
	const tag = "Authorization"
	issue := post("/oauth/token", "issueToken", tag, "", "TokenRequest", "AccessToken", "Get an access token", statusOK, a.issueToken).
		doc("The client credentials grant of OAuth 2.0 (RFC 6749, section 4.4). The client is an API key: its id is the client's id, and it is itself " +
			"the client's secret. They are in the header `Authorization: Basic`, or in the form. Without a scope the token has all scopes of the key.")
	issue.Body, issue.Idempotent = gateway.BodyForm, false
	issue.Also = []gateway.Answer{
		{Status: fasthttp.StatusBadRequest, Doc: "The request is refused.", Response: "OAuthError"},
		{Status: fasthttp.StatusUnauthorized, Doc: "The client is not known.", Response: "OAuthError"},
	}
	keys := read("/.well-known/jwks.json", "getTokenKeys", tag, "", "JWKS",
		"List the public keys that the node's access tokens are signed with", a.tokenKeys)
	server := read("/.well-known/oauth-authorization-server", "getAuthorizationServer", tag, "", "AuthorizationServer",
		"Describe the node's issuer of access tokens", a.tokenIssuer)
	for _, rt := range []*row{&issue, &keys, &server} {
		rt.Public = true
	}
	return routes(issue, keys, server)
}

func tokenSchemas() map[string]schema {
	return map[string]schema{
		"TokenRequest": requestOf[tokenForm]("Asks for an access token.", but(schema{"grant_type": constant(abi.GrantClientCredentials)})),
		"AccessToken": of[abi.AccessToken]("An access token.", but(schema{"token_type": constant("Bearer")}),
			says(map[string]string{"expires_in": "Seconds.", "scope": "Scopes, separated by spaces."})),
		"OAuthError": of[abi.OAuthError]("Why no token is issued (RFC 6749, section 5.2).", but(schema{
			"error": enum(abi.OAuthInvalidRequest, abi.OAuthInvalidClient, abi.OAuthInvalidScope, abi.OAuthInvalidTarget, abi.OAuthUnsupportedGrantType),
		})),
		"JWKS":                shape("A JWK set (RFC 7517).", schema{"keys": listOf(anyObject())}, nil),
		"AuthorizationServer": of[abi.AuthorizationServer]("Metadata of an issuer (RFC 8414)."),
	}
}

func (a *Adapter) tokenKeys(r *gateway.Request) error {
	keys, err := a.core.TokenKeys()
	if err != nil {
		return err
	}
	r.SetHeader("Cache-Control", "public, max-age=300")
	r.Send(statusOK, keys)
	return nil
}

func (a *Adapter) tokenIssuer(r *gateway.Request) error {
	server, err := a.core.TokenIssuer(r.BaseURL())
	if err != nil {
		return err
	}
	body, err := json.Marshal(&server)
	if err != nil {
		return err
	}
	r.Send(statusOK, body)
	return nil
}

// issueToken answers in OAuth's own words, also when it refuses.
func (a *Adapter) issueToken(r *gateway.Request) error {
	r.SetHeader("Cache-Control", "no-store")
	r.SetHeader("Pragma", "no-cache")
	token, err := a.grant(r)
	if refused, is := errors.AsType[*abi.OAuthError](err); is {
		return refuseToken(r, refused)
	}
	if err != nil {
		return err
	}
	body, err := json.Marshal(token)
	if err != nil {
		return err
	}
	r.Send(statusOK, body)
	return nil
}

func refuseToken(r *gateway.Request, refused *abi.OAuthError) error {
	status := fasthttp.StatusBadRequest
	if refused.Code == abi.OAuthInvalidClient {
		status = fasthttp.StatusUnauthorized
		// Clients that look at the challenge read no body.
		r.SetHeader("WWW-Authenticate", `Basic realm="wharf", error="`+refused.Code+`"`)
	}
	body, err := json.Marshal(refused)
	if err != nil {
		return err
	}
	r.Send(status, body)
	return nil
}

func (a *Adapter) grant(r *gateway.Request) (*abi.AccessToken, error) {
	fields, err := r.Form()
	if err != nil {
		if own, is := errors.AsType[*abi.Error](err); is && own.Status == fasthttp.StatusUnsupportedMediaType {
			return nil, &abi.OAuthError{Code: abi.OAuthInvalidRequest, Description: own.Message}
		}
		return nil, err
	}
	form, err := readTokenForm(fields)
	if err != nil {
		return nil, err
	}
	if err := form.authenticate(r.Header("Authorization")); err != nil {
		return nil, err
	}
	if !forThisNode(form.Resource, r.BaseURL()) {
		return nil, &abi.OAuthError{Code: abi.OAuthInvalidTarget, Description: "the resource is none of this node"}
	}
	return a.core.IssueToken(r.Context(), form.Client, form.Secret, strings.Fields(form.Scope))
}

// forThisNode reports whether a resource, "" for none, is the node or something of it.
func forThisNode(resource, base string) bool {
	rest, of := strings.CutPrefix(resource, base)
	return resource == "" || of && (rest == "" || rest[0] == '/')
}

// tokenForm is a request for a token.
type tokenForm struct {
	Grant  string `json:"grant_type"`
	Scope  string `json:"scope,omitzero" doc:"Scopes, separated by spaces; all that the key has, if it is absent."`
	Client string `json:"client_id,omitzero" doc:"The id of the API key. It is here or in the header Authorization."`
	Secret string `json:"client_secret,omitzero" doc:"The API key. It is where the client's id is."`
	// Resource is one of RFC 8707.
	Resource string `json:"resource,omitzero" doc:"What the token is for (RFC 8707): this node, or one of its servers. Tokens of the node are for all of it."`
}

// readTokenForm reads the fields that there are; others have no meaning and are no
// mistake (RFC 6749, section 3.2).
func readTokenForm(fields *fasthttp.Args) (*tokenForm, error) {
	f := &tokenForm{}
	for name, at := range map[string]*string{"grant_type": &f.Grant, "scope": &f.Scope, "client_id": &f.Client, "client_secret": &f.Secret, "resource": &f.Resource} {
		values := fields.PeekMulti(name)
		if len(values) > 1 {
			return nil, &abi.OAuthError{Code: abi.OAuthInvalidRequest, Description: name + " is there more than once"}
		}
		if len(values) == 1 {
			*at = string(values[0])
		}
	}
	switch f.Grant {
	case abi.GrantClientCredentials:
		return f, nil
	case "":
		return nil, &abi.OAuthError{Code: abi.OAuthInvalidRequest, Description: "grant_type is missing"}
	}
	return nil, &abi.OAuthError{Code: abi.OAuthUnsupportedGrantType, Description: "grant_type has to be " + abi.GrantClientCredentials}
}

// authenticate takes the client's credentials from the header Authorization, if it is
// there, else from the form. They must not be in both.
func (f *tokenForm) authenticate(header string) error {
	if header == "" {
		if f.Client == "" || f.Secret == "" {
			return &abi.OAuthError{Code: abi.OAuthInvalidClient, Description: "the client's id and its secret are needed"}
		}
		return nil
	}
	client, secret, ok := basic(header)
	if !ok {
		return &abi.OAuthError{Code: abi.OAuthInvalidClient, Description: "the header Authorization does not hold an id and a secret"}
	}
	if f.Secret != "" || f.Client != "" && f.Client != client {
		return &abi.OAuthError{Code: abi.OAuthInvalidRequest, Description: "the client's credentials are in the header and in the form"}
	}
	f.Client, f.Secret = client, secret
	return nil
}

// basic reads the header Authorization with the scheme Basic. OAuth encodes id and
// secret as in forms before they are put there (RFC 6749, section 2.3.1).
func basic(header string) (client, secret string, ok bool) {
	scheme, encoded, _ := strings.Cut(header, " ")
	text, err := base64.StdEncoding.DecodeString(encoded)
	if !strings.EqualFold(scheme, "basic") || err != nil {
		return "", "", false
	}
	client, secret, ok = strings.Cut(string(text), ":")
	return formDecoded(client), formDecoded(secret), ok
}

// formDecoded returns what text stands for, or text itself where a client did not
// encode it.
func formDecoded(text string) string {
	if decoded, err := url.QueryUnescape(text); err == nil {
		return decoded
	}
	return text
}
