package mcp

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway/jsonrpc"
)

// asker puts questions of one kind to a client.
type asker struct {
	// can reports whether a client that has declared this can be asked.
	can func(c *sdk.ClientCapabilities, p *abi.PermissionRequest) bool
	// ask is the question in the protocol's words.
	ask func(p *abi.PermissionRequest) sdk.InputRequest
	// send asks a client that is connected, and waits for its answer.
	send func(ctx context.Context, s *sdk.ServerSession, asked sdk.InputRequest) (sdk.InputResponse, error)
	// answer is what the client's answer says; false for one that is none.
	answer func(p *abi.PermissionRequest, r sdk.InputResponse) (abi.RespondRequest, bool)
}

// askers are the kinds of questions that a client can be asked. Whatever a Task asks beyond them is
// answered elsewhere, such as by "wharf inbox".
func askers() map[abi.PermissionKind]asker {
	return map[abi.PermissionKind]asker{
		abi.PermissionInput:         {canForm, askInput, elicit, inputGiven},
		abi.PermissionAuthorization: {canURL, askAuthorization, elicit, authorizationGiven},
		abi.PermissionApproval:      {canForm, askApproval, elicit, decided},
		abi.PermissionSampling:      {canSample, askSampling, sample, sampled},
		abi.PermissionRoots:         {canListRoots, askRoots, listRoots, rootsGiven},
	}
}

// canForm reports whether a client shows forms. One that says only that it can be asked shows them.
func canForm(c *sdk.ClientCapabilities, _ *abi.PermissionRequest) bool {
	return c != nil && c.Elicitation != nil && (c.Elicitation.Form != nil || c.Elicitation.URL == nil)
}

// canURL reports whether a client sends its user to a URL, where there is one.
func canURL(c *sdk.ClientCapabilities, p *abi.PermissionRequest) bool {
	return c != nil && c.Elicitation != nil && c.Elicitation.URL != nil && p.URL != ""
}

func elicit(ctx context.Context, s *sdk.ServerSession, asked sdk.InputRequest) (sdk.InputResponse, error) {
	p, ok := asked.(*sdk.ElicitParams)
	if !ok {
		return nil, fmt.Errorf("asking by elicitation: %T is no elicitation", asked)
	}
	return s.Elicit(ctx, p)
}

// Members of the forms that are the node's own.
const (
	memberAnswer   = "answer"
	memberDecision = "decision"
	memberReason   = "reason"
)

// textForm asks for a text.
const textForm = `{"type":"object","properties":{"answer":{"type":"string","title":"Answer"}},"required":["answer"]}`

// approvalForm asks for a decision.
const approvalForm = `{"type":"object","properties":{"decision":{"type":"string","title":"Decision","enum":["approved","denied"]},` +
	`"reason":{"type":"string","title":"Reason"}},"required":["decision"]}`

func askInput(p *abi.PermissionRequest) sdk.InputRequest {
	form := jsontext.Value(textForm)
	if isForm(p.Schema) {
		form = p.Schema
	}
	return &sdk.ElicitParams{Mode: "form", Message: p.Prompt, RequestedSchema: form}
}

// isForm reports whether a client can show a form for a schema: an object whose members are no objects.
// What has another schema is asked for as a text, which may be JSON.
func isForm(schema jsontext.Value) bool {
	var of struct {
		Type       string `json:"type"`
		Properties map[string]struct {
			Type       jsontext.Value `json:"type"`
			Properties jsontext.Value `json:"properties"`
			Items      struct {
				Properties jsontext.Value `json:"properties"`
			} `json:"items"`
		} `json:"properties"`
	}
	if schema.Kind() != '{' || json.Unmarshal(schema, &of) != nil || of.Type != "object" {
		return false
	}
	for _, member := range of.Properties {
		var kind string
		if json.Unmarshal(member.Type, &kind) != nil || len(member.Properties) > 0 || len(member.Items.Properties) > 0 {
			return false
		}
		if !slices.Contains([]string{"string", "number", "integer", "boolean", "array"}, kind) {
			return false
		}
	}
	return true
}

func askAuthorization(p *abi.PermissionRequest) sdk.InputRequest {
	message := p.Prompt
	if message == "" {
		message = "Authorize " + p.Action
	}
	return &sdk.ElicitParams{Mode: "url", Message: message, URL: p.URL, ElicitationID: p.ID}
}

func askApproval(p *abi.PermissionRequest) sdk.InputRequest {
	var b strings.Builder
	if b.WriteString(p.Prompt); p.Prompt == "" {
		b.WriteString("May the task do this?")
	}
	fmt.Fprintf(&b, "\n%s", p.Action)
	if len(p.Arguments) > 0 {
		fmt.Fprintf(&b, " %s", p.Arguments)
	}
	for _, label := range p.RiskLabels {
		fmt.Fprintf(&b, "\nrisk: %s", label)
	}
	return &sdk.ElicitParams{Mode: "form", Message: b.String(), RequestedSchema: jsontext.Value(approvalForm)}
}

// declined is the answer of a client that gives none.
func declined(reason string) abi.RespondRequest {
	return abi.RespondRequest{Decision: "denied", Reason: reason}
}

// elicited returns what was entered. done says that nothing was, and how that is answered.
func elicited(r sdk.InputResponse) (entered map[string]any, instead *abi.RespondRequest, ok bool) {
	e, ok := r.(*sdk.ElicitResult)
	if !ok || e == nil {
		return nil, nil, false
	}
	switch e.Action {
	case "accept":
		return e.Content, nil, true
	case "decline", "cancel":
		said := declined("the user has chosen: " + e.Action)
		return nil, &said, true
	}
	return nil, nil, false
}

func inputGiven(p *abi.PermissionRequest, r sdk.InputResponse) (abi.RespondRequest, bool) {
	entered, instead, ok := elicited(r)
	if !ok || instead != nil {
		return valueOr(instead), ok
	}
	if !isForm(p.Schema) {
		text, is := entered[memberAnswer].(string)
		return saying(abi.Part{Type: abi.PartText, Text: &text}), is
	}
	if entered == nil {
		entered = map[string]any{}
	}
	value, err := json.Marshal(entered, json.Deterministic(true))
	return saying(abi.Part{Type: abi.PartJSON, Value: value}), err == nil
}

func authorizationGiven(_ *abi.PermissionRequest, r sdk.InputResponse) (abi.RespondRequest, bool) {
	_, instead, ok := elicited(r)
	if !ok || instead != nil {
		return valueOr(instead), ok
	}
	text := "done"
	return saying(abi.Part{Type: abi.PartText, Text: &text}), true
}

func decided(_ *abi.PermissionRequest, r sdk.InputResponse) (abi.RespondRequest, bool) {
	entered, instead, ok := elicited(r)
	if !ok || instead != nil {
		return valueOr(instead), ok
	}
	decision, _ := entered[memberDecision].(string)
	reason, _ := entered[memberReason].(string)
	return abi.RespondRequest{Decision: decision, Reason: reason}, decision == "approved" || decision == "denied"
}

func valueOr(r *abi.RespondRequest) abi.RespondRequest {
	if r == nil {
		return abi.RespondRequest{}
	}
	return *r
}

func saying(p abi.Part) abi.RespondRequest {
	return abi.RespondRequest{Message: &abi.MessageInput{Role: abi.RoleUser, Parts: []abi.Part{p}}}
}

// question is what a Task asks, under the key that the client knows it by.
type question struct {
	key string
	abi.PermissionRequest
}

// pending returns what a Task asks and nobody has settled.
func (c *call) pending(ctx context.Context, t *abi.Task) ([]question, error) {
	var all []question
	add := func(key, id string) error {
		v, err := c.adapter.core.Get(ctx, c.q.caller, abi.ObjectPermissionRequest, id)
		if err != nil {
			return err
		}
		of := question{key: key}
		if err := json.Unmarshal(v.JSON, &of.PermissionRequest); err != nil {
			return fmt.Errorf("reading permission request %s: %w", id, err)
		}
		if of.key == "" {
			of.key = string(of.Kind)
		}
		if of.Status == abi.PermissionPending {
			all = append(all, of)
		}
		return nil
	}
	w := t.Waiting
	if w == nil {
		return nil, nil
	}
	if w.Requests == nil && w.PermissionID != "" {
		return all, add("", w.PermissionID)
	}
	for _, one := range w.Requests {
		if one.Status != abi.PermissionPending {
			continue
		}
		if err := add(one.Key, one.PermissionID); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// ask asks a client that is connected what a Task asks, each question once and all at the same time; false
// says that there is nothing that it can be asked, or is being asked.
func (c *call) ask(ctx context.Context, stop context.CancelCauseFunc, t *abi.Task) bool {
	all, err := c.pending(ctx, t)
	switch {
	case err != nil:
		return false
	case len(all) == 0:
		return true // it was settled meanwhile: the Task goes on
	case c.q.stateless || c.q.session == nil && c.q.resumed == nil:
		return false // it is asked by the result, or nobody is there
	}
	if c.asked == nil {
		c.asked = map[string]context.CancelFunc{}
	}
	c.callOff(all)
	for _, one := range all {
		if _, is := c.asked[one.ID]; is {
			continue
		}
		by, known := askers()[one.Kind]
		if !known || !by.can(c.q.capabilities(), &one.PermissionRequest) {
			continue
		}
		asking, done := context.WithCancel(ctx)
		c.asked[one.ID] = done
		c.asking.Go(func() {
			defer done()
			if err := c.put(asking, by, &one.PermissionRequest); err != nil && asking.Err() == nil {
				stop(errUnasked)
			}
		})
	}
	return slices.ContainsFunc(all, func(one question) bool { return c.asked[one.ID] != nil })
}

// callOff stops asking what is settled.
func (c *call) callOff(pending []question) {
	for id, done := range maps.All(c.asked) {
		if !slices.ContainsFunc(pending, func(one question) bool { return one.ID == id }) {
			done()
		}
	}
}

// mostAsked is how often a client is asked again whose answer does not fit.
const mostAsked = 3

// put asks one question, and settles it. An error says that it is not settled.
func (c *call) put(ctx context.Context, by asker, p *abi.PermissionRequest) error {
	for range mostAsked {
		answer, err := c.send(ctx, by, p)
		if err != nil {
			return err
		}
		settled, err := c.settle(ctx, by, p, answer)
		if settled || err != nil {
			return err
		}
	}
	return errUnasked
}

// send puts a question to the client, by its session or on the stream that it has come back to.
func (c *call) send(ctx context.Context, by asker, p *abi.PermissionRequest) (sdk.InputResponse, error) {
	if c.q.resumed != nil {
		return c.q.resumed.ask(ctx, by.ask(p))
	}
	return by.send(ctx, c.q.session, by.ask(p))
}

// settle answers a question with what a client has said. settled is false for what does not fit; an error
// says that this client cannot settle it, such as one who may not approve.
func (c *call) settle(ctx context.Context, by asker, p *abi.PermissionRequest, r sdk.InputResponse) (settled bool, err error) {
	req, fits := by.answer(p, r)
	if !fits {
		return false, nil
	}
	v, err := c.adapter.core.RespondPermission(ctx, c.q.caller, nil, p.ID, req)
	if is, ok := errors.AsType[*abi.Error](err); ok {
		switch is.Code {
		case abi.CodeInvalidRequest:
			return false, nil
		case abi.CodeConflict: // somebody else was faster
			return true, nil
		}
	}
	if err != nil {
		return false, err
	}
	var now abi.PermissionRequest
	if err := json.Unmarshal(v.JSON, &now); err != nil {
		return false, fmt.Errorf("reading permission request %s: %w", p.ID, err)
	}
	if now.Status == abi.PermissionPending {
		return false, errUnasked // others have to approve, too
	}
	return true, nil
}

// said is what the client of a request has said of itself. The SDK decodes it anew each time that it is asked.
type said struct {
	capabilities *sdk.ClientCapabilities // nil if it says nothing
	info         *sdk.Implementation     // likewise
}

// saysOfItself returns what the client says of itself. Whoever asks at the same time has a copy of the request.
func (q *request) saysOfItself() *said {
	if q.said != nil {
		return q.said
	}
	q.said = &said{}
	if of, ok := q.in.(interface { // a *sdk.ServerRequest of any parameters
		ClientCapabilities() *sdk.ClientCapabilities
		ClientInfo() *sdk.Implementation
	}); ok {
		q.said.capabilities, q.said.info = of.ClientCapabilities(), of.ClientInfo()
	}
	return q.said
}

// capabilities returns what the client says that it can do, nil if it says nothing.
func (q *request) capabilities() *sdk.ClientCapabilities { return q.saysOfItself().capabilities }

// waits answers a call whose Task waits: with what the client is asked, where that is asked by a result,
// and else with how it is answered elsewhere.
func (c *call) waits(t *abi.Task) (sdk.Result, error) {
	ctx := context.Background()
	all, err := c.pending(ctx, t)
	if err != nil {
		return nil, err
	}
	if c.q.stateless {
		if res, err := c.inputRequired(all); res != nil || err != nil {
			return res, err
		}
	}
	told := inbox(t, all)
	if c.show != nil {
		return nil, refuse(jsonrpc.CodeInvalidRequest, *told.Content[0].Text, nil)
	}
	return c.q.reply(told)
}

// inbox is the result of a call whose Task waits for what this client cannot give.
func inbox(t *abi.Task, all []question) callResult {
	var b strings.Builder
	fmt.Fprintf(&b, "The task %s waits for an answer that this client cannot give. It goes on when somebody answers, with \"wharf inbox\" or over the API:", t.ID)
	for _, one := range all {
		fmt.Fprintf(&b, "\n- %s (%s)", one.ID, one.Kind)
		if one.Prompt != "" {
			fmt.Fprintf(&b, ": %s", one.Prompt)
		}
		if one.URL != "" {
			fmt.Fprintf(&b, " %s", one.URL)
		}
	}
	res := failed(strings.ToLower(string(t.Status)), b.String())
	res.Meta.TaskID = t.ID
	return res
}
