package pebble

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/wharf-dev/wharf/storage"
)

// formatVersion is the version of the layout as a whole (docs/log-format.md).
// What an older program would read wrongly raises it, wherever in the folder it lies:
// the log, blobs, keys, vaults, modules.
const formatVersion = 4

// The names of the facts about the whole folder.
const (
	metaFormat = "format"
	metaLast   = "last"
	metaFloor  = "floor"
	metaChunks = "chunks"
	metaSeen   = "seen"
	metaWords  = "words"
	// metaCounted is up to where marks count what lists have.
	metaCounted = "counted"
	// metaPrepared is from where on what refers to what has keys, while that of before is
	// still being looked for, and metaPreparing up to where it was found.
	metaPrepared  = "prepared"
	metaPreparing = "preparing"
	// metaMeasured is up to where tallies have what Workspaces take.
	metaMeasured = "measured"
)

// The parts of a data folder.
const (
	databaseDir = "db"
	blobsDir    = "blobs"
	scratchDir  = "rebuild.tmp"
	headName    = "HEAD"
	lockName    = "LOCK"
)

// Options configures a [Store]. The zero value of each member is its default.
type Options struct {
	// FS holds the data folder; the operating system's by default.
	FS vfs.FS
	// CacheBytes is the size of the block cache, 32 MiB by default.
	CacheBytes int64
	// MemtableBytes is the size up to which writes are collected in memory before
	// they are sorted into tables, 64 MiB by default. Smaller ones starve the disk.
	MemtableBytes uint64
	// MaxInlineBytes is the largest State, Payload or Answer that the log itself
	// holds, 64 KiB by default. Larger ones go to the blob store.
	MaxInlineBytes int
	// QueueBytes bounds what writers have handed over and is not yet durable,
	// 32 MiB by default. Append blocks while the queue is full.
	QueueBytes int
	// IdempotencyDays is how long an idempotency record may live at most, counted in days from
	// the time of its frame, 2 by default.
	IdempotencyDays int
	// KeyFilterBytes bounds the memory that tells the idempotency keys of one day from fresh
	// ones, 6 MiB by default: some four million keys. Beyond them more and more fresh keys cost
	// a look into the database.
	KeyFilterBytes int
	// DedupeDays is how long the keys of deliveries are remembered at least, 8 days by default.
	// They may be remembered up to bucketDays longer.
	DedupeDays int
	// DedupeFilterBytes bounds the memory that tells the delivery keys of one bucket from fresh
	// ones, 16 MiB by default: some eleven million keys.
	DedupeFilterBytes int
	// Scratch is the folder in which Rebuild makes its scratch database: the data folder by
	// default. A store that was opened read-only has no default.
	Scratch string
	// Logger receives what the database has to say; slog.Default() by default.
	Logger *slog.Logger
	// markEvery and markLag are the distances of marks in lists; tests have short ones.
	markEvery, markLag int
	// grace is how long Close waits after a failure.
	grace time.Duration
	// Now is the clock by which idempotency records are dropped; time.Now by default.
	Now func() time.Time
}

func (o Options) withDefaults() Options {
	if o.FS == nil {
		o.FS = vfs.Default
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	setDefault(&o.CacheBytes, 32<<20)
	setDefault(&o.MemtableBytes, 64<<20)
	setDefault(&o.MaxInlineBytes, 64<<10)
	setDefault(&o.QueueBytes, 32<<20)
	setDefault(&o.IdempotencyDays, 2)
	setDefault(&o.KeyFilterBytes, 6<<20)
	setDefault(&o.DedupeDays, 8)
	setDefault(&o.DedupeFilterBytes, 16<<20)
	setDefault(&o.markEvery, markEvery)
	setDefault(&o.markLag, markLag)
	setDefault(&o.grace, time.Second)
	return o
}

func setDefault[T ~int | ~int64 | ~uint64](v *T, d T) {
	if *v <= 0 {
		*v = d
	}
}

// Store is an open data folder. It implements [storage.Store].
type Store struct {
	opts  Options
	dir   string
	log   *slog.Logger
	lock  io.Closer
	db    *pebble.DB
	guard *guardFS // what db writes through
	blobs *blobStore
	head  *head

	// life is held shared by whatever uses db, and exclusively to close it.
	life   sync.RWMutex
	closed bool // guarded by life

	queue     queue
	syncing   chan *group // from the committer to the syncer, in log order
	committed sync.WaitGroup
	mark      watermark
	fail      failure
	topics    topics
	opening   atomic.Bool // the database is being opened
	// readOnly says that nothing may be written.
	readOnly bool
	// format is the number in the format file, 0 without one; stored that in the
	// database, 0 when it is new.
	format, stored uint32
	keys           keyFilter
	// deliveries holds the keys of deliveries, whose days are buckets.
	deliveries keyFilter
	stats      stats
	wedged     atomic.Bool // the database has panicked while it held its locks

	// next is the position that the next event gets. The committer owns it.
	next storage.Position
	// chunkKeys are the keys that need not be written again. The committer owns them.
	order     order   // of what is merged; used by the committer only
	changes   changes // of what is merged; used by the committer only
	chunkKeys chunkKeys
	counts    counter // of lists
	// counted says that the marks in lists count what is there.
	counted bool
	// chunked is the first position whose frame is found by its chunk. It does not
	// change while the store is open.
	chunked storage.Position
	// headWritten is when the head file was last written. The syncer owns it.
	headWritten time.Time
	// expired is the day up to which idempotency records were dropped. The
	// committer owns it.
	expired uint32

	// applied is the position of the newest event that readers of db may see.
	applied atomic.Uint64
	// reshaped is that of the newest event that dropped or copied Messages, which
	// the keys that are left do not tell.
	reshaped atomic.Uint64
	// floor is the position up to which retention has removed everything.
	floor atomic.Uint64
	// lastDay is the latest day on which any idempotency record expires.
	lastDay atomic.Uint32
	// firstBucket and lastBucket bound the buckets of delivery keys. The committer
	// raises the first.
	firstBucket, lastBucket atomic.Uint32

	retaining sync.Mutex // one Retain at a time
	// prepared says that all that refers to blobs, and all that was made from something, has
	// its keys.
	prepared atomic.Bool
	// expiredDay is expired, for those who are not the committer.
	expiredDay atomic.Uint32
	erased     erased
	// removals counts what has removed frames or given marks to a list that may go, and overtaken the erasures that were made
	// again for it.
	removals, overtaken atomic.Uint64
	volumes             volumes
}

var (
	_ storage.Store    = (*Store)(nil)
	_ storage.Retainer = (*Store)(nil)
	_ storage.Backuper = (*Store)(nil)
	_ storage.Checker  = (*Store)(nil)
	_ storage.Walker   = (*Store)(nil)
	_ storage.Eraser   = (*Store)(nil)
	_ storage.Sizer    = (*Store)(nil)
)

// Open opens the data folder dir, and makes it if nothing of a store is in it. It fails with a
// [*LockedError] if another process has it open, and with a [*FolderError] if its format is
// newer than this program, if a file is missing, or if events that were acknowledged are no
// longer in the log. Then nothing was written to it. When the disk fails meanwhile, the error
// wraps [storage.ErrFailed].
func Open(dir string, o Options) (*Store, error) {
	o = o.withDefaults()
	if _, _, err := survey(readOnlyFS{o.FS}, dir); err != nil {
		return nil, fmt.Errorf("opening data folder %s: %w", dir, err)
	}
	if err := o.FS.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("making data folder %s: %w", dir, err)
	}
	lock, err := o.FS.Lock(o.FS.PathJoin(dir, lockName))
	if err != nil {
		return nil, lockError(dir, err)
	}
	s := newStore(dir, o, lock)
	if err := s.open(); err != nil {
		_ = lock.Close()
		return nil, fmt.Errorf("opening data folder %s: %w", dir, err)
	}
	return s, nil
}

func newStore(dir string, o Options, lock io.Closer) *Store {
	s := &Store{opts: o, dir: dir, log: o.Logger, lock: lock}
	s.guard = &guardFS{FS: o.FS, fail: &s.fail, report: s.failed, opening: &s.opening, grows: int64(o.MemtableBytes) / growShare}
	s.mark.init()
	s.fail.init()
	s.queue.init(o.QueueBytes)
	s.topics.init()
	s.counts.init(o.markEvery, o.markLag)
	s.volumes.init()
	return s
}

// open opens the folder. Pebble waits for ever for a disk that fails while it opens:
// then it is left to the end of the process, as when it hangs later.
func (s *Store) open() error {
	var err error
	s.opening.Store(true)
	if !s.orFailed(func() { err = s.openAll() }) {
		return s.fail.err()
	}
	if err != nil {
		return err
	}
	s.opening.Store(false)
	s.syncing = make(chan *group, maxInFlight)
	s.committed.Go(s.commitLoop)
	s.committed.Go(s.syncLoop)
	go s.loadKeys() // Close waits for it, as for any reader
	s.committed.Go(s.countBlobs)
	if !s.prepared.Load() {
		s.committed.Go(s.prepareErasing)
	}
	return nil
}

func (s *Store) openAll() error {
	if err := s.openParts(); err != nil {
		return err
	}
	err := errors.Join(s.recover(), s.fail.err())
	if err != nil {
		return errors.Join(err, s.db.Close(), s.head.close())
	}
	return nil
}

// openParts looks at the folder, makes it if need be, and opens the blobs, the head
// file and the database.
func (s *Store) openParts() error {
	fs := s.opts.FS
	c, format, err := survey(fs, s.dir)
	if err != nil {
		return err
	}
	s.format = format
	if c == made {
		err = preflight(s.dir, s.opts)
	} else {
		err = s.create()
	}
	if err != nil {
		return err
	}
	return s.openFiles()
}

// openFiles opens a folder that was found whole. From here on it is written to.
func (s *Store) openFiles() (err error) {
	fs := s.opts.FS
	if s.format != formatVersion {
		if err := writeFormat(fs, s.dir); err != nil {
			return err
		}
	}
	if err := fs.RemoveAll(fs.PathJoin(s.dir, scratchDir)); err != nil {
		return fmt.Errorf("removing what a rebuild has left: %w", err)
	}
	if s.blobs, err = openBlobs(fs, fs.PathJoin(s.dir, blobsDir), &s.fail); err != nil {
		return err
	}
	position, _, err := headOf(fs, s.dir)
	if err != nil {
		return err
	}
	if s.head, err = openHead(fs, fs.PathJoin(s.dir, headName), position); err != nil {
		return err
	}
	if err := syncDir(fs, s.dir); err != nil {
		return errors.Join(err, s.head.close())
	}
	if err := s.openDatabase(fs.PathJoin(s.dir, databaseDir)); err != nil {
		return errors.Join(err, s.head.close())
	}
	return nil
}

// openDatabase opens Pebble on a database that is there.
func (s *Store) openDatabase(dir string) error {
	cache := pebble.NewCache(s.opts.CacheBytes + memtablesInUse*int64(s.opts.MemtableBytes))
	defer cache.Unref()
	if err := s.head.begin(s.head.position); err != nil {
		return err
	}
	o := s.databaseOptions(cache)
	o.ErrorIfNotExists = true
	db, err := openPebble(dir, o)
	if err != nil {
		return explain(err)
	}
	if s.fail.err() != nil { // Pebble was told that all is well
		return errors.Join(s.fail.err(), db.Close())
	}
	s.db = db
	return nil
}

// memtablesInUse is how many memtables there are under load: one that fills and
// one that is written out. Pebble takes them out of its cache, which without room
// for them would hold no block at all.
const memtablesInUse = 2

// tableBytes is the size of a table on disk.
const tableBytes = 8 << 20

func (s *Store) databaseOptions(cache *pebble.Cache) *pebble.Options {
	o := &pebble.Options{
		FS:                          s.guard,
		Cache:                       cache,
		FormatMajorVersion:          pebble.FormatNewest,
		MemTableSize:                s.opts.MemtableBytes,
		MemTableStopWritesThreshold: 4,
		L0CompactionThreshold:       8,
		L0StopWritesThreshold:       24,
		Logger:                      &databaseLog{s},
		EventListener:               &pebble.EventListener{BackgroundError: s.backgroundError, DataCorruption: s.damaged},
	}
	for i := range o.Levels {
		o.Levels[i].Compression = compressionOf(i)
		o.Levels[i].FilterPolicy = bloom.FilterPolicy(10)
		// A table's filter is one block. That of Pebble's larger tables has megabytes:
		// a few of them push everything else out of the cache, and reading one back
		// is the price of a single lookup.
		o.TargetFileSizes[i] = tableBytes
	}
	return o
}

// compressionOf says how the tables of a level are compressed. Those that come from memory are
// merged into others soon, and the frames in them are packed already.
func compressionOf(level int) func() *sstable.CompressionProfile {
	if level == 0 {
		return func() *sstable.CompressionProfile { return sstable.NoCompression }
	}
	return func() *sstable.CompressionProfile { return sstable.SnappyCompression }
}

// recover reads where the log ends, and brings a folder of an older format up to date.
func (s *Store) recover() error {
	if err := s.readFacts(); err != nil {
		return err
	}
	if err := s.upgrade(); err != nil {
		return fmt.Errorf("upgrading the database: %w", err)
	}
	if err := s.recoverVolumes(); err != nil {
		return fmt.Errorf("adding up what workspaces take: %w", err)
	}
	if err := s.recoverPrepared(); err != nil {
		return err
	}
	if err := s.indexWords(); err != nil {
		return fmt.Errorf("indexing the memories: %w", err)
	}
	if err := s.recoverCounts(); err != nil {
		return fmt.Errorf("looking for the marks of lists: %w", err)
	}
	return s.head.begin(s.mark.position())
}

// readFacts reads where the log begins and ends and holds it against the head file.
func (s *Store) readFacts() error {
	last, err := s.metaPosition(metaLast)
	if err != nil {
		return err
	}
	if err := s.readFormat(last); err != nil {
		return err
	}
	floor, err := s.metaPosition(metaFloor)
	if err != nil {
		return err
	}
	if last < s.head.position {
		return lost("the log ends at position %s, but position %s was acknowledged: a file %s/*.log is missing or was cut off",
			last, s.head.position, databaseDir)
	}
	if err := checkEnds(s.db, floor, last); err != nil {
		return err
	}
	if err := checkTail(s.db, floor, last); err != nil {
		return err
	}
	if s.stored <= formatChunked {
		if err := checkDictionary(s.db); err != nil {
			return err
		}
	}
	day, err := s.lastNumber(spaceIdempotency)
	if err != nil {
		return err
	}
	if err := s.recoverSeen(); err != nil {
		return err
	}
	s.next = last + 1
	s.applied.Store(uint64(last))
	s.floor.Store(uint64(floor))
	s.lastDay.Store(day)
	s.keys.init(day, s.opts.KeyFilterBytes)
	s.mark.raise(last)
	return nil
}

// readFormat reads the format that the database has, refuses one that it does not
// know, and finds out from where on frames are found by their chunk.
func (s *Store) readFormat(last storage.Position) error {
	v, ok, err := s.meta(metaFormat)
	if err != nil {
		return err
	}
	if ok && len(v) != 4 {
		return &CorruptError{Key: metaKey(metaFormat), Reason: errMalformed.Error()}
	}
	if ok {
		s.stored = binary.BigEndian.Uint32(v)
	}
	switch {
	case s.stored > formatVersion:
		return checkKnown(s.stored)
	case s.stored > formatChunked && s.format == 0:
		return lost("%s is missing, the file that says that the folder has format %d", formatFile, s.stored)
	case s.stored <= formatUnchunked:
		s.chunked = last + 1
		return nil
	}
	s.chunked, err = s.metaPosition(metaChunks)
	return err
}

// upgrade gives the database this program's format from the next event on. What lies
// before is read as it is.
func (s *Store) upgrade() error {
	if s.stored == formatVersion {
		return nil
	}
	b := s.db.NewBatch()
	defer b.Close()
	_ = b.Set(metaKey(metaChunks), appendPosition(nil, s.chunked), nil)  // fails only on an indexed batch
	_ = b.Set(metaKey(metaMeasured), appendPosition(nil, s.next-1), nil) // as above
	if s.stored != 0 {
		if err := s.recount(b); err != nil {
			return err
		}
	}
	_ = b.Set(metaKey(metaFormat), binary.BigEndian.AppendUint32(nil, formatVersion), nil)
	return b.Commit(pebble.Sync)
}

// meta returns a fact about the whole folder.
func (s *Store) meta(name string) (value []byte, ok bool, err error) {
	value, ok, err = lookup(s.db, metaKey(name))
	if err != nil {
		err = fmt.Errorf("reading %s: %w", name, err)
	}
	return value, ok, err
}

func (s *Store) metaPosition(name string) (storage.Position, error) {
	v, ok, err := s.meta(name)
	if err != nil || !ok {
		return 0, err
	}
	if len(v) != positionLen {
		return 0, &CorruptError{Key: metaKey(name), Reason: errMalformed.Error()}
	}
	return positionAt(v), nil
}

// lastNumber returns the highest number that follows the prefix in any key of a
// space: a day or a bucket.
func (s *Store) lastNumber(space byte) (day uint32, err error) {
	err = eachTenant(s.db, func(t storage.Tenant) error {
		prefix := appendPrefix(nil, t, space)
		it, err := s.db.NewIter(&pebble.IterOptions{LowerBound: prefix, UpperBound: keyAfter(prefix)})
		if err != nil {
			return err
		}
		if it.Last() && len(it.Key()) >= prefixLen+4 {
			day = max(day, binary.BigEndian.Uint32(it.Key()[prefixLen:]))
		}
		return ended(it, nil)
	})
	return day, err
}

// Watermark implements [storage.Store].
func (s *Store) Watermark() storage.Position { return s.mark.position() }

// Failed implements [storage.Store].
func (s *Store) Failed() error { return s.fail.err() }

// Blobs implements [storage.Store].
func (s *Store) Blobs() storage.Blobs { return s.blobs }

// Close implements [storage.Store]. Subscriptions and reads that wait end with
// [storage.ErrClosed].
func (s *Store) Close() error {
	if !s.queue.close() {
		return storage.ErrClosed
	}
	idle := s.orFailed(s.committed.Wait)
	s.mark.close()
	s.topics.rouseAll()
	s.life.Lock()
	defer s.life.Unlock()
	s.closed = true
	return errors.Join(s.closeParts(idle), s.lock.Close())
}

// orFailed runs f and reports whether it has returned. It waits for it as long as
// the store works; after a failure it gives f only some grace, because a database
// that cannot write may hold a caller for ever.
func (s *Store) orFailed(f func()) bool {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
		return true
	case <-s.fail.done:
	}
	select {
	case <-done:
		return true
	case <-time.After(s.opts.grace):
		return false
	}
}

// closeParts closes the database and then, if all is well, writes down that the
// log ends here. A database that hangs or has panicked is left to the end of the
// process.
func (s *Store) closeParts(idle bool) error {
	if s.readOnly {
		return s.db.Close()
	}
	if !idle || s.wedged.Load() {
		return s.head.close()
	}
	var err error
	if !s.orFailed(func() { err = s.closeDatabase() }) {
		return s.head.close()
	}
	if err != nil {
		return errors.Join(err, s.head.close())
	}
	return errors.Join(s.head.finish(s.mark.position()), s.head.close())
}

// closeDatabase moves what is in memory into tables, so that the next start has
// nothing to replay, and closes.
func (s *Store) closeDatabase() error {
	if s.fail.err() == nil {
		if err := s.db.Flush(); err != nil {
			s.failed(fmt.Errorf("flushing: %w", err))
		}
	}
	if err := s.db.Close(); err != nil {
		return fmt.Errorf("closing the database: %w", err)
	}
	return s.fail.err()
}

// use keeps the database open until the returned function is called.
func (s *Store) use() (release func(), err error) {
	s.life.RLock()
	if s.closed {
		s.life.RUnlock()
		return nil, storage.ErrClosed
	}
	return s.life.RUnlock, nil
}

// Active implements [storage.Store].
func (s *Store) Active(ctx context.Context, f func(t storage.Tenant, taskID string) error) error {
	release, err := s.use()
	if err != nil {
		return err
	}
	defer release()
	snap := s.db.NewSnapshot()
	defer snap.Close()
	// A Task that is missing here may have ended in a commit that is not durable.
	if err := s.mark.wait(ctx, storage.Position(s.applied.Load()), &s.fail); err != nil {
		return err
	}
	return eachTenant(snap, func(t storage.Tenant) error {
		return eachActive(ctx, snap, t, f)
	})
}

func eachActive(ctx context.Context, r pebble.Reader, t storage.Tenant, f func(storage.Tenant, string) error) error {
	prefix := appendPrefix(nil, t, spaceActive)
	return scan(r, prefix, keyAfter(prefix), func(key, _ []byte) error {
		id, rest, ok := cutID(key[prefixLen:])
		if !ok || len(rest) != 0 {
			return &CorruptError{Tenant: t, Key: clone(key), Reason: errMalformed.Error()}
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		return f(t, id)
	})
}
