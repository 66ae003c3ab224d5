package acp

import (
	"context"
	"errors"
	"log/slog"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/abi/plainly"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/gateway/acp/shapes"
	"github.com/wharf-dev/wharf/gateway/jsonrpc"
)

// question is what a Task asks, while nobody has settled it.
type question struct {
	abi.PermissionRequest

	callOff context.CancelFunc // what is being asked; nil for nothing
	refused bool               // the client was asked, and could not settle it
}

// canAsk reports whether the client can be asked a question.
func (o *opened) canAsk(q *question) bool {
	if o.observes() {
		return false
	}
	said := o.conn.client()
	switch q.Kind {
	case abi.PermissionApproval:
		return true
	case abi.PermissionInput:
		return said.form
	case abi.PermissionAuthorization:
		return said.url && q.URL != ""
	}
	return false
}

// pending keeps a question, and asks it once the session is live. The lock is held.
func (o *opened) pending(q *question) {
	if before := o.questions[q.ID]; before != nil { // somebody has decided, and others have to
		before.PermissionRequest = q.PermissionRequest
		return
	}
	o.questions[q.ID] = q
	if o.asking {
		o.ask(q)
	}
}

// settled forgets a question, and calls off what the client is asked. The lock is held.
func (o *opened) settled(id string) {
	q := o.questions[id]
	if q == nil {
		return
	}
	if q.callOff != nil {
		q.callOff()
	}
	delete(o.questions, id)
}

// askPending asks what was asked before the session was live, and from then on what comes up.
func (o *opened) askPending() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.asking = true
	for _, q := range o.questions {
		o.ask(q)
	}
}

// callOffQuestions stops asking: the turn was called off, or the session is not open any more.
func (o *opened) callOffQuestions() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, q := range o.questions {
		if q.callOff != nil {
			q.callOff()
		}
	}
}

// stuck reports whether a Task waits for nothing but what the client cannot be asked. The lock is held.
func (o *opened) stuck(task string) bool {
	found := false
	for _, q := range o.questions {
		if q.TaskID != task {
			continue
		}
		if o.canAsk(q) {
			return false
		}
		found = true
	}
	return found
}

// answerable returns the question that what the user says next answers; nil for none.
func (o *opened) answerable() *question {
	o.mu.Lock()
	defer o.mu.Unlock()
	if q := o.coming; q != nil && q.Kind != abi.PermissionApproval && !o.canAsk(q) {
		return q
	}
	var all []*question
	for _, q := range o.questions {
		asked := q.callOff != nil && !q.refused
		if (q.Kind == abi.PermissionInput || q.Kind == abi.PermissionAuthorization) && !asked {
			all = append(all, q)
		}
	}
	if len(all) == 0 {
		return nil
	}
	return slices.MinFunc(all, func(a, b *question) int { return a.CreatedAt.Compare(b.CreatedAt) })
}

// answered takes a question as settled before its event has come.
func (o *opened) answered(id string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.coming != nil && o.coming.ID == id {
		o.coming = nil
	}
	o.settled(id)
	o.wake()
}

// ask asks the client a question beside all else. The lock is held.
func (o *opened) ask(q *question) {
	if q.callOff != nil || !o.canAsk(q) {
		return
	}
	ctx, callOff := context.WithCancel(o.live)
	q.callOff = callOff
	asked := q.PermissionRequest
	o.conn.beside.Go(func() {
		defer callOff()
		if err := o.put(ctx, &asked); err != nil && ctx.Err() == nil {
			o.refuse(asked.ID, err)
		}
	})
}

// refuse says why the client's answer has settled nothing. The question stays, for others.
func (o *opened) refuse(id string, why error) {
	o.mu.Lock()
	if q := o.questions[id]; q != nil {
		q.refused = true
	}
	o.wake()
	o.mu.Unlock()
	is, ok := errors.AsType[*abi.Error](why)
	if !ok {
		o.conn.adapter.log.Warn("a question was not put to the client", slog.String("permission_request", id), slog.Any("error", why))
		return
	}
	_ = o.conn.say(o.id, "The decision was not taken: "+is.Message+". The request "+id+" stays open for whoever may decide.\n\n")
}

// put asks one question, and settles it with the answer.
func (o *opened) put(ctx context.Context, p *abi.PermissionRequest) error {
	if p.Kind != abi.PermissionApproval {
		return o.elicit(ctx, p)
	}
	params, err := o.permission(ctx, p).Params(o.conn.client().harn)
	if err != nil {
		return err
	}
	var result jsontext.Value
	err = o.conn.peer.Call(ctx, "session/request_permission", params, &result)
	if ctx.Err() != nil || errors.Is(err, jsonrpc.ErrClosed) {
		return nil
	}
	if err != nil {
		return o.failClosed(ctx, p, shapes.HostError(clipped(plainly.Say(err))))
	}
	switch answer := shapes.ReadAnswer(result); answer.Kind {
	case shapes.Approved, shapes.Denied:
		return o.respond(ctx, p.ID, answer.Respond)
	case shapes.Abandoned:
		return o.respond(ctx, p.ID, abi.RespondRequest{Decision: "denied", Reason: "cancelled"})
	default:
		return o.failClosed(ctx, p, answer)
	}
}

// permission is a request with what is known of whoever asks.
func (o *opened) permission(ctx context.Context, p *abi.PermissionRequest) *shapes.Permission {
	of := o.known(ctx, p.TaskID)
	of.Request, of.Root = p, o.cwd
	return of
}

// known returns a Task and what it belongs to, as far as the caller may see it.
func (o *opened) known(ctx context.Context, task string) *shapes.Permission {
	of, core := &shapes.Permission{}, o.conn.adapter.core
	if v, err := core.Get(ctx, o.caller, abi.ObjectTask, task); err == nil {
		of.Task, _ = decoded[abi.Task](v)
	}
	if v, err := core.Get(ctx, o.caller, abi.ObjectSession, o.id); err == nil {
		of.Session, _ = decoded[abi.Session](v)
	}
	if of.Task == nil {
		return of
	}
	if parent := of.Task.ParentTaskID; parent != "" {
		if v, err := core.Get(ctx, o.caller, abi.ObjectTask, parent); err == nil {
			of.Parent, _ = decoded[abi.Task](v)
		}
	}
	if v, err := core.Get(ctx, o.caller, abi.ObjectPersona, of.Task.PersonaID); err == nil {
		of.Persona, _ = decoded[abi.Persona](v)
	}
	return of
}

// failClosed answers a client that has erred: nothing is done because of it. Where nobody else is meant
// to decide, the request is denied; else it stays for the others.
func (o *opened) failClosed(ctx context.Context, p *abi.PermissionRequest, answer shapes.Answer) error {
	if p.Quorum > 1 || len(p.Approvers) > 0 || !p.SelfApproval {
		return abi.Errorf(abi.CodeInvalidRequest, "the client could not decide (%s)", answer.Respond.Reason)
	}
	return o.respond(ctx, p.ID, answer.Respond)
}

// respond settles a question. That somebody else was faster is no error.
func (o *opened) respond(ctx context.Context, id string, req abi.RespondRequest) error {
	caller, err := o.conn.link.Authenticate()
	if err == nil {
		err = gateway.Require(caller, "tasks:write")
	}
	if err != nil {
		return err
	}
	if caller, err = o.conn.controlling(ctx, caller, o.id); err != nil {
		return err
	}
	_, err = o.conn.adapter.core.RespondPermission(ctx, caller, nil, id, req)
	if is, ok := errors.AsType[*abi.Error](err); ok && (is.Code == abi.CodeConflict || is.Code == abi.CodeInvalidStateTransition) {
		return nil
	}
	return err
}

type elicitParams struct {
	SessionID       string         `json:"sessionId"`
	Mode            string         `json:"mode"`
	Message         string         `json:"message"`
	RequestedSchema jsontext.Value `json:"requestedSchema,omitzero"`
	URL             string         `json:"url,omitzero"`
	ElicitationID   string         `json:"elicitationId,omitzero"`
}

// textForm asks for a text.
const textForm = `{"type":"object","properties":{"answer":{"type":"string","title":"Answer"}},"required":["answer"]}`

type elicited struct {
	Action  jsontext.Value `json:"action"`
	Content jsontext.Value `json:"content"`
}

// mostAsked is how often a client is asked whose answer does not fit.
const mostAsked = 3

// elicit asks for an input, or sends the user to where an authorization is given.
func (o *opened) elicit(ctx context.Context, p *abi.PermissionRequest) error {
	asked := elicitParams{SessionID: o.id, Mode: "form", Message: p.Prompt, RequestedSchema: jsontext.Value(textForm)}
	form := isForm(p.Schema)
	switch {
	case p.Kind == abi.PermissionAuthorization:
		asked.Mode, asked.URL, asked.ElicitationID, asked.RequestedSchema = "url", p.URL, p.ID, nil
	case form:
		asked.RequestedSchema = p.Schema
	}
	for range mostAsked {
		var result elicited
		err := o.conn.peer.Call(ctx, "elicitation/create", &asked, &result)
		if ctx.Err() != nil || errors.Is(err, jsonrpc.ErrClosed) {
			return nil
		}
		if err != nil {
			return abi.Errorf(abi.CodeInvalidRequest, "the client could not be asked (%s)", clipped(plainly.Say(err)))
		}
		req, fits := result.respond(p.Kind, form)
		if !fits {
			continue
		}
		err = o.respond(ctx, p.ID, req)
		if is, ok := errors.AsType[*abi.Error](err); ok && is.Code == abi.CodeInvalidRequest {
			continue // the answer does not fit
		}
		return err
	}
	return abi.Errorf(abi.CodeInvalidRequest, "what the client has answered does not fit")
}

// respond returns what an elicitation was answered with; false for what is no answer.
func (e *elicited) respond(kind abi.PermissionKind, form bool) (abi.RespondRequest, bool) {
	action, content := e.said()
	switch {
	case action == "decline" || action == "cancel":
		return abi.RespondRequest{Decision: "denied", Reason: "the user has chosen: " + action}, true
	case action != "accept":
		return abi.RespondRequest{}, false
	case kind == abi.PermissionAuthorization:
		return saying(textPart("done")), true
	case form:
		if content.Kind() != '{' {
			content = abi.EmptyObject()
		}
		return saying(abi.Part{Type: abi.PartJSON, Value: content}), true
	}
	var of struct {
		Answer *string `json:"answer"`
	}
	if json.Unmarshal(content, &of) != nil || of.Answer == nil {
		return abi.RespondRequest{}, false
	}
	return saying(textPart(*of.Answer)), true
}

// said reads the action, which later schemas nest, and what was entered.
func (e *elicited) said() (action string, content jsontext.Value) {
	if json.Unmarshal(e.Action, &action) == nil {
		return action, e.Content
	}
	var nested struct {
		Action  string         `json:"action"`
		Content jsontext.Value `json:"content"`
	}
	_ = json.Unmarshal(e.Action, &nested) // what cannot be read is no action
	return nested.Action, nested.Content
}

func textPart(s string) abi.Part { return abi.Part{Type: abi.PartText, Text: &s} }

func saying(p ...abi.Part) abi.RespondRequest {
	return abi.RespondRequest{Message: &abi.MessageInput{Role: abi.RoleUser, Parts: p}}
}

// isForm reports whether a client can show a form for a schema: an object whose members are no objects.
func isForm(schema jsontext.Value) bool {
	var of struct {
		Type       string `json:"type"`
		Properties map[string]struct {
			Type string `json:"type"`
		} `json:"properties"`
	}
	if schema.Kind() != '{' || json.Unmarshal(schema, &of) != nil || of.Type != "object" {
		return false
	}
	for _, member := range of.Properties {
		if !slices.Contains([]string{"string", "number", "integer", "boolean", "array"}, member.Type) {
			return false
		}
	}
	return true
}
