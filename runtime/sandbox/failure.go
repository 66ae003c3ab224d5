package sandbox

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/tetratelabs/wazero/sys"

	"github.com/wharf-dev/wharf/abi"
)

// maxFrames is how many functions of a trap's stack are told.
const maxFrames = 16

// instantiateError marks an error from making the instance.
type instantiateError struct{ err error }

func (e *instantiateError) Error() string { return e.err.Error() }
func (e *instantiateError) Unwrap() error { return e.err }

func failf(code, format string, args ...any) *abi.Failure {
	return &abi.Failure{Code: code, Message: fmt.Sprintf(format, args...)}
}

// explain turns the engine's error into what [Module.Run] returns. ctx is the
// caller's. The order matters: what the host decided comes first, then a stop,
// then what a refused growth led to, and only then what the guest did by itself.
func (r *run) explain(ctx context.Context, export string, err error) error {
	exit, exited := errors.AsType[*sys.ExitError](err)
	switch {
	case r.ended != nil:
		return r.ended
	case r.failure != nil:
		return r.failure
	case r.stopped(err, exit) && ctx.Err() != nil:
		return context.Cause(ctx)
	case r.stopped(err, exit):
		return failf(abi.FailurePluginTimeout, "the plugin ran for %v without an end, which is its limit", r.limits.WallTime)
	case r.memory.refused > 0:
		return failf(abi.FailurePluginMemory, "the plugin asked for %d bytes of memory, was refused more than %d, and gave up",
			r.memory.refused, r.limits.MemoryBytes)
	case exited:
		return r.exit(exit.ExitCode())
	}
	return r.trap(export, err)
}

// stopped tells a guest that was stopped from one that ended by itself while the
// time ran out, or that chose the exit code that the engine stops with.
func (r *run) stopped(err error, exit *sys.ExitError) bool {
	if r.Err() == nil {
		return false
	}
	if exit != nil {
		return exit.ExitCode() == sys.ExitCodeContextCanceled || exit.ExitCode() == sys.ExitCodeDeadlineExceeded
	}
	return errors.Is(err, errStopped)
}

func (r *run) exit(code uint32) *abi.Failure {
	message := fmt.Sprintf("the plugin called exit with the code %d instead of returning", int32(code))
	if r.console.complaint != "" {
		message += "; it wrote first: " + r.console.complaint
	}
	return &abi.Failure{Code: abi.FailurePluginExit, Message: message}
}

func (r *run) nonZero(export string, code int32) *abi.Failure {
	message := fmt.Sprintf("%q returned %d; 0 means success", export, code)
	if r.memory.refused > 0 {
		message += fmt.Sprintf(" (it was refused %d bytes of memory; its limit is %d)", r.memory.refused, r.limits.MemoryBytes)
	}
	return &abi.Failure{Code: abi.FailurePluginError, Message: message}
}

const stackOverflow = "stack overflow"

// trap explains a trap by its reason and the functions on the stack.
func (r *run) trap(export string, err error) *abi.Failure {
	reason, frames := splitTrap(err.Error())
	if reason == stackOverflow {
		frames = nil // where it ended is the engine's affair, not the guest's
	}
	var making *instantiateError
	if errors.As(err, &making) && len(frames) == 0 {
		return invalid("no instance can be made of the module: %s", reason)
	}
	message := fmt.Sprintf("the plugin trapped in %q: %s", export, reason)
	if len(frames) > 0 {
		message += " (in " + strings.Join(frames[:min(3, len(frames))], ", called by ") + ")"
	}
	return &abi.Failure{Code: abi.FailurePluginTrap, Message: message, Details: stackDetails(frames)}
}

func stackDetails(frames []string) []byte {
	if len(frames) == 0 {
		return nil
	}
	details, err := json.Marshal(map[string][]string{"stack": frames[:min(maxFrames, len(frames))]})
	if err != nil {
		return nil // a name that is not UTF-8: the message has to do
	}
	return details
}

// splitTrap takes the reason and the function names, innermost first, out of the
// engine's text:
//
//	wasm error: unreachable
//	wasm stack trace:
//		.name(i32) i64
func splitTrap(text string) (reason string, frames []string) {
	text, _, _ = strings.Cut(text, "\n\nGo runtime stack trace:")
	lines := strings.Split(text, "\n")
	reason = strings.TrimSuffix(lines[0], " (recovered by wazero)")
	if _, after, ok := strings.Cut(reason, "wasm error: "); ok {
		reason = after
	}
	for _, line := range lines[1:] {
		name, _, ok := strings.Cut(strings.TrimSpace(line), "(")
		if ok && strings.HasPrefix(line, "\t") {
			frames = append(frames, strings.TrimPrefix(name, "."))
		}
	}
	return reason, frames
}
