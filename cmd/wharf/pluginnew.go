package main

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wharf-dev/wharf/cmd/wharf/internal/show"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/templates"
	"github.com/wharf-dev/wharf/runtime/manifest"
)

func (a *app) pluginNewCommand() *cobra.Command {
	var language, kind string
	languages, kinds := strings.Join(templates.Languages(), ", "), join(templates.Kinds())
	cmd := page{
		use:   "new FOLDER --lang LANGUAGE",
		short: "Make the folder of a new plugin",
		long: `New makes a folder with a plugin that builds: a manifest (wharf.toml), a source, test
cases, and the SDK of the language, so that nothing has to be fetched for it. The last part of the
path is the name of the plugin: at most 64 of a-z 0-9, with - and _ between them.

A persona answers Tasks; a skill does so with an input and an output that have schemas; a connector
says what the deliveries of a provider mean; a hook is asked before tools are called.

Nothing is overwritten: the folder must be new or empty.`,
		example: `  wharf plugin new hello --lang go
  wharf plugin new plugins/word-count --lang c --kind skill`,
		args: oneArg("a folder, whose name the plugin gets"),
	}.command(func(_ *cobra.Command, args []string) error {
		if language == "" {
			return usagef("--lang says in which language the plugin is written: %s", languages)
		}
		return a.newPlugin(args[0], language, manifest.Kind(kind))
	})
	cmd.Flags().StringVar(&language, "lang", "", "its language: "+languages)
	cmd.Flags().StringVar(&kind, "kind", string(manifest.KindPersona), "what it is: "+kinds)
	return cmd
}

// newPlugin is what was made, as JSON.
type newPlugin struct {
	Folder   string        `json:"folder"`
	Name     string        `json:"name"`
	Language string        `json:"language"`
	Kind     manifest.Kind `json:"kind"`
	Files    []string      `json:"files"`
}

func (a *app) newPlugin(folder, language string, kind manifest.Kind) error {
	whole, err := filepath.Abs(folder)
	if err != nil {
		return fmt.Errorf("finding the folder: %w", err)
	}
	if err := checkChoice("--kind", string(kind), strings.Split(join(templates.Kinds()), ", ")); err != nil {
		return err
	}
	name := filepath.Base(whole)
	made, err := templates.Make(templates.Wanted{Name: name, Language: language, Kind: kind})
	if wrong := manifest.CheckName(name); wrong != nil {
		return advise(usagef("the name of a plugin is that of its folder, and %w", wrong), "wharf plugin new "+likeName(folder)+" --lang "+language)
	}
	if errors.Is(err, templates.ErrRefused) {
		return usagef("%w", err)
	}
	if err == nil {
		err = templates.Write(whole, made)
	}
	if errors.Is(err, templates.ErrNotEmpty) {
		return advise(err, "another name")
	}
	if err != nil {
		return fmt.Errorf("making the plugin: %w", err)
	}
	return a.print(newPlugin{folder, name, language, kind, slices.Sorted(maps.Keys(made))}, func() { a.showNew(folder, made) })
}

// likeName is a folder whose name is like that of another and is one of a plugin.
func likeName(folder string) string {
	name := strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_' {
			return c
		}
		return ' '
	}, strings.ToLower(filepath.Base(folder)))
	name = strings.Join(strings.Fields(name), "-")
	if manifest.CheckName(name) != nil {
		name = "hello"
	}
	return filepath.Join(filepath.Dir(folder), name)
}

// showNew lists what an author looks at first. What lies deeper is the SDK.
func (a *app) showNew(folder string, made map[string][]byte) {
	a.out.Line(a.out.Paint(show.Bold, show.OneLine(folder)), " is there:")
	for _, name := range slices.Sorted(maps.Keys(made)) {
		if strings.Count(name, "/") < 2 {
			a.out.Line("  ", name)
		}
	}
	a.out.Gap()
	a.out.Line("Next:")
	a.out.Line("  cd ", show.OneLine(folder))
	a.out.Line("  wharf plugin build")
	a.out.Line("  wharf plugin test")
	a.out.Line(`  wharf plugin run . "Hello"`)
}
