package manifest

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/connector"
)

// Resources are what an install makes of a manifest: those of its kind are set. They have ids where
// these follow from the name, as those of plugins in the operator's folder do, and no times. Whoever installs adds the
// Workspace, where there is to be one, and the target of a Connector.
type Resources struct {
	Persona   *abi.Persona
	Skill     *abi.Skill
	Connector *abi.Connector
	Hook      *abi.Hook
}

// Resources returns what an install makes. It fails when a schema that stands in a file was not
// read; see [Manifest.ReadSchemas].
func (m *Manifest) Resources() (*Resources, error) {
	switch m.Kind {
	case KindConnector:
		return &Resources{Connector: m.connector()}, nil
	case KindHook:
		return &Resources{Hook: m.hook()}, nil
	}
	for path, s := range map[string]*JSONSchema{"input": &m.Schemas.Input, "output": &m.Schemas.Output} {
		if s.File != "" && s.Text == nil {
			return nil, fmt.Errorf("the schema %s in %s was not read", path, s.File)
		}
	}
	persona, err := m.persona()
	if err != nil {
		return nil, err
	}
	if m.Kind == KindPersona {
		return &Resources{Persona: persona}, nil
	}
	return &Resources{Persona: persona, Skill: m.skill(persona)}, nil
}

// entryWorkflow is what the manifest has run: PLUGIN#EXPORT, or PLUGIN where the export is the usual one.
func (m *Manifest) entryWorkflow() string {
	if m.Exports[0] == abi.DefaultExport {
		return m.Name
	}
	return m.Name + "#" + m.Exports[0]
}

func (m *Manifest) persona() (*abi.Persona, error) {
	metadata, err := m.metadata()
	if err != nil {
		return nil, err
	}
	return &abi.Persona{
		Envelope: abi.Envelope{ID: abi.IDPrefix(abi.ObjectPersona) + m.Name, Object: abi.ObjectPersona, Metadata: metadata},
		Name:     m.Name, Version: m.Version, EntryWorkflow: m.entryWorkflow(), Description: m.Description,
		AutonomyTier: m.Persona.AutonomyTier, ReceiptPolicy: m.Persona.ReceiptPolicy,
		Tools: append([]string{}, m.Tools...), Capabilities: m.closed(), ModelPolicy: m.modelPolicy(), Budget: m.budget(),
	}, nil
}

// closed are the capabilities, and what needs none: an empty list of a Persona restricts nothing, and
// a manifest that grants nothing is to grant nothing.
func (m *Manifest) closed() []string {
	return append([]string{abi.CallInput, abi.CallOutput}, m.Capabilities...)
}

func (m *Manifest) modelPolicy() *abi.ModelPolicy {
	if len(m.Models) == 0 {
		return nil
	}
	return &abi.ModelPolicy{Models: m.Models}
}

func (m *Manifest) budget() *abi.Budget {
	if m.Limits.Time == 0 {
		return nil
	}
	return &abi.Budget{WallTimeMS: m.Limits.Time.Milliseconds()}
}

// ofSkill is what a Persona's metadata say of the Skill that it is offered as.
type ofSkill struct {
	InputSchema      jsontext.Value `json:"input_schema,omitzero"`
	OutputSchema     jsontext.Value `json:"output_schema,omitzero"`
	RequiresApproval bool           `json:"requires_approval,omitzero"`
}

func (m *Manifest) metadata() (jsontext.Value, error) {
	said := ofSkill{m.Schemas.Input.Text, m.Schemas.Output.Text, m.Skill.RequiresApproval}
	if said.InputSchema == nil && said.OutputSchema == nil && !said.RequiresApproval {
		return abi.EmptyObject(), nil
	}
	text, err := json.Marshal(map[string]ofSkill{"skill": said})
	if err != nil {
		return nil, fmt.Errorf("writing what the skill takes: %w", err)
	}
	return text, nil
}

// textInput is what a skill takes that says nothing of it, as of any Persona.
const textInput = `{"type":"object","properties":{"text":{"type":"string","description":"what to do, or to work on"}},"required":["text"]}`

func (m *Manifest) skill(p *abi.Persona) *abi.Skill {
	return &abi.Skill{
		Envelope: abi.Envelope{ID: abi.IDPrefix(abi.ObjectSkill) + strings.TrimPrefix(p.ID, abi.IDPrefix(abi.ObjectPersona)), Metadata: abi.EmptyObject()},
		Name:     m.Name, Description: m.Description, Source: abi.SourceNode, Version: m.Version, Capabilities: p.Capabilities,
		InputSchema: orElse(m.Schemas.Input.Text, textInput), OutputSchema: orElse(m.Schemas.Output.Text, "null"),
		RequiresApproval: m.Skill.RequiresApproval, PersonaID: p.ID,
	}
}

func orElse(v jsontext.Value, other string) jsontext.Value {
	if v == nil {
		return jsontext.Value(other)
	}
	return v
}

func (m *Manifest) connector() *abi.Connector {
	c := &m.Connector
	made := &abi.Connector{
		Envelope: abi.Envelope{Object: abi.ObjectConnector, Metadata: abi.EmptyObject()},
		Name:     m.Name, Provider: c.Provider, Status: abi.ConnectorActive, EventKinds: c.EventKinds,
		Plugin: m.Name + "#" + m.Exports[0], Ordered: c.Ordered,
	}
	if known, ok := connector.Lookup(c.Provider); ok && len(c.EventKinds) == 0 {
		made.EventKinds = known.EventKinds
	}
	if c.Schedule != "" {
		made.Polling = &abi.Polling{Schedule: c.Schedule, TimeZone: c.TimeZone, Export: c.Poll}
	}
	return made
}

func (m *Manifest) hook() *abi.Hook {
	h := &m.Hook
	return &abi.Hook{
		Envelope: abi.Envelope{Metadata: abi.EmptyObject()}, Event: h.Event, Name: h.Name, Enabled: true, Fail: h.Fail, TimeoutMS: h.Timeout.Milliseconds(),
		Handler: abi.HookHandler{Command: abi.HookPlugin + m.Name + "#" + m.Exports[0]},
	}
}
