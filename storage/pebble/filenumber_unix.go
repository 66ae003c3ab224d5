//go:build unix

package pebble

import (
	"os"
	"syscall"
)

// fileNumber returns what the file system calls a file by, 0 when it does not say.
func fileNumber(info os.FileInfo) uint64 {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(stat.Ino)
	}
	return 0
}
