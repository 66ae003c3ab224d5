package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/skill"
	"github.com/wharf-dev/wharf/runtime/turns"
	"github.com/wharf-dev/wharf/storage"
)

// sourceNode is the source of the Skills that come with the node.
const sourceNode = "node"

// maxSkillName is how long the name of a Skill may be.
const maxSkillName = 128

// textInput is what a Persona takes for which no Skill says anything else.
const textInput = `{"type":"object","properties":{"text":{"type":"string","description":"what to do, or to work on"}},"required":["text"]}`

// personaSkill returns the Skill that a Persona of the node is offered as. The member
// "skill" of its metadata may say more: input_schema, output_schema, version,
// requires_approval, deprecated.
func personaSkill(p *abi.Persona) *abi.Skill {
	s := &abi.Skill{Name: p.Name, Description: p.Description, InputSchema: jsontext.Value(textInput), OutputSchema: jsontext.Value("null"),
		Version: p.Version, Capabilities: p.Capabilities}
	var own struct {
		Skill jsontext.Value `json:"skill"`
	}
	if len(p.Metadata) > 0 && json.Unmarshal(p.Metadata, &own) == nil && len(own.Skill) > 0 {
		_ = json.Unmarshal(own.Skill, s) // what cannot be read is as if it were not there
	}
	s.PersonaID, s.Source, s.ID = p.ID, sourceNode, skillID(p.ID)
	return s
}

// skillID returns the id of the Skill that a Persona of the node is offered as.
func skillID(persona string) string {
	return abi.IDPrefix(abi.ObjectSkill) + strings.TrimPrefix(persona, abi.IDPrefix(abi.ObjectPersona))
}

// PublicSkills returns the Skills that come with the node: those that may be told to
// everybody.
func (e *Engine) PublicSkills() []abi.Skill {
	list := make([]abi.Skill, 0, len(e.personas))
	for i := range e.personas {
		s := personaSkill(&e.personas[i])
		s.Envelope = abi.NewEnvelope(abi.ObjectSkill, s.ID, e.started, nil)
		list = append(list, *s)
	}
	return list
}

// seedSkills gives a tenant the Skills that come with the node and that it does not
// have yet, and brings those up to date that an older program has given it.
func (e *Engine) seedSkills(ctx context.Context, t *abi.Tenant) error {
	number := storage.Tenant(t.Number)
	for i := range e.personas {
		s := personaSkill(&e.personas[i])
		res, err := e.find(ctx, number, abi.ObjectSkill, s.ID)
		if err == nil {
			err = e.renewSkill(number, &res, s)
		}
		if err == nil {
			continue
		}
		if isUnreadable(err) {
			e.leaveOut(number, abi.ObjectSkill, s.ID, err)
			continue
		}
		if !isNotFound(err) {
			return fmt.Errorf("seeding skill %s: %w", s.ID, err)
		}
		s.Envelope = abi.NewEnvelope(abi.ObjectSkill, s.ID, e.now(), nil)
		if _, err := e.commit(&Caller{Tenant: number, Actor: hostActor}, "", "", nil, 0, skillRecord(abi.EventSkillCreated, s, 0)); err != nil {
			return fmt.Errorf("seeding skill %s: %w", s.ID, err)
		}
	}
	return nil
}

func skillRecord(kind abi.EventKind, s *abi.Skill, seq uint64) record {
	return record{kind: kind, object: abi.ObjectSkill, id: s.ID, seq: seq, created: kind == abi.EventSkillCreated, state: s}
}

// CreateSkill offers a Persona as a Skill.
func (e *Engine) CreateSkill(ctx context.Context, c *Caller, r *Retry, req abi.CreateSkillRequest) (Doc, error) {
	if err := c.ownsTenantWide(); err != nil {
		return Doc{}, err
	}
	err := firstError(checkPresent("persona_id", req.PersonaID), checkPresent("name", req.Name), checkPresent("description", req.Description),
		checkSchema("input_schema", &req.InputSchema), checkSchema("output_schema", &req.OutputSchema), checkMetadata(&req.Metadata))
	if err != nil {
		return Doc{}, err
	}
	if len(req.Name) > maxSkillName {
		return Doc{}, abi.InvalidParam("name", "name has more than %d bytes", maxSkillName)
	}
	if _, err := e.persona(ctx, c.Tenant, req.PersonaID); err != nil {
		return Doc{}, err
	}
	return e.once(ctx, c, r, "", func(idem *storage.Idempotency) (Doc, error) {
		s := &abi.Skill{
			Envelope: abi.NewEnvelope(abi.ObjectSkill, e.ids.New(abi.ObjectSkill), e.now(), req.Metadata),
			Name:     req.Name, Description: req.Description, InputSchema: req.InputSchema, OutputSchema: req.OutputSchema,
			Source: c.Actor, Version: req.Version, Capabilities: req.Capabilities, RequiresApproval: req.RequiresApproval, PersonaID: req.PersonaID,
		}
		return e.commit(c, "", "", idem, statusCreated, skillRecord(abi.EventSkillCreated, s, 0))
	})
}

// UpdateSkill changes a Skill that did not come with the node. Tasks that have begun
// end by the schema with which they began.
func (e *Engine) UpdateSkill(ctx context.Context, c *Caller, r *Retry, id string, req abi.UpdateSkillRequest) (Doc, error) {
	if err := c.ownsTenantWide(); err != nil {
		return Doc{}, err
	}
	given := func(param string, schema *jsontext.Value) error {
		if len(*schema) == 0 {
			return nil
		}
		return checkSchema(param, schema)
	}
	if err := firstError(given("input_schema", &req.InputSchema), given("output_schema", &req.OutputSchema), checkMetadata(&req.Metadata)); err != nil {
		return Doc{}, err
	}
	return e.once(ctx, c, r, "", func(idem *storage.Idempotency) (Doc, error) {
		unlock := e.locks.lock(c.Tenant, id)
		defer unlock()
		s, res, err := findAs[abi.Skill](ctx, e, c, abi.ObjectSkill, id)
		if err != nil {
			return Doc{}, err
		}
		if s.Source == sourceNode {
			return Doc{}, abi.Errorf(abi.CodePermissionDenied, "skill %s comes with the node and cannot be changed", id)
		}
		changeSkill(&s, &req)
		s.UpdatedAt = abi.At(e.now())
		return e.commit(c, "", "", idem, statusOK, skillRecord(abi.EventSkillUpdated, &s, res.Sequence+1))
	})
}

func changeSkill(s *abi.Skill, req *abi.UpdateSkillRequest) {
	set(&s.Description, req.Description)
	set(&s.Version, req.Version)
	set(&s.RequiresApproval, req.RequiresApproval)
	set(&s.Deprecated, req.Deprecated)
	for _, m := range []struct{ to, from *jsontext.Value }{
		{&s.InputSchema, &req.InputSchema}, {&s.OutputSchema, &req.OutputSchema}, {&s.Metadata, &req.Metadata},
	} {
		if len(*m.from) > 0 {
			*m.to = *m.from
		}
	}
}

func set[T any](to, from *T) {
	if from != nil {
		*to = *from
	}
}

// checkSchema accepts a JSON Schema that compiles, and none at all.
func checkSchema(param string, schema *jsontext.Value) error {
	if len(*schema) == 0 || schema.Kind() == 'n' {
		*schema = jsontext.Value("null")
		return nil
	}
	if err := skill.Accept(*schema); err != nil {
		return abi.InvalidParam(param, "%s: %v", param, err)
	}
	return nil
}

// skillRef is the member of a Task's metadata that names its Skill.
type skillRef struct {
	SkillID string `json:"skill_id"`
}

// skillNamedBy returns the Skill that the metadata of a Task names, nil if none.
func (e *Engine) skillNamedBy(ctx context.Context, t storage.Tenant, metadata jsontext.Value) (*abi.Skill, error) {
	var ref skillRef
	if len(metadata) == 0 || json.Unmarshal(metadata, &ref) != nil || ref.SkillID == "" {
		return nil, nil
	}
	return e.skill(ctx, t, ref.SkillID)
}

func (e *Engine) skill(ctx context.Context, t storage.Tenant, id string) (*abi.Skill, error) {
	res, err := e.find(ctx, t, abi.ObjectSkill, id)
	if err != nil {
		return nil, err
	}
	s := &abi.Skill{}
	return s, decode(res.State, s)
}

// checkSkill checks the submit of a Task that names a Skill, and returns the Persona
// that runs it, "" without one.
func (e *Engine) checkSkill(ctx context.Context, t storage.Tenant, req *abi.SubmitTaskRequest, allowed []string) (persona string, err error) {
	s, err := e.skillNamedBy(ctx, t, req.Metadata)
	if err != nil || s == nil {
		return "", err
	}
	if len(allowed) > 0 && !slices.Contains(allowed, s.ID) {
		return "", abi.Errorf(abi.CodePolicyViolation, "skill %s is none of those that session %s is for", s.ID, req.SessionID)
	}
	if req.PersonaID != "" && req.PersonaID != s.PersonaID {
		return "", abi.InvalidParam("persona_id", "skill %s is one of persona %s", s.ID, s.PersonaID)
	}
	if s.InputSchema.Kind() != '{' {
		return s.PersonaID, nil
	}
	schema, err := skill.Compile(s.InputSchema)
	if err == nil {
		err = schema.Check(turns.For(ctx, uint64(t)), e.turns, skill.Arguments(req.Input))
	}
	if err != nil && !skill.Wrong(err) {
		return "", e.failed("holding the input against the skill's schema", err)
	}
	if err != nil {
		return "", abi.InvalidParam("input", "this is not what skill %s takes: %v", s.ID, err)
	}
	return s.PersonaID, nil
}

// skillOf returns what a Task is pinned to by its Skill, nil if it has none.
func (e *Engine) skillOf(ctx context.Context, t *task) (*journal.Skill, error) {
	s, err := e.skillNamedBy(ctx, t.tenant, t.about.Metadata)
	if err != nil || s == nil {
		return nil, err
	}
	pinned := &journal.Skill{ID: s.ID}
	if s.OutputSchema.Kind() == '{' {
		pinned.OutputSchema = s.OutputSchema
	}
	return pinned, nil
}

// offered returns the Skill that a tool of [ServerSkills] stands for: one by its id,
// or that by which a Persona of the node is offered; nil for any other Persona.
func (e *Engine) offered(ctx context.Context, t storage.Tenant, name string) (*abi.Skill, error) {
	id := name
	if strings.HasPrefix(name, abi.IDPrefix(abi.ObjectPersona)) {
		id = skillID(name)
	}
	s, err := e.skill(ctx, t, id)
	if isNotFound(err) && id != name {
		return nil, nil
	}
	return s, err
}

// skillNeedsApproval reports whether a tool of [ServerSkills] stands for a Skill that
// is not called without an approval.
func (e *Engine) skillNeedsApproval(ctx context.Context, t storage.Tenant, name string) bool {
	s, err := e.offered(ctx, t, name)
	return err == nil && s != nil && s.RequiresApproval
}
