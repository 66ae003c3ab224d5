package building

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/runtime/manifest"
	"github.com/wharf-dev/wharf/runtime/policy"
)

// record says what a module was built from. It lies beside the module.
type record struct {
	Version     int               `json:"version"`
	Module      string            `json:"module"` // its digest
	Command     []string          `json:"command"`
	Environment []string          `json:"environment,omitzero"`
	Toolchain   string            `json:"toolchain"`
	Stamp       string            `json:"stamp,omitzero"`  // of the toolchain's program, so that it need not be asked again what it can do
	Inputs      map[string]string `json:"inputs"`          // of the folder: digests by path
	Beyond      map[string]string `json:"beyond,omitzero"` // of elsewhere, by absolute path
}

const (
	recordVersion = 1
	recordSuffix  = ".build.json"
	maxRecord     = 16 << 20
)

// aside are folders that hold no sources: what is built, and what package managers have put there.
var aside = []string{"target", "node_modules"}

// inputs are the files of the folder that the module is made of, with their digests.
func (p Project) inputs(root *os.Root) (map[string]string, error) {
	all := map[string]string{}
	err := fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && p.isAside(name):
			return fs.SkipDir
		case d.IsDir() || !p.isInput(name):
			return nil
		}
		all[name], err = digestWithin(root, name)
		if errors.Is(err, errNoFile) { // a pipe, a link out of the folder or to a folder
			delete(all, name)
			return nil
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("reading the sources: %w", err)
	}
	return all, nil
}

// isAside reports whether no sources are looked for in a folder: it is hidden, or holds what is built or what
// package managers have put there.
func (p Project) isAside(name string) bool {
	base := path.Base(name)
	return name != "." && (strings.HasPrefix(base, ".") || slices.Contains(aside, base) || name == path.Dir(p.Manifest.Module))
}

// Ignores reports whether what lies at a path of the folder, with slashes, has no part in what is built: a file, or
// a folder with all that is in it. Of a project without a manifest it leaves out what no project's sources are.
func (p Project) Ignores(name string, folder bool) bool {
	switch {
	case p.Manifest == nil:
		p.Manifest = &manifest.Manifest{Module: "build/any.wasm"}
	case !folder && (name == manifest.FileName || name == p.Manifest.Schemas.Input.File || name == p.Manifest.Schemas.Output.File):
		return false
	}
	if folder {
		return p.isAside(name)
	}
	return path.Ext(name) == ".wasm" || !p.isInput(name)
}

func (p Project) isInput(name string) bool {
	module := path.Clean(p.Manifest.Module)
	if name == module || name == module+recordSuffix || strings.HasPrefix(path.Base(name), ".") {
		return false
	}
	return len(p.Manifest.Build.Watch) == 0 || policy.MatchAny(p.Manifest.Build.Watch, name)
}

// recorded is what is known of the last build, and nothing when it cannot be read.
func recorded(root *os.Root, module string) (before record) {
	text, err := root.ReadFile(filepath.FromSlash(module) + recordSuffix)
	if err != nil || len(text) > maxRecord || json.Unmarshal(text, &before) != nil || before.Version != recordVersion {
		return record{}
	}
	return before
}

// stamp is what changes when a program is replaced, "" when there is none.
func stamp(program string) string {
	info, err := os.Stat(program)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%s %d %d", program, info.Size(), info.ModTime().UnixNano())
}

// current returns the module when what was built before is what this would build, and else nil.
func (r *record) current(root *os.Root, module string, before *record) []byte {
	if before.Version != r.Version || !slices.Equal(before.Command, r.Command) || !slices.Equal(before.Environment, r.Environment) ||
		before.Toolchain != r.Toolchain || before.Stamp != r.Stamp || !maps.Equal(before.Inputs, r.Inputs) {
		return nil
	}
	for file, was := range before.Beyond {
		if is, err := digestOf(os.Open(file)); err != nil || is != was {
			return nil
		}
	}
	wasm, err := root.ReadFile(filepath.FromSlash(module))
	if err != nil || Digest(wasm) != before.Module {
		return nil
	}
	return wasm
}

// keep writes what the module was built from. The digests of the folder's files are those from
// before the build, so that a file which was saved meanwhile makes for another one.
func (r *record) keep(root *os.Root, p Project, plan *Plan, wasm []byte) error {
	r.Module, r.Beyond = Digest(wasm), map[string]string{}
	folder, err := filepath.EvalSymlinks(p.Folder)
	if err == nil {
		folder, err = filepath.Abs(folder)
	}
	if err != nil {
		return fmt.Errorf("finding the plugin's folder: %w", err)
	}
	for _, file := range plan.read {
		if !filepath.IsAbs(file) {
			file = filepath.Join(folder, file)
		}
		if within, err := filepath.Rel(folder, file); err == nil && r.Inputs[filepath.ToSlash(within)] != "" {
			continue
		}
		if r.Beyond[file], err = digestOf(os.Open(file)); err != nil {
			return fmt.Errorf("reading what the module was made of: %w", err)
		}
	}
	text, err := json.Marshal(r, json.Deterministic(true), jsontext.Multiline(true))
	if err != nil {
		return fmt.Errorf("writing what the module was made of: %w", err)
	}
	return replace(root, p.module+recordSuffix, append(text, '\n'))
}

var errNoFile = errors.New("it is no file")

// digestWithin is the digest of a file of the folder. It opens no pipe and no device, which wait for somebody.
func digestWithin(root *os.Root, name string) (string, error) {
	info, err := root.Stat(filepath.FromSlash(name))
	if err != nil || !info.Mode().IsRegular() {
		return "", errNoFile
	}
	return digestOf(root.Open(filepath.FromSlash(name)))
}

func digestOf(f *os.File, err error) (string, error) {
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil)), nil
}

// Digest is the digest of content as it is written: sha256:...
func Digest(content []byte) string {
	sum := sha256.Sum256(content)
	return "sha256:" + hex.EncodeToString(sum[:])
}
