package main

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/plugins/plugintest"
	"github.com/wharf-dev/wharf/runtime/alone"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/replay"
	"github.com/wharf-dev/wharf/runtime/sandbox"
)

// callsModule compiles the plugin whose input says which calls it makes.
func callsModule(t *testing.T) (*sandbox.Runtime, *sandbox.Module) {
	t.Helper()
	runtime, err := sandbox.New(t.Context(), sandbox.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { runtime.Close(t.Context()) })
	m, err := runtime.Compile(t.Context(), plugintest.Calls())
	if err != nil {
		t.Fatal(err)
	}
	return runtime, m
}

// Another build that writes the same in another way does the same, unless bytes are asked for. The
// module of the record has to do the same to the byte.
func TestAnotherBuildIsComparedByMeaning(t *testing.T) {
	runtime, m := callsModule(t)
	given, err := alone.Given("calls", "run", jsontext.Value(`{"program":[{"call":"state.set","request":{"key":"a","value":1}},{"call":"state.set","request":{"key":"b","value":2}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	did, err := alone.Run(t.Context(), m, "run", alone.Options{Given: given})
	if err != nil || did.Failure != nil {
		t.Fatal(err, did.Failure)
	}
	record := func(module, first, second string, end journal.End) *journal.Record {
		rec := &journal.Record{TaskID: "task_1", Input: journal.Text(given), StartedAt: alone.Started(), End: &end,
			Program: journal.Program{Plugin: "calls", Export: "run", Module: module, Rewriter: runtime.Rewriter()}}
		for i, c := range did.Calls {
			request := string(c.Request)
			request = strings.ReplaceAll(request, `{"key":"a","value":1}`, first)
			request = strings.ReplaceAll(request, `{"key":"b","value":2}`, second)
			rec.Entries = append(rec.Entries, journal.Entry{Index: i, Call: c.Call, Request: journal.Text(request), At: alone.Started()})
		}
		return rec
	}
	const a, b = `{"key":"a","value":1}`, `{"key":"b","value":2}`
	well := journal.End{Status: abi.TaskCompleted}
	failed := journal.End{Status: abi.TaskFailed, Failure: &abi.Failure{Code: "broken"}}
	for name, c := range map[string]struct {
		record     *journal.Record
		strict     bool
		result     string
		deviations int
	}{
		"the same":                            {record("sha256:1", a, b, well), false, testSame, 0},
		"in another order":                    {record("sha256:1", `{"value":1.0,"key":"a"}`, b, well), false, testSame, 0},
		"in another order, to the byte":       {record("sha256:1", `{"value":1,"key":"a"}`, b, well), true, testDiffers, 0},
		"in another order by the same module": {record(m.Digest(), `{"value":1,"key":"a"}`, b, well), false, testDiffers, 0},
		"something else twice":                {record("sha256:1", `{"key":"a","value":3}`, `{"key":"b","value":4}`, well), false, testDiffers, 2},
		"another end":                         {record("sha256:1", a, b, failed), false, testDiffers, 1},
		"stopped":                             {record("sha256:1", `{"value":1,"key":"a"}`, b, journal.End{Status: abi.TaskCanceled, Stopped: true}), false, testDiffers, 0},
	} {
		t.Run(name, func(t *testing.T) {
			var r testResult
			if err := r.run(t.Context(), m, replay.Options{Module: m.Digest(), Rewriter: runtime.Rewriter()}, c.strict, c.record); err != nil {
				t.Fatal(err)
			}
			if r.Result != c.result || len(r.Deviations) != c.deviations || (r.Divergence == nil) != (c.result == testSame) {
				t.Errorf("%s with %+v, %v", r.Result, r.Deviations, r.Divergence)
			}
		})
	}
}

// What a new build does is kept when it is all that it does.
func TestWhatIsNoResultIsNotAccepted(t *testing.T) {
	runtime, m := callsModule(t)
	for name, c := range map[string]struct {
		program      string
		end          journal.End
		module       string
		result, says string
	}{
		"another call":                    {program: `{"call":"id"}`, result: testAccepted},
		"a call that nothing answers":     {program: `{"call":"llm.complete","request":{"messages":[]}}`, result: testDiffers, says: "nothing answers llm.complete"},
		"a trap":                          {program: `{"call":"id"},{"call":"trap"}`, result: testDiffers, says: "plugin_trap"},
		"a trap that was recorded":        {program: `{"call":"id"},{"call":"trap"}`, end: journal.End{Status: abi.TaskFailed, Failure: &abi.Failure{Code: abi.FailurePluginTrap}}, result: testAccepted},
		"a return that says nothing":      {program: `{"call":"return","bytes":3}`, result: testAccepted},
		"what was stopped":                {program: `{"call":"id"}`, end: journal.End{Status: abi.TaskCanceled, Stopped: true}, result: testDiffers, says: "was stopped"},
		"what the module itself has done": {program: `{"call":"id"}`, module: m.Digest(), result: testDiffers, says: "to the byte"},
	} {
		t.Run(name, func(t *testing.T) {
			given, err := alone.Given("calls", "run", jsontext.Value(`{"program":[`+c.program+`]}`))
			if err != nil {
				t.Fatal(err)
			}
			end := c.end
			if end.Status == "" {
				end.Status = abi.TaskCompleted
			}
			rec := &journal.Record{TaskID: "task_1", Input: journal.Text(given), StartedAt: alone.Started(), End: &end,
				Program: journal.Program{Plugin: "calls", Export: "run", Module: cmp.Or(c.module, "sha256:1"), Rewriter: runtime.Rewriter()},
				Entries: []journal.Entry{{Call: abi.CallClock, Answer: journal.Text(`{"unix_nano":"1"}`), At: alone.Started()}}}
			file := filepath.Join(t.TempDir(), "run.json")
			text, err := json.Marshal(rec)
			if err == nil {
				err = os.WriteFile(file, text, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			o := replay.Options{Module: m.Digest(), Rewriter: runtime.Rewriter()}
			r := testFile(t.Context(), m, o, testHow{accept: true}, file)
			if r.Result != c.result || !strings.Contains(r.Unaccepted, c.says) || (r.Unaccepted == "") != (c.says == "") {
				t.Errorf("%s, %q, %s", r.Result, r.Unaccepted, r.Error)
			}
			if again := testFile(t.Context(), m, o, testHow{}, file); again.Result != c.result {
				t.Errorf("afterwards it is %s, %s", again.Result, again.Error)
			}
		})
	}
}
