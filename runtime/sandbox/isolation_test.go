package sandbox

import (
	"context"
	"errors"
	"hash/maphash"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/internal/share"
	"github.com/wharf-dev/wharf/plugins/plugintest"
	"github.com/wharf-dev/wharf/plugins/plugintest/workers"
)

// vandals are works that leave something behind, each in its own way.
func vandals(w workers.Worker) (all []job) {
	for _, j := range []job{
		{workers.Work{Work: "write", Times: 3}, Limits{}},
		{workers.Work{Work: "heap", Times: 60}, Limits{}},
		{workers.Work{Work: "grow", Times: 20}, Limits{}},
		{workers.Work{Work: "recurse", Times: 1_000_000}, Limits{Depth: 6_000}},
		{workers.Work{Work: "busy"}, Limits{Gas: 1_000_000}},
		{workers.Work{Work: "write", Times: 100}, Limits{MemoryBytes: 6 << 20}},
		{workers.Work{Work: "calls", Times: 100}, Limits{HostCalls: 50}},
		{workers.Work{Work: "trap"}, Limits{}},
		{workers.Work{Work: "exit"}, Limits{}},
		{workers.Work{Work: "no such work"}, Limits{}},
	} {
		if w.Can(j.Work.Work) || j.Work.Work == "no such work" {
			all = append(all, j)
		}
	}
	for bit := 0; bit < 9 && w.Can("undo"); bit++ {
		all = append(all, job{workers.Work{Work: "undo", Times: 1 << bit}, Limits{}})
	}
	return all
}

// TestNothingIsLeftBehind holds that a plugin which looks for it finds nothing of what
// the Task before has left: not in memory, nor beyond its end, in globals, in tables, in
// segments, or in what WASI holds for it.
func TestNothingIsLeftBehind(t *testing.T) {
	share.Alone(t)
	for _, engine := range engines() {
		engine.config.CacheDir = cacheDir
		r := newRuntime(t, engine.config)
		for _, w := range workers.All() {
			t.Run(w.Name+" on the "+engine.name, func(t *testing.T) {
				look := job{Work: workers.Work{Work: "look"}}
				want := look.do(t, compile(t, r, w.Wasm))
				m := compile(t, r, w.Wasm)
				for _, v := range vandals(w) {
					v.do(t, m)
					wantSeen(t, "after "+v.String(), want, look.do(t, m))
				}
				if s := r.Stats(); s.Reused == 0 || s.InUse != 0 {
					t.Errorf("no instance was used again: %+v", s)
				}
			})
		}
	}
}

// TestLookingFinds holds that the workers do find what they leave behind, so that not
// finding it means something: both works are done in one instance without making it good
// in between.
func TestLookingFinds(t *testing.T) {
	r := newRuntime(t, Config{CacheDir: cacheDir})
	for _, w := range workers.All() {
		t.Run(w.Name, func(t *testing.T) {
			look := workers.Work{Work: "look"}
			want := job{Work: look}.do(t, compile(t, r, w.Wasm)).Output
			m := compile(t, r, w.Wasm)
			for _, v := range vandals(w) {
				if v.Work.Work != "write" && v.Work.Work != "undo" {
					continue
				}
				inst := taken(t, m, v.Limits)
				_, _ = inst.serve(t.Context(), time.Now(), abi.DefaultExport, newWorkHost(t, v.Work), v.Limits.OrDefault())
				h := newWorkHost(t, look)
				_, err := inst.serve(t.Context(), time.Now(), abi.DefaultExport, h, Limits{}.OrDefault())
				if err == nil && h.output == want {
					t.Errorf("%v is not found", v)
				}
				if err := inst.close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// taken takes an instance from the pool.
func taken(t testing.TB, m *Module, l Limits) *instance {
	t.Helper()
	g, err := m.admit(t.Context(), abi.DefaultExport, l.OrDefault())
	if err != nil {
		t.Fatal(err)
	}
	inst, err := g.take(l.OrDefault())
	if err != nil {
		t.Fatal(err)
	}
	return inst
}

var seed = maphash.MakeSeed()

// checksum is a quick fingerprint, of this process only.
func checksum(inst *instance) (sum [2]uint64) {
	if memory := inst.mod.Memory(); memory != nil {
		all, _ := memory.Read(0, memory.Size())
		sum[0] = maphash.Bytes(seed, all) ^ uint64(memory.Size())
	}
	for _, v := range inst.globalValues() {
		sum[1] = sum[1]*31 + v
	}
	return sum
}

// TestManyTasks has 100,000 Tasks done by two at a time. One in ten grows its heap, others
// trap, exit, are stopped or run out of something. Before each, the instance is what the
// snapshot is, to the byte.
func TestManyTasks(t *testing.T) {
	for _, w := range workers.All() {
		t.Run(w.Name, func(t *testing.T) {
			tasks := manyTasks(w)
			r := newRuntime(t, Config{CacheDir: cacheDir})
			m := compile(t, r, w.Wasm)
			first := taken(t, m, Limits{})
			want := checksum(first)
			if err := first.close(); err != nil {
				t.Fatal(err)
			}
			var two sync.WaitGroup
			for worker := range 2 {
				two.Go(func() {
					for i := worker; i < tasks && !t.Failed(); i += 2 {
						oneOfMany(t, m, w, i, want)
					}
				})
			}
			two.Wait()
			if s := r.Stats(); s.Idle > 2 || s.Reused < uint64(tasks)/2 || s.Born+s.Reused != uint64(tasks)+1 {
				t.Errorf("%d tasks of two at a time: %+v", tasks, s)
			}
			t.Logf("%+v", r.Stats())
		})
	}
}

// manyTasks is how many there are for a worker: most for the one by hand, which writes
// everywhere and takes least.
func manyTasks(w workers.Worker) int {
	switch {
	case !long():
		return 1_000
	case w.Name == "work-wat":
		return 100_000
	}
	return 5_000
}

// errParked ends a Run as the engine does when its Task waits.
var errParked = errors.New("parked")

// oneOfMany does Task i.
func oneOfMany(t *testing.T, m *Module, w workers.Worker, i int, want [2]uint64) {
	j, ctx, h := oneJob(t, w, i)
	g, err := m.admit(t.Context(), abi.DefaultExport, j.Limits)
	if err != nil {
		t.Error(err)
		return
	}
	inst, err := g.take(j.Limits)
	if err != nil {
		t.Error(err)
		return
	}
	if got := checksum(inst); got != want {
		t.Errorf("task %d (%v) begins with another memory: %x, not %x", i, j, got, want)
	}
	_, err = inst.serve(ctx, time.Now(), abi.DefaultExport, h, j.Limits)
	if _, failed := errors.AsType[*abi.Failure](err); err != nil && !failed && !errors.Is(err, errParked) && !errors.Is(err, context.Canceled) {
		t.Errorf("task %d (%v): %v", i, j, err)
	}
	g.put(inst)
}

// parking is a Host that parks its Task at the first call after the input, or cancels it.
type parking struct {
	*workHost
	then func() error
}

// Call implements Host.
func (p *parking) Call(ctx context.Context, call string, request []byte) (abi.CallStatus, []byte, error) {
	if call != abi.CallInput && call != abi.CallOutput {
		if err := p.then(); err != nil {
			return 0, nil, err
		}
	}
	return p.workHost.Call(ctx, call, request)
}

// oneJob says what Task i does, and who answers it.
func oneJob(t *testing.T, w workers.Worker, i int) (j job, ctx context.Context, h Host) {
	grow := "heap"
	if w.Can("grow") {
		grow = "grow"
	}
	limits := Limits{MemoryBytes: 16 << 20, Gas: 20_000_000}.OrDefault()
	ctx = context.Background()
	works := []workers.Work{
		{Work: grow, Times: 1 + i%37}, {Work: "write", Times: 1 + i%5}, {Work: "calls", Times: 1}, {Work: "recurse", Times: i % 500},
		{Work: "look"}, {Work: "write"}, {Work: "trap"}, {Work: "calls", Times: 2}, {Work: "floats", Times: i % 50}, {Work: "exit"},
	}
	j = job{works[i%len(works)], limits}
	switch {
	case i%101 == 0:
		j.Work, j.Limits.Gas = workers.Work{Work: "busy"}, 500_000
	case i%211 == 0:
		j.Work = workers.Work{Work: "recurse", Times: 10_000_000}
	}
	host := newWorkHost(t, j.Work)
	if j.Work.Work != "calls" {
		return j, ctx, host
	}
	switch i % 3 {
	case 0:
		return j, ctx, &parking{host, func() error { return errParked }}
	case 1:
		canceled, cancel := context.WithCancel(ctx)
		return j, canceled, &parking{host, func() error { cancel(); return nil }}
	}
	return j, ctx, host
}

// TestNoAnswerIsLeftBehind holds that a Task which reads an answer before it has asked
// anything is not given that of the Task before.
func TestNoAnswerIsLeftBehind(t *testing.T) {
	g := runner(hostCallOf(0, 0, 0)+konst(0), abi.CallInput, abi.ReadImport)
	m := compile(t, newRuntime(t, Config{}), g.add(fn{export: "look", sig: runSig, body: konst(0) + konst(100) + call(1)}).wasm())
	for range 3 {
		if _, err := m.Run(t.Context(), abi.DefaultExport, &host{answer: always("a secret")}, Limits{}); err != nil {
			t.Fatal(err)
		}
		if _, err := m.Run(t.Context(), "look", &host{}, Limits{}); err != nil {
			t.Errorf("something could be read: %v", err)
		}
	}
}

// TestNoLineIsLeftBehind holds that what a Task has printed without ending the line does
// not become part of what the next one prints.
func TestNoLineIsLeftBehind(t *testing.T) {
	m := compile(t, newRuntime(t, Config{}), plugintest.Calls())
	secretive := program(plugintest.Step{Call: "wasi.print", Text: text("a secret, and")}, plugintest.Step{Call: abi.CallClock})
	parks := programHost(t, secretive, func(call string, _ []byte) (abi.CallStatus, []byte, error) { return 0, nil, errParked })
	if _, err := m.Run(t.Context(), abi.DefaultExport, parks, Limits{}); !errors.Is(err, errParked) {
		t.Fatal(err)
	}
	h := programHost(t, program(plugintest.Step{Call: "wasi.print", Text: text("a line\n")}), named)
	if _, err := m.Run(t.Context(), abi.DefaultExport, h, Limits{}); err != nil {
		t.Fatal(err)
	}
	printed := false
	for _, a := range h.asked {
		printed = printed || strings.Contains(a.request, "a line")
		if strings.Contains(a.request, "secret") {
			t.Errorf("%s tells %s", a.call, a.request)
		}
	}
	if !printed {
		t.Errorf("nothing was printed: %v", h.asked)
	}
}
