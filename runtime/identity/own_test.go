package identity

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lestrrat-go/jwx/v3/jwk"
	"github.com/lestrrat-go/jwx/v3/jwt"

	"github.com/wharf-dev/wharf/abi"
)

// clock is a time that a test moves.
type clock struct{ now time.Time }

func (c *clock) read() time.Time      { return c.now }
func (c *clock) wait(d time.Duration) { c.now = c.now.Add(d) }
func newClock() *clock                { return &clock{time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)} }
func keysPath(t *testing.T) string    { return filepath.Join(t.TempDir(), "keys", "token-keys.json") }
func must[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func openOwn(t *testing.T, path string, c *clock) (*Own, *Tokens) {
	t.Helper()
	own, err := OpenOwn(OwnConfig{Path: path, Issuer: "https://wharf.example.com/", Lifetime: 15 * time.Minute, Now: c.read})
	if err != nil {
		t.Fatal(err)
	}
	tokens, err := New(Config{Own: own, Now: c.read})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tokens.Close() })
	return own, tokens
}

func TestOwnToken(t *testing.T) {
	c := newClock()
	own, tokens := openOwn(t, keysPath(t), c)
	issued := must[*abi.AccessToken](t)(own.Issue("key_1", []string{"tasks:read", "*"}))
	if issued.ExpiresIn != 900 || issued.Scope != "tasks:read *" || issued.TokenType != "Bearer" || !LooksLikeToken(issued.AccessToken) {
		t.Errorf("%+v", issued)
	}
	for range 2 { // from the cache, too
		id := must[*Identity](t)(tokens.Verify(t.Context(), issued.AccessToken))
		if id.Key != "key_1" || strings.Join(id.Scopes, " ") != "tasks:read *" || !id.Expires.Equal(c.now.Add(15*time.Minute)) {
			t.Errorf("%+v", id)
		}
	}
	c.wait(15*time.Minute - time.Second)
	must[*Identity](t)(tokens.Verify(t.Context(), issued.AccessToken))
	c.wait(time.Second)
	if _, err := tokens.Verify(t.Context(), issued.AccessToken); !errors.Is(err, ErrExpired) {
		t.Error(err)
	}
}

// Whoever reads the node's JWK set can verify its tokens with a library of their own.
func TestOwnTokenElsewhere(t *testing.T) {
	c := newClock()
	own, _ := openOwn(t, keysPath(t), c)
	issued := must[*abi.AccessToken](t)(own.Issue("key_1", nil))
	published := must[[]byte](t)(own.JWKS())
	if strings.Contains(string(published), `"d"`) {
		t.Fatalf("the private half is published: %s", published)
	}
	set := must[jwk.Set](t)(jwk.Parse(published))
	token := must[jwt.Token](t)(jwt.Parse([]byte(issued.AccessToken), jwt.WithKeySet(set), jwt.WithIssuer("https://wharf.example.com"),
		jwt.WithAudience("https://wharf.example.com"), jwt.WithClock(jwt.ClockFunc(c.read))))
	if sub, _ := token.Subject(); sub != "key_1" {
		t.Errorf("sub %q", sub)
	}
}

func TestOwnKeysAreKept(t *testing.T) {
	path, c := keysPath(t), newClock()
	first, _ := openOwn(t, path, c)
	issued := must[*abi.AccessToken](t)(first.Issue("key_1", nil))
	_, again := openOwn(t, path, c)
	must[*Identity](t)(again.Verify(t.Context(), issued.AccessToken))
	_, other := openOwn(t, keysPath(t), c)
	if _, err := other.Verify(t.Context(), issued.AccessToken); !errors.Is(err, ErrInvalid) {
		t.Errorf("another node's token: %v", err)
	}
}

// An old key signs no more, is published until its last token has expired, and keeps no
// private half on disk.
func TestOwnKeysRotate(t *testing.T) {
	path, c := keysPath(t), newClock()
	own, tokens := openOwn(t, path, c)
	c.wait(keyLifetime - time.Second)
	last := must[*abi.AccessToken](t)(own.Issue("key_1", nil))
	must[*Identity](t)(tokens.Verify(t.Context(), last.AccessToken))
	private := string(must[[]byte](t)(os.ReadFile(path)))
	private = private[strings.Index(private, `"d"`):][:20]
	c.wait(time.Second)
	next := must[*abi.AccessToken](t)(own.Issue("key_1", nil))
	for _, reopened := range []bool{false, true} {
		if reopened {
			own, tokens = openOwn(t, path, c)
		}
		must[*Identity](t)(tokens.Verify(t.Context(), last.AccessToken))
		must[*Identity](t)(tokens.Verify(t.Context(), next.AccessToken))
		if n := must[jwk.Set](t)(jwk.Parse(must[[]byte](t)(own.JWKS()))).Len(); n != 2 {
			t.Errorf("%d keys are published", n)
		}
	}
	if strings.Contains(string(must[[]byte](t)(os.ReadFile(path))), private) {
		t.Error("the private half of the old key is still there")
	}
	c.wait(15 * time.Minute)
	if n := must[jwk.Set](t)(jwk.Parse(must[[]byte](t)(own.JWKS()))).Len(); n != 1 {
		t.Errorf("%d keys are published once nothing that the old one signed is valid", n)
	}
}

func TestOwnKeysDamaged(t *testing.T) {
	path, c := keysPath(t), newClock()
	openOwn(t, path, c)
	good := must[[]byte](t)(os.ReadFile(path))
	for name, content := range map[string]string{
		"empty": "", "cut": string(good[:len(good)/2]), "format": strings.Replace(string(good), ringFormat, "wharf-token-keys-9", 1),
		"no keys": `{"format":"` + ringFormat + `","keys":[]}`, "secret": `{"format":"` + ringFormat + `","keys":[{"jwk":{"kty":"oct","k":"AAAA"},"created_at":"2026-05-01T12:00:00Z"}]}`,
	} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenOwn(OwnConfig{Path: path, Issuer: "https://wharf.example.com"}); err == nil || !strings.Contains(err.Error(), "backup") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
