package replays

import (
	"context"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/personas"
	"github.com/wharf-dev/wharf/runtime/receipt"
	"github.com/wharf-dev/wharf/storage"
)

// Parts are what a keeper works with.
type Parts struct {
	desk.Parts
	Runs      Runs
	Sessions  Sessions
	Artifacts Artifacts
	// Submit accepts the Task that describe returns, as any other that a client submits to a
	// Session. describe is called at most once, and not where a retry is answered as at first.
	Submit func(ctx context.Context, c *desk.Caller, r *desk.Retry, session string, describe func() (*Derived, error)) (desk.Doc, error)
}

// Runs tells what the log has of Tasks and of how they ran.
type Runs interface {
	// Stored returns a Task as the log has it, without its input.
	Stored(ctx context.Context, t storage.Tenant, id string) (*abi.Task, error)
	// History returns the program that a Task runs, nil where the log tells none, and the calls
	// of its record, with those that a fork shares with its source.
	History(ctx context.Context, t storage.Tenant, about *abi.Task) (*journal.Program, []journal.Entry, error)
	// Given returns what the plugin of a Task is told that it was submitted with.
	Given(ctx context.Context, t storage.Tenant, about *abi.Task) (Given, error)
	// PersonaAt returns a Persona as it was when a program was fixed, by the hash that this names.
	PersonaAt(ctx context.Context, t storage.Tenant, id, hash string) (*personas.Persona, error)
}

// Given is what a Task was submitted with.
type Given struct {
	From     *abi.Task           // the Task that was submitted: of a fork, where it comes from in the end
	Input    jsontext.Value      // without what is for receipts only
	Withheld []receipt.Redaction // what that was
}

// Answer is what abi.CallInput is answered with. persona is the text of the Task's Persona.
func (g *Given) Answer(persona []byte) jsontext.Value {
	return journal.Given(g.From, g.Input, persona)
}

// Sessions forks the Sessions that forked Tasks live in.
type Sessions interface {
	// ForkPoint returns the position of an event of a Session at which it can be forked.
	ForkPoint(ctx context.Context, c *desk.Caller, s *abi.Session, event string) (desk.Position, error)
	// ForkSession makes a Session that begins as another was at an event.
	ForkSession(ctx context.Context, c *desk.Caller, r *desk.Retry, id string, req abi.ForkSessionRequest) (desk.Doc, error)
}

// Artifacts reads what overrides replace answers with.
type Artifacts interface {
	// ReadArtifact returns a range of an Artifact's content, all that follows with length 0, and
	// at most limit bytes.
	ReadArtifact(ctx context.Context, a *abi.Artifact, offset, length, limit int64) ([]byte, error)
}

// Derived is a Task that is made from another one, and shares its input.
type Derived struct {
	Task       *abi.Task
	Input      jsontext.Value // as it is shown
	Restricted bool           // it holds parts that are not public
}

// Keeper serves replays and forks to callers, and runs replays. It is safe for concurrent use.
type Keeper struct{ parts Parts }

// NewKeeper returns a keeper.
func NewKeeper(p Parts) *Keeper { return &Keeper{parts: p} }
