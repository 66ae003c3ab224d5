package abi

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi/plainly"
)

// ErrorCode is a machine-readable error code (docs/protocol.md, 7).
type ErrorCode string

// ErrorType groups error codes.
type ErrorType string

// The error types.
const (
	TypeRequest    ErrorType = "request_error"
	TypeAuth       ErrorType = "auth_error"
	TypePermission ErrorType = "permission_error"
	TypeNotFound   ErrorType = "not_found_error"
	TypeConflict   ErrorType = "conflict_error"
	TypeRateLimit  ErrorType = "rate_limit_error"
	TypeRuntime    ErrorType = "runtime_error"
	TypeUpstream   ErrorType = "upstream_error"
	TypeServer     ErrorType = "server_error"
)

// The error codes, and not_implemented, which Wharf adds (docs/protocol.md, 8.6).
const (
	CodeInvalidRequest         ErrorCode = "invalid_request"
	CodeInvalidStateTransition ErrorCode = "invalid_state_transition"
	CodeUnauthenticated        ErrorCode = "unauthenticated"
	CodePermissionDenied       ErrorCode = "permission_denied"
	CodeResourceNotFound       ErrorCode = "resource_not_found"
	CodeConflict               ErrorCode = "conflict"
	CodeIdempotencyKeyReused   ErrorCode = "idempotency_key_reused"
	CodeCursorExpired          ErrorCode = "cursor_expired"
	CodePayloadTooLarge        ErrorCode = "payload_too_large"
	CodePolicyViolation        ErrorCode = "policy_violation"
	CodeResourceLocked         ErrorCode = "resource_locked"
	CodeUnsupportedVersion     ErrorCode = "unsupported_protocol_version"
	CodeRateLimited            ErrorCode = "rate_limited"
	CodeClientClosedRequest    ErrorCode = "client_closed_request"
	CodeInternalError          ErrorCode = "internal_error"
	CodeUpstreamUnavailable    ErrorCode = "upstream_unavailable"
	CodeServiceUnavailable     ErrorCode = "service_unavailable"
	CodeDeadlineExceeded       ErrorCode = "deadline_exceeded"
	CodeNotImplemented         ErrorCode = "not_implemented"
)

// ErrorClass says how an error code travels: its usual HTTP status and its type.
type ErrorClass struct {
	Code   ErrorCode
	Status int
	Type   ErrorType
}

// ErrorClasses lists every code in the order of docs/protocol.md, 7.
func ErrorClasses() []ErrorClass {
	return []ErrorClass{
		{CodeInvalidRequest, 400, TypeRequest},
		{CodeInvalidStateTransition, 400, TypeRequest},
		{CodeUnauthenticated, 401, TypeAuth},
		{CodePermissionDenied, 403, TypePermission},
		{CodeResourceNotFound, 404, TypeNotFound},
		{CodeConflict, 409, TypeConflict},
		{CodeIdempotencyKeyReused, 409, TypeConflict},
		{CodeCursorExpired, 410, TypeRequest},
		{CodePayloadTooLarge, 413, TypeRequest},
		{CodePolicyViolation, 422, TypePermission},
		{CodeResourceLocked, 423, TypeConflict},
		{CodeUnsupportedVersion, 426, TypeRequest},
		{CodeRateLimited, 429, TypeRateLimit},
		{CodeClientClosedRequest, 499, TypeRequest},
		{CodeInternalError, 500, TypeServer},
		{CodeUpstreamUnavailable, 502, TypeUpstream},
		{CodeServiceUnavailable, 503, TypeServer},
		{CodeDeadlineExceeded, 504, TypeRuntime},
		{CodeNotImplemented, 501, TypeServer},
	}
}

// Class returns the class of c; an unknown code is an internal error.
func (c ErrorCode) Class() ErrorClass {
	for _, class := range ErrorClasses() {
		if class.Code == c {
			return class
		}
	}
	return ErrorClass{Code: CodeInternalError, Status: 500, Type: TypeServer}
}

// Error is the body of the protocol's error envelope, and a Go error. Adapters
// fill in RequestID. Message is shown to callers: it must not carry secrets, nor
// tell that something exists which the caller may not see.
type Error struct {
	Code      ErrorCode      `json:"code"`
	Message   string         `json:"message"`
	Type      ErrorType      `json:"type"`
	Param     string         `json:"param,omitzero"`
	RequestID string         `json:"request_id,omitzero"`
	Details   jsontext.Value `json:"details,omitzero"`

	// Status overrides the HTTP status of the code's class when it is not 0:
	// 405 and 415 share invalid_request.
	Status int `json:"-"`
	// RetryAfter is sent as the Retry-After header, in seconds, when it is not 0.
	RetryAfter int `json:"-"`
}

// ErrorEnvelope is what a failed request answers with.
type ErrorEnvelope struct {
	Error *Error `json:"error"`
}

// Errorf returns an Error of the given code with a formatted message, for which errors and lists of
// names are put in words: see [plainly.Put].
func Errorf(code ErrorCode, format string, args ...any) *Error {
	plainly.Put(args)
	return &Error{Code: code, Type: code.Class().Type, Message: fmt.Sprintf(format, args...)}
}

// InvalidParam returns an invalid_request error that names the offending member.
func InvalidParam(param, format string, args ...any) *Error {
	err := Errorf(CodeInvalidRequest, format, args...)
	err.Param = param
	return err
}

// NotFound returns the one answer for a resource that is absent and for one
// that the caller may not see, so that the two cannot be told apart.
func NotFound(o Object, id string) *Error {
	return Errorf(CodeResourceNotFound, "no %s %q is visible to this caller", o, id)
}

// Error implements the error interface.
func (e *Error) Error() string { return string(e.Code) + ": " + e.Message }

// HTTPStatus returns the status to send e with.
func (e *Error) HTTPStatus() int {
	if e.Status != 0 {
		return e.Status
	}
	return e.Code.Class().Status
}

// Failure says why a Task failed. Code is one of the Failure* constants or what
// the plugin reported.
type Failure struct {
	Code    string         `json:"code"`             // for programs: one of the host, or of the plugin
	Message string         `json:"message"`          // for people
	Details jsontext.Value `json:"details,omitzero"` // more about it, where there is more to say
}

// Error implements the error interface.
func (f *Failure) Error() string { return f.Code + ": " + f.Message }

// Failure codes that the host gives a Task. Each names one way in which a run
// can go wrong; none of them affects any other Task.
const (
	FailurePluginMissing   = "plugin_missing"             // entry_workflow names no known plugin or export
	FailurePluginInvalid   = "plugin_invalid"             // the module cannot be compiled or imports what is unknown
	FailurePluginTrap      = "plugin_trap"                // the module trapped
	FailurePluginPanic     = "plugin_panic"               // the plugin panicked, and said why
	FailurePluginExit      = "plugin_exit"                // the module called proc_exit
	FailurePluginError     = "plugin_error"               // the export returned a non-zero code without saying why
	FailurePluginTimeout   = "plugin_timeout"             // the run took longer than its limit
	FailurePluginGas       = "plugin_out_of_gas"          // the run used up what it may compute
	FailurePluginMemory    = "plugin_memory_exceeded"     // the module asked for more memory than it may have
	FailurePluginOutput    = "plugin_bad_output"          // what the module answered is not a valid output
	FailureOutputTooLarge  = "plugin_output_too_large"    // the outputs together pass the limit
	FailurePayloadTooLarge = "plugin_payload_too_large"   // one host call passed the payload limit
	FailureHostCalls       = "plugin_host_calls_exceeded" // more host calls than allowed
	FailureDeadline        = "deadline_exceeded"          // the Task's own deadline passed
	FailureBudget          = "budget_exhausted"           // the Task used up the time that its Persona may take
	FailureAttempts        = "attempts_exhausted"         // the node died several times while the Task ran
	FailureDivergence      = "replay_divergence"          // a run asked for something else than its record says
	FailureReplayMissing   = "replay_missing_dependency"  // a replay needs what is no longer there
	FailureSkillOutput     = "skill_output_invalid"       // what a Skill gave is not what its schema says
	FailureUnreadable      = "task_unreadable"            // what is stored of the Task cannot be read
	FailureDelivery        = "delivery_unreadable"        // what is stored of a delivery cannot be read
	FailureHost            = "host_error"                 // the host could not do its part (disk, blob store)
)
