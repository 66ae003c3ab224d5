package suite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/benches/internal/attackers"
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
	outside := attackers.NewOutside()
	defer outside.Close()
	config, err := outside.WriteConfig(dir)
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
func (s *Suite) attacked(ctx context.Context, n *node.Node, o *attackers.Outside, limited string) ([]report.Row, error) {
	quiet, err := s.undisturbed(ctx, n, min(quietFor, s.Attack))
	if err != nil {
		return nil, withOutput(err, n)
	}
	attack, err := attackers.New(n, o, personaCalls, s.Attacks, s.say)
	if err != nil {
		return nil, withOutput(err, n)
	}
	under, end := context.WithCancel(ctx) // with the last echo
	defer end()
	memory := watchMemory(under, n, end)
	var all sync.WaitGroup
	all.Go(func() { attack.Run(under) })
	disturbed, err := s.undisturbed(under, n, s.Attack)
	end()
	all.Wait()
	if how := memory.ended(); how != "" {
		return nil, withOutput(errors.New(how), n)
	}
	if err != nil {
		return nil, withOutput(fmt.Errorf("under attack: %w", err), n)
	}
	if _, _, err := n.Do("GET", "/v1/personas", nil); err != nil {
		return nil, withOutput(fmt.Errorf("the node does not answer after the attack: %w", err), n)
	}
	what := fmt.Sprintf("echo of another tenant under %d attacks at once, for %s, p95", attack.Count(), s.Attack)
	limited += "; the other tenant is a process of its own"
	row := report.Row{What: what, Wharf: report.NewFigure("ms", []float64{millis(quantile(disturbed, 0.95))}),
		Note: fmt.Sprintf("%s; %d echoes; p50 %.1f ms, longest %.0f ms", limited, len(disturbed), millis(quantile(disturbed, 0.5)), millis(disturbed[len(disturbed)-1]))}
	return []report.Row{
		row.Against("quiet", report.NewFigure("ms", []float64{millis(quantile(quiet, 0.95))})).Must(report.AtMost, goalDisturbed),
		report.Row{What: "peak of its resident memory meanwhile", Wharf: report.NewFigure("MB", []float64{float64(memory.peak) / megabyte})}.Must(report.AtMost, containerMemory/megabyte),
	}, nil
}

// ProbeCommand is the first argument that turns this program into the other tenant: a
// process of its own, for what attacks keeps this one's processors busy.
const ProbeCommand = "probe"

// ProbeMain has one echo after the other run on the node at an address, "ADDR DURATION",
// and prints what each took, in ns.
func ProbeMain(ctx context.Context, args []string, out io.Writer) error {
	if len(args) != 2 {
		return fmt.Errorf("%q is no probe", args)
	}
	d, err := time.ParseDuration(args[1])
	if err != nil {
		return fmt.Errorf("reading how long to probe: %w", err)
	}
	took, err := probe(node.At(args[0]), d)
	if err != nil {
		return err
	}
	if err := json.MarshalWrite(out, took); err != nil {
		return fmt.Errorf("telling what was probed: %w", err)
	}
	return nil
}

func probe(n *node.Node, d time.Duration) ([]int64, error) {
	sessions, err := n.CreateSessions(1, persona)
	if err != nil {
		return nil, err
	}
	var took []int64
	for begun := time.Now(); time.Since(begun) < d; {
		start := time.Now()
		if err := untilDone(n, sessions[0], begun.Add(d)); err != nil {
			return nil, err
		}
		took = append(took, int64(time.Since(start)))
	}
	return took, nil
}

// untilDone has an echo run, and asks again when it is refused: what that takes is a part
// of what the echo took. The last error of one that is not done by the end is told.
func untilDone(n *node.Node, session string, end time.Time) error {
	for {
		_, err := n.Submit(session, taskFor(persona), "wait=30")
		if err == nil || time.Now().After(end) {
			return err
		}
		time.Sleep(retryEvery)
	}
}

// retryEvery is how long a client waits before it asks again.
const retryEvery = 10 * time.Millisecond

// undisturbed has another process run one echo after the other, for so long, and returns
// what each took.
func (s *Suite) undisturbed(ctx context.Context, n *node.Node, d time.Duration) ([]time.Duration, error) {
	cmd := exec.CommandContext(ctx, s.Self, ProbeCommand, n.Addr, d.String())
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("probing as another tenant: %w", err)
	}
	var ns []int64
	if err := json.Unmarshal(out, &ns); err != nil {
		return nil, fmt.Errorf("reading what was probed: %w", err)
	}
	if len(ns) == 0 {
		return nil, errors.New("no Task of the other tenant was done")
	}
	took := make([]time.Duration, len(ns))
	for i, n := range ns {
		took[i] = time.Duration(n)
	}
	return took, nil
}

// memoryWatch is what is known of a node's resident memory. It is read once the watch is over.
type memoryWatch struct {
	peak, last int64
	died       string // how the node ended, "" when it lives
	over       chan struct{}
}

// watchMemory follows the node's resident memory until ctx ends. If the node ends before,
// it calls give up.
func watchMemory(ctx context.Context, n *node.Node, giveUp func()) *memoryWatch {
	m := &memoryWatch{over: make(chan struct{})}
	begun := time.Now()
	go func() {
		defer close(m.over)
		for {
			if rss, err := n.RSS(); err == nil && rss > 0 {
				m.last, m.peak = rss, max(m.peak, rss)
			}
			select {
			case <-ctx.Done():
				return
			case <-n.Ended():
				m.died = fmt.Sprintf("the node ended %.1f s after the attack began (%s); it had %d MB last, %d MB at most",
					time.Since(begun).Seconds(), n.Exit(), m.last/megabyte, m.peak/megabyte)
				giveUp()
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	}()
	return m
}

// ended waits for the end of the watch and says how the node ended, "" when it lives.
func (m *memoryWatch) ended() string {
	<-m.over
	return m.died
}
