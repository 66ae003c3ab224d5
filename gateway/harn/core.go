package harn

import (
	"context"
	"io"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/engine"
	"github.com/wharf-dev/wharf/runtime/journal"
)

// Core is what this adapter asks of the engine; *engine.Engine is one. Errors
// that clients should see are *abi.Error.
type Core interface {
	reads
	taskWrites
	sessionWrites
	otherWrites
	replays
	receipts
	administration
	personaCore
	memoryCore
	vaultCore
	connectorCore
	deadLetterCore
	skillCore
	cardCore
	quotaCore
	permissionCore
	fileCore
	branchCore
	tokenCore
}

type reads interface {
	Get(ctx context.Context, c *engine.Caller, o abi.Object, id string) (engine.Doc, error)
	List(ctx context.Context, c *engine.Caller, o abi.Object, f engine.Filter, p engine.Page) (engine.DocList, error)
	Messages(ctx context.Context, c *engine.Caller, sessionID string, p engine.Page) (engine.DocList, error)
	OpenArtifact(ctx context.Context, c *engine.Caller, id string) (engine.Doc, engine.Blob, error)
	Event(ctx context.Context, c *engine.Caller, at engine.Position) (engine.Event, error)
	Events(ctx context.Context, c *engine.Caller, f engine.Filter, after engine.Position, limit int) ([]engine.Event, bool, error)
	Subscribe(ctx context.Context, c *engine.Caller, f engine.Filter, after engine.Position) (engine.Subscription, error)
	Stats() engine.Stats
}

type taskWrites interface {
	SubmitTask(ctx context.Context, c *engine.Caller, r *engine.Retry, req abi.SubmitTaskRequest) (engine.Doc, error)
	WaitTask(ctx context.Context, c *engine.Caller, id string) (engine.Doc, error)
	CancelTask(ctx context.Context, c *engine.Caller, r *engine.Retry, id string, req abi.CancelTaskRequest) (engine.Doc, error)
	AppendTaskMessage(ctx context.Context, c *engine.Caller, r *engine.Retry, taskID string, req abi.AppendTaskMessageRequest) (engine.Doc, error)
}

type sessionWrites interface {
	CreateSession(ctx context.Context, c *engine.Caller, r *engine.Retry, req abi.CreateSessionRequest) (engine.Doc, error)
	UpdateSession(ctx context.Context, c *engine.Caller, r *engine.Retry, id string, req abi.UpdateSessionRequest) (engine.Doc, error)
	CloseSession(ctx context.Context, c *engine.Caller, r *engine.Retry, id string) (engine.Doc, error)
	ForkSession(ctx context.Context, c *engine.Caller, r *engine.Retry, id string, req abi.ForkSessionRequest) (engine.Doc, error)
	TruncateSession(ctx context.Context, c *engine.Caller, r *engine.Retry, id string, req abi.TruncateSessionRequest) (engine.Doc, error)
	AppendMessage(ctx context.Context, c *engine.Caller, r *engine.Retry, sessionID string, req abi.AppendMessageRequest) (engine.Doc, error)
}

type otherWrites interface {
	CreateWorkspace(ctx context.Context, c *engine.Caller, r *engine.Retry, req abi.CreateWorkspaceRequest) (engine.Doc, error)
	UpdateWorkspace(ctx context.Context, c *engine.Caller, r *engine.Retry, id string, req abi.UpdateWorkspaceRequest) (engine.Doc, error)
	CreateBranch(ctx context.Context, c *engine.Caller, r *engine.Retry, sessionID string, req abi.CreateBranchRequest) (engine.Doc, error)
	RegisterArtifact(ctx context.Context, c *engine.Caller, r *engine.Retry, req abi.RegisterArtifactRequest, content io.Reader) (engine.Doc, error)
}

type replays interface {
	ReplayTask(ctx context.Context, c *engine.Caller, r *engine.Retry, id string, req abi.ReplayTaskRequest) (engine.Doc, error)
	ReplaySession(ctx context.Context, c *engine.Caller, r *engine.Retry, id string, req abi.ReplaySessionRequest, after string) (engine.DocList, error)
	ForkTask(ctx context.Context, c *engine.Caller, r *engine.Retry, id string, req abi.ForkTaskRequest) (engine.Doc, error)
	Record(ctx context.Context, c *engine.Caller, id string) (*journal.Record, error)
	ExportTask(ctx context.Context, c *engine.Caller, id string, w io.Writer) error
}

type receipts interface {
	TaskReceipts(ctx context.Context, c *engine.Caller, id string) ([]engine.Doc, error)
	ReceiptWire(ctx context.Context, c *engine.Caller, id string) ([]byte, error)
	VerifyReceipt(ctx context.Context, c *engine.Caller, r *engine.Retry, id string, req abi.VerifyReceiptRequest) (abi.ReceiptVerification, error)
	SigningKeys() abi.SigningKeys
	RotateSigningKey(ctx context.Context, c *engine.Caller) (abi.SigningKeys, error)
}

type administration interface {
	CreateKey(ctx context.Context, c *engine.Caller, req abi.CreateKeyRequest) (engine.Doc, error)
	ListKeys(ctx context.Context, c *engine.Caller, p engine.Page) (engine.DocList, error)
	RevokeKey(ctx context.Context, c *engine.Caller, id string) (engine.Doc, error)
	Backup(ctx context.Context, c *engine.Caller, dir string) error
}
