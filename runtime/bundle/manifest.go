package bundle

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"regexp"
	"strings"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/receipt"
)

// Format is the version of the format that this package writes and reads.
const Format = "wharf-run-bundle-1"

// The names of the files in a bundle. Receipts are receipts/000.json and so on,
// blobs are blobs/ and the hex SHA-256 of their content.
const (
	nameManifest  = "manifest.json"
	nameSignature = "manifest.sig"
	nameKeys      = "keys.json"
	nameModule    = "module.wasm"
	nameOutcome   = "outcome.json"
	namePersona   = "persona.json"
	nameProof     = "proof.json"
	nameRecord    = "record.json"
	nameTask      = "task.json"
	blobPrefix    = "blobs/"
	receiptPrefix = "receipts/"
)

// limits bound the files that are read into memory.
var limits = map[string]int64{
	nameManifest: 4 << 20, nameSignature: 4 << 10, nameKeys: 1 << 20, nameModule: 256 << 20, nameOutcome: 16 << 20,
	namePersona: 1 << 20, nameProof: 64 << 10, nameRecord: 512 << 20, nameTask: 16 << 20,
}

const maxReceipt = 4 << 20

var (
	receiptName = regexp.MustCompile(`^receipts/[0-9]{3}\.json$`)
	blobName    = regexp.MustCompile(`^blobs/[0-9a-f]{64}$`)
)

// sizeLimit returns how large a file of that name may be; -1 for a name that no
// file of a bundle has.
func sizeLimit(name string) int64 {
	switch {
	case receiptName.MatchString(name):
		return maxReceipt
	case blobName.MatchString(name):
		return maxArchive
	}
	if limit, ok := limits[name]; ok {
		return limit
	}
	return -1
}

// manifest lists the other files of a bundle, but its own signature.
type manifest struct {
	Format string `json:"format"`
	TaskID string `json:"task_id"`
	Files  []file `json:"files"` // in the order of the archive: that of their names
}

type file struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"` // "sha256:" and hex
	Size   int64  `json:"size"`
}

// manifestSignature is the content of manifest.sig.
type manifestSignature struct {
	Algorithm string `json:"algorithm"`
	KeyID     string `json:"key_id"`
	Signature string `json:"signature"`
}

// signedText is what the signature of a manifest is over.
func signedText(manifest []byte) string {
	return "wharf run bundle 1\n" + journal.HashOf(manifest) + "\n"
}

// canonical returns the canonical JSON of v.
func canonical(v any) ([]byte, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return receipt.Canonicalize(text)
}

// describe returns the manifest's line about a source.
func describe(s *source) (file, error) {
	sum := sha256.New()
	if err := s.copyTo(sum); err != nil {
		return file{}, err
	}
	f := file{Name: s.name, SHA256: formatSum(sum.Sum(nil)), Size: s.size}
	if digits, blob := strings.CutPrefix(s.name, blobPrefix); blob && f.SHA256 != "sha256:"+digits {
		return file{}, fmt.Errorf("the content of %s has another hash, %s", s.name, f.SHA256)
	}
	return f, nil
}

func formatSum(sum []byte) string { return "sha256:" + hex.EncodeToString(sum) }

// checkFiles holds the files of an archive against its manifest.
func (m *manifest) checkFiles(r io.ReaderAt, members []member) error {
	if len(members) != len(m.Files) {
		return fmt.Errorf("the archive holds %d files besides the manifest, which lists %d", len(members), len(m.Files))
	}
	for i := range members {
		if err := m.Files[i].check(r, &members[i]); err != nil {
			return err
		}
	}
	return nil
}

func (f *file) check(r io.ReaderAt, at *member) error {
	if at.name != f.Name || at.size != f.Size {
		return fmt.Errorf("the archive holds %s with %d bytes where the manifest has %s with %d", at.name, at.size, f.Name, f.Size)
	}
	sum, crc := sha256.New(), crc32.NewIEEE()
	if _, err := io.Copy(io.MultiWriter(sum, crc), at.reader(r)); err != nil {
		return fmt.Errorf("reading %s: %w", f.Name, err)
	}
	hash := formatSum(sum.Sum(nil))
	if hash != f.SHA256 {
		return fmt.Errorf("%s has the hash %s, and the manifest says %s", f.Name, hash, f.SHA256)
	}
	if crc.Sum32() != at.crc {
		return fmt.Errorf("%s has another checksum than the archive says", f.Name)
	}
	if digits, blob := strings.CutPrefix(f.Name, blobPrefix); blob && hash != "sha256:"+digits {
		return fmt.Errorf("%s has the hash %s", f.Name, hash)
	}
	return nil
}

// checkSignature checks the signature of a manifest against the keys.
func checkSignature(manifest, signature []byte, keys []abi.SigningKey) error {
	var s manifestSignature
	if err := readCanonical(signature, &s); err != nil {
		return fmt.Errorf("reading %s: %w", nameSignature, err)
	}
	if s.Algorithm != receipt.Algorithm {
		return fmt.Errorf("the algorithm %q is not known", s.Algorithm)
	}
	return receipt.VerifyText(signedText(manifest), s.KeyID, s.Signature, keys)
}

// readCanonical reads JSON that has to be in its canonical form and to have no
// unknown members.
func readCanonical(text []byte, v any) error {
	if err := json.Unmarshal(text, v, json.RejectUnknownMembers(true)); err != nil {
		return err
	}
	again, err := canonical(v)
	if err == nil && string(again) != string(text) {
		err = errors.New("it is not in its canonical form")
	}
	return err
}
