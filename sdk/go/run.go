package wharf

import (
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
)

// Handler does what a Task asks for. An error fails the Task; return a *[Failure]
// to choose its code.
type Handler func(*Task) (Result, error)

// Result is what a Task results in.
type Result struct {
	Summary string             // one line for people
	Metrics map[string]float64 // numbers worth keeping, by name
	// StopReason says why the model has stopped that a summary is of: [StopLength] if it was cut off. "" says nothing.
	StopReason StopReason
}

// Failure says why a Task failed. It is an error.
type Failure struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	// Details is more about it for programs: an object, or nothing.
	Details json.RawMessage `json:"details,omitempty"`
}

// Error implements the error interface.
func (f *Failure) Error() string { return f.Code + ": " + f.Message }

// Codes of failures that [Run] reports by itself.
const (
	CodeError = "plugin_error" // the handler returned an error that is no *Failure
	CodePanic = "plugin_panic" // the handler panicked
)

// Run reads the Task, calls the handler, and tells the host what it returned. The
// result is what an export returns: 0 for success and for a failure that was told.
func Run(h Handler) int32 {
	task, err := Input()
	if err != nil {
		return told(Fail(failure(err)))
	}
	result, err := guarded(h, task)
	if err != nil {
		return told(Fail(failure(err)))
	}
	return told(Output(result))
}

func told(err error) int32 {
	if err != nil {
		return 1
	}
	return 0
}

func failure(err error) *Failure {
	var f *Failure
	if errors.As(err, &f) {
		return f
	}
	return &Failure{Code: CodeError, Message: err.Error()}
}

// guarded turns a panic into a failure with its reason; the stack goes to the log.
func guarded(h Handler, task *Task) (result Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			_ = Log(LevelError, "panic: %v\n%s", p, debug.Stack())
			err = &Failure{Code: CodePanic, Message: fmt.Sprintf("the plugin panicked: %v", p)}
		}
	}()
	return h(task)
}
