package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wharf-dev/wharf/cmd/wharf/internal/show"
	"github.com/wharf-dev/wharf/runtime/manifest"
	"github.com/wharf-dev/wharf/runtime/parcel"
)

// maxModule is the size of the largest module that a node loads.
const maxModule = parcel.MaxModule

func (a *app) pluginLintCommand() *cobra.Command {
	var strict bool
	cmd := page{
		use:   "lint [FOLDER|FILE]",
		short: "Say what is wrong with a plugin's manifest",
		long: `Lint reads the wharf.toml of a plugin, or of a package, and says what is wrong with it, and with how
it fits what lies beside it: the source, JSON Schemas, and the built module, when
there is one. It needs no node, and runs nothing of the module. Each line says
where, what is wrong, what to do, and the code of the problem.

The exit code is 0 when the manifest is valid, also with warnings, 1 when it is
not, and 2 when it cannot be read.`,
		example: `  wharf plugin lint
  wharf plugin lint my-plugin --strict
  wharf plugin lint my-plugin/wharf.toml --json | jq .capabilities`,
		args: optionalArg,
	}.command(func(cmd *cobra.Command, args []string) error {
		path := "."
		if len(args) > 0 {
			path = args[0]
		}
		return undecided(a.lint(cmd.Context(), path, strict))
	})
	cmd.Flags().BoolVar(&strict, "strict", false, "take warnings for errors")
	return cmd
}

// linted is what was found out about a manifest.
type linted struct {
	Path     string             `json:"path"`
	Valid    bool               `json:"valid"`
	Problems []manifest.Problem `json:"problems"`
	*lintedManifest
}

// lintedManifest is what could be read of it.
type lintedManifest struct {
	Name    string        `json:"name"`
	Version string        `json:"version"`
	Kind    manifest.Kind `json:"kind"`
	Module  string        `json:"module"`
	Built   bool          `json:"built"` // the module is there and can be loaded
	// Capabilities are the host calls that are granted beside those that a built module asks for.
	Capabilities []manifest.Asked `json:"capabilities"`
}

func (a *app) lint(ctx context.Context, path string, strict bool) error {
	l, err := lintAt(ctx, path)
	if err != nil {
		return err
	}
	if strict {
		l.strict()
	}
	if err := a.print(l, func() { a.showLinted(l) }); err != nil {
		return err
	}
	if !l.Valid {
		return &silentError{exitFailed}
	}
	return nil
}

// strict makes an error of each warning.
func (l *linted) strict() {
	for i := range l.Problems {
		l.Problems[i].Severity = manifest.Error
	}
	l.Valid = len(l.Problems) == 0
}

// lintAt looks at a manifest, or at that of a folder. Nothing outside of its folder is opened.
func lintAt(ctx context.Context, path string) (_ *linted, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("reading the manifest: %w", err)
	}
	if packed, err := isPackage(path); packed || err != nil {
		return lintPackage(ctx, path, err)
	}
	if info.IsDir() {
		path = filepath.Join(path, manifest.FileName)
	}
	folder, err := openAuthorsFolder(filepath.Dir(path), filepath.Base(path))
	if none, ok := errors.AsType[*noManifest](err); ok {
		return nil, advise(none, "\"wharf plugin new\" to make a folder that has one; docs/manifest.md has an example")
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, folder.Close()) }()
	var built *manifest.Module
	m, problems, err := manifest.Lint(folder.text, manifest.Beside{Files: folder.FS(), Module: func(file string) (*manifest.Module, error) {
		built, err = outline(ctx, folder.Root, file)
		return built, err
	}})
	if err != nil {
		return nil, err
	}
	return newLinted(path, m, problems, built), nil
}

// lintPackage looks at the manifest in a package, and how it fits the module there.
func lintPackage(ctx context.Context, path string, err error) (*linted, error) {
	if err != nil {
		return nil, fmt.Errorf("reading the manifest: %w", err)
	}
	p, err := openPackage(path)
	if refused, ok := errors.AsType[*parcel.Refused](err); ok && len(refused.Problems) > 0 {
		return newLinted(path, nil, refused.Problems, nil), nil
	}
	if err != nil {
		return nil, err
	}
	built, err := outlineOf(ctx, p.Module)
	if err != nil {
		return nil, err
	}
	m, problems, err := manifest.Lint(p.File(manifest.FileName), manifest.Beside{Module: func(string) (*manifest.Module, error) { return built, nil }})
	if err != nil {
		return nil, err
	}
	return newLinted(path, m, problems, built), nil
}

func newLinted(path string, m *manifest.Manifest, problems []manifest.Problem, built *manifest.Module) *linted {
	l := &linted{Path: strings.ToValidUTF8(path, "\ufffd"), Valid: manifest.Sound(problems), Problems: append([]manifest.Problem{}, problems...)}
	if m == nil {
		return l
	}
	l.lintedManifest = &lintedManifest{Name: m.Name, Version: m.Version, Kind: m.Kind, Module: m.Module, Built: built != nil && built.Refused == ""}
	if built == nil {
		built = &manifest.Module{}
	}
	l.Capabilities = append([]manifest.Asked{}, m.Asks(built)...)
	return l
}

// outline says what a module is that lies in the folder of a manifest.
func outline(ctx context.Context, root *os.Root, file string) (_ *manifest.Module, err error) {
	wasm, err := readWithin(root, file, maxModule+1)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, err
	case err != nil: // such as a link that leads out of the folder
		return &manifest.Module{Refused: err.Error()}, nil
	case len(wasm) > maxModule:
		return &manifest.Module{Refused: "it has more than " + show.Bytes(maxModule)}, nil
	}
	return outlineOf(ctx, wasm)
}

// readWithin reads the first bytes of a file in a folder. It opens no pipe and no device: these wait
// for somebody who writes.
func readWithin(root *os.Root, name string, most int64) (_ []byte, err error) {
	info, err := root.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no file", name)
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return io.ReadAll(io.LimitReader(f, most))
}

func (a *app) showLinted(l *linted) {
	errs := 0
	for i := range l.Problems {
		p := &l.Problems[i]
		style := show.Yellow
		if p.Severity == manifest.Error {
			errs++
			style = show.Red
		}
		line := fmt.Sprintf("%s:%d:%d: ", show.OneLine(l.Path), p.Line, p.Column)
		what := p.Message
		if p.Try != "" {
			what += "; " + p.Try
		}
		a.out.Line(line, a.out.Paint(style, string(p.Severity)), ": ", show.OneLine(what), " ", a.out.Paint(show.Dim, "["+string(p.Code)+"]"))
	}
	counts := numbered(errs, "error") + ", " + numbered(len(l.Problems)-errs, "warning")
	verdict := a.out.Paint(show.Green, "valid")
	if !l.Valid {
		verdict = a.out.Paint(show.Red, "not valid")
	}
	if l.lintedManifest == nil {
		a.out.Line(show.OneLine(l.Path), ": ", verdict, ": ", counts)
		return
	}
	a.out.Line(show.OneLine(l.Path), ": ", verdict, ": ", l.named(), counts)
	a.showCapabilities(l.lintedManifest)
}

// named is what a manifest is of, as far as it says.
func (l *lintedManifest) named() string {
	if l.Name == "" || l.Version == "" || l.Kind == "" {
		return ""
	}
	return fmt.Sprintf("the %s %s %s, ", l.Kind, l.Name, l.Version)
}

func (a *app) showCapabilities(m *lintedManifest) {
	if !m.Built {
		a.out.Line("The module ", show.OneLine(m.Module), " was not compared: there is none that can be loaded.")
	}
	var rows [][]show.Cell
	for _, c := range m.Capabilities {
		row := []show.Cell{{Text: c.Call, Style: show.Bold}, {Text: yesNo(c.Granted)}}
		if m.Built {
			row = append(row, show.Cell{Text: yesNo(c.Asked)})
		}
		rows = append(rows, row)
	}
	titles := []string{"HOST CALL", "GRANTED", "ASKED FOR"}
	if !m.Built {
		titles = titles[:2]
	}
	if len(rows) > 0 {
		a.out.Rows(titles, rows)
	}
}

func yesNo(v bool) string {
	if v {
		return "yes"
	}
	return "no"
}
