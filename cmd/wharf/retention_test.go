package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A node that takes more than it may, and has nothing that may go, says so.
func TestTooMuchThatStays(t *testing.T) {
	node := serveFolder(t, filepath.Join(t.TempDir(), "data"), "--set", "retention.size=1MiB")
	file := filepath.Join(t.TempDir(), "large.txt")
	if err := os.WriteFile(file, []byte(strings.Repeat("0123456789abcdef", 1<<17)), 0o600); err != nil {
		t.Fatal(err)
	}
	commander{t, node.url}.must("artifact", "add", file)
	node.waitForLog("takes more than retention.size")
}
