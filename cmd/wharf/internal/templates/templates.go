package templates

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/wharf-dev/wharf/runtime/manifest"
)

// Wanted is what a new plugin is to be.
type Wanted struct {
	Name     string
	Language string
	Kind     manifest.Kind
}

// Kinds are the kinds of plugins that there are templates for.
func Kinds() []manifest.Kind {
	return []manifest.Kind{manifest.KindPersona, manifest.KindSkill, manifest.KindConnector, manifest.KindHook}
}

// Languages are those that there are templates for.
func Languages() []string {
	var names []string
	for _, l := range languages() {
		names = append(names, l.name)
	}
	return names
}

// ErrRefused is the error of what there is no template for.
var ErrRefused = errors.New("there is no such template")

//go:embed files
var files embed.FS

// filled is what templates are filled with.
type filled struct {
	Wanted
	language
	goModule  string // the path of the plugin's own module
	goVersion string
}

// members are what templates know, by the names that stand for them.
func (f *filled) members() map[string]string {
	return map[string]string{
		"Name": f.Name, "Kind": string(f.Kind), "Language": f.Language,
		"Does": what[f.Kind].does, "Capabilities": what[f.Kind].capabilities,
		"Called": f.called, "Entry": f.entry, "SDKRow": f.sdkRow, "OwnTest": f.ownTest, "Needs": f.needs, "Ignored": f.ignored,
		"Module": "build/" + f.Name + ".wasm", "GoModule": f.goModule, "GoVersion": f.goVersion,
	}
}

// what plugins of a kind do, in all languages.
var what = map[manifest.Kind]struct{ does, capabilities string }{
	manifest.KindPersona:   {"Greets whoever it is told of.", `["message.append"]`},
	manifest.KindSkill:     {"Counts the words of a text.", `["message.append"]`},
	manifest.KindConnector: {"Makes a Task of each ticket.", `[]`},
	manifest.KindHook:      {"Denies calls of tools that delete.", `[]`},
}

// Make returns the files of a new plugin by their paths, with slashes. The error is [ErrRefused]
// when there is no template for it.
func Make(w Wanted) (map[string][]byte, error) {
	if err := manifest.CheckName(w.Name); err != nil {
		return nil, err
	}
	l, err := lookUp(w)
	if err != nil {
		return nil, err
	}
	f := filled{Wanted: w, language: *l, goModule: "example.com/" + w.Name}
	made := map[string][]byte{}
	if err := l.vendor(&f, made); err != nil {
		return nil, fmt.Errorf("copying the SDK for %s: %w", l.called, err)
	}
	if err := f.fill(made); err != nil {
		return nil, err
	}
	schema, err := manifest.Schema()
	if err != nil {
		return nil, err
	}
	made["wharf.schema.json"] = schema
	if _, problems := manifest.Parse(made[manifest.FileName]); len(problems) > 0 {
		return nil, fmt.Errorf("the manifest of the new plugin: %s", problems[0].Message)
	}
	return made, nil
}

func lookUp(w Wanted) (*language, error) {
	if !slices.Contains(Kinds(), w.Kind) {
		return nil, fmt.Errorf("%w: a plugin is no %q", ErrRefused, w.Kind)
	}
	all := languages()
	i := slices.IndexFunc(all, func(l language) bool { return l.name == w.Language })
	if i < 0 {
		return nil, fmt.Errorf("%w: there is no SDK for %s yet: there are %s", ErrRefused, w.Language, strings.Join(Languages(), ", "))
	}
	return &all[i], nil
}

// fill fills the templates of the language, of the kind, and of all plugins.
func (f *filled) fill(made map[string][]byte) error {
	kind := string(f.Kind)
	wanted := map[string]string{
		"any/README.md.tmpl":           "README.md",
		"any/gitignore.tmpl":           ".gitignore",
		"cases/" + kind + ".yaml.tmpl": "testdata/first.yaml",
	}
	for from, to := range f.files {
		wanted[f.folder+"/"+strings.ReplaceAll(from, "KIND", kind)] = to
	}
	members := f.members()
	for from, to := range wanted {
		var err error
		if made[to], err = fill(from, members); err != nil {
			return err
		}
	}
	text, err := fill("any/wharf.toml.tmpl", members)
	if err != nil {
		return err
	}
	own, err := fill("any/"+kind+".toml.tmpl", members)
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // Personas need nothing more
		return err
	}
	made[manifest.FileName] = append(text, own...)
	return nil
}

// fill puts members where a template names them. A line that has nothing but an empty one is left out.
// It is not text/template, which calls methods by names that only a run knows: with it, the linker would
// keep each method of each type of the program.
func fill(name string, members map[string]string) ([]byte, error) {
	text, err := fs.ReadFile(files, path.Join("files", name))
	if err != nil {
		return nil, fmt.Errorf("reading a template: %w", err)
	}
	var out []byte
	for line := range strings.Lines(string(text)) {
		with, err := fillLine(line, members)
		if err != nil {
			return nil, fmt.Errorf("filling %s: %w", name, err)
		}
		if with != "\n" || line == "\n" {
			out = append(out, with...)
		}
	}
	return out, nil
}

func fillLine(line string, members map[string]string) (string, error) {
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(line, "[[.")
		out.WriteString(before)
		if !found {
			return out.String(), nil
		}
		name, after, _ := strings.Cut(rest, "]]")
		member, known := members[name]
		if !known {
			return "", fmt.Errorf("templates have no member %q", name)
		}
		out.WriteString(member)
		line = after
	}
}
