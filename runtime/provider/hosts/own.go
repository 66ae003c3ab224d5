package hosts

import (
	"context"
	"regexp"
	"strings"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/provider/tool"
)

// own is a tool that a client has by what it has declared.
type own struct {
	tool     abi.Tool
	declared func(*Declared) bool
	call     func(ctx context.Context, h *Host, arguments jsontext.Value) (*abi.CallToolCallAnswer, error)
}

// ownTools are those of the client's files and terminals. What they are is ours to say.
func ownTools() []own {
	return []own{
		{abi.Tool{Name: abi.ToolReadFile, ReadOnly: true, Idempotent: true, Description: "Reads a text file of the user's, as the user's editor has it: what is not saved yet, too.",
			InputSchema: jsontext.Value(`{"type":"object","required":["path"],"properties":{"path":{"type":"string","description":"Absolute."},` +
				`"line":{"type":"integer","minimum":1,"description":"The first line that is read; the file's first is 1."},` +
				`"limit":{"type":"integer","minimum":1,"description":"How many lines are read."}},"additionalProperties":false}`)},
			func(d *Declared) bool { return d.ReadsFiles }, readFile},
		{abi.Tool{Name: abi.ToolWriteFile, Idempotent: true, Destructive: true, Description: "Writes a text file of the user's whole, in the user's editor. One that is not there is made.",
			InputSchema: jsontext.Value(`{"type":"object","required":["path","content"],"properties":{"path":{"type":"string","description":"Absolute."},` +
				`"content":{"type":"string"}},"additionalProperties":false}`)},
			func(d *Declared) bool { return d.WritesFiles }, writeFile},
		{abi.Tool{Name: abi.ToolRunTerminal, Destructive: true, OpenWorld: true, Description: "Runs a command in a terminal of the user's editor, and waits for its end.",
			InputSchema: jsontext.Value(`{"type":"object","required":["command"],"properties":{"command":{"type":"string","description":"The program, not a line of a shell."},` +
				`"args":{"type":"array","items":{"type":"string"}},"cwd":{"type":"string","description":"Absolute."},` +
				`"env":{"type":"object","additionalProperties":{"type":"string"}},` +
				`"output_byte_limit":{"type":"integer","minimum":1,"description":"The most of the output that is kept, from its end."}},"additionalProperties":false}`)},
			func(d *Declared) bool { return d.Terminals }, runTerminal},
	}
}

// read reads a tool's arguments. Its error is a *provider.Refusal.
func read[T any](arguments jsontext.Value) (a T, err error) {
	if err := json.Unmarshal(arguments, &a, json.RejectUnknownMembers(true)); err != nil {
		return a, provider.Malformed(err)
	}
	return a, nil
}

func invalid(why string) error { return provider.Refuse(abi.CallInvalid, tool.CodeInvalid, why) }

// ofWindows is how absolute paths begin there.
var ofWindows = regexp.MustCompile(`^([A-Za-z]:[\\/]|\\\\)`)

// checkPath refuses what is no absolute path, whatever the client's system is.
func checkPath(member, path string) error {
	switch {
	case !strings.HasPrefix(path, "/") && !ofWindows.MatchString(path):
		return invalid(member + " is an absolute path")
	case strings.ContainsRune(path, 0):
		return invalid(member + " has a byte 0, which is in no path")
	}
	return nil
}

type readParams struct {
	SessionID string  `json:"sessionId"`
	Path      string  `json:"path"`
	Line      *uint32 `json:"line,omitzero"`
	Limit     *uint32 `json:"limit,omitzero"`
}

// readFile asks the client for a text file.
func readFile(ctx context.Context, h *Host, arguments jsontext.Value) (*abi.CallToolCallAnswer, error) {
	a, err := read[struct {
		Path  string  `json:"path"`
		Line  *uint32 `json:"line"`
		Limit *uint32 `json:"limit"`
	}](arguments)
	if err == nil {
		err = checkPath("path", a.Path)
	}
	switch {
	case err != nil:
		return nil, err
	case a.Line != nil && *a.Line == 0:
		return nil, invalid("line counts from 1")
	case a.Limit != nil && *a.Limit == 0:
		return nil, invalid("limit is at least 1")
	}
	file, err := askFor[struct {
		Content *string `json:"content"`
	}](ctx, h, "fs/read_text_file", readParams{h.client.SessionID, a.Path, a.Line, a.Limit})
	if err != nil {
		return failed(ctx, err, abi.ToolReadFile, true)
	}
	if file.Content == nil {
		return nil, provider.Refuse(abi.CallUnavailable, tool.CodeUnavailable, "the client's answer has no content")
	}
	return text(*file.Content), nil
}

type writeParams struct {
	SessionID string `json:"sessionId"`
	Path      string `json:"path"`
	Content   string `json:"content"`
}

// writeFile has the client write a text file.
func writeFile(ctx context.Context, h *Host, arguments jsontext.Value) (*abi.CallToolCallAnswer, error) {
	a, err := read[struct {
		Path    string  `json:"path"`
		Content *string `json:"content"`
	}](arguments)
	if err == nil {
		err = checkPath("path", a.Path)
	}
	switch {
	case err != nil:
		return nil, err
	case a.Content == nil:
		return nil, invalid("content is missing")
	}
	if _, err := h.ask(ctx, "fs/write_text_file", writeParams{h.client.SessionID, a.Path, *a.Content}); err != nil {
		return failed(ctx, err, abi.ToolWriteFile, false)
	}
	return text("The file was written."), nil
}
