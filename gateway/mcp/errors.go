package mcp

import (
	"errors"
	"log/slog"
	"net/http"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	sdkrpc "github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/gateway/jsonrpc"
)

// refuse returns an error as a client reads it; data is left out when it is nil.
func refuse(code int, message string, data any) *sdkrpc.Error {
	e := &sdkrpc.Error{Code: int64(code), Message: message}
	if data != nil {
		if text, err := json.Marshal(data, json.Deterministic(true)); err == nil {
			e.Data = text
		}
	}
	return e
}

// notFound is the error of a method that is not served.
func notFound(name string) *sdkrpc.Error {
	return refuse(jsonrpc.CodeMethodNotFound, "there is no method "+name, nil)
}

// shown puts an error into the protocol's words. Faults of the node's own are logged.
func (a *Adapter) shown(q *request, err error) *sdkrpc.Error {
	if own, ok := errors.AsType[*sdkrpc.Error](err); ok {
		return own
	}
	is, ok := errors.AsType[*abi.Error](err)
	if !ok {
		a.log.Error("request failed", slog.String("method", q.method), slog.Any("error", err))
		return refuse(jsonrpc.CodeInternal, "the node failed to answer this request", nil)
	}
	return refuse(codeOf(is), is.Message, errorData{is})
}

// inOwnWords returns an error of the SDK's as one of the node's.
func inOwnWords(err *sdkrpc.Error) *jsonrpc.Error {
	return &jsonrpc.Error{Code: int(err.Code), Message: err.Message, Data: jsontext.Value(err.Data)}
}

// errorData is the data of an error: Wharf's own.
type errorData struct {
	Error *abi.Error `json:"error"`
}

// codeOf returns the code of JSON-RPC for an error.
func codeOf(err *abi.Error) int {
	switch status := err.HTTPStatus(); {
	case err.Code == abi.CodeNotImplemented:
		return jsonrpc.CodeMethodNotFound
	case status >= http.StatusInternalServerError:
		return jsonrpc.CodeInternal
	case err.Code == abi.CodeInvalidRequest, err.Code == abi.CodeResourceNotFound, err.Code == abi.CodePayloadTooLarge:
		return jsonrpc.CodeInvalidParams
	}
	return jsonrpc.CodeInvalidRequest
}

// inJSONRPC is the shape of what the gateway answers itself.
func inJSONRPC(r gateway.Refused, err *abi.Error) gateway.ErrorAnswer {
	sent := *err
	sent.RequestID = r.ID
	body, fault := json.Marshal(rpcError{Version: "2.0", Error: jsonrpc.Error{Code: codeOf(err), Message: err.Message, Data: encoded(errorData{&sent})}}, json.Deterministic(true))
	if fault != nil {
		body = []byte(`{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"the error could not be put into words"}}`)
	}
	return gateway.ErrorAnswer{Status: err.HTTPStatus(), Media: gateway.MediaJSON, Body: body}
}

// rpcError is an error that answers nothing in particular.
type rpcError struct {
	Version string        `json:"jsonrpc"`
	ID      *string       `json:"id"` // null
	Error   jsonrpc.Error `json:"error"`
}

func encoded(v any) []byte {
	text, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		return []byte("null")
	}
	return text
}
