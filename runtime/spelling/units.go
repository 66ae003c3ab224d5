package spelling

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// unit is a suffix and what it stands for.
type unit struct {
	suffix string
	bytes  int64
}

// sizeUnits lists the units of a size; the binary ones come first, from the
// largest, because sizes are written with them.
func sizeUnits() []unit {
	return []unit{
		{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10},
		{"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"KB", 1e3}, {"kB", 1e3},
		{"B", 1},
	}
}

// ParseSize reads a number of bytes such as "64MiB", "10 MB" or "4096".
func ParseSize(text string) (int64, error) {
	digits, scale := text, int64(1)
	for _, u := range sizeUnits() {
		if rest, ok := strings.CutSuffix(text, u.suffix); ok {
			digits, scale = rest, u.bytes
			break
		}
	}
	n, err := strconv.ParseInt(strings.TrimSpace(digits), 10, 64)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("%q is not a size such as 64MiB, 10MB or 4096", text)
	}
	if n > math.MaxInt64/scale {
		return 0, fmt.Errorf("%q is too large", text)
	}
	return n * scale, nil
}

// FormatSize writes n as [ParseSize] reads it, exactly, in the largest binary
// unit that divides it.
func FormatSize(n int64) string {
	for _, u := range sizeUnits()[:4] {
		if n != 0 && n%u.bytes == 0 {
			return strconv.FormatInt(n/u.bytes, 10) + u.suffix
		}
	}
	return strconv.FormatInt(n, 10)
}

const day = 24 * time.Hour

// ParseDuration reads what [time.ParseDuration] reads, and whole days ("30d").
func ParseDuration(text string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		n, err := strconv.ParseInt(days, 10, 64)
		if err != nil || n < 0 || n > math.MaxInt64/int64(day) {
			return 0, notDuration(text)
		}
		return time.Duration(n) * day, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, notDuration(text)
	}
	if d < 0 {
		return 0, errors.New("a duration cannot be negative")
	}
	return d, nil
}

func notDuration(text string) error {
	return fmt.Errorf("%q is not a duration such as 30s, 5m, 24h or 30d", text)
}

// FormatDuration writes d as [ParseDuration] reads it, without parts that are zero.
func FormatDuration(d time.Duration) string {
	if d == 0 {
		return "0"
	}
	if d%day == 0 && d > day {
		return strconv.FormatInt(int64(d/day), 10) + "d"
	}
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
