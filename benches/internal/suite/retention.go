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
	// retentionAge is how old a Task is when it goes: older than what the clients have done meanwhile is young.
	retentionAge = "1m"
	// retentionLimit is how long the work may take in all.
	retentionLimit = 2 * time.Hour
	// goalBeside is how much longer clients may wait while it goes on, and goalBack the part of the
	// room that comes back.
	goalBeside, goalBack = 1.5, 90
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
	quiet, _, err := s.beside(ctx, dir, nil)
	if err != nil {
		return nil, err
	}
	busy, removed, err := s.beside(ctx, dir, []string{"WHARF_RETENTION_TASKS=" + retentionAge, "WHARF_RETENTION_INTERVAL=1s"})
	if err != nil {
		return nil, err
	}
	left, err := sizeOf(dir)
	if err != nil {
		return nil, err
	}
	return []report.Row{
		report.Row{What: fmt.Sprintf("Task completed, p95, while %.0f ended Tasks go", removed), Wharf: report.NewFigure("ms", busy)}.
			Against("nothing goes", report.NewFigure("ms", quiet)).Must(report.AtMost, goalBeside),
		report.Row{What: "room that comes back, receipts stay", Wharf: report.NewFigure("%", []float64{100 * float64(full-left) / float64(full-empty)}),
			Note: fmt.Sprintf("%d MB with them, %d MB afterwards, with what the clients did meanwhile", full>>20, left>>20)}.Must(report.AtLeast, goalBack),
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

// beside measures clients in windows, one after the other: some in quiet, or as many as retention takes and until the
// files have given back what it has removed.
func (s *Suite) beside(ctx context.Context, dir string, env []string) (p95 []float64, removed float64, err error) {
	n, err := s.start(ctx, dir, env...)
	if err != nil {
		return nil, 0, err
	}
	defer n.Kill()
	ctx, cancel := context.WithTimeout(ctx, retentionLimit)
	defer cancel()
	for more := true; more; {
		result, _, err := s.loadNode(ctx, n, shape{wait: true}, noProfile)
		if err != nil {
			return nil, 0, err
		}
		p95 = append(p95, float64(quantile(result.Took, 0.95))/float64(time.Millisecond))
		if removed, more, err = s.goesOn(n, env, len(p95)); err != nil {
			return nil, 0, err
		}
		s.say("  p95 %.1f ms, %.0f Tasks removed", p95[len(p95)-1], removed)
	}
	if env != nil {
		if err := s.givenBack(ctx, n); err != nil {
			return nil, 0, err
		}
	}
	return p95, removed, n.Stop()
}

// goesOn reports whether there is more to measure.
func (s *Suite) goesOn(n *node.Node, env []string, windows int) (removed float64, more bool, err error) {
	if env == nil {
		return 0, windows < s.Rounds, nil
	}
	removed, err = n.Metric(`wharf_retention_removed_total{kind="task"}`)
	return removed, removed < float64(s.Ended), err
}

// givenBack waits until the files have given back what was removed: a minute after the last at most, and as long as that takes.
func (s *Suite) givenBack(ctx context.Context, n *node.Node) error {
	const settles = 3 * time.Minute
	t := time.NewTimer(settles)
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
