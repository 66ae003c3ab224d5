package engine

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/identity"
	"github.com/wharf-dev/wharf/runtime/inhand"
	"github.com/wharf-dev/wharf/runtime/lockrank"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/provider/vault"
	"github.com/wharf-dev/wharf/runtime/receipt"
	"github.com/wharf-dev/wharf/runtime/sandbox"
	"github.com/wharf-dev/wharf/runtime/turns"
	"github.com/wharf-dev/wharf/storage"
)

// Config holds the engine's settings. The zero value of each means its default.
type Config struct {
	DefaultPersona string         // for Tasks and Sessions that name none; default persona_digest
	MaxRunning     int            // Tasks that run at once; default 256
	MaxQueued      int            // accepted Tasks that wait; beyond it submits are refused; default 10,000
	MaxAttempts    int            // starts of a Task that do not get on, before it fails; default 3
	Limits         sandbox.Limits // of each run; default sandbox.DefaultLimits
	// PluginLimits are the limits of plugins that have their own, by name. What one of
	// them leaves 0 is as in Limits.
	PluginLimits   map[string]sandbox.Limits
	IdempotencyTTL time.Duration // how long first responses are kept; default and least 24 h
	// RequiredReceiptsOnly issues receipts only for Personas whose policy is required.
	RequiredReceiptsOnly bool
	Connectors           ConnectorConfig
	IdleSessions         int // Sessions kept in memory while nothing happens to them; default 10,000
	// InHand bounds what the large documents of all runs take together. The gateway has it
	// too. nil bounds nothing.
	InHand *inhand.Budget
}

// Module is a compiled plugin.
type Module interface {
	HasExport(name string) bool
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

// Parts is what the engine works with. Store and Modules are required.
type Parts struct {
	Store    storage.Store
	Modules  Modules
	Personas []abi.Persona // seeded into every tenant
	// Performers answer the host calls that reach outside the node, by name. A call
	// that has none is refused.
	Performers map[string]provider.Performer
	// Vaults keeps the values of Vaults' secrets; nil when the node has no Vaults.
	Vaults *vault.Store
	// NodeSecret returns a secret of the node's configuration that a Connector may
	// check signatures with, or a *provider.Refusal; nil when there are none.
	NodeSecret func(ctx context.Context, c *abi.Connector, name string) ([]byte, error)
	// Keys signs receipts. Without it no receipts are issued.
	Keys *receipt.Keyring
	// Tokens verifies and issues access tokens. Without it API keys alone are known.
	Tokens  *identity.Tokens
	Version string // of this build, for host.fact and receipts
	Runs    string // what runs modules, such as wazero-1.12.0, for receipts
	// Rewriter is what modules are rewritten with before they run, such as wharf-1;
	// "" when they run as they are, and are not metered.
	Rewriter string
	Now      func() time.Time // default time.Now
	Entropy  io.Reader        // default crypto/rand
	Log      *slog.Logger     // default slog.Default
	// Instances tells of the instances of plugins; nil when nothing does.
	Instances func() Instances
	// Backup writes a copy of the data folder to dir while the node runs; nil when
	// the store cannot.
	Backup func(dir string) error
	// CheckBackup says what such a copy lacks; nil when nothing can.
	CheckBackup func(ctx context.Context, dir string) error
	// Files is the folder of Workspaces' files; nil when the node keeps none.
	Files *os.Root
	// Turns are the places of long work, which everything that runs in a node shares;
	// nil bounds nothing.
	Turns *turns.Turns
}

// Engine is the core. All its methods are safe for concurrent use.
//
// Its life: [New] → [Engine.Bootstrap] (a first start makes tenant, Workspace
// and key) → [Engine.Start] (recovers unfinished Tasks) → requests →
// [Engine.Drain]. The store outlives it: whoever opened it closes it.
type Engine struct {
	config      Config
	store       storage.Store
	modules     Modules
	personas    []abi.Persona
	now         func() time.Time
	entropy     io.Reader
	log         *slog.Logger
	backup      func(string) error
	checkBackup func(context.Context, string) error
	pooled      func() Instances
	ids         *abi.IDs

	started  time.Time
	base     context.Context // parent of every run
	stopRuns context.CancelCauseFunc
	draining atomic.Bool
	// background has what the engine does by itself: wakes, deadlines, budgets of time.
	background background

	calls      map[string]*abi.HostCall
	performers map[string]provider.Performer
	signing    *receipt.Keyring
	tokens     *identity.Tokens
	version    string
	runs       string
	rewriter   string
	kept       keptBlobs

	vaults     *vault.Store
	nodeSecret func(context.Context, *abi.Connector, string) ([]byte, error)
	sequences  sequenceTable
	trusted    trustTable

	keys     keyCache
	tenants  tenantTable
	retries  retryTable[lockKey]
	sessions sessionTable
	sources  sourceTable
	// deliveries holds the deliveries that are on their way to the disk.
	deliveries retryTable[lockDelivery]
	// headerNames holds *headerNames that are used again.
	headerNames sync.Pool
	intake      intake
	tasks       taskTable
	parked      parkedTable
	asked       askedTable
	quotas      quotaTable
	waiters     waiterTable
	aside       asideTable
	chains      chainTable
	values      stateTable
	locks       stripes
	files       *os.Root
	room        usageTable
	turns       *turns.Turns
	queue       *scheduler
	counts      counters
}

// counters are what metrics are made of.
type counters struct {
	accepted, rejected          atomic.Uint64
	completed, failed, canceled atomic.Uint64
	gas                         atomic.Uint64
	tokens, badTokens           atomic.Uint64
}

// New returns an engine over an open store. It does no I/O.
func New(config Config, parts Parts) (*Engine, error) {
	if parts.Store == nil || parts.Modules == nil {
		return nil, errors.New("engine: a store and modules are required")
	}
	config = config.withDefaults()
	e := &Engine{
		config: config, store: parts.Store, modules: parts.Modules, personas: parts.Personas,
		now: parts.Now, entropy: parts.Entropy, log: parts.Log, backup: parts.Backup, checkBackup: parts.CheckBackup, files: parts.Files,
		pooled:     parts.Instances,
		performers: parts.Performers, signing: parts.Keys, tokens: parts.Tokens, version: parts.Version, runs: parts.Runs, rewriter: parts.Rewriter,
		calls: abi.HostCallsByName(), vaults: parts.Vaults, nodeSecret: parts.NodeSecret,
		turns: parts.Turns,
	}
	if e.now == nil {
		e.now = time.Now
	}
	if e.entropy == nil {
		e.entropy = &lockedReader{r: rand.Reader}
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
	e.sessions.limit = config.IdleSessions
	e.intake.init(config.Connectors.Workers, e.normalizeSome)
	e.queue = newScheduler(config.MaxRunning, config.MaxQueued, e.runTask)
	return e, nil
}

func (c Config) withDefaults() Config {
	setDefault(&c.DefaultPersona, "persona_digest")
	setDefault(&c.MaxRunning, 256)
	setDefault(&c.MaxQueued, 10_000)
	setDefault(&c.MaxAttempts, 3)
	setDefault(&c.IdleSessions, 10_000)
	c.Connectors = c.Connectors.withDefaults()
	standard := sandbox.DefaultLimits()
	setDefault(&c.Limits, standard)
	setDefault(&c.Limits.Gas, standard.Gas)
	setDefault(&c.Limits.Depth, standard.Depth)
	c.IdempotencyTTL = max(c.IdempotencyTTL, 24*time.Hour)
	return c
}

// limitsFor returns the limits of the runs of a plugin.
func (c *Config) limitsFor(plugin string) sandbox.Limits {
	l := c.PluginLimits[plugin]
	setDefault(&l.MemoryBytes, c.Limits.MemoryBytes)
	setDefault(&l.WallTime, c.Limits.WallTime)
	setDefault(&l.HostCalls, c.Limits.HostCalls)
	setDefault(&l.PayloadBytes, c.Limits.PayloadBytes)
	setDefault(&l.OutputBytes, c.Limits.OutputBytes)
	setDefault(&l.Gas, c.Limits.Gas)
	setDefault(&l.Depth, c.Limits.Depth)
	return l
}

func setDefault[T comparable](p *T, value T) {
	var zero T
	if *p == zero {
		*p = value
	}
}

// lockedReader serializes reads: the entropy source is shared by every run.
type lockedReader struct {
	mu lockrank.Mutex[lockLast]
	r  io.Reader
}

func (l *lockedReader) Read(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.r.Read(p)
}

// Start brings back the Tasks that an earlier life of the node left unfinished.
// It is called once, before the first request.
func (e *Engine) Start(ctx context.Context) error {
	if err := e.loadQuotas(ctx); err != nil {
		return err
	}
	if err := e.recover(ctx); err != nil {
		return err
	}
	return e.startIntake(ctx)
}

var (
	errDrained = errors.New("the node is draining")
)

// ErrStuck is the error of a drain that could not end what it has stopped. The sandbox and
// the store may still be in use: the process is to end without closing them.
var ErrStuck = errors.New("it did not end though it was stopped")

// stopTime is how long runs that a drain has stopped get to end. Nothing but the disk,
// or a plugin that is being compiled, holds them up.
const stopTime = 10 * time.Second

// Drain stops taking Tasks and lets those that run end. When ctx ends first,
// their plugins are stopped and the Tasks are left as they are on disk, to be run
// again by the next start, as after a crash. Drain returns nil in both cases, and
// reads keep working. The error says what went on all the same, [stopTime] later: it
// finds the store closed.
func (e *Engine) Drain(ctx context.Context) error {
	e.draining.Store(true)
	late, over := context.WithCancelCause(context.WithoutCancel(ctx))
	defer over(nil)
	defer context.AfterFunc(ctx, func() {
		e.stopRuns(errDrained)
		time.AfterFunc(stopTime, func() { over(ErrStuck) })
	})()
	e.parked.stop()
	if err := e.drainIntake(late); err != nil {
		return err
	}
	if err := waitFor(late, e.queue.drain()); err != nil {
		return fmt.Errorf("waiting for running tasks: %w", err)
	}
	if err := waitFor(late, e.background.end()); err != nil { // until here the deadlines of what ran were held
		return fmt.Errorf("waiting for what the node does by itself: %w", err)
	}
	return nil
}

// Stats returns a snapshot of what the engine is doing.
func (e *Engine) Stats() Stats {
	queued, running := e.queue.load()
	return Stats{
		Queued: queued, Running: running,
		Accepted: e.counts.accepted.Load(), Rejected: e.counts.rejected.Load(),
		Finished: map[abi.TaskStatus]uint64{
			abi.TaskCompleted: e.counts.completed.Load(),
			abi.TaskFailed:    e.counts.failed.Load(),
			abi.TaskCanceled:  e.counts.canceled.Load(),
		},
		Gas: e.counts.gas.Load(), Instances: e.pooled(),
		QuotaRefusals: e.quotas.refused.Load(), PermissionsPending: e.asked.size(),
		SecretsUsed: e.trusted.told.used.Load(), SecretsRefused: e.trusted.told.refused.Load(),
		TokensChecked: e.counts.tokens.Load(), TokensRefused: e.counts.badTokens.Load(),
		Watermark: e.store.Watermark(), Started: e.started,
		Draining: e.draining.Load(), Failed: e.store.Failed(), SetAside: e.aside.count(),
	}
}

// Backup writes a copy of the node's data, as of now, to a folder on the node's
// machine that does not exist yet.
func (e *Engine) Backup(ctx context.Context, c *Caller, dir string) error {
	if !c.Can(abi.ScopeNode) {
		return errDenied(abi.ScopeNode)
	}
	if e.backup == nil {
		return abi.Errorf(abi.CodeNotImplemented, "this node's storage takes no online backups")
	}
	if err := e.copyTo(dir); err != nil {
		return abi.InvalidParam("dir", "backing up to %q: %v", dir, err)
	}
	if e.checkBackup == nil {
		return nil
	}
	if err := e.checkBackup(ctx, dir); err != nil {
		return errors.Join(abi.Errorf(abi.CodeInternalError, "%v", err), err)
	}
	return nil
}

// copyTo writes a copy of the node's data to a folder. No file of a Workspace comes or
// goes meanwhile.
func (e *Engine) copyTo(dir string) error {
	e.room.writing.Lock()
	defer e.room.writing.Unlock()
	return e.backup(dir)
}

// failed turns an error of the store into what a client is told.
func (e *Engine) failed(doing string, err error) error {
	var own *abi.Error
	switch {
	case err == nil:
		return nil
	case lost(err) != nil:
		return fmt.Errorf("%s: %w", doing, lost(err))
	case errors.As(err, &own):
		return own
	case errors.Is(err, storage.ErrFailed), errors.Is(err, storage.ErrClosed):
		down := abi.Errorf(abi.CodeServiceUnavailable, "the node cannot write to its disk and takes no more work")
		down.RetryAfter = 10
		return down
	case errors.Is(err, storage.ErrTooLarge):
		return abi.Errorf(abi.CodePayloadTooLarge, "the request has more in it than can be kept at once: send it in parts")
	case errors.Is(err, storage.ErrDamaged):
		return &UnreadableError{Err: fmt.Errorf("%s: %w", doing, err)}
	case errors.Is(err, storage.ErrNotStored), errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		e.log.Error("the disk refuses content", "doing", doing, "error", err)
		full := abi.Errorf(abi.CodeServiceUnavailable, "the node cannot write the content to its disk")
		full.RetryAfter = 10
		return full
	case errors.Is(err, storage.ErrCursorExpired):
		return abi.Errorf(abi.CodeCursorExpired, "the cursor lies before the oldest event that is kept")
	case errors.Is(err, context.DeadlineExceeded):
		return abi.Errorf(abi.CodeDeadlineExceeded, "the request's time was up while %s", doing)
	case errors.Is(err, context.Canceled):
		return abi.Errorf(abi.CodeClientClosedRequest, "the client left while %s", doing)
	}
	return fmt.Errorf("%s: %w", doing, err)
}
