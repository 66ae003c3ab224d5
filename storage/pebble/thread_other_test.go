//go:build !linux

package pebble

import "time"

// threadTime is not known here.
func threadTime() time.Duration { return 0 }
