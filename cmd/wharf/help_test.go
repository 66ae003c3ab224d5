package main

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// eachCommand calls f with every command of the program.
func eachCommand(c *cobra.Command, f func(*cobra.Command)) {
	f(c)
	for _, sub := range c.Commands() {
		eachCommand(sub, f)
	}
}

func TestEveryCommandHasAManualPage(t *testing.T) {
	eachCommand((&app{}).root(), func(c *cobra.Command) {
		page := c.CommandPath()
		if c.Short == "" || strings.HasSuffix(c.Short, ".") {
			t.Errorf("%s: its short description is %q: want a phrase without a full stop", page, c.Short)
		}
		if len(c.Long) < 2*len(c.Short) {
			t.Errorf("%s: its long description says no more than the short one", page)
		}
		if c.Runnable() && c.Name() != "exit-codes" && !strings.Contains(c.Example, "  wharf") {
			t.Errorf("%s: has no example", page)
		}
		for n, line := range strings.Split(c.Long+"\n"+c.Example, "\n") {
			if len(line) > 100 {
				t.Errorf("%s: line %d of its manual page is %d characters long", page, n+1, len(line))
			}
		}
	})
}

func TestExamplesParse(t *testing.T) {
	eachCommand((&app{}).root(), func(c *cobra.Command) {
		for _, line := range strings.Split(c.Example, "\n") {
			args, ok := exampleArgs(line)
			if !ok {
				continue
			}
			// A root of its own for each: flags keep what was parsed.
			found, rest, err := (&app{}).root().Find(args)
			if err == nil {
				err = found.ParseFlags(rest)
			}
			if err == nil {
				err = found.ValidateArgs(found.Flags().Args())
			}
			if err != nil {
				t.Errorf("%s: the example %q: %v", c.CommandPath(), strings.TrimSpace(line), err)
			}
		}
	})
}

// exampleArgs returns the arguments of an example that runs wharf and nothing that
// takes a shell to understand, but for quotes.
func exampleArgs(line string) ([]string, bool) {
	line, _, _ = strings.Cut(line, "#")
	line, _, _ = strings.Cut(line, " | ")
	line, _, _ = strings.Cut(line, " > ")
	line, ok := strings.CutPrefix(strings.TrimSpace(line), "wharf")
	if !ok {
		return nil, false
	}
	var args []string
	for _, m := range shellWord.FindAllStringSubmatch(line, -1) {
		args = append(args, m[1]+m[2]+m[3])
	}
	return args, true
}

// shellWord is a word between single or double quotes, or without any.
var shellWord = regexp.MustCompile(`'([^']*)'|"([^"]*)"|(\S+)`)

func TestNoArgumentsAreHelp(t *testing.T) {
	var out, errs bytes.Buffer
	a := &app{stdin: strings.NewReader(""), stdout: &out, stderr: &errs, env: func(string) string { return "" }}
	if code := a.execute(t.Context(), nil); code != exitOK || !strings.Contains(out.String(), "Start here:") || errs.Len() > 0 {
		t.Errorf("code %d\n%s%s", code, &out, &errs)
	}
}
