package pebble

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"sync"

	"github.com/cockroachdb/pebble/v2"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/storage"
)

// How many entries a list has, and which one is the ten-thousandth, is told by marks. A mark of
// level 1 stands at an entry and holds how many entries lie after the mark before it, up to and
// with its own. A mark of a higher level stands where one of the level below stands, and holds
// the sum of those after the mark of its own level before it. So a reader adds up some hundred
// numbers, of which the entries after the last mark are steps over their keys.
//
// Marks are made when a list has grown by some entries, and not at its very end, where entries
// still come in any order. An entry that comes or goes before the last mark of its list changes
// the marks that count it, in the same batch. The committer does both, so the marks are right in
// every state of the database that anybody sees, a crash included.
//
// Only ids of the list's own object in the compact form are counted. There are few others, and
// they stand before or behind all that are.

const (
	// markEvery is how many entries, or marks of the level below, a mark counts when it is made.
	markEvery = 64
	// markTurn is how many marks a list gets at once while it grows.
	markTurn = 8
	// markLag is how many of the newest entries no mark is made for yet.
	markLag = 256
	// markSlice is how many entries are marked at once. A list of before there were marks gets
	// them slice by slice.
	markSlice = 4096
	// markedLists is how many lists the committer remembers at least. Of others it looks up
	// where their marks end.
	markedLists = 1 << 14
	// maxLevel bounds the levels: with that many, a mark counts more than a log can have.
	maxLevel = 12
)

// compactLen is the length of an id in its compact form.
const compactLen = 1 + ulidLen

// isCounted reports whether marks count an entry of a list.
func isCounted(list, entry []byte) bool {
	return len(entry) == compactLen && entry[0] == list[prefixLen] && entry[0] != 0
}

// firstCounted returns what the first entry of a list that is counted starts with, at least.
func firstCounted(list []byte) []byte { return []byte{max(1, list[prefixLen])} }

// entryOf cuts the key of a list's entry, whose first bytes name the list, into the two.
func entryOf(key []byte, list int) (prefix, entry []byte) {
	entry = key[list:]
	if key[prefixLen-1] == spaceResource && len(entry) > 0 {
		entry = entry[:len(entry)-1]
	}
	return key[:list], entry
}

// marksOf returns what the keys of a list's marks of one level start with.
func marksOf(dst, list []byte, level byte) []byte {
	dst = append(dst, list[:prefixLen-1]...)
	dst = append(append(dst, spaceCount), list[prefixLen-1:]...)
	return append(dst, level)
}

// marksOfAll returns what the keys of a list's marks of all levels start with.
func marksOfAll(list []byte) []byte {
	marks := marksOf(nil, list, 0)
	return marks[:len(marks)-1]
}

// counter keeps the marks. The committer owns it, but for asked.
type counter struct {
	every, lag int
	// recent and older are the lists that are remembered. When recent is full, older is
	// forgotten.
	recent, older map[string]*tally
	// newest is the last ULID of all that have a mark: what comes after it needs no look at any.
	newest [ulidLen]byte
	// due are the lists that get marks.
	due []*tally
	// entries and deltas are what the batch that is being made changes before marks.
	entries map[string]bool
	deltas  map[string]int64

	mu    sync.Mutex
	asked map[string]struct{} // the lists that a reader would have marked
	busy  bool                // somebody sees to them
}

// tally is what the committer knows of a list.
type tally struct {
	list   string
	last   []byte // the entry at which the last mark of level 1 stands, nil for none
	loaded bool   // last is known
	// tail is how many entries have come after last, about. It is known once a slice has
	// reached the end.
	tail  int
	known bool
	due   bool
	// made is how many marks of level 1 were made since those of higher levels were, once raised.
	made   int
	raised bool
}

func (c *counter) init(every, lag int) {
	c.every, c.lag = every, lag
	c.recent, c.older = map[string]*tally{}, map[string]*tally{}
	c.entries, c.deltas, c.asked = map[string]bool{}, map[string]int64{}, map[string]struct{}{}
}

// of returns what is known of a list.
func (c *counter) of(list []byte) *tally {
	if t := c.recent[string(list)]; t != nil {
		return t
	}
	t := c.older[string(list)]
	if t == nil {
		t = &tally{list: string(list)}
	}
	if len(c.recent) >= markedLists {
		c.older, c.recent = c.recent, make(map[string]*tally, markedLists)
	}
	c.recent[t.list] = t
	return t
}

// isSmall reports whether a list is one of those that are many and seldom grow: a Task's. They get
// marks when a reader asks for them.
func isSmall(list []byte) bool {
	return list[prefixLen-1] == spaceList && list[prefixLen] != 0 && list[prefixLen+1] == codeOfObject[string(abi.ObjectTask)]
}

// grown notes that a list has one more entry after its last mark.
func (c *counter) grown(t *tally) {
	if t.tail++; t.tail >= c.lag+markTurn*c.every {
		c.plan(t)
	}
}

func (c *counter) plan(t *tally) {
	if !t.due {
		t.due = true
		c.due = append(c.due, t)
	}
}

// note takes notice of the entries that a draft, which is placed, adds to lists or takes out of
// them. The database shows everything before the batch.
func (c *counter) note(r pebble.Reader, d *draft) error {
	for _, o := range d.ops {
		if o.list == 0 {
			continue
		}
		if err := c.noteEntry(r, d.buf[o.key:o.value], int(o.list), o.kind == opSet); err != nil {
			return err
		}
	}
	return nil
}

func (c *counter) noteEntry(r pebble.Reader, key []byte, prefix int, there bool) error {
	list, entry := entryOf(key, prefix)
	if !isCounted(list, entry) {
		return nil
	}
	if there && bytes.Compare(entry[1:], c.newest[:]) > 0 {
		if !isSmall(list) {
			c.grown(c.of(list))
		}
		return nil
	}
	t := c.of(list)
	if err := t.load(r); err != nil {
		return err
	}
	if t.last == nil || bytes.Compare(entry, t.last) > 0 {
		if there {
			c.grown(t)
		}
		return nil
	}
	return c.change(r, key, list, entry, there, marksBefore{})
}

// change corrects the marks that count an entry. marks are those that were found for others.
func (c *counter) change(r pebble.Reader, key, list, entry []byte, there bool, marks marksBefore) error {
	was, known := c.entries[string(key)]
	if !known {
		var err error
		if _, was, err = lookup(r, key); err != nil {
			return err
		}
	}
	if c.entries[string(key)] = there; was == there {
		return nil
	}
	delta := int64(1)
	if was {
		delta = -1
	}
	return marks.each(r, list, entry, func(mark []byte) { c.deltas[string(mark)] += delta })
}

// noteGone takes notice of an entry that leaves a list. there says that it is known to be in it. marks are those that were found
// for others.
func (c *counter) noteGone(r pebble.Reader, key []byte, prefix int, there bool, marks marksBefore) error {
	list, entry := entryOf(key, prefix)
	if !isCounted(list, entry) {
		return nil
	}
	t := c.of(list)
	if err := t.load(r); err != nil {
		return err
	}
	if t.last == nil || bytes.Compare(entry, t.last) > 0 {
		return nil
	}
	if _, noted := c.entries[string(key)]; !noted && there {
		c.entries[string(key)] = true // which nobody has to look for
	}
	return c.change(r, key, list, entry, false, marks)
}

// marksBefore are the marks that were found to count entries, by list and level. Entries that are neighbours have the same ones. It is of use as
// long as no marks are made.
type marksBefore map[string]markAt

// markAt is a mark, nil for none, that counts an entry and all between the two.
type markAt struct{ entry, mark []byte }

// each calls f with the mark of each level that counts an entry.
func (m marksBefore) each(r pebble.Reader, list, entry []byte, f func(mark []byte)) error {
	for level := byte(1); level < maxLevel; level++ {
		prefix := marksOf(nil, list, level)
		at, known := m[string(prefix)]
		if !known || bytes.Compare(entry, at.entry) < 0 || at.mark != nil && bytes.Compare(entry, at.mark[len(prefix):]) > 0 {
			mark, err := firstIn(r, append(clone(prefix), entry...), keyAfter(prefix))
			if err != nil {
				return err
			}
			at = markAt{clone(entry), mark}
			m[string(prefix)] = at
		}
		if at.mark == nil {
			return nil
		}
		f(at.mark)
	}
	return nil
}

// firstIn returns the first key from one up to but not including another, nil if there is none.
func firstIn(r pebble.Reader, lower, upper []byte) (key []byte, err error) {
	it, err := r.NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: upper})
	if err != nil {
		return nil, plain(err)
	}
	if it.First() {
		key = clone(it.Key())
	}
	return key, ended(it, nil)
}

// write adds the changes of marks to a batch, and forgets them.
func (c *counter) write(r pebble.Reader, b *pebble.Batch) error {
	for mark, delta := range c.deltas {
		v, ok, err := lookup(r, []byte(mark))
		if err != nil {
			return err
		}
		n, _, valid := cutUvarint(v)
		if !ok || !valid || int64(n)+delta < 0 {
			return &CorruptError{Tenant: tenantOf([]byte(mark)), Key: []byte(mark), Reason: errMalformed.Error()}
		}
		_ = b.Set([]byte(mark), binary.AppendUvarint(nil, uint64(int64(n)+delta)), nil) // fails only on an indexed batch
	}
	c.forgetChanges()
	return nil
}

// forgetChanges forgets what the batch changes before marks.
func (c *counter) forgetChanges() {
	clear(c.entries)
	clear(c.deltas)
}

// load finds out where the marks of the list end.
func (t *tally) load(r pebble.Reader) error {
	if t.loaded {
		return nil
	}
	prefix := marksOf(nil, []byte(t.list), 1)
	last, err := entryBefore(r, prefix, keyAfter(prefix))
	if err != nil {
		return err
	}
	t.last, t.loaded = last, true
	return nil
}

// extend gives a list that has grown its next marks. The database shows all that was written.
func (c *counter) extend(r pebble.Reader, b *pebble.Batch, t *tally) error {
	if err := t.load(r); err != nil {
		return err
	}
	if t.made >= c.every || !t.raised {
		if err := c.raise(r, b, []byte(t.list)); err != nil {
			return err
		}
		t.made, t.raised = 0, true
	}
	ends, walked, ended, err := c.ends(r, t)
	if err != nil {
		return err
	}
	if ended {
		ends = ends[:max(0, walked-c.lag)/c.every]
	}
	mark := marksOf(nil, []byte(t.list), 1)
	for _, end := range ends {
		_ = b.Set(append(clone(mark), end...), binary.AppendUvarint(nil, uint64(c.every)), nil) // fails only on an indexed batch
		t.last = end
		if bytes.Compare(end[1:], c.newest[:]) > 0 {
			copy(c.newest[:], end[1:])
		}
	}
	t.made += len(ends)
	marked := len(ends) * c.every
	switch {
	case ended:
		t.tail, t.known = walked-marked, true
	case t.known:
		t.tail = max(0, t.tail-marked)
	}
	t.due = !ended && !t.known || t.tail >= c.lag+markTurn*c.every
	return nil
}

// ends returns the entries at which the next marks stand. If the end of the list was reached,
// ended is set, and walked says how many entries there are.
func (c *counter) ends(r pebble.Reader, t *tally) (ends [][]byte, walked int, reached bool, err error) {
	limit := max(markSlice, c.every)
	if t.known {
		limit = min(limit, max(0, t.tail-c.lag)/c.every*c.every)
	}
	list := []byte(t.list)
	own := append(clone(list), firstCounted(list)...)
	from := own
	if t.last != nil {
		from = append(append(clone(list), t.last...), pastID)
	}
	it, err := r.NewIter(&pebble.IterOptions{LowerBound: from, UpperBound: keyAfter(own)})
	if err != nil {
		return nil, 0, false, err
	}
	ok := it.First()
	for ; ok && walked < limit; ok = it.Next() {
		if !isEntry(it.Key()) {
			continue
		}
		if walked++; walked%c.every == 0 {
			_, entry := entryOf(it.Key(), len(list))
			ends = append(ends, clone(entry))
		}
	}
	return ends, walked, !ok, ended(it, nil)
}

// raise makes the marks of the higher levels that have enough below them.
func (c *counter) raise(r pebble.Reader, b *pebble.Batch, list []byte) error {
	for level := byte(1); level < maxLevel-1; level++ {
		below, above := marksOf(nil, list, level), marksOf(nil, list, level+1)
		from, err := entryBefore(r, above, keyAfter(above))
		if err != nil {
			return err
		}
		lower := below
		if from != nil {
			lower = append(append(clone(below), from...), pastID)
		}
		n, sum, made := 0, uint64(0), false
		err = scan(r, lower, keyAfter(below), func(key, value []byte) error {
			count, _, ok := cutUvarint(value)
			if !ok {
				return &CorruptError{Tenant: tenantOf(key), Key: clone(key), Reason: errMalformed.Error()}
			}
			sum += count
			if n++; n%c.every == 0 {
				_ = b.Set(append(clone(above), key[len(below):]...), binary.AppendUvarint(nil, sum), nil) // fails only on an indexed batch
				sum, made = 0, true
			}
			return nil
		})
		if err != nil || !made && from == nil {
			return err
		}
	}
	return nil
}

// takeAsked plans the lists that readers would have marked.
func (c *counter) takeAsked() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for list := range c.asked {
		c.plan(c.of([]byte(list)))
		delete(c.asked, list)
	}
}

// markLists gives the lists that have grown their next marks, after the batch that made them
// grow. It reports false when the store has failed. What it writes is synced with what follows.
func (s *Store) markLists() bool {
	c := &s.counts
	c.takeAsked()
	if len(c.due) == 0 {
		return true
	}
	b := s.db.NewBatch()
	defer b.Close()
	due := c.due
	c.due = nil
	for _, t := range due {
		if err := c.extend(s.db, b, t); err != nil {
			s.failed(err)
			return false
		}
		if t.due {
			c.due = append(c.due, t)
		}
	}
	s.setCounted(b)
	if err := s.db.Apply(b, pebble.NoSync); err != nil {
		s.failed(err)
	}
	for _, t := range due {
		if mayGo([]byte(t.list)) {
			s.removals.Add(1) // what erases it has marks to look for now
		}
	}
	return s.fail.err() == nil
}

// mayGo reports whether a list may be erased with whose it is: not those of a Workspace or a tenant.
func mayGo(list []byte) bool {
	return list[prefixLen-1] == spaceList && !bytes.HasSuffix(list[:ownerEnd(list)], []byte{codeOfObject[string(abi.ObjectWorkspace)]})
}

// ownerEnd returns where in the name of a list with an owner the number of that's object ends.
func ownerEnd(list []byte) int {
	_, rest, _ := cutObject(list[prefixLen:])
	return len(list) - len(rest) + 1
}

// count takes notice of what a commit changes in lists.
func (s *Store) count(c *commit) {
	if err := s.counts.note(s.db, c.draft); err != nil {
		s.failed(fmt.Errorf("counting a list: %w", err))
	}
}

func (s *Store) writeCounts(b *pebble.Batch) {
	if err := s.counts.write(s.db, b); err != nil {
		s.failed(fmt.Errorf("counting a list: %w", err))
	}
}

// setCounted writes up to which position the marks count, and the last ULID that has one.
func (s *Store) setCounted(b *pebble.Batch) {
	var value [positionLen + ulidLen]byte
	v := append(appendPosition(value[:0], s.next-1), s.counts.newest[:]...)
	_ = b.Set(metaKey(metaCounted), v, nil) // fails only on an indexed batch
}

// recoverCounts reads where the marks end. If a program that does not know of them has written
// since, they count no more, and are made anew.
func (s *Store) recoverCounts() error {
	v, ok, err := s.meta(metaCounted)
	if err != nil {
		return err
	}
	if s.counted = ok && len(v) == positionLen+ulidLen && positionAt(v) == s.next-1; s.counted {
		copy(s.counts.newest[:], v[positionLen:])
		return nil
	}
	if s.counted = !s.readOnly; s.readOnly {
		return nil // readers then do without
	}
	b := s.db.NewBatch()
	defer b.Close()
	err = eachTenant(s.db, func(t storage.Tenant) error {
		prefix := appendPrefix(nil, t, spaceCount)
		return b.DeleteRange(prefix, keyAfter(prefix), nil)
	})
	if err != nil {
		return err
	}
	s.setCounted(b)
	return b.Commit(pebble.Sync)
}

// askForMarks has a list marked that a reader took many steps over. It does not wait.
func (s *Store) askForMarks(list []byte) {
	c := &s.counts
	c.mu.Lock()
	defer c.mu.Unlock()
	if s.readOnly {
		return
	}
	c.asked[string(list)] = struct{}{}
	if !c.busy {
		c.busy = true
		go s.seeToAsked()
	}
}

// seeToAsked keeps the committer at work until all lists that were asked for have their marks. It
// ends with the store.
func (s *Store) seeToAsked() {
	c := &s.counts
	for more := true; more; {
		err := s.do(context.Background(), func(*pebble.Batch) error {
			c.takeAsked()
			more = len(c.due) > 0
			return nil
		})
		c.mu.Lock()
		if more = err == nil && (more || len(c.asked) > 0); !more {
			c.busy = false
		}
		c.mu.Unlock()
	}
}

// ranks answers, of the entries of a list, how many lie before a key and which one is at a place.
type ranks struct {
	r      pebble.Reader
	list   []byte
	marked bool // there may be marks
	walked int  // steps over keys of the list
}

// before returns how many entries lie before a key of the list, or its end.
func (k *ranks) before(bound []byte) (n int, err error) {
	place := placeIn(k.list, bound)
	_, n, err = k.find(func(entry []byte) bool { return place == nil || bytes.Compare(entry, place) < 0 }, -1)
	return n, err
}

// at returns the entry at a place, counted from 0 from the oldest on; nil if there are not so many.
func (k *ranks) at(n int) (entry []byte, err error) {
	entry, _, err = k.find(func([]byte) bool { return true }, n)
	return entry, err
}

// placeIn returns what a key has after the list that it belongs to, nil for one after all of it.
func placeIn(list, key []byte) []byte {
	if !bytes.HasPrefix(key, list) {
		return nil
	}
	return append([]byte{}, key[len(list):]...)
}

// find goes over the entries from the oldest on, as long as one lies within and fewer than n come
// before it, and returns the one at which it ends and how many lie before that. n < 0 bounds
// nothing.
func (k *ranks) find(within func(entry []byte) bool, n int) (entry []byte, count int, err error) {
	fits := func(last []byte, more int) bool { return within(last) && (n < 0 || count+more <= n) }
	first := firstCounted(k.list)
	entry, stopped, err := k.walk(nil, first, fits, &count)
	if err != nil || stopped {
		return entry, count, err
	}
	from, err := k.marks(first, fits, &count)
	if err != nil {
		return nil, 0, err
	}
	entry, _, err = k.walk(from, nil, fits, &count)
	return entry, count, err
}

// walk takes steps over the entries from one place on and before another, nil for the end. It stops
// at the first that does not fit.
func (k *ranks) walk(from, upTo []byte, fits func(entry []byte, more int) bool, count *int) (entry []byte, stopped bool, err error) {
	lower, upper := append(clone(k.list), from...), keyAfter(k.list)
	if upTo != nil {
		upper = append(clone(k.list), upTo...)
	}
	it, err := k.r.NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: upper})
	if err != nil {
		return nil, false, err
	}
	for ok := it.First(); ok && !stopped; ok = it.Next() {
		if !isEntry(it.Key()) {
			continue
		}
		k.walked++
		if _, e := entryOf(it.Key(), len(k.list)); fits(e, 1) {
			*count++
		} else {
			entry, stopped = clone(e), true
		}
	}
	return entry, stopped, ended(it, nil)
}

// marks adds up marks from the highest level down, as far as they fit, and returns the place after
// the last one; first if there is none.
func (k *ranks) marks(first []byte, fits func(last []byte, more int) bool, count *int) (from []byte, err error) {
	if from = first; !k.marked {
		return from, nil
	}
	all := marksOfAll(k.list)
	it, err := k.r.NewIter(&pebble.IterOptions{LowerBound: append(clone(all), 1), UpperBound: append(clone(all), maxLevel)})
	if err != nil {
		return nil, err
	}
	level := byte(0)
	if it.Last() {
		level = it.Key()[len(all)]
	}
	for ; level > 0 && err == nil; level-- {
		prefix := append(clone(all), level)
		for ok := it.SeekGE(append(clone(prefix), from...)); ok && bytes.HasPrefix(it.Key(), prefix); ok = it.Next() {
			n, _, valid := cutUvarint(it.Value())
			if !valid {
				err = &CorruptError{Tenant: tenantOf(it.Key()), Key: clone(it.Key()), Reason: errMalformed.Error()}
				break
			}
			entry := it.Key()[len(prefix):]
			if !fits(entry, int(n)) {
				break
			}
			*count += int(n)
			from = append(clone(entry), pastID)
		}
	}
	return from, ended(it, err)
}
