package disk

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// Kind is what part of a node's data something on the disk is.
type Kind string

// The kinds.
const (
	KindLog        Kind = "log"        // the tables of the database
	KindWAL        Kind = "wal"        // what was written last, before it is in a table
	KindBlobs      Kind = "blobs"      // large contents of the log, uploads and plugins
	KindWorkspaces Kind = "workspaces" // files of Workspaces
	KindCache      Kind = "cache"      // compiled plugins, which can be made again
	KindKeys       Kind = "keys"       // keys, and sealed values of Vaults
	KindSpool      Kind = "spool"      // files of requests that run
	KindOther      Kind = "other"
)

// Kinds lists them.
func Kinds() []Kind {
	return []Kind{KindLog, KindWAL, KindBlobs, KindWorkspaces, KindCache, KindKeys, KindSpool, KindOther}
}

const (
	// walkRest is the shortest time between two walks, and restFor how many times as long as a walk it is.
	walkRest = 30 * time.Second
	restFor  = 20
	// After so many entries a walk lets others have the disk.
	walkPiece = 500
	walkPause = 10 * time.Millisecond
)

// Usage counts what a data folder takes on the disk. It is safe for concurrent use.
type Usage struct {
	// Folders has a kind for each folder or file of the data folder, by its name; the rest is other.
	Folders map[string]Kind

	mu    sync.Mutex
	bytes map[Kind]uint64
	at    time.Time
}

// Bytes returns what the last walk has found, and when; nil before the first has ended.
func (u *Usage) Bytes() (map[Kind]uint64, time.Time) {
	if u == nil {
		return nil, time.Time{}
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.bytes, u.at
}

// Run walks dir again and again until ctx ends, and rests much longer than it walks.
func (u *Usage) Run(ctx context.Context, dir string) {
	for ctx.Err() == nil {
		began := time.Now()
		u.Walk(ctx, dir)
		sleep(ctx, max(walkRest, restFor*time.Since(began)))
	}
}

// Walk counts once. What comes and goes meanwhile is counted or not; what cannot be looked at is left out.
func (u *Usage) Walk(ctx context.Context, dir string) {
	found := map[Kind]uint64{}
	for _, k := range Kinds() {
		found[k] = 0
	}
	seen := 0
	_ = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error { // it returns what this returns: the end of ctx
		if err != nil {
			return nil
		}
		if seen++; seen%walkPiece == 0 {
			sleep(ctx, walkPause)
		}
		if info, err := entry.Info(); err == nil {
			found[u.kind(dir, path)] += allocated(info)
		}
		return ctx.Err()
	})
	if ctx.Err() != nil {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.bytes, u.at = found, time.Now()
}

// kind says what a path below dir is. The database keeps what was written last beside its tables.
func (u *Usage) kind(dir, path string) Kind {
	below, err := filepath.Rel(dir, path)
	if err != nil {
		return KindOther
	}
	first, _, _ := strings.Cut(below, string(os.PathSeparator))
	kind, known := u.Folders[first]
	switch {
	case !known:
		return KindOther
	case kind == KindLog && filepath.Ext(path) == ".log":
		return KindWAL
	}
	return kind
}
