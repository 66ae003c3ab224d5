package pebble

import (
	"context"
	"hash/maphash"
	"sync"
	"sync/atomic"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/storage"
)

const (
	// pageEvents and subscriptionBytes are the most that a subscription returns at a time,
	// but for a single event that is larger: it is what a reader holds that does not read.
	pageEvents        = 256
	subscriptionBytes = 256 << 10
	// ringFrames and ringBytes bound what a topic keeps of the recent past.
	ringFrames = 1024
	ringBytes  = 4 << 20
)

// topicKey names a scope of a tenant; the zero scope is the whole tenant.
type topicKey struct {
	tenant storage.Tenant
	scope  storage.Scope
}

// topicShards is how many parts the topics have, each with a lock of its own: whoever opens
// and closes streams by the hundred must not hold up what the committer tells others.
const topicShards = 64

// topics holds a topic for each scope that has subscribers, and none besides.
type topics struct {
	subscribers atomic.Int64 // so that publishing to nobody costs one load
	seed        maphash.Seed
	shards      [topicShards]topicShard
}

type topicShard struct {
	mu  sync.Mutex
	all map[topicKey]*topic
}

func (ts *topics) init() {
	ts.seed = maphash.MakeSeed()
	for i := range ts.shards {
		ts.shards[i].all = make(map[topicKey]*topic)
	}
}

func (ts *topics) shard(key topicKey) *topicShard {
	return &ts.shards[maphash.Comparable(ts.seed, key)%topicShards]
}

// topic is the recent past of one scope, shared by its subscribers. Every event of
// the scope after base and up to the newest one published is in ring.
type topic struct {
	key   topicKey
	users atomic.Int64 // changed under the lock of its shard

	mu       sync.Mutex
	ring     []*storage.Frame // oldest first
	base     storage.Position
	bytes    int
	wake     chan struct{}   // closed when a frame arrives; nil while nobody waits
	sleepers []*subscription // those to wake when a frame arrives
}

// join returns the topic of key, making it if need be. A frame is published after
// the watermark has reached it, and looks for its topics under the lock that is
// held here: what a new topic misses lies at or below the watermark. For the same
// reason the subscriber is counted before the watermark is read.
func (ts *topics) join(key topicKey, mark *watermark) *topic {
	part := ts.shard(key)
	part.mu.Lock()
	defer part.mu.Unlock()
	ts.subscribers.Add(1)
	t := part.all[key]
	if t == nil {
		t = &topic{key: key, base: mark.position()}
		part.all[key] = t
	}
	t.users.Add(1)
	return t
}

// leave removes the topic with its last subscriber.
func (ts *topics) leave(t *topic) {
	part := ts.shard(t.key)
	part.mu.Lock()
	defer part.mu.Unlock()
	ts.subscribers.Add(-1)
	if t.users.Add(-1) == 0 {
		delete(part.all, t.key)
	}
}

// publish passes durable frames to the topics they belong to, in the order of the log. It
// never waits for a reader.
func (ts *topics) publish(commits []*commit) {
	if ts.subscribers.Load() == 0 {
		// A subscriber that joins from here on reads these frames from the log: the
		// watermark was raised before.
		return
	}
	for _, c := range commits {
		if c.frame != nil {
			ts.publishFrame(c.frame)
		}
	}
}

func (ts *topics) publishFrame(f *storage.Frame) {
	ts.publishTo(topicKey{f.Tenant, storage.Scope{}}, f)
	for _, s := range scopeSpaces {
		if id := s.owner(f); id != "" {
			ts.publishTo(topicKey{f.Tenant, storage.Scope{Object: s.object, ID: id}}, f)
		}
	}
}

func (ts *topics) publishTo(key topicKey, f *storage.Frame) {
	if t := ts.find(key); t != nil {
		t.push(f)
	}
}

// find returns the topic of key, nil if nobody has subscribed. When it is used, everybody
// may have left it: then what it is told is lost with it.
func (ts *topics) find(key topicKey) *topic {
	part := ts.shard(key)
	part.mu.Lock()
	defer part.mu.Unlock()
	return part.all[key]
}

// push adds a frame, drops old ones that are too many, and wakes the readers.
func (t *topic) push(f *storage.Frame) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ring = append(t.ring, f)
	t.bytes += frameBytes(f)
	for len(t.ring) > ringFrames || (t.bytes > ringBytes && len(t.ring) > 1) {
		old := t.ring[0]
		t.base = lastOf(old)
		t.bytes -= frameBytes(old)
		t.ring[0] = nil
		t.ring = t.ring[1:]
	}
	t.rouse()
}

// rouse wakes the readers, with t.mu held.
func (t *topic) rouse() {
	if t.wake != nil {
		close(t.wake)
		t.wake = nil
	}
	for _, u := range t.sleepers {
		u.asleep = false
		u.wake()
	}
	t.sleepers = nil
}

// rouseAll wakes all readers of the store, for they are to see that it has ended.
func (ts *topics) rouseAll() {
	for i := range ts.shards {
		ts.shards[i].rouseAll()
	}
}

func (part *topicShard) rouseAll() {
	part.mu.Lock()
	defer part.mu.Unlock()
	for _, t := range part.all {
		t.mu.Lock()
		t.rouse()
		t.mu.Unlock()
	}
}

// sleep arranges for u to be woken, unless there are events after p. When nobody is
// left who reads, the past is let go of: who comes later reads it from the log.
func (t *topic) sleep(u *subscription, wake func()) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if u.after < t.base || t.holds(u.after) {
		return false
	}
	u.wake = wake
	if !u.asleep {
		u.asleep, u.bed = true, len(t.sleepers)
		t.sleepers = append(t.sleepers, u)
	}
	if n := len(t.ring); n > 0 && int64(len(t.sleepers)) == t.users.Load() {
		t.base = lastOf(t.ring[n-1])
		t.ring, t.bytes = nil, 0
	}
	return true
}

// holds reports whether there are events after p in the ring, with t.mu held.
func (t *topic) holds(p storage.Position) bool {
	for i := len(t.ring) - 1; i >= 0 && lastOf(t.ring[i]) > p; i-- {
		if t.ring[i].Last(t.key.scope) > p {
			return true
		}
	}
	return false
}

// forget sees to it that u is not woken any more.
func (t *topic) forget(u *subscription) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !u.asleep {
		return
	}
	last := len(t.sleepers) - 1
	t.sleepers[u.bed] = t.sleepers[last]
	t.sleepers[u.bed].bed = u.bed
	t.sleepers[last] = nil
	t.sleepers = t.sleepers[:last]
	u.asleep = false
}

// lastOf returns the position of a frame's last event.
func lastOf(f *storage.Frame) storage.Position {
	return f.First + storage.Position(len(f.Records)) - 1
}

// frameBytes estimates what a frame holds in memory.
func frameBytes(f *storage.Frame) int {
	n := commitOverhead
	for i := range f.Records {
		n += len(f.Records[i].State) + len(f.Records[i].Payload)
	}
	return n
}

// after returns events after p from the ring. behind is true when the ring does
// not reach back to p; wake is what to wait for when there are none.
func (t *topic) after(p storage.Position) (events []storage.Event, wake <-chan struct{}, behind bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if p < t.base {
		return nil, nil, true
	}
	if events = t.tail(p); len(events) > 0 {
		return events, nil, false
	}
	if t.wake == nil {
		t.wake = make(chan struct{})
	}
	return nil, t.wake, false
}

// recent returns events after p from the ring, as [topic.after] does.
func (t *topic) recent(p storage.Position) (events []storage.Event, behind bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if p < t.base {
		return nil, true
	}
	return t.tail(p), false
}

// tail returns up to a page of the events after p, with t.mu held.
func (t *topic) tail(p storage.Position) (events []storage.Event) {
	from := len(t.ring)
	for from > 0 && lastOf(t.ring[from-1]) > p {
		from--
	}
	bytes := 0
	for _, f := range t.ring[from:] {
		for i := range f.Records {
			if len(events) == pageEvents || bytes >= subscriptionBytes {
				return events
			}
			if f.First+storage.Position(i) > p && t.key.scope.Shows(&f.Records[i]) {
				events = append(events, storage.Event{Frame: f, Index: i})
				bytes += len(f.Records[i].State) + len(f.Records[i].Payload)
			}
		}
	}
	return events
}

// subscription implements [storage.Subscription].
type subscription struct {
	store  *Store
	topic  *topic
	after  storage.Position
	start  storage.Position
	closed bool

	// Guarded by topic.mu: whom to tell of events, and where in topic.sleepers it is.
	wake   func()
	asleep bool
	bed    int
}

// Subscribe implements [storage.Store]. It returns [storage.ErrCursorExpired] when
// after lies below the retention floor, unless it is 0.
func (s *Store) Subscribe(t storage.Tenant, scope storage.Scope, after storage.Position) (storage.Subscription, error) {
	if _, err := scopeSpace(scope); err != nil {
		return nil, err
	}
	release, err := s.use()
	if err != nil {
		return nil, err
	}
	defer release()
	floor := storage.Position(s.floor.Load())
	if after == 0 {
		after = floor
	}
	if after < floor {
		return nil, storage.ErrCursorExpired
	}
	topic := s.topics.join(topicKey{t, scope}, &s.mark)
	return &subscription{store: s, topic: topic, after: after, start: s.mark.position()}, nil
}

// Start implements [storage.Subscription].
func (u *subscription) Start() storage.Position { return u.start }

// Close implements [storage.Subscription].
func (u *subscription) Close() {
	if !u.closed {
		u.closed = true
		u.topic.forget(u)
		u.store.topics.leave(u.topic)
	}
}

// Next implements [storage.Subscription].
func (u *subscription) Next(ctx context.Context) ([]storage.Event, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		events, wake, behind := u.topic.after(u.after)
		var err error
		switch {
		case behind:
			events, err = u.page(ctx)
		case wake != nil:
			err = u.wait(ctx, wake)
		}
		if err != nil {
			return nil, err
		}
		if n := len(events); n > 0 {
			u.after = events[n-1].Position()
			return events, nil
		}
	}
}

// Poll implements [storage.Subscription].
func (u *subscription) Poll(ctx context.Context, wake func()) ([]storage.Event, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if u.topic.sleep(u, wake) {
			return nil, u.store.over() // looked at afterwards: rouseAll comes after the end
		}
		events, behind := u.topic.recent(u.after)
		var err error
		if behind {
			events, err = u.page(ctx)
		}
		if n := len(events); n > 0 {
			u.after = events[n-1].Position()
		}
		if err != nil || len(events) > 0 {
			return events, err
		}
	}
}

// over returns why nothing more comes, nil while something may.
func (s *Store) over() error {
	select {
	case <-s.mark.done:
		return storage.ErrClosed
	default:
		return s.fail.err()
	}
}

// page reads from the log. When it finds nothing, there is nothing up to the
// watermark, and the reader catches up with the ring.
func (u *subscription) page(ctx context.Context) ([]storage.Event, error) {
	upTo := u.store.mark.position()
	events, _, err := u.store.eventsUpTo(ctx, u.topic.key.tenant, u.topic.key.scope, u.after, upTo, pageEvents, subscriptionBytes)
	if err == nil && len(events) == 0 {
		u.after = max(u.after, upTo)
	}
	return events, err
}

func (u *subscription) wait(ctx context.Context, wake <-chan struct{}) error {
	select {
	case <-wake:
		return nil
	case <-u.store.fail.done:
		return u.store.fail.cause
	case <-u.store.mark.done:
		return storage.ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

// scopeSpace returns the space that holds the events of a scope.
func scopeSpace(s storage.Scope) (byte, error) {
	if s.Object == "" {
		return spaceFrame, nil
	}
	for _, sp := range scopeSpaces {
		if sp.object == s.Object {
			return sp.space, nil
		}
	}
	return 0, &storage.ScopeError{Object: abi.ObjectEvent, Scope: s.Object}
}
