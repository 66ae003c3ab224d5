package templates

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"text/template"

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

// filled is what templates know.
type filled struct {
	Wanted
	language
	Does         string // what the plugin does, in a sentence
	Capabilities string
	Module       string
	GoModule     string // the path of the plugin's own module
	GoVersion    string
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
	f := filled{Wanted: w, language: *l, Does: what[w.Kind].does, Capabilities: what[w.Kind].capabilities,
		Module: "build/" + w.Name + ".wasm", GoModule: "example.com/" + w.Name}
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

// fill executes the templates of the language, of the kind, and of all plugins.
func (f *filled) fill(made map[string][]byte) error {
	wanted := map[string]string{
		"any/wharf.toml.tmpl": manifest.FileName,
		"any/README.md.tmpl":  "README.md",
		"any/gitignore.tmpl":  ".gitignore",
	}
	wanted["cases/"+string(f.Kind)+".yaml.tmpl"] = "testdata/first.yaml"
	for from, to := range f.files {
		wanted[f.folder+"/"+strings.ReplaceAll(from, "KIND", string(f.Kind))] = to
	}
	for from, to := range wanted {
		text, err := fs.ReadFile(files, path.Join("files", from))
		if err != nil {
			return fmt.Errorf("reading a template: %w", err)
		}
		t, err := template.New(from).Delims("[[", "]]").Parse(string(text))
		if err != nil {
			return fmt.Errorf("reading a template: %w", err)
		}
		var out bytes.Buffer
		if err := t.Execute(&out, f); err != nil {
			return fmt.Errorf("filling a template: %w", err)
		}
		made[to] = out.Bytes()
	}
	return nil
}
