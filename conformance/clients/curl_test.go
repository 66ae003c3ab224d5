package clients

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/conformance/internal/nodetest"
)

// curlOptions are those that documents may use. Each is in curl 7.81 of 2022, which long-lived systems have;
// --json, for one, came after it.
var curlOptions = map[string]bool{
	"-s": true, "-S": true, "-sS": true, "-sSN": true, "-N": true, "-f": true, "-sf": true, "-H": true, "-d": true, "-X": true, "-o": true, "-u": true, "-F": true,
	"--fail-with-body": true, "--data-binary": true,
}

var (
	fenced    = regexp.MustCompile("(?ms)^```\\w*\n(.*?)^```|`(curl [^`]*)`")
	continued = regexp.MustCompile(`\\\n\s*`)
	quotes    = regexp.MustCompile(`(?s)'[^']*'|"(?:\\.|[^"\\])*"`)
	curls     = regexp.MustCompile(`(?m)(?:^|[ (;$])(?:curl|api) ([^\n|)]*)`)
	option    = regexp.MustCompile(`(?:^| )(--?[A-Za-z][A-Za-z-]*)`)
)

// TestDocumentsNeedNoNewCurl looks at each line with curl, and with the tour's helper api, in all documents.
func TestDocumentsNeedNoNewCurl(t *testing.T) {
	root, err := nodetest.Root()
	if err != nil {
		t.Fatal(err)
	}
	list := exec.Command("git", "ls-files", "--", "*.md", "cmd/wharf/testdata/help.txt")
	list.Dir = root
	files, err := list.Output()
	if err != nil {
		t.Skipf("this is no checkout: %v", err)
	}
	seen := 0
	for _, name := range strings.Fields(string(files)) {
		if name == "CHANGELOG.md" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		page := string(text)
		if strings.HasSuffix(name, ".md") {
			page = strings.Join(fenced.FindAllString(page, -1), "\n")
		}
		page = quotes.ReplaceAllString(continued.ReplaceAllString(page, " "), "Q")
		for _, line := range curls.FindAllStringSubmatch(page, -1) {
			seen++
			for _, used := range option.FindAllStringSubmatch(line[1], -1) {
				if !curlOptions[used[1]] {
					t.Errorf("%s: %q has the option %s, which curl 7.81 may not know", name, strings.TrimSpace(line[0]), used[1])
				}
			}
		}
	}
	if seen < 20 {
		t.Errorf("only %d lines with curl were found", seen)
	}
}
