package a2a

import (
	"maps"
	"slices"
	"strings"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/gateway/internal/agentcard"
	"github.com/wharf-dev/wharf/gateway/jsonrpc"
)

// operationRPC is the operation of the route that takes JSON-RPC.
const operationRPC = "rpc"

// call is a request that is being answered.
type call struct {
	*Adapter
	r       *gateway.Request
	dialect dialect
	scope   string         // what the caller must have
	params  jsontext.Value // nil where there are none
}

// method is a method of JSON-RPC.
type method struct {
	scope string  // what the caller must have
	in    version // the version that has it
	// do answers with what is encoded as the result.
	do func(*call) (any, error)
	// stream answers with a stream, in place of do.
	stream func(*call) error
}

// version is a version of the protocol.
type version uint8

const (
	either version = iota // of methods that are none of the protocol's own
	v10
	v03
)

// methods returns all methods by their names: a group for each matter.
func (a *Adapter) methods() map[string]method {
	all := map[string]method{}
	for _, group := range []map[string]method{a.taskMethods(), a.pushMethods(), a.cardMethods(), a.externalMethods()} {
		maps.Copy(all, group)
	}
	return all
}

// rpc answers a request by JSON-RPC.
func (a *Adapter) rpc(r *gateway.Request) error {
	body, err := r.JSONBody()
	if err != nil {
		return err
	}
	req, wrong := jsonrpc.ReadRequest(body)
	r.Call = req.ID
	if wrong != nil {
		return refuse(reasonOfRPC(wrong.Code), "%s", wrong.Message)
	}
	if req.Notification {
		return refuse(reasonRequest, "a request needs an id: nothing here is a notification")
	}
	m, known := a.table[req.Method]
	if err := checkVersion(r, m.in); err != nil {
		return err
	}
	if !known {
		return refuse(reasonMethod, "there is no method %q", req.Method)
	}
	if err := r.Require(m.scope); err != nil {
		return err
	}
	if req.Params != nil && req.Params.Kind() != '{' {
		return refuse(reasonParams, "the params of %s are an object", req.Method)
	}
	c := &call{a, r, dialect{old: m.in == v03, rpc: true, harn: activated(r)}, m.scope, req.Params}
	if m.stream != nil {
		return m.stream(c)
	}
	result, err := m.do(c)
	if err != nil {
		return err
	}
	return c.answer(result)
}

func reasonOfRPC(code int) abi.ErrorCode {
	if code == jsonrpc.CodeParse {
		return reasonParse
	}
	return reasonRequest
}

// answer answers by JSON-RPC with a result.
func (c *call) answer(result any) error {
	text, err := c.dialect.encode(result)
	if err != nil {
		return err
	}
	b := append([]byte(`{"jsonrpc":"2.0","id":`), c.r.Call...)
	b = append(append(append(b, `,"result":`...), text...), '}')
	c.r.Send(200, b)
	return nil
}

// decode reads the params.
func (c *call) decode(v any) error {
	if c.params == nil {
		c.params = abi.EmptyObject()
	}
	if err := c.r.DecodeText(c.params, v); err != nil {
		return asParams(err)
	}
	return nil
}

// asParams says of an error of a text that it is about the params.
func asParams(err error) error {
	if wrong, ok := err.(*abi.Error); ok && wrong.Code == abi.CodeInvalidRequest {
		shown := *wrong
		shown.Code = reasonParams
		return &shown
	}
	return err
}

// The headers of the protocol, and the query parameter that stands for the first.
const (
	headerVersion    = "A2A-Version"
	headerExtensions = "A2A-Extensions"
	// Before 1.0 it had another name.
	headerOldExtensions = "X-A2A-Extensions"
)

// checkVersion holds the version that a client names against that of what it asks for. One that
// names none is told by what it asks for: the methods and paths of the versions have nothing in common.
func checkVersion(r *gateway.Request, asked version) error {
	named := r.Header(headerVersion)
	if named == "" {
		named = r.Query(headerVersion)
	}
	if named == "" {
		return nil
	}
	is, known := versionNamed(named)
	if !known {
		return refuse(reasonVersion, "version %q of A2A is not spoken here: 1.0 and 0.3 are", named)
	}
	if asked != either && asked != is {
		return refuse(reasonMethod, "version %s of A2A, which the request names, has nothing of this name", named)
	}
	return nil
}

// versionNamed reads a version: what is behind its second number changes nothing.
func versionNamed(name string) (is version, known bool) {
	numbers := strings.SplitN(name, ".", 3)
	switch strings.Join(numbers[:min(2, len(numbers))], ".") {
	case "1", "1.0":
		return v10, true
	case "0.3":
		return v03, true
	}
	return either, false
}

// activated reports whether a client wants the entries of [agentcard.Extension] at the root of what a stream
// tells. The answer says that it gets them.
func activated(r *gateway.Request) bool {
	for _, name := range []string{headerExtensions, headerOldExtensions} {
		for _, value := range r.HTTP.Request.Header.PeekAll(name) {
			wanted := strings.FieldsFunc(string(value), func(c rune) bool { return c == ',' || c == ' ' })
			if slices.Contains(wanted, agentcard.Extension) {
				r.SetHeader(name, agentcard.Extension)
				return true
			}
		}
	}
	return false
}

// encode writes v, which is in the words of 1.0, as the dialect has it.
func (d dialect) encode(v any) ([]byte, error) {
	return json.Marshal(d.words(v), json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
}
