package wharf

import (
	"time"

	"github.com/wharf-dev/wharf/sdk/go/internal/hostcall"
)

// ReadFileRequest says what [ReadFileRange] reads. A Length of 0 reads to the end, as far as one call
// goes.
type ReadFileRequest struct {
	// CallID names this call: a replay can be given another answer for it.
	CallID string `json:"call_id,omitempty"`
	Path   string `json:"path"` // names separated by /, relative to the Workspace
	Offset int64  `json:"offset,omitempty"`
	Length int64  `json:"length,omitempty"`
}

// FileContent is what was read of a file: Text when it is UTF-8, else Body.
type FileContent struct {
	Path      string    `json:"path"`
	Size      int64     `json:"size"`             // of the whole file
	SHA256    string    `json:"sha256,omitempty"` // of the whole file, hex; empty for one of more than 8 MiB
	UpdatedAt time.Time `json:"updated_at"`
	Text      string    `json:"text,omitempty"`
	Body      []byte    `json:"body,omitempty"`
}

// Bytes returns what was read.
func (c *FileContent) Bytes() []byte {
	if len(c.Body) > 0 {
		return c.Body
	}
	return []byte(c.Text)
}

// ReadFileRange reads a range of a file of the Workspace.
func ReadFileRange(r ReadFileRequest) (FileContent, error) {
	var content FileContent
	err := ask(hostcall.NameFileRead, hostcall.FileRead, r, &content)
	return content, err
}

// fileChunk is how much [ReadFile] reads at a time.
const fileChunk = 1 << 20

// ReadFile reads a whole file of the Workspace, which is not to change meanwhile: if it does,
// the error is [StatusUnavailable].
func ReadFile(path string) ([]byte, error) {
	var content []byte
	for {
		part, err := ReadFileRange(ReadFileRequest{Path: path, Offset: int64(len(content)), Length: fileChunk})
		if err != nil {
			return nil, err
		}
		content = append(content, part.Bytes()...)
		switch {
		case int64(len(content)) >= part.Size:
			return content, nil
		case len(part.Bytes()) == 0:
			return nil, &Error{Call: hostcall.NameFileRead, Status: StatusUnavailable, Message: "the file has changed while it was read"}
		}
	}
}

// FileMode says what [WriteFileAs] does with a file that is there.
type FileMode string

// The modes of writing.
const (
	FileReplace FileMode = "replace" // the content becomes the file's; the default
	FileCreate  FileMode = "create"  // the file must not be there
	FileAppend  FileMode = "append"  // the content goes to the end
)

// WriteFileRequest says what [WriteFileAs] writes: Text or Body.
type WriteFileRequest struct {
	Path string   `json:"path"`
	Text string   `json:"text,omitempty"`
	Body []byte   `json:"body,omitempty"`
	Mode FileMode `json:"mode,omitempty"`
	// SHA256 is what the file must have before, hex: another one is left as it is, and the
	// code of the error is conflict.
	SHA256 string `json:"sha256,omitempty"`
}

// WrittenFile is a file that was written.
type WrittenFile struct {
	Path         string `json:"path"`
	Size         int64  `json:"size"`
	SHA256       string `json:"sha256"`                  // hex
	BeforeSHA256 string `json:"before_sha256,omitempty"` // what was there before; empty when the file is new
}

// WriteFileAs writes a file of the Workspace, whole or not at all.
func WriteFileAs(r WriteFileRequest) (WrittenFile, error) {
	var written WrittenFile
	err := ask(hostcall.NameFileWrite, hostcall.FileWrite, r, &written)
	return written, err
}

// WriteFile makes the content that of a file of the Workspace.
func WriteFile(path string, content []byte) (WrittenFile, error) {
	return WriteFileAs(WriteFileRequest{Path: path, Body: content})
}

// EditFileRequest says what [EditFile] replaces in a file: Old, which is there once, unless All is set,
// by New.
type EditFileRequest struct {
	Path string `json:"path"`
	Old  string `json:"old"`
	New  string `json:"new"`
	All  bool   `json:"all,omitempty"`
	// SHA256 is what the file must have before, hex: another one is left as it is, and the
	// code of the error is conflict.
	SHA256 string `json:"sha256,omitempty"`
}

// EditedFile is a file that was edited.
type EditedFile struct {
	Path         string `json:"path"`
	Size         int64  `json:"size"`
	SHA256       string `json:"sha256"` // hex
	BeforeSHA256 string `json:"before_sha256"`
	Replaced     int    `json:"replaced"` // how often the old text was there
}

// EditFile replaces a text within a file of the Workspace, by one change. A text that is not there, or
// more than once without All, is an error with the code conflict.
func EditFile(r EditFileRequest) (EditedFile, error) {
	var edited EditedFile
	err := ask(hostcall.NameFileEdit, hostcall.FileEdit, r, &edited)
	return edited, err
}

// RemoveFolder removes a folder of the Workspace with all that is in it: at most 1,000 files and folders.
func RemoveFolder(path string) error {
	return ask(hostcall.NameFileRemove, hostcall.FileRemove, struct {
		Path      string `json:"path"`
		Recursive bool   `json:"recursive"`
	}{path, true}, nil)
}

// RemoveFile removes a file of the Workspace. sha256 is what it must have, hex; empty for
// anything.
func RemoveFile(path, sha256 string) error {
	return ask(hostcall.NameFileRemove, hostcall.FileRemove, struct {
		Path   string `json:"path"`
		SHA256 string `json:"sha256,omitempty"`
	}{path, sha256}, nil)
}

// ListFilesRequest says what [ListFiles] lists.
type ListFilesRequest struct {
	CallID    string `json:"call_id,omitempty"`
	Path      string `json:"path,omitempty"`      // of the folder; empty for the Workspace
	Recursive bool   `json:"recursive,omitempty"` // all files below it, and no folders
	After     string `json:"after,omitempty"`     // the Next of the page before
	Limit     int    `json:"limit,omitempty"`     // 1 to 1,000; default 100
}

// FileEntry is a file or folder in a list.
type FileEntry struct {
	Path      string    `json:"path"`
	Folder    bool      `json:"folder,omitempty"`
	Size      int64     `json:"size,omitempty"`
	UpdatedAt time.Time `json:"updated_at"` // of a file
}

// FilePage is a page of a list. Next is empty on the last one.
type FilePage struct {
	Entries []FileEntry `json:"entries"`
	Next    string      `json:"next,omitempty"`
}

// ListFiles lists a folder of the Workspace.
func ListFiles(r ListFilesRequest) (FilePage, error) {
	var page FilePage
	err := ask(hostcall.NameFileList, hostcall.FileList, r, &page)
	return page, err
}

// SearchFilesRequest says what [SearchFiles] looks for: lines with Text or lines that match Pattern;
// without either, the files that Glob names.
type SearchFilesRequest struct {
	CallID     string `json:"call_id,omitempty"`
	Path       string `json:"path,omitempty"` // of the folder to search; empty for the Workspace
	Glob       string `json:"glob,omitempty"` // *, ?, [a-z], and ** for folders; without a / of names
	Text       string `json:"text,omitempty"`
	Pattern    string `json:"pattern,omitempty"` // a regular expression (RE2)
	IgnoreCase bool   `json:"ignore_case,omitempty"`
	After      string `json:"after,omitempty"` // the Next of the answer before
	Limit      int    `json:"limit,omitempty"` // 1 to 1,000; default 100
}

// FileMatch is a line of a file, or a file: then Line is 0.
type FileMatch struct {
	Path string `json:"path"`
	Line int    `json:"line,omitempty"`
	Text string `json:"text,omitempty"`
}

// FileMatches is what a search has found. Next is empty when it is over; it may be set when
// nothing was found yet.
type FileMatches struct {
	Matches []FileMatch `json:"matches"`
	Next    string      `json:"next,omitempty"`
}

// SearchFiles searches the files of the Workspace.
func SearchFiles(r SearchFilesRequest) (FileMatches, error) {
	var found FileMatches
	err := ask(hostcall.NameFileSearch, hostcall.FileSearch, r, &found)
	return found, err
}
