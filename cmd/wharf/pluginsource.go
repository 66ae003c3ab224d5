package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/manifest"
	"github.com/wharf-dev/wharf/runtime/parcel"
	"github.com/wharf-dev/wharf/runtime/skill"
	"github.com/wharf-dev/wharf/runtime/spelling"
)

// aboveModule is how many folders above a module's own a manifest is looked for in.
const aboveModule = 3

// pluginSource is what is installed of a plugin.
type pluginSource struct {
	name   string
	module string              // the path of the built module, or of the package that has it
	packed *parcel.Package     // nil when the module is a file of its own
	said   *abi.PluginManifest // nil without a manifest
	means  *manifest.Manifest
}

// sourceOf finds what is to be installed: the plugin of a folder, of a manifest or of a package, or a
// module, with the manifest that says that it is its own. With trusted keys only a package that one of
// them has signed will do.
func sourceOf(path string, trust parcel.Trust) (*pluginSource, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("reading the plugin: %w", err)
	}
	packed, err := isPackage(path)
	if err != nil {
		return nil, fmt.Errorf("reading the plugin: %w", err)
	}
	switch {
	case packed, filepath.Ext(path) == parcel.Extension && !info.IsDir():
		return sourceIn(path, trust)
	case len(trust) > 0:
		return nil, usagef("--trust is for packages, which are signed: %s is none", path)
	case info.IsDir():
		return sourceAt(path, manifest.FileName)
	case filepath.Ext(path) == ".toml":
		return sourceAt(filepath.Dir(path), filepath.Base(path))
	}
	folder := filepath.Dir(path)
	for range aboveModule {
		if of, err := sourceAt(folder, manifest.FileName); err == nil && sameFile(of.module, path) {
			return of, nil
		}
		folder = filepath.Join(folder, "..")
	}
	return &pluginSource{name: strings.TrimSuffix(filepath.Base(path), ".wasm"), module: path}, nil
}

// sourceIn reads a package.
func sourceIn(path string, trust parcel.Trust) (*pluginSource, error) {
	p, err := parcel.Open(path)
	if err != nil {
		return nil, err
	}
	if err := trust.Check(p); err != nil {
		return nil, untrusted(err)
	}
	return &pluginSource{name: p.Manifest.Name, module: path, packed: p, means: p.Manifest, said: p.PluginManifest()}, nil
}

// open opens what is sent, the module or the package, and returns how many bytes it has.
func (s *pluginSource) open() (io.ReadCloser, int64, error) {
	if s.packed != nil { // what was checked is sent, and not what the file has by now
		var b bytes.Buffer
		err := s.packed.Write(&b)
		return io.NopCloser(&b), int64(b.Len()), err
	}
	f, err := os.Open(s.module)
	if errors.Is(err, fs.ErrNotExist) && s.said != nil {
		return nil, 0, advise(fmt.Errorf("the module %s is not there", s.module), "build the plugin first")
	}
	if err != nil {
		return nil, 0, fmt.Errorf("reading the module: %w", err)
	}
	info, err := f.Stat()
	if err != nil {
		return nil, 0, errors.Join(fmt.Errorf("reading the module: %w", err), f.Close())
	}
	return f, info.Size(), nil
}

func sameFile(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}

// sourceAt reads a manifest in a folder, and the files that it names. Nothing outside of the folder is
// opened.
func sourceAt(path, name string) (_ *pluginSource, err error) {
	folder, err := openAuthorsFolder(path, name)
	if none, ok := errors.AsType[*noManifest](err); ok {
		return nil, advise(none, "write one (docs/manifest.md), or name a .wasm file")
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, folder.Close()) }()
	m, problems := manifest.Parse(folder.text)
	if m != nil {
		problems = m.ReadSchemas(folder.FS())
	}
	if !manifest.Sound(problems) {
		return nil, advise(fmt.Errorf("%s:%s", folder.file, firstError(problems)), "wharf plugin lint "+path)
	}
	of := &pluginSource{name: m.Name, module: filepath.Join(path, filepath.FromSlash(m.Module)), means: m, said: &abi.PluginManifest{Text: string(folder.text)}}
	for _, name := range []string{m.Schemas.Input.File, m.Schemas.Output.File} {
		if name == "" {
			continue
		}
		schema, err := readWithin(folder.Root, name, skill.MaxSchema+1)
		if err != nil {
			return nil, fmt.Errorf("reading the schema %s: %w", name, err)
		}
		if of.said.Files == nil {
			of.said.Files = map[string]string{}
		}
		of.said.Files[name] = string(schema)
	}
	return of, nil
}

// wants returns what the configuration of a node has to say for a plugin to work, as YAML; "" for nothing.
func wants(m *manifest.Manifest) string {
	var b yamlLines
	b.group("grants", m.Name, grantsOf(m))
	b.group("settings", m.Name, settingsOf(m))
	b.limits(m)
	return b.String()
}

// yamlLines is a text of YAML.
type yamlLines struct{ strings.Builder }

func (b *yamlLines) group(section, plugin string, lines []string) {
	if len(lines) == 0 {
		return
	}
	fmt.Fprintf(b, "%s:\n  %s:\n", section, plugin)
	for _, l := range lines {
		fmt.Fprintf(b, "    %s\n", l)
	}
}

func grantsOf(m *manifest.Manifest) (lines []string) {
	if len(m.Hosts) > 0 {
		methods := m.Methods
		if len(methods) == 0 {
			methods = []string{"GET"}
		}
		lines = append(lines, "http: [{hosts: "+yamlList(m.Hosts)+", methods: "+yamlList(methods)+"}]")
	}
	for _, g := range []struct {
		name  string
		words []string
	}{{"secrets", m.Secrets}, {"tools", m.Tools}, {"agents", m.Agents}, {"models", m.Models}} {
		if len(g.words) > 0 {
			lines = append(lines, g.name+": "+yamlList(g.words))
		}
	}
	return lines
}

// settingsOf names what has no default, which only an operator can set.
func settingsOf(m *manifest.Manifest) (lines []string) {
	for _, s := range m.Config {
		if s.Default != nil {
			continue
		}
		line := s.Name + ":  # a value of the type " + s.Type
		if s.Description != "" {
			line += ": " + strings.Join(strings.Fields(s.Description), " ")
		}
		lines = append(lines, line)
	}
	return lines
}

// limits says what the manifest wants each run to have, where it says so.
func (b *yamlLines) limits(m *manifest.Manifest) {
	var lines []string
	if m.Limits.Memory > 0 {
		lines = append(lines, "memory: "+spelling.FormatSize(m.Limits.Memory))
	}
	if m.Limits.Gas > 0 {
		lines = append(lines, "gas: "+strconv.FormatInt(m.Limits.Gas, 10))
	}
	if m.Limits.Depth > 0 {
		lines = append(lines, "depth: "+strconv.FormatInt(m.Limits.Depth, 10))
	}
	if len(lines) == 0 {
		return
	}
	fmt.Fprintf(b, "plugins:\n  limits:\n    %s:\n", m.Name)
	for _, l := range lines {
		fmt.Fprintf(b, "      %s\n", l)
	}
}

// yamlList writes texts as YAML has them, and JSON.
func yamlList(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		text, err := jsontext.AppendQuote(nil, w)
		if err != nil {
			text = []byte(strconv.Quote(w))
		}
		quoted[i] = string(text)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}
