package config

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/identity"
)

// OAuth configures the node's own issuer of access tokens.
type OAuth struct {
	Tokens   string // "on" or "off"
	Issuer   string // "" for the node's URL
	Audience string // "" for the issuer
	Lifetime time.Duration
}

// Issuer is an outside issuer whose access tokens are taken.
type Issuer struct {
	Issuer, JWKSURL                        string
	Audiences, Algorithms                  []string
	Leeway, Refresh                        time.Duration
	Actor, Tenant, TenantClaim, Workspaces string
	Scopes                                 []string
}

func oauthSettings() []Setting {
	return []Setting{
		set("oauth.tokens", "on", choice("on", "off"), func(c *Config) *string { return &c.OAuth.Tokens },
			"Whether the node gives access tokens to callers that have an API key, at /oauth/token."),
		set("oauth.issuer", "", text(httpURL), func(c *Config) *string { return &c.OAuth.Issuer },
			"The issuer of the node's own tokens. Empty: public_url, or else the URL that the node listens at."),
		set("oauth.audience", "", text(nil), func(c *Config) *string { return &c.OAuth.Audience },
			"The audience of the node's own tokens. Empty: the issuer."),
		set("oauth.token_lifetime", "15m", period(time.Second, 24*time.Hour), func(c *Config) *time.Duration { return &c.OAuth.Lifetime },
			"How long the node's own tokens are valid. Revoking the key ends them at once."),
	}
}

func issuerSection() Section {
	return section(Section{Name: "oauth.issuers", Key: "NAME",
		Doc: "Other issuers whose access tokens the node takes, beside API keys. A caller is then called NAME:SUBJECT. A token gets nothing that it does not state.",
		Example: `corp:
  issuer: https://id.example.com/realms/agents
  audience: [https://wharf.example.com]
  tenant: default
`, valid: issuerName},
		func(n *Named) *map[string]Issuer { return &n.Issuers },
		[]member[Issuer]{
			memberOf("issuer", text(keysURL), func(i *Issuer) *string { return &i.Issuer }, "The claim iss of its tokens, to the letter."),
			texts("audience", "The audiences that tokens must have: one of these must be in their claim aud.", func(i *Issuer) *[]string { return &i.Audiences }, notEmpty),
			memberOf("jwks_url", text(keysURL), func(i *Issuer) *string { return &i.JWKSURL },
				"Where its keys are. Not set: where its metadata say, at /.well-known/openid-configuration or /.well-known/oauth-authorization-server."),
			texts("algorithms", "What its tokens may be signed with. Not set: RS256, PS256, ES256 and EdDSA.", func(i *Issuer) *[]string { return &i.Algorithms }, algorithm),
			memberOf("leeway", period(time.Millisecond, 10*time.Minute), func(i *Issuer) *time.Duration { return &i.Leeway },
				"How far its clock may be from this node's. 30s if it is not set."),
			memberOf("refresh", period(time.Minute, 12*time.Hour), func(i *Issuer) *time.Duration { return &i.Refresh },
				"How often its keys are fetched. 15m if it is not set. A token with an unknown key also makes the node fetch them, at most every 10 seconds; while the issuer cannot be reached they are kept for a day."),
			memberOf("actor", text(notEmpty), func(i *Issuer) *string { return &i.Actor },
				"The claim with the caller's name. sub, or else client_id, if it is not set."),
			memberOf("tenant", text(notEmpty), func(i *Issuer) *string { return &i.Tenant },
				"The name of the tenant that its tokens belong to. default if neither this nor tenant_claim is set."),
			memberOf("tenant_claim", text(notEmpty), func(i *Issuer) *string { return &i.TenantClaim },
				"The claim with the name of the tenant, instead of tenant. The tenant has to exist."),
			memberOf("workspaces_claim", text(notEmpty), func(i *Issuer) *string { return &i.Workspaces },
				"The claim with the ids of the Workspaces that a token sees; one without it is refused. Not set: all of the tenant."),
			texts("scopes", "The most that its tokens get, whatever their claim scope or scp says. Not set: every resource, but no administration and nothing that is internal.", func(i *Issuer) *[]string { return &i.Scopes }, scope),
		})
}

// reservedActors begin the names of callers that no issuer speaks for.
var reservedActors = []string{"key", "wharf"}

// issuerName checks the name of an issuer, which begins the names of its callers.
func issuerName(name string) error {
	if slices.Contains(reservedActors, name) {
		return fmt.Errorf("%q is no name here: callers with API keys are called so", name)
	}
	return named(`[A-Za-z0-9][A-Za-z0-9_.-]{0,63}`, "at most 64 of A-Z a-z 0-9 _ . -")(name)
}

func keysURL(s string) error { return identity.CheckURL(s) }

func algorithm(name string) error {
	if !slices.Contains(identity.Algorithms(), name) {
		return fmt.Errorf("%q is not %s", name, oneOf(identity.Algorithms()))
	}
	return nil
}

func scope(name string) error {
	if name != abi.ScopeAll && !slices.Contains(abi.Scopes(), name) {
		return fmt.Errorf("%q is not a scope: * or %s", name, oneOf(abi.Scopes()))
	}
	return nil
}

// issuers holds the rules that tie the members of issuers to each other.
func (c *checker) issuers() {
	named := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(c.effective.Config.Issuers)) {
		i, path := c.effective.Config.Issuers[name], "oauth.issuers."+name
		switch {
		case i.Issuer == "":
			c.report(path, "has no issuer")
		case named[i.Issuer] != "":
			c.report(path+".issuer", "is that of %s, too", named[i.Issuer])
		case len(i.Audiences) == 0:
			c.report(path, "has no audience: a token for somebody else would do")
		case i.Tenant != "" && i.TenantClaim != "":
			c.report(path, "has both tenant and tenant_claim")
		}
		named[i.Issuer] = path
	}
}

// Outside returns the issuer as the verifier of tokens takes it.
func (i *Issuer) Outside() identity.Outside {
	o := identity.Outside{
		Issuer: i.Issuer, JWKSURL: i.JWKSURL, Audiences: i.Audiences, Algorithms: i.Algorithms, Leeway: i.Leeway, Refresh: i.Refresh,
		ActorClaim: i.Actor, Tenant: i.Tenant, TenantClaim: i.TenantClaim, WorkspacesClaim: i.Workspaces, Scopes: i.Scopes,
	}
	if o.Leeway == 0 {
		o.Leeway = 30 * time.Second
	}
	if o.Tenant == "" && o.TenantClaim == "" {
		o.Tenant = "default"
	}
	if o.Scopes == nil {
		o.Scopes = abi.DefaultScopes()
	}
	return o
}
