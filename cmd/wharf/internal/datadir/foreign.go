package datadir

import (
	"os"
	"path/filepath"
	"slices"
)

// Foreign returns the names of what lies in a folder that is to become a data folder, and is none of
// one: sorted, hidden files left out. A folder that is one already has none, whatever somebody has put
// there, and one that cannot be read neither.
func Foreign(dir string) []string {
	if _, err := os.Stat(filepath.Join(dir, "HEAD")); err == nil {
		return nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries {
		name := e.Name()
		if name[0] == '.' || name == "lost+found" || name == lockFile || name == Modules || slices.Contains(parts, name) {
			continue
		}
		names = append(names, name)
	}
	return names
}
