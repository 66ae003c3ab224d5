package oaf

import (
	"regexp"
	"strings"
)

// change is a member of a front matter that is to have another value. One that is nothing is
// taken away.
type change struct {
	path  []string
	value node
}

// editing is a front matter whose lines are changed.
type editing struct{ lines []string }

// edit returns a front matter with a change made. All lines that do not hold the member stay.
func edit(front string, c change) (string, error) {
	root, err := parseYAML(front)
	if err != nil {
		return "", err
	}
	if root.kind != nothing && !root.block {
		front = blockOf(&root)
		if root, err = parseYAML(front); err != nil {
			return "", err
		}
	}
	e := &editing{strings.Split(strings.TrimSuffix(front, "\n"), "\n")}
	if front == "" {
		e.lines = nil
	}
	e.set(&root, 1, len(e.lines), c.path, &c.value)
	if len(e.lines) == 0 {
		return "", nil
	}
	return strings.Join(e.lines, "\n") + "\n", nil
}

// blockOf writes a mapping with a line for each key.
func blockOf(n *node) string {
	var b strings.Builder
	for i := range n.entries {
		b.WriteString(key(n.entries[i].key) + ": " + n.entries[i].value.flow() + "\n")
	}
	return b.String()
}

var plainKey = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]*$`)

func key(k string) string {
	if plainKey.MatchString(k) {
		return k
	}
	return quote(k)
}

// set gives the member at a path of a mapping a value. The mapping has its keys at a column, and
// ends before a line.
func (e *editing) set(in *node, column, end int, path []string, value *node) {
	at, from, to := e.find(in, end, path[0])
	switch {
	case at == nil && value.kind == nothing:
	case at == nil:
		e.insert(e.last(0, end, column), e.block(column, path, value))
	case len(path) == 1 && value.kind == nothing:
		e.replace(from, to, nil)
	case len(path) == 1:
		e.replace(from, to, e.block(at.column, path, value))
	case at.value.block && len(at.value.entries) > 0:
		e.set(&at.value, at.value.entries[0].column, to, path[1:], value)
	default:
		whole := with(&at.value, path[1:], value)
		e.replace(from, to, e.block(at.column, path[:1], &whole))
	}
}

// find returns an entry of a mapping, and the lines that it has.
func (e *editing) find(in *node, end int, name string) (at *entry, from, to int) {
	for i := range in.entries {
		if in.entries[i].key != name {
			continue
		}
		at = &in.entries[i]
		if i+1 < len(in.entries) {
			end = in.entries[i+1].line
		}
		return at, at.line, e.last(at.line+1, end, at.column)
	}
	return nil, 0, 0
}

// last returns where the last line before end ends that is none of the blank ones and comments
// that belong to what follows.
func (e *editing) last(from, end, column int) int {
	for end > from {
		line := strings.TrimRight(e.lines[end-1], "\r")
		content := strings.TrimLeft(line, " \t")
		if content != "" && (content[0] != '#' || len(line)-len(content) >= column) {
			return end
		}
		end--
	}
	return end
}

// block writes a member at a column: each key but the last on a line of its own.
func (e *editing) block(column int, path []string, value *node) (lines []string) {
	ending := ""
	if len(e.lines) > 0 && strings.HasSuffix(e.lines[0], "\r") {
		ending = "\r"
	}
	for i, k := range path {
		line := strings.Repeat(" ", column-1+2*i) + key(k) + ":"
		if i == len(path)-1 {
			line += " " + value.flow()
		}
		lines = append(lines, line+ending)
	}
	return lines
}

func (e *editing) insert(at int, lines []string) { e.replace(at, at, lines) }

func (e *editing) replace(from, to int, lines []string) {
	e.lines = append(append(append([]string{}, e.lines[:from]...), lines...), e.lines[to:]...)
}

// with returns a value whose member at a path has another value.
func with(in *node, path []string, value *node) node {
	if len(path) == 0 {
		return *value
	}
	out, found := node{kind: mapping}, false
	for _, entry := range in.entries {
		if entry.key == path[0] {
			found = true
			entry.value = with(&entry.value, path[1:], value)
			if len(path) == 1 && value.kind == nothing {
				continue
			}
		}
		out.entries = append(out.entries, entry)
	}
	if !found && value.kind != nothing {
		out.entries = append(out.entries, entry{key: path[0], value: with(&node{}, path[1:], value)})
	}
	return out
}
