package markdown

import "strings"

func blank(line string) bool {
	for i := range len(line) {
		if line[i] != ' ' && line[i] != '\t' {
			return false
		}
	}
	return true
}

// trim removes spaces and tabs at both ends.
func trim(line string) string {
	for line != "" && (line[0] == ' ' || line[0] == '\t') {
		line = line[1:]
	}
	for line != "" && (line[len(line)-1] == ' ' || line[len(line)-1] == '\t') {
		line = line[:len(line)-1]
	}
	return line
}

// expandTabs replaces the tabs between a line's markers by spaces up to every
// fourth column. Only there do columns count.
func expandTabs(line string) string {
	if strings.IndexByte(line, '\t') < 0 {
		return line
	}
	var out []byte
	for i := range len(line) {
		switch c := line[i]; {
		case c == '\t':
			out = append(out, "    "[len(out)%4:]...)
		case c == ' ' || digit(c) || strings.IndexByte(">-+*.)", c) >= 0:
			out = append(out, c)
		default:
			return string(out) + line[i:]
		}
	}
	return string(out)
}

// indentOf returns how many spaces a line begins with.
func indentOf(line string) int {
	n := 0
	for n < len(line) && line[n] == ' ' {
		n++
	}
	return n
}

// cutColumns removes up to n spaces.
func cutColumns(line string, n int) string { return line[min(n, indentOf(line)):] }

// unindent removes up to three spaces; ok is false when there are more.
func unindent(line string) (string, bool) {
	if indentOf(line) >= 4 {
		return line, false
	}
	return strings.TrimLeft(line, " "), true
}

func cutQuote(line string) (string, bool) {
	rest, ok := unindent(line)
	if !ok || !strings.HasPrefix(rest, ">") {
		return line, false
	}
	return strings.TrimPrefix(rest[1:], " "), true
}

// listMarker returns the length of the list marker that the text begins with, and
// the number of an ordered one.
func listMarker(text string) (length, ordinal int, ok bool) {
	digits := 0
	for digits < len(text) && digits < 10 && text[digits] >= '0' && text[digits] <= '9' {
		ordinal = ordinal*10 + int(text[digits]-'0')
		digits++
	}
	if digits == 10 || digits == len(text) {
		return 0, 0, false
	}
	switch c := text[digits]; {
	case digits > 0 && (c == '.' || c == ')'):
	case digits == 0 && (c == '-' || c == '+' || c == '*'):
	default:
		return 0, 0, false
	}
	after := text[digits+1:]
	if after != "" && after[0] != ' ' && after[0] != '\t' {
		return 0, 0, false
	}
	return digits + 1, ordinal, true
}

// thematicBreak reports whether the line consists of three or more of - _ or *.
func thematicBreak(line string) bool {
	rest, ok := unindent(line)
	if !ok || rest == "" || strings.IndexByte("-_*", rest[0]) < 0 {
		return false
	}
	count := 0
	for i := range len(rest) {
		switch rest[i] {
		case rest[0]:
			count++
		case ' ', '\t':
		default:
			return false
		}
	}
	return count >= 3
}

// setext returns the heading level of an underline, 0 if the line is none.
func setext(line string) int {
	rest, ok := unindent(line)
	rest = strings.TrimRight(rest, " \t")
	switch {
	case !ok || rest == "":
		return 0
	case strings.Trim(rest, "=") == "":
		return 1
	case strings.Trim(rest, "-") == "":
		return 2
	}
	return 0
}

// atxHeading returns the level and the title of a heading that begins with #.
func atxHeading(line string) (level int, title string) {
	rest, ok := unindent(line)
	if !ok {
		return 0, ""
	}
	for level < len(rest) && rest[level] == '#' {
		level++
	}
	if level == 0 || level > 6 || (level < len(rest) && rest[level] != ' ' && rest[level] != '\t') {
		return 0, ""
	}
	title = strings.Trim(rest[level:], " \t")
	bare := strings.TrimRight(title, "#")
	if bare == "" || strings.HasSuffix(bare, " ") || strings.HasSuffix(bare, "\t") {
		title = strings.TrimRight(bare, " \t")
	}
	return level, title
}

// fence returns the character, the length and the indentation of an opening code
// fence; char is 0 if the line is none.
func fence(line string) (char byte, length, indent int) {
	rest, ok := unindent(line)
	if !ok || rest == "" || (rest[0] != '`' && rest[0] != '~') {
		return 0, 0, 0
	}
	for length < len(rest) && rest[length] == rest[0] {
		length++
	}
	if length < 3 || (rest[0] == '`' && strings.IndexByte(rest[length:], '`') >= 0) {
		return 0, 0, 0
	}
	return rest[0], length, indentOf(line)
}

// delimiterRow reports whether a line separates the head of a table from its body.
func delimiterRow(line string) bool {
	return strings.Contains(line, "-") && strings.Contains(line, "|") && strings.Trim(line, "|:- \t") == ""
}

// blockTags are the HTML elements that begin a block.
const blockTags = " address article aside base basefont blockquote body caption center col colgroup dd details dialog dir " +
	"div dl dt fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header hr html iframe legend " +
	"li link main menu menuitem nav noframes ol optgroup option p param search section summary table tbody td tfoot th " +
	"thead title tr track ul "

// htmlStart reports whether a line begins a block of HTML, and what ends it: a
// text, or "" for a blank line. What is only a tag of its own does not interrupt a
// paragraph.
func htmlStart(line string, inParagraph bool) (end string, ok bool) {
	rest, ok := unindent(line)
	if !ok || len(rest) < 2 || rest[0] != '<' {
		return "", false
	}
	switch {
	case strings.HasPrefix(rest, "<!--"):
		return "-->", true
	case rest[1] == '?':
		return "?>", true
	case strings.HasPrefix(rest, "<![CDATA["):
		return "]]>", true
	case rest[1] == '!' && len(rest) > 2 && letter(rest[2]):
		return ">", true
	}
	name, closing := tagName(rest)
	switch name {
	case "":
		return "", false
	case "script", "pre", "style", "textarea":
		if !closing {
			return "</" + name + ">", true
		}
	}
	if strings.Contains(blockTags, " "+name+" ") {
		return "", true
	}
	length := tagLength(rest)
	return "", !inParagraph && length > 0 && blank(rest[length:])
}

// tagName returns the lower-case name of the tag that the text begins with.
func tagName(text string) (name string, closing bool) {
	text = text[1:]
	if closing = strings.HasPrefix(text, "/"); closing {
		text = text[1:]
	}
	n := 0
	for n < len(text) && (letter(text[n]) || (n > 0 && (digit(text[n]) || text[n] == '-'))) {
		n++
	}
	if n < len(text) && strings.IndexByte(" \t\n/>", text[n]) < 0 {
		return "", false
	}
	return strings.ToLower(text[:n]), closing
}

func letter(c byte) bool { c |= 0x20; return c >= 'a' && c <= 'z' }

func digit(c byte) bool { return c >= '0' && c <= '9' }

func containsFold(line, part string) bool {
	return strings.Contains(line, part) || strings.Contains(strings.ToLower(line), part)
}
