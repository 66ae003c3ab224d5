package engine

import (
	"context"
	"log/slog"
	"testing"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/storage/pebble"
)

// onDisk is a node on a real disk.
func onDisk(b *testing.B) (*node, string) {
	store, err := pebble.Open(b.TempDir(), pebble.Options{})
	if err != nil {
		b.Fatal(err)
	}
	g := guests{"echo": echo}
	e, err := New(Config{DefaultPersona: "persona_echo"}, Parts{Store: store, Modules: g, Personas: personas(g), Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	if _, err := e.Bootstrap(context.Background(), rootKey); err != nil {
		b.Fatal(err)
	}
	n := &node{Engine: e, store: store}
	if n.root, err = e.Authenticate(context.Background(), rootKey); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { n.stop(b) })
	return n, n.session(b)
}

// BenchmarkSubmit accepts Tasks from 64 goroutines; nothing runs them.
func BenchmarkSubmit(b *testing.B) {
	n, session := onDisk(b)
	n.queue.width, n.queue.limit = 0, 1<<40
	b.ReportAllocs()
	b.SetParallelism(32)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			n.submit(b, session, "")
		}
	})
}

// BenchmarkTask takes Tasks from their submit to their end, from 64 goroutines,
// with a guest that costs nothing.
func BenchmarkTask(b *testing.B) {
	n, session := onDisk(b)
	b.ReportAllocs()
	b.SetParallelism(32)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if task := n.wait(b, n.submit(b, session, "")); task.Status != abi.TaskCompleted {
				b.Fatal(task.Failure)
			}
		}
	})
}
