package filetree

import (
	"cmp"
	"compress/flate"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"slices"
	"strings"
)

// The directory is read here and not by archive/zip, which keeps all of it before anybody can
// count, compares the count in 16 bits only, and does not look at what the files' own headers say.

const (
	localSize   = 30 // of a file's own header, without the name
	centralSize = 46 // of its header in the directory, without the name
	endSize     = 22 // of the end of the directory, without the comment

	localSignature   = 0x04034b50
	centralSignature = 0x02014b50
	endSignature     = 0x06054b50

	flagEncrypted = 1<<0 | 1<<6 | 1<<13
	stored        = 0
	deflated      = 8

	// maxExtra is what the directory has at most for each file besides its header.
	maxExtra = 1 << 10
)

// The types of files that the upper half of the attributes states, where a Unix has packed them.
const (
	modeType    = 0o170000
	modeFolder  = 0o040000
	modeRegular = 0o100000
	modeSymlink = 0o120000
)

// ReadZip reads an archive of so many bytes. Whatever it does not accept is a [*Refusal]. It takes
// memory for what limits allow, and for their count of names, whatever the archive says.
func ReadZip(r io.ReaderAt, size int64, limits Limits) (*Tree, error) {
	z := &archive{in: r, size: size, gatherer: newGatherer(limits, size)}
	members, err := z.directory()
	if err != nil {
		return nil, err
	}
	if err := z.locate(members); err != nil {
		return nil, err
	}
	if members, err = z.wanted(members); err != nil {
		return nil, err
	}
	for i := range members {
		if err := z.unpack(&members[i]); err != nil {
			return nil, err
		}
	}
	root := z.unrooted()
	return z.tree(root)
}

// archive is a zip that is being read.
type archive struct {
	in   io.ReaderAt
	size int64
	*gatherer
	start    int64         // where the directory begins
	inflater io.ReadCloser // of the members, one after the other: it has nothing to close
}

// member is a file or folder in an archive, as the directory has it.
type member struct {
	name         string
	flags        uint16
	method       uint16
	crc          uint32
	packed, size int64
	mode         uint32 // of a Unix; 0 when none has packed it
	offset       int64  // of its own header
	content      int64  // where its content begins
}

// mostEntries is how many names are looked at: those of the files, of as many folders, and of
// what macOS puts beside both.
func (z *archive) mostEntries() int { return 4 * z.limits.Files }

func damaged(file, format string, args ...any) error {
	return refuse(file, Damaged, "the archive is truncated or damaged: %s. Pack it again", fmt.Sprintf(format, args...))
}

// at reads n bytes at an offset.
func (z *archive) at(offset, n int64) ([]byte, error) {
	if offset < 0 || n < 0 || offset > z.size-n {
		return nil, damaged("", "it ends too early")
	}
	b := make([]byte, n)
	read, err := z.in.ReadAt(b, offset)
	if int64(read) < n {
		return nil, fmt.Errorf("reading the archive: %w", err)
	}
	return b, nil
}

// end finds the end of the directory: the last thing in the archive but for a comment.
func (z *archive) end() ([]byte, int64, error) {
	length := min(z.size, endSize+1<<16-1)
	tail, err := z.at(z.size-length, length)
	if err != nil {
		return nil, 0, err
	}
	for i := len(tail) - endSize; i >= 0; i-- {
		comment := len(tail) - endSize - i
		if binary.LittleEndian.Uint32(tail[i:]) == endSignature && int(binary.LittleEndian.Uint16(tail[i+20:])) == comment {
			return tail[i : i+endSize], z.size - length + int64(i), nil
		}
	}
	if first, err := z.at(0, 4); err == nil && binary.LittleEndian.Uint32(first) == localSignature {
		return nil, 0, damaged("", "its directory is missing")
	}
	return nil, 0, refuse("", NoArchive, "this is no zip archive")
}

// directory reads the headers of all members.
func (z *archive) directory() ([]member, error) {
	end, endOffset, err := z.end()
	if err != nil {
		return nil, err
	}
	count := int(binary.LittleEndian.Uint16(end[10:]))
	length, start := int64(binary.LittleEndian.Uint32(end[12:])), int64(binary.LittleEndian.Uint32(end[16:]))
	switch {
	case count == 1<<16-1, length == 1<<32-1, start == 1<<32-1:
		return nil, errZip64("")
	case count > z.mostEntries():
		return nil, z.countFile(count)
	case start+length != endOffset, binary.LittleEndian.Uint32(end[4:]) != 0, int(binary.LittleEndian.Uint16(end[8:])) != count:
		return nil, damaged("", "its directory is not where its end says")
	case length > int64(count)*(centralSize+maxPath+maxExtra):
		return nil, damaged("", "its directory is too large for %d files", count)
	}
	raw, err := z.at(start, length)
	if err != nil {
		return nil, err
	}
	z.start = start
	return parseDirectory(raw, count)
}

func parseDirectory(raw []byte, count int) ([]member, error) {
	var members []member
	for len(raw) > 0 {
		m, size, err := parseMember(raw)
		if err != nil {
			return nil, err
		}
		members, raw = append(members, m), raw[size:]
	}
	if len(members) != count {
		return nil, damaged("", "it says that it has %d files, and has %d", count, len(members))
	}
	return members, nil
}

// parseMember reads the header that raw begins with, and returns its size.
func parseMember(raw []byte) (m member, size int, err error) {
	if len(raw) < centralSize || binary.LittleEndian.Uint32(raw) != centralSignature {
		return m, 0, damaged("", "its directory holds something else than files")
	}
	name := int(binary.LittleEndian.Uint16(raw[28:]))
	size = centralSize + name + int(binary.LittleEndian.Uint16(raw[30:])) + int(binary.LittleEndian.Uint16(raw[32:]))
	if size > len(raw) {
		return m, 0, damaged("", "its directory ends too early")
	}
	m = member{
		name:  string(raw[centralSize : centralSize+name]),
		flags: binary.LittleEndian.Uint16(raw[8:]), method: binary.LittleEndian.Uint16(raw[10:]),
		crc: binary.LittleEndian.Uint32(raw[16:]), packed: int64(binary.LittleEndian.Uint32(raw[20:])),
		size: int64(binary.LittleEndian.Uint32(raw[24:])), mode: binary.LittleEndian.Uint32(raw[38:]) >> 16,
		offset: int64(binary.LittleEndian.Uint32(raw[42:])),
	}
	if m.packed == 1<<32-1 || m.size == 1<<32-1 || m.offset == 1<<32-1 {
		return m, 0, errZip64(m.name)
	}
	return m, size, nil
}

func errZip64(file string) error {
	return refuse(file, Zip64, "the archive is in the form for more than 4 GB (zip64): pack it again without")
}

// locate finds where the contents are, and refuses members that share bytes.
func (z *archive) locate(members []member) error {
	var order []*member
	for i := range members {
		if err := z.open(&members[i]); err != nil {
			return err
		}
		order = append(order, &members[i])
	}
	slices.SortFunc(order, func(a, b *member) int { return cmp.Compare(a.offset, b.offset) })
	for i, m := range order {
		next := z.start
		if i+1 < len(order) {
			next = order[i+1].offset
		}
		if m.content+m.packed > next {
			return refuse(m.name, Overlap, "it shares bytes of the archive with another: this is what archives do that are made to fill a disk")
		}
	}
	return nil
}

// open holds a member's own header against the one in the directory.
func (z *archive) open(m *member) error {
	header, err := z.at(m.offset, localSize)
	if err != nil {
		return err
	}
	name := int64(binary.LittleEndian.Uint16(header[26:]))
	if binary.LittleEndian.Uint32(header) != localSignature || name != int64(len(m.name)) {
		return damaged(m.name, "it is not where the directory says")
	}
	own, err := z.at(m.offset+localSize, name)
	if err != nil {
		return err
	}
	if string(own) != m.name || binary.LittleEndian.Uint16(header[8:]) != m.method {
		return damaged(m.name, "its header and the directory say different things")
	}
	m.flags |= binary.LittleEndian.Uint16(header[6:])
	m.content = m.offset + localSize + name + int64(binary.LittleEndian.Uint16(header[28:]))
	return nil
}

// wanted checks what the members say of themselves, and returns those that are files, with their
// names in composed form. So what can be refused early is, before anything is unpacked.
func (z *archive) wanted(members []member) (files []member, err error) {
	sum := int64(0)
	for _, m := range members {
		folder := strings.HasSuffix(m.name, "/")
		path := strings.TrimSuffix(m.name, "/")
		if ignored(path) {
			continue
		}
		if err := z.check(&m, path, folder); err != nil {
			return nil, err
		}
		if m.name, err = z.taken.take(path, folder); err != nil {
			return nil, err
		}
		if folder {
			continue
		}
		files, sum = append(files, m), sum+m.size
		if err := z.countFile(len(files)); err != nil {
			return nil, err
		}
		if err := z.checkSum(m.name, sum); err != nil {
			return nil, err
		}
	}
	return files, nil
}

func (z *archive) check(m *member, path string, folder bool) error {
	if err := checkPath(path); err != nil {
		return err
	}
	switch kind := m.mode & modeType; {
	case kind == modeSymlink:
		return errSymlink(path)
	case kind != 0 && kind != modeRegular && (kind != modeFolder || !folder):
		return errSpecial(path)
	case m.flags&flagEncrypted != 0:
		return refuse(path, Encrypted, "it is encrypted: pack it without a password")
	case m.method != stored && m.method != deflated:
		return refuse(path, Compression, "it is compressed in a way (%d) that is not read: pack it as zip usually does (deflate)", m.method)
	case folder && m.size > 0, m.method == stored && m.size != m.packed:
		return damaged(path, "the sizes of a member contradict each other")
	}
	return z.checkSize(path, m.size)
}

// unpack reads a file, and holds it against its checksum.
func (z *archive) unpack(m *member) error {
	packed := io.NewSectionReader(z.in, m.content, m.packed)
	if m.method == stored {
		return z.add(m.name, &checked{in: packed, m: m, sum: crc32.NewIEEE()})
	}
	if z.inflater == nil {
		z.inflater = flate.NewReader(packed)
	} else if err := z.inflater.(flate.Resetter).Reset(packed, nil); err != nil { // says package flate
		return err
	}
	return z.add(m.name, &checked{in: z.inflater, m: m, sum: crc32.NewIEEE()})
}

// checked reads what a member unpacks to, which has to be what its header says.
type checked struct {
	in   io.Reader
	m    *member
	sum  hash.Hash32
	read int64
}

func (c *checked) Read(p []byte) (int, error) {
	n, err := c.in.Read(p)
	c.read += int64(n)
	_, _ = c.sum.Write(p[:n]) // never fails
	_, corrupt := errors.AsType[flate.CorruptInputError](err)
	switch {
	case c.read > c.m.size:
		return 0, damaged(c.m.name, "it unpacks to more than the %d bytes that it states", c.m.size)
	case corrupt, errors.Is(err, io.ErrUnexpectedEOF):
		return 0, damaged(c.m.name, "what it unpacks to ends in the middle")
	case err == io.EOF && c.read < c.m.size:
		return 0, damaged(c.m.name, "it unpacks to less than the %d bytes that it states", c.m.size)
	case err == io.EOF && c.sum.Sum32() != c.m.crc:
		return 0, refuse(c.m.name, Checksum, "its content is not what was packed (its checksum differs): pack it again")
	}
	return n, err
}
