package engine

import (
	"context"
	"errors"
	"fmt"
	"strconv"
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
	m := append(make(jsontext.Value, 0, 192), `{"queue_ms":`...)
	m = appendMS(m, r.began.Sub(t.about.CreatedAt))
	m = appendMS(append(m, `,"instantiate_ms":`...), r.usage.Instantiate)
	m = appendMS(append(m, `,"run_ms":`...), r.usage.Run)
	m = strconv.AppendInt(append(m, `,"host_calls":`...), int64(r.usage.HostCalls), 10)
	m = strconv.AppendUint(append(m, `,"memory_bytes":`...), r.usage.MemoryBytes, 10)
	if r.output != nil && len(r.output.Metrics) > 0 {
		if own, err := json.Marshal(r.output.Metrics, json.Deterministic(true)); err == nil { // not NaN
			m = append(append(m, `,"plugin":`...), own...)
		}
	}
	return append(m, '}')
}

// appendMS writes a duration in milliseconds, to the microsecond.
func appendMS(b []byte, d time.Duration) []byte {
	return strconv.AppendFloat(b, float64(d.Microseconds())/1000, 'f', -1, 64)
}

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
