package oaf

import (
	"archive/zip"
	"compress/flate"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/wharf-dev/wharf/runtime/filetree"
)

// Pack writes files as a zip: in the order of their paths and without times, so that the same
// files are the same bytes.
func Pack(w io.Writer, files []filetree.File) error {
	files = slices.Clone(files)
	slices.SortFunc(files, func(a, b filetree.File) int { return strings.Compare(a.Path, b.Path) })
	z := zip.NewWriter(w)
	// A bundle is packed each time that it is taken in or given out, so it has to be quick. Files come
	// one after the other: one compressor does for all.
	packer, err := flate.NewWriter(io.Discard, flate.BestSpeed)
	if err != nil {
		return err
	}
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) {
		packer.Reset(w)
		return packer, nil
	})
	for _, f := range files {
		out, err := z.CreateHeader(&zip.FileHeader{Name: f.Path, Method: zip.Deflate})
		if err != nil {
			return err
		}
		if _, err := out.Write(f.Content); err != nil {
			return err
		}
	}
	return z.Close()
}

// Packed is an agent as it is packed: its AGENTS.md and the files beside it.
type Packed struct {
	Fields *Fields
	Text   []byte
	Files  []filetree.File
}

// Bundle returns the files of a bundle: those of one agent at its root, of several in folders,
// with a PACKAGE.yaml. mode is bundled or referenced.
func Bundle(agents []Packed, mode string) (files []filetree.File) {
	if len(agents) == 1 {
		return agents[0].under("")
	}
	taken := map[string]bool{}
	for i := range agents {
		folder := agents[i].Fields.AgentKey
		for n := 2; taken[folder]; n++ {
			folder = agents[i].Fields.AgentKey + "-" + strconv.Itoa(n)
		}
		taken[folder] = true
		files = append(files, agents[i].under(folder+"/")...)
	}
	return append(files, filetree.File{Path: PackageFile, Content: packageText(agents, mode)})
}

func (p *Packed) under(folder string) []filetree.File {
	files := []filetree.File{{Path: folder + ManifestFile, Content: p.Text}}
	for _, f := range p.Files {
		files = append(files, filetree.File{Path: folder + f.Path, Content: f.Content})
	}
	return files
}

func packageText(agents []Packed, mode string) []byte {
	var b strings.Builder
	b.WriteString("format: \"oaf-package\"\nformatVersion: \"1.0.0\"\nversion: " + quote(agents[0].Fields.Version) + "\nagents:\n")
	for i := range agents {
		f := agents[i].Fields
		b.WriteString("  - slug: " + quote(f.VendorKey+"/"+f.AgentKey) + "\n    version: " + quote(f.Version) + "\n")
	}
	b.WriteString("contents_mode: " + quote(mode) + "\n")
	return []byte(b.String())
}

// Lasting leaves out what a bundle holds of its agent's life: what it remembers, and its versions
// unless those are wanted.
func Lasting(files []filetree.File, versions bool) []filetree.File {
	return slices.DeleteFunc(slices.Clone(files), func(f filetree.File) bool {
		return strings.HasPrefix(f.Path, memoryDir) || !versions && strings.HasPrefix(f.Path, versionsDir)
	})
}

// InSnapshot returns the files of a snapshot of what an agent remembers as a bundle holds them.
func InSnapshot(files []filetree.File) (placed []filetree.File) {
	for _, f := range files {
		placed = append(placed, filetree.File{Path: memoryDir + f.Path, Content: f.Content})
	}
	return placed
}

// Snapshot returns the files of the snapshot that the bundle holds of what the agent remembers.
func (a *Agent) Snapshot() []filetree.File { return below(a.Files, memoryDir) }

// VersionFile is where a version of an AGENTS.md lies in a bundle.
func VersionFile(version string) string { return versionsDir + "v" + version + "/" + ManifestFile }
