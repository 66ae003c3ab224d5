package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/wharf-dev/wharf/plugins/plugintest"
)

// Who accepts a case at once with others leaves a whole one, and nothing beside it. What somebody has changed since the
// case was read stays.
func TestCasesAreWrittenWhole(t *testing.T) {
	folder := t.TempDir()
	if err := os.Mkdir(filepath.Join(folder, casesFolder), 0o755); err != nil {
		t.Fatal(err)
	}
	module, file := filepath.Join(folder, "calls.wasm"), filepath.Join(folder, casesFolder, "one.yaml")
	if err := os.WriteFile(module, plugintest.Calls(), 0o600); err != nil {
		t.Fatal(err)
	}
	const is, becomes = "# Kept.\ninput: {program: [{call: clock}]}\nexpected:\n  calls: []\n", "# Kept.\ninput: {program: [{call: clock}]}\nexpected:\n  calls:\n    - call: clock\n"
	put := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put(is)
	ask := &pluginTest{path: module, accept: true}
	if err := ask.check([]string{module}); err != nil {
		t.Fatal(err)
	}
	tester, err := newTester(t.Context(), ask)
	if err != nil {
		t.Fatal(err)
	}
	defer tester.close()
	var all sync.WaitGroup
	results := make([]*caseResult, 8)
	for i := range results {
		all.Go(func() { results[i] = tester.test(t.Context(), "one.yaml") })
	}
	all.Wait()
	for _, r := range results {
		if r.Result != caseAccepted && r.Result != casePassed && !strings.Contains(r.Error, "somebody has changed it") {
			t.Errorf("%s: %s", r.Result, r.Error)
		}
	}
	now, err := os.ReadFile(file)
	entries, failed := os.ReadDir(filepath.Dir(file))
	if err != nil || string(now) != becomes || failed != nil || len(entries) != 1 {
		t.Errorf("there are %v, %v:\n%s", entries, failed, now)
	}

	put(is + "# Somebody's.\n")
	if err := tester.unchanged("one.yaml", []byte(is)); err == nil || !strings.Contains(err.Error(), "somebody has changed it") {
		t.Errorf("what was changed meanwhile: %v", err)
	}
	if err := os.Symlink(file, filepath.Join(filepath.Dir(file), "link.yaml")); err != nil {
		t.Fatal(err)
	}
	if err := tester.unchanged("link.yaml", nil); err == nil || !strings.Contains(fmt.Sprint(err), "a link") {
		t.Errorf("a link: %v", err)
	}
}
