package suite

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/benches/internal/engines"
	"github.com/wharf-dev/wharf/benches/internal/guests"
	"github.com/wharf-dev/wharf/benches/internal/report"
	"github.com/wharf-dev/wharf/plugins"
	"github.com/wharf-dev/wharf/plugins/plugintest/workers"
	"github.com/wharf-dev/wharf/runtime/sandbox"
)

// What instances should take, in µs.
const (
	goalGoInstance      = 45
	goalGoInstanceP99   = 150
	goalSmallInstance   = 2
	goalBirth           = 120
	goalHostCall        = 1.5
	goalTimesFaster     = 70
	instancesBeforehand = 50 // Runs that are not measured
	mostInstances       = 20_000
)

// subject is a plugin whose instances are measured, from one Task to the next.
type subject struct {
	name string
	wasm []byte
}

// rust returns the worker in Rust.
func rust() ([]byte, error) {
	for _, w := range workers.All() {
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
	plain, err := engines.NewPlain(ctx, subject.wasm, engines.PlainConfig())
	if err != nil {
		closePooled()
		return nil, nil, err
	}
	host := engines.NewHost()
	return []step{
		costs.step(s, subject.name+" pooled", func(ctx context.Context) (time.Duration, error) {
			host.Forget()
			begun := time.Now()
			usage, err := module.Run(ctx, abi.DefaultExport, host, sandbox.Limits{})
			return time.Since(begun) - usage.Run, err
		}),
		costs.step(s, subject.name+" plain", func(ctx context.Context) (time.Duration, error) {
			host.Forget()
			return plain.InstanceOnce(ctx, host)
		}),
		costs.step(s, subject.name+" born", func(ctx context.Context) (time.Duration, error) {
			r, err := module.Inspect(ctx)
			if err != nil {
				return 0, err
			}
			return r.Birth, nil
		}),
	}, func() { closePooled(); plain.Close(context.WithoutCancel(ctx)) }, nil
}

// extismSteps measure what an instance takes with Extism's SDK, which initializes it in
// its first call.
func extismSteps(ctx context.Context, s *Suite, costs instanceCosts) (steps []step, done func(), err error) {
	var closers []func(context.Context) error
	done = func() {
		for _, c := range slices.Backward(closers) {
			_ = c(context.WithoutCancel(ctx))
		}
	}
	for _, subject := range []subject{{"Go", guests.Golang()}, {"C", guests.Extism()}} {
		p, err := engines.NewExtism(ctx, subject.wasm, engines.NewHost())
		if err != nil {
			done()
			return nil, nil, err
		}
		closers = append(closers, p.Close)
		steps = append(steps, costs.step(s, subject.name+" extism", func(ctx context.Context) (time.Duration, error) {
			begun := time.Now()
			err := engines.ExtismOnce(ctx, p, "nothing", func(call func() error) error { return call() })
			return time.Since(begun), err
		}))
	}
	return steps, done, nil
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
