package pebble

import (
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/objstorage/objstorageprovider"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/wharf-dev/wharf/storage"
)

var benchIDs = flag.Uint64("ids", 1_000_000, "deliveries that BenchmarkSeen has in the window")

// remembered is a folder with many deliveries in the window, spread over its buckets as
// they would be had they come evenly.
type remembered struct {
	now   time.Time
	since time.Time
	total uint64
	parts []remembrance
}

// remembrance is the deliveries of one bucket.
type remembrance struct {
	from, until time.Time
	begin, n    uint64 // the numbers of its deliveries
}

// newRemembered is the window of the default length that ends in the middle of a
// bucket, so that it reaches into three.
func newRemembered(total uint64) *remembered {
	const day = 24 * time.Hour
	end := bucketEnd(bucketOf(time.Now()) + 1)
	r := &remembered{now: end.Add(-bucketDays * day / 2), total: total}
	r.since = r.now.Add(-8 * day)
	for from := r.since; from.Before(r.now); {
		until := bucketEnd(bucketOf(from))
		if until.After(r.now) {
			until = r.now
		}
		p := remembrance{from: from, until: until, n: uint64(float64(total) * float64(until.Sub(from)) / float64(8*day))}
		if last := len(r.parts) - 1; last >= 0 {
			p.begin = r.parts[last].begin + r.parts[last].n
		}
		r.parts = append(r.parts, p)
		from = until
	}
	return r
}

// mixed is a bijection that leaves no order.
func mixed(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// key returns the key of a bucket's delivery number i. They are sorted by i, and as
// hard to guess or to compress as hashes.
func (p *remembrance) key(i uint64) (k storage.DeliveryKey) {
	step := ^uint64(0) / p.n
	chance := mixed(p.begin + i)
	offset, _ := bits.Mul64(chance, step)
	binary.BigEndian.PutUint64(k[:], i*step+offset)
	binary.BigEndian.PutUint64(k[8:], mixed(chance))
	return k
}

// draft makes of a delivery what the committer makes of it.
func (p *remembrance) draft(r *remembered, i uint64) (key, value []byte, done func()) {
	chance := mixed(p.begin + i + r.total)
	within := time.Duration(chance % uint64(p.until.Sub(p.from)))
	f := storage.Frame{Tenant: 1, Time: p.from.Add(within), Records: []storage.Record{{
		Intake: storage.IntakeOp{Kind: storage.IntakeReceive, Connector: testConnector, Delivery: p.key(i)},
	}}}
	d := newDraft()
	d.addSeen(&f, 0)
	d.place(storage.Position(1 + chance%r.total))
	return d.buf[d.ops[0].key:d.ops[0].value], d.buf[d.ops[0].value:d.ops[0].end], d.free
}

// unsorted is the share of the deliveries that are written one by one, in no order, so
// that they lie where those of the last hours would: the rest was compacted long ago.
const unsorted = 50

func (r *remembered) fill(b *testing.B, s *Store) {
	b.Helper()
	for i := range r.parts {
		p := &r.parts[i]
		sorted := func(i uint64) bool { return p != &r.parts[len(r.parts)-1] || i%unsorted != 0 }
		if err := r.ingest(s, p, sorted); err != nil {
			b.Fatal(err)
		}
	}
	if err := r.write(s, &r.parts[len(r.parts)-1]); err != nil {
		b.Fatal(err)
	}
	for _, end := range []string{metaLast, metaFloor} { // as if retention had removed the events
		if err := s.db.Set(metaKey(end), appendPosition(nil, storage.Position(r.total)), pebble.Sync); err != nil {
			b.Fatal(err)
		}
	}
}

// ingest adds tables like those that compactions leave behind.
func (r *remembered) ingest(s *Store, p *remembrance, sorted func(uint64) bool) error {
	const together = 32
	o := s.databaseOptions(nil)
	o.EnsureDefaults()
	tables := o.MakeWriterOptions(6, s.db.TableFormat())
	var files []string
	for i := uint64(0); i < p.n; {
		name := filepath.Join(s.dir, fmt.Sprintf("%d.table", p.begin+i))
		f, err := s.opts.FS.Create(name, vfs.WriteCategoryUnspecified)
		if err != nil {
			return err
		}
		w := sstable.NewWriter(objstorageprovider.NewFileWritable(f), tables)
		for ; i < p.n && w.Raw().EstimatedSize() < tableBytes; i++ {
			if !sorted(i) {
				continue
			}
			key, value, done := p.draft(r, i)
			err := w.Set(key, value)
			done()
			if err != nil {
				return err
			}
		}
		if err := w.Close(); err != nil {
			return err
		}
		if files = append(files, name); len(files) == together || i == p.n {
			if err := s.db.Ingest(context.Background(), files); err != nil {
				return err
			}
			files = files[:0]
		}
	}
	return nil
}

// write adds the rest of a bucket's deliveries.
func (r *remembered) write(s *Store, p *remembrance) error {
	left := p.n / unsorted
	batch := s.db.NewBatch()
	for _, i := range rand.New(rand.NewPCG(1, 1)).Perm(int(left)) {
		key, value, done := p.draft(r, uint64(i)*unsorted)
		err := batch.Set(key, value, nil)
		done()
		if err == nil && batch.Count() == 64 {
			err = batch.Commit(pebble.NoSync)
			batch = s.db.NewBatch()
		}
		if err != nil {
			return err
		}
	}
	return batch.Commit(pebble.NoSync)
}

// draw returns the key of a delivery: one that was taken, or one that never came.
func (r *remembered) draw(chance *rand.Rand) (k storage.DeliveryKey, known bool) {
	if chance.IntN(2) == 0 {
		binary.BigEndian.PutUint64(k[:], chance.Uint64())
		binary.BigEndian.PutUint64(k[8:], chance.Uint64())
		return k, false
	}
	p := &r.parts[len(r.parts)-1]
	n := chance.Uint64N(p.begin + p.n)
	for i := range r.parts {
		if p = &r.parts[i]; n < p.begin+p.n {
			break
		}
	}
	return p.key(n - p.begin), true
}

// BenchmarkSeen looks for deliveries among -ids of them, half of them known, half
// fresh, in a folder that was just opened: by one caller after the other, and by 64
// that together look as often as deliveries come to a busy node. The times are in
// microseconds. What is called busy is processor time alone, without the waits for a
// processor that somebody else has.
func BenchmarkSeen(b *testing.B) {
	r := newRemembered(*benchIDs)
	o := benchOptions()
	o.Now = func() time.Time { return r.now }
	dir := b.TempDir()
	s, err := Open(dir, o)
	if err != nil {
		b.Fatal(err)
	}
	begun := time.Now()
	r.fill(b, s)
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	b.Logf("%d deliveries are in the window after %s", r.total, time.Since(begun).Round(time.Second))
	if s, err = Open(dir, o); err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	begun = time.Now()
	s.load(spaceSeen, &s.deliveries) // as the start does beside it: neither is measured
	b.Logf("the keys were loaded, or were too many, after %s", time.Since(begun).Round(time.Millisecond))
	prefix := appendPrefix(nil, 1, spaceSeen)
	size, err := s.db.EstimateDiskUsage(prefix, keyAfter(prefix))
	if err != nil {
		b.Fatal(err)
	}
	for _, callers := range []int{1, clients} {
		b.Run(fmt.Sprint(callers), func(b *testing.B) {
			r.look(b, s, callers)
			b.ReportMetric(float64(size)/float64(r.total), "bytes/id")
		})
	}
}

// pace is how often each of several callers looks: twenty thousand times a second
// together. Callers that never rest would measure how long they wait for a processor.
const pace = clients * time.Second / 20_000

// look makes b.N look-ups by several callers.
func (r *remembered) look(b *testing.B, s *Store, callers int) {
	times, busy := make([]time.Duration, b.N), make([]time.Duration, b.N)
	var next atomic.Int64
	var all sync.WaitGroup
	for caller := range callers {
		all.Go(func() {
			runtime.LockOSThread()
			chance := rand.New(rand.NewPCG(uint64(b.N), uint64(caller)))
			due := time.Now()
			for n := next.Add(1); n <= int64(b.N); n = next.Add(1) {
				if due = due.Add(pace); callers > 1 {
					time.Sleep(time.Until(due))
				}
				k, known := r.draw(chance)
				begun, used := time.Now(), threadTime()
				_, seen, err := s.Seen(context.Background(), 1, k, r.since)
				busy[n-1], times[n-1] = threadTime()-used, time.Since(begun)
				if err != nil || seen != known {
					b.Errorf("a delivery that is known (%t) was seen: %t, %v", known, seen, err)
					return
				}
			}
		})
	}
	all.Wait()
	slices.Sort(times)
	slices.Sort(busy)
	for name, sorted := range map[string][]time.Duration{"": times, "busy-": busy} {
		b.ReportMetric(float64(sorted[b.N/2])/1e3, name+"p50-us")
		b.ReportMetric(float64(sorted[b.N*99/100])/1e3, name+"p99-us")
		b.ReportMetric(float64(sorted[b.N*999/1000])/1e3, name+"p99.9-us")
	}
}
