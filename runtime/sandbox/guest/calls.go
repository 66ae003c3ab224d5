package guest

import (
	"fmt"

	"github.com/wharf-dev/wharf/abi"
)

// HostCall is one import of abi.HostModule.
type HostCall struct {
	Name string
	// output says that requests count toward Limits.OutputBytes: they end up in
	// the log or in storage.
	output bool
}

// NewHostCall returns the import of a host call.
func NewHostCall(def *abi.HostCall) *HostCall {
	return &HostCall{Name: def.Name, output: def.Effect == abi.EffectWrite || def.Effect == abi.EffectHint}
}

// Admit counts a host call and ends the Run when that passes a limit, or when the
// Run is to stop. What is reproducible comes before what is not. The guest's time stands
// still from here on until Ask, which follows, has its answer.
func (r *Run) Admit(c *HostCall, size int64) {
	r.CheckGas()
	r.wall.pause()
	if r.Err() != nil || r.wall.left <= 0 {
		panic(errStopped)
	}
	r.Calls++
	if c.output {
		r.output += size
	}
	switch {
	case r.Calls > r.Limits.HostCalls:
		r.Abort(abi.FailureHostCalls, "it made more than %d host calls; the last was %q", r.Limits.HostCalls, c.Name)
	case size > int64(r.Limits.PayloadBytes):
		r.Abort(abi.FailurePayloadTooLarge, "it passed %d bytes to %q; one call takes at most %d", size, c.Name, r.Limits.PayloadBytes)
	case r.output > r.Limits.OutputBytes:
		r.Abort(abi.FailureOutputTooLarge, "it wrote more than %d bytes in all; the last %d went to %q", r.Limits.OutputBytes, size, c.Name)
	}
}

// Ask puts a host call that was admitted to the Host. An error of the Host ends the Run. So does a
// panic, which does not end the process and is not blamed on the guest.
func (r *Run) Ask(call string, request []byte) (abi.CallStatus, []byte) {
	returned := false
	defer func() {
		if !returned {
			r.Failure = &abi.Failure{
				Code:    abi.FailureHost,
				Message: fmt.Sprintf("the host failed while answering %q: %v", call, recover()),
			}
			panic(r.Failure)
		}
	}()
	r.leaveTurn()
	status, answer, err := r.host.Call(r.Context, call, request)
	returned = true
	r.wall.resume()
	if err != nil {
		r.ended = err
		panic(errStopped)
	}
	return status, answer
}

// Abort ends the Run with a failure. It does not return: the engine unwinds the
// guest and recovers.
func (r *Run) Abort(code, format string, args ...any) {
	r.Failure = &abi.Failure{Code: code, Message: "the plugin was stopped: " + fmt.Sprintf(format, args...)}
	panic(r.Failure)
}
