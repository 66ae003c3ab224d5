package openharness

import (
	"mime"
	"strings"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
)

// Codes of the protocol that no other one has. An error is made with one by [coded].
const (
	codeInvalidBundle      abi.ErrorCode = "INVALID_BUNDLE"
	codeCommandNotAllowed  abi.ErrorCode = "COMMAND_NOT_ALLOWED"
	codeUnsupported        abi.ErrorCode = "CAPABILITY_NOT_SUPPORTED"
	codeUnsupportedVersion abi.ErrorCode = "UNSUPPORTED_VERSION"
	// These two the protocol writes in lower case.
	codeContextLength abi.ErrorCode = "context_length_exceeded"
	codeModel         abi.ErrorCode = "model_not_available"
)

// coded returns an error with a code of the protocol's own.
func coded(code abi.ErrorCode, status int, format string, args ...any) *abi.Error {
	err := abi.Errorf(code, format, args...)
	err.Status = status
	return err
}

// failure is an error as clients of the protocol read it.
type failure struct {
	Error failed `json:"error"`
}

type failed struct {
	Code      string         `json:"code"`
	Message   string         `json:"message"`
	Domain    string         `json:"domain,omitzero"`
	Operation string         `json:"operation,omitzero"`
	Details   jsontext.Value `json:"details,omitzero"`
}

// envelope implements gateway.ErrorShape.
func envelope(r gateway.Refused, err *abi.Error) gateway.ErrorAnswer {
	code, status := codeOf(err)
	shown := failure{failed{Code: code, Message: err.Message, Operation: r.Operation, Details: detailsOf(r.ID, err)}}
	if r.Operation != "" {
		shown.Error.Domain = domainOf(r.Operation)
	}
	body, wrong := json.Marshal(&shown, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
	if wrong != nil {
		body = []byte(`{"error":{"code":"INTERNAL_ERROR","message":"the error could not be put into words"}}`)
	}
	return gateway.ErrorAnswer{Status: status, Media: gateway.MediaJSON, Body: body}
}

// codeOf returns the protocol's code for an error, and the status that goes with it.
func codeOf(err *abi.Error) (code string, status int) {
	status = err.HTTPStatus()
	switch err.Code {
	case codeInvalidBundle, codeCommandNotAllowed, codeUnsupported, codeUnsupportedVersion, codeContextLength, codeModel:
		return string(err.Code), status
	case abi.CodeInvalidStateTransition: // what is asked cannot be done with the resource as it is
		return "CONFLICT", 409
	case abi.CodeUnsupportedVersion:
		return string(codeUnsupportedVersion), 400
	case abi.CodeNotImplemented:
		return string(codeUnsupported), status
	}
	if code, ok := byStatus[status]; ok {
		return code, status
	}
	if status >= 500 {
		return "INTERNAL_ERROR", status
	}
	return "VALIDATION_ERROR", status
}

// byStatus are the codes that follow from the status.
var byStatus = map[int]string{
	400: "VALIDATION_ERROR", 401: "UNAUTHORIZED", 403: "FORBIDDEN", 404: "NOT_FOUND", 405: "METHOD_NOT_ALLOWED", 409: "CONFLICT", 410: "GONE",
	413: "PAYLOAD_TOO_LARGE", 415: "UNSUPPORTED_MEDIA_TYPE", 422: "VALIDATION_ERROR", 423: "CONFLICT", 429: "RATE_LIMITED",
	500: "INTERNAL_ERROR", 501: "CAPABILITY_NOT_SUPPORTED", 502: "UNAVAILABLE", 503: "UNAVAILABLE", 504: "UNAVAILABLE",
}

// detailsOf returns what else there is to say of an error: its own details, the member that is
// wrong, and the request.
func detailsOf(id string, err *abi.Error) jsontext.Value {
	all := map[string]any{}
	if len(err.Details) > 0 {
		_ = json.Unmarshal(err.Details, &all) // what is no object is left out
	}
	if err.Param != "" {
		all["param"] = err.Param
	}
	if id != "" {
		all["request_id"] = id
	}
	text, wrong := json.Marshal(all, json.Deterministic(true))
	if wrong != nil {
		return nil
	}
	return text
}

// checkAccept refuses a client that asks for another version of the protocol.
func checkAccept(r *gateway.Request) error {
	for one := range strings.SplitSeq(r.Header("Accept"), ",") {
		_, params, err := mime.ParseMediaType(one)
		if version, asked := params["version"]; err == nil && asked && version != "1" {
			return coded(codeUnsupportedVersion, 400, "version %q of this protocol is not spoken here: ask for version 1, or for none", version)
		}
	}
	return nil
}
