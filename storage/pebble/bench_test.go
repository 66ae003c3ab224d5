package pebble

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/oklog/ulid/v2"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/storage"
)

// clients is how many goroutines the benchmarks write with.
const clients = 64

// benchBatch is like the acceptance of a Task: one frame of two records with
// about 400 bytes each, with everything that follows from it.
func benchBatch(n uint64, now time.Time, session, workspace string, doc []byte) *storage.Batch {
	var u ulid.ULID
	_ = u.SetTime(uint64(now.UnixMilli()))
	for i := range 8 {
		u[15-i] = byte(n >> (8 * i))
	}
	task, msg := "task_"+u.String(), "msg_"+u.String()
	b := &storage.Batch{
		Frame: storage.Frame{
			Tenant: 1, Time: now, WorkspaceID: workspace, SessionID: session, TaskID: task, Actor: "user_1",
			Records: []storage.Record{
				{Kind: abi.EventUserMessage, Resource: ptr(abi.ObjectMessage, msg), Created: true, State: doc,
					Transcript: storage.TranscriptOp{Kind: storage.TranscriptAppend}},
				{Kind: abi.EventTaskSubmitted, Resource: ptr(abi.ObjectTask, task), Created: true, State: doc},
			},
		},
		Idempotency: &storage.Idempotency{Expires: now.Add(24 * time.Hour), Status: 202, Record: 1},
	}
	copy(b.Idempotency.Key[:], u[:])
	return b
}

func benchDoc() []byte {
	return bytes.Repeat([]byte(`{"some":"json","of":"a task"}`), 14)
}

func benchOptions() Options {
	return Options{Logger: slog.New(slog.NewTextHandler(io.Discard, nil))}
}

// BenchmarkAccept appends what the acceptance of a Task appends, from 64 goroutines.
func BenchmarkAccept(b *testing.B) {
	s, err := Open(b.TempDir(), benchOptions())
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	ctx, doc, now := context.Background(), benchDoc(), time.Now()
	var n, session atomic.Uint64
	b.SetParallelism(clients / 2)
	b.ReportAllocs()
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		sess := newID(abi.ObjectSession, int(session.Add(1)))
		for pb.Next() {
			if _, err := s.Append(benchBatch(n.Add(1), now, sess, newID(abi.ObjectWorkspace, 1), doc)).Wait(ctx); err != nil {
				b.Error(err)
				return
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "accepts/s")
	m := s.Metrics()
	b.ReportMetric(float64(m.Batches)/float64(m.Commits), "batches/commit")
}

// BenchmarkAcceptOneClient is the latency that a single client sees.
func BenchmarkAcceptOneClient(b *testing.B) {
	s, err := Open(b.TempDir(), benchOptions())
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	ctx, doc, now := context.Background(), benchDoc(), time.Now()
	for n := range b.N {
		if _, err := s.Append(benchBatch(uint64(n), now, newID(abi.ObjectSession, 1), newID(abi.ObjectWorkspace, 1), doc)).Wait(ctx); err != nil {
			b.Fatal(err)
		}
	}
}

func bareDatabase(b *testing.B) *pebble.DB {
	s := &Store{opts: benchOptions().withDefaults(), log: benchOptions().Logger}
	o := s.databaseOptions(pebble.NewCache(32 << 20))
	o.EventListener = nil
	db, err := pebble.Open(b.TempDir(), o)
	if err != nil {
		b.Fatal(err)
	}
	return db
}

// BenchmarkBare is the ceiling: a synced batch of three keys from 64 goroutines,
// straight into Pebble, with the same documents.
func BenchmarkBare(b *testing.B) {
	db := bareDatabase(b)
	defer db.Close()
	doc := benchDoc()
	var n atomic.Uint64
	b.SetParallelism(clients / 2)
	b.ReportAllocs()
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if err := bareWrite(db, n.Add(1), doc); err != nil {
				b.Error(err)
				return
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "accepts/s")
}

// BenchmarkBareOneClient is the ceiling of BenchmarkAcceptOneClient.
func BenchmarkBareOneClient(b *testing.B) {
	db := bareDatabase(b)
	defer db.Close()
	doc := benchDoc()
	for n := range b.N {
		if err := bareWrite(db, uint64(n), doc); err != nil {
			b.Fatal(err)
		}
	}
}

func bareWrite(db *pebble.DB, n uint64, doc []byte) error {
	batch := db.NewBatch()
	defer batch.Close()
	for i := range 3 {
		value := doc
		if i == 2 {
			value = nil
		}
		if err := batch.Set(fmt.Appendf(nil, "%d/%020d", i, n), value, nil); err != nil {
			return err
		}
	}
	return batch.Commit(pebble.Sync)
}
