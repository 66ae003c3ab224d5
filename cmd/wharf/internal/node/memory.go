package node

import (
	"log/slog"
	"os"
	"runtime/debug"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

// available returns how many bytes this process may take: the limit of its container, or
// else the memory of the machine. It returns 0 where neither can be told.
func available() int64 {
	limit, err := memlimit.ApplyFallback(memlimit.FromCgroup, memlimit.FromSystem)()
	if err != nil || limit > 1<<62 {
		return 0
	}
	return int64(limit)
}

// BoundHeap has the garbage collector keep the heap within half of the memory that the
// process may take. The other half is for what it does not manage: the memory of guests,
// compiled modules, caches of the system. GOMEMLIMIT, where it is set, counts instead.
func BoundHeap(log *slog.Logger) {
	limit := available()
	if limit == 0 || os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	debug.SetMemoryLimit(limit / 2)
	log.Debug("the heap is kept within half of the memory that there is", "memory", limit)
}

// guestBytes returns how much memory running plugins may take together: as configured, or
// else three eighths of what there is. One plugin, which may take no more than largest,
// never waits: its memory is kept out of that, as far as an eighth is left. 0 is no bound.
func guestBytes(configured, memory, largest int64) int64 {
	if configured > 0 {
		return configured
	}
	return max(memory/8*3-largest, memory/8)
}

// bodies returns how much memory the bodies of running requests may take: as configured,
// unless that is more than an eighth of what there is. The largest body always fits.
func bodies(inFlight, largest, memory int64, log *slog.Logger) int64 {
	if memory == 0 || inFlight <= memory/8 {
		return inFlight
	}
	allowed := min(inFlight, max(memory/8, largest))
	log.Info("limits.in_flight is more than an eighth of the memory that the node may take: less is taken at one time",
		"memory", memory, "limits.in_flight", inFlight, "taken", allowed)
	return allowed
}

// inHand returns how much memory large documents may take that are read for runs and
// answers: an eighth of what there is.
func inHand(memory int64) int64 { return memory / 8 }
