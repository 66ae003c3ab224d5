package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/spf13/cobra"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/abi/plainly"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/client"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/config"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/show"
	"github.com/wharf-dev/wharf/runtime/alone"
)

// The exit codes. They are documented in exitCodesTopic.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitUndecided   = 2
	exitUnreachable = 3
	exitDenied      = 4
	exitTimeUp      = 5
	exitBounds      = 6
	exitInterrupted = 130
)

func exitCodesTopic() *cobra.Command {
	return &cobra.Command{
		Use:   "exit-codes",
		Short: "What the exit codes mean",
		Long: `Every command ends with one of these codes.

    0  it did what it was asked to
    1  it failed; also: the Task that it waited for failed or was canceled,
       and doctor found something wrong
    2  the command line or the configuration is wrong; nothing was done
       (task diff, receipt verify, verify, test, skill validate, plugin lint, plugin
       run and plugin test: 1 is their "no", and 2 says that they could not find out)
    3  no node answers
    4  the API key is missing, unknown, or not allowed to do this
    5  the time of --wait was up before the Task ended; the Task goes on
    6  verify, test, or plugin vet, lint, run or test was ended, for it took more
       than --max-memory or --timeout
  130  it was interrupted (Ctrl-C); serve ends with 0 after draining, with 1
       when something could not be stopped and is left to the end of the process,
       and with 130 only when a second signal cuts the draining short`,
	}
}

var (
	errInterrupted = errors.New("interrupted")
	errNoKey       = errors.New("no API key is given")
)

// leftError is the error of a command that was interrupted while it looked at a Task, which goes on.
type leftError struct {
	err  error
	task string
}

func (e *leftError) Error() string { return e.err.Error() }
func (e *leftError) Unwrap() error { return e.err }

// left says of an interruption that a Task goes on.
func left(err error, task string) error {
	if !errors.Is(err, errInterrupted) {
		return err
	}
	return &leftError{err, task}
}

// usageError is a mistake on the command line.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error { return &usageError{fmt.Errorf(format, args...)} }

// undecidedError is the error of a command whose exit code 1 is an answer.
type undecidedError struct{ err error }

func (e *undecidedError) Error() string { return e.err.Error() }
func (e *undecidedError) Unwrap() error { return e.err }

// undecided keeps an error of a command that compares or verifies apart from its
// "no": it ends with 2, unless its kind has a code of its own.
func undecided(err error) error {
	_, said := errors.AsType[*silentError](err)
	_, answered := errors.AsType[*answeredError](err)
	if err == nil || said || answered {
		return err
	}
	return &undecidedError{err}
}

// answeredError is an error that is the answer of a command: it ends with 1.
type answeredError struct{ err error }

func (e *answeredError) Error() string { return e.err.Error() }
func (e *answeredError) Unwrap() error { return e.err }

// fail makes an error the "no" of a command that compares or verifies.
func fail(err error) error { return &answeredError{err} }

// silentError ends the program with a code when all has been said already.
type silentError struct{ code int }

func (e *silentError) Error() string { return fmt.Sprintf("exit code %d", e.code) }

// advised is an error together with what to do about it.
type advised struct {
	err error
	try string
}

func (e *advised) Error() string { return e.err.Error() }
func (e *advised) Unwrap() error { return e.err }

func advise(err error, try string) error { return &advised{err, try} }

// failure is an error as it is told.
type failure struct {
	Code      string `json:"code,omitzero"`
	Message   string `json:"message"`
	Param     string `json:"param,omitzero"`
	RequestID string `json:"request_id,omitzero"`
	Status    int    `json:"status,omitzero"`
	Try       string `json:"try,omitzero"`
	lines     string // of the message that are our own, for people; the rest makes one line
	exit      int
}

// report tells the user about err and returns the exit code.
func (a *app) report(err error) int {
	if err == nil {
		return exitOK
	}
	var silent *silentError
	if errors.As(err, &silent) {
		return silent.code
	}
	f := a.explain(err)
	if a.json {
		text, err := json.Marshal(map[string]failure{"error": f})
		if err == nil {
			show.NewScreen(a.stderr, "never", a.env).JSON(text)
		}
		return f.exit
	}
	s := a.errorScreen()
	s.Line(s.Paint(show.Red, "wharf: "), show.OneLine(f.Message))
	if f.lines != "" {
		s.Block("         ", f.lines)
	}
	code := f.Code
	if f.Status != 0 {
		code = fmt.Sprintf("%s (HTTP %d)", f.Code, f.Status)
	}
	if f.Code+f.Param+f.RequestID+f.Try != "" {
		s.Pairs([2]string{"code", code}, [2]string{"param", f.Param}, [2]string{"request", f.RequestID}, [2]string{"try", f.Try}, [2]string{"more", moreAbout(f.Code)})
	}
	return f.exit
}

// explain finds out what kind of error err is and what can be done about it.
func (a *app) explain(err error) failure {
	f := failure{Message: plainly.Say(err), exit: exitFailed}
	var tip *advised
	if errors.As(err, &tip) {
		f.Try = tip.try
	}
	var usage *usageError
	var problems config.Problems
	var refused *client.Refused
	var unreachable *client.Unreachable
	var over *outOfBounds
	var peer *peerError
	var lacking *alone.Missing
	switch {
	case errors.As(err, &over):
		f.exit = exitBounds
	case errors.Is(err, errInterrupted), errors.Is(err, context.Canceled):
		f.Message, f.exit = "interrupted", exitInterrupted
		if going, ok := errors.AsType[*leftError](err); ok {
			f.Message = "interrupted; the Task goes on"
			f.Try = fmt.Sprintf("%[1]s task tail %[2]s, or %[1]s task cancel %[2]s", self(), going.task)
		}
	case errors.Is(err, errNoKey):
		f.exit, f.Try = exitDenied, "export WHARF_API_KEY=KEY, with the key that \"wharf serve\" printed on its first start"
	case errors.As(err, &problems):
		f.exit, f.Message, f.lines = exitUsage, "the configuration is wrong", problems.Error()
		if a.json {
			f.Message += "\n" + show.Indent("  ", f.lines)
		}
	case errors.As(err, &usage), !a.started:
		f.exit = exitUsage
		f.Try = cmp.Or(f.Try, "the command again with --help")
	case errors.As(err, &lacking):
		f.Message, f.lines, f.Try = lacking.Error(), lacking.Add, "these lines in the file of answers (--answers FILE)"
		if a.json {
			f.Message += "\n" + show.Indent("  ", f.lines)
		}
	case errors.As(err, &peer):
		f.exit = peer.exit
	case errors.As(err, &refused):
		if refused.Answer.Code == abi.CodeResourceNotFound {
			f.Try = cmp.Or(a.withoutPath(), f.Try)
		}
		f.refused(refused)
	case errors.As(err, &unreachable):
		f.exit = exitUnreachable
		f.Try = cmp.Or(f.Try, unreachable.Try(), "\"wharf serve\" to start a node, or --server or WHARF_SERVER to name another")
	}
	if _, ok := errors.AsType[*undecidedError](err); ok && f.exit == exitFailed {
		f.exit = exitUndecided
	}
	return f
}

// withoutPath is the advice for a URL of a node that has a path, as it had in an example of REST; "" for
// one that has none.
func (a *app) withoutPath() string {
	u, err := url.Parse(a.serverURL())
	if err != nil || strings.Trim(u.Path, "/") == "" {
		return ""
	}
	path := u.Path
	u.Path = ""
	return fmt.Sprintf("--server or WHARF_SERVER without the path %s: %s", path, u)
}

func (f *failure) refused(r *client.Refused) {
	f.Code, f.Status = string(r.Answer.Code), r.Status
	f.Param, f.RequestID = r.Answer.Param, r.Answer.RequestID
	if r.Status == http.StatusUnauthorized || r.Status == http.StatusForbidden {
		f.exit = exitDenied
	}
	f.Try = cmp.Or(f.Try, remedy(r))
}

// remedy says what to do about a refusal.
func remedy(r *client.Refused) string {
	switch r.Answer.Code {
	case abi.CodeUnauthenticated:
		return "WHARF_API_KEY or --api-key with a key of this node"
	case abi.CodePermissionDenied:
		return "a key with more scopes: wharf key create NAME --scope ..."
	case abi.CodeIdempotencyKeyReused:
		return "another --idempotency-key: this one belongs to another request"
	case abi.CodeUnsupportedVersion:
		return "a client and a node of the same release: wharf version --json"
	case abi.CodePayloadTooLarge:
		return "--file, which uploads large input, or a larger limit: wharf config show"
	case abi.CodeRateLimited, abi.CodeServiceUnavailable:
		if r.Retry != "" {
			return "again in " + r.Retry + " s"
		}
		return "again in a moment"
	case abi.CodeInternalError:
		return "the node's log, where the request id names the cause"
	}
	return ""
}

func checkChoice(what, value string, allowed []string) error {
	if !slices.Contains(allowed, value) {
		return usagef("%s: %q is not one of %s", what, value, strings.Join(allowed, ", "))
	}
	return nil
}

// hint advises on a refusal with the given code; other errors stay as they are.
func hint(err error, code abi.ErrorCode, try string) error {
	var refused *client.Refused
	if errors.As(err, &refused) && refused.Answer.Code == code {
		return advise(err, try)
	}
	return err
}

func errNotEnded(id string) error {
	return fmt.Errorf("task %s has not ended, and so has no outcome", id)
}

// parseStatuses reads the values of --status, in any case.
func parseStatuses(words []string) ([]abi.TaskStatus, error) {
	var statuses []abi.TaskStatus
	for _, w := range words {
		s := abi.TaskStatus(strings.ToUpper(w))
		if !slices.Contains(abi.TaskStatuses(), s) {
			return nil, usagef("--status: %q is not a status: they are %s", w, join(abi.TaskStatuses()))
		}
		statuses = append(statuses, s)
	}
	return statuses, nil
}

func join[T ~string](words []T) string {
	all := make([]string, len(words))
	for i, w := range words {
		all[i] = string(w)
	}
	return strings.Join(all, ", ")
}
