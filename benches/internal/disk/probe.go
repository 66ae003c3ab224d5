package disk

import (
	"fmt"
	"os"
	"time"
)

// recordSize is about what one small event takes in the log.
const recordSize = 400

// Appends writes n small records to a new file in dir, each followed by a full
// sync of the file, and returns what each pair of write and sync took. The file
// is removed.
func Appends(dir string, n int) (_ []time.Duration, err error) {
	f, err := os.CreateTemp(dir, "sync-probe-*")
	if err != nil {
		return nil, fmt.Errorf("making a file to sync: %w", err)
	}
	defer func() {
		f.Close()
		os.Remove(f.Name())
	}()
	record := make([]byte, recordSize)
	took := make([]time.Duration, n)
	for i := range took {
		start := time.Now()
		if _, err := f.Write(record); err != nil {
			return nil, fmt.Errorf("writing a record: %w", err)
		}
		if err := f.Sync(); err != nil {
			return nil, fmt.Errorf("syncing a record: %w", err)
		}
		took[i] = time.Since(start)
	}
	return took, nil
}
