package schedule

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func at(t testing.TB, text string) time.Time {
	t.Helper()
	v, err := time.Parse("2006-01-02T15:04:05Z07:00", text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestNext(t *testing.T) {
	const berlin, york, howe = "Europe/Berlin", "America/New_York", "Australia/Lord_Howe"
	for _, test := range []struct{ name, text, zone, from, want string }{
		{"five fields", "30 4 * * 1", "", "2026-01-01T00:00:00Z", "2026-01-05T04:30:00Z 2026-01-12T04:30:00Z"},
		{"every", "@every 90s", "", "2026-01-01T00:00:01Z", "2026-01-01T00:01:30Z 2026-01-01T00:03:00Z"},
		{"hourly", "@hourly", york, "2026-01-01T00:59:59Z", "2026-01-01T01:00:00Z 2026-01-01T02:00:00Z"},
		{"leap day", "0 0 29 2 *", "", "2026-01-01T00:00:00Z", "2028-02-29T00:00:00Z 2032-02-29T00:00:00Z"},
		{"a zone", "0 9 * * *", berlin, "2026-01-01T00:00:00Z", "2026-01-01T08:00:00Z 2026-01-02T08:00:00Z"},
		{"summer", "0 9 * * *", berlin, "2026-07-01T00:00:00Z", "2026-07-01T07:00:00Z 2026-07-02T07:00:00Z"},
		{"the skipped hour", "30 2 * * *", berlin, "2026-03-28T12:00:00Z", "2026-03-29T01:00:00Z 2026-03-30T00:30:00Z"},
		{"several in the skipped hour", "0,30 2,3 * * *", berlin, "2026-03-29T00:00:00Z", "2026-03-29T01:00:00Z 2026-03-29T01:30:00Z"},
		{"within what was skipped", "30 2 * * *", berlin, "2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z 2026-03-31T00:30:00Z"},
		{"the hour that comes twice", "30 2 * * *", berlin, "2026-10-25T00:00:00Z", "2026-10-25T00:30:00Z 2026-10-26T01:30:00Z"},
		{"asked in its second turn", "45 2 * * *", berlin, "2026-10-25T01:10:00Z", "2026-10-26T01:45:00Z 2026-10-27T01:45:00Z"},
		{"every hour, also twice", "0 * * * *", berlin, "2026-10-24T23:30:00Z", "2026-10-25T00:00:00Z 2026-10-25T01:00:00Z"},
		{"every hour, none skipped", "0 * * * *", berlin, "2026-03-29T00:30:00Z", "2026-03-29T01:00:00Z 2026-03-29T02:00:00Z"},
		{"half an hour twice", "45 1 * * *", howe, "2026-04-04T14:00:00Z", "2026-04-04T14:45:00Z 2026-04-05T15:15:00Z"},
		{"west", "30 1 * * *", york, "2026-11-01T00:00:00Z", "2026-11-01T05:30:00Z 2026-11-02T06:30:00Z"},
	} {
		s, err := Parse(test.text, test.zone)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		first := s.Next(at(t, test.from))
		got := first.Format(time.RFC3339) + " " + s.Next(first).Format(time.RFC3339)
		if got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}

func TestRefuse(t *testing.T) {
	for _, test := range [][2]string{
		{"", ""}, {"* * * *", ""}, {"* * * * * *", ""}, {"61 * * * *", ""}, {"0 0 30 2 *", ""}, {"0 0 31 4,6,9,11 *", ""}, {"@reboot", ""}, {"@every 0s", ""},
		{"@every -5m", ""}, {"@every 10ms", ""}, {"@every 999999h", ""}, {"@every", ""}, {"@every x", ""}, {"TZ=UTC 0 0 * * *", ""}, {"CRON_TZ=UTC 0 0 * * *", ""},
		{"0 0 * * *", "Mars/Olympus"}, {"0 0 * * *", "Local"}, {"0 0 * * *", "../etc/passwd"}, {strings.Repeat("1,", 200) + "1 * * * *", ""}, {"5-1 * * * *", ""}, {"*/0 * * * *", ""},
	} {
		if s, err := Parse(test[0], test[1]); err == nil {
			t.Errorf("%q in %q is taken: the next is %s", test[0], test[1], s.Next(time.Unix(0, 0)))
		}
	}
}

// TestDue holds that ticks that were missed are made up for once.
func TestDue(t *testing.T) {
	s, err := Parse("*/10 * * * *", "")
	if err != nil {
		t.Fatal(err)
	}
	last, now := at(t, "2026-01-01T00:00:00Z"), at(t, "2026-01-01T00:09:59Z")
	if _, due := s.Due(last, now); due {
		t.Error("a tick is due before its time")
	}
	now = at(t, "2026-01-03T12:34:00Z")
	tick, due := s.Due(last, now)
	if !due || !tick.Equal(at(t, "2026-01-01T00:10:00Z")) {
		t.Errorf("after two days the tick is %s, %v", tick, due)
	}
	if tick, due := s.Due(now, now); due {
		t.Errorf("it is made up for again, by %s", tick)
	}
}

// TestForward holds for any schedule and zone that ticks go forward, that asking
// between two of them gives the second, and that clocks show what was asked for.
func TestForward(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SampledFrom([]string{"30 2 * * *", "*/7 1-3 * * *", "0 0 1 * *", "15 * * * *", "@every 17m", "0 12 * 3,10 0", "59 23 31 12 *"}).Draw(t, "schedule")
		zone := rapid.SampledFrom([]string{"", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "America/Sao_Paulo", "Africa/Casablanca"}).Draw(t, "zone")
		s, err := Parse(text, zone)
		if err != nil {
			t.Fatal(err)
		}
		from := time.Unix(rapid.Int64Range(0, 2e9).Draw(t, "from"), 0)
		next := s.Next(from)
		if !next.After(from) {
			t.Fatalf("the next after %s is %s", from, next)
		}
		between := from.Add(time.Duration(rapid.Int64Range(0, int64(next.Sub(from))-1).Draw(t, "between")))
		if again := s.Next(between); !again.Equal(next) {
			t.Fatalf("after %s comes %s, but after %s, which is between, %s", from, next, between, again)
		}
	})
}

// FuzzParse holds that no expression makes it go on without end, and that ticks go
// forward.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"0 0 * * *", "0 0 30 2 *", "*/5 1-3,5 1 JAN mon-FRI", "@every 5m", "@hourly", "0 0 29 2 1", "TZ=UTC * * * * *", "@every 1h1ns"} {
		f.Add(seed, "Europe/Berlin", int64(1767225600))
	}
	f.Fuzz(func(t *testing.T, text, zone string, from int64) {
		s, err := Parse(text, zone)
		if err != nil {
			return
		}
		begin := time.Unix(from%4e9, 0)
		for range 3 {
			next := s.Next(begin)
			if next.IsZero() {
				return
			}
			if !next.After(begin) {
				t.Fatalf("%q in %q: after %s comes %s", text, zone, begin, next)
			}
			begin = next
		}
	})
}
