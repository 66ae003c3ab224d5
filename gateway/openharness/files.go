package openharness

import (
	"cmp"
	"errors"
	"io"
	"path"
	"strings"

	"github.com/valyala/fasthttp"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/gateway/api"
)

// The files of a harness are those of its Workspace. Their paths are within it; a / before them is
// its top, too.

const (
	downloads = "/download" // ends the path of a file that is to be saved
	mediaZip  = "application/zip"
	// mostListed is how many files and folders one list has at most. The protocol has no pages of
	// them: limit and offset are this server's.
	mostListed = 10_000
	mostFound  = 1000
)

func (a *Adapter) fileRoutes() []gateway.Route {
	const reads, writes, one = "workspaces:read", "workspaces:write", "files/{path:*}"
	all := []gateway.Route{
		read("files", "files.list", reads, "List files and folders", a.at(a.listFiles)),
		read(one, "files.read", reads, "Read a file, or download it", a.at(a.readFile)),
		write(fasthttp.MethodPut, one, "files.write", writes, "Write a file", statusOK, a.at(a.writeFile)),
		remove(one, "files.delete", writes, "Remove a file or folder", a.at(a.deleteFile)),
		post("files/search", "files.search", reads, "Find files by name and content", statusOK, a.at(a.searchFiles)),
		post("files/upload", "files.upload", writes, "Upload a file", statusCreated, a.at(a.uploadFile)),
		post("files/upload-batch", "files.uploadBatch", writes, "Upload files", statusOK, a.at(a.uploadFiles)),
		post("files/download-batch", "files.downloadBatch", reads, "Download files as a zip", statusOK, a.at(a.downloadFiles)),
		post("files/mkdir", "files.mkdir", writes, "Make a folder", statusCreated, a.at(a.makeFolder)),
	}
	bodies := map[string]gateway.BodyKind{"files.write": gateway.BodyRaw, "files.upload": gateway.BodyMultipart, "files.uploadBatch": gateway.BodyMultipart}
	for i := range all {
		all[i].Idempotent = false // a file is written again by writing it again
		if kind, ok := bodies[all[i].Operation]; ok {
			all[i].Body = kind
		}
	}
	return all
}

// fileInfo is a file or folder as the protocol shows it.
type fileInfo struct {
	Path       string   `json:"path"`
	Name       string   `json:"name"`
	Type       string   `json:"type"`
	SizeBytes  *int64   `json:"size_bytes,omitzero"`
	MimeType   string   `json:"mime_type,omitzero"`
	ModifiedAt abi.Time `json:"modified_at"`
}

func fileInfoOf(f *abi.File) fileInfo {
	info := fileInfo{Path: f.Path, Name: path.Base(f.Path), Type: "directory", MimeType: f.MediaType, ModifiedAt: f.UpdatedAt}
	if f.Object == "file" {
		info.Type, info.SizeBytes = "file", &f.Size
	}
	return info
}

type fileAnswer struct {
	File    fileInfo `json:"file"`
	Created bool     `json:"created"`
}

// wrote answers with a file or folder that is there now.
func wrote(r *gateway.Request, f *abi.File, created bool) error {
	if created {
		return send(r, statusCreated, fileAnswer{fileInfoOf(f), true})
	}
	return send(r, statusOK, fileAnswer{fileInfoOf(f), false})
}

// inWorkspace returns a path as the Workspace has it; "" is all of it.
func inWorkspace(p string) string { return strings.TrimPrefix(p, "/") }

// fileAt returns the path that a request's own path ends with. What is written in another way there
// could mean two files to two servers.
func fileAt(r *gateway.Request) (string, error) {
	raw, _ := r.HTTP.UserValue("path").(string)
	if strings.Contains(strings.ToLower(raw), "%2f") {
		return "", abi.InvalidParam("path", "a path has its folders separated by /, not by %%2F")
	}
	return inWorkspace(r.PathValue("path")), nil
}

type listFilesAnswer struct {
	Files   []fileInfo `json:"files"`
	Path    string     `json:"path"`
	HasMore bool       `json:"has_more"`
}

func (a *Adapter) listFiles(r *gateway.Request, h *abi.Harness) error {
	w := api.FileWalk{Path: inWorkspace(r.Query("path"))}
	var err error
	if w.Recursive, err = flag(r, "recursive", false); err != nil {
		return err
	}
	if w.Limit, err = number(r, "limit", mostListed, 1, mostListed); err != nil {
		return err
	}
	if w.Offset, err = number(r, "offset", 0, 0, 1<<30); err != nil {
		return err
	}
	all, more, err := a.core.WalkFiles(r.Context(), r.Caller, h.WorkspaceID, w)
	if err != nil {
		return err
	}
	list := listFilesAnswer{Files: make([]fileInfo, len(all)), Path: cmp.Or(strings.TrimSuffix(w.Path, "/"), "/"), HasMore: more}
	for i := range all {
		list.Files[i] = fileInfoOf(&all[i])
	}
	return send(r, statusOK, list)
}

func (a *Adapter) readFile(r *gateway.Request, h *abi.Harness) error {
	p, err := fileAt(r)
	if err != nil {
		return err
	}
	of, saved := strings.CutSuffix(p, downloads)
	f, content, err := a.core.OpenFile(r.Context(), r.Caller, h.WorkspaceID, of)
	if missing, ok := errors.AsType[*abi.Error](err); saved && ok && missing.Code == abi.CodeResourceNotFound { // a file may have that name
		saved = false
		f, content, err = a.core.OpenFile(r.Context(), r.Caller, h.WorkspaceID, p)
	}
	if err != nil {
		return err
	}
	if err := a.sendFile(r, &f, content, saved); err != nil {
		return errors.Join(err, content.Close())
	}
	return nil
}

// sendFile answers with a file, or with the part of it that is asked for. It owns the content when it returns nil.
func (a *Adapter) sendFile(r *gateway.Request, f *abi.File, content api.FileContent, saved bool) error {
	etag := `"` + f.SHA256 + `"`
	r.SetHeader("ETag", etag)
	r.SetHeader("Accept-Ranges", "bytes")
	part, partial, err := r.WantedRange(etag, f.Size)
	if err != nil {
		return err
	}
	if partial {
		r.Partial(part, f.Size)
	}
	r.SetHeader("Content-Type", f.MediaType)
	if saved {
		r.SetHeader("Content-Disposition", disposition(path.Base(f.Path)))
	}
	a.sendStream(r, io.NewSectionReader(content, part.Start, part.Length), content, part.Length)
	return nil
}

func (a *Adapter) writeFile(r *gateway.Request, h *abi.Harness) error {
	p, err := fileAt(r)
	if err != nil {
		return err
	}
	content, err := a.fileContent(r)
	if err != nil {
		return err
	}
	when := api.FileCondition{Match: r.Header("If-Match"), Absent: r.Header("If-None-Match") == "*"}
	f, created, err := a.core.WriteFile(r.Context(), r.Caller, h.WorkspaceID, p, content, when)
	if err != nil {
		return err
	}
	r.SetHeader("ETag", `"`+f.SHA256+`"`)
	return wrote(r, &f, created)
}

// deleteFile removes what is at a path. A folder that is not empty goes in parts, in which others
// have their turn: a client that leaves finds the rest.
func (a *Adapter) deleteFile(r *gateway.Request, h *abi.Harness) error {
	p, err := fileAt(r)
	if err != nil {
		return err
	}
	recursive, err := flag(r, "recursive", false)
	if err != nil {
		return err
	}
	f, err := a.core.FindEntry(r.Context(), r.Caller, h.WorkspaceID, p)
	switch {
	case err != nil:
	case f.Object == "file":
		err = a.core.RemoveFile(r.Context(), r.Caller, h.WorkspaceID, f.Path, api.FileCondition{Match: r.Header("If-Match")})
	default:
		_, err = a.core.RemoveFolder(r.Context(), r.Caller, h.WorkspaceID, f.Path, recursive)
	}
	if err != nil {
		return err
	}
	return empty(r)
}

type searchFilesRequest struct {
	Glob string `json:"glob"`
	Grep string `json:"grep"`
	Path string `json:"path"`
	Max  *int   `json:"max_results"`
}

type fileMatch struct {
	File  fileInfo    `json:"file"`
	Lines []lineMatch `json:"line_matches,omitzero"`
}

type lineMatch struct {
	Number  int    `json:"line_number"`
	Content string `json:"content"`
}

type searchFilesAnswer struct {
	Matches   []fileMatch `json:"matches"`
	Truncated bool        `json:"truncated"` // there may be more
}

func (a *Adapter) searchFiles(r *gateway.Request, h *abi.Harness) error {
	req, _, err := decode[searchFilesRequest](r)
	if err != nil {
		return err
	}
	q := api.FileQuery{Path: inWorkspace(req.Path), Glob: req.Glob, Pattern: req.Grep}
	if q.Glob == "" && q.Pattern == "" {
		return abi.InvalidParam("glob", "a search is by glob, grep or both")
	}
	if req.Max != nil {
		if q.Most = *req.Max; q.Most < 1 || q.Most > mostFound {
			return abi.InvalidParam("max_results", "max_results is a whole number of 1 to %d", mostFound)
		}
	}
	found, whole, err := a.core.FindFiles(r.Context(), r.Caller, h.WorkspaceID, q)
	if err != nil {
		return err
	}
	answer := searchFilesAnswer{Matches: make([]fileMatch, len(found)), Truncated: !whole}
	for i := range found {
		answer.Matches[i].File = fileInfoOf(&found[i].File)
		for _, line := range found[i].Lines {
			answer.Matches[i].Lines = append(answer.Matches[i].Lines, lineMatch{line.Line, line.Text})
		}
	}
	return send(r, statusOK, answer)
}

type makeFolderRequest struct {
	Path string `json:"path"`
}

func (a *Adapter) makeFolder(r *gateway.Request, h *abi.Harness) error {
	req, _, err := decode[makeFolderRequest](r)
	if err != nil {
		return err
	}
	f, created, err := a.core.MakeFolder(r.Context(), r.Caller, h.WorkspaceID, inWorkspace(req.Path))
	if err != nil {
		return err
	}
	return wrote(r, &f, created)
}
