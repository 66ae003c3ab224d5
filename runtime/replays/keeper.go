package replays

import (
	"context"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/personas"
	"github.com/wharf-dev/wharf/runtime/proofs"
	"github.com/wharf-dev/wharf/runtime/records"
	"github.com/wharf-dev/wharf/runtime/replay"
	"github.com/wharf-dev/wharf/runtime/sandbox"
	"github.com/wharf-dev/wharf/storage"
)

// Parts are what a keeper works with.
type Parts struct {
	desk.Parts
	Records   *records.Reader
	Sessions  Sessions
	Artifacts Artifacts
	Receipts  Receipts
	// PersonaAt returns a Persona as it was when a program was fixed, by the hash that the
	// program has of it.
	PersonaAt func(ctx context.Context, t storage.Tenant, id, hash string) (*personas.Persona, error)
	// Submit accepts the Task that describe returns, as any other that a client submits to a
	// Session. describe is called at most once, and not at all for a retry that gets the first
	// answer again.
	Submit func(ctx context.Context, c *desk.Caller, r *desk.Retry, session string, describe func() (*Derived, error)) (desk.Doc, error)
	// Controls refuses a new Task in a Session, when the request names a client that does not control it.
	Controls func(c *desk.Caller, session string) error
	// Module returns the module of a digest. An *abi.Failure says that there is none, or that it
	// is invalid.
	Module func(ctx context.Context, digest string) (replay.Module, error)
	// Rewriter is what rewrote the modules that run here, "" for nothing.
	Rewriter string
	// Limits returns what the node allows the runs of a plugin.
	Limits func(plugin string) sandbox.Limits
	// Used hears of the gas that each replay used.
	Used func(gas uint64)
}

// Sessions makes the Sessions that forked Tasks live in, and the Messages that replays make.
type Sessions interface {
	// ForkPoint returns the position of an event of a Session at which it can be forked.
	ForkPoint(ctx context.Context, c *desk.Caller, s *abi.Session, event string) (desk.Position, error)
	// ForkSession makes a Session that begins as another was at an event.
	ForkSession(ctx context.Context, c *desk.Caller, r *desk.Retry, id string, req abi.ForkSessionRequest) (desk.Doc, error)
	// NewMessage checks a Message of a Task and returns it as a resource with an id of its own.
	NewMessage(in *abi.MessageInput, session, task string) (*abi.Message, error)
}

// Artifacts reads what overrides replace answers with, and keeps what replays put.
type Artifacts interface {
	// ReadArtifact returns a range of an Artifact's content, all that follows with length 0, and
	// at most limit bytes.
	ReadArtifact(ctx context.Context, a *abi.Artifact, offset, length, limit int64) ([]byte, error)
	// ArtifactOf stores what a Task has put and returns its Artifact, which nothing tells of yet.
	ArtifactOf(ctx context.Context, t *abi.Task, reg *abi.RegisterArtifactRequest, content []byte) (*abi.Artifact, error)
}

// Receipts prepares the receipts of replays. Package proofs has one.
type Receipts interface {
	// ReceiptOfReplay returns what the receipt of a replay is made from besides the Task.
	ReceiptOfReplay(ctx context.Context, t storage.Tenant, about *abi.TaskReplay, source *abi.Task, record *journal.Record,
		applied []replay.Replacement) (*proofs.Replayed, error)
	// HoldReceipt makes the caller the only one to issue that receipt, until it calls unlock. unlock
	// has to be called after an error, too. An error says that nobody knows what was issued
	// before.
	HoldReceipt(t storage.Tenant, r *proofs.Replayed) (unlock func(), err error)
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
