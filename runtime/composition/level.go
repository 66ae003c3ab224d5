package composition

import (
	"slices"
	"strings"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/hosttools"
	"github.com/wharf-dev/wharf/runtime/policy"
)

// levels are those of the calls that are asked for before they are made. A call that is not here is at the
// highest.
var levels = map[string]abi.SideEffectLevel{
	abi.CallOutput: abi.LevelReadOnly, abi.CallClock: abi.LevelReadOnly, abi.CallRandom: abi.LevelReadOnly, abi.CallID: abi.LevelReadOnly,
	abi.CallPlanSet: abi.LevelReadOnly, abi.CallPlanGet: abi.LevelReadOnly, abi.CallInboxTake: abi.LevelReadOnly,
	abi.CallMessageAppend: abi.LevelReadOnly, abi.CallTranscriptRead: abi.LevelReadOnly,
	abi.CallStateGet: abi.LevelReadOnly, abi.CallStateSet: abi.LevelReadOnly,
	abi.CallToolList: abi.LevelReadOnly, abi.CallSkillRead: abi.LevelReadOnly, abi.CallSkillMatch: abi.LevelReadOnly,
	abi.CallMemoryQuery: abi.LevelReadOnly, abi.CallBlockList: abi.LevelReadOnly, abi.CallSecretUse: abi.LevelReadOnly,
	abi.CallArtifactPut: abi.LevelReadOnly, abi.CallArtifactGet: abi.LevelReadOnly,
	abi.CallFileRead: abi.LevelReadOnly, abi.CallFileList: abi.LevelReadOnly, abi.CallFileSearch: abi.LevelReadOnly,
	abi.CallEventEmit: abi.LevelReadOnly, abi.CallConfigGet: abi.LevelReadOnly, abi.CallHostFact: abi.LevelReadOnly,
	abi.CallDeliveries: abi.LevelReadOnly, abi.CallNormalized: abi.LevelReadOnly,
	abi.CallCompositionBegin: abi.LevelReadOnly, abi.CallCompositionEnd: abi.LevelReadOnly,
	abi.CallInputRequest: abi.LevelReadOnly, // as a tool

	abi.CallMemoryWrite: abi.LevelWorkspaceWrite, abi.CallBlockWrite: abi.LevelWorkspaceWrite,
	abi.CallFileWrite: abi.LevelWorkspaceWrite, abi.CallFileEdit: abi.LevelWorkspaceWrite, abi.CallFileRemove: abi.LevelWorkspaceWrite,

	abi.CallLLMComplete: abi.LevelNetwork, abi.CallHTTPFetch: abi.LevelNetwork, abi.CallDeliver: abi.LevelNetwork,
	abi.CallResourceList: abi.LevelNetwork, abi.CallResourceRead: abi.LevelNetwork, abi.CallPromptGet: abi.LevelNetwork,
	// Other Tasks are not held to the ceiling.
	abi.CallTaskSpawn: abi.LevelNetwork, abi.CallHandoff: abi.LevelNetwork, abi.CallAgentDelegate: abi.LevelNetwork,
}

// Level returns how far a call may reach. tool is the definition of a tool; nil when that is not known.
func Level(a *policy.Action, tool *abi.Tool) abi.SideEffectLevel {
	switch {
	case a.Call == abi.CallToolCall:
		server, name, _ := strings.Cut(a.Tool, ":")
		return toolLevel(server, name, tool)
	case a.Call == abi.CallMemoryWrite && a.Scope == abi.MemorySession:
		return abi.LevelReadOnly
	}
	return ofCall(a.Call)
}

func ofCall(call string) abi.SideEffectLevel {
	if level := levels[call]; level != "" {
		return level
	}
	return abi.LevelNetwork
}

// toolLevel returns the level of a tool. What its definition says of itself is believed as much as it is
// elsewhere: the operator's configuration has corrected it.
func toolLevel(server, name string, tool *abi.Tool) abi.SideEffectLevel {
	switch server {
	case abi.ToolServerHost:
		return hostLevel(name)
	case abi.ToolServerSkills, abi.ToolServerAgents:
		return abi.LevelNetwork
	}
	switch {
	case tool == nil:
		return abi.LevelNetwork
	case runs(server, name) && !tool.ReadOnly:
		return abi.LevelProcessExec
	case tool.OpenWorld:
		return abi.LevelNetwork
	case tool.ReadOnly:
		return abi.LevelReadOnly
	}
	return abi.LevelWorkspaceWrite
}

// hostLevel returns the level of a tool of the node's: that of the host call that it makes.
func hostLevel(name string) abi.SideEffectLevel {
	tool := hosttools.Find(name)
	switch {
	case tool == nil:
		return abi.LevelNetwork
	case tool.Call == abi.CallMemoryWrite: // what it saves is the Session's
		return abi.LevelReadOnly
	}
	return ofCall(tool.Call)
}

// runs reports whether a tool is one that runs programs on the node or at the client's.
func runs(server, name string) bool {
	return server == abi.ToolServerProcess || server == abi.ToolServerClient && name == abi.ToolRunTerminal
}

// within reports whether a level is allowed under a ceiling. A ceiling that is not known allows nothing.
func within(level, ceiling abi.SideEffectLevel) bool {
	all := abi.SideEffectLevels()
	return slices.Index(all, level) <= slices.Index(all, ceiling)
}
