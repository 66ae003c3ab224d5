package suite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime/debug"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/benches/internal/engines"
	"github.com/wharf-dev/wharf/benches/internal/guests"
	"github.com/wharf-dev/wharf/benches/internal/proc"
	"github.com/wharf-dev/wharf/benches/internal/report"
	"github.com/wharf-dev/wharf/runtime/sandbox"
)

// InstancesCommand is the first argument that turns this program into a process whose
// idle instances are measured.
const InstancesCommand = "instances"

const (
	idleInstances = 1000
	goalIdle      = 120 // KB each
	// idleFor is how long instances are left alone: longer than a pool takes to trim what
	// is idle, and not so long that it drops it.
	idleFor = 4 * time.Second
)

// idleSizes are what one idle instance adds to a process, in KB: of memory that is its
// alone or its share of what several map, and of all that is mapped.
type idleSizes struct {
	Count        int     `json:"count"`
	Used         float64 `json:"used"` // just after their Runs
	UsedMapped   float64 `json:"used_mapped"`
	Idle         float64 `json:"idle"` // when they were left alone
	IdleMapped   float64 `json:"idle_mapped"`
	PlainResting float64 `json:"plain"` // an instance of plain wazero
}

// measureIdle measures the resident memory of 1,000 instances of a Go plugin that wait for
// their next Run, in a process of their own.
func measureIdle(ctx context.Context, s *Suite) ([]report.Row, error) {
	var all []idleSizes
	got, err := s.interleave(ctx, []step{{"KB", func(ctx context.Context) (float64, error) {
		sizes, err := s.idleOnce(ctx)
		all = append(all, sizes)
		return sizes.Idle, err
	}}})
	if err != nil {
		return nil, err
	}
	figure := func(of func(idleSizes) float64) report.Figure {
		samples := make([]float64, len(all))
		for i, sizes := range all {
			samples[i] = of(sizes)
		}
		return report.NewFigure("KB", samples)
	}
	plain := figure(func(i idleSizes) float64 { return i.PlainResting })
	const other = "plain wazero"
	return []report.Row{
		report.Row{What: fmt.Sprintf("idle instance of a Go plugin, one of %d, resident", idleInstances), Wharf: report.NewFigure("KB", got["KB"]), Difference: true}.
			Against(other, plain).MustBe(report.AtMost, goalIdle),
		report.Row{
			What: "the same just after its Run", Wharf: figure(func(i idleSizes) float64 { return i.Used }), Difference: true,
			Note: fmt.Sprintf("with the image's pages counted for each that maps them: %.0f KB, later %.0f KB",
				figure(func(i idleSizes) float64 { return i.UsedMapped }).Median, figure(func(i idleSizes) float64 { return i.IdleMapped }).Median),
		}.Against(other, plain),
	}, nil
}

// idleOnce runs this program as a process with idle instances.
func (s *Suite) idleOnce(ctx context.Context) (sizes idleSizes, err error) {
	cmd := exec.CommandContext(ctx, s.Self, InstancesCommand)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(out, &sizes)
	}
	if err != nil {
		return sizes, fmt.Errorf("measuring idle instances: %w", err)
	}
	if sizes.Count < idleInstances {
		return sizes, fmt.Errorf("only %d instances are idle", sizes.Count)
	}
	return sizes, nil
}

// InstancesMain makes idle instances, and writes what they hold to out.
func InstancesMain(ctx context.Context, out io.Writer) error {
	// Nothing is dropped before it was measured.
	runtime, err := sandbox.New(ctx, sandbox.Config{IdleBytes: 1 << 40})
	if err != nil {
		return err
	}
	defer runtime.Close(context.WithoutCancel(ctx))
	sizes, err := idlePooled(ctx, runtime)
	if err == nil {
		sizes.PlainResting, err = idlePlain(ctx)
	}
	if err != nil {
		return err
	}
	return json.MarshalWrite(out, sizes)
}

func idlePooled(ctx context.Context, runtime *sandbox.Runtime) (sizes idleSizes, err error) {
	module, err := runtime.Compile(ctx, guests.Golang())
	if err != nil {
		return sizes, err
	}
	if err := runTogether(ctx, module, 1); err != nil {
		return sizes, err
	}
	before, err := residentNow()
	if err != nil {
		return sizes, err
	}
	if err := runTogether(ctx, module, idleInstances); err != nil {
		return sizes, err
	}
	used, err := residentNow()
	if err != nil {
		return sizes, err
	}
	time.Sleep(idleFor) // the pool trims by the clock
	idle, err := residentNow()
	sizes.Count = int(runtime.Stats().Idle)
	each := func(after, before float64) float64 { return (after - before) / idleInstances }
	sizes.Used, sizes.UsedMapped = each(used.share, before.share), each(used.mapped, before.mapped)
	sizes.Idle, sizes.IdleMapped = each(idle.share, before.share), each(idle.mapped, before.mapped)
	return sizes, err
}

// meeting is a Host that answers the first call when a number of Runs have come to it.
type meeting struct {
	*engines.Host
	arrived *sync.WaitGroup
	once    sync.Once
}

// Call implements sandbox.Host.
func (m *meeting) Call(ctx context.Context, call string, request []byte) (abi.CallStatus, []byte, error) {
	m.once.Do(func() {
		m.arrived.Done()
		m.arrived.Wait()
	})
	return m.Host.Call(ctx, call, request)
}

// runTogether does n Runs at once, each in an instance of its own.
func runTogether(ctx context.Context, m *sandbox.Module, n int) error {
	var arrived, done sync.WaitGroup
	arrived.Add(n)
	errs := make([]error, n)
	for i := range n {
		done.Go(func() {
			_, errs[i] = m.Run(ctx, abi.DefaultExport, &meeting{Host: engines.NewHost(), arrived: &arrived}, sandbox.Limits{})
		})
	}
	done.Wait()
	return errors.Join(errs...)
}

// idlePlain returns what an instance of plain wazero holds, in KB.
func idlePlain(ctx context.Context) (float64, error) {
	const count = 20
	p, err := engines.NewPlain(ctx, guests.Golang(), engines.PlainConfig())
	if err != nil {
		return 0, err
	}
	defer p.Close(context.WithoutCancel(ctx))
	before, err := residentNow()
	if err != nil {
		return 0, err
	}
	ctx = engines.WithHost(ctx, engines.NewHost())
	for range count {
		mod, err := p.Instance(ctx)
		if err != nil {
			return 0, err
		}
		if err := engines.Call(ctx, mod.ExportedFunction(abi.DefaultExport)); err != nil {
			return 0, err
		}
	}
	after, err := residentNow()
	return (after.share - before.share) / count, err
}

// residency is the memory of this process, in KB.
type residency struct{ share, mapped float64 }

// residentNow reads what is resident when Go has given back what it does not use.
func residentNow() (residency, error) {
	debug.FreeOSMemory()
	debug.FreeOSMemory()
	share, err := proc.Share(os.Getpid())
	if err != nil {
		return residency{}, err
	}
	mapped, err := proc.RSS(os.Getpid())
	return residency{float64(share) / 1000, float64(mapped) / 1000}, err
}
