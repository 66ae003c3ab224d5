package files

import (
	"os"

	"github.com/wharf-dev/wharf/runtime/desk"
)

// Parts are what a keeper works with.
type Parts struct {
	desk.Parts
	Root *os.Root // the folder of all Workspaces' files; nil when the node keeps none
}

// Keeper serves the files of Workspaces. It is safe for concurrent use.
type Keeper struct {
	parts Parts
	room  usageTable
}

// NewKeeper returns a keeper that has counted nothing yet.
func NewKeeper(p Parts) *Keeper { return &Keeper{parts: p} }

// WhileFilesRest runs f while no file comes or goes.
func (k *Keeper) WhileFilesRest(f func() error) error {
	k.room.writing.Lock()
	defer k.room.writing.Unlock()
	return f()
}
