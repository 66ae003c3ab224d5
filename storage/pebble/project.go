package pebble

import (
	"encoding/binary"
	"sync"

	"github.com/cockroachdb/pebble/v2"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/storage"
)

// draft is a frame turned into operations on keys, with every place left open that
// holds a position. It belongs to one goroutine at a time.
type draft struct {
	buf []byte // the keys and values of ops
	// fields are those of the frame before they were packed.
	fields []byte
	ops    []op
	fills  []fill
	sum    uint32 // the frame's checksum so far
	sumAt  int    // where it goes, -1 when there is no frame
	// copies are the transcripts to copy when the draft's turn comes.
	copies []transcriptCopy
	// forgets are the Memories whose words go when the draft's turn comes.
	forgets []forgotten
	// erases says that the draft erases what others wrote.
	erases bool
	// reshapes says that the draft drops or copies what others wrote.
	reshapes bool
}

// op is one operation; its key is buf[key:value] and its value buf[value:end].
type op struct {
	kind            opKind
	key, value, end int
	// list is how much of the key names the list that the key is an entry of, 0 for none.
	list int
}

type opKind uint8

const (
	opSet         opKind = iota
	opSetOnce            // the key and the empty value may be there already
	opDelete             // the value is empty
	opDeleteRange        // from the key up to but not including the value
)

// fill is a place in buf that holds the frame's position plus add, or its chunk.
type fill struct {
	at, add int
	chunk   bool
}

// value returns what goes there.
func (f fill) value(first storage.Position) storage.Position {
	if f.chunk {
		return chunkOf(first)
	}
	return first + storage.Position(f.add)
}

// transcriptCopy is a copy that has to see everything handed over before.
type transcriptCopy struct {
	tenant   storage.Tenant
	from, to string
	at       storage.Position
}

var draftPool = sync.Pool{New: func() any { return new(draft) }}

// maxPooledBytes is up to which size the memory of a draft is used again.
const maxPooledBytes = 256 << 10

// newDraft returns an empty draft.
func newDraft() *draft {
	d := draftPool.Get().(*draft)
	d.buf, d.fields = d.buf[:0], d.fields[:0]
	d.ops, d.fills, d.copies, d.forgets = d.ops[:0], d.fills[:0], d.copies[:0], d.forgets[:0]
	d.sumAt, d.reshapes, d.erases = -1, false, false
	return d
}

// free gives the draft back. It must not be used afterwards.
func (d *draft) free() {
	if cap(d.buf) <= maxPooledBytes && cap(d.fields) <= maxPooledBytes {
		draftPool.Put(d)
	}
}

// size returns what the draft adds to a batch, or would, were nothing packed: that
// is what its frame takes in memory.
func (d *draft) size() int { return max(len(d.buf), len(d.fields)) + len(d.ops)*opOverhead }

// opOverhead is what a batch needs for an operation besides key and value.
const opOverhead = 8

// begin starts an operation; the caller appends its key to buf.
func (d *draft) begin(kind opKind) {
	d.ops = append(d.ops, op{kind: kind, key: len(d.buf)})
}

// endKey says that what was appended since begin is the key; the value follows.
func (d *draft) endKey() { d.ops[len(d.ops)-1].value = len(d.buf) }

// entryAt says that the key is an entry of a list, whose name ends at a place in buf.
func (d *draft) entryAt(end int) {
	o := &d.ops[len(d.ops)-1]
	o.list = end - o.key
}

// end says that the operation is complete.
func (d *draft) end() { d.ops[len(d.ops)-1].end = len(d.buf) }

// position appends the position of the frame's event number add, which is filled
// in later.
func (d *draft) position(add int) {
	d.fills = append(d.fills, fill{at: len(d.buf), add: add})
	d.buf = appendPosition(d.buf, 0)
}

// place fills in every position, now that it is known, and the checksum.
func (d *draft) place(first storage.Position) {
	for _, f := range d.fills {
		binary.BigEndian.PutUint64(d.buf[f.at:], uint64(f.value(first)))
	}
	if d.sumAt >= 0 {
		binary.BigEndian.PutUint32(d.buf[d.sumAt:], finishSum(d.sum, first))
	}
}

// apply adds an operation to a batch, which must not be indexed.
func (d *draft) apply(b *pebble.Batch, o op) {
	key, value := d.buf[o.key:o.value], d.buf[o.value:o.end]
	switch o.kind {
	case opSet, opSetOnce:
		_ = b.Set(key, value, nil)
	case opDelete:
		_ = b.Delete(key, nil)
	case opDeleteRange:
		_ = b.DeleteRange(key, value, nil)
	}
}

// applyAll adds every operation in its order.
func (d *draft) applyAll(b *pebble.Batch) {
	for _, o := range d.ops {
		d.apply(b, o)
	}
}

// project adds a frame and all that follows from it. These are the rules of
// docs/log-format.md, "Projections"; a rebuild uses the very same.
func (d *draft) project(f *storage.Frame, refs outline) {
	d.addFrame(f, refs)
	d.addIndexes(f, ownIndexes())
	if f.WorkspaceID != "" {
		d.addChunk(f)
	}
	d.addRecords(f, refs)
}

func (d *draft) addFrame(f *storage.Frame, refs outline) {
	d.begin(opSet)
	d.buf = appendPrefix(d.buf, f.Tenant, spaceFrame)
	d.position(0)
	d.endKey()
	body := len(d.buf)
	d.fields = appendFields(d.fields[:0], f, refs)
	if d.buf = appendHead(d.buf, f); isDelivery(f) {
		d.buf = append(append(d.buf, packedNot), d.fields...)
	} else {
		d.buf = pack(d.buf, d.fields)
	}
	d.sum, d.sumAt = frameSum(f.Tenant, d.buf[body:]), len(d.buf)
	d.buf = append(d.buf, make([]byte, crcLen)...)
	d.end()
}

// isDelivery reports whether a frame tells of a delivery and of nothing else. It has
// what others have written, so that the dictionary saves little, and there are many.
func isDelivery(f *storage.Frame) bool {
	return len(f.Records) == 1 && f.Records[0].Intake.Kind == storage.IntakeReceive
}

// addIndexes adds the keys by which a frame is found by its owners.
func (d *draft) addIndexes(f *storage.Frame, spaces []scopeSpaceOf) {
	for _, s := range spaces {
		if id := s.owner(f); id != "" {
			d.begin(opSet)
			d.buf = scopePrefix(d.buf, f.Tenant, s.space, id)
			d.position(0)
			d.endKey()
			d.buf = binary.AppendUvarint(d.buf, uint64(len(f.Records)))
			d.end()
		}
	}
}

// addRecords adds what follows from each record. Of several events in a row that
// name one resource and do not state it, the last one is noted; those of deliveries
// are not, for they have few events, and are many.
func (d *draft) addRecords(f *storage.Frame, refs outline) {
	noted := -1
	for i := range f.Records {
		r := &f.Records[i]
		stated := r.State != nil || refs.state(i) != nil
		d.addRecord(f, i, stated)
		if stated || r.Resource == (abi.ResourcePointer{}) || r.Resource.Object == abi.ObjectDelivery || r.Erase != nil {
			continue
		}
		if noted >= 0 && f.Records[noted].Resource != r.Resource {
			d.addNoted(f, noted)
		}
		noted = i
	}
	if noted >= 0 {
		d.addNoted(f, noted)
	}
	for i := range refs {
		d.addReferred(f, refs[i].state)
		d.addReferred(f, refs[i].payload)
	}
}

func (d *draft) addRecord(f *storage.Frame, i int, stated bool) {
	r := &f.Records[i]
	if r.Erase != nil {
		d.erases, d.reshapes = true, true
		return
	}
	if stated {
		d.addPointer(f, i)
	}
	if r.Created || storage.Unlists(r) {
		d.addToLists(f, i)
	}
	d.addTranscript(f, i)
	d.addIntake(f, i)
	d.addActive(f, i)
	d.addWords(f, i)
	d.addUse(f, i)
	d.addDeleted(f, i)
	d.addReferences(f, i)
}

func (d *draft) addPointer(f *storage.Frame, i int) {
	r := &f.Records[i]
	suffix := byte(suffixLatest)
	if r.Created {
		suffix = suffixOrigin
	}
	d.begin(opSet)
	list := len(d.buf)
	d.buf = resourceKey(d.buf, f.Tenant, r.Resource, suffix)
	if r.Created {
		d.entryAt(list + len(appendObject(nil, r.Resource.Object)) + prefixLen)
	}
	d.endKey()
	d.fills = append(d.fills, fill{at: len(d.buf) + pointerFirst})
	d.buf = appendPointer(d.buf, pointer{restricted: r.Restricted, index: uint64(i), sequence: r.Sequence})
	d.end()
}

func (d *draft) addNoted(f *storage.Frame, i int) {
	r := &f.Records[i]
	d.begin(opSet)
	d.buf = sequenceKey(d.buf, f.Tenant, r.Resource)
	d.endKey()
	d.position(i)
	d.buf = binary.AppendUvarint(d.buf, r.Sequence)
	d.end()
}

// addToLists adds what a record creates to the lists of its owners, or takes it out of them.
func (d *draft) addToLists(f *storage.Frame, i int) {
	r := &f.Records[i]
	for _, scope := range storage.ListedBy(r.Resource.Object) {
		id := f.Owner(scope)
		if id == "" {
			continue
		}
		if storage.Unlists(r) {
			d.begin(opDelete)
		} else {
			d.begin(opSet)
		}
		d.buf = listPrefix(d.buf, f.Tenant, r.Resource.Object, storage.Scope{Object: scope, ID: id})
		d.entryAt(len(d.buf))
		d.buf = appendID(d.buf, r.Resource.ID)
		d.endKey()
		if !storage.Unlists(r) {
			d.position(i)
		}
		d.end()
	}
}

func (d *draft) addTranscript(f *storage.Frame, i int) {
	r := &f.Records[i]
	switch r.Transcript.Kind {
	case storage.TranscriptAppend:
		d.begin(opSet)
		d.buf = transcriptPrefix(d.buf, f.Tenant, f.SessionID)
		d.position(i)
		d.endKey()
		d.buf = appendID(d.buf, r.Resource.ID)
		d.end()
	case storage.TranscriptTruncate:
		d.begin(opDeleteRange)
		prefix := len(d.buf)
		d.buf = transcriptPrefix(d.buf, f.Tenant, f.SessionID)
		upper := keyAfter(d.buf[prefix:])
		d.buf = appendPosition(d.buf, r.Transcript.At)
		d.endKey()
		d.buf = append(d.buf, upper...)
		d.end()
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
	switch {
	case r.Kind == abi.EventTaskSubmitted:
		d.begin(opSet)
		d.buf = appendID(appendPrefix(d.buf, f.Tenant, spaceActive), r.Resource.ID)
		d.endKey()
		d.position(i)
		d.end()
	case isTerminal(r.Kind):
		d.begin(opDelete)
		d.buf = appendID(appendPrefix(d.buf, f.Tenant, spaceActive), r.Resource.ID)
		d.endKey()
		d.end()
	}
}

// addIdempotency adds the record that answers retries.
func (d *draft) addIdempotency(t storage.Tenant, i *storage.Idempotency, answer *blobRef) {
	d.begin(opSet)
	d.buf = idempotencyKey(d.buf, t, dayOf(i.Expires), i.Key)
	d.endKey()
	d.fills = append(d.fills, fill{at: len(d.buf)})
	d.buf = appendIdempotency(d.buf, i, answer)
	d.end()
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
	return ended(it, nil)
}
