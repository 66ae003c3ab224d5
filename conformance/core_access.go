package conformance

import (
	"bytes"
	"strings"

	"github.com/wharf-dev/wharf/conformance/internal/answers"
)

func accessChecks() []Check {
	const versioning, key, card = "Versioning", "API key", "HarnAgentCard"
	return []Check{
		{ID: "version.absent", Title: "a request without the version header gets 426", Section: versioning, Strength: Must, run: refusesVersion("-")},
		{ID: "version.unknown", Title: "a request with an unknown version gets 426", Section: versioning, Strength: Must, run: refusesVersion("agents-protocol-1999-01-01")},
		{ID: "version.lists-supported", Title: "the 426 lists the supported versions", Section: versioning, Strength: Should, run: listsVersions},
		{ID: "version.public", Title: "discovery needs neither key nor version header", Section: versioning, Strength: Must, run: publicDiscovery},
		{ID: "auth.absent", Title: "a request without a key gets 401", Section: key, Strength: Must, run: refusesAuth("-")},
		{ID: "auth.unknown", Title: "an unknown key gets 401", Section: key, Strength: Must, run: refusesAuth("Bearer not-a-key-of-this-server")},
		{ID: "auth.scheme", Title: "a key under another scheme gets 401", Section: key, Strength: Must, run: refusesAuth("Basic bm90OmEga2V5")},
		{ID: "auth.writes", Title: "a write without a key gets 401 and writes nothing", Section: key, Strength: Must, run: refusesWrites},
		{ID: "discovery.document", Title: "GET /v1 names the protocol and its versions", Section: "REST: Discovery", Strength: Must, run: discovery},
		{ID: "card.required", Title: "the card has every required field", Section: card, Strength: Must, run: cardFields},
		{ID: "card.a2a", Title: "the card nests an A2A card with its own required fields", Section: card, Strength: Must, run: cardA2A},
	}
}

func refusesVersion(version string) func(*probe) {
	return func(p *probe) {
		for _, path := range []string{"/v1/sessions", "/v1/tasks", "/v1/events"} {
			p.wantError(p.do(request{method: "GET", path: path, version: version}), 426, "unsupported_protocol_version")
		}
	}
}

func listsVersions(p *probe) {
	r := p.want(p.do(request{method: "GET", path: "/v1/sessions", version: "-"}), 426)
	listed := bytes.Contains(r.body, []byte(protocolVersion))
	for _, values := range r.header {
		listed = listed || strings.Contains(strings.Join(values, ","), protocolVersion)
	}
	if !listed {
		p.fail("the answer names no supported version: %s", answers.Excerpt(r.body))
	}
}

func publicDiscovery(p *probe) {
	for _, path := range []string{"/v1", "/v1/agent-card"} {
		p.want(p.do(request{method: "GET", path: path, auth: "-", version: "-"}), 200)
	}
}

func refusesAuth(header string) func(*probe) {
	return func(p *probe) {
		for _, path := range []string{"/v1/sessions", "/v1/tasks", "/v1/events", "/v1/tasks/task_00000000000000000000000000"} {
			p.wantError(p.do(request{method: "GET", path: path, auth: header}), 401, "unauthenticated")
		}
	}
}

func refusesWrites(p *probe) {
	session := p.newSession()
	before := p.messageIDs(session)
	r := p.do(request{method: "POST", path: "/v1/sessions/" + session + "/messages", body: object{"message": say("unseen")}, auth: "-"})
	p.wantError(r, 401, "unauthenticated")
	p.equal("the transcript after a refused write", p.messageIDs(session), before)
}

func discovery(p *probe) {
	doc := p.want(p.get("/v1"), 200).doc
	p.oneOf(doc, "protocol_family", "harn_agents_protocol")
	p.oneOf(doc, "current_version", protocolVersion)
	supported, _ := doc["supported_versions"].([]any)
	for _, v := range supported {
		if v == protocolVersion {
			return
		}
	}
	p.fail("supported_versions is %s, without %s", answers.Show(doc["supported_versions"]), protocolVersion)
}

func (p *probe) card() object {
	return p.want(p.do(request{method: "GET", path: "/v1/agent-card", auth: "-", version: "-"}), 200).doc
}

func cardFields(p *probe) {
	card := p.card()
	for _, member := range []string{"id", "name", "description"} {
		p.text(card, member)
	}
	p.oneOf(card, "protocol_version", protocolVersion)
	if _, ok := card["a2a_card"].(object); !ok {
		p.fail("a2a_card is %s, want an object", answers.Show(card["a2a_card"]))
	}
	if _, ok := card["skills"].([]any); !ok {
		p.fail("skills is %s, want an array", answers.Show(card["skills"]))
	}
}

func cardA2A(p *probe) {
	card, ok := p.card()["a2a_card"].(object)
	if !ok {
		p.fail("there is no a2a_card")
	}
	for _, member := range []string{"name", "description", "preferredTransport"} {
		p.text(card, member)
	}
	for _, member := range []string{"additionalInterfaces", "capabilities", "defaultInputModes", "defaultOutputModes", "security", "skills"} {
		if card[member] == nil {
			p.fail("a2a_card.%s is missing", member)
		}
	}
}
