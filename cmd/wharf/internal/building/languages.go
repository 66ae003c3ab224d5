package building

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// planFor says how a project is built: as its manifest says, or as is usual for its language.
func planFor(ctx context.Context, p Project) (*Plan, error) {
	folder, err := filepath.Abs(p.Folder)
	if err != nil {
		return nil, fmt.Errorf("finding the plugin's folder: %w", err)
	}
	p.Folder = folder
	m := p.Manifest
	if len(m.Build.Command) > 0 {
		return &Plan{Command: m.Build.Command, folder: folder, module: p.module, own: true, Toolchain: "build.command"}, nil
	}
	how, ok := languages()[m.Language]
	if !ok { // no manifest says another language than these without a build.command
		return nil, &Missing{What: "the manifest does not say in which language the plugin is written", Get: []string{"language = \"...\" in the manifest, or a build.command"}}
	}
	if m.Entry == "" {
		return nil, &Missing{What: "the manifest names no entry, the source file that a build begins with", Get: []string{"entry = \"...\" in the manifest, or a build.command"}}
	}
	plan, err := how(ctx, p)
	if err != nil {
		return nil, err
	}
	plan.folder, plan.module = folder, p.module
	return plan, nil
}

// languages are those that are built without a build.command.
func languages() map[string]func(context.Context, Project) (*Plan, error) {
	return map[string]func(context.Context, Project) (*Plan, error){
		"go": golang, "rust": rust, "c": c, "cpp": cpp, "assemblyscript": assemblyScript, "typescript": script, "javascript": script, "python": python,
	}
}

// golang builds with the go command, which has all that it needs.
func golang(ctx context.Context, p Project) (*Plan, error) {
	program := lookFor("go", "/usr/local/go/bin/go", "/opt/homebrew/bin/go")
	if program == "" {
		return nil, &Missing{What: "Go is not installed: there is no program go", Get: onPlatform(ways{
			debian: "Go 1.24 or newer from go.dev/dl (apt's golang is often older)", fedora: "dnf install golang", arch: "pacman -S go", alpine: "apk add go",
			mac: "brew install go", windows: "winget install GoLang.Go", other: "Go 1.24 or newer from go.dev/dl",
		})}
	}
	version, err := ask(ctx, p.Folder, program, "version")
	if err != nil {
		return nil, err
	}
	dir := "./" + sourceFolder(p.Manifest)
	if strings.HasSuffix(p.Manifest.Entry, ".go") || dir == "./." {
		dir = strings.TrimSuffix(dir, "/.")
	} else {
		dir = "./" + p.Manifest.Entry // a package
	}
	plan := &Plan{Toolchain: line(version), Environment: []string{"GOOS=wasip1", "GOARCH=wasm"}, program: program,
		Command: []string{"go", "build", "-buildmode=c-shared", "-trimpath", "-o", p.module, dir}}
	plan.output = outputAfter("-o")
	plan.reads = func(ctx context.Context) ([]string, error) {
		return goReads(ctx, p.Folder, program, plan.Environment, dir)
	}
	return plan, nil
}

// outputAfter puts another file behind a flag.
func outputAfter(flag string) func([]string, string) []string {
	return func(command []string, to string) []string {
		moved := slices.Clone(command)
		moved[slices.Index(moved, flag)+1] = to
		return moved
	}
}

func c(ctx context.Context, p Project) (*Plan, error) { return clang(ctx, p, "clang", ".c") }

func cpp(ctx context.Context, p Project) (*Plan, error) {
	return clang(ctx, p, "clang++", ".cpp", ".cc", ".cxx", ".c")
}

// clang builds every source of the language in the folder of the entry, without a C library. It is told
// how far to optimize by -Xclang: on machines that have Binaryen, a plain -O2 has clang run wasm-opt
// over the module, which takes the names and lines out that stacks are told with.
func clang(ctx context.Context, p Project, name string, endings ...string) (*Plan, error) {
	program, version, err := findClang(ctx, p, name)
	if err != nil {
		return nil, err
	}
	sources, err := sourcesBeside(p, endings)
	if err != nil {
		return nil, err
	}
	optimize := []string{"-Xclang", "-O2"}
	if p.quick {
		optimize = []string{"-O0"}
	}
	flags := slices.Concat([]string{"--target=wasm32"}, optimize, []string{"-g", "-Wall", "-nostdlib"})
	if name == "clang++" {
		flags = append(flags, "-std=c++17", "-fno-exceptions", "-fno-rtti", "-Wno-missing-braces")
	}
	command := append(append([]string{name}, flags...), "-Wl,--no-entry", "-o", p.module)
	plan := &Plan{Toolchain: version, program: program, stamp: stamp(program), Command: append(command, sources...), output: outputAfter("-o"), beside: true}
	plan.reads = func(ctx context.Context) ([]string, error) {
		rules, err := ask(ctx, p.Folder, append(append([]string{program}, flags[:1]...), append([]string{"-MM"}, sources...)...)...)
		if err != nil {
			return nil, err
		}
		return madeOf(string(rules)), nil
	}
	return plan, nil
}

// findClang finds a clang that makes WebAssembly and has a linker for it, and its version.
func findClang(ctx context.Context, p Project, name string) (program, version string, err error) {
	get := onPlatform(ways{
		debian: "apt install clang lld", fedora: "dnf install clang lld", arch: "pacman -S clang lld", alpine: "apk add clang lld",
		mac: "brew install llvm lld (Apple's own clang makes no WebAssembly)", windows: "winget install LLVM.LLVM", other: "clang and lld, which come with LLVM",
	})
	candidates := []string{name}
	for version := 24; version >= 12; version-- { // Debian's packages of one version have no other name
		candidates = append(candidates, fmt.Sprintf("%s-%d", name, version))
	}
	candidates = append(candidates, "/opt/homebrew/opt/llvm/bin/"+name, "/usr/local/opt/llvm/bin/"+name)
	why := fmt.Sprintf("clang is not installed: there is no program %s", name)
	for _, each := range candidates {
		program = lookFor(each)
		if program == "" {
			continue
		}
		if p.before.Stamp != "" && p.before.Stamp == stamp(program) {
			return program, p.before.Toolchain, nil
		}
		targets, err := ask(ctx, p.Folder, program, "--print-targets")
		if err != nil || !strings.Contains(string(targets), "wasm32") {
			why = fmt.Sprintf("%s makes no WebAssembly", program)
			continue
		}
		linker, err := ask(ctx, p.Folder, program, "--print-prog-name=wasm-ld")
		if err != nil || lookFor(line(linker)) == "" {
			why = fmt.Sprintf("%s finds no linker for WebAssembly: there is no program wasm-ld", program)
			continue
		}
		said, err := ask(ctx, p.Folder, program, "--version")
		return program, line(said), err
	}
	return "", "", &Missing{What: why, Get: get}
}

// sourcesBeside are the sources in the folder of the entry, but tests. The entry is the first.
func sourcesBeside(p Project, endings []string) ([]string, error) {
	dir := sourceFolder(p.Manifest)
	found, err := os.ReadDir(filepath.Join(p.Folder, filepath.FromSlash(dir)))
	if err != nil {
		return nil, fmt.Errorf("listing the sources: %w", err)
	}
	entry := filepath.ToSlash(filepath.Clean(p.Manifest.Entry))
	sources := []string{entry}
	for _, f := range found {
		name := strings.TrimPrefix(dir+"/"+f.Name(), "./")
		ending := filepath.Ext(name)
		test := strings.HasSuffix(strings.TrimSuffix(name, ending), "_test")
		if f.IsDir() || test || name == entry || !slices.Contains(endings, ending) {
			continue
		}
		sources = append(sources, name)
	}
	return sources, nil
}

// inNodeModules finds a program that npm has installed for a folder or for one around it.
func inNodeModules(folder, name string) string {
	for {
		if program := lookFor(filepath.Join(folder, "node_modules", ".bin", name)); program != "" {
			return program
		}
		up := filepath.Dir(folder)
		if up == folder {
			return ""
		}
		folder = up
	}
}

// ways are how a toolchain is had, by platform.
type ways struct{ debian, fedora, arch, alpine, mac, windows, other string }

// onPlatform are the ways for this machine.
func onPlatform(w ways) []string { return []string{w.of(runtime.GOOS, osRelease())} }

func (w ways) of(system string, release []string) string {
	switch system {
	case "darwin":
		return w.mac
	case "windows":
		return w.windows
	}
	for _, id := range release {
		switch id {
		case "debian", "ubuntu":
			return w.debian
		case "fedora", "rhel", "centos":
			return w.fedora
		case "arch":
			return w.arch
		case "alpine":
			return w.alpine
		}
	}
	return w.other
}

// osRelease are the names that a Linux has for itself and for what it is like.
func osRelease() (names []string) {
	text, err := os.ReadFile("/etc/os-release")
	if err != nil {
		return nil
	}
	for l := range strings.Lines(string(text)) {
		key, value, _ := strings.Cut(strings.TrimSpace(l), "=")
		if key == "ID" || key == "ID_LIKE" {
			names = append(names, strings.Fields(strings.Trim(value, `"'`))...)
		}
	}
	return names
}
