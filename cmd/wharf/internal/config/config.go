package config

import (
	"log/slog"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Config is a node's configuration, checked and complete.
type Config struct {
	Listen    string
	Data      string
	PublicURL string
	Log       Log
	Metrics   Metrics
	Limits    Limits
	Tasks     Tasks
	Plugins   Plugins
	Storage   Storage
	Retention Retention
	// Connectors bounds what is done with deliveries.
	Connectors Connectors
	Webhooks   Webhooks
	// ToolServers bounds the servers of tools that tenants add.
	ToolServers ToolServers
	// OpenHarness configures the Open Harness API.
	OpenHarness OpenHarness
	// A2A configures the protocol A2A.
	A2A A2A
	// Process says what Tasks may run on the node.
	Process   Process
	SSE       SSE
	CORS      CORS
	WebSocket WebSocket
	MCP       MCP
	Shutdown  Shutdown
	Receipts  Receipts
	HTTP      HTTP
	Vaults    Vaults
	OAuth     OAuth
	TLS       TLS
	ACME      ACME
	Model     ModelDefaults
	Named
}

// Named is what the file names: it has as many of each as the operator wants.
type Named struct {
	Models  map[string]Model
	Prices  map[string]Price // by provider/model
	Secrets map[string]Secret
	Tools   map[string]ToolServer
	Grants  map[string]Grant // by plugin
	Issuers map[string]Issuer
	// Commands are the programs that tenants may have the node start, with their first arguments.
	Commands map[string][]string
	// ModelNames are what clients of the Open Harness API call models: names of Models, by theirs.
	ModelNames map[string]string
	// PluginLimits are those of plugins that have their own, by plugin.
	PluginLimits map[string]RunLimits
	// Settings are what plugins read of their own configuration: by plugin, by name.
	Settings map[string]map[string]jsontext.Value
}

// ModelDefaults is what models share.
type ModelDefaults struct {
	Default string // a name of Named.Models; "" when there is at most one
	Script  string // the path of the file of canned answers, "" for none
}

// HTTP bounds the HTTP requests of plugins. Sizes are in bytes.
type HTTP struct {
	Timeout  time.Duration
	Request  int64
	Response int64
}

// Receipts configures when receipts are issued.
type Receipts struct {
	Issue string // "all" or "required"
}

// Model is a model that plugins may ask. Its key is in a secret or in an
// environment variable, or it has none.
type Model struct {
	Provider  string
	BaseURL   string
	Model     string
	APIKey    string // the name of a secret
	APIKeyEnv string
	Timeout   time.Duration // 0 for the default
	Retries   int
	MaxTokens int // 0 for no limit
	// ContextWindow is how many tokens it takes; 0 when nobody has said it.
	ContextWindow int
	Thinking      int // tokens; 0 for none
	Fallbacks     []string
}

// Price is what a model costs, per million tokens.
type Price struct {
	Input    float64
	Output   float64
	Currency string // "" for USD
}

// Secret says where a secret's value is: exactly one of Env, File and Command.
type Secret struct {
	Env     string
	File    string
	Command []string
	Hosts   []string // where the value may be sent in HTTP requests; nil for anywhere that is granted
	// Connectors are patterns of ids and providers of Connectors that may check
	// signatures with the value.
	Connectors []string
}

// ToolServer is a server of the Model Context Protocol, either a Command or a URL; an agent outside
// that speaks A2A; or,
// by the name client and with neither, what is known of the tools of clients.
type ToolServer struct {
	Command string
	Args    []string
	Env     map[string]string // a value may hold handles of secrets
	Dir     string
	URL     string
	A2A     string            // the URL of an agent outside, or of its card
	Hosts   []string          // patterns of further hosts that its card may name
	Private bool              // it may have a private address
	Headers map[string]string // the same
	Timeout time.Duration     // 0 for the default
	Answer  int64             // bytes; 0 for the default
	// ReadOnly, Idempotent and Writes are patterns of tools for which they hold,
	// whatever the server says of them.
	ReadOnly, Idempotent, Writes []string
}

// Grant is what a plugin may reach.
type Grant struct {
	HTTP    []HTTPGrant
	Secrets []string
	Tools   []string // patterns of server:tool
	Agents  []string // patterns of agents outside that paid work may be delegated to
	Models  []string // patterns; nil when the file does not say
}

// HTTPGrant allows requests to hosts.
type HTTPGrant struct {
	Hosts   []string // host, *.suffix, either with :port
	Methods []string // in capitals
	Private bool     // also when the host has a private address
}

// Log says what is logged and how.
type Log struct {
	Level  slog.Level
	Format string // "auto", "text" or "json"
	Access string // a path, [AccessStandard] or [AccessOff]
}

// Limits bounds what clients can make the front door hold. Sizes are in bytes.
type Limits struct {
	Body        int64
	Delivery    int64
	Upload      int64
	Header      int64
	InFlight    int64
	Read        time.Duration
	UploadTime  time.Duration
	Write       time.Duration
	Idle        time.Duration
	Wait        time.Duration
	Connections int
	Streams     int
}

// A2A configures the protocol A2A.
type A2A struct {
	Wait time.Duration // how long a client waits at most for the end of a Task
}

// Process says what Tasks may run on the node.
type Process struct {
	Exec    bool          // run commands
	Timeout time.Duration // of a command
}

// Tasks bounds the running of Tasks. Sizes are in bytes.
type Tasks struct {
	Queue       int
	Concurrency int
	Persona     string
	RunLimits
	Attempts int
}

// Plugins configures what Tasks run.
type Plugins struct {
	Cache    string // "" for a folder within the data folder
	CacheKey string // a file; "" for one within the data folder
	Dir      string // "" for none
	Trust    string // as the file has them: see [Plugins.Trusted]
	Watch    string // as the file has them: see [Plugins.Watched]
	// Memory bounds what running instances take together, in bytes; 0 leaves it to the
	// node.
	Memory int64
	// IdleMemory bounds what idle instances take together, in bytes.
	IdleMemory int64
}

// Trusted returns the public keys, and the files with some, by which packages have to be signed; none
// let any pass.
func (p Plugins) Trusted() []string { return listed(p.Trust) }

// Watched returns the folders whose plugins are installed as they come and change.
func (p Plugins) Watched() (folders []string) {
	for folder := range strings.SplitSeq(p.Watch, ",") {
		if folder = strings.TrimSpace(folder); folder != "" {
			folders = append(folders, folder)
		}
	}
	return folders
}

// RunLimits bound each run by itself. In those of a plugin, a member that is 0 is as
// in [Tasks].
type RunLimits struct {
	WallTime  time.Duration
	Memory    int64
	HostCalls int
	Payload   int64
	Output    int64
	Gas       int
	Depth     int
}

// Storage sizes the embedded store. Sizes are in bytes.
type Storage struct {
	Cache    int64
	Memtable int64
	Reserve  Reserve
}

// Retention says how long things are kept. 0 is for ever.
type Retention struct {
	Tasks       time.Duration // after they have ended
	Sessions    time.Duration // after they were closed
	Artifacts   time.Duration // those of no Task
	Size        int64         // of the log and its blobs, in bytes
	Interval    time.Duration // between two looks for what is too old
	Events      time.Duration
	Idempotency time.Duration
	Deliveries  time.Duration
}

// Connectors bounds what is done with deliveries.
type Connectors struct {
	Backlog int
	Inbox   int64
	Workers int
}

// OpenHarness configures the Open Harness API.
type OpenHarness struct {
	Private string // "true" or "false"
}

// ToolServers bounds the servers of tools that tenants add while the node runs.
type ToolServers struct {
	Private string // "true" or "false"
	Most    int
}

// Webhooks bounds what is sent to receivers of events.
type Webhooks struct {
	Private  string // "true" or "false"
	Timeout  time.Duration
	Attempts int
	Backoff  time.Duration
	Age      time.Duration
	Parallel int
	Most     int
}

// SSE configures event streams.
type SSE struct {
	Heartbeat time.Duration
}

// Shutdown configures draining.
type Shutdown struct {
	Grace time.Duration
}
