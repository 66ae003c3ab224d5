package openharness

import (
	"cmp"
	"slices"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
)

// manifest says what a harness can do. It follows from the host calls that its plugin makes.
type manifest struct {
	Agents    ability `json:"agents"`
	Skills    ability `json:"skills"`
	MCP       ability `json:"mcp"`
	Execution ability `json:"execution"`
	Sessions  ability `json:"sessions"`
	Memory    ability `json:"memory"`
	Subagents ability `json:"subagents"`
	Files     ability `json:"files"`
	Hooks     ability `json:"hooks"`
	Planning  ability `json:"planning"`
	Models    ability `json:"models"`
}

// ability is what a harness can do in one domain.
type ability struct {
	Supported   bool     `json:"supported"`
	Operations  []string `json:"operations"`
	Limitations []string `json:"limitations,omitzero"`
}

// manifestOf returns what a plugin can do that makes some host calls.
func manifestOf(h *abi.Harness, calls []string) manifest {
	has := func(call string) bool { return slices.Contains(calls, call) }
	runs, thinks := len(calls) > 0, has(abi.CallLLMComplete)
	acts := has(abi.CallToolCall)
	if h.Kind == abi.HarnessHosted {
		return hostedManifest()
	}
	m := manifest{
		Agents:    able(thinks, "create", "update", "delete", "clone", "export", "import"),
		Skills:    able(thinks && acts, "register", "install", "discover", "version", "rollback", "validate"),
		MCP:       able(acts, "connect", "disconnect", "tools", "resources", "prompts"),
		Execution: able(runs, "sync", "stream", "cancel", "artifacts", "tool-calls"),
		Sessions:  able(runs, "create", "resume", "fork", "history", "named"),
		Memory:    able(thinks, "blocks", "search", "archive", "cross-session", "read-only"),
		Subagents: able(thinks, "spawn", "delegate", "terminate", "result", "custom"),
		Files:     able(true, "read", "write", "delete", "search", "upload", "download"),
		Hooks:     able(runs, "pre-tool", "post-tool", "stop", "custom", "events"),
		Planning:  able(thinks && has(abi.CallPlan), "todos", "task-tracking", "update"),
		Models:    able(thinks, "multi-model", "model-list", "model-switch"),
	}
	if m.Memory.Supported {
		m.Memory.Limitations = []string{"blocks are kept, and given out, and not shown to models"}
	}
	if m.Subagents.Supported {
		m.Subagents.Limitations = []string{"clients delegate: the model of the parent has no tool for it"}
	}
	if m.Skills.Supported {
		m.Skills.Limitations = []string{"scripts of a skill are text to the model: there is no shell that runs them"}
	}
	if !acts && !has(abi.CallFileRead) && !has(abi.CallFileWrite) {
		m.Files.Limitations = []string{"the harness itself reads and writes no files: only clients do"}
	}
	return m
}

// hostedManifest is that of every harness which another server runs.
func hostedManifest() manifest {
	return manifest{Execution: able(true, "sync", "cancel", "tool-calls"), Sessions: able(true, "create", "history", "named"),
		Files: able(true, "read", "write", "delete", "search", "upload", "download"), Hooks: able(true, "stop", "events"),
		Agents: able(false), Skills: able(false), MCP: able(false), Memory: able(false), Subagents: able(false), Planning: able(false), Models: able(false)}
}

func able(supported bool, operations ...string) ability {
	if !supported || operations == nil {
		operations = []string{}
	}
	return ability{Supported: supported, Operations: operations}
}

// domain returns what a manifest says of what an operation is about; nil for what every harness
// can do.
func (m *manifest) domain(operation string) *ability {
	switch domainOf(operation) {
	case "agents":
		return &m.Agents
	case "skills":
		return &m.Skills
	case "mcp", "tools":
		return &m.MCP
	case "execution":
		return &m.Execution
	case "sessions":
		return &m.Sessions
	case "memory":
		return &m.Memory
	case "subagents":
		return &m.Subagents
	case "hooks":
		return &m.Hooks
	case "planning":
		return &m.Planning
	}
	return nil
}

// manifest returns what a harness can do.
func (a *Adapter) manifest(r *gateway.Request, h *abi.Harness) (manifest, error) {
	calls, err := a.core.HarnessCalls(r.Context(), h)
	if err != nil {
		return manifest{}, unavailable(h, err)
	}
	return manifestOf(h, calls), nil
}

// capable refuses what a harness cannot do. The node's own can do everything.
func (a *Adapter) capable(r *gateway.Request, h *abi.Harness) error {
	if h.Name == abi.OwnHarness {
		return nil
	}
	m, err := a.manifest(r, h)
	if err != nil {
		return err
	}
	if able := m.domain(r.Route.Operation); able != nil && !able.Supported {
		return coded(codeUnsupported, 501, "the harness %q does not support %s: its capabilities say what it does", h.Name, domainOf(r.Route.Operation))
	}
	return nil
}

// unavailable says of a harness whose plugin the node has no more that it cannot be used now.
func unavailable(h *abi.Harness, err error) error {
	gone, ok := err.(*abi.Failure)
	if !ok {
		return err
	}
	return abi.Errorf(abi.CodeServiceUnavailable, "the harness %q cannot run here now: %s", h.Name, cmp.Or(gone.Message, gone.Code))
}
