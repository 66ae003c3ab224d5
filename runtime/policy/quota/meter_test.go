package quota

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func limit(k Kind, n int64) Rule {
	r := Rule{Hard: true}
	r.Limits[k], r.Limited[k] = n, true
	return r
}

func TestCheck(t *testing.T) {
	for _, test := range []struct {
		name                  string
		used, reserved, wants int64
		want                  Verdict
	}{
		{"all of it", 0, 0, 10, Fits},
		{"one more", 0, 0, 11, Exceeds},
		{"what is left", 4, 0, 6, Fits},
		{"more than is left", 4, 0, 7, Exceeds},
		{"what others may need", 4, 3, 4, Busy},
		{"beside others", 4, 3, 3, Fits},
		{"unknown, alone", 9, 0, Rest, Fits},
		{"unknown, beside others", 4, 1, Rest, Busy},
		{"unknown, with nothing left", 10, 0, Rest, Exceeds},
		{"nothing, with nothing left", 10, 0, 0, Fits},
		{"over the limit already", 12, 0, 1, Exceeds},
	} {
		m := Meter{Rule: limit(ToolCalls, 10)}
		m.Used[ToolCalls], m.reserved[ToolCalls] = test.used, test.reserved
		if got, _ := m.Check(Amounts{ToolCalls: test.wants}); got != test.want {
			t.Errorf("%s: %d, want %d", test.name, got, test.want)
		}
		if m.Hard = false; test.wants != 0 {
			if got, _ := m.Check(Amounts{ToolCalls: test.wants}); got != Fits {
				t.Errorf("%s: a soft limit refuses", test.name)
			}
		}
	}
}

func TestWindows(t *testing.T) {
	day := 24 * time.Hour
	m := Meter{Rule: limit(USD, 5)}
	m.Window = day
	at := time.Date(2026, 3, 4, 15, 0, 0, 0, time.UTC)
	m.Turn(at)
	if want := time.Date(2026, 3, 5, 0, 0, 0, 0, time.UTC); !m.ResetAt.Equal(want) {
		t.Fatalf("the window ends at %s, want %s", m.ResetAt, want)
	}
	m.Use(Amounts{USD: 5, Concurrent: 1})
	m.Used[Concurrent] = 2
	m.Exhausted = m.Reached()
	m.Turn(m.ResetAt.Add(-1))
	if m.Used[USD] != 5 || m.Exhausted != "usd" {
		t.Errorf("the window ended early: %v", m.Used)
	}
	m.Turn(m.ResetAt.Add(3 * day))
	if m.Used[USD] != 0 || m.Used[Concurrent] != 2 || m.Exhausted != "" || !m.ResetAt.Equal(time.Date(2026, 3, 9, 0, 0, 0, 0, time.UTC)) {
		t.Errorf("%+v", m)
	}
}

func TestNumbers(t *testing.T) {
	for _, test := range []struct {
		k    Kind
		n    float64
		want int64
	}{
		{USD, 0.1, 100_000_000}, {USD, 1e-9, 1}, {USD, 0.3 - 0.1, 200_000_000}, {USD, -1, 0}, {USD, math.NaN(), 0}, {USD, math.Inf(1), math.MaxInt64},
		{InputTokens, 7, 7}, {InputTokens, 7.5, 8}, {WallTime, 1e300, math.MaxInt64},
	} {
		if got := test.k.Whole(test.n); got != test.want {
			t.Errorf("%s %v: %d, want %d", test.k, test.n, got, test.want)
		}
	}
	for _, name := range Names() {
		if k, ok := Lookup(name); !ok || k.String() != name {
			t.Errorf("%s is looked up as %v", name, k)
		}
	}
}

// Whatever is done at once, what is used never passes a hard limit as long as
// nothing uses more than it has reserved; and when all is settled nothing is held.
func TestNeverOver(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := Meter{Rule: limit(OutputTokens, rapid.Int64Range(0, 100).Draw(t, "limit"))}
		var open []Amounts
		settle := func(i int) {
			held := open[i]
			m.Free(held)
			m.Use(Amounts{OutputTokens: rapid.Int64Range(0, held[OutputTokens]).Draw(t, "used")})
			open = append(open[:i], open[i+1:]...)
		}
		for range rapid.IntRange(1, 50).Draw(t, "steps") {
			if len(open) > 0 && rapid.Bool().Draw(t, "settle") {
				settle(rapid.IntRange(0, len(open)-1).Draw(t, "which"))
				continue
			}
			want := Amounts{OutputTokens: rapid.Int64Range(-1, 60).Draw(t, "want")}
			if v, _ := m.Check(want); v == Fits {
				open = append(open, m.Reserve(want))
			}
			if m.Used[OutputTokens]+m.reserved[OutputTokens] > m.Limits[OutputTokens] {
				t.Fatalf("%+v", m)
			}
		}
		for len(open) > 0 {
			settle(0)
		}
		if m.reserved != (Amounts{}) || m.Used[OutputTokens] > m.Limits[OutputTokens] {
			t.Fatalf("%+v", m)
		}
	})
}
