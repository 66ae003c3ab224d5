package building

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/runtime/manifest"
)

const manifestC = "name = \"hello\"\nversion = \"1.0.0\"\nkind = \"persona\"\nlanguage = \"c\"\nentry = \"hello.c\"\n"

const sourceC = "#include \"answer.h\"\n__attribute__((export_name(\"run\"))) int run(void) { return ANSWER; }\n"

// project writes files into a folder of its own: the manifest, and others by their paths.
func project(t *testing.T, text string, files map[string]string) Project {
	t.Helper()
	m, problems := manifest.Parse([]byte(text))
	if m == nil {
		t.Fatal(problems)
	}
	p := Project{Folder: filepath.Join(t.TempDir(), "hello"), Manifest: m}
	for name, content := range files {
		write(t, filepath.Join(p.Folder, name), content)
	}
	return p
}

func write(t *testing.T, file, content string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(content), 0o644)); err != nil {
		t.Fatal(err)
	}
}

func build(t *testing.T, p Project) *Built {
	t.Helper()
	built, err := Build(t.Context(), p, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return built
}

func needClang(t *testing.T) {
	t.Helper()
	if _, _, err := findClang(t.Context(), Project{}, "clang"); err != nil {
		t.Skip(err)
	}
}

// What has not changed is not built again; whatever a module is made of, wherever that lies, makes for a
// new one when it changes.
func TestWhatHasNotChangedIsNotBuiltAgain(t *testing.T) {
	t.Parallel()
	needClang(t)
	p := project(t, manifestC, map[string]string{"hello.c": sourceC, "../answer.h": "#define ANSWER 0\n", "README.md": "a"})
	write(t, filepath.Join(p.Folder, "hello.c"), strings.Replace(sourceC, "answer.h", "../answer.h", 1))
	first := build(t, p)
	if first.Cached || !strings.HasPrefix(string(first.Wasm), "\x00asm") {
		t.Fatalf("the first build was %+v", first.Plan)
	}
	if again := build(t, p); !again.Cached || again.Digest != first.Digest {
		t.Error("it was built again, and nothing has changed")
	}
	for _, c := range []struct {
		what   string
		change func()
	}{
		{"the source", func() {
			write(t, filepath.Join(p.Folder, "hello.c"), strings.Replace(sourceC, "answer.h", "../answer.h", 1)+"// more\n")
		}},
		{"a header elsewhere", func() { write(t, filepath.Join(p.Folder, "../answer.h"), "#define ANSWER 1\n") }},
		{"a new file", func() { write(t, filepath.Join(p.Folder, "other.h"), "") }},
		{"a file that is no more", func() { os.Remove(filepath.Join(p.Folder, "other.h")) }},
		{"the module itself", func() { write(t, filepath.Join(p.Folder, "build/hello.wasm"), "\x00asm\x01\x00\x00\x00") }},
		{"what is kept of a build", func() { write(t, filepath.Join(p.Folder, "build/hello.wasm.build.json"), "{") }},
	} {
		c.change()
		if build(t, p).Cached {
			t.Errorf("%s has changed, and nothing was built", c.what)
		}
		if !build(t, p).Cached {
			t.Errorf("after %s it is built again and again", c.what)
		}
	}
}

func TestFreshBuildsAlways(t *testing.T) {
	p := project(t, "name=\"hello\"\nversion=\"1.0.0\"\nkind=\"persona\"\n[build]\ncommand=[\"cp\",\"given\",\"build/hello.wasm\"]\n",
		map[string]string{"given": "\x00asm\x01\x00\x00\x00", "build/x": ""})
	build(t, p)
	built, err := Build(t.Context(), p, Options{Fresh: true})
	if err != nil || built.Cached {
		t.Errorf("a fresh build was %+v, %v", built, err)
	}
}

// A compiler's words come as they are, with the place.
func TestACompileErrorHasItsPlace(t *testing.T) {
	t.Parallel()
	needClang(t)
	p := project(t, manifestC, map[string]string{"hello.c": "int run(void) {\n\treturn nothing;\n}\n"})
	_, err := Build(t.Context(), p, Options{})
	failed, ok := errors.AsType[*CompileError](err)
	if !ok || !strings.Contains(failed.Output, "hello.c:2:9: error: use of undeclared identifier 'nothing'") {
		t.Errorf("it says %v", err)
	}
	if _, err := os.Stat(filepath.Join(p.Folder, "build/hello.wasm")); err == nil {
		t.Error("a module was written")
	}
}

// A toolchain that is not there comes with the way to get it.
func TestAMissingToolchainSaysHowToGetIt(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	for language, program := range map[string]string{"c": "clang", "assemblyscript": "asc"} {
		p := project(t, strings.Replace(manifestC, `"c"`, `"`+language+`"`, 1), map[string]string{"hello.c": sourceC})
		_, err := Build(t.Context(), p, Options{})
		missing, ok := errors.AsType[*Missing](err)
		if !ok || len(missing.Get) == 0 || missing.Get[0] == "" || !strings.Contains(missing.What, program) {
			t.Errorf("%s: %v", language, err)
		}
	}
}

func TestWaysAreThoseOfThePlatform(t *testing.T) {
	w := ways{debian: "apt", fedora: "dnf", arch: "pacman", alpine: "apk", mac: "brew", windows: "winget", other: "by hand"}
	for _, c := range []struct {
		system  string
		release []string
		want    string
	}{
		{"darwin", nil, "brew"}, {"windows", nil, "winget"}, {"linux", []string{"linuxmint", "ubuntu", "debian"}, "apt"},
		{"linux", []string{"rocky", "rhel", "centos", "fedora"}, "dnf"}, {"linux", nil, "by hand"}, {"freebsd", nil, "by hand"},
	} {
		if got := w.of(c.system, c.release); got != c.want {
			t.Errorf("%s %v: %s", c.system, c.release, got)
		}
	}
}

// The author's command is told before it runs, as it stands there: no shell reads it.
func TestTheAuthorsCommand(t *testing.T) {
	t.Parallel()
	text := "name=\"hello\"\nversion=\"1.0.0\"\nkind=\"persona\"\nmodule=\"out.wasm\"\n[build]\ncommand=[\"./make.sh\",\"$HOME; touch outside\"]\n"
	p := project(t, text, map[string]string{"make.sh": "#!/bin/sh\nprintf '\\0asm\\1\\0\\0\\0' > out.wasm\nprintf '%s' \"$1\" > said\n"})
	if err := os.Chmod(filepath.Join(p.Folder, "make.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	var told []string
	if _, err := Build(t.Context(), p, Options{Announce: func(plan *Plan) { told = append(told, plan.Shown()) }}); err != nil {
		t.Fatal(err)
	}
	if want := []string{"./make.sh '$HOME; touch outside'"}; !slices.Equal(told, want) {
		t.Errorf("told %q", told)
	}
	if said, err := os.ReadFile(filepath.Join(p.Folder, "said")); err != nil || string(said) != "$HOME; touch outside" {
		t.Errorf("the command got %q, %v", said, err)
	}
}

func TestACommandThatMakesNothing(t *testing.T) {
	for command, want := range map[string]string{
		`["true"]`:                         "there is no build/hello.wasm",
		`["false"]`:                        "false ended with exit status 1, and said nothing",
		`["no-such-program"]`:              "there is no program no-such-program",
		`["cp","text","build/hello.wasm"]`: "no WebAssembly module",
	} {
		p := project(t, "name=\"hello\"\nversion=\"1.0.0\"\nkind=\"persona\"\n[build]\ncommand="+command+"\n", map[string]string{"text": "text", "build/x": ""})
		if _, err := Build(t.Context(), p, Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", command, err)
		}
	}
}

// A manifest cannot have a file elsewhere overwritten, by a link that lies in its folder.
func TestNothingOutsideOfTheFolderIsWritten(t *testing.T) {
	t.Parallel()
	needClang(t)
	p := project(t, manifestC, map[string]string{"hello.c": sourceC, "answer.h": "#define ANSWER 0\n", "../mine/hello.wasm": "mine"})
	if err := os.Symlink("../mine", filepath.Join(p.Folder, "build")); err != nil {
		t.Skip(err)
	}
	if _, err := Build(t.Context(), p, Options{}); err == nil {
		t.Error("it was built through a link out of the folder")
	}
	if text, err := os.ReadFile(filepath.Join(p.Folder, "../mine/hello.wasm")); err != nil || string(text) != "mine" {
		t.Errorf("the file elsewhere has %q now, %v", text, err)
	}
}

// With build.watch only files that it names count.
func TestWatchedFiles(t *testing.T) {
	p := project(t, "name=\"hello\"\nversion=\"1.0.0\"\nkind=\"persona\"\n[build]\ncommand=[\"cp\",\"src/given\",\"build/hello.wasm\"]\nwatch=[\"src/*\"]\n",
		map[string]string{"src/given": "\x00asm\x01\x00\x00\x00", "build/x": "", "note": "a"})
	build(t, p)
	write(t, filepath.Join(p.Folder, "note"), "b")
	if !build(t, p).Cached {
		t.Error("a file that does not count has made for a build")
	}
	write(t, filepath.Join(p.Folder, "src/given"), "\x00asm\x01\x00\x00\x00\x00\x00")
	if build(t, p).Cached {
		t.Error("a file that counts has made for none")
	}
}

// What a Go plugin is made of may lie in another module of the author's.
func TestGoSourcesElsewhere(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("go is not installed")
	}
	p := project(t, "name=\"hello\"\nversion=\"1.0.0\"\nkind=\"persona\"\nlanguage=\"go\"\nentry=\"main.go\"\n", map[string]string{
		"go.mod":           "module example.com/hello\n\ngo 1.24\n\nrequire example.com/other v0.0.0\n\nreplace example.com/other => ../other\n",
		"main.go":          "package main\n\nimport \"example.com/other\"\n\n//go:wasmexport run\nfunc run() int32 { return other.Answer }\n\nfunc main() {}\n",
		"../other/go.mod":  "module example.com/other\n\ngo 1.24\n",
		"../other/some.go": "package other\n\nconst Answer = 0\n",
	})
	t.Setenv("GOWORK", "off")
	build(t, p)
	if !build(t, p).Cached {
		t.Error("it is built again, and nothing has changed")
	}
	write(t, filepath.Join(p.Folder, "../other/some.go"), "package other\n\nconst Answer = 1\n")
	if build(t, p).Cached {
		t.Error("the other module has changed, and nothing was built")
	}
}

func TestAStoppedBuild(t *testing.T) {
	p := project(t, "name=\"hello\"\nversion=\"1.0.0\"\nkind=\"persona\"\n[build]\ncommand=[\"sleep\",\"600\"]\n", nil)
	write(t, filepath.Join(p.Folder, "a"), "")
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := Build(ctx, p, Options{Announce: func(*Plan) { cancel() }}); !errors.Is(err, context.Canceled) {
		t.Errorf("a build that was stopped says %v", err)
	}
}

func TestRulesOfMake(t *testing.T) {
	got := madeOf("a.o: a.c \\\n  ../b\\ c.h d$$.h\nx.o: /y/z.h\n\n")
	if want := []string{"a.c", "../b c.h", "d$.h", "/y/z.h"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
