package personas

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/skill"
	"github.com/wharf-dev/wharf/runtime/turns"
	"github.com/wharf-dev/wharf/storage"
)

// maxSkillName is how long the name of a Skill may be.
const maxSkillName = 128

// textInput is what a Persona takes for which no Skill says anything else.
const textInput = `{"type":"object","properties":{"text":{"type":"string","description":"what to do, or to work on"}},"required":["text"]}`

// SkillOfPersona returns the Skill that a Persona of the node is OfferedSkill as. The member
// "skill" of its metadata may say more: input_schema, output_schema, version,
// requires_approval, deprecated, metadata.
func SkillOfPersona(p *abi.Persona) *abi.Skill {
	s := &abi.Skill{Name: p.Name, Description: p.Description, InputSchema: jsontext.Value(textInput), OutputSchema: jsontext.Value("null"),
		Version: p.Version, Capabilities: p.Capabilities}
	var own struct {
		Skill jsontext.Value `json:"skill"`
	}
	if len(p.Metadata) > 0 && json.Unmarshal(p.Metadata, &own) == nil && len(own.Skill) > 0 {
		_ = json.Unmarshal(own.Skill, s) // what cannot be read is as if it were not there
	}
	s.Envelope = abi.Envelope{ID: skillID(p.ID), Metadata: s.Metadata}
	if s.Metadata.Kind() != '{' {
		s.Metadata = abi.EmptyObject()
	}
	s.PersonaID, s.Source = p.ID, abi.SourceNode
	return s
}

// skillID returns the id of the Skill that a Persona of the node is OfferedSkill as.
func skillID(persona string) string {
	return abi.IDPrefix(abi.ObjectSkill) + strings.TrimPrefix(persona, abi.IDPrefix(abi.ObjectPersona))
}

// PublicSkills returns the Skills that come with the node: those that may be told to
// everybody.
func (k *Keeper) PublicSkills() []abi.Skill {
	seeds := k.seeds()
	list := make([]abi.Skill, 0, len(seeds))
	for i := range seeds {
		s := SkillOfPersona(&seeds[i])
		s.Envelope = abi.NewEnvelope(abi.ObjectSkill, s.ID, k.parts.Started, s.Metadata)
		list = append(list, *s)
	}
	return list
}

// seedSkills gives a tenant the Skills that come with the node and that it does not
// have yet, and brings those up to date that an older program has given it.
func (k *Keeper) seedSkills(ctx context.Context, t *abi.Tenant) error {
	number := storage.Tenant(t.Number)
	seeds := k.seeds()
	for i := range seeds {
		s := SkillOfPersona(&seeds[i])
		_, err := ledger.Change(k.parts.Ledger, number, s.ID, func() (desk.Doc, error) { return desk.Doc{}, k.seedSkill(ctx, number, s) })
		if ledger.IsUnreadable(err) {
			k.parts.LeaveOut(number, abi.ObjectSkill, s.ID, err)
			continue
		}
		if err != nil {
			return fmt.Errorf("seeding skill %s: %w", s.ID, err)
		}
	}
	return nil
}

func (k *Keeper) seedSkill(ctx context.Context, t storage.Tenant, s *abi.Skill) error {
	res, err := k.parts.Ledger.Find(ctx, t, abi.ObjectSkill, s.ID)
	if err == nil {
		return k.renewSkill(t, &res, s)
	}
	if !ledger.IsNotFound(err) {
		return err
	}
	s.Envelope = abi.NewEnvelope(abi.ObjectSkill, s.ID, k.parts.Now(), s.Metadata)
	_, err = k.parts.Desk.Commit(&desk.Caller{Tenant: t, Actor: desk.HostActor}, "", "", nil, 0, skillRecord(abi.EventSkillCreated, s, 0))
	return err
}

func skillRecord(kind abi.EventKind, s *abi.Skill, seq uint64) ledger.Record {
	return ledger.Record{Kind: kind, Object: abi.ObjectSkill, ID: s.ID, Sequence: seq, Created: kind == abi.EventSkillCreated, State: s}
}

// CreateSkill offers a Persona as a Skill, which belongs where the Persona does.
func (k *Keeper) CreateSkill(ctx context.Context, c *desk.Caller, r *desk.Retry, req abi.CreateSkillRequest) (desk.Doc, error) {
	err := cmp.Or(desk.CheckPresent("persona_id", req.PersonaID), desk.CheckPresent("name", req.Name), desk.CheckPresent("description", req.Description),
		checkSchema("input_schema", &req.InputSchema), checkSchema("output_schema", &req.OutputSchema), desk.CheckMetadata(&req.Metadata))
	if err != nil {
		return desk.Doc{}, err
	}
	if len(req.Name) > maxSkillName {
		return desk.Doc{}, abi.InvalidParam("name", "name has more than %d bytes", maxSkillName)
	}
	p, _, err := desk.Find[abi.Persona](ctx, k.parts.Desk, c, abi.ObjectPersona, req.PersonaID)
	if err == nil {
		err = mayOffer(c, p.WorkspaceID)
	}
	if err != nil {
		return desk.Doc{}, err
	}
	return k.parts.Desk.Once(ctx, c, r, p.WorkspaceID, func(idem *storage.Idempotency) (desk.Doc, error) {
		s := &abi.Skill{
			Envelope: abi.NewEnvelope(abi.ObjectSkill, k.parts.IDs.New(abi.ObjectSkill), k.parts.Now(), req.Metadata),
			Name:     req.Name, Description: req.Description, InputSchema: req.InputSchema, OutputSchema: req.OutputSchema,
			Source: c.Actor, Version: req.Version, Capabilities: req.Capabilities, RequiresApproval: req.RequiresApproval, PersonaID: req.PersonaID,
			WorkspaceID: p.WorkspaceID,
		}
		return k.parts.Desk.Commit(c, "", s.WorkspaceID, idem, desk.StatusCreated, skillRecord(abi.EventSkillCreated, s, 0))
	})
}

// mayOffer refuses keys that are bound to Workspaces a Skill of the whole tenant.
func mayOffer(c *desk.Caller, workspace string) error {
	if workspace != "" {
		return nil
	}
	return c.OwnsTenantWide()
}

// UpdateSkill changes a Skill that did not come with the node. Tasks that have begun
// end by the schema with which they began.
func (k *Keeper) UpdateSkill(ctx context.Context, c *desk.Caller, r *desk.Retry, id string, req abi.UpdateSkillRequest) (desk.Doc, error) {
	given := func(param string, schema *jsontext.Value) error {
		if len(*schema) == 0 {
			return nil
		}
		return checkSchema(param, schema)
	}
	if err := cmp.Or(given("input_schema", &req.InputSchema), given("output_schema", &req.OutputSchema), desk.CheckMetadata(&req.Metadata)); err != nil {
		return desk.Doc{}, err
	}
	return k.parts.Desk.Once(ctx, c, r, "", func(idem *storage.Idempotency) (desk.Doc, error) {
		return ledger.Change(k.parts.Ledger, c.Tenant, id, func() (desk.Doc, error) {
			s, res, err := desk.Find[abi.Skill](ctx, k.parts.Desk, c, abi.ObjectSkill, id)
			if err == nil {
				err = mayOffer(c, s.WorkspaceID)
			}
			if err != nil {
				return desk.Doc{}, err
			}
			if s.Source == abi.SourceNode {
				return desk.Doc{}, abi.Errorf(abi.CodePermissionDenied, "skill %s comes with the node and cannot be changed", id)
			}
			changeSkill(&s, &req)
			s.UpdatedAt = abi.At(k.parts.Now())
			return k.parts.Desk.Commit(c, "", s.WorkspaceID, idem, desk.StatusOK, skillRecord(abi.EventSkillUpdated, &s, res.Sequence+1))
		})
	})
}

func changeSkill(s *abi.Skill, req *abi.UpdateSkillRequest) {
	abi.Replace(&s.Description, req.Description)
	abi.Replace(&s.Version, req.Version)
	abi.Replace(&s.RequiresApproval, req.RequiresApproval)
	abi.Replace(&s.Deprecated, req.Deprecated)
	for _, m := range []struct{ to, from *jsontext.Value }{
		{&s.InputSchema, &req.InputSchema}, {&s.OutputSchema, &req.OutputSchema}, {&s.Metadata, &req.Metadata},
	} {
		if len(*m.from) > 0 {
			*m.to = *m.from
		}
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

// SkillRef is the member of a Task's metadata that names its Skill.
type SkillRef struct {
	SkillID string `json:"skill_id"`
}

// skillNamedBy returns the Skill that the metadata of a Task in a Workspace names, nil if none.
func (k *Keeper) skillNamedBy(ctx context.Context, t storage.Tenant, workspace string, metadata jsontext.Value) (*abi.Skill, error) {
	var ref SkillRef
	if len(metadata) == 0 || json.Unmarshal(metadata, &ref) != nil || ref.SkillID == "" {
		return nil, nil
	}
	return k.SkillIn(ctx, t, workspace, ref.SkillID)
}

// SkillIn is [Keeper.PersonaIn] for a Skill.
func (k *Keeper) SkillIn(ctx context.Context, t storage.Tenant, workspace, id string) (*abi.Skill, error) {
	res, err := k.parts.Ledger.Find(ctx, t, abi.ObjectSkill, id)
	if err != nil {
		return nil, err
	}
	s := &abi.Skill{}
	if err := ledger.Decode(res.State, s); err != nil {
		return nil, err
	}
	if !isFor(s.WorkspaceID, workspace) {
		return nil, abi.NotFound(abi.ObjectSkill, id)
	}
	return s, nil
}

// CheckSkill checks the submit of a Task in a Workspace that names a Skill, and returns the
// Persona that runs it, "" without one.
func (k *Keeper) CheckSkill(ctx context.Context, t storage.Tenant, workspace string, req *abi.SubmitTaskRequest, allowed []string) (persona string, err error) {
	s, err := k.skillNamedBy(ctx, t, workspace, req.Metadata)
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
	schema, err := k.schemas.Compile(s.InputSchema)
	if err == nil {
		err = schema.Check(turns.For(ctx, uint64(t)), k.parts.Turns, skill.Arguments(req.Input))
	}
	if err != nil && !skill.Wrong(err) {
		return "", k.parts.Ledger.Failed("holding the input against the skill's schema", err)
	}
	if err != nil {
		return "", abi.InvalidParam("input", "this is not what skill %s takes: %v", s.ID, err)
	}
	return s.PersonaID, nil
}

// SkillOf returns what a Task is pinned to by its Skill, nil if it has none.
func (k *Keeper) SkillOf(ctx context.Context, tenant storage.Tenant, t *abi.Task) (*journal.Skill, error) {
	s, err := k.skillNamedBy(ctx, tenant, t.WorkspaceID, t.Metadata)
	if err != nil || s == nil {
		return nil, err
	}
	pinned := &journal.Skill{ID: s.ID}
	if s.OutputSchema.Kind() == '{' {
		pinned.OutputSchema = s.OutputSchema
	}
	return pinned, nil
}

// OfferedSkill returns the Skill that a tool of the server "skills" stands for in a Workspace: one
// by its id, or that by which a Persona of the node is offered; nil for any other Persona.
func (k *Keeper) OfferedSkill(ctx context.Context, t storage.Tenant, workspace, name string) (*abi.Skill, error) {
	id := name
	if strings.HasPrefix(name, abi.IDPrefix(abi.ObjectPersona)) {
		id = skillID(name)
	}
	s, err := k.SkillIn(ctx, t, workspace, id)
	if ledger.IsNotFound(err) && id != name {
		return nil, nil
	}
	return s, err
}

// SkillNeedsApproval reports whether a tool of the server "skills" stands for a Skill that
// is not called without an approval.
func (k *Keeper) SkillNeedsApproval(ctx context.Context, t storage.Tenant, workspace, name string) bool {
	s, err := k.OfferedSkill(ctx, t, workspace, name)
	return err == nil && s != nil && s.RequiresApproval
}
