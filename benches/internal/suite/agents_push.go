package suite

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/wharf-dev/wharf/benches/internal/node"
	"github.com/wharf-dev/wharf/benches/internal/report"
)

const (
	goalPush = 2_000
	// pushTasks is how many Tasks say something at once. Each has one receiver of push notifications, which
	// is told one after the other, as the protocol says.
	pushTasks = 8
)

// measurePush measures how many Messages of Tasks are pushed to a receiver a second while the Tasks say
// them: each exactly once.
func measurePush(ctx context.Context, s *Suite) ([]report.Row, error) {
	c := &samplers{suite: s, cpu: map[string][]float64{}}
	got, err := s.interleave(ctx, []step{c.step("push", s.push)})
	if err != nil {
		return nil, err
	}
	return []report.Row{report.Row{What: fmt.Sprintf("push notifications of A2A taken, of %d Tasks", pushTasks), Wharf: report.NewFigure(perSecond, got["push"]),
		Note: fmt.Sprintf("%d Messages of each; the receiver is in this process; processor time of the node for each: %.0f µs", fanoutEvents, report.Median(c.cpu["push"]))}.
		Must(report.AtLeast, goalPush)}, nil
}

func (s *Suite) push(ctx context.Context) (sample, error) {
	dir, remove, err := s.dataFolder("node")
	if err != nil {
		return sample{}, err
	}
	defer remove()
	args, profile, err := s.profiled("push")
	if err != nil {
		return sample{}, err
	}
	n, err := s.startWith(ctx, dir, append([]string{"--set", "webhooks.private=true"}, args...), s.withPlugins())
	if err != nil {
		return sample{}, err
	}
	defer n.Kill()
	got, err := s.pushFrom(ctx, n, profile)
	if err != nil {
		return sample{}, withOutput(err, n)
	}
	return got, nil
}

func (s *Suite) pushFrom(ctx context.Context, n *node.Node, profile profiler) (sample, error) {
	const all = pushTasks * fanoutEvents
	var taken atomic.Int64
	done := make(chan struct{})
	receiver := hooked{}.receiver(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		said := bytes.Contains(body, []byte(`"statusUpdate"`)) && bytes.Contains(body, []byte(saidByTask)) // what the Task results in says it again
		if err == nil && said && taken.Add(1) == all {
			close(done)
		}
	})
	defer receiver.Close()
	tasks, err := pushedTasks(ctx, n, receiver.URL)
	if err != nil {
		return sample{}, err
	}
	defer profile(ctx)()
	before, err := n.CPU()
	if err != nil {
		return sample{}, err
	}
	begun := time.Now()
	for _, id := range tasks {
		if err := goOn(n, id); err != nil {
			return sample{}, err
		}
	}
	select {
	case <-done:
	case <-ctx.Done():
		return sample{}, ctx.Err()
	case <-time.After(fanoutLimit):
		return sample{}, fmt.Errorf("%d of %d notifications were taken within %s", taken.Load(), all, fanoutLimit)
	}
	took := time.Since(begun)
	used, err := n.CPU()
	for _, id := range tasks {
		if err == nil {
			err = n.Await(ctx, id, "COMPLETED", time.Minute, parkEvery)
		}
	}
	if got := taken.Load(); err == nil && got != all {
		err = fmt.Errorf("%d notifications were sent %d times", all, got)
	}
	return sample{rate: all / took.Seconds(), cpu: (used - before) / all}, err
}

// pushedTasks makes Tasks that wait before they say anything, each with a receiver.
func pushedTasks(ctx context.Context, n *node.Node, url string) (tasks []string, err error) {
	sessions, err := n.CreateSessions(pushTasks, personaCalls)
	if err != nil {
		return nil, err
	}
	for _, session := range sessions {
		id, err := n.Submit(session, talkingTask(fanoutEvents), "")
		if err != nil {
			return nil, err
		}
		if err := n.Await(ctx, id, "INPUT_REQUIRED", time.Minute, parkEvery); err != nil {
			return nil, err
		}
		if err := n.Call("POST", "/a2a/tasks/"+id+"/pushNotificationConfigs", map[string]any{"url": url}, new(map[string]any)); err != nil {
			return nil, err
		}
		tasks = append(tasks, id)
	}
	return tasks, nil
}
