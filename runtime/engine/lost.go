package engine

import (
	"errors"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/storage"
)

// lostContent says that the node no longer has, as it was written, what it was asked
// for. Callers are told what it is; the operator is told the file.
type lostContent struct {
	what  string
	cause *storage.ContentError
}

// Error implements the error interface.
func (l *lostContent) Error() string { return l.what + " is lost: " + l.cause.Error() }

// Unwrap returns the cause and what callers are shown.
func (l *lostContent) Unwrap() []error {
	return []error{l.cause, abi.Errorf(abi.CodeInternalError, "%s", l.told())}
}

// told is what callers and Tasks are told.
func (l *lostContent) told() string {
	return l.what + " is missing or damaged on the node's disk: its operator can restore it from a backup"
}

// lost returns what an error says of lost content; nil when it is about something else.
func lost(err error) *lostContent {
	if l, ok := errors.AsType[*lostContent](err); ok {
		return l
	}
	if damage, ok := errors.AsType[*storage.ContentError](err); ok {
		return &lostContent{what: "what this needs", cause: damage}
	}
	return nil
}
