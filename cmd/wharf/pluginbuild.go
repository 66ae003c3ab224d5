package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/building"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/show"
	"github.com/wharf-dev/wharf/plugins/js"
	"github.com/wharf-dev/wharf/runtime/manifest"
	"github.com/wharf-dev/wharf/runtime/sandbox"
)

// scripts are the endings of programs that "plugin build" takes without a manifest.
var scripts = []string{".ts", ".tsx", ".mts", ".js", ".jsx", ".mjs", pythonEnding}

const pythonEnding = ".py"

func (a *app) pluginBuildCommand() *cobra.Command {
	var fresh bool
	var out string
	cmd := page{
		use:   "build [FOLDER|FILE]",
		short: "Make the module of a plugin from its sources",
		long: `Build makes the module of the plugin in a folder that has a wharf.toml, with the
toolchain of the manifest's language, and writes it to the file that the manifest names.
What is run is shown first. A build.command of the manifest is run instead, as it stands
there, in the folder, by no shell: look at the manifest of a stranger before you build it.

Nothing is run when no file of the folder, nor of what the module was made of, has changed
since the module was built, and the command and the version of the toolchain are the same.

Of a program in TypeScript, JavaScript or Python build makes a module also without a manifest.
Nothing has to be installed for these: types are stripped and not checked. The module imports
the host calls that the program uses, and no others. Each export of the program is one of the
plugin; the default export is "run". In Python that is the function run, or those that __all__
lists. The module is written beside the program, in the folder build, unless --out says where.

The exit code is 1 when the sources do not compile, and 2 when a toolchain is missing.`,
		example: `  wharf plugin build
  wharf plugin build my-plugin --json
  wharf plugin build my-plugin --no-cache
  wharf plugin build hello.ts
  wharf plugin build hello.py
  wharf plugin build src/bot.ts --out plugins/bot.wasm`,
		args: optionalArg,
	}.command(func(cmd *cobra.Command, args []string) error {
		path := "."
		if len(args) > 0 {
			path = args[0]
		}
		if slices.Contains(scripts, filepath.Ext(path)) && !isFolder(path) {
			return a.buildScript(cmd.Context(), path, out)
		}
		if out != "" {
			return usagef("--out is for a program without a manifest: the manifest of a folder says where the module lies")
		}
		return a.buildPlugin(cmd.Context(), path, fresh)
	})
	cmd.Flags().BoolVar(&fresh, "no-cache", false, "build it also when nothing has changed")
	cmd.Flags().StringVarP(&out, "out", "o", "", "the file to write, of a program without a manifest")
	return cmd
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// buildScript makes a plugin of a program that has no manifest.
func (a *app) buildScript(ctx context.Context, entry, out string) error {
	begun := time.Now()
	built, err := builtScript(ctx, entry)
	if failed, ok := errors.AsType[*building.CompileError](err); ok {
		return a.notBuilt(entry, failed)
	}
	if err != nil {
		return undecided(err)
	}
	if out == "" {
		out = filepath.Join(filepath.Dir(entry), "build", strings.TrimSuffix(filepath.Base(entry), filepath.Ext(entry))+".wasm")
	}
	if err := writeModule(out, built.Wasm); err != nil {
		return undecided(fmt.Errorf("writing the plugin: %w", err))
	}
	built.Digest, built.Took = building.Digest(built.Wasm), time.Since(begun)
	return a.showBuilt(ctx, out, built)
}

// builtScript builds with what this program has in it.
func builtScript(ctx context.Context, entry string) (*building.Built, error) {
	if filepath.Ext(entry) == pythonEnding {
		built, err := building.Python(ctx, entry)
		if err != nil {
			return nil, err
		}
		return &building.Built{Wasm: built.Module, Inputs: len(built.Inputs), Plan: building.Plan{Toolchain: building.PythonToolchain}}, nil
	}
	bundled, err := js.Bundle(entry)
	if problems, ok := errors.AsType[js.Problems](err); ok {
		return nil, &building.CompileError{Output: problems.Error()}
	}
	if err != nil {
		return nil, err
	}
	return &building.Built{Wasm: bundled.Module, Inputs: len(bundled.Inputs), Plan: building.Plan{Toolchain: building.ScriptToolchain}}, nil
}

// writeModule replaces a file as a whole, so that who watches it never sees a part.
func writeModule(path string, module []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".wharf-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(module)
	if err := errors.Join(err, f.Chmod(0o644), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// builtPlugin is what was built, as JSON.
type builtPlugin struct {
	Module    string   `json:"module"`
	Bytes     int      `json:"bytes"`
	Digest    string   `json:"digest"`
	Cached    bool     `json:"cached"`
	TookMS    int64    `json:"took_ms"`
	Toolchain string   `json:"toolchain"`
	Command   []string `json:"command"`
	Files     int      `json:"files"` // that it was made of
	Calls     []string `json:"calls"`
	Exports   []string `json:"exports"`
}

// unbuiltPlugin is why nothing was built, as JSON.
type unbuiltPlugin struct {
	Error  string `json:"error"`
	Output string `json:"output"`
}

func (a *app) buildPlugin(ctx context.Context, path string, fresh bool) error {
	p, err := openProject(path)
	if err != nil {
		return undecided(err)
	}
	o := building.Options{Fresh: fresh, Announce: a.announceBuild}
	if !a.json {
		o.Output = cleaned{a.stderr}
	}
	built, err := building.Build(ctx, p, o)
	if failed, ok := errors.AsType[*building.CompileError](err); ok {
		return a.notBuilt(p.Manifest.Name, failed)
	}
	if missing, ok := errors.AsType[*building.Missing](err); ok {
		return undecided(advise(missing, strings.Join(missing.Get, "; ")))
	}
	if err != nil {
		return undecided(fmt.Errorf("building %s: %w", p.Manifest.Name, err))
	}
	return a.showBuilt(ctx, filepath.Join(p.Folder, filepath.FromSlash(p.Manifest.Module)), built)
}

// openProject reads the manifest of a folder, which may also be named by the manifest itself.
func openProject(path string) (building.Project, error) {
	path, none := folderNamed(path), building.Project{}
	folder, err := openAuthorsFolder(path, manifest.FileName)
	if _, missing := errors.AsType[*noManifest](err); missing {
		return none, advise(fmt.Errorf("there is no %s in %s", manifest.FileName, path), "wharf plugin new NAME --lang LANGUAGE, which makes a folder that has one")
	}
	if err != nil {
		return none, err
	}
	if err := folder.Close(); err != nil {
		return none, fmt.Errorf("reading the manifest: %w", err)
	}
	m, problems := manifest.Parse(folder.text)
	if m != nil {
		return building.Project{Folder: path, Manifest: m}, nil
	}
	for _, p := range problems {
		if p.Severity == manifest.Error {
			return none, advise(fmt.Errorf("%s:%d:%d: %s", filepath.Join(path, manifest.FileName), p.Line, p.Column, p.Message), "wharf plugin lint "+path+", which says all that is wrong")
		}
	}
	return none, fmt.Errorf("%s cannot be read", filepath.Join(path, manifest.FileName))
}

// announceBuild shows what is about to be run. It goes where what the program says goes.
func (a *app) announceBuild(plan *building.Plan) {
	if a.json || plan.Command == nil {
		return
	}
	s := show.NewScreen(a.stderr, "never", a.env)
	s.Block("", "$ "+plan.Shown())
}

// cleaned passes on what a toolchain says, without what would move a terminal's cursor.
type cleaned struct{ to io.Writer }

// Write implements io.Writer.
func (c cleaned) Write(b []byte) (int, error) {
	_, err := io.WriteString(c.to, show.Clean(string(b)))
	return len(b), err
}

func (a *app) notBuilt(what string, failed *building.CompileError) error {
	said := "the sources of " + what + " do not compile"
	if a.json {
		if err := a.print(unbuiltPlugin{said, failed.Output}, nil); err != nil {
			return err
		}
		return &silentError{exitFailed}
	}
	if !failed.Told {
		show.NewScreen(a.stderr, "never", a.env).Block("", failed.Error())
	}
	return errors.New(said)
}

func (a *app) showBuilt(ctx context.Context, module string, built *building.Built) error {
	is, err := outlineOf(ctx, built.Wasm)
	if err != nil {
		return undecided(err)
	}
	if is.Refused != "" {
		return advise(fmt.Errorf("%s was built, and no node can load it: %s", module, is.Refused), "wharf plugin vet "+module)
	}
	b := builtPlugin{Module: module, Bytes: len(built.Wasm), Digest: built.Digest, Cached: built.Cached, TookMS: built.Took.Milliseconds(),
		Toolchain: built.Toolchain, Command: append([]string{}, built.Command...), Files: built.Inputs, Calls: is.Calls, Exports: is.Exports}
	return a.print(b, func() {
		how := "built in " + built.Took.Round(time.Millisecond).String()
		if built.Cached {
			how = "as it was: nothing has changed since it was built"
		}
		a.out.Line(a.out.Paint(show.Bold, show.OneLine(module)), ": ", show.Bytes(int64(b.Bytes)), ", ", how, " (", show.OneLine(b.Toolchain), ")")
		a.out.Pairs([2]string{"calls", strings.Join(b.Calls, ", ")}, [2]string{"exports", strings.Join(b.Exports, ", ")})
	})
}

// outlineOf says what a module is.
func outlineOf(ctx context.Context, wasm []byte) (_ *manifest.Module, err error) {
	runtime, err := sandbox.New(ctx, sandbox.Config{})
	if err != nil {
		return nil, fmt.Errorf("making a sandbox: %w", err)
	}
	defer func() { err = errors.Join(err, runtime.Close(context.WithoutCancel(ctx))) }()
	o, err := runtime.Outline(ctx, wasm)
	if failure, ok := errors.AsType[*abi.Failure](err); ok {
		return &manifest.Module{Refused: failure.Message}, nil
	}
	if err != nil {
		return nil, err
	}
	return &manifest.Module{Calls: o.Calls, Exports: o.Exports}, nil
}
