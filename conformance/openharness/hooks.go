package openharness

import (
	"net/http"
	"strings"

	"github.com/wharf-dev/wharf/conformance/internal/answers"
)

func hookChecks() []Check {
	return []Check{
		{ID: "register.enabled", Title: "A hook is registered, and enabled unless it is said otherwise", Operation: "hooks.register", run: func(p *probe) {
			a := p.newHook()
			p.equal("hook.event", a.get("hook.event"), "stop")
			p.equal("hook.enabled", a.get("hook.enabled"), true)
		}},
		{ID: "register.event", Title: "A hook without an event is refused", Operation: "hooks.register", run: func(p *probe) {
			p.invalid(p.post("hooks", object{"handler": p.handler()}))
		}},
		{ID: "register.handler", Title: "A hook without a handler is refused", Operation: "hooks.register", run: func(p *probe) {
			p.invalid(p.post("hooks", object{"event": "stop"}))
		}},
		{ID: "list.has", Title: "Hooks are listed, and narrowed by event", Operation: "hooks.list", run: func(p *probe) {
			id := p.text(p.newHook(), "hook.id")
			p.lists("hooks", "hooks", id, true)
			p.lists("hooks?event=stop", "hooks", id, true)
			p.lists("hooks?event=error", "hooks", id, false)
		}},
		{ID: "get.same", Title: "A hook is shown under its id", Operation: "hooks.get", run: func(p *probe) {
			a := p.newHook()
			p.equal("hook", p.want(p.get("hooks/"+p.text(a, "hook.id")), 200).get("hook.handler"), a.get("hook.handler"))
		}},
		{ID: "get.unknown", Title: "A hook that is not there is 404", Operation: "hooks.get", run: func(p *probe) { p.missing(p.get("hooks/" + p.name)) }},
		{ID: "update.disabled", Title: "A hook is disabled, and stays so", Operation: "hooks.update", run: func(p *probe) {
			at := "hooks/" + p.text(p.newHook(), "hook.id")
			p.equal("hook.enabled", p.ok(p.patch(at, object{"enabled": false})).get("hook.enabled"), false)
			p.equal("hook.enabled", p.want(p.get(at), 200).get("hook.enabled"), false)
		}},
		{ID: "unregister.gone", Title: "A hook that was removed is there no more", Operation: "hooks.unregister", run: func(p *probe) {
			p.gone("hooks/" + p.text(p.newHook(), "hook.id"))
		}},
	}
}

// handler is one that nobody answers. The hook is told of the end of executions, which goes on
// whatever becomes of it.
func (p *probe) handler() object {
	return object{"type": "webhook", "url": "https://hooks.example.com/" + p.name}
}

func (p *probe) newHook() answer {
	a := p.ok(p.post("hooks", object{"event": "stop", "handler": p.handler()}))
	p.later("hooks/" + p.text(a, "hook.id"))
	return a
}

func eventChecks() []Check {
	return []Check{
		{ID: "events.page", Title: "What a harness has told of is listed page by page", Operation: "hooks.listEvents", run: func(p *probe) {
			a := p.want(p.get("events?limit=5"), 200)
			p.equal("limit", a.get("limit"), 5)
		}},
		{ID: "events.session", Title: "A session that was made is told of", Operation: "hooks.listEvents", run: func(p *probe) {
			id := p.sessionMade()
			for {
				a := p.want(p.get("events?type=session.created&limit=100"), 200)
				for _, one := range p.list(a, "data") {
					doc, _ := one.(object)
					p.equal("type", doc["type"], "session.created")
					if data, _ := doc["data"].(object); data["session_id"] == id {
						return
					}
				}
				p.pause()
			}
		}},
		{ID: "events.since", Title: "Nothing is listed from a time that is to come", Operation: "hooks.listEvents", run: func(p *probe) {
			p.equal("data", len(p.list(p.want(p.get("events?since=2999-01-01T00:00:00Z"), 200), "data")), 0)
			p.invalid(p.get("events?since=yesterday"))
		}},
		{ID: "events.stream", Title: "A session that is made is told of as it happens", Operation: "hooks.streamEvents", run: func(p *probe) {
			s := p.open(http.MethodGet, "events/stream", "HarnessEvent", nil)
			defer s.close()
			id := p.sessionMade()
			s.wants("session.created", func(doc object) bool { return doc["session_id"] == id })
		}},
		{ID: "events.filter", Title: "A stream of named events tells of no others", Operation: "hooks.streamEvents", run: func(p *probe) {
			s := p.open(http.MethodGet, "events/stream?events=session.ended", "HarnessEvent", nil)
			defer s.close()
			id := p.sessionMade()
			p.want(p.remove("sessions/"+id), 204)
			for {
				f, ok := s.next()
				if !ok || !f.is("session.ended") {
					p.fail("the stream tells of %s", f.data)
				}
				if f.doc["session_id"] == id {
					return
				}
			}
		}},
	}
}

// sessionMade makes a session, so that there is something to be told of.
func (p *probe) sessionMade() string {
	if !p.supported[Sessions] {
		p.skip("the harness has no sessions that could be told of")
	}
	return p.text(p.newSession(), "session.id")
}

func webhookChecks() []Check {
	return []Check{
		{ID: "webhooks.register.secret", Title: "A webhook is registered, and has a secret", Operation: "webhooks.register", run: func(p *probe) {
			a := p.newWebhook()
			p.equal("webhook.enabled", a.get("webhook.enabled"), true)
			p.equal("webhook.events", a.get("webhook.events"), []string{"execution.completed"})
			if secret := p.text(a, "webhook.secret"); len(secret) < 16 {
				p.fail("the secret has %d characters", len(secret))
			}
		}},
		{ID: "webhooks.register.https", Title: "A webhook without TLS is refused", Operation: "webhooks.register", run: func(p *probe) {
			p.invalid(p.post("webhooks", object{"url": "http://hooks.example.com/" + p.name, "events": []string{"execution.completed"}}))
		}},
		{ID: "webhooks.register.events", Title: "A webhook without events is refused", Operation: "webhooks.register", run: func(p *probe) {
			p.invalid(p.post("webhooks", object{"url": "https://hooks.example.com/" + p.name}))
		}},
		{ID: "webhooks.list.has", Title: "Webhooks are listed", Operation: "webhooks.list", run: func(p *probe) {
			one, ok := p.find("webhooks", "webhooks", p.text(p.newWebhook(), "webhook.id"))
			if url, _ := one["url"].(string); !ok || !strings.HasSuffix(url, p.name) {
				p.fail("the webhook is listed as %s", answers.Show(one))
			}
		}},
		{ID: "webhooks.delete.gone", Title: "A webhook that was removed is there no more", Operation: "webhooks.delete", run: func(p *probe) {
			id := p.text(p.newWebhook(), "webhook.id")
			p.want(p.remove("webhooks/"+id), 204)
			p.lists("webhooks", "webhooks", id, false)
			p.missing(p.remove("webhooks/" + id))
		}},
	}
}

func (p *probe) newWebhook() answer {
	a := p.ok(p.post("webhooks", object{"url": "https://hooks.example.com/" + p.name, "events": []string{"execution.completed"}}))
	p.later("webhooks/" + p.text(a, "webhook.id"))
	return a
}
