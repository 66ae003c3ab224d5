package guest

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/tetratelabs/wazero/sys"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/sandbox/stack"
)

// Failf returns a failure.
func Failf(code, format string, args ...any) *abi.Failure {
	return &abi.Failure{Code: code, Message: fmt.Sprintf(format, args...)}
}

// errDepth unwinds a guest that used up its depth.
var errDepth = errors.New(stackOverflow)

// Judge turns what an export returned, and what unwound it, into what the Run
// returns.
func (r *Run) Judge(export string, result int32, err error) error {
	switch {
	case err != nil:
		err = r.Explain(export, err)
		if r.ended == nil {
			_ = r.flush() // what was said last; the reason is known already
		}
		return err
	case result != 0:
		return r.nonZero(export, result)
	}
	return nil
}

// Explain turns the engine's error into what the Run returns. The order matters:
// what the host decided comes first, then a stop, then what a refused growth led to, and
// only then what the guest did by itself.
func (r *Run) Explain(export string, err error) error {
	exit, exited := errors.AsType[*sys.ExitError](err)
	switch {
	case r.ended != nil:
		return r.ended
	case r.Failure != nil:
		return r.Failure
	case errors.Is(err, errStopped) && r.Err() != nil:
		return context.Cause(r.Context)
	case errors.Is(err, errStopped):
		return Failf(abi.FailurePluginTimeout, "the plugin ran for %v without an end, which is its limit", r.Limits.WallTime)
	case r.Refused > 0:
		return Failf(abi.FailurePluginMemory, "the plugin asked for %d bytes of memory, was refused more than %d, and gave up",
			r.Refused, r.Limits.MemoryBytes)
	case exited:
		return r.exit(exit.ExitCode())
	}
	return r.trap(export, err)
}

func (r *Run) exit(code uint32) *abi.Failure {
	message := fmt.Sprintf("the plugin called exit with the code %d instead of returning", int32(code))
	if r.console.complaint != "" {
		message += "; it wrote first: " + r.console.complaint
	}
	return &abi.Failure{Code: abi.FailurePluginExit, Message: message}
}

func (r *Run) nonZero(export string, code int32) *abi.Failure {
	message := fmt.Sprintf("%q returned %d; 0 means success", export, code)
	if r.Refused > 0 {
		message += fmt.Sprintf(" (it was refused %d bytes of memory; its limit is %d)", r.Refused, r.Limits.MemoryBytes)
	}
	return &abi.Failure{Code: abi.FailurePluginError, Message: message}
}

const stackOverflow = "stack overflow"

// trap explains a trap by its reason and the functions on the stack.
func (r *Run) trap(export string, err error) *abi.Failure {
	reason, calls := splitTrap(err.Error())
	for i := range calls {
		calls[i].Name = r.written(calls[i].Name)
	}
	if reason == stackOverflow {
		if !errors.Is(err, errDepth) && !r.Limits.Fresh {
			return Failf(abi.FailureHost, "this engine cannot go as deep as a depth of %d allows", r.Limits.Depth)
		}
		calls = nil // thousands of functions that call each other tell nothing
	}
	var making *InstantiateError
	if errors.As(err, &making) && len(calls) == 0 {
		return Failf(abi.FailurePluginInvalid, "no instance can be made of the module: %s", reason)
	}
	message := fmt.Sprintf("the plugin trapped in %q: %s", export, reason)
	frames := stack.Frames(r.placed(calls))
	if in := innermost(frames); len(in) > 0 {
		message += " (in " + strings.Join(in, ", called by ") + ")"
	}
	return &abi.Failure{Code: abi.FailurePluginTrap, Message: message, Details: r.details(frames)}
}

// written returns how a function without a name is called in the module as it was
// written: importing yield has moved those behind it.
func (r *Run) written(name string) string {
	number, ok := strings.CutPrefix(name, "$")
	index, err := strconv.Atoi(number)
	if !ok || err != nil || r.YieldAt == 0 || index < r.YieldAt {
		return name
	}
	return "$" + strconv.Itoa(index-1)
}

// placed gives the functions of a stack their places in the source.
func (r *Run) placed(calls []call) []stack.Call {
	var offsets []uint32
	for _, c := range calls {
		if c.placed {
			offsets = append(offsets, c.offset)
		}
	}
	var places map[uint32][]stack.Place
	if r.Locate != nil && len(offsets) > 0 {
		places = r.Locate(offsets)
	}
	placed := make([]stack.Call, len(calls))
	for i, c := range calls {
		placed[i].Name = c.Name
		if c.placed {
			placed[i].Places = places[c.offset]
		}
	}
	return placed
}

// innermost returns the names of the functions that a message tells: the author's, where
// there are any. Lines are not among them, for engines can differ in those.
func innermost(frames []stack.Frame) (names []string) {
	own, _ := stack.OwnFirst(frames)
	if len(own) == 0 {
		own = frames
	}
	for _, f := range own[:min(3, len(own))] {
		names = append(names, f.Function)
	}
	return names
}

// details are the frames of a stack, and what was said last on stderr.
func (r *Run) details(frames []stack.Frame) []byte {
	told := stack.Details{Stack: frames, Text: r.lastWords()}
	if len(frames) == 0 && told.Text == "" {
		return nil
	}
	details, err := json.Marshal(told)
	if err != nil {
		return nil // the message has to do
	}
	return details
}

// TrapReason returns why the engine has failed, by its error, without the functions.
func TrapReason(err error) string {
	reason, _ := splitTrap(err.Error())
	return reason
}

// call is a function on a stack as the engine tells it.
type call struct {
	Name   string
	offset uint32 // in the code section of the rewritten module
	placed bool   // it is known
}

// signature is what the engine puts behind the name of a function, which may itself hold
// brackets.
var signature = regexp.MustCompile(`\((?:[a-z0-9]+,?)*\)(?: (?:[a-z0-9]+|\([a-z0-9,]+\)))?$`)

// maxCalls is more than the engine tells.
const maxCalls = 64

// splitTrap takes the reason and the functions, innermost first, out of the engine's text:
//
//	wasm error: unreachable
//	wasm stack trace:
//		.name(i32) i64
//			0x1f: wharf:1
func splitTrap(text string) (reason string, calls []call) {
	text, _, _ = strings.Cut(text, "\n\nGo runtime stack trace:")
	lines := strings.Split(text, "\n")
	reason = strings.TrimSuffix(lines[0], " (recovered by wazero)")
	if _, after, ok := strings.Cut(reason, "wasm error: "); ok {
		reason = after
	}
	for _, line := range lines[1:] {
		if at, ok := offsetOf(line); ok && len(calls) > 0 {
			calls[len(calls)-1].offset, calls[len(calls)-1].placed = at, true
			continue
		}
		end := signature.FindStringIndex(line)
		if end == nil || !strings.HasPrefix(line, "\t") || len(calls) == maxCalls {
			continue
		}
		calls = append(calls, call{Name: strings.TrimPrefix(line[1:end[0]], ".")})
	}
	return reason, calls
}

// offsetMark ends a line that says where a function is: see rewrite.OffsetMark.
const offsetMark = ": wharf:1"

// offsetOf reads the line that says where a function is.
func offsetOf(line string) (uint32, bool) {
	number, ok := strings.CutSuffix(line, offsetMark)
	if !ok {
		return 0, false
	}
	at, err := strconv.ParseUint(strings.TrimPrefix(strings.TrimLeft(number, "\t"), "0x"), 16, 32)
	return uint32(at), err == nil
}

// InstantiateError marks an error from making the instance.
type InstantiateError struct{ Err error }

// Error implements the error interface.
func (e *InstantiateError) Error() string { return e.Err.Error() }

// Unwrap returns what went wrong.
func (e *InstantiateError) Unwrap() error { return e.Err }

// Conclude is the end of a guest that ended by itself.
func (r *Run) Conclude() error {
	if r.meter.over() {
		r.Failure = r.outOfGas()
		return r.Failure
	}
	return r.flush()
}
