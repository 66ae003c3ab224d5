package mcp

//lint:file-ignore SA1019 clients may use what is deprecated as long as the protocol has it

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	sdkrpc "github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/gateway/jsonrpc"
)

// Most requests that stand for themselves are the same two, in order in every respect, and answered by one
// message: a list of the tools, and a call whose client wants to hear nothing on the way. For each request
// the SDK makes a connection and reads the message half a dozen times, which takes longer than the Task. These
// two are answered without it, by the same methods. Whatever differs in anything goes to the SDK, which also
// knows how it is refused.

// plainMessage is such a request. Members that are not named here are none of it.
type plainMessage struct {
	Version string         `json:"jsonrpc"`
	ID      jsontext.Value `json:"id"`
	Method  string         `json:"method"`
	Params  struct {
		Meta      sdk.Meta       `json:"_meta"`
		Name      string         `json:"name"`
		Arguments jsontext.Value `json:"arguments"`
		Cursor    string         `json:"cursor"`
		Rest      jsontext.Value `json:",embed"`
	} `json:"params"`
	Rest jsontext.Value `json:",embed"`
}

// plain returns a message as a request that is answered without the SDK, nil for one that is not.
func (a *Adapter) plain(r *http.Request, p *posted) *request {
	if len(p.id) == 0 || p.method != "tools/call" && p.method != "tools/list" || !plainHeaders(r.Header, p.method) {
		return nil
	}
	var m plainMessage
	if json.Unmarshal(p.body, &m) != nil || len(m.Rest)+len(m.Params.Rest) > 0 {
		return nil
	}
	meta := m.Params.Meta
	q := &request{method: p.method, caller: p.caller, posted: p, workspace: p.workspace, stateless: true}
	switch {
	case meta[sdk.MetaKeyProtocolVersion] != r.Header.Get("Mcp-Protocol-Version"), meta[sdk.MetaKeyLogLevel] != nil, meta["progressToken"] != nil:
		return nil
	case p.method == "tools/list" && m.Params.Name == "" && len(m.Params.Arguments) == 0:
		params := &sdk.ListToolsParams{Meta: meta, Cursor: m.Params.Cursor}
		q.params, q.in = params, &sdk.ServerRequest[*sdk.ListToolsParams]{Params: params}
	case p.method == "tools/call" && m.Params.Name != "" && m.Params.Cursor == "" && slices.Equal(r.Header.Values(nameHeader), []string{m.Params.Name}):
		params := &sdk.CallToolParamsRaw{Meta: meta, Name: m.Params.Name, Arguments: []byte(m.Params.Arguments)}
		q.params, q.in = params, &sdk.ServerRequest[*sdk.CallToolParamsRaw]{Params: params}
	default:
		return nil
	}
	if !q.knowsPlain(meta) {
		return nil
	}
	return q
}

// plainHeaders reports whether the headers are those of a request that the SDK would take.
func plainHeaders(h http.Header, method string) bool {
	accepts := h.Get("Accept")
	media, _, _ := strings.Cut(h.Get("Content-Type"), ";")
	return slices.Contains(revisions(true), h.Get("Mcp-Protocol-Version")) && slices.Equal(h.Values("Mcp-Method"), []string{method}) &&
		media == gateway.MediaJSON && strings.Contains(accepts, gateway.MediaJSON) && strings.Contains(accepts, "text/event-stream") &&
		!strings.Contains(accepts, ";") && len(h.Values("Last-Event-Id")) == 0
}

// knowsPlain reads what the client says of itself, and reports whether all of that is in order.
func (q *request) knowsPlain(meta sdk.Meta) bool {
	can, ok := meta[sdk.MetaKeyClientCapabilities].(map[string]any)
	if !ok || can["extensions"] != nil {
		return false
	}
	of := &said{capabilities: &sdk.ClientCapabilities{}}
	if len(can) > 0 {
		if of.capabilities = q.capabilities(); of.capabilities == nil {
			return false
		}
	}
	if info, given := meta[sdk.MetaKeyClientInfo]; given {
		members, ok := info.(map[string]any)
		if !ok {
			return false
		}
		for _, v := range members {
			if _, is := v.(string); !is { // such as icons
				return false
			}
		}
		of.info = &sdk.Implementation{}
		of.info.Name, _ = members["name"].(string)
		of.info.Version, _ = members["version"].(string)
	}
	q.said = of
	return true
}

// answerPlain answers a request without the SDK.
func (a *Adapter) answerPlain(ctx context.Context, w http.ResponseWriter, q *request) {
	var res sdk.Result
	err := q.inWorkspace()
	if err == nil {
		res, err = a.table[q.method](ctx, q)
	}
	if err != nil {
		answerError(w, q, a.shown(q, err))
		return
	}
	if of, is := res.(*reply); is {
		of.Meta = sdk.Meta{sdk.MetaKeyServerInfo: a.implementation()}
	}
	text, err := json.Marshal(res)
	if err != nil {
		answerError(w, q, a.shown(q, err))
		return
	}
	message := withMember(withMember(jsontext.Value(`{"jsonrpc":"2.0"}`), "id", q.posted.id), "result", text)
	w.Header().Set("Content-Type", gateway.MediaEventStream) // as the SDK answers
	w.Header().Set("Cache-Control", "no-cache, no-transform")
	_, _ = w.Write(slices.Concat([]byte("event: message\ndata: "), message, []byte("\n\n")))
}

// answerError answers with an error, by the status that the protocol has for it.
func answerError(w http.ResponseWriter, q *request, err *sdkrpc.Error) {
	status := http.StatusOK
	switch err.Code {
	case jsonrpc.CodeMethodNotFound:
		status = http.StatusNotFound
	case jsonrpc.CodeInvalidParams, sdk.CodeUnsupportedProtocolVersion, sdk.CodeMissingRequiredClientCapabilities:
		status = http.StatusBadRequest
	}
	writeRefused(w, &refusedMessage{status, inOwnWords(err), q.posted.id})
}
