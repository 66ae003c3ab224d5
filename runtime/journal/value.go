package journal

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// CanonicalValue returns a JSON text in a form that two texts of the same value share:
// that of RFC 8785, but for numbers that are no double, which keep all their digits.
// Text with duplicate names, or that is not UTF-8, is an error.
func CanonicalValue(text []byte) ([]byte, error) {
	sorted, err := jsontext.AppendFormat(nil, text, jsontext.ReorderRawObjects(true))
	if err != nil {
		return nil, err
	}
	out := make([]byte, 0, len(sorted))
	for i := 0; i < len(sorted); {
		n := tokenLength(sorted[i:])
		if c := sorted[i]; c == '-' || '0' <= c && c <= '9' {
			out = appendNumber(out, sorted[i:i+n])
		} else {
			out = append(out, sorted[i:i+n]...)
		}
		i += n
	}
	return out, nil
}

// SameValue reports whether two JSON texts have the same value. What is no JSON has
// none.
func SameValue(a, b []byte) bool {
	x, err := CanonicalValue(a)
	if err != nil {
		return false
	}
	y, err := CanonicalValue(b)
	return err == nil && bytes.Equal(x, y)
}

// tokenLength returns the length of the token that a JSON text without white space
// begins with; what is neither a string nor a number may come in several.
func tokenLength(text []byte) int {
	switch {
	case text[0] == '"':
		for i := 1; ; i++ {
			switch text[i] {
			case '\\':
				i++
			case '"':
				return i + 1
			}
		}
	case strings.IndexByte("{}[],:", text[0]) >= 0:
		return 1
	}
	if n := bytes.IndexAny(text, ",]}"); n >= 0 {
		return n
	}
	return len(text)
}

// appendNumber appends a number as RFC 8785 writes it if that is the same number.
func appendNumber(b, number []byte) []byte {
	rounded, err := jsontext.AppendFormat(nil, number, jsontext.CanonicalizeRawInts(true), jsontext.CanonicalizeRawFloats(true))
	if err == nil {
		x, ok := decimalOf(string(number))
		y, _ := decimalOf(string(rounded))
		if ok && x == y {
			return append(b, rounded...)
		}
	}
	return append(b, number...)
}

// decimal is a number: digits, without zeros at either end, times ten to the
// power of exponent.
type decimal struct {
	negative bool
	digits   string
	exponent int
}

// decimalOf reads a JSON number; ok is false when its exponent is out of reason.
func decimalOf(number string) (d decimal, ok bool) {
	number, d.negative = strings.CutPrefix(number, "-")
	if at := strings.IndexAny(number, "eE"); at >= 0 {
		exponent, err := strconv.Atoi(number[at+1:])
		if err != nil || exponent > 1<<30 || exponent < -1<<30 {
			return d, false
		}
		number, d.exponent = number[:at], exponent
	}
	whole, fraction, _ := strings.Cut(number, ".")
	d.exponent -= len(fraction)
	significant := strings.TrimRight(whole+fraction, "0")
	d.exponent += len(whole) + len(fraction) - len(significant)
	if d.digits = strings.TrimLeft(significant, "0"); d.digits == "" {
		return decimal{}, true
	}
	return d, true
}
