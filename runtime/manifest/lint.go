package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/abi/plainly"
	"github.com/wharf-dev/wharf/runtime/policy"
	"github.com/wharf-dev/wharf/runtime/skill"
)

// Module is what is known of the built module of a plugin.
type Module struct {
	Refused string   // why it cannot be loaded; "" when it can
	Calls   []string // the host calls that it imports
	Exports []string // those that can be run
}

// Beside is what lies beside a manifest.
type Beside struct {
	Files fs.FS // nil looks at no file
	// Module says what the module is that lies at a path; fs.ErrNotExist says that there is none. nil
	// looks at no module.
	Module func(path string) (*Module, error)
}

// Lint finds what is wrong with a manifest, and with how it fits what lies beside it. The Manifest
// is nil when it cannot be read at all. An error says that something could not be looked at.
func Lint(text []byte, beside Beside) (*Manifest, []Problem, error) {
	m, problems := parse(text)
	if m == nil {
		return nil, problems, nil
	}
	r := &reader{places: m.text, where: m.where, problems: problems}
	if beside.Files != nil {
		m.lookAround(r, beside.Files)
		m.readSchemas(r, beside.Files)
	}
	err := m.compare(r, beside.Module)
	return m, r.all(), err
}

// lookAround looks for the source file.
func (m *Manifest) lookAround(r *reader, files fs.FS) {
	if m.Entry == "" {
		return
	}
	info, err := fs.Stat(files, m.Entry)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		m.blame(r, Error, MissingFile, "entry", fmt.Sprintf("entry: there is no file %s", quote(m.Entry)), "write it, or name the one that there is")
	case err != nil:
		m.blame(r, Error, InvalidFile, "entry", "entry: "+clip(err.Error()), "it has to lie in the folder of the manifest")
	case info.IsDir() && m.Language != "go":
		m.blame(r, Error, InvalidFile, "entry", fmt.Sprintf("entry: %s is a folder", quote(m.Entry)), "name a file in it")
	}
}

// ReadSchemas reads the JSON Schemas that stand in files of their own.
func (m *Manifest) ReadSchemas(files fs.FS) []Problem {
	r := &reader{places: m.text, where: m.where}
	m.readSchemas(r, files)
	return r.all()
}

func (m *Manifest) readSchemas(r *reader, files fs.FS) {
	for path, s := range map[string]*JSONSchema{"schemas.input": &m.Schemas.Input, "schemas.output": &m.Schemas.Output} {
		if s.File == "" {
			continue
		}
		text, err := readBounded(files, s.File, skill.MaxSchema)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			m.blame(r, Error, MissingFile, path, fmt.Sprintf("%s: there is no file %s", path, quote(s.File)), "write it, or put the schema into the manifest")
			continue
		case err != nil:
			m.blame(r, Error, InvalidFile, path, path+": "+clip(err.Error()), "it has to be a file in the folder of the manifest")
			continue
		}
		if err := skill.Accept(text); err != nil {
			m.blame(r, Error, InvalidSchema, path, fmt.Sprintf("%s: %s is no JSON Schema: %s", path, quote(s.File), clip(err.Error())), "json-schema.org has what it may hold")
			continue
		}
		s.Text = bytes.TrimSpace(text)
	}
}

// readBounded reads a file that has at most so many bytes.
func readBounded(files fs.FS, name string, most int64) ([]byte, error) {
	f, err := files.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, errors.New("it is no file"))
	}
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(text)) > most {
		err = fmt.Errorf("it has more than %d bytes", most)
	}
	return text, err
}

// compare holds the manifest against the built module.
func (m *Manifest) compare(r *reader, look func(string) (*Module, error)) error {
	if look == nil || m.Module == "" {
		return nil
	}
	built, err := look(m.Module)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if m.stated("module") && m.Entry == "" {
			m.blame(r, Error, MissingFile, "module", fmt.Sprintf("module: there is no file %s, and no entry to build it from", quote(m.Module)), "build it, or name the one that there is")
		}
		return nil
	case err != nil:
		return fmt.Errorf("looking at the module %s: %w", clip(m.Module), err)
	case built.Refused != "":
		m.blame(r, Error, ModuleRefused, "module", fmt.Sprintf("the module %s cannot be loaded: %s", quote(m.Module), built.Refused), "wharf plugin vet says more")
		return nil
	}
	m.compareExports(r, built)
	m.compareCalls(r, built)
	return nil
}

func (m *Manifest) compareExports(r *reader, built *Module) {
	for i, name := range m.Exports {
		if name == "" || slices.Contains(built.Exports, name) {
			continue
		}
		try := "it exports " + clip(strings.Join(built.Exports, ", "))
		if near := plainly.Nearest(name, slices.Values(built.Exports)); near != "" {
			try = fmt.Sprintf("did you mean %q?", near)
		}
		path := fmt.Sprintf("exports[%d]", i)
		m.blame(r, Error, MissingExport, path, fmt.Sprintf("%s: the module exports no function %s that takes nothing and returns an i32", path, quote(name)), try)
	}
}

// compareCalls holds what is granted beside what the module asks for.
func (m *Manifest) compareCalls(r *reader, built *Module) {
	known := abi.HostCallsByName()
	if m.Kind == KindPersona || m.Kind == KindSkill || m.Connector.Poll != "" {
		for _, call := range built.Calls {
			if c := known[call]; c != nil && granting(c) && !m.grants(call) {
				m.blame(r, Warning, NotGranted, "capabilities", fmt.Sprintf("the module asks for %s, which is not granted: the call will be refused", call), fmt.Sprintf("add %q to capabilities, or take the call out", call))
			}
		}
	}
	for i, pattern := range m.Capabilities {
		if needless := fits(pattern); len(needless) > 0 && !slices.ContainsFunc(built.Calls, func(call string) bool { return policy.Match(pattern, call) }) {
			path := fmt.Sprintf("capabilities[%d]", i)
			m.blame(r, Warning, NotAsked, path, fmt.Sprintf("%s: %s is granted, and the module does not ask for it", path, quote(pattern)), "remove it")
		}
	}
}

// Asked is a host call, and who wants it: the manifest, the module, or both.
type Asked struct {
	Call    string `json:"call"`
	Granted bool   `json:"granted"` // by the manifest
	Asked   bool   `json:"asked"`   // by the module's imports
}

// Asks lists the host calls that need a grant and that the manifest grants or the
// module asks for, in the order of their names.
func (m *Manifest) Asks(built *Module) []Asked {
	wants := map[string]Asked{}
	known := abi.HostCallsByName()
	for _, call := range built.Calls {
		if c := known[call]; c != nil && granting(c) {
			wants[call] = Asked{Call: call, Asked: true, Granted: m.grants(call)}
		}
	}
	for _, pattern := range m.Capabilities {
		for _, call := range fits(pattern) {
			w := wants[call]
			w.Call, w.Granted = call, true
			wants[call] = w
		}
	}
	var all []Asked
	for _, call := range slices.Sorted(maps.Keys(wants)) {
		all = append(all, wants[call])
	}
	return all
}
