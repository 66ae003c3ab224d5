package proc

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// ErrUnsupported is wrapped when there is no proc file system to read.
var ErrUnsupported = errors.New("needs the proc file system of Linux")

// ticksPerSecond is USER_HZ, which Linux fixes at 100 for user space.
const ticksPerSecond = 100

// RSS returns the resident memory of a process, in bytes. A page that is mapped several
// times counts as often.
func RSS(pid int) (int64, error) { return field(pid, "status", "VmRSS:") }

// Own returns how much resident memory a process has that is no page of a file, in bytes.
func Own(pid int) (int64, error) { return field(pid, "status", "RssAnon:") }

// Share returns a process's share of resident memory, in bytes. A page that is mapped
// several times counts once; one that other processes map too counts in part.
func Share(pid int) (int64, error) { return field(pid, "smaps_rollup", "Pss:") }

// Peak returns the most resident memory that a process has had since its start or the last
// [ResetPeak], in bytes.
func Peak(pid int) (int64, error) { return field(pid, "status", "VmHWM:") }

// ResetPeak has [Peak] begin anew from what is resident now.
func ResetPeak(pid int) error {
	const peak = "5" // see proc_pid_clear_refs(5)
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte(peak), 0); err != nil {
		return fmt.Errorf("resetting the peak of process %d: %w", pid, errors.Join(err, ErrUnsupported))
	}
	return nil
}

// field returns an amount of memory that a file of the process states, in bytes.
func field(pid int, file, name string) (int64, error) {
	content, err := read(pid, file)
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(content) {
		if rest, ok := strings.CutPrefix(line, name); ok {
			kib, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 64)
			if err != nil {
				return 0, fmt.Errorf("reading resident memory of process %d: %w", pid, err)
			}
			return kib << 10, nil
		}
	}
	return 0, fmt.Errorf("process %d states no resident memory: %w", pid, ErrUnsupported)
}

// CPU returns the processor time that a process has used, user and system
// together, with a resolution of 10 ms.
func CPU(pid int) (time.Duration, error) {
	stat, err := read(pid, "stat")
	if err != nil {
		return 0, err
	}
	return parseCPU(stat)
}

// parseCPU takes utime and stime, fields 14 and 15, from a stat line. The name
// in field 2 may hold spaces and parentheses, so fields are counted after its
// last closing one.
func parseCPU(stat string) (time.Duration, error) {
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if len(fields) < 13 {
		return 0, fmt.Errorf("a stat line of %d fields is too short", len(fields))
	}
	user, errUser := strconv.ParseInt(fields[11], 10, 64)
	system, errSystem := strconv.ParseInt(fields[12], 10, 64)
	if err := errors.Join(errUser, errSystem); err != nil {
		return 0, fmt.Errorf("reading processor time: %w", err)
	}
	return time.Duration(user+system) * time.Second / ticksPerSecond, nil
}

func read(pid int, name string) (string, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, name))
	if errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("reading %s of process %d: %w", name, pid, ErrUnsupported)
	}
	if err != nil {
		return "", fmt.Errorf("reading %s of process %d: %w", name, pid, err)
	}
	return string(data), nil
}
