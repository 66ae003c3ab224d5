package sessions

import (
	"context"

	"github.com/wharf-dev/wharf/abi"
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
	// PersonaIn and SkillIn return one that may be used in a Workspace, or abi.NotFound.
	PersonaIn func(ctx context.Context, t storage.Tenant, workspace, id string) (*personas.Persona, error)
	SkillIn   func(ctx context.Context, t storage.Tenant, workspace, id string) (*abi.Skill, error)
	// May returns what refuses a Message of a live client that does not control the Session; nil for
	// a request that names no client.
	May func(c *desk.Caller) func(*abi.Session) error
	// CheckVaultIDs checks the Vaults that a Session is to name.
	CheckVaultIDs func(ctx context.Context, c *desk.Caller, workspace string, ids []string) error
	// Models returns the models of the node, by name; nil when it has none.
	Models func() []abi.NodeModel
	// CheckReceipts refuses a Persona whose policy demands receipts that the node cannot issue.
	CheckReceipts func(p *abi.Persona) error
	// CheckSkillNames checks the SkillBundles that the Tasks of a Session are to have.
	CheckSkillNames func(t storage.Tenant, workspace string, names []string) error
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
