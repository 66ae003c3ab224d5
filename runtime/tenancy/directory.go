package tenancy

import (
	"context"
	"io"
	"sync/atomic"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/identity"
	"github.com/wharf-dev/wharf/storage"
)

// Parts are what a directory works with.
type Parts struct {
	desk.Parts
	Entropy io.Reader
	// Tokens verifies and issues access tokens; nil when API keys alone are known.
	Tokens *identity.Tokens
	// Quota returns a Quota that the caller may see.
	Quota func(ctx context.Context, c *desk.Caller, id string) (desk.Doc, error)
	// Seed gives a tenant what comes with the node. It is called for each tenant at each
	// start.
	Seed func(ctx context.Context, t *abi.Tenant) error
	// LeaveOut is told of what cannot be read: the node goes on without it.
	LeaveOut func(t storage.Tenant, o abi.Object, id string, cause error)
}

// Directory knows the tenants of a node, their Workspaces, and who may call: API keys and
// access tokens. It is safe for concurrent use.
type Directory struct {
	parts   Parts
	tenants *Tenants
	keys    keyCache

	checked, refused atomic.Uint64 // access tokens
}

// NewDirectory returns a directory that keeps what it knows of tenants in tenants.
func NewDirectory(p Parts, tenants *Tenants) *Directory {
	return &Directory{parts: p, tenants: tenants}
}

// TokenChecks returns how many access tokens were checked since the node started, and how
// many of them were bad.
func (d *Directory) TokenChecks() (checked, refused uint64) {
	return d.checked.Load(), d.refused.Load()
}
