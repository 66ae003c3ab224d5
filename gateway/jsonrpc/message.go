package jsonrpc

import (
	"bytes"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/abi/jsonw"
	"github.com/wharf-dev/wharf/abi/plainly"
)

// Codes of errors that JSON-RPC 2.0 itself defines.
const (
	CodeParse          = -32700
	CodeInvalidRequest = -32600
	CodeMethodNotFound = -32601
	CodeInvalidParams  = -32602
	CodeInternal       = -32603
)

// CodeBusy refuses a request beyond what runs at once; it is of the range for implementations.
const CodeBusy = -32000

// Error is an error as the other side reads it, and as it answers with.
type Error struct {
	Code    int            `json:"code"`
	Message string         `json:"message"`
	Data    jsontext.Value `json:"data,omitzero"`
}

// Error implements the error interface.
func (e *Error) Error() string { return fmt.Sprintf("%s (%d)", e.Message, e.Code) }

// Answered returns the code and the message, for who knows no JSON-RPC.
func (e *Error) Answered() (code int, message string) { return e.Code, e.Message }

// Errorf returns an error with a code and a message.
func Errorf(code int, format string, args ...any) *Error {
	plainly.Put(args)
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// message is any message, as it is read and written.
type message struct {
	Version string         `json:"jsonrpc"`
	ID      jsontext.Value `json:"id,omitzero"`
	Method  string         `json:"method,omitzero"`
	Params  jsontext.Value `json:"params,omitzero"`
	Result  jsontext.Value `json:"result,omitzero"`
	Error   *Error         `json:"error,omitzero"`
}

// kind is what a message is.
type kind uint8

const (
	invalid kind = iota
	request
	notification
	answer
)

// read reads a message. With an error, which is what to answer, the message has the id as far
// as it is known.
func read(text []byte) (*message, kind, *Error) {
	if abi.TooDeep(text, abi.MaxDepth) >= 0 {
		return &message{}, invalid, Errorf(CodeParse, "the message nests deeper than %d levels", abi.MaxDepth)
	}
	if !jsontext.Value(text).IsValid() {
		return &message{}, invalid, Errorf(CodeParse, "the message is not JSON")
	}
	if jsontext.Value(text).Kind() == '[' {
		return &message{}, invalid, Errorf(CodeInvalidRequest, "batches are not taken: send one message at a time")
	}
	m := &message{}
	if err := json.Unmarshal(text, m); err != nil {
		return &message{ID: idOf(text)}, invalid, Errorf(CodeInvalidRequest, "the message is no request of JSON-RPC 2.0")
	}
	kind, err := m.kind()
	if err != nil && m.ID != nil && !isID(m.ID) {
		m.ID = nil
	}
	return m, kind, err
}

// ReadRequest reads a request that comes by itself, such as by HTTP. With an error, which is what to
// answer, the request has the id as far as it is known.
func ReadRequest(text []byte) (*Request, *Error) {
	m, kind, wrong := read(text)
	r := &Request{Method: m.Method, Params: m.Params, ID: m.ID, Notification: kind == notification}
	if wrong == nil && kind == answer {
		wrong = Errorf(CodeInvalidRequest, "this is an answer, and nothing was asked")
	}
	return r, wrong
}

// kind tells what a message is, or what is wrong with it.
func (m *message) kind() (kind, *Error) {
	switch {
	case m.Version != "2.0":
		return invalid, Errorf(CodeInvalidRequest, `jsonrpc must be "2.0"`)
	case m.ID != nil && !isID(m.ID):
		return invalid, Errorf(CodeInvalidRequest, "an id is a string, a number or null")
	case m.Method == "" && (m.Result != nil) != (m.Error != nil) && m.ID != nil:
		return answer, nil
	case m.Method == "" || m.Result != nil || m.Error != nil:
		return invalid, Errorf(CodeInvalidRequest, "a request has a method; an answer has an id, and a result or an error")
	case m.Params != nil && m.Params.Kind() != '{' && m.Params.Kind() != '[':
		return invalid, Errorf(CodeInvalidRequest, "params are an object or a list")
	case m.ID == nil:
		return notification, nil
	}
	return request, nil
}

func isID(id jsontext.Value) bool {
	switch id.Kind() {
	case '"', '0', 'n':
		return true
	}
	return false
}

// idOf returns the id of a message of which another member cannot be read.
func idOf(text []byte) jsontext.Value {
	var m struct {
		ID jsontext.Value `json:"id"`
	}
	if json.Unmarshal(text, &m) != nil || m.ID == nil || !isID(m.ID) {
		return nil
	}
	return m.ID
}

// key is what an id is told from others by: 1 and "1" are two, "a" and "\u0061" one.
func key(id jsontext.Value) string {
	v := jsontext.Value(bytes.Clone(id))
	if v.Canonicalize() != nil {
		return string(id)
	}
	return string(v)
}

// encode writes a message on one line.
func encode(m *message) ([]byte, error) {
	m.Version = "2.0"
	text, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("encoding a message: %w", err)
	}
	return bytes.ReplaceAll(bytes.ReplaceAll(text, []byte("\n"), nil), []byte("\r"), nil), nil
}

// appendMethod begins a notification on one line, up to its params.
func appendMethod(b []byte, method string) []byte {
	b = append(b, `{"jsonrpc":"2.0","method":`...)
	return append(jsonw.String(b, method), `,"params":`...)
}
