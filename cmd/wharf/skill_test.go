package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The example of docs/skills-bundles.md is what the program says.
func TestDocumentedSkill(t *testing.T) {
	page, err := os.ReadFile(filepath.FromSlash("../../docs/skills-bundles.md"))
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)\n```(\\w*)\n(.*?)```\n").FindAllSubmatch(page, 4)
	if len(blocks) < 4 || string(blocks[2][1]) != "markdown" {
		t.Fatal("the page has no command, tree, SKILL.md and answer one after another")
	}
	t.Chdir(t.TempDir())
	for name, content := range map[string][]byte{"SKILL.md": blocks[2][2], "lib/fill.py": nil, "setup.sh": nil} {
		path := filepath.Join("my-skill", filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var out, errs bytes.Buffer
	a := &app{stdin: strings.NewReader(""), stdout: &out, stderr: &errs, env: func(string) string { return "" }}
	code := a.execute(t.Context(), strings.Fields(string(blocks[0][2]))[1:])
	if code != exitFailed || out.String() != string(blocks[3][2]) || errs.Len() > 0 {
		t.Errorf("code %d, and it says\n%s%s", code, &out, &errs)
	}
}
