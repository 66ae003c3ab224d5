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
	smallLog     = 1_000     // events of the log that a full one is compared with
	firstFull    = 1_000_000 // events of the first full log
	fillLimit    = 2 * time.Hour
	fillSlice    = 10 * time.Second
	fillTrial    = 100 // Tasks that tell how many events a Task makes
	backlogLimit = 10 * time.Minute
)

// measureScale compares a node with a full log to one with hardly anything in it,
// at a million events and at every tenfold of that up to Config.Events.
func measureScale(ctx context.Context, s *Suite) ([]report.Row, error) {
	dir, remove, err := s.dataFolder("full")
	if err != nil {
		return nil, err
	}
	defer remove()
	var rows []report.Row
	for level := min(int64(firstFull), s.Events); level <= s.Events; level *= 10 {
		if err := s.fillTo(ctx, dir, level); err != nil {
			return rows, err
		}
		more, err := s.scaleLevel(ctx, dir, level)
		rows = append(rows, more...)
		if err != nil {
			return rows, err
		}
	}
	return rows, nil
}

// scaleLevel measures one level. Accepting leaves a backlog behind, which is
// worked off before the next sample.
func (s *Suite) scaleLevel(ctx context.Context, full string, level int64) ([]report.Row, error) {
	got, err := s.interleave(ctx, []step{
		{"complete, small", s.onSmall(shape{wait: true}, nil)},
		{"complete, full", s.onFull(full, shape{wait: true}, nil)},
		{"keyed, full", s.onFull(full, shape{wait: true, keyed: true}, nil)},
		{"keyed, small", s.onSmall(shape{wait: true, keyed: true}, nil)},
		{"accept, full", s.onFull(full, shape{}, held())},
		{"accept, small", s.onSmall(shape{}, held())},
	})
	if err != nil {
		return nil, err
	}
	row := func(name, what string) report.Row {
		r := report.Row{What: fmt.Sprintf("%s, %d events in the log", what, level), Wharf: report.NewFigure(perSecond, got[name+", full"])}
		small := report.NewFigure(perSecond, got[name+", small"])
		return r.Against(fmt.Sprintf("%d events", smallLog), small).Must(report.AtLeast, 0.8)
	}
	return []report.Row{
		row("accept", "Task accepted"), row("complete", "Task completed"),
		row("keyed", "Task with an Idempotency-Key completed"),
	}, nil
}

// onSmall measures a node whose log holds about a thousand events.
func (s *Suite) onSmall(sh shape, env []string) func(context.Context) (float64, error) {
	return func(ctx context.Context) (float64, error) {
		dir, remove, err := s.dataFolder("small")
		if err != nil {
			return 0, err
		}
		defer remove()
		if err := s.fillTo(ctx, dir, smallLog); err != nil {
			return 0, err
		}
		return s.onFull(dir, sh, env)(ctx)
	}
}

// onFull measures a node on a folder that has been filled.
func (s *Suite) onFull(dir string, sh shape, env []string) func(context.Context) (float64, error) {
	return func(ctx context.Context) (float64, error) {
		if err := s.workOff(ctx, dir); err != nil {
			return 0, err
		}
		n, err := s.start(ctx, dir, env...)
		if err != nil {
			return 0, err
		}
		defer n.Kill()
		_, got, err := s.loadNode(ctx, n, sh, noProfile)
		return got.rate, err
	}
}

// workOff runs what an earlier measurement left in the queue.
func (s *Suite) workOff(ctx context.Context, dir string) error {
	n, err := s.start(ctx, dir, unbounded()...)
	if err != nil {
		return err
	}
	if err := completeOne(ctx, n, persona, backlogLimit); err != nil {
		n.Kill()
		return withOutput(fmt.Errorf("working off the backlog: %w", err), n)
	}
	return n.Stop()
}

// fillTo runs Tasks through a node on dir until its log holds about that many
// events.
func (s *Suite) fillTo(ctx context.Context, dir string, events int64) error {
	n, err := s.start(ctx, dir)
	if err != nil {
		return err
	}
	if err := s.fill(ctx, n, shape{wait: true}, events); err != nil {
		n.Kill()
		return withOutput(fmt.Errorf("filling the log: %w", err), n)
	}
	return n.Stop()
}

// fill runs Tasks of a shape through a node until its log holds about that many
// events.
func (s *Suite) fill(ctx context.Context, n *node.Node, sh shape, events int64) error {
	sessions, err := n.CreateSessions(s.conns(sh), sh.who())
	if err != nil {
		return err
	}
	have, err := n.Events()
	if err != nil {
		return err
	}
	plan := s.plan(n.Addr, sessions, sh)
	plan.Warmup, plan.Measure, plan.MaxRequests = 0, fillSlice, fillTrial
	for deadline := time.Now().Add(fillLimit); have < events; {
		now, perTask, err := fillSome(ctx, n, plan, have)
		if err != nil {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("the log holds %d events after %s, and %d are wanted", now, fillLimit, events)
		}
		have, plan.MaxRequests = now, max(1, int64(float64(events-now)/perTask))
		if events > smallLog {
			s.say("  the log holds %d of %d events", have, events)
		}
	}
	return nil
}

// fillSome runs one load and returns how many events the log holds then, and how
// many each Task made.
func fillSome(ctx context.Context, n *node.Node, plan load.Plan, have int64) (now int64, perTask float64, err error) {
	result, err := load.Run(ctx, plan)
	if err != nil {
		return 0, 0, err
	}
	if len(result.IDs) == 0 {
		return 0, 0, fmt.Errorf("no Task completed; an answer was %s", result.Example)
	}
	now, err = n.Events()
	return now, float64(now-have) / float64(len(result.IDs)), err
}
