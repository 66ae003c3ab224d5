package openharness

import (
	"net/http"
	"strings"
)

func registryChecks() []Check {
	return []Check{
		{ID: "list.page", Title: "Harnesses are listed page by page", Operation: "harnesses.list", run: func(p *probe) {
			a := p.want(p.ask(request{method: http.MethodGet, path: "?limit=1"}), 200)
			p.equal("limit", a.get("limit"), 1)
			p.equal("offset", a.get("offset"), 0)
			total, _ := a.get("total").(float64)
			p.equal("has_more", a.get("has_more"), total > 1)
		}},
		{ID: "list.bounds", Title: "A limit beyond 1 to 100 is refused", Operation: "harnesses.list", run: func(p *probe) {
			for _, limit := range []string{"0", "101", "x"} {
				p.invalid(p.ask(request{method: http.MethodGet, path: "?limit=" + limit}))
			}
		}},
		{ID: "list.status", Title: "Harnesses are narrowed by status", Operation: "harnesses.list", run: func(p *probe) {
			a := p.want(p.ask(request{method: http.MethodGet, path: "?status=active&limit=100"}), 200)
			for _, one := range p.list(a, "data") {
				p.equal("status", one.(object)["status"], "active")
			}
		}},
		{ID: "get.same", Title: "A harness is shown under its id", Operation: "harnesses.get", run: func(p *probe) {
			a := p.want(p.ask(request{method: http.MethodGet, path: "/" + p.harness}), 200)
			p.equal("harness.id", a.get("harness.id"), p.harness)
		}},
		{ID: "get.unknown", Title: "A harness that is not there is 404", Operation: "harnesses.get", run: func(p *probe) {
			p.missing(p.ask(request{method: http.MethodGet, path: "/" + p.name}))
		}},
		{ID: "register.life", Title: "A harness is registered, changed and unregistered", Operation: "harnesses.register", run: harnessLife},
		{ID: "register.duplicate", Title: "A second harness of the same id is refused", Operation: "harnesses.register", run: func(p *probe) {
			p.register()
			p.want(p.ask(request{method: http.MethodPost, body: p.newHarness()}), 409)
		}},
		{ID: "register.incomplete", Title: "A harness without a name is refused", Operation: "harnesses.register", run: func(p *probe) {
			doc := p.newHarness()
			delete(doc, "name")
			p.invalid(p.ask(request{method: http.MethodPost, body: doc}))
		}},
		{ID: "register.execution_type", Title: "An execution type that is not there is refused", Operation: "harnesses.register", run: func(p *probe) {
			doc := p.newHarness()
			doc["execution_type"] = "nonsense"
			p.invalid(p.ask(request{method: http.MethodPost, body: doc}))
		}},
		{ID: "capabilities.same", Title: "A harness and its manifest say the same", Operation: "harnesses.capabilities", run: func(p *probe) {
			shown := p.want(p.ask(request{method: http.MethodGet, path: "/" + p.harness}), 200)
			a := p.want(p.get("capabilities"), 200)
			p.equal("harness_id", a.get("harness_id"), p.harness)
			p.equal("capabilities", a.get("capabilities"), shown.get("harness.capabilities"))
		}},
		{ID: "capabilities.operations", Title: "What is supported has operations, and what is not has none", Operation: "harnesses.capabilities", run: func(p *probe) {
			a := p.want(p.get("capabilities"), 200)
			for domain, supported := range p.supported {
				if n := len(p.list(a, "capabilities."+domain+".operations")); (n > 0) != supported {
					p.fail("%s: supported is %v, and there are %d operations", domain, supported, n)
				}
			}
		}},
		{ID: "capabilities.unsupported", Title: "What is not supported is answered with 501 and its code", Operation: "harnesses.capabilities", run: unsupported},
		{ID: "health.shape", Title: "A harness says how it is doing", Operation: "harnesses.health", run: func(p *probe) {
			a := p.want(p.get("health"), 200)
			if latency, _ := a.get("latency_ms").(float64); latency < 0 {
				p.fail("latency_ms is %v", latency)
			}
		}},
		{ID: "health.public", Title: "Health is told without a key", Operation: "harnesses.health", run: func(p *probe) {
			p.want(p.do(http.MethodGet, "health", nil, header("Authorization", "")), 200)
		}},
		{ID: "credentials.secret", Title: "A key that is tried is told to nobody", Operation: "harnesses.validateCredentials", run: func(p *probe) {
			key := "sk-" + p.name
			a := p.post("validate-credentials", object{"api_key": key})
			if a.status == http.StatusForbidden {
				p.skip("the key may not do this")
			}
			if strings.Contains(string(a.body), key) {
				p.fail("%s answers with the key", a.to)
			}
			if p.want(a, 200).get("stored") != false {
				p.fail("%s stored a key without being asked to", a.to)
			}
		}},
		{ID: "auth.missing", Title: "Without a key there is 401", Operation: "harnesses.list", run: func(p *probe) {
			p.want(p.ask(request{method: http.MethodGet, with: []option{header("Authorization", "")}}), 401)
		}},
		{ID: "auth.wrong", Title: "With a key that is none there is 401", Operation: "harnesses.list", run: func(p *probe) {
			p.want(p.ask(request{method: http.MethodGet, with: []option{header("Authorization", "Bearer "+p.name)}}), 401)
		}},
		{ID: "errors.envelope", Title: "An error has a code and a message", Operation: "harnesses.get", run: func(p *probe) {
			a := p.ask(request{method: http.MethodGet, path: "/" + p.name})
			p.missing(a)
			p.text(a, "error.message")
			if code := a.code(); !strings.EqualFold(code, "NOT_FOUND") {
				p.fail("%s answered with the code %q, want NOT_FOUND", a.to, code)
			}
		}},
	}
}

// newHarness is one that runs nothing.
func (p *probe) newHarness() object {
	return object{"id": p.name, "name": p.name, "vendor": "conformance", "description": "Made by a check.", "execution_type": "ide", "config": object{}}
}

func (p *probe) register() answer {
	a := p.ok(p.ask(request{method: http.MethodPost, body: p.newHarness()}))
	p.made = append(p.made, request{method: http.MethodDelete, path: "/" + p.name})
	return a
}

func harnessLife(p *probe) {
	p.equal("harness.id", p.register().get("harness.id"), p.name)
	at := "/" + p.name
	a := p.ok(p.ask(request{method: http.MethodPatch, path: at, body: object{"description": "Changed."}}))
	p.equal("harness.description", a.get("harness.description"), "Changed.")
	a = p.want(p.ask(request{method: http.MethodGet, path: at}), 200)
	p.equal("harness.description", a.get("harness.description"), "Changed.")
	p.want(p.ask(request{method: http.MethodDelete, path: at}), 204)
	p.missing(p.ask(request{method: http.MethodGet, path: at}))
}

// unsupported looks at every domain that the manifest says is not supported.
func unsupported(p *probe) {
	any := false
	for _, domain := range Domains()[1:] {
		if p.supported[domain] {
			continue
		}
		any = true
		if a := p.want(p.get(looks[domain]), 501); a.code() != "CAPABILITY_NOT_SUPPORTED" {
			p.fail("%s answered with the code %q, want CAPABILITY_NOT_SUPPORTED", a.to, a.code())
		}
	}
	if !any {
		p.seen = "the harness supports every domain"
	}
}
