package answers

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Excerpt returns the beginning of a body, on one line.
func Excerpt(body []byte) string {
	const enough = 300
	text := strings.Join(strings.Fields(string(body[:min(len(body), enough)])), " ")
	if len(body) > enough {
		text += "…"
	}
	if text == "" {
		return "(no body)"
	}
	return text
}

// Show renders a JSON value so that equal values give equal texts.
func Show(v any) string {
	text, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		return fmt.Sprintf("%v", v)
	}
	if canonical := jsontext.Value(text); canonical.Canonicalize() == nil {
		text = canonical
	}
	return string(text)
}

// Selected reports whether a check is one of those asked for, by the beginnings of their ids; none
// ask for all.
func Selected(id string, only []string) bool {
	return len(only) == 0 || slices.ContainsFunc(only, func(prefix string) bool { return strings.HasPrefix(id, prefix) })
}

// Millis returns the milliseconds since a time.
func Millis(since time.Time) float64 { return float64(time.Since(since).Microseconds()) / 1000 }
