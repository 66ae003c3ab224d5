package report

import (
	"fmt"
	"os"
	"runtime"
	"strings"
)

// ThisMachine describes the machine in general words.
func ThisMachine() Machine {
	return Machine{
		OS: runtime.GOOS, Arch: runtime.GOARCH, Cores: runtime.NumCPU(), Go: runtime.Version(),
		CPU: procField("/proc/cpuinfo", "model name"), Memory: memory(),
	}
}

// procField returns a field of a file of the proc file system, "" if it has none.
func procField(file, name string) string {
	data, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(data)) {
		key, value, ok := strings.Cut(line, ":")
		if ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// memory states the main memory, "" if it is not known.
func memory() string {
	var kib int64
	if _, err := fmt.Sscanf(procField("/proc/meminfo", "MemTotal"), "%d kB", &kib); err != nil {
		return ""
	}
	return fmt.Sprintf("%d GiB memory", (kib+1<<19)>>20)
}
