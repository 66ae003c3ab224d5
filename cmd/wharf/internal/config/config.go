package config

import (
	"log/slog"
	"time"
)

// Config is a node's configuration, checked and complete.
type Config struct {
	Listen    string
	Data      string
	PublicURL string
	Log       Log
	Limits    Limits
	Tasks     Tasks
	Plugins   Plugins
	Storage   Storage
	Retention Retention
	SSE       SSE
	Shutdown  Shutdown
}

// Log says what is logged and how.
type Log struct {
	Level  slog.Level
	Format string // "auto", "text" or "json"
}

// Limits bounds what clients can make the front door hold. Sizes are in bytes.
type Limits struct {
	Body        int64
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

// Tasks bounds the running of Tasks. Sizes are in bytes.
type Tasks struct {
	Queue       int
	Concurrency int
	Persona     string
	WallTime    time.Duration
	Memory      int64
	HostCalls   int
	Payload     int64
	Output      int64
	Attempts    int
}

// Plugins configures what Tasks run.
type Plugins struct {
	Cache string
	Dir   string // "" for none
}

// Storage sizes the embedded store. Sizes are in bytes.
type Storage struct {
	Cache    int64
	Memtable int64
}

// Retention says how long things are kept. Events 0 is for ever.
type Retention struct {
	Events      time.Duration
	Idempotency time.Duration
}

// SSE configures event streams.
type SSE struct {
	Heartbeat time.Duration
}

// Shutdown configures draining.
type Shutdown struct {
	Grace time.Duration
}
