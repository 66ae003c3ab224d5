package personas

import (
	"context"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/skill"
	"github.com/wharf-dev/wharf/runtime/turns"
	"github.com/wharf-dev/wharf/storage"
)

// Parts are what a keeper works with.
type Parts struct {
	desk.Parts
	Turns *turns.Turns // of long work; nil bounds nothing
	// Bundled are the Personas that every tenant is given; Started is since when the node
	// offers them.
	Bundled []abi.Persona
	Started time.Time
	// Offered returns those of plugins that were installed, which every tenant is given too.
	Offered func() []abi.Persona
	// Calls are the host calls that a Persona may allow.
	Calls map[string]*abi.HostCall
	// Offers reports whether a plugin has an export. An *abi.Failure says that there is no
	// such plugin, or that it is invalid.
	Offers func(ctx context.Context, plugin, export string) (bool, error)
	// LeaveOut is told of what cannot be read: the node goes on without it.
	LeaveOut func(t storage.Tenant, o abi.Object, id string, cause error)
}

// Keeper serves Personas and Skills. It is safe for concurrent use.
type Keeper struct {
	parts    Parts
	cache    cache
	bounded  bounded
	families families
	schemas  skill.Schemas // of Skills, which calls are held against
}

// NewKeeper returns a keeper that has looked up nothing yet.
func NewKeeper(p Parts) *Keeper { return &Keeper{parts: p} }
