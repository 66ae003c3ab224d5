package pebble

import (
	"fmt"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/storage"
)

// memory is a batch that makes Memory number n of a Session.
func memory(n int, content string) *storage.Batch {
	id := newID(abi.ObjectMemory, n)
	return &storage.Batch{Frame: frameOf(0, "", storage.Record{Kind: abi.EventMemoryCreated, Resource: ptr(abi.ObjectMemory, id), Created: true,
		State: fmt.Appendf(nil, `{"id":%q,"owner_id":%q,"content":%q}`, id, newID(abi.ObjectSession, 1), content)})}
}

// redaction is a batch that takes the content of Memory number n away.
func redaction(n int) *storage.Batch {
	id := newID(abi.ObjectMemory, n)
	return &storage.Batch{Frame: frameOf(0, "", storage.Record{Kind: abi.EventMemoryRedacted, Resource: ptr(abi.ObjectMemory, id), Sequence: 1,
		State: fmt.Appendf(nil, `{"id":%q,"owner_id":%q,"content":null,"redacted_at":"2026-01-01T00:00:00Z"}`, id, newID(abi.ObjectSession, 1))})}
}

// searchAll returns what a search yields over all its pages.
func searchAll(t testing.TB, s *Store, text string, limit int) (ids []string) {
	q := storage.Query{Owner: newID(abi.ObjectSession, 1), Terms: storage.Terms(text), Limit: limit}
	for {
		found, next, err := s.Search(ctx, 1, q)
		if err != nil || len(found) > limit {
			t.Fatalf("searching %q: %d found, %v", text, len(found), err)
		}
		for _, m := range found {
			ids = append(ids, m.ID)
		}
		if next == "" {
			return ids
		}
		q.After = next
	}
}

// TestRedactedWordsLeaveNoKey checks that nothing of a redacted Memory's words is
// left in the index.
func TestRedactedWordsLeaveNoKey(t *testing.T) {
	s := openTest(t, vfs.NewMem())
	mustAppend(t, s, memory(1, "the sky is blue"))
	mustAppend(t, s, redaction(1))
	prefix := appendPrefix(nil, 1, spaceWords)
	if err := scan(s.db, prefix, keyAfter(prefix), func(key, _ []byte) error { return fmt.Errorf("key %q is left", key) }); err != nil {
		t.Error(err)
	}
}

// TestOtherRulesAreReplaced checks that an index of other rules, or none, is made
// anew when the folder is opened.
func TestOtherRulesAreReplaced(t *testing.T) {
	fs := vfs.NewMem()
	s := openTest(t, fs)
	mustAppend(t, s, memory(1, "the sky is blue"))
	mustAppend(t, s, memory(2, "the sea is blue"))
	mustAppend(t, s, redaction(2))
	prefix := appendPrefix(nil, 1, spaceWords)
	for _, err := range []error{
		s.db.DeleteRange(prefix, keyAfter(prefix), pebble.Sync),
		s.db.Set(appendID(postings(nil, 1, newID(abi.ObjectSession, 1), "green"), newID(abi.ObjectMemory, 1)), make([]byte, positionLen), pebble.Sync),
		s.db.Set(metaKey(metaWords), []byte("0"), pebble.Sync),
		s.Close(),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	s = openTest(t, fs)
	mustBeSound(t, s)
	if got := searchAll(t, s, "sky", 9); len(got) != 1 {
		t.Errorf("found %v", got)
	}
}
