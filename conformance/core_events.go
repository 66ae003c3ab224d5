package conformance

import (
	"fmt"
	"net/url"
	"slices"

	"github.com/wharf-dev/wharf/conformance/internal/answers"
)

func eventChecks() []Check {
	const event = "Event"
	return []Check{
		{ID: "events.required", Title: "every Event has the required fields", Section: event, Strength: Must, run: eventFields},
		{ID: "events.get", Title: "an Event can be read by its id", Section: event, Strength: Must, run: eventGet},
		{ID: "events.sequence", Title: "the sequence of each resource rises", Section: event, Strength: Must, run: eventSequence},
		{ID: "events.unique", Title: "no id appears twice, and reading again gives the same", Section: event, Strength: Must, run: eventsStable},
		{ID: "events.causal", Title: "what a Session saw is in its Events, in causal order", Section: event, Strength: Must, run: eventsCausal},
		{ID: "events.range", Title: "a range read continues after any Event without gap or double", Section: "REST: event range reads", Strength: Must, run: eventRanges},
		{ID: "events.bad-cursor", Title: "a cursor that is none is refused", Section: "REST: event range reads", Strength: Must, run: eventBadCursor},
	}
}

func escape(s string) string { return url.QueryEscape(s) }

// eventsAfter reads the Events of a list, in pages of the given size, after an id.
func (p *probe) eventsAfter(path, after string, page int) []object {
	var all []object
	for {
		query := fmt.Sprintf("%s?limit=%d", path, page)
		if after != "" {
			query += "&after_event_id=" + escape(after)
		}
		r := p.want(p.get(query), 200)
		batch := r.data()
		all = append(all, batch...)
		info, _ := r.doc["page"].(object)
		if more, _ := info["has_more"].(bool); !more {
			return all
		}
		if len(batch) == 0 {
			p.fail("GET %s has more, but none on this page", query)
		}
		last := p.text(batch[len(batch)-1], "id")
		if last == after {
			p.fail("GET %s does not get past event %s", query, last)
		}
		after = last
	}
}

func (p *probe) taskEvents(id string) []object {
	return p.eventsAfter("/v1/tasks/"+id+"/events", "", 200)
}

// lived makes a Session with some history and returns its id and its Events.
func (p *probe) lived() (session string, events []object) {
	session = p.newSession()
	p.append(session, "before")
	p.settled(p.text(p.submit(session), "id"))
	p.append(session, "after")
	return session, p.eventsAfter("/v1/sessions/"+session+"/events", "", 200)
}

func eventFields(p *probe) {
	_, events := p.lived()
	for _, e := range events {
		p.oneOf(e, "object", "event")
		p.text(e, "event")
		resource, _ := e["resource"].(object)
		p.text(resource, "object")
		p.text(resource, "id")
		if n, ok := e["sequence"].(float64); !ok || n < 0 || n != float64(uint64(n)) {
			p.fail("event %s: sequence is %s, want a whole number", answers.Show(e["id"]), answers.Show(e["sequence"]))
		}
		if _, ok := e["payload"].(object); !ok {
			p.fail("event %s: payload is %s, want an object", answers.Show(e["id"]), answers.Show(e["payload"]))
		}
	}
	p.note("%d events", len(events))
}

func eventGet(p *probe) {
	_, events := p.lived()
	for _, e := range events {
		got := p.want(p.get("/v1/events/"+url.PathEscape(p.text(e, "id"))), 200).doc
		for _, member := range []string{"id", "event", "resource", "sequence", "created_at", "payload"} {
			p.equal("event "+p.text(e, "id")+", "+member, got[member], e[member])
		}
	}
}

func eventSequence(p *probe) {
	_, events := p.lived()
	last := map[string]float64{}
	for _, e := range events {
		key := answers.Show(e["resource"])
		n, _ := e["sequence"].(float64)
		if before, seen := last[key]; seen && n <= before {
			p.fail("%s: sequence %v comes after %v", key, n, before)
		}
		last[key] = n
	}
	p.note("%d events of %d resources", len(events), len(last))
}

func eventsStable(p *probe) {
	session, events := p.lived()
	ids := p.ids(events)
	if unique := slices.Compact(slices.Sorted(slices.Values(ids))); len(unique) != len(ids) {
		p.fail("%d events have %d ids", len(ids), len(unique))
	}
	p.append(session, "later")
	again := p.ids(p.eventsAfter("/v1/sessions/"+session+"/events", "", 200))
	if len(again) <= len(ids) {
		p.fail("an appended Message added no event")
	}
	p.equal("the events read again", again[:len(ids)], ids)
}

func eventsCausal(p *probe) {
	_, events := p.lived()
	wanted := []string{"session.created", "user.message", "task.submitted", "task.started"}
	for _, e := range events {
		if len(wanted) > 0 && e["event"] == wanted[0] {
			wanted = wanted[1:]
		}
	}
	if len(wanted) > 0 {
		p.fail("no %s in its place among %d events", wanted[0], len(events))
	}
}

func eventRanges(p *probe) {
	session, events := p.lived()
	path, ids := "/v1/sessions/"+session+"/events", p.ids(events)
	for _, page := range []int{1, 2, 3} {
		p.equal(fmt.Sprintf("the events in pages of %d", page), p.ids(p.eventsAfter(path, "", page)), ids)
	}
	for i, id := range ids {
		p.equal("the events after "+id, p.ids(p.eventsAfter(path, id, 200)), ids[i+1:])
	}
}

func eventBadCursor(p *probe) {
	r := p.get("/v1/sessions/" + p.newSession() + "/events?after_event_id=no-such-event")
	p.want(r, 400, 404, 410)
	p.note("%d %s", r.status, r.errorCode())
}
