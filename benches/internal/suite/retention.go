package suite

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/wharf-dev/wharf/benches/internal/node"
	"github.com/wharf-dev/wharf/benches/internal/report"
)

const (
	// retentionAge is how old a Task is when it goes. What the clients do meanwhile goes, too, once they have ended.
	retentionAge = 10 * time.Second
	// retentionLimit is how long the work may take in all.
	retentionLimit = 2 * time.Hour
	// goalBeside is how much longer clients may wait while it goes on, goalBack the part of the
	// room that comes back, and goalPace how many Tasks a second go at least: a node that ends as many in its
	// busiest hours keeps up.
	goalBeside, goalBack, goalPace = 1.5, 90, 1000
)

// measureRetention fills a node with Tasks, and has all of them removed while clients go on.
func measureRetention(ctx context.Context, s *Suite) ([]report.Row, error) {
	dir, remove, err := s.dataFolder("retention")
	if err != nil {
		return nil, err
	}
	defer remove()
	if err := s.fillTo(ctx, dir, 1); err != nil {
		return nil, err
	}
	empty, err := sizeOf(dir)
	if err != nil {
		return nil, err
	}
	if err := s.fillTasks(ctx, dir); err != nil {
		return nil, err
	}
	full, err := sizeOf(dir)
	if err != nil {
		return nil, err
	}
	quiet, err := s.beside(ctx, dir, nil)
	if err != nil {
		return nil, err
	}
	busy, err := s.beside(ctx, dir, []string{"WHARF_RETENTION_TASKS=" + retentionAge.String(), "WHARF_RETENTION_INTERVAL=1s"})
	if err != nil {
		return nil, err
	}
	left, err := sizeOf(dir)
	if err != nil {
		return nil, err
	}
	each, stays := float64(full-empty)/float64(s.Ended), float64(left-empty)/busy.removed
	return []report.Row{
		report.Row{What: "Task completed, p95, while ended Tasks go", Wharf: report.NewFigure("ms", busy.p95)}.
			Against("nothing goes", report.NewFigure("ms", quiet.p95)).Must(report.AtMost, goalBeside),
		report.Row{What: "ended Tasks that go, beside clients", Wharf: report.NewFigure("/s", busy.pace)}.Must(report.AtLeast, goalPace),
		report.Row{What: "room that comes back, receipts stay", Wharf: report.NewFigure("%", []float64{100 * (1 - stays/each)}),
			Note: fmt.Sprintf("a Task takes %.0f bytes; of each of the %.0f that are gone %.0f are left", each, busy.removed, stays)}.Must(report.AtLeast, goalBack),
	}, nil
}

// fillTasks has so many Tasks done, each in a Session of its own.
func (s *Suite) fillTasks(ctx context.Context, dir string) error {
	n, err := s.start(ctx, dir)
	if err != nil {
		return err
	}
	sh := shape{wait: true, fresh: true}
	trial, err := n.Events()
	if err == nil {
		err = s.fill(ctx, n, sh, trial+fillTrial)
	}
	if err == nil {
		var now int64
		if now, err = n.Events(); err == nil {
			each := max(1, (now-trial)/fillTrial)
			err = s.fill(ctx, n, sh, int64(s.Ended)*each)
		}
	}
	if err != nil {
		n.Kill()
		return withOutput(fmt.Errorf("filling the log: %w", err), n)
	}
	return n.Stop()
}

// besides is what clients met, and what went meanwhile.
type besides struct {
	p95     []float64 // of each window, in ms
	pace    []float64 // Tasks that went in a second of each window
	removed float64   // Tasks, in all
}

// beside measures clients in windows, one after the other: some in quiet, or as many as retention takes for what there
// was, leaving out those in which nothing goes. Then it waits until all is gone, what the clients have done included, and
// given back.
func (s *Suite) beside(ctx context.Context, dir string, env []string) (got besides, err error) {
	args, profile, err := s.profiled("retention")
	if err != nil {
		return got, err
	}
	n, err := s.startWith(ctx, dir, args, env)
	if err != nil {
		return got, err
	}
	defer n.Kill()
	ctx, cancel := context.WithTimeout(ctx, retentionLimit)
	defer cancel()
	for more := true; more; {
		began := time.Now()
		result, _, err := s.loadNode(ctx, n, shape{wait: true}, profile)
		if err != nil {
			return got, err
		}
		p95 := float64(quantile(result.Took, 0.95)) / float64(time.Millisecond)
		before := got.removed
		if got.removed, err = removedTasks(n); err != nil {
			return got, err
		}
		pace := (got.removed - before) / time.Since(began).Seconds()
		if s.say("  p95 %.1f ms, %.0f Tasks a second, %.0f removed a second", p95, result.Rate(), pace); env == nil || pace > 0 {
			got.p95, got.pace = append(got.p95, p95), append(got.pace, pace)
		}
		more = env != nil && got.removed < float64(s.Ended) || env == nil && len(got.p95) < s.Rounds
	}
	if env != nil {
		if got.removed, err = s.allGone(ctx, n); err != nil {
			return got, err
		}
	}
	return got, n.Stop()
}

func removedTasks(n *node.Node) (float64, error) {
	return n.Metric(`wharf_retention_removed_total{kind="task"}`)
}

// allGone waits until no more Tasks go, and until the files have given back what was removed: a minute after the last at most, and
// as long as that takes.
func (s *Suite) allGone(ctx context.Context, n *node.Node) (removed float64, err error) {
	const settles = 3 * time.Minute
	since := time.Now()
	for time.Since(since) < settles {
		if err := wait(ctx, n, time.Second); err != nil {
			return removed, err
		}
		before := removed
		if removed, err = removedTasks(n); err != nil {
			return removed, err
		}
		if removed > before {
			since = time.Now()
		}
	}
	s.say("  %.0f Tasks removed in all", removed)
	return removed, nil
}

// wait waits for a time in which a node goes on.
func wait(ctx context.Context, n *node.Node, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-n.Ended():
		return withOutput(fmt.Errorf("the node has ended: %s", n.Exit()), n)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// sizeOf adds up the log and the content of a data folder.
func sizeOf(dir string) (total int64, err error) {
	for _, part := range []string{"db", "blobs"} {
		err = filepath.WalkDir(filepath.Join(dir, part), func(_ string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			info, err := d.Info()
			if err == nil {
				total += info.Size()
			}
			return err
		})
		if err != nil {
			return 0, err
		}
	}
	return total, nil
}
