//go:build !linux

package proc

import "time"

// began is where the time of ThreadCPU begins.
var began = time.Now()

// ThreadCPU returns the time that has passed: more than the processor time that the
// calling thread has used, which is not to be had here.
func ThreadCPU() (time.Duration, error) { return time.Since(began), nil }
