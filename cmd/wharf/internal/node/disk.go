package node

import (
	"context"

	"github.com/wharf-dev/wharf/cmd/wharf/internal/datadir"
	"github.com/wharf-dev/wharf/runtime/disk"
)

// watchDisk begins to know what is free on the disk of the data folder.
func (n *Node) watchDisk() {
	c := &n.options.Config
	n.disk = disk.New(disk.Config{Read: func() (disk.Space, bool) { return datadir.Space(c.Data) }, Reserve: c.Storage.Reserve.Of, Log: n.log})
	n.usage = &disk.Usage{Folders: datadir.Kinds()}
}

// lookAtDisk looks at it, and at what the folder takes, until it is told to stop: also while the node drains, for Tasks
// that wait for room.
func (n *Node) lookAtDisk() (stop func()) {
	ctx, stop := context.WithCancel(context.Background())
	go n.disk.Run(ctx)
	go n.usage.Run(ctx, n.options.Config.Data)
	return stop
}
