package suite

import (
	"context"
	"fmt"
	"time"

	"github.com/wharf-dev/wharf/benches/internal/load"
	"github.com/wharf-dev/wharf/benches/internal/node"
	"github.com/wharf-dev/wharf/benches/internal/report"
)

const (
	// goalParked is what the waiting Tasks may take together, in MB.
	goalParked = 100
	// parkedConns are the connections that submit them, each to its own Session.
	parkedConns = 16
	// answeredParked is how many of them are answered at the end, to see that they
	// come back.
	answeredParked = 20
	parkLimit      = 5 * time.Minute
	parkEvery      = 50 * time.Millisecond
)

// parkedTask waits for input, and is done when it gets some.
func parkedTask() shape {
	return shape{persona: personaCalls, conns: parkedConns, task: fmt.Appendf(nil,
		`{"input":{"program":[{"call":"input.request","request":{"prompt":"Which depot is meant?"}}]},"persona_id":%q,"metadata":{"source":"benches"}}`,
		personaCalls)}
}

// parkedSample is what the waiting Tasks took.
type parkedSample struct{ memory, restarted, goroutines float64 }

// measureParked measures what Tasks take that wait for input: in the node that
// parked them, and in one that found them in its log.
func measureParked(ctx context.Context, s *Suite) ([]report.Row, error) {
	var memory, restarted, goroutines []float64
	for round := range min(s.Rounds, memoryRounds) {
		got, err := s.parkedRound(ctx)
		if err != nil {
			return nil, err
		}
		s.say("  round %d: %.1f MB more, %.1f MB more after a restart, %.0f goroutines more", round+1, got.memory, got.restarted, got.goroutines)
		memory, restarted, goroutines = append(memory, got.memory), append(restarted, got.restarted), append(goroutines, got.goroutines)
	}
	what := fmt.Sprintf("%d Tasks that wait for input", s.Parked)
	return []report.Row{
		report.Row{What: "resident memory that " + what + " add to an idle node", Wharf: report.NewFigure("MB", memory), Difference: true}.Must(report.AtMost, goalParked),
		report.Row{What: "the same after a restart", Wharf: report.NewFigure("MB", restarted), Difference: true}.Must(report.AtMost, goalParked),
		{What: "goroutines that " + what + " add", Wharf: report.NewFigure("", goroutines), Difference: true},
	}, nil
}

func (s *Suite) parkedRound(ctx context.Context) (got parkedSample, err error) {
	dir, remove, err := s.dataFolder("node")
	if err != nil {
		return got, err
	}
	defer remove()
	env := append(s.withPlugins(), unbounded()...)
	n, err := s.start(ctx, dir, env...)
	if err != nil {
		return got, err
	}
	defer func() { n.Kill() }()
	idle, few, err := resident(ctx, n)
	if err != nil {
		return got, err
	}
	ids, err := s.park(ctx, n)
	if err != nil {
		return got, withOutput(err, n)
	}
	full, many, err := resident(ctx, n)
	if err != nil {
		return got, err
	}
	if err := n.Stop(); err != nil {
		return got, err
	}
	if n, err = s.start(ctx, dir, env...); err != nil {
		return got, err
	}
	again, _, err := resident(ctx, n)
	if err != nil {
		return got, err
	}
	if err := answerSome(ctx, n, ids); err != nil {
		return got, withOutput(err, n)
	}
	return parkedSample{memory: full - idle, restarted: again - idle, goroutines: many - few}, nil
}

// resident returns memory in MB, and goroutines, of a node that was left alone.
func resident(ctx context.Context, n *node.Node) (mb, goroutines float64, err error) {
	if mb, err = settled(ctx, n); err != nil {
		return 0, 0, err
	}
	goroutines, err = n.Metric("go_goroutines")
	return mb, goroutines, err
}

// park submits the Tasks and waits until all of them wait.
func (s *Suite) park(ctx context.Context, n *node.Node) (ids []string, err error) {
	sh := parkedTask()
	sessions, err := n.CreateSessions(s.conns(sh), sh.who())
	if err != nil {
		return nil, err
	}
	plan := s.plan(n.Addr, sessions, sh)
	plan.Warmup, plan.Measure, plan.MaxRequests = 0, time.Minute, int64(s.Parked)
	result, err := load.Run(ctx, plan)
	if err != nil {
		return nil, err
	}
	if len(result.IDs) != s.Parked {
		return nil, fmt.Errorf("%d of %d Tasks were accepted; an answer was %s", len(result.IDs), s.Parked, result.Example)
	}
	return result.IDs, allWait(ctx, n)
}

// allWait returns when no Task is queued or running any more.
func allWait(ctx context.Context, n *node.Node) error {
	for start := time.Now(); time.Since(start) < parkLimit; {
		queued, err := n.Metric("wharf_tasks_queued")
		if err != nil {
			return err
		}
		running, err := n.Metric("wharf_tasks_running")
		if err != nil {
			return err
		}
		if queued+running == 0 {
			return nil
		}
		select {
		case <-time.After(parkEvery):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return fmt.Errorf("some Tasks do not wait after %s", parkLimit)
}

// answerSome answers some of the waiting Tasks, spread over all of them, and
// requires that they complete.
func answerSome(ctx context.Context, n *node.Node, ids []string) error {
	for i := 0; i < len(ids); i += max(1, len(ids)/answeredParked) {
		if err := n.Await(ctx, ids[i], "INPUT_REQUIRED", time.Minute, parkEvery); err != nil {
			return err
		}
		if err := goOn(n, ids[i]); err != nil {
			return err
		}
		if err := n.Await(ctx, ids[i], completed, time.Minute, parkEvery); err != nil {
			return err
		}
	}
	return nil
}
