package compare_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/wharf-dev/wharf/cmd/wharf/internal/compare"
	"github.com/wharf-dev/wharf/runtime/journal"
)

// told is what a comparison says of calls, each a letter for its name and digits for its request.
func told(t testing.TB, a, b string) string {
	t.Helper()
	calls := func(text string) *journal.Record {
		r := record("COMPLETED")
		for one := range strings.FieldsSeq(text) {
			r.Entries = append(r.Entries, entry(one[:1], strings.TrimSuffix(one[1:], "!"), one))
		}
		return r
	}
	r := compare.Records(calls(a), calls(b), false)
	var all []string
	for _, c := range r.Changes {
		all = append(all, fmt.Sprintf("%d/%d %s %s%s", c.Index, c.IndexB, c.Kind, c.A, c.B))
	}
	return strings.Join(all, ", ")
}

// Calls are compared with those that ask the same, wherever they stand.
func TestCallsAreAligned(t *testing.T) {
	for about, c := range map[string]struct{ a, b, want string }{
		"the same":                           {"x1 y2 z3", "x1 y2 z3", ""},
		"nothing":                            {"", "", ""},
		"one put in at the beginning":        {"x1 y2 z3", "w0 x1 y2 z3", "0/0 only_b w"},
		"one put in between":                 {"x1 y2 z3", "x1 w0 y2 z3", "1/1 only_b w"},
		"one put in at the end":              {"x1 y2 z3", "x1 y2 z3 w0", "3/3 only_b w"},
		"one taken out":                      {"x1 y2 z3", "x1 z3", "1/1 only_a y"},
		"one more of the same":               {"x1 x1 y2", "x1 x1 x1 y2", "2/2 only_b x"},
		"a request that differs":             {"x1 y2 z3", "x1 y5 z3", "1/1 request yy"},
		"and one put in before it":           {"x1 y2 z3", "w0 x1 y5 z3", "0/0 only_b w, 1/2 request yy"},
		"one put in beside one that differs": {"x1 y2 z3", "x1 w0 y5 z3", "1/1 only_b w, 1/2 request yy"},
		"another call":                       {"x1 y2 z3", "x1 w2 z3", "1/1 call yw"},
		"two others for one":                 {"x1 y2 z3", "x1 v2 w2 z3", "1/1 call yv, 2/2 only_b w"},
		"an answer, after one more":          {"x1 y2 z3", "w0 x1 y2! z3", "0/0 only_b w, 1/2 answer yy"},
		"one side is empty":                  {"", "x1 y2", "0/0 only_b x, 0/1 only_b y"},
		"two that changed places":            {"x1 y2", "y2 x1", "0/0 only_a x, 2/1 only_b x"},
	} {
		if got := told(t, c.a, c.b); got != c.want {
			t.Errorf("%s: %q, want %q", about, got, c.want)
		}
	}
}

// Calls that were put in and taken out anywhere are as many changes, and no others; each call stands in one pair at most.
func TestEachInsertIsOneChange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := record("COMPLETED")
		for i := range rapid.IntRange(0, 30).Draw(t, "calls") {
			a.Entries = append(a.Entries, entry("clock", fmt.Sprint(i), "x"))
		}
		b := record("COMPLETED", slices.Clone(a.Entries)...)
		many := rapid.IntRange(0, 5).Draw(t, "put in")
		for i := range many {
			b.Entries = slices.Insert(b.Entries, rapid.IntRange(0, len(b.Entries)).Draw(t, "where"), entry("new", fmt.Sprint(i), "x"))
		}
		r, back := compare.Records(a, b, false), compare.Records(b, a, false)
		if len(r.Changes) != many || len(back.Changes) != many || slices.ContainsFunc(r.Changes, func(c compare.Change) bool { return c.Kind != compare.OnlyB }) {
			t.Fatalf("%d were put in, and %+v, %+v", many, r.Changes, back.Changes)
		}
	})
}

// The cost is bounded, whatever a stranger has recorded: 100,000 calls that are alike, that all differ, and one put in.
func TestManyCallsAreAligned(t *testing.T) {
	const many = 100_000
	made := func(call, request func(i int) string) *journal.Record {
		r := record("COMPLETED")
		for i := range many {
			r.Entries = append(r.Entries, entry(call(i), request(i), "x"))
		}
		return r
	}
	always := func(s string) func(int) string { return func(int) string { return s } }
	count := func(i int) string { return fmt.Sprint(i) }
	counted, alike := made(always("clock"), count), made(always("clock"), always(""))
	longer := record("COMPLETED", slices.Insert(slices.Clone(counted.Entries), many/2, entry("id", "", ""))...)
	for about, c := range map[string]struct {
		a, b    *journal.Record
		changes int
	}{
		"one put in":          {counted, longer, 1},
		"one taken out":       {longer, counted, 1},
		"all alike":           {alike, alike, 0},
		"all differ":          {counted, made(always("clock"), func(i int) string { return fmt.Sprint(-1 - i) }), many},
		"all are other calls": {counted, made(always("id"), func(i int) string { return fmt.Sprint(-1 - i) }), many},
		"nothing on one side": {counted, record("COMPLETED"), many},
		"each third is new":   {counted, made(always("clock"), func(i int) string { return fmt.Sprint(i + i%3*many) }), many - many/3 - 1},
	} {
		if r := compare.Records(c.a, c.b, false); len(r.Changes) != c.changes {
			t.Errorf("%s: %d changes, want %d", about, len(r.Changes), c.changes)
		}
	}
}
