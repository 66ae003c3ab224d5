package sessions

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"reflect"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/abi/jsonw"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/storage"
)

// AppendMessage adds a Message to a Session's transcript.
func (k *Keeper) AppendMessage(ctx context.Context, c *desk.Caller, r *desk.Retry, sessionID string, req abi.AppendMessageRequest) (desk.Doc, error) {
	if req.Message == nil {
		return desk.Doc{}, abi.InvalidParam("message", `missing required member "message"`)
	}
	s, release, err := k.parts.Desk.OpenSession(ctx, c, sessionID)
	if err != nil {
		return desk.Doc{}, err
	}
	defer release()
	workspace := s.Workspace()
	return k.parts.Desk.Once(ctx, c, r, workspace, func(idem *storage.Idempotency) (desk.Doc, error) {
		m, err := k.NewClientMessage(ctx, c, req.Message, sessionID, "")
		if err != nil {
			return desk.Doc{}, err
		}
		return k.AppendMessageTo(c, s, workspace, m, idem, desk.AllOf(desk.SessionOpen, k.parts.May(c)))
	})
}

// AppendMessageTo appends a Message to a Session, unless check refuses to have it as it is then.
func (k *Keeper) AppendMessageTo(c *desk.Caller, s *ledger.Session, workspace string, m *abi.Message,
	idem *storage.Idempotency, check func(*abi.Session) error) (desk.Doc, error) {
	rec := MessageRecord(m)
	encoded, err := ledger.Encode(rec)
	if err != nil {
		return desk.Doc{}, err
	}
	b := ledger.Batch(storage.Frame{
		Tenant: c.Tenant, Time: m.CreatedAt, WorkspaceID: workspace,
		SessionID: m.SessionID, TaskID: m.TaskID, Actor: c.Actor, Records: encoded,
	}, idem, desk.StatusCreated, 0)
	doc := desk.Doc{ID: m.ID, JSON: desk.Placed(abi.ObjectMessage, encoded[0].State, workspace, ""), Restricted: rec.Restricted}
	return doc, k.appendToSession(s, b, check)
}

// MessageIn decodes a Task's input if it is a Message: an object with both "role" and "parts".
// It returns nil for any other object. Unknown members of a Message are ignored, except the one
// in which other protocols have the content: that would be lost.
func MessageIn(input jsontext.Value) (*abi.MessageInput, error) {
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
	if err := cmp.Or(json.Unmarshal(members.Role, &in.Role), json.Unmarshal(members.Parts, &in.Parts)); err != nil {
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

// NewClientMessage is [Keeper.NewMessage] for a client's Message: the Artifacts that it refers to have to
// be there, for the client.
func (k *Keeper) NewClientMessage(ctx context.Context, c *desk.Caller, in *abi.MessageInput, sessionID, taskID string) (*abi.Message, error) {
	m, err := k.NewMessage(in, sessionID, taskID)
	if err != nil {
		return nil, err
	}
	return m, k.Said(ctx, c, m)
}

// Said checks that the caller sees the Artifacts that its Message refers to, and notes by which live
// client it was said. A hidden Artifact looks like one that was never there.
func (k *Keeper) Said(ctx context.Context, c *desk.Caller, m *abi.Message) error {
	if err := saidBy(c.Client, m); err != nil {
		return err
	}
	for i := range m.Parts {
		p := &m.Parts[i]
		if p.Redacted || p.Type != abi.PartArtifactRef && p.Type != abi.PartImageRef {
			continue
		}
		_, _, err := desk.Find[abi.Artifact](ctx, k.parts.Desk, c, abi.ObjectArtifact, p.ArtifactID)
		if ledger.IsNotFound(err) {
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

// saidBy notes in a user's Message which live client has said it, whatever the client says itself.
func saidBy(client string, m *abi.Message) error {
	if client == "" || m.Role != abi.RoleUser {
		return nil
	}
	members := map[string]jsontext.Value{}
	if err := json.Unmarshal(m.Metadata, &members); err != nil {
		return abi.InvalidParam("metadata", "metadata: %v", err)
	}
	members["client_id"] = jsonw.String(nil, client)
	var err error
	m.Metadata, err = json.Marshal(members, json.Deterministic(true))
	return err
}

// NewMessage checks a Message and gives it its id.
func (k *Keeper) NewMessage(in *abi.MessageInput, sessionID, taskID string) (*abi.Message, error) {
	if err := desk.CheckOneOf("role", in.Role, abi.RoleUser, abi.RoleAssistant, abi.RoleSystem, abi.RoleTool, abi.RoleAgent); err != nil {
		return nil, err
	}
	if in.Parts == nil {
		return nil, abi.InvalidParam("parts", `missing required member "parts"`)
	}
	if err := desk.CheckMetadata(&in.Metadata); err != nil {
		return nil, err
	}
	for i := range in.Parts {
		if err := checkPart(fmt.Sprintf("parts[%d]", i), &in.Parts[i]); err != nil {
			return nil, err
		}
	}
	id := k.parts.IDs.New(abi.ObjectMessage)
	return &abi.Message{
		Envelope: abi.NewEnvelope(abi.ObjectMessage, id, k.parts.Now(), in.Metadata),
		Role:     in.Role, Parts: in.Parts, SessionID: sessionID, TaskID: taskID,
	}, nil
}

// checkPart checks that a part has what its type requires, and makes it public
// when it does not say otherwise (docs/protocol.md, 8.8). One whose content was
// withheld may be passed on as that.
func checkPart(at string, p *abi.Part) error {
	p.Normalize()
	if err := desk.CheckVisibility(at+".visibility", p.Visibility); err != nil {
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
		return cmp.Or(required("tool_call_id", p.ToolCallID != ""), required("name", p.Name != ""),
			required("input", p.Input.Kind() == '{'))
	case abi.PartToolResult:
		if p.Redacted {
			return nil
		}
		return cmp.Or(required("tool_call_id", p.ToolCallID != ""), required("output", p.Output != nil),
			desk.CheckOneOf(at+".status", p.Status, "ok", "error"))
	case abi.PartArtifactRef:
		return required("artifact_id", p.ArtifactID != "")
	case abi.PartFileRef:
		return cmp.Or(required("uri", p.URI != ""), required("mime_type", p.MimeType != ""))
	case abi.PartImageRef:
		return cmp.Or(required("artifact_id", p.ArtifactID != ""), required("mime_type", p.MimeType != ""))
	}
	return abi.InvalidParam(at+".type", "%q is not a part type: one of text, json, tool_call, tool_result, artifact_ref, file_ref, image_ref", p.Type)
}

// MessageRecord returns the event that appends a Message: one event for each, of
// a kind that follows from its role.
func MessageRecord(m *abi.Message) ledger.Record {
	kind := abi.EventSessionMessageAppended
	switch m.Role {
	case abi.RoleUser:
		kind = abi.EventUserMessage
	case abi.RoleAssistant, abi.RoleAgent:
		kind = abi.EventAgentMessage
	}
	return ledger.Record{
		Kind: kind, Object: abi.ObjectMessage, ID: m.ID, Created: true, Restricted: restricted(m.Parts),
		State: m, Transcript: storage.TranscriptOp{Kind: storage.TranscriptAppend},
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

// appendToSession commits a batch that adds to a Session.
func (k *Keeper) appendToSession(s *ledger.Session, b *storage.Batch, check func(*abi.Session) error) error {
	commit, err := s.Append(k.parts.Ledger, b, check)
	if err != nil {
		return err
	}
	// Not the client's context: what was handed over may become durable, so nobody
	// may act as if it had not been.
	_, err = commit.Wait(context.Background())
	return k.parts.Ledger.Failed("writing to the log", err)
}
