package acp

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway/acp/shapes"
	"github.com/wharf-dev/wharf/gateway/api"
	"github.com/wharf-dev/wharf/gateway/jsonrpc"
)

// prompting runs turns.
func (a *Adapter) prompting() feature {
	return feature{
		"session/prompt": takes("tasks:write", a.prompt).own(),
		"session/cancel": takes("tasks:write", a.cancelTurn).own().notified(),
	}
}

type promptParams struct {
	named  `json:",inline"`
	Prompt jsontext.Value `json:"prompt"`
	Meta   struct {
		Harn struct {
			Again bool `json:"again"`
		} `json:"harn"`
	} `json:"_meta"`
}

func (p *promptParams) check() error {
	if p.Prompt == nil {
		return cmp.Or(p.named.check(), missing("prompt"))
	}
	return p.named.check()
}

// turns are the sessions in which a prompt is being answered, on whatever connection.
type turns struct {
	mu    sync.Mutex
	taken map[string]*turn
}

// turn is one prompt that is being answered. A client that has lost its connection asks again for the
// same one.
type turn struct {
	by      string
	holders int
}

// begin takes the turn of a session. free is false while another prompt has it.
func (t *turns) begin(session, by string) (release func(), free bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.taken[session]
	if now != nil && now.by != by {
		return nil, false
	}
	if now == nil {
		now = &turn{by: by}
		if t.taken == nil {
			t.taken = map[string]*turn{}
		}
		t.taken[session] = now
	}
	now.holders++
	return func() { t.end(session, now) }, true
}

func (t *turns) end(session string, of *turn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if of.holders--; of.holders == 0 {
		delete(t.taken, session)
	}
}

// errCalledOff is why a prompt's context ends that session/cancel has called off.
var errCalledOff = errors.New("the turn was called off")

// calledOff reports whether the client itself has called a prompt off, in either way.
func calledOff(ctx context.Context) bool {
	cause := context.Cause(ctx)
	return errors.Is(cause, errCalledOff) || errors.Is(cause, jsonrpc.ErrCanceled)
}

// prompted is a prompt from when it is read: what cancels it may come before it is handled.
type prompted struct {
	session string
	cancel  context.CancelCauseFunc
	done    chan struct{} // closed when it is handled
}

type promptedKey struct{}

type beginsKey struct{}

// arrives notes prompts in the order in which they come, and that initialize has come.
func (c *conn) arrives(ctx context.Context, r *jsonrpc.Request) context.Context {
	if r.Method == "initialize" {
		return c.begins(ctx)
	}
	if r.Method != "session/prompt" {
		return ctx
	}
	ctx, cancel := context.WithCancelCause(ctx)
	p := &prompted{sessionIn(r.Params), cancel, make(chan struct{})}
	c.mu.Lock()
	c.prompts[p] = struct{}{}
	c.mu.Unlock()
	return context.WithValue(ctx, promptedKey{}, p)
}

// sessionIn returns the session that params name, "" for none. It reads no further: what a prompt says may
// be large, and is read by who answers it.
func sessionIn(params jsontext.Value) string {
	d := jsontext.NewDecoder(bytes.NewReader(params))
	if t, err := d.ReadToken(); err != nil || t.Kind() != '{' {
		return ""
	}
	for d.PeekKind() == '"' {
		name, err := d.ReadToken()
		if err != nil {
			return ""
		}
		if name.String() != "sessionId" {
			if d.SkipValue() != nil {
				return ""
			}
			continue
		}
		id, err := d.ReadToken()
		if err != nil || id.Kind() != '"' {
			return ""
		}
		return id.String()
	}
	return ""
}

// begins notes that initialize is on its way: what comes after it waits for it, for requests are handled
// beside each other.
func (c *conn) begins(ctx context.Context) context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.said != nil {
		return ctx
	}
	c.begun = make(chan struct{})
	return context.WithValue(ctx, beginsKey{}, c.begun)
}

// initialized reports whether the connection is. It waits for an initialize that came before.
func (c *conn) initialized(ctx context.Context) bool {
	c.mu.Lock()
	begun, said := c.begun, c.said
	c.mu.Unlock()
	if said != nil || begun == nil {
		return said != nil
	}
	select {
	case <-begun:
	case <-ctx.Done():
	}
	return c.client() != nil
}

// answered forgets a prompt, and lets go on what waits for initialize.
func (c *conn) answered(ctx context.Context) {
	if begun, ok := ctx.Value(beginsKey{}).(chan struct{}); ok {
		close(begun)
	}
	p, ok := ctx.Value(promptedKey{}).(*prompted)
	if !ok {
		return
	}
	p.cancel(nil)
	close(p.done)
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.prompts, p)
}

// callOff calls off the prompts of a session, and returns them.
func (c *conn) callOff(session string) (off []*prompted) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for p := range c.prompts {
		if p.session == session {
			p.cancel(errCalledOff)
			off = append(off, p)
		}
	}
	return off
}

// cancelTurn calls off what runs in a session: the prompts of this connection, or, where it has none, what
// others have begun. What the client is asked is called off at once.
func (a *Adapter) cancelTurn(_ context.Context, q *request, p *named) (any, error) {
	c := q.conn
	o := c.session(p.SessionID)
	if o != nil {
		o.callOffQuestions()
	}
	if len(c.callOff(p.SessionID)) > 0 || o == nil {
		return nil, nil
	}
	caller := q.caller
	c.beside.Go(func() { // it waits for the disk, and this is the goroutine that reads
		caller, err := c.controlling(c.live, caller, o.id)
		if err == nil {
			err = a.cancelAll(c.live, caller, o.id)
		}
		if err != nil {
			a.shape(err) // it is logged: nobody reads an answer
		}
	})
	return nil, nil
}

// cancelTasks cancels Tasks, as far as they have not ended.
func (a *Adapter) cancelTasks(ctx context.Context, caller *api.Caller, ids []string) error {
	for _, id := range ids {
		_, err := a.core.CancelTask(ctx, caller, nil, id, abi.CancelTaskRequest{Reason: "the ACP client has called it off"})
		if is, ok := errors.AsType[*abi.Error](err); err != nil && (!ok || is.HTTPStatus() >= 500 || dataOf(is).Reason == notController) {
			return err
		}
	}
	return nil
}

// cancelAll cancels all that runs in a Session, whoever has begun it.
func (a *Adapter) cancelAll(ctx context.Context, caller *api.Caller, session string) error {
	var ids []string
	for _, status := range []abi.TaskStatus{abi.TaskSubmitted, abi.TaskWorking, abi.TaskInputRequired, abi.TaskAuthRequired} {
		list, err := a.core.List(ctx, caller, abi.ObjectTask, api.Filter{SessionID: session, Status: string(status)}, api.Page{Limit: 1000})
		if err != nil {
			return err
		}
		for _, v := range list.Views {
			ids = append(ids, v.ID)
		}
	}
	return a.cancelTasks(ctx, caller, ids)
}

// turnEnd answers a prompt.
type turnEnd struct {
	StopReason string   `json:"stopReason"`
	Meta       turnMeta `json:"_meta,omitzero"`
}

type turnMeta struct {
	Harn struct {
		TaskID string `json:"taskId,omitzero"`
	} `json:"harn,omitzero"`
}

// The reasons why a turn stops.
const (
	stopEndTurn     = "end_turn"
	stopMaxTokens   = "max_tokens"
	stopMaxRequests = "max_turn_requests"
	stopRefusal     = "refusal"
	stopCancelled   = "cancelled"
)

func stopped(reason, task string) *turnEnd {
	e := &turnEnd{StopReason: reason}
	e.Meta.Harn.TaskID = task
	return e
}

// prompt runs a turn: it submits a Task, or answers the one that waits, and answers when the client was
// told all of it.
func (a *Adapter) prompt(ctx context.Context, q *request, p *promptParams) (any, error) {
	o, err := a.openOn(ctx, q, p.SessionID)
	if err != nil {
		return nil, err
	}
	if !p.Meta.Harn.Again || o.madeBy(string(q.ID)) == "" {
		if q.caller, err = q.conn.controlling(ctx, q.caller, o.id); err != nil && !calledOff(ctx) {
			return nil, err
		}
	}
	release, free := a.turns.begin(o.id, q.conn.from()+" "+string(q.ID))
	if !free {
		return nil, errTurnTaken
	}
	defer release()
	if calledOff(ctx) {
		return stopped(stopCancelled, ""), nil
	}
	id, err := a.startTurn(ctx, q, o, p)
	if calledOff(ctx) && id == "" {
		return stopped(stopCancelled, ""), nil
	}
	if err != nil {
		return nil, err
	}
	defer o.forget(id)
	ended, err := o.await(ctx, id)
	if calledOff(ctx) {
		return a.callTaskOff(q, o, id)
	}
	if err != nil {
		return nil, err
	}
	if !ended {
		return stopped(stopEndTurn, id), nil // the next prompt answers it
	}
	return a.ended(ctx, q, o, id)
}

var errTurnTaken = abi.Errorf(abi.CodeConflict, "a turn of this session is being answered: one at a time")

// callTaskOff cancels the Task of a turn that was called off, and answers when it has ended, and what it
// had begun: that is known once its end was told.
func (a *Adapter) callTaskOff(q *request, o *opened, id string) (any, error) {
	o.callOffQuestions()
	ctx := q.conn.live
	for ids := []string{id}; len(ids) > 0; ids = o.below(id) {
		if err := a.cancelTasks(ctx, q.caller, ids); err != nil {
			return nil, err
		}
		for _, one := range ids {
			if _, err := o.await(ctx, one); err != nil {
				return nil, err
			}
		}
	}
	return stopped(stopCancelled, id), nil
}

// startTurn has a Task do what the client prompts for, and returns its id. Its end is expected.
func (a *Adapter) startTurn(ctx context.Context, q *request, o *opened, p *promptParams) (string, error) {
	by := string(q.ID)
	if p.Meta.Harn.Again {
		if id := o.expectAgain(by); id != "" {
			return id, nil
		}
	}
	said, err := shapes.Read("prompt", p.Prompt, shapes.Limits{Blocks: 10000, Bytes: int(a.cfg.UploadLimit)})
	if err != nil {
		return "", err
	}
	if asked := o.answerable(); asked != nil {
		return a.answerTask(ctx, q, o, p, asked, said)
	}
	if err := a.free(ctx, q, o); err != nil {
		return "", err
	}
	if err := a.keep(ctx, q, o, said); err != nil {
		return "", err
	}
	req := abi.SubmitTaskRequest{SessionID: o.id, Client: q.conn.taskClient()}
	if req.Input, err = q.message(said); err != nil {
		return "", err
	}
	if req.Metadata, err = q.metadata(""); err != nil {
		return "", err
	}
	if err := a.command(ctx, q, o, said, &req); err != nil {
		return "", err
	}
	made, err := a.core.SubmitTask(ctx, q.caller, q.promptRetry(p), req)
	if err != nil {
		return "", err
	}
	o.expect(made.ID)
	return made.ID, nil
}

// free refuses a turn while another runs. What the client was told may be behind: a Task that has ended
// meanwhile does not stand in the way of the next.
func (a *Adapter) free(ctx context.Context, q *request, o *opened) error {
	for _, id := range o.running() {
		v, err := a.core.Get(ctx, q.caller, abi.ObjectTask, id)
		if err != nil {
			return err
		}
		t, err := decoded[abi.Task](v)
		if err != nil {
			return err
		}
		if !t.Status.Terminal() {
			return errTurnTaken
		}
	}
	return nil
}

// madeBy returns the Task that a request of the client has led to; "" for none.
func (o *opened) madeBy(request string) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.made[request]
}

// promptRetry is what a prompt is known by which a pipe sends again.
func (q *request) promptRetry(p *promptParams) *api.Write {
	return q.retry(struct {
		SessionID string         `json:"sessionId"`
		Prompt    jsontext.Value `json:"prompt"`
	}{p.SessionID, p.Prompt})
}

// metadata is what a Task and its Message keep of the prompt that they come from.
func (q *request) metadata(skill string) (jsontext.Value, error) {
	var of struct {
		byWhom  `json:",inline"`
		SkillID string `json:"skill_id,omitzero"`
	}
	of.ACP.From, of.ACP.Request, of.SkillID = q.conn.from(), string(q.ID), skill
	return json.Marshal(&of, json.Deterministic(true))
}

// message is what the user has said, as a Message.
func (q *request) message(said *shapes.Content) (jsontext.Value, error) {
	in, err := q.messageInput(said)
	if err != nil {
		return nil, err
	}
	return json.Marshal(in, json.Deterministic(true))
}

func (q *request) messageInput(said *shapes.Content) (*abi.MessageInput, error) {
	metadata, err := q.metadata("")
	return &abi.MessageInput{Role: abi.RoleUser, Parts: said.Parts, Metadata: metadata}, err
}

// keep keeps images and the like as Artifacts.
func (a *Adapter) keep(ctx context.Context, q *request, o *opened, said *shapes.Content) error {
	if len(said.Files) == 0 {
		return nil
	}
	if err := q.may("artifacts:write"); err != nil {
		return err
	}
	for _, f := range said.Files {
		made, err := a.core.RegisterArtifact(ctx, q.caller, q.fileRetry(o.id, &f), abi.RegisterArtifactRequest{WorkspaceID: o.workspace, SessionID: o.id,
			Kind: f.Kind, Name: f.Name, MimeType: f.MimeType, Visibility: abi.VisibilityPublic}, strings.NewReader(string(f.Data)))
		if err != nil {
			return err
		}
		said.Parts[f.Part].ArtifactID = made.ID
	}
	return nil
}

// fileRetry is what a file of a request is known by which a pipe sends again: it is kept once.
func (q *request) fileRetry(session string, f *shapes.File) *api.Write {
	w := q.retry(struct {
		SessionID string `json:"sessionId"`
		Part      int    `json:"part"`
	}{session, f.Part}) // what it holds the node adds to that
	if w == nil {
		return nil
	}
	w.Key, w.Scope = clippedKey(fmt.Sprintf("acp:file %d:%s", f.Part, strings.TrimPrefix(w.Key, "acp:"))), w.Scope+" file"
	return w
}

// taskClient is what the client says of itself, as Tasks are told it.
func (c *conn) taskClient() *abi.TaskClient {
	said := c.client()
	of := &abi.TaskClient{Protocol: fmt.Sprintf("acp/%d", protocolVersion), Name: said.name, Version: said.version}
	if said.form {
		of.Capabilities = append(of.Capabilities, abi.ClientElicitsForm)
	}
	if said.url {
		of.Capabilities = append(of.Capabilities, abi.ClientElicitsURL)
	}
	return of
}

// answerTask gives what the user says to the Task that waits for it.
func (a *Adapter) answerTask(ctx context.Context, q *request, o *opened, p *promptParams, asked *question, said *shapes.Content) (string, error) {
	if err := a.keep(ctx, q, o, said); err != nil {
		return "", err
	}
	said.Parts = fitting(asked.Schema, said.Parts)
	m, err := q.messageInput(said)
	if err != nil {
		return "", err
	}
	o.expect(asked.TaskID) // it may have ended when the answer is durable
	if _, err := a.core.RespondPermission(ctx, q.caller, q.promptRetry(p), asked.ID, abi.RespondRequest{Message: m}); err != nil {
		o.forget(asked.TaskID)
		return "", err
	}
	o.answered(asked.ID)
	return asked.TaskID, nil
}

// fitting returns what the user has said to a question that wants a value: a text that is JSON is that
// value.
func fitting(schema jsontext.Value, parts []abi.Part) []abi.Part {
	if len(schema) == 0 || len(parts) != 1 || parts[0].Text == nil {
		return parts
	}
	value := jsontext.Value(strings.TrimSpace(*parts[0].Text))
	if len(value) == 0 || !value.IsValid() {
		return parts
	}
	return []abi.Part{{Type: abi.PartJSON, Value: value, Visibility: abi.VisibilityPublic}}
}

// ended answers a turn whose Task has ended.
func (a *Adapter) ended(ctx context.Context, q *request, o *opened, id string) (any, error) {
	end, known := o.endOf(id)
	if !known { // it was asked for twice, and the other one was answered first
		var err error
		if end, err = a.readEnd(ctx, q, id); err != nil {
			return nil, err
		}
	}
	switch {
	case end.canceled:
		return stopped(stopCancelled, id), nil
	case end.failure == nil:
		return stopped(cmp.Or(end.stop, stopEndTurn), id), nil
	}
	if reason := stopOfFailure(end.failure); reason != "" {
		return stopped(reason, id), nil
	}
	return nil, failed(id, end.failure)
}

// readEnd reads how a Task has ended.
func (a *Adapter) readEnd(ctx context.Context, q *request, id string) (end taskEnd, err error) {
	v, err := a.core.Get(ctx, q.caller, abi.ObjectTask, id)
	if err != nil {
		return end, err
	}
	t, err := decoded[abi.Task](v)
	if err != nil {
		return end, err
	}
	end.canceled, end.failure = t.Status == abi.TaskCanceled, t.Failure
	if v, err = a.core.Get(ctx, q.caller, abi.ObjectOutcome, t.OutcomeID); err != nil {
		return end, nil // it has ended well, whatever it has resulted in
	}
	out, err := decoded[abi.Outcome](v)
	if err == nil {
		end.stop = stopOf(out.StopReason, out.Summary)
	}
	return end, nil
}

// stopOfFailure returns the reason that stands for a failure; "" for one that is an error.
func stopOfFailure(f *abi.Failure) string {
	switch {
	case f.Code == "model_refused":
		return stopRefusal
	case f.Code != abi.FailureBudget:
		return ""
	}
	switch limitOf(f) {
	case "max_turns", "max_tool_calls":
		return stopMaxRequests
	case "max_tokens":
		return stopMaxTokens
	}
	return "" // it was the host's
}

// limitOf returns the setting by which an agent has spent its budget; "" for none. Agents that give no details
// have said it in the message alone.
func limitOf(f *abi.Failure) string {
	var of struct {
		Limit string `json:"limit"`
	}
	if json.Unmarshal(f.Details, &of) == nil && of.Limit != "" {
		return of.Limit
	}
	_, said, _ := strings.Cut(f.Message, "(")
	limit, _, _ := strings.Cut(said, " is ")
	return limit
}

// cutOff begins the summary of an agent whose model was cut off in its last answer, and which says that in no
// other way: as those of before the outcome had a stop reason.
const cutOff = "(cut off) "

// stopOf returns the reason that stands for how a Task has ended well.
func stopOf(reason abi.StopReason, summary string) string {
	switch {
	case reason == abi.StopRefusal:
		return stopRefusal
	case reason == abi.StopLength, reason == "" && strings.HasPrefix(summary, cutOff):
		return stopMaxTokens
	}
	return stopEndTurn
}

// failed is the error of a turn whose Task has failed.
func failed(task string, f *abi.Failure) error {
	e := jsonrpc.Errorf(jsonrpc.CodeInternal, "%s", f.Message)
	data, err := json.Marshal(struct {
		Error  *abi.Failure `json:"error"`
		TaskID string       `json:"task_id"`
	}{f, task}, json.Deterministic(true))
	if err == nil {
		e.Data = data
	}
	return e
}
