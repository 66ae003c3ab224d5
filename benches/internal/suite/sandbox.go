package suite

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/benches/internal/guests"
	"github.com/wharf-dev/wharf/benches/internal/report"
	"github.com/wharf-dev/wharf/plugins"
	"github.com/wharf-dev/wharf/plugins/plugintest"
	"github.com/wharf-dev/wharf/runtime/sandbox"
)

// What instances should take, in µs.
const (
	goalGoInstance      = 45
	goalGoInstanceP99   = 150
	goalSmallInstance   = 2
	goalBirth           = 150
	goalHostCall        = 1.5
	goalTimesFaster     = 70
	instancesBeforehand = 50 // Runs that are not measured
	mostInstances       = 20_000
)

// taskInput is the answer to the host call that asks for the Task.
const taskInput = `{"task":{"id":"task_01J9ZK3M6P8Q2R4S6T8V0W2X4Y","session_id":"sess_01J9ZK3M6P8Q2R4S6T8V0W2X4Y",` +
	`"input":{"role":"user","parts":[{"type":"text","text":"Which of the open orders are affected by what changed since Monday?",` +
	`"visibility":"public"}],"work":"floats","times":1}},"persona":{"id":"persona_bench","name":"bench","version":"1.0.0"}}`

// answering is a sandbox.Host that answers at once, and records every call in memory.
type answering struct {
	record []recordedCall
	bytes  []byte // of the requests and answers in the record
	state  []byte // the answer of state.get
}

type recordedCall struct {
	call            string
	status          abi.CallStatus
	request, answer []byte
}

func newAnswering() *answering {
	return &answering{state: slices.Repeat([]byte{'a'}, guests.CallBytes)}
}

// Call implements sandbox.Host.
func (h *answering) Call(_ context.Context, call string, request []byte) (abi.CallStatus, []byte, error) {
	answer := []byte(nil)
	switch call {
	case abi.CallInput:
		answer = []byte(taskInput)
	case abi.CallStateGet:
		answer = h.state
	case abi.CallMessageAppend:
		answer = []byte(`{"message_id":"msg_01J9ZK3M6P8Q2R4S6T8V0W2X4Y"}`)
	}
	h.record = append(h.record, recordedCall{call, abi.CallOK, h.keep(request), h.keep(answer)})
	return abi.CallOK, answer, nil
}

func (h *answering) keep(p []byte) []byte {
	from := len(h.bytes)
	h.bytes = append(h.bytes, p...)
	return h.bytes[from:len(h.bytes):len(h.bytes)]
}

// forget begins a new record.
func (h *answering) forget() { h.record, h.bytes = h.record[:0], h.bytes[:0] }

// Now implements sandbox.Host.
func (h *answering) Now() time.Time { return time.Unix(1_700_000_000, 0) }

// Random implements sandbox.Host.
func (h *answering) Random(p []byte) { clear(p) }

// Sleep implements sandbox.Host.
func (h *answering) Sleep(context.Context, time.Duration) {}

// subject is a plugin whose instances are measured, from one Task to the next.
type subject struct {
	name string
	wasm []byte
}

// rust returns the worker in Rust.
func rust() ([]byte, error) {
	for _, w := range plugintest.Workers() {
		if w.Name == "work-rust" {
			return w.Wasm, nil
		}
	}
	return nil, errors.New("there is no worker in Rust")
}

func subjects() ([]subject, error) {
	small, ok := plugins.Lookup("echo")
	if !ok {
		return nil, errors.New("there is no echo")
	}
	worker, err := rust()
	if err != nil {
		return nil, err
	}
	return []subject{{"Go", guests.Golang()}, {"C", small.Wasm()}, {"Rust", worker}}, nil
}

// instanceCosts are the quantiles of what instances took, by name, one sample a round.
type instanceCosts struct{ p50, p99 map[string][]float64 }

// step measures what an instance takes beside what the guest does with it, for a while,
// and yields the median in µs.
func (c instanceCosts) step(s *Suite, name string, once func(context.Context) (time.Duration, error)) step {
	return step{name, func(ctx context.Context) (float64, error) {
		var took []time.Duration
		for start := time.Now(); len(took) < mostInstances && (time.Since(start) < s.Duration || len(took) < 10); {
			d, err := once(ctx)
			if err != nil {
				return 0, err
			}
			took = append(took, d)
		}
		took = took[min(instancesBeforehand, len(took)/2):]
		slices.Sort(took)
		c.p50[name] = append(c.p50[name], micros(quantile(took, 0.5)))
		c.p99[name] = append(c.p99[name], micros(quantile(took, 0.99)))
		return micros(quantile(took, 0.5)), nil
	}}
}

// measureInstances measures what a pristine instance costs each Task: everything that a
// Run does but the guest's own work. From the pool, made and initialized by wazero, and
// made by Extism's SDK.
func measureInstances(ctx context.Context, s *Suite) (rows []report.Row, err error) {
	subjects, err := subjects()
	if err != nil {
		return nil, err
	}
	costs := instanceCosts{map[string][]float64{}, map[string][]float64{}}
	var steps []step
	for _, subject := range subjects {
		more, done, err := instanceSteps(ctx, s, costs, subject)
		if err != nil {
			return nil, fmt.Errorf("the plugin in %s: %w", subject.name, err)
		}
		defer done()
		steps = append(steps, more...)
	}
	extism, done, err := extismSteps(ctx, s, costs)
	if err != nil {
		return nil, err
	}
	defer done()
	if _, err := s.interleave(ctx, append(steps, extism...)); err != nil {
		return nil, err
	}
	return instanceRows(costs), nil
}

// instanceSteps are those of one plugin: from the pool, plain, and born anew.
func instanceSteps(ctx context.Context, s *Suite, costs instanceCosts, subject subject) (steps []step, done func(), err error) {
	module, closePooled, err := compiled(ctx, subject.wasm)
	if err != nil {
		return nil, nil, err
	}
	plain, err := newPlain(ctx, subject.wasm, plainConfig())
	if err != nil {
		closePooled()
		return nil, nil, err
	}
	host := newAnswering()
	return []step{
		costs.step(s, subject.name+" pooled", func(ctx context.Context) (time.Duration, error) {
			host.forget()
			begun := time.Now()
			usage, err := module.Run(ctx, abi.DefaultExport, host, sandbox.Limits{})
			return time.Since(begun) - usage.Run, err
		}),
		costs.step(s, subject.name+" plain", func(ctx context.Context) (time.Duration, error) {
			host.forget()
			return plain.instanceOnce(ctx, host)
		}),
		costs.step(s, subject.name+" born", func(ctx context.Context) (time.Duration, error) {
			r, err := module.Inspect(ctx)
			if err != nil {
				return 0, err
			}
			return r.Birth, nil
		}),
	}, func() { closePooled(); plain.close(context.WithoutCancel(ctx)) }, nil
}

func instanceRows(costs instanceCosts) []report.Row {
	p50 := func(name string) report.Figure { return report.NewFigure("µs", costs.p50[name]) }
	against := func(what, name, other, otherName string) report.Row {
		return report.Row{What: what, Wharf: p50(name)}.Against(otherName, p50(other))
	}
	const plain, extism = "plain wazero, made, initialized and closed", "Extism's go-sdk"
	faster := report.NewFigure("× faster", report.Ratios(costs.p50["Go plain"], costs.p50["Go pooled"]))
	return []report.Row{
		against("pristine instance of a Go plugin from the pool, p50", "Go pooled", "Go plain", plain).MustBe(report.AtMost, goalGoInstance),
		report.Row{What: "the same, p99", Wharf: report.NewFigure("µs", costs.p99["Go pooled"])}.
			Against(plain, report.NewFigure("µs", costs.p99["Go plain"])).MustBe(report.AtMost, goalGoInstanceP99),
		report.Row{What: "from the pool than made by plain wazero", Wharf: faster}.Must(report.AtLeast, goalTimesFaster),
		against("the same beside Extism", "Go pooled", "Go extism", extism),
		against("pristine instance of a small C plugin, p50", "C pooled", "C plain", plain).MustBe(report.AtMost, goalSmallInstance),
		against("the same beside Extism", "C pooled", "C extism", extism),
		against("pristine instance of a small Rust plugin, p50", "Rust pooled", "Rust plain", plain).MustBe(report.AtMost, goalSmallInstance),
		against("new instance of a Go plugin, born from the snapshot", "Go born", "Go plain", plain).MustBe(report.AtMost, goalBirth),
		against("new instance of a small C plugin", "C born", "C plain", plain),
	}
}
