package engine_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/engine"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/sandbox"
	"github.com/wharf-dev/wharf/storage/pebble"
)

// onDisk is a node on a real disk.
func onDisk(b *testing.B) (*node, string) {
	store, err := pebble.Open(b.TempDir(), pebble.Options{})
	if err != nil {
		b.Fatal(err)
	}
	g := enginetest.Guests{"echo": enginetest.Echo, "steps": steps(abi.CallStateSet), "reads": steps(abi.CallStateGet),
		"sorter": normalizing(asTask)}
	n := &node{enginetest.BootOn(b, store, g, func(_ *engine.Config, p *engine.Parts) { p.Log = slog.New(slog.DiscardHandler) })}
	b.Cleanup(func() { n.Stop(b) })
	return n, n.Session(b)
}

// BenchmarkSubmit accepts Tasks from 64 goroutines; nothing runs them.
func BenchmarkSubmit(b *testing.B) {
	n, session := onDisk(b)
	n.RunNothing()
	b.ReportAllocs()
	b.SetParallelism(32)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			n.Submit(b, session, "")
		}
	})
}

// BenchmarkSubmitWithSession is BenchmarkSubmit with a hidden Session made for each.
func BenchmarkSubmitWithSession(b *testing.B) {
	n, _ := onDisk(b)
	n.RunNothing()
	b.ReportAllocs()
	b.SetParallelism(32)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := n.SubmitTask(b.Context(), n.Root, nil, hiddenSession("")); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkDeliver takes deliveries from 64 goroutines and settles them: no Task comes of
// them.
func BenchmarkDeliver(b *testing.B) {
	n, _ := onDisk(b)
	connector := n.connector(b, nil)
	var sent atomic.Int64
	b.ReportAllocs()
	b.SetParallelism(32)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			n.deliver(b, connector, fmt.Sprintf("delivery-%d", sent.Add(1)), "nothing: 0123456789012345678901234567890123456789")
		}
	})
	n.settled(b, connector)
}

// steps makes five calls with 200 bytes each.
func steps(call string) func(context.Context, sandbox.Host) error {
	return func(ctx context.Context, h sandbox.Host) error {
		for i := range 5 {
			request := fmt.Sprintf(`{"key":"step%d","value":"%0180d"}`, i, i)
			if call == abi.CallStateGet {
				request = fmt.Sprintf(`{"key":"step%0120d"}`, i)
			}
			if _, _, err := h.Call(ctx, call, []byte(request)); err != nil {
				return err
			}
		}
		_, _, err := h.Call(ctx, abi.CallOutput, []byte(`{"summary":"done"}`))
		return err
	}
}

// BenchmarkSteps takes Tasks with five recorded steps to their end, from 64
// goroutines with a Session each: every step durable before the next, or none.
func BenchmarkSteps(b *testing.B) {
	for _, persona := range []string{"steps", "reads"} {
		b.Run(persona, func(b *testing.B) {
			n, _ := onDisk(b)
			b.ReportAllocs()
			b.SetParallelism(32)
			b.RunParallel(func(pb *testing.PB) {
				session := n.Session(b)
				for pb.Next() {
					if task := n.Wait(b, n.Submit(b, session, "persona_"+persona)); task.Status != abi.TaskCompleted {
						b.Fatal(task.Failure)
					}
				}
			})
		})
	}
}

// BenchmarkTask takes Tasks from their submit to their end, from 64 goroutines,
// with a guest that costs nothing.
func BenchmarkTask(b *testing.B) {
	n, session := onDisk(b)
	b.ReportAllocs()
	b.SetParallelism(32)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if task := n.Wait(b, n.Submit(b, session, "")); task.Status != abi.TaskCompleted {
				b.Fatal(task.Failure)
			}
		}
	})
}
