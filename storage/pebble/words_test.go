package pebble

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"pgregory.net/rapid"

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

func TestSearch(t *testing.T) {
	s := openTest(t, vfs.NewMem())
	for n, content := range []string{"the sky is blue", "the sea is blue, too", "skylarks sing", "The SKY again", strings.Repeat("sky ", 2000)} {
		mustAppend(t, s, memory(n+1, content))
	}
	hidden := memory(6, "sky")
	hidden.Frame.Records[0].State = fmt.Appendf(nil, `{"owner_id":%q,"content":"sky","visibility":"receipt_only"}`, newID(abi.ObjectSession, 1))
	other := memory(7, "sky")
	other.Frame.Records[0].State = []byte(`{"owner_id":"somebody else","content":"sky"}`)
	mustAppend(t, s, hidden)
	mustAppend(t, s, other)
	mustAppend(t, s, redaction(4))
	for text, want := range map[string][]int{
		"":          {6, 5, 3, 2, 1},
		"sky":       {5, 1},
		"SKY blue":  {1},
		"sk*":       {5, 3, 1},
		"sky* is":   {1},
		"blue too":  {2},
		"ky":        nil,
		"the again": nil,
	} {
		var ids []string
		for _, n := range want {
			ids = append(ids, newID(abi.ObjectMemory, n))
		}
		for _, limit := range []int{1, 2, 9} {
			if got := searchAll(t, s, text, limit); !slices.Equal(got, ids) {
				t.Errorf("%q, %d at a time: %v, want %v", text, limit, got, ids)
			}
		}
	}
	mustBeSound(t, s)
	if found, _, err := s.Search(ctx, 2, storage.Query{Owner: newID(abi.ObjectSession, 1), Limit: 9}); err != nil || len(found) != 0 {
		t.Errorf("another tenant finds %v, %v", found, err)
	}
	if _, err := s.Retain(ctx, epoch.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	mustBeSound(t, s)
	if got := searchAll(t, s, "sky", 9); len(got) != 2 {
		t.Errorf("after retention %v are found", got)
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

// TestSearchModel holds the index against a plain search through everything, under
// random Memories, redactions and restarts.
func TestSearchModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		fs := vfs.NewMem()
		s, err := Open("data", testOptions(fs))
		if err != nil {
			rt.Fatal(err)
		}
		defer func() { _ = s.Close() }()
		vocabulary := []string{"sky", "skylark", "sea", "blue", "a", "ab"}
		contents := map[int][]string{}
		for n := 1; n <= rapid.IntRange(1, 30).Draw(rt, "memories"); n++ {
			contents[n] = rapid.SliceOfN(rapid.SampledFrom(vocabulary), 0, 5).Draw(rt, "content")
			mustAppend(t, s, memory(n, strings.Join(contents[n], " ")))
			if old := rapid.IntRange(1, 40).Draw(rt, "redact"); contents[old] != nil {
				delete(contents, old)
				mustAppend(t, s, redaction(old))
			}
		}
		if rapid.Bool().Draw(rt, "restart") {
			if err := s.Close(); err != nil {
				rt.Fatal(err)
			}
			if s, err = Open("data", testOptions(fs)); err != nil {
				rt.Fatal(err)
			}
		}
		query := rapid.SliceOfN(rapid.SampledFrom([]string{"sky", "sky*", "s*", "blue", "a*", "ab", "none"}), 0, 3).Draw(rt, "query")
		var want []string
		for n := 40; n > 0; n-- {
			if words, ok := contents[n]; ok && holdsAll(words, query) {
				want = append(want, newID(abi.ObjectMemory, n))
			}
		}
		if got := searchAll(t, s, strings.Join(query, " "), rapid.IntRange(1, 5).Draw(rt, "limit")); !slices.Equal(got, want) {
			rt.Fatalf("%q: %v, want %v", query, got, want)
		}
		mustBeSound(t, s)
	})
}

func holdsAll(words, query []string) bool {
	for _, q := range query {
		prefix, isPrefix := strings.CutSuffix(q, "*")
		if !slices.ContainsFunc(words, func(w string) bool { return w == q || isPrefix && strings.HasPrefix(w, prefix) }) {
			return false
		}
	}
	return true
}
