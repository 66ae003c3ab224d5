package bundle

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
)

// The archive is written and read here and not by archive/zip: what is stored
// where has to be the same for every writer, and a reader has to notice what a zip
// reader passes over.

const (
	localSize   = 30 // of a local file header, without the name
	centralSize = 46 // of a central directory header, without the name
	endSize     = 22 // of the end of the central directory

	localSignature   = 0x04034b50
	centralSignature = 0x02014b50
	endSignature     = 0x06054b50

	// needed is the version of zip that a reader needs: 1.0, for stored files.
	needed = 10
	// nameIsUTF8 is the flag that names are UTF-8. They are ASCII.
	nameIsUTF8 = 1 << 11
	// epoch is the date that every file has, the first there is: 1980-01-01.
	epoch = 1<<5 | 1
)

// The bounds of an archive. None of its offsets needs more than 32 bits.
const (
	maxArchive = 1<<32 - 1
	maxFiles   = 10_000
	maxName    = 128
)

// member is a file in an archive.
type member struct {
	name   string
	crc    uint32
	size   int64
	offset int64 // of the local header
}

// end returns where the next member begins.
func (m *member) end() int64 { return m.content() + m.size }

// content returns where the content begins.
func (m *member) content() int64 { return m.offset + localSize + int64(len(m.name)) }

// common appends what both headers of a file share.
func (m *member) common(b []byte) []byte {
	for _, v := range []uint16{needed, nameIsUTF8, 0 /* stored */, 0 /* midnight */, epoch} {
		b = binary.LittleEndian.AppendUint16(b, v)
	}
	for _, v := range []uint32{m.crc, uint32(m.size), uint32(m.size)} {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	b = binary.LittleEndian.AppendUint16(b, uint16(len(m.name)))
	return binary.LittleEndian.AppendUint16(b, 0) // no extra field
}

func (m *member) local() []byte {
	b := binary.LittleEndian.AppendUint32(nil, localSignature)
	return append(m.common(b), m.name...)
}

func (m *member) central(b []byte) []byte {
	b = binary.LittleEndian.AppendUint32(b, centralSignature)
	b = binary.LittleEndian.AppendUint16(b, needed)
	b = m.common(b)
	b = append(b, make([]byte, 10)...) // no comment, disk 0, no attributes
	b = binary.LittleEndian.AppendUint32(b, uint32(m.offset))
	return append(b, m.name...)
}

// directory returns what follows the last member: one header for each, and the end.
func directory(members []member) []byte {
	var b []byte
	start := int64(0)
	for i := range members {
		b = members[i].central(b)
		start = members[i].end()
	}
	size := len(b)
	b = binary.LittleEndian.AppendUint32(b, endSignature)
	b = append(b, make([]byte, 4)...) // disk 0
	b = binary.LittleEndian.AppendUint16(b, uint16(len(members)))
	b = binary.LittleEndian.AppendUint16(b, uint16(len(members)))
	b = binary.LittleEndian.AppendUint32(b, uint32(size))
	b = binary.LittleEndian.AppendUint32(b, uint32(start))
	return binary.LittleEndian.AppendUint16(b, 0) // no comment
}

// source is a file that is to be written. It is opened twice: once for its checksum.
type source struct {
	name string
	size int64
	open func() (io.ReadCloser, error)
}

// inMemory returns a source that yields content.
func inMemory(name string, content []byte) source {
	return source{name, int64(len(content)), func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(content)), nil
	}}
}

// copyTo copies the source to w. It fails when its length is not size.
func (s *source) copyTo(w io.Writer) (err error) {
	r, err := s.open()
	if err != nil {
		return fmt.Errorf("opening %s: %w", s.name, err)
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	n, err := io.Copy(w, io.LimitReader(r, s.size+1))
	if err == nil && n != s.size {
		err = fmt.Errorf("it has not the %d bytes that were announced", s.size)
	}
	if err != nil {
		return fmt.Errorf("copying %s: %w", s.name, err)
	}
	return nil
}

// writeArchive writes the sources in the given order.
func writeArchive(w io.Writer, sources []source) error {
	if err := checkBounds(sources); err != nil {
		return err
	}
	var members []member
	offset := int64(0)
	for i := range sources {
		m := member{name: sources[i].name, size: sources[i].size, offset: offset}
		sum := crc32.NewIEEE()
		if err := sources[i].copyTo(sum); err != nil {
			return err
		}
		m.crc = sum.Sum32()
		if _, err := w.Write(m.local()); err != nil {
			return err
		}
		if err := sources[i].copyTo(w); err != nil {
			return err
		}
		members, offset = append(members, m), m.end()
	}
	_, err := w.Write(directory(members))
	return err
}

// checkBounds fails before the first byte is written.
func checkBounds(sources []source) error {
	total := int64(endSize)
	for i := range sources {
		s := &sources[i]
		if limit := sizeLimit(s.name); s.size > limit {
			return fmt.Errorf("%s has %d bytes, and a bundle takes %d", s.name, s.size, limit)
		}
		total += localSize + centralSize + 2*int64(len(s.name)) + s.size
	}
	if len(sources) > maxFiles || total > maxArchive {
		return fmt.Errorf("%d files with %d bytes are more than a bundle takes (%d files, %d bytes)", len(sources), total, maxFiles, int64(maxArchive))
	}
	return nil
}

// readArchive lists the members of an archive. It accepts only what [writeArchive]
// writes, but does not look at the contents.
func readArchive(r io.ReaderAt, size int64) ([]member, error) {
	if size > maxArchive {
		return nil, fmt.Errorf("it has %d bytes, and a bundle at most %d", size, int64(maxArchive))
	}
	var members []member
	for offset := int64(0); ; {
		m, err := readMember(r, size, offset)
		if err != nil {
			return nil, err
		}
		if m == nil {
			return members, checkDirectory(r, size, offset, members)
		}
		if len(members) == maxFiles {
			return nil, fmt.Errorf("it has more than %d files", maxFiles)
		}
		members, offset = append(members, *m), m.end()
	}
}

// readMember reads the local header at offset; nil where the directory begins.
func readMember(r io.ReaderAt, size, offset int64) (*member, error) {
	header := make([]byte, localSize+maxName)
	n, err := r.ReadAt(header[:min(int64(len(header)), size-offset)], offset)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("reading the archive: %w", err)
	}
	header = header[:n]
	if n < localSize || binary.LittleEndian.Uint32(header) != localSignature {
		return nil, nil
	}
	length := int(binary.LittleEndian.Uint16(header[26:]))
	if length > maxName || localSize+length > n {
		return nil, fmt.Errorf("at byte %d, the name of a file has %d bytes", offset, length)
	}
	m := &member{name: string(header[localSize : localSize+length]), crc: binary.LittleEndian.Uint32(header[14:]),
		size: int64(binary.LittleEndian.Uint32(header[18:])), offset: offset}
	if !bytes.Equal(header[:localSize+length], m.local()) {
		return nil, fmt.Errorf("at byte %d, the header of %q is not in the prescribed form", offset, m.name)
	}
	if m.end() > size {
		return nil, fmt.Errorf("at byte %d, %q ends behind the archive", offset, m.name)
	}
	return m, nil
}

// checkDirectory holds what follows the last member against what has to be there.
func checkDirectory(r io.ReaderAt, size, offset int64, members []member) error {
	want := directory(members)
	if size-offset != int64(len(want)) {
		return fmt.Errorf("at byte %d, %d bytes follow where a directory of %d has to be", offset, size-offset, len(want))
	}
	got := make([]byte, len(want))
	if _, err := r.ReadAt(got, offset); err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("reading the archive: %w", err)
	}
	if !bytes.Equal(got, want) {
		return fmt.Errorf("at byte %d, the directory is not in the prescribed form", offset)
	}
	return nil
}

// reader returns the content of a member.
func (m *member) reader(r io.ReaderAt) *io.SectionReader {
	return io.NewSectionReader(r, m.content(), m.size)
}
