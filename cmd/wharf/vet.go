package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/show"
	"github.com/wharf-dev/wharf/runtime/parcel"
	"github.com/wharf-dev/wharf/runtime/sandbox"
)

func (a *app) pluginVetCommand() *cobra.Command {
	return page{
		use:   "vet FILE...",
		short: "Check whether modules can be loaded, and what running them takes",
		long: `Vet loads each module, or that of a package, as a node would, and says what it can
ask of the host, what it exports, and what it takes to initialize it and to make it
new for each Task.
Of a module that cannot be loaded it says where in the file the trouble is, and
what its author can do. It initializes the module and runs nothing else of it.

The exit code is 0 when all modules can be loaded, 1 when one cannot, and 2 when
a file cannot be read. With --json it prints a JSON object for each file.`,
		example: `  wharf plugin vet plugin.wasm
  wharf plugin vet plugins/*.wasm --json | jq .imports`,
		args: someArgs("a module: a .wasm file, or a package"),
	}.command(func(cmd *cobra.Command, args []string) error {
		return undecided(a.vet(cmd.Context(), args))
	})
}

// vetted is what was found out about a module.
type vetted struct {
	File   string `json:"file"`
	OK     bool   `json:"ok"`
	Error  string `json:"error,omitzero"`
	Digest string `json:"digest"`
	Bytes  int    `json:"bytes"`
	*found `json:",inline"`
}

// found is what a module that can be loaded is, and takes.
type found struct {
	Rewriter  string               `json:"rewriter"`
	Imports   []vettedImport       `json:"imports"`
	Exports   []string             `json:"exports"`
	Memory    sandbox.MemoryReport `json:"memory"`
	Snapshot  vettedWhy            `json:"snapshot"`
	Pool      vettedWhy            `json:"pool"`
	Init      vettedInit           `json:"initialization"`
	CompileUS int64                `json:"compile_us"`
	BirthUS   int64                `json:"birth_us"`
	RestoreUS int64                `json:"restore_us"`
}

// vettedImport is something that a module imports.
type vettedImport struct {
	Module string     `json:"module"`
	Name   string     `json:"name"`
	Effect abi.Effect `json:"effect,omitzero"`
	Allows string     `json:"allows"`
	Needs  string     `json:"needs,omitzero"` // the setting that has to allow it too
}

// vettedWhy says that something applies, or why not, or when not.
type vettedWhy struct {
	Applies bool   `json:"applies"`
	Reason  string `json:"reason,omitzero"`
}

type vettedInit struct {
	TookUS int64  `json:"took_us"`
	Gas    uint64 `json:"gas"`
}

func (a *app) vet(ctx context.Context, files []string) error {
	runtime, err := sandbox.New(ctx, sandbox.Config{})
	if err != nil {
		return fmt.Errorf("making a sandbox: %w", err)
	}
	defer runtime.Close(context.WithoutCancel(ctx))
	sound := true
	for i, file := range files {
		v, err := vetFile(ctx, runtime, file)
		if err != nil {
			return err
		}
		sound = sound && v.OK
		if err := a.print(v, func() { a.showVetted(v, i > 0) }); err != nil {
			return err
		}
	}
	if !sound {
		return &silentError{exitFailed}
	}
	return nil
}

func vetFile(ctx context.Context, runtime *sandbox.Runtime, file string) (*vetted, error) {
	wasm, err := readModule(file)
	if refused, ok := errors.AsType[*parcel.Refused](err); ok {
		return &vetted{File: file, Error: refused.Reason}, nil
	}
	if err != nil {
		return nil, err
	}
	v := &vetted{File: file, Digest: fmt.Sprintf("sha256:%x", sha256.Sum256(wasm)), Bytes: len(wasm)}
	v.found, err = inspect(ctx, runtime, wasm)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if failure, ok := errors.AsType[*abi.Failure](err); ok {
		v.Error = failure.Message
		return v, nil
	}
	v.OK = err == nil
	return v, err
}

// readModule reads a module, or that of a package.
func readModule(file string) ([]byte, error) {
	wasm, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("reading the module: %w", err)
	}
	return moduleOf(wasm)
}

// moduleOf returns the module that a file is, or that of the package that it is.
func moduleOf(file []byte) ([]byte, error) {
	if !parcel.IsPackage(file) {
		return file, nil
	}
	p, err := parcel.Read(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return nil, err
	}
	return p.Module, nil
}

// inspect loads a module. A module that cannot be loaded is an *abi.Failure.
func inspect(ctx context.Context, runtime *sandbox.Runtime, wasm []byte) (*found, error) {
	begun := time.Now()
	module, err := runtime.Compile(ctx, wasm)
	if err != nil {
		return nil, err
	}
	took := time.Since(begun)
	r, err := module.Inspect(ctx)
	if err != nil {
		return nil, fmt.Errorf("inspecting the module: %w", err)
	}
	f := &found{Rewriter: r.Rewriter, Exports: r.Exports, Memory: r.Memory, CompileUS: took.Microseconds(),
		Snapshot: vettedWhy{r.Snapshot, r.NoSnapshot}, Pool: vettedWhy{r.Pool, r.NoPool},
		Init:    vettedInit{r.Initialization.Microseconds(), r.Gas},
		BirthUS: r.Birth.Microseconds(), RestoreUS: r.Restore.Microseconds()}
	for _, i := range r.Imports {
		f.Imports = append(f.Imports, vettedImport{i.Module, i.Name, i.Effect, i.Allows, needs[strings.Replace(i.Name, "_", ".", 1)]})
	}
	return f, nil
}

// needs says which setting has to allow a host call besides. Extism plugins may write
// its name with _ for the dot.
var needs = map[string]string{
	abi.CallLLMComplete: "models", abi.CallToolCall: "grants.PLUGIN.tools", abi.CallToolList: "grants.PLUGIN.tools",
	abi.CallResourceList: "grants.PLUGIN.tools", abi.CallResourceRead: "grants.PLUGIN.tools", abi.CallPromptGet: "grants.PLUGIN.tools",
	abi.CallHTTPFetch: "grants.PLUGIN.http", abi.CallAgentDelegate: "grants.PLUGIN.agents", abi.CallSecretUse: "grants.PLUGIN.secrets",
}

func (a *app) showVetted(v *vetted, another bool) {
	if another {
		a.out.Line()
	}
	a.out.Line(a.out.Paint(show.Bold, v.File))
	facts := [][2]string{{"digest", v.Digest}, {"size", show.Bytes(int64(v.Bytes))}}
	if !v.OK {
		a.out.Pairs(facts...)
		a.out.Line(a.out.Paint(show.Red, "refused"), ": ", show.OneLine(v.Error))
		return
	}
	a.out.Pairs(append(facts, v.facts()...)...)
	a.showAsks(v.Imports)
	a.out.Line(a.out.Paint(show.Green, "ok"), ": it can be loaded")
}

func (f *found) facts() [][2]string {
	return [][2]string{
		{"exports", strings.Join(f.Exports, ", ")},
		{"memory", f.memory()},
		{"profile", "deterministic: rewritten by " + f.Rewriter + ", it does the same on every processor"},
		{"compiled", "in " + micros(f.CompileUS)},
		{"initialized", f.initialized()},
		{"snapshot", f.Snapshot.text("yes: it is initialized once, and every instance begins as that left it")},
		{"instance", "made in " + micros(f.BirthUS)},
		{"pool", f.Pool.text("yes: an instance is made new again for each Task, in " + micros(f.RestoreUS))},
	}
}

// initialized says what the initialization takes, where the sandbox has done it.
func (f *found) initialized() string {
	switch {
	case f.Init.Gas > 0:
		return fmt.Sprintf("in %s, with %d gas", micros(f.Init.TookUS), f.Init.Gas)
	case f.Snapshot.Applies:
		return "there is nothing to do"
	}
	return "in each Task"
}

// showAsks lists what a module can ask the host for. What it imports of WASI, and to
// read the answers of host calls, allows it nothing.
func (a *app) showAsks(imports []vettedImport) {
	var asks [][2]string
	for _, i := range imports {
		if i.Effect != "" {
			asks = append(asks, [2]string{i.Name, i.text()})
		}
	}
	if len(asks) == 0 {
		a.out.Line("It can ask the host for nothing.")
		return
	}
	a.out.Line("It can ask the host for")
	a.out.Pairs(asks...)
}

func micros(n int64) string { return show.Duration(time.Duration(n) * time.Microsecond) }

// text says that something applies, and when not; or why it does not.
func (w vettedWhy) text(yes string) string {
	switch {
	case !w.Applies:
		return "no: " + w.Reason
	case w.Reason != "":
		return yes + "; but " + w.Reason
	}
	return yes
}

func (f *found) memory() string {
	m := &f.Memory
	if m.Declared == 0 {
		return "none"
	}
	text := show.Bytes(int64(max(m.Begins, m.Declared))) + " at first"
	if m.Maximum > 0 {
		text += ", at most " + show.Bytes(int64(m.Maximum))
	}
	return text
}

// text says what an import allows, in short.
func (i *vettedImport) text() string {
	allows, _, _ := strings.Cut(i.Allows, ". ")
	allows = strings.TrimSuffix(allows, ".")
	if i.Needs != "" {
		allows += " (needs " + i.Needs + ")"
	}
	return allows
}
