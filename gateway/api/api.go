package api

import (
	"context"
	"crypto/sha256"
	"io"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/agents"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/engine"
	"github.com/wharf-dev/wharf/runtime/files"
	"github.com/wharf-dev/wharf/runtime/harnesses"
	"github.com/wharf-dev/wharf/runtime/intake"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/memories"
	"github.com/wharf-dev/wharf/runtime/outbox"
	"github.com/wharf-dev/wharf/runtime/proofs"
	"github.com/wharf-dev/wharf/runtime/receipt"
	"github.com/wharf-dev/wharf/runtime/turns"
)

// What the engine's own types are called here: they hold nothing that is not their reader's.
type (
	// Caller is who asks. The gateway knows it by its credential.
	Caller = desk.Caller
	// Write is a write that a client may send again; nil for one that it may not.
	Write = desk.Retry
	// Page asks for part of a list.
	Page = desk.Page
	// Filter narrows a list, or a stream of events.
	Filter = desk.Filter
	// MemoryFilter narrows a list of Memories.
	MemoryFilter = memories.Filter
	// FileCondition is what must hold of a file that is written or removed.
	FileCondition = files.Condition
	// FileContent is what is in a file of a Workspace. Whoever gets one closes it.
	FileContent = files.Content
	// FileWalk asks for part of what is in a folder of a Workspace, FileQuery for files by name and
	// content; FoundFile is one that was found.
	FileWalk  = files.Walk
	FileQuery = files.Query
	FoundFile = files.Found
	// FileUpload is one of several files that are written together, WrittenFiles what became of
	// them, RemovedFiles what went with a folder.
	FileUpload   = files.Upload
	WrittenFiles = files.Written
	RemovedFiles = files.Removed
	// FileArchive is a zip of files that is made while it is written. Whoever gets one closes it.
	FileArchive = files.Archive
	// Delivery is a delivery to a Connector, on its way in.
	Delivery = intake.Incoming
	// Received says what became of a delivery.
	Received = intake.Received
	// Record is what a Task was told. Only a caller with abi.ScopeEventsInternal gets one.
	Record = journal.Record
	// RecordEntry is one host call of a Record, RecordProgram what ran, RecordEnd how it ended.
	RecordEntry   = journal.Entry
	RecordProgram = journal.Program
	RecordEnd     = journal.End
	// Signature is one by the node's key.
	Signature = proofs.Signature
	// Stats are counts of the whole node.
	Stats = engine.Stats
	// WebhookFormat writes what Webhooks are sent as a protocol has it; WebhookNotice is what it
	// is given, WebhookMessage what is sent.
	WebhookFormat  = outbox.Format
	WebhookNotice  = outbox.Notice
	WebhookMessage = outbox.Message
	// UnreadableError says that something is stored that cannot be read.
	UnreadableError = desk.UnreadableError
)

// The bounds on files that are written, and packed, together.
const (
	MaxFilesWritten  = files.MaxWritten
	MaxFilesTogether = files.MaxTogether // bytes
	MaxFilesPacked   = files.MaxPacked
)

// DeliveryDeduped says in [Received] that the delivery was taken before.
const DeliveryDeduped = intake.DeliveryDeduped

// ReceiptCBOR returns the archive form of a receipt (docs/protocol.md, 8.3), of its JSON.
func ReceiptCBOR(wire []byte) ([]byte, error) { return receipt.ToCBOR(wire) }

// Core is the engine as this package asks it; *engine.Engine is one. Errors that clients should
// see are *abi.Error. What it answers is not yet what the caller may see.
type Core interface {
	readingCore
	tasksCore
	sessionsCore
	resourcesCore
	connectorsCore
	webhooksCore
	hooksCore
	plansCore
	inboxCore
	blocksCore
	toolServersCore
	skillBundlesCore
	customToolsCore
	harnessesCore
	agentsCore
	liveCore
	pluginsCore
	administrationCore
	deletionCore
}

// API answers adapters. It is safe for concurrent use.
type API struct {
	asItIs
	core   Core
	turns  *turns.Turns
	links  Links
	events *eventCache
	counts *countCache
}

// New returns the surface of an engine. turns are the places of long work, such as redacting
// a large document; nil bounds nothing.
func New(core Core, turns *turns.Turns) *API {
	return &API{asItIs: core, core: core, turns: turns, events: newEventCache(Links{}, cachedEvents), counts: newCountCache(keptCounts)}
}

// With returns the same surface for an adapter that has paths of its own for what is shown by its name
// otherwise.
func (a *API) With(l Links) *API {
	with := *a
	with.links, with.events = l, newEventCache(l, cachedEvents)
	return &with
}

// Fingerprint is that of a write whose JSON is body: equal for whatever is the same JSON. It
// takes long for a large body.
func Fingerprint(body []byte) [sha256.Size]byte { return ledger.CanonicalHash(body) }

// Started is when the engine was started.
func (a *API) Started() time.Time { return a.core.Stats().Started }

// asItIs are the questions whose answers hold nothing that would have to be withheld: the
// caller gets what it may see, or an error.
type asItIs interface {
	liveCore
	// Models is the node's catalogue of models, which is the same for every caller and holds no secret.
	Models(ctx context.Context, c *desk.Caller) (*abi.ModelCatalog, error)
	// DefaultWorkspaceOf is the Workspace of what names none.
	DefaultWorkspaceOf(c *desk.Caller) string
	Stats() engine.Stats
	TaskRecord(ctx context.Context, c *desk.Caller, id string) (*journal.Record, error)
	ExportTask(ctx context.Context, c *desk.Caller, id string, w io.Writer) error
	PublicSkills() []abi.Skill
	RedactMemory(ctx context.Context, c *desk.Caller, r *desk.Retry, id string) error
	RemoveSecret(ctx context.Context, c *desk.Caller, r *desk.Retry, vaultID, name string) error
	RotateVaultKey(ctx context.Context, c *desk.Caller) (abi.VaultKeyRotation, error)
	DeleteConnector(ctx context.Context, c *desk.Caller, r *desk.Retry, id string) error
	DeleteWebhook(ctx context.Context, c *desk.Caller, r *desk.Retry, id string) error
	DeleteHook(ctx context.Context, c *desk.Caller, r *desk.Retry, id string) error
	TryWebhook(ctx context.Context, c *desk.Caller, id string) (abi.WebhookTrial, error)
	DeleteToolServer(ctx context.Context, c *desk.Caller, r *desk.Retry, id string) error
	UninstallSkillBundle(ctx context.Context, c *desk.Caller, r *desk.Retry, id string) error
	SkillBundleVersions(ctx context.Context, c *desk.Caller, id string) (abi.SkillBundleVersions, error)
	SkillBundleFile(ctx context.Context, c *desk.Caller, id, version, path string) ([]byte, error)
	Harness(ctx context.Context, c *desk.Caller, name string) (*abi.Harness, error)
	Harnesses(ctx context.Context, c *desk.Caller) []*abi.Harness
	HarnessCalls(ctx context.Context, h *abi.Harness) ([]string, error)
	HarnessRunning(c *desk.Caller, h *abi.Harness) int
	DeleteHarness(ctx context.Context, c *desk.Caller, r *desk.Retry, name string) error
	ValidateHarnessKey(ctx context.Context, c *desk.Caller, h *abi.Harness, key, baseURL string, store bool) (harnesses.Validation, error)
	PingToolServer(ctx context.Context, c *desk.Caller, id string) (abi.ToolServerPing, error)
	ToolServerTools(ctx context.Context, c *desk.Caller, id string) (tools []abi.Tool, plugins []string, err error)
	ToolServerResources(ctx context.Context, c *desk.Caller, id string) (abi.ToolServerResources, error)
	ToolServerTemplates(ctx context.Context, c *desk.Caller, id string) (abi.ToolServerTemplates, error)
	ToolServerPrompts(ctx context.Context, c *desk.Caller, id string) (abi.ToolServerPrompts, error)
	ReadToolServerResource(ctx context.Context, c *desk.Caller, id string, req abi.ReadResourceRequest) (*abi.CallResourceReadAnswer, error)
	GetToolServerPrompt(ctx context.Context, c *desk.Caller, id string, req abi.GetPromptRequest) (*abi.CallPromptGetAnswer, error)
	ReceiveDelivery(ctx context.Context, c *desk.Caller, id string, in *intake.Incoming) (intake.Received, error)
	HookTenant(token string) (string, error)
	ReceiveHook(ctx context.Context, token string, in *intake.Incoming) (intake.Received, error)
	RemovePlugin(ctx context.Context, c *desk.Caller, r *desk.Retry, name string, force bool) error
	Plugin(ctx context.Context, c *desk.Caller, name string) (abi.Plugin, error)
	Plugins(ctx context.Context, c *desk.Caller) abi.Plugins
	PluginManifest(ctx context.Context, c *desk.Caller, name, version string) (abi.PluginManifest, error)
	Backup(ctx context.Context, c *desk.Caller, dir string) error
	ReceiptWire(ctx context.Context, c *desk.Caller, id string) ([]byte, error)
	VerifyReceipt(ctx context.Context, c *desk.Caller, r *desk.Retry, id string, req abi.VerifyReceiptRequest) (abi.ReceiptVerification, error)
	SigningKeys() abi.SigningKeys
	RotateSigningKey(ctx context.Context, c *desk.Caller) (abi.SigningKeys, error)
	SignDocument(document []byte, keySet string) (*proofs.Signature, error)
	OpenFile(ctx context.Context, c *desk.Caller, workspace, path string) (abi.File, files.Content, error)
	WriteFile(ctx context.Context, c *desk.Caller, workspace, path string, content io.Reader, when files.Condition) (abi.File, bool, error)
	RemoveFile(ctx context.Context, c *desk.Caller, workspace, path string, when files.Condition) error
	FindEntry(ctx context.Context, c *desk.Caller, workspace, path string) (abi.File, error)
	WalkFiles(ctx context.Context, c *desk.Caller, workspace string, w files.Walk) (all []abi.File, more bool, err error)
	FindFiles(ctx context.Context, c *desk.Caller, workspace string, q files.Query) (found []files.Found, whole bool, err error)
	WriteFiles(ctx context.Context, c *desk.Caller, workspace string, all []files.Upload, overwrite bool) (*files.Written, error)
	PackFiles(ctx context.Context, c *desk.Caller, workspace string, paths []string) (*files.Archive, error)
	MakeFolder(ctx context.Context, c *desk.Caller, workspace, dir string) (abi.File, bool, error)
	RemoveFolder(ctx context.Context, c *desk.Caller, workspace, dir string, recursive bool) (files.Removed, error)
	IssueToken(ctx context.Context, client, secret string, scopes []string) (*abi.AccessToken, error)
	TokenKeys() ([]byte, error)
	DeleteAgent(ctx context.Context, c *desk.Caller, r *desk.Retry, workspace, id string) error
	ExportAgent(ctx context.Context, c *desk.Caller, workspace, id string, how abi.AgentExport) (*agents.Export, error)
	TokenIssuer(base string) (abi.AuthorizationServer, error)
}
