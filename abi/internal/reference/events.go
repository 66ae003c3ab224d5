package reference

import (
	"reflect"
	"strings"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/abi/schema"
)

// EventSchemaID names the document of [EventSchemas].
const EventSchemaID = "urn:wharf:" + abi.ABIVersion + ":events"

// EventSchemas returns the JSON Schemas of what events tell as one document. Its $defs has
// one for each kind of event, by its name, and the types that they share.
func EventSchemas(s *Source) ([]byte, error) {
	b := newBuilder(s)
	for _, p := range abi.EventPayloads() {
		b.shared[string(p.Kind)] = b.told(p)
	}
	return written(document{ID: EventSchemaID, Title: "What the events of Wharf tell, " + abi.ABIVersion, Defs: b.shared})
}

// told is the schema of what an event tells besides the resource that it states.
func (b *builder) told(p abi.EventPayload) *schema.Schema {
	var ways []*schema.Schema
	for _, t := range p.Tells {
		ways = append(ways, b.share(t))
	}
	if p.Silent {
		none := 0
		ways = append(ways, &schema.Schema{Type: "object", MaxProperties: &none})
	}
	if len(ways) == 1 {
		return ways[0]
	}
	return &schema.Schema{AnyOf: ways}
}

const eventsIntroduction = `# Events

<!-- Generated from package abi by go generate ./abi. Do not edit. -->

Every kind of event that the node writes, and what its ` + "`payload`" + ` holds: the resource that the event states, under
the name of its object and as REST shows it, and the members of the type that it tells. Kinds that begin with
` + "`vendor.wharf.`" + ` are Wharf's own; the others are the protocol's. A plugin may add kinds of its own, whose payload is
any object. The same as JSON Schemas: [events.schema.json](events.schema.json), whose ` + "`$defs`" + ` has one for what each
kind tells.

What is internal is shown to readers with the scope ` + "`events:internal`" + ` alone. Others find ` + "`\"redacted\":true`" + ` in its place, and
in place of what a recorded call asked and was answered ` + "`request_sha256` and `answer_sha256`" + `.

| event | | states | tells |
|---|---|---|---|
`

// EventsPage returns the reference of the events, in Markdown.
func EventsPage(s *Source) string {
	p := &page{source: s, builder: newBuilder(s)}
	p.text.WriteString(eventsIntroduction)
	for _, e := range abi.EventPayloads() {
		var tells []string
		for _, t := range e.Tells {
			p.builder.share(t)
			tells = append(tells, "["+t.Name()+"](#"+anchor(t.Name())+")")
		}
		if e.Silent && len(tells) > 0 {
			tells = append(tells, "nothing")
		}
		p.writef("| `%s` | %s | %s | %s |\n", e.Kind, cell(s.kinds[string(e.Kind)]), code(string(e.States)), strings.Join(tells, ", or "))
	}
	p.sharedTypes()
	return p.text.String()
}

// kindType is the type of the constants that name events.
var kindType = reflect.TypeFor[abi.EventKind]().Name()

// Files returns every page and document of schemas, by the name of its file.
func Files(s *Source) (map[string][]byte, error) {
	calls, err := Schemas(s)
	if err != nil {
		return nil, err
	}
	events, err := EventSchemas(s)
	if err != nil {
		return nil, err
	}
	return map[string][]byte{
		"host-calls.md": []byte(Page(s)), "host-calls.schema.json": calls,
		"events.md": []byte(EventsPage(s)), "events.schema.json": events,
	}, nil
}
