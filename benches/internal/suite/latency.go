package suite

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/wharf-dev/wharf/benches/internal/disk"
	"github.com/wharf-dev/wharf/benches/internal/node"
	"github.com/wharf-dev/wharf/benches/internal/report"
)

// How many Tasks and syncs a round of the latency measurement is made of.
const (
	latencyWarmup  = 50
	latencySamples = 300
)

// quantile returns the q-th quantile of took, which it sorts.
func quantile(took []time.Duration, q float64) time.Duration {
	slices.Sort(took)
	return took[min(len(took)-1, int(q*float64(len(took))))]
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

// measureLatency measures what one client waits from submitting a Task to seeing
// it completed on its Session's stream, told in syncs of this disk.
func measureLatency(ctx context.Context, s *Suite) ([]report.Row, error) {
	var p99, answered []float64
	got, err := s.interleave(ctx, []step{
		{"two syncs", func(context.Context) (float64, error) { return s.twoSyncs() }},
		{"latency", func(ctx context.Context) (float64, error) {
			took, err := s.submitAndWatch(ctx)
			if err != nil {
				return 0, err
			}
			p99 = append(p99, micros(quantile(took.completed, 0.99)))
			answered = append(answered, micros(quantile(took.accepted, 0.5)))
			return micros(quantile(took.completed, 0.5)), nil
		}},
	})
	if err != nil {
		return nil, err
	}
	row := report.Row{
		What: "1 client, submit to COMPLETED seen on SSE, p50", Wharf: report.NewFigure("µs", got["latency"]),
		Note: fmt.Sprintf("p99 %.0f µs; the submit itself is answered after %.0f µs (p50)", report.Median(p99), report.Median(answered)),
	}
	return []report.Row{row.Against("two syncs", report.NewFigure("µs", got["two syncs"])).Must(report.AtMost, 5)}, nil
}

// twoSyncs measures the disk under the data folders.
func (s *Suite) twoSyncs() (float64, error) {
	took, err := disk.Appends(s.Dir, latencySamples)
	if err != nil {
		return 0, err
	}
	return 2 * micros(quantile(took, 0.5)), nil
}

// waits is what a client waited for, Task by Task.
type waits struct{ accepted, completed []time.Duration }

// submitAndWatch submits Tasks one after the other and watches each end.
func (s *Suite) submitAndWatch(ctx context.Context) (*waits, error) {
	dir, remove, err := s.dataFolder("node")
	if err != nil {
		return nil, err
	}
	defer remove()
	n, err := s.start(ctx, dir)
	if err != nil {
		return nil, err
	}
	defer n.Kill()
	sessions, err := n.CreateSessions(1, persona)
	if err != nil {
		return nil, err
	}
	stream, err := n.Stream(ctx, "/v1/sessions/"+sessions[0]+"/events/stream")
	if err != nil {
		return nil, err
	}
	defer stream.Close()
	w := &waits{}
	for range latencyWarmup + latencySamples {
		if err := w.one(n, stream, sessions[0]); err != nil {
			return nil, withOutput(err, n)
		}
	}
	return &waits{w.accepted[latencyWarmup:], w.completed[latencyWarmup:]}, nil
}

// one submits a Task and watches it end.
func (w *waits) one(n *node.Node, stream *node.Stream, session string) error {
	start := time.Now()
	id, err := n.Submit(session, taskFor(persona), "")
	if err != nil {
		return err
	}
	w.accepted = append(w.accepted, time.Since(start))
	if err := stream.Until("task.completed", id); err != nil {
		return err
	}
	w.completed = append(w.completed, time.Since(start))
	return nil
}

// completeOne runs one Task of a Persona through a node, queued behind all that
// it still has to do.
func completeOne(ctx context.Context, n *node.Node, persona string, limit time.Duration) error {
	sessions, err := n.CreateSessions(1, persona)
	if err != nil {
		return err
	}
	id, err := n.Submit(sessions[0], taskFor(persona), "wait=10")
	if err != nil {
		return err
	}
	return n.Await(ctx, id, completed, limit, 100*time.Millisecond)
}

// completed is the status of a Task that did well.
const completed = "COMPLETED"
