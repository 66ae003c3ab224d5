package suite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/wharf-dev/wharf/benches/internal/node"
	"github.com/wharf-dev/wharf/benches/internal/report"
)

const (
	// walTasks are few enough for the first file of the write-ahead log: a later one
	// may be an old file that is used again, in which old records lie.
	walTasks = 16
	// walGoal is how many bytes a Task of five steps of 200 bytes may take.
	walGoal = 6_000
	// databaseFolder is where a node keeps its database, within its data folder.
	databaseFolder = "db"
)

// chanceTask is a Task that is told 200 random bytes five times. They cannot be
// compressed, unlike what the other steps record.
func chanceTask() shape {
	return shape{wait: true, persona: personaCalls, task: fmt.Appendf(nil,
		`{"input":{"program":[{"call":"random","bytes":%d,"repeat":%d}]},"persona_id":%q,"metadata":{"source":"benches","trace":"b7c1f0"}}`,
		stepBytes, stepCount, personaCalls)}
}

// measureWAL measures what a Task adds to the write-ahead log: everything from its
// submit to its receipt. The Tasks run one by one, so that none shares what is
// written for it.
func measureWAL(ctx context.Context, s *Suite) ([]report.Row, error) {
	kinds := []struct {
		name, what string
		shape      shape
	}{
		{"durable", "each durable before the next", stepTask(durableSteps, stepCount)},
		{"read", "that need not be durable one by one", stepTask(readSteps, stepCount)},
		{"random", "of chance, which nothing compresses", chanceTask()},
	}
	var steps []step
	for _, k := range kinds {
		steps = append(steps, step{k.name, func(ctx context.Context) (float64, error) { return s.walRound(ctx, k.shape) }})
	}
	got, err := s.interleave(ctx, steps)
	if err != nil {
		return nil, err
	}
	var rows []report.Row
	for _, k := range kinds {
		what := fmt.Sprintf("write-ahead log for a Task of %d steps of %d bytes, %s, receipt included", stepCount, stepBytes, k.what)
		rows = append(rows, report.Row{What: what, Wharf: report.NewFigure("bytes", got[k.name])}.Must(report.AtMost, walGoal))
	}
	return rows, nil
}

// walRound returns how many bytes a Task of the given shape adds.
func (s *Suite) walRound(ctx context.Context, sh shape) (float64, error) {
	dir, remove, err := s.dataFolder("node")
	if err != nil {
		return 0, err
	}
	defer remove()
	n, err := s.start(ctx, dir, s.withPlugins()...)
	if err != nil {
		return 0, err
	}
	defer n.Kill()
	sessions, err := n.CreateSessions(1, sh.who())
	if err != nil {
		return 0, err
	}
	if err := runSome(n, sessions[0], sh, 1); err != nil { // what a node writes once
		return 0, withOutput(err, n)
	}
	log, before, err := walFile(dir)
	if err != nil {
		return 0, err
	}
	if err := runSome(n, sessions[0], sh, walTasks); err != nil {
		return 0, withOutput(err, n)
	}
	now, after, err := walFile(dir)
	if err != nil {
		return 0, err
	}
	if now != log {
		return 0, errors.New("the write-ahead log went on in another file, of which nothing is known")
	}
	return float64(after-before) / walTasks, nil
}

// runSome runs Tasks one after the other. Each has a receipt at its end.
func runSome(n *node.Node, session string, sh shape, count int) error {
	for range count {
		id, err := n.Submit(session, sh.body(), "wait=10")
		if err != nil {
			return err
		}
		var task struct {
			Status  string `json:"status"`
			Receipt string `json:"receipt_id"`
		}
		if err := n.Call("GET", "/v1/tasks/"+id, nil, &task); err != nil {
			return err
		}
		if task.Status != completed || task.Receipt == "" {
			return fmt.Errorf("task %s is %s and its receipt is %q", id, task.Status, task.Receipt)
		}
	}
	return nil
}

// walFile returns the newest file of the write-ahead log, and up to where it was written: what it was grown by ahead is zeros.
func walFile(dir string) (name string, written int, err error) {
	files, err := filepath.Glob(filepath.Join(dir, databaseFolder, "*.log"))
	if err != nil || len(files) == 0 {
		return "", 0, errors.Join(errors.New("there is no write-ahead log"), err)
	}
	name = slices.Max(files)
	content, err := os.ReadFile(name)
	return name, len(bytes.TrimRight(content, "\x00")), err
}
