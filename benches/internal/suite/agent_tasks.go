package suite

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/wharf-dev/wharf/benches/internal/model"
	"github.com/wharf-dev/wharf/benches/internal/node"
	"github.com/wharf-dev/wharf/benches/internal/report"
	"github.com/wharf-dev/wharf/plugins"
)

const (
	agentClients = 8
	agentWarmup  = 20 // Tasks of each client
	agentTasks   = 100
)

// measureAgentTasks measures what a Task of the bundled agent costs the node, whose model answers at once.
func measureAgentTasks(ctx context.Context, s *Suite) ([]report.Row, error) {
	c := &samplers{suite: s, cpu: map[string][]float64{}}
	got, err := s.interleave(ctx, []step{c.step("agent-tasks", s.agentTasks)})
	if err != nil {
		return nil, err
	}
	return []report.Row{
		{What: fmt.Sprintf("Tasks of the bundled agent COMPLETED, %d clients", agentClients), Wharf: report.NewFigure(perSecond, got["agent-tasks"])},
		{What: "processor time of the node for each", Wharf: report.NewFigure("µs", c.cpu["agent-tasks"]), Note: "the model says one text, in eight pieces, without a pause"},
	}, nil
}

func (s *Suite) agentTasks(ctx context.Context) (got sample, err error) {
	dir, remove, err := s.dataFolder("node")
	if err != nil {
		return got, err
	}
	defer remove()
	provider := model.NewFree()
	defer provider.Close()
	config, err := provider.WriteConfig(dir)
	if err != nil {
		return got, err
	}
	args, profile, err := s.profiled("agent-tasks")
	if err != nil {
		return got, err
	}
	n, err := s.startWith(ctx, dir, append(args, "--config", config), nil)
	if err != nil {
		return got, err
	}
	defer n.Kill()
	if err := runAgents(ctx, n, agentWarmup); err != nil {
		return got, withOutput(err, n)
	}
	defer profile(ctx)()
	before, err := n.CPU()
	if err != nil {
		return got, err
	}
	start := time.Now()
	if err := runAgents(ctx, n, agentTasks); err != nil {
		return got, withOutput(err, n)
	}
	took := time.Since(start)
	after, err := n.CPU()
	const all = agentClients * agentTasks
	return sample{rate: all / took.Seconds(), cpu: (after - before) / all}, err
}

// runAgents has each client do a number of Tasks, one after the other, each in a Session of its own.
func runAgents(ctx context.Context, n *node.Node, each int) error {
	sessions, err := n.CreateSessions(agentClients*each, plugins.PersonaAgent)
	if err != nil {
		return err
	}
	done := make(chan error, agentClients)
	for i := range agentClients {
		go func() { done <- runAgent(ctx, n, sessions[i*each:(i+1)*each]) }()
	}
	var failed error
	for range agentClients {
		failed = errors.Join(failed, <-done)
	}
	return failed
}

func runAgent(ctx context.Context, n *node.Node, sessions []string) error {
	for _, session := range sessions {
		id, err := n.Submit(session, taskFor(plugins.PersonaAgent), "wait=10")
		if err != nil {
			return err
		}
		if err := n.Await(ctx, id, "COMPLETED", completeLimit, parkEvery); err != nil {
			return err
		}
	}
	return nil
}
