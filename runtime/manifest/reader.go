package manifest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/wharf-dev/wharf/abi/plainly"
	"github.com/wharf-dev/wharf/runtime/skill"
)

// maxProblems is how many problems are told: whoever has more has another one.
const maxProblems = 100

// reader reads a tree and takes down what is wrong.
type reader struct {
	places   *places
	problems []Problem
	more     bool // there are problems that are not told
	path     []string
	where    map[string]Position // of what was read, by its path
}

func (r *reader) add(p Problem) {
	if len(r.problems) >= maxProblems {
		r.more = true
		return
	}
	r.problems = append(r.problems, p)
}

// fail tells an error at a byte; try says what to do.
func (r *reader) fail(code Code, at int, key, format, try string, args ...any) {
	r.add(Problem{Error, code, r.places.at(at), key, fmt.Sprintf(format, args...), try})
}

// wrong tells that a value is not what its field takes.
func (r *reader) wrong(code Code, n *node, try, format string, args ...any) {
	r.fail(code, n.at, r.here(), "%s: %s", try, r.here(), fmt.Sprintf(format, args...))
}

// here is the path of what is being read.
func (r *reader) here() string { return joined(r.path) }

// joined writes a path as TOML does, with places in lists between brackets.
func joined(path []string) string {
	var b strings.Builder
	for _, part := range path {
		if b.Len() > 0 && !strings.HasPrefix(part, "[") {
			b.WriteByte('.')
		}
		b.WriteString(part)
	}
	return b.String()
}

// within reads what a part of the path leads to.
func (r *reader) within(part string, n *node, read func()) {
	r.path = append(r.path, part)
	at := n.at
	if n.kind == aTable || n.kind == aList {
		at = n.key
	}
	r.where[r.here()] = r.places.at(at)
	read()
	r.path = r.path[:len(r.path)-1]
}

// is reports whether a value is of a kind, and tells when it is not.
func (r *reader) is(n *node, k kind, words string) bool {
	if n.kind == k {
		return true
	}
	r.wrong(WrongType, n, "write "+words, "it is %s, and here stands %s", words, n.kind)
	return false
}

// texts reads a list of texts, none of them twice. What is wrong is "", so that the others keep their places.
func (r *reader) texts(n *node, one form[string]) []string {
	all := make([]string, 0, len(n.items))
	first := map[string]int{}
	for i, item := range n.items {
		r.within("["+strconv.Itoa(i)+"]", item, func() {
			text, ok := one.read(r, item)
			had, twice := first[text]
			switch {
			case !ok:
			case twice:
				r.wrong(RepeatedValue, item, "remove it", "%s stands here twice, first as [%d]", quote(text), had)
				text = ""
			default:
				first[text] = i
			}
			all = append(all, text)
		})
	}
	return all
}

// unknown tells of a key that is no field.
func (r *reader) unknown(n *node, name string, names []string) {
	if len(r.problems) >= maxProblems {
		r.more = true // looking for the nearest name takes longer than all else
		return
	}
	key := joined(append(slices.Clone(r.path), barekey(name)))
	try := "remove it: there are " + strings.Join(names, ", ")
	if near := plainly.Nearest(name, slices.Values(names)); near != "" {
		try = "did you mean " + joined(append(slices.Clone(r.path), near)) + "?"
	}
	r.fail(UnknownKey, n.key, key, "there is no field %s", try, key)
}

// barekey writes a name as a key is written.
func barekey(name string) string {
	for _, c := range name {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-') {
			return quote(name)
		}
	}
	if name == "" {
		return `""`
	}
	return clip(name)
}

// words reads a list of texts, which may be the same twice.
func (r *reader) words(n *node, one form[string]) (all []string, ok bool) {
	before := len(r.problems)
	for i, item := range n.items {
		r.within("["+strconv.Itoa(i)+"]", item, func() {
			word, _ := one.read(r, item)
			all = append(all, word)
		})
	}
	return all, before == len(r.problems)
}

// accepts reports whether a text is a JSON Schema of the kind that Skills have.
func (r *reader) accepts(n *node, text []byte) bool {
	err := skill.Accept(text)
	if err != nil {
		r.wrong(InvalidSchema, n, "json-schema.org has what it may hold", "it is no JSON Schema: %s", clip(err.Error()))
	}
	return err == nil
}
