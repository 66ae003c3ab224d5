package suite

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/wharf-dev/wharf/benches/internal/guests"
	"github.com/wharf-dev/wharf/benches/internal/report"
	"github.com/wharf-dev/wharf/plugins/plugintest"
)

// The Personas of the plugins that only tests and measurements run, as
// plugins.dir makes them.
const (
	personaSteps = "persona_steps"
	personaCalls = "persona_calls"
)

// What a Task of the step measurements does.
const (
	stepCount = 5
	stepBytes = 200
)

// The kinds of steps.
const (
	durableSteps = "durable" // each on disk before the next begins
	readSteps    = "read"    // all on disk before anything that depends on them is told
)

// stepTask is a Task of a number of steps.
func stepTask(kind string, steps int) shape {
	return shape{wait: true, persona: personaSteps, task: fmt.Appendf(nil,
		`{"input":{"steps":%d,"kind":%q,"bytes":%d},"persona_id":%q,"metadata":{"source":"benches","trace":"b7c1f0"}}`,
		steps, kind, stepBytes, personaSteps)}
}

// writePlugins makes the folder of plugins that are no part of the node.
func (s *Suite) writePlugins() error {
	dir, _, err := s.folder("plugins") // removed with the folder that it is in
	if err != nil {
		return err
	}
	for name, module := range map[string][]byte{"steps": plugintest.Steps(), "calls": plugintest.Calls(), "golang": guests.Golang()} {
		if err := os.WriteFile(filepath.Join(dir, name+".wasm"), module, 0o600); err != nil {
			return fmt.Errorf("writing a plugin: %w", err)
		}
	}
	s.plugins = dir
	return nil
}

// withPlugins lets a node run the plugins of measurements.
func (s *Suite) withPlugins() []string { return []string{"WHARF_PLUGINS_DIR=" + s.plugins} }

// stepGoals are what Tasks of one kind of steps should reach.
type stepGoals struct {
	what   string
	syncs  int     // that follow one another in such a Task
	rate   float64 // a second
	micros float64 // for one client, p50
}

// goalCPU is what the server may spend on a Task of five steps, in µs.
const goalCPU = 200

func measureStepsDurable(ctx context.Context, s *Suite) ([]report.Row, error) {
	return s.steps(ctx, durableSteps, stepGoals{"each durable before the next", 2 + stepCount, 6000, 1500})
}

func measureStepsRead(ctx context.Context, s *Suite) ([]report.Row, error) {
	return s.steps(ctx, readSteps, stepGoals{"that need not be durable one by one", 2, 9000, 600})
}

// steps measures Tasks of five recorded steps, from the submit to the answer that
// says COMPLETED: with many clients and with one, each with a Session of its own.
func (s *Suite) steps(ctx context.Context, kind string, goals stepGoals) ([]report.Row, error) {
	c := &samplers{suite: s, cpu: map[string][]float64{}}
	many, one := stepTask(kind, stepCount), stepTask(kind, stepCount)
	one.conns = 1
	got, err := s.interleave(ctx, []step{
		c.ceiling(shape{}),
		c.fresh("steps-"+kind, many, s.withPlugins()),
		s.waiting("one client", one),
		{"a sync", func(context.Context) (float64, error) { two, err := s.twoSyncs(); return two / 2, err }},
	})
	if err != nil {
		return nil, err
	}
	what := fmt.Sprintf("Task of %d recorded steps of %d bytes, %s", stepCount, stepBytes, goals.what)
	ceiling := report.NewFigure(perSecond, divided(got["ceiling"], float64(goals.syncs)))
	name := "steps-" + kind
	return []report.Row{
		report.Row{What: fmt.Sprintf("%s, %d clients", what, s.Conns), Wharf: report.NewFigure(perSecond, got[name])}.
			Against(fmt.Sprintf("%s / %d", bareServer, goals.syncs), ceiling).MustBe(report.AtLeast, goals.rate),
		report.Row{What: "processor time of the server for one", Wharf: report.NewFigure("µs", c.cpu[name])}.
			Against(bareServer, report.NewFigure("µs", c.cpu["ceiling"])).MustBe(report.AtMost, goalCPU),
		report.Row{What: "the same Task, 1 client, p50", Wharf: report.NewFigure("µs", got["one client"])}.
			Against("one sync", report.NewFigure("µs", got["a sync"])).MustBe(report.AtMost, goals.micros),
	}, nil
}

// waiting is a step whose figure is the median of what clients waited, in µs.
func (s *Suite) waiting(name string, sh shape) step {
	return step{name, func(ctx context.Context) (float64, error) {
		got, err := s.loadFresh(ctx, name, sh, s.withPlugins())
		if err != nil {
			return 0, err
		}
		return micros(quantile(got.took, 0.5)), nil
	}}
}

// divided returns each of the samples divided by n.
func divided(samples []float64, n float64) []float64 {
	out := make([]float64, len(samples))
	for i, v := range samples {
		out[i] = v / n
	}
	return out
}
