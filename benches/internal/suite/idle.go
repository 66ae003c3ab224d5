package suite

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/benches/internal/load"
	"github.com/wharf-dev/wharf/benches/internal/node"
	"github.com/wharf-dev/wharf/benches/internal/report"
)

const (
	// settle is how long a node is left alone before its memory is read, so that
	// the runtime can give back what it no longer uses.
	settle = 5 * time.Second
	// completeLimit is how long one Task may take on a node that is otherwise idle.
	completeLimit = 20 * time.Second
	// compileLimit is how long it may take when its module must be compiled first.
	compileLimit = 2 * time.Minute
	megabyte     = 1e6
)

// measureCold measures the start of the binary on a folder that it has been used
// on before, so that the modules are in the compilation cache.
func measureCold(ctx context.Context, s *Suite) ([]report.Row, error) {
	dir, remove, err := s.dataFolder("node")
	if err != nil {
		return nil, err
	}
	defer remove()
	if _, _, err := s.coldStart(ctx, dir); err != nil { // so that there is something to read back
		return nil, err
	}
	var completed []float64
	got, err := s.interleave(ctx, []step{{"cold", func(ctx context.Context) (float64, error) {
		answer, task, err := s.coldStart(ctx, dir)
		completed = append(completed, millis(task))
		return millis(answer), err
	}}})
	if err != nil {
		return nil, err
	}
	return []report.Row{
		report.Row{What: "cold start to first answered request, modules cached", Wharf: report.NewFigure("ms", got["cold"])}.Must(report.AtMost, 150),
		{What: "cold start to first completed Task", Wharf: report.NewFigure("ms", completed)},
	}, nil
}

// coldStart starts a node, runs one Task through it and stops it. It returns
// how long the first answer took, and the completed Task, from the start of the
// process.
func (s *Suite) coldStart(ctx context.Context, dir string) (answer, task time.Duration, err error) {
	n, err := s.start(ctx, dir)
	if err != nil {
		return 0, 0, err
	}
	answered := time.Now()
	if err := completeOne(ctx, n, persona, completeLimit); err != nil {
		n.Kill()
		return 0, 0, withOutput(err, n)
	}
	task = n.FirstAnswer + time.Since(answered)
	return n.FirstAnswer, task, n.Stop()
}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// measureMemory measures what an idle node keeps resident: fresh, with many
// Sessions that it has just made, and with the same Sessions after a restart.
func measureMemory(ctx context.Context, s *Suite) ([]report.Row, error) {
	var fresh, made, restarted []float64
	for round := range min(s.Rounds, memoryRounds) {
		got, err := s.memoryRound(ctx)
		if err != nil {
			return nil, err
		}
		s.say("  round %d: %.1f MB idle, %.1f MB with sessions, %.1f MB after a restart", round+1, got[0], got[1], got[2])
		fresh, made, restarted = append(fresh, got[0]), append(made, got[1]), append(restarted, got[2])
	}
	many := fmt.Sprintf("resident memory with %d idle Sessions", s.Sessions)
	return []report.Row{
		report.Row{What: "resident memory, idle node", Wharf: report.NewFigure("MB", fresh)}.Must(report.AtMost, 60),
		report.Row{What: many, Wharf: report.NewFigure("MB", made)}.Must(report.AtMost, 100),
		{What: "the same after a restart", Wharf: report.NewFigure("MB", restarted)},
	}, nil
}

// memoryRounds is enough for figures that hardly vary.
const memoryRounds = 3

// memoryRound returns resident memory of a node fresh, with Sessions, and
// restarted, in MB.
func (s *Suite) memoryRound(ctx context.Context) (got [3]float64, err error) {
	dir, remove, err := s.dataFolder("node")
	if err != nil {
		return got, err
	}
	defer remove()
	n, err := s.start(ctx, dir)
	if err != nil {
		return got, err
	}
	defer func() { n.Kill() }()
	if got[0], err = settled(ctx, n); err != nil {
		return got, err
	}
	if err := s.manySessions(ctx, n); err != nil {
		return got, withOutput(err, n)
	}
	if got[1], err = settled(ctx, n); err != nil {
		return got, err
	}
	if err := n.Stop(); err != nil {
		return got, err
	}
	if n, err = s.start(ctx, dir); err != nil {
		return got, err
	}
	got[2], err = settled(ctx, n)
	return got, err
}

// settled returns a node's resident memory, in MB, after it was left alone.
func settled(ctx context.Context, n *node.Node) (float64, error) {
	select {
	case <-time.After(settle):
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	rss, err := n.RSS()
	return float64(rss) / megabyte, err
}

// manySessions creates Sessions over a few connections.
func (s *Suite) manySessions(ctx context.Context, n *node.Node) error {
	workspace, err := n.Workspace()
	if err != nil {
		return err
	}
	body, err := json.Marshal(abi.CreateSessionRequest{WorkspaceID: workspace, PersonaID: persona})
	if err != nil {
		return fmt.Errorf("encoding a request: %w", err)
	}
	result, err := load.Run(ctx, load.Plan{
		Addr: n.Addr, Conns: 16, Measure: time.Minute, MaxRequests: int64(s.Sessions),
		Counts: func(status int, _ []byte) bool { return status/100 == 2 },
		Requests: func(int) *load.Request {
			return load.NewRequest("POST", n.Addr, "/v1/sessions", node.Headers(), false, body)
		},
	})
	if err != nil {
		return err
	}
	if result.Counted != s.Sessions {
		return errors.New("not every Session was made: " + result.Example)
	}
	return nil
}
