package suite

import (
	"context"
	"fmt"
	"time"

	"github.com/wharf-dev/wharf/benches/internal/node"
	"github.com/wharf-dev/wharf/benches/internal/report"
)

const (
	// spinners is how many guests compute without an end, and spinFor how long clients submit beside them: all of it
	// ends before a guest's wall time does.
	spinners = 20
	spinFor  = 6 * time.Second
	// goalBesideSpinners is what a submit may take meanwhile, p95, in ms.
	goalBesideSpinners = 25
)

// measureSpinning measures what a client waits beside guests that compute without an end: for the answer to a submit, and
// for a Task to be done.
func measureSpinning(ctx context.Context, s *Suite) ([]report.Row, error) {
	dir, remove, err := s.dataFolder("node")
	if err != nil {
		return nil, err
	}
	defer remove()
	n, err := s.start(ctx, dir, s.withPlugins()...)
	if err != nil {
		return nil, err
	}
	defer n.Kill()
	rows, err := s.spinBeside(ctx, n)
	if err != nil {
		return nil, withOutput(err, n)
	}
	return rows, nil
}

func (s *Suite) spinBeside(ctx context.Context, n *node.Node) ([]report.Row, error) {
	quiet, err := s.served(ctx, n)
	if err != nil {
		return nil, err
	}
	spinning, err := spin(n)
	if err != nil {
		return nil, err
	}
	beside, err := s.served(ctx, n)
	if err != nil {
		return nil, err
	}
	for _, id := range spinning {
		var task struct {
			Status string `json:"status"`
		}
		if err := n.Call("GET", "/v1/tasks/"+id, nil, &task); err != nil {
			return nil, err
		}
		if task.Status != "WORKING" {
			return nil, fmt.Errorf("the guest of %s was to spin all along, and is %s", id, task.Status)
		}
	}
	return []report.Row{
		report.Row{What: fmt.Sprintf("submit beside %d guests that spin, p95", spinners), Wharf: beside.submits,
			Note: fmt.Sprintf("longest %.0f ms", beside.longest)}.Against("beside none", quiet.submits).MustBe(report.AtMost, goalBesideSpinners),
		report.Row{What: "and until its Task is done, p95", Wharf: beside.tasks}.Against("beside none", quiet.tasks),
	}, nil
}

// service is what clients wait for, p95, and the longest that one has waited for the answer to a submit, in ms.
type service struct {
	submits, tasks report.Figure
	longest        float64
}

// served has one client submit Tasks for a while, and another one submit them and wait for each.
func (s *Suite) served(ctx context.Context, n *node.Node) (got service, err error) {
	sessions, err := n.CreateSessions(1, persona)
	if err != nil {
		return got, err
	}
	var took []time.Duration
	for begun := time.Now(); time.Since(begun) < spinFor; {
		start := time.Now()
		if _, err := n.Submit(sessions[0], taskFor(persona), ""); err != nil {
			return got, err
		}
		took = append(took, time.Since(start))
	}
	done, err := s.undisturbed(ctx, n, spinFor)
	if err != nil {
		return got, err
	}
	figure := func(took []time.Duration) report.Figure {
		return report.NewFigure("ms", []float64{millis(quantile(took, 0.95))})
	}
	return service{submits: figure(took), tasks: figure(done), longest: millis(took[len(took)-1])}, nil
}

// spin has guests compute without an end, and returns their Tasks.
func spin(n *node.Node) (tasks []string, err error) {
	sessions, err := n.CreateSessions(spinners, personaCalls)
	if err != nil {
		return nil, err
	}
	for _, session := range sessions {
		id, err := n.Submit(session, fmt.Appendf(nil, `{"persona_id":%q,"input":{"program":[{"call":"spin"}]}}`, personaCalls), "")
		if err != nil {
			return nil, err
		}
		tasks = append(tasks, id)
	}
	return tasks, nil
}
