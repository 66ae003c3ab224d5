package manifest

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"

	"github.com/wharf-dev/wharf/abi/plainly"
	"github.com/wharf-dev/wharf/runtime/spelling"
)

// form is what values of one sort are and how they are written.
type form[V any] struct {
	words   string   // what a value is
	bounds  string   // which are allowed, "" when words say it all
	schema  *Editor  // for editors
	members []member // of a table
	// read returns a value. What is wrong with it is told to the reader.
	read func(r *reader, n *node) (v V, ok bool)
}

// text is a text that is valid; nil lets all be.
func text[V ~string](words string, valid func(string) error) form[V] {
	return form[V]{words: words, schema: &Editor{Type: "string"}, read: func(r *reader, n *node) (V, bool) {
		if !r.is(n, aText, "a text in quotes") {
			return "", false
		}
		if err := valid(n.text); err != nil {
			r.wrong(InvalidValue, n, "", "%s", clip(err.Error()))
			return "", false
		}
		return V(n.text), true
	}}
}

// matching is a text of at most so many bytes that matches a pattern as a whole.
func matching(words, pattern, bounds string, most int) form[string] {
	whole := regexp.MustCompile(`^(?:` + pattern + `)$`)
	f := text[string](words, func(s string) error {
		if len(s) > most || !whole.MatchString(s) {
			return fmt.Errorf("%s is not %s", quote(s), bounds)
		}
		return nil
	})
	f.bounds = bounds
	f.schema.Pattern, f.schema.MaxLength = `^(?:`+pattern+`)$`, most
	return f
}

// prose is any text of at most so many bytes.
func prose(most int) form[string] {
	f := text[string]("text", func(s string) error {
		if len(s) > most {
			return fmt.Errorf("it has %d bytes, and may have %d", len(s), most)
		}
		return nil
	})
	f.bounds = fmt.Sprintf("at most %d bytes", most)
	f.schema.MaxLength = most
	return f
}

// choice is one of some words.
func choice[V ~string](allowed ...V) form[V] {
	var words []string
	for _, a := range allowed {
		words = append(words, string(a))
	}
	f := text[V]("choice", func(s string) error {
		switch near := plainly.Nearest(s, slices.Values(words)); {
		case slices.Contains(words, s):
			return nil
		case near != "":
			return fmt.Errorf("%s is not one of %s: did you mean %q?", quote(s), strings.Join(words, ", "), near)
		}
		return fmt.Errorf("%s is not one of %s", quote(s), strings.Join(words, ", "))
	})
	f.bounds = "one of " + strings.Join(words, ", ")
	f.schema.Enum = words
	return f
}

// path is that of a file in the plugin's folder.
func path() form[string] {
	f := text[string]("path", checkPath)
	f.bounds = "within the folder, with /"
	f.schema.MaxLength = maxPath
	return f
}

const maxPath = 255

func checkPath(s string) error {
	switch {
	case s == "." || len(s) > maxPath || !fs.ValidPath(s):
		return fmt.Errorf("%s is no path of a file within the folder, such as src/main.ts: without .. and without / at its beginning", quote(s))
	case strings.ContainsAny(s, "\\:") || strings.ContainsFunc(s, func(c rune) bool { return c < ' ' || c == 0x7f }):
		return fmt.Errorf("%s has a character that file names do not have everywhere: write / between folders", quote(s))
	}
	return nil
}

func whole(least, most int64) form[int64] {
	bounds := fmt.Sprintf("%d to %d", least, most)
	return form[int64]{words: "number", bounds: bounds, schema: &Editor{Type: "integer", Minimum: &least, Maximum: &most},
		read: func(r *reader, n *node) (int64, bool) {
			if !r.is(n, aWhole, "a whole number") {
				return 0, false
			}
			v, ok := scalar(n).(int64)
			if !ok || v < least || v > most {
				r.wrong(InvalidValue, n, "", "%s is not within %s", clip(n.text), bounds)
				return 0, false
			}
			return v, true
		}}
}

// size is a number of bytes: a whole number, or a text such as 64MiB.
func size(least, most int64) form[int64] {
	bounds := spelling.FormatSize(least) + " to " + spelling.FormatSize(most)
	return form[int64]{words: "size", bounds: bounds, schema: &Editor{Type: []string{"string", "integer"}},
		read: func(r *reader, n *node) (int64, bool) {
			if n.kind != aWhole && !r.is(n, aText, `a size such as "64MiB"`) {
				return 0, false
			}
			v, ok := scalar(n).(int64)
			var err error
			if n.kind == aText {
				v, err = spelling.ParseSize(n.text)
				ok = err == nil
			}
			if !ok || v < least || v > most {
				r.wrong(InvalidValue, n, `write a size such as "64MiB"`, "%s is not within %s", quote(n.text), bounds)
				return 0, false
			}
			return v, true
		}}
}

func period(least, most time.Duration) form[time.Duration] {
	bounds := spelling.FormatDuration(least) + " to " + spelling.FormatDuration(most)
	return form[time.Duration]{words: "duration", bounds: bounds, schema: &Editor{Type: "string"},
		read: func(r *reader, n *node) (time.Duration, bool) {
			if !r.is(n, aText, `a duration such as "30s"`) {
				return 0, false
			}
			v, err := spelling.ParseDuration(n.text)
			if err != nil || v < least || v > most {
				r.wrong(InvalidValue, n, `write a duration such as "30s"`, "%s is not within %s", quote(n.text), bounds)
				return 0, false
			}
			return v, true
		}}
}

func truth() form[bool] {
	return form[bool]{words: "true or false", schema: &Editor{Type: "boolean"}, read: func(r *reader, n *node) (bool, bool) {
		return n.text == "true", r.is(n, aTruth, "true or false")
	}}
}

// maxListed is how many texts a list has.
const maxListed = 1000

// list is a list of texts, none of them twice.
func list(words string, of form[string]) form[[]string] {
	return form[[]string]{words: "list of " + words, bounds: of.bounds,
		schema: &Editor{Type: "array", Items: of.schema, MaxItems: maxListed, UniqueItems: true},
		read: func(r *reader, n *node) ([]string, bool) {
			if !r.is(n, aList, "a list of "+words) {
				return nil, false
			}
			if len(n.items) > maxListed {
				r.wrong(InvalidValue, n, "use patterns", "it has %d entries, and may have %d", len(n.items), maxListed)
				return nil, false
			}
			return r.texts(n, of), true
		}}
}

// scalar is the value of a number, as the library reads it; nil for one that it cannot hold.
func scalar(n *node) any {
	var v struct{ V any }
	if n.kind != aWhole && n.kind != aNumber || toml.Unmarshal([]byte("V = "+n.text), &v) != nil {
		return nil
	}
	return v.V
}

var errNotJSON = errors.New("JSON has no dates, no times, and no inf and nan")

// finite refuses what JSON has no number for.
func finite(v float64) bool { return !math.IsInf(v, 0) && !math.IsNaN(v) }
