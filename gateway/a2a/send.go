package a2a

import (
	"cmp"
	"context"
	"strings"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway/api"
)

// sent is what a message has done: which Task it is about, and from where on its events follow from
// the message.
type sent struct {
	task     *abi.Task
	context  string
	after    api.Cursor
	made     bool      // the message has made the Task
	replayed bool      // the message was sent before
	seen     *abi.Task // as it was last, nil where that is not known
	retry    *api.Write
}

// send does what a message asks: it makes a Task, answers one that waits, or tells one that works.
func (c *call) send(p *sendParams) (*sent, error) {
	m := p.Message
	if m == nil {
		return nil, invalid("message", "there is no message")
	}
	if err := m.check(); err != nil {
		return nil, err
	}
	if !isObject(p.Metadata) {
		return nil, invalid("metadata", "metadata is an object")
	}
	retry, err := c.retry(p)
	if err != nil {
		return nil, err
	}
	if m.TaskID != "" {
		return c.tell(p, retry)
	}
	return c.submit(p, retry)
}

// retry is what makes a message that is sent again the same: its id, as long as the node knows the
// keys of writes.
func (c *call) retry(p *sendParams) (*api.Write, error) {
	text, err := json.Marshal([]any{p.Message, p.Metadata, p.Tenant}, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return nil, err
	}
	w := &api.Write{Key: p.Message.MessageID, Scope: "a2a SendMessage"}
	return w, c.r.Long(len(text), func() error { w.Fingerprint = api.Fingerprint(text); return nil })
}

// chosen is what a client chooses of the node, in the metadata of its request or message.
type chosen struct {
	WorkspaceID string `json:"workspace_id"`
	PersonaID   string `json:"persona_id"`
	SkillID     string `json:"skill_id"`
}

// choiceOf reads what a client chooses. The tenant of the protocol is a Workspace here.
func choiceOf(p *sendParams) (chosen, error) {
	var all struct {
		Wharf chosen `json:"wharf"`
	}
	for _, metadata := range []jsontext.Value{p.Message.Metadata, p.Metadata} {
		if metadata.Kind() != '{' {
			continue
		}
		if err := json.Unmarshal(metadata, &all); err != nil {
			return chosen{}, invalid("metadata.wharf", "metadata.wharf has workspace_id, persona_id and skill_id, which are strings")
		}
	}
	if p.Tenant != "" && all.Wharf.WorkspaceID != "" && p.Tenant != all.Wharf.WorkspaceID {
		return chosen{}, invalid("tenant", "tenant and metadata.wharf.workspace_id name two workspaces")
	}
	all.Wharf.WorkspaceID = cmp.Or(all.Wharf.WorkspaceID, p.Tenant)
	return all.Wharf, nil
}

// submitted is the metadata of a Task: what A2A has of it, and the Skill that it is one of, which it is
// held against.
type submitted struct {
	marked  `json:",inline"`
	SkillID string `json:"skill_id,omitzero"`
}

// submit makes a Task of a message.
func (c *call) submit(p *sendParams, retry *api.Write) (*sent, error) {
	want, err := choiceOf(p)
	if err != nil {
		return nil, err
	}
	workspace := cmp.Or(want.WorkspaceID, c.core.DefaultWorkspaceOf(c.r.Caller))
	req := abi.SubmitTaskRequest{PersonaID: want.PersonaID}
	if want.SkillID != "" {
		view, err := c.core.Get(c.r.Context(), c.r.Caller, abi.ObjectSkill, want.SkillID)
		if err != nil {
			return nil, err
		}
		skill, err := as[abi.Skill](view)
		if err != nil {
			return nil, err
		}
		req.PersonaID = skill.PersonaID
	}
	is := submitted{marked{mark{MessageID: p.Message.MessageID, Metadata: p.Metadata}}, want.SkillID}
	if req.Metadata, err = json.Marshal(is, json.Deterministic(true)); err != nil {
		return nil, err
	}
	if req.Input, err = c.inputOf(p.Message, want, workspace, retry); err != nil {
		return nil, err
	}
	s := &sent{after: c.core.Now(), retry: retry}
	view, err := c.inContext(p.Message.ContextID, workspace, retry, req)
	if err != nil {
		return nil, err
	}
	t, err := as[abi.Task](view)
	if err != nil {
		return nil, err
	}
	s.task, s.made, s.replayed = &t, true, view.Replayed
	if view.Replayed {
		s.after = 0
	}
	if p.Message.ContextID == "" && !s.replayed {
		s.context = t.SessionID // which was made with the Task, and has no other name
		return s, nil
	}
	s.context, err = c.viewer().contextOf(c.r.Context(), t.SessionID)
	return s, err
}

// inputOf is a message as the input of a Task. Of a Skill that is called with data, the data are its
// arguments.
func (c *call) inputOf(m *message, want chosen, workspace string, retry *api.Write) (jsontext.Value, error) {
	if want.SkillID != "" && len(m.Parts) == 1 && m.Parts[0].Data.Kind() == '{' {
		return m.Parts[0].Data, nil
	}
	in, err := c.input(m, workspace, retry)
	if err != nil {
		return nil, err
	}
	return json.Marshal(in, json.Deterministic(true))
}

// inContext submits a Task in the Session that a context is. One that is not there yet is made with
// the Task, in one batch: of two messages that are first at once, the second finds that of the other.
func (c *call) inContext(name, workspace string, retry *api.Write, req abi.SubmitTaskRequest) (api.View, error) {
	ctx := c.r.Context()
	session, err := c.sessionOf(name, workspace)
	if err != nil {
		return api.View{}, err
	}
	if session != "" {
		req.SessionID = session
		return c.core.SubmitTask(ctx, c.r.Caller, retry, req)
	}
	if err := c.r.Require("sessions:write"); err != nil {
		return api.View{}, err
	}
	made := abi.CreateSessionRequest{WorkspaceID: workspace, PersonaID: req.PersonaID}
	if name != "" {
		made.Refs = []abi.OutsideRef{{Kind: refContext, Ref: name}}
	}
	req.Session = &abi.TaskSession{CreateSessionRequest: made}
	return c.core.SubmitTaskIn(ctx, c.r.Caller, retry, req)
}

// sessionOf finds the Session that a context is, "" for none: by the name that a client has chosen,
// or by its id where the client has chosen none. What the caller may not see is like what is not there.
func (c *call) sessionOf(name, workspace string) (string, error) {
	if name == "" {
		return "", nil
	}
	list, err := c.core.SessionsCalled(c.r.Context(), c.r.Caller, workspace, abi.OutsideRef{Kind: refContext, Ref: name})
	if err != nil {
		return "", err
	}
	if len(list.Views) > 0 {
		return list.Views[0].ID, nil
	}
	if !abi.ValidID(abi.ObjectSession, name) {
		return "", nil
	}
	view, err := c.core.Get(c.r.Context(), c.r.Caller, abi.ObjectSession, name)
	if isAbsent(err) {
		return "", nil
	}
	return view.ID, err
}

// tell brings a message to its Task.
func (c *call) tell(p *sendParams, retry *api.Write) (*sent, error) {
	t, err := c.taskOf(p.Message.TaskID, p.Tenant)
	if err != nil {
		return nil, err
	}
	s := &sent{task: t, after: c.core.Now(), retry: retry}
	if s.context, err = c.viewer().contextOf(c.r.Context(), t.SessionID); err != nil {
		return nil, err
	}
	if named := p.Message.ContextID; named != "" && named != s.context && named != t.SessionID {
		return nil, invalid("message.contextId", "the task %q is in another context", t.ID)
	}
	answers, err := answersOf(p.Message)
	switch {
	case err != nil:
		return nil, err
	case answers != nil:
		s.replayed, err = c.answerAll(t, answers, retry)
	case t.Status == abi.TaskInputRequired || t.Status == abi.TaskAuthRequired:
		s.replayed, err = c.answerOne(t, p.Message, retry)
	default:
		s.replayed, err = c.interrupt(t, p.Message, retry)
	}
	return s, err
}

// interrupt tells a Task something that works. One that has ended is told nothing, unless it was told
// the same before.
func (c *call) interrupt(t *abi.Task, m *message, retry *api.Write) (replayed bool, err error) {
	if err := c.r.Require("messages:write"); err != nil {
		return false, err
	}
	in, err := c.input(m, t.WorkspaceID, retry)
	if err != nil {
		return false, err
	}
	made, err := c.core.AppendTaskMessage(c.r.Context(), c.r.Caller, retry, t.ID, abi.AppendTaskMessageRequest{Kind: abi.TaskMessageInterrupt, Message: in})
	return made.Replayed, err
}

// answersOf returns the answers to several questions, by their keys: the member answers of the data
// or of the metadata of a message. nil for none.
func answersOf(m *message) (map[string]jsontext.Value, error) {
	places := []jsontext.Value{m.Metadata}
	for i := range m.Parts {
		places = append(places, m.Parts[i].Data)
	}
	for _, place := range places {
		var has struct {
			Answers jsontext.Value `json:"answers"`
		}
		if place.Kind() != '{' || json.Unmarshal(place, &has) != nil || has.Answers.Kind() != '{' {
			continue
		}
		answers := map[string]jsontext.Value{}
		if err := json.Unmarshal(has.Answers, &answers); err != nil {
			return nil, invalid("answers", "answers is an object: an answer for each key")
		}
		return answers, nil
	}
	return nil, nil
}

// answerAll answers questions of a Task by their keys. All are read before any is answered; an answer
// that does not fit its question leaves those before it.
func (c *call) answerAll(t *abi.Task, answers map[string]jsontext.Value, retry *api.Write) (replayed bool, err error) {
	asked, err := c.viewer().asked(c.r.Context(), t.ID)
	if err != nil {
		return false, err
	}
	given := map[string]abi.RespondRequest{}
	for key, answer := range answers {
		p := named(asked, key)
		if p == nil {
			return false, invalid("answers", "the task asks nothing by the key %q", key)
		}
		if given[p.ID], err = answerTo(p, answer); err != nil {
			return false, err
		}
	}
	replayed = true
	for i := range asked {
		respond, ok := given[asked[i].ID]
		if !ok {
			continue
		}
		made, err := c.core.RespondPermission(c.r.Context(), c.r.Caller, retry.Part(asked[i].ID), asked[i].ID, respond)
		if err != nil {
			return false, err
		}
		replayed = replayed && made.Replayed
	}
	return replayed, nil
}

// named returns the question with a key, or an id: the one that is open, else the newest.
func named(asked []abi.PermissionRequest, key string) (found *abi.PermissionRequest) {
	for i := range asked {
		p := &asked[i]
		if p.Key != key && p.ID != key {
			continue
		}
		if found == nil || found.Status != abi.PermissionPending {
			found = p
		}
	}
	return found
}

// answerTo reads the answer to a question.
func answerTo(p *abi.PermissionRequest, answer jsontext.Value) (abi.RespondRequest, error) {
	if p.Kind == abi.PermissionApproval {
		return decisionOf(answer)
	}
	part := abi.Part{Type: abi.PartJSON, Value: answer}
	if answer.Kind() == '"' {
		var text string
		if err := json.Unmarshal(answer, &text); err != nil {
			return abi.RespondRequest{}, invalid("answers", "%v", err)
		}
		part = abi.Part{Type: abi.PartText, Text: &text}
	}
	return abi.RespondRequest{Message: &abi.MessageInput{Role: abi.RoleUser, Parts: []abi.Part{part}}}, nil
}

// decisionOf reads whether something may be done: true, "yes", or an object with a decision.
func decisionOf(answer jsontext.Value) (abi.RespondRequest, error) {
	var d struct {
		Decision  string         `json:"decision"`
		Approved  *bool          `json:"approved"`
		Reason    string         `json:"reason"`
		Arguments jsontext.Value `json:"arguments"`
	}
	var err error
	switch answer.Kind() {
	case 't', 'f':
		d.Decision = string(answer)
	case '"':
		err = json.Unmarshal(answer, &d.Decision)
	case '{':
		err = json.Unmarshal(answer, &d)
	}
	if err == nil && d.Approved != nil {
		d.Decision = map[bool]string{true: "true", false: "false"}[*d.Approved]
	}
	respond := abi.RespondRequest{Reason: d.Reason, Arguments: d.Arguments}
	switch strings.ToLower(strings.TrimSpace(d.Decision)) {
	case "true", "y", "yes", "approve", "approved":
		respond.Decision = "approved"
	case "false", "n", "no", "deny", "denied":
		respond.Decision = "denied"
	default:
		err = invalid("message", "the task asks whether it may do something: answer yes or no, or data with a decision, approved or denied")
	}
	return respond, err
}

// answerOne answers the question that a Task asks.
func (c *call) answerOne(t *abi.Task, m *message, retry *api.Write) (replayed bool, err error) {
	pending, err := c.viewer().pending(c.r.Context(), t)
	if err != nil {
		return false, err
	}
	switch len(pending) {
	case 0: // it was answered a moment ago
		return c.interrupt(t, m, retry)
	case 1:
	default:
		keys := make([]string, len(pending))
		for i := range pending {
			keys[i] = cmp.Or(pending[i].Key, pending[i].ID)
		}
		return false, invalid("message", "the task asks %d things: answer with data that has answers by their keys, %s", len(pending), strings.Join(keys, ", "))
	}
	p := &pending[0]
	respond := abi.RespondRequest{}
	if p.Kind == abi.PermissionApproval {
		if respond, err = decisionOf(wordOf(m)); err != nil {
			return false, err
		}
	} else if respond.Message, err = c.input(m, t.WorkspaceID, retry); err != nil {
		return false, err
	}
	made, err := c.core.RespondPermission(c.r.Context(), c.r.Caller, retry, p.ID, respond)
	return made.Replayed, err
}

// wordOf is what a message says in one word: its data, else its text.
func wordOf(m *message) jsontext.Value {
	for i := range m.Parts {
		if m.Parts[i].Data != nil {
			return m.Parts[i].Data
		}
	}
	for i := range m.Parts {
		if text := m.Parts[i].Text; text != nil {
			word, err := json.Marshal(*text, jsontext.AllowInvalidUTF8(true))
			if err == nil {
				return word
			}
		}
	}
	return nil
}

// settle waits until a Task has ended or asks its client something, as it has been told to: as long
// as the node has requests wait.
func (c *call) settle(s *sent) error {
	if s.made || s.replayed { // what the message has brought about is all that the Task has done, or may lie before
		return c.r.Await(c.wait, func(ctx context.Context) (bool, error) { return c.settledAnyhow(ctx, s) })
	}
	sub, err := c.core.Follow(c.r.Context(), c.r.Caller, api.Filter{TaskID: s.task.ID}, s.after)
	if err != nil {
		return err
	}
	defer sub.Close()
	return c.r.Await(c.wait, func(ctx context.Context) (bool, error) { return settled(ctx, sub) })
}

// settledAnyhow waits, as long as ctx lasts, until a Task does not go on by itself, whatever has led to that.
func (c *call) settledAnyhow(ctx context.Context, s *sent) (bool, error) {
	view, err := c.core.WaitSettled(ctx, c.r.Caller, s.task.ID)
	if err != nil {
		return false, err
	}
	t, err := as[abi.Task](view)
	if err != nil {
		return false, err
	}
	s.seen = &t
	return t.Status.Settled(), nil
}

// settled waits for an event after which a Task does not go on by itself, as long as ctx lasts.
func settled(ctx context.Context, sub *api.Stream) (bool, error) {
	for {
		entries, err := sub.Next(ctx)
		if ctx.Err() != nil {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		for _, entry := range entries {
			if settles(entry.Kind()) {
				return true, nil
			}
		}
	}
}

// settles reports whether after an event of a kind its Task does not go on by itself.
func settles(k abi.EventKind) bool {
	switch k {
	case abi.EventTaskInputRequired, abi.EventTaskAuthRequired, abi.EventTaskCompleted, abi.EventTaskFailed, abi.EventTaskCanceled:
		return true
	}
	return false
}
