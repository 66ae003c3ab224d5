// Package wharf is the root of the Wharf module. The program is cmd/wharf; this
// package holds nothing but the text that introduces it, so that the program can
// carry it along.
package wharf

import _ "embed"

//go:embed README.md
var readme string

// Readme returns the README of the source tree that the program was built from:
// a Markdown document that is always at hand.
func Readme() string { return readme }
