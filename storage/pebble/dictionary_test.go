package pebble

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/s2"
)

// makeDictionary joins the samples, which are lines of compact JSON in the files of
// folders, in the order of their names. What is closest to the end is cheapest to
// refer to.
func makeDictionary(t testing.TB, dirs ...string) (text []byte) {
	t.Helper()
	var files []string
	for _, dir := range dirs {
		own, err := filepath.Glob(filepath.Join("dictionary", dir, "*.json"))
		if err != nil || len(own) == 0 {
			t.Fatalf("%d files, %v", len(own), err)
		}
		files = append(files, own...)
	}
	for _, name := range files {
		samples, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		text = append(text, bytes.ReplaceAll(samples, []byte("\n"), nil)...)
	}
	return text
}

// TestDictionaryFollowsFromItsSamples makes the dictionaries anew. One that has been
// part of a release must not change: logs are packed with it.
func TestDictionaryFollowsFromItsSamples(t *testing.T) {
	for name, samples := range map[string][]string{"1": {"1"}, "2": {"1", "2"}} {
		text := makeDictionary(t, samples...)
		path := filepath.Join("dictionary", name+".txt")
		if *update {
			if err := os.WriteFile(path, text, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if stored, err := os.ReadFile(path); err != nil || !bytes.Equal(stored, text) {
			t.Errorf("%s is not what the samples make (%v)", path, err)
		}
		if s2.MakeDictManual(text, 0) == nil {
			t.Errorf("dictionary %s has a wrong size", name)
		}
	}
}
