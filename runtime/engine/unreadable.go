package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/storage"
)

// UnreadableError says that something is stored that cannot be read. It costs what it
// is about, and nothing else: the node goes on without it.
type UnreadableError struct {
	Object abi.Object // what it is about; "" when the place that found it does not know
	ID     string
	Err    error // may quote what is stored: for the log, not for clients
}

// Error implements the error interface.
func (u *UnreadableError) Error() string {
	what := "a stored resource"
	if u.ID != "" {
		what = string(u.Object) + " " + u.ID
	}
	return what + " cannot be read: " + u.Err.Error()
}

// Unwrap returns the cause.
func (u *UnreadableError) Unwrap() error { return u.Err }

// Shown is what a client is told: what cannot be read and why, without any of its
// content.
func (u *UnreadableError) Shown() *abi.Error {
	e := abi.Errorf(abi.CodeInternalError, "%s", u.shown())
	if u.ID != "" {
		e.Details, _ = json.Marshal(map[string]any{"unreadable": abi.ResourcePointer{Object: u.Object, ID: u.ID}}) // two strings
	}
	return e
}

func (u *UnreadableError) shown() string {
	what := "something that this needs"
	if u.ID != "" {
		what = string(u.Object) + " " + u.ID
	}
	return what + " is stored, but cannot be read: " + reasonOf(u.Err)
}

// errForeign says that something stored is of a kind that this build does not know. A
// newer one may.
var errForeign = errors.New("this build does not know it: a newer one may have written it")

// unreadable returns why a resource cannot be read.
func unreadable(o abi.Object, id, format string, args ...any) error {
	return &UnreadableError{Object: o, ID: id, Err: fmt.Errorf(format, args...)}
}

// naming says which resource an error of reading is about, unless it says so itself.
func naming(o abi.Object, id string, err error) error {
	if u, ok := errors.AsType[*UnreadableError](err); ok && u.ID == "" {
		return &UnreadableError{Object: o, ID: id, Err: u.Err}
	}
	return err
}

// isUnreadable reports whether an error says that something stored cannot be read.
func isUnreadable(err error) bool {
	_, ok := errors.AsType[*UnreadableError](err)
	return ok || errors.Is(err, storage.ErrDamaged)
}

// readListed decodes a resource of a list.
func readListed(res *storage.Resource, into any) error {
	if res.Err != nil {
		return &UnreadableError{Err: res.Err}
	}
	return decode(res.State, into)
}

// lasting reports whether an error of reading will be the same at the next try: what
// is stored is whole, and makes no sense. What is damaged or lost may be brought back,
// and what a newer build has written is for that to read.
func lasting(err error) bool {
	return isNotFound(err) || isUnreadable(err) && !errors.Is(err, storage.ErrDamaged) && !errors.Is(err, errForeign) && !errors.Is(err, errLostTenant)
}

// errLostTenant says that a tenant cannot be read. What it has is left alone: nothing
// of it is run without its Quotas.
var errLostTenant = errors.New("its tenant cannot be read")

// halted reports whether an error is about the node, and not about the one thing that
// was being read.
func (e *Engine) halted(ctx context.Context, err error) bool {
	return ctx.Err() != nil || e.store.Failed() != nil || errors.Is(err, storage.ErrFailed) || errors.Is(err, storage.ErrClosed)
}

// reasonOf says why something cannot be read, in words that hold nothing of it but the
// name of one of its members.
func reasonOf(err error) string {
	syntax, ok := errors.AsType[*jsontext.SyntacticError](err)
	if ok {
		return "its JSON is not valid" + memberOf(syntax.JSONPointer) + deep(syntax)
	}
	if typed, ok := errors.AsType[*json.SemanticError](err); ok {
		return "a value is not of the type that it must have" + memberOf(typed.JSONPointer)
	}
	switch {
	case errors.Is(err, storage.ErrDamaged):
		return "the log or a blob is damaged"
	case errors.Is(err, errForeign):
		return errForeign.Error()
	case errors.Is(err, errLostTenant):
		return errLostTenant.Error()
	}
	if invalid, ok := errors.AsType[*invalidError](err); ok {
		return invalid.reason
	}
	return "see the node's log"
}

func memberOf(p jsontext.Pointer) string {
	for name := range p.Tokens() {
		return " in " + name
	}
	return ""
}

// deep tells the one fault of syntax that a client can bring about.
func deep(err *jsontext.SyntacticError) string {
	if err.Err != nil && strings.Contains(err.Err.Error(), "depth") {
		return ": it is nested too deeply"
	}
	return ""
}

// invalidError says what about something stored makes no sense, in words that clients
// may see.
type invalidError struct{ reason string }

func (i *invalidError) Error() string { return i.reason }

// nonsense returns why a resource that can be decoded cannot be used.
func nonsense(o abi.Object, id, format string, args ...any) error {
	return &UnreadableError{Object: o, ID: id, Err: &invalidError{fmt.Sprintf(format, args...)}}
}

// checkEnvelope holds a resource against the key that it is stored by.
func checkEnvelope(of *abi.Envelope, o abi.Object, id string) error {
	if of.ID != id || of.Object != o {
		return nonsense(o, id, "it says that it is %.64q, %.64q", of.Object, of.ID)
	}
	return nil
}
