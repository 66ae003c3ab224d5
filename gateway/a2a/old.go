package a2a

import (
	"strings"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/wharf-dev/wharf/abi"
)

// What version 0.3 has otherwise than 1.0. By REST it is the JSON of its protocol buffers, which is
// not that of its JSON-RPC.

// dialect is how bytes are written: of which version, by JSON-RPC or by REST, and whether the
// entries of [agentcard.Extension] stand at the root of a stream.
type dialect struct{ old, rpc, harn bool }

// dialects is how many there are.
const dialects = 8

// number tells dialects apart.
func (d dialect) number() (n int) {
	for i, is := range []bool{d.old, d.rpc, d.harn} {
		if is {
			n |= 1 << i
		}
	}
	return n
}

// words returns v, which is in the words of 1.0, in those of the dialect.
func (d dialect) words(v any) any {
	if !d.old {
		return v
	}
	switch v := v.(type) {
	case *happening:
		return d.happening(v)
	case *task:
		return d.task(v)
	case *pushConfig:
		return d.push(v)
	case *pushList:
		return d.pushes(v)
	case *listAnswer:
		tasks := []any{}
		for i := range v.Tasks {
			tasks = append(tasks, d.task(&v.Tasks[i]))
		}
		return map[string]any{"tasks": tasks, "totalSize": v.TotalSize, "pageSize": v.PageSize, "nextPageToken": v.NextPageToken}
	}
	return v
}

// happening returns what a stream of 0.3 tells. JSON-RPC tells kinds apart by a member, REST by
// what they are in.
func (d dialect) happening(h *happening) any {
	name, v := "task", any(nil)
	switch {
	case h.Task != nil:
		v = d.task(h.Task)
	case h.StatusUpdate != nil:
		u := h.StatusUpdate
		final := u.Status.State.Terminal() || u.Status.State == a2a.TaskStateInputRequired
		name, v = "statusUpdate", &oldStatusUpdate{d.kind("status-update"), u.TaskID, u.ContextID, d.status(&u.Status), final, u.Metadata}
	case h.ArtifactUpdate != nil:
		u := h.ArtifactUpdate
		name, v = "artifactUpdate", &oldArtifactUpdate{d.kind("artifact-update"), u.TaskID, u.ContextID, d.artifact(&u.Artifact), u.Append, u.LastChunk}
	}
	if d.rpc {
		return v
	}
	return map[string]any{name: v}
}

// kind is the member that JSON-RPC tells kinds apart by.
func (d dialect) kind(is string) string {
	if d.rpc {
		return is
	}
	return ""
}

type (
	oldTask struct {
		Kind      string         `json:"kind,omitzero"`
		ID        string         `json:"id"`
		ContextID string         `json:"contextId"`
		Status    oldStatus      `json:"status"`
		Artifacts []oldArtifact  `json:"artifacts,omitzero"`
		History   []oldMessage   `json:"history,omitzero"`
		Metadata  jsontext.Value `json:"metadata,omitzero"`
	}
	oldStatus struct {
		State     string      `json:"state"`
		Message   *oldMessage `json:"message,omitzero"`
		Timestamp abi.Time    `json:"timestamp,omitzero"`
	}
	oldMessage struct {
		Kind             string         `json:"kind,omitzero"`
		MessageID        string         `json:"messageId"`
		ContextID        string         `json:"contextId,omitzero"`
		TaskID           string         `json:"taskId,omitzero"`
		Role             string         `json:"role"`
		Parts            []oldPart      `json:"parts,omitzero"`   // by JSON-RPC
		Content          []oldPart      `json:"content,omitzero"` // by REST
		Metadata         jsontext.Value `json:"metadata,omitzero"`
		Extensions       []string       `json:"extensions,omitzero"`
		ReferenceTaskIDs []string       `json:"referenceTaskIds,omitzero"`
	}
	oldArtifact struct {
		ArtifactID  string         `json:"artifactId"`
		Name        string         `json:"name,omitzero"`
		Description string         `json:"description,omitzero"`
		Parts       []oldPart      `json:"parts"`
		Metadata    jsontext.Value `json:"metadata,omitzero"`
	}
	oldPart struct {
		Kind     string         `json:"kind,omitzero"`
		Text     *string        `json:"text,omitzero"`
		Data     jsontext.Value `json:"data,omitzero"` // by REST it is the member data of an object
		File     *oldFile       `json:"file,omitzero"`
		Metadata jsontext.Value `json:"metadata,omitzero"`
	}
	oldFile struct {
		Bytes         []byte  `json:"bytes,omitzero"`
		URI           *string `json:"uri,omitzero"`
		FileWithBytes []byte  `json:"fileWithBytes,omitzero"` // by REST
		FileWithURI   *string `json:"fileWithUri,omitzero"`
		MimeType      string  `json:"mimeType,omitzero"`
		Name          string  `json:"name,omitzero"`
	}
	oldStatusUpdate struct {
		Kind      string         `json:"kind,omitzero"`
		TaskID    string         `json:"taskId"`
		ContextID string         `json:"contextId"`
		Status    oldStatus      `json:"status"`
		Final     bool           `json:"final"`
		Metadata  jsontext.Value `json:"metadata,omitzero"`
	}
	oldArtifactUpdate struct {
		Kind      string      `json:"kind,omitzero"`
		TaskID    string      `json:"taskId"`
		ContextID string      `json:"contextId"`
		Artifact  oldArtifact `json:"artifact"`
		Append    bool        `json:"append"`
		LastChunk bool        `json:"lastChunk"`
	}
	oldPush struct {
		TaskID string        `json:"taskId,omitzero"` // by JSON-RPC
		Name   string        `json:"name,omitzero"`   // by REST
		Config oldPushConfig `json:"pushNotificationConfig"`
	}
	oldPushConfig struct {
		ID             string       `json:"id,omitzero"`
		URL            string       `json:"url"`
		Token          string       `json:"token,omitzero"`
		Authentication *oldPushAuth `json:"authentication,omitzero"`
	}
	oldPushAuth struct {
		Schemes     []string `json:"schemes"`
		Credentials string   `json:"credentials,omitzero"`
	}
)

func (d dialect) task(t *task) *oldTask {
	old := &oldTask{Kind: d.kind("task"), ID: t.ID, ContextID: t.ContextID, Status: d.status(&t.Status), Metadata: t.Metadata}
	if t.Artifacts != nil {
		old.Artifacts = make([]oldArtifact, len(t.Artifacts))
	}
	for i := range t.Artifacts {
		old.Artifacts[i] = d.artifact(&t.Artifacts[i])
	}
	if t.History != nil {
		old.History = make([]oldMessage, len(t.History))
	}
	for i := range t.History {
		old.History[i] = *d.message(&t.History[i])
	}
	return old
}

func (d dialect) status(s *taskStatus) oldStatus {
	old := oldStatus{State: d.state(s.State), Timestamp: s.Timestamp}
	if s.Message != nil {
		old.Message = d.message(s.Message)
	}
	return old
}

// state returns a state as JSON-RPC of 0.3 has it ("input-required"), or its protocol buffers, which
// spell one with two L.
func (d dialect) state(s a2a.TaskState) string {
	if d.rpc {
		return strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(string(s), "TASK_STATE_")), "_", "-")
	}
	if s == a2a.TaskStateCanceled {
		return "TASK_STATE_CANCELLED"
	}
	return string(s)
}

func (d dialect) message(m *message) *oldMessage {
	old := &oldMessage{Kind: d.kind("message"), MessageID: m.MessageID, ContextID: m.ContextID, TaskID: m.TaskID, Role: string(m.Role),
		Metadata: m.Metadata, Extensions: m.Extensions}
	parts := d.parts(m.Parts)
	if !d.rpc {
		old.Content = parts
		return old
	}
	old.Role = strings.ToLower(strings.TrimPrefix(old.Role, "ROLE_"))
	old.Parts, old.ReferenceTaskIDs = parts, m.ReferenceTaskIDs
	return old
}

func (d dialect) artifact(a *artifact) oldArtifact {
	return oldArtifact{a.ArtifactID, a.Name, a.Description, d.parts(a.Parts), a.Metadata}
}

func (d dialect) parts(parts []part) []oldPart {
	old := make([]oldPart, len(parts))
	for i := range parts {
		old[i] = d.part(&parts[i])
	}
	return old
}

// wrapped marks data that is no object, which 0.3 has no place for: it is the member value of one.
// The protocol's own libraries mark it so.
const wrapped = "data_part_compat"

func (d dialect) part(p *part) oldPart {
	old := oldPart{Metadata: p.Metadata}
	switch {
	case p.Text != nil:
		old.Kind, old.Text = d.kind("text"), p.Text
	case p.Data != nil:
		old.Kind, old.Data = d.kind("data"), p.Data
		if p.Data.Kind() != '{' {
			old.Data, old.Metadata = member("value", p.Data), withMember(p.Metadata, wrapped, jsontext.Value("true"))
		}
		if !d.rpc {
			old.Data = member("data", old.Data)
		}
	case d.rpc:
		old.Kind, old.File = "file", &oldFile{Bytes: p.Raw, URI: p.URL, MimeType: p.MediaType, Name: p.Filename}
	default:
		old.File = &oldFile{FileWithBytes: p.Raw, FileWithURI: p.URL, MimeType: p.MediaType, Name: p.Filename}
	}
	return old
}

// member returns an object with one member.
func member(name string, value jsontext.Value) jsontext.Value {
	return withMember(nil, name, value)
}

// withMember returns an object with one more member, which it has not yet.
func withMember(object jsontext.Value, name string, value jsontext.Value) jsontext.Value {
	all := map[string]jsontext.Value{}
	if object != nil {
		_ = json.Unmarshal(object, &all) // it was checked when it came
	}
	all[name] = value
	text, err := json.Marshal(all, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return object
	}
	return text
}

func (d dialect) push(c *pushConfig) *oldPush {
	old := &oldPush{TaskID: c.TaskID, Config: oldPushConfig{ID: c.ID, URL: c.URL, Token: c.Token}}
	if c.Authentication != nil {
		old.Config.Authentication = &oldPushAuth{[]string{c.Authentication.Scheme}, c.Authentication.Credentials}
	}
	if !d.rpc {
		old.TaskID, old.Name = "", "tasks/"+c.TaskID+"/pushNotificationConfigs/"+c.ID
	}
	return old
}

func (d dialect) pushes(l *pushList) any {
	all := make([]*oldPush, len(l.Configs))
	for i := range l.Configs {
		all[i] = d.push(&l.Configs[i])
	}
	if d.rpc {
		return all
	}
	return map[string]any{"configs": all, "nextPageToken": l.NextPageToken}
}

// oldSendParams are those of message/send, and the body of POST /v1/message:send.
type oldSendParams struct {
	Message       *oldMessage    `json:"message"`
	Request       *oldMessage    `json:"request"` // what the protocol buffers call it
	Configuration *oldSendConfig `json:"configuration"`
	Metadata      jsontext.Value `json:"metadata"`
}

type oldSendConfig struct {
	AcceptedOutputModes []string       `json:"acceptedOutputModes"`
	Blocking            *bool          `json:"blocking"`
	HistoryLength       *int           `json:"historyLength"`
	Push                *oldPushConfig `json:"pushNotificationConfig"` // by JSON-RPC
	PushNotification    *oldPushConfig `json:"pushNotification"`       // by REST
}

// sendParams returns what is asked in the words of 1.0.
func (d dialect) sendParams(old *oldSendParams) (*sendParams, error) {
	p := &sendParams{Metadata: old.Metadata}
	asked := old.Message
	if asked == nil {
		asked = old.Request
	}
	if asked != nil {
		m, err := asked.words()
		if err != nil {
			return nil, err
		}
		p.Message = m
	}
	if c := old.Configuration; c != nil {
		p.Configuration = &sendConfig{AcceptedOutputModes: c.AcceptedOutputModes, HistoryLength: c.HistoryLength}
		// In the JSON of protocol buffers false is left out.
		p.Configuration.ReturnImmediately = c.Blocking != nil && !*c.Blocking || c.Blocking == nil && !d.rpc
		push := c.Push
		if push == nil {
			push = c.PushNotification
		}
		if push != nil {
			p.Configuration.Push = push.words("")
		}
	}
	return p, nil
}

// words returns a message in the words of 1.0.
func (m *oldMessage) words() (*message, error) {
	to := &message{MessageID: m.MessageID, ContextID: m.ContextID, TaskID: m.TaskID, Metadata: m.Metadata, Extensions: m.Extensions,
		ReferenceTaskIDs: m.ReferenceTaskIDs}
	switch m.Role {
	case "user", string(a2a.MessageRoleUser):
		to.Role = a2a.MessageRoleUser
	case "agent", string(a2a.MessageRoleAgent):
		to.Role = a2a.MessageRoleAgent
	default:
		to.Role = a2a.MessageRole(m.Role)
	}
	parts := m.Parts
	if parts == nil {
		parts = m.Content
	}
	for i := range parts {
		p, err := parts[i].words()
		if err != nil {
			return nil, refuse(reasonParams, "part %d of the message: %s", i, err.Message)
		}
		to.Parts = append(to.Parts, p)
	}
	return to, nil
}

// words returns a part in the words of 1.0.
func (p *oldPart) words() (part, *abi.Error) {
	to := part{Text: p.Text, Metadata: p.Metadata}
	if f := p.File; f != nil {
		to.Raw, to.URL, to.MediaType, to.Filename = f.Bytes, f.URI, f.MimeType, f.Name
		if to.Raw == nil {
			to.Raw = f.FileWithBytes
		}
		if to.URL == nil {
			to.URL = f.FileWithURI
		}
	}
	if p.Data == nil {
		return to, nil
	}
	var data map[string]jsontext.Value
	if json.Unmarshal(p.Data, &data) != nil {
		return to, refuse(reasonParams, "data is an object in this version")
	}
	to.Data = p.Data
	if inner, is := data["data"]; is && p.Kind == "" && len(data) == 1 { // of protocol buffers
		to.Data, data = inner, nil
		_ = json.Unmarshal(inner, &data)
	}
	var marked struct {
		Wrapped bool `json:"data_part_compat"`
	}
	if p.Metadata.Kind() == '{' && json.Unmarshal(p.Metadata, &marked) == nil && marked.Wrapped && data["value"] != nil {
		to.Data = data["value"]
	}
	return to, nil
}

// words returns a config in the words of 1.0.
func (c *oldPushConfig) words(taskID string) *pushConfig {
	to := &pushConfig{TaskID: taskID, ID: c.ID, URL: c.URL, Token: c.Token}
	if a := c.Authentication; a != nil {
		to.Authentication = &pushAuth{Credentials: a.Credentials}
		if len(a.Schemes) > 0 {
			to.Authentication.Scheme = a.Schemes[0]
		}
	}
	return to
}
