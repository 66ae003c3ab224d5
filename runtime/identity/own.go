package identity

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/lestrrat-go/jwx/v3/jwa"
	"github.com/lestrrat-go/jwx/v3/jws"
	"github.com/lestrrat-go/jwx/v3/jwt"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/keyfile"
)

// ownAlgorithm is what the node signs tokens with: every library verifies it, and it is
// short.
const ownAlgorithm = "ES256"

// keyLifetime is how long a key signs tokens before the next one does.
const keyLifetime = 30 * 24 * time.Hour

// Own is the node's own issuer: it gives whoever has an API key a token that stands for
// it for a while. It is safe for concurrent use.
type Own struct {
	issuer, audience string
	lifetime         time.Duration
	now              func() time.Time
	entropy          io.Reader

	mu   sync.RWMutex
	ring ring
}

// OwnConfig says how the node issues tokens.
type OwnConfig struct {
	Path     string        // the file of the keys; it is made when it is missing
	Issuer   string        // a URL
	Audience string        // default Issuer
	Lifetime time.Duration // of a token; default 15 minutes
	Now      func() time.Time
}

// OpenOwn opens the node's issuer, and makes its first key when there is none.
func OpenOwn(c OwnConfig) (*Own, error) {
	o := &Own{issuer: strings.TrimRight(c.Issuer, "/"), audience: c.Audience, lifetime: c.Lifetime, now: c.Now, entropy: rand.Reader}
	if o.audience == "" {
		o.audience = o.issuer
	}
	if o.lifetime == 0 {
		o.lifetime = 15 * time.Minute
	}
	if o.now == nil {
		o.now = time.Now
	}
	o.ring.path = c.Path
	if err := o.ring.open(o.now()); err != nil {
		return nil, err
	}
	return o, nil
}

// Issuer returns what the tokens are issued by.
func (o *Own) Issuer() string { return o.issuer }

// Issue returns a token that stands for an API key, with the given scopes.
func (o *Own) Issue(key string, scopes []string) (*abi.AccessToken, error) {
	now := o.now()
	signer, err := o.signer(now)
	if err != nil {
		return nil, err
	}
	var id [16]byte
	if _, err := io.ReadFull(o.entropy, id[:]); err != nil {
		return nil, fmt.Errorf("naming a token: %w", err)
	}
	scope := strings.Join(scopes, " ")
	t, err := jwt.NewBuilder().Issuer(o.issuer).Subject(key).Audience([]string{o.audience}).
		IssuedAt(now).Expiration(now.Add(o.lifetime)).JwtID(base64.RawURLEncoding.EncodeToString(id[:])).
		Claim("client_id", key).Claim("scope", scope).Build()
	if err != nil {
		return nil, fmt.Errorf("making a token: %w", err)
	}
	text, err := signer.sign(t)
	if err != nil {
		return nil, fmt.Errorf("signing a token: %w", err)
	}
	return &abi.AccessToken{AccessToken: text, TokenType: "Bearer", ExpiresIn: int(o.lifetime / time.Second), Scope: scope}, nil
}

func (k *ownKey) sign(t jwt.Token) (string, error) {
	header := jws.NewHeaders()
	if err := header.Set(jws.TypeKey, accessTokenType); err != nil {
		return "", err
	}
	if err := header.Set(jws.KeyIDKey, k.id); err != nil {
		return "", err
	}
	text, err := jwt.Sign(t, jwt.WithKey(jwa.ES256(), k.private, jws.WithProtectedHeaders(header)))
	return string(text), err
}

// signer returns the key that signs now, which is a new one when the last is old.
func (o *Own) signer(now time.Time) (*ownKey, error) {
	o.mu.RLock()
	current := o.ring.current()
	o.mu.RUnlock()
	if now.Sub(current.created) < keyLifetime {
		return current, nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if current = o.ring.current(); now.Sub(current.created) < keyLifetime {
		return current, nil
	}
	// What the old key signed last is valid for one lifetime more.
	if err := o.ring.rotate(now, now.Add(o.lifetime)); err != nil {
		return nil, err
	}
	return o.ring.current(), nil
}

// JWKS returns the public halves of the keys that tokens in use are signed with, as a
// JWK set.
func (o *Own) JWKS() ([]byte, error) {
	o.mu.RLock()
	defer o.mu.RUnlock()
	return o.ring.jwks(o.now())
}

// find returns the node's own keys, which are always known.
func (o *Own) find(_ context.Context, kid string) ([]publicKey, uint64, error) {
	o.mu.RLock()
	defer o.mu.RUnlock()
	return withID(o.ring.public(o.now()), kid), o.ring.rotations, nil
}

func (o *Own) epoch() uint64 {
	o.mu.RLock()
	defer o.mu.RUnlock()
	return o.ring.rotations
}

// Metadata describes the issuer as RFC 8414 has it; base is where the node is reached.
func (o *Own) Metadata(base string) abi.AuthorizationServer {
	return abi.AuthorizationServer{
		Issuer: o.issuer, TokenEndpoint: base + "/oauth/token", JWKSURI: base + "/.well-known/jwks.json",
		ScopesSupported: abi.Scopes(), ResponseTypesSupported: []string{},
		GrantTypesSupported:  []string{abi.GrantClientCredentials},
		AuthMethodsSupported: []string{"client_secret_basic", "client_secret_post"},
	}
}

// CheckOwn returns an error unless the file of the node's own keys can be used. It is
// fs.ErrNotExist when there is none.
func CheckOwn(path string) error {
	content, unreadable := keyfile.Read(path)
	if content == nil {
		return unreadable
	}
	if err := (&ring{path: path}).load(content); err != nil {
		return err
	}
	return unreadable
}
