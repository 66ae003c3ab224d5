package sandbox

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/plugins/plugintest/workers"
)

// breaker is a plugin that breaks a limit, and how that has to end.
type breaker struct {
	name   string
	module *Module
	host   func(t testing.TB) Host
	limits Limits
	// cancel stops the Run from outside, once it has been heard of.
	cancel bool
	code   string
}

// breakers break every limit there is.
func breakers(t *testing.T, r *Runtime) (all []breaker) {
	for _, h := range hostile {
		m := compile(t, r, h.guest.wasm())
		plain := func(testing.TB) Host { return &host{answer: always(strings.Repeat("a", 100))} }
		all = append(all, breaker{name: h.name, module: m, host: plain, limits: h.limits, code: h.code})
	}
	for _, w := range workers.All() {
		m := compile(t, r, w.Wasm)
		add := func(work string, times int, l Limits, cancel bool, code string) {
			if w.Can(work) {
				works := func(t testing.TB) Host { return newWorkHost(t, workers.Work{Work: work, Times: times}) }
				all = append(all, breaker{w.Name + " " + work, m, works, l, cancel, code})
			}
		}
		add("busy", 0, Limits{Gas: 50_000_000}, false, abi.FailurePluginGas)
		add("busy", 0, Limits{WallTime: 30 * time.Millisecond}, false, abi.FailurePluginTimeout)
		add("busy", 0, Limits{}, true, "")
		add("recurse", 100_000_000, Limits{}, false, abi.FailurePluginTrap)
		add("grow", 5_000, Limits{MemoryBytes: 16 << 20}, false, "")
		add("calls", 100_000, Limits{HostCalls: 200}, false, abi.FailureHostCalls)
		add("calls", 100_000, Limits{Gas: 20_000_000, HostCalls: 1 << 30}, false, abi.FailurePluginGas)
		add("pile", 0, Limits{}, false, abi.FailurePluginTrap)
		add("trap", 0, Limits{}, false, trapFailure(w))
		add("exit", 3, Limits{}, false, abi.FailurePluginExit)
	}
	return all
}

// trapFailure is how a worker ends that dereferences nothing: a panic in Go, which the SDK
// tells.
func trapFailure(w workers.Worker) string {
	if w.Name == "work-go" {
		return ""
	}
	return abi.FailurePluginTrap
}

// run does what it is there for.
func (b *breaker) run(t testing.TB) error {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	h := b.host(t)
	if b.cancel {
		h = &listening{h, cancel}
	}
	_, err := b.module.Run(ctx, abi.DefaultExport, h, b.limits)
	if b.cancel {
		if !errors.Is(err, context.Canceled) {
			return fmt.Errorf("it was canceled, and ends with %v", err)
		}
		return nil
	}
	failure, _ := errors.AsType[*abi.Failure](err)
	if b.code == "" && err == nil || failure != nil && failure.Code == b.code {
		return nil
	}
	return fmt.Errorf("it ends with %v, not with %q", err, b.code)
}

// listening cancels a Run from another goroutine once it has asked for its input.
type listening struct {
	Host
	cancel func()
}

// Call implements Host.
func (l *listening) Call(ctx context.Context, call string, request []byte) (abi.CallStatus, []byte, error) {
	go l.cancel()
	return l.Host.Call(ctx, call, request)
}

// good is what honest plugins do meanwhile, and what comes of it.
type good struct {
	name   string
	module *Module
	work   workers.Work
	want   seen
}

func goods(t *testing.T, r *Runtime) (all []good) {
	for _, w := range workers.All() {
		m := compile(t, r, w.Wasm)
		for _, work := range []workers.Work{{Work: "floats", Times: 100}, {Work: "calls", Times: 3}, {Work: "heap", Times: 30}, {Work: "look"}} {
			if w.Can(work.Work) {
				all = append(all, good{w.Name + " " + work.Work, m, work, job{Work: work}.do(t, m)})
			}
		}
	}
	return all
}

// TestLimitsUnderLoad has plugins break every limit, 64 at a time, while others do honest
// work and Go collects its garbage. Each of those that break a limit ends as it has to,
// and the others notice nothing.
func TestLimitsUnderLoad(t *testing.T) {
	rounds := map[bool]int{false: 1, true: 10}[long()]
	r := newRuntime(t, Config{CacheDir: cacheDir})
	bad, honest := breakers(t, r), goods(t, r)
	stop := collecting()
	defer stop()
	var all sync.WaitGroup
	room := make(chan struct{}, 64)
	start := func(f func()) {
		room <- struct{}{}
		all.Go(func() { f(); <-room })
	}
	for range rounds {
		for i := range max(len(bad), len(honest)) {
			b, g := &bad[i%len(bad)], &honest[i%len(honest)]
			start(func() {
				if err := b.run(t); err != nil {
					t.Errorf("%s: %v", b.name, err)
				}
			})
			start(func() {
				got, err := job{Work: g.work}.try(t, g.module)
				if err != nil {
					t.Errorf("%s: %v", g.name, err)
				}
				wantSeen(t, g.name, g.want, got)
			})
		}
	}
	all.Wait()
}

// collecting has Go collect its garbage until it is told to stop.
func collecting() (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-done:
				return
			default:
				runtime.GC()
			}
		}
	}()
	return func() { close(done); <-ended }
}
