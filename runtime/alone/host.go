package alone

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/replay"
	"github.com/wharf-dev/wharf/runtime/sandbox"
)

// Live answers a call from the world outside. Its error is a *provider.Refusal when the plugin is to be told.
type Live func(ctx context.Context, request []byte) ([]byte, error)

// Options say what a run is told.
type Options struct {
	Given   jsontext.Value  // the answer of abi.CallInput: see [Given]
	Answers *Answers        // what a file says; nil for nothing
	Record  *journal.Record // answers what it has; nil for none. Its time and randomness are the run's
	Live    map[string]Live // by call
	// Config is what config.get answers for names that the file does not have: a manifest's defaults.
	Config map[string]jsontext.Value
	// Secrets are those that secret.use hands out a handle of without an entry.
	Secrets []string
	// Denied are the calls that a node refuses, for the plugin was not granted them.
	Denied  []string
	Strict  bool      // the order of members counts in comparisons with the record
	Started time.Time // the time of the run, without a record; zero for [Started]
	Seed    []byte
	Limits  sandbox.Limits
	OnCall  func(*Call) // is told each call when it was answered; may be nil
}

// Started is the time of a run that is told none.
func Started() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) }

// Where answers are from.
const (
	FromFile   = "file"
	FromRecord = "record"
	FromWorld  = "live"
	FromHost   = "host" // which follows from the run itself
)

// Call is a host call of a run.
type Call struct {
	Index   int            `json:"index"`
	Call    string         `json:"call"`
	Request jsontext.Value `json:"request,omitzero"`
	Status  abi.CallStatus `json:"status"`
	Answer  jsontext.Value `json:"answer,omitzero"`
	From    string         `json:"from,omitzero"` // absent where the request was refused as malformed
}

// Log is a line that the plugin has logged.
type Log = abi.CallLogRequest

// Report is what a run did.
type Report struct {
	Calls   []Call                 `json:"calls"`
	Logs    []Log                  `json:"logs,omitzero"`
	Output  *abi.CallOutputRequest `json:"output,omitzero"`
	Failure *abi.Failure           `json:"failure,omitzero"` // nil when it did well
	// Deviations are all places in which the run left its record.
	Deviations []Deviation `json:"deviations,omitzero"`
	// Stopped says that the record ends where the run was, so that nothing is known of the rest.
	Stopped   bool     `json:"stopped,omitzero"`
	Unused    []string `json:"unused_answers,omitzero"`
	Gas       uint64   `json:"gas"`
	Memory    uint64   `json:"memory_bytes"`
	TookUS    int64    `json:"took_us"`
	HostCalls int      `json:"host_calls"`
}

// Unfinished returns the failure that ended a run before its plugin was done, such as a trap or spent gas: what it
// did until then is a part of what it does, and no result. nil for a run that ended by itself, also where
// the plugin says that it failed.
func (r *Report) Unfinished() *abi.Failure {
	f := r.Failure
	switch {
	case f == nil, f.Code == abi.FailurePluginError:
		return nil
	case r.Output != nil && r.Output.Failure != nil && r.Output.Failure.Code == f.Code && f.Code != abi.FailurePluginPanic:
		return nil
	}
	return f
}

// codeDenied is the code with which policy refuses a call that the capabilities do not have.
const codeDenied = "capability_denied"

// errStop ends a run where its record was stopped.
var errStop = errors.New("the record stops here")

// host is a sandbox.Host.
type host struct {
	options Options
	defs    map[string]*abi.HostCall
	ground  *journal.Ground
	record  *recorded // nil for none
	made    *made
	report  *Report
	failed  error // what ended the run, and is no doing of the plugin's
}

var _ sandbox.Host = (*host)(nil)

// Now implements [sandbox.Host].
func (h *host) Now() time.Time { return h.ground.Now() }

// Random implements [sandbox.Host].
func (h *host) Random(p []byte) { h.ground.Random(p) }

// Sleep implements [sandbox.Host]. Nobody waits for it.
func (h *host) Sleep(_ context.Context, d time.Duration) { h.ground.Sleep(d) }

// Run runs an export of a module. What the plugin did wrong is in the report; an error, such as a
// [*Missing], says that the run could not be done, and comes with the report so far.
func Run(ctx context.Context, m replay.Module, export string, o Options) (*Report, error) {
	h := newHost(o)
	begun := time.Now()
	usage, err := m.Run(ctx, export, h, h.options.Limits)
	r := h.report
	r.TookUS, r.Gas, r.Memory, r.HostCalls = time.Since(begun).Microseconds(), usage.Gas, usage.MemoryBytes, usage.HostCalls
	r.Unused = o.Answers.Unused()
	switch {
	case ctx.Err() != nil:
		return r, context.Cause(ctx)
	case h.failed != nil:
		return r, h.failed
	case errors.Is(err, errStop):
		r.Stopped = true
		return r, nil
	}
	failure, known := replay.Conclude(err, r.Output)
	if !known {
		return r, fmt.Errorf("running the module: %w", err)
	}
	r.Failure = failure
	if h.record != nil {
		r.Deviations = append(r.Deviations, h.record.rest()...)
		r.Deviations = append(r.Deviations, compareEnds(o.Record.End, failure)...)
	}
	return r, nil
}

func newHost(o Options) *host {
	if o.Started.IsZero() {
		o.Started = Started()
	}
	h := &host{options: o, defs: abi.HostCallsByName(), report: &Report{Calls: []Call{}}, ground: journal.NewGround(o.Started, o.Seed)}
	if o.Record != nil {
		h.ground = journal.NewGround(o.Record.StartedAt, o.Record.Program.Seed)
		h.record = newRecorded(o.Record, o.Strict)
		h.options.Limits = recordedLimits(o.Record, o.Limits)
		if o.Given == nil {
			h.options.Given = jsontext.Value(o.Record.Input)
		}
	}
	h.made = newMade(h)
	return h
}

// recordedLimits are those of a record, with no more memory than others allow.
func recordedLimits(rec *journal.Record, most sandbox.Limits) sandbox.Limits {
	l := replay.Limits(&rec.Program, most.WallTime)
	if most.MemoryBytes > 0 {
		l.MemoryBytes = min(l.MemoryBytes, most.MemoryBytes)
	}
	return l
}

// Call implements [sandbox.Host].
func (h *host) Call(ctx context.Context, call string, request []byte) (abi.CallStatus, []byte, error) {
	def := h.defs[call]
	switch {
	case def == nil:
		return 0, nil, fmt.Errorf("there is no host call %q", call)
	case def.Effect == abi.EffectHint:
		return h.hint(call, request)
	}
	c := Call{Index: len(h.report.Calls), Call: call}
	if def.Effect != abi.EffectGiven {
		c.Request = Shown(call, request)
	}
	status, answer, from, err := h.answer(ctx, def, request)
	if err != nil {
		if !errors.Is(err, errStop) {
			h.failed = err
		}
		return 0, nil, err
	}
	c.Status, c.From, c.Answer = status, from, journal.AsJSON(answer)
	if call == abi.CallOutput && status == abi.CallOK {
		h.report.Output = &abi.CallOutputRequest{}
		if err := json.Unmarshal(bytes.Clone(request), h.report.Output); err != nil {
			h.report.Output = nil // a record or a file has said that it is taken
		}
	}
	if def.Effect != abi.EffectGiven {
		h.report.Calls = append(h.report.Calls, c)
	}
	if h.options.OnCall != nil {
		h.options.OnCall(&c)
	}
	return status, answer, nil
}

func (h *host) hint(call string, request []byte) (abi.CallStatus, []byte, error) {
	_, payload, err := journal.ReadHint(call, bytes.Clone(request))
	if err != nil {
		status, answer := told(provider.Malformed(err))
		return status, answer, nil
	}
	if line, ok := payload.(*abi.CallLogRequest); ok {
		h.report.Logs = append(h.report.Logs, *line)
		if h.options.OnCall != nil {
			text, err := json.Marshal(line)
			if err != nil {
				return 0, nil, err
			}
			h.options.OnCall(&Call{Index: -1, Call: call, Request: text})
		}
	}
	return abi.CallOK, nil, nil
}

// told is how a refusal is told to the plugin.
func told(r *provider.Refusal) (abi.CallStatus, []byte) { return r.Status, r.Answer() }

// answer finds the answer of a call: what is malformed is refused; then come the file, the record,
// the world, and what follows from the run itself.
func (h *host) answer(ctx context.Context, def *abi.HostCall, request []byte) (status abi.CallStatus, answer []byte, from string, err error) {
	if refused := check(def, request); refused != nil {
		status, answer = told(refused)
		if h.record == nil {
			return status, answer, "", nil
		}
		// A node has recorded that it was refused, in its words.
		if e := h.record.take(def.Name, request, h.report); e != nil && e.Status != abi.CallOK && !e.Open {
			return e.Status, e.Answer, FromRecord, nil
		}
		return status, answer, "", nil
	}
	if slices.Contains(h.options.Denied, def.Name) {
		status, answer = told(provider.Refuse(abi.CallDenied, codeDenied, "the plugin may not make the host call "+def.Name+": its capabilities do not name it"))
		return status, answer, FromHost, nil
	}
	if r := h.options.Answers.take(def.Name, request); r != nil {
		return r.status, r.answer, FromFile, nil
	}
	if def.Effect == abi.EffectGiven {
		status, answer = replay.Given(def.Name, h.options.Given)
		return status, answer, FromHost, nil
	}
	if h.record != nil {
		if e := h.record.take(def.Name, request, h.report); e != nil {
			if e.Open {
				return 0, nil, "", errStop
			}
			h.ground.Reach(e.At)
			return e.Status, e.Answer, FromRecord, nil
		}
	}
	from = FromWorld
	if live := h.options.Live[def.Name]; live != nil {
		answer, err = live(ctx, request)
	} else {
		from = FromHost
		answer, err = h.made.answer(def, request)
	}
	if refused, ok := errors.AsType[*provider.Refusal](err); ok {
		status, answer = told(refused)
		return status, answer, from, nil
	}
	return abi.CallOK, answer, from, err
}

// check refuses what is malformed, in the words of a node.
func check(def *abi.HostCall, request []byte) *provider.Refusal {
	text := request
	switch {
	case def.RequestType == nil, len(request) == 0 && def.MayBeEmpty():
		return nil
	case def.Name == abi.CallArtifactPut:
		text, _, _ = bytes.Cut(request, []byte("\n"))
	}
	of := reflect.TypeOf(def.RequestType)
	if refused := provider.Readable(text, of); refused != nil {
		return refused
	}
	strict := json.RejectUnknownMembers(def.Name == abi.CallLLMComplete) // as models are asked
	if err := json.Unmarshal(bytes.Clone(text), reflect.New(of).Interface(), strict); err != nil {
		return provider.Malformed(err)
	}
	return nil
}
