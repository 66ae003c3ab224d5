package building

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Quick builds lie beside those that are released, and neither takes the other for its own.
func TestQuickBuildsLieApart(t *testing.T) {
	t.Parallel()
	needClang(t)
	p := project(t, manifestC, map[string]string{"hello.c": sourceC, "answer.h": "#define ANSWER 0\n"})
	quick, err := Build(t.Context(), p, Options{Quick: true})
	if err != nil || !slices.Contains(quick.Command, "-O0") {
		t.Fatalf("a quick build is %q, %v", quick.Command, err)
	}
	if _, err := os.Stat(filepath.Join(p.Folder, "build/hello.wasm")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it made the module of the manifest: %v", err)
	}
	if slow := build(t, p); slow.Cached || slices.Contains(slow.Command, "-O0") {
		t.Errorf("after a quick build it was built by %q", slow.Command)
	}
	for _, quick := range []bool{true, false} {
		if again, err := Build(t.Context(), p, Options{Quick: quick}); err != nil || !again.Cached {
			t.Errorf("quick %v: built again, and nothing has changed: %v", quick, err)
		}
	}
}

// stays has the compiler of AssemblyScript found that npm has put beside the SDK.
func stays(t *testing.T) (Project, *Resident) {
	t.Helper()
	programs, err := filepath.Abs("../../../../sdk/assemblyscript/node_modules/.bin")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", programs+string(filepath.ListSeparator)+os.Getenv("PATH"))
	if _, _, err := findAsc(t.Context(), Project{}); err != nil {
		t.Skip(err)
	}
	r := &Resident{}
	t.Cleanup(r.Close)
	return project(t, manifestAssemblyScript, map[string]string{"assembly/index.ts": "export function run(): i32 { return 1; }\n"}), r
}

// A compiler that stays makes what one that is run makes, tells mistakes with their places, and goes on after them.
func TestACompilerThatStays(t *testing.T) {
	p, r := stays(t)
	o := Options{Fresh: true, Quick: true, Resident: r}
	first, err := Build(t.Context(), p, o)
	if err != nil {
		t.Fatal(err)
	}
	process := r.cmd.Process.Pid
	if run, err := Build(t.Context(), p, Options{Fresh: true, Quick: true}); err != nil || run.Digest != first.Digest {
		t.Errorf("a compiler that is run makes %s, %v, and one that stays %s", run.Digest, err, first.Digest)
	}
	write(t, filepath.Join(p.Folder, "assembly/index.ts"), "export function run(): i32 { return nothing; }\n")
	_, err = Build(t.Context(), p, o)
	if failed, ok := errors.AsType[*CompileError](err); !ok || !strings.Contains(failed.Output, "assembly/index.ts") || !strings.Contains(failed.Output, "nothing") {
		t.Errorf("of a mistake it says %v", err)
	}
	write(t, filepath.Join(p.Folder, "assembly/index.ts"), "export function run(): i32 { return 2; }\n")
	if second, err := Build(t.Context(), p, o); err != nil || second.Digest == first.Digest || r.cmd.Process.Pid != process {
		t.Errorf("after a mistake: %v; compiler %d of %d", err, r.cmd.Process.Pid, process)
	}
}

// One that has died, or cannot begin, does without: the next build begins another.
func TestACompilerThatDies(t *testing.T) {
	p, r := stays(t)
	o := Options{Fresh: true, Quick: true, Resident: r}
	for range 2 {
		if _, err := Build(t.Context(), p, o); err != nil {
			t.Fatal(err)
		}
		if r.of == "" {
			continue
		}
		if err := r.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Build(ended, p, o); !errors.Is(err, context.Canceled) {
		t.Errorf("a build that was told to end says %v", err)
	}
	if _, err := Build(t.Context(), p, o); err != nil {
		t.Error(err)
	}
}
