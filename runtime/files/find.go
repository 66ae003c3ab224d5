package files

import (
	"cmp"
	"context"
	"strings"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
)

// The bounds on what a client finds at once.
const (
	maxFindPages  = 8   // searches as a plugin makes them
	maxFoundLines = 100 // lines of one file
)

// Query says what a client looks for: lines that match Pattern, a regular expression (RE2), or,
// without one, the files that Glob names. Both are as in [abi.CallFileSearchRequest].
type Query struct {
	Path          string // of the folder to look in; "" for the whole Workspace
	Glob, Pattern string
	Most          int // files, 1 to 1,000; 0 for 100
}

// Found is a file, with the lines that were found in it, at most 100.
type Found struct {
	File  abi.File
	Lines []abi.FileMatch
}

// FindFiles returns what was found, in the order of paths' names. whole is false when there may be
// more: a search ends after so many files, after 256 MiB of content, and after a time.
func (k *Keeper) FindFiles(ctx context.Context, c *desk.Caller, workspace string, q Query) (found []Found, whole bool, err error) {
	req := &abi.CallFileSearchRequest{Path: strings.TrimSuffix(q.Path, "/"), Glob: q.Glob, Pattern: q.Pattern, Limit: maxEntries}
	if q.Most = cmp.Or(q.Most, 100); q.Most < 1 || q.Most > maxEntries {
		return nil, false, abi.InvalidParam("limit", "a search finds 1 to %d files at once", maxEntries)
	}
	if err := k.checkFile(ctx, c, workspace, cmp.Or(req.Path, "any")); err != nil {
		return nil, false, err
	}
	at, err := k.clientsPlace(c, workspace, false)
	if err != nil {
		return nil, false, err
	}
	defer at.Close()
	until := k.parts.Now().Add(maxSearchTime)
	all := &finding{at: at, most: q.Most}
	for range maxFindPages {
		if req.After, err = k.findPage(ctx, at, req, all); err != nil || req.After == "" || all.full {
			break
		}
		if k.parts.Now().After(until) {
			break
		}
	}
	return all.found, req.After == "" && !all.full, err
}

// findPage takes over what one search finds, and returns where the next begins; "" for nowhere.
func (k *Keeper) findPage(ctx context.Context, at *place, req *abi.CallFileSearchRequest, all *finding) (next string, err error) {
	answer, err := k.searchFor(ctx, at, req)
	if err != nil {
		return "", err
	}
	page := answer.(*abi.CallFileSearchAnswer)
	for i := range page.Matches {
		all.take(&page.Matches[i])
	}
	if n := len(page.Matches); page.Next != "" && n > 0 && all.crowded(page.Matches[n-1].Path) {
		return cursor(page.Matches[n-1].Path, wholeFile), nil // a file with so many is not looked through to its end
	}
	return page.Next, nil
}

// finding is what a search has found so far.
type finding struct {
	at    *place
	most  int
	found []Found
	full  bool // there is more than may be told
}

func (f *finding) take(m *abi.FileMatch) {
	last := len(f.found) - 1
	if last < 0 || f.found[last].File.Path != m.Path {
		f.begin(m.Path)
		last = len(f.found) - 1
	}
	if !f.full && m.Line > 0 && !f.crowded(m.Path) {
		f.found[last].Lines = append(f.found[last].Lines, *m)
	}
}

// begin takes a file over, unless there are as many as may be, or it has gone.
func (f *finding) begin(p string) {
	if f.full = f.full || len(f.found) == f.most; f.full {
		return
	}
	file, err := f.at.found(p)
	if err != nil {
		file = abi.File{Object: "file", WorkspaceID: f.at.key.ID, Path: p}
	}
	f.found = append(f.found, Found{File: file})
}

// crowded reports whether a file that was found has as many lines as are told of one.
func (f *finding) crowded(p string) bool {
	last := len(f.found) - 1
	return last >= 0 && f.found[last].File.Path == p && len(f.found[last].Lines) >= maxFoundLines
}
