package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// wrongCount is what a command says of too few or too many arguments.
var wrongCount = regexp.MustCompile(`^wharf [a-z0-9 -]+ (needs .+|takes (no argument, but|(one argument|two arguments|three arguments), but \d are given: ).+|has no command ".+")$`)

// Every command says in one way that it is given too few or too many arguments.
func TestEveryCommandSaysHowManyArgumentsItTakes(t *testing.T) {
	eachCommand((&app{}).root(), func(c *cobra.Command) {
		if !c.HasParent() || c.Args == nil && !c.Runnable() {
			return
		}
		for _, args := range [][]string{nil, {"a"}, {"a", "b"}, {"a", "b", "c"}, {"a", "b", "c", "d"}} {
			err := c.ValidateArgs(args)
			if err != nil && !wrongCount.MatchString(err.Error()) {
				t.Errorf("%s %s: %v", c.CommandPath(), strings.Join(args, " "), err)
			}
		}
	})
}

func TestMistakesOfTheCommandLineSayWhatToDo(t *testing.T) {
	for line, want := range map[string]string{
		"vault set":                   `wharf: wharf vault set needs the id of a vault (see "wharf vault list"), and the name of a secret`,
		"vault set a":                 `and the name of a secret, but only "a" is given`,
		"vault set a b c":             "wharf vault set takes two arguments, but 3 are given",
		"vault list a b":              "wharf vault list takes one argument, but 2 are given",
		"task submit --wait 5s hi":    "try  --wait=5s, with = before the value",
		"task submit hi 5s --wait":    "put text with spaces between quotes (hi 5s)",
		"task submit --wait 5s":       "try  --wait=5s, and then what to do",
		"persona create p.json":       "try  -f p.json",
		"persona list --wait":         "unknown flag: --wait",
		"serve --listn x":             "unknown flag: --listn\n  try  --listen",
		"serve --tasks-concurrency 3": "try  --set tasks.concurrency=VALUE",
		"serve --tasks.concurrency=3": "try  --set tasks.concurrency=VALUE",
		"task list --zzzzzzzz":        "try  the command again with --help",
		"agent run a":                 "needs the path of an agent or its id, and what to do",
		"plugin run":                  "needs a module, a .wasm file, or a folder with a manifest",
		"serve --config nofile.yml":   "there is no configuration file nofile.yml\n  try  wharf config init > nofile.yml, which writes one with all settings",
		"config check nofile.yml":     "there is no configuration file nofile.yml",
		"serve --set tasks.concurrency=many --data no-such-place": `--set tasks.concurrency: "many" is not a whole number`,
		"task submit -": "standard input is empty: there is nothing to submit",
	} {
		var out, errs bytes.Buffer
		env := map[string]string{"WHARF_API_KEY": "0123456789abcdef", "WHARF_SERVER": "http://127.0.0.1:1"}
		a := &app{stdin: strings.NewReader("\n"), stdout: &out, stderr: &errs, env: func(name string) string { return env[name] }}
		if code := a.execute(t.Context(), strings.Fields(line)); code != exitUsage || !strings.Contains(errs.String(), want) {
			t.Errorf("wharf %s: code %d\n%s%s\nwant %s", line, code, &out, &errs, want)
		}
	}
}

func TestAURLWithAPathIsNoted(t *testing.T) {
	nothing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNotFound)
		_, _ = w.Write([]byte(`{"error":{"code":"resource_not_found","message":"there is nothing at this path"}}`))
	}))
	defer nothing.Close()
	for path, want := range map[string]bool{"/v1": true, "/wharf/v1/": true, "/": false, "": false} {
		var out, errs bytes.Buffer
		a := &app{stdin: strings.NewReader(""), stdout: &out, stderr: &errs, env: func(string) string { return "" }}
		code := a.execute(t.Context(), []string{"task", "list", "--api-key", "0123456789abcdef", "--server", nothing.URL + path})
		if got := strings.Contains(errs.String(), "without the path "+path+": "+nothing.URL); got != want || code != exitFailed {
			t.Errorf("%q: code %d, %s", path, code, &errs)
		}
	}
}

// Who leaves a Task that they have watched is told that it goes on.
func TestAnInterruptionLeavesTheTask(t *testing.T) {
	var errs bytes.Buffer
	a := &app{stderr: &errs, env: func(string) string { return "" }}
	code := a.report(left(fmt.Errorf("reading: %w", errInterrupted), "task_1"))
	if want := "wharf: interrupted; the Task goes on\n  try  " + self() + " task tail task_1, or " + self() + " task cancel task_1\n"; code != exitInterrupted || errs.String() != want {
		t.Errorf("code %d\n%s", code, &errs)
	}
	if err := left(io.EOF, "task_1"); err != io.EOF {
		t.Errorf("another error becomes %v", err)
	}
}

func TestWhatIsReplacedIsNoted(t *testing.T) {
	file := filepath.Join(t.TempDir(), "run.zip")
	if got := replaced(file); got != "" {
		t.Errorf("a new file: %q", got)
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := replaced(file); got == "" {
		t.Error("nothing is said of the file that was there")
	}
}
