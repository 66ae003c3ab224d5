package markdown

import "strings"

// Document is the structure of a document, in its order.
type Document struct {
	Blocks     []Block
	CodeBlocks int
	// CodeBytes is how many bytes of code the code blocks hold, blank lines after
	// indented code included.
	CodeBytes  int
	Lines      int
	references map[string]string // link targets by normalized label
}

// Kind says what a block is.
type Kind uint8

// The kinds of blocks that hold text.
const (
	Paragraph Kind = iota
	Heading
	Table
)

// Block is a block of text. Raw is its source without the markers of the block
// itself and of what it stands in; use [Document.Inline] to read it.
type Block struct {
	Kind  Kind
	Level int // 1 to 6, of a heading
	Line  int // where it starts, from 1
	Raw   string
}

// Parse reads a document. Any text is a document; it should be valid UTF-8. Line
// ends are those of Unix, Windows or old Macs. Front matter is left out.
func Parse(text string) *Document {
	p := &parser{doc: &Document{references: map[string]string{}}}
	text, p.line = skipFrontMatter(unixLines(text))
	for len(text) > 0 {
		var line string
		line, text = cutLine(text)
		p.line++
		p.addLine(line)
	}
	p.closeLeaf()
	p.doc.Lines = p.line
	return p.doc
}

// cutLine returns the first line, without its end, and the rest.
func cutLine(text string) (line, rest string) {
	line, rest, _ = strings.Cut(text, "\n")
	return line, rest
}

func unixLines(text string) string {
	if strings.IndexByte(text, '\r') < 0 {
		return text
	}
	return strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
}

const maxFrontMatter = 64 << 10

// skipFrontMatter passes over metadata between lines of three dashes at the very
// start, and returns how many lines that were.
func skipFrontMatter(text string) (rest string, lines int) {
	line, after := cutLine(text)
	if strings.TrimRight(line, " \t") != "---" {
		return text, 0
	}
	for lines = 1; after != "" && len(text)-len(after) < maxFrontMatter; {
		line, after = cutLine(after)
		lines++
		switch strings.TrimRight(line, " \t") {
		case "---", "...":
			return after, lines
		}
		if lines == 2 && !strings.Contains(line, ":") {
			break
		}
	}
	return text, 0
}
