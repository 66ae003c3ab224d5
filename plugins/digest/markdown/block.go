package markdown

import "strings"

// maxDepth bounds how deep quotes and lists nest.
const maxDepth = 64

// container is a block quote (indent 0) or a list item, whose content is indented
// by indent columns.
type container struct{ indent int }

// leafKind is what the innermost open block is.
type leafKind uint8

const (
	leafNone leafKind = iota
	leafParagraph
	leafFence
	leafIndented
	leafHTML
)

// parser holds the blocks that are open after the lines so far.
type parser struct {
	doc        *Document
	line       int
	containers []container
	leaf       leafKind

	text  []string // lines of the open paragraph
	start int      // and where it began

	fenceChar   byte
	fenceLen    int
	fenceIndent int
	htmlEnd     string // what ends the open HTML block, "" for a blank line
}

// addLine takes one line: first what is open and goes on, then what begins.
func (p *parser) addLine(line string) {
	if p.isText(line) {
		p.addText(line)
		return
	}
	rest, matched := p.match(expandTabs(line))
	all := matched == len(p.containers)
	if all && p.continueLeaf(rest) {
		return
	}
	if !all && p.leaf != leafParagraph {
		p.closeLeaf()
	}
	rest, opened := p.openContainers(rest, matched)
	if p.leaf == leafParagraph && !all && !opened && p.isLazy(rest) {
		p.text = append(p.text, strings.TrimLeft(rest, " \t"))
		return
	}
	if !all && !opened {
		p.closeLeaf()
		p.containers = p.containers[:matched]
	}
	p.addLeaf(rest)
}

// isText reports whether a line can only be text of a paragraph: most lines are,
// and need no closer look.
func (p *parser) isText(line string) bool {
	return len(p.containers) == 0 && p.leaf <= leafParagraph && line != "" && (letter(line[0]) || line[0] >= 0x80)
}

// match passes over the markers of the open containers that the line continues.
func (p *parser) match(line string) (rest string, matched int) {
	rest = line
	for i, c := range p.containers {
		if c.indent == 0 {
			inner, ok := cutQuote(rest)
			if !ok {
				return rest, i
			}
			rest = inner
			continue
		}
		if !blank(rest) {
			if indentOf(rest) < c.indent {
				return rest, i
			}
			rest = cutColumns(rest, c.indent)
		}
	}
	return rest, len(p.containers)
}

// continueLeaf gives the line to an open block of code or HTML.
func (p *parser) continueLeaf(line string) bool {
	switch p.leaf {
	case leafFence:
		if p.closesFence(line) {
			p.leaf = leafNone
			return true
		}
		p.doc.CodeBytes += len(cutColumns(line, p.fenceIndent)) + 1
		return true
	case leafIndented:
		if blank(line) || indentOf(line) >= 4 {
			p.doc.CodeBytes += len(cutColumns(line, 4)) + 1
			return true
		}
		p.leaf = leafNone
	case leafHTML:
		if p.htmlEnd == "" && blank(line) {
			p.leaf = leafNone
		} else if p.htmlEnd != "" && containsFold(line, p.htmlEnd) {
			p.leaf = leafNone
		}
		return true
	}
	return false
}

// openContainers opens the quotes and list items that the line begins with. The
// first one closes the containers that the line did not continue.
func (p *parser) openContainers(line string, matched int) (rest string, opened bool) {
	for len(p.containers) < maxDepth && indentOf(line) < 4 {
		inner, c, ok := p.container(line, matched < len(p.containers))
		if !ok {
			break
		}
		p.closeLeaf()
		if !opened {
			p.containers = p.containers[:matched]
		}
		p.containers = append(p.containers, c)
		line, opened = inner, true
	}
	return line, opened
}

// container reads one marker at the start of the line. partial says that the line
// did not continue all that is open; if it did, only some markers may interrupt a
// paragraph.
func (p *parser) container(line string, partial bool) (rest string, c container, ok bool) {
	if inner, ok := cutQuote(line); ok {
		return inner, container{}, true
	}
	if thematicBreak(line) {
		return line, container{}, false
	}
	indent := indentOf(line)
	marker, ordinal, ok := listMarker(strings.TrimLeft(line, " \t"))
	if !ok {
		return line, container{}, false
	}
	rest = cutColumns(line, indent)[marker:]
	if p.leaf == leafParagraph && !partial && (blank(rest) || ordinal > 1) {
		return line, container{}, false
	}
	spaces := indentOf(rest)
	if blank(rest) || spaces > 4 {
		spaces = 1
	}
	return cutColumns(rest, spaces), container{indent: indent + marker + spaces}, true
}

// isLazy reports whether a line goes on with a paragraph although it lacks the
// markers of what the paragraph stands in.
func (p *parser) isLazy(line string) bool {
	if blank(line) || thematicBreak(line) {
		return false
	}
	if indentOf(line) >= 4 {
		return true
	}
	level, _ := atxHeading(line)
	char, _, _ := fence(line)
	_, html := htmlStart(line, true)
	return level == 0 && char == 0 && !html
}

// addLeaf takes what is left of a line after its containers.
func (p *parser) addLeaf(line string) {
	if blank(line) {
		p.closeLeaf()
		return
	}
	if indentOf(line) >= 4 {
		p.addIndented(line)
		return
	}
	if level, title := atxHeading(line); level > 0 {
		p.closeLeaf()
		p.add(Block{Kind: Heading, Level: level, Line: p.line, Raw: title})
		return
	}
	if char, length, indent := fence(line); char != 0 {
		p.closeLeaf()
		p.doc.CodeBlocks++
		p.leaf, p.fenceChar, p.fenceLen, p.fenceIndent = leafFence, char, length, indent
		return
	}
	if end, ok := htmlStart(line, p.leaf == leafParagraph); ok {
		p.closeLeaf()
		if end == "" || !containsFold(line, end) {
			p.leaf, p.htmlEnd = leafHTML, end
		}
		return
	}
	if level := setext(line); level > 0 && p.leaf == leafParagraph && p.underline(level) {
		return
	}
	if thematicBreak(line) {
		p.closeLeaf()
		return
	}
	p.addText(line)
}

func (p *parser) addIndented(line string) {
	if p.leaf == leafParagraph {
		p.addText(line)
		return
	}
	p.leaf = leafIndented
	p.doc.CodeBlocks++
	p.doc.CodeBytes += len(cutColumns(line, 4)) + 1
}

func (p *parser) addText(line string) {
	if p.leaf != leafParagraph {
		p.leaf, p.start = leafParagraph, p.line
	}
	p.text = append(p.text, trim(line))
}

// underline makes the open paragraph a heading, unless it holds nothing but
// definitions.
func (p *parser) underline(level int) bool {
	raw := p.takeDefinitions(strings.Join(p.text, "\n"))
	p.text, p.leaf = p.text[:0], leafNone
	if raw == "" {
		return false
	}
	p.add(Block{Kind: Heading, Level: level, Line: p.start, Raw: raw})
	return true
}

// closeLeaf ends the innermost open block.
func (p *parser) closeLeaf() {
	if p.leaf == leafParagraph {
		p.closeParagraph()
	}
	p.leaf = leafNone
}

// closeParagraph ends a paragraph, and a table that follows in the same lines.
func (p *parser) closeParagraph() {
	rows := tableStart(p.text)
	p.addLines(Paragraph, p.start, p.text[:rows])
	p.addLines(Table, p.start+rows, p.text[rows:])
	p.text = p.text[:0]
}

func (p *parser) addLines(kind Kind, start int, lines []string) {
	if raw := p.takeDefinitions(strings.Join(lines, "\n")); raw != "" {
		p.add(Block{Kind: kind, Line: start, Raw: raw})
	}
}

// tableStart returns which of the lines is the head of a table: the one before its
// delimiter row. It returns the number of lines if there is no table.
func tableStart(lines []string) int {
	for i := 1; i < len(lines); i++ {
		if !letter(lines[i][0]) && delimiterRow(lines[i]) && strings.Contains(lines[i-1], "|") {
			return i - 1
		}
	}
	return len(lines)
}

func (p *parser) add(b Block) { p.doc.Blocks = append(p.doc.Blocks, b) }

// takeDefinitions records the link reference definitions that a paragraph begins
// with, and returns what is left of it.
func (p *parser) takeDefinitions(text string) string {
	for strings.HasPrefix(text, "[") {
		label, target, rest, ok := definition(text)
		if !ok {
			break
		}
		if _, known := p.doc.references[label]; !known {
			p.doc.references[label] = target
		}
		text = rest
	}
	return text
}

func (p *parser) closesFence(line string) bool {
	if indentOf(line) >= 4 {
		return false
	}
	marker := strings.Trim(line, " \t")
	return len(marker) >= p.fenceLen && strings.Trim(marker, string(p.fenceChar)) == ""
}
