package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/wharf-dev/wharf/cmd/wharf/internal/datadir"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/show"
	"github.com/wharf-dev/wharf/runtime/disk"
)

// diskFacts says what a data folder takes on its disk, by kind, and what is free there; 0 and 0 where the system does
// not tell.
type diskFacts struct {
	Bytes map[disk.Kind]uint64 `json:"bytes"`
	Free  uint64               `json:"free_bytes"`
	Size  uint64               `json:"size_bytes"`
}

func factsOfDisk(ctx context.Context, data string) diskFacts {
	usage := disk.Usage{Folders: datadir.Kinds()}
	usage.Walk(ctx, data)
	bytes, _ := usage.Bytes()
	space, _ := datadir.Space(data)
	return diskFacts{Bytes: bytes, Free: space.Free, Size: space.Total}
}

// text says it in a line, and leaves out what takes nothing.
func (d *diskFacts) text() string {
	var parts []string
	sum := uint64(0)
	for _, kind := range disk.Kinds() {
		if n := d.Bytes[kind]; n > 0 {
			parts = append(parts, string(kind)+" "+show.Bytes(int64(n)))
			sum += n
		}
	}
	text := show.Bytes(int64(sum))
	if len(parts) > 0 {
		text += ": " + strings.Join(parts, ", ")
	}
	if d.Size > 0 {
		text += fmt.Sprintf("; %s free of %s", show.Bytes(int64(d.Free)), show.Bytes(int64(d.Size)))
	}
	return text
}
