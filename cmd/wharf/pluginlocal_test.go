package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What is run without a node is bounded as what a node loads, whatever the file is.
func TestModulesThatAreRunAreBounded(t *testing.T) {
	file := filepath.Join(t.TempDir(), "large.wasm")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(file, maxModule+1); err != nil {
		t.Fatal(err)
	}
	if _, err := readPlugin(file); err == nil || !strings.Contains(err.Error(), "has more than") {
		t.Errorf("a module that is too large: %v", err)
	}
}
