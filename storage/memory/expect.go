package memory

import (
	"crypto/sha256"

	"github.com/wharf-dev/wharf/storage"
)

// check returns a [*storage.ConflictError] for the first of several expectations that does
// not hold.
func (t *tenant) check(all []storage.Expectation) error {
	for i, e := range all {
		if found, ok := t.holds(&e); !ok {
			return &storage.ConflictError{Index: i, Expected: e, Found: found}
		}
	}
	return nil
}

func (t *tenant) holds(e *storage.Expectation) (found storage.Standing, ok bool) {
	res, known := t.resources[e.Resource]
	switch e.Kind {
	case storage.ExpectNoAnswer:
		i := t.answers[e.Key]
		if i == nil || !e.Time.Before(i.Expires) {
			return found, true
		}
		return storage.Standing{Position: i.Position}, false
	case storage.ExpectUnseen:
		d, seen := t.seen[e.Delivery]
		if !seen || d.at.Unix() < e.Time.Unix() {
			return found, true
		}
		return storage.Standing{Position: d.position}, false
	}
	if known {
		found.Position = res.Position
	}
	switch e.Kind {
	case storage.ExpectNew, storage.ExpectSequence:
		if known {
			found.Sequence = res.sequence
		}
		if e.Kind == storage.ExpectNew {
			return found, !known
		}
		return found, known && found.Sequence == e.Sequence
	case storage.ExpectHead:
		if known && res.stated {
			found.Head = sha256.Sum256(res.State)
		}
		return found, found.Head == e.Head
	case storage.ExpectStated:
		return found, known && res.stated
	}
	return found, found.Position == e.Position
}
