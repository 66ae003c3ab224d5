package config

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/wharf-dev/wharf/runtime/spelling"
)

// kind is what values of one sort are and how they are written. Settings and members are
// declared with the same kinds.
type kind[V any] struct {
	name   string // what a value is, in a word
	bounds string // which are allowed, in words; "" when name says it all
	// parse returns a value and its canonical form.
	parse func(text string) (v V, canonical string, err error)
}

// into parses text into its place and returns its canonical form.
func (k kind[V]) into(at *V, text string) (string, error) {
	v, canonical, err := k.parse(text)
	*at = v
	return canonical, err
}

// text is any text that is valid; nil lets all be.
func text(valid func(string) error) kind[string] {
	return kind[string]{name: "text", parse: func(s string) (string, string, error) {
		if valid == nil {
			return s, s, nil
		}
		return s, s, valid(s)
	}}
}

func address() kind[string] {
	k := text(spelling.CheckHostPort)
	k.name, k.bounds = "address", "HOST:PORT"
	return k
}

func choice(allowed ...string) kind[string] {
	words := oneOf(allowed)
	k := text(func(v string) error {
		if !slices.Contains(allowed, v) {
			return fmt.Errorf("%q is not %s", v, words)
		}
		return nil
	})
	k.name, k.bounds = "choice", words
	return k
}

// truth is true or false.
func truth() kind[bool] {
	words := choice("true", "false")
	return kind[bool]{words.name, words.bounds, func(s string) (bool, string, error) {
		word, canonical, err := words.parse(s)
		return word == "true", canonical, err
	}}
}

// Level is a log level as it is written in a configuration.
type Level slog.Level

var levels = []string{"debug", "info", "warn", "error"}

// ParseLevel reads one of debug, info, warn and error.
func ParseLevel(text string) (slog.Level, error) {
	var l slog.Level
	if !slices.Contains(levels, text) {
		return l, fmt.Errorf("%q is not %s", text, oneOf(levels))
	}
	return l, l.UnmarshalText([]byte(text))
}

func level() kind[Level] {
	return kind[Level]{"choice", oneOf(levels), func(s string) (Level, string, error) {
		l, err := ParseLevel(s)
		return Level(l), s, err
	}}
}

func number(least, most int) kind[int] {
	return kind[int]{"number", fmt.Sprintf("%d to %d", least, most), func(s string) (int, string, error) {
		n, err := strconv.Atoi(strings.ReplaceAll(s, "_", ""))
		if err != nil {
			return 0, "", fmt.Errorf("%q is not a whole number", s)
		}
		if n < least || n > most {
			return 0, "", fmt.Errorf("%d is not within %d to %d", n, least, most)
		}
		return n, strconv.Itoa(n), nil
	}}
}

// decimal is a number that is not negative.
func decimal() kind[float64] {
	return kind[float64]{"number", "at least 0", func(s string) (float64, string, error) {
		n, err := strconv.ParseFloat(s, 64)
		if err != nil || math.IsNaN(n) || math.IsInf(n, 0) || n < 0 {
			return 0, "", fmt.Errorf("%q is not a number of at least 0", s)
		}
		return n, s, nil
	}}
}

func size(least, most int64) kind[int64] {
	bounds := spelling.FormatSize(least) + " to " + spelling.FormatSize(most)
	return kind[int64]{"size", bounds, func(s string) (int64, string, error) {
		n, err := spelling.ParseSize(s)
		if err != nil {
			return 0, "", err
		}
		if n < least || n > most {
			return 0, "", fmt.Errorf("%s is not within %s", s, bounds)
		}
		return n, spelling.FormatSize(n), nil
	}}
}

func period(least, most time.Duration) kind[time.Duration] {
	bounds := spelling.FormatDuration(least) + " to " + spelling.FormatDuration(most)
	return kind[time.Duration]{"duration", bounds, func(s string) (time.Duration, string, error) {
		d, err := spelling.ParseDuration(s)
		if err != nil {
			return 0, "", err
		}
		if d < least || d > most {
			return 0, "", fmt.Errorf("%s is not within %s", s, bounds)
		}
		return d, spelling.FormatDuration(d), nil
	}}
}

func notEmpty(s string) error {
	if s == "" {
		return errors.New("must not be empty")
	}
	return nil
}

func httpURL(s string) error {
	if s == "" {
		return nil
	}
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return fmt.Errorf("%q is not a URL such as https://wharf.example.com", s)
	}
	return nil
}

// oneOf renders words as "one of a, b, c".
func oneOf(words []string) string { return "one of " + strings.Join(words, ", ") }
