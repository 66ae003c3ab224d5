package replay

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/wharf-dev/wharf/runtime/sandbox"
)

// Capped says that a replay did not come out as its record, and had less than the record
// says its run might have: whoever made the record chose that.
type Capped struct {
	Limits []string // what was cut, such as "memory: 4294967296, here 268435456"
	Cause  error    // how the replay differs; nil when it ended in a failure that the record lacks
}

// Error implements the error interface.
func (c *Capped) Error() string {
	text := "the run may need more than a replay may have here (" + strings.Join(c.Limits, "; ") +
		"): raise that limit, if you trust whoever made the record"
	if c.Cause != nil {
		text += ". With less, it is: " + c.Cause.Error()
	}
	return text
}

// Unwrap returns how the replay differs.
func (c *Capped) Unwrap() error { return c.Cause }

// capped returns limits of which none is above those of most, and says which were. A
// member of most that is 0 caps nothing. Depth is bounded by the engine's stack anyway.
func capped(l, most sandbox.Limits) (sandbox.Limits, []string) {
	var cut []string
	capAt(&cut, "memory", &l.MemoryBytes, most.MemoryBytes)
	capAt(&cut, "host calls", &l.HostCalls, most.HostCalls)
	capAt(&cut, "payload", &l.PayloadBytes, most.PayloadBytes)
	capAt(&cut, "output", &l.OutputBytes, most.OutputBytes)
	if l.Gas != unlimited { // time bounds what no gas does
		capAt(&cut, "gas", &l.Gas, most.Gas)
	}
	return l, cut
}

func capAt[T cmp.Ordered](cut *[]string, name string, limit *T, most T) {
	var none T
	if most == none || *limit <= most {
		return
	}
	*cut = append(*cut, fmt.Sprintf("%s: %v, here %v", name, *limit, most))
	*limit = most
}

// unlessCapped returns the result of a replay, or a [*Capped] where one that had less than
// its record allows differs from it.
func (h *host) unlessCapped(r *Result, err error, cut []string) (*Result, error) {
	switch {
	case len(cut) == 0:
		return r, err
	case err != nil:
		return nil, &Capped{cut, err}
	case r.Divergence != nil:
		return nil, &Capped{cut, r.Divergence}
	case r.End.Failure != nil && !h.recordFailed():
		return nil, &Capped{cut, r.End.Failure}
	}
	return r, nil
}

func (h *host) recordFailed() bool { return h.record.End != nil && h.record.End.Failure != nil }
