package abi

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// OAuthError is the answer of the token endpoint to a request that it refuses
// (RFC 6749, section 5.2).
type OAuthError struct {
	Code        string `json:"error"`                      // for programs
	Description string `json:"error_description,omitzero"` // for people
}

func (e *OAuthError) Error() string { return e.Code + ": " + e.Description }

// The codes of an [OAuthError].
const (
	OAuthInvalidRequest       = "invalid_request"
	OAuthInvalidClient        = "invalid_client"
	OAuthInvalidScope         = "invalid_scope"
	OAuthInvalidTarget        = "invalid_target"
	OAuthUnsupportedGrantType = "unsupported_grant_type"
)

// GrantClientCredentials is the only kind of grant that a node's issuer knows.
const GrantClientCredentials = "client_credentials"

// AccessToken is the answer of the token endpoint (RFC 6749, section 5.1).
type AccessToken struct {
	AccessToken string `json:"access_token"`
	TokenType   string `json:"token_type"` // always Bearer
	ExpiresIn   int    `json:"expires_in"` // seconds
	Scope       string `json:"scope"`      // separated by spaces
}

// AuthorizationServer is the metadata of a node's issuer (RFC 8414).
type AuthorizationServer struct {
	Issuer                 string   `json:"issuer"`
	TokenEndpoint          string   `json:"token_endpoint"`
	JWKSURI                string   `json:"jwks_uri"`
	ScopesSupported        []string `json:"scopes_supported"`
	ResponseTypesSupported []string `json:"response_types_supported"` // none: there is no authorization endpoint
	GrantTypesSupported    []string `json:"grant_types_supported"`
	AuthMethodsSupported   []string `json:"token_endpoint_auth_methods_supported"`
}

// APIKeyID returns the id of an API key that Wharf made, which follows from the key: a key
// is found without being stored, and who has it knows its id. Half of its hash is shown,
// which tells nothing of a key that is random. A key that a person chose has an id that
// does not follow from it, for it could be guessed at; the token endpoint takes this one
// for it, too.
func APIKeyID(key string) string {
	hash := sha256.Sum256([]byte(key))
	return IDPrefix(ObjectAPIKey) + hex.EncodeToString(hash[:16])
}

// APIKeyPrefix begins the keys that nodes make, and apiKeySize is how long what follows is: 32 random
// bytes in base64.
const (
	APIKeyPrefix = "wharf_"
	apiKeySize   = 43
)

// MadeByNode reports whether a credential has the form of the keys that nodes make. Nobody can guess
// such a key, so that its id tells nothing of it.
func MadeByNode(credential string) bool {
	random, ok := strings.CutPrefix(credential, APIKeyPrefix)
	return ok && len(random) == apiKeySize
}
