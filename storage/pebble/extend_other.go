//go:build !linux

package pebble

import "errors"

// extend makes a file longer, where that is known to pay.
func extend(uintptr, int64, int64) error { return errors.ErrUnsupported }
