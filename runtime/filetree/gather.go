package filetree

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// ReadFile returns a tree of one file with the given name, which holds what r has.
func ReadFile(name string, r io.Reader, limits Limits) (*Tree, error) {
	g := newGatherer(limits, 0)
	if err := g.add(name, r); err != nil {
		return nil, err
	}
	return g.tree("")
}

// freeBytes are those that no ratio is asked of: small files may be packed very well.
const freeBytes = 1 << 20

// gatherer puts a tree together, within its limits.
type gatherer struct {
	limits Limits
	packed int64 // size of the archive, 0 when there is none
	taken  occupied
	files  []File
	bytes  int64
	buf    bytes.Buffer // that files are read into, one after the other
}

func newGatherer(l Limits, packed int64) *gatherer {
	return &gatherer{limits: l, packed: packed, taken: occupied{}}
}

// countFile refuses a file more than there may be.
func (g *gatherer) countFile(n int) error {
	if n > g.limits.Files {
		return refuse("", TooManyFiles, "it has more than %d files: leave out what is not needed", g.limits.Files)
	}
	return nil
}

// checkSum refuses more bytes than there may be altogether.
func (g *gatherer) checkSum(path string, sum int64) error {
	if sum > g.limits.Bytes {
		return refuse("", TooLarge, "it has more than %d bytes unpacked: leave out what is not needed", g.limits.Bytes)
	}
	if g.packed > 0 && g.limits.Ratio > 0 && sum > freeBytes && sum/g.limits.Ratio > g.packed {
		return refuse(path, RatioTooHigh, "it unpacks to more than %d times its size: this is what archives do that are made to fill a disk", g.limits.Ratio)
	}
	return nil
}

// checkSize refuses a file that is larger than one may be.
func (g *gatherer) checkSize(path string, size int64) error {
	if size > g.limits.FileBytes {
		return refuse(path, FileTooLarge, "it has more than %d bytes, which one file may have: make it smaller", g.limits.FileBytes)
	}
	return nil
}

// add reads a file to its end. What it counts is what comes, whatever was announced.
func (g *gatherer) add(path string, r io.Reader) error {
	room := min(g.limits.FileBytes, g.limits.Bytes-g.bytes)
	g.buf.Reset()
	n, err := g.buf.ReadFrom(io.LimitReader(r, room+1))
	if refusal, ok := errors.AsType[*Refusal](err); ok {
		return refusal
	}
	if err != nil {
		return fmt.Errorf("reading %q: %w", path, err)
	}
	if err := g.checkSize(path, n); err != nil {
		return err
	}
	if err := g.checkSum(path, g.bytes+n); err != nil {
		return err
	}
	g.bytes += n
	g.files = append(g.files, File{path, g.content()})
	return nil
}

// sharedBytes is how large the buffer gets that files share.
const sharedBytes = 1 << 20

// content returns what was read of a file. Most are small, and there are many: they take no more
// than they have, and leave the buffer to the next one. A large one keeps it.
func (g *gatherer) content() []byte {
	if g.buf.Cap() <= sharedBytes {
		return bytes.Clone(g.buf.Bytes())
	}
	content := g.buf.Bytes()
	g.buf = bytes.Buffer{}
	return content
}

// tree returns what was gathered, in order.
func (g *gatherer) tree(root string) (*Tree, error) {
	if len(g.files) == 0 {
		return nil, refuse("", Empty, "it holds no file")
	}
	slices.SortFunc(g.files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return &Tree{Root: root, Files: g.files}, nil
}

// unrooted takes off the folder that holds all files, and returns its name; "" when none does.
func (g *gatherer) unrooted() string {
	if len(g.files) == 0 {
		return ""
	}
	root, _, _ := strings.Cut(g.files[0].Path, "/")
	for i := range g.files {
		if !strings.HasPrefix(g.files[i].Path, root+"/") {
			return ""
		}
	}
	for i := range g.files {
		g.files[i].Path = g.files[i].Path[len(root)+1:]
	}
	return root
}
