package normalize

import (
	"encoding/json"
	"fmt"
	"slices"

	wharf "github.com/wharf-dev/wharf/sdk/go"

	"github.com/wharf-dev/wharf/plugins/connectors/jsonpath"
	"github.com/wharf-dev/wharf/plugins/connectors/tape"
)

// mapping says by configuration what JSON means.
type mapping struct {
	connector *wharf.Connector
	kind      template
	filter    []test
	each      *jsonpath.Path

	what    string // task, message or event
	text    template
	value   *jsonpath.Path
	input   *jsonpath.Path
	persona template
	thread  template
	order   template
	emit    string
	meta    []named
}

// test is a condition on what a path finds.
type test struct {
	path *jsonpath.Path
	in   []string // nil: there must be something
	not  bool
}

type named struct {
	name string // in quotes
	fill template
}

// set takes a setting in.
func (m *mapping) set(name string, v tape.Value) (err error) {
	switch name {
	case "kind":
		m.kind, err = wantTemplate(name, v)
	case "filter":
		m.filter, err = wantTests(v)
	case "each":
		m.each, err = wantPath(name, v)
	case "thread":
		m.thread, err = wantTemplate(name, v)
	case "order_key":
		m.order, err = wantTemplate(name, v)
	case "task", "message", "event":
		if m.what != "" {
			return fmt.Errorf("of task, message and event there can be one")
		}
		m.what = name
		return members(v, "the setting "+name, m.setPart)
	default:
		return unknown(name)
	}
	return err
}

// setPart takes a member of task, message or event in.
func (m *mapping) setPart(name string, v tape.Value) (err error) {
	switch {
	case name == "text" && m.what != "event":
		m.text, err = wantTemplate(name, v)
	case name == "value" && m.what != "event", name == "payload" && m.what == "event":
		m.value, err = wantPath(name, v)
	case name == "input" && m.what == "task":
		m.input, err = wantPath(name, v)
	case name == "persona_id" && m.what == "task":
		m.persona, err = wantTemplate(name, v)
	case name == "metadata" && m.what == "task":
		return members(v, "metadata", m.setMeta)
	case name == "kind" && m.what == "event":
		m.emit, err = wantText(name, v)
	default:
		return unknown(m.what + "." + name)
	}
	return err
}

func (m *mapping) setMeta(name string, v tape.Value) error {
	t, err := wantTemplate("metadata", v)
	m.meta = append(m.meta, named{inQuotes(name), t})
	return err
}

func wantTemplate(name string, v tape.Value) (template, error) {
	text, err := wantText(name, v)
	if err != nil {
		return nil, err
	}
	return compileTemplate(text)
}

func wantPath(name string, v tape.Value) (*jsonpath.Path, error) {
	text, err := wantText(name, v)
	if err != nil {
		return nil, err
	}
	return jsonpath.Compile(text)
}

func wantTests(v tape.Value) (all []test, err error) {
	if v.Kind() != tape.Array {
		return nil, fmt.Errorf("the setting filter must be a list")
	}
	v.Elements(func(e tape.Value) bool {
		var t test
		err = members(e, "each filter", t.set)
		if err == nil && t.path == nil {
			err = fmt.Errorf("each filter needs a path")
		}
		all = append(all, t)
		return err == nil
	})
	return all, err
}

func (t *test) set(name string, v tape.Value) (err error) {
	switch name {
	case "path":
		t.path, err = wantPath(name, v)
	case "in", "not_in":
		t.not = name == "not_in"
		t.in, err = wantTexts(name, v)
	default:
		return unknown("filter." + name)
	}
	return err
}

// passes reports whether what is found is wanted.
func (t *test) passes(s *source) (bool, error) {
	v, err := t.path.First(s.root, s.current)
	if err != nil {
		return false, err
	}
	if t.in == nil {
		return v.Kind() > tape.Null, nil
	}
	word, ok := v.Word()
	return ok && slices.Contains(t.in, word) != t.not || !ok && t.not, nil
}

// apply says what a document means.
func (m *mapping) apply(s *source) (wharf.Normalized, error) {
	n, err := m.applied(s)
	if _, known := err.(*wharf.Failure); err != nil && !known {
		err = fail(codeMapping, err.Error())
	}
	return n, err
}

func (m *mapping) applied(s *source) (n wharf.Normalized, err error) {
	kind, err := m.kind.fill(s)
	if err != nil {
		return n, err
	}
	if kind != "" && !m.connector.Wants(kind) {
		return ignored("event " + cut(kind, maxName) + " is not wanted")
	}
	if m.each == nil {
		return m.one(s)
	}
	found := 0
	selectErr := m.each.Select(s.root, s.root, func(v tape.Value) bool {
		if found++; found > maxTasks {
			err = fail(codeMapping, fmt.Sprintf("it has more than %d parts", maxTasks))
			return false
		}
		item := *s
		item.current = v
		var part wharf.Normalized
		if part, err = m.one(&item); err != nil {
			return false
		}
		n.Tasks = append(n.Tasks, part.Tasks...)
		n.Messages = append(n.Messages, part.Messages...)
		n.Events = append(n.Events, part.Events...)
		return true
	})
	if err == nil {
		err = selectErr
	}
	if err == nil && len(n.Tasks)+len(n.Messages)+len(n.Events) == 0 {
		return ignored("nothing in it is wanted")
	}
	return n, err
}

// one says what one part of a document means.
func (m *mapping) one(s *source) (wharf.Normalized, error) {
	for i := range m.filter {
		switch ok, err := m.filter[i].passes(s); {
		case err != nil:
			return wharf.Normalized{}, err
		case !ok:
			return ignored("the filter " + m.filter[i].path.String())
		}
	}
	thread, err := m.thread.fill(s)
	if err != nil {
		return wharf.Normalized{}, err
	}
	switch m.what {
	case "event":
		payload, err := m.object(m.value, s, "the event's payload")
		return wharf.Normalized{Events: []wharf.ConnectorEvent{{Kind: m.emit, Payload: payload}}}, err
	case "message":
		said, err := m.message(s)
		if err != nil {
			return wharf.Normalized{}, err
		}
		return wharf.Normalized{Messages: []wharf.ConnectorMessage{{Message: *said, Thread: short(thread)}}}, nil
	}
	return m.task(s, thread)
}

func (m *mapping) task(s *source, thread string) (n wharf.Normalized, err error) {
	t := wharf.ConnectorTask{Thread: thread}
	if t.PersonaID, err = m.persona.fill(s); err != nil {
		return n, err
	}
	if t.OrderKey, err = m.order.fill(s); err != nil {
		return n, err
	}
	if t.Metadata, err = m.metadata(s); err != nil {
		return n, err
	}
	if m.input != nil {
		t.Input, err = m.object(m.input, s, "the Task's input")
	} else {
		t.Message, err = m.message(s)
	}
	if err != nil {
		return n, err
	}
	return task(t)
}

func (m *mapping) message(s *source) (*wharf.Message, error) {
	text, err := m.text.fill(s)
	if err != nil {
		return nil, err
	}
	if text == "" {
		text = "A delivery from " + m.connector.Provider + "."
	}
	var value json.RawMessage
	if m.value != nil {
		v, err := m.value.First(s.root, s.current)
		if err != nil {
			return nil, err
		}
		if v.Kind() != tape.Missing {
			value = json.RawMessage(v.Raw())
		}
	}
	return message(text, value), nil
}

// object finds what must be an object.
func (m *mapping) object(p *jsonpath.Path, s *source, what string) (json.RawMessage, error) {
	if p == nil {
		return nil, nil
	}
	v, err := p.First(s.root, s.current)
	if err == nil && v.Kind() != tape.Object {
		err = fmt.Errorf("%s, %s, is no object", what, p)
	}
	return json.RawMessage(v.Raw()), err
}

func (m *mapping) metadata(s *source) (json.RawMessage, error) {
	var o object
	for _, one := range m.meta {
		text, err := one.fill.fill(s)
		if err != nil {
			return nil, err
		}
		o.text(one.name, text)
	}
	return o.json(), nil
}

// must compiles what is written here.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
