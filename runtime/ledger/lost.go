package ledger

import (
	"errors"
	"fmt"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/storage"
)

// LostContent says that the node no longer has, as it was written, what it was asked for.
// Callers see what it is; the operator sees the file.
type LostContent struct {
	What  string // such as "the content of artifact artifact_1"
	Cause *storage.ContentError
}

// Error implements the error interface.
func (l *LostContent) Error() string { return l.What + " is lost: " + l.Cause.Error() }

// Unwrap returns the cause and what callers are shown.
func (l *LostContent) Unwrap() []error {
	return []error{l.Cause, abi.Errorf(abi.CodeInternalError, "%s", l.Told())}
}

// Told is what callers and Tasks see.
func (l *LostContent) Told() string {
	return l.What + " is missing or damaged on the node's disk: its operator can restore it from a backup"
}

// Lost returns what an error says of lost content; nil when it is about something else.
func Lost(err error) *LostContent {
	if l, ok := errors.AsType[*LostContent](err); ok {
		return l
	}
	if damage, ok := errors.AsType[*storage.ContentError](err); ok {
		return &LostContent{What: "what this needs", Cause: damage}
	}
	return nil
}

// Missing is the failure of a Task whose record refers to what is no longer there.
func Missing(object, id string, err error) *abi.Failure {
	if l := Lost(err); l != nil {
		err = errors.New(l.Told())
	}
	f := &abi.Failure{Code: abi.FailureReplayMissing, Message: fmt.Sprintf("the %s %s is no longer there: %v", object, id, err)}
	f.Details, _ = json.Marshal(map[string]any{"missing": map[string]string{"object": object, "id": id}})
	return f
}
