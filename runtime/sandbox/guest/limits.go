package guest

import (
	"cmp"
	"time"

	"github.com/wharf-dev/wharf/abi"
)

// Limits bounds one Run. A member that is 0 takes its value from
// [DefaultLimits].
type Limits struct {
	MemoryBytes  uint64        // linear memory; a larger request is refused
	WallTime     time.Duration // from instantiation to return, sleeping included, host calls not
	HostCalls    int           // calls to the host, lines written to stdout and stderr included
	PayloadBytes int           // the request of one host call
	OutputBytes  int64         // the requests of all host calls that write or report, together
	// Gas is what the guest may do in all: about one unit for each instruction
	// (docs/rewriting.md). A Run that uses it up fails in the same place every time.
	Gas uint64
	// Depth bounds calls within calls: each takes 1, and more when its function is
	// large. Beyond it the stack overflows, in the same place every time.
	Depth int
	// Fresh initializes the instance within the Run, under its Host, and not once for
	// all Runs: so were Runs done whose record names no rewriter.
	Fresh bool
}

// Or returns the limits with those of others in the place of what is 0; Fresh is as it is.
func (l Limits) Or(others Limits) Limits {
	l.MemoryBytes = cmp.Or(l.MemoryBytes, others.MemoryBytes)
	l.WallTime = cmp.Or(l.WallTime, others.WallTime)
	l.HostCalls = cmp.Or(l.HostCalls, others.HostCalls)
	l.PayloadBytes = cmp.Or(l.PayloadBytes, others.PayloadBytes)
	l.OutputBytes = cmp.Or(l.OutputBytes, others.OutputBytes)
	l.Gas = cmp.Or(l.Gas, others.Gas)
	l.Depth = cmp.Or(l.Depth, others.Depth)
	return l
}

// DefaultLimits returns the limits of a Run that sets none: 256 MiB of memory,
// 60 s, 100,000 host calls, 32 MiB for one request, 64 MiB of output, 10^11 units
// of gas, and a depth of 65,536.
func DefaultLimits() Limits {
	return Limits{
		MemoryBytes:  256 << 20,
		WallTime:     60 * time.Second,
		HostCalls:    100_000,
		PayloadBytes: 32 << 20,
		OutputBytes:  64 << 20,
		Gas:          100_000_000_000,
		Depth:        65_536,
	}
}

// OrDefault returns the limits with what is missing taken from [DefaultLimits].
func (l Limits) OrDefault() Limits {
	d := DefaultLimits()
	override(&d.MemoryBytes, l.MemoryBytes)
	override(&d.WallTime, l.WallTime)
	override(&d.HostCalls, l.HostCalls)
	override(&d.PayloadBytes, l.PayloadBytes)
	override(&d.OutputBytes, l.OutputBytes)
	override(&d.Gas, l.Gas)
	override(&d.Depth, l.Depth)
	d.Fresh = l.Fresh
	return d
}

// override sets a limit where one is given.
func override[T cmp.Ordered](limit *T, given T) {
	var none T
	if given > none {
		*limit = given
	}
}

// Suffice refuses a plugin that needs more memory to start than it may have.
func (l Limits) Suffice(needs uint64) error {
	if needs <= l.MemoryBytes {
		return nil
	}
	return Failf(abi.FailurePluginMemory, "the plugin needs %d bytes of memory to start; it may have %d", needs, l.MemoryBytes)
}
