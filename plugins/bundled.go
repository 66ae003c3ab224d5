package plugins

import (
	_ "embed"
	"fmt"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/plugins/internal/build"
)

//go:generate go run ./internal/build/rebuild

// The embedded modules. Large ones are compressed.
var (
	//go:embed bundled/agent.wasm.zst
	agentWasm []byte
	//go:embed bundled/connectors.wasm.zst
	connectorsWasm []byte
	//go:embed bundled/echo.wasm
	echoWasm []byte
	//go:embed bundled/digest.wasm.zst
	digestWasm []byte
	//go:embed bundled/bundled.lock
	lockFile []byte
)

// Plugin is a module that ships with Wharf.
type Plugin struct {
	Name    string
	Version string
	Digest  string // SHA-256 of the module, in hex

	embedded   []byte
	compressed bool
}

// Wasm returns the module's bytes. The caller must not change them. A compressed
// module is unpacked anew by each call.
func (p Plugin) Wasm() []byte {
	if !p.compressed {
		return p.embedded
	}
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		panic("plugins: preparing to unpack: " + err.Error())
	}
	defer decoder.Close()
	wasm, err := decoder.DecodeAll(p.embedded, nil)
	if err != nil {
		panic("plugins: unpacking the embedded " + p.Name + ": " + err.Error())
	}
	return wasm
}

// locked is the embedded lock file, by plugin.
var locked = sync.OnceValue(func() map[string]build.Record {
	records, err := build.ParseLock(lockFile)
	if err != nil {
		panic("plugins: reading the embedded lock file: " + err.Error())
	}
	out := map[string]build.Record{}
	for _, r := range records {
		out[r.Name] = r
	}
	return out
})

// Bundled returns the plugins that ship with Wharf.
func Bundled() []Plugin {
	return []Plugin{
		{Name: "agent", Version: locked()["agent"].Version, Digest: locked()["agent"].Wasm, embedded: agentWasm, compressed: true},
		{Name: "connectors", Version: locked()["connectors"].Version, Digest: locked()["connectors"].Wasm, embedded: connectorsWasm, compressed: true},
		{Name: "digest", Version: locked()["digest"].Version, Digest: locked()["digest"].Wasm, embedded: digestWasm, compressed: true},
		{Name: "echo", Version: locked()["echo"].Version, Digest: locked()["echo"].Wasm, embedded: echoWasm},
	}
}

// Lookup returns the bundled plugin of the given name.
func Lookup(name string) (Plugin, bool) {
	for _, p := range Bundled() {
		if p.Name == name {
			return p, true
		}
	}
	return Plugin{}, false
}

// The ids of the bundled Personas.
const (
	PersonaEcho   = "persona_echo"
	PersonaDigest = "persona_digest"
	PersonaAgent  = "persona_agent"
	// PersonaPoll is what the polls of Connectors run as.
	PersonaPoll = "persona_poll"
	// PersonaInvoke is what a client's call of one tool runs as.
	PersonaInvoke = "persona_invoke"
)

// What runs the node's own agents, and those that another server runs.
const (
	WorkflowAgent  = "agent"
	WorkflowRemote = "agent#remote"
)

// Personas returns the Personas of the bundled plugins. Their capabilities are the
// host calls that their plugins make, and those that tools stand for which an agent is there to
// call: what of them it may, the operator grants.
func Personas() []abi.Persona {
	return []abi.Persona{
		persona(PersonaAgent, "agent",
			"Does what it is asked with a model and the tools it may call. It needs a model: see docs/configuration.md.",
			abi.CallAgentEvent, abi.CallApprovalRequest, abi.CallArtifactPut, abi.CallBlockList, abi.CallConfigGet, abi.CallInboxTake, abi.CallInput, abi.CallLLMComplete,
			abi.CallLog, abi.CallMessageAppend, abi.CallOutput, abi.CallPlan, abi.CallPlanGet, abi.CallProgress, abi.CallSkillMatch, abi.CallSkillRead, abi.CallToolCall, abi.CallToolList, abi.CallTranscriptRead,
			"file.*"),
		persona(PersonaDigest, "digest",
			"Reads a text or Markdown document and answers with an outline, counts, the key sentences and a table of links.",
			abi.CallArtifactGet, abi.CallArtifactPut, abi.CallInput, abi.CallLog, abi.CallMessageAppend, abi.CallOutput, abi.CallProgress),
		persona(PersonaEcho, "echo",
			"Answers with what it was given: a Message's parts as they are, other JSON as a json part.",
			abi.CallInput, abi.CallMessageAppend, abi.CallOutput),
		invokes(persona(PersonaInvoke, "agent#invoke",
			"Calls one tool: send {server, name, arguments}. It answers with what the tool has answered.",
			abi.CallInput, abi.CallMessageAppend, abi.CallOutput, abi.CallToolCall)),
		persona(PersonaPoll, "connectors#poll",
			"Polls for Connectors, whichever plugin does it: looks for what is new, and delivers it.",
			abi.CallDeliver, abi.CallDeliveries, abi.CallNormalized, abi.CallHTTPFetch, abi.CallInput, abi.CallLog, abi.CallOutput,
			abi.CallSecretUse, abi.CallStateGet, abi.CallStateSet),
	}
}

// invokes shows what a client's own call of a tool is told: the client has the arguments and the answer anyway.
func invokes(p abi.Persona) abi.Persona {
	p.ToolsVisibility = abi.ToolsPublic
	return p
}

// bundledSince is when the bundled Personas were made: they are the same resource
// on every node.
var bundledSince = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

func persona(id, workflow, description string, capabilities ...string) abi.Persona {
	plugin, name, _ := ParseEntry(workflow) // a name that is none is looked up in vain
	if name == abi.DefaultExport {
		name = plugin
	}
	p, ok := Lookup(plugin)
	if !ok {
		panic(fmt.Sprintf("plugins: the persona %s has no plugin %q", id, plugin))
	}
	return abi.Persona{
		Envelope:      abi.NewEnvelope(abi.ObjectPersona, id, bundledSince, nil),
		Name:          name,
		Version:       p.Version,
		EntryWorkflow: workflow,
		Description:   description,
		AutonomyTier:  abi.TierActAuto,
		ReceiptPolicy: abi.ReceiptOptional,
		Tools:         []string{},
		Capabilities:  capabilities,
	}
}
