package pebble

import (
	"encoding/binary"
	"errors"
	"sync"

	"github.com/wharf-dev/wharf/storage"
)

const (
	// keyBits is how many bits a filter has for each key that it is made for: its
	// rate of false positives is below one in a hundred.
	keyBits = 12
	// keyProbes is how many of them stand for one key.
	keyProbes = 6
	// blockWords is how many words hold all bits of a key: one line of a processor's
	// cache.
	blockWords = 8
	// layerWords is the size of a filter's first layer, and layerGrowth how much
	// larger each is than the one before.
	layerWords  = 512
	layerGrowth = 4
	// loadCheck is how many keys are loaded between two looks at whether to go on.
	loadCheck = 1024
)

// keyFilter says of most idempotency keys that have no record that they have none,
// without a look into the database. It is never wrong about a key that has one: a
// key is added before its batch is handed over. What earlier processes have written
// is added in the background; until then every key of those days may have a record.
type keyFilter struct {
	mu       sync.Mutex
	days     map[uint32]*dayFilter // by the day on which the records expire
	unread   uint32                // the last of the days that are not loaded yet
	maxWords int                   // of one day's filter
}

// dayFilter holds the keys whose records expire on one day. It grows with them up
// to a limit, and is less and less sure beyond it.
type dayFilter struct {
	layers []layer // the newest takes what is added
	words  int
}

// layer is a Bloom filter whose bits for one key share a block.
type layer struct {
	words []uint64
	room  int // how many more keys it is made for
}

func (f *keyFilter) init(lastDay uint32, maxBytes int) {
	f.days = make(map[uint32]*dayFilter)
	f.unread, f.maxWords = lastDay, maxBytes/8
}

// add notes that k may have a record that expires on day.
func (f *keyFilter) add(t storage.Tenant, day uint32, k storage.Key) {
	f.mu.Lock()
	defer f.mu.Unlock()
	d := f.days[day]
	if d == nil {
		d = &dayFilter{}
		f.days[day] = d
	}
	d.grow(f.maxWords)
	d.layers[len(d.layers)-1].add(probe(t, k))
}

// may reports whether k may have a record that expires on day.
func (f *keyFilter) may(t storage.Tenant, day uint32, k storage.Key) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if day <= f.unread {
		return true
	}
	d := f.days[day]
	if d == nil {
		return false
	}
	block, bits := probe(t, k)
	for i := range d.layers {
		if d.layers[i].may(block, bits) {
			return true
		}
	}
	return false
}

// drop forgets the days before one.
func (f *keyFilter) drop(before uint32) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for day := range f.days {
		if day < before {
			delete(f.days, day)
		}
	}
}

// loaded says that every key in the database has been added.
func (f *keyFilter) loaded() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.unread = 0
}

// grow makes room for one more key, as long as there may be more.
func (d *dayFilter) grow(maxWords int) {
	size := layerWords
	if n := len(d.layers); n > 0 {
		if d.layers[n-1].room > 0 {
			return
		}
		size = len(d.layers[n-1].words) * layerGrowth
	}
	if len(d.layers) > 0 && d.words+size > maxWords {
		return
	}
	d.layers = append(d.layers, layer{make([]uint64, size), size * 64 / keyBits})
	d.words += size
}

func (l *layer) add(block, bits uint64) {
	l.room--
	words := l.block(block)
	for range keyProbes {
		words[bits>>6&(blockWords-1)] |= 1 << (bits & 63)
		bits >>= 9
	}
}

func (l *layer) may(block, bits uint64) bool {
	words := l.block(block)
	for range keyProbes {
		if words[bits>>6&(blockWords-1)]&(1<<(bits&63)) == 0 {
			return false
		}
		bits >>= 9
	}
	return true
}

func (l *layer) block(n uint64) []uint64 {
	at := n % uint64(len(l.words)/blockWords) * blockWords
	return l.words[at : at+blockWords]
}

// probe returns the numbers of a key's block and bits. A key is a hash already.
func probe(t storage.Tenant, k storage.Key) (block, bits uint64) {
	return binary.LittleEndian.Uint64(k[:]) + uint64(t), binary.LittleEndian.Uint64(k[8:])
}

// errNotLoaded ends the loading of keys before its end.
var errNotLoaded = errors.New("the keys are not loaded")

// loadKeys adds the keys of all records to the filter, expired ones too: callers decide by
// their own clock. It stops early when the store closes, or when there are more keys than
// the filter is made for; look-ups of those days then read the database.
func (s *Store) loadKeys() {
	release, err := s.use()
	if err != nil {
		return
	}
	defer release()
	s.load(spaceIdempotency, &s.keys)
	s.load(spaceSeen, &s.deliveries)
}

// load adds the keys of one space to a filter.
func (s *Store) load(space byte, f *keyFilter) {
	n := 0
	err := eachTenant(s.db, func(t storage.Tenant) error {
		prefix := appendPrefix(nil, t, space)
		return scan(s.db, prefix, keyAfter(prefix), func(key, _ []byte) error {
			if n++; n%loadCheck == 0 && (s.ending() || n > f.maxWords*64/keyBits) {
				return errNotLoaded
			}
			if k, ok := parseKey(key); ok {
				f.add(t, k.day, k.key)
			}
			return nil
		})
	})
	if err == nil {
		f.loaded()
	}
}

// ending reports whether the store closes or has failed.
func (s *Store) ending() bool {
	select {
	case <-s.mark.done:
		return true
	case <-s.fail.done:
		return true
	default:
		return false
	}
}
