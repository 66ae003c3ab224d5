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

// Group is a control group with a limit of memory.
type Group struct{ dir string }

// Memory makes a group whose processes may hold so many bytes together. The kernel kills
// one when they need more. Call [Group.Remove] after all of them have ended.
func Memory(bytes int64) (*Group, error) {
	var err error
	for _, v := range versions() {
		var g *Group
		if g, err = v.group(bytes); err == nil {
			return g, nil
		}
	}
	return nil, fmt.Errorf("%w: %w", ErrUnsupported, err)
}

func (v version) group(bytes int64) (*Group, error) {
	if _, err := os.Stat(filepath.Join(v.root, "cgroup.procs")); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(v.root, "wharf-bench-")
	if err != nil {
		return nil, err
	}
	g := &Group{dir: dir}
	if err := write(dir, v.limit, bytes); err != nil {
		g.Remove()
		return nil, err
	}
	_ = write(dir, v.swap, v.swapLimit(bytes)) // a system without swap need not have the file
	return g, nil
}

// Prefix returns the command that another command is appended to, to start it inside the
// group: a process that looks at its limits when it starts has to be there by then.
func (g *Group) Prefix() []string {
	return []string{"sh", "-c", `echo $$ > "$0" && exec "$@"`, filepath.Join(g.dir, "cgroup.procs")}
}

// Remove removes the group, which has no process any more.
func (g *Group) Remove() { _ = os.Remove(g.dir) }

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
