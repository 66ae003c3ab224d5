package pebble

import (
	"sync/atomic"

	"github.com/wharf-dev/wharf/storage"
)

// Metrics is a snapshot of what is worth watching. Counters count from Open.
type Metrics struct {
	Events  uint64 // made durable
	Batches uint64 // made durable: what Append was called with
	Commits uint64 // merged batches, each with one sync asked for; Batches/Commits is the batch size
	Bytes   uint64 // of keys and values of those batches

	Watermark   storage.Position
	Floor       storage.Position // up to here retention has removed everything
	QueueBytes  int              // handed over and not durable yet
	Subscribers int

	WALBytes        uint64 // in the log files that are needed for recovery
	WALBytesWritten uint64
	DiskBytes       uint64 // of the database, blobs left out
	PassingBytes    uint64 // of DiskBytes: in tables that are merged into others, or about to be removed
	MemtableBytes   uint64
	CacheBytes      int64
	Compactions     int64
	Flushes         int64
	// ReadAmplification is how many places a read may have to look into.
	ReadAmplification int
	BlobsStored       uint64 // by this process
	BlobBytesStored   uint64
}

// stats counts what became durable.
type stats struct{ events, batches, commits, bytes atomic.Uint64 }

func (s *stats) count(g *group) {
	var events uint64
	for _, c := range g.commits {
		if c.frame != nil {
			events += uint64(len(c.frame.Records))
		}
	}
	s.events.Add(events)
	s.batches.Add(uint64(len(g.commits)))
	s.commits.Add(1)
	s.bytes.Add(uint64(g.batch.Len()))
}

// Metrics returns a snapshot. It costs some locks: call it at the pace of a
// scrape, not of a request. After Close only the counters are set.
func (s *Store) Metrics() Metrics {
	m := Metrics{
		Events: s.stats.events.Load(), Batches: s.stats.batches.Load(),
		Commits: s.stats.commits.Load(), Bytes: s.stats.bytes.Load(),
		Watermark: s.mark.position(), Floor: storage.Position(s.floor.Load()),
		QueueBytes: s.queue.held(), Subscribers: int(s.topics.subscribers.Load()),
		BlobsStored: s.blobs.stored.Load(), BlobBytesStored: s.blobs.storedBytes.Load(),
	}
	if release, err := s.use(); err == nil {
		s.databaseMetrics(&m)
		release()
	}
	return m
}

func (s *Store) databaseMetrics(m *Metrics) {
	p := s.db.Metrics()
	m.WALBytes = p.WAL.Size
	m.WALBytesWritten = p.WAL.BytesWritten
	m.DiskBytes = p.DiskSpaceUsage()
	m.PassingBytes = p.Table.Local.ObsoleteSize + p.Table.Local.ZombieSize + uint64(max(p.Compact.InProgressBytes, 0))
	m.MemtableBytes = p.MemTable.Size
	m.CacheBytes = p.BlockCache.Size
	m.Compactions = p.Compact.Count
	m.Flushes = p.Flush.Count
	m.ReadAmplification = p.ReadAmp()
}

// raiseMax raises v to at least n.
func raiseMax(v *atomic.Uint32, n uint32) {
	for old := v.Load(); old < n; old = v.Load() {
		if v.CompareAndSwap(old, n) {
			return
		}
	}
}
