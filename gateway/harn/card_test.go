package harn_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/abi"
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
