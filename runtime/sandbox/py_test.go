package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/plugins/py"
)

const helloPy = `from wharf import reply


def run(task):
    reply("Hello, " + task.text + "!")
    return "greeted"
`

// python compiles a plugin that is one source in Python.
func python(t testing.TB, r *Runtime, source string) *Module {
	t.Helper()
	file := filepath.Join(t.TempDir(), "plugin.py")
	if err := os.WriteFile(file, []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	built, err := py.Build(file)
	if err != nil {
		t.Fatal(err)
	}
	return compile(t, r, built.Module)
}

func TestPython(t *testing.T) {
	r := newRuntime(t, Config{})
	m := python(t, r, helloPy)
	if got := fmt.Sprint(m.Imports(), m.Exports()); got != "[input message.append output] [run]" {
		t.Errorf("a greeting has the imports and exports %s", got)
	}
	for range 2 {
		h := newTask(t, anna)
		if _, err := m.Run(t.Context(), abi.DefaultExport, h, Limits{}); err != nil {
			t.Fatal(err)
		}
		if got := marshal(t, h.message.Parts); got != `[{"type":"text","text":"Hello, Anna 漢字 😀!","visibility":"public"}]` || h.output.Summary != "greeted" {
			t.Errorf("it says %s, and %q %v", got, h.output.Summary, h.output.Failure)
		}
	}
	if m.shape.Why != "" || !m.once {
		t.Errorf("the program is loaded anew for each Task: %s", m.shape.Why)
	}
	t.Logf("initialization takes %d units of gas", m.shape.Gas)
}

// TestPythonLanguage holds what a program can count on, in the engine itself.
func TestPythonLanguage(t *testing.T) {
	m := python(t, newRuntime(t, Config{}), fileText(t, "testdata/language.py"))
	for _, what := range []string{"order", "many", "collect", "errors", "with_block", "texts", "numbers", "recursion"} {
		t.Run(what, func(t *testing.T) {
			h := &told{task: newTask(t, saying(what))}
			if _, err := m.Run(t.Context(), abi.DefaultExport, h, Limits{}); err != nil {
				t.Fatal(err)
			}
			if f := h.output.Failure; f != nil {
				t.Fatalf("%s %s", f.Message, f.Details)
			}
		})
	}
}

// saying is a Message with a text.
func saying(text string) string {
	return fmt.Sprintf(`{"role":"user","parts":[{"type":"text","text":%q,"visibility":"public"}]}`, text)
}
