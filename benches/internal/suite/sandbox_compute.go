package suite

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/benches/internal/engines"
	"github.com/wharf-dev/wharf/benches/internal/guests"
	"github.com/wharf-dev/wharf/benches/internal/proc"
	"github.com/wharf-dev/wharf/benches/internal/report"
	"github.com/wharf-dev/wharf/runtime/sandbox"
)

const (
	// goalOverhead is what gas, depth and NaNs may cost together, in percent.
	goalOverhead = 12
	// kernelTurns is how often in a round each engine computes a kernel, in turn with the
	// others: the fastest counts.
	kernelTurns = 12
)

// engines are the ways in which guests are computed.
const (
	enginePlain = iota
	engineStopped
	engineWharf
	engineCount
)

// racer computes one kernel with each engine.
type racer struct {
	name    string
	compute [engineCount]func(context.Context) error
	close   func()
	// best are the least processor times, one a round.
	best [engineCount][]float64
}

// measureCompute measures what counting gas and depth and making NaNs the same costs
// guests that only compute; and beside it wazero's own way to stop them.
func measureCompute(ctx context.Context, s *Suite) ([]report.Row, error) {
	var racers []*racer
	for _, k := range guests.Kernels() {
		r, err := newRacer(ctx, k)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", k.Name, err)
		}
		defer r.close()
		racers = append(racers, r)
	}
	steps := make([]step, len(racers))
	for i, r := range racers {
		steps[i] = step{r.name, r.race}
	}
	if _, err := s.interleave(ctx, steps); err != nil {
		return nil, err
	}
	return computeRows(racers), nil
}

func newRacer(ctx context.Context, k guests.Kernel) (*racer, error) {
	module, done, err := compiled(ctx, k.Wasm())
	if err != nil {
		return nil, err
	}
	r := &racer{name: k.Name, close: done}
	host := engines.NewHost()
	r.compute[engineWharf] = func(ctx context.Context) error {
		_, err := module.Run(ctx, k.Export, host, sandbox.Limits{})
		return err
	}
	for engine, config := range map[int]func() wazero.RuntimeConfig{enginePlain: engines.PlainConfig, engineStopped: engines.StoppableConfig} {
		p, err := engines.NewPlain(ctx, k.Wasm(), config())
		if err != nil {
			r.close()
			return nil, err
		}
		before := r.close
		r.close = func() { before(); p.Close(context.WithoutCancel(ctx)) }
		mod, err := p.Instance(ctx)
		if err != nil {
			r.close()
			return nil, err
		}
		r.compute[engine] = stoppableCall(mod.ExportedFunction(k.Export))
	}
	return r, nil
}

// stoppableCall calls an export in a context that can end, as any server's can.
func stoppableCall(f api.Function) func(context.Context) error {
	return func(ctx context.Context) error {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		return engines.Call(ctx, f)
	}
}

// race is a round. Its figure is what Wharf takes in percent of plain wazero.
func (r *racer) race(ctx context.Context) (float64, error) {
	runtime.LockOSThread() // its processor time is read
	defer runtime.UnlockOSThread()
	best := [engineCount]time.Duration{math.MaxInt64, math.MaxInt64, math.MaxInt64}
	for range kernelTurns {
		for engine, compute := range r.compute {
			took, err := processorTime(ctx, compute)
			if err != nil {
				return 0, err
			}
			best[engine] = min(best[engine], took)
		}
	}
	for engine, took := range best {
		r.best[engine] = append(r.best[engine], millis(took))
	}
	return 100 * float64(best[engineWharf]) / float64(best[enginePlain]), nil
}

// processorTime returns what f takes of the processor.
func processorTime(ctx context.Context, f func(context.Context) error) (time.Duration, error) {
	before, err := proc.ThreadCPU()
	if err == nil {
		err = f(ctx)
	}
	if err != nil {
		return 0, err
	}
	after, err := proc.ThreadCPU()
	return after - before, err
}

func computeRows(racers []*racer) []report.Row {
	rows := []report.Row{
		report.Row{What: "gas, depth and NaNs: geometric mean over what follows", Wharf: overhead(racers, engineWharf), Difference: true}.Must(report.AtMost, goalOverhead),
		{What: "WithCloseOnContextDone: the same mean", Wharf: overhead(racers, engineStopped), Difference: true},
	}
	for _, r := range racers {
		rows = append(rows, report.Row{
			What: r.name, Wharf: report.NewFigure("ms", r.best[engineWharf]),
			Note: fmt.Sprintf("with WithCloseOnContextDone: %.3g ms", report.Median(r.best[engineStopped])),
		}.Against("plain wazero", report.NewFigure("ms", r.best[enginePlain])))
	}
	return rows
}

// overhead is how many percent longer an engine takes than plain wazero, the geometric
// mean over all kernels of each round.
func overhead(racers []*racer, engine int) report.Figure {
	var percent []float64
	for round := range racers[0].best[engine] {
		sum := 0.0
		for _, r := range racers {
			sum += math.Log(r.best[engine][round] / r.best[enginePlain][round])
		}
		percent = append(percent, 100*(math.Exp(sum/float64(len(racers)))-1))
	}
	return report.NewFigure("%", percent)
}

// measureHostCall measures a host call of a native plugin, recorded in memory, with 100
// bytes in and out.
func measureHostCall(ctx context.Context, s *Suite) ([]report.Row, error) {
	module, done, err := compiled(ctx, guests.C())
	if err != nil {
		return nil, err
	}
	defer done()
	p, err := engines.NewPlain(ctx, guests.C(), engines.PlainConfig())
	if err != nil {
		return nil, err
	}
	defer p.Close(context.WithoutCancel(ctx))
	host := engines.NewHost()
	x, err := engines.NewExtism(ctx, guests.Extism(), host)
	if err != nil {
		return nil, err
	}
	defer x.Close(context.WithoutCancel(ctx))
	got, err := s.interleave(ctx, []step{
		{"wharf", s.perCall(host, func(ctx context.Context) (time.Duration, error) {
			usage, err := module.Run(ctx, "calls", host, sandbox.Limits{})
			return usage.Run, err
		})},
		{"plain", s.perCall(host, func(ctx context.Context) (time.Duration, error) { return p.CallsOnce(ctx, host) })},
		{"extism", s.perCall(host, func(ctx context.Context) (took time.Duration, err error) {
			err = engines.ExtismOnce(ctx, x, "calls", func(call func() error) error {
				begun := time.Now()
				err := call()
				took = time.Since(begun)
				return err
			})
			return took, err
		})},
	})
	if err != nil {
		return nil, err
	}
	row := func(other, name string) report.Row {
		return report.Row{What: "host call, 100 bytes in and out, recorded in memory", Wharf: report.NewFigure("µs", got["wharf"])}.
			Against(name, report.NewFigure("µs", got[other]))
	}
	return []report.Row{
		row("plain", "plain wazero").MustBe(report.AtMost, goalHostCall),
		row("extism", "Extism's go-sdk"),
	}, nil
}

// perCall makes host calls for a while, and yields the median of what one took, in µs.
func (s *Suite) perCall(h *engines.Host, once func(context.Context) (time.Duration, error)) func(context.Context) (float64, error) {
	return func(ctx context.Context) (float64, error) {
		var took []time.Duration
		for start := time.Now(); time.Since(start) < s.Duration/2; {
			h.Forget()
			d, err := once(ctx)
			if err != nil {
				return 0, err
			}
			if count, first := h.Recorded(); count != guests.Calls || first != abi.CallStateGet {
				return 0, fmt.Errorf("%d calls were recorded, not %d", count, guests.Calls)
			}
			took = append(took, d)
		}
		return micros(quantile(took, 0.5)) / guests.Calls, nil
	}
}
