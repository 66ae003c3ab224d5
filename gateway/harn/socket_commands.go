package harn

import (
	"context"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/abi/jsonw"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/gateway/api"
)

// head is what every command has.
type head struct {
	Type           string `json:"type"`
	ID             string `json:"id,omitzero"`
	IdempotencyKey string `json:"idempotency_key,omitzero"`
}

// maxFrameID is the longest id of a command.
const maxFrameID = 128

// request is a command that is being performed.
type request struct {
	head
	socket *socket
	caller *api.Caller
	frame  []byte
}

func (q *request) context() context.Context { return q.socket.ws.Context() }

// long does what takes long if the frame is large.
func (q *request) long(work func() error) error {
	s := q.socket
	return s.adapter.cfg.Turns.DoFor(q.context(), s.number, len(q.frame), work)
}

// command is what a client may ask for. do returns the frame to answer with, nil
// when it has answered itself.
type command struct {
	name  string
	scope string // what the caller must have
	takes schema // the members of its frame, besides those of head
	// keyed commands honour idempotency_key.
	keyed bool
	do    func(*request) ([]byte, error)
}

// does returns the command that hands over the members of its frame as a T.
func does[T any](name, scope, doc string, do func(*request, *T) ([]byte, error), aspects ...aspect) command {
	return command{name: name, scope: scope, takes: of[T](doc, aspects...), do: on(do)}
}

// once makes it one that honours idempotency_key.
func (c command) once() command {
	c.keyed = true
	return c
}

// maxUnread is how many frames in a row may be no command at all.
const maxUnread = 16

// perform does one command. Its error ends the socket.
func (s *socket) perform(frame []byte) error {
	q := &request{socket: s, frame: frame}
	if err := q.read(); err != nil {
		s.unread++
		if s.unread >= maxUnread {
			return s.ws.Close(gateway.CloseBadFrames, "too many frames that are no commands")
		}
		return s.ws.Send(s.errorFrame(q.ID, s.ws.Shown(err)))
	}
	s.unread = 0
	var err error
	if q.caller, err = s.authenticate(); err != nil {
		return err
	}
	q.caller = q.caller.As(s.liveClient())
	answer, err := q.perform()
	if err != nil {
		answer = s.errorFrame(q.ID, s.ws.Shown(err))
	}
	if answer == nil {
		return nil
	}
	return s.ws.Send(answer)
}

// read reads the head of a frame.
func (q *request) read() error {
	var h head
	if err := q.long(func() error { return q.socket.ws.Decode(q.frame, &h, false) }); err != nil {
		return err
	}
	switch {
	case len(h.ID) > maxFrameID:
		return abi.InvalidParam("id", "id has at most %d bytes", maxFrameID)
	case len(h.IdempotencyKey) > 255:
		return abi.InvalidParam("idempotency_key", "idempotency_key has 1 to 255 characters")
	}
	q.head = h
	if h.Type == "" {
		return abi.InvalidParam("type", "a frame needs a type")
	}
	return nil
}

func (q *request) perform() ([]byte, error) {
	c := q.socket.adapter.commands[q.Type]
	if c == nil {
		return nil, abi.InvalidParam("type", "there is no command %q", q.Type)
	}
	if q.IdempotencyKey != "" && !c.keyed {
		return nil, abi.InvalidParam("idempotency_key", "%s takes no idempotency_key: doing it again changes nothing", q.Type)
	}
	if err := gateway.Require(q.caller, c.scope); err != nil {
		return nil, err
	}
	return c.do(q)
}

// framed is a command's frame as it is read.
type framed[T any] struct {
	Head head `json:",embed"`
	Body T    `json:",embed"`
}

// on reads the members of a command.
func on[T any](do func(*request, *T) ([]byte, error)) func(*request) ([]byte, error) {
	return func(q *request) ([]byte, error) {
		var f framed[T]
		if err := q.long(func() error { return q.socket.ws.Decode(q.frame, &f, true) }); err != nil {
			return nil, err
		}
		return do(q, &f.Body)
	}
}

// sent answers with a resource.
func (q *request) sent(doc api.View, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	return ack(q.ID, doc.JSON, doc.Replayed), nil
}

// path joins the segments of a path; ids are data.
func path(segments ...string) string {
	joined := "/v1"
	for _, s := range segments {
		joined += "/" + s
	}
	return joined
}

// retry returns the identity of the write for its idempotency_key, nil for one
// without. It is that of the request over REST that does the same, whose body is the
// frame without its head and the id in the path: a write that was begun on one
// transport can be retried on the other.
func (q *request) retry(target, inPath string) (*api.Write, error) {
	if q.IdempotencyKey == "" {
		return nil, nil
	}
	members := map[string]jsontext.Value{}
	if err := json.Unmarshal(q.frame, &members); err != nil {
		return nil, err
	}
	for _, name := range []string{"type", "id", "idempotency_key", inPath} {
		delete(members, name)
	}
	if kind := taskMessageKinds[q.Type]; kind != "" && inPath == "task_id" {
		members["kind"] = jsonw.String(nil, kind)
	}
	var body []byte
	if len(members) > 0 {
		var err error
		if body, err = json.Marshal(members, json.Deterministic(true)); err != nil {
			return nil, err
		}
	}
	w := &api.Write{Key: q.IdempotencyKey, Scope: "POST " + target}
	err := q.long(func() error { w.Fingerprint = api.Fingerprint(body); return nil })
	return w, err
}

// taskMessageKinds says of commands that send a Message to a Task of which kind that
// is, which over REST the body says.
var taskMessageKinds = map[string]abi.TaskMessageKind{
	"input": abi.TaskMessageInput, "authorization": abi.TaskMessageInput, "approval": abi.TaskMessageToolConfirmation,
}

// sessionOr returns the Session that a command is about.
func (q *request) sessionOr(id string) (string, error) {
	if id == "" {
		id = q.socket.session
	}
	if id == "" {
		return "", abi.InvalidParam("session_id", "session_id is needed: this socket is not that of a Session")
	}
	return id, nil
}

// taskOr returns the Task that a command is about.
func (q *request) taskOr(id string) (string, error) {
	if id == "" {
		id = q.socket.filter.TaskID
	}
	if id == "" {
		return "", abi.InvalidParam("task_id", "task_id is needed")
	}
	return id, nil
}

// The members of commands that are not those of a request over REST.
type (
	messageCommand struct {
		SessionID string            `json:"session_id,omitzero" doc:"Default: that of the socket."`
		Message   *abi.MessageInput `json:"message"`
	}
	truncateCommand struct {
		SessionID string                     `json:"session_id,omitzero" doc:"Default: that of the socket."`
		Request   abi.TruncateSessionRequest `json:",embed"`
	}
	cancelCommand struct {
		TaskID  string                `json:"task_id,omitzero" doc:"Default: that of the socket."`
		Request abi.CancelTaskRequest `json:",embed"`
	}
	sessionCommand struct {
		SessionID string `json:"session_id,omitzero" doc:"Default: that of the socket."`
	}
	taskCommand struct {
		TaskID string `json:"task_id,omitzero" doc:"Default: that of the socket."`
	}
	answerCommand struct {
		RequestID string            `json:"request_id,omitzero" doc:"The permission request that is answered; without it, what the Task waits for is."`
		TaskID    string            `json:"task_id,omitzero" doc:"Default: that of the socket."`
		Message   *abi.MessageInput `json:"message"`
	}
	approvalCommand struct {
		RequestID string         `json:"request_id,omitzero" doc:"The permission request that is answered; without it, what the Task waits for is."`
		TaskID    string         `json:"task_id,omitzero" doc:"Default: that of the socket."`
		Decision  string         `json:"decision" enum:"approved,denied"`
		Reason    string         `json:"reason,omitzero"`
		Arguments jsontext.Value `json:"arguments,omitzero" doc:"With what it is to be done, when the approver changes that."`
	}
	cursorCommand struct {
		AfterEventID string `json:"after_event_id,omitzero"`
	}
	nothing struct{}
)

func (a *Adapter) sendMessage(q *request, b *messageCommand) ([]byte, error) {
	session, err := q.sessionOr(b.SessionID)
	if err != nil {
		return nil, err
	}
	retry, err := q.retry(path("sessions", session, "messages"), "session_id")
	if err != nil {
		return nil, err
	}
	return q.sent(a.core.AppendMessage(q.context(), q.caller, retry, session, abi.AppendMessageRequest{Message: b.Message}))
}

func (a *Adapter) sendTask(q *request, b *abi.SubmitTaskRequest) ([]byte, error) {
	if b.Session != nil { // it is of no Session that is there, and so not of the socket's
		retry, err := q.retry(path("tasks"), "")
		if err != nil {
			return nil, err
		}
		return q.sent(a.core.SubmitTask(q.context(), q.caller, retry, *b))
	}
	session, err := q.sessionOr(b.SessionID)
	if err != nil {
		return nil, err
	}
	retry, err := q.retry(path("sessions", session, "tasks"), "session_id")
	if err != nil {
		return nil, err
	}
	b.SessionID = session
	return q.sent(a.core.SubmitTask(q.context(), q.caller, retry, *b))
}

func (a *Adapter) sendCancel(q *request, b *cancelCommand) ([]byte, error) {
	task, err := q.taskOr(b.TaskID)
	if err != nil {
		return nil, err
	}
	retry, err := q.retry(path("tasks", task, "cancel"), "task_id")
	if err != nil {
		return nil, err
	}
	return q.sent(a.core.CancelTask(q.context(), q.caller, retry, task, b.Request))
}

func (a *Adapter) sendTruncate(q *request, b *truncateCommand) ([]byte, error) {
	session, err := q.sessionOr(b.SessionID)
	if err != nil {
		return nil, err
	}
	retry, err := q.retry(path("sessions", session, "truncate"), "session_id")
	if err != nil {
		return nil, err
	}
	return q.sent(a.core.TruncateSession(q.context(), q.caller, retry, session, b.Request))
}

func (a *Adapter) showSession(q *request, b *sessionCommand) ([]byte, error) {
	session, err := q.sessionOr(b.SessionID)
	if err != nil {
		return nil, err
	}
	return q.sent(a.core.Get(q.context(), q.caller, abi.ObjectSession, session))
}

func (a *Adapter) showTask(q *request, b *taskCommand) ([]byte, error) {
	task, err := q.taskOr(b.TaskID)
	if err != nil {
		return nil, err
	}
	return q.sent(a.core.Get(q.context(), q.caller, abi.ObjectTask, task))
}

// sendAnswer brings a Task the input or the authorization that it waits for.
func (a *Adapter) sendAnswer(q *request, b *answerCommand) ([]byte, error) {
	if b.RequestID != "" {
		return a.respond(q, b.RequestID, abi.RespondRequest{Message: b.Message})
	}
	return a.answerTask(q, b.TaskID, abi.AppendTaskMessageRequest{Kind: taskMessageKinds[q.Type], Message: b.Message})
}

// sendApproval brings a Task the decision that it waits for.
func (a *Adapter) sendApproval(q *request, b *approvalCommand) ([]byte, error) {
	decision := abi.RespondRequest{Decision: b.Decision, Reason: b.Reason, Arguments: b.Arguments}
	if b.RequestID != "" {
		return a.respond(q, b.RequestID, decision)
	}
	value, err := json.Marshal(decision)
	if err != nil {
		return nil, err
	}
	return a.answerTask(q, b.TaskID, abi.AppendTaskMessageRequest{Kind: taskMessageKinds[q.Type], Message: &abi.MessageInput{
		Role: abi.RoleUser, Parts: []abi.Part{{Type: abi.PartJSON, Value: value, Visibility: abi.VisibilityPublic}},
	}})
}

// respond answers a permission request.
func (a *Adapter) respond(q *request, id string, req abi.RespondRequest) ([]byte, error) {
	retry, err := q.retry(path("permission-requests", id, "respond"), "request_id")
	if err != nil {
		return nil, err
	}
	return q.sent(a.core.RespondPermission(q.context(), q.caller, retry, id, req))
}

// answerTask answers by a Message to the Task, which takes the scope for Messages, too.
func (a *Adapter) answerTask(q *request, task string, req abi.AppendTaskMessageRequest) ([]byte, error) {
	if err := gateway.Require(q.caller, "messages:write"); err != nil {
		return nil, err
	}
	task, err := q.taskOr(task)
	if err != nil {
		return nil, err
	}
	retry, err := q.retry(path("tasks", task, "messages"), "task_id")
	if err != nil {
		return nil, err
	}
	return q.sent(a.core.AppendTaskMessage(q.context(), q.caller, retry, task, req))
}

// subscribe begins the stream anew. It acknowledges before it does.
func (a *Adapter) subscribe(q *request, b *cursorCommand) ([]byte, error) {
	var after api.Cursor
	if b.AfterEventID != "" {
		var err error
		if after, err = a.parseEventID("after_event_id", b.AfterEventID); err != nil {
			return nil, err
		}
	}
	s := q.socket
	sub, err := a.core.Follow(q.context(), q.caller, s.filter, after)
	if err != nil {
		return nil, err
	}
	s.unfollow()
	if err := s.ws.Send(ack(q.ID, nil, false)); err != nil {
		sub.Close()
		return nil, nil // reading ends by itself
	}
	s.follow(sub, b.AfterEventID != "")
	return nil, nil
}

func (a *Adapter) resume(q *request, b *cursorCommand) ([]byte, error) {
	if b.AfterEventID == "" {
		return nil, abi.InvalidParam("after_event_id", "after_event_id is needed: resume goes on after an event")
	}
	return a.subscribe(q, b)
}

func pong(q *request, _ *nothing) ([]byte, error) {
	o := jsonw.Begin(nil)
	o.Text("type", "pong")
	o.Optional("id", q.ID)
	return o.End(), nil
}

// socketCommands lists what clients may ask for, as it is documented.
func (a *Adapter) socketCommands() []command {
	return append(a.inboxCommands(),
		does("message", "messages:write", "Append a Message to a Session.", a.sendMessage).once(),
		does("task.submit", "tasks:write", "Submit a Task. It is acknowledged as soon as it is durable.", a.sendTask, submitted(), says(map[string]string{
			"session_id": "Default: that of the socket, unless `session` is given."})).once(),
		does("task.cancel", "tasks:write", "Cancel a Task.", a.sendCancel, null("reason")).once(),
		does("task.get", "tasks:read", "Read a Task.", a.showTask),
		does("session.get", "sessions:read", "Read a Session.", a.showSession),
		does("session.truncate", "sessions:write", "Keep the first turns of a Session and drop the rest: how many, by one of three names.", a.sendTruncate,
			anyOfThem(turnNames()...)).once(),
		does("input", "tasks:write", "Answer a Task that waits for input.", a.sendAnswer).once(),
		does("authorization", "tasks:write", "Answer a Task that waits for authorization.", a.sendAnswer).once(),
		does("approval", "tasks:write", "Decide on what a Task wants to do; arguments, when they are changed.", a.sendApproval, anything("arguments")).once(),
		does("tools.register", "sessions:write", "Offer tools to the Tasks of the socket's Session, as the tools of the server `client`, in the place "+
			"of what was offered before.", a.registerTools, but(schema{"tools": listOf(of[clientTool]("A tool of the client."))})),
		does("tool.result", "sessions:write", "Answer a `tool.call`.", a.toolResult, anything("structured")),
		does("client.attach", "sessions:read", "Be a live client of a Session until the socket is closed: commands come from it then. To control the Session takes `sessions:write`.",
			a.attachClient, liveMembers()),
		does("client.takeover", "sessions:read", "Control a Session; a controller that there is becomes an observer. It takes `sessions:write`.", a.takeoverClient, liveMembers()),
		does("client.detach", "sessions:read", "Be a live client no more.", a.detachClient),
		does("client.heartbeat", "sessions:read", "Say that the client is there. A socket need not: as long as it is open, its client is there.", a.heartbeatClient, liveMembers()),
		does("subscribe", scopeEvents, "Begin the stream anew: after an event, or at the beginning of what is kept.", a.subscribe),
		does("resume", scopeEvents, "Begin the stream anew after an event. What had happened before is marked as replayed.", a.resume, always("after_event_id")),
		does("ping", "", "Ask for a pong.", pong),
	)
}

func byName(all []command) map[string]*command {
	named := make(map[string]*command, len(all))
	for i := range all {
		named[all[i].name] = &all[i]
	}
	return named
}
