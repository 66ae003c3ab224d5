package hooks

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/outbox"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/skill"
	"github.com/wharf-dev/wharf/runtime/turns"
	"github.com/wharf-dev/wharf/storage"
)

// CodeDenied is the code of a call that a hook has denied.
const CodeDenied = "hook_denied"

// The decisions of hooks.
const (
	decisionAllow = "allow"
	decisionDeny  = "deny"
	decisionInput = "input" // it was allowed with other arguments
	decisionGone  = "gone"  // the hook was deleted meanwhile
)

// Call is a call of a tool that is about to be made.
type Call struct {
	Index   int                      // in the Task's record, of the entry that this becomes
	Request *abi.CallToolCallRequest // not to be changed
	Asked   []byte                   // the same, in the form in which it is recorded
	ID      string                   // of the call
	Tool    *abi.Tool                // its definition; nil where there is none
	Shown   bool                     // whether everybody may see which tool it is
}

// Said is what hooks have said of a call.
type Said struct {
	Entry journal.Entry   // without its time
	Told  []ledger.Record // one for each hook
}

// AskBefore asks the hooks of a Task's Workspace before a tool is called; nil when there are none. An
// error says that the run has to stop.
func (k *Keeper) AskBefore(ctx context.Context, t storage.Tenant, task *abi.Task, c *Call) (*Said, error) {
	hooks := k.active(t, task, abi.HookPreTool)
	if len(hooks) == 0 {
		return nil, nil
	}
	said, out := &Said{}, journal.HooksSaid{Answers: []journal.HookSaid{}}
	a := &asking{keeper: k, tenant: t, task: task, call: c, arguments: argumentsOf(c.Request)}
	for _, w := range hooks {
		one, err := a.ask(ctx, w)
		if err != nil {
			return nil, err
		}
		out.Answers = append(out.Answers, one)
		rec, err := triggered(task, w, &toldOf{TaskID: task.ID, Tool: c.shown(), ToolID: c.ID, Decision: one.Decision})
		if err != nil {
			return nil, err
		}
		said.Told = append(said.Told, rec)
		if out.Denied = one.Decision == decisionDeny || one.Decision == string(abi.HookClosed); out.Denied {
			out.Reason = one.Reason
			break
		}
	}
	if a.changed && !out.Denied {
		out.Input = a.arguments
	}
	return said, said.write(c, &out)
}

// write makes the entry.
func (s *Said) write(c *Call, out *journal.HooksSaid) error {
	request, err := json.Marshal(journal.Gate{Action: abi.CallToolCall + " " + toolOf(c.Request), Call: abi.CallToolCall,
		Asked: journal.HashOf(c.Asked), Arguments: argumentsOf(c.Request)})
	if err != nil {
		return err
	}
	answer, err := json.Marshal(out)
	s.Entry = journal.Entry{Index: c.Index, Call: abi.CallHooks, Request: request, Answer: answer}
	return err
}

func (c *Call) shown() string {
	if !c.Shown {
		return ""
	}
	return toolOf(c.Request)
}

func toolOf(r *abi.CallToolCallRequest) string { return r.Server + ":" + r.Name }

func argumentsOf(r *abi.CallToolCallRequest) jsontext.Value {
	if len(r.Arguments) == 0 {
		return abi.EmptyObject()
	}
	return r.Arguments
}

// asking is a call that hooks are asked about.
type asking struct {
	keeper    *Keeper
	tenant    storage.Tenant
	task      *abi.Task
	call      *Call
	arguments jsontext.Value // as they are by now
	changed   bool
}

// ask asks one hook.
func (a *asking) ask(ctx context.Context, w *abi.WebhookEndpoint) (journal.HookSaid, error) {
	said := journal.HookSaid{HookID: w.ID, Decision: decisionAllow}
	q := questionOf(w, a.task)
	q.Tool, q.ToolID, q.Input, q.At = toolOf(a.call.Request), a.call.ID, a.arguments, abi.At(a.keeper.parts.Now())
	body, err := json.Marshal(q, json.Deterministic(true))
	if err != nil {
		return said, err
	}
	id := abi.DerivedID(abi.ObjectWebhookDelivery, a.task.CreatedAt, fmt.Sprintf("%s %s %d", w.ID, a.task.ID, a.call.Index))
	text, failed, err := a.keeper.parts.Outbox.AskHook(ctx, a.tenant, w, id, body)
	switch {
	case errors.Is(err, outbox.ErrHookGone):
		said.Decision = decisionGone
		return said, nil
	case err != nil:
		return said, err
	case failed != nil:
		return unanswered(w, failed.Message), nil
	}
	return a.take(ctx, w, text)
}

// unanswered is what a hook has said that gave no answer.
func unanswered(w *abi.WebhookEndpoint, why string) journal.HookSaid {
	return journal.HookSaid{HookID: w.ID, Decision: string(w.Hook.Fail), Reason: "hook " + w.ID + " gave no answer: " + why}
}

// take takes over what a hook answers.
func (a *asking) take(ctx context.Context, w *abi.WebhookEndpoint, text []byte) (journal.HookSaid, error) {
	said := journal.HookSaid{HookID: w.ID, Decision: decisionAllow}
	if len(bytes.TrimSpace(text)) == 0 {
		return said, nil
	}
	var answer abi.HookAnswer
	if err := json.Unmarshal(text, &answer); err != nil {
		return unanswered(w, "it is no JSON object that makes sense"), nil
	}
	switch {
	case answer.Decision == decisionDeny:
		said.Decision, said.Reason = decisionDeny, cut(answer.Reason)
		return said, nil
	case answer.Decision != "" && answer.Decision != decisionAllow:
		return unanswered(w, "its decision is neither allow nor deny"), nil
	case len(answer.Input) == 0 || answer.Input.Kind() == 'n':
		return said, nil
	}
	wrong, err := a.change(ctx, answer.Input)
	if err != nil {
		return said, err
	}
	if wrong != nil {
		return unanswered(w, wrong.Error()), nil
	}
	said.Decision = decisionInput
	return said, nil
}

// maxReason bounds what is told of why a hook denies, in bytes.
const maxReason = 4 << 10

func cut(reason string) string {
	return string(bytes.ToValidUTF8([]byte(reason[:min(len(reason), maxReason)]), nil))
}

// change puts other arguments in the place of those that there are. wrong says why they do not fit.
func (a *asking) change(ctx context.Context, input jsontext.Value) (wrong, err error) {
	if input.Kind() != '{' {
		return errors.New("input is no object"), nil
	}
	plain, bad := abi.Plain(input)
	if bad != nil {
		return errors.New("input is not well-formed"), nil
	}
	request := *a.call.Request
	request.Arguments = plain
	text, err := json.Marshal(&request)
	if err != nil {
		return errors.New("input is not well-formed"), nil
	}
	if refused := provider.Readable(text, reflect.TypeOf(request)); refused != nil {
		return refused, nil
	}
	if wrong, err := a.fits(ctx, plain); wrong != nil || err != nil {
		return wrong, err
	}
	a.arguments, a.changed = plain, true
	return nil, nil
}

// fits holds arguments against the tool's schema. One that makes no sense holds nothing back.
func (a *asking) fits(ctx context.Context, arguments jsontext.Value) (wrong, err error) {
	if a.call.Tool == nil || a.call.Tool.InputSchema.Kind() != '{' {
		return nil, nil
	}
	schema, bad := skill.Compile(a.call.Tool.InputSchema)
	if bad != nil {
		return nil, nil
	}
	err = schema.Check(turns.For(ctx, uint64(a.tenant)), a.keeper.parts.Turns, arguments)
	if err == nil || !skill.Wrong(err) {
		return nil, err
	}
	return fmt.Errorf("input does not fit the tool's schema: %w", err), nil
}

// Denied is what a plugin is told of a call that hooks have denied; nil where they have not, or
// where none was asked.
func Denied(hooks *journal.Entry) error {
	said, err := journal.ReadHooks(hooks)
	if err != nil || said == nil || !said.Denied {
		return err
	}
	message := "a hook has denied this call"
	if said.Reason != "" {
		message += ": " + said.Reason
	}
	return provider.Refuse(abi.CallDenied, CodeDenied, message)
}
