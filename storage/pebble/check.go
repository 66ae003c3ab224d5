package pebble

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/cespare/xxhash/v2"
	"github.com/cockroachdb/pebble/v2"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/storage"
)

// maxProblems is how many problems a report describes; the rest are counted.
const maxProblems = 100

// progressEvery is how many keys pass between two calls of a progress function.
const progressEvery = 4096

// inspection is a running check of one snapshot.
type inspection struct {
	store    *Store
	ctx      context.Context // of the one call that the inspection lives for
	snap     *pebble.Snapshot
	report   storage.Report
	progress func(storage.Progress)
	at       storage.Progress
	counted  bool // the marks in lists count what the snapshot has
	prepared bool // what refers to what has keys all over the log
	// measured is up to where tallies have what Workspaces take, and volume what they take by their frames up to there.
	measured storage.Position
	volume   map[space]int64
}

// fault adds a fault to the report.
func (c *inspection) fault(format string, args ...any) {
	if c.report.Faults++; len(c.report.Problems) < maxProblems {
		c.report.Problems = append(c.report.Problems, fmt.Sprintf(format, args...))
	}
}

// step counts one key and reports progress now and then.
func (c *inspection) step() error {
	c.report.Keys++
	if c.at.Done++; c.at.Done%progressEvery != 0 {
		return nil
	}
	c.announce()
	return context.Cause(c.ctx)
}

func (c *inspection) phase(name string) {
	c.at = storage.Progress{Phase: name}
	c.announce()
}

func (c *inspection) announce() {
	if c.progress != nil {
		c.progress(c.at)
	}
}

// inspect runs f on a snapshot of what is durable. The store goes on working.
func (s *Store) inspect(ctx context.Context, progress func(storage.Progress), f func(*inspection) error) (storage.Report, error) {
	release, err := s.use()
	if err != nil {
		return storage.Report{}, err
	}
	defer release()
	s.blobs.removing.RLock() // what the snapshot refers to has to stay
	defer s.blobs.removing.RUnlock()
	c := &inspection{store: s, ctx: ctx, progress: progress, snap: s.db.NewSnapshot(), volume: map[space]int64{}}
	err = c.begin()
	if err == nil {
		err = s.mark.wait(ctx, c.report.Last, &s.fail)
	}
	if err == nil {
		err = f(c)
	}
	return c.report, errors.Join(err, c.snap.Close())
}

func (c *inspection) begin() error {
	for name, p := range map[string]*storage.Position{metaLast: &c.report.Last, metaFloor: &c.report.Floor, metaMeasured: &c.measured} {
		v, ok, err := lookup(c.snap, metaKey(name))
		if err != nil {
			return err
		}
		if ok && len(v) == positionLen {
			*p = positionAt(v)
		}
	}
	_, pending, err := lookup(c.snap, metaKey(metaPrepared))
	if err != nil {
		return err
	}
	format, _, err := lookup(c.snap, metaKey(metaFormat))
	if err != nil {
		return err
	}
	c.prepared = !pending && len(format) == 4 && binary.BigEndian.Uint32(format) > formatUnprepared
	v, ok, err := lookup(c.snap, metaKey(metaCounted))
	c.counted = ok && len(v) == positionLen+ulidLen && positionAt(v) == c.report.Last
	return err
}

// Check implements [storage.Checker]. It reads the whole log and tests it against every
// invariant that docs/log-format.md states: checksums, no gap and no overlap, every projection
// and index pointing to what it says and every event found by them, every blob there and
// unchanged. progress, which may be nil, is called now and then. The error is about the check
// itself; what is wrong with the data is in the report. Memory does not grow with the log.
func (s *Store) Check(ctx context.Context, progress func(storage.Progress)) (storage.Report, error) {
	return s.inspect(ctx, progress, (*inspection).check)
}

func (c *inspection) check() error {
	c.phase("frames")
	if err := c.checkFrames(); err != nil {
		return err
	}
	if err := c.checkVolumes(); err != nil {
		return err
	}
	c.phase("projections")
	if err := c.checkProjections(); err != nil {
		return err
	}
	c.phase("blobs")
	return c.checkBlobs()
}

// tiling finds out in constant memory whether frames, seen in any order, cover
// every position exactly once: the sum of a hash over where they begin must equal
// that over where they end, save for the two ends of the log.
type tiling struct{ begins, ends uint64 }

func hashPosition(p storage.Position) uint64 {
	var buf [positionLen]byte
	return xxhash.Sum64(appendPosition(buf[:0], p))
}

func (t *tiling) add(first, last storage.Position) {
	t.begins += hashPosition(first)
	t.ends += hashPosition(last + 1)
}

// addGaps adds what was erased.
func (t *tiling) addGaps(r pebble.Reader) error {
	return eachGap(r, 0, func(g span) error {
		t.add(g.first, g.last)
		return nil
	})
}

// covers reports whether the frames cover everything after floor up to last.
func (t *tiling) covers(floor, last storage.Position) bool {
	return t.begins+hashPosition(last+1) == t.ends+hashPosition(floor+1)
}

// checkGapless reports whether the frames of a database cover the log.
func checkGapless(r pebble.Reader) error {
	var tiles tiling
	err := eachTenant(r, func(t storage.Tenant) error {
		prefix := appendPrefix(nil, t, spaceFrame)
		return scan(r, prefix, keyAfter(prefix), func(key, value []byte) error {
			f, _, err := decodeFrame(t, lastPosition(key), value)
			if err == nil {
				tiles.add(f.First, lastOf(f))
			}
			return err
		})
	})
	if err != nil {
		return err
	}
	if err := tiles.addGaps(r); err != nil {
		return err
	}
	var ends [2]storage.Position
	for i, name := range [...]string{metaFloor, metaLast} {
		v, _, err := lookup(r, metaKey(name))
		if err != nil {
			return err
		}
		if len(v) == positionLen {
			ends[i] = positionAt(v)
		}
	}
	if !tiles.covers(ends[0], ends[1]) {
		return &CorruptError{Reason: fmt.Sprintf("not every position from %s to %s is there", ends[0]+1, ends[1])}
	}
	return nil
}

func (c *inspection) checkFrames() error {
	var tiles tiling
	err := eachTenant(c.snap, func(t storage.Tenant) error {
		c.report.Tenants++
		end := storage.Position(0) // of the frame before
		return c.eachFrame(t, func(f *storage.Frame, refs outline) error {
			if f.First <= max(end, c.report.Floor) {
				c.fault("the frame at %s of tenant %d overlaps what comes before it", f.First, t)
			}
			end = lastOf(f)
			tiles.add(f.First, end)
			return c.checkFrame(f, refs)
		})
	})
	if err == nil {
		err = tiles.addGaps(c.snap)
	}
	if err == nil && !tiles.covers(c.report.Floor, c.report.Last) {
		c.fault("the log does not cover every position from %s to %s exactly once", c.report.Floor+1, c.report.Last)
	}
	return err
}

// eachFrame calls f with every frame of a tenant that decodes.
func (c *inspection) eachFrame(t storage.Tenant, f func(*storage.Frame, outline) error) error {
	prefix := appendPrefix(nil, t, spaceFrame)
	return scan(c.snap, prefix, keyAfter(prefix), func(key, value []byte) error {
		if err := c.step(); err != nil {
			return err
		}
		if len(key) != prefixLen+positionLen {
			c.fault("key %x is malformed", key)
			return nil
		}
		frame, refs, err := decodeFrame(t, lastPosition(key), value)
		if err != nil {
			c.fault("%s", err)
			return nil
		}
		c.report.Frames++
		c.report.Events += uint64(len(frame.Records))
		if err := c.count(frame, refs, len(value)); err != nil {
			return err
		}
		return f(frame, refs)
	})
}

// checkFrame looks for everything that must follow from a frame.
func (c *inspection) checkFrame(f *storage.Frame, refs outline) error {
	for _, s := range ownIndexes() {
		if id := s.owner(f); id != "" {
			if err := c.checkIndexKey(f, s.space, id); err != nil {
				return err
			}
		}
	}
	if f.WorkspaceID != "" {
		if err := c.checkWorkspaceKey(f); err != nil {
			return err
		}
	}
	for i := range f.Records {
		if err := c.checkRecord(f, i, refs); err != nil {
			return err
		}
	}
	return nil
}

func (c *inspection) checkIndexKey(f *storage.Frame, space byte, id string) error {
	v, ok, err := lookup(c.snap, appendPosition(scopePrefix(nil, f.Tenant, space, id), f.First))
	if err != nil {
		return err
	}
	if n, rest, valid := cutUvarint(v); !ok || !valid || len(rest) > 0 || n != uint64(len(f.Records)) {
		c.fault("the frame at %s is not in index %c of %s", f.First, space, id)
	}
	return nil
}

func (c *inspection) checkRecord(f *storage.Frame, i int, refs outline) error {
	r := &f.Records[i]
	for _, ref := range []*blobRef{refs.state(i), refs.payload(i)} {
		c.checkRef(ref, f.First)
	}
	at := f.First + storage.Position(i)
	key, floor := resourceKey(nil, f.Tenant, r.Resource, suffixLatest), at
	switch {
	case r.State == nil && refs.state(i) == nil:
		return nil
	case r.Created:
		key[len(key)-1] = suffixOrigin
	}
	v, _, err := lookup(c.snap, key)
	if err != nil {
		return err
	}
	if p, err := decodePointer(v); err != nil || p.position() < floor {
		c.fault("the event at %s states %s, but its pointer lies before it", at, r.Resource.ID)
	}
	return nil
}

// checkRef reports a blob that is not there. Its content is checked once, with all
// the others.
func (c *inspection) checkRef(ref *blobRef, p storage.Position) {
	if ref == nil {
		return
	}
	b := c.store.blobs
	info, err := b.fs.Stat(b.name(ref.hash))
	if err != nil || uint64(info.Size()) != ref.size {
		c.fault("the frame at %s needs blob %x of %d bytes, which is missing or has another size", p, ref.hash, ref.size)
	}
}

// checkProjections looks at everything that is not a frame.
func (c *inspection) checkProjections() error {
	return eachTenant(c.snap, func(t storage.Tenant) error {
		return scan(c.snap, appendPrefix(nil, t, 0), keyAfter(binary.BigEndian.AppendUint32(nil, uint32(t))), func(key, value []byte) error {
			if key[prefixLen-1] == spaceFrame {
				return nil // it was seen before
			}
			if err := c.step(); err != nil {
				return err
			}
			fault, err := c.checkPair(t, key, value)
			if fault != "" {
				c.fault("key %x: %s", key, fault)
			}
			return err
		})
	})
}

// checkPair returns what is wrong with a pair, "" when nothing is. The error is
// about reading.
func (c *inspection) checkPair(t storage.Tenant, key, value []byte) (fault string, err error) {
	k, ok := parseKey(key)
	if !ok {
		return "it is malformed", nil
	}
	switch k.space {
	case spaceSession, spaceTask, spaceWorkspace:
		return c.checkIndex(t, k)
	case spaceChunk:
		return c.checkChunk(t, k, value)
	case spaceResource:
		return c.checkPointer(t, k, value)
	case spaceSequence:
		return c.checkNoted(t, k, value)
	case spaceList:
		return c.checkListed(t, k, value)
	case spaceTranscript:
		return c.checkEntry(t, value)
	case spaceActive:
		return c.checkActive(t, k)
	case spaceCount:
		return c.checkMark(key, k, value)
	case spaceWords:
		return c.checkWords(t, k, value)
	case spaceIdempotency:
		return c.checkIdempotency(t, k, value)
	case spaceSeen:
		return c.checkSeen(t, k, value)
	case spacePending:
		return c.checkPending(t, k, value)
	case spaceUser:
		return c.checkUser(t, key)
	case spaceDeleted:
		return c.checkDeleted(t, k)
	case spaceReferred:
		return c.checkReferred(t, key)
	case spaceVolume:
		return c.checkContent(t, k, value)
	}
	return "", nil
}

// removed reports whether the event at p was removed. What cannot be read was not.
func (c *inspection) removed(p storage.Position) bool {
	if p <= c.report.Floor {
		return true
	}
	_, gap, err := gapAt(c.snap, p)
	return gap && err == nil
}

// frameAt returns the frame that begins at p, nil if it cannot be read.
func (c *inspection) frameAt(t storage.Tenant, p storage.Position) (*storage.Frame, outline, error) {
	v, ok, err := lookup(c.snap, frameKey(nil, t, p))
	if err != nil || !ok {
		return nil, nil, err
	}
	f, refs, err := decodeFrame(t, p, v)
	if err != nil {
		return nil, nil, nil // reported with the frames
	}
	return f, refs, nil
}

func (c *inspection) checkIndex(t storage.Tenant, k parsedKey) (string, error) {
	f, _, err := c.frameAt(t, k.position)
	if err != nil {
		return "", err
	}
	for _, s := range scopeSpaces {
		if s.space == k.space && f != nil && s.owner(f) == k.id {
			return "", nil
		}
	}
	return "it names a frame that is not there or not of this owner", nil
}

func (c *inspection) checkPointer(t storage.Tenant, k parsedKey, value []byte) (string, error) {
	p, err := decodePointer(value)
	if err != nil {
		return err.Error(), nil
	}
	if c.removed(p.position()) {
		return c.checkRemoved(t, k, p)
	}
	f, refs, err := c.frameAt(t, p.first)
	if err != nil {
		return "", err
	}
	if p.moved() || f == nil || p.index >= uint64(len(f.Records)) {
		return "it names an event that is not there", nil
	}
	r := &f.Records[p.index]
	if r.Resource != k.resource() || r.Sequence != p.sequence || r.Restricted != p.restricted ||
		r.Created != (k.suffix == suffixOrigin) || (r.State == nil && refs.state(int(p.index)) == nil) {
		return "it names an event that does not state this resource so", nil
	}
	return "", nil
}

// checkRemoved looks at a pointer whose event retention has removed. It must hold
// the value, unless a later event states the resource.
func (c *inspection) checkRemoved(t storage.Tenant, k parsedKey, p pointer) (string, error) {
	c.report.Kept++
	c.checkRef(p.blob, p.first)
	if p.moved() {
		return "", nil
	}
	if k.suffix == suffixOrigin {
		_, later, err := lookup(c.snap, resourceKey(nil, t, k.resource(), suffixLatest))
		if later || err != nil {
			return "", err
		}
	}
	return "its event was removed, and its value with it", nil
}

func (c *inspection) checkNoted(t storage.Tenant, k parsedKey, value []byte) (string, error) {
	n, err := decodeNoted(value)
	if err != nil {
		return err.Error(), nil
	}
	if c.removed(n.position) {
		c.report.Kept++
		return "", nil
	}
	r, err := c.recordAt(t, n.position)
	if err != nil {
		return "", err
	}
	if r == nil || r.Resource != k.resource() || r.Sequence != n.sequence {
		return "it names an event that is not of this resource", nil
	}
	return "", nil
}

// recordAt returns the record at p, nil if there is none.
func (c *inspection) recordAt(t storage.Tenant, p storage.Position) (*storage.Record, error) {
	it, err := c.snap.NewIter(&pebble.IterOptions{LowerBound: frameKey(nil, t, 0), UpperBound: frameKey(nil, t, p+1)})
	if err != nil {
		return nil, err
	}
	var r *storage.Record
	if it.Last() {
		f, _, err := decodeFrame(t, lastPosition(it.Key()), it.Value())
		if err == nil && p <= lastOf(f) { // damage is reported with the frames
			r = &f.Records[p-f.First]
		}
	}
	return r, ended(it, nil)
}

func (c *inspection) checkListed(t storage.Tenant, k parsedKey, value []byte) (string, error) {
	v, ok, err := lookup(c.snap, resourceKey(nil, t, k.resource(), suffixOrigin))
	if err != nil {
		return "", err
	}
	p, err := decodePointer(v)
	if !ok || err != nil || len(value) != positionLen || positionAt(value) != p.position() {
		return "it lists a resource that does not exist or has another origin", nil
	}
	return "", nil
}

func (c *inspection) checkEntry(t storage.Tenant, value []byte) (string, error) {
	id, rest, ok := cutID(value)
	if !ok || len(rest) > 0 {
		return errMalformed.Error(), nil
	}
	message := abi.ResourcePointer{Object: abi.ObjectMessage, ID: id}
	for _, suffix := range []byte{suffixOrigin, suffixLatest} {
		_, ok, err := lookup(c.snap, resourceKey(nil, t, message, suffix))
		if ok || err != nil {
			return "", err
		}
	}
	return "it lists a Message that does not exist", nil
}

// checkActive looks at the last event that states the Task: it must not be terminal.
func (c *inspection) checkActive(t storage.Tenant, k parsedKey) (string, error) {
	task := abi.ResourcePointer{Object: abi.ObjectTask, ID: k.id}
	for _, suffix := range []byte{suffixLatest, suffixOrigin} {
		v, ok, err := lookup(c.snap, resourceKey(nil, t, task, suffix))
		if err != nil {
			return "", err
		}
		if !ok {
			continue
		}
		p, _ := decodePointer(v) // damage is reported with the pointers
		r, err := c.recordAt(t, p.position())
		if r != nil && isTerminal(r.Kind) {
			return "the Task has ended", err
		}
		return "", err
	}
	return "there is no such Task", nil
}

func isTerminal(k abi.EventKind) bool {
	return k == abi.EventTaskCompleted || k == abi.EventTaskFailed || k == abi.EventTaskCanceled
}

func (c *inspection) checkIdempotency(t storage.Tenant, k parsedKey, value []byte) (string, error) {
	i, answer, err := decodeIdempotency(k.key, value)
	if err != nil {
		return err.Error(), nil
	}
	c.checkRef(answer, i.Position)
	if dayOf(i.Expires) != k.day {
		return "it lies under another day than that on which it expires", nil
	}
	if c.removed(i.Position) {
		return "", nil
	}
	r, err := c.recordAt(t, i.Position)
	if err == nil && r == nil {
		return "it answers with an event that is not there", nil
	}
	return "", err
}

func (c *inspection) checkSeen(t storage.Tenant, k parsedKey, value []byte) (string, error) {
	v, err := decodeSeen(value)
	if err != nil || c.removed(v.position) {
		return text(err), nil
	}
	r, err := c.recordAt(t, v.position)
	if err == nil && (r == nil || r.Intake.Kind != storage.IntakeReceive || r.Intake.Delivery != storage.DeliveryKey(k.key[:len(r.Intake.Delivery)])) {
		return "it names an event that did not receive this delivery", nil
	}
	return "", err
}

func (c *inspection) checkPending(t storage.Tenant, k parsedKey, value []byte) (string, error) {
	if k.position == tallyAt {
		return "", nil
	}
	r, err := c.recordAt(t, k.position)
	if err != nil {
		return "", err
	}
	if len(value) > 0 || r == nil || r.Intake.Connector != k.id || r.Intake.Kind != storage.IntakeReceive && r.Intake.Kind != storage.IntakePend {
		return "it names an event that has not made anything pending", nil
	}
	return "", nil
}

// checkMark counts again what a mark counts.
func (c *inspection) checkMark(key []byte, k parsedKey, value []byte) (string, error) {
	if !c.counted {
		return "", nil // an older program has written since; the next start makes them anew
	}
	stated, rest, ok := cutUvarint(value)
	list := k.list()
	marks, entry := marksOf(nil, list, k.suffix), appendID(nil, k.id)
	if !ok || len(rest) > 0 || !isCounted(list, entry) {
		return errMalformed.Error(), nil
	}
	from, err := entryBefore(c.snap, marks, key)
	if err != nil {
		return "", err
	}
	n, err := c.countBetween(list, k.suffix-1, from, entry)
	if err == nil && n != stated {
		return fmt.Sprintf("it counts %d, and there are %d", stated, n), nil
	}
	return "", err
}

// countBetween adds up the marks of a level, or counts the entries on level 0, that lie after one
// entry of a list, nil for the beginning, up to and with another.
func (c *inspection) countBetween(list []byte, level byte, after, upTo []byte) (n uint64, err error) {
	prefix := list
	if level > 0 {
		prefix = marksOf(nil, list, level)
	}
	lower := append(clone(prefix), firstCounted(list)...)
	if after != nil {
		lower = append(append(clone(prefix), after...), pastID)
	}
	return n, scan(c.snap, lower, append(append(clone(prefix), upTo...), pastID), func(key, value []byte) error {
		if level == 0 && isEntry(key) {
			n++
		} else if level > 0 {
			count, _, _ := cutUvarint(value)
			n += count
		}
		return c.step()
	})
}

// entryBefore returns what follows prefix in the last key before one, nil for none.
func entryBefore(r pebble.Reader, prefix, key []byte) (entry []byte, err error) {
	it, err := r.NewIter(&pebble.IterOptions{LowerBound: prefix, UpperBound: key})
	if err != nil {
		return nil, err
	}
	if it.Last() {
		entry = clone(it.Key()[len(prefix):])
	}
	return entry, ended(it, nil)
}

// text returns what an error says, "" for none.
func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// checkBlobs reads every blob and holds it against its name.
func (c *inspection) checkBlobs() error {
	b := c.store.blobs
	return b.eachFolder(func(dir string) error {
		files, err := b.fs.List(b.fs.PathJoin(b.dir, dir))
		if err != nil {
			return err
		}
		for _, name := range files {
			if err := c.checkBlob(b.fs.PathJoin(b.dir, dir, name), name); err != nil {
				return err
			}
		}
		return nil
	})
}

func (c *inspection) checkBlob(path, name string) error {
	f, err := c.store.blobs.fs.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	sum := sha256.New()
	n, err := io.Copy(sum, f)
	if err != nil {
		return fmt.Errorf("reading blob %s: %w", name, err)
	}
	c.report.Blobs++
	c.report.BlobBytes += uint64(n)
	if hex.EncodeToString(sum.Sum(nil)) != name {
		c.fault("blob %s does not have its hash: put back %s from a backup, or store the same content again", name, path)
	}
	return c.step()
}

// parsedKey is a key taken apart. Which members are set follows from the space.
type parsedKey struct {
	tenant   storage.Tenant
	space    byte
	object   abi.Object
	scope    storage.Scope
	id       string
	suffix   byte
	of       byte   // of a mark: the space of its list
	owner    string // of a Memory
	position storage.Position
	day      uint32
	key      storage.Key
	name     string
	user     abi.ResourcePointer
	// reference is what refers to the blob that key is the hash of.
	reference reference
}

func (k parsedKey) resource() abi.ResourcePointer {
	return abi.ResourcePointer{Object: k.object, ID: k.id}
}

// list returns what the keys of the list start with that a mark stands in.
func (k parsedKey) list() []byte {
	if k.of == spaceList {
		return listPrefix(nil, k.tenant, k.object, k.scope)
	}
	return appendObject(appendPrefix(nil, k.tenant, spaceResource), k.object)
}

// parseKey takes a key apart; ok is false for what is no key of this format.
func parseKey(key []byte) (k parsedKey, ok bool) {
	if len(key) < prefixLen {
		return k, false
	}
	k.tenant, k.space = tenantOf(key), key[prefixLen-1]
	d := &decoder{rest: key[prefixLen:]}
	switch k.space {
	case spaceFrame:
		k.position = d.position()
	case spaceGap:
		k.position = d.position()
		d.bad = d.bad || k.tenant != storage.SystemTenant
	case spaceUser:
		k.object, k.id, k.user.Object, k.user.ID = d.object(), d.id(), d.object(), d.id()
	case spaceReferred:
		copy(k.key[:], d.fixed(len(k.key)))
		r, ok := cutReference(d.rest)
		k.reference, d.rest, d.bad = r, nil, d.bad || !ok
	case spaceSession, spaceTask, spaceWorkspace, spaceTranscript, spaceChunk, spacePending:
		k.id, k.position = d.id(), d.position()
	case spaceVolume:
		if k.suffix = d.byte(); k.suffix == volumeTally {
			k.id = d.id()
		} else {
			k.position = d.position()
		}
		d.bad = d.bad || k.suffix > volumeContent
	case spaceDeleted:
		k.object, k.id = d.object(), d.id()
	case spaceResource:
		k.object, k.id, k.suffix = d.object(), d.id(), d.byte()
		d.bad = d.bad || k.suffix > suffixLatest
	case spaceSequence:
		k.object, k.id = d.object(), d.id()
	case spaceList:
		k.object = d.object()
		k.scope = storage.Scope{Object: d.knownObject(), ID: d.id()}
		k.id = d.id()
	case spaceActive:
		k.id = d.id()
	case spaceCount:
		if k.of, k.object = d.byte(), d.object(); k.of == spaceList {
			k.scope = storage.Scope{Object: d.knownObject(), ID: d.id()}
		}
		k.suffix, k.id = d.byte(), d.id()
		d.bad = d.bad || k.of != spaceList && k.of != spaceResource || k.suffix < 1 || k.suffix >= maxLevel
	case spaceWords:
		k.suffix = d.byte()
		if k.suffix == wordPosting {
			k.owner, k.name = d.id(), d.word()
		}
		k.id = d.id()
		d.bad = d.bad || k.suffix > wordMemory
	case spaceIdempotency:
		if b := d.fixed(4); b != nil {
			k.day = binary.BigEndian.Uint32(b)
		}
		copy(k.key[:], d.fixed(len(k.key)))
	case spaceSeen:
		if b := d.fixed(4); b != nil {
			k.day = binary.BigEndian.Uint32(b)
		}
		copy(k.key[:], d.fixed(len(storage.DeliveryKey{})))
	case spaceMeta:
		k.name, d.rest = string(d.rest), nil
	default:
		return k, false
	}
	return k, d.end() == nil
}

// appendParsed puts a key together again.
func appendParsed(dst []byte, k parsedKey) []byte {
	switch k.space {
	case spaceFrame:
		return frameKey(dst, k.tenant, k.position)
	case spaceGap:
		return gapKey(dst, k.position)
	case spaceDeleted:
		return deletedKey(dst, k.tenant, k.resource())
	case spaceVolume:
		if k.suffix == volumeTally {
			return append(dst, volumeKey(space{k.tenant, k.id})...)
		}
		return appendPosition(contentPrefix(dst, k.tenant), k.position)
	case spaceUser:
		return appendResource(userPrefix(dst, k.tenant, k.resource()), k.user)
	case spaceReferred:
		return appendReference(referredPrefix(dst, k.tenant, storage.Hash(k.key)), k.reference)
	case spaceResource:
		return resourceKey(dst, k.tenant, k.resource(), k.suffix)
	case spaceSequence:
		return sequenceKey(dst, k.tenant, k.resource())
	case spaceList:
		return appendID(listPrefix(dst, k.tenant, k.object, k.scope), k.id)
	case spaceActive:
		return appendID(appendPrefix(dst, k.tenant, k.space), k.id)
	case spaceCount:
		return appendID(marksOf(dst, k.list(), k.suffix), k.id)
	case spaceWords:
		if k.suffix == wordMemory {
			return wordsKey(dst, k.tenant, k.id)
		}
		return appendID(postings(dst, k.tenant, k.owner, k.name), k.id)
	case spaceIdempotency:
		return idempotencyKey(dst, k.tenant, k.day, k.key)
	case spaceSeen:
		return seenKey(dst, k.tenant, k.day, storage.DeliveryKey(k.key[:len(storage.DeliveryKey{})]))
	case spaceMeta:
		return append(appendPrefix(dst, k.tenant, k.space), k.name...)
	}
	return appendPosition(scopePrefix(dst, k.tenant, k.space, k.id), k.position)
}
