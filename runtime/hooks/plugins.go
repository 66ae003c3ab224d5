package hooks

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"time"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/apart"
	"github.com/wharf-dev/wharf/runtime/outbox"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/skill"
	"github.com/wharf-dev/wharf/runtime/turns"
	"github.com/wharf-dev/wharf/storage"
)

// gasOfMillisecond is what a plugin may do for each millisecond that its hook may take: about what it gets
// done in that time. The plugin's own limits bound it besides.
const gasOfMillisecond = 2_000_000

// Plugins runs the plugins that hooks name. It is safe for concurrent use.
type Plugins struct {
	plugins apart.Plugins
	log     *slog.Logger
}

// NewPlugins returns what runs plugins of a node.
func NewPlugins(of apart.Plugins, log *slog.Logger) *Plugins { return &Plugins{of, log} }

var _ outbox.Plugins = (*Plugins)(nil)

// ready returns the plugin that a command names.
func (p *Plugins) ready(ctx context.Context, command string) (apart.Plugin, error) {
	name, export, named := strings.Cut(strings.TrimPrefix(command, abi.HookPlugin), "#")
	if !named && name != "" { // of one that is not there, or is disabled, that is what is wrong
		if _, err := p.plugins.Resolve(ctx, name); err != nil {
			return apart.Plugin{}, err
		}
	}
	if !named || name == "" || export == "" || strings.Contains(export, "#") {
		return apart.Plugin{}, &abi.Failure{Code: abi.FailurePluginMissing, Message: fmt.Sprintf("%q is not %sPLUGIN#EXPORT", command, abi.HookPlugin)}
	}
	return p.plugins.Ready(ctx, name, export)
}

// check refuses a command that names no plugin which can be called.
func (p *Plugins) check(ctx context.Context, command string) error {
	if !strings.HasPrefix(command, abi.HookPlugin) {
		return nil
	}
	_, err := p.ready(ctx, command)
	if failure, ok := errors.AsType[*abi.Failure](err); ok {
		refused := abi.Errorf(abi.CodePolicyViolation, "%s: a hook names an export of a plugin that the node has", failure.Message)
		refused.Param = "handler.command"
		return refused
	}
	return err
}

// RunPlugin implements [outbox.Plugins]: it tells a plugin what its hook is told, as the input of a Task, and
// returns what the plugin answers.
func (p *Plugins) RunPlugin(ctx context.Context, t storage.Tenant, w *abi.WebhookEndpoint, id string, question []byte) ([]byte, *abi.Failure) {
	answer, err := p.run(ctx, t, w, id, question)
	if failure, ok := errors.AsType[*abi.Failure](err); ok {
		return nil, failure
	}
	if err != nil {
		if ctx.Err() == nil {
			p.log.Warn("the plugin of a hook cannot be run", "hook", w.ID, "error", err)
		}
		return nil, &abi.Failure{Code: abi.FailureHost, Message: "the plugin cannot be run now"}
	}
	return answer, nil
}

func (p *Plugins) run(ctx context.Context, t storage.Tenant, w *abi.WebhookEndpoint, id string, question []byte) ([]byte, error) {
	plugin, err := p.ready(ctx, w.Hook.Command)
	if err != nil {
		return nil, err
	}
	h, err := newQuestionHost(p.log, w, id, question)
	if err != nil {
		return nil, err
	}
	l := plugin.Limits
	l.Gas = min(l.Gas, uint64(w.Hook.TimeoutMS)*gasOfMillisecond)
	l.WallTime = min(l.WallTime, time.Duration(w.Hook.TimeoutMS)*time.Millisecond)
	if _, err := plugin.Run(turns.For(ctx, uint64(t)), h, l); err != nil {
		return nil, err
	}
	return h.answer()
}

// questionHost is what a plugin is told that a hook asks, and what it has answered.
type questionHost struct {
	*apart.Host
	input []byte
	said  skill.Result
	over  *abi.CallOutputRequest // what it has resulted in; nil before
}

// given is the input of such a plugin: as much of [abi.CallInputAnswer] as there is apart from a Task.
type given struct {
	Task struct {
		ID          string         `json:"id"`
		WorkspaceID string         `json:"workspace_id"`
		SessionID   string         `json:"session_id"`
		Input       jsontext.Value `json:"input"`
	} `json:"task"`
	Persona struct {
		ID string `json:"id"`
	} `json:"persona"`
	SessionID string `json:"session_id"`
}

func newQuestionHost(log *slog.Logger, w *abi.WebhookEndpoint, id string, question []byte) (*questionHost, error) {
	var q abi.HookQuestion
	if err := json.Unmarshal(question, &q); err != nil {
		return nil, fmt.Errorf("reading what a hook asks: %w", err)
	}
	var in given
	in.Task.ID, in.Task.WorkspaceID, in.Task.SessionID, in.Task.Input = q.TaskID, q.WorkspaceID, q.SessionID, question
	in.Persona.ID, in.SessionID = q.PersonaID, q.SessionID
	input, err := json.Marshal(&in)
	h := &questionHost{input: input}
	h.Host = apart.NewHost("answers for a hook", q.At, []byte(id), h.answers, func(level, message string) {
		log.Info("a hook's plugin says", "hook", w.ID, "level", level, "message", message)
	})
	return h, err
}

// answers implements [apart.Answers].
func (h *questionHost) answers(call string, request []byte) (answer []byte, refused *provider.Refusal, known bool) {
	switch call {
	case abi.CallInput:
		return h.input, nil, true
	case abi.CallMessageAppend:
		return []byte(`{"message_id":""}`), h.say(call, request), true
	case abi.CallOutput:
		return nil, h.end(request), true
	}
	return nil, nil, false
}

func (h *questionHost) say(call string, request []byte) *provider.Refusal {
	if refused := provider.Readable(request, reflect.TypeFor[abi.MessageInput]()); refused != nil {
		return refused
	}
	h.said.Note(call, request)
	return nil
}

func (h *questionHost) end(request []byte) *provider.Refusal {
	if h.over != nil {
		return provider.Refuse(abi.CallInvalid, "twice", "the plugin has given its result already")
	}
	over := &abi.CallOutputRequest{}
	if refused := provider.Readable(request, reflect.TypeOf(over)); refused != nil {
		return refused
	}
	if err := json.Unmarshal(bytes.Clone(request), over); err != nil { // the request is the guest's memory
		return provider.Malformed(err)
	}
	h.over = over
	h.said.Note(abi.CallOutput, request)
	return nil
}

// answer returns what the plugin has answered: as a Skill does, the last JSON that it has said, else its
// summary.
func (h *questionHost) answer() ([]byte, error) {
	if h.over != nil && h.over.Failure != nil {
		return nil, h.over.Failure
	}
	answer := h.said.Output()
	switch {
	case string(answer) == `""`:
		return nil, nil
	case len(answer) > outbox.MaxHookAnswer:
		return nil, &abi.Failure{Code: abi.FailurePluginOutput, Message: "its answer is too long"}
	}
	return answer, nil
}
