package artifacts

import (
	"github.com/wharf-dev/wharf/runtime/desk"
)

// Parts are what a keeper works with.
type Parts struct {
	desk.Parts
	// DefaultWorkspaceOf returns the Workspace of a resource that names none.
	DefaultWorkspaceOf func(c *desk.Caller) string
	// MostRead is how many bytes of a content one call of a plugin reads at most.
	MostRead int64
}

// Keeper serves Artifacts. It is safe for concurrent use.
type Keeper struct{ parts Parts }

// NewKeeper returns a keeper.
func NewKeeper(p Parts) *Keeper { return &Keeper{parts: p} }
