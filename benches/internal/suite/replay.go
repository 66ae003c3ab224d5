package suite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/wharf-dev/wharf/benches/internal/node"
	"github.com/wharf-dev/wharf/benches/internal/report"
	"github.com/wharf-dev/wharf/runtime/bundle"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/replay"
	"github.com/wharf-dev/wharf/runtime/sandbox"
)

const (
	// goalReplay is how many host calls a replay should do a second.
	goalReplay = 100_000
	// recordLimit is how long recording or replaying the long Task may take.
	recordLimit = 2 * time.Minute
	// askEvery is how often a node is asked whether a replay has ended: short against
	// what a replay takes.
	askEvery = time.Millisecond
)

// recorded is a Task with a long record.
type recorded struct {
	node   *node.Node
	id     string
	record *journal.Record
	module []byte
}

// measureReplay measures an exact replay of one Task of many host calls: by the
// library alone, from the record in memory, and by the node, from the request to
// the end of the replay Task, whose own record is then in the log.
func measureReplay(ctx context.Context, s *Suite) ([]report.Row, error) {
	dir, remove, err := s.dataFolder("node")
	if err != nil {
		return nil, err
	}
	defer remove()
	args, profile, err := s.profiled("replay")
	if err != nil {
		return nil, err
	}
	n, err := s.startWith(ctx, dir, args, s.withPlugins())
	if err != nil {
		return nil, err
	}
	defer n.Kill()
	r, err := s.record(ctx, n)
	if err != nil {
		return nil, withOutput(err, n)
	}
	module, done, err := compiled(ctx, r.module)
	if err != nil {
		return nil, err
	}
	defer done()
	defer profile(ctx)()
	got, err := s.interleave(ctx, []step{
		{"library", func(ctx context.Context) (float64, error) { return s.replayed(ctx, module, r.record) }},
		{"node", func(ctx context.Context) (float64, error) { return s.replayedByNode(ctx, r) }},
	})
	if err != nil {
		return nil, withOutput(err, n)
	}
	calls := fmt.Sprintf("host calls replayed, Task of %d", len(r.record.Entries))
	return []report.Row{
		report.Row{What: calls + ", by the library on one core", Wharf: report.NewFigure(perSecond, got["library"])}.Must(report.AtLeast, goalReplay),
		report.Row{What: calls + ", by the node, from the request to the end", Wharf: report.NewFigure(perSecond, got["node"])}.Must(report.AtLeast, goalReplay),
	}, nil
}

// record runs the Task and fetches its record.
func (s *Suite) record(ctx context.Context, n *node.Node) (*recorded, error) {
	sh := stepTask(readSteps, s.Calls)
	sessions, err := n.CreateSessions(1, sh.who())
	if err != nil {
		return nil, err
	}
	id, err := n.Submit(sessions[0], sh.body(), "")
	if err != nil {
		return nil, err
	}
	if err := n.Await(ctx, id, completed, recordLimit, askEvery); err != nil {
		return nil, err
	}
	status, zip, err := n.Do("GET", "/wharf/v1/tasks/"+id+"/bundle", nil)
	if err != nil {
		return nil, err
	}
	if status != 200 {
		return nil, fmt.Errorf("asking for a run bundle was answered with %d: %.300s", status, zip)
	}
	contents, err := bundle.Read(bytes.NewReader(zip), int64(len(zip)))
	if err != nil {
		return nil, fmt.Errorf("reading the run bundle: %w", err)
	}
	if len(contents.Record.Entries) < s.Calls {
		return nil, fmt.Errorf("the record has %d calls, and %d were made", len(contents.Record.Entries), s.Calls)
	}
	return &recorded{node: n, id: id, record: contents.Record, module: contents.Module}, nil
}

// compiled compiles a module; done frees it.
func compiled(ctx context.Context, wasm []byte) (m *sandbox.Module, done func(), err error) {
	runtime, err := sandbox.New(ctx, sandbox.Config{})
	if err != nil {
		return nil, nil, fmt.Errorf("making a sandbox: %w", err)
	}
	done = func() { runtime.Close(context.WithoutCancel(ctx)) }
	if m, err = runtime.Compile(ctx, wasm); err != nil {
		done()
		return nil, nil, fmt.Errorf("compiling the module: %w", err)
	}
	return m, done, nil
}

// replayed replays a record for a while and returns the host calls a second.
func (s *Suite) replayed(ctx context.Context, m *sandbox.Module, rec *journal.Record) (float64, error) {
	calls := 0
	start := time.Now()
	for time.Since(start) < s.Duration {
		result, err := replay.Run(ctx, m, rec, replay.Options{})
		if err != nil {
			return 0, fmt.Errorf("replaying: %w", err)
		}
		if result.Divergence != nil {
			return 0, result.Divergence
		}
		calls += len(result.Entries)
	}
	return float64(calls) / time.Since(start).Seconds(), nil
}

// replayedByNode has the node replay the Task for a while, and returns the host
// calls a second.
func (s *Suite) replayedByNode(ctx context.Context, r *recorded) (float64, error) {
	calls := 0
	start := time.Now()
	for time.Since(start) < s.Duration {
		var task struct {
			ID string `json:"id"`
		}
		if err := r.node.Call("POST", "/v1/tasks/"+r.id+"/replay", map[string]string{"mode": "exact"}, &task); err != nil {
			return 0, err
		}
		if task.ID == "" {
			return 0, errors.New("a replay was accepted without an id")
		}
		if err := r.node.Await(ctx, task.ID, completed, recordLimit, askEvery); err != nil {
			return 0, err
		}
		calls += len(r.record.Entries)
	}
	return float64(calls) / time.Since(start).Seconds(), nil
}
