package pebble

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/storage"
)

// The versions of frames, which are their first byte (docs/log-format.md,
// "Frames"). Both are read; the newest is written.
const (
	frameVersion1 = 1 // the fields follow as they are
	frameVersion  = 2 // the fields are packed
)

const (
	crcLen       = 4
	minRecordLen = 7 // flags, kind, object, id, sequence, transcript
)

// castagnoli is the polynomial that processors compute in hardware.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// The flags of a record.
const (
	flagHint = 1 << iota
	flagRestricted
	flagCreated
	flagState
	flagPayload
	flagStateBlob
	flagPayloadBlob
	flagKey
)

// CorruptError says that a value in the log is not what was written.
type CorruptError struct {
	Tenant   storage.Tenant
	Position storage.Position // of the frame, 0 when the fault is elsewhere
	Key      []byte           // the key in question, nil when there is none
	Reason   string
	// Content is set when the value lies in a file of its own.
	Content *storage.ContentError
}

// Unwrap returns what is wrong with the value's file, if it has one.
func (e *CorruptError) Unwrap() error {
	if e.Content == nil {
		return nil
	}
	return e.Content
}

// Error implements the error interface.
func (e *CorruptError) Error() string {
	if e.Position != 0 {
		return fmt.Sprintf("the log is damaged at position %s of tenant %d: %s", e.Position, e.Tenant, e.Reason)
	}
	if e.Key != nil {
		return fmt.Sprintf("the log is damaged at key %x: %s", e.Key, e.Reason)
	}
	return "the log is damaged: " + e.Reason
}

// Is makes it a [storage.ErrDamaged].
func (e *CorruptError) Is(target error) bool { return target == storage.ErrDamaged }

// errMalformed is what decoding says of bytes that no encoder wrote.
var errMalformed = errors.New("malformed value")

// blobRef stands in a record for a value that is kept in the blob store.
type blobRef struct {
	hash storage.Hash
	size uint64
}

// outline is what of a frame is not in the frame itself: which values are blobs.
// It has as many entries as the frame has records, or none when nothing is a blob.
type outline []struct{ state, payload *blobRef }

func (o outline) state(i int) *blobRef {
	if o == nil {
		return nil
	}
	return o[i].state
}

func (o outline) payload(i int) *blobRef {
	if o == nil {
		return nil
	}
	return o[i].payload
}

// appendHead appends what is before a frame's fields and never packed.
func appendHead(dst []byte, f *storage.Frame) []byte {
	return binary.BigEndian.AppendUint64(append(dst, frameVersion), uint64(f.Time.UnixNano()))
}

// appendFields appends all of f that is neither in its key nor in its head. Values
// for which refs has an entry are replaced by the reference.
func appendFields(dst []byte, f *storage.Frame, refs outline) []byte {
	dst = appendID(dst, f.WorkspaceID)
	dst = appendID(dst, f.SessionID)
	dst = appendID(dst, f.TaskID)
	dst = appendText(dst, f.Actor)
	dst = binary.AppendUvarint(dst, uint64(len(f.Records)))
	for i := range f.Records {
		dst = appendRecord(dst, &f.Records[i], refs.state(i), refs.payload(i))
	}
	return dst
}

func appendRecord(dst []byte, r *storage.Record, state, payload *blobRef) []byte {
	dst = append(dst, recordFlags(r, state, payload))
	dst = appendKind(dst, r.Kind)
	dst = appendResource(dst, r.Resource)
	dst = binary.AppendUvarint(dst, r.Sequence)
	dst = appendOperation(dst, r)
	dst = appendValue(dst, r.State, state)
	dst = appendValue(dst, r.Payload, payload)
	if r.IdempotencyKey != "" {
		dst = appendText(dst, r.IdempotencyKey)
	}
	return dst
}

func recordFlags(r *storage.Record, state, payload *blobRef) (flags byte) {
	for _, f := range [...]struct {
		set bool
		bit byte
	}{
		{r.Hint, flagHint}, {r.Restricted, flagRestricted}, {r.Created, flagCreated},
		{r.State != nil || state != nil, flagState}, {r.Payload != nil || payload != nil, flagPayload},
		{state != nil, flagStateBlob}, {payload != nil, flagPayloadBlob}, {r.IdempotencyKey != "", flagKey},
	} {
		if f.set {
			flags |= f.bit
		}
	}
	return flags
}

func appendKind(dst []byte, k abi.EventKind) []byte {
	if code, ok := codeOfKind[k]; ok {
		return binary.AppendUvarint(dst, code)
	}
	return appendText(append(dst, 0), string(k))
}

// appendOperation appends what the event does to a transcript or to a Connector's
// deliveries, or what it erases.
func appendOperation(dst []byte, r *storage.Record) []byte {
	switch {
	case r.Erase != nil:
		return appendErasure(dst, r.Erase)
	case r.Intake.Kind != storage.IntakeNone:
		return appendIntake(dst, r.Intake)
	}
	return appendTranscript(dst, r.Transcript)
}

func appendTranscript(dst []byte, op storage.TranscriptOp) []byte {
	dst = append(dst, byte(op.Kind))
	switch op.Kind {
	case storage.TranscriptTruncate:
		dst = binary.AppendUvarint(dst, uint64(op.At))
	case storage.TranscriptCopy:
		dst = appendID(binary.AppendUvarint(dst, uint64(op.At)), op.From)
	}
	return dst
}

// appendValue appends nothing for nil, a reference, or the value itself.
func appendValue(dst, v []byte, ref *blobRef) []byte {
	switch {
	case ref != nil:
		return appendRef(dst, *ref)
	case v != nil:
		return appendBytes(dst, v)
	}
	return dst
}

func appendRef(dst []byte, ref blobRef) []byte {
	return binary.AppendUvarint(append(dst, ref.hash[:]...), ref.size)
}

// frameSum begins the checksum of a frame: over the key without the position, and
// the value without the checksum. finishSum adds the position.
func frameSum(t storage.Tenant, body []byte) uint32 {
	var prefix [prefixLen]byte
	sum := crc32.Update(0, castagnoli, appendPrefix(prefix[:0], t, spaceFrame))
	return crc32.Update(sum, castagnoli, body)
}

// finishSum completes a checksum with the position, so that a frame that has moved
// to another place is found out.
func finishSum(sum uint32, p storage.Position) uint32 {
	var buf [positionLen]byte
	return crc32.Update(sum, castagnoli, appendPosition(buf[:0], p))
}

// decodeFrame reads the frame that was stored under tenant and position. It keeps
// nothing of value. Values that are blobs are nil and named by the outline.
func decodeFrame(t storage.Tenant, p storage.Position, value []byte) (*storage.Frame, outline, error) {
	if len(value) < crcLen {
		return nil, nil, &CorruptError{Tenant: t, Position: p, Reason: "the frame is cut off"}
	}
	body, sum := value[:len(value)-crcLen], binary.BigEndian.Uint32(value[len(value)-crcLen:])
	if finishSum(frameSum(t, body), p) != sum {
		return nil, nil, &CorruptError{Tenant: t, Position: p, Reason: "the checksum does not match"}
	}
	f, refs, err := decodeBody(body)
	if err != nil {
		return nil, nil, &CorruptError{Tenant: t, Position: p, Reason: err.Error()}
	}
	f.Tenant, f.First = t, p
	return f, refs, nil
}

// decoder takes a value apart. After the first fault it only yields zero values.
type decoder struct {
	rest []byte
	bad  bool
}

// take returns what a cut function finds, or the zero value after a fault.
func take[T any](d *decoder, cut func([]byte) (T, []byte, bool)) (v T) {
	if d.bad {
		return v
	}
	got, rest, ok := cut(d.rest)
	if !ok {
		d.bad = true
		return v
	}
	d.rest = rest
	return got
}

func (d *decoder) uvarint() uint64    { return take(d, cutUvarint) }
func (d *decoder) id() string         { return take(d, cutID) }
func (d *decoder) text() string       { return take(d, cutText) }
func (d *decoder) bytes() []byte      { return take(d, cutBytes) }
func (d *decoder) object() abi.Object { return take(d, cutObject) }

// knownObject reads the code of an object that has one.
func (d *decoder) knownObject() abi.Object {
	code := d.byte()
	if d.bad = d.bad || code == 0 || int(code) > len(objectCodes); d.bad {
		return ""
	}
	return objectCodes[code-1]
}

// fixed returns the next n bytes, nil after a fault.
func (d *decoder) fixed(n int) []byte {
	if d.bad || len(d.rest) < n {
		d.bad = true
		return nil
	}
	b := d.rest[:n:n]
	d.rest = d.rest[n:]
	return b
}

func (d *decoder) byte() byte {
	if b := d.fixed(1); b != nil {
		return b[0]
	}
	return 0
}

func (d *decoder) position() storage.Position {
	if b := d.fixed(positionLen); b != nil {
		return positionAt(b)
	}
	return 0
}

func (d *decoder) time() time.Time {
	if b := d.fixed(8); b != nil {
		return time.Unix(0, int64(binary.BigEndian.Uint64(b))).UTC()
	}
	return time.Time{}
}

func (d *decoder) ref() *blobRef {
	var ref blobRef
	copy(ref.hash[:], d.fixed(len(ref.hash)))
	ref.size = d.uvarint()
	return &ref
}

// end reports whether everything was read and nothing was wrong.
func (d *decoder) end() error {
	if d.bad || len(d.rest) != 0 {
		return errMalformed
	}
	return nil
}

// decodeBody reads a frame without its checksum.
func decodeBody(body []byte) (*storage.Frame, outline, error) {
	at, fields, err := openBody(body)
	if err != nil {
		return nil, nil, err
	}
	return decodeFields(at, fields)
}

// openBody takes a frame's time from its head and returns its fields, unpacked, as
// bytes of their own.
func openBody(body []byte) (at time.Time, fields []byte, err error) {
	d := &decoder{rest: body}
	version := d.byte()
	at = d.time()
	switch {
	case d.bad:
		return at, nil, errMalformed
	case version == frameVersion1:
		return at, clone(d.rest), nil
	case version == frameVersion:
		fields, err = unpack(d.rest)
		return at, fields, err
	}
	return at, nil, fmt.Errorf("frame version %d is not known", version)
}

// decodeFields reads what appendFields wrote. The frame's values are parts of
// fields.
func decodeFields(at time.Time, fields []byte) (*storage.Frame, outline, error) {
	d := &decoder{rest: fields}
	f := &storage.Frame{Time: at}
	f.WorkspaceID, f.SessionID, f.TaskID = d.id(), d.id(), d.id()
	f.Actor = d.text()
	n := d.uvarint()
	if n == 0 || n > uint64(len(d.rest)/minRecordLen) {
		return nil, nil, errMalformed
	}
	f.Records = make([]storage.Record, n)
	var refs outline
	for i := range f.Records {
		state, payload := d.record(&f.Records[i])
		if state == nil && payload == nil {
			continue
		}
		if refs == nil {
			refs = make(outline, n)
		}
		refs[i].state, refs[i].payload = state, payload
	}
	return f, refs, d.end()
}

func (d *decoder) record(r *storage.Record) (state, payload *blobRef) {
	flags := d.byte()
	r.Hint, r.Restricted, r.Created = flags&flagHint != 0, flags&flagRestricted != 0, flags&flagCreated != 0
	r.Kind = d.kind()
	r.Resource = abi.ResourcePointer{Object: d.object(), ID: d.id()}
	r.Sequence = d.uvarint()
	d.operation(r)
	r.State, state = d.value(flags&flagState != 0, flags&flagStateBlob != 0)
	r.Payload, payload = d.value(flags&flagPayload != 0, flags&flagPayloadBlob != 0)
	if flags&flagKey != 0 {
		r.IdempotencyKey = d.text()
		d.bad = d.bad || r.IdempotencyKey == ""
	}
	return state, payload
}

func (d *decoder) kind() abi.EventKind {
	code := d.uvarint()
	if code > uint64(len(kindCodes)) {
		d.bad = true
	}
	if d.bad || code != 0 {
		return d.knownKind(code)
	}
	k := abi.EventKind(d.text())
	if _, known := codeOfKind[k]; known {
		d.bad = true
	}
	return k
}

func (d *decoder) knownKind(code uint64) abi.EventKind {
	if d.bad {
		return ""
	}
	return kindCodes[code-1]
}

// operation reads what appendOperation wrote.
func (d *decoder) operation(r *storage.Record) {
	switch code := d.byte(); {
	case code == eraseCode:
		r.Erase = d.erasure()
	case code > intakeCode:
		r.Intake = d.intake(storage.IntakeKind(code - intakeCode))
	default:
		r.Transcript = d.transcript(storage.TranscriptKind(code))
	}
}

func (d *decoder) transcript(kind storage.TranscriptKind) (op storage.TranscriptOp) {
	op.Kind = kind
	switch op.Kind {
	case storage.TranscriptNone, storage.TranscriptAppend:
	case storage.TranscriptTruncate:
		op.At = storage.Position(d.uvarint())
	case storage.TranscriptCopy:
		op.At, op.From = storage.Position(d.uvarint()), d.id()
	default:
		d.bad = true
	}
	return op
}

// value reads what appendValue wrote for a value that the flags describe.
func (d *decoder) value(present, blob bool) ([]byte, *blobRef) {
	switch {
	case blob && present:
		return nil, d.ref()
	case blob:
		d.bad = true
	case present:
		return d.bytes(), nil
	}
	return nil, nil
}
