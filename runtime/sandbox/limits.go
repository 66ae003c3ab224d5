package sandbox

import "time"

// Limits bounds one Run. A member that is 0 takes its value from
// [DefaultLimits].
type Limits struct {
	MemoryBytes  uint64        // linear memory; a larger request is refused
	WallTime     time.Duration // from instantiation to return, sleeping included, host calls not
	HostCalls    int           // calls to the host, lines written to stdout and stderr included
	PayloadBytes int           // the request of one host call
	OutputBytes  int64         // the requests of all host calls that write or report, together
}

// DefaultLimits returns the limits of a Run that sets none: 256 MiB of memory,
// 60 s, 100,000 host calls, 32 MiB for one request and 64 MiB of output.
func DefaultLimits() Limits {
	return Limits{
		MemoryBytes:  256 << 20,
		WallTime:     60 * time.Second,
		HostCalls:    100_000,
		PayloadBytes: 32 << 20,
		OutputBytes:  64 << 20,
	}
}

func (l Limits) orDefault() Limits {
	d := DefaultLimits()
	if l.MemoryBytes > 0 {
		d.MemoryBytes = l.MemoryBytes
	}
	if l.WallTime > 0 {
		d.WallTime = l.WallTime
	}
	if l.HostCalls > 0 {
		d.HostCalls = l.HostCalls
	}
	if l.PayloadBytes > 0 {
		d.PayloadBytes = l.PayloadBytes
	}
	if l.OutputBytes > 0 {
		d.OutputBytes = l.OutputBytes
	}
	return d
}
