package hosttools

import (
	"fmt"
	"strings"
	"unicode/utf8"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
)

const (
	// readAtOnce is how much of a file a model is shown at once unless it asks for less, in bytes: a
	// whole answer, with what is said of it, fits into what agents pass on.
	readAtOnce = 60 << 10
	// listedAtOnce is how many files and folders it is told of.
	listedAtOnce = 500
	// foundAtOnce is how many matches, unless it asks for more.
	foundAtOnce = 100
)

// fileTools are those that work in the files of the Task's Workspace.
var fileTools = []Tool{
	{abi.Tool{Name: "file_read", ReadOnly: true, Idempotent: true, Description: "The content of a file of the workspace, as text: at most 60 KiB at once, from offset on (in bytes).",
		InputSchema: jsontext.Value(`{"type":"object","properties":{"path":{"type":"string"},"offset":{"type":"integer","minimum":0},"length":{"type":"integer","minimum":1}},"required":["path"]}`)},
		abi.ToolKindRead, abi.CallFileRead, fileRead, fileText},
	{abi.Tool{Name: "file_write", Idempotent: true, Description: "Writes a text file of the workspace. A file that is there is replaced; folders are made.",
		InputSchema: jsontext.Value(`{"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"}},"required":["path","content"]}`)},
		abi.ToolKindEdit, abi.CallFileWrite, fileWrite, writtenText},
	{abi.Tool{Name: "file_edit", Description: "Replaces a text in a file of the workspace by another. The old text must be exactly as in the file, and there once, unless all is true.",
		InputSchema: jsontext.Value(`{"type":"object","properties":{"path":{"type":"string"},"old":{"type":"string"},"new":{"type":"string"},"all":{"type":"boolean"}},"required":["path","old","new"]}`)},
		abi.ToolKindEdit, abi.CallFileEdit, fileEdit, editedText},
	{abi.Tool{Name: "file_list", ReadOnly: true, Idempotent: true, Description: "The files and folders in a folder of the workspace, by default its top; with recursive all files below it.",
		InputSchema: jsontext.Value(`{"type":"object","properties":{"path":{"type":"string"},"recursive":{"type":"boolean"}}}`)},
		abi.ToolKindRead, abi.CallFileList, fileList, listText},
	{abi.Tool{Name: "file_search", ReadOnly: true, Idempotent: true, Description: "Finds files of the workspace by a glob of their names (**/*.go), lines in them by grep (a regular expression, RE2), or both.",
		InputSchema: jsontext.Value(`{"type":"object","properties":{"glob":{"type":"string"},"grep":{"type":"string"},"path":{"type":"string"},"max_results":{"type":"integer","minimum":1,"maximum":1000}}}`)},
		abi.ToolKindSearch, abi.CallFileSearch, fileSearch, foundText},
	{abi.Tool{Name: "file_remove", Destructive: true, Description: "Removes a file of the workspace; with recursive a folder with all that is in it.",
		InputSchema: jsontext.Value(`{"type":"object","properties":{"path":{"type":"string"},"recursive":{"type":"boolean"}},"required":["path"]}`)},
		abi.ToolKindEdit, abi.CallFileRemove, fileRemove, removedText},
}

// InFiles returns the host call that a tool of a server stands for, when that works in the files of
// the Task's Workspace; else "". Such a tool's call is made as that call would be.
func InFiles(server, name string) string {
	if server != abi.ToolServerHost {
		return ""
	}
	for i := range fileTools {
		if fileTools[i].Name == name {
			return fileTools[i].Call
		}
	}
	return ""
}

// Changes returns the files and folders that arguments name for the node's tool to change.
func Changes(name string, arguments jsontext.Value) []string {
	var a struct {
		Path string `json:"path"`
	}
	t := Find(name)
	if t == nil || t.ReadOnly || InFiles(abi.ToolServerHost, name) == "" || json.Unmarshal(arguments, &a) != nil || a.Path == "" {
		return nil
	}
	return []string{within(a.Path)}
}

func fileRead(arguments jsontext.Value) (any, error) {
	var a struct {
		Path   string `json:"path"`
		Offset int64  `json:"offset"`
		Length int64  `json:"length"`
	}
	err := json.Unmarshal(arguments, &a)
	if a.Length == 0 || a.Length > readAtOnce {
		a.Length = readAtOnce
	}
	return abi.CallFileReadRequest{Path: within(a.Path), Offset: a.Offset, Length: a.Length}, err
}

func fileWrite(arguments jsontext.Value) (any, error) {
	var a struct {
		Path    string  `json:"path"`
		Content *string `json:"content"`
	}
	if err := json.Unmarshal(arguments, &a); err != nil {
		return nil, err
	}
	if a.Content == nil {
		return nil, abi.InvalidParam("content", "content is the text to write")
	}
	return abi.CallFileWriteRequest{Path: within(a.Path), Text: *a.Content}, nil
}

func fileEdit(arguments jsontext.Value) (any, error) {
	var a struct {
		Path string  `json:"path"`
		Old  string  `json:"old"`
		New  *string `json:"new"`
		All  bool    `json:"all"`
	}
	if err := json.Unmarshal(arguments, &a); err != nil {
		return nil, err
	}
	if a.New == nil {
		return nil, abi.InvalidParam("new", "new is the text that comes in the place of old")
	}
	return abi.CallFileEditRequest{Path: within(a.Path), Old: a.Old, New: *a.New, All: a.All}, nil
}

func fileList(arguments jsontext.Value) (any, error) {
	var a struct {
		Path      string `json:"path"`
		Recursive bool   `json:"recursive"`
	}
	err := json.Unmarshal(arguments, &a)
	return abi.CallFileListRequest{Path: within(a.Path), Recursive: a.Recursive, Limit: listedAtOnce}, err
}

// within takes the spellings that models have for paths within a Workspace: from its top, or from
// where they take themselves to be.
func within(p string) string {
	if p == "." {
		return ""
	}
	return strings.TrimLeft(strings.TrimPrefix(p, "./"), "/")
}

func fileSearch(arguments jsontext.Value) (any, error) {
	var a struct {
		Glob string `json:"glob"`
		Grep string `json:"grep"`
		Path string `json:"path"`
		Most int    `json:"max_results"`
	}
	if err := json.Unmarshal(arguments, &a); err != nil {
		return nil, err
	}
	if a.Glob == "" && a.Grep == "" {
		return nil, abi.InvalidParam("glob", "a search is by glob, grep or both")
	}
	if a.Most == 0 {
		a.Most = foundAtOnce
	}
	return abi.CallFileSearchRequest{Path: within(a.Path), Glob: a.Glob, Pattern: a.Grep, Limit: a.Most}, nil
}

func fileRemove(arguments jsontext.Value) (any, error) {
	var a struct {
		Path      string `json:"path"`
		Recursive bool   `json:"recursive"`
	}
	err := json.Unmarshal(arguments, &a)
	return abi.CallFileRemoveRequest{Path: within(a.Path), Recursive: a.Recursive}, err
}

// fileText is what was read, with where to go on when that is not all.
func fileText(answer []byte) string {
	var a abi.CallFileReadAnswer
	if json.Unmarshal(answer, &a) != nil {
		return asText(answer)
	}
	content := a.Text
	end := a.Offset + int64(len(a.Text)+len(a.Body))
	if len(a.Body) > 0 {
		whole := wholeCharacters(a.Body)
		if whole == "" {
			return fmt.Sprintf("[%s has %d bytes, and is no text]", a.Path, a.Size)
		}
		content, end = whole, a.Offset+int64(strings.LastIndex(string(a.Body), whole)+len(whole))
	}
	switch {
	case end < a.Size:
		return fmt.Sprintf("%s\n[bytes %d to %d of %d: go on with offset %d]", content, a.Offset, end, a.Size, end)
	case content == "":
		return fmt.Sprintf("[%s has %d bytes: none from %d on]", a.Path, a.Size, a.Offset)
	}
	return content
}

// wholeCharacters returns the text between characters that a range has cut; "" when it is none.
func wholeCharacters(body []byte) string {
	for i := 0; i < utf8.UTFMax && len(body) > 0 && !utf8.RuneStart(body[0]); i++ {
		body = body[1:]
	}
	for cut := range min(utf8.UTFMax, len(body)) {
		if text := body[:len(body)-cut]; utf8.Valid(text) && !strings.ContainsRune(string(text), 0) {
			return string(text)
		}
	}
	return ""
}

func writtenText(answer []byte) string {
	var a abi.CallFileWriteAnswer
	if json.Unmarshal(answer, &a) != nil {
		return asText(answer)
	}
	did := "replaced"
	if a.BeforeSHA256 == "" {
		did = "created"
	}
	return fmt.Sprintf("%s was %s: it has %d bytes", a.Path, did, a.Size)
}

func editedText(answer []byte) string {
	var a abi.CallFileEditAnswer
	if json.Unmarshal(answer, &a) != nil {
		return asText(answer)
	}
	return fmt.Sprintf("%s was changed in %d places: it has %d bytes", a.Path, a.Replaced, a.Size)
}

func removedText(answer []byte) string {
	var a abi.CallFileRemoveAnswer
	if json.Unmarshal(answer, &a) != nil {
		return asText(answer)
	}
	if a.BeforeSHA256 != "" {
		return a.Path + " was removed"
	}
	return fmt.Sprintf("%s was removed with the %d files in it", a.Path, len(a.Removed))
}

func listText(answer []byte) string {
	var a abi.CallFileListAnswer
	if json.Unmarshal(answer, &a) != nil {
		return asText(answer)
	}
	var out strings.Builder
	for _, e := range a.Entries {
		if e.Folder {
			fmt.Fprintf(&out, "%s/\n", e.Path)
		} else {
			fmt.Fprintf(&out, "%s\t%d bytes\n", e.Path, e.Size)
		}
	}
	return ended(&out, a.Next, "[there is more: list a folder in it]", "[it is empty]")
}

func foundText(answer []byte) string {
	var a abi.CallFileSearchAnswer
	if json.Unmarshal(answer, &a) != nil {
		return asText(answer)
	}
	var out strings.Builder
	for _, m := range a.Matches {
		if m.Line == 0 {
			fmt.Fprintf(&out, "%s\n", m.Path)
		} else {
			fmt.Fprintf(&out, "%s:%d: %s\n", m.Path, m.Line, m.Text)
		}
	}
	return ended(&out, a.Next, "[the search is not over: ask for less, or name a folder]", "[nothing was found]")
}

// ended returns a list as a model reads it: with what says that there is more, or nothing.
func ended(out *strings.Builder, next, more, nothing string) string {
	switch {
	case next != "":
		return out.String() + more
	case out.Len() == 0:
		return nothing
	}
	return strings.TrimSuffix(out.String(), "\n")
}
