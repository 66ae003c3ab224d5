package node

import (
	"log/slog"
	"syscall"
)

// ownFiles is how many files a node holds open besides its clients' connections, when it
// is busy: the tables of its log, modules, large values, connections to others.
const ownFiles = 1500

// connections returns how many connections the node accepts: as many as configured,
// unless the process may not open that many files. Then files are left for the node
// itself, so that its clients cannot take them from its log.
func connections(configured int, log *slog.Logger) int {
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil {
		return configured
	}
	allowed := connectionsWithin(configured, uint64(files.Cur))
	if allowed < configured {
		log.Warn("the process may open too few files for limits.connections: fewer connections are accepted; raise the limit (ulimit -n, LimitNOFILE) or lower limits.connections",
			"files", files.Cur, "limits.connections", configured, "accepted", allowed)
	}
	return allowed
}

func connectionsWithin(configured int, files uint64) int {
	rest := files / 2
	if files > 2*ownFiles {
		rest = files - ownFiles
	}
	return int(min(uint64(configured), max(rest, 1)))
}
