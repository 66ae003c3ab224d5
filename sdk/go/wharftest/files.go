//go:build !wasip1

package wharftest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	wharf "github.com/wharf-dev/wharf/sdk/go"
	"github.com/wharf-dev/wharf/sdk/go/internal/hostcall"
)

func hashOf(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

func noFile(p string) (uint32, []byte) {
	return refused(&wharf.Error{Status: wharf.StatusNotFound, Code: "resource_not_found", Message: "there is no file " + p})
}

func conflict(p string) (uint32, []byte) {
	return refused(&wharf.Error{Status: wharf.StatusInvalid, Code: "conflict", Message: p + " is not what the request expects it to be"})
}

func (h *Host) readFile(request []byte) (uint32, []byte) {
	var r wharf.ReadFileRequest
	if err := json.Unmarshal(request, &r); err != nil || r.Offset < 0 || r.Length < 0 {
		return invalid("offset and length are not negative")
	}
	content, ok := h.Files[r.Path]
	if !ok {
		return noFile(r.Path)
	}
	answer := wharf.FileContent{Path: r.Path, Size: int64(len(content)), SHA256: hashOf(content), UpdatedAt: h.Now}
	content = content[min(r.Offset, int64(len(content))):]
	if r.Length > 0 {
		content = content[:min(r.Length, int64(len(content)))]
	}
	if utf8.Valid(content) {
		answer.Text = string(content)
	} else {
		answer.Body = content
	}
	return hostcall.OK, mustMarshal(answer)
}

func (h *Host) writeFile(request []byte) (uint32, []byte) {
	var r wharf.WriteFileRequest
	if err := json.Unmarshal(request, &r); err != nil || r.Path == "" || r.Text != "" && len(r.Body) > 0 {
		return invalid("a file has a path, and a text or a body")
	}
	answer := wharf.WrittenFile{Path: r.Path}
	before, ok := h.Files[r.Path]
	if ok {
		answer.BeforeSHA256 = hashOf(before)
	}
	if ok && r.Mode == wharf.FileCreate || r.SHA256 != "" && r.SHA256 != answer.BeforeSHA256 {
		return conflict(r.Path)
	}
	content := append([]byte(r.Text), r.Body...)
	if r.Mode == wharf.FileAppend {
		content = slices.Concat(before, content)
	}
	if h.Files == nil {
		h.Files = map[string][]byte{}
	}
	h.Files[r.Path] = content
	answer.Size, answer.SHA256 = int64(len(content)), hashOf(content)
	return hostcall.OK, mustMarshal(answer)
}

func (h *Host) editFile(request []byte) (uint32, []byte) {
	var r wharf.EditFileRequest
	if err := json.Unmarshal(request, &r); err != nil || r.Old == "" || r.Old == r.New {
		return invalid("old is a text, and new another")
	}
	before, ok := h.Files[r.Path]
	count := bytes.Count(before, []byte(r.Old))
	switch {
	case !ok:
		return noFile(r.Path)
	case count == 0, count > 1 && !r.All, r.SHA256 != "" && r.SHA256 != hashOf(before):
		return conflict(r.Path)
	}
	content := bytes.ReplaceAll(before, []byte(r.Old), []byte(r.New))
	h.Files[r.Path] = content
	return hostcall.OK, mustMarshal(wharf.EditedFile{Path: r.Path, Size: int64(len(content)), SHA256: hashOf(content), BeforeSHA256: hashOf(before), Replaced: count})
}

func (h *Host) removeFile(request []byte) (uint32, []byte) {
	var r struct {
		Path      string `json:"path"`
		SHA256    string `json:"sha256"`
		Recursive bool   `json:"recursive"`
	}
	if err := json.Unmarshal(request, &r); err != nil {
		return invalid("%v", err)
	}
	content, ok := h.Files[r.Path]
	if inside := h.below(r.Path); !ok && len(inside) > 0 {
		return h.removeFolder(r.Path, inside, r.Recursive)
	}
	switch {
	case !ok:
		return noFile(r.Path)
	case r.SHA256 != "" && r.SHA256 != hashOf(content):
		return conflict(r.Path)
	}
	delete(h.Files, r.Path)
	return hostcall.OK, mustMarshal(map[string]string{"path": r.Path, "before_sha256": hashOf(content)})
}

// removeFolder removes the files in a folder.
func (h *Host) removeFolder(folder string, inside []string, recursive bool) (uint32, []byte) {
	if !recursive {
		return conflict(folder)
	}
	for _, p := range inside {
		delete(h.Files, p)
	}
	return hostcall.OK, mustMarshal(map[string]string{"path": folder, "before_sha256": ""})
}

// below returns the paths of the files in a folder, in order.
func (h *Host) below(folder string) (paths []string) {
	folder = strings.TrimSuffix(folder, "/")
	for _, p := range slices.Sorted(maps.Keys(h.Files)) {
		if folder == "" || strings.HasPrefix(p, folder+"/") {
			paths = append(paths, p)
		}
	}
	return paths
}

// listFiles answers with one page, whatever the limit.
func (h *Host) listFiles(request []byte) (uint32, []byte) {
	var r wharf.ListFilesRequest
	if err := json.Unmarshal(request, &r); err != nil {
		return invalid("%v", err)
	}
	page := wharf.FilePage{Entries: []wharf.FileEntry{}}
	for _, p := range h.below(r.Path) {
		e := wharf.FileEntry{Path: p, Size: int64(len(h.Files[p])), UpdatedAt: h.Now}
		if rest := strings.TrimPrefix(p[len(strings.TrimSuffix(r.Path, "/")):], "/"); !r.Recursive && strings.Contains(rest, "/") {
			name, _, _ := strings.Cut(rest, "/")
			e = wharf.FileEntry{Path: path.Join(r.Path, name), Folder: true}
		}
		if n := len(page.Entries); e.Path > r.After && (n == 0 || page.Entries[n-1].Path != e.Path) {
			page.Entries = append(page.Entries, e)
		}
	}
	return hostcall.OK, mustMarshal(page)
}

// searchFiles answers with all matches at once, whatever the limit. A glob is matched with
// the files' names alone.
func (h *Host) searchFiles(request []byte) (uint32, []byte) {
	var r wharf.SearchFilesRequest
	if err := json.Unmarshal(request, &r); err != nil || r.Text != "" && r.Pattern != "" {
		return invalid("a search is for text or a pattern")
	}
	pattern := r.Pattern
	if r.Text != "" {
		pattern = regexp.QuoteMeta(r.Text)
	}
	if r.IgnoreCase {
		pattern = "(?i:" + pattern + ")"
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return invalid("%v", err)
	}
	found := wharf.FileMatches{Matches: []wharf.FileMatch{}}
	for _, p := range h.below(r.Path) {
		if ok, err := path.Match(path.Base(r.Glob), path.Base(p)); r.Glob != "" && (err != nil || !ok) {
			continue
		}
		if r.Text == "" && r.Pattern == "" {
			found.Matches = append(found.Matches, wharf.FileMatch{Path: p})
			continue
		}
		for i, line := range bytes.Split(h.Files[p], []byte("\n")) {
			if re.Match(line) {
				found.Matches = append(found.Matches, wharf.FileMatch{Path: p, Line: i + 1, Text: string(line)})
			}
		}
	}
	return hostcall.OK, mustMarshal(found)
}
