//go:build linux || darwin

package datadir

import (
	"math"
	"syscall"
)

// freeRoom returns what is free on the disk of a folder, as far as the system tells.
func freeRoom(dir string) (have room, known bool) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return room{}, false
	}
	have = room{bytes: uint64(s.Bavail) * uint64(s.Bsize), entries: uint64(s.Ffree)}
	if s.Files == 0 { // of a file system that makes room for them as it goes
		have.entries = math.MaxUint64
	}
	return have, true
}
