package show

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"
)

// Style is how a piece of text looks on a terminal: an SGR parameter.
type Style string

// The styles.
const (
	Plain  Style = ""
	Bold   Style = "1"
	Dim    Style = "2"
	Red    Style = "31"
	Green  Style = "32"
	Yellow Style = "33"
	Blue   Style = "34"
	Purple Style = "35"
	Cyan   Style = "36"
)

// Screen is where text for people goes. It is used by one goroutine at a time.
type Screen struct {
	w     io.Writer
	color bool
	width int // 0: not a terminal

	passing bool // the last line is one that the next of its kind may replace
}

// ColorModes lists the values of --color.
func ColorModes() []string { return []string{"auto", "always", "never"} }

// NewScreen returns a Screen on w. mode is one of [ColorModes]; "auto" colours a
// terminal unless env says otherwise (NO_COLOR, TERM=dumb).
func NewScreen(w io.Writer, mode string, env func(string) string) *Screen {
	s := &Screen{w: w}
	if f, ok := w.(*os.File); ok {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil {
			s.width = max(width, 40)
		}
	}
	switch mode {
	case "always":
		s.color = true
	case "auto":
		s.color = s.Terminal() && env("NO_COLOR") == "" && env("TERM") != "dumb"
	}
	return s
}

// Terminal reports whether a person is likely to be watching.
func (s *Screen) Terminal() bool { return s.width > 0 }

// Write implements io.Writer.
func (s *Screen) Write(p []byte) (int, error) { return s.w.Write(p) }

// Printf writes formatted text.
func (s *Screen) Printf(format string, args ...any) { fmt.Fprintf(s.w, format, args...) }

// Line writes a line.
func (s *Screen) Line(parts ...string) { fmt.Fprintln(s.w, strings.Join(parts, "")) }

// Paint returns text in the given style, or as it is where there are no colours.
func (s *Screen) Paint(style Style, text string) string {
	if !s.color || style == Plain || text == "" {
		return text
	}
	return "\x1b[" + string(style) + "m" + text + "\x1b[0m"
}

// Title writes a heading with an empty line before it.
func (s *Screen) Title(text string) { s.Line("\n", s.Paint(Bold, text)) }

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

// Table writes rows in aligned columns below a header. An empty header is left out.
func (s *Screen) Table(header []string, rows [][]Cell) {
	all := slices.Clone(rows)
	if len(header) > 0 {
		head := Cells(header...)
		for i := range head {
			head[i].Style = Dim
		}
		all = slices.Insert(all, 0, head)
	}
	widths := columnWidths(all)
	for _, row := range all {
		var b strings.Builder
		for i, cell := range row {
			text := OneLine(cell.Text)
			b.WriteString(s.Paint(cell.Style, text))
			if i < len(row)-1 {
				b.WriteString(strings.Repeat(" ", widths[i]-width(text)+2))
			}
		}
		s.Line(strings.TrimRight(b.String(), " "))
	}
}

func columnWidths(rows [][]Cell) []int {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], width(OneLine(cell.Text)))
		}
	}
	return widths
}

func width(text string) int { return utf8.RuneCountInString(text) }

// Clean returns text without characters that could steer a terminal. Newlines
// and tabs stay.
func Clean(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return r
		}
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
}

// OneLine returns text cleaned and with every run of white space as one space.
func OneLine(text string) string { return strings.Join(strings.Fields(Clean(text)), " ") }

// Cut returns text in at most n characters, with … where it was cut.
func Cut(text string, n int) string {
	if width(text) <= n {
		return text
	}
	return strings.TrimRight(string([]rune(text)[:n-1]), " ") + "…"
}

// Indent puts prefix before each line of text that is not empty.
func Indent(prefix, text string) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i, l := range lines {
		if l != "" {
			lines[i] = prefix + l
		}
	}
	return strings.Join(lines, "\n")
}

// wrap breaks lines between words, so that they fit a terminal beside the given
// margin. Continuations are indented as the line is. Elsewhere lines stay whole.
func (s *Screen) wrap(lines []string, margin int) []string {
	if !s.Terminal() {
		return lines
	}
	room := s.width - margin
	var out []string
	for _, l := range lines {
		indent := l[:len(l)-len(strings.TrimLeft(l, " "))]
		for width(l) > room {
			at := breakAt(l, room, len(indent))
			if at < 0 {
				break
			}
			out = append(out, l[:at])
			l = indent + l[at+1:]
		}
		out = append(out, l)
	}
	return out
}

// breakAt returns the last space of l, after its indent, before which no more than
// room characters are; else the first space there is, for a word that fits no
// line; -1 if there is none. l is longer than room.
func breakAt(l string, room, indent int) int {
	head := string([]rune(l)[:room+1])
	if at := strings.LastIndexByte(head, ' '); at > indent {
		return at
	}
	if at := strings.IndexByte(l[indent:], ' '); at >= 0 {
		return indent + at
	}
	return -1
}
