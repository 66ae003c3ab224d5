package hostcall

// The names of the host calls.
const (
	NameInput           = "input"
	NameOutput          = "output"
	NameClock           = "clock"
	NameRandom          = "random"
	NameID              = "id"
	NameSleep           = "sleep"
	NameLog             = "log"
	NameProgress        = "progress"
	NamePlan            = "plan"
	NameAgentEvent      = "agent.event"
	NamePlanSet         = "plan.set"
	NamePlanGet         = "plan.get"
	NameInboxTake       = "inbox.take"
	NameMessageAppend   = "message.append"
	NameMessageDelta    = "message.delta"
	NameTranscriptRead  = "transcript.read"
	NameLLMComplete     = "llm.complete"
	NameToolList        = "tool.list"
	NameToolCall        = "tool.call"
	NameResourceList    = "resource.list"
	NameResourceRead    = "resource.read"
	NamePromptGet       = "prompt.get"
	NameHTTPFetch       = "http.fetch"
	NameMemoryQuery     = "memory.query"
	NameMemoryWrite     = "memory.write"
	NameBlockList       = "block.list"
	NameBlockWrite      = "block.write"
	NameSecretUse       = "secret.use"
	NameArtifactPut     = "artifact.put"
	NameArtifactGet     = "artifact.get"
	NameFileRead        = "file.read"
	NameFileWrite       = "file.write"
	NameFileEdit        = "file.edit"
	NameFileList        = "file.list"
	NameFileRemove      = "file.remove"
	NameFileSearch      = "file.search"
	NameSkillRead       = "skill.read"
	NameSkillMatch      = "skill.match"
	NameStateGet        = "state.get"
	NameStateSet        = "state.set"
	NameInputRequest    = "input.request"
	NameAuthRequest     = "auth.request"
	NameApprovalRequest = "approval.request"
	NameTaskSpawn       = "task.spawn"
	NameTaskAwait       = "task.await"
	NameHandoff         = "handoff"
	NameAgentDelegate   = "agent.delegate"
	NameEventEmit       = "event.emit"
	NameConfigGet       = "config.get"
	NameHostFact        = "host.fact"
	NameDeliveries      = "connector.deliveries"
	NameNormalized      = "connector.normalized"
	NameDeliver         = "connector.deliver"
)

// Statuses of a host call.
const (
	OK            uint32 = 0
	Invalid       uint32 = 1
	Denied        uint32 = 2
	NotFound      uint32 = 3
	TooLarge      uint32 = 4
	Unavailable   uint32 = 5
	Indeterminate uint32 = 6
	Timeout       uint32 = 7
)

// The names of those of compositions.
const (
	NameCompositionBegin = "composition.begin"
	NameCompositionEnd   = "composition.end"
)
