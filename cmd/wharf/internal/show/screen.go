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
	if f, ok := w.(interface{ TerminalWidth() int }); ok {
		s.width = f.TerminalWidth()
	}
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

// Width is how many characters a line of the terminal has; 0 elsewhere.
func (s *Screen) Width() int { return s.width }

// Write implements io.Writer.
func (s *Screen) Write(p []byte) (int, error) { return s.w.Write(p) }

// Printf writes formatted text.
func (s *Screen) Printf(format string, args ...any) { fmt.Fprintf(s.w, format, args...) }

// Line writes one line, whatever is in its parts: texts of others make no line of their
// own, and steer no terminal.
func (s *Screen) Line(parts ...string) {
	s.write(strings.Map(inLine, strings.ToValidUTF8(strings.Join(parts, ""), "\uFFFD")))
}

// Gap writes an empty line.
func (s *Screen) Gap() { s.write("") }

// Block writes lines of text, each behind a prefix.
func (s *Screen) Block(prefix, text string) { s.write(Indent(prefix, Clean(text))) }

// Paragraph writes a text, indented, in lines that are pleasant to read.
func (s *Screen) Paragraph(text string) {
	const most = 96
	inner := Screen{width: most}
	if s.Terminal() {
		inner.width = min(s.width, most)
	}
	s.Block("  ", strings.Join(inner.wrap([]string{Clean(text)}, 2), "\n"))
}

// JSON writes a JSON text. What is not to reach a terminal is escaped in it: outside of
// strings there is none of it, and within them it means the same.
func (s *Screen) JSON(text []byte) {
	var b strings.Builder
	for _, r := range strings.ToValidUTF8(string(text), "\uFFFD") {
		switch {
		case r == '\r': // which is between the tokens, as these two are
			b.WriteByte(' ')
		case r != '\n' && r != '\t' && (unprintable(r) || lineBreak(r)):
			fmt.Fprintf(&b, "\\u%04x", r)
		default:
			b.WriteRune(r)
		}
	}
	fmt.Fprintln(s.w, b.String())
}

// write writes lines, and puts styles where they were painted.
func (s *Screen) write(text string) {
	with := plainer
	if s.color {
		with = painter
	}
	fmt.Fprintln(s.w, with.Replace(text))
}

// Where a style begins stands one of those between startStyle and endStyle, and where it
// ends endStyle. These are no characters, and are taken out of texts.
const (
	startStyle = '\uFDD0'
	endStyle   = '\uFDDF'
)

// styles are all that there are, in the order of what stands for them.
var styles = []Style{Bold, Dim, Red, Green, Yellow, Blue, Purple, Cyan}

// painter puts styles in their places, and plainer nothing.
var painter, plainer = func() (*strings.Replacer, *strings.Replacer) {
	pairs, nothing := []string{string(endStyle), "\x1b[0m"}, []string{string(endStyle), ""}
	for i, style := range styles {
		start := string(startStyle + 1 + rune(i))
		pairs, nothing = append(pairs, start, "\x1b["+string(style)+"m"), append(nothing, start, "")
	}
	return strings.NewReplacer(pairs...), strings.NewReplacer(nothing...)
}()

// Paint returns text in the given style, or as it is where there are no colours.
func (s *Screen) Paint(style Style, text string) string {
	if !s.color || style == Plain || text == "" {
		return text
	}
	return string(startStyle+1+rune(slices.Index(styles, style))) + Clean(text) + string(endStyle)
}

// Title writes a heading with an empty line before it.
func (s *Screen) Title(text string) {
	s.Gap()
	s.Line(s.Paint(Bold, text))
}

func width(text string) int { return utf8.RuneCountInString(text) }

// Clean returns text without characters that could steer a terminal. Newlines
// and tabs stay.
func Clean(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case lineBreak(r):
			return '\n'
		case r != '\t' && unprintable(r), r >= startStyle && r <= endStyle:
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
}

// unprintable reports whether a character steers a terminal.
func unprintable(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }

// lineBreak reports whether a line may end at a character that is left in a text.
func lineBreak(r rune) bool { return r == '\n' || r == '\u2028' || r == '\u2029' }

// inLine is what a character becomes within a line.
func inLine(r rune) rune {
	switch {
	case lineBreak(r), r == '\t':
		return ' '
	case unprintable(r):
		return -1
	}
	return r
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
