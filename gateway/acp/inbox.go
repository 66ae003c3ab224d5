package acp

import (
	"cmp"
	"context"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway/acp/shapes"
	"github.com/wharf-dev/wharf/gateway/api"
)

// inbox is what clients say to a Session while its Tasks work, and what they remind them of.
func (a *Adapter) inbox() feature {
	return feature{
		"session/inject":             acts("messages:write", a.inject).meant("Say something to a session while its turn runs."),
		"session/replace_inject":     acts("messages:write", a.replaceInject).meant("Say what waits in other words."),
		"session/revoke_inject":      acts("messages:write", a.revokeInject).meant("Take back what waits."),
		"session/remind":             {scope: "messages:write", do: a.remind, about: "Remind a session's agent of something that nobody says."},
		"session/revoke_reminder":    acts("messages:write", a.revokeReminder).meant("Take a reminder back."),
		"session/pending_injections": takes("messages:read", a.pendingInjections).meant("See what waits for a session's agent."),
		"agent/resume":               takes("tasks:write", a.resumeAgent).notified().meant("Wake an agent that waits for its inbox."),
	}
}

type injectParams struct {
	named   `json:",inline"`
	Mode    abi.InjectionMode `json:"mode"`
	Content jsontext.Value    `json:"content"` // a text, or content blocks
}

func (p *injectParams) check() error {
	switch {
	case p.Mode == "":
		return cmp.Or(p.named.check(), missing("mode"))
	case p.Content == nil:
		return cmp.Or(p.named.check(), missing("content"))
	}
	return p.named.check()
}

// injectedBy answers what has become of what a client says.
type injectedBy struct {
	Status    abi.InjectionStatus `json:"status"`
	MessageID string              `json:"messageId,omitzero"`
	Reminder  string              `json:"reminderId,omitzero"`
}

// said reads what a client says meanwhile. Images and the like are kept as Artifacts of the Session.
func (a *Adapter) said(ctx context.Context, q *request, session string, content jsontext.Value) ([]abi.Part, error) {
	if content.Kind() == '"' {
		text, err := jsontext.AppendUnquote(nil, content)
		if err != nil || len(text) == 0 {
			return nil, abi.InvalidParam("content", "content is a text, or a list of content blocks")
		}
		whole := string(text)
		return []abi.Part{{Type: abi.PartText, Text: &whole, Visibility: abi.VisibilityPublic}}, nil
	}
	said, err := shapes.Read("content", content, shapes.Limits{Blocks: 1000, Bytes: int(a.cfg.UploadLimit)})
	if err != nil || len(said.Files) == 0 {
		if err != nil {
			return nil, err
		}
		return said.Parts, nil
	}
	s, err := a.sessionOf(ctx, q, session)
	if err != nil {
		return nil, err
	}
	return said.Parts, a.keep(ctx, q, &opened{conn: q.conn, id: s.ID, workspace: s.WorkspaceID}, said)
}

func (a *Adapter) inject(ctx context.Context, q *request, p *injectParams) (any, error) {
	parts, err := a.said(ctx, q, p.SessionID, p.Content)
	if err != nil {
		return nil, err
	}
	req := abi.InjectRequest{Mode: p.Mode, Parts: parts}
	return injected(a.core.Inject(ctx, q.caller, q.retry(p), p.SessionID, req))
}

type ofInjection struct {
	named     `json:",inline"`
	MessageID string         `json:"messageId"`
	Content   jsontext.Value `json:"content"`
}

func (p *ofInjection) check() error {
	if p.MessageID == "" {
		return cmp.Or(p.named.check(), missing("messageId"))
	}
	return p.named.check()
}

func (a *Adapter) replaceInject(ctx context.Context, q *request, p *ofInjection) (any, error) {
	if p.Content == nil {
		return nil, missing("content")
	}
	parts, err := a.said(ctx, q, p.SessionID, p.Content)
	if err != nil {
		return nil, err
	}
	return injected(a.core.ReplaceInjection(ctx, q.caller, q.retry(p), p.SessionID, p.MessageID, abi.ReplaceInjectionRequest{Parts: parts}))
}

func (a *Adapter) revokeInject(ctx context.Context, q *request, p *ofInjection) (any, error) {
	return injected(a.core.RevokeInjection(ctx, q.caller, q.retry(p), p.SessionID, p.MessageID))
}

// remind takes a reminder by its own rules: the member sessionId is not part of it.
func (a *Adapter) remind(ctx context.Context, q *request) (any, error) {
	var of named
	if err := decodeParams(q.Params, &of); err != nil {
		return nil, err
	}
	members := map[string]jsontext.Value{}
	if err := json.Unmarshal(q.Params, &members); err != nil {
		return nil, misread(err)
	}
	delete(members, "sessionId")
	text, err := json.Marshal(members, json.Deterministic(true))
	if err != nil {
		return nil, err
	}
	req, err := api.ReadReminder(text)
	if err != nil {
		return nil, err
	}
	caller, err := q.conn.controlling(ctx, q.caller, of.SessionID)
	if err != nil {
		return nil, err
	}
	return injected(a.core.Remind(ctx, caller, q.retry(members), of.SessionID, req))
}

type ofReminder struct {
	named      `json:",inline"`
	ReminderID string `json:"reminderId"`
}

func (p *ofReminder) check() error {
	if p.ReminderID == "" {
		return cmp.Or(p.named.check(), missing("reminderId"))
	}
	return p.named.check()
}

func (a *Adapter) revokeReminder(ctx context.Context, q *request, p *ofReminder) (any, error) {
	return injected(a.core.RevokeReminder(ctx, q.caller, q.retry(p), p.SessionID, p.ReminderID))
}

// injected answers with what has become of an injection.
func injected(v api.View, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	i, err := decoded[abi.Injection](v)
	if err != nil {
		return nil, err
	}
	if i.Kind == abi.InjectionReminder {
		return injectedBy{Status: i.Status, Reminder: i.ID}, nil
	}
	return injectedBy{Status: i.Status, MessageID: i.MessageID}, nil
}

// pendingInjection is one row of what waits.
type pendingInjection struct {
	Kind       abi.InjectionKind `json:"kind"`
	Mode       abi.InjectionMode `json:"mode"`
	MessageID  string            `json:"messageId,omitzero"`
	Content    jsontext.Value    `json:"content,omitzero"`
	ReminderID string            `json:"reminderId,omitzero"`
	Body       string            `json:"body,omitzero"`
	Tags       []string          `json:"tags,omitzero"`
	DedupeKey  string            `json:"dedupeKey,omitzero"`
	TTLTurns   int               `json:"ttlTurns,omitzero"`
	RoleHint   abi.ReminderRole  `json:"roleHint,omitzero"`
	Source     string            `json:"source,omitzero"`
}

type pendingList struct {
	PendingCount int                `json:"pendingCount"`
	Injections   []pendingInjection `json:"injections"`
}

func (a *Adapter) pendingInjections(ctx context.Context, q *request, p *named) (any, error) {
	v, err := a.core.PendingInjections(ctx, q.caller, p.SessionID)
	if err != nil {
		return nil, err
	}
	all, err := decoded[abi.PendingInjections](v)
	if err != nil {
		return nil, err
	}
	list := pendingList{PendingCount: all.PendingCount, Injections: []pendingInjection{}}
	for i := range all.Injections {
		of := &all.Injections[i]
		row := pendingInjection{Kind: of.Kind, Mode: of.Mode, MessageID: of.MessageID}
		if of.Kind == abi.InjectionReminder {
			row.ReminderID, row.Body, row.Tags, row.DedupeKey = of.ID, of.Body, of.Tags, of.DedupeKey
			row.TTLTurns, row.RoleHint, row.Source = of.TTLTurns, of.RoleHint, of.Source
		} else if row.Content, err = json.Marshal(of.Parts, json.Deterministic(true)); err != nil {
			return nil, err
		}
		list.Injections = append(list.Injections, row)
	}
	return &list, nil
}

type resumeAgentParams struct {
	SessionID string `json:"sessionId"` // "" for all that are open on the connection
}

// resumeAgent wakes what waits for an inbox.
func (a *Adapter) resumeAgent(_ context.Context, q *request, p *resumeAgentParams) (any, error) {
	ids := []string{p.SessionID}
	if p.SessionID == "" {
		ids = q.conn.openIDs()
	}
	q.conn.beside.Go(func() { // it waits for the disk, and this is the goroutine that reads
		for _, id := range ids {
			caller, err := q.conn.controlling(q.conn.live, q.caller, id)
			if err == nil {
				_, err = a.core.WakeSession(q.conn.live, caller, id)
			}
			if err != nil {
				a.shape(err)
			}
		}
	})
	return nil, nil
}

// openIDs returns the sessions that are open on the connection.
func (c *conn) openIDs() (ids []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id := range c.sessions {
		ids = append(ids, id)
	}
	return ids
}
