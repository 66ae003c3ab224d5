package pebble

import (
	"encoding/binary"
	"strings"

	"github.com/oklog/ulid/v2"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/storage"
)

// The spaces of keys (docs/log-format.md, "Keys"). A key is the tenant, the space
// and what the space says.
const (
	spaceActive      = 'a'
	spaceReferred    = 'b' // blobs
	spaceChunk       = 'c'
	spaceSeen        = 'd'
	spaceFrame       = 'e'
	spaceGap         = 'g' // in the system tenant only
	spaceIdempotency = 'i'
	spaceCount       = 'k' // marks in lists
	spaceList        = 'l'
	spaceTranscript  = 'm'
	spacePending     = 'p'
	spaceWords       = 'n' // of Memories
	spaceSequence    = 'q'
	spaceResource    = 'r'
	spaceSession     = 's'
	spaceTask        = 't'
	spaceUser        = 'u'
	spaceVolume      = 'v' // what Workspaces take
	spaceWorkspace   = 'w' // frames of a folder's time in format 1 only
	spaceMeta        = 'x' // in the system tenant only
	spaceDeleted     = 'z'
)

// A resource has up to two pointers, which are neighbours.
const (
	suffixOrigin = 0 // the event that brought it into being
	suffixLatest = 1 // the last later event that stated it
)

const (
	prefixLen   = 5  // tenant and space
	positionLen = 8  // a position, big-endian
	ulidLen     = 16 // a ULID
)

// objectCodes gives the objects their numbers in keys and records, from 1. The
// order is part of the format: new objects go to the end. Objects that are not here are text,
// and stay so (abi.ObjectReference).
var objectCodes = [...]abi.Object{
	abi.ObjectPersona, abi.ObjectWorkspace, abi.ObjectSession, abi.ObjectTask, abi.ObjectBranch,
	abi.ObjectMessage, abi.ObjectArtifact, abi.ObjectAgentCard, abi.ObjectReceipt, abi.ObjectMemory,
	abi.ObjectVault, abi.ObjectConnector, abi.ObjectSkill, abi.ObjectOutcome, abi.ObjectQuota,
	abi.ObjectAPIKey, abi.ObjectTenant, abi.ObjectEvent, abi.ObjectState, abi.ObjectReceiptBatch,
	abi.ObjectPermissionRequest, abi.ObjectDelivery, abi.ObjectDeadLetter, abi.ObjectVaultSecret,
}

var (
	codeOfObject = numberObjects(func(o abi.Object) string { return string(o) })
	codeOfPrefix = numberObjects(abi.IDPrefix)
)

// numberObjects maps a name of each object to its code; empty names are left out.
func numberObjects(name func(abi.Object) string) map[string]byte {
	codes := make(map[string]byte, len(objectCodes))
	for i, o := range objectCodes {
		if n := name(o); n != "" {
			codes[n] = byte(i + 1)
		}
	}
	return codes
}

// appendPrefix appends what every key of a tenant's space starts with.
func appendPrefix(dst []byte, t storage.Tenant, space byte) []byte {
	return append(binary.BigEndian.AppendUint32(dst, uint32(t)), space)
}

// appendPosition appends p so that positions sort in their order.
func appendPosition(dst []byte, p storage.Position) []byte {
	return binary.BigEndian.AppendUint64(dst, uint64(p))
}

// positionAt reads the position that b starts with; b must be long enough.
func positionAt(b []byte) storage.Position { return storage.Position(binary.BigEndian.Uint64(b)) }

// lastPosition reads the position that a key ends with.
func lastPosition(key []byte) storage.Position { return positionAt(key[len(key)-positionLen:]) }

// frameKey returns the key of the frame that begins at p.
func frameKey(dst []byte, t storage.Tenant, p storage.Position) []byte {
	return appendPosition(appendPrefix(dst, t, spaceFrame), p)
}

// resourceKey returns the key of one of the two pointers of a resource.
func resourceKey(dst []byte, t storage.Tenant, r abi.ResourcePointer, suffix byte) []byte {
	return append(appendResource(appendPrefix(dst, t, spaceResource), r), suffix)
}

// sequenceKey returns the key of a resource's highest unstated sequence.
func sequenceKey(dst []byte, t storage.Tenant, r abi.ResourcePointer) []byte {
	return appendResource(appendPrefix(dst, t, spaceSequence), r)
}

// transcriptPrefix returns what the transcript keys of a session start with.
func transcriptPrefix(dst []byte, t storage.Tenant, session string) []byte {
	return appendID(appendPrefix(dst, t, spaceTranscript), session)
}

// idempotencyKey returns the key of a record that expires on the given day.
func idempotencyKey(dst []byte, t storage.Tenant, day uint32, k storage.Key) []byte {
	dst = binary.BigEndian.AppendUint32(appendPrefix(dst, t, spaceIdempotency), day)
	return append(dst, k[:]...)
}

// seenKey returns the key of a delivery that was received in the given bucket.
func seenKey(dst []byte, t storage.Tenant, bucket uint32, k storage.DeliveryKey) []byte {
	dst = binary.BigEndian.AppendUint32(appendPrefix(dst, t, spaceSeen), bucket)
	return append(dst, k[:]...)
}

// pendingPrefix returns what the keys of a Connector's pending events start with.
func pendingPrefix(dst []byte, t storage.Tenant, connector string) []byte {
	return appendID(appendPrefix(dst, t, spacePending), connector)
}

// metaKey returns the key of one fact about the whole folder.
func metaKey(name string) []byte {
	return append(appendPrefix(nil, storage.SystemTenant, spaceMeta), name...)
}

// gapKey returns the key of a gap that begins at p.
func gapKey(dst []byte, p storage.Position) []byte {
	return appendPosition(appendPrefix(dst, storage.SystemTenant, spaceGap), p)
}

// userPrefix returns what the keys of those start with that were made from a resource.
func userPrefix(dst []byte, t storage.Tenant, source abi.ResourcePointer) []byte {
	return appendResource(appendPrefix(dst, t, spaceUser), source)
}

// referredPrefix returns what the keys of those start with that refer to a blob.
func referredPrefix(dst []byte, t storage.Tenant, h storage.Hash) []byte {
	return append(appendPrefix(dst, t, spaceReferred), h[:]...)
}

// tenantOf returns the tenant that a key belongs to.
func tenantOf(key []byte) storage.Tenant { return storage.Tenant(binary.BigEndian.Uint32(key)) }

// keyAfter returns the smallest key that does not start with prefix. The prefix
// must hold a byte other than 0xff, which every tenant's space does.
func keyAfter(prefix []byte) []byte {
	end := append([]byte(nil), prefix...)
	for i := len(end) - 1; i >= 0; i-- {
		if end[i]++; end[i] != 0 {
			return end[:i+1]
		}
	}
	return nil
}

// appendResource appends the object and the id of r.
func appendResource(dst []byte, r abi.ResourcePointer) []byte {
	return appendID(appendObject(dst, r.Object), r.ID)
}

// appendObject appends the object's code, or 0 and its name.
func appendObject(dst []byte, o abi.Object) []byte {
	if code, ok := codeOfObject[string(o)]; ok {
		return append(dst, code)
	}
	return appendText(append(dst, 0), string(o))
}

// cutObject reads what appendObject wrote.
func cutObject(src []byte) (o abi.Object, rest []byte, ok bool) {
	if len(src) == 0 || int(src[0]) > len(objectCodes) {
		return "", nil, false
	}
	if src[0] != 0 {
		return objectCodes[src[0]-1], src[1:], true
	}
	name, rest, ok := cutText(src[1:])
	if _, known := codeOfObject[name]; known {
		return "", nil, false
	}
	return abi.Object(name), rest, ok
}

// appendID appends id in its compact form when it has one: the code of the object
// that its prefix belongs to and the 16 bytes of its ULID. That of a Session's value
// is followed by the value's name. Any other id is a 0 byte, its length and its text.
func appendID(dst []byte, id string) []byte {
	if code, u, ok := compactID(id); ok {
		return append(append(dst, code), u[:]...)
	}
	if u, name, ok := splitStateID(id); ok {
		return appendText(append(append(dst, stateCode), u[:]...), name)
	}
	return appendText(append(dst, 0), id)
}

// stateCode begins the compact form of the id of a Session's value.
const stateCode = 0x80

// splitStateID splits the id of a Session's value, such as state_01….name, into the
// ULID of the Session and the name.
func splitStateID(id string) (u ulid.ULID, name string, ok bool) {
	prefix := abi.IDPrefix(abi.ObjectState)
	dot := len(prefix) + ulid.EncodedSize
	if len(id) <= dot || id[dot] != '.' || id[:len(prefix)] != prefix {
		return u, "", false
	}
	u, ok = parseULID(id[len(prefix):dot])
	return u, id[dot+1:], ok
}

// cutStateID reads what follows stateCode.
func cutStateID(src []byte) (id string, rest []byte, ok bool) {
	if len(src) < ulidLen {
		return "", nil, false
	}
	name, rest, ok := cutText(src[ulidLen:])
	return abi.IDPrefix(abi.ObjectState) + ulid.ULID(src[:ulidLen]).String() + "." + name, rest, ok
}

// compactID splits an id into the code of its prefix and its ULID. ok is false
// unless joining them gives the very same text again.
func compactID(id string) (code byte, u ulid.ULID, ok bool) {
	cut := strings.IndexByte(id, '_') + 1
	if u, ok = parseULID(id[cut:]); !ok {
		return 0, u, false
	}
	code, ok = codeOfPrefix[id[:cut]]
	return code, u, ok
}

// digitValues are those of the characters that ULIDs are written with; others have 0xff.
var digitValues = func() (values [256]byte) {
	for i := range values {
		values[i] = 0xff
	}
	for i, c := range []byte(ulid.Encoding) {
		values[c] = byte(i)
	}
	return values
}()

// parseULID reads a ULID, if s is one as it is written: digits and capital letters, and
// none that would be read as another. Every id of every key comes by here.
func parseULID(s string) (u ulid.ULID, ok bool) {
	if len(s) != ulid.EncodedSize || s[0] > '7' {
		return u, false
	}
	var high, low uint64
	seen := byte(0)
	for i := range len(s) {
		v := digitValues[s[i]]
		seen |= v
		high = high<<5 | low>>59
		low = low<<5 | uint64(v)
	}
	binary.BigEndian.PutUint64(u[:8], high)
	binary.BigEndian.PutUint64(u[8:], low)
	return u, seen < 32
}

// cutID reads what appendID wrote. An id that has a compact form is refused in the
// long one, so that every id has one encoding.
func cutID(src []byte) (id string, rest []byte, ok bool) {
	switch {
	case len(src) == 0:
		return "", nil, false
	case src[0] == 0:
		id, rest, ok = cutText(src[1:])
		_, _, compact := compactID(id)
		_, _, state := splitStateID(id)
		return id, rest, ok && !compact && !state
	case src[0] == stateCode:
		return cutStateID(src[1:])
	case int(src[0]) > len(objectCodes):
		return "", nil, false
	}
	prefix := abi.IDPrefix(objectCodes[src[0]-1])
	if len(src) < 1+ulidLen || prefix == "" {
		return "", nil, false
	}
	var buf [48]byte
	n := copy(buf[:], prefix)
	_ = ulid.ULID(src[1 : 1+ulidLen]).MarshalTextTo(buf[n : n+ulid.EncodedSize])
	return string(buf[:n+ulid.EncodedSize]), src[1+ulidLen:], true
}

// appendText appends the length of s and s.
func appendText(dst []byte, s string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}

// cutText reads what appendText wrote.
func cutText(src []byte) (s string, rest []byte, ok bool) {
	b, rest, ok := cutBytes(src)
	return string(b), rest, ok
}

// appendBytes appends the length of b and b.
func appendBytes(dst, b []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(b))), b...)
}

// cutBytes reads what appendBytes wrote. The result is part of src.
func cutBytes(src []byte) (b, rest []byte, ok bool) {
	n, rest, ok := cutUvarint(src)
	if !ok || n > uint64(len(rest)) {
		return nil, nil, false
	}
	return rest[:n:n], rest[n:], true
}

// cutUvarint reads an unsigned varint in its shortest form; others are refused.
func cutUvarint(src []byte) (n uint64, rest []byte, ok bool) {
	n, size := binary.Uvarint(src)
	if size <= 0 || (size > 1 && src[size-1] == 0) {
		return 0, nil, false
	}
	return n, src[size:], true
}

// scopeSpaceOf is an index of frames by one kind of owner.
type scopeSpaceOf struct {
	space  byte
	object abi.Object
	owner  func(*storage.Frame) string
}

// scopeSpaces lists the indexes of frames by owner. The last one is that of
// Workspaces, whose newer frames are found by chunks.
var scopeSpaces = [...]scopeSpaceOf{
	{spaceSession, abi.ObjectSession, func(f *storage.Frame) string { return f.SessionID }},
	{spaceTask, abi.ObjectTask, func(f *storage.Frame) string { return f.TaskID }},
	{spaceWorkspace, abi.ObjectWorkspace, func(f *storage.Frame) string { return f.WorkspaceID }},
}

// scopePrefix returns what the index keys of a scope start with.
func scopePrefix(dst []byte, t storage.Tenant, space byte, id string) []byte {
	return appendID(appendPrefix(dst, t, space), id)
}

// listPrefix returns what the keys of a list start with.
func listPrefix(dst []byte, t storage.Tenant, o abi.Object, s storage.Scope) []byte {
	dst = appendObject(appendPrefix(dst, t, spaceList), o)
	return appendID(append(dst, codeOfObject[string(s.Object)]), s.ID)
}
