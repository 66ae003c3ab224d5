package config

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/identity"
)

const issuers = `oauth:
  token_lifetime: 5m
  issuers:
    corp: {issuer: "https://id.example.com", audience: [wharf]}
    lab:
      issuer: http://127.0.0.1:9000
      audience: [a, b]
      jwks_url: https://keys.example.com/jwks
      algorithms: [ES384]
      leeway: 5s
      refresh: 1h
      actor: client_id
      tenant_claim: org
      workspaces_claim: spaces
      scopes: [tasks:read, "*"]
`

func TestIssuers(t *testing.T) {
	eff, err := load(t, issuers, Sources{})
	if err != nil {
		t.Fatal(err)
	}
	if o := eff.Config.OAuth; o.Lifetime != 5*time.Minute || o.Tokens != "on" {
		t.Errorf("%+v", o)
	}
	corp, lab := eff.Config.Issuers["corp"], eff.Config.Issuers["lab"]
	if got, want := corp.Outside(), (identity.Outside{Issuer: "https://id.example.com", Audiences: []string{"wharf"}, Leeway: 30 * time.Second,
		Tenant: "default", Scopes: abi.DefaultScopes()}); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if got, want := lab.Outside(), (identity.Outside{Issuer: "http://127.0.0.1:9000", Audiences: []string{"a", "b"}, JWKSURL: "https://keys.example.com/jwks",
		Algorithms: []string{"ES384"}, Leeway: 5 * time.Second, Refresh: time.Hour, ActorClaim: "client_id", TenantClaim: "org", WorkspacesClaim: "spaces",
		Scopes: []string{"tasks:read", "*"}}); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestAccessProblems(t *testing.T) {
	issuer := func(members string) string { return "oauth: {issuers: {corp: {" + members + "}}}\n" }
	for name, c := range map[string]struct{ file, want string }{
		"no issuer":             {issuer("audience: [a]"), "has no issuer"},
		"no audience":           {issuer(`issuer: "https://a.example"`), "has no audience"},
		"plain HTTP":            {issuer(`issuer: "http://id.example.com", audience: [a]`), "not https"},
		"HS256":                 {issuer(`issuer: "https://a.example", audience: [a], algorithms: [HS256]`), `"HS256" is not one of`},
		"none":                  {issuer(`issuer: "https://a.example", audience: [a], algorithms: [none]`), `"none" is not one of`},
		"unknown scope":         {issuer(`issuer: "https://a.example", audience: [a], scopes: [cakes]`), `"cakes" is not a scope`},
		"two tenants":           {issuer(`issuer: "https://a.example", audience: [a], tenant: a, tenant_claim: b`), "both tenant and tenant_claim"},
		"a name that keys have": {"oauth: {issuers: {key: {}}}\n", `"key" is no name here`},
		"two of one name":       {"oauth: {issuers: {a: {issuer: \"https://a.example\", audience: [a]}, b: {issuer: \"https://a.example\", audience: [a]}}}\n", "is that of oauth.issuers.a, too"},
		"no key":                {"tls: {cert: c.pem}\n", "needs both cert and key"},
		"two certificates":      {"tls: {cert: c, key: k}\nacme: {domains: a.example.com, accept_terms: \"yes\"}\n", "the node shows one or the other"},
		"terms":                 {"acme: {domains: a.example.com}\n", "has to be yes"},
		"an address":            {"acme: {domains: 192.0.2.1, accept_terms: \"yes\"}\n", "no name that a certificate can be made for"},
		"any name":              {"acme: {domains: \"*.example.com\", accept_terms: \"yes\"}\n", "no name that a certificate can be made for"},
		"clients, by whom":      {"tls: {cert: c, key: k, client_auth: required}\n", "does not say whom to believe"},
		"clients, over what":    {"tls: {client_auth: required, client_ca: ca}\n", "has no certificate itself"},
		"challenges for what":   {"acme: {http: \":80\"}\n", "acme.domains is not"},
	} {
		if _, err := load(t, c.file, Sources{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}
