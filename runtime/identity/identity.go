package identity

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/lestrrat-go/jwx/v3/jwa"
	"github.com/lestrrat-go/jwx/v3/jws"
)

// Why a token is refused. Nothing more is told.
var (
	ErrInvalid  = errors.New("the access token is invalid")
	ErrExpired  = errors.New("the access token has expired")
	ErrAudience = errors.New("the access token is not for this audience")
	// ErrUnavailable says that the token could not be checked, since its issuer's keys
	// are not known and cannot be fetched at the moment.
	ErrUnavailable = errors.New("the keys of the access token's issuer cannot be fetched")
)

// Identity is who a token speaks for, and how far. It is shared: do not change it.
type Identity struct {
	// Key is the id of the API key that a token of the node's own issuer stands for; it
	// is "" for the tokens of others, and the members below it but Scopes and Expires
	// are then empty.
	Key string
	// Actor is the issuer's name here, a colon, and what it calls the caller.
	Actor string
	// Tenant is the tenant's name.
	Tenant string
	// Workspaces are ids; nil is all of the tenant.
	Workspaces []string
	Scopes     []string
	Expires    time.Time
}

// Config says whose tokens are believed.
type Config struct {
	Issuers map[string]Outside // by the names they have here
	Own     *Own               // nil: the node issues no tokens

	// Client fetches what issuers publish; default one with short timeouts.
	Client *http.Client
	Now    func() time.Time // default time.Now
	Log    *slog.Logger     // default slog.Default
}

// Outside is an issuer elsewhere.
type Outside struct {
	Issuer     string   // exactly as in its tokens
	Audiences  []string // any of which a token must be for
	JWKSURL    string   // "" for what its metadata say
	Algorithms []string // default [DefaultAlgorithms]
	Leeway     time.Duration
	Refresh    time.Duration // how often keys are fetched; default 15 minutes

	ActorClaim      string   // default sub, or else client_id
	Tenant          string   // a fixed name
	TenantClaim     string   // the claim that holds the name, instead
	WorkspacesClaim string   // the claim that lists ids; "" is all of the tenant
	Scopes          []string // the most that its tokens get
}

// Algorithms lists what a token may be signed with: none that uses one secret for both
// sides, for that is no signature.
func Algorithms() []string {
	return []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"}
}

// DefaultAlgorithms are those of an issuer that names none.
func DefaultAlgorithms() []string { return []string{"RS256", "PS256", "ES256", "EdDSA"} }

// maxToken bounds the length of a token.
const maxToken = 16 << 10

// Tokens verifies the tokens of all issuers, and issues those of the node. It is safe
// for concurrent use.
type Tokens struct {
	now     func() time.Time
	own     *Own
	issuers map[string]*issuer // by their iss
	cache   cache
	slots   chan struct{} // one for each signature that is being checked
	stop    context.CancelFunc
	running sync.WaitGroup
}

// issuer is whose tokens are believed.
type issuer struct {
	keys  keySource
	rules rules
}

// keySource is where an issuer's keys come from.
type keySource interface {
	// find returns the keys with the given id, or the only one when it is "". epoch
	// changes whenever the keys do.
	find(ctx context.Context, kid string) (keys []publicKey, epoch uint64, err error)
	epoch() uint64
}

// New returns what verifies tokens, and begins to fetch the keys of outside issuers.
// [Tokens.Close] ends that.
func New(c Config) (*Tokens, error) {
	c = c.withDefaults()
	ctx, stop := context.WithCancel(context.Background())
	t := &Tokens{now: c.Now, own: c.Own, issuers: map[string]*issuer{}, stop: stop,
		slots: make(chan struct{}, runtime.GOMAXPROCS(0))}
	for name, o := range c.Issuers {
		if t.issuers[o.Issuer] != nil {
			stop()
			return nil, fmt.Errorf("identity: two issuers are called %s", o.Issuer)
		}
		keys := newRemoteKeys(name, o, c)
		t.issuers[o.Issuer] = &issuer{keys: keys, rules: outsideRules(name, o)}
		t.running.Go(func() { keys.run(ctx) })
	}
	if c.Own != nil {
		if t.issuers[c.Own.issuer] != nil {
			stop()
			return nil, fmt.Errorf("identity: the node and an outside issuer are both called %s", c.Own.issuer)
		}
		t.issuers[c.Own.issuer] = &issuer{keys: c.Own, rules: ownRules(c.Own)}
	}
	return t, nil
}

func (c Config) withDefaults() Config {
	if c.Client == nil {
		c.Client = newClient()
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
	return c
}

// Close ends the fetching of keys. Tokens can still be verified with those that are
// known.
func (t *Tokens) Close() error {
	t.stop()
	t.running.Wait()
	return nil
}

// Own returns the node's own issuer, or nil.
func (t *Tokens) Own() *Own { return t.own }

// LooksLikeToken reports whether a credential has the form of a signed JWT: three parts,
// the first of which is a JSON object in base64.
func LooksLikeToken(credential string) bool {
	return strings.HasPrefix(credential, "eyJ") && strings.Count(credential, ".") == 2
}

// ClaimedIssuer returns who a token says has issued it, which nobody has checked: at most so many bytes of
// it, "" when it says nothing.
func ClaimedIssuer(token string, most int) string {
	_, rest, _ := strings.Cut(token, ".")
	claims, _, _ := strings.Cut(rest, ".")
	if len(claims) > maxToken {
		return ""
	}
	text, err := base64.RawURLEncoding.DecodeString(claims)
	if err != nil {
		return ""
	}
	var said struct {
		Issuer string `json:"iss"`
	}
	if err := json.Unmarshal(text, &said); err != nil {
		return ""
	}
	return said.Issuer[:min(len(said.Issuer), most)]
}

// Verify returns who the token speaks for, or one of the errors of this package.
func (t *Tokens) Verify(ctx context.Context, token string) (*Identity, error) {
	if len(token) > maxToken {
		return nil, ErrInvalid
	}
	now := t.now()
	if id := t.cache.get(token, now); id != nil {
		return id, nil
	}
	read, err := parse(token)
	if err != nil {
		return nil, err
	}
	from := t.issuers[read.issuer]
	if from == nil {
		return nil, ErrInvalid
	}
	epoch, err := read.verify(ctx, from, t.slots)
	if err != nil {
		return nil, err
	}
	id, err := from.rules.apply(read, now)
	if err != nil {
		return nil, err
	}
	t.cache.put(token, id, from, epoch, id.Expires.Add(from.rules.leeway))
	return id, nil
}

// token is a token whose form is sound. Nothing of it is proved before verify.
type token struct {
	text      string
	algorithm jwa.SignatureAlgorithm
	kid       string
	typ       string
	issuer    string
	payload   []byte
	claims    claims
}

func parse(text string) (*token, error) {
	message, err := jws.Parse([]byte(text), jws.WithCompact())
	if err != nil || len(message.Signatures()) != 1 {
		return nil, ErrInvalid
	}
	header := message.Signatures()[0].ProtectedHeaders()
	if header.Has("crit") || header.Has("b64") {
		return nil, ErrInvalid // extensions that we would have to understand
	}
	t := &token{text: text, payload: message.Payload()}
	t.algorithm, _ = header.Algorithm()
	t.kid, _ = header.KeyID()
	t.typ, _ = header.Type()
	if t.claims, err = parseClaims(t.payload); err != nil {
		return nil, ErrInvalid
	}
	t.issuer, _ = t.claims.text("iss")
	return t, nil
}

// verify checks the signature with the issuer's keys, and returns their epoch. As many
// signatures are checked at one time as there are slots: whoever shows tokens has
// proved nothing yet.
func (t *token) verify(ctx context.Context, from *issuer, slots chan struct{}) (uint64, error) {
	if !from.rules.allows(t) {
		return 0, ErrInvalid
	}
	keys, epoch, err := from.keys.find(ctx, t.kid)
	if err != nil {
		return 0, err
	}
	select {
	case slots <- struct{}{}:
		defer func() { <-slots }()
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
	for _, k := range keys {
		if k.fits(t.algorithm.String()) && k.signs(t.signatureLength()) && t.signedWith(k) {
			return epoch, nil
		}
	}
	return 0, ErrInvalid
}

// signatureLength is how many bytes the signature has.
func (t *token) signatureLength() int {
	return base64.RawURLEncoding.DecodedLen(len(t.text) - strings.LastIndexByte(t.text, '.') - 1)
}

func (t *token) signedWith(k publicKey) bool {
	_, err := jws.Verify([]byte(t.text), jws.WithCompact(), jws.WithKey(t.algorithm, k.key))
	return err == nil
}
