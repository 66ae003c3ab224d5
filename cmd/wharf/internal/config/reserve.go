package config

import (
	"fmt"
	"strconv"
	"strings"
)

// Reserve is how much of a disk is kept free. Its zero value is nothing.
type Reserve struct {
	Bytes   int64 // at most
	Percent int   // of the disk, at most
}

const (
	// autoReserve is the reserve that nobody has set, or autoPercent of the disk where that is less.
	autoReserve = 512 * mib
	autoPercent = 5
	mostPercent = 50
)

// Of returns what is kept free of a disk of so many bytes.
func (r Reserve) Of(total uint64) uint64 {
	part := total / 100 * uint64(r.Percent)
	switch {
	case r.Percent == 0:
		return uint64(r.Bytes)
	case r.Bytes == 0:
		return part
	}
	return min(uint64(r.Bytes), part)
}

// reserve is a size, a part of the disk, or auto.
func reserve() kind[Reserve] {
	bounds := fmt.Sprintf("auto, 0 to 1024GiB, or 1%% to %d%% of the disk", mostPercent)
	sizes := size(0, 1024*gib)
	return kind[Reserve]{"size", bounds, func(s string) (Reserve, string, error) {
		if s == "auto" {
			return Reserve{Bytes: autoReserve, Percent: autoPercent}, s, nil
		}
		if part, isPart := strings.CutSuffix(s, "%"); isPart {
			n, err := strconv.Atoi(strings.TrimSpace(part))
			if err != nil || n < 1 || n > mostPercent {
				return Reserve{}, "", fmt.Errorf("%q is not a whole part of the disk from 1%% to %d%%", s, mostPercent)
			}
			return Reserve{Percent: n}, strconv.Itoa(n) + "%", nil
		}
		n, canonical, err := sizes.parse(s)
		if err != nil && !startsWithDigit(s) {
			return Reserve{}, "", fmt.Errorf("%q is not auto, a size such as 512MiB, or a part of the disk such as 5%%", s)
		}
		return Reserve{Bytes: n}, canonical, err
	}}
}

func startsWithDigit(s string) bool { return s != "" && s[0] >= '0' && s[0] <= '9' }
