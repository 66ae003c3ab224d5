package arch

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// markdownLink finds inline links: their text and where they lead.
var markdownLink = regexp.MustCompile(`\[([^\]]*)\]\(([^)\s]+)\)`)

// CheckLinks returns a sentence for each relative link of a Markdown file that
// leads nowhere. A link whose text is the name of a test has to lead to the file
// that holds the test.
func CheckLinks(name string) ([]string, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("reading a document: %w", err)
	}
	var broken []string
	for _, link := range markdownLink.FindAllStringSubmatch(string(data), -1) {
		text, to := link[1], link[2]
		path, _, _ := strings.Cut(to, "#")
		if strings.Contains(to, "://") || path == "" {
			continue
		}
		target, err := os.ReadFile(filepath.Join(filepath.Dir(name), path))
		if err != nil {
			if info, statErr := os.Stat(filepath.Join(filepath.Dir(name), path)); statErr == nil && info.IsDir() {
				continue
			}
			broken = append(broken, fmt.Sprintf("%s: the link to %s leads nowhere", name, to))
			continue
		}
		if test := strings.Trim(text, "`"); strings.HasPrefix(test, "Test") && !strings.Contains(string(target), "func "+test+"(") {
			broken = append(broken, fmt.Sprintf("%s: %s is not in %s", name, test, to))
		}
	}
	return broken, nil
}

var (
	testName = regexp.MustCompile("`((?:Test|Fuzz|Benchmark)[A-Z][A-Za-z0-9_]*)`")
	testFunc = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Benchmark)[A-Z][A-Za-z0-9_]*)\(`)
)

// TestsIn adds the names of the tests of a Go file to those that are known.
func TestsIn(name string, known map[string]bool) error {
	data, err := os.ReadFile(name)
	if err != nil {
		return fmt.Errorf("reading a source file: %w", err)
	}
	for _, f := range testFunc.FindAllStringSubmatch(string(data), -1) {
		known[f[1]] = true
	}
	return nil
}

// CheckTestNames returns a sentence for each test that a Markdown file names and that
// does not exist: what it is said to hold is held by nothing.
func CheckTestNames(name string, known map[string]bool) ([]string, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("reading a document: %w", err)
	}
	var broken []string
	for _, test := range testName.FindAllStringSubmatch(string(data), -1) {
		if !known[test[1]] {
			broken = append(broken, fmt.Sprintf("%s: there is no test %s", name, test[1]))
		}
	}
	return broken, nil
}
