package engine

import (
	"bytes"
	"context"
	"fmt"
	"reflect"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/storage"
)

// AppendMessage adds a Message to a Session's transcript.
func (e *Engine) AppendMessage(ctx context.Context, c *Caller, r *Retry, sessionID string, req abi.AppendMessageRequest) (Doc, error) {
	if req.Message == nil {
		return Doc{}, abi.InvalidParam("message", `missing required member "message"`)
	}
	s, release, err := e.openSession(ctx, c, sessionID)
	if err != nil {
		return Doc{}, err
	}
	defer release()
	workspace := s.workspace()
	return e.once(ctx, c, r, workspace, func(idem *storage.Idempotency) (Doc, error) {
		m, err := e.said(ctx, c, req.Message, sessionID, "")
		if err != nil {
			return Doc{}, err
		}
		return e.appendMessage(c, s, workspace, m, idem, sessionOpen)
	})
}

// AppendTaskMessage sends a Message to a Task that has not ended: an interrupt at
// any time, input and a tool confirmation to one that waits for it.
func (e *Engine) AppendTaskMessage(ctx context.Context, c *Caller, r *Retry, taskID string, req abi.AppendTaskMessageRequest) (Doc, error) {
	if err := checkOneOf("kind", req.Kind, abi.TaskMessageInput, abi.TaskMessageInterrupt, abi.TaskMessageToolConfirmation); err != nil {
		return Doc{}, err
	}
	if req.Kind != abi.TaskMessageInterrupt {
		if err := mayAnswer(c); err != nil {
			return Doc{}, err
		}
	}
	if req.Message == nil {
		return Doc{}, abi.InvalidParam("message", `missing required member "message"`)
	}
	t, _, err := findAs[abi.Task](ctx, e, c, abi.ObjectTask, taskID)
	if err != nil {
		return Doc{}, err
	}
	s, release, err := e.openSession(ctx, c, t.SessionID)
	if err != nil {
		return Doc{}, err
	}
	defer release()
	return e.once(ctx, c, r, t.WorkspaceID, func(idem *storage.Idempotency) (Doc, error) {
		if t.Status.Terminal() {
			return Doc{}, abi.Errorf(abi.CodeInvalidStateTransition, "task %s is %s and takes no %s", t.ID, t.Status, req.Kind)
		}
		m, err := e.said(ctx, c, req.Message, t.SessionID, t.ID)
		if err != nil {
			return Doc{}, err
		}
		if req.Kind != abi.TaskMessageInterrupt {
			return e.answerInput(ctx, c, &t, req.Kind, m, idem)
		}
		return e.appendMessage(c, s, t.WorkspaceID, m, idem, sessionOpen)
	})
}

func (e *Engine) appendMessage(c *Caller, s *session, workspace string, m *abi.Message,
	idem *storage.Idempotency, check func(*abi.Session) error) (Doc, error) {
	rec := messageRecord(m)
	encoded, err := encode(rec)
	if err != nil {
		return Doc{}, err
	}
	b := batch(storage.Frame{
		Tenant: c.Tenant, Time: m.CreatedAt, WorkspaceID: workspace,
		SessionID: m.SessionID, TaskID: m.TaskID, Actor: c.Actor, Records: encoded,
	}, idem, statusCreated, 0)
	doc := Doc{ID: m.ID, JSON: Placed(abi.ObjectMessage, encoded[0].State, workspace, ""), Restricted: rec.restricted}
	return doc, e.appendToSession(s, b, check)
}

// messageIn decodes a Task's input if it is a Message: an object with both "role"
// and "parts". It returns nil for any other object. Members of a Message that are not
// known are ignored, but for the one in which other protocols have the content: that
// would be lost.
func messageIn(input jsontext.Value) (*abi.MessageInput, error) {
	var m abi.MessageInput
	if _, err := abi.Weigh(input, reflect.TypeOf(m)); err != nil {
		return nil, abi.InvalidParam("input", "input: %v", err)
	}
	if err := json.Unmarshal(input, &m); err == nil && m.Role != "" && m.Parts != nil {
		if hasContent(input) {
			return nil, abi.InvalidParam("input.content", "a Message has its content in parts")
		}
		return &m, nil
	}
	var members struct {
		Role     jsontext.Value `json:"role"`
		Parts    jsontext.Value `json:"parts"`
		Metadata jsontext.Value `json:"metadata"`
	}
	if err := json.Unmarshal(input, &members); err != nil {
		return nil, abi.InvalidParam("input", "input: %v", err)
	}
	if members.Role == nil || members.Parts == nil {
		return nil, nil
	}
	in := &abi.MessageInput{Metadata: members.Metadata}
	if err := firstError(json.Unmarshal(members.Role, &in.Role), json.Unmarshal(members.Parts, &in.Parts)); err != nil {
		return nil, abi.InvalidParam("input", "input is not a Message: %v", err)
	}
	return in, nil
}

// hasContent says whether an object has a member "content". Hardly any Message holds the
// word at all, spelled plainly or with an escape, so hardly any is decoded for it.
func hasContent(object jsontext.Value) bool {
	if !bytes.Contains(object, []byte(`"content"`)) && !bytes.Contains(object, []byte(`\u`)) {
		return false
	}
	var m struct {
		Content jsontext.Value `json:"content"`
	}
	return json.Unmarshal(object, &m) == nil && m.Content != nil
}

// said is message for one that a client says: the Artifacts that it refers to have to
// be there, for the client.
func (e *Engine) said(ctx context.Context, c *Caller, in *abi.MessageInput, sessionID, taskID string) (*abi.Message, error) {
	m, err := e.message(in, sessionID, taskID)
	if err != nil {
		return nil, err
	}
	return m, e.checkReferences(ctx, c, m)
}

// checkReferences checks that the caller sees the Artifacts that a Message refers to.
// What is hidden is as absent as what was never there.
func (e *Engine) checkReferences(ctx context.Context, c *Caller, m *abi.Message) error {
	for i := range m.Parts {
		p := &m.Parts[i]
		if p.Redacted || p.Type != abi.PartArtifactRef && p.Type != abi.PartImageRef {
			continue
		}
		_, _, err := findAs[abi.Artifact](ctx, e, c, abi.ObjectArtifact, p.ArtifactID)
		if isNotFound(err) {
			absent := abi.NotFound(abi.ObjectArtifact, p.ArtifactID)
			absent.Param = fmt.Sprintf("parts[%d].artifact_id", i)
			return absent
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// message checks a Message and gives it its id.
func (e *Engine) message(in *abi.MessageInput, sessionID, taskID string) (*abi.Message, error) {
	if err := checkOneOf("role", in.Role, abi.RoleUser, abi.RoleAssistant, abi.RoleSystem, abi.RoleTool, abi.RoleAgent); err != nil {
		return nil, err
	}
	if in.Parts == nil {
		return nil, abi.InvalidParam("parts", `missing required member "parts"`)
	}
	if err := checkMetadata(&in.Metadata); err != nil {
		return nil, err
	}
	for i := range in.Parts {
		if err := checkPart(fmt.Sprintf("parts[%d]", i), &in.Parts[i]); err != nil {
			return nil, err
		}
	}
	id := e.ids.New(abi.ObjectMessage)
	return &abi.Message{
		Envelope: abi.NewEnvelope(abi.ObjectMessage, id, e.now(), in.Metadata),
		Role:     in.Role, Parts: in.Parts, SessionID: sessionID, TaskID: taskID,
	}, nil
}

// checkPart checks that a part has what its type requires, and makes it public
// when it does not say otherwise (digest section 8, row 8). One whose content was
// withheld may be passed on as that.
func checkPart(at string, p *abi.Part) error {
	p.Normalize()
	if err := checkVisibility(at+".visibility", p.Visibility); err != nil {
		return err
	}
	required := func(name string, present bool) error {
		if present || p.Redacted {
			return nil
		}
		return abi.InvalidParam(at+"."+name, "a %s part needs %q", p.Type, name)
	}
	switch p.Type {
	case abi.PartText:
		return required("text", p.Text != nil)
	case abi.PartJSON:
		return required("value", p.Value != nil)
	case abi.PartToolCall:
		return firstError(required("tool_call_id", p.ToolCallID != ""), required("name", p.Name != ""),
			required("input", p.Input.Kind() == '{'))
	case abi.PartToolResult:
		if p.Redacted {
			return nil
		}
		return firstError(required("tool_call_id", p.ToolCallID != ""), required("output", p.Output != nil),
			checkOneOf(at+".status", p.Status, "ok", "error"))
	case abi.PartArtifactRef:
		return required("artifact_id", p.ArtifactID != "")
	case abi.PartFileRef:
		return firstError(required("uri", p.URI != ""), required("mime_type", p.MimeType != ""))
	case abi.PartImageRef:
		return firstError(required("artifact_id", p.ArtifactID != ""), required("mime_type", p.MimeType != ""))
	}
	return abi.InvalidParam(at+".type", "%q is not a part type: one of text, json, tool_call, tool_result, artifact_ref, file_ref, image_ref", p.Type)
}

func checkVisibility(param string, v abi.Visibility) error {
	return checkOneOf(param, v, abi.VisibilityPublic, abi.VisibilityInternal, abi.VisibilityReceiptOnly)
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// messageRecord returns the event that appends a Message: one event for each, of
// a kind that follows from its role.
func messageRecord(m *abi.Message) record {
	kind := abi.EventSessionMessageAppended
	switch m.Role {
	case abi.RoleUser:
		kind = abi.EventUserMessage
	case abi.RoleAssistant, abi.RoleAgent:
		kind = abi.EventAgentMessage
	}
	return record{
		kind: kind, object: abi.ObjectMessage, id: m.ID, created: true, restricted: restricted(m.Parts),
		state: m, transcript: storage.TranscriptOp{Kind: storage.TranscriptAppend},
	}
}

func restricted(parts []abi.Part) bool {
	for i := range parts {
		if parts[i].Visibility != abi.VisibilityPublic {
			return true
		}
	}
	return false
}
