package pebble

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/s2"
)

// makeDictionary joins the samples, which are lines of compact JSON in the files of
// a folder, in the order of their names. What is closest to the end is cheapest to
// refer to.
func makeDictionary(t testing.TB, dir string) []byte {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	var text []byte
	for _, name := range files {
		samples, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		text = append(text, bytes.ReplaceAll(samples, []byte("\n"), nil)...)
	}
	return text
}

// TestDictionaryFollowsFromItsSamples makes the dictionary anew. One that has been
// part of a release must not change: logs are packed with it.
func TestDictionaryFollowsFromItsSamples(t *testing.T) {
	text := makeDictionary(t, filepath.Join("dictionary", "1"))
	path := filepath.Join("dictionary", "1.txt")
	if *update {
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if stored, err := os.ReadFile(path); err != nil || !bytes.Equal(stored, text) {
		t.Errorf("%s is not what the samples make (%v)", path, err)
	}
	if s2.MakeDictManual(text, 0) == nil {
		t.Error("the dictionary has a wrong size")
	}
}
