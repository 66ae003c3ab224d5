package manifest

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
)

// FileName is the name of a manifest, which lies beside the sources of its plugin.
const FileName = "wharf.toml"

// Kind says what a plugin is.
type Kind string

// The kinds.
const (
	KindPersona   Kind = "persona"   // Tasks run it
	KindSkill     Kind = "skill"     // Tasks run it, and it is offered with an input and an output
	KindConnector Kind = "connector" // it says what the deliveries of a provider mean
	KindHook      Kind = "hook"      // it is asked before tools are called, or told of what happens
)

// Manifest is what a wharf.toml says, with the defaults of what it leaves out.
type Manifest struct {
	Name        string
	Version     string
	Kind        Kind
	Description string
	Language    string
	Entry       string // the source file; "" when there is none to build
	Module      string // the built module
	Exports     []string
	// Capabilities are patterns of the host calls that are granted; none grant nothing.
	Capabilities []string
	Limits       Limits
	Config       []Setting // in the order in which they are stated
	Schemas      Schemas
	Hosts        []string // for http.fetch
	Methods      []string // of requests to them
	Secrets      []string
	Tools        []string // patterns, as SERVER:TOOL
	Agents       []string // patterns
	Models       []string // patterns
	Build        Build
	Persona      Persona
	Skill        Skill
	Connector    Connector
	Hook         Hook

	where map[string]Position
	text  *places
}

// Limits bound each run. What is 0 is the node's to say.
type Limits struct {
	Gas    int64
	Memory int64 // bytes
	Time   time.Duration
	Depth  int64
}

// Setting is something that an operator may set, and config.get answers.
type Setting struct {
	Name        string
	Type        string         // of JSON
	Default     jsontext.Value // nil without one: then the operator has to set it
	Description string
}

// Schemas are JSON Schemas of what the plugin takes and gives out.
type Schemas struct{ Input, Output JSONSchema }

// JSONSchema is one that stands in the manifest or in a file beside it.
type JSONSchema struct {
	File string         // "" when it stands in the manifest
	Text jsontext.Value // nil when there is none, and when its file was not read
}

// Build says how the module is built.
type Build struct {
	Command []string // instead of what the language is built with
	Watch   []string // patterns of the files that a build is made of
}

// Persona is what a Persona is made with.
type Persona struct {
	AutonomyTier  abi.AutonomyTier
	ReceiptPolicy abi.ReceiptPolicy
}

// Skill is what a Skill is made with.
type Skill struct{ RequiresApproval bool }

// Connector is what a Connector is made with.
type Connector struct {
	Provider   string // the plugin's name if it is not set
	EventKinds []string
	Ordered    bool
	Schedule   string // when it polls; "": never
	TimeZone   string
	Poll       string // the export that polls
}

// Hook is what a hook is made with.
type Hook struct {
	Event   abi.HookEvent
	Name    string
	Fail    abi.HookFailure
	Timeout time.Duration
}

// At returns where something stands, by its path such as capabilities[2] or config.greeting.default;
// of what does not stand there, where that begins which it belongs to.
func (m *Manifest) At(path string) Position {
	for ; path != ""; path = parent(path) {
		if at, ok := m.where[path]; ok {
			return at
		}
	}
	return Position{1, 1}
}
