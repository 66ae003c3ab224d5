package filetree

import (
	"archive/zip"
	"cmp"
	"fmt"
	"io"
	"iter"
	"time"
)

// Named is a file by the path that somebody gives it.
type Named struct {
	Path    string
	Content io.Reader // read before the next file is asked for
}

// ReadFiles reads files that come one by one, such as those of a form. As in an archive, a folder
// that holds all of them is the root. An error that comes with a file ends the reading.
func ReadFiles(files iter.Seq2[Named, error], limits Limits) (*Tree, error) {
	g := newGatherer(limits, 0)
	for f, err := range files {
		if err != nil {
			return nil, err
		}
		if err := g.named(f); err != nil {
			return nil, err
		}
	}
	root := g.unrooted()
	return g.tree(root)
}

func (g *gatherer) named(f Named) error {
	if ignored(f.Path) {
		return nil
	}
	if err := cmp.Or(checkPath(f.Path), g.countFile(len(g.files)+1)); err != nil {
		return err
	}
	path, err := g.taken.take(f.Path, false)
	if err != nil {
		return err
	}
	return g.add(path, f.Content)
}

// WriteZip writes an archive of the tree, with all files in the folder root. The same files make
// the same bytes.
func (t *Tree) WriteZip(w io.Writer, root string) error {
	out := zip.NewWriter(w)
	for _, f := range t.Files {
		header := &zip.FileHeader{Name: root + "/" + f.Path, Method: zip.Deflate, Modified: time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)}
		header.SetMode(0o644)
		file, err := out.CreateHeader(header)
		if err == nil {
			_, err = file.Write(f.Content)
		}
		if err != nil {
			return fmt.Errorf("packing %q: %w", f.Path, err)
		}
	}
	return out.Close()
}
