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
func addGaps(r pebble.Reader, b *pebble.Batch, gone []span) error {
	all := slices.Clone(gone)
	for _, g := range gone {
		for _, beside := range []storage.Position{g.first - 1, g.last + 1} {
			old, ok, err := gapAt(r, beside)
			if err != nil {
				return err
			}
			if ok {
				_ = b.Delete(gapKey(nil, old.first), nil) // fails only on an indexed batch
				all = append(all, old)
			}
		}
	}
	for _, g := range joined(all) {
		_ = b.Set(gapKey(nil, g.first), appendPosition(nil, g.last), nil) // as above
	}
	return nil
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
