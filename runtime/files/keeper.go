package files

import (
	"os"

	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/turns"
	"github.com/wharf-dev/wharf/storage"
)

// Parts are what a keeper works with.
type Parts struct {
	desk.Parts
	Root *os.Root // the folder of all Workspaces' files; nil when the node keeps none
	// TenantOf finds a tenant by its id.
	TenantOf func(id string) (storage.Tenant, error)
	MostTold int64        // how much of files a call of a plugin tells at once, in bytes
	Turns    *turns.Turns // for searching; nil for no limit
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
