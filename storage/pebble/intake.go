package pebble

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/wharf-dev/wharf/storage"
)

// intakeCode is below the codes of operations on deliveries: those of transcripts
// come before.
const intakeCode = byte(storage.TranscriptCopy)

// eraseCode is the code of an erasure: those of operations on deliveries come before.
const eraseCode = intakeCode + byte(storage.IntakeTally) + 1

// secondsLen is the length of a time in seconds.
const secondsLen = 4

// bucketDays is how many days one bucket of delivery keys covers. Fewer buckets make
// a look-up cheaper, for each is asked; more of them are forgotten sooner.
const bucketDays = 4

// bucketOf returns the bucket that t falls into.
func bucketOf(t time.Time) uint32 { return dayOf(t) / bucketDays }

// bucketEnd returns when a bucket ends.
func bucketEnd(bucket uint32) time.Time {
	return time.Unix((int64(bucket)+1)*bucketDays*24*60*60, 0)
}

func appendIntake(dst []byte, op storage.IntakeOp) []byte {
	dst = appendID(append(dst, intakeCode+byte(op.Kind)), op.Connector)
	switch op.Kind {
	case storage.IntakeReceive:
		return append(dst, op.Delivery[:]...)
	case storage.IntakeSettle:
		return appendText(binary.AppendUvarint(dst, uint64(op.At)), op.Tally)
	case storage.IntakeTally:
		return appendText(dst, op.Tally)
	}
	return dst
}

// intake reads what follows the code.
func (d *decoder) intake(kind storage.IntakeKind) storage.IntakeOp {
	op := storage.IntakeOp{Kind: kind, Connector: d.id()}
	switch kind {
	case storage.IntakeReceive:
		copy(op.Delivery[:], d.fixed(len(op.Delivery)))
	case storage.IntakeSettle:
		op.At, op.Tally = storage.Position(d.uvarint()), d.text()
	case storage.IntakeTally:
		op.Tally = d.text()
	case storage.IntakePend, storage.IntakeDrop:
	default:
		d.bad = true
	}
	d.bad = d.bad || op.Connector == ""
	return op
}

// addIntake adds what follows from an operation on deliveries.
func (d *draft) addIntake(f *storage.Frame, i int) {
	op := &f.Records[i].Intake
	switch op.Kind {
	case storage.IntakeReceive:
		d.addSeen(f, i)
		d.addPending(f, i)
	case storage.IntakePend:
		d.addPending(f, i)
	case storage.IntakeSettle:
		d.begin(opDelete)
		d.buf = appendPosition(pendingPrefix(d.buf, f.Tenant, op.Connector), op.At)
		d.endKey()
		d.end()
		d.addTally(f, op)
	case storage.IntakeTally:
		d.addTally(f, op)
	case storage.IntakeDrop:
		d.begin(opDeleteRange)
		prefix := len(d.buf)
		d.buf = pendingPrefix(d.buf, f.Tenant, op.Connector)
		upper := keyAfter(d.buf[prefix:])
		d.endKey()
		d.buf = append(d.buf, upper...)
		d.end()
	}
}

// addSeen adds the key by which the delivery is recognized when it comes again.
func (d *draft) addSeen(f *storage.Frame, i int) {
	d.begin(opSet)
	d.buf = seenKey(d.buf, f.Tenant, bucketOf(f.Time), f.Records[i].Intake.Delivery)
	d.endKey()
	d.position(i)
	d.buf = binary.BigEndian.AppendUint32(d.buf, secondsOf(f.Time))
	d.end()
}

// addPending adds the key of an event that waits to be handled.
func (d *draft) addPending(f *storage.Frame, i int) {
	d.begin(opSet)
	d.buf = pendingPrefix(d.buf, f.Tenant, f.Records[i].Intake.Connector)
	d.position(i)
	d.endKey()
	d.end()
}

// tallyAt is where among a Connector's pending events its tally is: no event has this
// position.
const tallyAt = storage.Position(0)

// addTally adds what a Connector has counted so far.
func (d *draft) addTally(f *storage.Frame, op *storage.IntakeOp) {
	d.begin(opSet)
	d.buf = appendPosition(pendingPrefix(d.buf, f.Tenant, op.Connector), tallyAt)
	d.endKey()
	d.buf = append(d.buf, op.Tally...)
	d.end()
}

// secondsOf returns the seconds since 1970, as many as fit.
func secondsOf(t time.Time) uint32 { return uint32(min(max(0, t.Unix()), 1<<32-1)) }

// seen is what is kept of a delivery's key.
type seen struct {
	position storage.Position
	at       uint32 // in seconds since 1970
}

func decodeSeen(value []byte) (seen, error) {
	d := &decoder{rest: value}
	s := seen{position: d.position()}
	if b := d.fixed(secondsLen); b != nil {
		s.at = binary.BigEndian.Uint32(b)
	}
	return s, d.end()
}

// filterKey is a delivery's key as a filter of keys takes it.
func filterKey(k storage.DeliveryKey) (full storage.Key) {
	copy(full[:], k[:])
	return full
}

// noteDeliveries makes the deliveries of a commit known to those who look them up, as noteKey
// does its key.
func (s *Store) noteDeliveries(c *commit) {
	bucket := bucketOf(c.frame.Time)
	c.eachDelivery(func(k storage.DeliveryKey) {
		s.deliveries.add(c.frame.Tenant, bucket, filterKey(k))
		raiseMax(&s.lastBucket, bucket)
	})
}

// Seen implements [storage.Store].
func (s *Store) Seen(ctx context.Context, t storage.Tenant, k storage.DeliveryKey, since time.Time) (storage.Position, bool, error) {
	release, err := s.use()
	if err != nil {
		return 0, false, err
	}
	defer release()
	found, ok, err := s.lastSeen(t, k, since)
	if err != nil || !ok {
		return 0, false, err
	}
	return found.position, true, s.mark.wait(ctx, found.position, &s.fail)
}

// lastSeen returns the event that last received a delivery at or after a time.
func (s *Store) lastSeen(t storage.Tenant, k storage.DeliveryKey, since time.Time) (found seen, ok bool, err error) {
	full, first := filterKey(k), max(1, bucketOf(since), s.firstBucket.Load())
	for bucket := s.lastBucket.Load(); bucket >= first; bucket-- {
		if !s.deliveries.may(t, bucket, full) {
			continue
		}
		var buf [prefixLen + 4 + len(storage.DeliveryKey{})]byte
		key := seenKey(buf[:0], t, bucket, k)
		value, ok, err := lookup(s.db, key)
		if err != nil {
			return seen{}, false, err
		}
		if !ok {
			continue
		}
		if found, err = decodeSeen(value); err != nil {
			return seen{}, false, &CorruptError{Tenant: t, Key: clone(key), Reason: err.Error()}
		}
		return found, found.at >= secondsOf(since), nil
	}
	return seen{}, false, nil
}

// Pending implements [storage.Store]. A page ends early, with more to come, when it
// holds many bytes.
func (s *Store) Pending(ctx context.Context, t storage.Tenant, connector string, after storage.Position, limit int) ([]storage.Event, bool, error) {
	release, err := s.use()
	if err != nil {
		return nil, false, err
	}
	defer release()
	positions, more, err := s.pending(ctx, t, connector, after, limit)
	if err != nil {
		return nil, false, err
	}
	if len(positions) == 0 {
		return nil, more, nil
	}
	it, err := s.iterate(frameKey(nil, t, 0), frameKey(nil, t, positions[len(positions)-1]+1))
	if err != nil {
		return nil, false, err
	}
	events, bytes := make([]storage.Event, 0, len(positions)), 0
	for i, p := range positions {
		if bytes > storage.PageBytes {
			more = true
			break
		}
		ev, err := s.eventOf(ctx, t, it, p, i > 0)
		if err != nil {
			return nil, false, ended(it, err)
		}
		events, bytes = append(events, ev), bytes+frameBytes(ev.Frame)
	}
	return events, more, ended(it, nil)
}

// eventOf reads an event by an iterator over frames. What came in at one time stands
// side by side: when the frame is likely to be the next one, it is tried first.
func (s *Store) eventOf(ctx context.Context, t storage.Tenant, it *pebble.Iterator, p storage.Position, next bool) (storage.Event, error) {
	if next && it.Next() && lastPosition(it.Key()) == p || it.SeekLT(frameKey(nil, t, p+1)) {
		return s.decodeEvent(ctx, t, it, p)
	}
	if err := it.Error(); err != nil {
		return storage.Event{}, plain(err)
	}
	return storage.Event{}, s.expiredOr(p, storage.ErrNotFound)
}

// pending returns the positions of pending events. What is settled in a commit that
// is not durable is left out once it is.
func (s *Store) pending(ctx context.Context, t storage.Tenant, connector string, after storage.Position, limit int) (list []storage.Position, more bool, err error) {
	prefix := pendingPrefix(nil, t, connector)
	n := len(prefix)
	it, err := s.iterate(appendPosition(prefix[:n:n], after+1), keyAfter(prefix))
	if err != nil {
		return nil, false, err
	}
	applied := storage.Position(s.applied.Load())
	for ok := it.First(); ok && !more; ok = it.Next() {
		if more = len(list) == limit; !more {
			list = append(list, lastPosition(it.Key()))
		}
	}
	if err := ended(it, nil); err != nil {
		return nil, false, err
	}
	if len(list) > 0 {
		applied = max(applied, list[len(list)-1])
	}
	return list, more, s.mark.wait(ctx, applied, &s.fail)
}

// Backlogs implements [storage.Store].
func (s *Store) Backlogs(ctx context.Context, f func(t storage.Tenant, connector string, pending int, tally []byte) error) error {
	release, err := s.use()
	if err != nil {
		return err
	}
	defer release()
	return eachTenant(s.db, func(t storage.Tenant) error {
		var last backlog
		prefix := appendPrefix(nil, t, spacePending)
		err := scan(s.db, prefix, keyAfter(prefix), func(key, value []byte) error {
			k, ok := parseKey(key)
			if !ok {
				return &CorruptError{Tenant: t, Key: clone(key), Reason: errMalformed.Error()}
			}
			if k.id != last.connector {
				if err := last.each(t, f); err != nil {
					return err
				}
				last = backlog{connector: k.id}
			}
			last.add(k.position, value)
			return ctx.Err()
		})
		return errors.Join(err, last.each(t, f))
	})
}

// backlog is what there is of one Connector.
type backlog struct {
	connector string
	pending   int
	tally     []byte
}

func (b *backlog) add(p storage.Position, value []byte) {
	if p == tallyAt {
		b.tally = clone(value)
	} else {
		b.pending++
	}
}

func (b *backlog) each(t storage.Tenant, f func(storage.Tenant, string, int, []byte) error) error {
	if b.connector == "" {
		return nil
	}
	return f(t, b.connector, b.pending, b.tally)
}

// firstPending returns the position of the oldest pending event of a tenant, or
// keep. It costs one seek for each Connector that has any.
func firstPending(r pebble.Reader, t storage.Tenant, keep storage.Position) (storage.Position, error) {
	prefix := appendPrefix(nil, t, spacePending)
	it, err := r.NewIter(&pebble.IterOptions{LowerBound: prefix, UpperBound: keyAfter(prefix)})
	if err != nil {
		return 0, err
	}
	for ok := it.First(); ok; {
		connector := clone(it.Key()[:len(it.Key())-positionLen])
		if lastPosition(it.Key()) == tallyAt {
			ok = it.Next()
		}
		if ok && bytes.HasPrefix(it.Key(), connector) {
			keep = min(keep, lastPosition(it.Key()))
		}
		ok = ok && it.SeekGE(keyAfter(connector))
	}
	return keep, ended(it, nil)
}

// dropSeen forgets the keys of the buckets whose windows are over.
func (s *Store) dropSeen(b *pebble.Batch) error {
	now := s.opts.Now()
	first := bucketOf(now.Add(-time.Duration(s.opts.DedupeDays) * 24 * time.Hour))
	if first <= s.firstBucket.Load() {
		return nil
	}
	s.firstBucket.Store(first)
	s.deliveries.drop(first)
	_ = b.Set(metaKey(metaSeen), binary.BigEndian.AppendUint32(nil, first), nil) // fails only on an indexed batch
	return eachTenant(s.db, func(t storage.Tenant) error {
		return b.DeleteRange(appendPrefix(nil, t, spaceSeen), seenKey(nil, t, first, storage.DeliveryKey{}), nil)
	})
}

// recoverSeen reads which delivery keys there are.
func (s *Store) recoverSeen() error {
	v, ok, err := s.meta(metaSeen)
	if err != nil {
		return err
	}
	if ok && len(v) != 4 {
		return &CorruptError{Key: metaKey(metaSeen), Reason: errMalformed.Error()}
	}
	if ok {
		s.firstBucket.Store(binary.BigEndian.Uint32(v))
	}
	last, err := s.lastNumber(spaceSeen)
	if err != nil {
		return err
	}
	s.lastBucket.Store(last)
	s.deliveries.init(last, s.opts.DedupeFilterBytes)
	return nil
}
