package pebble

import (
	"cmp"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"github.com/wharf-dev/wharf/storage"
)

// checkTail looks for gaps in what a database has in its write-ahead log alone. Pebble
// reads the files of that log which are there, and misses none between two of them.
// What lies in tables has no gap, since they are made of all that was written up to a
// position. So the look costs about as much as it has cost to read the write-ahead log,
// and not more with a longer history.
//
// A frame that does not decode is not refused here: it is told where it is read.
func checkTail(db *pebble.DB, floor, last storage.Position) error {
	settled, err := settledLast(db)
	if err != nil {
		return err
	}
	settled = max(settled, floor)
	var tail []span
	err = eachTenant(db, func(t storage.Tenant) error {
		return scan(db, frameKey(nil, t, settled+1), keyAfter(appendPrefix(nil, t, spaceFrame)), func(key, value []byte) error {
			if len(key) == prefixLen+positionLen {
				tail = append(tail, spanOf(t, lastPosition(key), value))
			}
			return nil
		})
	})
	if err == nil {
		err = eachGap(db, settled+1, func(g span) error {
			tail = append(tail, g)
			return nil
		})
	}
	if err != nil {
		return err
	}
	return checkSpans(tail, settled, last)
}

// settledLast returns the position up to which the log lies in tables.
func settledLast(db *pebble.DB) (p storage.Position, err error) {
	key := metaKey(metaLast)
	it, err := db.NewIter(&pebble.IterOptions{LowerBound: key, UpperBound: append(clone(key), 0), OnlyReadGuaranteedDurable: true})
	if err != nil {
		return 0, err
	}
	if it.First() && len(it.Value()) == positionLen {
		p = positionAt(it.Value())
	}
	return p, ended(it, nil)
}

// span is the positions of a frame. The last is 0 when the frame does not tell it.
type span struct{ first, last storage.Position }

func spanOf(t storage.Tenant, first storage.Position, value []byte) span {
	f, _, err := decodeFrame(t, first, value)
	if err != nil {
		return span{first: first}
	}
	return span{first, lastOf(f)}
}

// checkSpans refuses frames that leave out a position after settled and up to last.
func checkSpans(tail []span, settled, last storage.Position) error {
	slices.SortFunc(tail, func(a, b span) int { return cmp.Compare(a.first, b.first) })
	known := true // where the frame before ends
	for _, s := range append(tail, span{first: last + 1}) {
		if known && s.first > settled+1 {
			return lost("positions %s to %s are missing, which were acknowledged: a file %s/*.log is missing or was cut off, though not the newest",
				settled+1, s.first-1, databaseDir)
		}
		settled, known = max(settled, s.last), s.last != 0
	}
	return nil
}
