package hooks

import (
	"context"
	"slices"
	"strings"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/abi/jsonw"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/outbox"
	"github.com/wharf-dev/wharf/runtime/tooluse"
	"github.com/wharf-dev/wharf/storage"
)

// toldOf is what an event says that a hook was asked about, or is told of.
type toldOf struct {
	TaskID   string         `json:"task_id"`
	Tool     string         `json:"tool,omitzero"`
	ToolID   string         `json:"tool_id,omitzero"`
	Decision string         `json:"decision,omitzero"` // of a hook that was asked
	Success  *bool          `json:"success,omitzero"`
	Status   abi.TaskStatus `json:"status,omitzero"`
	Name     string         `json:"name,omitzero"` // of custom
}

// triggered returns the event that a hook was asked, or is told.
func triggered(task *abi.Task, w *abi.WebhookEndpoint, of *toldOf) (ledger.Record, error) {
	data, err := json.Marshal(of)
	return ledger.Record{Kind: abi.EventHookTriggered, Object: abi.ObjectTask, ID: task.ID,
		Payload: &abi.HookTriggered{HookID: w.ID, Event: w.Hook.Event, Data: data}}, err
}

// WithHooks returns what is about to be written of a Task's calls, and after each what tells hooks of it. The
// records are encoded.
func (k *Keeper) WithHooks(t storage.Tenant, task *abi.Task, records ...ledger.Record) []ledger.Record {
	hooks := k.active(t, task, abi.HookPostTool, abi.HookCustom)
	if len(hooks) == 0 {
		return records
	}
	all := make([]ledger.Record, 0, len(records)+len(hooks))
	for _, rec := range records {
		all = append(all, rec)
		for _, w := range hooks {
			of := concerns(w, task, &rec)
			if of == nil {
				continue
			}
			if told, err := triggered(task, w, of); err == nil { // texts of ours can be written
				all = append(all, told)
			}
		}
	}
	return all
}

// concerns returns what a hook is told of an event; nil for nothing.
func concerns(w *abi.WebhookEndpoint, task *abi.Task, rec *ledger.Record) *toldOf {
	if w.Hook.Event == abi.HookPostTool {
		return concernsTool(task, rec)
	}
	if abi.CheckPluginKind(rec.Kind) != nil || w.Hook.Name != "" && w.Hook.Name != string(rec.Kind) {
		return nil
	}
	return &toldOf{TaskID: task.ID, Name: string(rec.Kind)}
}

// concernsTool returns what is told of a tool that was called: not of one whose call was refused
// before anything has happened.
func concernsTool(task *abi.Task, rec *ledger.Record) *toldOf {
	if rec.Kind != abi.EventToolCompleted && rec.Kind != abi.EventToolFailed || rec.Hint {
		return nil
	}
	var told struct {
		Status abi.CallStatus `json:"status"`
		Tool   *abi.ToolUse   `json:"tool"`
	}
	if json.Unmarshal(rec.Text, &told) != nil || told.Status == abi.CallInvalid || told.Status == abi.CallDenied || told.Status == abi.CallNotFound {
		return nil
	}
	success := told.Status == abi.CallOK && (told.Tool == nil || told.Tool.ErrorCategory == "")
	of := &toldOf{TaskID: task.ID, Success: &success}
	if u := told.Tool; u != nil && u.Visibility != abi.ToolsInternal {
		of.Tool, of.ToolID = u.Server+":"+u.Name, u.CallID
	}
	return of
}

// HooksAtEnd returns what tells hooks of the end of a Task, as it is shown then.
func (k *Keeper) HooksAtEnd(t storage.Tenant, task *abi.Task) (all []ledger.Record) {
	for _, w := range k.active(t, task, abi.HookStop, abi.HookError) {
		if w.Hook.Event == abi.HookError && task.Status != abi.TaskFailed {
			continue
		}
		if told, err := triggered(task, w, &toldOf{TaskID: task.ID, Status: task.Status}); err == nil {
			all = append(all, told)
		}
	}
	return all
}

// formatName is the format of what hooks are told.
const formatName = "hook"

// Format is how hooks are told of things by the outbox. blobs has what the log keeps of calls
// that are large.
func Format(blobs storage.Blobs) outbox.Format {
	return outbox.Format{Name: formatName, Write: func(ctx context.Context, n *outbox.Notice) (outbox.Message, error) {
		return write(ctx, n, func(h abi.Hash) ([]byte, error) { return journal.Content(ctx, blobs, h) })
	}}
}

func write(ctx context.Context, n *outbox.Notice, blobs journal.Blobs) (outbox.Message, error) {
	var told abi.HookTriggered
	var of toldOf
	err := json.Unmarshal(n.Logged.Record().Payload, &told)
	if err != nil || n.Webhook.Hook == nil || told.HookID != n.Webhook.ID || told.Event == abi.HookPreTool || json.Unmarshal(told.Data, &of) != nil {
		return outbox.Message{Skip: true}, nil
	}
	q := questionOf(n.Webhook, &abi.Task{Envelope: abi.Envelope{ID: of.TaskID}, WorkspaceID: n.Logged.Frame.WorkspaceID, SessionID: n.Logged.Frame.SessionID})
	q.At, q.Success, q.Tool, q.ToolID = abi.At(n.At), of.Success, of.Tool, of.ToolID
	switch told.Event {
	case abi.HookPostTool:
		err = addTool(n, q, blobs)
	case abi.HookCustom:
		err = addEmitted(n, q)
	default:
		err = addEnd(ctx, n, q)
	}
	if err != nil {
		return outbox.Message{}, err
	}
	body, err := json.Marshal(q, json.Deterministic(true))
	return outbox.Message{Body: body}, err
}

// questionOf returns what every hook is told of its Task.
func questionOf(w *abi.WebhookEndpoint, t *abi.Task) *abi.HookQuestion {
	return &abi.HookQuestion{Event: w.Hook.Event, HookID: w.ID, WorkspaceID: t.WorkspaceID, SessionID: t.SessionID, TaskID: t.ID, PersonaID: t.PersonaID}
}

// cause returns the event that a hook is told of: what stands before it and is about no hook.
func cause(n *outbox.Notice) (*storage.Record, error) {
	for at := n.Logged.Position() - 1; ; at-- {
		ev, err := n.Log(at)
		if err != nil {
			return nil, err
		}
		if rec := ev.Record(); rec.Kind != abi.EventHookTriggered {
			return rec, nil
		}
	}
}

// addTool adds what a tool was called with, and what it has answered.
func addTool(n *outbox.Notice, q *abi.HookQuestion, blobs journal.Blobs) error {
	rec, err := cause(n)
	if err != nil {
		return err
	}
	e, _, err := journal.Decode(rec, blobs)
	if err != nil {
		return err
	}
	q.Output = asJSON(e.Answer)
	if len(e.Request) == 0 { // an event of its own has told the beginning
		if e.Request, err = begun(n, rec, blobs); err != nil || len(e.Request) == 0 {
			return err
		}
	}
	var asked abi.CallToolCallRequest
	if json.Unmarshal(e.Request, &asked) != nil {
		return nil
	}
	q.Tool, q.ToolID, q.Input = toolOf(&asked), tooluse.ID(asked.CallID, e.Index), argumentsOf(&asked)
	return nil
}

// asJSON returns a text that is JSON as it is, and any other as a string.
func asJSON(text journal.Text) jsontext.Value {
	if v := jsontext.Value(text); v.IsValid() {
		return v
	}
	return jsonw.String(nil, strings.ToValidUTF8(string(text), "\uFFFD"))
}

// begun returns the request of a call whose end is told by an event of its own; nothing where that
// does not name its beginning.
func begun(n *outbox.Notice, end *storage.Record, blobs journal.Blobs) (journal.Text, error) {
	var told struct {
		Tool abi.ToolUse `json:"tool"`
	}
	_ = json.Unmarshal(end.Payload, &told) // what has none names no beginning
	at, ok := desk.ParsePosition(told.Tool.StartedEventID)
	if !ok {
		return nil, nil
	}
	ev, err := n.Log(at)
	if err != nil {
		return nil, err
	}
	e, _, err := journal.Decode(ev.Record(), blobs)
	return e.Request, err
}

// addEmitted adds what a plugin has emitted.
func addEmitted(n *outbox.Notice, q *abi.HookQuestion) error {
	rec, err := cause(n)
	if err != nil {
		return err
	}
	q.Name, q.Data = string(rec.Kind), slices.Clone(rec.Payload)
	return nil
}

// addEnd adds how a Task has ended, as the public may see it.
func addEnd(ctx context.Context, n *outbox.Notice, q *abi.HookQuestion) error {
	text, err := n.Get(ctx, abi.ObjectTask, q.TaskID)
	if err != nil {
		return err
	}
	var task abi.Task
	err = json.Unmarshal(text, &task)
	q.Status, q.Failure, q.PersonaID = task.Status, task.Failure, task.PersonaID
	return err
}
