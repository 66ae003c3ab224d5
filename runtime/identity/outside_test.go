package identity

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/lestrrat-go/jwx/v3/jwa"
	"github.com/lestrrat-go/jwx/v3/jwk"
	"github.com/lestrrat-go/jwx/v3/jws"
	"github.com/lestrrat-go/jwx/v3/jwt"
)

// provider is an issuer on loopback, with keys that it can rotate.
type provider struct {
	*httptest.Server
	mu      sync.Mutex
	keys    map[string]any // private halves, by id
	down    bool
	answer  []byte // instead of the keys
	fetched int
	asked   chan struct{} // one for each request for keys
}

func newProvider(t testing.TB) *provider {
	t.Helper()
	p := &provider{keys: map[string]any{}, asked: make(chan struct{}, 1000)}
	p.Server = httptest.NewServer(p)
	t.Cleanup(p.Close)
	p.rotate(t, "k1", newES256(t))
	return p
}

func (p *provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.down {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	switch r.URL.Path {
	case "/.well-known/openid-configuration":
		fmt.Fprintf(w, `{"issuer":%q,"jwks_uri":%q}`, p.URL, p.URL+"/keys")
	case "/keys":
		p.fetched++
		p.asked <- struct{}{}
		_, _ = w.Write(p.published())
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

func (p *provider) published() []byte {
	if p.answer != nil {
		return p.answer
	}
	set := jwk.NewSet()
	for id, private := range p.keys {
		key, err := jwk.PublicKeyOf(private)
		if err != nil {
			panic(err)
		}
		_ = key.Set(jwk.KeyIDKey, id)
		_ = set.AddKey(key)
	}
	text, err := json.Marshal(set)
	if err != nil {
		panic(err)
	}
	return text
}

// rotate replaces all keys by one.
func (p *provider) rotate(t testing.TB, id string, private any) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.keys = map[string]any{id: private}
}

func (p *provider) set(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f()
}

func (p *provider) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.fetched
}

func newES256(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

const wanted = "https://wharf.example.com"

func (p *provider) claims(c *clock, changes map[string]any) map[string]any {
	all := map[string]any{"iss": p.URL, "aud": []string{"https://other.example.com", wanted}, "sub": "alice", "scope": "tasks:read admin cakes:eat",
		"iat": c.now.Unix(), "exp": c.now.Add(time.Hour).Unix(), "org": "acme", "spaces": []string{"ws_1"}}
	for name, value := range changes {
		if all[name] = value; value == nil {
			delete(all, name)
		}
	}
	return all
}

// sign returns a token with these claims by the key of the given id.
func (p *provider) sign(t testing.TB, c *clock, kid string, changes map[string]any) string {
	t.Helper()
	return sign(t, p.claims(c, changes), jwa.ES256(), p.keys[kid], map[string]any{"kid": kid})
}

func sign(t testing.TB, claims map[string]any, algorithm jwa.SignatureAlgorithm, key any, header map[string]any) string {
	t.Helper()
	payload, err := json.Marshal(claims, json.Deterministic(true))
	if err != nil {
		t.Fatal(err)
	}
	headers := jws.NewHeaders()
	for name, value := range header {
		if value != "" {
			_ = headers.Set(name, value)
		}
	}
	text, err := jws.Sign(payload, jws.WithKey(algorithm, key, jws.WithProtectedHeaders(headers)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func (p *provider) outside() Outside {
	return Outside{Issuer: p.URL, Audiences: []string{wanted}, Leeway: 30 * time.Second, Tenant: "default", Scopes: []string{"tasks:read", "tasks:write"}}
}

// trusting returns what takes the provider's tokens. The keys have been fetched once.
func trusting(t testing.TB, p *provider, c *clock, o Outside) *Tokens {
	t.Helper()
	tokens, err := New(Config{Issuers: map[string]Outside{"corp": o}, Now: c.read, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tokens.Close() })
	<-p.asked
	if _, err := tokens.Verify(t.Context(), p.sign(t, c, "k1", nil)); err != nil {
		t.Fatal(err)
	}
	return tokens
}

func TestOutsideToken(t *testing.T) {
	p, c := newProvider(t), newClock()
	id := must[*Identity](t)(trusting(t, p, c, p.outside()).Verify(t.Context(), p.sign(t, c, "k1", nil)))
	if id.Actor != "corp:alice" || id.Tenant != "default" || id.Workspaces != nil || id.Key != "" || !slices.Equal(id.Scopes, []string{"tasks:read"}) {
		t.Errorf("%+v", id)
	}
}

func TestMapping(t *testing.T) {
	p, c := newProvider(t), newClock()
	o := p.outside()
	o.ActorClaim, o.Tenant, o.TenantClaim, o.WorkspacesClaim = "client_id", "", "org", "spaces"
	good := map[string]any{"client_id": "robot", "scope": nil, "scp": []string{"tasks:write", "tasks:write"}}
	tokens := must[*Tokens](t)(New(Config{Issuers: map[string]Outside{"corp": o}, Now: c.read}))
	defer tokens.Close()
	id := must[*Identity](t)(tokens.Verify(t.Context(), p.sign(t, c, "k1", good)))
	if id.Actor != "corp:robot" || id.Tenant != "acme" || !slices.Equal(id.Workspaces, []string{"ws_1"}) || !slices.Equal(id.Scopes, []string{"tasks:write"}) {
		t.Errorf("%+v", id)
	}
	for name, change := range map[string]map[string]any{
		"no actor": {"client_id": nil}, "actor no text": {"client_id": 7}, "empty actor": {"client_id": ""},
		"long actor": {"client_id": strings.Repeat("a", 201)}, "actor with a line": {"client_id": "a\nb"},
		"no tenant": {"org": nil}, "tenant no text": {"org": []string{"acme"}},
		"no workspaces": {"spaces": nil}, "empty workspaces": {"spaces": []string{}}, "workspaces no texts": {"spaces": []int{1}}, "workspaces a number": {"spaces": 1},
	} {
		changed := map[string]any{"client_id": "robot"}
		for k, v := range change {
			changed[k] = v
		}
		if _, err := tokens.Verify(t.Context(), p.sign(t, c, "k1", changed)); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRefusals(t *testing.T) {
	p, c := newProvider(t), newClock()
	tokens := trusting(t, p, c, p.outside())
	key := p.keys["k1"]
	claims := p.claims(c, nil)
	at := func(d time.Duration) int64 { return c.now.Add(d).Unix() }
	public := must[jwk.Key](t)(jwk.PublicKeyOf(key))
	secret := must[[]byte](t)(json.Marshal(public))
	good := p.sign(t, c, "k1", nil)
	for name, one := range map[string]struct {
		token string
		want  error
	}{
		"expired":                    {p.sign(t, c, "k1", map[string]any{"exp": at(-31 * time.Second)}), ErrExpired},
		"expired within the leeway":  {p.sign(t, c, "k1", map[string]any{"exp": at(-29 * time.Second)}), nil},
		"no expiry":                  {p.sign(t, c, "k1", map[string]any{"exp": nil}), ErrInvalid},
		"expiry no number":           {p.sign(t, c, "k1", map[string]any{"exp": "soon"}), ErrInvalid},
		"not yet":                    {p.sign(t, c, "k1", map[string]any{"nbf": at(time.Minute)}), ErrInvalid},
		"not yet, but within leeway": {p.sign(t, c, "k1", map[string]any{"nbf": at(29 * time.Second)}), nil},
		"issued in the future":       {p.sign(t, c, "k1", map[string]any{"iat": at(time.Minute)}), ErrInvalid},
		"another audience":           {p.sign(t, c, "k1", map[string]any{"aud": "https://other.example.com"}), ErrAudience},
		"no audience":                {p.sign(t, c, "k1", map[string]any{"aud": nil}), ErrAudience},
		"audience as one text":       {p.sign(t, c, "k1", map[string]any{"aud": wanted}), nil},
		"another issuer":             {p.sign(t, c, "k1", map[string]any{"iss": "https://id.example.org"}), ErrInvalid},
		"issuer with a slash":        {p.sign(t, c, "k1", map[string]any{"iss": p.URL + "/"}), ErrInvalid},
		"no issuer":                  {p.sign(t, c, "k1", map[string]any{"iss": nil}), ErrInvalid},
		"bound to a key":             {p.sign(t, c, "k1", map[string]any{"cnf": map[string]any{"jkt": "x"}}), ErrInvalid},
		"expired, for somebody else": {p.sign(t, c, "k1", map[string]any{"exp": 1, "aud": "x"}), ErrExpired},
		"access token type":          {sign(t, claims, jwa.ES256(), key, map[string]any{"typ": "AT+JWT"}), nil},
		"another type":               {sign(t, claims, jwa.ES256(), key, map[string]any{"typ": "logout+jwt"}), ErrInvalid},
		"no key id":                  {sign(t, claims, jwa.ES256(), key, nil), nil},
		"another's signature":        {sign(t, claims, jwa.ES256(), newES256(t), map[string]any{"kid": "k1"}), ErrInvalid},
		"another's, expired":         {sign(t, p.claims(c, map[string]any{"exp": 1}), jwa.ES256(), newES256(t), map[string]any{"kid": "k1"}), ErrInvalid},
		"the public key as a secret": {sign(t, claims, jwa.HS256(), secret, map[string]any{"kid": "k1"}), ErrInvalid},
		"a key of the token's own":   {sign(t, claims, jwa.ES256(), newES256(t), map[string]any{"jwk": public}), ErrInvalid},
		"critical extension":         {sign(t, claims, jwa.ES256(), key, map[string]any{"crit": []string{"exp"}}), ErrInvalid},
		"unsigned":                   {unsigned(t, claims), ErrInvalid},
		"signature left out":         {good[:strings.LastIndexByte(good, '.')+1], ErrInvalid},
		"one part":                   {"eyJ", ErrInvalid},
		"too long":                   {good + strings.Repeat("A", maxToken), ErrInvalid},
		"payload changed":            {tampered(good), ErrInvalid},
		"empty":                      {"", ErrInvalid},
		"JSON form":                  {`{"payload":"e30","signatures":[]}`, ErrInvalid},
	} {
		for range 2 {
			if _, err := tokens.Verify(t.Context(), one.token); !errors.Is(err, one.want) {
				t.Errorf("%s: %v, want %v", name, err, one.want)
			}
		}
	}
}

func unsigned(t testing.TB, claims map[string]any) string {
	t.Helper()
	token := jwt.New()
	for name, value := range claims {
		_ = token.Set(name, value)
	}
	return string(must2(t)(jwt.Sign(token, jwt.WithInsecureNoSignature())))
}

func must2(t testing.TB) func([]byte, error) []byte {
	return func(b []byte, err error) []byte {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
}

func tampered(token string) string {
	parts := strings.Split(token, ".")
	middle := []byte(parts[1])
	middle[len(middle)/2] ^= 1
	return parts[0] + "." + string(middle) + "." + parts[2]
}

// What a token is signed with is decided by configuration and by the key, never by the
// token.
func TestAlgorithms(t *testing.T) {
	p, c := newProvider(t), newClock()
	long := must[*rsa.PrivateKey](t)(rsa.GenerateKey(rand.Reader, 2048))
	_, edwards, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	p384 := must[*ecdsa.PrivateKey](t)(ecdsa.GenerateKey(elliptic.P384(), rand.Reader))
	p.set(func() {
		p.keys["rsa"], p.keys["ed"], p.keys["p384"] = long, edwards, p384
	})
	all := trusting(t, p, c, p.outside())
	pinned := p.outside()
	pinned.Algorithms = []string{"ES384"}
	only := must[*Tokens](t)(New(Config{Issuers: map[string]Outside{"corp": pinned}, Now: c.read}))
	defer only.Close()
	for _, one := range []struct {
		algorithm    jwa.SignatureAlgorithm
		kid          string
		taken, alone bool
	}{
		{jwa.ES256(), "k1", true, false}, {jwa.RS256(), "rsa", true, false}, {jwa.PS256(), "rsa", true, false}, {jwa.RS512(), "rsa", false, false},
		{jwa.EdDSA(), "ed", true, false}, {jwa.ES384(), "p384", false, true},
	} {
		token := sign(t, p.claims(c, nil), one.algorithm, p.keys[one.kid], map[string]any{"kid": one.kid})
		if _, err := all.Verify(t.Context(), token); (err == nil) != one.taken {
			t.Errorf("%s: %v", one.algorithm, err)
		}
		if _, err := only.Verify(t.Context(), token); (err == nil) != one.alone {
			t.Errorf("%s where only ES384 is pinned: %v", one.algorithm, err)
		}
	}
}

// A new key works as soon as it is used, and an old one no longer once the keys were
// fetched without it; what was remembered of its tokens goes with it.
func TestRotation(t *testing.T) {
	p, c := newProvider(t), newClock()
	tokens := trusting(t, p, c, p.outside())
	old := p.sign(t, c, "k1", nil)
	must[*Identity](t)(tokens.Verify(t.Context(), old))
	p.rotate(t, "k2", newES256(t))
	must[*Identity](t)(tokens.Verify(t.Context(), old)) // not yet known to be gone
	c.wait(pause)
	must[*Identity](t)(tokens.Verify(t.Context(), p.sign(t, c, "k2", nil)))
	if _, err := tokens.Verify(t.Context(), old); !errors.Is(err, ErrInvalid) {
		t.Errorf("a token of a key that is gone: %v", err)
	}
}

// Whoever makes up key ids does not make the node ask the issuer for each.
func TestUnknownKeysDoNotHammer(t *testing.T) {
	p, c := newProvider(t), newClock()
	tokens := trusting(t, p, c, p.outside())
	c.wait(pause)
	before := p.count()
	var all sync.WaitGroup
	for n := range 200 {
		token := sign(t, p.claims(c, nil), jwa.ES256(), newES256(t), map[string]any{"kid": fmt.Sprint("made up ", n)})
		all.Go(func() {
			if _, err := tokens.Verify(context.Background(), token); !errors.Is(err, ErrInvalid) {
				t.Errorf("%v", err)
			}
		})
	}
	all.Wait()
	if n := p.count() - before; n != 1 {
		t.Errorf("the issuer was asked %d times", n)
	}
}

// While the issuer is down its keys are kept, but not for ever.
func TestIssuerDown(t *testing.T) {
	p, c := newProvider(t), newClock()
	tokens := trusting(t, p, c, p.outside())
	p.set(func() { p.down = true })
	c.wait(pause)
	unknown := sign(t, p.claims(c, nil), jwa.ES256(), newES256(t), map[string]any{"kid": "k9"})
	if _, err := tokens.Verify(t.Context(), unknown); !errors.Is(err, ErrInvalid) {
		t.Errorf("an unknown key: %v", err)
	}
	c.wait(keep - time.Minute)
	must[*Identity](t)(tokens.Verify(t.Context(), p.sign(t, c, "k1", nil)))
	c.wait(2 * time.Minute)
	late := p.sign(t, c, "k1", nil)
	if _, err := tokens.Verify(t.Context(), late); !errors.Is(err, ErrUnavailable) {
		t.Errorf("after a day: %v", err)
	}
	p.set(func() { p.down = false })
	c.wait(pause)
	must[*Identity](t)(tokens.Verify(t.Context(), late))
}

// An issuer that answers with nonsense is as good as down.
func TestBadAnswers(t *testing.T) {
	p, c := newProvider(t), newClock()
	tokens := trusting(t, p, c, p.outside())
	for name, answer := range map[string]string{
		"no JSON": "<html>", "no keys": `{"keys":[]}`, "a secret": `{"keys":[{"kty":"oct","k":"c2VjcmV0","kid":"k1"}]}`,
		"for encryption": `{"keys":[` + strings.Replace(p384Key, `"use":"sig"`, `"use":"enc"`, 1) + `]}`, "endless": strings.Repeat(" ", maxDocument+1),
	} {
		p.set(func() { p.answer = []byte(answer) })
		c.wait(pause)
		unknown := sign(t, p.claims(c, nil), jwa.ES256(), newES256(t), map[string]any{"kid": name})
		if _, err := tokens.Verify(t.Context(), unknown); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := tokens.Verify(t.Context(), p.sign(t, c, "k1", map[string]any{"jti": name})); err != nil {
			t.Errorf("%s: the keys from before are gone: %v", name, err)
		}
	}
}

const p384Key = `{"kty":"EC","crv":"P-384","use":"sig","kid":"x","x":"q4_pbdlXtZCmF9m2JFyAEKrVYSdHcLdJ2-jZ_6K1YRSfHjvHN84rI3EaKlyWAlTR","y":"Cw8kxCjvYTQ3SrCQPSPHYkPqMG5wS5P96YOmZTuG9yKDyIVjVB-Hn2zzWUqGYzWc"}`

// A key among others that cannot be read does not spoil them.
func TestStrangeKeysAreLeftOut(t *testing.T) {
	p := newProvider(t)
	good := p.published()
	mixed := bytes.Replace(good, []byte(`"keys":[`), []byte(`"keys":[{"kty":"AKP","alg":"ML-DSA-44","pub":"AAAA"},{"kty":"EC","crv":"P-999"},{"kty":"RSA","kid":"short","e":"AQAB","n":"`+strings.Repeat("_", 171)+`"},`), 1)
	if keys := must[[]publicKey](t)(parseKeys(mixed)); len(keys) != 1 || keys[0].id != "k1" {
		t.Errorf("%+v", keys)
	}
}

func TestMetadataOfAnother(t *testing.T) {
	p, c := newProvider(t), newClock()
	o := p.outside()
	o.Issuer = p.URL + "/tenant" // whose metadata are those of p.URL: they are 404 here
	tokens := must[*Tokens](t)(New(Config{Issuers: map[string]Outside{"corp": o}, Now: c.read, Log: slog.New(slog.DiscardHandler)}))
	defer tokens.Close()
	if _, err := tokens.Verify(t.Context(), p.sign(t, c, "k1", map[string]any{"iss": o.Issuer})); !errors.Is(err, ErrUnavailable) {
		t.Error(err)
	}
	r := newRemoteKeys("corp", o, Config{Client: newClient(), Now: c.read})
	for _, metadata := range []string{
		fmt.Sprintf(`{"issuer":%q,"jwks_uri":%q}`, p.URL, p.URL+"/keys"),
		fmt.Sprintf(`{"issuer":%q,"jwks_uri":"http://id.example.com/keys"}`, o.Issuer),
		fmt.Sprintf(`{"issuer":%q}`, o.Issuer), `[]`,
	} {
		if at, err := r.keysAt([]byte(metadata)); err == nil {
			t.Errorf("%s: keys at %s", metadata, at)
		}
	}
}

func TestMetadataURLs(t *testing.T) {
	got := strings.Join(metadataURLs("https://id.example.com/realms/a/"), "\n")
	want := `https://id.example.com/realms/a/.well-known/openid-configuration
https://id.example.com/realms/a/.well-known/oauth-authorization-server
https://id.example.com/.well-known/oauth-authorization-server/realms/a`
	if got != want {
		t.Errorf("%s", got)
	}
}

func TestCheckURL(t *testing.T) {
	for url, fine := range map[string]bool{
		"https://id.example.com": true, "http://127.0.0.1:8080/x": true, "http://localhost/": true, "http://[::1]:80": true,
		"http://id.example.com": false, "http://10.0.0.1": false, "ftp://127.0.0.1": false, "id.example.com": false, "": false, "https://u:p@id.example.com": false,
	} {
		if err := CheckURL(url); (err == nil) != fine {
			t.Errorf("%q: %v", url, err)
		}
	}
}

// Keys are fetched again without anybody's asking.
func TestBackgroundRefresh(t *testing.T) {
	p, c := newProvider(t), newClock()
	o := p.outside()
	o.Refresh = time.Millisecond
	tokens := must[*Tokens](t)(New(Config{Issuers: map[string]Outside{"corp": o}, Now: time.Now, Log: slog.New(slog.DiscardHandler)}))
	defer tokens.Close()
	tokens.issuers[p.URL].keys.(*remoteKeys).setWait(0)
	for range 3 {
		select {
		case <-p.asked:
		case <-time.After(30 * time.Second):
			t.Fatal("the keys are not fetched again")
		}
	}
	_ = c
}

func (r *remoteKeys) setWait(d time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.wait = d
}

func FuzzVerify(f *testing.F) {
	p, c := newProvider(f), newClock()
	tokens := trusting(f, p, c, p.outside())
	good := p.sign(f, c, "k1", nil)
	for _, seed := range []string{good, tampered(good), "", "..", "eyJ.eyJ.", unsigned(f, p.claims(c, nil)),
		sign(f, p.claims(c, map[string]any{"exp": 1}), jwa.ES256(), p.keys["k1"], nil)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, token string) {
		id, err := tokens.Verify(context.Background(), token)
		if err == nil && token != good && !sameSigned(token, good) {
			t.Errorf("%q speaks for %+v", token, id)
		}
		if err != nil && !errors.Is(err, ErrInvalid) && !errors.Is(err, ErrExpired) && !errors.Is(err, ErrAudience) {
			t.Errorf("%v", err)
		}
	})
}

// sameSigned reports whether what is signed is the same: an ECDSA signature has more than
// one form.
func sameSigned(a, b string) bool {
	return a[:strings.LastIndexByte(a, '.')+1] == b[:strings.LastIndexByte(b, '.')+1]
}

func FuzzKeys(f *testing.F) {
	p := newProvider(f)
	for _, seed := range []string{string(p.published()), `{"keys":[{"kty":"RSA","n":"AQAB","e":"AQAB"}]}`, `{}`, p384Key, `{"keys":[{"kty":"oct","k":""}]}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		keys, err := parseKeys([]byte(text))
		if err == nil && (len(keys) == 0 || len(keys) > maxKeys) {
			t.Errorf("%d keys", len(keys))
		}
		for _, k := range keys {
			if k.fits("HS256") || k.fits("none") || k.fits("") {
				t.Errorf("%+v", k)
			}
		}
	})
}
