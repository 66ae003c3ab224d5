package hosts

import (
	"os"
	"slices"
	"testing"

	json "github.com/go-json-experiment/json"
)

// A pattern fits the same files as the agent says.
func TestPathsOfSkills(t *testing.T) {
	text, err := os.ReadFile("../../../plugins/agent/testdata/paths.json")
	if err != nil {
		t.Fatal(err)
	}
	var table []struct {
		Pattern string   `json:"pattern"`
		Fits    []string `json:"fits"`
		Not     []string `json:"fits_not"`
	}
	if err := json.Unmarshal(text, &table); err != nil {
		t.Fatal(err)
	}
	for _, c := range table {
		for i, file := range slices.Concat(c.Fits, c.Not) {
			if fits(c.Pattern, file) != (i < len(c.Fits)) {
				t.Errorf("%s %s: %v", c.Pattern, file, i >= len(c.Fits))
			}
		}
	}
}
