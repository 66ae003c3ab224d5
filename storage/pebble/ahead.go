package pebble

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"github.com/wharf-dev/wharf/storage"
)

// To find what an erasure removes takes milliseconds, in which no other writer would get on. So it is made
// ready before its turn, by whoever wants it, from the database as that is meanwhile. What it found is kept beside it,
// and looked at again when its turn comes: as long as all of that stands, it removes just what it would if it were made
// then. If not, it is.

// findings are what an erasure was made ready upon. Frames do not change: whether any of them has come or gone
// is all there is to know about them.
type findings struct {
	removals uint64           // how often something had been removed by then
	durable  storage.Position // up to where the database showed everything
	ranges   []keysIn
	pairs    []pair
}

// keysIn says how many keys there are from one up to but not including another.
type keysIn struct {
	first, end []byte
	n          int
}

// pair is a key and its value, nil if it is not there.
type pair struct{ key, value []byte }

// look returns the value of a key, nil if it is not there, which the erasure rests on.
func (e *eraser) look(key []byte) ([]byte, error) {
	v, _, err := lookup(e.store.db, key)
	e.found.pairs = append(e.found.pairs, pair{key, v})
	return v, err
}

// restOn notes how many keys there are from one up to but not including another.
func (e *eraser) restOn(first, end []byte, n int) {
	e.found.ranges = append(e.found.ranges, keysIn{first, end, n})
}

// restOnNone notes that there are no keys of a kind from one up to but not including another. Where all between this and the range
// before is known to be empty, the two are one: the users of neighbours are.
func (e *eraser) restOnNone(kind, first, end []byte) {
	empty := e.empty[string(kind)]
	if at, ok := e.rested[string(kind)]; ok {
		r := &e.found.ranges[at]
		if bytes.Compare(empty.first, r.first) <= 0 && bytes.Compare(r.first, first) <= 0 && bytes.Compare(end, empty.end) <= 0 {
			if bytes.Compare(r.end, end) < 0 {
				r.end = end
			}
			return
		}
	}
	e.rested[string(kind)] = len(e.found.ranges)
	e.restOn(first, end, 0)
}

// scan is like [scan], by one iterator, which costs more to open than to move. kind is what begins both bounds, and all keys
// like those: where there is none of them is remembered, for most of what is looked for is not there.
func (e *eraser) scan(kind, lower, upper []byte, f func(key, value []byte) error) (err error) {
	empty := e.empty[string(kind)]
	if empty.first != nil && bytes.Compare(empty.first, lower) <= 0 && bytes.Compare(upper, empty.end) <= 0 {
		return nil
	}
	if e.it == nil {
		if e.it, err = e.store.db.NewIter(nil); err != nil {
			return plain(err)
		}
	}
	row := keyRange{lower, keyAfter(kind)}
	for state := e.it.SeekGEWithLimit(lower, row.end); state == pebble.IterValid; state = e.it.NextWithLimit(row.end) {
		if bytes.Compare(e.it.Key(), upper) >= 0 {
			if bytes.Compare(e.it.Key(), row.end) < 0 {
				row.end = clone(e.it.Key())
			}
			break
		}
		row.first = upper
		if err := f(e.it.Key(), e.it.Value()); err != nil {
			return err
		}
	}
	if err := e.it.Error(); err != nil {
		return plain(err)
	}
	e.empty[string(kind)] = row
	return nil
}

// stand reports whether all that was found still is as it was. It runs in the committer, when the database shows all
// that was handed over before.
func (s *Store) stand(found *findings) (ok bool, err error) {
	if found.removals != s.removals.Load() {
		return false, nil
	}
	for _, p := range found.pairs {
		v, there, err := lookup(s.db, p.key)
		if err != nil || there != (p.value != nil) || !bytes.Equal(v, p.value) {
			return false, err
		}
	}
	it, err := s.db.NewIter(nil)
	if err != nil {
		return false, plain(err)
	}
	ok = true
	for i := 0; i < len(found.ranges) && ok; i++ {
		r := &found.ranges[i]
		n := 0
		state := it.SeekGEWithLimit(r.first, r.end)
		for ; state == pebble.IterValid && bytes.Compare(it.Key(), r.end) < 0 && n <= r.n; state = it.NextWithLimit(r.end) {
			n++
		}
		ok = n == r.n
	}
	return ok, ended(it, it.Error())
}

// readied returns an erasure that was made ready before its turn, nil if it could not be: what stands in its way may be gone
// when its turn comes.
func (s *Store) readied(t storage.Tenant, workspace string, f func(*eraser) error) *eraser {
	e := s.newEraser(t, workspace)
	if e.make(f) != nil {
		e.close()
		return nil
	}
	return e
}

// make finds out what f erases, and puts it into the order of its keys.
func (e *eraser) make(f func(*eraser) error) error {
	err := f(e)
	if err == nil {
		err = e.finish()
	}
	if e.it != nil {
		err = errors.Join(err, ended(e.it, nil))
		e.it = nil
	}
	if err == nil {
		e.seal()
	}
	return err
}

// erasing adds to a batch what f erases, if f succeeds. ahead is what f has found before, nil for nothing. What the marks of lists
// count then has still to be written.
func (s *Store) erasing(b *pebble.Batch, ahead *eraser, t storage.Tenant, workspace string, f func(*eraser) error) error {
	e, err := s.ready(ahead, t, workspace, f)
	if err != nil {
		return err
	}
	defer e.close()
	if err := e.countOut(); err != nil {
		s.counts.forgetChanges()
		return err
	}
	if err := e.trimTail(b); err != nil {
		s.counts.forgetChanges()
		return err
	}
	s.chunkKeys = chunkKeys{} // some may have to be written again
	s.erased.note(e)
	s.volumes.take(e.volume)
	return b.Apply(e.sealed, nil)
}

// ready returns what f erases: what it has found before if that still stands, or else what it finds now.
func (s *Store) ready(ahead *eraser, t storage.Tenant, workspace string, f func(*eraser) error) (*eraser, error) {
	if ahead != nil {
		ok, err := s.stand(&ahead.found)
		if err != nil {
			return nil, fmt.Errorf("looking again at what is erased: %w", err)
		}
		if ok {
			return ahead, nil
		}
		ahead.close()
		s.overtaken.Add(1)
	}
	e := s.newEraser(t, workspace)
	if err := e.make(f); err != nil {
		e.close()
		return nil, err
	}
	return e, nil
}

// change is an operation on a key.
type change struct {
	key, value []byte
	set        bool
}

func (e *eraser) set(key, value []byte) {
	e.changes = append(e.changes, change{key: key, value: value, set: true})
}

func (e *eraser) delete(key []byte) { e.changes = append(e.changes, change{key: key}) }

// seal makes a batch of the changes, in the order of their keys, which is what a memtable takes quickest. Of several of one
// key the last counts.
func (e *eraser) seal() {
	slices.SortStableFunc(e.changes, func(a, b change) int { return bytes.Compare(a.key, b.key) })
	b := e.store.db.NewBatch()
	for _, r := range e.deleted {
		_ = b.DeleteRange(r.first, r.end, nil) // fails only on an indexed batch
		e.ranges.note(r.first, r.end)
	}
	var row keyRange // of neighbours that go
	for i, c := range e.changes {
		switch {
		case i+1 < len(e.changes) && bytes.Equal(e.changes[i+1].key, c.key):
		case c.set:
			_ = b.Set(c.key, c.value, nil) // as above
		default:
			_ = b.Delete(c.key, nil) // as above
			if row.first != nil && !bytes.Equal(row.first[:rangePrefix], c.key[:rangePrefix]) {
				e.ranges.note(row.first, append(clone(row.end), 0))
				row.first = nil
			}
			if row.end = c.key; row.first == nil {
				row.first = c.key
			}
		}
	}
	if row.first != nil {
		e.ranges.note(row.first, append(clone(row.end), 0))
	}
	e.sealed, e.changes = b, nil
}

// close gives back what the eraser holds.
func (e *eraser) close() {
	if e.it != nil {
		_ = e.it.Close()
		e.it = nil
	}
	if e.sealed != nil {
		_ = e.sealed.Close()
		e.sealed = nil
	}
}
