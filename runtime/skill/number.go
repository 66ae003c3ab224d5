package skill

import (
	"math/big"
	"strconv"
	"strings"
)

// number is a number of a parsed value, as it is written: a json.Number.
type number interface{ String() string }

// decimal is a number as its sign, its digits without zeros at their ends, and the
// power of ten by which they are multiplied. Zero has no digits. Two numbers are the
// same if and only if their decimals are.
type decimal struct {
	negative bool
	digits   string
	exponent int
}

// readDecimal reads a number of JSON in time linear to its length, however large its
// exponent.
func readDecimal(n string) decimal {
	mantissa, power, _ := strings.Cut(strings.ToLower(n), "e")
	exponent, _ := strconv.Atoi(power) // none, or the largest there is
	exponent = min(max(exponent, -maxExponent), maxExponent)
	mantissa, negative := strings.CutPrefix(mantissa, "-")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := whole + fraction
	exponent -= len(fraction)
	trimmed := strings.TrimRight(digits, "0")
	exponent += len(digits) - len(trimmed)
	trimmed = strings.TrimLeft(trimmed, "0")
	if trimmed == "" {
		return decimal{}
	}
	return decimal{negative: negative, digits: trimmed, exponent: exponent}
}

// maxExponent is more than what any number that is compared has.
const maxExponent = 1 << 30

func (d decimal) integer() bool { return d.exponent >= 0 }

// appendTo appends what no other number has.
func (d decimal) appendTo(b []byte) []byte {
	if d.negative {
		b = append(b, '-')
	}
	b = append(b, d.digits...)
	return strconv.AppendInt(append(b, 'e'), int64(d.exponent), 10)
}

// numberSize returns how many digits a number has when it is written out.
func numberSize(n string) int {
	_, power, _ := strings.Cut(strings.ToLower(n), "e")
	exponent, _ := strconv.Atoi(power)
	if exponent < 0 {
		exponent = -max(exponent, -maxExponent)
	}
	return len(n) + min(exponent, maxExponent)
}

// ratPrice returns what it costs to make a number one that is compared: its digits are
// read, and a fraction is reduced, in time that grows with their square.
func ratPrice(n string) int {
	length, size := len(n), numberSize(n)
	shorter := min(length, size-length)
	return perByte*size + length*length/1024 + shorter*shorter/64
}

// rat returns a number to compare, nil if it is too large to be made one.
func rat(n string) *big.Rat {
	r, ok := new(big.Rat).SetString(n)
	if !ok {
		return nil
	}
	return r
}
