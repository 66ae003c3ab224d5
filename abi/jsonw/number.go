package jsonw

import (
	"math"
	"strconv"
)

// maxExact is the largest integer up to which every one is a double.
const maxExact = 1 << 53

// Rounded appends an integer as the nearest double, which most are themselves.
func Rounded(b []byte, n int64) []byte {
	if -maxExact <= n && n <= maxExact {
		return strconv.AppendInt(b, n, 10)
	}
	return Number(b, float64(n))
}

// Number appends a finite number as ECMAScript does.
func Number(b []byte, f float64) []byte {
	if f == 0 {
		return append(b, '0') // there is no negative zero
	}
	if abs := math.Abs(f); abs >= 1e-6 && abs < 1e21 {
		return strconv.AppendFloat(b, f, 'f', -1, 64)
	}
	b = strconv.AppendFloat(b, f, 'e', -1, 64)
	if n := len(b); b[n-2] == '0' && (b[n-3] == '-' || b[n-3] == '+') { // e-07 is e-7
		b = append(b[:n-2], b[n-1])
	}
	return b
}
