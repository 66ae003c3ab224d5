package a2a

import (
	"strconv"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/gateway/jsonrpc"
)

// Errors of the protocol, by the reason that it has for each. One is made by [refuse].
const (
	reasonParse         abi.ErrorCode = "PARSE_ERROR"
	reasonRequest       abi.ErrorCode = "INVALID_REQUEST"
	reasonMethod        abi.ErrorCode = "METHOD_NOT_FOUND"
	reasonParams        abi.ErrorCode = "INVALID_PARAMS"
	reasonInternal      abi.ErrorCode = "INTERNAL_ERROR"
	reasonServer        abi.ErrorCode = "SERVER_ERROR"
	reasonNoTask        abi.ErrorCode = "TASK_NOT_FOUND"
	reasonNotCancelable abi.ErrorCode = "TASK_NOT_CANCELABLE"
	reasonUnsupported   abi.ErrorCode = "UNSUPPORTED_OPERATION"
	reasonContentType   abi.ErrorCode = "CONTENT_TYPE_NOT_SUPPORTED"
	reasonVersion       abi.ErrorCode = "VERSION_NOT_SUPPORTED"
	reasonUnknownCaller abi.ErrorCode = "UNAUTHENTICATED"
	reasonDenied        abi.ErrorCode = "UNAUTHORIZED"
	reasonBusy          abi.ErrorCode = "RESOURCE_EXHAUSTED"
	reasonUnavailable   abi.ErrorCode = "UNAVAILABLE"
	reasonNothing       abi.ErrorCode = "NOT_FOUND"
)

// wording is what an error has in each way of asking.
type wording struct {
	code   int    // of JSON-RPC
	status int    // of HTTP, by REST
	rpc    string // google.rpc.Code
	http   bool   // JSON-RPC has the status of HTTP too: it is about the request, and not the method
}

// wordings has those of every reason. The codes below -32099 are those that the protocol's own
// libraries have for what the specification leaves to HTTP.
var wordings = map[abi.ErrorCode]wording{
	reasonParse:         {jsonrpc.CodeParse, 400, "INVALID_ARGUMENT", false},
	reasonRequest:       {jsonrpc.CodeInvalidRequest, 400, "INVALID_ARGUMENT", false},
	reasonMethod:        {jsonrpc.CodeMethodNotFound, 501, "UNIMPLEMENTED", false},
	reasonParams:        {jsonrpc.CodeInvalidParams, 400, "INVALID_ARGUMENT", false},
	reasonInternal:      {jsonrpc.CodeInternal, 500, "INTERNAL", false},
	reasonServer:        {-32000, 500, "INTERNAL", false},
	reasonNoTask:        {-32001, 404, "NOT_FOUND", false},
	reasonNotCancelable: {-32002, 400, "FAILED_PRECONDITION", false},
	reasonUnsupported:   {-32004, 400, "FAILED_PRECONDITION", false},
	reasonContentType:   {-32005, 400, "INVALID_ARGUMENT", false},
	reasonVersion:       {-32009, 400, "FAILED_PRECONDITION", false},
	reasonUnknownCaller: {-31401, 401, "UNAUTHENTICATED", true},
	reasonDenied:        {-31403, 403, "PERMISSION_DENIED", true},
	reasonBusy:          {-32000, 429, "RESOURCE_EXHAUSTED", true},
	reasonUnavailable:   {-32000, 503, "UNAVAILABLE", true},
	reasonNothing:       {jsonrpc.CodeInvalidParams, 404, "NOT_FOUND", false},
}

// refuse returns an error of the protocol's.
func refuse(reason abi.ErrorCode, format string, args ...any) *abi.Error {
	err := abi.Errorf(reason, format, args...)
	err.Status = wordings[reason].status
	return err
}

// reasonOf returns the protocol's reason for an error.
func reasonOf(err *abi.Error) abi.ErrorCode {
	if _, own := wordings[err.Code]; own {
		return err.Code
	}
	switch err.Code {
	case abi.CodeInvalidStateTransition:
		return reasonUnsupported
	case abi.CodeNotImplemented:
		return reasonUnsupported
	}
	switch status := err.HTTPStatus(); status {
	case 401:
		return reasonUnknownCaller
	case 403:
		return reasonDenied
	case 404:
		return reasonNothing
	case 415:
		return reasonContentType
	case 429:
		return reasonBusy
	case 502, 503, 504:
		return reasonUnavailable
	default:
		if status >= 500 {
			return reasonInternal
		}
	}
	return reasonParams
}

// The shape of an error by REST is that of google.rpc.Status.
type (
	restError struct {
		Error restStatus `json:"error"`
		// Code and Message are where clients of 0.3 look for them; absent for others.
		Code    int    `json:"code,omitzero"`
		Message string `json:"message,omitzero"`
	}
	restStatus struct {
		Code    int           `json:"code"`
		Status  string        `json:"status"`
		Message string        `json:"message"`
		Details []errorDetail `json:"details"`
	}
	// errorDetail is a google.rpc.ErrorInfo.
	errorDetail struct {
		Type     string            `json:"@type"`
		Reason   string            `json:"reason"`
		Domain   string            `json:"domain"`
		Metadata map[string]string `json:"metadata,omitzero"`
	}
	rpcFailure struct {
		Version string         `json:"jsonrpc"`
		ID      jsontext.Value `json:"id"`
		Error   jsonrpc.Error  `json:"error"`
	}
)

// shape implements gateway.ErrorShape.
func shape(r gateway.Refused, err *abi.Error) gateway.ErrorAnswer {
	reason := reasonOf(err)
	w := wordings[reason]
	details := detailsOf(r.ID, reason, err)
	if r.Operation != operationRPC {
		return restShape(r, err, w, details)
	}
	status := 200
	if w.http || err.HTTPStatus() == 413 || err.HTTPStatus() == 408 {
		status = err.HTTPStatus()
	}
	data, wrong := json.Marshal(details, json.Deterministic(true))
	id := jsontext.Value(r.Call)
	if id == nil {
		id = jsontext.Value("null")
	}
	return answered(status, &rpcFailure{"2.0", id, jsonrpc.Error{Code: w.code, Message: err.Message, Data: data}}, wrong)
}

func restShape(r gateway.Refused, err *abi.Error, w wording, details []errorDetail) gateway.ErrorAnswer {
	status := w.status
	switch is := err.HTTPStatus(); is {
	case 404, 405, 408, 413, 429, 502, 503, 504:
		status = is
	}
	shown := restError{Error: restStatus{status, w.rpc, err.Message, details}}
	if isOld(r.Operation) {
		shown.Code, shown.Message = w.code, err.Message
	}
	return answered(status, &shown, nil)
}

func answered(status int, v any, wrong error) gateway.ErrorAnswer {
	body, err := json.Marshal(v, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
	if err != nil || wrong != nil {
		body = []byte(`{"error":{"code":-32603,"message":"the error could not be put into words"}}`)
	}
	return gateway.ErrorAnswer{Status: status, Media: gateway.MediaJSON, Body: body}
}

// detailsOf says of an error for programs: its reason, the member that is wrong, and the request.
func detailsOf(id string, reason abi.ErrorCode, err *abi.Error) []errorDetail {
	meta := map[string]string{}
	if id != "" {
		meta["request_id"] = id
	}
	if err.Param != "" {
		meta["param"] = err.Param
	}
	if err.Code != reason {
		meta["code"] = string(err.Code)
	}
	if err.RetryAfter > 0 {
		meta["retry_after"] = strconv.Itoa(err.RetryAfter)
	}
	return []errorDetail{{"type.googleapis.com/google.rpc.ErrorInfo", string(reason), a2a.ProtocolDomain, meta}}
}

// about puts an error about a Task that was asked for into the protocol's words.
func about(err error, id string) error {
	if shown, ok := err.(*abi.Error); ok && shown.Code == abi.CodeResourceNotFound {
		return refuse(reasonNoTask, "there is no task %q", id)
	}
	return err
}
