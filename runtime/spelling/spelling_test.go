package spelling

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestSizesRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Min(0).Draw(t, "n")
		got, err := ParseSize(FormatSize(n))
		if err != nil || got != n {
			t.Fatalf("%d is written %q and read as %d, %v", n, FormatSize(n), got, err)
		}
	})
}

func TestSizesAreReadWithEitherKindOfUnit(t *testing.T) {
	for text, want := range map[string]int64{"0": 0, "17": 17, "17B": 17, "1KiB": 1024, "1kB": 1000,
		"2 MB": 2e6, "64MiB": 64 << 20, "3GiB": 3 << 30, "1TiB": 1 << 40} {
		if got, err := ParseSize(text); err != nil || got != want {
			t.Errorf("%q: got %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "MiB", "-1", "1.5GiB", "1XiB", "9999999999GiB"} {
		if got, err := ParseSize(text); err == nil {
			t.Errorf("%q is read as %d", text, got)
		}
	}
}

func TestDurationsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := time.Duration(rapid.Int64Min(0).Draw(t, "d"))
		got, err := ParseDuration(FormatDuration(d))
		if err != nil || got != d {
			t.Fatalf("%d is written %q and read as %d, %v", d, FormatDuration(d), got, err)
		}
	})
}

func TestHosts(t *testing.T) {
	for _, host := range []string{"api.example.com", "*.example.com", "127.0.0.1:8080", "[::1]", "[::1]:443", "*.example.com:8443"} {
		if err := CheckHost(host); err != nil {
			t.Errorf("%s: %v", host, err)
		}
	}
	for _, host := range []string{"", "*", "*.", "a.*.b", "https://example.com", "example.com/path", "me@example.com", "a b", "example.com:port", "example.com:70000", "example.com:"} {
		if CheckHost(host) == nil {
			t.Errorf("%q is taken", host)
		}
	}
}
