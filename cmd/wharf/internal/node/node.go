package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/config"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/datadir"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/holdings"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/gateway/a2a"
	"github.com/wharf-dev/wharf/gateway/accesslog"
	"github.com/wharf-dev/wharf/gateway/acp"
	"github.com/wharf-dev/wharf/gateway/api"
	"github.com/wharf-dev/wharf/gateway/harn"
	"github.com/wharf-dev/wharf/gateway/mcp"
	"github.com/wharf-dev/wharf/gateway/openharness"
	"github.com/wharf-dev/wharf/runtime/disk"
	"github.com/wharf-dev/wharf/runtime/engine"
	"github.com/wharf-dev/wharf/runtime/figures"
	"github.com/wharf-dev/wharf/runtime/harnesses"
	"github.com/wharf-dev/wharf/runtime/identity"
	"github.com/wharf-dev/wharf/runtime/inhand"
	"github.com/wharf-dev/wharf/runtime/intake"
	"github.com/wharf-dev/wharf/runtime/outbox"
	"github.com/wharf-dev/wharf/runtime/parcel"
	"github.com/wharf-dev/wharf/runtime/pinned"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/provider/agent"
	"github.com/wharf-dev/wharf/runtime/provider/hosts"
	"github.com/wharf-dev/wharf/runtime/provider/settings"
	"github.com/wharf-dev/wharf/runtime/provider/tool"
	"github.com/wharf-dev/wharf/runtime/provider/vault"
	"github.com/wharf-dev/wharf/runtime/sandbox"
	"github.com/wharf-dev/wharf/runtime/toolservers"
	"github.com/wharf-dev/wharf/runtime/turns"
	"github.com/wharf-dev/wharf/storage"
)

// Options says what node to start.
type Options struct {
	Config  config.Config
	Version string // of the build
	// APIKey is made the node's key when it is not empty. Otherwise a first start
	// makes one up.
	APIKey string
	Log    *slog.Logger
}

// Node is a running node.
type Node struct {
	// NewKey is the API key that this start made up, "" if it made none.
	NewKey string

	options  Options
	log      *slog.Logger
	addr     *net.TCPAddr
	listener net.Listener // until it is served
	probes   net.Listener // of metrics.listen, until it is served; nil for none
	shownAt  net.Addr     // where that listener is
	access   *accesslog.Log
	store    storage.Store
	sandbox  *sandbox.Runtime
	turns    *turns.Turns
	hosts    *hosts.Hosts  // clients, for what they are asked
	clients  *tool.Clients // that offer tools to Tasks
	added    *tool.Added   // servers of tools that tenants have added
	remote   *harnesses.Remote
	reach    io.Closer // what the host calls of Tasks hold open
	calls    map[string]provider.Performer
	agents   *agent.Agents
	offer    harn.Node        // what clients are told of that
	callable api.GrantedTools // and what they can call by themselves
	tls      *gateway.TLS     // nil for plain HTTP
	tokens   *identity.Tokens
	modules  *modules
	vaults   *vault.Store
	files    *os.Root       // of Workspaces
	inHand   *inhand.Budget // of large documents
	figures  *figures.Book
	disk     *disk.Watch
	usage    *disk.Usage
	removed  *prometheus.CounterVec // by retention
	trust    parcel.Trust           // whose plugins are taken
	watching sync.WaitGroup         // for folders of plugins
	engine   *engine.Engine
	gateway  *gateway.Server
}

// Start opens the data folder, brings back what an earlier life left unfinished,
// and listens. Requests are answered once [Node.Serve] is called, which also
// closes everything; if Start fails, nothing is left open.
func Start(ctx context.Context, o Options) (n *Node, err error) {
	asked := newHosts(o.Config.Tools, o.Log)
	n = &Node{options: o, log: o.Log, hosts: asked, clients: newClients(o.Config.Tools).Beside(asked), added: tool.NewAdded(), remote: harnesses.NewRemote(o.engineConfig().Harnesses.Private), inHand: inhand.NewBudget(inHand(available())), figures: figures.New(o.Log)}
	defer func() {
		if err != nil {
			err = Explain(errors.Join(err, n.close(ctx)))
			n = nil
		}
	}()
	// Listening comes first: it fails most often, and before anything is touched.
	if n.listener, err = listen(ctx, o.Config.Listen); err != nil {
		return n, err
	}
	n.addr = n.listener.Addr().(*net.TCPAddr)
	if err = n.openObserving(ctx); err != nil {
		return n, err
	}
	warnOfReaders(o.Log, secretFiles(&o.Config))
	if n.tls, err = startTLS(ctx, &n.options); err != nil {
		return n, err
	}
	if err = n.openStore(ctx); err != nil {
		return n, err
	}
	n.watchDisk()
	if err = n.startEngine(ctx); err != nil {
		return n, err
	}
	front := o.gatewayConfig()
	front.TLS, front.PublicURL, front.InHand, front.Turns = n.tls, n.publicURL(), n.inHand, n.turns
	front.AccessLog, front.Figures = n.access, n.figures
	n.removed = newRemoved()
	front.Collectors = append(erasedMetrics(n.store), n.removed)
	front.SpoolDir, front.Disk, front.Usage = filepath.Join(n.options.Config.Data, datadir.Spool), n.disk, n.usage
	shown := api.New(api.Sparing(n.engine, n.disk), front.Turns)
	adapters := []gateway.Adapter{harn.New(front, shown).WithClients(n.clients).WithNode(n.offer),
		openharness.New(front, shown, openharness.Node{Plugins: n.modules.Names, Suite: n.suite(), Tools: n.callable,
			Models: append([]string{}, slices.Sorted(maps.Keys(n.options.Config.Models))...), ModelNames: n.options.Config.ModelNames, DefaultModel: n.options.Config.Model.Default}),
		a2a.New(front, shown, a2a.Node{Wait: n.options.Config.A2A.Wait}), acp.New(front, shown, n.editors())}
	if c := &n.options.Config; c.MCP.Server == "on" {
		adapters = append(adapters, mcp.New(front, shown, mcp.Node{Hosts: c.MCP.HostList(), Origins: c.MCP.OriginList(), Idle: c.MCP.Idle, Issuers: issuers(c), Log: n.log}))
	}
	n.gateway = gateway.New(front, n.engine, n.log, adapters...)
	return n, nil
}

func listen(ctx context.Context, address string) (net.Listener, error) {
	var lc net.ListenConfig
	ln, err := lc.Listen(ctx, "tcp", address)
	if err != nil {
		return nil, listenError(address, err)
	}
	return ln, nil
}

func (n *Node) openStore(ctx context.Context) (err error) {
	c := n.options.Config
	recovery, old, err := datadir.Recover(c.Data)
	if err != nil {
		return err
	}
	switch recovery {
	case datadir.RolledBack:
		n.log.Warn("a restore was interrupted: what was there before is there again", "folder", c.Data)
	case datadir.LeftOver:
		n.log.Warn("a restore was interrupted after it had put the new folder in place: the old one may be removed", "old", old)
	}
	if err := n.checkKeys(ctx); err != nil {
		return err
	}
	if n.store, err = OpenStore(ctx, c.Data, c, n.log); err != nil {
		return err
	}
	if _, ok := n.store.(storage.Eraser); !ok && (c.Retention.Tasks != 0 || c.Retention.Sessions != 0 || c.Retention.Artifacts != 0 || c.Retention.Size != 0) {
		return &StartError{What: "retention is limited, and the storage of this node erases nothing", Try: "retention.tasks, sessions, artifacts and size with 0"}
	}
	if _, ok := n.store.(storage.Retainer); !ok && c.Retention.Events != 0 {
		return &StartError{What: "retention.events is set, and the storage of this node keeps all events", Try: "retention.events with 0"}
	}
	return nil
}

func (n *Node) startEngine(ctx context.Context) (err error) {
	n.turns = turns.New(turns.Places())
	n.sandbox, err = sandbox.New(ctx, sandbox.Config{CacheDir: n.cacheDir(), CacheKey: n.cacheKey(), Log: n.log, IdleBytes: n.options.idleBytes(), GuestBytes: guestBytes(n.options.Config.Plugins.Memory, available(), n.options.Config.Tasks.Memory), Turns: n.turns,
		Source: func(ctx context.Context, digest string) ([]byte, error) { return n.modules.Wasm(ctx, digest) }})
	if err != nil {
		return fmt.Errorf("starting the sandbox: %w", err)
	}
	own, err := readPlugins(&n.options.Config.Plugins)
	if err != nil {
		return err
	}
	if n.trust, err = n.trusted(); err != nil {
		return err
	}
	n.modules = newModules(n.sandbox, own, func(ctx context.Context, digest string) ([]byte, error) {
		return pinned.Module(ctx, n.store, digest)
	})
	if n.modules.trust, err = trustOf(&n.options.Config.Plugins); err != nil {
		return err
	}
	keys, err := n.openKeys()
	if err != nil {
		return err
	}
	n.vaults = newVaults(&n.options.Config, n.log)
	secrets := newSecrets(&n.options.Config, n.log)
	agents, err := newAgents(&n.options.Config, secrets, n.options.Version)
	if err != nil {
		return err
	}
	calls, reach, err := performers(&n.options.Config, personas(own), n.clients, n.hosts, n.added, agents, n.remote, secrets, n.figures, n.options.Version, n.log)
	if err != nil {
		return err
	}
	n.reach, n.calls, n.agents = reach, maps.Clone(calls), agents
	if set, ok := calls[abi.CallConfigGet].(settings.Settings); ok {
		n.modules.settings = set
		calls[abi.CallConfigGet] = settings.Defaults{Set: set, Default: n.modules.settingDefault}
	}
	n.offer, n.callable = offer(&n.options.Config, calls, n.sandbox.Name()), callable(calls)
	if n.tokens, err = n.openTokens(); err != nil {
		return err
	}
	if n.files, err = openFiles(n.options.Config.Data); err != nil {
		return err
	}
	config := n.options.engineConfig()
	config.InHand = n.inHand
	n.engine, err = engine.New(config, engine.Parts{
		Store: n.store, Modules: n.modules, Figures: n.figures, Personas: personas(own), Log: n.log, Disk: n.disk, Backup: n.backup(), CheckBackup: n.checkBackup, Files: n.files,
		Performers: calls, AddedTools: n.added, Agents: agents, Hosts: n.hosts, RemoteHarnesses: n.remote, Vaults: n.vaults, NodeSecret: nodeSecret(&n.options.Config, n.log), Keys: keys, Version: n.options.Version, Runs: n.sandbox.Name(), Rewriter: n.sandbox.Rewriter(),
		ShowEvent: harn.Links().PublicEvent, WebhookFormats: []api.WebhookFormat{openharness.WebhookFormat(), a2a.WebhookFormat(n.base())}, Instances: n.instances, Tokens: n.tokens, Turns: n.turns, ModelNamed: n.modelNamed, Models: n.models, Installs: n.modules,
	})
	if err != nil {
		return fmt.Errorf("starting the engine: %w", err)
	}
	n.modules.installed = n.engine
	if n.NewKey, err = n.engine.Bootstrap(ctx, n.options.APIKey); err != nil {
		return fmt.Errorf("preparing the data folder: %w", err)
	}
	if err = n.engine.Start(ctx); err != nil {
		return fmt.Errorf("bringing back unfinished tasks: %w", err)
	}
	return nil
}

// modelNamed returns the model that a name means, and whether it means one; the default is asked in
// place of one that it does not have.
func (n *Node) modelNamed(name string) (string, bool) {
	if _, known := n.options.Config.Models[name]; known {
		return name, true
	}
	meant, known := n.options.Config.ModelNames[name]
	return meant, known
}

// backup returns what writes a copy of the node's data to a folder; nil when its storage
// makes none.
func (n *Node) backup() func(dir string) error {
	store, ok := n.store.(storage.Backuper)
	if !ok {
		return nil
	}
	return func(dir string) error { return n.copyTo(dir, store) }
}

func (n *Node) copyTo(dir string, store storage.Backuper) error {
	defer n.vaults.Hold()()
	c := n.options.Config
	copying := &datadir.Copying{Checkpoint: store.Checkpoint, Data: c.Data, Apart: named(append(c.Plugins.Watched(), n.cacheDir(), c.Vaults.Files, c.Plugins.Dir)...)}
	links, err := copying.Write(dir)
	for _, path := range links {
		n.log.Warn("a link in the folder of a workspace is no file of it: the backup lacks it", "path", path)
	}
	return err
}

// named leaves out folders that are not configured.
func named(folders ...string) []string {
	return slices.DeleteFunc(folders, func(f string) bool { return f == "" })
}

// checkBackup says what a copy of the node's data lacks.
func (n *Node) checkBackup(ctx context.Context, dir string) error {
	return holdings.CheckCopy(ctx, dir, n.log)
}

// issuer is who the node's receipts say has issued them.
func (o *Options) issuer() string {
	if url := o.Config.PublicURL; url != "" {
		return strings.TrimRight(url, "/")
	}
	return "wharf"
}

func (n *Node) cacheDir() string {
	if dir := n.options.Config.Plugins.Cache; dir != "" {
		return dir
	}
	return filepath.Join(n.options.Config.Data, datadir.Modules)
}

func (o *Options) engineConfig() engine.Config {
	t := o.Config.Tasks
	return engine.Config{
		DefaultPersona: t.Persona, MaxRunning: t.Concurrency, MaxQueued: t.Queue, MaxAttempts: t.Attempts,
		Limits:       limits(t.RunLimits),
		PluginLimits: pluginLimits(o.Config.PluginLimits),
		Connectors: intake.Config{Backlog: o.Config.Connectors.Backlog, Window: o.Config.Retention.Deliveries,
			InboxBytes: o.Config.Connectors.Inbox, Workers: o.Config.Connectors.Workers},
		Webhooks:       webhooks(&o.Config, o.anywhere()),
		ToolServers:    toolservers.Config{Most: o.Config.ToolServers.Most, Private: o.Config.ToolServers.Private == "true" || o.anywhere(), Commands: o.Config.Commands},
		Harnesses:      harnesses.Config{Private: o.anywhere()},
		IdempotencyTTL: o.Config.Retention.Idempotency, RequiredReceiptsOnly: o.Config.Receipts.Issue == "required",
	}
}

// anywhere reports whether what tenants register may be at any address.
func (o *Options) anywhere() bool { return o.Config.OpenHarness.Private == "true" }

func webhooks(of *config.Config, anywhere bool) outbox.Config {
	c := &of.Webhooks
	return outbox.Config{Commands: of.Commands, Most: c.Most, Parallel: c.Parallel, Attempts: c.Attempts, First: c.Backoff, Age: c.Age, Timeout: c.Timeout, Private: c.Private == "true" || anywhere}
}

// idleBytes is the memory of idle instances as the sandbox takes it: there, 0 stands
// for its default.
func (o *Options) idleBytes() int64 {
	if bytes := o.Config.Plugins.IdleMemory; bytes > 0 {
		return bytes
	}
	return -1
}

// instances tells of the instances of plugins.
func (n *Node) instances() engine.Instances {
	s := n.sandbox.Stats()
	return engine.Instances{Running: s.InUse, Idle: s.Idle, IdleBytes: s.IdleBytes, Born: s.Born, Reused: s.Reused, Dropped: s.Dropped}
}

// pluginLimits returns the limits that plugins have for themselves, by name.
func pluginLimits(own map[string]config.RunLimits) map[string]sandbox.Limits {
	all := map[string]sandbox.Limits{}
	for plugin, l := range own {
		all[plugin] = limits(l)
	}
	return all
}

// limits are limits on a run as the sandbox takes them.
func limits(l config.RunLimits) sandbox.Limits {
	return sandbox.Limits{MemoryBytes: uint64(l.Memory), WallTime: l.WallTime, HostCalls: l.HostCalls,
		PayloadBytes: int(l.Payload), OutputBytes: l.Output, Gas: uint64(l.Gas), Depth: l.Depth}
}

func (o *Options) gatewayConfig() gateway.Config {
	l := o.Config.Limits
	return gateway.Config{
		Version:   o.Version,
		BodyLimit: l.Body, DeliveryLimit: l.Delivery, UploadLimit: l.Upload, HeaderLimit: int(l.Header), InFlightBytes: bodies(l.InFlight, l.Body, available(), o.Log),
		ReadTimeout: l.Read, UploadTimeout: l.UploadTime, WriteTimeout: l.Write, IdleTimeout: l.Idle,
		Connections: connections(l.Connections, o.Log), Streams: l.Streams,
		Heartbeat: o.Config.SSE.Heartbeat, WaitLimit: l.Wait,
		CORSOrigins:  o.Config.CORS.List(),
		MessageLimit: o.Config.WebSocket.Message, Origins: o.Config.WebSocket.List(), SocketInsecure: o.Config.WebSocket.Insecure == "true",
	}
}

// publicURL returns the URL that clients reach the node by, as far as the configuration
// says so: public_url, or the first name that a certificate is got for. A request's
// Host header has no part in it.
func (n *Node) publicURL() string {
	c := &n.options.Config
	if c.PublicURL != "" {
		return strings.TrimRight(c.PublicURL, "/")
	}
	names := c.ACME.Names()
	switch {
	case len(names) == 0:
		return ""
	case n.addr.Port == 443: // what https has without a port
		return "https://" + names[0]
	}
	return "https://" + net.JoinHostPort(names[0], fmt.Sprint(n.addr.Port))
}

// base is the URL that the node's paths are appended to where no request says which.
func (n *Node) base() string {
	if url := n.publicURL(); url != "" {
		return url
	}
	return n.URL()
}

// URL returns the URL that the node answers at, from this machine.
func (n *Node) URL() string {
	host := n.addr.IP
	if host.IsUnspecified() {
		host = net.IPv4(127, 0, 0, 1)
	}
	scheme := "http://"
	if n.options.Config.TLSEnabled() {
		scheme = "https://"
	}
	return scheme + net.JoinHostPort(host.String(), fmt.Sprint(n.addr.Port))
}

// Loopback reports whether only this machine can reach the node.
func (n *Node) Loopback() bool { return n.addr.IP.IsLoopback() }

// agentPlugin is the bundled plugin that needs a model.
const agentPlugin = "agent"

// Warm compiles the plugins, so that no Task has to wait for it. It returns when
// that is done or ctx ends. A plugin that cannot be compiled is an error; the
// others are compiled all the same.
//
// Those of the operator are kept at hand, and the agent where there are models for it.
// The others that come with every node are left on disk until they are used: each holds
// tens of megabytes, and is there a moment after it was asked for.
func (n *Node) Warm(ctx context.Context) error {
	var failed error
	for _, name := range n.modules.Names() {
		if err := n.warm(ctx, name); err != nil {
			failed = errors.Join(failed, fmt.Errorf("compiling plugin %s: %w", name, err))
		}
	}
	debug.FreeOSMemory() // compiling, and reading what was compiled, takes more than is kept
	return failed
}

func (n *Node) warm(ctx context.Context, name string) error {
	models := len(n.options.Config.Models) > 0
	switch {
	case name == agentPlugin && !models:
		return nil // it can do nothing yet
	case n.modules.bundled(name) && name != agentPlugin:
		return n.modules.Prepare(ctx, name)
	}
	_, err := n.modules.Module(ctx, name)
	return err
}

// Serve answers requests until ctx ends, or serving fails. Then it drains: no new
// Tasks are taken, those that run may end within the configured grace, and what
// is left is kept for the next start. When Serve returns everything is closed.
func (n *Node) Serve(ctx context.Context) error {
	served := make(chan error, 1)
	ln := n.listener
	n.listener = nil // the gateway's from here on
	go func() { served <- n.gateway.Serve(ln) }()
	n.serveProbes()
	defer n.lookAtDisk()()
	background, stop := context.WithCancel(ctx)
	defer stop()
	go n.retain(background)
	n.watchPlugins(background)
	select {
	case err := <-served:
		stop()
		return errors.Join(err, n.shutdown())
	case <-ctx.Done():
		n.log.Info("draining", "grace", n.options.Config.Shutdown.Grace.String())
		err := n.shutdown()
		if errors.Is(err, engine.ErrStuck) {
			return err
		}
		return errors.Join(err, <-served)
	}
}

const (
	// farewell is how long requests in flight get once no Task runs any more.
	farewell = 5 * time.Second
	// closeTime is how long what the node holds gets to close. It takes milliseconds.
	closeTime = 10 * time.Second
)

func (n *Node) shutdown() error {
	grace, cancel := context.WithTimeout(context.Background(), n.options.Config.Shutdown.Grace)
	defer cancel()
	// The engine first, so that streams and waiting requests see the ends of Tasks.
	err := n.engine.Drain(grace)
	late, cancelLate := context.WithTimeout(context.Background(), farewell)
	defer cancelLate()
	if shutErr := n.gateway.Shutdown(late); shutErr != nil && !errors.Is(shutErr, context.DeadlineExceeded) {
		err = errors.Join(err, shutErr)
	}
	return n.finish(err)
}

// finish closes the node after a drain that ended with err.
func (n *Node) finish(err error) error {
	if errors.Is(err, engine.ErrStuck) {
		// A guest's memory cannot be taken from under it, nor the store: the end of the
		// process does both, and the next start resumes what runs.
		return fmt.Errorf("shutdown.grace, %s, and what comes after it are over: %w", n.options.Config.Shutdown.Grace, err)
	}
	return errors.Join(err, within(closeTime, func() error {
		n.watching.Wait()
		return n.close(context.Background())
	}))
}

var errCloseTime = fmt.Errorf("closing took more than %s", closeTime)

// within does something, and waits for it no longer than the given time: the end of the
// process must not depend on it.
func within(most time.Duration, do func() error) error {
	done := make(chan error, 1)
	go func() { done <- do() }()
	select {
	case err := <-done:
		return err
	case <-time.After(most):
		return errCloseTime
	}
}

// Close closes a node that is not being served.
func (n *Node) Close() error { return n.close(context.Background()) }

// close closes what Start has opened.
func (n *Node) close(ctx context.Context) (err error) {
	if n.listener != nil {
		err = n.listener.Close()
	}
	if n.probes != nil {
		err = errors.Join(err, n.probes.Close())
	}
	if n.tls != nil {
		err = errors.Join(err, n.tls.Close())
	}
	if n.tokens != nil {
		err = errors.Join(err, n.tokens.Close())
	}
	if n.reach != nil {
		err = errors.Join(err, n.reach.Close())
	}
	if n.files != nil {
		err = errors.Join(err, n.files.Close())
	}
	if n.store != nil {
		err = errors.Join(err, n.store.Close())
	}
	if closeErr := n.access.Close(); closeErr != nil {
		n.log.Warn("the end of the access log is lost", "error", closeErr) // which is no fault of the node's
	}
	// Compiling cannot be stopped, and takes longer than anybody wants to wait for
	// the end of a process; then the sandbox is left to that.
	if n.modules != nil && n.modules.idle() {
		err = errors.Join(err, n.sandbox.Close(ctx))
	}
	return err
}
