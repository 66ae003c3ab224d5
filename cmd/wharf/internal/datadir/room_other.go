//go:build !linux && !darwin

package datadir

import "github.com/wharf-dev/wharf/runtime/disk"

// freeRoom tells nothing here: a disk that is full ends a copy.
func freeRoom(string) (have room, known bool) { return room{}, false }

// Space tells nothing here.
func Space(string) (disk.Space, bool) { return disk.Space{}, false }
