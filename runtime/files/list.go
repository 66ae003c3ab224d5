package files

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"strings"

	"github.com/wharf-dev/wharf/abi"
)

// listFor answers abi.CallFileList.
func (k *Keeper) listFor(ctx context.Context, at *place, req *abi.CallFileListRequest) (any, error) {
	answer := &abi.CallFileListAnswer{Entries: []abi.FileEntry{}}
	if at == nil && req.Path == "" {
		return answer, nil // nothing was ever written
	}
	err := k.walk(ctx, at, walking{below: req.Path, after: req.After, flat: !req.Recursive}, func(p string, d fs.DirEntry) error {
		if len(answer.Entries) == req.Limit {
			answer.Next = answer.Entries[req.Limit-1].Path
			return fs.SkipAll
		}
		e := abi.FileEntry{Path: p, Folder: d.IsDir()}
		if !e.Folder {
			info, err := d.Info()
			if err != nil {
				return nil // it was removed meanwhile
			}
			e.Size, e.UpdatedAt = info.Size(), abi.At(info.ModTime())
		}
		answer.Entries = append(answer.Entries, e)
		return nil
	})
	return answer, err
}

// walking is which part of a Workspace is walked through.
type walking struct {
	below string // a folder; "" for all
	after string // a path within the Workspace: what comes up to it is left out
	again bool   // but for after itself
	flat  bool   // what is in the folder itself, folders too; otherwise all files below it
	// folders has a walk that is not flat meet folders, too, each before what is in it. It begins
	// at the beginning.
	folders bool
}

// walk calls f for each entry, in the order of paths' names, until f returns fs.SkipAll. A
// path comes before another when the first name in which they differ does.
func (k *Keeper) walk(ctx context.Context, at *place, w walking, f func(p string, d fs.DirEntry) error) error {
	if at == nil {
		return errNoFile(w.below + "/")
	}
	begin := path.Join(".", w.below)
	if info, err := at.root.Stat(begin); err != nil || !info.IsDir() {
		return errNoFile(w.below + "/")
	}
	err := fs.WalkDir(at.root.FS(), begin, func(p string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case p == begin && errors.Is(err, fs.ErrNotExist): // it has gone since it was looked at
			return errNoFile(w.below + "/")
		case p == begin:
			return err
		case err != nil: // it was removed meanwhile
			return nil
		case strings.HasPrefix(d.Name(), unfinished), !d.IsDir() && !d.Type().IsRegular():
			return nil
		case d.IsDir() && !w.flat && w.folders:
			return f(p, d)
		case d.IsDir() && !w.flat:
			return skipped(w.after != "" && order(p, w.after) < 0 && !strings.HasPrefix(w.after, p+"/"))
		case order(p, w.after) > 0, w.again && p == w.after:
			err = f(p, d)
		}
		if d.IsDir() && err == nil { // a flat walk goes into no folder
			return fs.SkipDir
		}
		return err
	})
	return k.parts.Ledger.Failed("looking through a workspace's files", err)
}

func skipped(skip bool) error {
	if skip {
		return fs.SkipDir
	}
	return nil
}

// order compares two paths name by name, as a walk meets them.
func order(a, b string) int {
	for a != "" && b != "" {
		var x, y string
		x, a, _ = strings.Cut(a, "/")
		y, b, _ = strings.Cut(b, "/")
		if c := strings.Compare(x, y); c != 0 {
			return c
		}
	}
	return strings.Compare(a, b)
}

// errBadGlob is what is wrong with a pattern of names.
var errBadGlob = errors.New("the glob has a [ that is not closed, or an empty range")

// glob matches paths: nil matches all.
type glob []string

// newGlob reads a pattern of paths. Without a / it is one of names, in any folder.
func newGlob(pattern string) (glob, error) {
	if pattern == "" {
		return nil, nil
	}
	if !strings.Contains(pattern, "/") {
		pattern = "**/" + pattern
	}
	names := strings.Split(pattern, "/")
	for _, name := range names {
		if _, err := path.Match(name, ""); err != nil {
			return nil, errBadGlob
		}
	}
	return names, nil
}

// matches takes time in proportion to the pattern's names times the path's.
func (g glob) matches(p string) bool {
	if g == nil {
		return true
	}
	names := strings.Split(p, "/")
	at := make([]bool, len(names)+1) // after how many names of p the pattern may be, so far
	at[0] = true
	for _, want := range g {
		next := make([]bool, len(at))
		reached := false
		for i := range at {
			switch {
			case want == "**":
				reached = reached || at[i]
				next[i] = reached
			case i > 0 && at[i-1]:
				next[i], _ = path.Match(want, names[i-1])
			}
		}
		at = next
	}
	return at[len(names)]
}
