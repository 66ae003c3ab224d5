package acp

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway/acp/shapes"
	"github.com/wharf-dev/wharf/gateway/api"
)

// settings are the modes of a session, which are Personas, its options, and its commands, which are Skills.
func (a *Adapter) settings() feature {
	return feature{
		"session/set_mode":          takes("sessions:write", a.setMode).own(),
		"session/set_config_option": takes("sessions:write", a.setOption).own(),
	}
}

type modeState struct {
	CurrentModeID  string `json:"currentModeId"`
	AvailableModes []mode `json:"availableModes"`
}

type mode struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description,omitzero"`
}

// most bounds the modes, and the commands, that a client is told of.
const most = 200

// modes returns the Personas that a session may go on with; nil for a caller who may see none.
func (a *Adapter) modes(ctx context.Context, q *request, o *opened) (*modeState, error) {
	if q.may("personas:read") != nil {
		return nil, nil
	}
	list, err := a.core.List(ctx, q.caller, abi.ObjectPersona, api.Filter{}, api.Page{Limit: most})
	if err != nil {
		return nil, err
	}
	state := &modeState{CurrentModeID: o.mode(), AvailableModes: []mode{}}
	for _, v := range list.Views {
		p, err := decoded[abi.Persona](v)
		if err != nil {
			return nil, err
		}
		if p.RetiredAt.IsZero() && (p.WorkspaceID == "" || p.WorkspaceID == o.workspace) {
			state.AvailableModes = append(state.AvailableModes, mode{p.ID, p.Name, p.Description})
		}
	}
	if state.CurrentModeID == "" {
		return nil, nil
	}
	if !slices.ContainsFunc(state.AvailableModes, func(m mode) bool { return m.ID == state.CurrentModeID }) {
		state.AvailableModes = append(state.AvailableModes, mode{ID: state.CurrentModeID, Name: state.CurrentModeID})
	}
	return state, nil
}

// mode is the Persona that Tasks of the session have: its own, or that of the node.
func (o *opened) mode() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return cmp.Or(o.persona, o.conn.adapter.has.DefaultPersona)
}

type setModeParams struct {
	named  `json:",inline"`
	ModeID string `json:"modeId"`
}

func (p *setModeParams) check() error {
	if p.ModeID == "" {
		return cmp.Or(p.named.check(), missing("modeId"))
	}
	return p.named.check()
}

// setMode has the session go on with another Persona. Every client of it is told.
func (a *Adapter) setMode(ctx context.Context, q *request, p *setModeParams) (any, error) {
	if _, err := a.openOn(ctx, q, p.SessionID); err != nil {
		return nil, err
	}
	if q.may("personas:read") != nil {
		return nil, noMode(p.ModeID)
	}
	_, err := a.core.UpdateSession(ctx, q.caller, q.retry(p), p.SessionID, abi.UpdateSessionRequest{PersonaID: abi.ChangeTo(p.ModeID)})
	if is, ok := errors.AsType[*abi.Error](err); ok && is.Code == abi.CodeResourceNotFound {
		return nil, noMode(p.ModeID)
	}
	return struct{}{}, err
}

func noMode(id string) error { return abi.InvalidParam("modeId", "there is no mode %.100q", id) }

// openOn returns a session that is open on the connection.
func (a *Adapter) openOn(ctx context.Context, q *request, id string) (*opened, error) {
	if o := q.conn.session(id); o != nil {
		return o, nil
	}
	if _, err := a.sessionOf(ctx, q, id); err != nil {
		return nil, err
	}
	return nil, abi.InvalidParam("sessionId", "the session is not open on this connection: session/load or session/resume opens it")
}

type configOption struct {
	ID           string        `json:"id"`
	Name         string        `json:"name"`
	Category     string        `json:"category"`
	Type         string        `json:"type"`
	CurrentValue string        `json:"currentValue"`
	Options      []configValue `json:"options"`
}

type configValue struct {
	Value string `json:"value"`
	Name  string `json:"name"`
}

// optionModel is the option that chooses the model.
const optionModel = "model"

func (a *Adapter) options(o *opened) []configOption {
	o.mu.Lock()
	defer o.mu.Unlock()
	return a.optionsOf(o.model)
}

// optionsOf returns the options of a session of which a model is chosen, "" for the node's default. There
// are none where the node has no models.
func (a *Adapter) optionsOf(model string) []configOption {
	if len(a.has.Models) == 0 {
		return nil
	}
	of := configOption{ID: optionModel, Name: "Model", Category: "model", Type: "select", CurrentValue: model}
	if model == "" {
		of.CurrentValue = a.has.DefaultModel
	}
	for _, name := range a.has.Models {
		of.Options = append(of.Options, configValue{name, name})
	}
	if !slices.Contains(a.has.Models, of.CurrentValue) {
		of.CurrentValue = a.has.Models[0]
	}
	return []configOption{of}
}

type setOptionParams struct {
	named    `json:",inline"`
	ConfigID string `json:"configId"`
	Value    string `json:"value"`
}

func (p *setOptionParams) check() error {
	switch {
	case p.ConfigID == "":
		return cmp.Or(p.named.check(), missing("configId"))
	case p.Value == "":
		return cmp.Or(p.named.check(), missing("value"))
	}
	return p.named.check()
}

type optionsSet struct {
	ConfigOptions []configOption `json:"configOptions"`
}

// setOption chooses a value of an option. Every client of the session is told.
func (a *Adapter) setOption(ctx context.Context, q *request, p *setOptionParams) (any, error) {
	if _, err := a.openOn(ctx, q, p.SessionID); err != nil {
		return nil, err
	}
	if p.ConfigID != optionModel || len(a.has.Models) == 0 {
		return nil, abi.InvalidParam("configId", "there is no option %.100q", p.ConfigID)
	}
	if !slices.Contains(a.has.Models, p.Value) {
		return nil, abi.InvalidParam("value", "there is no model %.100q", p.Value)
	}
	v, err := a.core.UpdateSession(ctx, q.caller, q.retry(p), p.SessionID, abi.UpdateSessionRequest{Model: abi.ChangeTo(p.Value)})
	if err != nil {
		return nil, err
	}
	s, err := decoded[abi.Session](v)
	if err != nil {
		return nil, err
	}
	return optionsSet{a.optionsOf(s.Model)}, nil
}

type availableCommands struct {
	Kind     string    `json:"sessionUpdate"`
	Commands []command `json:"availableCommands"`
}

type command struct {
	Name        string        `json:"name"`
	Description string        `json:"description"`
	Input       *commandInput `json:"input,omitzero"`
}

type commandInput struct {
	Hint string `json:"hint"`
}

// tellCommands tells what a prompt may begin with.
func (a *Adapter) tellCommands(o *opened, caller *api.Caller) {
	skills, err := a.skills(o.live, caller, o.workspace)
	if err != nil {
		return // the commands are a convenience, and the log has why
	}
	of := availableCommands{"available_commands_update", []command{}}
	for _, s := range skills {
		of.Commands = append(of.Commands, command{commandName(s.Name), s.Description, &commandInput{"what to do"}})
	}
	update, err := json.Marshal(&of, json.Deterministic(true))
	if err == nil {
		_ = o.conn.update(o.id, update)
	}
}

// skills returns the Skills that a caller may run in a Workspace; none for one who may see none.
func (a *Adapter) skills(ctx context.Context, caller *api.Caller, workspace string) (all []*abi.Skill, err error) {
	if !caller.Can("skills:read") {
		return nil, nil
	}
	list, err := a.core.List(ctx, caller, abi.ObjectSkill, api.Filter{}, api.Page{Limit: most})
	if err != nil {
		return nil, err
	}
	for _, v := range list.Views {
		s, err := decoded[abi.Skill](v)
		if err != nil {
			return nil, err
		}
		if s.PersonaID != "" && !s.Deprecated && (s.WorkspaceID == "" || s.WorkspaceID == workspace) {
			all = append(all, s)
		}
	}
	return all, nil
}

// commandName is what a Skill is called as a command.
func commandName(skill string) string { return strings.Join(strings.Fields(skill), "-") }

// command has a prompt that begins with the name of a Skill run that Skill.
func (a *Adapter) command(ctx context.Context, q *request, o *opened, said *shapes.Content, req *abi.SubmitTaskRequest) error {
	if said.Parts[0].Text == nil || !strings.HasPrefix(*said.Parts[0].Text, "/") {
		return nil
	}
	name, text, _ := strings.Cut(strings.TrimPrefix(*said.Parts[0].Text, "/"), " ")
	skills, err := a.skills(ctx, q.caller, o.workspace)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(skills, func(s *abi.Skill) bool { return commandName(s.Name) == strings.TrimSpace(name) })
	if i < 0 {
		return nil // a text that begins with a slash
	}
	text = strings.TrimSpace(text)
	with := *said
	with.Parts = append([]abi.Part{{Type: abi.PartText, Text: &text, Visibility: abi.VisibilityPublic}}, said.Parts[1:]...)
	if req.Metadata, err = q.metadata(skills[i].ID); err != nil {
		return err
	}
	if req.Input = inputFor(skills[i].InputSchema, text); req.Input != nil {
		return nil
	}
	req.Input, err = q.message(&with)
	return err
}

// inputFor returns what a text means to a Skill that takes an object: the text itself, where it is one, or
// the one member that must be there and is a text. nil: it takes a Message.
func inputFor(schema jsontext.Value, text string) jsontext.Value {
	if v := jsontext.Value(text); v.Kind() == '{' && v.IsValid() {
		return v
	}
	var of struct {
		Required   []string `json:"required"`
		Properties map[string]struct {
			Type string `json:"type"`
		} `json:"properties"`
	}
	if schema.Kind() != '{' || json.Unmarshal(schema, &of) != nil || len(of.Required) != 1 || of.Properties[of.Required[0]].Type != "string" {
		return nil
	}
	input, err := json.Marshal(map[string]string{of.Required[0]: text})
	if err != nil {
		return nil
	}
	return input
}
