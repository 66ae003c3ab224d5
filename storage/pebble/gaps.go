package pebble

import (
	"cmp"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"github.com/wharf-dev/wharf/storage"
)

// A gap is a row of positions whose events were erased. Gaps do not touch one another: there
// is one key for each, with its first position, and its last one is the value.

// gapAt returns the gap that a position lies in, and whether there is one.
func gapAt(r pebble.Reader, p storage.Position) (g span, ok bool, err error) {
	it, err := r.NewIter(&pebble.IterOptions{LowerBound: gapKey(nil, 0), UpperBound: gapKey(nil, p+1)})
	if err != nil {
		return g, false, err
	}
	if it.Last() {
		if g, err = gapOf(it.Key(), it.Value()); err == nil {
			ok = p <= g.last
		}
	}
	return g, ok, ended(it, err)
}

func gapOf(key, value []byte) (span, error) {
	if len(key) != prefixLen+positionLen || len(value) != positionLen {
		return span{}, &CorruptError{Key: clone(key), Reason: errMalformed.Error()}
	}
	return span{lastPosition(key), positionAt(value)}, nil
}

// eachGap calls f with every gap that ends at or after a position, in order.
func eachGap(r pebble.Reader, from storage.Position, f func(span) error) error {
	first, ok, err := gapAt(r, from)
	if err != nil {
		return err
	}
	if ok {
		from = first.first
	}
	return scan(r, gapKey(nil, from), keyAfter(appendPrefix(nil, storage.SystemTenant, spaceGap)), func(key, value []byte) error {
		g, err := gapOf(key, value)
		if err != nil {
			return err
		}
		return f(g)
	})
}

// addGaps makes gaps of what is gone, together with those that it touches.
func (e *eraser) addGaps() error {
	all := joined(e.spans)
	beside, err := gapsBeside(e.store.db, all)
	for _, old := range beside {
		e.delete(gapKey(nil, old.first))
	}
	for _, g := range joined(append(all, beside...)) {
		e.set(gapKey(nil, g.first), appendPosition(nil, g.last))
	}
	return err
}

// gapsBeside returns the gaps that some spans, which do not touch one another, touch.
func gapsBeside(r pebble.Reader, all []span) (beside []span, err error) {
	it, err := r.NewIter(&pebble.IterOptions{LowerBound: gapKey(nil, 0), UpperBound: keyAfter(appendPrefix(nil, storage.SystemTenant, spaceGap))})
	if err != nil {
		return nil, plain(err)
	}
	add := func(found bool, touches func(span) bool) {
		if !found || err != nil {
			return
		}
		var g span
		if g, err = gapOf(it.Key(), it.Value()); err == nil && touches(g) {
			beside = append(beside, g)
		}
	}
	for _, g := range all {
		add(it.SeekLT(gapKey(nil, g.first)), func(old span) bool { return old.last+1 >= g.first })
		add(it.SeekGE(gapKey(nil, g.last+1)), func(old span) bool { return old.first == g.last+1 })
	}
	return beside, ended(it, err)
}

// joined sorts spans, and makes one of those that touch or overlap.
func joined(all []span) (list []span) {
	slices.SortFunc(all, func(a, b span) int { return cmp.Compare(a.first, b.first) })
	for _, g := range all {
		if n := len(list); n > 0 && g.first <= list[n-1].last+1 {
			list[n-1].last = max(list[n-1].last, g.last)
			continue
		}
		list = append(list, g)
	}
	return list
}

// dropGaps forgets the gaps up to a floor, below which there are no events anyway.
func dropGaps(r pebble.Reader, b *pebble.Batch, floor storage.Position) error {
	g, ok, err := gapAt(r, floor)
	if err != nil {
		return err
	}
	_ = b.DeleteRange(gapKey(nil, 0), gapKey(nil, floor+1), nil) // as above
	if ok && g.last > floor {
		_ = b.Set(gapKey(nil, floor+1), appendPosition(nil, g.last), nil) // as above
	}
	return nil
}
