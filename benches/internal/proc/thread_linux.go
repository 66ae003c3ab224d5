package proc

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// ThreadCPU returns the processor time that the calling thread has used. A goroutine that
// measures with it is locked to its thread.
func ThreadCPU() (time.Duration, error) {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		return 0, fmt.Errorf("reading the processor time of a thread: %w", err)
	}
	return time.Duration(t.Nano()), nil
}
