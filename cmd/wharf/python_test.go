package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const triagePy = `import random

from tracker import ticket
from wharf import plan_set, reply


def run(task):
    plan_set(steps=[{"content": "read the ticket", "status": "in_progress"}])
    print("reading", task.text, random.random())
    read = ticket(task.text)
    reply(f"{read['id']}: {read['title']}")
    return read["title"]
`

const trackerPy = `import wharf


def ticket(url):
    answer = wharf.fetch(url)
    if not answer.ok:
        raise ValueError(f"the tracker says {answer.status}")
    return answer.json()
`

// TestPythonOnANode has a node run a program that was built by a command, and replay what
// it did after the node was killed and what it had asked is gone.
func TestPythonOnANode(t *testing.T) {
	triageOnANode(t, triaging{sources: map[string]string{"triage.py": triagePy, "tracker.py": trackerPy}, file: "triage.py",
		failure: "ValueError: the tracker says 418", stack: `["ticket (tracker.py:7)","run (triage.py:10)"]`})
}

// TestPythonThatDoesNotCompile holds that a build says where, in every file at once.
func TestPythonThatDoesNotCompile(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"a.py": "import b\n\ndef run(task)\n    pass\n", "b.py": "x = 1\nif x:\npass\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	code, out, errs := commander{t: t}.run("plugin", "build", filepath.Join(dir, "a.py"))
	if code != 1 || !strings.Contains(errs+out, "a.py:3: SyntaxError: invalid syntax\nb.py:3: ") {
		t.Errorf("it ends with %d: %s%s", code, out, errs)
	}
	if _, err := os.Stat(filepath.Join(dir, "build")); err == nil {
		t.Error("something was written")
	}
}
