package markdown

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Link is a link in a text.
type Link struct{ Text, Target string }

// Inline is a text without its markup.
type Inline struct {
	Text   string
	Links  []Link
	Images int
}

// How far ahead the inline parser looks.
const (
	maxLabel  = 999
	maxTarget = 4096
	maxTitle  = 2048
	maxTag    = 4096
	maxTicks  = 64
	maxParens = 32
)

// Inline reads the text of a block.
func (d *Document) Inline(raw string) Inline {
	s := scanner{doc: d, raw: raw, mask: isMarkup}
	if strings.Contains(raw, "://") || strings.Contains(raw, "www.") || strings.Contains(raw, "WWW.") {
		s.mask |= isBare
	}
	if s.next(0) == len(raw) {
		return Inline{Text: raw}
	}
	s.out = make([]byte, 0, len(raw))
	for s.pos < len(raw) {
		s.step()
	}
	s.inline.Text = strings.TrimSpace(string(s.out))
	return s.inline
}

// bracket is an opening bracket that may become a link or an image.
type bracket struct {
	image bool
	out   int // what was written before it
	raw   int // where its text begins
	links int // links found before it
}

type scanner struct {
	doc      *Document
	raw      string
	mask     byte // the classes of bytes that could mean something in this text
	pos      int
	out      []byte
	inline   Inline
	brackets []bracket
	dead     int                // brackets below this hold a link and cannot become one
	noTicks  [maxTicks + 1]bool // no run of so many backticks follows
	noEnd    bool               // no end of a comment follows
}

// step takes what is at the position and moves on by a byte or more.
func (s *scanner) step() {
	rest := s.raw[s.pos:]
	switch rest[0] {
	case '\\':
		s.escape(rest)
	case '`':
		s.code(rest)
	case '<':
		s.angle(rest)
	case '!':
		if strings.HasPrefix(rest, "![") {
			s.open(true)
			return
		}
		s.emit(1)
	case '[':
		s.open(false)
	case ']':
		s.close(rest)
	case '*', '_', '~':
		s.emphasis(rest)
	case '\n':
		s.out = append(s.out, ' ')
		s.pos++
	case '&':
		s.entity(rest)
	case 'h', 'H', 'w', 'W':
		s.bare(rest)
	default:
		s.plain()
	}
}

// emit copies n bytes to the text.
func (s *scanner) emit(n int) {
	s.out = append(s.out, s.raw[s.pos:s.pos+n]...)
	s.pos += n
}

// plain copies up to the next byte that could mean something.
func (s *scanner) plain() { s.emit(s.next(s.pos+1) - s.pos) }

// What a byte could mean.
const (
	isMarkup = 1 << iota
	isBare   // the beginning of a link without markup
)

// meanings says what each byte could mean.
var meanings = func() (t [256]byte) {
	for _, c := range "\\`<![]*_~\n&" {
		t[c] = isMarkup
	}
	t['h'], t['H'], t['w'], t['W'] = isBare, isBare, isBare, isBare
	return t
}()

// next returns the first place from i on that could mean something, or the end. It
// looks at several bytes at a time: a sandbox may look at a guest each time that a
// loop turns.
func (s *scanner) next(i int) int {
	for ; i+8 <= len(s.raw); i += 8 {
		p := s.raw[i : i+8]
		if (meanings[p[0]]|meanings[p[1]]|meanings[p[2]]|meanings[p[3]]|meanings[p[4]]|meanings[p[5]]|meanings[p[6]]|meanings[p[7]])&s.mask != 0 {
			break
		}
	}
	for i < len(s.raw) && meanings[s.raw[i]]&s.mask == 0 {
		i++
	}
	return i
}

func (s *scanner) escape(rest string) {
	if len(rest) > 1 && punctuation(rest[1]) {
		s.pos++
		s.emit(1)
		return
	}
	s.emit(1)
}

func punctuation(c byte) bool { return c > ' ' && c < 0x7f && !letter(c) && !digit(c) }

// code passes a code span on as it is.
func (s *scanner) code(rest string) {
	ticks := runLength(rest)
	if ticks <= maxTicks && !s.noTicks[ticks] {
		if end := closingTicks(rest[ticks:], ticks); end >= 0 {
			s.pos += ticks
			s.emit(end)
			s.pos += ticks
			return
		}
		s.noTicks[ticks] = true
	}
	s.emit(ticks)
}

func runLength(text string) int {
	n := 1
	for n < len(text) && text[n] == text[0] {
		n++
	}
	return n
}

// closingTicks finds the next run of exactly n backticks.
func closingTicks(text string, n int) int {
	for from := 0; ; {
		i := strings.IndexByte(text[from:], '`')
		if i < 0 {
			return -1
		}
		from += i
		length := runLength(text[from:])
		if length == n {
			return from
		}
		from += length
	}
}

// angle takes an autolink, an HTML tag or a comment.
func (s *scanner) angle(rest string) {
	if target, n := autolink(rest); n > 0 {
		s.link(strings.TrimPrefix(target, "mailto:"), target)
		s.out = append(s.out, strings.TrimPrefix(target, "mailto:")...)
		s.pos += n
		return
	}
	if strings.HasPrefix(rest, "<!--") && !s.noEnd {
		if end := strings.Index(rest, "-->"); end >= 0 {
			s.pos += end + 3
			return
		}
		s.noEnd = true
	}
	if n := tagLength(rest); n > 0 {
		if name, _ := tagName(rest); name == "img" {
			s.inline.Images++
		}
		s.pos += n
		return
	}
	s.emit(1)
}

// autolink reads <scheme:target> and <name@host>.
func autolink(rest string) (target string, n int) {
	end := strings.IndexAny(rest[1:min(len(rest), maxTarget)], "<> \t\n")
	if end < 0 || rest[1+end] != '>' {
		return "", 0
	}
	inner := rest[1 : 1+end]
	if scheme, _, ok := strings.Cut(inner, ":"); ok && schemeName(scheme) {
		return inner, end + 2
	}
	if local, host, ok := strings.Cut(inner, "@"); ok && local != "" && strings.Contains(host, ".") && !strings.ContainsAny(inner, "/\\\"'=") {
		return "mailto:" + inner, end + 2
	}
	return "", 0
}

func schemeName(s string) bool {
	if len(s) < 2 || len(s) > 32 || !letter(s[0]) {
		return false
	}
	for i := range len(s) {
		if !letter(s[i]) && !digit(s[i]) && strings.IndexByte("+.-", s[i]) < 0 {
			return false
		}
	}
	return true
}

// tagLength returns the length of the HTML tag that the text begins with, 0 if it
// begins with none.
func tagLength(text string) int {
	if len(text) < 3 {
		return 0
	}
	if name, _ := tagName(text); name == "" {
		return 0
	}
	var quote byte
	for i := 1; i < min(len(text), maxTag); i++ {
		switch c := text[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '>':
			return i + 1
		case c == '<':
			return 0
		}
	}
	return 0
}

func (s *scanner) open(image bool) {
	n := 1
	if image {
		n = 2
	}
	b := bracket{image: image, out: len(s.out), raw: s.pos + n, links: len(s.inline.Links)}
	s.brackets = append(s.brackets, b)
	s.emit(n)
}

// close ends a link or an image if the bracket that it belongs to began one.
func (s *scanner) close(rest string) {
	if len(s.brackets) == 0 {
		s.emit(1)
		return
	}
	b := s.brackets[len(s.brackets)-1]
	s.brackets = s.brackets[:len(s.brackets)-1]
	dead := !b.image && len(s.brackets) < s.dead
	s.dead = min(s.dead, len(s.brackets))
	target, n := s.target(rest[1:], s.raw[b.raw:s.pos])
	if dead || n < 0 {
		s.emit(1)
		return
	}
	s.finish(b, target)
	s.pos += 1 + n
}

// finish replaces the bracket by its text. Links do not nest: those within give
// way, and brackets around cannot become links any more.
func (s *scanner) finish(b bracket, target string) {
	open := 1
	if b.image {
		open = 2
	}
	text := string(s.out[b.out+open:])
	s.out = append(s.out[:b.out], text...)
	s.inline.Links = s.inline.Links[:b.links]
	if b.image {
		s.inline.Images++
		return
	}
	s.link(strings.TrimSpace(text), target)
	s.dead = len(s.brackets)
}

func (s *scanner) link(text, target string) {
	s.inline.Links = append(s.inline.Links, Link{Text: text, Target: target})
}

// target reads where a link leads from what follows its closing bracket, and how
// long that is; n is -1 if it is no link.
func (s *scanner) target(after, text string) (target string, n int) {
	if strings.HasPrefix(after, "(") {
		if target, n, ok := inlineTarget(after); ok {
			return target, n
		}
	}
	label := text
	n = 0
	if strings.HasPrefix(after, "[") {
		end := strings.IndexAny(after[1:min(len(after), maxLabel)], "[]")
		if end >= 0 && after[1+end] == ']' {
			n = end + 2
			if end > 0 {
				label = after[1 : 1+end]
			}
		}
	}
	if len(label) > maxLabel || strings.ContainsAny(label, "[]") {
		return "", -1
	}
	target, ok := s.doc.references[normalize(label)]
	if !ok {
		return "", -1
	}
	return target, n
}

// normalize makes labels that mean the same equal.
func normalize(label string) string {
	return strings.ToLower(strings.Join(strings.Fields(label), " "))
}

// inlineTarget reads (target "title").
func inlineTarget(text string) (target string, n int, ok bool) {
	i := 1 + spaces(text[1:])
	target, length, ok := linkTarget(text[i:])
	if !ok {
		return "", 0, false
	}
	i += length
	gap := spaces(text[i:])
	i += gap
	if gap > 0 {
		if length := titleLength(text[i:]); length > 0 {
			i += length
			i += spaces(text[i:])
		}
	}
	if i >= len(text) || text[i] != ')' {
		return "", 0, false
	}
	return target, i + 1, true
}

func spaces(text string) int {
	n := 0
	for n < len(text) && n < maxLabel && (text[n] == ' ' || text[n] == '\t' || text[n] == '\n') {
		n++
	}
	return n
}

// linkTarget reads <target>, or a target with balanced parentheses and no spaces.
func linkTarget(text string) (target string, n int, ok bool) {
	if strings.HasPrefix(text, "<") {
		end := strings.IndexAny(text[1:min(len(text), maxTarget)], "<>\n")
		if end < 0 || text[1+end] != '>' {
			return "", 0, false
		}
		return unescape(text[1 : 1+end]), end + 2, true
	}
	depth := 0
	for n < len(text) && n < maxTarget {
		switch c := text[n]; {
		case c == '\\' && n+1 < len(text) && punctuation(text[n+1]):
			n++
		case c == '(':
			if depth++; depth > maxParens {
				return "", 0, false
			}
		case c == ')':
			depth--
		case c <= ' ' || c == 0x7f:
			return unescape(text[:n]), n, depth == 0
		}
		if depth < 0 {
			return unescape(text[:n]), n, true
		}
		n++
	}
	return unescape(text[:min(n, len(text))]), n, depth == 0 && n == len(text)
}

// titleLength returns the length of a title in quotes or parentheses, 0 for none.
func titleLength(text string) int {
	if text == "" {
		return 0
	}
	end := text[0]
	switch end {
	case '"', '\'':
	case '(':
		end = ')'
	default:
		return 0
	}
	for i := 1; i < min(len(text), maxTitle); i++ {
		switch text[i] {
		case '\\':
			i++
		case end:
			return i + 1
		case '(':
			if end == ')' {
				return 0
			}
		}
	}
	return 0
}

func unescape(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && punctuation(s[i+1]) {
			i++
		}
		out.WriteByte(s[i])
	}
	return out.String()
}

// definition reads [label]: target "title" at the start of a paragraph.
func definition(text string) (label, target, rest string, ok bool) {
	end := labelEnd(text)
	if end < 0 || end+1 >= len(text) || text[end+1] != ':' {
		return "", "", "", false
	}
	if label = normalize(text[1:end]); label == "" {
		return "", "", "", false
	}
	after := text[end+2:]
	after = after[spaces(after):]
	target, n, ok := linkTarget(after)
	if !ok || n == 0 {
		return "", "", "", false
	}
	rest, ok = endOfDefinition(after[n:])
	return label, target, rest, ok
}

// endOfDefinition passes over an optional title, which must end the line. A title
// on a line of its own that does not is the text that follows.
func endOfDefinition(text string) (rest string, ok bool) {
	gap := spaces(text)
	if gap > 0 {
		if n := titleLength(text[gap:]); n > 0 {
			if rest, ok := endOfLine(text[gap+n:]); ok {
				return rest, true
			}
		}
	}
	return endOfLine(text)
}

func endOfLine(text string) (rest string, ok bool) {
	line, rest, _ := strings.Cut(text, "\n")
	return rest, blank(line)
}

func labelEnd(text string) int {
	for i := 1; i < min(len(text), maxLabel); i++ {
		switch text[i] {
		case '\\':
			i++
		case '[':
			return -1
		case ']':
			return i
		}
	}
	return -1
}

// emphasis leaves out runs that mark emphasis: those that touch a word on one side
// only. Others, as in 2 * 3 or snake_case, are text. (* within a word marks, too.)
func (s *scanner) emphasis(rest string) {
	n := runLength(rest)
	before, _ := utf8.DecodeLastRuneInString(s.raw[:s.pos])
	after, _ := utf8.DecodeRuneInString(rest[n:])
	spaceBefore := s.pos == 0 || unicode.IsSpace(before)
	spaceAfter := n == len(rest) || unicode.IsSpace(after)
	inWord := wordRune(before) && s.pos > 0 && wordRune(after) && n < len(rest)
	switch {
	case spaceBefore && spaceAfter, rest[0] == '_' && inWord, rest[0] == '~' && n != 2:
		s.emit(n)
	default:
		s.pos += n
	}
}

func wordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// entities are the ones that plain text is full of.
var entities = []struct{ name, text string }{
	{"&amp;", "&"}, {"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", `"`}, {"&nbsp;", "\u00a0"},
	{"&#39;", "'"}, {"&mdash;", "—"}, {"&ndash;", "–"}, {"&hellip;", "…"}, {"&copy;", "©"},
}

func (s *scanner) entity(rest string) {
	for _, e := range entities {
		if strings.HasPrefix(rest, e.name) {
			s.out = append(s.out, e.text...)
			s.pos += len(e.name)
			return
		}
	}
	s.emit(1)
}

// bare takes a link without any markup, as http://host/path or www.host.
func (s *scanner) bare(rest string) {
	n := bareLink(rest)
	if n == 0 || (s.pos > 0 && wordByte(s.raw[s.pos-1])) {
		s.plain()
		return
	}
	target := rest[:n]
	if rest[0]|0x20 == 'w' {
		target = "http://" + target
	}
	s.link(rest[:n], target)
	s.emit(n)
}

func wordByte(c byte) bool { return letter(c) || digit(c) || c == '_' || c == '/' || c >= 0x80 }

// bareLink returns the length of the link that the text begins with, 0 for none.
func bareLink(text string) int {
	start := 0
	for _, prefix := range []string{"https://", "http://", "www."} {
		if len(text) > len(prefix) && strings.EqualFold(text[:len(prefix)], prefix) {
			start = len(prefix)
			break
		}
	}
	if start == 0 {
		return 0
	}
	n := start
	for n < len(text) && n < maxTarget && text[n] > ' ' && strings.IndexByte("<>[]`|\"", text[n]) < 0 {
		n++
	}
	n = trimLink(text[:n])
	if n <= start || !(letter(text[start]) || digit(text[start]) || text[start] >= 0x80) {
		return 0
	}
	return n
}

// trimLink leaves out punctuation that ends a sentence rather than a link, and
// closing parentheses that were not opened in it.
func trimLink(link string) int {
	surplus := strings.Count(link, ")") - strings.Count(link, "(")
	n := len(link)
	for n > 0 {
		switch c := link[n-1]; {
		case strings.IndexByte("?!.,:*_~;'", c) >= 0:
		case c == ')' && surplus > 0:
			surplus--
		default:
			return n
		}
		n--
	}
	return n
}
