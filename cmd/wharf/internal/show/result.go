package show

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
)

// StatusStyle is the colour of a Task's status.
func StatusStyle(status abi.TaskStatus) Style {
	switch status {
	case abi.TaskCompleted:
		return Green
	case abi.TaskFailed:
		return Red
	case abi.TaskCanceled:
		return Yellow
	}
	return Blue
}

// Answer writes the text of the assistant's Messages of an Outcome, which are
// what a Task answers with: at most so many lines of it, 0 for all. It reports
// whether there was any.
func (s *Screen) Answer(o *abi.Outcome) bool {
	var texts []string
	for _, v := range o.Messages {
		texts = append(texts, messageTexts(v)...)
	}
	if len(texts) == 0 {
		return false
	}
	all := strings.Split(Clean(strings.Join(texts, "\n\n")), "\n")
	s.write(Indent("  ", strings.Join(s.markdown(s.wrap(all, 2)), "\n")))
	return true
}

func messageTexts(v jsontext.Value) []string {
	var m abi.Message
	if json.Unmarshal(v, &m) != nil || (m.Role != abi.RoleAssistant && m.Role != abi.RoleAgent) {
		return nil
	}
	var texts []string
	for _, p := range m.Parts {
		if p.Text != nil {
			texts = append(texts, *p.Text)
		}
	}
	return texts
}

// markdown makes headings bold; the rest is readable as it is.
func (s *Screen) markdown(lines []string) []string {
	for i, l := range lines {
		if strings.HasPrefix(l, "#") {
			lines[i] = s.Paint(Bold, l)
		}
	}
	return lines
}

// indented runs f on a Screen whose lines are indented by two spaces.
func (s *Screen) indented(f func(*Screen)) {
	var b strings.Builder
	inner := *s
	inner.w = &b
	f(&inner)
	fmt.Fprintln(s.w, Indent("  ", b.String()))
}

// Pairs writes names and values in two columns, indented. Empty values are left out.
func (s *Screen) Pairs(pairs ...[2]string) {
	var rows [][]Cell
	for _, p := range pairs {
		if p[1] != "" {
			rows = append(rows, []Cell{{Text: p[0], Style: Dim}, {Text: p[1]}})
		}
	}
	s.indented(func(in *Screen) { in.Rows(nil, rows) })
}

// Artifacts lists the Artifacts of an Outcome, one a line.
func (s *Screen) Artifacts(o *abi.Outcome) {
	var rows [][2]string
	for _, v := range o.Artifacts {
		var a abi.Artifact
		if json.Unmarshal(v, &a) == nil {
			rows = append(rows, [2]string{"artifact", a.ID + "  " + artifactDetail(&a)})
		}
	}
	if len(rows) > 0 {
		s.Pairs(rows...)
	}
}
