package alone

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"time"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/plugins/plugintest"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/sandbox"
)

// beside has the files that lie beside a case.
func beside(files map[string]string) func(string) ([]byte, error) {
	return func(name string) ([]byte, error) {
		if text, ok := files[name]; ok {
			return []byte(text), nil
		}
		return nil, fs.ErrNotExist
	}
}

func readCase(t *testing.T, text string) *Case {
	t.Helper()
	c, err := ReadCase("testdata/c.yaml", []byte(text), beside(map[string]string{"my.answers.yaml": "http.fetch: {answer: {status: 200, text: of a}}\n"}))
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return c
}

// runCase runs a case, and says where it is not what is expected.
func runCase(t *testing.T, m *sandbox.Module, c *Case) (*Report, []journal.Difference) {
	t.Helper()
	o, err := c.Options("calls", "run", Options{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := Run(t.Context(), m, "run", o)
	if err != nil {
		t.Fatal(err)
	}
	found, err := c.Compare(r, false)
	if err != nil {
		t.Fatal(err)
	}
	return r, found
}

func paths(found []journal.Difference) string {
	var all []string
	for _, d := range found {
		all = append(all, d.Path)
	}
	return strings.Join(all, " ")
}

const fetches = "input: {program: [{call: http.fetch, request: {url: \"https://a.example/\", method: GET}}, {call: log, request: {level: info, message: hi}}]}\nanswers: my.answers.yaml\n"

func TestACaseIsComparedByMeaning(t *testing.T) {
	m := compiled(t, plugintest.Calls())
	const fetched = `{call: http.fetch, request: {method: GET, url: "https://a.example/"}}`
	for expected, want := range map[string]string{
		"":             "",
		"expected: {}": "",
		"expected:\n  calls: [" + fetched + "]\n  logs: [{message: hi, level: info}]\n": "",
		"expected:\n  calls: []\n":                                                                                        "/calls/0",
		"expected:\n  calls: [{call: clock}, " + fetched + "]\n":                                                          "/calls/0",
		"expected:\n  calls: [{call: http.fetch, request: {method: POST}}]\n":                                             "/calls/0/request/method /calls/0/request/url",
		"expected:\n  calls: [{call: http.fetch, status: denied, request: {method: GET, url: \"https://a.example/\"}}]\n": "/calls/0/status",
		"expected:\n  output: null\n  logs: []\n":                                                                         "/output /logs/0",
		"expected:\n  failure: {code: plugin_trap}\n":                                                                     "/failure",
		"expected:\n  output: {summary: other, metrics: {calls: 2.0, digest: 1}}\n  failure: null\n":                      "/output/summary /output/metrics/digest",
	} {
		if _, found := runCase(t, m, readCase(t, fetches+expected)); paths(found) != want {
			t.Errorf("%s\nfound %q, want %q", expected, paths(found), want)
		}
	}
	if _, found := runCase(t, m, readCase(t, "input: {program: [{call: trap}]}\n")); paths(found) != "/failure" {
		t.Errorf("a plugin that fails passes: %v", found)
	}
	if _, found := runCase(t, m, readCase(t, "input: {program: [{call: trap}]}\nexpected:\n  failure: {code: other, message: x}")); paths(found) != "/failure/code /failure/message" {
		t.Errorf("another failure: %v", found)
	}
}

func TestWrongCasesSayWhere(t *testing.T) {
	for text, want := range map[string]string{
		"inptu: a":                        `c.yaml:1:1: a test case has no member "inptu"`,
		"input: a\ngiven: {}\n":           "c.yaml:2:1: a case has input or given",
		"given: [1]\n":                    "c.yaml:1:1: given is not",
		"export: 1\n":                     "export is a text",
		"started_at: yesterday\n":         "started_at is a time",
		"seed: '%'\n":                     "base64",
		"answers: none.yaml\n":            "c.yaml:1:1: the file of answers cannot be read",
		"answers:\n  http.fetsh: {}\n":    `c.yaml:2:3: there is no host call "http.fetsh"`,
		"expected:\n  outptu: {}\n":       `c.yaml:2:3: expected has no member "outptu"`,
		"expected:\n  calls: {}\n":        "c.yaml:2:3: expected.calls is a list",
		"expected:\n  calls: [{}]\n":      "needs call",
		"expected:\n  logs: [{text: a}]":  `has no member "text"`,
		"expected:\n  failure: {kode: a}": `expected.failure has no member "kode"`,
		"- a\n":                           "a mapping",
	} {
		_, err := ReadCase("c.yaml", []byte(text), beside(nil))
		if _, ok := errors.AsType[*Problem](err); !ok || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// TestAnUpdateChangesNothingElse holds that comments and the rest stay, whatever stands around.
func TestAnUpdateChangesNothingElse(t *testing.T) {
	m := compiled(t, plugintest.Calls())
	for _, text := range []string{
		fetches,
		strings.TrimSuffix(fetches, "\n"),
		"# first\n\n" + fetches + "\n# why\nexpected:\n  # in\n  calls: []\n\n# last\n",
		"---\n" + fetches + "expected: {calls: [],\n  logs: []\n}\n",
		"expected:\n  output:\n    summary: |\n      a\n\n      b\n\n\n" + fetches + "# last",
		strings.ReplaceAll(fetches+"expected:\n  calls:\n  - call: clock\n# last\n", "\n", "\r\n"),
	} {
		c := readCase(t, text)
		r, _ := runCase(t, m, c)
		updated, err := c.Updated(r)
		if err != nil {
			t.Errorf("%v of\n%s", err, text)
			continue
		}
		again := readCase(t, string(updated))
		if r, found := runCase(t, m, again); len(found) > 0 {
			t.Errorf("it does not pass after the update: %v\n%s\n%v", found, updated, r)
		}
		if second, err := again.Updated(r); err != nil || string(second) != string(updated) {
			t.Errorf("a second update changes it: %v\n%s\n%s", err, updated, second)
		}
		for _, kept := range []string{"# first\n", "# why\n", "# last", fetches[:20]} {
			if strings.Contains(text, kept) && !strings.Contains(string(updated), kept) {
				t.Errorf("%q is gone from\n%s", kept, updated)
			}
		}
		if strings.Contains(text, "calls") && strings.Contains(string(updated), "output") {
			t.Errorf("it compares more than before:\n%s", updated)
		}
	}
	flow := readCase(t, `{"input": {"program": []}, "expected": {"output": null}}`)
	r, _ := runCase(t, m, flow)
	if updated, err := flow.Updated(r); err == nil {
		t.Errorf("it was updated to %s", updated)
	}
}

// TestACaseOfATask holds that the case of a record passes with the plugin that made it, and that it is
// answered to the byte what was recorded.
func TestACaseOfATask(t *testing.T) {
	m := compiled(t, plugintest.Calls())
	n := uint32(5)
	a := answers(t, "http.fetch:\n  - {answer: {status: 200, text: \"a\\r\\nb\"}}\n  - {status: timeout, error: {code: late, message: \"too late: #1\"}}\nllm.complete: {answer: {text: yes it is}}\n"+
		"artifact.get:\n  - {text: \"{\\\"a\\\":1}\"}\n  - {base64: AP+A}\n")
	g := given(t, step("clock", ""), plugintest.Step{Call: "random", Bytes: &n}, step("http.fetch", `{"url":"https://a.example/"}`), step("http.fetch", `{"url":"https://b.example/"}`),
		step("llm.complete", `{"messages":[]}`), step("message.append", `{"role":"assistant","parts":[]}`), step("artifact.get", `{"artifact_id":"a"}`), step("artifact.get", `{"artifact_id":"b"}`),
		step("event.emit", `{"kind":"task.started"}`), step("state.set", `{"key":"a","value":1}`))
	first, err := Run(t.Context(), m, "run", Options{Given: g, Answers: a, Seed: []byte("a seed")})
	if err != nil {
		t.Fatal(err)
	}
	rec := recordOf(t, first, g)
	rec.Program.Seed, rec.Program.Plugin, rec.End = []byte("a seed"), "calls\n- x: y", &journal.End{Status: abi.TaskCompleted}
	for i, c := range first.Calls { // as they came, and not as they are shown
		if c.Call == abi.CallArtifactGet || c.Call == abi.CallRandom {
			text := journal.Text(c.Answer)
			if c.Answer.Kind() != '{' || strings.Contains(string(c.Answer), "base64") {
				if err := json.Unmarshal(c.Answer, &text); err != nil {
					t.Fatal(err)
				}
			}
			rec.Entries[i].Answer = text
			if c.Call == abi.CallRandom {
				rec.Entries[i].Request = journal.Text("\x05\x00\x00\x00")
			}
		}
	}
	again, err := Run(t.Context(), m, "run", Options{Record: rec})
	if err != nil || len(again.Deviations) > 0 {
		t.Fatalf("%+v, %v", again, err)
	}
	text, err := CaseOf(rec, again)
	if err != nil {
		t.Fatal(err)
	}
	c, err := ReadCase("c.yaml", text, beside(nil))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	r, found := runCase(t, m, c)
	if len(found) > 0 || r.Output == nil || r.Output.Summary != first.Output.Summary { // which digests all answers
		t.Errorf("%v, %v\n%s", found, r.Output, text)
	}
	rec.End = &journal.End{Status: abi.TaskCanceled, Stopped: true}
	if _, err := CaseOf(rec, again); err == nil {
		t.Error("a case was made of a task that was stopped")
	}
}

// TestAnyAnswerIsWrittenAsItWas holds that an answer that a case writes is read as the same bytes, or
// as JSON that means the same.
func TestAnyAnswerIsWrittenAsItWas(t *testing.T) {
	defs := abi.HostCalls()
	rapid.Check(t, func(t *rapid.T) {
		def := &defs[rapid.IntRange(0, len(defs)-1).Draw(t, "call")]
		answer := rapid.OneOf(rapid.SliceOf(rapid.Byte()), rapid.Custom(func(t *rapid.T) []byte { return []byte(rapid.String().Draw(t, "text")) }),
			rapid.SampledFrom([][]byte{[]byte(`"QUJD"`), []byte(`{"a":[1e400,"\u2028"]}`), []byte(`null`), []byte("null\n"), []byte(`{"text":"x"}`), []byte(`{"value":[]}`), []byte("a\r\nb")})).Draw(t, "answer")
		written, err := answerOf(def, &journal.Entry{Call: def.Name, Answer: answer})
		if err != nil {
			t.Fatal(err)
		}
		n, err := readFile("f", []byte("a:"+yamlAfter(written, 2)))
		if err != nil {
			t.Fatalf("%v in %s", err, written)
		}
		r, err := readRule(def, n.get("a"))
		if err != nil {
			t.Fatalf("%v in %s", err, written)
		}
		if string(r.answer) != string(answer) && !journal.SameValue(r.answer, answer) {
			t.Fatalf("%q of %s is read as %q", answer, def.Name, r.answer)
		}
	})
}

func TestWhatAManifestSaysOfARun(t *testing.T) {
	m := compiled(t, plugintest.Calls())
	o := Options{Config: map[string]jsontext.Value{"a": jsontext.Value(`"default"`), "b": jsontext.Value("2")}, Secrets: []string{"token"}, Denied: []string{abi.CallHTTPFetch},
		Answers: answers(t, "config: {b: 3}\nhttp.fetch: {answer: {status: 200}}\n"),
		Given:   given(t, step("config.get", `{"name":"a"}`), step("config.get", `{"name":"b"}`), step("secret.use", `{"name":"token"}`), step("http.fetch", `{"url":"https://a.example/"}`))}
	r, err := Run(t.Context(), m, "run", o)
	if err != nil {
		t.Fatal(err)
	}
	want := `config.get host ok {"value":"default"}
config.get host ok {"value":3}
secret.use host ok {"handle":"{{secret:token}}"}
http.fetch host denied {"code":"capability_denied",`
	if got := answered(r); !strings.HasPrefix(got, want) {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	o.Given = given(t, step("secret.use", `{"name":"other"}`))
	if _, err := Run(t.Context(), m, "run", o); err == nil || !strings.Contains(err.Error(), "secret.use") {
		t.Errorf("a secret that the manifest does not name: %v", err)
	}
}

// TestTheTimeOfACase holds that a case may say when it runs.
func TestTheTimeOfACase(t *testing.T) {
	m := compiled(t, plugintest.Calls())
	c := readCase(t, "input: {program: [{call: clock}]}\nstarted_at: 2020-02-02T00:00:00Z\n")
	r, _ := runCase(t, m, c)
	if at := fmt.Sprint(time.Date(2020, 2, 2, 0, 0, 0, 0, time.UTC).Unix()); !strings.Contains(answered(r), at) {
		t.Errorf("%s", answered(r))
	}
}
