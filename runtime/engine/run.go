package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/sandbox"
)

// runTask runs one Task to its end. The scheduler calls it on a goroutine of the
// Task's own.
func (e *Engine) runTask(t *task) {
	ctx, stop := context.WithCancelCause(e.base)
	defer stop(nil)
	if !e.begin(t, stop) {
		return
	}
	r := &run{engine: e, task: t, began: e.now()}
	err := e.perform(ctx, t, r)
	switch {
	case errors.Is(err, errDrained): // left on disk as it is, for the next start
	case errors.Is(err, errCanceled), errors.Is(err, errDeadline): // it has ended already
	default:
		e.end(t, r, err)
	}
}

// begin records that the Task runs; false when it ended while it waited.
func (e *Engine) begin(t *task, stop context.CancelCauseFunc) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.state.Status.Terminal() {
		return false
	}
	t.stop = stop
	if t.state.Status == abi.TaskWorking { // it was started as it was accepted, or is recovered
		return true
	}
	_, err := e.apply(t, change{in: Input{Kind: InputStart}, actor: hostActor})
	if err != nil {
		e.log.Error("a task could not be started", "task", t.id, "error", err)
	}
	return err == nil
}

// perform calls the plugin that the Task's Persona names.
func (e *Engine) perform(ctx context.Context, t *task, r *run) error {
	persona, err := e.persona(ctx, t.tenant, t.about.PersonaID)
	if err != nil {
		return &abi.Failure{Code: abi.FailurePluginMissing, Message: err.Error()}
	}
	r.persona = persona
	name, export, named := strings.Cut(persona.EntryWorkflow, "#")
	if !named {
		export = abi.DefaultExport
	}
	module, err := e.modules.Module(ctx, name)
	if err != nil {
		return err
	}
	if !module.HasExport(export) {
		return &abi.Failure{Code: abi.FailurePluginMissing, Message: fmt.Sprintf(
			"plugin %q has no export %q, which persona %s names", name, export, persona.ID)}
	}
	r.input, err = e.inputFor(ctx, t)
	if err != nil {
		return err
	}
	r.usage, err = module.Run(ctx, export, r, e.config.Limits)
	return err
}

// end records how a run ended, unless the Task was ended meanwhile by a cancel or
// its deadline: then nothing of the run counts.
func (e *Engine) end(t *task, r *run, err error) {
	ch := change{actor: hostActor, before: r.produced(t)}
	failure := e.failureOf(t, r, err)
	if failure == nil {
		ch.in.Kind = InputComplete
		ch.actor = r.persona.ID
	} else {
		ch.in.Kind = InputFail
	}
	ch.outcome = func(o *abi.Outcome) { r.complete(o, t, failure) }

	t.mu.Lock()
	commit, err := e.apply(t, ch)
	t.mu.Unlock()
	if errors.Is(err, ErrTerminal) {
		return
	}
	if err != nil {
		e.log.Error("a task's end could not be recorded", "task", t.id, "error", err)
		return
	}
	_ = e.finish(t, commit) // logged there
}

// failureOf says why a run failed; nil when it did not.
func (e *Engine) failureOf(t *task, r *run, err error) *abi.Failure {
	var failure *abi.Failure
	switch {
	case err == nil && r.output != nil && r.output.Failure != nil:
		return r.output.Failure
	case err == nil:
		return nil
	case errors.As(err, &failure):
		if r.output != nil && r.output.Failure != nil && failure.Code == abi.FailurePluginError {
			return r.output.Failure // the plugin said why, then returned non-zero
		}
		return failure
	}
	e.log.Error("the host failed a task", "task", t.id, "error", err)
	return &abi.Failure{Code: abi.FailureHost, Message: "the host could not do its part; see the node's log"}
}

// complete fills in the Outcome of a run that ended.
func (r *run) complete(o *abi.Outcome, t *task, failure *abi.Failure) {
	o.Metrics = r.metrics(t)
	for i := range r.messages {
		o.MessageIDs = append(o.MessageIDs, r.messages[i].ID)
	}
	for i := range r.artifacts {
		o.ArtifactIDs = append(o.ArtifactIDs, r.artifacts[i].ID)
	}
	switch {
	case failure != nil:
		o.Failure, o.Summary = failure, failure.Message
	case r.output != nil:
		o.Summary = r.output.Summary
	}
	if o.Summary == "" {
		o.Summary = "completed"
	}
}

// metrics says where the time went, in milliseconds, and what was used.
func (r *run) metrics(t *task) jsontext.Value {
	m := struct {
		QueueMS       float64            `json:"queue_ms"`
		InstantiateMS float64            `json:"instantiate_ms"`
		RunMS         float64            `json:"run_ms"`
		HostCalls     int                `json:"host_calls"`
		MemoryBytes   uint64             `json:"memory_bytes"`
		Plugin        map[string]float64 `json:"plugin,omitzero"`
	}{
		QueueMS:       ms(r.began.Sub(t.about.CreatedAt)),
		InstantiateMS: ms(r.usage.Instantiate), RunMS: ms(r.usage.Run),
		HostCalls: r.usage.HostCalls, MemoryBytes: r.usage.MemoryBytes,
	}
	if r.output != nil {
		m.Plugin = r.output.Metrics
	}
	text, err := json.Marshal(&m)
	if err != nil { // a metric that JSON has no number for
		return nil
	}
	return text
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// inputFor returns what a live Task was submitted with.
func (e *Engine) inputFor(ctx context.Context, t *task) (jsontext.Value, error) {
	if t.input != nil {
		return t.input, nil
	}
	res, err := e.find(ctx, t.tenant, abi.ObjectTask, t.id)
	if err != nil {
		return nil, err
	}
	in, err := e.inputOf(ctx, t.tenant, res)
	return in.value, err
}

var _ sandbox.Host = (*run)(nil)
