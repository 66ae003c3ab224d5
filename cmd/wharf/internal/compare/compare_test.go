package compare_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/compare"
	"github.com/wharf-dev/wharf/runtime/journal"
)

func entry(call, request, answer string) journal.Entry {
	return journal.Entry{Call: call, Request: journal.Text(request), Answer: journal.Text(answer)}
}

func record(end abi.TaskStatus, entries ...journal.Entry) *journal.Record {
	return &journal.Record{Entries: entries, End: &journal.End{Status: end}}
}

func TestRecords(t *testing.T) {
	clock, model := entry("clock", "", `{"t":1}`), entry("llm.complete", `{"q":1}`, `{"text":"yes"}`)
	refused := model
	refused.Status = abi.CallDenied
	for name, c := range map[string]struct {
		a, b   *journal.Record
		kinds  []compare.Kind
		shared int
		diff   string
	}{
		"the same":          {record("COMPLETED", clock, model), record("COMPLETED", clock, model), nil, 2, ""},
		"another answer":    {record("COMPLETED", clock, model), record("COMPLETED", clock, entry("llm.complete", `{"q":1}`, `{"text":"no"}`)), []compare.Kind{compare.Answer}, 1, "-  \"text\": \"yes\"\n+  \"text\": \"no\"\n"},
		"another request":   {record("COMPLETED", model), record("COMPLETED", entry("llm.complete", `{"q":2}`, `{"text":"yes"}`)), []compare.Kind{compare.Request}, 0, "-  \"q\": 1\n+  \"q\": 2\n"},
		"another call":      {record("COMPLETED", clock, model), record("COMPLETED", entry("id", "", `{}`), model), []compare.Kind{compare.Call}, 0, "-clock\n"},
		"another order":     {record("COMPLETED", clock, model), record("COMPLETED", model, clock), []compare.Kind{compare.OnlyA, compare.OnlyB}, 0, "-clock\n"},
		"an earlier end":    {record("COMPLETED", clock, model), record("COMPLETED", clock), []compare.Kind{compare.OnlyA}, 1, "-llm.complete\n"},
		"a later end":       {record("COMPLETED"), record("COMPLETED", clock), []compare.Kind{compare.OnlyB}, 0, "+clock\n"},
		"white space":       {record("COMPLETED", entry("http.fetch", "", `[ ]`)), record("COMPLETED", entry("http.fetch", "", `[]`)), []compare.Kind{compare.Answer}, 0, "-[ ]\n+[]\n"},
		"a refusal":         {record("COMPLETED", model), record("COMPLETED", refused), []compare.Kind{compare.Answer}, 0, "+→ failed\n"},
		"another end alone": {record("COMPLETED", clock), record("FAILED", clock), nil, 1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := compare.Records(c.a, c.b, true)
			var kinds []compare.Kind
			for _, change := range r.Changes {
				kinds = append(kinds, change.Kind)
			}
			if !slices.Equal(kinds, c.kinds) || r.Shared != c.shared || !strings.Contains(r.Diff, c.diff) || (c.diff == "") != (r.Diff == "") {
				t.Errorf("%v, %d shared\n%s", kinds, r.Shared, r.Diff)
			}
			if same := name == "the same"; r.Same != same || r.Ends != (name == "another end alone") {
				t.Errorf("same %t, ends differ %t", r.Same, r.Ends)
			}
		})
	}
}

// Two Tasks with the same words have the same input, whatever else they were given.
func TestInputs(t *testing.T) {
	given := func(id, words string) *journal.Record {
		r := record("COMPLETED")
		r.Input = journal.Text(`{"task":{"id":"` + id + `","input":{"id":"msg_` + id + `","role":"user","parts":[{"type":"text","text":"` + words + `"}]}}}`)
		return r
	}
	if r := compare.Records(given("1", "hi"), given("2", "hi"), true); !r.Same {
		t.Errorf("%+v", r)
	}
	if r := compare.Records(given("1", "hi"), given("2", "ho"), true); r.Same || !strings.Contains(r.Input, "-      \"text\": \"hi\"") {
		t.Errorf("%+v", r)
	}
}

// By meaning, spelling makes no difference; where something does, all places are told.
func TestMeaning(t *testing.T) {
	a := record("COMPLETED", entry("http.fetch", `{"url":"u","n":1}`, `{"a":[1,2],"b":{"c":"d"}}`), entry("id", "", "x"))
	b := record("COMPLETED", entry("http.fetch", `{"n":1.0, "url":"u"}`, `{"b":{"c":"\u0064"},"a":[1,2]}`), entry("id", "", "x"))
	if r := compare.Records(a, b, false); !r.Same || r.Shared != 2 {
		t.Errorf("by meaning: %+v", r)
	}
	if r := compare.Records(a, b, true); r.Same || len(r.Changes) != 1 || r.Changes[0].Kind != compare.Request {
		t.Errorf("by bytes: %+v", r)
	}
	b.Entries[0].Answer, b.Entries[1].Answer = journal.Text(`{"b":{"c":"e"},"a":[1,3]}`), journal.Text("y")
	r := compare.Records(a, b, false)
	var places []string
	for _, change := range r.Changes {
		for _, d := range change.Differences {
			places = append(places, d.Path)
		}
	}
	if want := []string{"/a/1", "/b/c", ""}; len(r.Changes) != 2 || !slices.Equal(places, want) {
		t.Errorf("the places are %q, want %q in %+v", places, want, r.Changes)
	}
}

// A record is the same as itself, and differs from one in which a call was changed.
func TestAChangeIsFound(t *testing.T) {
	calls := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) journal.Entry {
		text := rapid.StringMatching(`[ab]{0,2}`)
		return entry(rapid.SampledFrom([]string{"clock", "id"}).Draw(t, "call"), text.Draw(t, "request"), text.Draw(t, "answer"))
	}), 1, 8)
	rapid.Check(t, func(t *rapid.T) {
		a := record("COMPLETED", calls.Draw(t, "calls")...)
		if r := compare.Records(a, a, true); !r.Same || r.Shared != len(a.Entries) {
			t.Fatalf("not the same as itself: %+v", r)
		}
		b := record("COMPLETED", slices.Clone(a.Entries)...)
		i := rapid.IntRange(0, len(a.Entries)-1).Draw(t, "changed")
		b.Entries[i].Answer = append(slices.Clone(b.Entries[i].Answer), '!')
		if r := compare.Records(a, b, true); r.Same || r.Shared != i || r.Diff == "" {
			t.Fatalf("a change of call %d: %+v", i, r)
		}
	})
}
