package pebble

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"github.com/cockroachdb/pebble/v2"
	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/storage"
)

// The two kinds of keys of the words' space.
const (
	wordPosting = 0 // owner, word, 0 byte, Memory → position of the Memory's origin
	wordMemory  = 1 // Memory → that position, its owner and its words
)

const (
	// rareWords is up to how many Memories a word is a rare one: all of them are
	// looked at, which is cheaper than to look for the newest that hold every word.
	rareWords = 1000
	// maxSearched is how many Memories one search looks at.
	maxSearched = 10_000
)

// indexed is what of a Memory's state the index is made of.
type indexed struct {
	OwnerID    string         `json:"owner_id"`
	Content    jsontext.Value `json:"content"`
	Visibility abi.Visibility `json:"visibility"`
	RedactedAt jsontext.Value `json:"redacted_at"`
}

// readIndexed reports whether a state is one of a Memory that is found by its owner.
func readIndexed(state []byte) (m indexed, ok bool) {
	return m, json.Unmarshal(state, &m) == nil && m.OwnerID != "" && m.RedactedAt == nil
}

// words returns the words by which the Memory is found. What no reader ever gets to
// see has none.
func (m *indexed) words() []string {
	if m.Visibility == abi.VisibilityReceiptOnly {
		return nil
	}
	return storage.Words(m.Content)
}

// ownerPostings returns what the postings of an owner start with.
func ownerPostings(dst []byte, t storage.Tenant, owner string) []byte {
	return appendID(append(appendPrefix(dst, t, spaceWords), wordPosting), owner)
}

// postings returns what the postings of a word start with. The empty word has every
// Memory of the owner.
func postings(dst []byte, t storage.Tenant, owner, word string) []byte {
	return append(append(ownerPostings(dst, t, owner), word...), 0)
}

// wordsKey returns the key of a Memory's words.
func wordsKey(dst []byte, t storage.Tenant, memory string) []byte {
	return appendID(append(appendPrefix(dst, t, spaceWords), wordMemory), memory)
}

// addWords adds the index of a Memory that comes to be, and has that of one which is
// redacted removed.
func (d *draft) addWords(f *storage.Frame, i int) {
	r := &f.Records[i]
	if r.Resource.Object != abi.ObjectMemory {
		return
	}
	if r.Kind == abi.EventMemoryRedacted {
		d.forgets = append(d.forgets, forgotten{f.Tenant, r.Resource.ID})
		d.reshapes = true
		return
	}
	if m, ok := readIndexed(r.State); ok && r.Created {
		d.indexMemory(f.Tenant, r.Resource.ID, &m, func() { d.position(i) })
	}
}

// indexMemory adds the keys of a Memory's words; origin appends the position of its
// origin.
func (d *draft) indexMemory(t storage.Tenant, id string, m *indexed, origin func()) {
	words := m.words()
	for _, word := range append([]string{""}, words...) {
		d.begin(opSet)
		d.buf = appendID(postings(d.buf, t, m.OwnerID, word), id)
		d.endKey()
		origin()
		d.end()
	}
	d.begin(opSet)
	d.buf = wordsKey(d.buf, t, id)
	d.endKey()
	origin()
	d.buf = appendID(d.buf, m.OwnerID)
	for _, word := range words {
		d.buf = appendText(d.buf, word)
	}
	d.end()
}

// forgotten is a Memory whose words are to be removed. Only what was written before
// tells which they are.
type forgotten struct {
	tenant storage.Tenant
	memory string
}

// forgetWords removes the words of a Memory, as src shows them.
func forgetWords(src pebble.Reader, dst *pebble.Batch, m forgotten) error {
	key := wordsKey(nil, m.tenant, m.memory)
	v, ok, err := lookup(src, key)
	if err != nil || !ok {
		return err
	}
	e, err := parseMemoryWords(v)
	if err != nil {
		return &CorruptError{Tenant: m.tenant, Key: key, Reason: err.Error()}
	}
	_ = dst.Delete(key, nil) // these fail only on an indexed batch
	_ = dst.Delete(appendID(postings(nil, m.tenant, e.owner, ""), m.memory), nil)
	e.each(func(word []byte) bool {
		_ = dst.Delete(appendID(postings(nil, m.tenant, e.owner, string(word)), m.memory), nil)
		return true
	})
	return nil
}

// memoryWords is the value of a Memory's words.
type memoryWords struct {
	origin storage.Position
	owner  string
	words  []byte // texts
}

func parseMemoryWords(v []byte) (e memoryWords, err error) {
	if len(v) < positionLen {
		return e, errMalformed
	}
	e.origin = positionAt(v)
	owner, words, ok := cutID(v[positionLen:])
	e.owner, e.words = owner, words
	if !ok || !e.each(func([]byte) bool { return true }) {
		return e, errMalformed
	}
	return e, nil
}

// each calls f with every word in order, until f returns false. It reports whether
// the words are well formed as far as they were read.
func (e *memoryWords) each(f func(word []byte) bool) bool {
	for rest := e.words; len(rest) > 0; {
		word, after, ok := cutBytes(rest)
		if !ok {
			return false
		}
		if !f(word) {
			break
		}
		rest = after
	}
	return true
}

// holds reports whether every term is among the words.
func (e *memoryWords) holds(terms []storage.Term) bool {
	missing := slices.Clone(terms)
	e.each(func(word []byte) bool {
		missing = slices.DeleteFunc(missing, func(t storage.Term) bool {
			return t.Word == string(word) || t.Prefix && bytes.HasPrefix(word, []byte(t.Word))
		})
		return len(missing) > 0
	})
	return len(missing) == 0
}

// Search implements [storage.Store].
func (s *Store) Search(ctx context.Context, t storage.Tenant, q storage.Query) ([]storage.Resource, string, error) {
	release, err := s.use()
	if err != nil {
		return nil, "", err
	}
	defer release()
	newest := storage.Position(s.reshaped.Load())
	ids, next, err := s.searchIDs(ctx, t, q)
	if err == nil {
		err = s.mark.wait(ctx, newest, &s.fail)
	}
	if err != nil {
		return nil, "", err
	}
	ctx = storage.Together(ctx)
	found, bytes := make([]storage.Resource, 0, len(ids)), 0
	for i, id := range ids {
		if bytes >= storage.PageBytes {
			return found, ids[i-1], nil
		}
		m, err := s.listed(ctx, t, abi.ResourcePointer{Object: abi.ObjectMemory, ID: id}, wordsKey(nil, t, id))
		if err != nil {
			return nil, "", err
		}
		found, bytes = append(found, m), bytes+len(m.State)
		if err := holdPage(ctx, bytes, len(m.State)); err != nil {
			return nil, "", err
		}
	}
	return found, next, nil
}

// searchIDs returns the ids of a page, newest first, and where the next one goes on.
func (s *Store) searchIDs(ctx context.Context, t storage.Tenant, q storage.Query) (ids []string, next string, err error) {
	candidates, err := s.candidates(t, q)
	if err != nil {
		return nil, "", err
	}
	looked := 0
	last, more := "", false
	err = candidates(func(id string) (bool, error) {
		if looked++; looked > maxSearched {
			more = true
			return false, ctx.Err()
		}
		e, ok, err := s.wordsOf(t, id)
		if err != nil || !ok || !e.holds(q.Terms) {
			last = id
			return true, err
		}
		if more = len(ids) == q.Limit; more {
			return false, nil
		}
		ids, last = append(ids, id), id
		return true, nil
	})
	if !more {
		last = ""
	}
	return ids, last, err
}

// wordsOf returns a Memory's words; ok is false for one that has none any more.
func (s *Store) wordsOf(t storage.Tenant, id string) (e memoryWords, ok bool, err error) {
	key := wordsKey(nil, t, id)
	v, ok, err := lookup(s.db, key)
	if err != nil || !ok {
		return e, false, err
	}
	if e, err = parseMemoryWords(v); err != nil {
		return e, false, &CorruptError{Tenant: t, Key: key, Reason: err.Error()}
	}
	return e, true, nil
}

// sequence calls a function with ids, newest first, until it returns false.
type sequence func(f func(id string) (bool, error)) error

// candidates returns the Memories among which those are that a query asks for: those
// of its rarest word, or of one of its words, or all of the owner's.
func (s *Store) candidates(t storage.Tenant, q storage.Query) (sequence, error) {
	common := "" // every Memory has it
	rare, found := []string(nil), false
	for _, term := range q.Terms {
		limit := rareWords
		if found {
			limit = len(rare)
		}
		ids, whole, err := s.holders(t, q.Owner, term, limit)
		switch {
		case err != nil:
			return nil, err
		case whole:
			rare, found = ids, true
		case common == "" && !term.Prefix:
			common = term.Word
		}
	}
	if found {
		return listed(rare, q.After), nil
	}
	return s.postingList(t, q.Owner, common, q.After), nil
}

// holders returns the Memories that hold a term. whole is false if there are more
// than limit postings.
func (s *Store) holders(t storage.Tenant, owner string, term storage.Term, limit int) (ids []string, whole bool, err error) {
	lower := postings(nil, t, owner, term.Word)
	words := len(ownerPostings(nil, t, owner))
	if term.Prefix {
		lower = lower[:len(lower)-1]
	}
	it, err := s.iterate(lower, keyAfter(lower))
	if err != nil {
		return nil, false, err
	}
	for ok := it.First(); ok && err == nil; ok = it.Next() {
		if len(ids) == limit {
			return nil, false, ended(it, nil)
		}
		var id string
		id, err = postedID(t, it.Key(), words)
		ids = append(ids, id)
	}
	return ids, true, ended(it, err)
}

// postedID returns the Memory of a posting, whose word begins at a place in the key.
func postedID(t storage.Tenant, key []byte, word int) (string, error) {
	if end := bytes.IndexByte(key[word:], 0); end >= 0 {
		if id, rest, ok := cutID(key[word+end+1:]); ok && len(rest) == 0 {
			return id, nil
		}
	}
	return "", &CorruptError{Tenant: t, Key: clone(key), Reason: errMalformed.Error()}
}

// listed yields ids, newest first, that come after one.
func listed(ids []string, after string) sequence {
	slices.SortFunc(ids, func(a, b string) int { return strings.Compare(b, a) })
	ids = slices.Compact(ids)
	return func(f func(string) (bool, error)) error {
		for _, id := range ids {
			if after != "" && id >= after {
				continue
			}
			if goOn, err := f(id); !goOn || err != nil {
				return err
			}
		}
		return nil
	}
}

// postingList yields the Memories of one word that come after one.
func (s *Store) postingList(t storage.Tenant, owner, word, after string) sequence {
	return func(f func(string) (bool, error)) error {
		prefix := postings(nil, t, owner, word)
		upper := keyAfter(prefix)
		if after != "" {
			upper = appendID(clone(prefix), after)
		}
		it, err := s.iterate(prefix, upper)
		if err != nil {
			return err
		}
		goOn := true
		for ok := it.Last(); ok && goOn && err == nil; ok = it.Prev() {
			var id string
			if id, err = postedID(t, it.Key(), len(prefix)-1); err == nil {
				goOn, err = f(id)
			}
		}
		return ended(it, err)
	}
}

// indexWords makes the index of words anew, if it was made by other rules than this
// program's, or never.
func (s *Store) indexWords() error {
	rules, _, err := s.meta(metaWords)
	if err != nil || string(rules) == storage.WordRules {
		return err
	}
	if err := eachTenant(s.db, s.indexTenant); err != nil {
		return err
	}
	return s.db.Set(metaKey(metaWords), []byte(storage.WordRules), pebble.Sync)
}

// indexTenant makes the index of a tenant anew. It counts only once the rules that
// made it are written down.
func (s *Store) indexTenant(t storage.Tenant) error {
	prefix := appendPrefix(nil, t, spaceWords)
	if err := s.db.DeleteRange(prefix, keyAfter(prefix), pebble.NoSync); err != nil {
		return err
	}
	page := storage.Page{Limit: 200}
	for more := true; more; {
		var ids []string
		var err error
		if ids, more, err = s.listIDs(t, abi.ObjectMemory, storage.Scope{}, page); err != nil {
			return err
		}
		for _, id := range ids {
			if err := s.indexStored(t, id); err != nil {
				return err
			}
			page.After = id
		}
	}
	return nil
}

// indexStored adds the words of a Memory that is in the store.
func (s *Store) indexStored(t storage.Tenant, id string) error {
	res, err := s.resource(context.Background(), t, abi.ResourcePointer{Object: abi.ObjectMemory, ID: id})
	if err != nil {
		return err
	}
	m, ok := readIndexed(res.State)
	if !ok {
		return nil
	}
	d, b := newDraft(), s.db.NewBatch()
	defer d.free()
	defer b.Close()
	d.indexMemory(t, id, &m, func() { d.buf = appendPosition(d.buf, res.Origin) })
	d.applyAll(b)
	return b.Commit(pebble.NoSync)
}

// checkWords looks at a key of the index of words: it must lead to a Memory.
func (c *inspection) checkWords(t storage.Tenant, k parsedKey, value []byte) (string, error) {
	if len(value) < positionLen || k.suffix == wordPosting && len(value) != positionLen {
		return errMalformed.Error(), nil
	}
	if k.suffix == wordMemory {
		if _, err := parseMemoryWords(value); err != nil {
			return err.Error(), nil
		}
	}
	return c.checkListed(t, parsedKey{object: abi.ObjectMemory, id: k.id}, value[:positionLen])
}

// resolveMemories reads the states of a frame's Memories that lie in blobs.
func (s *Store) resolveMemories(ctx context.Context, f *storage.Frame, refs outline) error {
	for i := range refs {
		r := &f.Records[i]
		if r.Resource.Object != abi.ObjectMemory || refs[i].state == nil {
			continue
		}
		var err error
		if r.State, err = s.blobs.resolve(ctx, r.State, refs[i].state); err != nil {
			return err
		}
	}
	return nil
}

// word reads a word of a posting and the byte that ends it.
func (d *decoder) word() string {
	end := bytes.IndexByte(d.rest, 0)
	if end < 0 {
		d.bad = true
		return ""
	}
	word := d.fixed(end)
	d.byte()
	return string(word)
}
