package pebble

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/storage"
)

func TestIDsRoundTrip(t *testing.T) {
	for _, c := range []struct {
		id      string
		compact bool
	}{
		{"", false},
		{"task_", false},
		{"task_01KQHPHXG00000000000000001", true},
		{"task_01kqhphxg00000000000000001", false}, // lower case is another id
		{"task_81KQHPHXG00000000000000001", false}, // more than 128 bits
		{"task_7ZZZZZZZZZZZZZZZZZZZZZZZZZ", true},
		{"task_00000000000000000000000000", true},
		{"task_O1KQHPHXG00000000000000001", false}, // O is no digit
		{"tisk_01KQHPHXG00000000000000001", false},
		{"persona_01KQHPHXG00000000000000001", true},
		{"persona_echo", false},
		{"state_01KQHPHXG00000000000000001", true},
		{"state_01KQHPHXG00000000000000001.step-0", true},
		{"state_01KQHPHXG00000000000000001.", true},
		{"state_01KQHPHXG00000000000000001.a.b\x00", true},
		{"state_01KQHPHXG0000000000000000.1", false},
		{"state_81KQHPHXG00000000000000001.x", false},
		{"sess_01KQHPHXG00000000000000001.x", false},
		{"a stranger's id \x00\xff", false},
		{"01KQHPHXG00000000000000001", false},
	} {
		b := appendID([]byte{0xee}, c.id)
		got, rest, ok := cutID(append(b[1:], 0xdd))
		if !ok || got != c.id || len(rest) != 1 || (b[1] != 0) != c.compact {
			t.Errorf("%q is %x and reads %q, %x, %v", c.id, b[1:], got, rest, ok)
		}
	}
}

// TestKeysSort checks that ids sort by time and positions by number.
func TestKeysSort(t *testing.T) {
	for n := range 300 {
		for _, pair := range [][2][]byte{
			{appendID(nil, newID(abi.ObjectTask, n)), appendID(nil, newID(abi.ObjectTask, n+1))},
			{frameKey(nil, 1, storage.Position(n)), frameKey(nil, 1, storage.Position(n+1))},
			{frameKey(nil, 1, ^storage.Position(0)), frameKey(nil, 2, 0)},
		} {
			if bytes.Compare(pair[0], pair[1]) >= 0 {
				t.Fatalf("%x does not sort before %x", pair[0], pair[1])
			}
		}
	}
}

func TestKeyAfter(t *testing.T) {
	for _, c := range []struct{ prefix, want []byte }{
		{[]byte{1, 2}, []byte{1, 3}},
		{[]byte{1, 0xff}, []byte{2}},
		{[]byte{0xff, 0xff, 0xff, 0xff, 'e'}, []byte{0xff, 0xff, 0xff, 0xff, 'f'}},
		{[]byte{0xff}, nil},
	} {
		if got := keyAfter(c.prefix); !bytes.Equal(got, c.want) {
			t.Errorf("after %x comes %x, want %x", c.prefix, got, c.want)
		}
	}
}

// TestEveryChangedBitIsFound flips every bit of a frame, and moves it to other
// places.
func TestEveryChangedBitIsFound(t *testing.T) {
	f := example().Frame
	f.First = 41
	_, value := encodeAt(&f, nil)
	var corrupt *CorruptError
	for i := range value {
		for bit := range 8 {
			damaged := clone(value)
			damaged[i] ^= 1 << bit
			if _, _, err := decodeFrame(1, 41, damaged); !errors.As(err, &corrupt) || corrupt.Position != 41 {
				t.Fatalf("bit %d of byte %d: %v", bit, i, err)
			}
		}
		if _, _, err := decodeFrame(1, 41, value[:i]); !errors.As(err, &corrupt) {
			t.Fatalf("cut off after %d bytes: %v", i, err)
		}
	}
	for tenant, p := range map[storage.Tenant]storage.Position{1: 42, 2: 41} {
		if _, _, err := decodeFrame(tenant, p, value); !errors.As(err, &corrupt) {
			t.Errorf("read at %s of tenant %d: %v", p, tenant, err)
		}
	}
}

func TestFrameWithBlobsRoundTrips(t *testing.T) {
	f := example().Frame
	f.First = 7
	refs := make(outline, 2)
	refs[0].payload = &blobRef{hash: storage.Hash{1}, size: 1 << 40}
	refs[1].state = &blobRef{hash: storage.Hash{2}}
	_, value := encodeAt(&f, refs)
	got, gotRefs, err := decodeFrame(1, 7, value)
	if err != nil || !reflect.DeepEqual(gotRefs, refs) || got.Records[1].State != nil {
		t.Fatalf("%+v, %+v, %v", got, gotRefs, err)
	}
	_, fields, err := openBody(value[:len(value)-crcLen])
	if again := appendFields(nil, got, gotRefs); err != nil || !bytes.Equal(again, fields) {
		t.Fatalf("encoding again gives %x instead of %x, %v", again, fields, err)
	}
}

// FuzzDecodeFrame gives the decoder arbitrary bytes in a frame whose checksum is
// right. It must not panic, and what it accepts has one encoding, however it is
// packed.
func FuzzDecodeFrame(f *testing.F) {
	seed := func(frame *storage.Frame, refs outline) {
		fields := appendFields(nil, frame, refs)
		head := appendHead(nil, frame)
		f.Add(pack(clone(head), fields))
		f.Add(append(append(clone(head), packedNot), fields...))
		f.Add(append(append([]byte{frameVersion1}, head[1:]...), fields...))
	}
	for n, kind := range kindCodes {
		frame := goldenFrame(kind, n)
		seed(&frame, nil)
	}
	for _, b := range newRecorded(1).task() {
		seed(&b.Frame, nil)
	}
	frame := example().Frame
	refs := make(outline, 2)
	refs[0].payload, refs[1].state = &blobRef{size: 5}, &blobRef{size: 1 << 50}
	seed(&frame, refs)
	f.Fuzz(func(t *testing.T, body []byte) {
		at, fields, err := openBody(body)
		if err != nil {
			return
		}
		frame, refs, err := decodeFields(at, fields)
		if err != nil {
			return
		}
		if again := appendFields(nil, frame, refs); !bytes.Equal(again, fields) {
			t.Fatalf("%x encodes again as %x", fields, again)
		}
		if again := appendHead(nil, frame); !bytes.Equal(again[1:], body[1:len(again)]) {
			t.Fatalf("the head of %x encodes again as %x", body, again)
		}
	})
}

// FuzzParseKey gives the parser of keys arbitrary bytes.
func FuzzParseKey(f *testing.F) {
	d := newDraft()
	b := example()
	d.project(&b.Frame, nil)
	d.addIdempotency(1, b.Idempotency, nil)
	for _, o := range d.ops {
		f.Add(clone(d.buf[o.key:o.value]))
	}
	f.Add(metaKey(metaLast))
	f.Add(sequenceKey(nil, 1, ptr("span", "span_1")))
	f.Add(resourceKey(nil, 1, ptr(abi.ObjectState, "state_01KQHPHXG00000000000000001.step-0"), suffixLatest))
	f.Fuzz(func(t *testing.T, key []byte) {
		k, ok := parseKey(key)
		if !ok {
			return
		}
		if again := appendParsed(nil, k); !bytes.Equal(again, key) {
			t.Fatalf("%x is put together again as %x", key, again)
		}
	})
}

// FuzzDecodeProjection gives the decoders of the values of projections arbitrary
// bytes.
func FuzzDecodeProjection(f *testing.F) {
	f.Add(appendPointer(nil, pointer{first: 5, index: 1, sequence: 300, inline: []byte(`{}`)}))
	f.Add(appendPointer(nil, pointer{restricted: true, first: 5, blob: &blobRef{size: 9}}))
	long := bytes.Repeat([]byte(`{"object":"receipt"}`), 9)
	f.Add(appendPointer(nil, pointer{first: 5, inline: long}))
	f.Add(appendBytes([]byte{pointerInline, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0}, long)) // as it was before such were packed
	f.Add(appendBytes([]byte{pointerInline | pointerPacked, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0}, pack(nil, long)))
	f.Add(appendBytes([]byte{pointerInline | pointerPacked, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0}, []byte{packedZst, 0x28, 0xb5, 0x2f, 0xfd}))
	f.Add(appendIdempotency(nil, &storage.Idempotency{Answer: []byte("x"), Expires: epoch, Status: 202}, nil))
	f.Add(appendIdempotency(nil, &storage.Idempotency{Expires: epoch, Record: 3}, &blobRef{size: 1}))
	f.Fuzz(func(t *testing.T, value []byte) {
		if p, err := decodePointer(value); err == nil {
			again := appendPointer(nil, p)
			if q, err := decodePointer(again); err != nil || !reflect.DeepEqual(p, q) { // there are many ways to pack a value
				t.Fatalf("pointer %x is encoded again as %x: %v", value, again, err)
			}
			if len(p.inline) < minPacked && value[0]&pointerPacked == 0 && !bytes.Equal(again, value) {
				t.Fatalf("pointer %x is encoded again as %x", value, again)
			}
		}
		_, _, _ = decodeIdempotency(storage.Key{}, value)
		_, _ = decodeNoted(value)
	})
}

// TestTilingFindsGapsAndOverlaps checks the test for a gapless log that needs no
// memory.
func TestTilingFindsGapsAndOverlaps(t *testing.T) {
	type frame struct{ first, last storage.Position }
	frames := []frame{{11, 12}, {13, 13}, {14, 20}, {21, 21}}
	covers := func(frames []frame) bool {
		var tiles tiling
		for _, i := range rand.New(rand.NewPCG(1, 1)).Perm(len(frames)) {
			tiles.add(frames[i].first, frames[i].last)
		}
		return tiles.covers(10, 21)
	}
	if !covers(frames) {
		t.Error("whole frames seem to have a gap")
	}
	for name, damaged := range map[string][]frame{
		"a gap":      {{11, 12}, {14, 20}, {21, 21}},
		"an overlap": {{11, 13}, {13, 13}, {14, 20}, {21, 21}},
		"a twin":     {{11, 12}, {13, 13}, {13, 13}, {14, 20}, {21, 21}},
		"no end":     {{11, 12}, {13, 13}, {14, 20}},
		"a swap":     {{11, 12}, {13, 14}, {14, 19}, {21, 21}},
	} {
		if covers(damaged) {
			t.Errorf("%s was not found", name)
		}
	}
}
