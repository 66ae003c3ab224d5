package acp

import (
	"errors"
	"log/slog"
	"net/http"

	"github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/gateway/jsonrpc"
)

// Codes of errors that the protocol adds to those of JSON-RPC.
const (
	codeAuthRequired = -32000
	codeNotFound     = -32002
	codeCancelled    = -32800 // of later schemas: the client has called the request off
)

// errorData is the data of an error: Wharf's own, and what its details say where the bridge's protocol
// has that, for programs.
type errorData struct {
	Reason string     `json:"reason,omitzero"`
	Code   string     `json:"code,omitzero"`
	Error  *abi.Error `json:"error"`
}

func dataOf(is *abi.Error) (d errorData) {
	_ = json.Unmarshal(is.Details, &d) // details need not have either
	return errorData{Reason: d.Reason, Code: d.Code, Error: is}
}

// shape puts an error into the protocol's words. Faults of the node's own are logged.
func (a *Adapter) shape(err error) *jsonrpc.Error {
	if errors.Is(err, jsonrpc.ErrCanceled) {
		return jsonrpc.Errorf(codeCancelled, "the request was canceled")
	}
	is, ok := errors.AsType[*abi.Error](err)
	if !ok {
		if !errors.Is(err, jsonrpc.ErrClosed) {
			a.log.Error("request failed", slog.Any("error", err))
		}
		return jsonrpc.Errorf(jsonrpc.CodeInternal, "the node failed to answer this request")
	}
	return inWords(is)
}

// inWords is an error as clients of the protocol read it.
func inWords(is *abi.Error) *jsonrpc.Error {
	e := jsonrpc.Errorf(codeOf(is), "%s", is.Message)
	if data, err := json.Marshal(dataOf(is), json.Deterministic(true)); err == nil {
		e.Data = data
	}
	return e
}

// codeOf returns the code of JSON-RPC for an error.
func codeOf(err *abi.Error) int {
	switch {
	case err.Code == abi.CodeUnauthenticated:
		return codeAuthRequired
	case err.Code == abi.CodeResourceNotFound:
		return codeNotFound
	case err.Code == abi.CodeNotImplemented:
		return jsonrpc.CodeMethodNotFound
	case err.HTTPStatus() >= http.StatusInternalServerError:
		return jsonrpc.CodeInternal
	case err.Code == abi.CodeInvalidRequest, err.Code == abi.CodePayloadTooLarge:
		return jsonrpc.CodeInvalidParams
	}
	return jsonrpc.CodeInvalidRequest
}

// inJSONRPC is the shape of what the gateway answers itself.
func inJSONRPC(r gateway.Refused, err *abi.Error) gateway.ErrorAnswer {
	sent := *err
	sent.RequestID = r.ID
	body, fault := json.Marshal(rpcError{Version: "2.0", Error: inWords(&sent)}, json.Deterministic(true))
	if fault != nil {
		body = []byte(`{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"the error could not be put into words"}}`)
	}
	return gateway.ErrorAnswer{Status: err.HTTPStatus(), Media: gateway.MediaJSON, Body: body}
}

// rpcError is an error that answers nothing in particular.
type rpcError struct {
	Version string         `json:"jsonrpc"`
	ID      *string        `json:"id"` // null
	Error   *jsonrpc.Error `json:"error"`
}

// missing says that a parameter is not there.
func missing(name string) error {
	return abi.InvalidParam(name, "the params lack %s", name)
}
