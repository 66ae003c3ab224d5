package datadir

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestForeignFilesAreNamed(t *testing.T) {
	for what, c := range map[string]struct{ there, want []string }{
		"nothing":                     {nil, nil},
		"an empty folder of a mount":  {[]string{"lost+found", ".keep"}, nil},
		"somebody's documents":        {[]string{"thesis.tex", "Photos", "LOCK"}, []string{"Photos", "thesis.tex"}},
		"a data folder with a note":   {[]string{"HEAD", "db", "note.txt"}, nil},
		"what a start has left of it": {[]string{"db", "FORMAT", "keys", "modules"}, nil},
	} {
		dir := t.TempDir()
		for _, name := range c.there {
			if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		if got := Foreign(dir); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", what, got, c.want)
		}
	}
	if got := Foreign(filepath.Join(t.TempDir(), "none")); got != nil {
		t.Errorf("no folder: %q", got)
	}
}
