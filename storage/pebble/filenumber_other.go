//go:build !unix

package pebble

import "os"

// fileNumber returns 0: this system does not say what it calls a file by.
func fileNumber(os.FileInfo) uint64 { return 0 }
