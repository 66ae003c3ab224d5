package bundle

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"strings"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/receipt"
)

// Contents is what a bundle holds. Members that are empty are left out of it, but
// Record, Task and Keys, which every bundle has.
type Contents struct {
	Record  *journal.Record
	Task    jsontext.Value // the Task as it ended
	Outcome jsontext.Value
	Persona jsontext.Value // the bytes that the program's persona is the hash of
	Module  []byte         // as it was written
	// Receipts are the canonical bytes of the Task's receipts, oldest first. Receipts
	// of other Tasks may precede them, to show the chain.
	Receipts []jsontext.Value
	Keys     abi.SigningKeys
	Proof    *receipt.Inclusion // that a receipt is in a sealed batch
	Blobs    []Blob             // the content of Artifacts, in any order
}

// Blob is a content that is not held in memory.
type Blob struct {
	Hash abi.Hash
	Size int64
	// Open returns the content from its start. It may be called several times.
	Open func() (io.ReadCloser, error)
}

// Write writes the bundle with the given contents to w and signs it. The same
// contents and key give the same bytes. It writes nothing when it fails because of
// the contents.
func Write(w io.Writer, c *Contents, key *receipt.Key) error {
	sources, err := c.sources()
	if err != nil {
		return fmt.Errorf("writing a run bundle: %w", err)
	}
	m := manifest{Format: Format, TaskID: c.Record.TaskID}
	for i := range sources {
		f, err := describe(&sources[i])
		if err != nil {
			return fmt.Errorf("writing a run bundle: %w", err)
		}
		m.Files = append(m.Files, f)
	}
	head, err := m.sign(key)
	if err != nil {
		return fmt.Errorf("writing a run bundle: %w", err)
	}
	if err := writeArchive(w, append(head, sources...)); err != nil {
		return fmt.Errorf("writing a run bundle: %w", err)
	}
	return nil
}

// sign returns the manifest and its signature.
func (m *manifest) sign(key *receipt.Key) ([]source, error) {
	if key == nil {
		return nil, errors.New("there is no key to sign it with")
	}
	text, err := canonical(m)
	if err != nil {
		return nil, err
	}
	signature, err := canonical(manifestSignature{receipt.Algorithm, key.ID, key.Sign(signedText(text))})
	if err != nil {
		return nil, err
	}
	return []source{inMemory(nameManifest, text), inMemory(nameSignature, signature)}, nil
}

// sources returns the files that the manifest lists, in order.
func (c *Contents) sources() ([]source, error) {
	if c.Record == nil || len(c.Task) == 0 || len(c.Keys.Keys) == 0 {
		return nil, errors.New("it needs a record, a Task and the public keys")
	}
	record, err := json.Marshal(c.Record, json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("the record: %w", err)
	}
	keys, err := json.Marshal(c.Keys)
	if err != nil {
		return nil, fmt.Errorf("the public keys: %w", err)
	}
	all := []source{inMemory(nameRecord, record), inMemory(nameKeys, keys), inMemory(nameTask, c.Task)}
	for name, content := range map[string][]byte{nameModule: c.Module, nameOutcome: c.Outcome, namePersona: c.Persona} {
		if len(content) > 0 {
			all = append(all, inMemory(name, content))
		}
	}
	if c.Proof != nil {
		proof, err := canonical(c.Proof)
		if err != nil {
			return nil, fmt.Errorf("the proof: %w", err)
		}
		all = append(all, inMemory(nameProof, proof))
	}
	for i, r := range c.Receipts {
		all = append(all, inMemory(nameOfReceipt(i), r))
	}
	return sorted(append(all, c.blobs()...))
}

func nameOfReceipt(i int) string { return fmt.Sprintf("%s%03d.json", receiptPrefix, i) }

func (c *Contents) blobs() (all []source) {
	for _, b := range c.Blobs {
		all = append(all, source{fmt.Sprintf("%s%x", blobPrefix, b.Hash[:]), b.Size, b.Open})
	}
	return all
}

// sorted puts the sources in the order of the archive. One that is there twice,
// such as the content of two Artifacts, is written once.
func sorted(all []source) ([]source, error) {
	slices.SortFunc(all, func(a, b source) int { return strings.Compare(a.name, b.name) })
	all = slices.CompactFunc(all, func(a, b source) bool { return a.name == b.name })
	for i := range all {
		if sizeLimit(all[i].name) < 0 {
			return nil, fmt.Errorf("a bundle has no place for %s", all[i].name)
		}
	}
	return all, checkBounds(all)
}

// Read reads a bundle. It makes sure of its form and of the manifest's hashes; who
// signed it, and whether the parts fit together, is for [Verify]. Blobs are read
// from r when they are opened.
func Read(r io.ReaderAt, size int64) (*Contents, error) {
	b, err := open(r, size)
	if err != nil {
		return nil, fmt.Errorf("reading a run bundle: %w", err)
	}
	if err := b.manifest.checkFiles(r, b.members[2:]); err != nil {
		return nil, fmt.Errorf("reading a run bundle: %w", err)
	}
	c, err := b.contents()
	if err != nil {
		return nil, fmt.Errorf("reading a run bundle: %w", err)
	}
	return c, nil
}

// ReadKeys returns the keys that a bundle brings, and looks at nothing else in it.
// They are what whoever made the bundle says: check them against keys that you trust.
func ReadKeys(r io.ReaderAt, size int64) (keys abi.SigningKeys, err error) {
	b, err := open(r, size)
	if err != nil {
		return keys, fmt.Errorf("reading a run bundle: %w", err)
	}
	for i := range b.members {
		if b.members[i].name != nameKeys {
			continue
		}
		content, err := b.read(&b.members[i])
		if err == nil {
			err = readSparse(content, &keys)
		}
		if err != nil {
			return keys, fmt.Errorf("reading %s: %w", nameKeys, err)
		}
	}
	return keys, nil
}

// opened is an archive whose form is the prescribed one.
type opened struct {
	r            io.ReaderAt
	members      []member
	manifest     manifest
	manifestText []byte
	signature    []byte
}

// open reads the archive and its manifest.
func open(r io.ReaderAt, size int64) (*opened, error) {
	members, err := readArchive(r, size)
	if err != nil {
		return nil, err
	}
	if err := checkNames(members); err != nil {
		return nil, err
	}
	b := &opened{r: r, members: members}
	if b.manifestText, err = b.read(&members[0]); err != nil {
		return nil, err
	}
	if b.signature, err = b.read(&members[1]); err != nil {
		return nil, err
	}
	if err := checkSparse(b.manifestText); err != nil {
		return nil, fmt.Errorf("reading %s: %w", nameManifest, err)
	}
	if err := json.Unmarshal(b.manifestText, &b.manifest); err != nil {
		return nil, fmt.Errorf("reading %s: %w", nameManifest, err)
	}
	if b.manifest.Format != Format {
		return nil, fmt.Errorf("its format is %q, and this version reads %q", b.manifest.Format, Format)
	}
	if err := readCanonical(b.manifestText, &b.manifest); err != nil {
		return nil, fmt.Errorf("reading %s: %w", nameManifest, err)
	}
	return b, nil
}

// checkNames makes sure that the files are those of a bundle, each once, in order.
func checkNames(members []member) error {
	if len(members) < 2 || members[0].name != nameManifest || members[1].name != nameSignature {
		return fmt.Errorf("it does not begin with %s and %s", nameManifest, nameSignature)
	}
	receipts := 0
	for i := range members {
		m := &members[i]
		limit := sizeLimit(m.name)
		switch {
		case limit < 0 || i > 1 && (m.name == nameManifest || m.name == nameSignature):
			return fmt.Errorf("a bundle has no file %q here", m.name)
		case m.size > limit:
			return fmt.Errorf("%s has %d bytes, more than %d", m.name, m.size, limit)
		case i > 2 && members[i-1].name >= m.name:
			return fmt.Errorf("%s is not in the order of names", m.name)
		}
		if strings.HasPrefix(m.name, receiptPrefix) {
			if m.name != nameOfReceipt(receipts) {
				return fmt.Errorf("%s is there, and %s is not", m.name, nameOfReceipt(receipts))
			}
			receipts++
		}
	}
	return nil
}

// read returns the content of a member, whose size was checked.
func (b *opened) read(m *member) ([]byte, error) {
	content := make([]byte, m.size)
	if _, err := b.r.ReadAt(content, m.content()); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("reading %s: %w", m.name, err)
	}
	if crc32.ChecksumIEEE(content) != m.crc {
		return nil, fmt.Errorf("%s has another checksum than the archive says", m.name)
	}
	return content, nil
}

// contents reads the parts of a bundle, whose hashes were checked.
func (b *opened) contents() (*Contents, error) {
	c := &Contents{}
	for i := range b.members[2:] {
		m := &b.members[2+i]
		if strings.HasPrefix(m.name, blobPrefix) {
			c.Blobs = append(c.Blobs, b.blob(m))
			continue
		}
		content, err := b.read(m)
		if err == nil {
			err = c.take(m.name, content)
		}
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", m.name, err)
		}
	}
	if c.Record == nil || len(c.Task) == 0 || len(c.Keys.Keys) == 0 {
		return nil, fmt.Errorf("it lacks %s, %s or %s", nameRecord, nameTask, nameKeys)
	}
	return c, nil
}

func (c *Contents) take(name string, content []byte) error {
	switch name {
	case nameRecord:
		var err error
		c.Record, err = journal.ReadRecord(content, true)
		return err
	case nameKeys:
		return readSparse(content, &c.Keys)
	case nameProof:
		return readSparse(content, &c.Proof)
	case nameModule:
		c.Module = content
		return nil
	}
	if !jsontext.Value(content).IsValid() {
		return errors.New("it is not JSON")
	}
	switch name {
	case nameTask:
		c.Task = content
	case nameOutcome:
		c.Outcome = content
	case namePersona:
		c.Persona = content
	default:
		c.Receipts = append(c.Receipts, content)
		return checkSparse(content)
	}
	return nil
}

// blob returns the blob that a member holds. Its name and hash were checked.
func (b *opened) blob(m *member) Blob {
	h, _ := journal.ParseHash("sha256:" + strings.TrimPrefix(m.name, blobPrefix))
	return Blob{Hash: h, Size: m.size, Open: func() (io.ReadCloser, error) { return io.NopCloser(m.reader(b.r)), nil }}
}

// Blob returns the blob with the given hash, and whether the bundle holds it.
func (c *Contents) Blob(h abi.Hash) (Blob, bool) {
	i := slices.IndexFunc(c.Blobs, func(b Blob) bool { return b.Hash == h })
	if i < 0 {
		return Blob{}, false
	}
	return c.Blobs[i], true
}
