package pebble

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
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
func BenchmarkAccept(b *testing.B) { benchAccepts(b, func(*storage.Batch) {}) }

// BenchmarkAcceptExpecting appends it on the condition that nobody has before.
func BenchmarkAcceptExpecting(b *testing.B) {
	benchAccepts(b, func(batch *storage.Batch) {
		batch.Expect = []storage.Expectation{{Kind: storage.ExpectNoAnswer, Key: batch.Idempotency.Key, Time: batch.Frame.Time}}
	})
}

func benchAccepts(b *testing.B, prepare func(*storage.Batch)) {
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
			batch := benchBatch(n.Add(1), now, sess, newID(abi.ObjectWorkspace, 1), doc)
			prepare(batch)
			if _, err := s.Append(batch).Wait(ctx); err != nil {
				b.Error(err)
				return
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "accepts/s")
	m := s.Metrics()
	b.ReportMetric(float64(m.Batches)/float64(m.Commits), "batches/commit")
}

// BenchmarkTask appends whole Tasks of five recorded steps, each batch durable
// before the next, from 64 goroutines.
func BenchmarkTask(b *testing.B) { benchTasks(b, clients) }

// BenchmarkTaskOneClient is the same from one goroutine.
func BenchmarkTaskOneClient(b *testing.B) { benchTasks(b, 1) }

func benchTasks(b *testing.B, clients int) {
	s, err := Open(b.TempDir(), benchOptions())
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	tasks := make([][]*storage.Batch, 1024)
	for i := range tasks {
		tasks[i] = newRecorded(uint64(i)).task()
	}
	ids := abi.NewIDs(time.Now, rand.Reader)
	var next atomic.Int64
	var writers sync.WaitGroup
	began := cpuTime()
	b.ReportAllocs()
	b.ResetTimer()
	for range clients {
		session := ids.New(abi.ObjectSession)
		writers.Go(func() {
			for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
				if err := writeTask(s, renamed(tasks[i%int64(len(tasks))], ids, session)); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	writers.Wait()
	b.StopTimer()
	n := float64(b.N)
	b.ReportMetric(n/b.Elapsed().Seconds(), "tasks/s")
	b.ReportMetric(float64((cpuTime()-began).Microseconds())/n, "cpu-µs/task")
	b.ReportMetric(float64(s.Metrics().WALBytesWritten)/n, "wal-B/task")
}

// renamed returns the batches of a Task under fresh ids. What they say stays.
func renamed(batches []*storage.Batch, ids *abi.IDs, session string) []*storage.Batch {
	task := ids.New(abi.ObjectTask)
	again := make([]*storage.Batch, len(batches))
	for i, b := range batches {
		f := b.Frame
		f.WorkspaceID, f.SessionID, f.TaskID = newID(abi.ObjectWorkspace, 1), session, task
		f.Records = slices.Clone(f.Records)
		for k := range f.Records {
			switch r := &f.Records[k].Resource; r.Object {
			case abi.ObjectTask:
				r.ID = task
			case abi.ObjectState:
				r.ID = "state_" + session[len("sess_"):] + r.ID[len("state_")+ulid.EncodedSize:]
			default:
				r.ID = ids.New(r.Object)
			}
		}
		again[i] = &storage.Batch{Frame: f}
	}
	return again
}

func writeTask(s *Store, batches []*storage.Batch) error {
	for _, b := range batches {
		if _, err := s.Append(b).Wait(context.Background()); err != nil {
			return err
		}
	}
	return nil
}

// cpuTime returns the processor time that this process has used.
func cpuTime() time.Duration {
	var use syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &use)
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
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
