//go:build linux || darwin

package datadir

import (
	"math"
	"syscall"

	"github.com/wharf-dev/wharf/runtime/disk"
)

// freeRoom returns what is free on the disk of a folder, as far as the system tells.
func freeRoom(dir string) (have room, known bool) {
	space, known := Space(dir)
	have = room{bytes: space.Free, entries: space.FreeFiles}
	if space.Files == 0 { // of a file system that makes room for them as it goes
		have.entries = math.MaxUint64
	}
	return have, known
}

// Space tells what the disk of a folder has, as far as the system tells.
func Space(dir string) (disk.Space, bool) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return disk.Space{}, false
	}
	block := uint64(s.Bsize)
	return disk.Space{Free: uint64(s.Bavail) * block, Total: uint64(s.Blocks) * block, FreeFiles: uint64(s.Ffree), Files: uint64(s.Files)}, true
}
