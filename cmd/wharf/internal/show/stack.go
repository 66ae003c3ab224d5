package show

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/sandbox/stack"
)

// Bounds of what is shown of a stack: JSON has all of it.
const (
	maxPlaces    = 12  // functions
	maxTailed    = 3   // functions, among events
	maxFunction  = 100 // characters of a name
	maxWordLines = 12  // lines of what a plugin said last
)

// Stack writes what a failure tells of a trap: what the plugin said last, and its author's
// functions, the innermost first. Those of languages and libraries are counted.
func (s *Screen) Stack(f *abi.Failure) {
	if f == nil {
		return
	}
	d := stack.Read(f.Details)
	if d.Text != "" {
		s.Title("on stderr")
		s.Block("  ", lastLines(d.Text, maxWordLines))
	}
	if len(d.Stack) == 0 {
		return
	}
	s.Title("stack")
	s.indented(func(in *Screen) { in.Rows(nil, foldedRows(d.Stack, maxPlaces)) })
}

// FailedIn writes below an event the author's functions that a plugin has trapped in, as far
// as the event tells of that.
func (s *Screen) FailedIn(e *abi.Event) {
	if e.Event != abi.EventTaskFailed {
		return
	}
	var told struct {
		Task *abi.Task `json:"task"`
	}
	if json.Unmarshal(e.Payload, &told) != nil || told.Task == nil || told.Task.Failure == nil {
		return
	}
	d := stack.Read(told.Task.Failure.Details)
	if d.Text != "" {
		s.Line("    ", s.Paint(Dim, Cut(OneLine(d.Text), 200)))
	}
	own, _ := stack.OwnFirst(d.Stack)
	if len(own) > maxTailed {
		own = own[:maxTailed]
	}
	for _, f := range own {
		s.Line("    ", s.Paint(Dim, "at "), frameText(&f))
	}
}

// frameText is a function and where it is.
func frameText(f *stack.Frame) string {
	return joined("  ", Cut(OneLine(f.Function), maxFunction), placeText(f))
}

// placeText is the place of a function in the source, "" where that is not known.
func placeText(f *stack.Frame) string {
	if f.File == "" || f.Line <= 0 {
		return OneLine(f.File)
	}
	return fmt.Sprintf("%s:%d", OneLine(f.File), f.Line)
}

// foldedRows are the functions of the author, with runs of others as one row each. Those
// that ended the plugin come last. Where none is the author's all are shown.
func foldedRows(frames []stack.Frame, most int) (rows [][]Cell) {
	own, before := stack.OwnFirst(frames)
	if len(own) == 0 {
		for i := range frames[:min(len(frames), most)] {
			rows = append(rows, frameRow(&frames[i]))
		}
		return append(rows, restRow(len(frames)-most)...)
	}
	shown, folded := 0, 0
	for i := range frames[before:] {
		f := &frames[before+i]
		if !f.Own {
			folded++
			continue
		}
		if shown == most {
			break
		}
		rows = append(append(rows, foldRow(folded)...), frameRow(f))
		shown, folded = shown+1, 0
	}
	rows = append(rows, restRow(len(own)-shown)...)
	if before == 0 {
		return rows
	}
	end := fmt.Sprintf("it ended in %s, %s further in", Cut(OneLine(frames[0].Function), maxFunction), count(before, "function", "functions"))
	return append(rows, []Cell{{Text: end, Style: Dim}})
}

func frameRow(f *stack.Frame) []Cell {
	return []Cell{{Text: Cut(OneLine(f.Function), maxFunction), Style: Bold}, {Text: placeText(f), Style: Cyan}}
}

// foldRow is the row of so many functions that are no author's, no row for none.
func foldRow(n int) [][]Cell {
	if n == 0 {
		return nil
	}
	return [][]Cell{{{Text: "... " + count(n, "function", "functions") + " of libraries", Style: Dim}}}
}

// restRow is the row of so many functions that are not shown, no row for none.
func restRow(n int) [][]Cell {
	if n <= 0 {
		return nil
	}
	return [][]Cell{{{Text: fmt.Sprintf("... and %d more, which --json has", n), Style: Dim}}}
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// lastLines are the last lines of a text: the end is why it ended.
func lastLines(text string, most int) string {
	lines := strings.Split(strings.TrimRight(Clean(text), "\n"), "\n")
	if len(lines) > most {
		lines = append([]string{"..."}, lines[len(lines)-most:]...)
	}
	return strings.Join(lines, "\n")
}
