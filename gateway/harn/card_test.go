package harn_test

import (
	"cmp"
	"net/http"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
)

// The card tells nothing of a tenant: neither its Skills nor its Personas.
func TestCardTellsNothingOfATenant(t *testing.T) {
	n := newNode(t)
	own := n.do(t, "POST", "/wharf/v1/skills", object{"persona_id": "persona_echo", "name": "a secret skill", "description": "d"}).want(201).id()
	card := n.do(t, "GET", "/v1/agent-card", nil, []func(*http.Request){header("Authorization", ""), header(abi.VersionHeader, "")}...).want(200)
	if text := string(card.body); strings.Contains(text, own) || strings.Contains(text, "a secret skill") || !strings.Contains(text, "skill_echo") {
		t.Errorf("the card is %s", text)
	}
	if card.get("signature") != nil || card.get("a2a_card", "signatures") != nil {
		t.Errorf("a node without a key has signed its card: %s", card.body)
	}
}

// Everybody can write a Host header. Nothing that the node says of itself follows it: a
// card is signed, and tells clients where to send their secrets.
func TestNothingFollowsTheHostHeader(t *testing.T) {
	for name, public := range map[string]string{"listening": "", "configured": "https://wharf.example.com/agents"} {
		t.Run(name, func(t *testing.T) {
			n := newNode(t, func(c *gateway.Config) { c.PublicURL = public })
			for _, rt := range n.server.Routes() {
				if rt.Method != "GET" || strings.Contains(rt.Path, "{") || rt.Media == gateway.MediaEventStream {
					continue
				}
				whole := "GET http://evil.example" + rt.Path + " HTTP/1.1\r\n"
				for how, a := range map[string]*answer{
					"Host": n.do(t, "GET", rt.Path, nil, func(r *http.Request) { r.Host = "evil.example" },
						header("X-Forwarded-Host", "evil.example"), header("Forwarded", "host=evil.example")),
					"absolute form": n.raw(t, whole),
				} {
					if strings.Contains(string(a.body), "evil.example") {
						t.Errorf("%s, by %s: %s", rt.Path, how, a.body)
					}
				}
			}
			base := cmp.Or(public, n.url)
			card := n.do(t, "GET", "/v1/agent-card", nil, func(r *http.Request) { r.Host = "evil.example" }).want(200)
			if card.get("public_url") != base || card.get("a2a_card", "url") != base+"/a2a" ||
				!strings.Contains(string(card.body), `"tokenUrl":"`+base+`/oauth/token"`) {
				t.Errorf("the card is %s", card.body)
			}
			server := n.do(t, "GET", "/.well-known/oauth-authorization-server", nil).want(200)
			if server.get("token_endpoint") != base+"/oauth/token" {
				t.Errorf("%s", server.body)
			}
		})
	}
}
