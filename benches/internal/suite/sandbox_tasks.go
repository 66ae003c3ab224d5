package suite

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/wharf-dev/wharf/benches/internal/report"
)

// personaGo is the Persona of the plugin in Go that only measurements run.
const personaGo = "persona_golang"

const (
	goalGoTasks   = 0.7
	goalFirstTask = 50 // ms
)

// measureGoTasks measures Tasks of a plugin in Go beside those of one in C, and the first
// Task of a plugin in Go after a node's start.
func measureGoTasks(ctx context.Context, s *Suite) ([]report.Row, error) {
	dir, remove, err := s.dataFolder("node")
	if err != nil {
		return nil, err
	}
	defer remove()
	if _, err := s.firstTask(ctx, dir, personaGo, s.withPlugins()); err != nil {
		return nil, err
	}
	// The module is compiled now: other nodes begin with it too.
	defer func(before string) { s.modules = before }(s.modules)
	s.modules = filepath.Join(dir, modulesFolder)
	c := &samplers{suite: s, cpu: map[string][]float64{}}
	got, err := s.interleave(ctx, []step{
		c.fresh("C", shape{wait: true}, s.withPlugins()),
		c.fresh("Go", shape{wait: true, persona: personaGo}, s.withPlugins()),
		{"first", func(ctx context.Context) (float64, error) {
			took, err := s.firstTask(ctx, dir, personaGo, s.withPlugins())
			return millis(took), err
		}},
	})
	if err != nil {
		return nil, err
	}
	return []report.Row{
		report.Row{
			What: fmt.Sprintf("Task accepted to COMPLETED, echo in Go, %d connections", s.Conns), Wharf: report.NewFigure(perSecond, got["Go"]),
			Note: fmt.Sprintf("processor time of the server for each: %.0f µs (in C: %.0f µs)", report.Median(c.cpu["Go"]), report.Median(c.cpu["C"])),
		}.Against("echo in C", report.NewFigure(perSecond, got["C"])).Must(report.AtLeast, goalGoTasks),
		report.Row{What: "first Task of a Go plugin of 3 MB after a node's start, cached", Wharf: report.NewFigure("ms", got["first"])}.
			Must(report.AtMost, goalFirstTask),
	}, nil
}

// firstTask starts a node and returns how long the first Task of a plugin takes, from the
// submit on. No other Task has run before.
func (s *Suite) firstTask(ctx context.Context, dir, persona string, env []string) (time.Duration, error) {
	n, err := s.start(ctx, dir, env...)
	if err != nil {
		return 0, err
	}
	begun := time.Now()
	if err := completeOne(ctx, n, persona, compileLimit); err != nil {
		n.Kill()
		return 0, withOutput(err, n)
	}
	return time.Since(begun), n.Stop()
}
