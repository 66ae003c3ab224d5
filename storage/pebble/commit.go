package pebble

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/wharf-dev/wharf/storage"
)

const (
	// maxInFlight is how many merged batches wait for their sync while the next is
	// prepared. One sync covers all that are written when it begins: with fewer of
	// them, writers that come just too late for a batch miss the next sync as well.
	maxInFlight = 32
	// maxGroupBytes is when a merged batch is large enough.
	maxGroupBytes = 4 << 20
	// maxFrameBytes bounds one frame, blobs left out.
	maxFrameBytes = 16 << 20
	// commitOverhead is what a commit costs in memory besides its bytes.
	commitOverhead = 512
)

// commit is one batch, or one job, on its way to the disk. It implements
// [storage.Commit].
type commit struct {
	store *Store
	frame *storage.Frame // nil for a job, and for a batch that has met what it did not expect
	draft *draft         // until it is merged
	ahead *eraser        // what it erases, as it was found before its turn; nil for nothing
	// expect is what must hold when its turn comes, and answers the record that the batch
	// brings; nil for none.
	expect  []storage.Expectation
	answers *storage.Idempotency
	// job runs in the committer when everything before it can be read from the
	// database, and adds to the batch.
	job     func(*pebble.Batch) error
	removes bool // frames, or what was made of them
	size    int
	// volume is what the frame takes of its Workspace's room.
	volume int64
	first  storage.Position
	err    error         // the job's, or why the batch was never handed over or has left nothing
	done   chan struct{} // closed when it is durable or was refused
}

// Wait implements [storage.Commit].
func (c *commit) Wait(ctx context.Context) (storage.Position, error) {
	select {
	case <-c.done:
		return c.first, c.err
	default:
	}
	select {
	case <-c.done:
		return c.first, c.err
	case <-c.store.fail.done:
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	select {
	case <-c.done: // it was durable before the store failed
		return c.first, c.err
	default:
		return 0, c.store.fail.err()
	}
}

// Append implements [storage.Store]. Values above [Options.MaxInlineBytes] go to
// the blob store first, on the caller's goroutine. A batch that is not valid, or
// whose values could not be stored, is refused by Wait and changes nothing. Append
// blocks while the queue is full.
func (s *Store) Append(b *storage.Batch) storage.Commit {
	c := &commit{store: s, frame: &b.Frame, expect: b.Expect, answers: b.Idempotency, done: make(chan struct{})}
	if err := s.prepare(c, b); err != nil {
		return c.refuse(fmt.Errorf("appending to the log: %w", err))
	}
	if err := s.enqueue(c); err != nil {
		return c.refuse(err)
	}
	return c
}

// Sync implements [storage.Store]. Batches become durable in the order of the queue, so Sync
// waits for the last of them. It causes no sync of its own.
func (s *Store) Sync(ctx context.Context) error {
	last := s.queue.newest()
	if last == nil {
		return nil
	}
	_, err := (&commit{store: s, done: last}).Wait(ctx)
	return err
}

// refuse ends a commit that never got into the queue.
func (c *commit) refuse(err error) *commit {
	if c.draft != nil {
		c.draft.free()
		c.draft = nil
	}
	c.err = err
	close(c.done)
	return c
}

func (s *Store) enqueue(c *commit) error {
	if s.readOnly {
		return ErrReadOnly
	}
	err := s.queue.put(c)
	if failed := s.fail.err(); err != nil && failed != nil {
		return failed
	}
	return err
}

// prepare validates b and drafts its keys and values. It holds the database open
// only while it uses it: a writer that waits for room must not stop Close.
func (s *Store) prepare(c *commit, b *storage.Batch) error {
	release, err := s.use()
	if err != nil {
		return err
	}
	defer release()
	if err := s.fail.err(); err != nil {
		return err
	}
	if err := s.validate(b); err != nil {
		return err
	}
	refs, answer, err := s.spill(b)
	if err != nil {
		return err
	}
	c.draft = newDraft()
	c.draft.project(&b.Frame, refs)
	c.volume = s.weigh(c.draft, &b.Frame, refs)
	if b.Idempotency != nil {
		c.draft.addIdempotency(b.Frame.Tenant, b.Idempotency, answer)
		if answer != nil {
			c.draft.addAnswered(b.Frame.Tenant, answer.hash, dayOf(b.Idempotency.Expires))
		}
	}
	if c.draft.erases {
		c.ahead, c.removes = s.readErasures(&b.Frame), true
	}
	if c.size = c.draft.size() + commitOverhead; c.size > maxFrameBytes {
		return fmt.Errorf("the frame has %d bytes, more than %d: %w", c.size, maxFrameBytes, storage.ErrTooLarge)
	}
	return nil
}

// noteKey makes the key of a commit known to those who look it up: from here on its record
// may be there. The committer calls it once it has looked for a record itself: what it does
// not know is not there, and costs no look at the disk.
func (s *Store) noteKey(c *commit) {
	if c.answers == nil {
		return
	}
	day := dayOf(c.answers.Expires)
	s.keys.add(c.frame.Tenant, day, c.answers.Key)
	raiseMax(&s.lastDay, day)
}

// validate refuses what could not be read back as it is, and brings the time into
// the form in which it is read back.
func (s *Store) validate(b *storage.Batch) error {
	f := &b.Frame
	if f.Time.IsZero() {
		f.Time = s.opts.Now()
	}
	f.Time = f.Time.Round(0).UTC()
	f.First = 0
	if err := b.Validate(); err != nil {
		return err
	}
	longest := time.Duration(s.opts.IdempotencyDays) * 24 * time.Hour
	if i := b.Idempotency; i != nil && i.Expires.Sub(f.Time) > longest {
		return fmt.Errorf("the idempotency record lives longer than %s", longest)
	}
	return nil
}

// spill moves large values of b to the blob store and returns what stands in for
// them.
func (s *Store) spill(b *storage.Batch) (refs outline, answer *blobRef, err error) {
	for i := range b.Frame.Records {
		r := &b.Frame.Records[i]
		if len(r.State) <= s.opts.MaxInlineBytes && len(r.Payload) <= s.opts.MaxInlineBytes {
			continue
		}
		if refs == nil {
			refs = make(outline, len(b.Frame.Records))
		}
		if refs[i].state, err = s.spillValue(r.State); err != nil {
			return nil, nil, err
		}
		if refs[i].payload, err = s.spillValue(r.Payload); err != nil {
			return nil, nil, err
		}
	}
	if b.Idempotency != nil {
		answer, err = s.spillValue(b.Idempotency.Answer)
	}
	return refs, answer, err
}

func (s *Store) spillValue(v []byte) (*blobRef, error) {
	if len(v) <= s.opts.MaxInlineBytes {
		return nil, nil
	}
	h, err := s.blobs.putBytes(v)
	if err != nil {
		return nil, err
	}
	return &blobRef{hash: h, size: uint64(len(v))}, nil
}

// group is a merged batch and the commits in it, in log order.
type group struct {
	batch   *pebble.Batch
	commits []*commit
	last    storage.Position // of the newest event
	size    int
	removes bool // frames, or what was made of them
}

// commitLoop is the committer: it alone gives out positions and writes to the
// database.
func (s *Store) commitLoop() {
	defer close(s.syncing)
	for items := s.queue.take(); len(items) > 0; items = s.queue.take() {
		first := s.next
		if !s.merge(items) {
			return
		}
		if len(items) > 1 || s.mark.position()+1 < first {
			// Others write too: what the next sync wakes gets to add to the next batch. A
			// writer that is alone would wait for nobody, and for long where others compute.
			runtime.Gosched()
		}
	}
	s.finishVolumes()
}

// merge turns commits into as few batches as possible. It reports false when the
// store has failed.
func (s *Store) merge(items []*commit) bool {
	for len(items) > 0 {
		n := s.together(items)
		if !s.submit(s.group(items[:n])) || !s.markLists() {
			return false
		}
		items = items[n:]
	}
	return true
}

// together returns how many of items go into one batch. One that needs everything
// before it to be readable goes alone, and one that expects something of what others in
// the batch change begins the next.
func (s *Store) together(items []*commit) int {
	size := 0
	s.changes.forget()
	for i, c := range items {
		if c.alone() || len(c.expect) > 0 && s.changes.concern(c, items[:i]) {
			return max(i, 1)
		}
		if size += c.size; size > maxGroupBytes {
			return i + 1
		}
	}
	return len(items)
}

// alone reports whether c must not share a batch: a job, or a change of a
// transcript, which may depend on what was handed over just before it.
func (c *commit) alone() bool { return c.job != nil || c.draft.reshapes }

// group merges commits into one batch and gives them their positions.
func (s *Store) group(commits []*commit) *group {
	g := &group{batch: s.db.NewBatch(), commits: append([]*commit(nil), commits...)}
	if commits[0].alone() {
		g.removes = commits[0].removes
		s.fillAlone(g.batch, commits[0])
	} else {
		s.fill(g.batch, commits)
	}
	for _, c := range commits {
		g.size += c.size
	}
	g.last = s.next - 1
	return g
}

// place gives c its positions.
func (s *Store) place(c *commit) {
	c.first, c.frame.First = s.next, s.next
	s.next += storage.Position(len(c.frame.Records))
	c.draft.place(c.first)
	s.volumes.add(c.frame, c.volume)
}

// release gives back the memory of a draft that has been merged.
func (c *commit) release() {
	c.draft.free()
	c.draft, c.ahead = nil, nil
}

// fill merges the operations of commits.
func (s *Store) fill(b *pebble.Batch, commits []*commit) {
	for _, c := range commits {
		if s.admit(c) {
			s.noteKey(c)
			s.noteDeliveries(c)
			s.place(c)
			s.count(c)
			s.order.add(c.draft, &s.chunkKeys)
		}
	}
	s.order.apply(b)
	s.writeCounts(b)
	for _, c := range commits {
		c.release()
	}
}

// fillAlone runs a job, or writes a frame that changes a transcript.
func (s *Store) fillAlone(b *pebble.Batch, c *commit) {
	if c.job != nil {
		c.err = c.job(b)
		return
	}
	if !s.admit(c) {
		c.release()
		return
	}
	if c.draft.erases {
		if c.err = s.erase(b, c.frame, c.ahead); c.err != nil {
			c.frame = nil
			c.release()
			return
		}
	}
	s.noteKey(c)
	s.noteDeliveries(c)
	s.place(c)
	for _, cp := range c.draft.copies {
		if err := copyTranscript(s.db, b, cp); err != nil {
			s.failed(fmt.Errorf("copying a transcript: %w", err))
		}
	}
	for _, m := range c.draft.forgets {
		if err := forgetWords(s.db, b, m); err != nil {
			s.failed(fmt.Errorf("forgetting a memory: %w", err))
		}
	}
	s.count(c)
	c.draft.applyAll(b)
	s.writeCounts(b)
	s.reshaped.Store(uint64(s.next - 1))
	c.release()
}

// submit applies g and passes it on to wait for its sync. It reports false when
// the store has failed.
func (s *Store) submit(g *group) bool {
	s.volumes.log += g.size
	if err := errors.Join(s.dropExpired(g.batch), s.writeVolumes(g.batch, g.last)); err != nil {
		s.failed(err)
	}
	var value [positionLen]byte
	_ = g.batch.Set(metaKey(metaLast), appendPosition(value[:0], g.last), nil) // fails only on an indexed batch
	s.setCounted(g.batch)
	// Readers compare what they find with applied: it must never lag behind what
	// the database shows.
	s.applied.Store(uint64(g.last))
	if s.fail.err() != nil || !s.apply(g.batch) {
		return false
	}
	if g.removes {
		s.removals.Add(1) // now that everybody sees it
	}
	s.syncing <- g
	return true
}

// apply hands a batch to Pebble, which panics when its log cannot be written.
func (s *Store) apply(b *pebble.Batch) (ok bool) {
	defer func() {
		if r := recover(); r != nil {
			s.wedged.Store(true)
			s.failed(fmt.Errorf("writing the log: %v", r))
			ok = false
		}
	}()
	if err := s.db.ApplyNoSyncWait(b, pebble.Sync); err != nil {
		s.failed(fmt.Errorf("writing the log: %w", err))
		return false
	}
	return s.fail.err() == nil
}

// dropExpired removes, once a day, the idempotency records of days gone by, and the
// delivery keys of windows that are over.
func (s *Store) dropExpired(b *pebble.Batch) error {
	today := dayOf(s.opts.Now())
	if today <= s.expired {
		return nil
	}
	s.expired = today
	s.expiredDay.Store(today)
	s.keys.drop(today)
	if err := s.dropSeen(b); err != nil {
		return err
	}
	return eachTenant(s.db, func(t storage.Tenant) error {
		prefix := appendPrefix(nil, t, spaceIdempotency)
		return b.DeleteRange(prefix, idempotencyKey(nil, t, today, storage.Key{}), nil)
	})
}

// syncLoop waits for the syncs in log order and tells whoever waits.
func (s *Store) syncLoop() {
	for g := range s.syncing {
		if err := g.batch.SyncWait(); err != nil {
			s.failed(fmt.Errorf("syncing the log: %w", err))
			continue
		}
		if s.fail.err() == nil {
			s.acknowledge(g)
		}
	}
}

// acknowledge makes a durable group known.
func (s *Store) acknowledge(g *group) {
	if err := s.acknowledgeHead(g.last); err != nil {
		s.failed(err)
		return
	}
	s.stats.count(g)
	s.mark.raise(g.last)
	for _, c := range g.commits {
		close(c.done)
	}
	s.topics.publish(g.commits)
	s.queue.release(g.size)
	_ = g.batch.Close()
}

// headEvery is how often the head file is written while commits follow each other.
const headEvery = 10 * time.Millisecond

// acknowledgeHead writes p into the head file, unless more commits are on their way
// and the last one was written a moment ago: writing to a second file makes the
// syncs of the first one slower. At rest the head file is always exact.
func (s *Store) acknowledgeHead(p storage.Position) error {
	now := time.Now()
	if len(s.syncing) > 0 && now.Sub(s.headWritten) < headEvery {
		return nil
	}
	s.headWritten = now
	return s.head.acknowledge(p)
}

// do runs a job in the committer and waits until what it wrote is durable.
func (s *Store) do(ctx context.Context, job func(*pebble.Batch) error) error {
	return s.await(ctx, &commit{store: s, job: job, done: make(chan struct{}), size: commitOverhead})
}

// remove is do for a job that removes frames.
func (s *Store) remove(ctx context.Context, job func(*pebble.Batch) error) error {
	return s.await(ctx, &commit{store: s, job: job, removes: true, done: make(chan struct{}), size: commitOverhead})
}

func (s *Store) await(ctx context.Context, c *commit) error {
	if err := s.enqueue(c); err != nil {
		return err
	}
	_, err := c.Wait(ctx)
	return err
}
