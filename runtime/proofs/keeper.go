package proofs

import (
	"context"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/personas"
	"github.com/wharf-dev/wharf/runtime/receipt"
	"github.com/wharf-dev/wharf/runtime/records"
	"github.com/wharf-dev/wharf/storage"
)

// Tenants are the tenants of the node.
type Tenants interface {
	// IDOf returns the id of the tenant of a number, "" for none.
	IDOf(number storage.Tenant) string
}

// Modules are the plugins of the node.
type Modules interface {
	// Wasm returns a module's bytes, which must not be changed, by its digest. An *abi.Failure
	// says that there is none.
	Wasm(ctx context.Context, digest string) ([]byte, error)
}

// Records are what the log has of Tasks that have begun.
type Records interface {
	History(ctx context.Context, t storage.Tenant, about *abi.Task) (*records.History, error)
	Given(ctx context.Context, t storage.Tenant, about *abi.Task, whole jsontext.Value) (records.Given, error)
}

// Parts are what a keeper works with.
type Parts struct {
	desk.Parts
	Tenants Tenants
	// Keys signs receipts; nil when the node issues none.
	Keys *receipt.Keyring
	// RequiredOnly issues receipts only for Personas whose policy is required.
	RequiredOnly bool
	Version      string // of this build

	// Task reads a Task as the log has it, without its input.
	Task func(ctx context.Context, t storage.Tenant, id string) (*abi.Task, error)
	// TaskRecord returns the record of a Task that has started. An *abi.Failure says that it is
	// not there, or not there any more.
	TaskRecord func(ctx context.Context, t storage.Tenant, about *abi.Task) (*journal.Record, error)
	Records    Records
	// PersonaAt returns a Persona as it was when a program was fixed, by the hash that the
	// program has of it.
	PersonaAt func(ctx context.Context, t storage.Tenant, id, hash string) (*personas.Persona, error)
	Modules   Modules
}

// Keeper issues receipts and serves them to callers. It is safe for concurrent use.
type Keeper struct {
	parts  Parts
	chains chainTable
}

// NewKeeper returns a keeper that has read no chain yet.
func NewKeeper(p Parts) *Keeper { return &Keeper{parts: p} }
