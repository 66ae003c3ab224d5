package client

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// acpLine is a line that the client says, or why it is none to pass on.
type acpLine struct {
	text []byte
	code int // of err, as JSON-RPC has it
	err  error
}

// Codes of JSON-RPC, and of the protocol.
const (
	codeParse        = -32700
	codeInvalid      = -32600
	codeParams       = -32602
	codeInternal     = -32603
	codeAuthRequired = -32000
)

// readACP reads lines until the client says no more, or the context ends.
func readACP(ctx context.Context, in io.Reader, lines chan<- acpLine) {
	defer close(lines)
	for line := range acpLines(in, maxACPLine) {
		select {
		case lines <- line:
		case <-ctx.Done():
			return
		}
	}
}

// acpLines yields the lines of in that are not empty, the last one also without its end. One with more than most
// bytes, or that is not JSON, is told as such, and the next is read.
func acpLines(in io.Reader, most int) func(yield func(acpLine) bool) {
	return func(yield func(acpLine) bool) {
		r := bufio.NewReaderSize(in, 16<<10)
		for {
			text, tooLong, err := oneLine(r, most)
			if text = bytes.TrimSpace(text); (tooLong || len(text) > 0) && !yield(checkACP(text, tooLong, most)) {
				return
			}
			if err != nil {
				return
			}
		}
	}
}

// oneLine reads a line, without its end. Of one that is too long nothing is kept.
func oneLine(r *bufio.Reader, most int) (line []byte, tooLong bool, err error) {
	for {
		part, err := r.ReadSlice('\n')
		part = bytes.TrimSuffix(part, []byte("\n"))
		if tooLong = tooLong || len(line)+len(part) > most; tooLong {
			line = nil
		} else {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, tooLong, err
		}
	}
}

func checkACP(text []byte, tooLong bool, most int) acpLine {
	if tooLong {
		return acpLine{code: codeInvalid, err: fmt.Errorf("this line has more than %d MB", most>>20)}
	}
	if !jsontext.Value(text).IsValid(jsontext.AllowDuplicateNames(true)) { // which the node refuses
		return acpLine{code: codeParse, err: errors.New("this line is not JSON")}
	}
	return acpLine{text: text}
}

// acpMessage is a message, as far as the pipe reads it. A member of another type than is looked for is the node's,
// or the client's, to refuse.
type acpMessage struct {
	text []byte

	ID     jsontext.Value `json:"id"`
	Method jsontext.Value `json:"method"`
	Params jsontext.Value `json:"params"`
	Result jsontext.Value `json:"result"`
	Error  jsontext.Value `json:"error"`

	method string
	params acpParams
}

// acpParams are the members of params, and of a result, that the pipe looks at.
type acpParams struct {
	SessionID  jsontext.Value `json:"sessionId"`
	CWD        jsontext.Value `json:"cwd"`
	MCPServers jsontext.Value `json:"mcpServers"`
	RequestID  jsontext.Value `json:"requestId"`
	ToolCall   jsontext.Value `json:"toolCall"`
	Meta       jsontext.Value `json:"_meta"`
	Name       jsontext.Value `json:"name"`
	Args       jsontext.Value `json:"args"`
}

var lenientNames = jsontext.AllowDuplicateNames(true)

func readMessage(text []byte) *acpMessage {
	m := &acpMessage{}
	_ = json.Unmarshal(text, m, lenientNames) // an array has none of these members
	m.text = text                             // last: null empties all that it is read into
	m.method = textOf(m.Method)
	m.params = paramsOf(m.Params)
	return m
}

func paramsOf(v jsontext.Value) (p acpParams) {
	_ = json.Unmarshal(v, &p, lenientNames)
	return p
}

// request reports whether an answer is due. The id may be null.
func (m *acpMessage) request() bool { return m.method != "" && m.ID != nil }

// answer reports whether it answers a request.
func (m *acpMessage) answer() bool {
	return m.method == "" && m.ID != nil && (m.Result != nil || m.Error != nil)
}

func (m *acpMessage) session() string { return textOf(m.params.SessionID) }

// textOf is the text that a value is, "" where it is none.
func textOf(v jsontext.Value) (s string) {
	if v.Kind() == '"' {
		_ = json.Unmarshal(v, &s)
	}
	return s
}

// at is the value below an object's members of these names; nil where there is none.
func at(v jsontext.Value, path ...string) jsontext.Value {
	for _, name := range path {
		var members map[string]jsontext.Value
		if v.Kind() != '{' || json.Unmarshal(v, &members, lenientNames) != nil {
			return nil
		}
		v = members[name]
	}
	return v
}

// put returns an object in which the member at path has this value. With nil the member is taken out, and so are
// the objects that hold nothing else.
func put(object, value jsontext.Value, path ...string) (jsontext.Value, error) {
	if len(path) == 0 {
		return value, nil
	}
	members := map[string]jsontext.Value{}
	if len(object) > 0 && object.Kind() != 'n' {
		if err := json.Unmarshal(object, &members); err != nil {
			return nil, fmt.Errorf("looking for %s: %w", path[0], err)
		}
	}
	inner, err := put(members[path[0]], value, path[1:]...)
	if err != nil {
		return nil, err
	}
	if members[path[0]] = inner; inner == nil {
		delete(members, path[0])
	}
	if len(members) == 0 && value == nil {
		return nil, nil
	}
	text, err := json.Marshal(members, json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("setting %s: %w", path[0], err)
	}
	return text, nil
}

// putOr is as put, and leaves an object as it is where it is none that can be changed: the node refuses it.
func putOr(object, value jsontext.Value, path ...string) jsontext.Value {
	if changed, err := put(object, value, path...); err == nil {
		return changed
	}
	return object
}

func quoted(s string) jsontext.Value {
	text, err := jsontext.AppendQuote(nil, strings.ToValidUTF8(s, "\uFFFD"))
	if err != nil {
		return jsontext.Value(`""`)
	}
	return text
}

// failed is the answer to a request that the pipe gives up.
func failed(id jsontext.Value, code int, message string) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%s}}`, id, code, quoted(message))
}

// request of the pipe's own.
func ask(id, method string, params jsontext.Value) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"method":%s,"params":%s}`, quoted(id), quoted(method), params)
}

// notify makes a notification of the pipe's own.
func notify(method string) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","method":%s,"params":{}}`, quoted(method))
}
