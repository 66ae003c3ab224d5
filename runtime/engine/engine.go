package engine

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync/atomic"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/agents"
	"github.com/wharf-dev/wharf/runtime/artifacts"
	"github.com/wharf-dev/wharf/runtime/aside"
	"github.com/wharf-dev/wharf/runtime/background"
	"github.com/wharf-dev/wharf/runtime/blocks"
	"github.com/wharf-dev/wharf/runtime/copies"
	"github.com/wharf-dev/wharf/runtime/customtools"
	"github.com/wharf-dev/wharf/runtime/delegation"
	"github.com/wharf-dev/wharf/runtime/deletion"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/disk"
	"github.com/wharf-dev/wharf/runtime/figures"
	"github.com/wharf-dev/wharf/runtime/files"
	"github.com/wharf-dev/wharf/runtime/harnesses"
	"github.com/wharf-dev/wharf/runtime/hooks"
	"github.com/wharf-dev/wharf/runtime/hostcall"
	"github.com/wharf-dev/wharf/runtime/identity"
	"github.com/wharf-dev/wharf/runtime/inbox"
	"github.com/wharf-dev/wharf/runtime/inhand"
	"github.com/wharf-dev/wharf/runtime/installs"
	"github.com/wharf-dev/wharf/runtime/intake"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/live"
	"github.com/wharf-dev/wharf/runtime/outbox"
	"github.com/wharf-dev/wharf/runtime/ownfacts"
	"github.com/wharf-dev/wharf/runtime/personas"
	"github.com/wharf-dev/wharf/runtime/pinned"
	"github.com/wharf-dev/wharf/runtime/plans"
	"github.com/wharf-dev/wharf/runtime/programs"
	"github.com/wharf-dev/wharf/runtime/proofs"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/provider/agent"
	"github.com/wharf-dev/wharf/runtime/provider/hosts"
	"github.com/wharf-dev/wharf/runtime/provider/tool"
	"github.com/wharf-dev/wharf/runtime/provider/vault"
	"github.com/wharf-dev/wharf/runtime/quotas"
	"github.com/wharf-dev/wharf/runtime/receipt"
	"github.com/wharf-dev/wharf/runtime/records"
	"github.com/wharf-dev/wharf/runtime/replays"
	"github.com/wharf-dev/wharf/runtime/sandbox"
	"github.com/wharf-dev/wharf/runtime/scheduler"
	"github.com/wharf-dev/wharf/runtime/secrets"
	"github.com/wharf-dev/wharf/runtime/sessions"
	"github.com/wharf-dev/wharf/runtime/skillbundles"
	"github.com/wharf-dev/wharf/runtime/tenancy"
	"github.com/wharf-dev/wharf/runtime/toolservers"
	"github.com/wharf-dev/wharf/runtime/turns"
	"github.com/wharf-dev/wharf/runtime/waiting"
	"github.com/wharf-dev/wharf/runtime/workers"
	"github.com/wharf-dev/wharf/storage"
)

// Config holds the engine's settings. The zero value of each means its default.
type Config struct {
	DefaultPersona string         // for Tasks and Sessions that name none; default persona_digest
	MaxRunning     int            // Tasks that run at once; default 256
	MaxQueued      int            // accepted Tasks that wait; beyond it submits are refused; default 10,000
	MaxAttempts    int            // starts of a Task that make no progress, before it fails; default 3
	Limits         sandbox.Limits // of each run; default sandbox.DefaultLimits
	// PluginLimits are the limits of plugins that have their own, by name. A limit that one of
	// them leaves 0 is as in Limits.
	PluginLimits   map[string]sandbox.Limits
	IdempotencyTTL time.Duration // how long first responses are kept; default and least 24 h
	// RequiredReceiptsOnly issues receipts only for Personas whose policy is required.
	RequiredReceiptsOnly bool
	Connectors           intake.Config
	Webhooks             outbox.Config
	ToolServers          toolservers.Config
	Harnesses            harnesses.Config
	IdleSessions         int // Sessions kept in memory while nothing happens to them; default 10,000
	// InHand bounds what the large documents of all runs take together. The gateway has it
	// too. nil bounds nothing.
	InHand *inhand.Budget
}

// Module is a compiled plugin.
type Module interface {
	HasExport(name string) bool
	Imports() []string // the host calls that it makes
	// Run calls an export on a fresh instance. An *abi.Failure says what the guest
	// did wrong; when ctx was canceled, the error is its cause.
	Run(ctx context.Context, export string, h sandbox.Host, l sandbox.Limits) (sandbox.Usage, error)
}

// Modules finds the plugin that an entry workflow names. Digests are "sha256:" and
// hex, of a module as it was written.
type Modules interface {
	// Resolve returns the digest of the module that a name stands for now, without
	// compiling it. An *abi.Failure says that there is none.
	Resolve(ctx context.Context, name string) (digest string, err error)
	// ModuleAt returns a module, compiling it if need be. An *abi.Failure says that
	// there is none or that it is invalid. Compiling one never delays the use of
	// another.
	ModuleAt(ctx context.Context, digest string) (Module, error)
	// Wasm returns a module's bytes, which must not be changed.
	Wasm(ctx context.Context, digest string) ([]byte, error)
}

// Parts is what the engine works with, a field for each thing that a node brings. Store and
// Modules are required.
type Parts struct {
	Store    storage.Store
	Modules  Modules
	Personas []abi.Persona // seeded into every tenant
	// Performers answer the host calls that reach outside the node, by name. A call
	// that has none is refused.
	Performers map[string]provider.Performer
	// AddedTools are the servers of tools that tenants have added, as the performer of tool calls
	// uses them; nil when the node takes none.
	AddedTools *tool.Added
	Agents     *agent.Agents // outside, that plugins may delegate to; nil for none
	Hosts      *hosts.Hosts  // clients, that are asked for skills; nil for none
	// RemoteHarnesses asks the servers of hosted Harnesses, as the performer of tool calls uses it;
	// nil where no tools can be called.
	RemoteHarnesses *harnesses.Remote
	// ModelNamed says by which name the node asks the model that an agent names, and whether it has
	// it; nil: as it is named.
	ModelNamed func(name string) (model string, known bool)
	// Models returns the models of the node, by name; nil when it has none.
	Models func() []abi.NodeModel
	// Vaults keeps the values of Vaults' secrets; nil when the node has no Vaults.
	Vaults *vault.Store
	// NodeSecret returns a secret of the node's configuration that a Connector may
	// check signatures with, or a *provider.Refusal; nil when there are none.
	NodeSecret func(ctx context.Context, c *abi.Connector, name string) ([]byte, error)
	// Keys signs receipts. Without it no receipts are issued.
	Keys *receipt.Keyring
	// Tokens verifies and issues access tokens. Without it only API keys are known.
	Tokens  *identity.Tokens
	Version string // of this build, for host.fact and receipts
	Runs    string // what runs modules, such as wazero-1.12.0, for receipts
	// Rewriter is what modules are rewritten with before they run, such as wharf-1;
	// "" when they run as they are, and are not metered.
	Rewriter string
	Now      func() time.Time // default time.Now
	Entropy  io.Reader        // default crypto/rand
	Log      *slog.Logger     // default slog.Default
	// Instances reports on the instances of plugins; nil when nothing does.
	Instances func() Instances
	// Installs loads plugins that are installed while the node runs, which Modules resolves then; nil
	// when none can be.
	Installs installs.Modules
	// Backup writes a copy of the data folder to dir while the node runs; nil when
	// the store cannot.
	Backup func(dir string) error
	// CheckBackup says what such a copy lacks; nil when nothing can.
	CheckBackup func(ctx context.Context, dir string) error
	Disk        *disk.Watch // of what all lies on; nil when nothing watches
	// Files is the folder of Workspaces' files; nil when the node keeps none.
	Files *os.Root
	// ShowEvent returns an event as JSON, as those see it who may see what is public: so it is
	// sent to Webhooks. nil: they are told its id alone.
	ShowEvent func(ev desk.Event) []byte
	// WebhookFormats are the formats of deliveries that adapters bring.
	WebhookFormats []outbox.Format
	Figures        *figures.Book // of what Tasks come to, by plugin; nil counts nothing
	// Turns are the places of long work, which everything that runs in a node shares;
	// nil bounds nothing.
	Turns *turns.Turns
}

// What serves a kind of resource to callers, and stands in a package of its own. The engine
// embeds each, so that adapters ask it for all of them.
type (
	quotaResources      = quotas.Resources
	vaultResources      = secrets.Keeper
	tenantResources     = tenancy.Directory
	personaResources    = personas.Keeper
	memoryResources     = blocks.Keeper
	artifactResources   = artifacts.Keeper
	fileResources       = files.Keeper
	sessionResources    = sessions.Keeper
	proofResources      = proofs.Keeper
	replayResources     = replays.Keeper
	permissionResources = waiting.Keeper
	planResources       = plans.Keeper
	inboxResources      = inbox.Keeper
	webhookResources    = outbox.Outbox
	hookResources       = hooks.Keeper
	toolServerResources = toolservers.Keeper
	agentResources      = agents.Keeper
	harnessResources    = harnesses.Keeper
	skillResources      = skillbundles.Keeper
	customToolResources = customtools.Keeper
	liveResources       = live.Keeper
	copyResources       = copies.Keeper
	deletionResources   = deletion.Keeper
	installResources    = installs.Keeper
)

// Engine is the core. All its methods are safe for concurrent use.
//
// Its life: [New] → [tenancy.Directory.Bootstrap] (a first start makes tenant, Workspace
// and key) → [Engine.Start] (recovers unfinished Tasks) → requests → [Engine.Drain]. The store
// outlives the engine: the caller that opened the store closes it.
type Engine struct {
	resources
	brought
	answering
	lifetime
	inMemory

	config  Config
	store   storage.Store // for reading: what is written goes through the ledger
	ledger  *ledger.Ledger
	now     func() time.Time
	log     *slog.Logger
	ids     *abi.IDs
	tenants *tenancy.Tenants
	book    *quotas.Book
	queue   *scheduler.Scheduler[task]
	counts  counters
}

// resources serve one kind of resource each to callers.
type resources struct {
	*desk.Desk
	*intake.Intake
	*quotaResources
	*vaultResources
	*tenantResources
	*personaResources
	*memoryResources
	*artifactResources
	*fileResources
	*sessionResources
	*proofResources
	*replayResources
	*permissionResources
	*planResources
	*inboxResources
	*webhookResources
	*hookResources
	*toolServerResources
	*agentResources
	*harnessResources
	*skillResources
	*customToolResources
	*liveResources
	*copyResources
	*deletionResources
	*installResources
}

// brought is what the node brings: what runs modules.
type brought struct {
	modules  Modules
	runs     string // what runs modules
	rewriter string
	version  string
	entropy  io.Reader
	turns    *turns.Turns
	disk     *disk.Watch
	pooled   func() Instances
	figures  *figures.Book
}

// answering is what answers host calls: the engine by the calls' definitions, rooms, and
// performers of what reaches outside the node.
type answering struct {
	calls      map[string]*abi.HostCall
	served     map[string]hostcall.Func // by rooms
	performers map[string]provider.Performer
}

// lifetime is the engine's own.
type lifetime struct {
	started  time.Time
	base     context.Context // parent of every run
	stopRuns context.CancelCauseFunc
	draining atomic.Bool
	// background has what the engine does by itself: wakes, deadlines, budgets of time.
	background background.Group
}

// inMemory is what is known of Tasks: those that have not ended, what they ask and wait for, and
// who waits for them.
type inMemory struct {
	tasks     taskTable
	parked    waiting.Parked
	pending   waiting.Pending
	ends      waiting.Ends
	observers []func(storage.Tenant, *abi.Task) // hear of each Task that has ended, as it was accepted
	aside     *aside.Shelf
	pinned    *pinned.Keeper
	programs  *programs.Fixer
	records   *records.Reader
	workers   *workers.Keeper
}

// counters are what metrics are made of.
type counters struct {
	accepted, rejected          atomic.Uint64
	completed, failed, canceled atomic.Uint64
	gas                         atomic.Uint64
}

// New returns an engine over an open store. It does no I/O.
func New(config Config, parts Parts) (*Engine, error) {
	if parts.Store == nil || parts.Modules == nil {
		return nil, errors.New("engine: a store and modules are required")
	}
	config = config.withDefaults()
	e := &Engine{
		brought: brought{modules: parts.Modules, runs: parts.Runs, rewriter: parts.Rewriter, version: parts.Version,
			entropy: parts.Entropy, turns: parts.Turns, disk: parts.Disk, pooled: parts.Instances, figures: parts.Figures},
		answering: answering{calls: abi.HostCallsByName(), performers: parts.Performers},
		config:    config, store: parts.Store, now: parts.Now, log: parts.Log,
	}
	if e.now == nil {
		e.now = time.Now
	}
	if e.entropy == nil {
		e.entropy = ownfacts.Shared(rand.Reader)
	}
	if e.pooled == nil {
		e.pooled = func() Instances { return Instances{} }
	}
	if e.log == nil {
		e.log = slog.Default()
	}
	e.ids = abi.NewIDs(e.now, e.entropy)
	e.started = e.now()
	e.base, e.stopRuns = context.WithCancelCause(context.Background())
	e.furnish(&parts)
	e.queue = scheduler.New(config.MaxRunning, config.MaxQueued, e.runTask)
	return e, nil
}

// furnish makes the rooms that the engine stands on, from its settings and parts.
func (e *Engine) furnish(parts *Parts) {
	e.ledger = ledger.New(ledger.Config{Store: e.store, Now: e.now, Log: e.log,
		KeepKeys: e.config.IdempotencyTTL, IdleSessions: e.config.IdleSessions})
	e.Desk = desk.New(e.store, e.ledger, e.now, e.turns)
	common := desk.Parts{Store: e.store, Ledger: e.ledger, Desk: e.Desk, IDs: e.ids, Now: e.now, Log: e.log}
	e.aside = aside.NewShelf(common)
	e.tenants = &tenancy.Tenants{}
	e.book = e.newBook(common)
	e.quotaResources = quotas.NewResources(e.book)
	e.vaultResources = secrets.NewKeeper(secrets.Parts{Parts: common,
		Tenants: e.tenants, Values: parts.Vaults, NodeSecret: parts.NodeSecret})
	e.personaResources = personas.NewKeeper(personas.Parts{Parts: common,
		Turns: e.turns, Bundled: parts.Personas, Started: e.started, Calls: e.calls, Offers: e.offers, LeaveOut: e.aside.LeaveOut, Offered: func() []abi.Persona { return e.OfferedPersonas() }})
	e.tenantResources = tenancy.NewDirectory(tenancy.Parts{Parts: common,
		Entropy: e.entropy, Tokens: parts.Tokens, Quota: e.Quota, Seed: e.SeedTenant, LeaveOut: e.aside.LeaveOut}, e.tenants)
	e.pinned = pinned.NewKeeper(pinned.Parts{Blobs: e.store.Blobs(), Modules: e.modules, Persona: e.Persona})
	e.records = records.NewReader(records.Parts{Parts: common, PersonaAt: e.pinned.PersonaAt})
	e.workers = workers.NewKeeper(workers.Parts{Parts: common, Task: e.records.Task, Persona: e.Persona, Go: e.background.Go})
	e.memoryResources = blocks.NewKeeper(blocks.Parts{Parts: common, Persona: e.Persona, TenantID: e.tenants.IDOf})
	elsewhere := &hosts.Skills{Hosts: parts.Hosts, TenantID: e.tenants.IDOf, MostTold: int64(e.config.Limits.PayloadBytes / 2)}
	e.skillResources = skillbundles.NewKeeper(skillbundles.Parts{Parts: common, MostTold: elsewhere.MostTold, Elsewhere: elsewhere.Read})
	e.liveResources = live.NewKeeper(live.Parts{Parts: common, Pending: e.pending.InSession})
	e.sessionResources = sessions.NewKeeper(sessions.Parts{Parts: common, DefaultPersona: e.config.DefaultPersona,
		May: e.May, Models: parts.Models, CheckReceipts: func(p *abi.Persona) error { return e.CheckReceipts(p) }, PersonaIn: e.PersonaIn, SkillIn: e.SkillIn, CheckVaultIDs: e.CheckVaultIDs, CheckSkillNames: e.CheckSkillNames})
	e.permissionResources = waiting.NewKeeper(waiting.Parts{Parts: common,
		Messages: e.sessionResources, Clients: e.liveResources, Task: e.records.Task, Live: e.tasks.stateOf, Wake: e.wake, Generations: maxGenerations,
		Pending: &e.pending, Ends: &e.ends, Turns: e.turns})
	e.fileResources = files.NewKeeper(files.Parts{Parts: common, Root: parts.Files, Turns: e.turns,
		TenantOf: e.tenantOf, MostTold: int64(e.config.Limits.PayloadBytes / 2)})
	e.copyResources = copies.NewKeeper(copies.Parts{Write: parts.Backup, Check: parts.CheckBackup, WhileFilesRest: e.WhileFilesRest})
	e.deletionResources = deletion.NewKeeper(deletion.Parts{Parts: common, Live: e.tasks.stateOf, DropSession: e.DropSession, Tenants: e.tenants.All})
	e.performers = withOwn(e.performers, e.fileResources)
	e.performers[abi.CallToolCall] = e.fileResources.Tools(e.performers[abi.CallToolCall])
	e.artifactResources = artifacts.NewKeeper(artifacts.Parts{Parts: common,
		DefaultWorkspaceOf: e.DefaultWorkspaceOf, MostRead: int64(e.config.Limits.PayloadBytes)})
	e.performers = withOwn(e.performers, delegation.NewKeeper(delegation.Parts{Parts: common, Agents: parts.Agents, Artifacts: e.artifactResources, TenantOf: e.tenantOf}))
	e.planResources = plans.NewKeeper(common)
	e.inboxResources = inbox.NewKeeper(inbox.Parts{Parts: common, Messages: e.sessionResources, May: e.May, Task: e.records.Task, Parked: &e.parked, Wake: e.wake, Go: e.background.Go})
	e.proofResources = e.newProofs(common, parts.Keys)
	e.replayResources = e.newReplays(common)
	e.Intake = e.newIntake(common, e.ConnectorSecret)
	hooked := hooks.NewPlugins(e.pluginsApart(), e.log)
	e.webhookResources = e.newOutbox(common, parts, hooked)
	e.hookResources = hooks.NewKeeper(hooks.Parts{Parts: common, Outbox: e.webhookResources, Plugins: hooked, Offered: func(plugin string) *abi.Hook { return e.OfferedHook(plugin) }, Turns: e.turns})
	e.toolServerResources, e.customToolResources = e.newToolServers(common, parts)
	e.agentResources = agents.NewKeeper(agents.Parts{Parts: common, Personas: e.personaResources, InstallSkill: e.SkillForAgent, Model: parts.ModelNamed, Memory: e.memoryResources})
	e.harnessResources = e.newHarnesses(common, parts)
	e.installResources = installs.NewKeeper(installs.Parts{Parts: common, Modules: parts.Installs, Personas: e.personaResources, Tenants: e.tenants.All})
	e.programs = e.newPrograms()
	e.haveRoomsAnswer(e.memoryResources, e.sessionResources, e.artifactResources, e.skillResources, e.planResources, e.inboxResources, e.Intake, elsewhere,
		&ownfacts.Keeper{Now: e.now, Entropy: e.entropy, IDs: e.ids, Version: e.version, TenantID: e.tenants.IDOf})
}

func (c Config) withDefaults() Config {
	c.DefaultPersona = cmp.Or(c.DefaultPersona, "persona_digest")
	c.MaxRunning = cmp.Or(c.MaxRunning, 256)
	c.MaxQueued = cmp.Or(c.MaxQueued, 10_000)
	c.MaxAttempts = cmp.Or(c.MaxAttempts, 3)
	c.IdleSessions = cmp.Or(c.IdleSessions, 10_000)
	standard := sandbox.DefaultLimits()
	c.Limits = cmp.Or(c.Limits, standard)
	c.Limits.Gas = cmp.Or(c.Limits.Gas, standard.Gas)
	c.Limits.Depth = cmp.Or(c.Limits.Depth, standard.Depth)
	c.IdempotencyTTL = max(c.IdempotencyTTL, 24*time.Hour)
	return c
}

// limitsFor returns the limits of the runs of a plugin.
func (c *Config) limitsFor(plugin string) sandbox.Limits {
	return c.PluginLimits[plugin].Or(c.Limits)
}

// Start brings back the Tasks that an earlier life of the node left unfinished.
// It is called once, before the first request.
func (e *Engine) Start(ctx context.Context) error {
	if err := cmp.Or(e.book.Load(ctx), e.LoadPlugins(ctx)); err != nil {
		return err
	}
	if err := cmp.Or(e.LoadToolServers(ctx, e.tenants.All()), e.LoadCustomTools(ctx, e.tenants.All()), e.LoadHarnesses(ctx, e.tenants.All()), e.LoadSkillBundles(ctx, e.tenants.All())); err != nil {
		return err
	}
	if err := e.webhookResources.Start(ctx); err != nil { // hooks are there before anything runs
		return err
	}
	if err := e.recover(ctx); err != nil {
		return err
	}
	return cmp.Or(e.HideDeleted(ctx), e.workers.Start(ctx), e.Intake.Start(ctx))
}

var errDrained = errors.New("the node is draining")

// ErrStuck is the error of a drain that could not end what it has stopped. The sandbox and
// the store may still be in use: the process is to end without closing them.
var ErrStuck = errors.New("it did not end though it was stopped")

// stopTime is how long runs that a drain has stopped get to end. Nothing but the disk,
// or a plugin that is being compiled, holds them up.
const stopTime = 10 * time.Second

// Drain stops taking Tasks and lets running ones end. When ctx ends first, their plugins are
// stopped and the Tasks are left as they are on disk, to be run again by the next start, as
// after a crash. Drain returns nil in both cases, and reads keep working. An [ErrStuck] names
// what still went on [stopTime] after it was stopped: the store must not be closed then.
func (e *Engine) Drain(ctx context.Context) error {
	e.draining.Store(true)
	late, over := context.WithCancelCause(context.WithoutCancel(ctx))
	defer over(nil)
	defer context.AfterFunc(ctx, func() {
		e.stopRuns(errDrained)
		time.AfterFunc(stopTime, func() { over(ErrStuck) })
	})()
	e.parked.Stop()
	if err := e.Intake.Drain(late); err != nil {
		return err
	}
	if err := background.Wait(late, e.queue.Drain()); err != nil {
		return fmt.Errorf("waiting for running tasks: %w", err)
	}
	if err := background.Wait(late, e.background.End()); err != nil { // until here the deadlines of what ran were held
		return fmt.Errorf("waiting for what the node does by itself: %w", err)
	}
	return e.drainOutbox(ctx, late)
}

// Stats returns a snapshot of what the engine is doing.
func (e *Engine) Stats() Stats {
	queued, running := e.queue.Load()
	used, refused := e.SecretUses()
	checked, bad := e.TokenChecks()
	return Stats{
		Queued: queued, Running: running,
		Accepted: e.counts.accepted.Load(), Rejected: e.counts.rejected.Load(),
		Finished: map[abi.TaskStatus]uint64{
			abi.TaskCompleted: e.counts.completed.Load(),
			abi.TaskFailed:    e.counts.failed.Load(),
			abi.TaskCanceled:  e.counts.canceled.Load(),
		},
		Gas: e.counts.gas.Load(), Instances: e.pooled(),
		QuotaRefusals: e.book.Refused(), PermissionsPending: e.pending.Size(),
		SecretsUsed: used, SecretsRefused: refused,
		TokensChecked: checked, TokensRefused: bad,
		Watermark: e.store.Watermark(), Started: e.started,
		Draining: e.draining.Load(), Failed: e.store.Failed(), SetAside: e.aside.Count(),
	}
}
