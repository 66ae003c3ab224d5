package show

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// terminal is a terminal of so many characters.
type terminal struct {
	bytes.Buffer
	width int
}

func (t *terminal) TerminalWidth() int { return t.width }

func nothing(string) string { return "" }

func TestATableFitsItsTerminal(t *testing.T) {
	const id = "task_01M8FWNCYG9AQ71MY0B8YE08AT"
	header := []string{"TASK", "STATUS", "SAYS", "SESSION"}
	rows := [][]Cell{Cells(id, "COMPLETED", "a summary of what was done that is longer than most of them are", "sess_01M8FWNCYFEQKB7TG3NF1FJ65B"), Cells(id, "FAILED", "", "")}
	for width, want := range map[int]string{
		0: `
TASK                             STATUS     SAYS                                                             SESSION
task_01M8FWNCYG9AQ71MY0B8YE08AT  COMPLETED  a summary of what was done that is longer than most of them are  sess_01M8FWNCYFEQKB7TG3NF1FJ65B
task_01M8FWNCYG9AQ71MY0B8YE08AT  FAILED`,
		120: `
TASK                             STATUS     SAYS                                         SESSION
task_01M8FWNCYG9AQ71MY0B8YE08AT  COMPLETED  a summary of what was done that is longer…   sess_01M8FWNCYFEQKB7TG3NF1FJ65B
task_01M8FWNCYG9AQ71MY0B8YE08AT  FAILED`,
		80: `
TASK                             STATUS     SAYS
    SESSION
task_01M8FWNCYG9AQ71MY0B8YE08AT  COMPLETED  a summary of what w…
    sess_01M8FWNCYFEQKB7TG3NF1FJ65B
task_01M8FWNCYG9AQ71MY0B8YE08AT  FAILED`,
	} {
		out := &terminal{width: width}
		NewScreen(out, "never", nothing).Table(header, rows)
		if got := "\n" + strings.TrimRight(out.String(), "\n"); got != want {
			t.Errorf("%d characters:\n%s\nwant\n%s", width, got, want)
		}
	}
}

// No line is longer than a terminal, whatever is in a table, and elsewhere all is there.
func TestNoLineIsLongerThanTheTerminal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		columns := rapid.IntRange(1, 9).Draw(t, "columns")
		cell := rapid.StringMatching(`[a-zä_]{0,50}( [a-z]{1,9}){0,12}`)
		var rows [][]Cell
		for range rapid.IntRange(0, 4).Draw(t, "rows") {
			rows = append(rows, Cells(rapid.SliceOfN(cell, 1, columns).Draw(t, "row")...))
		}
		header := rapid.SliceOfN(rapid.StringMatching(`[A-Z]{1,12}`), 0, columns).Draw(t, "header")
		width := rapid.IntRange(40, 200).Draw(t, "width")
		out := &terminal{width: width}
		NewScreen(out, "never", nothing).Table(header, rows)
		for line := range strings.Lines(out.String()) {
			if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > width {
				t.Fatalf("a line of %d characters on a terminal of %d: %s", n, width, line)
			}
		}
		var whole bytes.Buffer
		NewScreen(&whole, "never", nothing).Table(header, rows)
		for _, row := range rows {
			for _, c := range row {
				if !strings.Contains(whole.String(), OneLine(c.Text)) {
					t.Fatalf("%q is missing where there is no terminal:\n%s", c.Text, &whole)
				}
			}
		}
	})
}
