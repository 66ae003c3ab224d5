package main

import (
	"fmt"
	"os"
)

// resident returns how many bytes of memory a process has, 0 when that cannot be told.
func resident(pid int) int64 {
	var size, pages int64
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0
	}
	if _, err := fmt.Sscan(string(text), &size, &pages); err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
}
