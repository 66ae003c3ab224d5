package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	passes  = `{"Action":"start","Package":"p"}` + "\n" + `{"Action":"run","Package":"p","Test":"A"}` + "\n" + `{"Action":"pass","Package":"p","Test":"A"}` + "\n" + `{"Action":"pass","Package":"p"}` + "\n"
	skips   = `{"Action":"run","Package":"p","Test":"A"}` + "\n" + `{"Action":"output","Package":"p","Test":"A","Output":"=== RUN   A\n"}` + "\n" + `{"Action":"output","Package":"p","Test":"A","Output":"    a_test.go:7: needs node: install it\n"}` + "\n" + `{"Action":"output","Package":"p","Test":"A","Output":"--- SKIP: A (0.00s)\n"}` + "\n" + `{"Action":"skip","Package":"p","Test":"A"}` + "\n" + `{"Action":"pass","Package":"p"}` + "\n"
	fails   = `{"Action":"run","Package":"p","Test":"A"}` + "\n" + `{"Action":"output","Package":"p","Test":"A","Output":"got 1, want 2\n"}` + "\n" + `{"Action":"fail","Package":"p","Test":"A"}` + "\n" + `{"Action":"fail","Package":"p"}` + "\n"
	unbuilt = `{"ImportPath":"q","Action":"build-output","Output":"q/q.go:3:1: undefined: x\n"}` + "\n" + `{"ImportPath":"q","Action":"build-fail"}` + "\n" + `{"Action":"fail","Package":"q","FailedBuild":"q"}` + "\n"
	noTests = `{"Action":"start","Package":"r"}` + "\n" + `{"Action":"skip","Package":"r"}` + "\n"
)

func TestReport(t *testing.T) {
	for title, c := range map[string]struct {
		runs []string
		last string
		says string
		ok   bool
	}{
		"passed":                       {[]string{passes}, "1 passed, 0 failed, 0 skipped", "", true},
		"passed twice counts once":     {[]string{passes, passes}, "1 passed, 0 failed, 0 skipped", "", true},
		"skipped here, passed there":   {[]string{skips, passes}, "1 passed, 0 failed, 0 skipped", "", true},
		"passed here, failed there":    {[]string{passes, fails, passes}, "0 passed, 1 failed, 0 skipped", "got 1, want 2", false},
		"failed, then skipped":         {[]string{fails, skips}, "0 passed, 1 failed, 0 skipped", "got 1, want 2", false},
		"skipped everywhere":           {[]string{passes + strings.ReplaceAll(skips, `"A"`, `"B"`)}, "1 passed, 0 failed, 1 skipped", "p B: needs node: install it", true},
		"a package that did not build": {[]string{passes + unbuilt}, "1 passed, 1 failed, 0 skipped", "undefined: x", false},
		"a package without tests":      {[]string{passes + noTests}, "1 passed, 0 failed, 0 skipped", "", true},
		"nothing ran":                  {[]string{noTests}, "0 passed, 0 failed, 0 skipped", "", false},
		"output that is no JSON":       {[]string{passes + "go: something odd\n"}, "1 passed, 0 failed, 0 skipped", "go: something odd", true},
	} {
		t.Run(title, func(t *testing.T) {
			r := newReport()
			for _, run := range c.runs {
				if err := r.read(strings.NewReader(run)); err != nil {
					t.Fatal(err)
				}
			}
			var out strings.Builder
			if ok := r.write(&out); ok != c.ok {
				t.Errorf("all is well: %v, want %v", ok, c.ok)
			}
			lines := strings.Split(strings.TrimRight(out.String(), "\n"), "\n")
			if got := lines[len(lines)-1]; got != c.last {
				t.Errorf("last line %q, want %q", got, c.last)
			}
			if !strings.Contains(out.String(), c.says) {
				t.Errorf("%q is not in the report:\n%s", c.says, &out)
			}
		})
	}
}

// The end of a long log shows what failed.
func TestFailuresComeLast(t *testing.T) {
	r := newReport()
	if err := r.read(strings.NewReader(fails + strings.ReplaceAll(skips, `"A"`, `"B"`))); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	r.write(&out)
	if text := out.String(); strings.Index(text, "FAILED p A") < strings.Index(text, "Skipped:") {
		t.Errorf("what was skipped hides what failed:\n%s", text)
	}
}

func TestReadFile(t *testing.T) {
	r := newReport()
	if err := readFile(r, filepath.Join(t.TempDir(), "absent")); err == nil {
		t.Error("an absent file was read")
	}
	name := filepath.Join(t.TempDir(), "run.json")
	if err := os.WriteFile(name, []byte(passes), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := readFile(r, name); err != nil || r.passed() != 1 {
		t.Errorf("read %d tests, %v", r.passed(), err)
	}
}
