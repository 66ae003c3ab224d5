package harn

import (
	"context"
	"io"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
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
	Get(ctx context.Context, c *desk.Caller, o abi.Object, id string) (desk.Doc, error)
	List(ctx context.Context, c *desk.Caller, o abi.Object, f desk.Filter, p desk.Page) (desk.DocList, error)
	Messages(ctx context.Context, c *desk.Caller, sessionID string, p desk.Page) (desk.DocList, error)
	OpenArtifact(ctx context.Context, c *desk.Caller, id string) (desk.Doc, desk.Blob, error)
	Event(ctx context.Context, c *desk.Caller, at desk.Position) (desk.Event, error)
	Events(ctx context.Context, c *desk.Caller, f desk.Filter, after desk.Position, limit int) ([]desk.Event, bool, error)
	Subscribe(ctx context.Context, c *desk.Caller, f desk.Filter, after desk.Position) (desk.Subscription, error)
	Stats() engine.Stats
}

type taskWrites interface {
	SubmitTask(ctx context.Context, c *desk.Caller, r *desk.Retry, req abi.SubmitTaskRequest) (desk.Doc, error)
	WaitTask(ctx context.Context, c *desk.Caller, id string) (desk.Doc, error)
	CancelTask(ctx context.Context, c *desk.Caller, r *desk.Retry, id string, req abi.CancelTaskRequest) (desk.Doc, error)
	AppendTaskMessage(ctx context.Context, c *desk.Caller, r *desk.Retry, taskID string, req abi.AppendTaskMessageRequest) (desk.Doc, error)
}

type sessionWrites interface {
	CreateSession(ctx context.Context, c *desk.Caller, r *desk.Retry, req abi.CreateSessionRequest) (desk.Doc, error)
	UpdateSession(ctx context.Context, c *desk.Caller, r *desk.Retry, id string, req abi.UpdateSessionRequest) (desk.Doc, error)
	SessionsCalled(ctx context.Context, c *desk.Caller, workspace string, ref abi.OutsideRef) (desk.DocList, error)
	CloseSession(ctx context.Context, c *desk.Caller, r *desk.Retry, id string) (desk.Doc, error)
	ForkSession(ctx context.Context, c *desk.Caller, r *desk.Retry, id string, req abi.ForkSessionRequest) (desk.Doc, error)
	TruncateSession(ctx context.Context, c *desk.Caller, r *desk.Retry, id string, req abi.TruncateSessionRequest) (desk.Doc, error)
	AppendMessage(ctx context.Context, c *desk.Caller, r *desk.Retry, sessionID string, req abi.AppendMessageRequest) (desk.Doc, error)
}

type otherWrites interface {
	CreateWorkspace(ctx context.Context, c *desk.Caller, r *desk.Retry, req abi.CreateWorkspaceRequest) (desk.Doc, error)
	UpdateWorkspace(ctx context.Context, c *desk.Caller, r *desk.Retry, id string, req abi.UpdateWorkspaceRequest) (desk.Doc, error)
	CreateBranch(ctx context.Context, c *desk.Caller, r *desk.Retry, sessionID string, req abi.CreateBranchRequest) (desk.Doc, error)
	RegisterArtifact(ctx context.Context, c *desk.Caller, r *desk.Retry, req abi.RegisterArtifactRequest, content io.Reader) (desk.Doc, error)
}

type replays interface {
	ReplayTask(ctx context.Context, c *desk.Caller, r *desk.Retry, id string, req abi.ReplayTaskRequest) (desk.Doc, error)
	ReplaySession(ctx context.Context, c *desk.Caller, r *desk.Retry, id string, req abi.ReplaySessionRequest, after string) (desk.DocList, error)
	ForkTask(ctx context.Context, c *desk.Caller, r *desk.Retry, id string, req abi.ForkTaskRequest) (desk.Doc, error)
	Record(ctx context.Context, c *desk.Caller, id string) (*journal.Record, error)
	ExportTask(ctx context.Context, c *desk.Caller, id string, w io.Writer) error
}

type receipts interface {
	TaskReceipts(ctx context.Context, c *desk.Caller, id string) ([]desk.Doc, error)
	ReceiptWire(ctx context.Context, c *desk.Caller, id string) ([]byte, error)
	VerifyReceipt(ctx context.Context, c *desk.Caller, r *desk.Retry, id string, req abi.VerifyReceiptRequest) (abi.ReceiptVerification, error)
	SigningKeys() abi.SigningKeys
	RotateSigningKey(ctx context.Context, c *desk.Caller) (abi.SigningKeys, error)
}

type administration interface {
	CreateKey(ctx context.Context, c *desk.Caller, req abi.CreateKeyRequest) (desk.Doc, error)
	ListKeys(ctx context.Context, c *desk.Caller, p desk.Page) (desk.DocList, error)
	RevokeKey(ctx context.Context, c *desk.Caller, id string) (desk.Doc, error)
	Backup(ctx context.Context, c *desk.Caller, dir string) error
}
