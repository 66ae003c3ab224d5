package main

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
)

// line is one line of go test -json ("go doc test2json").
type line struct {
	Action, Package, Test, Output string
	ImportPath                    string // of build output
}

// name identifies a test. Test is "" for the package as a whole.
type name struct{ pkg, test string }

// record is what became of one test over all runs. The outcomes are counted;
// the output is that of the last run that failed or, without any, was skipped.
type record struct {
	passed, failed, skipped bool
	output, kept            strings.Builder
}

// report collects the records of all tests.
type report struct {
	tests map[name]*record
	build map[string]*strings.Builder // output of builds, by import path
	stray []string                    // lines that are no JSON
}

func newReport() *report {
	return &report{tests: map[name]*record{}, build: map[string]*strings.Builder{}}
}

func (r *report) of(n name) *record {
	if r.tests[n] == nil {
		r.tests[n] = &record{}
	}
	return r.tests[n]
}

// read takes in the output of one run.
func (r *report) read(in io.Reader) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var l line
		if json.Unmarshal(lines.Bytes(), &l, json.MatchCaseInsensitiveNames(true)) != nil {
			r.stray = append(r.stray, lines.Text())
			continue
		}
		r.take(l)
	}
	return lines.Err()
}

func (r *report) take(l line) {
	if l.Action == "build-output" {
		if r.build[l.ImportPath] == nil {
			r.build[l.ImportPath] = &strings.Builder{}
		}
		r.build[l.ImportPath].WriteString(l.Output)
		return
	}
	test := r.of(name{l.Package, l.Test})
	switch l.Action {
	case "run", "start":
		test.output.Reset()
	case "output":
		test.output.WriteString(l.Output)
	case "pass":
		test.passed = true
	case "fail":
		test.failed = true
		test.keep()
	case "skip":
		test.skipped = true
		if !test.failed {
			test.keep()
		}
	}
}

func (t *record) keep() {
	t.kept.Reset()
	t.kept.WriteString(t.output.String())
}

// failed returns the names to count and to show as failed: tests, and packages
// that failed without any test of theirs having failed (they did not build, or
// died outside a test).
func (r *report) failed() []name {
	guilty := map[string]bool{}
	var all []name
	for n, t := range r.tests {
		if t.failed && n.test != "" {
			guilty[n.pkg] = true
			all = append(all, n)
		}
	}
	for n, t := range r.tests {
		if t.failed && n.test == "" && !guilty[n.pkg] {
			all = append(all, n)
		}
	}
	return sorted(all)
}

func (r *report) passed() int {
	count := 0
	for n, t := range r.tests {
		if n.test != "" && t.passed && !t.failed {
			count++
		}
	}
	return count
}

// skipped returns the tests that no run has run. A package without test files is
// none of them.
func (r *report) skipped() []name {
	var all []name
	for n, t := range r.tests {
		if n.test != "" && t.skipped && !t.passed && !t.failed {
			all = append(all, n)
		}
	}
	return sorted(all)
}

func sorted(names []name) []name {
	slices.SortFunc(names, func(a, b name) int {
		return cmp.Or(cmp.Compare(a.pkg, b.pkg), cmp.Compare(a.test, b.test))
	})
	return names
}

// write prints the report and reports whether all is well. What failed comes last, as a long log is
// often shown by its end.
func (r *report) write(w io.Writer) bool {
	failed, skipped, passed := r.failed(), r.skipped(), r.passed()
	for _, text := range r.stray {
		fmt.Fprintln(w, text)
	}
	if len(skipped) > 0 {
		fmt.Fprintf(w, "\nSkipped:\n")
	}
	for _, n := range skipped {
		fmt.Fprintf(w, "  %s: %s\n", n, reason(r.tests[n].kept.String()))
	}
	if len(failed) > 0 {
		for _, pkg := range slices.Sorted(maps.Keys(r.build)) {
			fmt.Fprintf(w, "\nBUILD %s\n%s", pkg, r.build[pkg])
		}
	}
	for _, n := range failed {
		fmt.Fprintf(w, "\nFAILED %s\n%s", n, &r.tests[n].kept)
	}
	fmt.Fprintf(w, "\n%d passed, %d failed, %d skipped\n", passed, len(failed), len(skipped))
	return len(failed) == 0 && passed > 0
}

func (n name) String() string {
	if n.test == "" {
		return n.pkg
	}
	return n.pkg + " " + n.test
}

// reason finds why a test was skipped in its output: the last line that is not
// about the test's life, without the place in the source.
func reason(output string) string {
	why := "no reason given"
	for text := range strings.Lines(output) {
		text = strings.TrimSpace(text)
		if text == "" || strings.HasPrefix(text, "===") || strings.HasPrefix(text, "---") {
			continue
		}
		if file, rest, ok := strings.Cut(text, ": "); ok && strings.Contains(file, ".go:") {
			text = rest
		}
		why = text
	}
	return why
}
