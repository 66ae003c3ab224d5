package pebble

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/wharf-dev/wharf/storage"
)

func keyNumber(n int) storage.Key {
	return sha256.Sum256(binary.BigEndian.AppendUint64(nil, uint64(n)))
}

// TestKeyFilterHoldsEveryKey adds keys up to and far beyond what the filter is made
// for. It must never miss one, and take few fresh ones for one while it has room.
func TestKeyFilterHoldsEveryKey(t *testing.T) {
	var f keyFilter
	f.init(0, 1<<20)
	const room = (1 << 20) * 8 / keyBits / 3 // the next layer would not fit
	for n := range 3 * room {
		f.add(1, 7, keyNumber(n))
		if n+1 != room {
			continue
		}
		wrong := 0
		for fresh := range room {
			if f.may(1, 7, keyNumber(-1-fresh)) {
				wrong++
			}
		}
		if wrong > room/50 {
			t.Errorf("%d of %d fresh keys are taken for known ones", wrong, room)
		}
	}
	for n := range 3 * room {
		if !f.may(1, 7, keyNumber(n)) {
			t.Fatalf("key %d is missing", n)
		}
	}
	if f.may(1, 8, keyNumber(1)) {
		t.Error("a key is known on another day")
	}
	if words := f.days[7].words; words*8 > 1<<20 {
		t.Errorf("the filter takes %d bytes", words*8)
	}
	f.drop(8)
	if f.may(1, 7, keyNumber(1)) || len(f.days) != 0 {
		t.Error("a day gone by is remembered")
	}
}

// TestRecordsAreFoundWhileKeysLoad looks for records right after a restart, while
// and after their keys are loaded.
func TestRecordsAreFoundWhileKeysLoad(t *testing.T) {
	const n = 3000
	fs := vfs.NewMem()
	s := openTest(t, fs)
	commits := make([]storage.Commit, n)
	for i := range commits {
		commits[i] = s.Append(accept(storage.Tenant(1+i%2), i))
	}
	for _, c := range commits {
		if _, err := c.Wait(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	o := testOptions(fs)
	o.Now = func() time.Time { return epoch.AddDate(0, 3, 0) } // the caller's clock is another one
	s, err := Open("data", o)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	day := dayOf(accept(1, 1).Idempotency.Expires)
	fresh := keyNumber(1)
	for loaded := false; !loaded; {
		loaded = !s.keys.may(1, day, fresh)
		for i := range n {
			b := accept(storage.Tenant(1+i%2), i)
			if _, err := s.Idempotency(ctx, b.Frame.Tenant, b.Idempotency.Key, epoch); err != nil {
				t.Fatalf("record %d, keys loaded: %v: %v", i, loaded, err)
			}
		}
		if _, err := s.Idempotency(ctx, 1, fresh, epoch); !errors.Is(err, storage.ErrNotFound) {
			t.Fatalf("a fresh key has a record: %v", err)
		}
	}
}

// BenchmarkFreshKey looks for a key that has no record among 200,000 that have one,
// with and without the filter.
func BenchmarkFreshKey(b *testing.B) {
	s, err := Open(b.TempDir(), benchOptions())
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	now, doc := time.Now(), []byte(`{}`)
	var last storage.Commit
	for n := range 200_000 {
		batch := benchBatch(uint64(n), now, "sess_1", "ws_1", doc)
		batch.Idempotency.Key = keyNumber(n)
		last = s.Append(batch)
	}
	if _, err := last.Wait(ctx); err != nil {
		b.Fatal(err)
	}
	for name, unread := range map[string]uint32{"filter": 0, "database": ^uint32(0)} {
		b.Run(name, func(b *testing.B) {
			s.keys.unread = unread
			b.ReportAllocs()
			for n := range b.N {
				if _, err := s.Idempotency(ctx, 1, keyNumber(-1-n), now); !errors.Is(err, storage.ErrNotFound) {
					b.Fatal(err)
				}
			}
		})
	}
}
