//go:build linux || darwin

package disk

import (
	"io/fs"
	"syscall"
)

// allocated is what a file takes: its blocks, and not the holes in it.
func allocated(info fs.FileInfo) uint64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(s.Blocks) * 512
	}
	return uint64(info.Size())
}
