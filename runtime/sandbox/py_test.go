package sandbox

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
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
	return compile(t, r, pythonModule(t, source))
}

func pythonModule(t testing.TB, source string) []byte {
	t.Helper()
	file := filepath.Join(t.TempDir(), "plugin.py")
	if err := os.WriteFile(file, []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	built, err := py.Build(file)
	if err != nil {
		t.Fatal(err)
	}
	return built.Module
}

func TestPython(t *testing.T) {
	r := newRuntime(t, Config{})
	m := python(t, r, helloPy)
	if got := fmt.Sprint(m.Imports(), m.Exports()); got != "[input message.append output] [run]" {
		t.Errorf("a greeting has the imports and exports %s", got)
	}
	checkGreetsAnna(t, m)
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

// TestPythonTask holds what a program finds of its input, which is what programs in the other languages find.
func TestPythonTask(t *testing.T) {
	m := python(t, newRuntime(t, Config{}), "import json\ndef run(t): return t.text + '|' + json.dumps(t.value)\n")
	for _, test := range []struct{ input, want string }{
		{`"so much"`, `so much|"so much"`},
		{`{"text": "so much", "parts": []}`, `so much|{"text": "so much", "parts": []}`},
		{`{"text": 7}`, `|{"text": 7}`},
		{`{"role": "user", "parts": [{"type": "text", "text": "a"}, {"type": "json", "value": [1]}, {"type": "text", "text": "b"}, {"type": "json", "value": 2}]}`, "a\n\nb|[1]"},
		{`{"parts": "none"}`, `|{"parts": "none"}`},
		{`{"parts": ["none"]}`, `|{"parts": ["none"]}`},
		{`[1, 2]`, `|[1, 2]`},
		{`null`, `|null`},
	} {
		h := newTask(t, test.input)
		if _, err := m.Run(t.Context(), abi.DefaultExport, h, Limits{}); err != nil {
			t.Fatal(err)
		}
		if h.output.Summary != test.want {
			t.Errorf("of the input %s it finds %q %v, want %q", test.input, h.output.Summary, h.output.Failure, test.want)
		}
	}
}

// TestPythonResults holds what comes of what a program does: summaries, and failures that say what was
// raised, where.
func TestPythonResults(t *testing.T) {
	r := newRuntime(t, Config{CacheDir: t.TempDir()})
	// All have the same imports, so that the engine is compiled once.
	const imports = "from wharf import *\nimport wharf\n_ = state_get, http_fetch, log\n"
	for _, test := range []struct{ name, source, want string }{
		{"a text", `def run(t): return "done"`, "done"},
		{"nothing", `def run(t): pass`, ""},
		{"a dict", `def run(t): return {"summary": "done", "metrics": {"n": 1}}`, "done"},
		{"typed errors", "def run(t):\n try: state_get(key='k')\n except wharf.Denied as e: return ' '.join((e.status, e.code, e.message, e.call))", "denied policy_denied not for you state.get"},
		{"the class of all", "def run(t):\n try: state_get({'key': 'k'})\n except WharfError as e: return str(e)", "state.get: not for you"},
		{"an error that nobody caught", "def run(t):\n    state_get(key='k')", `plugin_error Denied: state.get: not for you {"stack":["run (plugin.py:5)"]}`},
		{"a failure of its own", `def run(t): raise Failure("no_tea", "the pot is empty", {"pot": 1})`, `no_tea the pot is empty {"pot":1}`},
		{"fetch", "def run(t):\n a = fetch('http://a.test/', json={'b': 1})\n return '%d %s %s %d' % (a.status, a.headers['content-type'], a.text, len(a.json()['a']))", `200 application/json {"a":[1,2]} 2`},
		{"broken when loaded", "def run(t): return 'x'\nraise TypeError('at the top')", `plugin_error TypeError: at the top {"stack":["plugin.py:5"]}`},
		{"leaving", "import sys\ndef run(t): sys.exit(3)", `plugin_error SystemExit: 3 {"stack":["run (plugin.py:5)"]}`},
		{"async", "async def run(t): return 'x'", `plugin_error TypeError: run is async or yields, which nothing waits for: host calls are answered when they return {"stack":[]}`},
		{"no function", `run = 1`, `plugin_error TypeError: 'int' object isn't callable {"stack":[]}`},
		{"no such call", "def run(t): wharf._asked('no' + 'ne', {})", `plugin_error RuntimeError: the plugin does not import the host call none: its sources have to name the function {"stack":["run (plugin.py:4)"]}`},
		{"no JSON", "import json\ndef run(t):\n    return ' '.join(tried(x) for x in ('{', '[1,]', '{\"a\" 1}', '01', '1.', '\"\\t\"', 'nul', '', '1 2', '[1}', '\"\\\\x\"', '-'))\n" +
			"def tried(x):\n    try: return 'took ' + str(json.loads(x))\n    except ValueError: return '-'", "- - - - - - - - - - - -"},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := &told{task: newTask(t, anna)}
			if _, err := python(t, r, imports+test.source).Run(t.Context(), abi.DefaultExport, h, Limits{}); err != nil {
				t.Log(err)
			}
			got := h.output.Summary
			if f := h.output.Failure; f != nil {
				got = f.Code + " " + f.Message + " " + string(f.Details)
			}
			if got != test.want {
				t.Errorf("it says %q, want %q", got, test.want)
			}
		})
	}
}

// TestPythonWithheld holds that what a tier holds back is no error.
func TestPythonWithheld(t *testing.T) {
	m := python(t, newRuntime(t, Config{}), "from wharf import state_set\ndef run(t): return state_set(key='k', value={'b': 1, 'a': [None, True, 1.5]})['withheld']\n")
	var requests []string
	h := &host{answer: func(_ context.Context, call string, request []byte) (abi.CallStatus, []byte, error) {
		requests = append(requests, call+" "+string(request))
		switch call {
		case abi.CallStateSet:
			return abi.CallDenied, []byte(`{"code":"proposed","message":"held back"}`), nil
		case abi.CallInput:
			return abi.CallOK, []byte(`{"task":{"id":"t"}}`), nil
		}
		return abi.CallOK, nil, nil
	}}
	if _, err := m.Run(t.Context(), abi.DefaultExport, h, Limits{}); err != nil {
		t.Fatal(err)
	}
	want := `[input  state.set {"key":"k","value":{"b":1,"a":[null,true,1.5]}} output {"summary":"proposed"}]`
	if got := fmt.Sprint(requests); got != want {
		t.Errorf("it asks %s, want %s", got, want)
	}
}

// TestPythonRepeats holds that two Tasks with the same answers ask the same, also where they look at clocks
// and draw chance, and that chance is the Task's own.
func TestPythonRepeats(t *testing.T) {
	m := python(t, newRuntime(t, Config{}), `import random
import time

loaded = random.random()


def run(task):
    print(time.time(), time.monotonic(), random.random(), loaded)
    for k in {3, 1, 2, "a"}:
        print(k, hash(str(k)))
    print("no end", end="")
`)
	var runs [2][]string
	for i := range runs {
		h := &told{task: newTask(t, anna)}
		if _, err := m.Run(t.Context(), abi.DefaultExport, h, Limits{}); err != nil {
			t.Fatal(err)
		}
		runs[i] = h.requests
	}
	if !slices.Equal(runs[0], runs[1]) || !slices.Contains(runs[0], `log {"level":"info","message":"no end"}`) {
		t.Errorf("two runs ask:\n%s\n%s", strings.Join(runs[0], "\n"), strings.Join(runs[1], "\n"))
	}
}

func BenchmarkRunPython(b *testing.B) {
	m := python(b, newRuntime(b, Config{}), helloPy)
	for b.Loop() {
		if _, err := m.Run(b.Context(), abi.DefaultExport, newTask(b, anna), Limits{}); err != nil {
			b.Fatal(err)
		}
	}
}

// TestPythonConnector holds that a Connector's function is run without a Task, that what it raises for a
// delivery puts that aside, and that it fails for several, of which the node finds the one.
func TestPythonConnector(t *testing.T) {
	m := python(t, newRuntime(t, Config{}), `from wharf import connector_deliveries, connector_normalized

def run(task):
    if task is not None:
        raise ValueError("there is a Task")
    results = []
    for delivery in connector_deliveries()["deliveries"]:
        if delivery["text"] == "bad":
            raise ValueError("no ticket")
        results.append({"id": delivery["id"], "ignored": delivery["text"]})
    connector_normalized(results=results)
`)
	for _, c := range []struct{ name, deliveries, want string }{
		{"one", `{"id":"1","text":"a"}`, `{"results":[{"id":"1","ignored":"a"}]}`},
		{"several", `{"id":"1","text":"a"},{"id":"2","text":"b"}`, `{"results":[{"id":"1","ignored":"a"},{"id":"2","ignored":"b"}]}`},
		{"one for which it raises", `{"id":"1","text":"bad"}`,
			`{"results":[{"id":"1","failure":{"code":"plugin_error","message":"ValueError: no ticket","details":{"stack":["run (plugin.py:9)"]}}}]}`},
		{"several, of which it raises for one", `{"id":"1","text":"a"},{"id":"2","text":"bad"}`, ``},
	} {
		t.Run(c.name, func(t *testing.T) {
			var told string
			h := &host{answer: func(_ context.Context, call string, request []byte) (abi.CallStatus, []byte, error) {
				switch call {
				case abi.CallDeliveries:
					return abi.CallOK, []byte(`{"connector":{},"deliveries":[` + c.deliveries + `]}`), nil
				case abi.CallNormalized:
					told = string(request)
					return abi.CallOK, nil, nil
				}
				return abi.CallDenied, []byte(`{"code":"not_in_a_task","message":"not here"}`), nil
			}}
			_, err := m.Run(t.Context(), abi.DefaultExport, h, Limits{})
			if told != c.want || (err == nil) != (c.want != "") {
				t.Errorf("it tells %s, %v; want %s", told, err, c.want)
			}
		})
	}
}
