package sdk

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/wharf-dev/wharf/abi/internal/reference"
)

var sdks = filepath.Join("..", "..", "..", "sdk")

func readAll(t *testing.T) (*API, map[string]string) {
	t.Helper()
	source, err := reference.Read(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	parts, err := ReadParts(sdks)
	if err != nil {
		t.Fatal(err)
	}
	return Read(source), parts
}

// TestEveryCallHasExamples holds that each call has an example in each language, of the same calls in all
// of them, and that no example is of a call that there is not.
func TestEveryCallHasExamples(t *testing.T) {
	api, parts := readAll(t)
	known := map[string]bool{}
	for _, c := range api.Calls {
		known[c.Name] = true
	}
	for _, s := range exampleSources() {
		of := map[string][]string{}
		for _, example := range examplesIn(parts[s.file]) {
			for _, call := range example.Calls {
				if !known[call] || of[call] != nil {
					t.Errorf("%s: the example of %q is of no call, or the second one", s.language, call)
				}
				of[call] = example.Calls
			}
		}
		api.illustrate(map[string]string{s.file: parts[s.file]})
		for _, c := range api.Calls {
			if !slices.Equal(of[c.Name], c.Examples[exampleSources()[0].language].Calls) || len(c.Examples[s.language].Code) == 0 {
				t.Errorf("%s: %s has an example of %q", s.language, c.Name, of[c.Name])
			}
		}
	}
}

// TestSDKsAreCurrent holds that what authors compile is what the definitions say.
func TestSDKsAreCurrent(t *testing.T) {
	api, parts := readAll(t)
	for name, want := range Files(api, parts) {
		got, err := os.ReadFile(filepath.Join(sdks, filepath.FromSlash(name)))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("sdk/%s is not what go generate ./abi writes (%v)", name, err)
		}
	}
}
