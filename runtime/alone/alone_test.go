package alone

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/plugins"
	"github.com/wharf-dev/wharf/plugins/plugintest"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/sandbox"
)

func compiled(t testing.TB, wasm []byte) *sandbox.Module {
	t.Helper()
	r, err := sandbox.New(t.Context(), sandbox.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(t.Context()) })
	m, err := r.Compile(t.Context(), wasm)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// step is a call of the plugin that makes those of its input.
func step(call, request string) plugintest.Step {
	if !jsontext.Value(request).IsValid() {
		return plugintest.Step{Call: call, Text: &request}
	}
	return plugintest.Step{Call: call, Request: jsontext.Value(request)}
}

func given(t testing.TB, steps ...plugintest.Step) jsontext.Value {
	t.Helper()
	input, err := json.Marshal(plugintest.Program{Program: steps})
	if err != nil {
		t.Fatal(err)
	}
	g, err := Given("calls", "run", input)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func answers(t testing.TB, text string) *Answers {
	t.Helper()
	a, err := ReadAnswers("answers.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// answered are the calls of a report, each with its status and answer.
func answered(r *Report) string {
	var lines []string
	for _, c := range r.Calls {
		if c.Call != abi.CallOutput {
			lines = append(lines, fmt.Sprintf("%s %s %s %s", c.Call, c.From, StatusName(c.Status), string(c.Answer)))
		}
	}
	return strings.Join(lines, "\n")
}

func TestEchoRunsWithoutANode(t *testing.T) {
	echo, _ := plugins.Lookup("echo")
	input, err := Message("hi")
	if err != nil {
		t.Fatal(err)
	}
	g, err := Given("echo", "run", input)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Run(t.Context(), compiled(t, echo.Wasm()), "run", Options{Given: g})
	if err != nil || r.Failure != nil || r.Output == nil || len(r.Calls) == 0 || r.Gas == 0 || r.Memory == 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	if !strings.Contains(string(r.Calls[0].Request), `"text":"hi"`) {
		t.Errorf("it appended %s", r.Calls[0].Request)
	}
}

func TestAnswersOfAFile(t *testing.T) {
	m := compiled(t, plugintest.Calls())
	a := answers(t, `
config:
  greeting: Hello
llm.complete:
  - answer: {text: first}
  - call_id: named
    answer: {text: by its name}
  - answer: {text: second}
memory.query: # every call
  answer: {memories: []}
http.fetch:
  - request: {url: "https://a.example/x"}
    answer: {status: 200, text: "of a"}
  - request: {method: POST}
    status: timeout
    error: {code: http_timeout, message: too late}
    repeat: true
tool.call:
  - error: {code: tool_down, message: down}
`)
	r, err := Run(t.Context(), m, "run", Options{Answers: a, Given: given(t,
		step("config.get", `{"name":"greeting"}`), step("config.get", `{"name":"none"}`),
		step("llm.complete", `{"call_id":"named","messages":[]}`), step("llm.complete", `{"messages":[]}`), step("llm.complete", `{"messages":[]}`),
		step("memory.query", `{"query":"a"}`), step("memory.query", `{"query":"b"}`),
		step("http.fetch", `{"method":"POST","url":"https://b.example"}`), step("http.fetch", `{"method":"POST","url":"https://b.example"}`),
		step("http.fetch", `{"url":"https://a.example/x"}`), step("tool.call", `{"server":"s","name":"t"}`))})
	if err != nil || r.Failure != nil {
		t.Fatalf("%v %+v\n%s", err, r.Failure, answered(r))
	}
	want := []string{
		`config.get host ok {"value":"Hello"}`, `config.get host ok {"value":null}`,
		`"text":"by its name"`, `"text":"first"`, `"text":"second"`,
		`memory.query file ok {"memories":[]}`, `memory.query file ok {"memories":[]}`,
		`http.fetch file timeout {"code":"http_timeout","message":"too late"}`, `http.fetch file timeout {"code":"http_timeout","message":"too late"}`,
		`http.fetch file ok {"status":200,"text":"of a"}`, `tool.call file unavailable {"code":"tool_down","message":"down"}`,
	}
	got := strings.Split(answered(r), "\n")
	for i := range want {
		if i >= len(got) || !strings.Contains(got[i], want[i]) {
			t.Fatalf("call %d: want %s in\n%s", i, want[i], answered(r))
		}
	}
	if len(r.Unused) != 0 {
		t.Errorf("%v were not used", r.Unused)
	}
}

// TestACallWithoutAnAnswerSaysWhatToAdd holds that what it says can be put in the file as it is.
func TestACallWithoutAnAnswerSaysWhatToAdd(t *testing.T) {
	m := compiled(t, plugintest.Calls())
	for call, def := range abi.HostCallsByName() {
		if MadeByHost(call) && call != abi.CallArtifactGet || def.Effect == abi.EffectHint || def.Effect == abi.EffectGiven {
			continue
		}
		request := "{}"
		switch call {
		case abi.CallHTTPFetch:
			request = `{"url":"https://a.example/?q=\u0085: #","text":"a\nb"}`
		case abi.CallArtifactGet:
			request = `{"artifact_id":"art_1"}`
		}
		g := given(t, step(call, request))
		_, err := Run(t.Context(), m, "run", Options{Given: g})
		lacking, ok := errors.AsType[*Missing](err)
		if !ok {
			t.Errorf("%s: %v", call, err)
			continue
		}
		a, err := ReadAnswers("added.yaml", []byte(lacking.Add))
		if err != nil {
			t.Errorf("%s: %v in\n%s", call, err, lacking.Add)
			continue
		}
		if r, err := Run(t.Context(), m, "run", Options{Given: g, Answers: a}); err != nil || len(r.Calls) == 0 || r.Calls[0].From != FromFile {
			t.Errorf("%s: %v with\n%s", call, err, lacking.Add)
		}
	}
}

func TestWhatTheRunMakesItselfIsTheSameEachTime(t *testing.T) {
	m := compiled(t, plugintest.Calls())
	n := uint32(8)
	o := Options{Given: given(t, step("clock", ""), plugintest.Step{Call: "random", Bytes: &n}, step("id", ""), step("sleep", `{"ms":5000}`), step("clock", ""),
		plugintest.Step{Call: "wasi.random", Bytes: &n}, step("state.set", `{"key":"k","value":[1]}`), step("state.get", `{"key":"k"}`),
		step("artifact.put", "{\"kind\":\"report\",\"mime_type\":\"text/plain\"}\nthe content"), step("artifact.get", `{"artifact_id":"$artifact_id","offset":4}`),
		step("log", `{"level":"warn","message":"look"}`), step("host.fact", `{"name":"task"}`))}
	first, err := Run(t.Context(), m, "run", o)
	if err != nil || first.Failure != nil {
		t.Fatal(err, first.Failure)
	}
	again, err := Run(t.Context(), m, "run", o)
	if err != nil || answered(first) != answered(again) || first.Gas != again.Gas {
		t.Fatalf("%v: two runs differ:\n%s\n\n%s", err, answered(first), answered(again))
	}
	for _, want := range []string{`state.get host ok {"value":[1]}`, `artifact.get host ok "content"`, `clock host ok {"unix_nano":"17672256050`} {
		if !strings.Contains(answered(first), want) {
			t.Errorf("no %s in\n%s", want, answered(first))
		}
	}
	if len(first.Logs) != 1 || first.Logs[0].Message != "look" {
		t.Errorf("logged %v", first.Logs)
	}
}

func TestMalformedRequestsAreRefused(t *testing.T) {
	m := compiled(t, plugintest.Calls())
	r, err := Run(t.Context(), m, "run", Options{Answers: answers(t, `llm.complete: {answer: {text: yes it was}}`),
		Given: given(t, step("llm.complete", `{"messages":[{"role":"user","content":"Say hello."}]}`), step("event.emit", `{"kind":"task.started"}`),
			step("output", `{"summary":"one"}`))})
	if err != nil {
		t.Fatal(err)
	}
	if r.Calls[0].Status != abi.CallInvalid || !strings.Contains(string(r.Calls[0].Answer), `content`) {
		t.Errorf("a request with a member that there is not: %s", answered(r))
	}
	if r.Calls[1].Status != abi.CallInvalid {
		t.Errorf("an event of the host's: %s", answered(r))
	}
}

func TestAPluginThatTraps(t *testing.T) {
	m := compiled(t, plugintest.Calls())
	r, err := Run(t.Context(), m, "run", Options{Given: given(t, step("trap", ""))})
	if err != nil || r.Failure == nil || r.Failure.Code != abi.FailurePluginTrap || !strings.Contains(string(r.Failure.Details), "stack") {
		t.Fatalf("%v %+v", err, r.Failure)
	}
	r, err = Run(t.Context(), m, "run", Options{Given: given(t, step("spin", "")), Limits: sandbox.Limits{Gas: 1_000_000}})
	if err != nil || r.Failure == nil {
		t.Fatalf("a loop without an end: %v %+v", err, r.Failure)
	}
}

// TestFilesThatAreWrong holds that each mistake is told with its place.
func TestFilesThatAreWrong(t *testing.T) {
	for text, want := range map[string]string{
		"llm.complete:\n  - answer: {txt: a}\n":                                "answers.yaml:2",
		"http.fetsh:\n  - answer: {}\n":                                        `answers.yaml:1:1: there is no host call "http.fetsh": did you mean http.fetch?`,
		"http.fetch:\n  - answr: {}\n":                                         `answers.yaml:2:5: an answer of http.fetch has no member "answr"`,
		"http.fetch:\n  - answer: {status: 200}\n    text: x\n":                "one of answer, text",
		"http.fetch:\n  - status: nope\n":                                      `there is no status "nope"`,
		"http.fetch:\n  - status: ok\n    error: {code: a}\n":                  "what is ok has no error",
		"http.fetch:\n  - answer: {status: 0x10}\n":                            "no number as JSON writes it",
		"log:\n  - answer: {}\n":                                               "telemetry",
		"a: &a [1]\nb: *a\n":                                                   "answers.yaml:1:4: anchors",
		"llm.complete: !!binary aGk=\n":                                        "tags",
		"llm.complete: 1\nllm.complete: 2\n":                                   "answers.yaml:2",
		"- a\n- b\n":                                                           "a mapping",
		"":                                                                     "no YAML document",
		"a: 1\n---\nb: 1\n":                                                    "more than one",
		"a: [1\n":                                                              "answers.yaml",
		strings.Repeat("[", 5000):                                              "nests deeper",
		strings.Repeat("{a: ", 5000):                                           "nests deeper",
		strings.Repeat("- ", 5000) + "a":                                       "nests deeper",
		"config:\n  a: " + strings.Repeat("x", maxFile):                        "at most",
		"config:\n" + strings.Repeat("  - a\n", maxTokens):                     "more than",
		"config: {a: \"" + strings.Repeat("\\", 1001) + "\n":                   "answers.yaml",
		"tool.call:\n  - repeat: 3\n    answer: {content: []}\n":               "repeat is true or false",
		"clock:\n  - answer: yesterday\n":                                      "it cannot answer clock",
		"config:\n" + strings.Repeat(" ", 3000) + "a: 1\n":                     "nests deeper",
		"random:\n  - base64: '%%'\n":                                          "base64",
		"memory.query:\n  - answer: {memories: [{a: 1}]}\n":                    "answers.yaml:2",
		"llm.complete:\n  - answer: {text: [1]}\n":                             "it cannot answer llm.complete",
		"llm.complete:\n  - call_id: 1\n":                                      "call_id is a text",
		"llm.complete:\n  - answer: " + strings.Repeat("a", 10) + "\n  b: 1\n": "answers.yaml",
	} {
		_, err := ReadAnswers("answers.yaml", []byte(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: %v, want %s", text, err, want)
		}
		if _, ok := errors.AsType[*Problem](err); err != nil && !ok {
			t.Errorf("%.60q: %T has no place", text, err)
		}
	}
}

// recordOf makes the record of a run.
func recordOf(t *testing.T, r *Report, g jsontext.Value) *journal.Record {
	t.Helper()
	rec := &journal.Record{TaskID: "task_1", Input: journal.Text(g), StartedAt: Started(), Program: journal.Program{Export: "run", Seed: []byte("seed")}}
	for i, c := range r.Calls {
		rec.Entries = append(rec.Entries, journal.Entry{Index: i, Call: c.Call, Status: c.Status, Request: journal.Text(c.Request), Answer: journal.Text(c.Answer),
			At: Started().Add(time.Duration(i) * time.Second)})
	}
	return rec
}

func TestARecordAnswersByMeaning(t *testing.T) {
	m := compiled(t, plugintest.Calls())
	asks := []plugintest.Step{step("http.fetch", `{"url":"https://a.example","method":"GET"}`), step("memory.query", `{"query":"x"}`),
		step("http.fetch", `{"url":"https://b.example"}`), step("tool.call", `{"server":"s","name":"n","arguments":{"a":1,"b":[1,2]}}`)}
	a := answers(t, "http.fetch:\n  - {answer: {status: 201}}\n  - {answer: {status: 202}}\nmemory.query: {answer: {memories: []}}\ntool.call: {answer: {content: []}}\n")
	g := given(t, asks...)
	first, err := Run(t.Context(), m, "run", Options{Given: g, Answers: a})
	if err != nil {
		t.Fatal(err)
	}
	rec := recordOf(t, first, g)

	run := func(o Options, steps ...plugintest.Step) *Report {
		t.Helper()
		o.Record, o.Given = rec, given(t, steps...)
		r, err := Run(t.Context(), m, "run", o)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if r := run(Options{}, asks...); len(r.Deviations) != 0 || answered(r) != strings.ReplaceAll(answered(first), "file", FromRecord) {
		t.Errorf("the same: %+v\n%s", r.Deviations, answered(r))
	}
	reordered := []plugintest.Step{step("http.fetch", `{"method":"GET", "url":"https://a.example"}`), asks[1], asks[2],
		step("tool.call", `{"arguments":{"b":[1,2],"a":1.0},"name":"n","server":"s"}`)}
	if r := run(Options{}, reordered...); len(r.Deviations) != 0 {
		t.Errorf("members in another order: %+v", r.Deviations)
	}
	if r := run(Options{Strict: true}, reordered...); len(r.Deviations) != 2 {
		t.Errorf("members in another order, strict: %+v", r.Deviations)
	}
	changed := []plugintest.Step{step("http.fetch", `{"url":"https://b.example"}`), step("memory.query", `{"query":"y"}`),
		step("tool.call", `{"server":"s","name":"n","arguments":{"a":2,"b":[2]}}`)}
	r := run(Options{}, changed...)
	var got []string
	for _, d := range r.Deviations {
		got = append(got, fmt.Sprint(d.Kind, " ", d.Call, " ", d.Recorded, " ", len(d.Differences)))
	}
	if want := "request memory.query 1 1, order memory.query 1 0, request tool.call 3 2, request output 4 3, missing http.fetch 0 0"; strings.Join(got, ", ") != want {
		t.Errorf("all differences: %s\nwant %s", strings.Join(got, ", "), want)
	}
	if !strings.Contains(answered(r), `"status":202`) {
		t.Errorf("a call is answered as the same one was:\n%s", answered(r))
	}
}

func FuzzYAMLIsReadAsItIsWritten(f *testing.F) {
	for _, s := range []string{"", "a", "yes", "1", "a\nb", "a\n", "\na\n b", " x\ny", "a: b", "# c", "- a", "a\n\nb\n", "\u2028", "x \ny", "\"", "a\tb\nc", "null", "é\nx", "---\nx", "%a\nb", "a #b\nc: d"} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, name, text string) {
		value, err := json.Marshal(map[string]any{name: []any{text, map[string]any{text: text, "b": []any{}}, []any{[]any{text}}}, "z": text, "n": 1.5}, json.Deterministic(true))
		if err != nil {
			return
		}
		if strings.Contains(name+text, "\r") && !strings.Contains(string(value), `\r`) {
			return
		}
		written := AsYAML(value, 0)
		n, err := readFile("f", []byte(written))
		if err != nil {
			t.Fatalf("%v\n%s", err, written)
		}
		if !journal.SameValue(n.json(), value) {
			t.Fatalf("%s\nis read as %s\nfrom\n%s", value, n.json(), written)
		}
	})
}
