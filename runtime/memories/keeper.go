package memories

import (
	"context"

	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/personas"
	"github.com/wharf-dev/wharf/storage"
)

// Parts are what a keeper works with.
type Parts struct {
	desk.Parts
	// Persona returns a Persona of a tenant, or abi.NotFound.
	Persona func(ctx context.Context, t storage.Tenant, id string) (*personas.Persona, error)
	// TenantID returns the id of a tenant.
	TenantID func(t storage.Tenant) string
}

// Keeper serves Memories. It is safe for concurrent use.
type Keeper struct{ parts Parts }

// NewKeeper returns a keeper.
func NewKeeper(p Parts) *Keeper { return &Keeper{parts: p} }
