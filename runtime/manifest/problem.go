package manifest

import (
	"cmp"
	"fmt"
	"slices"
)

// Severity says whether a problem keeps a manifest from being used.
type Severity string

// The severities.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
)

// Code says what a problem is about. Codes are stable.
type Code string

// The codes.
const (
	TooLarge      Code = "manifest_too_large"
	InvalidTOML   Code = "toml_invalid"
	DuplicateKey  Code = "key_duplicate"
	UnknownKey    Code = "key_unknown"
	MisplacedKey  Code = "key_misplaced" // it is of another kind of plugin
	MissingKey    Code = "key_missing"
	WrongType     Code = "value_type"
	InvalidValue  Code = "value_invalid"
	RepeatedValue Code = "value_repeated"
	InvalidSchema Code = "schema_invalid"
	MissingFile   Code = "file_missing"
	InvalidFile   Code = "file_invalid"
	ModuleRefused Code = "module_refused"
	MissingExport Code = "export_missing"
	NotGranted    Code = "capability_not_granted" // the module asks for it
	NotAsked      Code = "capability_not_asked"   // the module does not ask for it
	NoReach       Code = "reach_missing"          // a capability reaches nothing without names of what it may reach
)

// Position is a place in a manifest. Both are from 1; columns count characters.
type Position struct {
	Line   int `json:"line"`
	Column int `json:"column"`
}

// Problem is one thing that is wrong.
type Problem struct {
	Severity Severity `json:"severity"`
	Code     Code     `json:"code"`
	Position `json:",inline"`
	Key      string `json:"key,omitzero"` // which is to blame, dotted; "" for all of the manifest
	Message  string `json:"message"`      // what is wrong
	Try      string `json:"try,omitzero"` // what to do
}

// String says it in one line, as compilers do, but for the name of the file.
func (p *Problem) String() string {
	text := fmt.Sprintf("%d:%d: %s: %s", p.Line, p.Column, p.Severity, p.Message)
	if p.Try != "" {
		text += "; " + p.Try
	}
	return text + " [" + string(p.Code) + "]"
}

// Sound reports whether none of the problems is an error.
func Sound(problems []Problem) bool {
	return !slices.ContainsFunc(problems, func(p Problem) bool { return p.Severity == Error })
}

// inOrder sorts problems by their places.
func inOrder(problems []Problem) []Problem {
	slices.SortStableFunc(problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return problems
}
