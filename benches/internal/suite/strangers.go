package suite

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wharf-dev/wharf/benches/internal/confine"
	"github.com/wharf-dev/wharf/benches/internal/node"
	"github.com/wharf-dev/wharf/benches/internal/report"
)

const (
	// containerMemory is what the node may take while it is attacked, as the limit of a
	// small container.
	containerMemory = 1 << 30
	// quietFor is how long the other tenant's Tasks are measured before the attack.
	quietFor = 5 * time.Second
	// goalDisturbed is how much longer they may take meanwhile.
	goalDisturbed = 5
)

// measureStrangers has everything that comes from outside attack one node at once, under
// a memory limit, while another tenant has its Tasks run.
func measureStrangers(ctx context.Context, s *Suite) ([]report.Row, error) {
	dir, remove, err := s.dataFolder("node")
	if err != nil {
		return nil, err
	}
	defer remove()
	outside := newOutside()
	defer outside.close()
	config, err := outside.writeConfig(dir)
	if err != nil {
		return nil, err
	}
	o := node.Options{Binary: s.Binary, Data: dir, Args: []string{"--config", config}, Env: append(quietEnv(), s.withPlugins()...)}
	limited := fmt.Sprintf("under a limit of %d MiB", containerMemory>>20)
	if group, err := confine.Memory(containerMemory); err != nil {
		limited = "under no limit: " + err.Error()
	} else {
		defer group.Remove()
		o.Prefix = group.Prefix()
	}
	n, err := node.Start(ctx, o)
	if err != nil {
		return nil, err
	}
	defer func() { n.Kill() }()
	return s.attacked(ctx, n, outside, limited)
}

// attacked measures the other tenant's Tasks in quiet, and then under attack.
func (s *Suite) attacked(ctx context.Context, n *node.Node, o *outside, limited string) ([]report.Row, error) {
	quiet, err := s.undisturbed(ctx, n, min(quietFor, s.Attack))
	if err != nil {
		return nil, withOutput(err, n)
	}
	attack, err := newStrangers(n, o, s.Attacks, s.say)
	if err != nil {
		return nil, withOutput(err, n)
	}
	under, end := context.WithTimeout(ctx, s.Attack)
	defer end()
	peak := watchMemory(under, n)
	var all sync.WaitGroup
	all.Go(func() { attack.run(under) })
	disturbed, err := s.undisturbed(under, n, s.Attack)
	all.Wait()
	if err != nil {
		return nil, withOutput(fmt.Errorf("under attack: %w", err), n)
	}
	if _, _, err := n.Do("GET", "/v1/personas", nil); err != nil {
		return nil, withOutput(fmt.Errorf("the node does not answer after the attack: %w", err), n)
	}
	what := fmt.Sprintf("echo of another tenant under %d attacks at once, for %s, p95", len(attack.chosen()), s.Attack)
	row := report.Row{What: what, Wharf: report.NewFigure("ms", []float64{millis(quantile(disturbed, 0.95))}),
		Note: fmt.Sprintf("%s; %d echoes; p50 %.1f ms, longest %.0f ms", limited, len(disturbed), millis(quantile(disturbed, 0.5)), millis(disturbed[len(disturbed)-1]))}
	return []report.Row{
		row.Against("quiet", report.NewFigure("ms", []float64{millis(quantile(quiet, 0.95))})).Must(report.AtMost, goalDisturbed),
		report.Row{What: "peak of its resident memory meanwhile", Wharf: report.NewFigure("MB", []float64{float64(peak.Load()) / megabyte})}.Must(report.AtMost, containerMemory/megabyte),
	}, nil
}

// undisturbed has one echo after the other run, for so long, and returns what each took.
func (s *Suite) undisturbed(ctx context.Context, n *node.Node, d time.Duration) ([]time.Duration, error) {
	sessions, err := n.CreateSessions(1, persona)
	if err != nil {
		return nil, err
	}
	var took []time.Duration
	for begun := time.Now(); time.Since(begun) < d && ctx.Err() == nil; {
		start := time.Now()
		if _, err := n.Submit(sessions[0], taskFor(persona), "wait=30"); err != nil {
			return nil, err
		}
		took = append(took, time.Since(start))
	}
	if len(took) == 0 {
		return nil, errors.New("no Task of the other tenant was done")
	}
	return took, nil
}

// watchMemory follows the node's resident memory until ctx ends, and keeps the largest.
func watchMemory(ctx context.Context, n *node.Node) *atomic.Int64 {
	peak := new(atomic.Int64)
	go func() {
		for {
			if rss, err := n.RSS(); err == nil && rss > peak.Load() {
				peak.Store(rss)
			}
			select {
			case <-ctx.Done():
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	}()
	return peak
}
