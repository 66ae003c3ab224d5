package scan

import (
	"math/bits"
	"unicode/utf8"
	"unsafe"
)

// Texts are looked at eight bytes at a time: in a guest, where each byte costs several
// instructions, most of the time goes there.

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// word returns the eight bytes at i, of which s must have as many.
func word(s string, i int) uint64 {
	return *(*uint64)(unsafe.Add(unsafe.Pointer(unsafe.StringData(s)), i))
}

// specials has the high bit set of the first byte of w that cannot stand in a JSON
// string as it is: a quote, a backslash, a control character. No bit below it is set.
func specials(w uint64) uint64 {
	controls := (w ^ 2*ones) - 0x21*ones // ^2 puts the quote right behind them, and the space in its place
	slashes := (w ^ '\\'*ones) - ones
	return (controls | slashes) &^ w & highs
}

// special returns the index of the first byte at or after i that cannot stand in a JSON
// string as it is. It is len(s) if there is none.
func special(s string, i int) int {
	for ; i+8 <= len(s); i += 8 {
		if found := specials(word(s, i)); found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
	}
	for ; i < len(s); i++ {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' {
			return i
		}
	}
	return i
}

// standsAsItIs reports whether s is ASCII of which nothing is escaped in JSON.
func standsAsItIs(s string) bool {
	if len(s) < 8 {
		for i := range len(s) {
			if c := s[i]; c < ' ' || c == '"' || c == '\\' || c >= 0x80 {
				return false
			}
		}
		return true
	}
	found := uint64(0)
	for i := 0; i+8 <= len(s); i += 8 {
		w := word(s, i)
		found |= specials(w) | w&highs
	}
	w := word(s, len(s)-8) // some of it again
	return found|specials(w)|w&highs == 0
}

// valid reports whether s is UTF-8.
func valid(s string) bool {
	i := 0
	for ; i+8 <= len(s); i += 8 {
		if word(s, i)&highs != 0 {
			break
		}
	}
	return utf8.ValidString(s[i:])
}
