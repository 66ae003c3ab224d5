package main

import (
	"bytes"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
)

// terminal is a terminal of so many characters.
type terminal struct {
	bytes.Buffer
	width int
}

func (t *terminal) TerminalWidth() int { return t.width }

// short is an id of the tests' answers, and wordy a text of theirs that may be long.
var (
	short = regexp.MustCompile(`"([a-z]{2,8})_([a-z0-9])"`)
	wordy = regexp.MustCompile(`"(name|description|summary|reason|message|prompt|action|url|uri|entry_workflow|plugin|created_by|queued_by|issuer)":"([^"]*)"`)
)

// lifelike makes ids as long as real ones, and texts as long as people write them.
func lifelike(answers string) string {
	answers = short.ReplaceAllString(answers, `"${1}_01M8FWNCYG9AQ71MY0B8YE08A$2"`)
	return wordy.ReplaceAllString(answers, `"$1":"$2 that is a good deal longer than what most people would think of"`)
}

// Every list fits a terminal of 80 characters, with ids as they are and texts as people write them; and
// elsewhere nothing is cut.
func TestListsFitATerminal(t *testing.T) {
	content, err := os.ReadFile("testdata/answers.json")
	if err != nil {
		t.Fatal(err)
	}
	n := &fakeNode{}
	if err := json.Unmarshal([]byte(lifelike(string(content))), &n.answers); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(n)
	defer server.Close()
	lists := 0
	for _, line := range asked {
		words := strings.Fields(line)
		if strings.Contains(line, " dead_1") || !strings.Contains(line, " list") && !strings.Contains(line, "deadletters") && !strings.Contains(line, "deliveries") && !strings.Contains(line, "--versions") {
			continue
		}
		lists++
		for _, width := range []int{0, 80, 120, 200} {
			out := &terminal{width: width}
			var errs bytes.Buffer
			env := map[string]string{"WHARF_SERVER": server.URL, "WHARF_API_KEY": "wharf_key", "NO_COLOR": "1"}
			a := &app{stdin: strings.NewReader(""), stdout: out, stderr: &errs, env: func(name string) string { return env[name] }}
			a.execute(t.Context(), words)
			for row := range strings.Lines(out.String()) {
				row = strings.TrimRight(row, "\n")
				if got := utf8.RuneCountInString(row); width > 0 && got > width {
					t.Errorf("wharf %s: a line of %d characters on a terminal of %d:\n%s", line, got, width, row)
				}
				if width == 0 && strings.Contains(row, "…") {
					t.Errorf("wharf %s: it cuts where there is no terminal:\n%s", line, row)
				}
			}
		}
	}
	if lists < 20 {
		t.Errorf("there are %d lists only", lists)
	}
}

func TestTasksAreListedWithWhatOneCanCopy(t *testing.T) {
	content, err := os.ReadFile("testdata/answers.json")
	if err != nil {
		t.Fatal(err)
	}
	n := &fakeNode{}
	if err := json.Unmarshal(content, &n.answers); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(n)
	defer server.Close()
	for width, want := range map[int]string{80: "TASK    STATUS     PERSONA  SUBMITTED\n", 120: "TASK    STATUS     PERSONA  SUBMITTED  SESSION\n", 0: "TASK    STATUS     PERSONA  SUBMITTED  SESSION\n"} {
		out := &terminal{width: width}
		a := &app{stdin: strings.NewReader(""), stdout: out, stderr: out, env: func(string) string { return "" }}
		a.execute(t.Context(), []string{"task", "list", "--color", "never", "--server", server.URL, "--api-key", "k"})
		if got := out.String(); !strings.HasPrefix(got, want) || !strings.Contains(got, "  scribe  ") {
			t.Errorf("%d characters:\n%s", width, got)
		}
	}
}
