package engine

import (
	"fmt"
	"strings"
)

// Problem is what is wrong with a source.
type Problem struct {
	File string // "" where no place is known
	// Line and Column count from 1. A Column of 0 is not known.
	Line, Column int
	Text         string
}

// Problems is the error of a program that no plugin can be made of.
type Problems []Problem

// Error implements the error interface: a problem a line, with its place.
func (p Problems) Error() string {
	var lines []string
	for _, each := range p {
		switch {
		case each.File == "":
			lines = append(lines, each.Text)
		case each.Column == 0:
			lines = append(lines, fmt.Sprintf("%s:%d: %s", each.File, each.Line, each.Text))
		default:
			lines = append(lines, fmt.Sprintf("%s:%d:%d: %s", each.File, each.Line, each.Column, each.Text))
		}
	}
	return strings.Join(lines, "\n")
}
