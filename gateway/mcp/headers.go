package mcp

import (
	"context"
	"encoding/base64"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wharf-dev/wharf/gateway/jsonrpc"
)

// In the revision without sessions headers repeat part of a message, for what routes it on its way
// (SEP-2243). The SDK holds Mcp-Method and Mcp-Name against the message, for the methods that it knows;
// here is the rest of it.

const (
	nameHeader  = "Mcp-Name"
	paramHeader = "Mcp-Param-"
)

// checkHeaders refuses a message that its headers contradict.
func (a *Adapter) checkHeaders(ctx context.Context, r *http.Request, p *posted) error {
	if r.Header.Get("Mcp-Protocol-Version") < firstStateless {
		return nil
	}
	var of struct {
		Params struct {
			Task      string                    `json:"taskId"`
			Name      string                    `json:"name"`
			Arguments map[string]jsontext.Value `json:"arguments"`
		} `json:"params"`
	}
	if json.Unmarshal(p.body, &of) != nil {
		return nil // whoever reads it next says what is wrong with it
	}
	switch p.method {
	case "tasks/get", "tasks/update", "tasks/cancel":
		return p.repeated(r.Header.Values(nameHeader), of.Params.Task)
	case "tools/call":
		return a.checkParams(ctx, r, p, of.Params.Name, of.Params.Arguments)
	}
	return nil
}

// repeated refuses a message unless a header has what it says.
func (p *posted) repeated(header []string, value string) error {
	if len(header) == 1 && strings.TrimSpace(header[0]) == value {
		return nil
	}
	return p.mismatch("the header " + nameHeader + " is not what the message names")
}

func (p *posted) mismatch(message string) error {
	return &refusedMessage{http.StatusBadRequest, jsonrpc.Errorf(sdk.CodeHeaderMismatch, "%s", message), p.id}
}

// checkParams holds the headers of arguments against those of a call.
func (a *Adapter) checkParams(ctx context.Context, r *http.Request, p *posted, tool string, arguments map[string]jsontext.Value) error {
	q := &request{method: p.method, caller: p.caller, posted: p, workspace: p.workspace, stateless: true}
	s, err := a.skillNamed(ctx, q, tool)
	if err != nil {
		return nil // as above
	}
	p.tool = s
	for _, is := range s.headers {
		if err := p.checkParam(r.Header.Values(paramHeader+is.header), is, arguments[is.argument]); err != nil {
			return err
		}
	}
	return nil
}

func (p *posted) checkParam(sent []string, is paramIn, argument jsontext.Value) error {
	name := paramHeader + is.header
	absent := len(argument) == 0 || argument.Kind() == 'n'
	switch {
	case absent && len(sent) == 0:
		return nil
	case absent:
		return p.mismatch("the header " + name + " repeats an argument that is not there")
	case len(sent) != 1:
		return p.mismatch("the argument " + is.argument + " is not repeated, once, by the header " + name)
	}
	value, ok := headerValue(strings.TrimSpace(sent[0]))
	if !ok || !says(value, argument) {
		return p.mismatch("the header " + name + " is not what the argument " + is.argument + " is")
	}
	return nil
}

// paramIn is an argument that a header repeats.
type paramIn struct{ argument, header string }

// paramsIn returns the arguments that headers repeat, by the schema of a tool.
func paramsIn(schema jsontext.Value) (all []paramIn) {
	var of struct {
		Properties map[string]jsontext.Value `json:"properties"`
	}
	if schema.Kind() != '{' || json.Unmarshal(schema, &of) != nil {
		return nil
	}
	for argument, text := range of.Properties {
		var property struct {
			Header string `json:"x-mcp-header"`
		}
		if text.Kind() == '{' && json.Unmarshal(text, &property) == nil && property.Header != "" {
			all = append(all, paramIn{argument, property.Header})
		}
	}
	slices.SortFunc(all, func(x, y paramIn) int { return strings.Compare(x.argument, y.argument) })
	return all
}

// headerValue reads the value of a header: as it is, or in base64 where it says so.
func headerValue(text string) (string, bool) {
	encoded, ok := strings.CutPrefix(text, "=?base64?")
	if encoded, ok = cutSuffix(encoded, "?=", ok); !ok {
		return text, true
	}
	value, err := base64.StdEncoding.Strict().DecodeString(encoded)
	return string(value), err == nil
}

func cutSuffix(text, suffix string, is bool) (string, bool) {
	before, ok := strings.CutSuffix(text, suffix)
	return before, is && ok
}

// says reports whether a text is what an argument is: a text, a number or true or false.
func says(text string, argument jsontext.Value) bool {
	switch argument.Kind() {
	case '"':
		var value string
		return json.Unmarshal(argument, &value) == nil && value == text
	case 't', 'f':
		return string(argument) == text
	case '0':
		return text == string(argument) || sameNumber(text, string(argument))
	}
	return false
}

func sameNumber(x, y string) bool {
	a, err1 := strconv.ParseFloat(x, 64)
	b, err2 := strconv.ParseFloat(y, 64)
	return err1 == nil && err2 == nil && a == b && math.Abs(a) <= 1<<53
}
