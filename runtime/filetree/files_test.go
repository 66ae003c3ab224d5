package filetree_test

import (
	"bytes"
	"errors"
	"io"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/runtime/filetree"
)

func named(pairs ...string) iter.Seq2[filetree.Named, error] {
	return func(yield func(filetree.Named, error) bool) {
		for pair := range slices.Chunk(pairs, 2) {
			if !yield(filetree.Named{Path: pair[0], Content: strings.NewReader(pair[1])}, nil) {
				return
			}
		}
	}
}

// Files that come one by one are held to what files of an archive are.
func TestReadFiles(t *testing.T) {
	for name, c := range map[string]struct {
		files []string
		root  string
		want  string // paths, or a code
	}{
		"in a folder":      {[]string{"s/b.md", "2", "s/SKILL.md", "1", "s/.DS_Store", "x"}, "s", "SKILL.md b.md"},
		"in none":          {[]string{"lib/b.md", "2", "SKILL.md", "1"}, "", "SKILL.md lib/b.md"},
		"nothing":          {nil, "", "EMPTY"},
		"out of it":        {[]string{"s/../b", ""}, "", "PATH_TRAVERSAL"},
		"from the root":    {[]string{"/b", ""}, "", "PATH_ABSOLUTE"},
		"twice":            {[]string{"b", "1", "b", "2"}, "", "PATH_DUPLICATE"},
		"equal but a case": {[]string{"b", "1", "B", "2"}, "", "PATH_COLLISION"},
		"a folder too":     {[]string{"b", "1", "b/c", "2"}, "", "PATH_CONFLICT"},
		"too large":        {[]string{"b", long(int(limits.FileBytes) + 1)}, "", "FILE_TOO_LARGE"},
		"too many":         {slices.Repeat([]string{"", ""}, limits.Files+1), "", "TOO_MANY_FILES"},
	} {
		t.Run(name, func(t *testing.T) {
			for i := range c.files {
				if c.files[i] == "" && i%2 == 0 {
					c.files[i] = "f" + long(i)
				}
			}
			tree, err := filetree.ReadFiles(named(c.files...), limits)
			if refusal, ok := errors.AsType[*filetree.Refusal](err); ok {
				if string(refusal.Code) != c.want {
					t.Errorf("it is refused with %v, want %s", refusal, c.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			checkTree(t, tree, limits)
			var paths []string
			for _, f := range tree.Files {
				paths = append(paths, f.Path)
			}
			if got := strings.Join(paths, " "); got != c.want || tree.Root != c.root {
				t.Errorf("%q has %s, want %q with %s", tree.Root, got, c.root, c.want)
			}
		})
	}
	broken := func(yield func(filetree.Named, error) bool) { yield(filetree.Named{}, io.ErrUnexpectedEOF) }
	if _, err := filetree.ReadFiles(broken, limits); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("files that could not be read: %v", err)
	}
}

// What is packed is read back the same, and the same files make the same archive.
func TestWriteZip(t *testing.T) {
	tree, err := filetree.ReadFiles(named("SKILL.md", "one", "lib/ä.py", "two", "assets/a.bin", "\x00"), limits)
	if err != nil {
		t.Fatal(err)
	}
	var first, second bytes.Buffer
	if err := errors.Join(tree.WriteZip(&first, "s"), tree.WriteZip(&second, "s")); err != nil || !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Errorf("%d and %d bytes, %v", first.Len(), second.Len(), err)
	}
	back, err := filetree.ReadZip(bytes.NewReader(first.Bytes()), int64(first.Len()), limits)
	if err != nil || back.Root != "s" || len(back.Files) != len(tree.Files) {
		t.Fatalf("%+v, %v", back, err)
	}
	for i, f := range tree.Files {
		if got := back.Files[i]; got.Path != f.Path || !bytes.Equal(got.Content, f.Content) {
			t.Errorf("%q came back as %q with %q", f.Path, got.Path, got.Content)
		}
	}
}
