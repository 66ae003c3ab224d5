//go:build !unix

package pebble

import (
	"io"
	"os"
)

// lockShared opens a file that may not be writable. Here there is no lock of readers.
func lockShared(name string) (io.Closer, error) { return os.Open(name) }
