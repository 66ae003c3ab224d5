package suite

import (
	"context"
	"fmt"

	"github.com/wharf-dev/wharf/benches/internal/report"
)

// goalStepsFull is how many Tasks of five read steps a second a node with a million
// events should complete.
const goalStepsFull = 7_500

// measureStepsScale measures Tasks of read steps on a log that holds as many events
// as Config.Events says, and on one with hardly any.
func measureStepsScale(ctx context.Context, s *Suite) ([]report.Row, error) {
	full, remove, err := s.dataFolder("full")
	if err != nil {
		return nil, err
	}
	defer remove()
	sh := stepTask(readSteps, stepCount)
	if err := s.fillSteps(ctx, full, sh); err != nil {
		return nil, err
	}
	c := &samplers{suite: s, cpu: map[string][]float64{}}
	got, err := s.interleave(ctx, []step{
		c.fresh("small", sh, s.withPlugins()),
		c.step("full", func(ctx context.Context) (sample, error) { return s.stepsOn(ctx, full, sh) }),
	})
	if err != nil {
		return nil, err
	}
	small := report.NewFigure(perSecond, got["small"])
	what := fmt.Sprintf("Task of %d recorded steps of %d bytes, that need not be durable one by one, %d clients, %d events in the log",
		stepCount, stepBytes, s.Conns, s.Events)
	note := fmt.Sprintf("processor time of the server for each: %.0f µs (empty log: %.0f µs)",
		report.Median(c.cpu["full"]), report.Median(c.cpu["small"]))
	return []report.Row{
		report.Row{What: what, Wharf: report.NewFigure(perSecond, got["full"]), Note: note}.
			Against("empty log", small).MustBe(report.AtLeast, goalStepsFull),
	}, nil
}

// fillSteps fills a log with Tasks of the given shape.
func (s *Suite) fillSteps(ctx context.Context, dir string, sh shape) error {
	n, err := s.start(ctx, dir, s.withPlugins()...)
	if err != nil {
		return err
	}
	if err := s.fill(ctx, n, sh, s.Events); err != nil {
		n.Kill()
		return withOutput(fmt.Errorf("filling the log: %w", err), n)
	}
	return n.Stop()
}

// stepsOn measures a node on a folder that has been filled.
func (s *Suite) stepsOn(ctx context.Context, dir string, sh shape) (sample, error) {
	args, profile, err := s.profiled("steps-full")
	if err != nil {
		return sample{}, err
	}
	n, err := s.startWith(ctx, dir, args, s.withPlugins())
	if err != nil {
		return sample{}, err
	}
	defer n.Kill()
	_, got, err := s.loadNode(ctx, n, sh, profile)
	return got, err
}
