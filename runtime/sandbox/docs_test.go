package sandbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/internal/share"
)

// example returns the first block of code of the given language in the authors'
// documentation.
func example(t *testing.T, language string) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/plugins.md")
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)\n```" + language + "\n(.*?)\n```\n").FindSubmatch(text)
	if block == nil {
		t.Fatalf("docs/plugins.md has no example in %s", language)
	}
	return string(block[1]) + "\n"
}

// TestDocumentedExamples builds the examples of docs/plugins.md as it says, and runs
// them.
func TestDocumentedExamples(t *testing.T) {
	share.Alone(t)
	sdk, err := filepath.Abs("../../sdk/go")
	if err != nil {
		t.Fatal(err)
	}
	goMod := "module greet\n\ngo 1.26.0\n\nrequire github.com/wharf-dev/wharf/sdk/go v0.0.0\n\nreplace github.com/wharf-dev/wharf/sdk/go => " + sdk + "\n"
	r := newRuntime(t, Config{CacheDir: cacheDir})
	for _, test := range []struct {
		language, file string
		others         map[string]string
		command        []string
		want           string // a host call that it makes
	}{
		{"wat", "try.wat", nil, []string{"wat2wasm", "try.wat", "-o", "out.wasm"}, `{"summary":"Hello from WebAssembly text"}`},
		{"c", "hello.c", nil, strings.Fields("clang --target=wasm32 -O2 -nostdlib -Wl,--no-entry -o out.wasm hello.c"), `{"summary":"read the input"}`},
		{"go", "main.go", map[string]string{"go.mod": goMod}, strings.Fields("go build -buildmode=c-shared -o out.wasm ."), `"text":"Hello, Ada!"`},
	} {
		t.Run(test.language, func(t *testing.T) {
			if _, err := exec.LookPath(test.command[0]); err != nil {
				t.Skipf("skipped: %s is not installed", test.command[0])
			}
			dir := t.TempDir()
			files := map[string]string{test.file: example(t, test.language)}
			for name, text := range test.others {
				files[name] = text
			}
			for name, text := range files {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			cmd := exec.CommandContext(t.Context(), test.command[0], test.command[1:]...)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "GOWORK=off", "GOFLAGS=")
			if said, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, said)
			}
			wasm, err := os.ReadFile(filepath.Join(dir, "out.wasm"))
			if err != nil {
				t.Fatal(err)
			}
			runExample(t, compile(t, r, wasm), test.want)
		})
	}
}

func runExample(t *testing.T, m *Module, want string) {
	t.Helper()
	input := newTask(t, `{"role":"user","parts":[{"type":"text","text":"Ada"}]}`)
	h := &host{keep: true}
	h.answer = input.Call
	if _, err := m.Run(t.Context(), abi.DefaultExport, h, Limits{}); err != nil {
		t.Fatal(err)
	}
	for _, a := range h.asked {
		if strings.Contains(a.request, want) {
			return
		}
	}
	t.Errorf("it made the host calls %q, none with %s", h.asked, want)
}

// TestDocumentedCalls holds that the documentation names every host call and every
// failure code that the sandbox gives.
func TestDocumentedCalls(t *testing.T) {
	text, err := os.ReadFile("../../docs/plugins.md")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, c := range abi.HostCalls() {
		names = append(names, c.Name)
	}
	for _, test := range hostile {
		names = append(names, test.code)
	}
	for _, name := range names {
		if !strings.Contains(string(text), "`"+name+"`") {
			t.Errorf("docs/plugins.md does not tell of `%s`", name)
		}
	}
}
