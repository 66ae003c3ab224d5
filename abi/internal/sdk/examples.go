package sdk

import (
	"regexp"
	"slices"
	"strings"
)

// Language is one that has examples.
type Language string

// The languages, by their names.
const (
	InGo             Language = "Go"
	InRust           Language = "Rust"
	InC              Language = "C"
	InTypeScript     Language = "TypeScript"
	InAssemblyScript Language = "AssemblyScript"
	InPython         Language = "Python"
)

// exampleSource says where the examples of a language are, and how a page marks its code.
type exampleSource struct {
	language    Language
	file, fence string
}

// exampleSources are in the order of the page. The files are plugins that run on a node in tests, but for
// Go's, which its documentation shows by itself.
func exampleSources() []exampleSource {
	const folder = "../abi/internal/sdk/examples/"
	return []exampleSource{
		{InTypeScript, folder + "calls.ts", "ts"}, {InPython, folder + "calls.py", "python"}, {InGo, "go/calls_example_test.go", "go"},
		{InRust, folder + "calls.rs", "rust"}, {InC, folder + "calls.c", "c"}, {InAssemblyScript, folder + "calls.as.ts", "ts"},
	}
}

// Example is how a program makes one or more host calls.
type Example struct {
	Calls []string
	Code  []string // lines
}

var (
	marked = regexp.MustCompile(`^\W*Calls: (.*)\.\W*$`)
	// alone is the first line of a function that takes nothing: what it does is the example.
	alone = regexp.MustCompile(`\w\((void)?\)`)
)

// examplesIn returns the examples of a source: what stands below a comment that names calls.
func examplesIn(source string) (all []Example) {
	lines := strings.Split(source, "\n")
	for i, line := range lines {
		if found := marked.FindStringSubmatch(line); found != nil {
			all = append(all, Example{Calls: strings.Split(found[1], ", "), Code: below(lines[i+1:])})
		}
	}
	return all
}

// below is the function that the lines begin with: all of it, or what it does when it takes nothing.
func below(lines []string) []string {
	end := 1
	for end < len(lines) && (lines[end] == "" || strings.HasPrefix(lines[end], " ") || strings.HasPrefix(lines[end], "\t")) {
		end++
	}
	if !alone.MatchString(lines[0]) {
		if end < len(lines) && strings.HasPrefix(lines[end], "}") {
			end++
		}
		return trimmed(lines[:end])
	}
	code := slices.Clone(trimmed(lines[1:end]))
	indent := code[0][:len(code[0])-len(strings.TrimLeft(code[0], " \t"))]
	for i := range code {
		code[i] = strings.TrimPrefix(code[i], indent)
	}
	return code
}

// trimmed is without empty lines at the end.
func trimmed(lines []string) []string {
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// illustrate gives each call its example in each language. Parts are the files that are written by hand.
func (api *API) illustrate(parts map[string]string) {
	for _, s := range exampleSources() {
		for _, example := range examplesIn(parts[s.file]) {
			api.give(s.language, example)
		}
	}
}

func (api *API) give(l Language, example Example) {
	for i := range api.Calls {
		c := &api.Calls[i]
		if !slices.Contains(example.Calls, c.Name) {
			continue
		}
		if c.Examples == nil {
			c.Examples = map[Language]Example{}
		}
		c.Examples[l] = example
	}
}

// example returns the lines of a call's example in a language, each behind a mark, below a line that
// introduces them; none where there is no example.
func (c *Call) example(l Language, title, mark string) []string {
	code := c.Examples[l].Code
	if len(code) == 0 {
		return nil
	}
	all := []string{title}
	for _, line := range code {
		all = append(all, strings.TrimRight(mark+line, " \t"))
	}
	return all
}

// ExamplesPage is the page of the documentation with all examples.
func ExamplesPage(api *API) []byte {
	var l lines
	l.f("# Examples of host calls\n\n<!-- Generated from the examples of the SDKs by go generate ./abi. Do not edit. -->\n")
	l.f("How each [host call](host-calls.md) is made in each language. The examples of a language are one plugin, which tests run on a node;")
	l.f("its record and its receipts are the same in all of them. Some stand on others: a file is read after it was written.\n")
	l.f("In Python and TypeScript the members of a request are sent in the order in which the program has them, in the other languages in that of")
	l.f("[the reference](host-calls.md). Whoever moves a plugin from one language to another keeps that order, if its record is to be the same.")
	shown := map[string]bool{}
	for _, c := range api.Calls {
		group := strings.Join(c.Examples[InC].Calls, ", ")
		if shown[group] {
			continue
		}
		shown[group] = true
		l.f("\n## %s", group)
		for _, s := range exampleSources() {
			l.f("\n%s:\n\n```%s", s.language, s.fence)
			for _, line := range c.Examples[s.language].Code {
				l.f("%s", line)
			}
			l.f("```")
		}
	}
	return []byte(l.String())
}
