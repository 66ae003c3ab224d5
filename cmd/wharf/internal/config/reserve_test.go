package config

import "testing"

// TestReserve says what is kept free of a small and of a large disk, and how it is written back.
func TestReserve(t *testing.T) {
	const small, large = 20 * mib, 1000 * gib
	for text, want := range map[string]struct {
		small, large uint64
		canonical    string
	}{
		"auto":    {small / 20, 512 * mib, "auto"},
		"0":       {0, 0, "0"},
		"10GiB":   {10 * gib, 10 * gib, "10GiB"},
		"10 %":    {small / 10, large / 10, "10%"},
		"50%":     {small / 2, large / 2, "50%"},
		"1024GiB": {1024 * gib, 1024 * gib, "1TiB"},
	} {
		r, canonical, err := reserve().parse(text)
		if err != nil || canonical != want.canonical {
			t.Errorf("%s is read as %s: %v", text, canonical, err)
		}
		if s, l := r.Of(small), r.Of(large); s/1000 != want.small/1000 || l/1000 != want.large/1000 {
			t.Errorf("%s keeps %d and %d, want %d and %d", text, s, l, want.small, want.large)
		}
	}
	for _, text := range []string{"", "0%", "51%", "5.5%", "-1%", "%", "much", "-1MiB", "2000GiB", "auto%", "Auto"} {
		if r, _, err := reserve().parse(text); err == nil {
			t.Errorf("%q is read as %v", text, r)
		}
	}
}
