package openharness

import (
	"cmp"
	"context"
	"mime"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/abi/jsonw"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/gateway/api"
	"github.com/wharf-dev/wharf/gateway/openharness/mapper"
)

// Bounds of what is asked of an execution.
const (
	maxMessage = 100_000 // characters
	maxTokens  = 200_000
)

func (a *Adapter) executionRoutes() []gateway.Route {
	const reads, writes = "tasks:read", "tasks:write"
	run := post("execute", "execution.run", writes, "Execute something", statusAccepted, a.at(a.execute))
	streamed := post("execute/stream", "execution.stream", writes, "Execute something, and stream what is told of it", statusOK, a.at(a.executeStream))
	streamed.Media, streamed.Body = gateway.MediaEventStream, gateway.BodyOptionalJSON
	cancel := post("executions/{executionId}/cancel", "execution.cancel", writes, "Cancel an execution", statusOK, a.at(a.cancel))
	cancel.Body = gateway.BodyNone
	return []gateway.Route{
		run, streamed, cancel,
		read("executions", "execution.list", reads, "List executions, newest first", a.at(a.listExecutions)),
		read("executions/{executionId}", "execution.get", reads, "Get an execution", a.at(a.getExecution)),
		eventStream("executions/{executionId}/stream", "execution.attachStream", "events:read", "Stream what is told of an execution", a.at(a.attach)),
		read("executions/{executionId}/result", "execution.result", reads, "Get what an execution resulted in", a.at(a.result)),
		read("executions/{executionId}/artifacts", "execution.listArtifacts", reads, "List the artifacts of an execution", a.at(a.listArtifacts)),
		read("executions/{executionId}/artifacts/{artifactId}", "execution.downloadArtifact", "artifacts:read", "Download an artifact", a.at(a.downloadArtifact)),
		read("executions/{executionId}/tool-calls", "execution.listToolCalls", reads, "List the tool calls of an execution", a.at(a.listToolCalls)),
		post("executions/{executionId}/input", "execution.sendInput", writes, "Send input to an execution that waits", statusOK, a.at(a.sendInput)),
	}
}

// runRequest is what is to be executed.
type runRequest struct {
	Message      string   `json:"message"`
	AgentID      string   `json:"agent_id"`
	Skills       []string `json:"skills"`
	Model        string   `json:"model"`
	MaxTokens    *int     `json:"max_tokens"`
	Temperature  *float64 `json:"temperature"`
	SystemPrompt string   `json:"system_prompt"`
	SessionID    string   `json:"session_id"`
	// Credentials are what the server of a hosted harness is asked with this time.
	Credentials *abi.HarnessCredentials `json:"harness_credentials"`
}

// check checks what the protocol bounds.
func (q *runRequest) check(a *Adapter) error {
	if err := checkText("message", q.Message, maxMessage); err != nil {
		return err
	}
	if q.MaxTokens != nil && (*q.MaxTokens < 1 || *q.MaxTokens > maxTokens) {
		return abi.InvalidParam("max_tokens", "max_tokens is 1 to %d", maxTokens)
	}
	if q.Temperature != nil && !(*q.Temperature >= 0 && *q.Temperature <= 1) {
		return abi.InvalidParam("temperature", "temperature is 0 to 1")
	}
	return a.checkModel(q.Model)
}

// checkText holds a text to 1 and at most so many characters.
func checkText(param, text string, most int) error {
	if n := utf8.RuneCountInString(text); n < 1 || n > most {
		return abi.InvalidParam(param, "%s has 1 to %d characters", param, most)
	}
	return nil
}

// aliases are names of models that the protocol's clients use everywhere. A node that has none of
// the name asks its default.
var aliases = []string{"sonnet", "opus", "haiku"}

// modelFor returns the model that is asked where a client names one; "" is the default.
func (a *Adapter) modelFor(name string) string {
	if slices.Contains(a.has.Models, name) {
		return name
	}
	if meant := a.has.ModelNames[name]; meant != "" {
		return meant
	}
	if a.has.Models != nil && slices.Contains(aliases, name) {
		return ""
	}
	return name
}

// checkModel refuses a model that the node does not have.
func (a *Adapter) checkModel(name string) error {
	if name = a.modelFor(name); name == "" || a.has.Models == nil || slices.Contains(a.has.Models, name) {
		return nil
	}
	err := coded(codeModel, 400, "there is no model %q here", name)
	if len(a.has.Models) > 0 {
		err.Message += "; there are " + strings.Join(a.has.Models, ", ")
	}
	err.Param = "model"
	return err
}

// submits describes the Task that an execution is. Without a session it gets a hidden one, in the
// same write.
func (q *runRequest) submits(a *Adapter, h *abi.Harness) (abi.SubmitTaskRequest, error) {
	input, err := userMessage(q.Message)
	if err != nil {
		return abi.SubmitTaskRequest{}, err
	}
	req := abi.SubmitTaskRequest{Input: input, PersonaID: q.AgentID, SessionID: q.SessionID, InTurn: q.SessionID != "", Credentials: q.Credentials,
		Run: &abi.RunOptions{Model: a.modelFor(q.Model), Temperature: q.Temperature, Context: q.SystemPrompt, Skills: q.Skills}}
	if q.MaxTokens != nil {
		req.Run.MaxTokens = *q.MaxTokens
	}
	if q.SessionID == "" {
		req.PersonaID = cmp.Or(q.AgentID, h.PersonaID)
		req.Session = &abi.TaskSession{CreateSessionRequest: abi.CreateSessionRequest{WorkspaceID: h.WorkspaceID, PersonaID: req.PersonaID}, Hidden: true}
	}
	return req, nil
}

// userMessage is a text as the input of a Task.
func userMessage(text string) (jsontext.Value, error) {
	return json.Marshal(&abi.MessageInput{Role: abi.RoleUser, Parts: []abi.Part{{Type: "text", Text: &text}}})
}

// submit begins an execution.
func (a *Adapter) submit(r *gateway.Request, h *abi.Harness) (api.View, error) {
	req, retry, err := decode[runRequest](r)
	if err == nil {
		err = req.check(a)
	}
	if err == nil {
		err = a.takesWork(h)
	}
	if err != nil {
		return api.View{}, err
	}
	if req.SessionID != "" {
		if _, err := a.sessionOf(r, h, req.SessionID); err != nil {
			return api.View{}, err
		}
	}
	task, err := req.submits(a, h)
	if err != nil {
		return api.View{}, err
	}
	made, err := a.core.SubmitTask(r.Context(), r.Caller, retry, task)
	return made, named(err)
}

// named says of what is wrong with a Task by which member of the protocol it was asked for.
func named(err error) error {
	wrong, ok := err.(*abi.Error)
	if !ok || wrong.Param == "" {
		return err
	}
	shown := *wrong
	shown.Param = strings.TrimPrefix(strings.TrimPrefix(shown.Param, "run."), "session.")
	switch shown.Param {
	case "context":
		shown.Param = "system_prompt"
	case "persona_id":
		shown.Param = "agent_id"
	}
	return &shown
}

// takesWork refuses work for a harness that takes none.
func (a *Adapter) takesWork(h *abi.Harness) error {
	switch {
	case h.Kind == abi.HarnessIDE:
		return coded(codeUnsupported, 501, "the harness %q is one of an editor: it runs nothing here", h.Name)
	case h.Status != abi.HarnessActive && h.Status != abi.HarnessBeta:
		return abi.Errorf(abi.CodeConflict, "the harness %q is %s: it takes no work", h.Name, h.Status)
	}
	return nil
}

type runAnswer struct {
	ExecutionID string `json:"execution_id"`
	Status      string `json:"status"`
	StreamURL   string `json:"stream_url"`
}

func (a *Adapter) execute(r *gateway.Request, h *abi.Harness) error {
	made, err := a.submit(r, h)
	if err != nil {
		return err
	}
	at := executionPath(h, made.ID)
	r.SetHeader("Location", at)
	r.SetHeader("X-Execution-ID", made.ID)
	return sent(r, statusAccepted, made, runAnswer{made.ID, "pending", at + "/stream"})
}

func executionPath(h *abi.Harness, id string) string {
	return prefix + "/" + h.Name + "/executions/" + id
}

func (a *Adapter) executeStream(r *gateway.Request, h *abi.Harness) error {
	return a.beginStream(r, h, a.submit)
}

// beginStream begins an execution and streams it, or goes on with one that the client has begun
// before: it never begins a second one for a client that has lost its connection.
func (a *Adapter) beginStream(r *gateway.Request, h *abi.Harness, begin func(*gateway.Request, *abi.Harness) (api.View, error)) error {
	id := r.Header("X-Execution-ID")
	if last := r.Header("Last-Event-ID"); id == "" && last != "" {
		after, _, err := resumeAt(r, 0)
		if err != nil {
			return err
		}
		ev, err := a.core.Event(r.Context(), r.Caller, after)
		if err != nil {
			return err
		}
		if id = taskOf(ev); id == "" {
			return abi.InvalidParam("Last-Event-ID", "%q is no id of an event of an execution", last)
		}
	}
	if id == "" {
		made, err := begin(r, h)
		if err != nil {
			return err
		}
		id = made.ID
	}
	r.SetHeader("X-Execution-ID", id)
	return a.follow(r, h, id)
}

// wait waits for the end of an execution as long as a request may wait, and returns how its Task is
// then.
func (a *Adapter) wait(r *gateway.Request, id string) (*abi.Task, error) {
	var t abi.Task
	err := r.Await(a.cfg.WaitLimit, func(ctx context.Context) (bool, error) {
		view, err := a.core.WaitTask(ctx, r.Caller, id)
		if err == nil {
			t, err = as[abi.Task](view)
		}
		return t.Status.Terminal(), err
	})
	return &t, err
}

// taskOf returns the Task that an event belongs to.
func taskOf(ev *api.Event) string {
	var of struct {
		TaskID string `json:"task_id"`
	}
	_ = json.Unmarshal(ev.AppendJSON(nil, false), &of) // it was written by the node itself
	return of.TaskID
}

// attach streams an execution from its beginning, or after the last event that the client has seen.
func (a *Adapter) attach(r *gateway.Request, h *abi.Harness) error {
	return a.follow(r, h, r.PathValue("executionId"))
}

func (a *Adapter) follow(r *gateway.Request, h *abi.Harness, id string) error {
	t, err := a.taskIn(r, h, id)
	if err != nil {
		return err
	}
	after, n, err := resumeAt(r, 0)
	if err != nil {
		return err
	}
	if after != 0 && t.Status.Terminal() {
		left, _, err := a.core.Events(r.Context(), r.Caller, api.Filter{TaskID: id}, after, 1)
		if err == nil && len(left) == 0 {
			return empty(r) // an EventSource comes back no more
		}
	}
	first, _, err := a.core.Events(r.Context(), r.Caller, api.Filter{TaskID: id}, 0, 2)
	if err != nil {
		return err
	}
	if !begins(first) {
		return abi.Errorf(abi.CodeCursorExpired, "the beginning of this execution is not kept any more: read its result")
	}
	return a.stream(r, api.Filter{TaskID: id}, 0, &told{events: &a.events, after: after, n: n})
}

// begins reports whether events are the first of a Task.
func begins(events []*api.Event) bool {
	return slices.ContainsFunc(events, func(ev *api.Event) bool { return ev.Kind == abi.EventTaskSubmitted })
}

// told streams an execution. Its events are mapped from the first on, so that a client that resumes
// is told the rest as if it had never left.
type told struct {
	events *eventCache
	mapper mapper.Mapper
	after  api.Cursor // what the client has seen
	n      int
}

func (t *told) tell(b []byte, ev *api.Event) ([]byte, bool) {
	for i, one := range t.mapper.Tell(t.events.read(ev)) {
		if ev.At < t.after || ev.At == t.after && i <= t.n {
			continue
		}
		b = frame(b, eventID(ev.At, i), one.Type, appendTold(nil, &one))
	}
	return b, t.mapper.Over()
}

// appendTold writes what is told. Of texts there are many, so that they are written by hand.
func appendTold(b []byte, one *mapper.Told) []byte {
	if one.Type != mapper.Text {
		return appendJSON(b, one)
	}
	o := jsonw.Begin(b)
	o.Text("type", one.Type)
	o.Optional("content", one.Content)
	return o.End()
}

// eventID names what is told of an event: the n-th.
func eventID(at api.Cursor, n int) string {
	if n == 0 {
		return at.String()
	}
	return at.String() + "." + strconv.Itoa(n)
}

// taskIn returns a Task of a harness.
func (a *Adapter) taskIn(r *gateway.Request, h *abi.Harness, id string) (*abi.Task, error) {
	view, err := a.core.Get(r.Context(), r.Caller, abi.ObjectTask, id)
	if err != nil {
		return nil, err
	}
	t, err := as[abi.Task](view)
	if err == nil && t.WorkspaceID != h.WorkspaceID {
		return nil, abi.NotFound(abi.ObjectTask, id)
	}
	return &t, err
}

// execution is an execution as the protocol shows it.
type execution struct {
	ID             string             `json:"id"`
	HarnessID      string             `json:"harness_id"`
	AgentID        string             `json:"agent_id,omitzero"`
	SessionID      string             `json:"session_id,omitzero"`
	Status         string             `json:"status"`
	Progress       *executionProgress `json:"progress,omitzero"`
	Waiting        *mapper.Waiting    `json:"waiting,omitzero"`
	StartedAt      abi.Time           `json:"started_at"`
	CompletedAt    abi.Time           `json:"completed_at,omitzero"`
	ArtifactsCount int                `json:"artifacts_count"`
}

type executionProgress struct {
	Percentage     float64 `json:"percentage"`
	CurrentStep    string  `json:"current_step,omitzero"`
	StepsCompleted int     `json:"steps_completed"`
	StepsTotal     int     `json:"steps_total"`
}

// statusOf returns the protocol's word for the status of a Task.
func statusOf(s abi.TaskStatus) string {
	switch s {
	case abi.TaskSubmitted:
		return "pending"
	case abi.TaskCompleted:
		return "completed"
	case abi.TaskFailed:
		return "failed"
	case abi.TaskCanceled:
		return "cancelled"
	}
	return "running"
}

func (a *Adapter) executionOf(r *gateway.Request, h *abi.Harness, t *abi.Task) (execution, error) {
	made, err := a.core.List(r.Context(), r.Caller, abi.ObjectArtifact, api.Filter{TaskID: t.ID}, api.Page{Limit: 1, Total: true})
	if err != nil {
		return execution{}, err
	}
	e := execution{ID: t.ID, HarnessID: h.Name, AgentID: t.PersonaID, SessionID: t.SessionID, Status: statusOf(t.Status),
		StartedAt: t.StartedAt, CompletedAt: later(t.CompletedAt, t.CanceledAt), ArtifactsCount: made.Total}
	if e.StartedAt.IsZero() {
		e.StartedAt = t.CreatedAt
	}
	if w := t.Waiting; w != nil && (t.Status == abi.TaskInputRequired || t.Status == abi.TaskAuthRequired) {
		e.Waiting = &mapper.Waiting{Kind: waitingKind(t), Prompt: w.Prompt, RequestID: cmp.Or(w.PermissionID, w.RequestID)}
	}
	return e, nil
}

func later(a, b abi.Time) abi.Time {
	if a.IsZero() {
		return b
	}
	return a
}

// waitingKind says what a Task waits for, in the words of requests for permission.
func waitingKind(t *abi.Task) string {
	switch {
	case t.Status == abi.TaskAuthRequired:
		return string(abi.PermissionAuthorization)
	case t.Waiting.Call == abi.CallInputRequest || len(t.Waiting.Requests) > 0:
		return string(abi.PermissionInput)
	}
	return string(abi.PermissionApproval)
}

func (a *Adapter) listExecutions(r *gateway.Request, h *abi.Harness) error {
	status, err := oneOf(r, "status", "pending", "running", "completed", "failed", "cancelled")
	if err != nil {
		return err
	}
	since, err := sinceOf(r)
	if err != nil {
		return err
	}
	f := api.Filter{WorkspaceID: h.WorkspaceID, PersonaID: r.Query("agent_id")}
	ctx := api.Together(r.Context())
	fetch := func(p api.Page) (api.List, error) {
		p.CreatedAfter = since
		return a.core.List(ctx, r.Caller, abi.ObjectTask, f, p)
	}
	show := func(view api.View) (execution, error) {
		t, err := as[abi.Task](view)
		if err != nil {
			return execution{}, err
		}
		return a.executionOf(r, h, &t)
	}
	if status == "" && f.PersonaID == "" {
		return listed(r, fetch, show, "executions")
	}
	return a.listSome(r, fetch, show, status)
}

// listSome lists the executions of a status: those that the page shows are looked at closely.
func (a *Adapter) listSome(r *gateway.Request, fetch func(api.Page) (api.List, error), show func(api.View) (execution, error), status string) error {
	some, err := gather(fetch, func(view api.View) (api.View, bool, error) {
		return view, status == "" || statusOf(view.Task) == status, nil
	})
	if err != nil {
		return err
	}
	p, err := pageOf(r)
	if err != nil {
		return err
	}
	from := min(p.offset, len(some))
	to := min(from+p.limit, len(some))
	shown := paged[execution]{Total: len(some), Limit: p.limit, Offset: p.offset, HasMore: to < len(some)}
	for _, view := range some[from:to] {
		one, err := show(view)
		if err != nil {
			return err
		}
		shown.Data = append(shown.Data, one)
	}
	return sendPage(r, shown, "", "executions")
}

// executionAnswer is an execution, and beside it what readers of the older shape look for.
type executionAnswer struct {
	Execution   execution          `json:"execution"`
	ExecutionID string             `json:"execution_id"`
	Status      string             `json:"status"`
	Progress    *executionProgress `json:"progress,omitzero"`
	Cancelled   bool               `json:"cancelled,omitzero"`
}

func (a *Adapter) getExecution(r *gateway.Request, h *abi.Harness) error {
	t, err := a.taskIn(r, h, r.PathValue("executionId"))
	if err != nil {
		return err
	}
	e, err := a.executionOf(r, h, t)
	if err != nil {
		return err
	}
	if e.Progress, err = a.progressOf(r, t); err != nil {
		return err
	}
	return send(r, statusOK, executionAnswer{e, e.ID, e.Status, e.Progress, false})
}

// progressOf returns how far an execution is: as it has told last.
func (a *Adapter) progressOf(r *gateway.Request, t *abi.Task) (*executionProgress, error) {
	var found *executionProgress
	if t.Status.Terminal() {
		return nil, nil
	}
	err := a.eachTold(r, t.ID, func(_ *api.Event, one *mapper.Told) {
		if one.Type == mapper.Progress {
			found = &executionProgress{Percentage: *one.Percentage, CurrentStep: *one.Step, StepsCompleted: one.StepNumber - 1, StepsTotal: one.TotalSteps}
		}
	})
	return found, err
}

// eachTold calls visit for everything that was told of an execution so far.
func (a *Adapter) eachTold(r *gateway.Request, id string, visit func(*api.Event, *mapper.Told)) error {
	var m mapper.Mapper
	for after, more := api.Cursor(0), true; more && !m.Over(); {
		var events []*api.Event
		var err error
		if events, more, err = a.core.Events(r.Context(), r.Caller, api.Filter{TaskID: id}, after, 500); err != nil {
			return err
		}
		for _, ev := range events {
			after = ev.At
			for _, one := range m.Tell(a.events.read(ev)) {
				visit(ev, &one)
			}
		}
	}
	return nil
}

func (a *Adapter) cancel(r *gateway.Request, h *abi.Harness) error {
	id := r.PathValue("executionId")
	if _, err := a.taskIn(r, h, id); err != nil {
		return err
	}
	retry, err := r.Retry(nil)
	if err != nil {
		return err
	}
	canceled, err := a.core.CancelTask(r.Context(), r.Caller, retry, id, abi.CancelTaskRequest{})
	if err != nil {
		return err
	}
	t, err := as[abi.Task](canceled)
	if err != nil {
		return err
	}
	e, err := a.executionOf(r, h, &t)
	if err != nil {
		return err
	}
	return sent(r, statusOK, canceled, executionAnswer{e, e.ID, e.Status, nil, true})
}

// resultAnswer is what an execution resulted in.
type resultAnswer struct {
	Result executionResult `json:"result"`
}

type executionResult struct {
	ExecutionID string            `json:"execution_id"`
	Status      string            `json:"status"`
	Output      string            `json:"output"`
	Artifacts   []artifactSummary `json:"artifacts"`
	ToolCalls   []toolSummary     `json:"tool_calls"`
	Usage       mapper.Usage      `json:"usage"`
	StartedAt   abi.Time          `json:"started_at"`
	CompletedAt abi.Time          `json:"completed_at"`
	Error       *failed           `json:"error,omitzero"`
}

// toolSummary is a tool call of an execution that has ended.
type toolSummary struct {
	ID         string  `json:"id"`
	Name       string  `json:"name"`
	Status     string  `json:"status"`
	Success    bool    `json:"success"`
	DurationMS float64 `json:"duration_ms"`
}

func (a *Adapter) result(r *gateway.Request, h *abi.Harness) error {
	t, err := a.taskIn(r, h, r.PathValue("executionId"))
	if err != nil {
		return err
	}
	if !t.Status.Terminal() {
		return abi.Errorf(abi.CodeConflict, "the execution is still %s: its stream says when it has ended", statusOf(t.Status))
	}
	result, err := a.resultOf(r, t)
	if err != nil {
		return err
	}
	return send(r, statusOK, resultAnswer{*result})
}

// resultOf returns what a Task resulted in that has ended.
func (a *Adapter) resultOf(r *gateway.Request, t *abi.Task) (*executionResult, error) {
	res := &executionResult{ExecutionID: t.ID, Status: statusOf(t.Status), Artifacts: []artifactSummary{}, ToolCalls: []toolSummary{},
		StartedAt: later(t.StartedAt, t.CreatedAt), CompletedAt: later(t.CompletedAt, t.CanceledAt)}
	if t.Failure != nil {
		res.Error = &failed{Code: t.Failure.Code, Message: t.Failure.Message}
	}
	if t.OutcomeID == "" {
		return res, nil
	}
	view, err := a.core.Get(r.Context(), r.Caller, abi.ObjectOutcome, t.OutcomeID)
	if err != nil {
		return nil, err
	}
	o, err := as[abi.Outcome](view)
	if err != nil {
		return nil, err
	}
	if res.Output, err = outputOf(&o); err != nil {
		return nil, err
	}
	res.Usage = mapper.UsageOf(o.Metrics)
	if res.Artifacts, err = artifactsOf(&o); err != nil {
		return nil, err
	}
	calls, err := a.toolCalls(r, t.ID)
	for _, c := range calls {
		res.ToolCalls = append(res.ToolCalls, toolSummary{c.ID, c.Name, c.Status, c.Status == "completed", c.DurationMS})
	}
	return res, err
}

// outputOf returns what a Task has said, as its stream tells it.
func outputOf(o *abi.Outcome) (string, error) {
	var texts []string
	for _, text := range o.Messages {
		var m abi.Message
		if err := json.Unmarshal(text, &m); err != nil {
			return "", err
		}
		texts = append(texts, mapper.TextOf(&m))
	}
	return mapper.Output(texts), nil
}

type artifactsAnswer struct {
	Artifacts []artifactSummary `json:"artifacts"`
}

func (a *Adapter) listArtifacts(r *gateway.Request, h *abi.Harness) error {
	t, err := a.taskIn(r, h, r.PathValue("executionId"))
	if err != nil {
		return err
	}
	all, err := gather(func(p api.Page) (api.List, error) {
		return a.core.List(r.Context(), r.Caller, abi.ObjectArtifact, api.Filter{TaskID: t.ID}, p)
	}, func(view api.View) (artifactSummary, bool, error) {
		one, err := artifactOf(view.JSON)
		return one, true, err
	})
	if err != nil {
		return err
	}
	slices.Reverse(all) // in the order in which they were made
	if all == nil {
		all = []artifactSummary{}
	}
	return send(r, statusOK, artifactsAnswer{all})
}

func (a *Adapter) downloadArtifact(r *gateway.Request, h *abi.Harness) error {
	t, err := a.taskIn(r, h, r.PathValue("executionId"))
	if err != nil {
		return err
	}
	id := r.PathValue("artifactId")
	view, content, err := a.core.OpenArtifact(r.Context(), r.Caller, id)
	if err != nil {
		return err
	}
	of, err := as[abi.Artifact](view)
	if err != nil || of.TaskID != t.ID || content == nil {
		if content != nil {
			_ = content.Close()
		}
		return cmp.Or(err, error(abi.NotFound(abi.ObjectArtifact, id)))
	}
	download(r, cmp.Or(of.Name, of.ID), of.MimeType)
	r.HTTP.SetBodyStream(content, int(content.Size()))
	return nil
}

// download says that an answer is a file to be kept, and nothing that a browser shows.
func download(r *gateway.Request, name, media string) {
	r.HTTP.SetContentType(cmp.Or(media, "application/octet-stream"))
	r.SetHeader("Content-Disposition", disposition(name))
	r.SetHeader("X-Content-Type-Options", "nosniff")
	r.SetHeader("Content-Security-Policy", "default-src 'none'; sandbox")
}

// disposition names a file (RFC 6266).
func disposition(name string) string {
	if text := mime.FormatMediaType("attachment", map[string]string{"filename": name}); text != "" {
		return text
	}
	return "attachment; filename*=UTF-8''" + url.PathEscape(name)
}

// toolCall is a tool call of an execution.
type toolCall struct {
	ID          string         `json:"id"`
	Name        string         `json:"name"`
	Input       jsontext.Value `json:"input"`
	Output      jsontext.Value `json:"output,omitzero"`
	Status      string         `json:"status"`
	Error       string         `json:"error,omitzero"`
	StartedAt   abi.Time       `json:"started_at"`
	CompletedAt abi.Time       `json:"completed_at,omitzero"`
	DurationMS  float64        `json:"duration_ms,omitzero"`
}

type toolCallsAnswer struct {
	ToolCalls []*toolCall `json:"tool_calls"`
}

func (a *Adapter) listToolCalls(r *gateway.Request, h *abi.Harness) error {
	t, err := a.taskIn(r, h, r.PathValue("executionId"))
	if err != nil {
		return err
	}
	calls, err := a.toolCalls(r, t.ID)
	if err != nil {
		return err
	}
	return send(r, statusOK, toolCallsAnswer{calls})
}

// toolCalls returns the tool calls of a Task, in their order.
func (a *Adapter) toolCalls(r *gateway.Request, id string) ([]*toolCall, error) {
	calls := []*toolCall{}
	open := map[string]*toolCall{}
	err := a.eachTold(r, id, func(ev *api.Event, one *mapper.Told) {
		switch one.Type {
		case mapper.ToolStart:
			c := &toolCall{ID: one.ID, Name: one.Name, Input: one.Input, Status: "running", StartedAt: abi.At(ev.Time)}
			calls, open[one.ID] = append(calls, c), c
		case mapper.Result:
			c := open[one.ID]
			if c == nil {
				return
			}
			delete(open, one.ID)
			c.Output, c.Error, c.CompletedAt, c.Status = one.Output, one.Error, abi.At(ev.Time), "failed"
			if *one.Success {
				c.Status = "completed"
			}
			c.DurationMS = float64(one.TookUS) / 1000
		}
	})
	return calls, err
}

type inputRequest struct {
	Data string `json:"data"`
}

type inputAnswer struct {
	Accepted bool `json:"accepted"`
}

// sendInput answers what an execution asks. A question whether something may be done is answered by
// yes or no.
func (a *Adapter) sendInput(r *gateway.Request, h *abi.Harness) error {
	t, err := a.taskIn(r, h, r.PathValue("executionId"))
	if err != nil {
		return err
	}
	req, retry, err := decode[inputRequest](r)
	if err != nil {
		return err
	}
	if err := checkText("data", req.Data, maxMessage); err != nil {
		return err
	}
	if err := a.answer(r.Context(), r.Caller, retry, t, req.Data); err != nil {
		return err
	}
	return send(r, statusOK, inputAnswer{true})
}

// answer gives a Task what it waits for.
func (a *Adapter) answer(ctx context.Context, c *api.Caller, retry *api.Write, t *abi.Task, data string) error {
	switch {
	case t.Status.Terminal():
		gone := abi.Errorf(abi.CodeConflict, "the execution has ended")
		gone.Status = 410
		return gone
	case t.Waiting == nil || t.Status != abi.TaskInputRequired && t.Status != abi.TaskAuthRequired:
		return abi.Errorf(abi.CodeConflict, "the execution waits for no input now")
	case waitingKind(t) == string(abi.PermissionApproval):
		return a.decide(ctx, c, retry, t, data)
	}
	text := strings.TrimSuffix(data, "\n")
	_, err := a.core.AppendTaskMessage(ctx, c, retry, t.ID, abi.AppendTaskMessageRequest{Kind: abi.TaskMessageInput,
		Message: &abi.MessageInput{Role: abi.RoleUser, Parts: []abi.Part{{Type: "text", Text: &text}}}})
	return err
}

// decide answers whether something may be done.
func (a *Adapter) decide(ctx context.Context, c *api.Caller, retry *api.Write, t *abi.Task, data string) error {
	decision := abi.RespondRequest{Decision: "denied"}
	switch strings.ToLower(strings.TrimSpace(data)) {
	case "y", "yes", "approve", "approved":
		decision.Decision = "approved"
	case "n", "no", "deny", "denied":
	default:
		return abi.InvalidParam("data", "the execution asks whether it may do something: answer yes or no")
	}
	_, err := a.core.RespondPermission(ctx, c, retry, t.Waiting.PermissionID, decision)
	return err
}
