package manifest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/connector"
	"github.com/wharf-dev/wharf/runtime/connector/schedule"
	"github.com/wharf-dev/wharf/runtime/skill"
)

// Parse reads a manifest. The Manifest is nil when one of the problems is an error. What lies beside
// the manifest is not looked at: [Lint] does that, and [Manifest.ReadSchemas].
func Parse(text []byte) (*Manifest, []Problem) {
	m, problems := parse(text)
	if !Sound(problems) {
		return nil, problems
	}
	return m, problems
}

// parse returns as much of a manifest as could be read, nil of a text that is no TOML.
func parse(text []byte) (*Manifest, []Problem) {
	text = []byte(strings.TrimPrefix(string(text), byteOrderMark))
	r := &reader{places: newPlaces(text), where: map[string]Position{}}
	root := grow(r, text)
	if root == nil {
		return nil, r.all()
	}
	m, _ := manifests().read(r, root)
	m.where, m.text = r.where, r.places
	m.complete()
	m.check(r)
	return &m, r.all()
}

// all returns the problems in the order of their places.
func (r *reader) all() []Problem {
	if r.more {
		last := r.problems[len(r.problems)-1].Position
		r.problems[len(r.problems)-1] = Problem{Severity: Error, Code: TooLarge, Position: last,
			Message: fmt.Sprintf("there are more problems than the %d that are told", maxProblems), Try: "mend these first"}
	}
	return inOrder(r.problems)
}

// complete sets what a manifest leaves out.
func (m *Manifest) complete() {
	if m.Module == "" && m.Name != "" {
		m.Module = "build/" + m.Name + ".wasm"
	}
	if len(m.Exports) == 0 {
		m.Exports = []string{abi.DefaultExport}
	}
	m.Persona.AutonomyTier = cmp.Or(m.Persona.AutonomyTier, abi.TierActAuto)
	m.Persona.ReceiptPolicy = cmp.Or(m.Persona.ReceiptPolicy, abi.ReceiptOptional)
	m.Connector.Provider = cmp.Or(m.Connector.Provider, m.Name)
	m.Hook.Fail = cmp.Or(m.Hook.Fail, abi.HookOpen)
	m.Hook.Timeout = cmp.Or(m.Hook.Timeout, 10*time.Second)
}

// blame tells what is wrong with what stands at a path.
func (m *Manifest) blame(r *reader, s Severity, code Code, path, message, try string) {
	r.add(Problem{s, code, m.At(path), path, message, try})
}

func (m *Manifest) stated(path string) bool {
	_, ok := m.where[path]
	return ok
}

// check finds what is wrong with several fields together.
func (m *Manifest) check(r *reader) {
	m.checkKind(r)
	m.checkSettings(r)
	m.checkConnector(r)
	m.checkHook(r)
	m.checkReach(r)
	if m.Language == "other" && m.Entry != "" && len(m.Build.Command) == 0 {
		m.blame(r, Error, MissingKey, "build.command", "build.command is missing: nobody knows how another language is built", `add command = ["make"] below [build]`)
	}
}

// checkKind refuses the tables of other kinds.
func (m *Manifest) checkKind(r *reader) {
	if m.Kind == "" {
		return
	}
	for _, t := range []struct {
		table string
		of    []Kind
	}{
		{"persona", []Kind{KindPersona, KindSkill}}, {"skill", []Kind{KindSkill}}, {"connector", []Kind{KindConnector}}, {"hook", []Kind{KindHook}},
		{"schemas", []Kind{KindPersona, KindSkill}},
	} {
		if m.stated(t.table) && !slices.Contains(t.of, m.Kind) {
			m.blame(r, Error, MisplacedKey, t.table, fmt.Sprintf("a %s has no %s", m.Kind, t.table), "remove it, or choose another kind")
		}
	}
	if m.Kind == KindSkill && m.Description == "" {
		m.blame(r, Error, MissingKey, "description", "description is missing: models choose a skill by it", "say in a sentence what the skill does")
	}
}

// checkSettings holds defaults against their types.
func (m *Manifest) checkSettings(r *reader) {
	for _, s := range m.Config {
		if s.Type == "" || s.Default == nil || s.Takes(s.Default) {
			continue
		}
		path := "config." + barekey(s.Name) + ".default"
		m.blame(r, Error, InvalidValue, path, fmt.Sprintf("%s: %s is no %s", path, clip(string(s.Default)), s.Type), "write one, or change the type")
	}
}

// Takes reports whether a value is of a setting's type.
func (s *Setting) Takes(v jsontext.Value) bool {
	schema, err := skill.Compile([]byte(`{"type":"` + s.Type + `"}`))
	return err == nil && schema.Check(context.Background(), nil, v) == nil
}

func (m *Manifest) checkConnector(r *reader) {
	c := &m.Connector
	if m.Kind != KindConnector {
		return
	}
	if c.Schedule != "" {
		if _, err := schedule.Parse(c.Schedule, c.TimeZone); err != nil {
			m.blame(r, Error, InvalidValue, "connector.schedule", "connector.schedule: "+clip(err.Error()), `write a schedule such as "@every 5m" or "0 * * * *"`)
		}
	}
	for name, set := range map[string]bool{"poll": c.Poll != "", "timezone": c.TimeZone != ""} {
		if set && c.Schedule == "" {
			m.blame(r, Error, MissingKey, "connector."+name, "connector."+name+" is stated, and connector.schedule is not", `add schedule = "@every 5m"`)
		}
	}
	if c.Poll != "" && !slices.Contains(m.Exports, c.Poll) {
		m.blame(r, Error, MissingExport, "connector.poll", fmt.Sprintf("connector.poll: %s is not among exports", quote(c.Poll)), "add it to exports")
	}
	if _, known := connector.Lookup(c.Provider); !known && m.stated("connector.provider") && len(c.EventKinds) == 0 {
		m.blame(r, Warning, MissingKey, "connector.event_kinds", fmt.Sprintf("nobody knows what events the provider %s has, and connector.event_kinds names none", quote(c.Provider)), `add event_kinds = ["*"] for all of them`)
	}
}

func (m *Manifest) checkHook(r *reader) {
	switch {
	case m.Kind != KindHook:
	case m.Hook.Event == "" && !m.stated("hook"):
		m.blame(r, Error, MissingKey, "hook.event", "hook.event is missing", `add [hook] with event = "pre_tool"`)
	case m.Hook.Name != "" && m.Hook.Event != abi.HookCustom:
		m.blame(r, Error, InvalidValue, "hook.name", "hook.name: only a hook for custom has one", "remove it")
	}
}

// checkReach compares capabilities with what they reach.
func (m *Manifest) checkReach(r *reader) {
	if m.Kind == KindHook || m.Kind == KindConnector && m.Connector.Poll == "" {
		if len(m.Capabilities) > 0 {
			m.blame(r, Error, InvalidValue, "capabilities", fmt.Sprintf("a %s runs apart from Tasks, and can make none of these host calls", m.Kind), "remove capabilities")
		}
		return
	}
	for _, reach := range []struct {
		field string
		calls []string
		least bool // without names nothing is reached
	}{
		{"hosts", []string{abi.CallHTTPFetch}, true},
		{"secrets", []string{abi.CallSecretUse, abi.CallHTTPFetch}, false},
		{"tools", []string{abi.CallToolCall, abi.CallToolList, abi.CallResourceList, abi.CallResourceRead, abi.CallPromptGet}, false},
		{"agents", []string{abi.CallAgentDelegate}, true},
		{"models", []string{abi.CallLLMComplete}, false},
	} {
		granted, named := m.grantsAny(reach.calls...), m.stated(reach.field)
		switch {
		case named && !granted:
			m.blame(r, Warning, NotGranted, reach.field, fmt.Sprintf("%s are named, and capabilities do not grant %s", reach.field, reach.calls[0]), fmt.Sprintf("add %q to capabilities", reach.calls[0]))
		case granted && !named && reach.least:
			m.blame(r, Warning, NoReach, "capabilities", fmt.Sprintf("%s is granted, and %s names nothing that it may reach", reach.calls[0], reach.field), "add "+reach.field)
		}
	}
	if m.stated("methods") && len(m.Hosts) == 0 {
		m.blame(r, Warning, NoReach, "methods", "methods are named, and hosts names none that they are for", "add hosts, or remove methods")
	}
}

// parent is the path that a path is part of; "" for one that is part of none.
func parent(path string) string {
	return path[:max(strings.LastIndexAny(path, ".["), 0)]
}
