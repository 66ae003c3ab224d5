package config

import "time"

// Sizes, in bytes.
const (
	kib = 1 << 10
	mib = 1 << 20
	gib = 1 << 30
)

// Bounds of what a run may compute.
const (
	maxGas   = 1_000_000_000_000_000 // so that it stays exact in JSON
	maxDepth = 65_536                // more may need a larger stack than the engine has
)

// Group is a run of settings that share a prefix, for documents.
type Group struct {
	Name string // the prefix, "" for the settings without one
	Doc  string
}

// Groups lists the groups in the order in which they are documented.
func Groups() []Group {
	return []Group{
		{"", "The node itself."},
		{"log", "What the node writes to standard error, and of requests."},
		{"metrics", "Where else the node shows how it is ([observability.md](observability.md))."},
		{"tls", "The node's certificate, from files. Without it and without acme the node speaks plain HTTP, which belongs on loopback or behind a proxy that ends TLS."},
		{"acme", "The node's certificate, from a certificate authority that speaks ACME (RFC 8555), such as Let's Encrypt. Certificates are kept in the data folder, and renewed."},
		{"oauth", "Access tokens, which callers may show instead of an API key."},
		{"limits", "What clients can make the front door hold. Work over a limit is refused before it is accepted."},
		{"tasks", "How Tasks are queued and run. The limits on a run hold for each Task by itself."},
		{"plugins", "The plugins that Tasks run."},
		{"models", "The models that plugins may ask. Each has a name, which is what plugins call it."},
		{"prices", "What models cost, per million tokens: receipts state the cost of a Task. A model without a price costs 0."},
		{"secrets", "Secrets, by name. A value is read whenever it is needed, so that it can be rotated. It reaches neither plugins nor the log: a plugin writes {{secret:NAME}} where the value belongs, and the host puts it there."},
		{"vaults", "Where the values of vaults' secrets are kept (docs/vaults.md)."},
		{"tools", "Servers of the Model Context Protocol, and agents that speak A2A, by name. A server is started, or connected to, when it is first needed. All plugins share it. The name client stands for the tools that clients offer to their Sessions: it takes timeout, answer, read_only, idempotent and writes alone."},
		{"http", "The HTTP requests of plugins. Where they may go is in grants."},
		{"grants", "What each plugin may reach. What is not granted is denied. The bundled plugin `agent` may use the tools of the server host, unless `grants.agent` says which tools it may use."},
		{"settings", "What config.get answers: any values, by plugin and name."},
		{"receipts", "Proofs of what Tasks did."},
		{"storage", "The embedded store."},
		{"retention", "How long things are kept. Nothing that has to do with a Task goes before it has ended, and receipts stay."},
		{"connectors", "Deliveries to Connectors."},
		{"webhooks", "Deliveries to receivers of events."},
		{"tool_servers", "Servers of tools that tenants add while the node runs ([tools.md](tools.md))."},
		{"openharness", "The Open Harness API, and what its clients may have the node do."},
		{"a2a", "The protocol A2A ([a2a.md](a2a.md))."},
		{"process", "The server of tools `process` ([host.md](host.md)): what Tasks are told of the node's shells, and whether they run commands. A plugin needs a grant, such as `process:*`."},
		{"sse", "Event streams."},
		{"cors", "Clients in browsers, on pages of other origins than the node's ([clients.md](clients.md#in-a-browser))."},
		{"websocket", "WebSockets. They count as streams, and have their heartbeat."},
		{"mcp", "The MCP server at /mcp ([mcp.md](mcp.md))."},
		{"shutdown", "What SIGTERM and SIGINT do."},
	}
}

// Settings declares every setting, in the order in which they are documented.
func Settings() []Setting {
	var all []Setting
	for _, group := range [][]Setting{
		nodeSettings(), logSettings(), metricsSettings(), tlsSettings(), acmeSettings(), oauthSettings(), limitSettings(), taskSettings(),
		pluginSettings(), modelSettings(), vaultSettings(), requestSettings(), receiptSettings(), storageSettings(), retentionSettings(), connectorSettings(), webhookSettings(), toolServerSettings(), openHarnessSettings(), a2aSettings(), processSettings(), streamSettings(), corsSettings(), socketSettings(), mcpSettings(),
	} {
		all = append(all, group...)
	}
	return all
}

func nodeSettings() []Setting {
	return []Setting{
		set("listen", "127.0.0.1:8080", address(), func(c *Config) *string { return &c.Listen },
			"Address and port to listen on. Port 0 takes a free one. Beyond loopback, set tls or acme, or put a proxy that ends TLS in front."),
		set("data", "./wharf-data", text(notEmpty), func(c *Config) *string { return &c.Data },
			"The data folder. It is made when it does not exist. One node uses it at a time."),
		set("public_url", "", text(httpURL), func(c *Config) *string { return &c.PublicURL },
			"The URL that clients reach this node by, which its agent card and its OAuth metadata name. Empty: the first of acme.domains, or else the address a request came in on. Set it behind a proxy: a request's Host header is never believed."),
	}
}

func logSettings() []Setting {
	return []Setting{
		set("log.level", "info", level(), func(c *Config) *Level { return (*Level)(&c.Log.Level) },
			"The least severe lines that are logged."),
		set("log.format", "auto", choice("auto", "text", "json"), func(c *Config) *string { return &c.Log.Format },
			"How lines look. auto is text on a terminal and json otherwise."),
		set("log.access", AccessOff, text(notEmpty), func(c *Config) *string { return &c.Log.Access },
			"The access log: a line of JSON for each request, when it was answered, and for each stream, when it has ended ([observability.md](observability.md#the-access-log)). The path of a file, which is made anew when it was moved away; - for standard output; off for none."),
	}
}

func limitSettings() []Setting {
	return []Setting{
		set("limits.body", "32MiB", size(kib, gib), func(c *Config) *int64 { return &c.Limits.Body },
			"The largest JSON request body."),
		set("limits.delivery", "1MiB", size(kib, 16*mib), func(c *Config) *int64 { return &c.Limits.Delivery },
			"The largest body of a delivery to a Connector."),
		set("limits.upload", "1GiB", size(kib, 1024*gib), func(c *Config) *int64 { return &c.Limits.Upload },
			"The largest Artifact that is uploaded as a stream."),
		set("limits.header", "8KiB", size(kib, mib), func(c *Config) *int64 { return &c.Limits.Header },
			"The largest request line and headers together."),
		set("limits.in_flight", "256MiB", size(mib, 1024*gib), func(c *Config) *int64 { return &c.Limits.InFlight },
			"The memory that request bodies take at one time: a JSON body counts four times, and what its lists become once it is decoded. Clients with requests over it are asked to come back later. One tenant gets three quarters of it. At least limits.body; at most an eighth of the memory that there is."),
		set("limits.read_timeout", "30s", period(time.Second, time.Hour), func(c *Config) *time.Duration { return &c.Limits.Read },
			"How long a client may take to send a request; for an upload, each piece of it."),
		set("limits.upload_timeout", "1h", period(time.Second, 24*time.Hour), func(c *Config) *time.Duration { return &c.Limits.UploadTime },
			"How long a client may take to send a whole upload."),
		set("limits.write_timeout", "30s", period(time.Second, time.Hour), func(c *Config) *time.Duration { return &c.Limits.Write },
			"How long a client may take to accept a response, or one write of a stream."),
		set("limits.idle_timeout", "2m", period(time.Second, 24*time.Hour), func(c *Config) *time.Duration { return &c.Limits.Idle },
			"How long a connection is kept between requests."),
		set("limits.wait", "1m", period(time.Second, time.Hour), func(c *Config) *time.Duration { return &c.Limits.Wait },
			"The longest that \"Prefer: wait=SECONDS\" on a submit is honoured for."),
		set("limits.connections", "8192", number(1, 10_000_000), func(c *Config) *int { return &c.Limits.Connections },
			"Open connections. Fewer are accepted where the process may not open as many files."),
		set("limits.streams", "4096", number(1, 10_000_000), func(c *Config) *int { return &c.Limits.Streams },
			"Open event streams. They count as connections too."),
	}
}

func a2aSettings() []Setting {
	return []Setting{
		set("a2a.wait", "1m", period(time.Millisecond, time.Hour), func(c *Config) *time.Duration { return &c.A2A.Wait },
			"The longest that a message by A2A is answered for: then the client is told how its Task is, and asks again. Those that do not want to wait say so."),
	}
}

func processSettings() []Setting {
	return []Setting{
		set("process.exec", "false", truth(), func(c *Config) *bool { return &c.Process.Exec },
			"Let Tasks run commands on the node, as the node's own user, by the tool process:exec. They get no secrets of the node's environment, and nothing else keeps them from what that user may do. Commands of a client's own machine do not need it."),
		set("process.timeout", "1m", period(time.Second, time.Hour), func(c *Config) *time.Duration { return &c.Process.Timeout },
			"The longest that a command runs on the node: then it is killed, with what it has started."),
	}
}

func taskSettings() []Setting {
	return []Setting{
		set("tasks.queue", "10000", number(1, 10_000_000), func(c *Config) *int { return &c.Tasks.Queue },
			"Accepted Tasks that wait to run. When it is full, submits answer 429 with Retry-After."),
		set("tasks.concurrency", "256", number(1, 100_000), func(c *Config) *int { return &c.Tasks.Concurrency },
			"Tasks that run at one time. It is meant to be far above the number of cores: Tasks that wait for the disk together share one sync."),
		set("tasks.persona", "persona_digest", text(notEmpty), func(c *Config) *string { return &c.Tasks.Persona },
			"The Persona of a Task when neither it nor its Session names one."),
		set("tasks.wall_time", "1m", period(time.Millisecond, 24*time.Hour), func(c *Config) *time.Duration { return &c.Tasks.WallTime },
			"The longest that a run may take, not counting the time that host calls take: models, tools and people have limits of their own."),
		set("tasks.memory", "256MiB", size(64*kib, 4*gib), func(c *Config) *int64 { return &c.Tasks.Memory },
			"The most linear memory that a run may have."),
		set("tasks.host_calls", "100000", number(1, 1_000_000_000), func(c *Config) *int { return &c.Tasks.HostCalls },
			"The most host calls that a run may make."),
		set("tasks.payload", "32MiB", size(kib, gib), func(c *Config) *int64 { return &c.Tasks.Payload },
			"The largest request or answer of one host call."),
		set("tasks.output", "64MiB", size(kib, 64*gib), func(c *Config) *int64 { return &c.Tasks.Output },
			"The most bytes that a run may hand out: its output, Messages, Artifacts and log lines together."),
		set("tasks.gas", "100000000000", number(1000, maxGas), func(c *Config) *int { return &c.Tasks.Gas },
			"The most that a run may compute, in units of about one instruction. A run that uses it up fails in the same place wherever it is repeated, which no limit of time can promise."),
		set("tasks.depth", "65536", number(64, maxDepth), func(c *Config) *int { return &c.Tasks.Depth },
			"How deep calls within a plugin may go: each takes 1, and more when its function is large. Beyond it the plugin's stack overflows, in the same place everywhere."),
		set("tasks.attempts", "3", number(1, 1000), func(c *Config) *int { return &c.Tasks.Attempts },
			"How often a Task is started when the node dies while it runs, before it fails. If a Task did not get on, its last start is made alone: whatever else waits does so for up to a minute in all, and longer after a Task that has ended the node later than that."),
	}
}

func pluginSettings() []Setting {
	return []Setting{
		set("plugins.cache", "", text(nil), func(c *Config) *string { return &c.Plugins.Cache },
			"The folder that keeps compiled plugins between starts; nodes may share one. It holds native code that is run as it is: a file in it is used only if it was written under the node's own key. Empty: a folder within the data folder."),
		set("plugins.cache_key", "", text(nil), func(c *Config) *string { return &c.Plugins.CacheKey },
			"The file of the key that authenticates what is in plugins.cache. It is made when there is none, or when others can read it; plugins are then compiled anew. Nodes that share plugins.cache must name the same file, or each compiles anew what another has kept. It must not lie where somebody else may write. Empty: keys/cache.key in the data folder."),
		set("plugins.dir", "", text(nil), func(c *Config) *string { return &c.Plugins.Dir },
			"A folder of plugins of your own, read when the node starts: NAME.wasm (a-z, 0-9 and -) is the plugin NAME, and the Persona persona_NAME runs it. It may be made with an Extism PDK. wharf plugin vet says whether it can be loaded. Empty: only the plugins that ship with Wharf."),
		set("plugins.trust", "", text(nil), func(c *Config) *string { return &c.Plugins.Trust },
			"The public keys of those whose plugins are taken, separated by commas: each in base64, or a file of published keys, as `wharf plugin key show --json` prints it. With it, every plugin of plugins.dir and plugins.watch has to be a package that one of them has signed, and so has what `wharf plugin pull` fetches and what is installed while the node runs; new Tasks run nothing else, also not what was installed before. Empty: anybody's."),
		set("plugins.watch", "", text(nil), func(c *Config) *string { return &c.Plugins.Watch },
			"Folders, separated by commas, whose plugins are installed without a restart when they come and whenever they change: modules, NAME.wasm, and packages. A file is taken once it was left alone for a moment; one that cannot be used is logged, and the version of before stays. What is taken away stays installed. Empty: none."),
		set("plugins.memory", "0", size(0, 1024*gib), func(c *Config) *int64 { return &c.Plugins.Memory },
			"The memory that running plugins may take together, not counting 4 MiB of each. A plugin that wants more waits until another ends; the one that came first never waits. 0: three eighths of the memory that the node may take, less `tasks.memory` for the one that never waits, and at least an eighth."),
		set("plugins.idle_memory", "64MiB", size(0, 1024*gib), func(c *Config) *int64 { return &c.Plugins.IdleMemory },
			"The memory that instances of plugins may take together while they wait for the next Task. Those that were idle longest go first; 0 keeps none, and each Task makes one."),
	}
}

func modelSettings() []Setting {
	return []Setting{
		set("models.default", "", text(nil), func(c *Config) *string { return &c.Model.Default },
			"The model that answers when a plugin names none. It need not be set when there is only one."),
		set("models.script", "", text(nil), func(c *Config) *string { return &c.Model.Script },
			"A file of canned answers, for models of the provider script."),
	}
}

func requestSettings() []Setting {
	return []Setting{
		set("http.timeout", "30s", period(10*time.Millisecond, time.Hour), func(c *Config) *time.Duration { return &c.HTTP.Timeout },
			"The longest that a request may take, redirects and the whole answer included."),
		set("http.request", "8MiB", size(kib, gib), func(c *Config) *int64 { return &c.HTTP.Request },
			"The largest body of a request."),
		set("http.response", "8MiB", size(kib, gib), func(c *Config) *int64 { return &c.HTTP.Response },
			"The largest body of an answer."),
	}
}

func receiptSettings() []Setting {
	return []Setting{
		set("receipts.issue", "all", choice("all", "required"), func(c *Config) *string { return &c.Receipts.Issue },
			"Which Tasks get a receipt when they end. all: every one, unless its Persona disables receipts; required: those whose Persona requires one."),
	}
}

func storageSettings() []Setting {
	return []Setting{
		set("storage.cache", "32MiB", size(mib, 1024*gib), func(c *Config) *int64 { return &c.Storage.Cache },
			"Memory for blocks read from disk."),
		set("storage.memtable", "64MiB", size(mib, 4*gib), func(c *Config) *int64 { return &c.Storage.Memtable },
			"Memory for what was written last, before it is sorted to disk. Up to four of these exist at a time, under heavy writing."),
		set("storage.reserve", "auto", reserve(), func(c *Config) *Reserve { return &c.Storage.Reserve },
			"Room that is kept free on the disk of the data folder. While less is free, new work is refused with 503, and work that runs already can end. auto is 512 MiB, or 5% of the disk where that is less; 0 turns it off. docs/disk.md has more."),
	}
}

func connectorSettings() []Setting {
	return []Setting{
		set("connectors.backlog", "200000", number(1, 100_000_000), func(c *Config) *int { return &c.Connectors.Backlog },
			"Deliveries of a tenant that wait to be handled; one Connector gets three quarters of them. Beyond it, deliveries are answered 429 with Retry-After."),
		set("connectors.inbox", "32MiB", size(mib, 64*gib), func(c *Config) *int64 { return &c.Connectors.Inbox },
			"Memory for deliveries that wait to be handled. Those that do not fit are read from the log when it is their turn."),
		set("connectors.workers", "8", number(1, 1024), func(c *Config) *int { return &c.Connectors.Workers },
			"Connectors whose deliveries are normalized at one time."),
	}
}

func toolServerSettings() []Setting {
	return []Setting{
		set("tool_servers.private", "false", choice("false", "true"), func(c *Config) *string { return &c.ToolServers.Private },
			"Whether servers at loopback, private and link-local addresses are reached, too. Whoever may write tool servers can then have the node send requests into its own network."),
		set("tool_servers.most", "100", number(1, 10_000), func(c *Config) *int { return &c.ToolServers.Most },
			"Servers of tools that a tenant may add."),
	}
}

func openHarnessSettings() []Setting {
	return []Setting{
		set("openharness.private", "false", choice("false", "true"), func(c *Config) *string { return &c.OpenHarness.Private },
			"Whether tool_servers.private and webhooks.private hold as if they were true: whatever clients register may be at a loopback, private or link-local address."),
	}
}

func webhookSettings() []Setting {
	return []Setting{
		set("webhooks.private", "false", choice("false", "true"), func(c *Config) *string { return &c.Webhooks.Private },
			"Whether deliveries go to loopback, private and link-local addresses, too. Whoever may write Webhooks can then have the node send requests into its own network."),
		set("webhooks.timeout", "30s", period(time.Second, 10*time.Minute), func(c *Config) *time.Duration { return &c.Webhooks.Timeout },
			"How long a receiver has to answer."),
		set("webhooks.attempts", "12", number(1, 1000), func(c *Config) *int { return &c.Webhooks.Attempts },
			"Attempts at a delivery, before it is given up."),
		set("webhooks.backoff", "5s", period(10*time.Millisecond, 24*time.Hour), func(c *Config) *time.Duration { return &c.Webhooks.Backoff },
			"The wait after the first attempt. After each other it is four times as long, up to 6 hours."),
		set("webhooks.age", "3d", period(time.Minute, 30*24*time.Hour), func(c *Config) *time.Duration { return &c.Webhooks.Age },
			"How long an event may wait for its receiver, before it is given up. For so long it is kept, whatever retention.events says."),
		set("webhooks.parallel", "8", number(1, 128), func(c *Config) *int { return &c.Webhooks.Parallel },
			"Requests to one receiver that are under way at a time."),
		set("webhooks.most", "1000", number(1, 100_000), func(c *Config) *int { return &c.Webhooks.Most },
			"Webhooks of a tenant."),
	}
}

func retentionSettings() []Setting {
	const forever = 100 * 365 * 24 * time.Hour
	return []Setting{
		set("retention.tasks", "0", period(0, forever), func(c *Config) *time.Duration { return &c.Retention.Tasks },
			"How long Tasks are kept after they have ended, with all that belongs to them: events, Outcomes, Artifacts, and the content that nothing else refers to. 0 is for ever. Receipts stay. A Workspace may have its own (retention.task_days), and Holds keep what they are on."),
		set("retention.sessions", "0", period(0, forever), func(c *Config) *time.Duration { return &c.Retention.Sessions },
			"How long Sessions are kept after they were closed, with their Messages and Tasks. 0 is for ever."),
		set("retention.artifacts", "0", period(0, forever), func(c *Config) *time.Duration { return &c.Retention.Artifacts },
			"How long Artifacts that belong to no Task are kept. 0 is for ever."),
		set("retention.size", "0", size(0, 1<<50), func(c *Config) *int64 { return &c.Retention.Size },
			"How much room the log and the content beside it may take. Beyond it the oldest Tasks that have ended are erased, whatever their age. 0 is all that there is."),
		set("retention.interval", "10m", period(time.Second, 24*time.Hour), func(c *Config) *time.Duration { return &c.Retention.Interval },
			"How often what is too old is looked for."),
		set("retention.events", "0", period(0, forever), func(c *Config) *time.Duration { return &c.Retention.Events },
			"How long events are kept. 0 is for ever. Resources outlive their events; a cursor older than this answers cursor_expired."),
		set("retention.idempotency", "24h", period(24*time.Hour, 30*24*time.Hour), func(c *Config) *time.Duration { return &c.Retention.Idempotency },
			"How long the answer to an Idempotency-Key is kept."),
		set("retention.deliveries", "8d", period(24*time.Hour, 60*24*time.Hour), func(c *Config) *time.Duration { return &c.Retention.Deliveries },
			"How long deliveries are remembered at most, so that one that comes again is recognized. A Connector's own window may be shorter."),
	}
}

func streamSettings() []Setting {
	return []Setting{
		set("sse.heartbeat", "15s", period(100*time.Millisecond, time.Hour), func(c *Config) *time.Duration { return &c.SSE.Heartbeat },
			"How often a quiet event stream gets a comment, so that both ends notice when the other is gone."),
		set("shutdown.grace", "30s", period(0, 24*time.Hour), func(c *Config) *time.Duration { return &c.Shutdown.Grace },
			"How long Tasks that run may go on after SIGTERM. What is not finished by then is resumed by the next start."),
	}
}
