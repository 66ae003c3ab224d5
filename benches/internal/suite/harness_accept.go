package suite

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"

	"github.com/wharf-dev/wharf/benches/internal/report"
)

// goalHarnessAccept is how much of Harn's rate is reached.
const goalHarnessAccept = 0.9

// measureHarnessAccept measures how many executions are accepted, durably, each with a Session of
// its own, beside Tasks that are submitted to Sessions that are there. Of both, none competes by
// running.
func measureHarnessAccept(ctx context.Context, s *Suite) ([]report.Row, error) {
	c := &samplers{suite: s, cpu: map[string][]float64{}}
	got, err := s.interleave(ctx, []step{
		c.fresh("accept", shape{}, held()),
		c.fresh("accept-harness", shape{harness: true}, held()),
		c.fresh("accept-fresh", shape{fresh: true}, held()),
	})
	if err != nil {
		return nil, err
	}
	there := report.NewFigure(perSecond, got["accept"])
	row := func(name, what string) report.Row {
		r := report.Row{What: what, Wharf: report.NewFigure(perSecond, got[name]), Note: fmt.Sprintf("processor time of the server for each: %.0f µs (Harn's: %.0f µs)",
			report.Median(c.cpu[name]), report.Median(c.cpu["accept"]))}
		return r.Against("Harn's submit to a Session that is there", there)
	}
	rows := []report.Row{
		row("accept-harness", fmt.Sprintf("execution accepted and durable, its Session with it, %d connections", s.Conns)).Must(report.AtLeast, goalHarnessAccept),
		row("accept-fresh", "the same by Harn's submit with a Session of its own"),
	}
	syncs, err := s.acceptSyncs(ctx)
	return append(rows, syncs...), err
}

// acceptSyncs runs the adapter's own benchmark, which counts the syncs of its store.
func (s *Suite) acceptSyncs(ctx context.Context) ([]report.Row, error) {
	cmd := exec.CommandContext(ctx, "go", "test", "-run", "^$", "-bench", "^BenchmarkAccept$", "-benchtime", "300x",
		"github.com/wharf-dev/wharf/gateway/openharness")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("running the benchmark of accepting: %w\n%s", err, bytes.TrimSpace(out))
	}
	harness, err := benchmarkMetrics(out, "BenchmarkAccept/execute")
	if err != nil {
		return nil, err
	}
	harn, err := benchmarkMetrics(out, "BenchmarkAccept/submit")
	if err != nil {
		return nil, err
	}
	row := report.Row{What: "syncs for an execution accepted, one client", Wharf: report.NewFigure("", []float64{harness["syncs/op"]})}
	return []report.Row{row.Against("Harn's submit", report.NewFigure("", []float64{harn["syncs/op"]})).MustBe(report.AtMost, 1)}, nil
}
