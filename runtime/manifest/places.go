package manifest

import (
	"slices"
	"unicode/utf8"
)

// places finds lines and columns in a text.
type places struct {
	text  []byte
	lines []int // where each begins
}

func newPlaces(text []byte) *places {
	p := &places{text: text, lines: []int{0}}
	for i, c := range text {
		if c == '\n' {
			p.lines = append(p.lines, i+1)
		}
	}
	return p
}

// at returns the place of a byte.
func (p *places) at(offset int) Position {
	offset = min(max(offset, 0), len(p.text))
	for offset > 0 && offset < len(p.text) && !utf8.RuneStart(p.text[offset]) {
		offset--
	}
	line, exact := slices.BinarySearch(p.lines, offset)
	if !exact {
		line--
	}
	return Position{line + 1, utf8.RuneCount(p.text[p.lines[line]:offset]) + 1}
}

// offset is the byte at a line and a column that counts bytes.
func (p *places) offset(line, column int) int {
	line = min(max(line, 1), len(p.lines))
	return p.lines[line-1] + column - 1
}
