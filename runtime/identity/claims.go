package identity

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/lestrrat-go/jwx/v3/jwt"

	"github.com/wharf-dev/wharf/abi"
)

// claims are the members of a token's payload.
type claims map[string]jsontext.Value

func parseClaims(payload []byte) (c claims, err error) {
	if err = json.Unmarshal(payload, &c); err == nil && c == nil {
		err = errors.New("the payload is null")
	}
	return c, err
}

// text returns a claim that is a string and not empty.
func (c claims) text(name string) (s string, ok bool) {
	if json.Unmarshal(c[name], &s) != nil {
		return "", false
	}
	return s, s != ""
}

// list returns a claim that is a list of strings, or one string of words.
func (c claims) list(name string) ([]string, bool) {
	if words, ok := c.text(name); ok {
		return strings.Fields(words), true
	}
	var list []string
	if c[name] == nil || json.Unmarshal(c[name], &list) != nil {
		return nil, false
	}
	return list, true
}

// rules say what an issuer's tokens must be, and what they mean.
type rules struct {
	issuer     string
	audiences  []string
	algorithms []string
	types      []string // allowed values of the header typ, in lower case
	leeway     time.Duration
	scopes     []string // what tokens may have; nil for what they say
	identify   func(c claims, id *Identity) bool
}

// accessTokenType is the header typ of an access token (RFC 9068).
const accessTokenType = "at+jwt"

func ownRules(own *Own) rules {
	return rules{issuer: own.issuer, audiences: []string{own.audience}, algorithms: []string{ownAlgorithm},
		types: []string{accessTokenType}, scopes: append(abi.Scopes(), abi.ScopeAll),
		identify: func(c claims, id *Identity) (ok bool) {
			id.Key, ok = c.text("client_id")
			return ok
		}}
}

func outsideRules(name string, o Outside) rules {
	algorithms := o.Algorithms
	if len(algorithms) == 0 {
		algorithms = DefaultAlgorithms()
	}
	return rules{issuer: o.Issuer, audiences: o.Audiences, algorithms: algorithms, leeway: o.Leeway,
		types: []string{"", "jwt", accessTokenType, "application/" + accessTokenType}, scopes: o.Scopes,
		identify: func(c claims, id *Identity) bool { return o.identify(name, c, id) }}
}

// allows reports whether the token's header is one that the issuer's tokens have.
func (r *rules) allows(t *token) bool {
	return slices.Contains(r.algorithms, t.algorithm.String()) && slices.Contains(r.types, strings.ToLower(t.typ))
}

// apply checks the claims of a token whose signature is good.
func (r *rules) apply(t *token, now time.Time) (*Identity, error) {
	standard := jwt.New()
	if err := json.Unmarshal(t.payload, standard); err != nil {
		return nil, ErrInvalid
	}
	if err := r.validate(standard, now); err != nil {
		return nil, err
	}
	if t.claims["cnf"] != nil {
		return nil, ErrInvalid // bound to a key whose possession is not proved here
	}
	expires, _ := standard.Expiration()
	id := &Identity{Scopes: r.granted(t.claims), Expires: expires}
	if !r.identify(t.claims, id) {
		return nil, ErrInvalid
	}
	return id, nil
}

func (r *rules) validate(standard jwt.Token, now time.Time) error {
	err := jwt.Validate(standard, jwt.WithIssuer(r.issuer), jwt.WithRequiredClaim(jwt.ExpirationKey),
		jwt.WithAcceptableSkew(r.leeway), jwt.WithClock(jwt.ClockFunc(func() time.Time { return now })))
	switch {
	case errors.Is(err, jwt.TokenExpiredError()):
		return ErrExpired
	case err != nil:
		return ErrInvalid
	}
	named, _ := standard.Audience()
	if !slices.ContainsFunc(named, func(a string) bool { return slices.Contains(r.audiences, a) }) {
		return ErrAudience
	}
	return nil
}

// granted returns those of the token's scopes that it may have. Others are ignored.
func (r *rules) granted(c claims) []string {
	words, ok := c.list("scope")
	if !ok {
		words, _ = c.list("scp")
	}
	granted := []string{}
	for _, w := range words {
		if slices.Contains(r.scopes, w) && !slices.Contains(granted, w) {
			granted = append(granted, w)
		}
	}
	return granted
}

// identify reads who a token of the issuer speaks for. A claim that was asked for and
// is missing is no claim to everything.
func (o *Outside) identify(name string, c claims, id *Identity) bool {
	caller, ok := o.caller(c)
	if !ok {
		return false
	}
	id.Actor = name + ":" + caller
	id.Tenant = o.Tenant
	if o.TenantClaim != "" {
		if id.Tenant, ok = c.text(o.TenantClaim); !ok {
			return false
		}
	}
	if o.WorkspacesClaim != "" {
		id.Workspaces, ok = c.list(o.WorkspacesClaim)
		return ok && len(id.Workspaces) > 0
	}
	return true
}

// maxCaller bounds what an issuer calls somebody.
const maxCaller = 200

func (o *Outside) caller(c claims) (caller string, ok bool) {
	names := []string{o.ActorClaim}
	if o.ActorClaim == "" {
		names = []string{"sub", "client_id"}
	}
	for _, name := range names {
		if caller, ok = c.text(name); ok {
			break
		}
	}
	return caller, ok && len(caller) <= maxCaller && utf8.ValidString(caller) &&
		!strings.ContainsFunc(caller, unicode.IsControl)
}

// CheckIssuer returns an error unless the issuer can be used.
func (o *Outside) CheckIssuer() error {
	for _, a := range o.Algorithms {
		if !slices.Contains(Algorithms(), a) {
			return fmt.Errorf("%q is not an algorithm that tokens may be signed with", a)
		}
	}
	return nil
}
