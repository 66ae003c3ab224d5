package openharness

import (
	"context"
	"net/url"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/gateway/api"
	"github.com/wharf-dev/wharf/gateway/openharness/mapper"
)

func (a *Adapter) sessionRoutes() []gateway.Route {
	const reads, writes = "sessions:read", "sessions:write"
	resume := post("sessions/{sessionId}/resume", "sessions.resume", writes, "Resume a session", statusOK, a.at(a.resumeSession))
	resume.Body = gateway.BodyNone
	streamed := post("sessions/{sessionId}/message/stream", "sessions.sendMessageStream", "tasks:write", "Send a message, and stream what is told of the answer",
		statusOK, a.at(a.messageStream))
	streamed.Media = gateway.MediaEventStream
	fork := post("sessions/{sessionId}/fork", "sessions.fork", writes, "Fork a session", statusCreated, a.at(a.forkSession))
	fork.Body = gateway.BodyOptionalJSON
	create := post("sessions", "sessions.create", writes, "Create a session", statusCreated, a.at(a.createSession))
	create.Body = gateway.BodyOptionalJSON
	return []gateway.Route{
		a.connectRoute(), read("sessions", "sessions.list", reads, "List sessions, newest first", a.at(a.listSessions)), create,
		read("sessions/{sessionId}", "sessions.get", reads, "Get a session", a.at(a.getSession)),
		patch("sessions/{sessionId}", "sessions.update", writes, "Change a session", a.at(a.updateSession)),
		remove("sessions/{sessionId}", "sessions.end", writes, "End a session", a.at(a.endSession)), resume,
		read("sessions/{sessionId}/history", "sessions.history", "messages:read", "List the messages of a session", a.at(a.history)), fork,
		post("sessions/{sessionId}/message", "sessions.sendMessage", "tasks:write", "Send a message, and wait for the answer", statusOK, a.at(a.sendMessage)), streamed,
	}
}

// session is a session as the protocol shows it.
type session struct {
	ID           string   `json:"id"`
	HarnessID    string   `json:"harness_id"`
	AgentID      string   `json:"agent_id,omitzero"`
	Name         string   `json:"name,omitzero"`
	Status       string   `json:"status"`
	MessageCount int      `json:"message_count"`
	More         bool     `json:"message_count_more,omitzero"` // there are more, which nobody has counted
	CreatedAt    abi.Time `json:"created_at"`
	UpdatedAt    abi.Time `json:"updated_at"`
}

func sessionStatus(s abi.SessionState) string {
	switch s {
	case abi.SessionPaused:
		return "paused"
	case abi.SessionClosed, abi.SessionFailed:
		return "ended"
	}
	return "active"
}

// shownSession shows a Session with how many messages its history has.
func (a *Adapter) shownSession(r *gateway.Request, h *abi.Harness, s *abi.Session) (session, error) {
	n, more, err := a.core.Said(r.Context(), r.Caller, s)
	return session{ID: s.ID, HarnessID: h.Name, AgentID: s.PersonaID, Name: s.Name, Status: sessionStatus(s.State), MessageCount: n, More: more,
		CreatedAt: s.CreatedAt, UpdatedAt: s.UpdatedAt}, err
}

// sessionOf returns a Session of a harness.
func (a *Adapter) sessionOf(r *gateway.Request, h *abi.Harness, id string) (*abi.Session, error) {
	view, err := a.core.Get(r.Context(), r.Caller, abi.ObjectSession, id)
	if err != nil {
		return nil, err
	}
	s, err := as[abi.Session](view)
	if err == nil && s.WorkspaceID != h.WorkspaceID {
		return nil, abi.NotFound(abi.ObjectSession, id)
	}
	return &s, err
}

// sessionAnswer is a session, and where to talk in it.
type sessionAnswer struct {
	Session      session `json:"session"`
	ConnectURL   string  `json:"connect_url,omitzero"`
	ForkedFrom   string  `json:"forked_from,omitzero"`
	MessageCount *int    `json:"message_count,omitzero"`
}

func (a *Adapter) connectURL(r *gateway.Request, h *abi.Harness, id string) string {
	base := r.BaseURL()
	return "ws" + strings.TrimPrefix(base, "http") + prefix + "/" + url.PathEscape(h.Name) + "/sessions/" + id + "/connect"
}

type createSessionRequest struct {
	Name         string   `json:"name"`
	AgentID      string   `json:"agent_id"`
	Skills       []string `json:"skills"`
	SystemPrompt string   `json:"system_prompt"`
}

func (a *Adapter) createSession(r *gateway.Request, h *abi.Harness) error {
	req, retry, err := decode[createSessionRequest](r)
	if err != nil {
		return err
	}
	if err := a.takesWork(h); err != nil {
		return err
	}
	persona := req.AgentID
	if persona == "" {
		persona = h.PersonaID
	}
	made, err := a.core.CreateSession(r.Context(), r.Caller, retry, abi.CreateSessionRequest{WorkspaceID: h.WorkspaceID, PersonaID: persona,
		Name: req.Name, Context: req.SystemPrompt, Skills: req.Skills})
	if err != nil {
		return named(err)
	}
	s, err := as[abi.Session](made)
	if err != nil {
		return err
	}
	shown, err := a.shownSession(r, h, &s)
	if err != nil {
		return err
	}
	return sent(r, statusCreated, made, sessionAnswer{Session: shown, ConnectURL: a.connectURL(r, h, s.ID)})
}

func (a *Adapter) listSessions(r *gateway.Request, h *abi.Harness) error {
	status, err := oneOf(r, "status", "active", "paused", "ended")
	if err != nil {
		return err
	}
	agent := r.Query("agent_id")
	fetch := func(p api.Page) (api.List, error) {
		return a.core.List(r.Context(), r.Caller, abi.ObjectSession, api.Filter{WorkspaceID: h.WorkspaceID, PersonaID: agent}, p)
	}
	show := func(view api.View) (session, error) {
		s, err := as[abi.Session](view)
		if err != nil {
			return session{}, err
		}
		return a.shownSession(r, h, &s)
	}
	if status == "" && agent == "" {
		return listed(r, fetch, show, "sessions")
	}
	all, err := gather(fetch, func(view api.View) (api.View, bool, error) {
		s, err := as[abi.Session](view)
		return view, status == "" || sessionStatus(s.State) == status, err
	})
	if err != nil {
		return err
	}
	return pageShown(r, all, show, "sessions")
}

func (a *Adapter) getSession(r *gateway.Request, h *abi.Harness) error {
	s, err := a.sessionOf(r, h, r.PathValue("sessionId"))
	if err != nil {
		return err
	}
	return a.sendSession(r, h, s)
}

func (a *Adapter) sendSession(r *gateway.Request, h *abi.Harness, s *abi.Session) error {
	shown, err := a.shownSession(r, h, s)
	if err != nil {
		return err
	}
	return send(r, statusOK, sessionAnswer{Session: shown, ConnectURL: a.connectURL(r, h, s.ID)})
}

type updateSessionRequest struct {
	Name   *string `json:"name"`
	Status *string `json:"status"`
}

func (a *Adapter) updateSession(r *gateway.Request, h *abi.Harness) error {
	s, err := a.sessionOf(r, h, r.PathValue("sessionId"))
	if err != nil {
		return err
	}
	req, retry, err := decode[updateSessionRequest](r)
	if err != nil {
		return err
	}
	if req.Status != nil && *req.Status != "active" && *req.Status != "paused" {
		return abi.InvalidParam("status", "%q is not one of active, paused", *req.Status)
	}
	if req.Name != nil {
		var change abi.UpdateSessionRequest
		change.Name = abi.ChangeTo(*req.Name)
		if _, err := a.core.UpdateSession(r.Context(), r.Caller, retry.Part("name"), s.ID, change); err != nil {
			return err
		}
	}
	if req.Status != nil && *req.Status != sessionStatus(s.State) {
		if err := a.turnSession(r, retry.Part("status"), s, *req.Status); err != nil {
			return err
		}
	}
	if s, err = a.sessionOf(r, h, s.ID); err != nil {
		return err
	}
	return a.sendSession(r, h, s)
}

// turnSession pauses or resumes a Session.
func (a *Adapter) turnSession(r *gateway.Request, retry *api.Write, s *abi.Session, status string) error {
	if sessionStatus(s.State) == "ended" {
		return abi.Errorf(abi.CodeConflict, "the session has ended")
	}
	turn := a.core.ResumeSession
	if status == "paused" {
		turn = a.core.PauseSession
	}
	_, err := turn(r.Context(), r.Caller, retry, s.ID)
	return err
}

func (a *Adapter) endSession(r *gateway.Request, h *abi.Harness) error {
	s, err := a.sessionOf(r, h, r.PathValue("sessionId"))
	if err != nil {
		return err
	}
	forget, err := flag(r, "delete_history", false)
	if err != nil {
		return err
	}
	retry, err := r.Retry(nil)
	if err != nil {
		return err
	}
	if forget {
		err = a.core.DeleteSession(r.Context(), r.Caller, retry, s.ID)
	} else if sessionStatus(s.State) != "ended" || retry != nil {
		_, err = a.core.CloseSession(r.Context(), r.Caller, retry, s.ID)
	}
	if err != nil {
		return err
	}
	return empty(r)
}

func (a *Adapter) resumeSession(r *gateway.Request, h *abi.Harness) error {
	s, err := a.sessionOf(r, h, r.PathValue("sessionId"))
	if err != nil {
		return err
	}
	retry, err := r.Retry(nil)
	if err != nil {
		return err
	}
	if sessionStatus(s.State) != "active" {
		if err := a.turnSession(r, retry, s, "active"); err != nil {
			return err
		}
	}
	if s, err = a.sessionOf(r, h, s.ID); err != nil {
		return err
	}
	return a.sendSession(r, h, s)
}

type forkRequest struct {
	NewName       string `json:"new_name"`
	FromMessageID string `json:"from_message_id"`
}

func (a *Adapter) forkSession(r *gateway.Request, h *abi.Harness) error {
	from, err := a.sessionOf(r, h, r.PathValue("sessionId"))
	if err != nil {
		return err
	}
	req, retry, err := decode[forkRequest](r)
	if err != nil {
		return err
	}
	fork := abi.ForkSessionRequest{Name: req.NewName}
	if req.FromMessageID != "" {
		if fork.AtEventID, err = a.eventOf(r, from.ID, req.FromMessageID); err != nil {
			return err
		}
	}
	made, err := a.core.ForkSession(r.Context(), r.Caller, retry, from.ID, fork)
	if err != nil {
		return err
	}
	s, err := as[abi.Session](made)
	if err != nil {
		return err
	}
	shown, err := a.shownSession(r, h, &s)
	if err != nil {
		return err
	}
	return sent(r, statusCreated, made, sessionAnswer{Session: shown, ConnectURL: a.connectURL(r, h, s.ID), ForkedFrom: from.ID, MessageCount: &shown.MessageCount})
}

// eventOf returns the event by which a Session got a Message, and after it what the tools that the
// Message called have answered.
func (a *Adapter) eventOf(r *gateway.Request, sessionID, message string) (string, error) {
	at := ""
	for after, more := api.Cursor(0), true; more; {
		var events []*api.Event
		var err error
		if events, more, err = a.core.Events(r.Context(), r.Caller, api.Filter{SessionID: sessionID}, after, 500); err != nil {
			return "", err
		}
		for _, ev := range events {
			after = ev.At
			if ev.Resource.Object != abi.ObjectMessage {
				continue
			}
			switch {
			case ev.Resource.ID == message:
				at = ev.At.String()
			case at != "" && ev.Kind == abi.EventSessionMessageAppended: // of a tool
				at = ev.At.String()
			case at != "":
				return at, nil
			}
		}
	}
	if at == "" {
		return "", abi.InvalidParam("from_message_id", "the session has no message %q of its own", message)
	}
	return at, nil
}

// message is a message of a session.
type message struct {
	ID        string        `json:"id"`
	Role      string        `json:"role"`
	Content   string        `json:"content"`
	ToolCalls []messageTool `json:"tool_calls,omitzero"`
	CreatedAt abi.Time      `json:"created_at"`
}

func (a *Adapter) history(r *gateway.Request, h *abi.Harness) error {
	s, err := a.sessionOf(r, h, r.PathValue("sessionId"))
	if err != nil {
		return err
	}
	since, err := sinceOf(r)
	if err != nil {
		return err
	}
	all, err := a.messagesOf(r, s.ID, since)
	if err != nil {
		return err
	}
	return page(r, all, "messages")
}

// messagesOf returns the messages of a Session as the protocol has them: what tools have answered
// belongs to the message that has called them.
func (a *Adapter) messagesOf(r *gateway.Request, id string, since time.Time) ([]message, error) {
	var f folder
	_, err := gather(func(p api.Page) (api.List, error) {
		return a.core.Messages(r.Context(), r.Caller, id, p)
	}, func(view api.View) (struct{}, bool, error) {
		m, err := as[abi.Message](view)
		if err == nil {
			f.add(&m)
		}
		return struct{}{}, true, err
	})
	if err != nil || since.IsZero() {
		return f.all, err
	}
	var some []message
	for _, m := range f.all {
		if m.CreatedAt.After(since) {
			some = append(some, m)
		}
	}
	return some, nil
}

type messageRequest struct {
	Content     string                  `json:"content"`
	Credentials *abi.HarnessCredentials `json:"harness_credentials"` // refused: what is hosted has no sessions here
}

// exchange is a message and its answer; of one that is still being written, where it is streamed.
type exchange struct {
	Message     *message `json:"message"`
	Response    *message `json:"response,omitzero"`
	ExecutionID string   `json:"execution_id"`
	StreamURL   string   `json:"stream_url,omitzero"`
}

// say sends a message in a session: a Task that begins when those before it have ended.
func (a *Adapter) say(r *gateway.Request, h *abi.Harness) (*abi.Session, api.View, error) {
	s, err := a.sessionOf(r, h, r.PathValue("sessionId"))
	if err != nil {
		return nil, api.View{}, err
	}
	req, retry, err := decode[messageRequest](r)
	if err == nil {
		err = a.takesWork(h)
	}
	if err == nil {
		err = checkText("content", req.Content, maxMessage)
	}
	if err != nil {
		return nil, api.View{}, err
	}
	made, err := a.sayIn(r.Context(), r.Caller, retry, s.ID, req)
	return s, made, err
}

func (a *Adapter) sayIn(ctx context.Context, c *api.Caller, retry *api.Write, sessionID string, req messageRequest) (api.View, error) {
	input, err := userMessage(req.Content)
	if err != nil {
		return api.View{}, err
	}
	return a.core.SubmitTask(ctx, c, retry, abi.SubmitTaskRequest{SessionID: sessionID, Input: input, InTurn: true, Credentials: req.Credentials})
}

func (a *Adapter) sendMessage(r *gateway.Request, h *abi.Harness) error {
	s, made, err := a.say(r, h)
	if err != nil {
		return err
	}
	t, err := a.wait(r, made.ID)
	if err != nil {
		return err
	}
	both := exchange{ExecutionID: t.ID}
	all, err := a.messagesOf(r, s.ID, time.Time{})
	if err != nil {
		return err
	}
	for i := range all {
		if all[i].ID == t.InputMessageID {
			both.Message = &all[i]
		}
	}
	r.SetHeader("X-Execution-ID", t.ID)
	if !t.Status.Terminal() {
		both.StreamURL = executionPath(h, t.ID) + "/stream"
		return sent(r, statusAccepted, made, &both)
	}
	if both.Response, err = a.responseOf(r, t); err != nil {
		return err
	}
	return sent(r, statusOK, made, &both)
}

// responseOf returns all that a Task has said as one message.
func (a *Adapter) responseOf(r *gateway.Request, t *abi.Task) (*message, error) {
	result, err := a.resultOf(r, t)
	if err != nil {
		return nil, err
	}
	m := &message{ID: t.ID, Role: "assistant", Content: result.Output, CreatedAt: result.CompletedAt}
	if result.Error != nil && m.Content == "" {
		m.Content = result.Error.Message
	}
	view, err := a.core.Get(r.Context(), r.Caller, abi.ObjectOutcome, t.OutcomeID)
	if err != nil {
		return nil, err
	}
	o, err := as[abi.Outcome](view)
	if err != nil {
		return nil, err
	}
	var f folder
	for _, text := range o.Messages {
		said, err := as[abi.Message](api.View{JSON: text})
		if err != nil {
			return nil, err
		}
		f.add(&said)
	}
	for _, one := range f.all {
		m.ID, m.ToolCalls = one.ID, append(m.ToolCalls, one.ToolCalls...)
	}
	return m, nil
}

func (a *Adapter) messageStream(r *gateway.Request, h *abi.Harness) error {
	return a.beginStream(r, h, func(r *gateway.Request, h *abi.Harness) (api.View, error) {
		_, made, err := a.say(r, h)
		return made, err
	})
}

// messageTool is a tool call of a message.
type messageTool struct {
	ID     string         `json:"id"`
	Name   string         `json:"name"`
	Input  jsontext.Value `json:"input"`
	Output jsontext.Value `json:"output,omitzero"`
	Status string         `json:"status"`
}

// folder folds a transcript into the messages of the protocol.
type folder struct {
	all  []message
	open map[string]place // tool calls without an answer
}

// place is a tool call of a message.
type place struct{ message, call int }

func (f *folder) add(m *abi.Message) {
	if m.Role == abi.RoleTool {
		f.fold(m)
		return
	}
	one := message{ID: m.ID, Role: string(m.Role), Content: mapper.WordsOf(m), CreatedAt: m.CreatedAt}
	if m.Role == abi.RoleAgent {
		one.Role = "assistant"
	}
	for _, p := range m.Parts {
		if p.Type != "tool_call" {
			continue
		}
		if f.open == nil {
			f.open = map[string]place{}
		}
		f.open[p.ToolCallID] = place{len(f.all), len(one.ToolCalls)}
		one.ToolCalls = append(one.ToolCalls, messageTool{ID: p.ToolCallID, Name: p.Name, Input: mapper.InputOf(p.Input), Status: "completed"})
	}
	f.all = append(f.all, one)
}

// fold adds what a tool has answered to the call.
func (f *folder) fold(m *abi.Message) {
	for _, p := range m.Parts {
		at, ok := f.open[p.ToolCallID]
		if p.Type != "tool_result" || !ok {
			continue
		}
		delete(f.open, p.ToolCallID)
		call := &f.all[at.message].ToolCalls[at.call]
		if call.Output = mapper.ObjectOf(p.Output); p.Status == "error" {
			call.Status = "failed"
		}
	}
}
