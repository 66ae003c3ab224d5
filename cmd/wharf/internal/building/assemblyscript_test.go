package building

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const manifestAssemblyScript = "name=\"hello\"\nversion=\"1.0.0\"\nkind=\"persona\"\nlanguage=\"assemblyscript\"\nentry=\"assembly/index.ts\"\n"

// playedAsc is a compiler that makes a module of nothing, and counts how often it is asked for its version.
const playedAsc = `#!/bin/sh
if [ "$1" = --version ]; then echo asked >>.asked; echo "Version 0.0.1"; exit; fi
while [ "$1" != --outFile ]; do shift; done
printf '\0asm\1\0\0\0' >"$2"
echo '{"sources":["a"],"mappings":"AAAA"}' >"$2.map"
`

// playAsc puts a compiler into the folder, and has node be there or not.
func playAsc(t *testing.T, folder string, node bool) {
	t.Helper()
	path := t.TempDir()
	if node {
		runnable(t, filepath.Join(path, "node"), "#!/bin/sh\n")
	}
	runnable(t, filepath.Join(folder, "node_modules", ".bin", "asc"), playedAsc)
	t.Setenv("PATH", path)
}

func runnable(t *testing.T, file, text string) {
	t.Helper()
	write(t, file, text)
	if err := os.Chmod(file, 0o755); err != nil {
		t.Fatal(err)
	}
}

// The options of a folder's asconfig.json are left to it; without one they are what is usual.
func TestAssemblyScriptHasItsOptions(t *testing.T) {
	p := project(t, manifestAssemblyScript, map[string]string{"assembly/index.ts": ""})
	playAsc(t, p.Folder, true)
	usual := []string{"asc", "assembly/index.ts", "--outFile", "build/hello.wasm", "--sourceMap", "-O", "--debug", "--use", "abort="}
	if built := build(t, p); !slices.Equal(built.Command, usual) || built.Toolchain != "asc 0.0.1" {
		t.Errorf("it was built by %q of %s", built.Command, built.Toolchain)
	}
	write(t, filepath.Join(p.Folder, "asconfig.json"), "{}")
	if built := build(t, p); built.Cached || !slices.Equal(built.Command, usual[:5]) {
		t.Errorf("with an asconfig.json it was built by %q", built.Command)
	}
	build(t, p)
	if asked, err := os.ReadFile(filepath.Join(p.Folder, ".asked")); err != nil || strings.Count(string(asked), "asked") != 1 {
		t.Errorf("the compiler was asked for its version by %q, %v", asked, err)
	}
}

// What is missing is told: the compiler, with the command that fits the folder, or Node.
func TestAssemblyScriptSaysWhatIsMissing(t *testing.T) {
	p := project(t, manifestAssemblyScript, map[string]string{"assembly/index.ts": ""})
	wantMissing := func(what, get string) {
		t.Helper()
		_, err := Build(t.Context(), p, Options{})
		missing, ok := errors.AsType[*Missing](err)
		if !ok || !strings.Contains(missing.What, what) || !strings.Contains(strings.Join(missing.Get, "; "), get) {
			t.Errorf("it says %v, want %s and %s", err, what, get)
		}
	}
	t.Setenv("PATH", t.TempDir())
	wantMissing("no program asc", "npm install --save-dev assemblyscript")
	write(t, filepath.Join(p.Folder, "package.json"), `{"devDependencies": {"assemblyscript": "0.28.20"}}`)
	wantMissing("no program asc", "npm install")
	playAsc(t, p.Folder, false)
	wantMissing("no program node", "ode")
}
