package parcel

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/text/unicode/norm"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/filetree"
	"github.com/wharf-dev/wharf/runtime/manifest"
)

// Extension is what the names of packages end with.
const Extension = ".wharf"

// The bounds of a package.
const (
	MaxModule = 64 << 20 // bytes of the module, which is what a node loads
	MaxBytes  = 96 << 20 // of all files together
	MaxFiles  = 1000
	// maxArchive is the size of the largest file that is looked at: files that cannot be made smaller,
	// and what an archive has beside them.
	maxArchive = MaxBytes + 4<<20
)

// The files that a package has beside those of the plugin.
const (
	ownFolder      = ".wharf/"
	ContentsPath   = ownFolder + "contents.json"
	SignaturesPath = ownFolder + "signatures.json"
)

// format is the version of the table of contents.
const format = "wharf-package-1"

// digestPrefix says what a digest is of.
const digestPrefix = "sha256:"

// Refused is the error for what is no package, or not a whole one. Other errors say that reading
// itself failed.
type Refused struct {
	Reason   string             // in words, with what to do
	Problems []manifest.Problem // of a manifest that is not valid
	err      error
}

func (r *Refused) Error() string { return r.Reason }

// Unwrap returns what was refused further down, such as a [*filetree.Refusal]; nil for nothing.
func (r *Refused) Unwrap() error { return r.err }

func refuse(words string, args ...any) error { return &Refused{Reason: fmt.Sprintf(words, args...)} }

// Package is a plugin with all that belongs to it. It is not changed but by [Package.Sign].
type Package struct {
	Manifest *manifest.Manifest // its schemas are read
	Module   []byte
	// Files are all files of the plugin, the manifest and the module among them, sorted by path.
	Files []filetree.File
	// Contents is the table of contents, which is what is signed.
	Contents []byte
	// Digest is that of Contents: "sha256:" and hex. It names the package.
	Digest     string
	Signatures []Signature // each is right; in the order of their keys
}

// contents is the table of contents, in the order of its members (RFC 8785).
type contents struct {
	Files   []Entry       `json:"files"`
	Format  string        `json:"format"`
	Kind    manifest.Kind `json:"kind"`
	Module  string        `json:"module"` // its path
	Name    string        `json:"name"`
	Version string        `json:"version"`
}

// Entry is a file in a table of contents.
type Entry struct {
	Bytes  int64  `json:"bytes"`
	Path   string `json:"path"`
	SHA256 string `json:"sha256"` // hex
}

// limits are those of reading.
func limits() filetree.Limits {
	return filetree.Limits{Files: MaxFiles, FileBytes: MaxModule, Bytes: MaxBytes}
}

// New returns the package of files, which come in any order. Signatures and a table of contents
// that are among them are held against the files. Whatever is wrong is a [*Refused].
func New(files iter.Seq2[filetree.Named, error]) (*Package, error) {
	tree, err := filetree.ReadFiles(files, limits())
	if err != nil {
		return nil, refusal(err)
	}
	return ofTree(tree)
}

// refusal makes a [*Refused] of what the files were refused for.
func refusal(err error) error {
	if r, ok := errors.AsType[*filetree.Refusal](err); ok {
		return &Refused{Reason: r.Error(), err: r}
	}
	return err
}

func ofTree(tree *filetree.Tree) (*Package, error) {
	if tree.Root != "" {
		return nil, refuse("all of its files lie in a folder %q: a package has %s at its top", tree.Root, manifest.FileName)
	}
	files, own, err := apart(tree)
	if err != nil {
		return nil, err
	}
	p, err := assemble(files)
	if err != nil {
		return nil, err
	}
	if stated := own.File(ContentsPath); stated != nil && !bytes.Equal(stated.Content, p.Contents) {
		return nil, p.differs(stated.Content)
	}
	if signatures := own.File(SignaturesPath); signatures != nil {
		if err := p.readSignatures(signatures.Content); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// apart tells the files of the plugin from those that packing has added.
func apart(tree *filetree.Tree) (files, own *filetree.Tree, err error) {
	files, own = &filetree.Tree{}, &filetree.Tree{}
	for _, f := range tree.Files {
		switch {
		case !isOwn(f.Path):
			files.Files = append(files.Files, f)
		case f.Path == ContentsPath, f.Path == SignaturesPath:
			own.Files = append(own.Files, f)
		default:
			return nil, nil, refuse("%q: nothing else than %s and %s lies in that folder: a newer wharf may have packed it", f.Path, ContentsPath, SignaturesPath)
		}
	}
	return files, own, nil
}

// isOwn reports whether a path is kept for what packing adds, however it is spelled.
func isOwn(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return strings.EqualFold(first+"/", ownFolder)
}

// assemble makes the package of a plugin's files.
func assemble(files *filetree.Tree) (*Package, error) {
	text := files.File(manifest.FileName)
	if text == nil {
		return nil, refuse("it has no %s: a package has one at its top", manifest.FileName)
	}
	m, problems := manifest.Parse(text.Content)
	if m == nil {
		return nil, unsound(problems)
	}
	module, err := moduleOf(files, m)
	if err != nil {
		return nil, err
	}
	if problems := m.ReadSchemas(treeFS{files}); !manifest.Sound(problems) {
		return nil, unsound(problems)
	}
	p := &Package{Manifest: m, Module: module, Files: files.Files}
	p.Contents, err = p.contents()
	p.Digest = Digest(p.Contents)
	return p, err
}

// composed is a path as trees have it: a manifest may spell it in another form of Unicode.
func composed(path string) string { return norm.NFC.String(path) }

// unsound refuses a manifest, in the words of the first that is wrong with it.
func unsound(problems []manifest.Problem) error {
	first := problems[slices.IndexFunc(problems, func(p manifest.Problem) bool { return p.Severity == manifest.Error })]
	return &Refused{Reason: manifest.FileName + ":" + first.String(), Problems: problems}
}

// moduleOf returns the module that a manifest names.
func moduleOf(files *filetree.Tree, m *manifest.Manifest) ([]byte, error) {
	module := files.File(composed(m.Module))
	switch {
	case module == nil:
		return nil, refuse("it lacks the module %q that its manifest names: build the plugin first", m.Module)
	case !bytes.HasPrefix(module.Content, []byte("\x00asm")):
		return nil, refuse("%q is no WebAssembly module: build the plugin, and name what was built in %s", m.Module, manifest.FileName)
	}
	return module.Content, nil
}

func (p *Package) contents() ([]byte, error) {
	c := contents{Files: p.Entries(), Format: format, Kind: p.Manifest.Kind, Module: p.ModulePath(), Name: p.Manifest.Name, Version: p.Manifest.Version}
	text, err := json.Marshal(&c)
	if err == nil {
		err = (*jsontext.Value)(&text).Canonicalize()
	}
	if err != nil {
		return nil, fmt.Errorf("writing the table of contents: %w", err)
	}
	return text, nil
}

// Digest returns the digest of bytes, as packages are named by that of their table of contents.
func Digest(content []byte) string {
	sum := sha256.Sum256(content)
	return digestPrefix + hex.EncodeToString(sum[:])
}

// differs says what of a stated table of contents is not so.
func (p *Package) differs(stated []byte) error {
	var c contents
	if err := json.Unmarshal(stated, &c, json.RejectUnknownMembers(true)); err != nil {
		return refuse("%s is no table of contents: pack it again", ContentsPath)
	}
	if c.Format != format {
		return refuse("%s has the format %q, and this wharf reads %q: a newer one may have packed it", ContentsPath, clip(c.Format), format)
	}
	told := map[string]Entry{}
	for _, e := range c.Files {
		told[e.Path] = e
	}
	for _, f := range p.Files {
		e, ok := told[f.Path]
		switch sum := sha256.Sum256(f.Content); {
		case !ok:
			return refuse("%q is not in the table of contents: somebody has added it", f.Path)
		case e.SHA256 != hex.EncodeToString(sum[:]) || e.Bytes != int64(len(f.Content)):
			return refuse("%q has another digest than the table of contents states: it was changed after it was packed", f.Path)
		}
		delete(told, f.Path)
	}
	for path := range told {
		return refuse("%q is missing, which the table of contents states: somebody has removed it", clip(path))
	}
	return refuse("%s does not say what %s says, or not in its canonical form: pack it again", ContentsPath, manifest.FileName)
}

// clip cuts what a stranger wrote to what an error can hold.
func clip(s string) string {
	const most = 200
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}

// File returns the content of a file; nil when there is none.
func (p *Package) File(path string) []byte {
	if f := (&filetree.Tree{Files: p.Files}).File(path); f != nil {
		return f.Content
	}
	return nil
}

// PluginManifest is the manifest as a node is told it, with the schemas that it names.
func (p *Package) PluginManifest() *abi.PluginManifest {
	said := &abi.PluginManifest{Text: string(p.File(manifest.FileName))}
	for _, name := range []string{p.Manifest.Schemas.Input.File, p.Manifest.Schemas.Output.File} {
		if name == "" {
			continue
		}
		if said.Files == nil {
			said.Files = map[string]string{}
		}
		said.Files[name] = string(p.File(composed(name)))
	}
	return said
}

// ModulePath returns the path of the module among the files.
func (p *Package) ModulePath() string { return composed(p.Manifest.Module) }

// Name is what the file of a package is called when nobody says otherwise.
func (p *Package) Name() string { return p.Manifest.Name + "-" + p.Manifest.Version + Extension }

// Write writes the package as one file: a zip archive.
func (p *Package) Write(w io.Writer) error {
	all := slices.Clone(p.Files)
	all = append(all, filetree.File{Path: ContentsPath, Content: p.Contents})
	if len(p.Signatures) > 0 {
		text, err := p.SignaturesJSON()
		if err != nil {
			return err
		}
		all = append(all, filetree.File{Path: SignaturesPath, Content: text})
	}
	slices.SortFunc(all, func(a, b filetree.File) int { return strings.Compare(a.Path, b.Path) })
	return (&filetree.Tree{Files: all}).WriteZip(w, "")
}

// Entries lists the files as the table of contents does.
func (p *Package) Entries() []Entry {
	list := []Entry{}
	for _, f := range p.Files {
		sum := sha256.Sum256(f.Content)
		list = append(list, Entry{int64(len(f.Content)), f.Path, hex.EncodeToString(sum[:])})
	}
	return list
}
