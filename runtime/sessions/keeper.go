package sessions

import (
	"context"

	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/personas"
	"github.com/wharf-dev/wharf/runtime/references"
	"github.com/wharf-dev/wharf/storage"
)

// Parts are what a keeper works with.
type Parts struct {
	desk.Parts
	// DefaultPersona is the Persona of Sessions that name none.
	DefaultPersona string
	// Persona returns a Persona of a tenant, or abi.NotFound.
	Persona func(ctx context.Context, t storage.Tenant, id string) (*personas.Persona, error)
	// CheckVaultIDs checks the Vaults that a Session is to name.
	CheckVaultIDs func(ctx context.Context, c *desk.Caller, workspace string, ids []string) error
}

// Keeper serves Sessions, their Messages and their Branches. It is safe for concurrent use.
type Keeper struct {
	parts  Parts
	refs   *references.Keeper
	values stateTable
}

// NewKeeper returns a keeper.
func NewKeeper(p Parts) *Keeper { return &Keeper{parts: p, refs: references.NewKeeper(p.Parts)} }

// pageOfEvents is how many events are read at once.
const pageOfEvents = 500
