package confine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// ErrUnsupported is wrapped when the system offers no group that this process may make:
// that takes Linux and, as a rule, root.
var ErrUnsupported = errors.New("no control group can be made here")

// version is where a version of control groups is mounted, and what its files are called.
type version struct{ root, limit, swap string }

func versions() []version {
	return []version{
		{"/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.memsw.limit_in_bytes"},
		{"/sys/fs/cgroup", "memory.max", "memory.swap.max"},
	}
}

// Memory moves a process into a group of its own that may hold so many bytes. The kernel
// kills the process when it needs more. Call release after the process has ended.
func Memory(pid int, bytes int64) (release func(), err error) {
	for _, v := range versions() {
		if release, err = v.confine(pid, bytes); err == nil {
			return release, nil
		}
	}
	return nil, fmt.Errorf("%w: %w", ErrUnsupported, err)
}

func (v version) confine(pid int, bytes int64) (func(), error) {
	if _, err := os.Stat(filepath.Join(v.root, "cgroup.procs")); err != nil {
		return nil, err
	}
	dir := filepath.Join(v.root, fmt.Sprintf("wharf-bench-%d", pid))
	if err := os.Mkdir(dir, 0o755); err != nil {
		return nil, err
	}
	release := func() { _ = os.Remove(dir) }
	if err := write(dir, v.limit, bytes); err != nil {
		release()
		return nil, err
	}
	_ = write(dir, v.swap, v.swapLimit(bytes)) // a system without swap need not have the file
	if err := write(dir, "cgroup.procs", int64(pid)); err != nil {
		release()
		return nil, err
	}
	return release, nil
}

// swapLimit is what keeps a group from swapping: version 1 counts memory and swap
// together.
func (v version) swapLimit(bytes int64) int64 {
	if v.swap == "memory.swap.max" {
		return 0
	}
	return bytes
}

func write(dir, name string, n int64) error {
	return os.WriteFile(filepath.Join(dir, name), strconv.AppendInt(nil, n, 10), 0o644)
}
