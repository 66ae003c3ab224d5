package suite

import (
	"context"
	"fmt"
	"time"

	"github.com/wharf-dev/wharf/benches/internal/load"
	"github.com/wharf-dev/wharf/benches/internal/report"
	"github.com/wharf-dev/wharf/benches/internal/restate"
)

// How many times as fast as Restate a node should be.
const (
	goalDurable = 6
	goalRead    = 10
)

// rival measures Restate.
type rival struct {
	suite   *Suite
	install *restate.Install
	cpu     map[string][]float64
	service map[string][]float64
	p50     map[string][]float64
}

// measureCompare measures Wharf beside Restate, both with the same steps, the same
// clients and the same load generator, in turn.
func measureCompare(ctx context.Context, s *Suite) ([]report.Row, error) {
	install, err := restate.Find(ctx)
	if err != nil {
		return nil, err
	}
	r := &rival{suite: s, install: install, cpu: map[string][]float64{}, service: map[string][]float64{}, p50: map[string][]float64{}}
	got, err := s.interleave(ctx, []step{
		r.restate("restate", s.Conns), r.wharf(durableSteps, s.Conns), r.wharf(readSteps, s.Conns),
		r.restate("restate, 1", 1), r.wharf(durableSteps+", 1", 1), r.wharf(readSteps+", 1", 1),
	})
	if err != nil {
		return nil, err
	}
	return r.rows(got), nil
}

func (r *rival) rows(got map[string][]float64) []report.Row {
	name := "Restate " + r.install.Version
	rate := report.NewFigure(perSecond, got["restate"])
	alone, p50 := report.NewFigure(perSecond, got["restate, 1"]), report.NewFigure("µs", r.p50["restate, 1"])
	cpu := report.NewFigure("µs", r.cpu["restate"])
	settings := fmt.Sprintf("SDK %s; one server with its default settings, each step synced before the next begins; "+
		"its service is a Node process beside it, which takes %.0f µs more for each", r.install.SDK, report.Median(r.service["restate"]))
	var rows []report.Row
	for _, k := range []struct {
		kind, what string
		goal       float64
	}{{durableSteps, "each durable before the next", goalDurable}, {readSteps, "that Wharf need not sync one by one", goalRead}} {
		task := fmt.Sprintf("Task of %d steps of %d bytes, %s", stepCount, stepBytes, k.what)
		one := k.kind + ", 1"
		rows = append(rows,
			report.Row{What: fmt.Sprintf("%s, %d clients", task, r.suite.Conns), Wharf: report.NewFigure(perSecond, got[k.kind]), Note: settings}.
				Against(name, rate).Must(report.AtLeast, k.goal),
			report.Row{What: task + ", 1 client", Wharf: report.NewFigure(perSecond, got[one])}.Against(name, alone),
			report.Row{What: task + ", 1 client, p50", Wharf: report.NewFigure("µs", r.p50[one])}.Against(name, p50),
			report.Row{What: "processor time of the server for one of them", Wharf: report.NewFigure("µs", r.cpu[k.kind])}.Against(name, cpu),
		)
	}
	return rows
}

// note keeps what a sample told beside its rate.
func (r *rival) note(name string, got sample) float64 {
	r.cpu[name] = append(r.cpu[name], micros(got.cpu))
	r.p50[name] = append(r.p50[name], micros(quantile(got.took, 0.5)))
	return got.rate
}

// wharf is a step that measures a node on a fresh folder. The name begins with the
// kind of the steps.
func (r *rival) wharf(name string, conns int) step {
	kind := durableSteps
	if name[0] == readSteps[0] {
		kind = readSteps
	}
	sh := stepTask(kind, stepCount)
	sh.conns = conns
	return step{name, func(ctx context.Context) (float64, error) {
		got, err := r.suite.loadFresh(ctx, name, sh, r.suite.withPlugins())
		if err != nil {
			return 0, err
		}
		return r.note(name, got), nil
	}}
}

// restate is a step that measures Restate on a fresh folder.
func (r *rival) restate(name string, conns int) step {
	return step{name, func(ctx context.Context) (float64, error) {
		got, service, err := r.loadRestate(ctx, conns)
		if err != nil {
			return 0, err
		}
		r.service[name] = append(r.service[name], micros(service))
		return r.note(name, got), nil
	}}
}

// loadRestate measures Restate once; service is the processor time of its service
// for each Task.
func (r *rival) loadRestate(ctx context.Context, conns int) (got sample, service time.Duration, err error) {
	dir, remove, err := r.suite.folder("restate")
	if err != nil {
		return sample{}, 0, err
	}
	defer remove()
	server, err := restate.Start(ctx, r.install, dir)
	if err != nil {
		return sample{}, 0, err
	}
	defer server.Stop()
	plan := load.Plan{
		Addr: server.Addr, Conns: conns, Warmup: r.suite.Warmup, Measure: r.suite.Duration, Counts: restate.Done,
		Requests: func(int) *load.Request {
			return load.NewRequest("POST", server.Addr, server.Path(), nil, false, restate.Body(stepCount, stepBytes))
		},
	}
	var spent []time.Duration // by the service, at both ends of the window
	result, got, err := runPlan(ctx, plan, func() (time.Duration, error) {
		now, err := server.ServiceCPU()
		if err != nil {
			return 0, err
		}
		spent = append(spent, now)
		return server.CPU()
	})
	if err != nil {
		return sample{}, 0, err
	}
	if len(spent) == 2 {
		service = (spent[1] - spent[0]) / time.Duration(result.Counted)
	}
	return got, service, nil
}
