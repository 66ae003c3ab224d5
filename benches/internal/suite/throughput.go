package suite

import (
	"context"
	"fmt"
	"time"

	"github.com/wharf-dev/wharf/benches/internal/report"
)

const (
	perSecond  = "a second"
	bareServer = "bare server"
)

// samplers collects, beside the rates, the processor time of each sample.
type samplers struct {
	suite *Suite
	cpu   map[string][]float64
}

// step turns a load into a step whose figure is its rate.
func (c *samplers) step(name string, take func(context.Context) (sample, error)) step {
	return step{name, func(ctx context.Context) (float64, error) {
		got, err := take(ctx)
		if err == nil {
			c.cpu[name] = append(c.cpu[name], float64(got.cpu)/float64(time.Microsecond))
		}
		return got.rate, err
	}}
}

// ceiling is the step that measures the bare server.
func (c *samplers) ceiling(sh shape) step {
	return c.step("ceiling", func(ctx context.Context) (sample, error) { return c.suite.loadCeiling(ctx, sh) })
}

// fresh is a step that measures a node on a fresh folder.
func (c *samplers) fresh(name string, sh shape, env []string) step {
	return c.step(name, func(ctx context.Context) (sample, error) { return c.suite.loadFresh(ctx, name, sh, env) })
}

// note says what processor time a request cost on either side.
func (c *samplers) note(name string) string {
	return fmt.Sprintf("processor time of the server for each: %.0f µs (bare server: %.0f µs)",
		report.Median(c.cpu[name]), report.Median(c.cpu["ceiling"]))
}

// measureAccept measures how many Tasks are accepted, durably, while none of
// them competes by running; and, for information, while they all run.
func measureAccept(ctx context.Context, s *Suite) ([]report.Row, error) {
	c := &samplers{suite: s, cpu: map[string][]float64{}}
	got, err := s.interleave(ctx, []step{
		c.ceiling(shape{}),
		c.fresh("accept", shape{}, held()),
		c.fresh("accept-keyed", shape{keyed: true}, held()),
		c.fresh("accept-fresh", shape{fresh: true}, held()),
		c.fresh("accept-running", shape{}, unbounded()),
	})
	if err != nil {
		return nil, err
	}
	ceiling := report.NewFigure(perSecond, got["ceiling"])
	row := func(name, what string) report.Row {
		r := report.Row{What: what, Wharf: report.NewFigure(perSecond, got[name]), Note: c.note(name)}
		return r.Against(bareServer, ceiling)
	}
	of := fmt.Sprintf(", %d connections", s.Conns)
	return []report.Row{
		row("accept", "Task accepted and durable"+of).Must(report.AtLeast, 0.6),
		row("accept-keyed", "the same with an Idempotency-Key").Must(report.AtLeast, 0.6),
		row("accept-fresh", "the same with a Session of its own, made with it").
			Against("accepted in a Session that is there", report.NewFigure(perSecond, got["accept"])).Must(report.AtLeast, 0.9),
		row("accept-running", "the same while all of them also run"),
	}, nil
}

// measureComplete measures how many Tasks are accepted, run and completed. Two
// syncs follow one another in each, so the ceiling is half the bare server's.
func measureComplete(ctx context.Context, s *Suite) ([]report.Row, error) {
	c := &samplers{suite: s, cpu: map[string][]float64{}}
	got, err := s.interleave(ctx, []step{
		c.ceiling(shape{}),
		c.fresh("complete", shape{wait: true}, nil),
		c.fresh("complete-keyed", shape{wait: true, keyed: true}, nil),
	})
	if err != nil {
		return nil, err
	}
	ceiling := report.NewFigure(perSecond, divided(got["ceiling"], 2))
	row := func(name, what string) report.Row {
		r := report.Row{What: what, Wharf: report.NewFigure(perSecond, got[name]), Note: c.note(name)}
		return r.Against("bare server / 2", ceiling)
	}
	return []report.Row{
		row("complete", fmt.Sprintf("Task accepted to COMPLETED, echo, %d connections", s.Conns)).Must(report.AtLeast, 0.5),
		row("complete-keyed", "the same with an Idempotency-Key"),
	}, nil
}
