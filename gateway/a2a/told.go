package a2a

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway/api"
	"github.com/wharf-dev/wharf/gateway/internal/agentcard"
)

// update is what an event of a Task is told as.
type update struct {
	happening
	entry *entry // of [agentcard.Extension], if it is one
	over  bool   // the stream ends: the Task has, or waits for its client
}

// entry is an entry of [agentcard.Extension]: a kind, and members of its own. Stock clients get it as metadata of
// an update of the status, and those that ask for the extension as it is.
type entry struct {
	kind   string
	fields map[string]any
}

// logged is what is read of an event.
type logged struct {
	ID      string   `json:"id"`
	At      abi.Time `json:"created_at"`
	TaskID  string   `json:"task_id"`
	Payload struct {
		Task     *abi.Task      `json:"task"`
		Artifact *abi.Artifact  `json:"artifact"`
		Outcome  *abi.Outcome   `json:"outcome"`
		Plan     *abi.Plan      `json:"plan"`
		Steps    []abi.PlanStep `json:"steps"`
		Message  jsontext.Value `json:"message"` // of progress a text
		Fraction *float64       `json:"fraction"`
		Type     string         `json:"type"`
		Redacted bool           `json:"redacted"`
	} `json:"payload"`
}

// tells reports whether events of a kind may be told at all: others need not be read.
func tells(k abi.EventKind) bool {
	switch k {
	case abi.EventTaskStarted, abi.EventTaskStatusChanged, abi.EventAgentMessage, abi.EventProgress, abi.EventPlan, abi.EventPlanChanged,
		abi.EventWorker, abi.EventArtifactCreated, abi.EventOutcomeCreated:
		return true
	}
	return settles(k)
}

// tell returns what an event is told as; nil for nothing. The same event is told the same, whenever it is.
func (v *viewer) tell(ctx context.Context, kind abi.EventKind, text []byte, contextID string) (*update, error) {
	var ev logged
	if err := json.Unmarshal(text, &ev); err != nil {
		return nil, nil // those that follow can be read
	}
	p := &ev.Payload
	switch kind {
	case abi.EventAgentMessage:
		return v.spoken(&ev, contextID)
	case abi.EventProgress:
		return v.progress(&ev, contextID)
	case abi.EventPlan:
		return v.planned(&ev, contextID, p.Steps), nil
	case abi.EventPlanChanged:
		return v.planned(&ev, contextID, stepsOf(p.Plan)), nil
	case abi.EventWorker:
		return worker(&ev, text, contextID), nil
	case abi.EventArtifactCreated:
		if p.Artifact == nil {
			return nil, nil
		}
		return made(&ev, contextID, v.artifact(ctx, p.Artifact)), nil
	case abi.EventOutcomeCreated:
		if p.Outcome == nil {
			return nil, nil
		}
		o, err := v.toldOutcome(ctx, p.Outcome)
		if err != nil {
			return nil, err
		}
		return made(&ev, contextID, *o), nil
	}
	if p.Task == nil {
		return nil, nil
	}
	status, err := v.statusOf(ctx, p.Task, contextID)
	status.Timestamp = ev.At
	u := &update{over: status.State.Terminal() || status.State == a2a.TaskStateInputRequired}
	u.StatusUpdate = &statusUpdate{TaskID: ev.TaskID, ContextID: contextID, Status: status}
	return u, err
}

func made(ev *logged, contextID string, of artifact) *update {
	return &update{happening: happening{ArtifactUpdate: &artifactUpdate{TaskID: ev.TaskID, ContextID: contextID, Artifact: of, LastChunk: true}}}
}

// working tells that a Task works, and what it says about that.
func working(ev *logged, contextID string, says *message) *update {
	u := &update{}
	u.StatusUpdate = &statusUpdate{TaskID: ev.TaskID, ContextID: contextID, Status: taskStatus{State: a2a.TaskStateWorking, Message: says, Timestamp: ev.At}}
	return u
}

// spoken tells a Message of the agent.
func (v *viewer) spoken(ev *logged, contextID string) (*update, error) {
	var m abi.Message
	if err := json.Unmarshal(ev.Payload.Message, &m); err != nil {
		return nil, nil
	}
	said, ok := v.messageOut(&m, contextID)
	if !ok {
		return nil, nil
	}
	return working(ev, contextID, &said), nil
}

// progress tells how far a Task says it is.
func (v *viewer) progress(ev *logged, contextID string) (*update, error) {
	var says string
	_ = json.Unmarshal(ev.Payload.Message, &says) // it may have none
	if ev.Payload.Redacted || says == "" && ev.Payload.Fraction == nil {
		return nil, nil
	}
	fields := map[string]any{"phase": "narration"}
	if says != "" {
		fields["message"] = says
	}
	if f := ev.Payload.Fraction; f != nil {
		fields["phase"], fields["progress"], fields["total"] = "progress", *f*100, 100
	}
	u := working(ev, contextID, nil)
	if says != "" {
		u = working(ev, contextID, ev.says(contextID, says))
	}
	var err error
	u.StatusUpdate.Metadata, err = (&entry{"progress", fields}).metadata()
	return u, err
}

// says is a message that the node has written of an event.
func (ev *logged) says(contextID, text string) *message {
	return &message{MessageID: "event." + ev.ID, TaskID: ev.TaskID, ContextID: contextID, Role: a2a.MessageRoleAgent, Parts: []part{{Text: &text}}}
}

// stepsOf returns the steps of a plan that is kept as those of one that is only told.
func stepsOf(p *abi.Plan) []abi.PlanStep {
	if p == nil {
		return nil
	}
	steps := make([]abi.PlanStep, len(p.Steps))
	for i, s := range p.Steps {
		steps[i] = abi.PlanStep{Title: s.Content, Status: string(s.Status)}
	}
	return steps
}

// planned tells a plan: as a list for people, and as an entry harn_plan.
func (v *viewer) planned(ev *logged, contextID string, steps []abi.PlanStep) *update {
	if len(steps) == 0 {
		return nil
	}
	entries, list := make([]map[string]any, len(steps)), strings.Builder{}
	for i, s := range steps {
		box, status := "- [ ] ", s.Status
		switch s.Status {
		case "completed":
			box = "- [x] "
		case "skipped": // which no list of other protocols knows
			box, status = "- [x] ", "completed"
		case "in_progress":
			box = "- [-] "
		}
		entries[i] = map[string]any{"content": s.Title, "priority": "medium", "status": status}
		list.WriteString(box + s.Title + "\n")
	}
	u := working(ev, contextID, ev.says(contextID, strings.TrimSuffix(list.String(), "\n")))
	u.entry = &entry{"harn_plan", map[string]any{"entries": entries, "plan": map[string]any{"_type": "harn.plan.v1", "steps": steps}}}
	return u
}

// worker tells of another agent that works for the Task: of each of its children, however it was made. What a
// Task is told of a child after it has ended is told nobody: that comes behind the end of all streams of it.
func worker(ev *logged, text []byte, contextID string) *update {
	var of struct {
		Payload abi.Worker `json:"payload"`
	}
	w := &of.Payload
	if json.Unmarshal(text, &of) != nil || w.WorkerID == "" || w.Event == "" {
		return nil
	}
	fields := map[string]any{"workerId": w.WorkerID, "workerName": w.WorkerName, "workerTask": w.WorkerTask, "workerMode": w.WorkerMode,
		"event": w.Event, "status": w.Status, "terminal": w.Terminal, "metadata": &w.Metadata}
	if w.Audit != nil {
		fields["audit"] = w.Audit
	}
	u := working(ev, contextID, nil)
	u.entry = &entry{"worker_update", fields}
	return u
}

// metadata is an entry as the metadata of an update.
func (e *entry) metadata() (jsontext.Value, error) {
	return json.Marshal(map[string]any{agentcard.Extension: e.root()}, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
}

// root is an entry at the root of a stream.
func (e *entry) root() map[string]any {
	all := map[string]any{"type": e.kind}
	for name, value := range e.fields {
		all[name] = value
	}
	return all
}

// encode writes an update as a dialect has it.
func (u *update) encode(d dialect) ([]byte, error) {
	if u.entry != nil && d.harn {
		root := u.entry.root()
		root["taskId"], root["contextId"] = u.StatusUpdate.TaskID, u.StatusUpdate.ContextID
		return d.encode(root)
	}
	if u.entry != nil {
		var err error
		if u.StatusUpdate.Metadata, err = u.entry.metadata(); err != nil {
			return nil, err
		}
	}
	return d.encode(&u.happening)
}

// keptEvents is how many events are kept in the words of a dialect, and maxKept the largest kept, in
// bytes: together they bound what is kept to 8 MiB for each dialect, and in practice to little.
const (
	keptEvents = 256
	maxKept    = 32 << 10
)

// toldCache keeps recent events as they are told, so that many readers of one Task cost one encoding.
// A slot holds the last event whose position leads to it: readers of one stream are close together.
// It is safe for concurrent use.
type toldCache struct {
	slots [dialects][keptEvents]atomic.Pointer[told]
}

// told is an event in the words of a dialect. What the API shows is shared between those who may see
// the same, so that the event says for whom it is; the rest of what the words follow from is beside it.
// The first reader that needs the words makes them, and the others wait for it: some take long.
type told struct {
	of      *api.Event
	context string
	base    string
	inlines bool

	once sync.Once
	text []byte // nil for an event that is told as nothing
	over bool
	err  error
}

// fits reports whether these are the words of an event for a viewer.
func (t *told) fits(v *viewer, ev *api.Event, contextID string) bool {
	return t != nil && t.of == ev && t.context == contextID && t.base == v.base && t.inlines == v.inlines()
}

// words returns an event as it is told to a viewer.
func (c *toldCache) words(ctx context.Context, v *viewer, d dialect, ev *api.Event, contextID string) (*told, error) {
	slot := &c.slots[d.number()][uint64(ev.At)%keptEvents]
	t := slot.Load()
	for !t.fits(v, ev, contextID) {
		made := &told{of: ev, context: contextID, base: v.base, inlines: v.inlines()}
		if slot.CompareAndSwap(t, made) {
			t = made
			break
		}
		t = slot.Load()
	}
	t.once.Do(func() { t.make(context.WithoutCancel(ctx), v, d) }) // who leaves leaves the others their words
	if t.err != nil || len(t.text) > maxKept {
		slot.CompareAndSwap(t, nil)
	}
	return t, t.err
}

func (t *told) make(ctx context.Context, v *viewer, d dialect) {
	u, err := v.tell(ctx, t.of.Kind, t.of.AppendJSON(nil, false), t.context)
	if err == nil && u != nil {
		t.text, err = u.encode(d)
		t.over = u.over
	}
	t.err = err
}
