package reference

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/abi/schema"
)

// Page returns the reference of the host calls, in Markdown.
func Page(s *Source) string {
	p := &page{source: s, builder: newBuilder(s)}
	p.head()
	p.overview()
	for _, call := range abi.HostCalls() {
		p.call(call)
	}
	p.sharedTypes()
	return p.text.String()
}

type page struct {
	text    strings.Builder
	source  *Source
	builder *builder
}

func (p *page) writef(format string, args ...any) { fmt.Fprintf(&p.text, format, args...) }

const introduction = `# Host calls

<!-- Generated from package abi by go generate ./abi. Do not edit. -->

Every host call of %s: what is not here cannot be called. How a call is made, and what recording means for a plugin, is in [plugins.md](plugins.md). The same as JSON Schemas: [host-calls.schema.json](host-calls.schema.json), whose ` + "`$defs`" + ` has ` + "`<call>.request` and `<call>.answer`" + `. How each is made, in every language: [host-calls-examples.md](host-calls-examples.md).

- **Effect** says what is recorded of a call, and when. "Or read" means that it follows from the request.
- **Durable**: the answer is given only when the record of the call is on disk.
- **Override key**: what names the call in a replay with overrides. ` + "`<call_id>`" + ` is the member ` + "`call_id`" + ` of the request, or else the number of the call among those of the same key form, from 1.

`

func (p *page) head() {
	p.writef(introduction, abi.ABIVersion)
	p.writef("| effect | meaning |\n|---|---|\n")
	for _, name := range []string{"EffectLocal", "EffectRead", "EffectWrite", "EffectWait", "EffectHint", "EffectGiven"} {
		p.writef("| %s | %s |\n", strings.ToLower(strings.TrimPrefix(name, "Effect")), cell(withoutName(p.source.remarks[name])))
	}
	p.writef("\n| status | | meaning |\n|---:|---|---|\n")
	for i, name := range []string{"OK", "Invalid", "Denied", "NotFound", "TooLarge", "Unavailable", "Indeterminate", "Timeout"} {
		p.writef("| %d | `%s` | %s |\n", i, statusWord(name), cell(withoutName(p.source.remarks["Call"+name])))
	}
	p.writef("\nWith any status but 0 the answer is an error:\n\n")
	p.members(p.builder.object(reflect.TypeFor[abi.CallError]()))
}

// withoutName cuts the name of a constant, and the verb, off its comment.
func withoutName(text string) string {
	for _, verb := range []string{" says that ", " is ", " "} {
		name, rest, found := strings.Cut(text, verb)
		if found && (strings.HasPrefix(name, "Effect") || strings.HasPrefix(name, "`")) && !strings.Contains(name, " ") {
			return rest
		}
	}
	return text
}

func (p *page) overview() {
	p.writef("\n| call | effect | durable | override key |\n|---|---|---|---|\n")
	for _, c := range abi.HostCalls() {
		durable := ""
		if c.Durable {
			durable = "yes"
		}
		p.writef("| [`%s`](#%s) | %s | %s | %s |\n", c.Name, anchor(c.Name), effect(c), durable, code(c.Key))
	}
}

func effect(c abi.HostCall) string {
	if c.Varies {
		return string(c.Effect) + " or read"
	}
	return string(c.Effect)
}

func code(text string) string {
	if text == "" {
		return ""
	}
	return "`" + text + "`"
}

// anchor is how a heading is linked to.
func anchor(heading string) string { return strings.ReplaceAll(strings.ToLower(heading), ".", "") }

func (p *page) call(c abi.HostCall) {
	p.writef("\n## %s\n%s\n", c.Name, readable(c.Doc))
	if c.Limit != "" {
		p.writef("\nLimit: %s.\n", c.Limit)
	}
	p.body("Request", c.Request, c.RequestType)
	p.body("Answer", c.Answer, c.AnswerType)
}

// body describes a request or an answer.
func (p *page) body(title, form string, v any) {
	p.writef("\n%s: %s.", title, form)
	if v == nil {
		p.writef("\n")
		return
	}
	object := p.builder.object(reflect.TypeOf(v))
	if object.Description != "" {
		p.writef(" %s", object.Description)
	}
	p.writef("\n\n")
	p.members(object)
}

func (p *page) members(o *schema.Schema) {
	p.writef("| member | type | |\n|---|---|---|\n")
	for _, name := range o.Order {
		m := o.Properties[name]
		optional := ""
		if !slices.Contains(o.Required, name) {
			optional = ", optional"
		}
		p.writef("| `%s` | %s%s | %s |\n", name, typeName(m), optional, cell(m.Description))
	}
}

// cell makes text fit into a table.
func cell(text string) string { return strings.ReplaceAll(text, "|", "\\|") }

func typeName(s *schema.Schema) string {
	switch {
	case s.Ref != "":
		name := strings.TrimPrefix(s.Ref, "#/$defs/")
		return "[" + name + "](#" + anchor(name) + ")"
	case s.Enum != nil:
		return "`" + strings.Join(s.Enum, "`, `") + "`"
	case s.Type == nil:
		return "JSON"
	case s.Items != nil:
		return "list of " + typeName(s.Items)
	case s.Type == "object":
		if of, ok := s.Additional.(*schema.Schema); ok {
			return typeName(of) + " by name"
		}
	case s.Format == "date-time":
		return "time"
	case s.ContentEncoding != "":
		return "base64"
	}
	if list, ok := s.Type.([]any); ok {
		return fmt.Sprintf("%v or null", list[0])
	}
	return fmt.Sprint(s.Type)
}

func (p *page) sharedTypes() {
	p.writef("\n# Types\n")
	for _, name := range slices.Sorted(maps.Keys(p.builder.shared)) {
		o := p.builder.shared[name]
		p.writef("\n## %s\n", name)
		if o.Description != "" {
			p.writef("%s\n", o.Description)
		}
		p.writef("\n")
		p.members(o)
	}
}
