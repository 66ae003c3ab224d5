package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestFind(t *testing.T) {
	root := t.TempDir()
	write := func(path, text string) {
		path = filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("a/a_test.go", `package a
func TestItself(t *testing.T) { os.Getenv("WHARF_LONG") }
func TestThroughAHelper(t *testing.T) { run(t, rounds) }
func TestQuick(t *testing.T) { t.Log("WHARF_LONGER") }`)
	write("a/b_test.go", `package a
func rounds() int { if s.long() { return 9 }; return 1 }
func (suite) long() bool { return os.Getenv("WHARF_LONG") != "" }
func TestMain(m *testing.M) { rounds() }`)
	write("b/b_test.go", `package b
func TestItself2(t *testing.T) {}`)
	write("b/testdata/c_test.go", `no Go`)
	t.Chdir(root)
	tests, packages, err := find(".")
	if err != nil || !slices.Equal(tests, []string{"TestItself", "TestThroughAHelper"}) || !slices.Equal(packages, []string{"./a"}) {
		t.Errorf("found %v in %v, %v", tests, packages, err)
	}
}
