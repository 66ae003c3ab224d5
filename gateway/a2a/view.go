package a2a

import (
	"cmp"
	"context"
	"io"
	"slices"
	"time"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway/api"
)

// viewer puts what one caller may see into the words of the protocol. One of what is public has no
// caller, and only get.
type viewer struct {
	core   *api.API
	caller *api.Caller
	base   string // of links
	get    func(ctx context.Context, o abi.Object, id string) (jsontext.Value, error)
}

func (c *call) viewer() *viewer { return viewerOf(c.core, c.r.Caller, c.r.BaseURL()) }

func viewerOf(core *api.API, caller *api.Caller, base string) *viewer {
	return &viewer{core, caller, base, func(ctx context.Context, o abi.Object, id string) (jsontext.Value, error) {
		view, err := core.Get(ctx, caller, o, id)
		return view.JSON, err
	}}
}

// read returns a resource as the viewer may see it.
func read[T any](ctx context.Context, v *viewer, o abi.Object, id string) (is T, err error) {
	text, err := v.get(ctx, o, id)
	if err != nil {
		return is, err
	}
	return is, json.Unmarshal(text, &is)
}

// inlines reports whether the caller may read the content of Artifacts: then it stands where they
// are told of.
func (v *viewer) inlines() bool { return v.caller != nil && v.caller.Can("artifacts:read") }

// refContext is the kind of the reference of a Session that is a context.
const refContext = "a2a_context"

// contextOf returns what clients call the context that a Session is: as the client has that has made
// it, else its id.
func (v *viewer) contextOf(ctx context.Context, sessionID string) (string, error) {
	s, err := read[abi.Session](ctx, v, abi.ObjectSession, sessionID)
	if isAbsent(err) { // it was deleted
		return sessionID, nil
	}
	return nameOf(&s), err
}

// nameOf is the context that a Session is.
func nameOf(s *abi.Session) string {
	for _, ref := range s.Refs {
		if ref.Kind == refContext {
			return ref.Ref
		}
	}
	return s.ID
}

func isAbsent(err error) bool {
	shown, ok := err.(*abi.Error)
	return ok && shown.Code == abi.CodeResourceNotFound
}

func as[T any](view api.View) (v T, err error) { return v, json.Unmarshal(view.JSON, &v) }

// shows is how much of a Task is shown.
type shows struct {
	history   int // Messages at most, the newest; below 0: all
	artifacts bool
}

// mostHistory is how many Messages a Task is shown with at most, and mostRead how many of its
// Session are looked at for them.
const (
	mostHistory = 200
	mostRead    = 2000
)

// historyOf checks how many Messages somebody wants.
func historyOf(length *int) (int, error) {
	if length == nil {
		return -1, nil
	}
	if *length < 0 {
		return 0, invalid("historyLength", "historyLength is 0 or more")
	}
	return *length, nil
}

// task shows a Task.
func (v *viewer) task(ctx context.Context, t *abi.Task, contextID string, s shows) (*task, error) {
	ctx = api.Together(ctx)
	status, err := v.statusOf(ctx, t, contextID)
	if err != nil {
		return nil, err
	}
	shown := &task{ID: t.ID, ContextID: contextID, Status: status, Metadata: aboutTask(t)}
	if s.history != 0 {
		if shown.History, err = v.history(ctx, t, contextID, s.history); err != nil {
			return nil, err
		}
	}
	if s.artifacts {
		shown.Artifacts, err = v.artifacts(ctx, t)
	}
	return shown, err
}

// aboutTask says what Harn calls a Task and its session, for those who know it from there.
func aboutTask(t *abi.Task) jsontext.Value {
	text, err := json.Marshal(map[string]map[string]string{"wharf": without(map[string]string{
		"workspace_id": t.WorkspaceID, "session_id": t.SessionID, "persona_id": t.PersonaID, "outcome_id": t.OutcomeID, "receipt_id": t.ReceiptID})},
		json.Deterministic(true))
	if err != nil {
		return nil
	}
	return text
}

func without(all map[string]string) map[string]string {
	for name, value := range all {
		if value == "" {
			delete(all, name)
		}
	}
	return all
}

// statusOf returns the state of a Task, and what there is to say about it: what it asks, or why it
// has failed.
func (v *viewer) statusOf(ctx context.Context, t *abi.Task, contextID string) (taskStatus, error) {
	s := taskStatus{State: stateOf(t.Status), Timestamp: t.UpdatedAt}
	switch {
	case interrupted(s.State):
		asked, err := v.questions(ctx, t)
		if err != nil {
			return s, err
		}
		s.Message = v.said(t, contextID, asked...)
		s.Message.MessageID = cmp.Or(requestOf(t), s.Message.MessageID)
	case t.Status == abi.TaskFailed && t.Failure != nil:
		data, err := json.Marshal(t.Failure, json.Deterministic(true))
		if err != nil {
			return s, err
		}
		s.Message = v.said(t, contextID, part{Text: &t.Failure.Message}, part{Data: data})
	}
	return s, nil
}

func requestOf(t *abi.Task) string {
	if t.Waiting == nil {
		return ""
	}
	return t.Waiting.RequestID
}

// said is a message that the node has written about a Task.
func (v *viewer) said(t *abi.Task, contextID string, parts ...part) *message {
	return &message{MessageID: t.ID + "." + string(t.Status), TaskID: t.ID, ContextID: contextID, Role: a2a.MessageRoleAgent, Parts: parts}
}

// question is something that a Task asks its client, for programs.
type question struct {
	Key          string             `json:"key,omitzero"`
	Kind         abi.PermissionKind `json:"kind"`
	PermissionID string             `json:"permission_request_id"`
	Prompt       string             `json:"prompt,omitzero"`
	Action       string             `json:"action,omitzero"`
	Arguments    jsontext.Value     `json:"arguments,omitzero"`
	Schema       jsontext.Value     `json:"schema,omitzero"`
	URL          string             `json:"url,omitzero"`
	ExpiresAt    abi.Time           `json:"expires_at,omitzero"`
}

// questions returns what a Task asks, as it states itself: for people a text, for programs all of it.
func (v *viewer) questions(ctx context.Context, t *abi.Task) ([]part, error) {
	var all []question
	text := ""
	for _, id := range openOf(t) {
		p, err := read[abi.PermissionRequest](ctx, v, abi.ObjectPermissionRequest, id)
		if err != nil {
			return nil, err
		}
		all = append(all, question{p.Key, p.Kind, p.ID, p.Prompt, p.Action, p.Arguments, p.Schema, p.URL, p.ExpiresAt})
		if text != "" {
			text += "\n"
		}
		text += cmp.Or(p.Prompt, p.Action, "something is needed to go on")
		if p.URL != "" {
			text += " " + p.URL
		}
	}
	if all == nil {
		return []part{{Text: &text}}, nil
	}
	data, err := json.Marshal(map[string]any{"requests": all}, json.Deterministic(true))
	return []part{{Text: &text}, {Data: data}}, err
}

// openOf names what a Task asks, in the order in which it asks.
func openOf(t *abi.Task) (ids []string) {
	switch {
	case t.Waiting == nil:
	case t.Waiting.Requests == nil && t.Waiting.PermissionID != "":
		ids = append(ids, t.Waiting.PermissionID)
	default:
		for _, q := range t.Waiting.Requests {
			if q.Status == abi.PermissionPending {
				ids = append(ids, q.PermissionID)
			}
		}
	}
	return ids
}

// pending returns what a Task asks now, in the order in which it asks.
func (v *viewer) pending(ctx context.Context, t *abi.Task) ([]abi.PermissionRequest, error) {
	var all []abi.PermissionRequest
	for _, id := range openOf(t) {
		p, err := read[abi.PermissionRequest](ctx, v, abi.ObjectPermissionRequest, id)
		if err != nil {
			return nil, err
		}
		if p.Status == abi.PermissionPending {
			all = append(all, p)
		}
	}
	return all, nil
}

// asked returns what a Task has asked of late, oldest first.
func (v *viewer) asked(ctx context.Context, id string) ([]abi.PermissionRequest, error) {
	list, err := v.core.List(ctx, v.caller, abi.ObjectPermissionRequest, api.Filter{TaskID: id}, api.Page{Limit: 50})
	if err != nil {
		return nil, err
	}
	var all []abi.PermissionRequest
	for _, view := range slices.Backward(list.Views) {
		p, err := as[abi.PermissionRequest](view)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

// history returns the Messages of a Task, oldest first: at most so many, the newest.
func (v *viewer) history(ctx context.Context, t *abi.Task, contextID string, most int) ([]message, error) {
	if most < 0 || most > mostHistory {
		most = mostHistory
	}
	all, looked := []message{}, 0
	if !v.caller.Can("messages:read") {
		return all, nil
	}
	for p := (api.Page{Limit: 100, Reversed: true}); looked < mostRead; {
		list, err := v.core.Messages(ctx, v.caller, t.SessionID, p)
		if isAbsent(err) { // the Session was deleted
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		for _, view := range list.Views {
			m, err := as[abi.Message](view)
			if err != nil {
				return nil, err
			}
			if m.CreatedAt.Before(t.CreatedAt.Add(-apart)) { // as all that follow
				return reversed(all), nil
			}
			if shown, ok := v.messageOut(&m, contextID); ok && m.TaskID == t.ID {
				all = append(all, shown)
			}
			if len(all) == most {
				return reversed(all), nil
			}
		}
		if looked += len(list.Views); !list.More {
			break
		}
		p.After = list.Next
	}
	return reversed(all), nil
}

// apart is more than lies between what is written together, by any clock.
const apart = time.Minute

func reversed(all []message) []message {
	slices.Reverse(all)
	return all
}

// artifacts returns the Artifacts of a Task in the order in which they were made, and what it has
// resulted in, when it has.
func (v *viewer) artifacts(ctx context.Context, t *abi.Task) ([]artifact, error) {
	all := []artifact{}
	for p := (api.Page{Limit: 100, Reversed: true}); ; {
		list, err := v.core.List(ctx, v.caller, abi.ObjectArtifact, api.Filter{TaskID: t.ID}, p)
		if err != nil {
			return nil, err
		}
		for _, view := range list.Views {
			of, err := as[abi.Artifact](view)
			if err != nil {
				return nil, err
			}
			all = append(all, v.artifact(ctx, &of))
		}
		if !list.More {
			break
		}
		p.After = list.Next
	}
	if t.OutcomeID == "" {
		return all, nil
	}
	made, err := v.outcome(ctx, t.OutcomeID)
	if err != nil {
		return nil, err
	}
	return append(all, *made), nil
}

// artifact shows an Artifact: with its content where that is small, else with where it is.
func (v *viewer) artifact(ctx context.Context, of *abi.Artifact) artifact {
	shown := artifact{ArtifactID: of.ID, Name: of.Name, Metadata: factsOf(of)}
	content, held := v.content(ctx, of)
	if !held {
		url := v.contentURL(of.ID)
		if of.URI != nil && *of.URI != abi.ArtifactName+of.ID {
			url = *of.URI
		}
		shown.Parts = []part{{URL: &url, MediaType: of.MimeType, Filename: of.Name}}
		return shown
	}
	p := contentOut(content, of.MimeType)
	p.Filename = of.Name
	shown.Parts = []part{p}
	return shown
}

// factsOf is what is known of an Artifact besides its content.
func factsOf(of *abi.Artifact) jsontext.Value {
	facts := map[string]any{"kind": of.Kind}
	if of.SHA256 != nil {
		facts["sha256"] = *of.SHA256
	}
	if of.SizeBytes != nil {
		facts["size_bytes"] = *of.SizeBytes
	}
	text, err := json.Marshal(map[string]any{"wharf": facts}, json.Deterministic(true))
	if err != nil {
		return nil
	}
	return text
}

// content returns the content of an Artifact; false where it is large, elsewhere, or not for this
// caller.
func (v *viewer) content(ctx context.Context, of *abi.Artifact) ([]byte, bool) {
	if !v.inlines() || of.SizeBytes == nil || *of.SizeBytes > inlined {
		return nil, false
	}
	_, opened, err := v.core.OpenArtifact(ctx, v.caller, of.ID)
	if err != nil || opened == nil {
		return nil, false
	}
	defer opened.Close()
	text, err := io.ReadAll(io.LimitReader(opened, inlined+1))
	return text, err == nil && len(text) <= inlined
}

// outcomeID is the artifact that is what a Task has resulted in.
const outcomeID = "outcome"

// outcome shows what a Task has resulted in: what it has said last, else its summary.
func (v *viewer) outcome(ctx context.Context, id string) (*artifact, error) {
	o, err := read[abi.Outcome](ctx, v, abi.ObjectOutcome, id)
	if err != nil {
		return nil, err
	}
	return v.resultOf(&o, len(o.Messages), func(i int) (m abi.Message, err error) { return m, json.Unmarshal(o.Messages[i], &m) })
}

// toldOutcome is outcome, of an Outcome that names its Messages: of a Task that has said much, the last ones
// alone are read.
func (v *viewer) toldOutcome(ctx context.Context, o *abi.Outcome) (*artifact, error) {
	return v.resultOf(o, len(o.MessageIDs), func(i int) (abi.Message, error) { return read[abi.Message](ctx, v, abi.ObjectMessage, o.MessageIDs[i]) })
}

// resultOf is outcome; said returns one of n Messages by its place.
func (v *viewer) resultOf(o *abi.Outcome, n int, said func(i int) (abi.Message, error)) (*artifact, error) {
	shown := &artifact{ArtifactID: outcomeID, Name: outcomeID, Description: o.Summary}
	for i := n - 1; i >= 0; i-- {
		m, err := said(i)
		if err != nil {
			return nil, err
		}
		if told, ok := v.messageOut(&m, ""); ok && told.Role == a2a.MessageRoleAgent {
			shown.Parts = told.Parts
			break
		}
	}
	if shown.Parts == nil {
		shown.Parts = []part{{Text: &o.Summary}}
	}
	facts := map[string]any{"outcome_id": o.ID, "status": o.Status}
	if o.ReceiptID != "" {
		facts["receipt_id"] = o.ReceiptID
	}
	if o.Metrics != nil {
		facts["metrics"] = o.Metrics
	}
	var err error
	shown.Metadata, err = json.Marshal(map[string]any{"wharf": facts}, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
	return shown, err
}
