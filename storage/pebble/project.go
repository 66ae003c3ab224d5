package pebble

import (
	"encoding/binary"
	"math/bits"
	"sync"

	"github.com/cockroachdb/pebble/v2"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/storage"
)

// draft is a frame turned into keys and values with every place left open that
// holds a position. It belongs to one goroutine at a time.
type draft struct {
	batch *pebble.Batch
	fills []fill
	sum   uint32 // the frame's checksum so far
	sumAt int    // where it goes, -1 when there is no frame
	key   []byte // scratch
	value []byte // scratch
	// copies are the transcripts to copy when the draft's turn comes.
	copies []transcriptCopy
	// reshapes says that the draft drops or copies Messages.
	reshapes bool
}

// fill is a place in the batch that holds the frame's position plus add.
type fill struct{ at, add int }

// transcriptCopy is a copy that has to see everything handed over before.
type transcriptCopy struct {
	tenant   storage.Tenant
	from, to string
	at       storage.Position
}

var draftPool = sync.Pool{New: func() any { return new(draft) }}

// newDraft returns an empty draft for db.
func newDraft(db *pebble.DB) *draft {
	d := draftPool.Get().(*draft)
	d.batch, d.fills, d.copies = db.NewBatch(), d.fills[:0], d.copies[:0]
	d.sumAt, d.reshapes = -1, false
	return d
}

// free gives the draft back. It must not be used afterwards.
func (d *draft) free() {
	_ = d.batch.Close()
	d.batch = nil
	draftPool.Put(d)
}

// set adds a pair and returns where its value begins.
func (d *draft) set(key, value []byte) (valueAt int) {
	_ = d.batch.Set(key, value, nil) // fails only on an indexed batch
	return d.batch.Len() - len(value)
}

// setFirst adds a pair whose key ends with the position of the frame's event
// number add.
func (d *draft) setFirst(key, value []byte, add int) {
	at := d.set(key, value) - uvarintLen(len(value)) - positionLen
	d.fills = append(d.fills, fill{at, add})
}

// place fills in every position, now that it is known, and the checksum.
func (d *draft) place(first storage.Position) {
	repr := d.batch.Repr()
	for _, f := range d.fills {
		binary.BigEndian.PutUint64(repr[f.at:], uint64(first)+uint64(f.add))
	}
	if d.sumAt >= 0 {
		binary.BigEndian.PutUint32(repr[d.sumAt:], finishSum(d.sum, first))
	}
}

// project adds a frame and all that follows from it. These are the rules of
// docs/log-format.md, "Projections"; a rebuild uses the very same.
func (d *draft) project(f *storage.Frame, refs outline) {
	d.addFrame(f, refs)
	d.addProjections(f, refs)
}

func (d *draft) addFrame(f *storage.Frame, refs outline) {
	d.key = frameKey(d.key[:0], f.Tenant, 0)
	d.value = appendFrame(d.value[:0], f, refs)
	d.sum = frameSum(f.Tenant, d.value)
	d.value = append(d.value, make([]byte, crcLen)...)
	d.setFirst(d.key, d.value, 0)
	d.sumAt = d.batch.Len() - crcLen
}

func (d *draft) addProjections(f *storage.Frame, refs outline) {
	d.value = binary.AppendUvarint(d.value[:0], uint64(len(f.Records)))
	for _, s := range scopeSpaces {
		if id := s.owner(f); id != "" {
			d.key = appendPosition(scopePrefix(d.key[:0], f.Tenant, s.space, id), 0)
			d.setFirst(d.key, d.value, 0)
		}
	}
	for i := range f.Records {
		d.addRecord(f, i, refs.state(i) != nil)
	}
}

func (d *draft) addRecord(f *storage.Frame, i int, blob bool) {
	r := &f.Records[i]
	switch {
	case blob || r.State != nil:
		d.addPointer(f, i)
	case r.Resource != (abi.ResourcePointer{}):
		d.key = sequenceKey(d.key[:0], f.Tenant, r.Resource)
		d.value = appendNoted(d.value[:0], noted{sequence: r.Sequence})
		d.fills = append(d.fills, fill{d.set(d.key, d.value), i})
	}
	if r.Created {
		d.addToLists(f, i)
	}
	d.addTranscript(f, i)
	d.addActive(f, i)
}

func (d *draft) addPointer(f *storage.Frame, i int) {
	r := &f.Records[i]
	suffix := byte(suffixLatest)
	if r.Created {
		suffix = suffixOrigin
	}
	d.key = resourceKey(d.key[:0], f.Tenant, r.Resource, suffix)
	d.value = appendPointer(d.value[:0], pointer{restricted: r.Restricted, index: uint64(i), sequence: r.Sequence})
	d.fills = append(d.fills, fill{d.set(d.key, d.value) + pointerFirst, 0})
}

func (d *draft) addToLists(f *storage.Frame, i int) {
	r := &f.Records[i]
	for _, scope := range listedBy(r.Resource.Object) {
		id := ownerOf(f, scope)
		if id == "" {
			continue
		}
		d.key = listPrefix(d.key[:0], f.Tenant, r.Resource.Object, storage.Scope{Object: scope, ID: id})
		d.key = appendID(d.key, r.Resource.ID)
		d.addPosition(d.key, i)
	}
}

// addPosition adds a key whose value is the position of event number i.
func (d *draft) addPosition(key []byte, i int) {
	var zero [positionLen]byte
	d.fills = append(d.fills, fill{d.set(key, zero[:]), i})
}

func (d *draft) addTranscript(f *storage.Frame, i int) {
	r := &f.Records[i]
	switch r.Transcript.Kind {
	case storage.TranscriptAppend:
		d.key = appendPosition(transcriptPrefix(d.key[:0], f.Tenant, f.SessionID), 0)
		d.value = appendID(d.value[:0], r.Resource.ID)
		d.setFirst(d.key, d.value, i)
	case storage.TranscriptTruncate:
		d.key = transcriptPrefix(d.key[:0], f.Tenant, f.SessionID)
		end := keyAfter(d.key)
		_ = d.batch.DeleteRange(appendPosition(d.key, r.Transcript.At), end, nil) // fails only on an indexed batch
		d.reshapes = true
	case storage.TranscriptCopy:
		d.copies = append(d.copies, transcriptCopy{f.Tenant, r.Transcript.From, f.SessionID, r.Transcript.At})
		d.reshapes = true
	}
}

// addActive keeps the set of Tasks that are not terminal.
func (d *draft) addActive(f *storage.Frame, i int) {
	r := &f.Records[i]
	if r.Resource.Object != abi.ObjectTask {
		return
	}
	switch r.Kind {
	case abi.EventTaskSubmitted:
		d.key = appendID(appendPrefix(d.key[:0], f.Tenant, spaceActive), r.Resource.ID)
		d.addPosition(d.key, i)
	case abi.EventTaskCompleted, abi.EventTaskFailed, abi.EventTaskCanceled:
		d.key = appendID(appendPrefix(d.key[:0], f.Tenant, spaceActive), r.Resource.ID)
		_ = d.batch.Delete(d.key, nil) // fails only on an indexed batch
	}
}

// addIdempotency adds the record that answers retries.
func (d *draft) addIdempotency(t storage.Tenant, i *storage.Idempotency, answer *blobRef) {
	d.key = idempotencyKey(d.key[:0], t, dayOf(i.Expires), i.Key)
	d.value = appendIdempotency(d.value[:0], i, answer)
	d.fills = append(d.fills, fill{d.set(d.key, d.value), 0})
}

// copyTranscript adds the Messages of c.from, as src shows them, to c.to.
func copyTranscript(src pebble.Reader, dst *pebble.Batch, c transcriptCopy) error {
	lower := transcriptPrefix(nil, c.tenant, c.from)
	upper := appendPosition(transcriptPrefix(nil, c.tenant, c.from), c.at+1)
	it, err := src.NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: upper})
	if err != nil {
		return err
	}
	key := transcriptPrefix(nil, c.tenant, c.to)
	prefix := len(key)
	for ok := it.First(); ok; ok = it.Next() {
		key = appendPosition(key[:prefix], lastPosition(it.Key()))
		_ = dst.Set(key, it.Value(), nil) // fails only on an indexed batch
	}
	return it.Close()
}

// uvarintLen returns the length of n as a varint.
func uvarintLen(n int) int { return (bits.Len(uint(n)|1) + 6) / 7 }
