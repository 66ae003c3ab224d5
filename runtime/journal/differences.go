package journal

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"slices"
	"strconv"
	"strings"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// A Difference is one place in which two JSON texts do not mean the same.
type Difference struct {
	Path string `json:"path"` // a JSON pointer, "" for the whole
	// Want and Got are the values there; absent where one side has none.
	Want jsontext.Value `json:"want,omitzero"`
	Got  jsontext.Value `json:"got,omitzero"`
	// Order says that both have the same members, in another order.
	Order bool `json:"order,omitzero"`
}

// MaxDifferences is how many [Differences] finds at most.
const MaxDifferences = 200

// Differences returns every place in which two JSON texts mean something else, at most
// [MaxDifferences]. The order of members, white space and how a number is written mean
// nothing; strict says that the order of members does. Texts that are no JSON are compared
// as texts.
func Differences(want, got []byte, strict bool) []Difference {
	a, okA := treeOf(want, strict)
	b, okB := treeOf(got, strict)
	if !okA || !okB {
		if bytes.Equal(want, got) {
			return nil
		}
		return []Difference{{Want: AsJSON(want), Got: AsJSON(got)}}
	}
	f := finder{strict: strict}
	f.compare("", a, b)
	return f.found
}

// Meaning returns the same of texts in which [Differences] finds none.
func Meaning(text []byte) [sha256.Size]byte {
	t, ok := treeOf(text, false)
	if !ok {
		return sha256.Sum256(append([]byte("text "), text...))
	}
	return t.means
}

// AsJSON returns a request or an answer as JSON: as it is where it is JSON, and as a [Text]
// otherwise. What is empty has no value.
func AsJSON(text []byte) jsontext.Value {
	if len(text) == 0 {
		return nil
	}
	if v := jsontext.Value(text).Clone(); v.IsValid() && v.Compact() == nil {
		return v
	}
	v, err := json.Marshal(Text(text))
	if err != nil { // a Text is a string or base64
		return nil
	}
	return v
}

// tree is a JSON value.
type tree struct {
	text  jsontext.Value    // as it is written
	names []string          // of an object, in its order
	parts []tree            // the values of an object or an array
	means [sha256.Size]byte // the same of what means the same
}

func treeOf(text []byte, strict bool) (tree, bool) {
	if len(text) == 0 || !jsontext.Value(text).IsValid() {
		return tree{}, false
	}
	t, err := readTree(jsontext.NewDecoder(bytes.NewBuffer(text)), text)
	if err == nil {
		err = t.weigh(strict)
	}
	return t, err == nil
}

func readTree(d *jsontext.Decoder, text []byte) (t tree, err error) {
	kind := d.PeekKind()
	if kind != '{' && kind != '[' {
		v, err := d.ReadValue()
		return tree{text: v.Clone()}, err
	}
	if _, err = d.ReadToken(); err != nil {
		return t, err
	}
	from := d.InputOffset() - 1
	for d.PeekKind() != '}' && d.PeekKind() != ']' {
		if kind == '{' {
			name, err := d.ReadToken()
			if err != nil {
				return t, err
			}
			t.names = append(t.names, name.String())
		}
		part, err := readTree(d, text)
		if err != nil {
			return t, err
		}
		t.parts = append(t.parts, part)
	}
	_, err = d.ReadToken()
	t.text = text[from:d.InputOffset()]
	return t, err
}

// weigh finds out what the tree means, from its leaves on: so each value is looked at once,
// however deep it lies. strict says that the order of members means something.
func (t *tree) weigh(strict bool) error {
	if t.parts == nil {
		canonical, err := CanonicalValue(t.text)
		t.means = sha256.Sum256(canonical)
		return err
	}
	order := make([]int, len(t.parts))
	for i := range t.parts {
		order[i] = i
		if err := t.parts[i].weigh(strict); err != nil {
			return err
		}
	}
	if t.names != nil && !strict {
		slices.SortFunc(order, func(i, j int) int { return strings.Compare(t.names[i], t.names[j]) })
	}
	h := sha256.New()
	fmt.Fprintf(h, "%s %d", t.text.Kind(), len(order))
	for _, i := range order {
		if t.names != nil {
			fmt.Fprintf(h, " %q", t.names[i])
		}
		h.Write(t.parts[i].means[:])
	}
	h.Sum(t.means[:0])
	return nil
}

// finder finds differences.
type finder struct {
	strict bool
	found  []Difference
}

func (f *finder) add(d Difference) {
	if len(f.found) < MaxDifferences {
		f.found = append(f.found, d)
	}
}

func (f *finder) compare(path string, a, b tree) {
	switch {
	case len(f.found) == MaxDifferences, a.means == b.means:
	case a.text.Kind() != b.text.Kind():
		f.add(Difference{Path: path, Want: a.text, Got: b.text})
	case a.text.Kind() == '{':
		f.compareObjects(path, a, b)
	case a.text.Kind() == '[':
		f.compareArrays(path, a, b)
	default:
		f.add(Difference{Path: path, Want: a.text, Got: b.text})
	}
}

func (f *finder) compareObjects(path string, a, b tree) {
	at := make(map[string]int, len(b.names))
	for i, name := range b.names {
		at[name] = i
	}
	before, shared := -1, true // shared: what both have is in one order
	for i, name := range a.names {
		j, both := at[name]
		if !both {
			f.add(Difference{Path: member(path, name), Want: a.parts[i].text})
			continue
		}
		delete(at, name)
		shared, before = shared && j > before, j
		f.compare(member(path, name), a.parts[i], b.parts[j])
	}
	for j, name := range b.names {
		if _, only := at[name]; only {
			f.add(Difference{Path: member(path, name), Got: b.parts[j].text})
		}
	}
	if f.strict && !shared {
		f.add(Difference{Path: path, Want: a.text, Got: b.text, Order: true})
	}
}

// compareArrays leaves out what both begin and end with, and pairs what is between: an item
// that was put in or taken out is one difference, and not one for each that follows.
func (f *finder) compareArrays(path string, a, b tree) {
	same := func(i, j int) bool { return a.parts[i].means == b.parts[j].means }
	from, endA, endB := 0, len(a.parts), len(b.parts)
	for from < endA && from < endB && same(from, from) {
		from++
	}
	for endA > from && endB > from && same(endA-1, endB-1) {
		endA, endB = endA-1, endB-1
	}
	for i := from; i < max(endA, endB); i++ {
		at := path + "/" + strconv.Itoa(i)
		switch {
		case i >= endA:
			f.add(Difference{Path: at, Got: b.parts[i].text})
		case i >= endB:
			f.add(Difference{Path: at, Want: a.parts[i].text})
		default:
			f.compare(at, a.parts[i], b.parts[i])
		}
	}
}

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

func member(path, name string) string { return path + "/" + pointerEscapes.Replace(name) }
