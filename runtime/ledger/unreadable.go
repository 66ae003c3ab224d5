package ledger

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

// UnreadableError says that something that is stored cannot be read. It costs what it is about,
// and nothing else: the node goes on without it.
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

// Shown is what a client sees: what cannot be read and why, without any of its content.
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
	return what + " is stored, but cannot be read: " + ReasonOf(u.Err)
}

// ErrForeign says that something stored is of a kind that this build does not know. A
// newer one may.
var ErrForeign = errors.New("this build does not know it: a newer one may have written it")

// Unreadable returns why a resource cannot be read.
func Unreadable(o abi.Object, id, format string, args ...any) error {
	return &UnreadableError{Object: o, ID: id, Err: fmt.Errorf(format, args...)}
}

// Naming says which resource an error of reading is about, unless it says so itself.
func Naming(o abi.Object, id string, err error) error {
	if u, ok := errors.AsType[*UnreadableError](err); ok && u.ID == "" {
		return &UnreadableError{Object: o, ID: id, Err: u.Err}
	}
	return err
}

// IsUnreadable reports whether an error says that something stored cannot be read.
func IsUnreadable(err error) bool {
	_, ok := errors.AsType[*UnreadableError](err)
	return ok || errors.Is(err, storage.ErrDamaged)
}

// ReadListed decodes a resource of a list.
func ReadListed(res *storage.Resource, into any) error {
	if res.Err != nil {
		return &UnreadableError{Err: res.Err}
	}
	return Decode(res.State, into)
}

// Lasting reports whether an error of reading will be the same at the next try: what
// is stored is whole, and makes no sense. What is damaged or lost may be brought back, and a
// newer build can read what it has written.
func Lasting(err error) bool {
	return IsNotFound(err) || IsUnreadable(err) && !errors.Is(err, storage.ErrDamaged) && !errors.Is(err, ErrForeign) && !errors.Is(err, ErrLostTenant)
}

// ErrLostTenant says that a tenant cannot be read. What it has is left alone: nothing
// of it is run without its Quotas.
var ErrLostTenant = errors.New("its tenant cannot be read")

// Halted reports whether an error is about the node, and not about the one thing that
// was being read.
func (l *Ledger) Halted(ctx context.Context, err error) bool {
	return ctx.Err() != nil || l.store.Failed() != nil || errors.Is(err, storage.ErrFailed) || errors.Is(err, storage.ErrClosed)
}

// ReasonOf says why something cannot be read, in words that hold nothing of it but the
// name of one of its members.
func ReasonOf(err error) string {
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
	case errors.Is(err, ErrForeign):
		return ErrForeign.Error()
	case errors.Is(err, ErrLostTenant):
		return ErrLostTenant.Error()
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

// Nonsense returns why a resource that can be decoded cannot be used.
func Nonsense(o abi.Object, id, format string, args ...any) error {
	return &UnreadableError{Object: o, ID: id, Err: &invalidError{fmt.Sprintf(format, args...)}}
}

// CheckEnvelope compares a resource with the key that it is stored by.
func CheckEnvelope(of *abi.Envelope, o abi.Object, id string) error {
	if of.ID != id || of.Object != o {
		return Nonsense(o, id, "it says that it is %.64q, %.64q", of.Object, of.ID)
	}
	return nil
}

// IsNotFound reports whether an error says that a resource is not there.
func IsNotFound(err error) bool {
	var own *abi.Error
	return errors.As(err, &own) && own.Code == abi.CodeResourceNotFound
}
