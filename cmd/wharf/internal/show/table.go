package show

import (
	"slices"
	"strings"
)

// Cell is a styled entry of a table.
type Cell struct {
	Text  string
	Style Style
}

// Cells returns unstyled cells.
func Cells(texts ...string) []Cell {
	cells := make([]Cell, len(texts))
	for i, t := range texts {
		cells[i].Text = t
	}
	return cells
}

const (
	columnGap = 2
	// leastText is how narrow a column of texts may become, so that the row stays on one line.
	leastText = 20
	// below is how far what has no room in the line of a row is indented below it.
	below = 4
)

// Table writes rows in aligned columns below a header. An empty header is left out.
//
// On a terminal no line is longer than it: texts with spaces in them are cut, and columns for which
// there is still no room stand below the others. Elsewhere nothing is cut, and a row is a line.
func (s *Screen) Table(header []string, rows [][]Cell) { s.table(header, rows, s.width) }

// Rows is [Screen.Table] for what has to be read whole: nothing is cut, and what is longer than a line of
// the terminal, the terminal breaks.
func (s *Screen) Rows(header []string, rows [][]Cell) { s.table(header, rows, 0) }

// table writes rows within so many characters; 0 for any number.
func (s *Screen) table(header []string, rows [][]Cell, room int) {
	all := make([][]Cell, 0, len(rows)+1)
	if len(header) > 0 {
		head := Cells(header...)
		for i := range head {
			head[i].Style = Dim
		}
		all = append(all, head)
	}
	for _, row := range rows {
		row = slices.Clone(row)
		for i := range row {
			row[i].Text = OneLine(row[i].Text)
		}
		all = append(all, row)
	}
	columns := columnsOf(all, false)
	lines := [][]int{indexes(0, len(columns))}
	if room > 0 && longest(all, columns) > room {
		columns = columnsOf(all, true)
		lines = fit(columns, room)
	}
	for _, row := range all {
		for n, line := range lines {
			s.tableLine(row, columns, line, n > 0)
		}
	}
}

// tableLine writes the cells of a row that stand in one line, if there are any.
func (s *Screen) tableLine(row []Cell, columns []column, line []int, under bool) {
	var b strings.Builder
	for _, i := range line {
		if i >= len(row) {
			break
		}
		text := row[i].Text
		if columns[i].cut {
			text = Cut(text, columns[i].width)
		}
		b.WriteString(s.Paint(row[i].Style, text))
		if i < len(row)-1 {
			b.WriteString(strings.Repeat(" ", max(0, columns[i].width-width(text))+columnGap))
		}
	}
	text := strings.TrimRight(b.String(), " ")
	switch {
	case !under:
		s.Line(text)
	case text != "":
		s.Line(strings.Repeat(" ", below) + text)
	}
}

// column is what is known of a column of a table.
type column struct {
	width int
	words bool // its widest cell is a text, of which a part says something, and nothing to copy
	cut   bool // to its width
}

// columnsOf returns the columns of rows. The last cell of a row, behind which nothing stands, may be as long
// as it is, unless it counts.
func columnsOf(rows [][]Cell, last bool) []column {
	var columns []column
	for _, row := range rows {
		for i, cell := range row {
			if i == len(columns) {
				columns = append(columns, column{})
			}
			if w := width(cell.Text); w > columns[i].width && (last || i < len(row)-1) {
				columns[i] = column{w, strings.Contains(cell.Text, " "), last}
			}
		}
	}
	return columns
}

// longest returns how long the longest row is.
func longest(rows [][]Cell, columns []column) int {
	most := 0
	for _, row := range rows {
		length := 0
		for i, cell := range row {
			if i == len(row)-1 {
				length += width(cell.Text)
			} else {
				length += columns[i].width + columnGap
			}
		}
		most = max(most, length)
	}
	return most
}

func total(columns []column) int {
	sum := columnGap * (len(columns) - 1)
	for _, c := range columns {
		sum += c.width
	}
	return sum
}

// fit makes columns narrower, and returns which stand in one line.
func fit(columns []column, room int) [][]int {
	narrow(columns, room)
	var lines [][]int
	for from := 0; from < len(columns); {
		indent := 0
		if from > 0 {
			indent = below
		}
		columns[from].width = min(columns[from].width, room-indent) // what is longer than a line is cut
		to, taken := from+1, indent+columns[from].width
		for to < len(columns) && taken+columnGap+columns[to].width <= room {
			taken += columnGap + columns[to].width
			to++
		}
		lines = append(lines, indexes(from, to))
		from = to
	}
	return lines
}

// narrow takes away from the columns of texts, the widest first, until all fit or none can be narrower.
func narrow(columns []column, room int) {
	for total(columns) > room {
		widest := -1
		for i, c := range columns {
			if c.words && c.width > leastText && (widest < 0 || c.width > columns[widest].width) {
				widest = i
			}
		}
		if widest < 0 {
			return
		}
		columns[widest].width--
	}
}

func indexes(from, to int) []int {
	all := make([]int, 0, to-from)
	for i := from; i < to; i++ {
		all = append(all, i)
	}
	return all
}
