package stack

import (
	"regexp"
	"strings"

	"github.com/ianlancetaylor/demangle"
)

// maxMangled is the longest name that is demangled, in bytes, and maxDemangled what comes of
// it at most, as a power of 2: names can stand for others that are exponentially longer.
const (
	maxMangled   = 2048
	maxDemangled = 12
)

// Name returns the name of a function as its author wrote it: those of Rust, C++ and Go are
// turned back, any other stays.
func Name(symbol string) string {
	switch {
	case len(symbol) > maxMangled:
		return symbol
	case isGo(symbol):
		return goName(symbol)
	}
	return withoutParameters(withoutHash(demangled(symbol)))
}

// demangled turns back a name that is mangled.
func demangled(symbol string) string {
	if !strings.HasPrefix(symbol, "_Z") && !strings.HasPrefix(symbol, "_R") {
		return symbol
	}
	name, err := demangle.ToString(symbol, demangle.NoParams, demangle.MaxLength(maxDemangled))
	if err != nil {
		return symbol
	}
	return name
}

// withoutHash takes off what tells versions of a crate apart: Rust's older names end with
// "::h" and 16 digits.
func withoutHash(name string) string {
	at := strings.LastIndex(name, "::h")
	if at < 0 || len(name)-at != len("::h")+16 || strings.Trim(name[at+3:], "0123456789abcdef") != "" {
		return name
	}
	return name[:at]
}

// withoutParameters takes off the parameters of a name of C++ that a linker has turned back.
func withoutParameters(name string) string {
	trimmed := strings.TrimSuffix(name, " const")
	if !strings.HasSuffix(trimmed, ")") {
		return name
	}
	depth := 0
	for i := len(trimmed) - 1; i > 0; i-- {
		switch trimmed[i] {
		case ')':
			depth++
		case '(':
			depth--
		}
		if depth == 0 {
			return trimmed[:i]
		}
	}
	return name
}

// isGo says that a name is one of Go's, which begins with a package and a dot.
func isGo(symbol string) bool {
	return goSymbol.MatchString(symbol)
}

var goSymbol = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*\.[A-Za-z_][A-Za-z0-9_.]*$`)

// goReceiver is a method's receiver that is a pointer, as Go's linker writes it: it puts _
// in place of whatever is no letter, digit or dot.
var goReceiver = regexp.MustCompile(`\.__(\w+?)_\.`)

func goName(symbol string) string { return goReceiver.ReplaceAllString(symbol, ".(*$1).") }
