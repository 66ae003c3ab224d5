package pebble

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/wharf-dev/wharf/storage"
)

// The head file holds the position up to which events were acknowledged, twice,
// each in a slot of its own, so that one torn write leaves the other
// (docs/log-format.md, "HEAD"). It lies outside the database because a key in the
// log is lost together with the end of the log it should vouch for.
const (
	slotLen   = 32
	slotMagic = "WHD1"
	slotSum   = 28 // where the checksum is

	slotOpen  = 0
	slotClean = 1
)

// head is the open head file. The syncer owns it while the store is open.
type head struct {
	file     vfs.File
	position storage.Position
	clean    bool // the last close was orderly
	slot     int64
	buf      [slotLen]byte
}

// openHead opens the head file, and makes it when there is none. position is what it
// says, as [headOf] has read it.
func openHead(fs vfs.FS, name string, position storage.Position) (*head, error) {
	file, err := fs.OpenReadWrite(name, vfs.WriteCategoryUnspecified)
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", headName, err)
	}
	return &head{file: file, position: position}, nil
}

// read takes over what a head file says and reports whether any slot is whole.
func (h *head) read(text []byte) (valid bool) {
	for slot := range slices.Chunk(text[:min(len(text), 2*slotLen)], slotLen) {
		valid = len(slot) == slotLen && h.readSlot(slot) || valid
	}
	return valid
}

// readSlot takes over what the slot says when it is whole and newer.
func (h *head) readSlot(b []byte) bool {
	if string(b[:4]) != slotMagic || crc32.Checksum(b[:slotSum], castagnoli) != binary.BigEndian.Uint32(b[slotSum:]) {
		return false
	}
	p, clean := positionAt(b[8:]), b[4] == slotClean
	switch {
	case p > h.position:
		h.position, h.clean = p, clean
	case p == h.position:
		h.clean = h.clean && clean
	}
	return true
}

// begin writes down that the folder is in use and that everything up to p is
// there, before the first commit.
func (h *head) begin(p storage.Position) error { return h.both(p, slotOpen) }

// finish writes down that the log ends at p and was closed in order.
func (h *head) finish(p storage.Position) error { return h.both(p, slotClean) }

func (h *head) both(p storage.Position, state byte) error {
	for range 2 {
		if err := h.write(p, state); err != nil {
			return err
		}
	}
	if err := h.file.Sync(); err != nil {
		return fmt.Errorf("syncing %s: %w", headName, err)
	}
	return nil
}

// acknowledge writes down that everything up to p is durable. It is not synced:
// it is there to be read after the death of the process, and what it says is true
// whenever it survives the death of the machine too.
func (h *head) acknowledge(p storage.Position) error { return h.write(p, slotOpen) }

func (h *head) write(p storage.Position, state byte) error {
	b := h.buf[:]
	clear(b)
	copy(b, slotMagic)
	b[4] = state
	binary.BigEndian.PutUint64(b[8:], uint64(p))
	binary.BigEndian.PutUint32(b[slotSum:], crc32.Checksum(b[:slotSum], castagnoli))
	if _, err := h.file.WriteAt(b, h.slot*slotLen); err != nil {
		return fmt.Errorf("writing %s: %w", headName, err)
	}
	h.slot = 1 - h.slot
	return nil
}

func (h *head) close() error { return h.file.Close() }
