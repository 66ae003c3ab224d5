package harn_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/lestrrat-go/jwx/v3/jwa"
	"github.com/lestrrat-go/jwx/v3/jwk"
	"github.com/lestrrat-go/jwx/v3/jws"
	"github.com/lestrrat-go/jwx/v3/jwt"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/identity"
)

// What the nodes of these tests call themselves, and are called by an outside issuer.
const (
	ownIssuer = "https://wharf.example.com"
	audience  = "https://wharf.example.com/api"
)

// corp is an issuer of tokens on loopback: it signs with a key that it publishes.
type corp struct {
	url string
	key *ecdsa.PrivateKey
}

func newCorp(t testing.TB) *corp {
	t.Helper()
	c := &corp{key: newSigner(t)}
	public, err := jwk.Import(c.key.Public())
	if err != nil {
		t.Fatal(err)
	}
	_ = public.Set(jwk.KeyIDKey, "k1")
	set := jwk.NewSet()
	_ = set.AddKey(public)
	text, err := json.Marshal(set)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(text) }))
	t.Cleanup(server.Close)
	c.url = server.URL
	return c
}

func newSigner(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// tokens returns what verifies the issuer's tokens and those of the node itself.
func (c *corp) tokens(t testing.TB) *identity.Tokens {
	t.Helper()
	own, err := identity.OpenOwn(identity.OwnConfig{Path: filepath.Join(t.TempDir(), "keys", "token-keys.json"), Issuer: ownIssuer})
	if err != nil {
		t.Fatal(err)
	}
	tokens, err := identity.New(identity.Config{Own: own, Issuers: map[string]identity.Outside{"corp": {
		Issuer: c.url, Audiences: []string{audience}, JWKSURL: c.url + "/jwks", TenantClaim: "tenant",
		WorkspacesClaim: "workspaces", Scopes: append(abi.Scopes(), abi.ScopeAll),
	}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tokens.Close() })
	return tokens
}

// claims are those of a good token, changed by what the caller names; nil removes one.
func (c *corp) claims(changes map[string]any) map[string]any {
	all := map[string]any{
		"iss": c.url, "aud": audience, "sub": "alice", "scope": "*", "tenant": "default", "workspaces": []string{"ws_default"},
		"iat": time.Now().Unix(), "exp": time.Now().Add(time.Hour).Unix(),
	}
	for name, value := range changes {
		if all[name] = value; value == nil {
			delete(all, name)
		}
	}
	return all
}

// sign returns a token with these claims, signed as the issuer does.
func (c *corp) sign(t testing.TB, changes map[string]any) string {
	t.Helper()
	return signed(t, c.claims(changes), jwa.ES256(), c.key)
}

func signed(t testing.TB, claims map[string]any, algorithm jwa.SignatureAlgorithm, key any) string {
	t.Helper()
	token := jwt.New()
	for name, value := range claims {
		if err := token.Set(name, value); err != nil {
			t.Fatal(err)
		}
	}
	header := jws.NewHeaders()
	_ = header.Set(jws.KeyIDKey, "k1")
	text, err := jwt.Sign(token, jwt.WithKey(algorithm, key, jws.WithProtectedHeaders(header)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// unsigned returns a token that says of itself that it needs no signature.
func (c *corp) unsigned(t testing.TB) string {
	t.Helper()
	token := jwt.New()
	for name, value := range c.claims(nil) {
		_ = token.Set(name, value)
	}
	text, err := jwt.Sign(token, jwt.WithInsecureNoSignature())
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
