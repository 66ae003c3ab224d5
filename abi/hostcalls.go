package abi

//go:generate go run ./internal/reference/write
//go:generate go run ./internal/sdk/write

// HostModule is the module name that a plugin imports host calls from.
const HostModule = "wharf"

// ReadImport is the one import of [HostModule] that is not a host call:
// read(ptr, len u32) -> u32 copies the answer of the last host call to ptr, at
// most len bytes, and returns how many it copied. The answer is kept until the
// next host call.
const ReadImport = "read"

// DefaultExport is the export that runs when entry_workflow names none. An
// export of this kind takes nothing and returns an i32: 0 for success.
const DefaultExport = "run"

// Effect is the class of a host call: what is recorded of it, and when
// (docs/RATIONALE.md, "Which host calls are there").
type Effect string

// The effect classes.
const (
	// EffectLocal is known to the host alone: clock, randomness, ids. The answer is
	// recorded with whatever is written next.
	EffectLocal Effect = "local"
	// EffectRead observes something outside the Task. The answer is recorded before
	// anything that depends on it leaves the plugin.
	EffectRead Effect = "read"
	// EffectWrite changes something outside the plugin. What is changed outside the
	// log has its intent on disk before it starts.
	EffectWrite Effect = "write"
	// EffectWait waits for somebody or something. The Task is parked meanwhile: it
	// holds no instance.
	EffectWait Effect = "wait"
	// EffectHint is telemetry: it is not recorded, and no replay depends on it.
	EffectHint Effect = "hint"
	// EffectGiven is fixed before the Task starts: it is answered from how the Task
	// was submitted, and recorded there.
	EffectGiven Effect = "given"
)

// HostCall defines one host call. A plugin imports it under Name from
// [HostModule] as (ptr u32, len u32) -> u64: the request lies at ptr, and the
// result holds a [CallStatus] in its upper and the length of the answer in its
// lower 32 bits. The plugin's import section is its list of capabilities.
//
// From this definition come the bindings, the recorder and replayer, the
// reference (docs/host-calls.md) and the JSON Schemas: a call that is not
// defined here cannot be made, and so none can go unrecorded.
type HostCall struct {
	Name   string
	Effect Effect
	// Varies says that the class follows from the request: Effect is the strongest
	// that it can be.
	Varies bool
	// Durable says that the answer is given only when the record of the call is on
	// disk.
	Durable bool
	// Key is the form of the override key that replaces the answer in a replay, ""
	// when it cannot be replaced. <call_id> is the request's member call_id, or the
	// number of the call among those of the same key form, from 1.
	Key string
	// Request and Answer say what the bytes are.
	Request, Answer string
	// RequestType and AnswerType are zero values of the JSON bodies; nil for bytes
	// that are not JSON, and for none.
	RequestType, AnswerType any
	// Limit says what bounds the call besides the limits of every call.
	Limit string
	Doc   string
}

// CallStatus is the status of a host call. Any status but [CallOK] comes with an
// answer of the form {"code": "...", "message": "..."}.
type CallStatus uint32

// The statuses of a host call.
const (
	CallOK          CallStatus = 0 // done; the answer is the call's own
	CallInvalid     CallStatus = 1 // the request is malformed
	CallDenied      CallStatus = 2 // policy forbids it
	CallNotFound    CallStatus = 3 // what it names does not exist, or not for this Task
	CallTooLarge    CallStatus = 4 // a limit on size or count
	CallUnavailable CallStatus = 5 // the host could not do it now
	// CallIndeterminate: the node died between the start of a write and its result,
	// and the target cannot be asked again safely.
	CallIndeterminate CallStatus = 6
	CallTimeout       CallStatus = 7 // nobody answered, or nothing happened, in time
)

// CallError is the answer that comes with any status but [CallOK].
type CallError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// MaxRandom is the most randomness that one call of [CallRandom] gives, in bytes.
const MaxRandom = 1 << 16

// The names of the host calls.
const (
	CallInput           = "input"
	CallOutput          = "output"
	CallClock           = "clock"
	CallRandom          = "random"
	CallID              = "id"
	CallSleep           = "sleep"
	CallLog             = "log"
	CallProgress        = "progress"
	CallPlan            = "plan"
	CallAgentEvent      = "agent.event"
	CallPlanSet         = "plan.set"
	CallPlanGet         = "plan.get"
	CallInboxTake       = "inbox.take"
	CallMessageAppend   = "message.append"
	CallMessageDelta    = "message.delta"
	CallTranscriptRead  = "transcript.read"
	CallLLMComplete     = "llm.complete"
	CallToolList        = "tool.list"
	CallToolCall        = "tool.call"
	CallResourceList    = "resource.list"
	CallResourceRead    = "resource.read"
	CallPromptGet       = "prompt.get"
	CallHTTPFetch       = "http.fetch"
	CallMemoryQuery     = "memory.query"
	CallMemoryWrite     = "memory.write"
	CallBlockList       = "block.list"
	CallBlockWrite      = "block.write"
	CallSecretUse       = "secret.use"
	CallArtifactPut     = "artifact.put"
	CallArtifactGet     = "artifact.get"
	CallFileRead        = "file.read"
	CallFileWrite       = "file.write"
	CallFileEdit        = "file.edit"
	CallFileList        = "file.list"
	CallFileRemove      = "file.remove"
	CallFileSearch      = "file.search"
	CallSkillRead       = "skill.read"
	CallSkillMatch      = "skill.match"
	CallStateGet        = "state.get"
	CallStateSet        = "state.set"
	CallInputRequest    = "input.request"
	CallAuthRequest     = "auth.request"
	CallApprovalRequest = "approval.request"
	CallTaskSpawn       = "task.spawn"
	CallTaskAwait       = "task.await"
	CallHandoff         = "handoff"
	CallAgentDelegate   = "agent.delegate"
	CallEventEmit       = "event.emit"
	CallConfigGet       = "config.get"
	CallHostFact        = "host.fact"
	CallDeliveries      = "connector.deliveries"
	CallNormalized      = "connector.normalized"
	CallDeliver         = "connector.deliver"
)

// CallGate names, in a record, the approval that policy has asked for before the
// call that follows it. It is no host call: no plugin makes it, and none is
// answered by it. Its answer is a [CallApprovalAnswer].
const CallGate = "approval.gate"

// CallHooks names, in a record, what hooks have said before the call that follows it. It is no host
// call either, and stands before the gate of a call that has one.
const CallHooks = "hooks.gate"

// HostCalls defines every host call there is, by name.
func HostCalls() []HostCall {
	var all []HostCall
	for _, group := range [][]HostCall{
		taskCalls(), localCalls(), hintCalls(), planCalls(), messageCalls(), providerCalls(), memoryCalls(), blockCalls(),
		artifactCalls(), fileCalls(), skillCalls(), compositionCalls(), stateCalls(), waitCalls(), childCalls(), hostFactCalls(), connectorCalls(),
	} {
		all = append(all, group...)
	}
	return all
}

// HostCallsByName indexes the definitions. The caller owns the map and what is in it.
func HostCallsByName() map[string]*HostCall {
	byName := map[string]*HostCall{}
	for _, c := range HostCalls() {
		byName[c.Name] = &c
	}
	return byName
}

// LookupHostCall returns the definition of the named call.
func LookupHostCall(name string) (HostCall, bool) {
	if c := HostCallsByName()[name]; c != nil {
		return *c, true
	}
	return HostCall{}, false
}

// CountsAsTool reports whether a call counts as a call of a tool in budgets, Quotas and receipts.
func CountsAsTool(call string) bool {
	return call == CallToolCall || call == CallResourceRead || call == CallPromptGet || call == CallAgentDelegate
}

const (
	nothing  = "empty"
	asJSON   = "JSON"
	optional = "empty or JSON"
)

// MayBeEmpty reports whether the request may be empty instead of what RequestType says.
func (c *HostCall) MayBeEmpty() bool { return c.Request == optional }

func taskCalls() []HostCall {
	return []HostCall{
		{Name: CallInput, Effect: EffectGiven, Request: nothing, Answer: asJSON, AnswerType: CallInputAnswer{},
			Doc: "What the Task was submitted with, the Task as it was accepted, and the Persona it runs as."},
		{Name: CallOutput, Effect: EffectWrite, Request: asJSON, RequestType: CallOutputRequest{}, Answer: nothing,
			Doc: "What the Task results in. Called once; a second call is answered with CallInvalid."},
	}
}

func localCalls() []HostCall {
	return []HostCall{
		{Name: CallClock, Effect: EffectLocal, Key: "time:<call_id>", Request: optional, RequestType: CallLabel{},
			Answer: asJSON, AnswerType: CallClockAnswer{},
			Doc: "Reads the wall clock."},
		{Name: CallRandom, Effect: EffectLocal, Key: "host:random:<call_id>", Request: "4 bytes, little-endian: how many bytes",
			Answer: "that many random bytes", Limit: "65,536 bytes",
			Doc: "Reads randomness fit for keys. It is recorded, so a key made from it is in the node's data folder."},
		{Name: CallID, Effect: EffectLocal, Key: "host:id:<call_id>", Request: optional, RequestType: CallLabel{},
			Answer: asJSON, AnswerType: CallIDAnswer{},
			Doc: "Makes an id that is unique and sorts by time: a ULID."},
	}
}

func hintCalls() []HostCall {
	return []HostCall{
		{Name: CallLog, Effect: EffectHint, Request: asJSON, RequestType: CallLogRequest{}, Answer: nothing,
			Limit: "10,000 hints of a Task; more are dropped",
			Doc:   "Writes a line to the Task's event stream."},
		{Name: CallProgress, Effect: EffectHint, Request: asJSON, RequestType: CallProgressRequest{}, Answer: nothing,
			Limit: "10,000 hints of a Task; more are dropped",
			Doc:   "Tells watchers how far the Task is."},
		{Name: CallPlan, Effect: EffectHint, Request: asJSON, RequestType: CallPlanRequest{}, Answer: nothing,
			Limit: "10,000 hints of a Task; more are dropped",
			Doc:   "Tells watchers what the plugin means to do, and how far it got. Nothing keeps it: plan.set does."},
		{Name: CallAgentEvent, Effect: EffectHint, Request: asJSON, RequestType: CallAgentEventRequest{}, Answer: nothing,
			Limit: "32 KiB; 10,000 hints of a Task, more are dropped",
			Doc: "Tells watchers what an agent does with its skills, its tools and its conversation. The data is an object that has members of its kind alone: " +
				"skill_activated, skill_deactivated, skill_scope_tools, skill_narrow, tool_search_query, tool_search_result, transcript_compacted, transcript_projected, turn_started or turn_ended."},
	}
}

func planCalls() []HostCall {
	return []HostCall{
		{Name: CallPlanSet, Effect: EffectWrite, Durable: true, Request: asJSON, RequestType: CallPlanSetRequest{},
			Answer: asJSON, AnswerType: CallPlanAnswer{}, Limit: "200 steps of 2,000 characters",
			Doc: "Sets the Task's plan, which people see and may change. A step without an id gets one that follows from the call."},
		{Name: CallPlanGet, Effect: EffectRead, Key: "host:plan.get:<call_id>", Request: optional, RequestType: CallPlanGetRequest{},
			Answer: asJSON, AnswerType: CallPlanAnswer{},
			Doc: "Reads the Task's plan as it is now, with what people have changed."},
	}
}

func messageCalls() []HostCall {
	return []HostCall{
		{Name: CallInboxTake, Effect: EffectRead, Key: "host:inbox.take:<call_id>", Request: asJSON, RequestType: CallInboxTakeRequest{},
			Answer: asJSON, AnswerType: CallInboxTakeAnswer{}, Limit: "100 that wait in a Session, 4 MB of them",
			Doc: "Takes what waits in the Session's inbox and is due at a checkpoint. It is delivered once: its Messages are in the transcript and the answer is on disk before it is given. With wait the Task is parked until something comes."},
		{Name: CallMessageAppend, Effect: EffectWrite, Request: asJSON, RequestType: MessageInput{},
			Answer: asJSON, AnswerType: CallMessageAppendAnswer{},
			Doc: "Appends a Message to the Session's transcript. It becomes visible with the next call that reaches outside the Task, at the latest when the Task ends."},
		{Name: CallMessageDelta, Effect: EffectHint, Request: asJSON, RequestType: CallMessageDeltaRequest{}, Answer: nothing,
			Limit: "20 events a second of a Task: pieces that come faster are put together",
			Doc:   "Streams a piece of a Message that is being written. The Message itself is appended when it is whole."},
		{Name: CallTranscriptRead, Effect: EffectRead, Key: "host:transcript.read:<call_id>",
			Request: asJSON, RequestType: CallTranscriptReadRequest{}, Answer: asJSON, AnswerType: CallTranscriptReadAnswer{},
			Limit: "200 Messages",
			Doc:   "Reads Messages of the Session, oldest first: what was appended before the Task was submitted, and what it appended itself."},
	}
}

func providerCalls() []HostCall {
	return []HostCall{
		{Name: CallLLMComplete, Effect: EffectRead, Key: "llm:<call_id>", Request: asJSON, RequestType: ModelRequest{},
			Answer: asJSON, AnswerType: ModelAnswer{},
			Doc: "Asks a model. The answer never holds hidden reasoning. With stream set, text is told to watchers as it comes."},
		{Name: CallToolList, Effect: EffectRead, Key: "host:tool.list:<call_id>", Request: optional, RequestType: CallToolListRequest{},
			Answer: asJSON, AnswerType: CallToolListAnswer{},
			Doc: "Lists the tools that the plugin may call."},
		{Name: CallToolCall, Effect: EffectWrite, Varies: true, Key: "mcp:<server>:<call_id>", Request: asJSON, RequestType: CallToolCallRequest{},
			Answer: asJSON, AnswerType: CallToolCallAnswer{},
			Doc: "Calls a tool. It is a read when the tool says that it is read-only, else a write: then the intent is on disk before the tool is called, and after a crash a tool that is not idempotent is not called again."},
		{Name: CallResourceList, Effect: EffectRead, Key: "mcp:<server>:resource.list:<call_id>", Request: asJSON, RequestType: CallResourceListRequest{},
			Answer: asJSON, AnswerType: CallResourceListAnswer{}, Limit: "1,000 entries, 1 MiB",
			Doc: "Lists the resources, the templates of resources, or the prompts of a server of tools. A server that has none lists none."},
		{Name: CallResourceRead, Effect: EffectRead, Key: "mcp:<server>:resource.read:<call_id>", Request: asJSON, RequestType: CallResourceReadRequest{},
			Answer: asJSON, AnswerType: CallResourceReadAnswer{}, Limit: "what the server's `answer` says, 4 MiB unless it is set",
			Doc: "Reads a resource of a server of tools. It counts as a call of a tool."},
		{Name: CallPromptGet, Effect: EffectRead, Key: "mcp:<server>:prompt.get:<call_id>", Request: asJSON, RequestType: CallPromptGetRequest{},
			Answer: asJSON, AnswerType: CallPromptGetAnswer{}, Limit: "what the server's `answer` says, 4 MiB unless it is set",
			Doc: "Gets a prompt of a server of tools, filled in with arguments. It counts as a call of a tool."},
		{Name: CallHTTPFetch, Effect: EffectWrite, Varies: true, Key: "host:http.fetch:<call_id>", Request: asJSON, RequestType: CallHTTPFetchRequest{},
			Answer: asJSON, AnswerType: CallHTTPFetchAnswer{},
			Doc: "Makes an HTTP request to a host that the plugin is allowed. GET and HEAD are reads, the rest are writes. Secrets are put in by the host."},
		{Name: CallSecretUse, Effect: EffectRead, Key: "secret:<name>", Request: asJSON, RequestType: CallSecretUseRequest{},
			Answer: asJSON, AnswerType: CallSecretUseAnswer{},
			Doc: "Asks for a handle of a secret that the plugin is allowed. The value is never told: the host puts it where the handle stands in an outgoing request."},
	}
}

func memoryCalls() []HostCall {
	return []HostCall{
		{Name: CallMemoryQuery, Effect: EffectRead, Key: "host:memory.query:<call_id>", Request: asJSON, RequestType: CallMemoryQueryRequest{},
			Answer: asJSON, AnswerType: CallMemoryQueryAnswer{}, Limit: "100 Memories",
			Doc: "Finds Memories that the Task may read and that have every word of the query, newest first. Words are whole; `word*` stands for all that begin so. " +
				"A query has at most 32. Expired and redacted Memories are left out."},
		{Name: CallMemoryWrite, Effect: EffectWrite, Durable: true, Request: asJSON, RequestType: CallMemoryWriteRequest{},
			Answer: asJSON, AnswerType: CallMemoryWriteAnswer{},
			Doc: "Keeps a Memory for later Tasks. Its provenance names the Task."},
	}
}

func blockCalls() []HostCall {
	return []HostCall{
		{Name: CallBlockList, Effect: EffectRead, Key: "host:block.list:<call_id>", Request: optional, RequestType: CallBlockListRequest{},
			Answer: asJSON, AnswerType: CallBlockListAnswer{},
			Doc: "Reads the blocks of memory of the Task's agent as they are now, whoever has changed them. A Persona that is no agent of a Workspace " +
				"is answered with CallNotFound and the code `no_blocks`."},
		{Name: CallBlockWrite, Effect: EffectWrite, Durable: true, Request: asJSON, RequestType: CallBlockWriteRequest{},
			Answer: asJSON, AnswerType: CallBlockWriteAnswer{}, Limit: "64 blocks of 100,000 characters, 400,000 characters together",
			Doc: "Changes a block of memory of the Task's agent, or makes it; later Tasks of the agent have it, too. It happens once. A block that is read-only " +
				"is answered with CallDenied and the code `block_read_only`, and a Persona that is no agent of a Workspace with CallNotFound and `no_blocks`."},
	}
}

func artifactCalls() []HostCall {
	return []HostCall{
		{Name: CallArtifactPut, Effect: EffectWrite, Request: "a line of JSON, a newline, then the content",
			RequestType: CallArtifactPutRequest{}, Answer: asJSON, AnswerType: CallArtifactPutAnswer{},
			Doc: "Stores an Artifact of this Task. It becomes visible with the next call that reaches outside the Task, at the latest when the Task ends."},
		{Name: CallArtifactGet, Effect: EffectRead, Key: "host:artifact.get:<call_id>", Request: asJSON, RequestType: CallArtifactGetRequest{},
			Answer: "the bytes; fewer than asked for only at the end",
			Doc:    "Reads a range of an Artifact's content that the Task's tenant and Workspace may see."},
	}
}

func fileCalls() []HostCall {
	return []HostCall{
		{Name: CallFileRead, Effect: EffectRead, Key: "host:file.read:<call_id>", Request: asJSON, RequestType: CallFileReadRequest{},
			Answer: asJSON, AnswerType: CallFileReadAnswer{}, Limit: "8 MiB of a file at once, and half of what one call may pass",
			Doc: "Reads a file of the Task's Workspace, or a range of it."},
		{Name: CallFileWrite, Effect: EffectWrite, Durable: true, Request: asJSON, RequestType: CallFileWriteRequest{},
			Answer: asJSON, AnswerType: CallFileWriteAnswer{}, Limit: "files of 8 MiB, 1 GiB in a Workspace",
			Doc: "Writes a file of the Task's Workspace, whole or not at all. It happens once, also when the node dies meanwhile."},
		{Name: CallFileEdit, Effect: EffectWrite, Durable: true, Request: asJSON, RequestType: CallFileEditRequest{},
			Answer: asJSON, AnswerType: CallFileEditAnswer{}, Limit: "files of 8 MiB, before and after",
			Doc: "Replaces a text within a file of the Task's Workspace, by one change that happens once. A text that is not there, or more than once without `all`, is answered with CallInvalid and the code conflict."},
		{Name: CallFileList, Effect: EffectRead, Key: "host:file.list:<call_id>", Request: optional, RequestType: CallFileListRequest{},
			Answer: asJSON, AnswerType: CallFileListAnswer{}, Limit: "1,000 entries",
			Doc: "Lists a folder of the Task's Workspace, or all files below it, in the order of their paths' names."},
		{Name: CallFileRemove, Effect: EffectWrite, Durable: true, Request: asJSON, RequestType: CallFileRemoveRequest{},
			Answer: asJSON, AnswerType: CallFileRemoveAnswer{}, Limit: "1,000 files and folders in a folder",
			Doc: "Removes a file of the Task's Workspace, or a folder: one that is not empty only with `recursive`. A folder goes with its last file, unless somebody has made it by itself."},
		{Name: CallFileSearch, Effect: EffectRead, Key: "host:file.search:<call_id>", Request: asJSON, RequestType: CallFileSearchRequest{},
			Answer: asJSON, AnswerType: CallFileSearchAnswer{}, Limit: "1,000 matches, 32 MiB of content and 20,000 files at once",
			Doc: "Finds lines, or only names, in the files of the Task's Workspace. Content that is no text is left out, and so are files of more than 8 MiB. A search that takes more than 10 seconds goes on with `next`, too."},
	}
}

func skillCalls() []HostCall {
	return []HostCall{
		{Name: CallSkillRead, Effect: EffectRead, Key: "host:skill.read:<call_id>", Request: asJSON, RequestType: CallSkillReadRequest{},
			Answer: asJSON, AnswerType: CallSkillReadAnswer{}, Limit: "half of what one call may pass",
			Doc: "Reads a file of a skill that the Task has, as it was when the Task started, or the instructions of one that a client of its Session has. A file that is no text is not read."},
		{Name: CallSkillMatch, Effect: EffectRead, Key: "host:skill.match:<call_id>", Request: asJSON, RequestType: CallSkillMatchRequest{},
			Answer: asJSON, AnswerType: CallSkillMatchAnswer{}, Limit: "1,000 candidates",
			Doc: "Ranks skills by how well they fit a prompt and the files that are worked on: the node does, or a client of the Session when it is asked for and there is one. Without candidates it also lists the skills that the Task can read."},
	}
}

func stateCalls() []HostCall {
	return []HostCall{
		{Name: CallStateGet, Effect: EffectRead, Key: "host:state.get:<call_id>", Request: asJSON, RequestType: CallStateGetRequest{},
			Answer: asJSON, AnswerType: CallStateGetAnswer{},
			Doc: "Reads a value that this Session's Tasks have kept."},
		{Name: CallStateSet, Effect: EffectWrite, Durable: true, Request: asJSON, RequestType: CallStateSetRequest{}, Answer: nothing,
			Limit: "keys of 1 to 128 characters A-Z a-z 0-9 _ - .",
			Doc:   "Keeps a value for this Session's Tasks; null removes it. When the call returns, the value is on disk."},
	}
}

func waitCalls() []HostCall {
	return []HostCall{
		{Name: CallSleep, Effect: EffectWait, Durable: true, Request: asJSON, RequestType: CallSleepRequest{}, Answer: nothing,
			Doc: "Waits. The Task is parked meanwhile, also over a restart of the node."},
		{Name: CallInputRequest, Effect: EffectWait, Durable: true, Key: "host:input.request:<call_id>", Request: asJSON, RequestType: CallInputRequestRequest{},
			Answer: asJSON, AnswerType: CallInputRequestAnswer{},
			Doc: "Asks the user for input, or several questions at once: inputs, authorizations, approvals, samplings and roots. The Task is INPUT_REQUIRED until the answer comes."},
		{Name: CallAuthRequest, Effect: EffectWait, Durable: true, Key: "host:auth.request:<call_id>", Request: asJSON, RequestType: CallAuthRequestRequest{},
			Answer: asJSON, AnswerType: CallInputRequestAnswer{},
			Doc: "Asks the user to authorize something. The Task is AUTH_REQUIRED until it is answered. Credentials do not belong into the answer: the plugin and the record see it."},
		{Name: CallApprovalRequest, Effect: EffectWait, Durable: true, Key: "host:approval.request:<call_id>", Request: asJSON, RequestType: CallApprovalRequestRequest{},
			Answer: asJSON, AnswerType: CallApprovalAnswer{},
			Doc: "Asks for approval of an action. The Task is INPUT_REQUIRED until it is decided. The receipt names who decided."},
	}
}

func childCalls() []HostCall {
	return []HostCall{
		{Name: CallTaskSpawn, Effect: EffectWrite, Durable: true, Request: asJSON, RequestType: CallTaskSpawnRequest{},
			Answer: asJSON, AnswerType: CallTaskSpawnAnswer{}, Limit: "1,000 children of a Task, 8 generations",
			Doc: "Submits a child Task in the same Session. A crash does not submit it twice."},
		{Name: CallTaskAwait, Effect: EffectWait, Durable: true, Key: "host:task.await:<call_id>", Request: asJSON, RequestType: CallTaskAwaitRequest{},
			Answer: asJSON, AnswerType: CallTaskAwaitAnswer{},
			Doc: "Waits for a child Task to end."},
		{Name: CallHandoff, Effect: EffectWrite, Durable: true, Request: asJSON, RequestType: CallHandoffRequest{},
			Answer: asJSON, AnswerType: CallTaskSpawnAnswer{},
			Doc: "Hands work to another Persona: a child Task that the receipt names as a handoff."},
		{Name: CallAgentDelegate, Effect: EffectWrite, Durable: true, Key: "host:agent.delegate:<call_id>", Request: asJSON, RequestType: CallAgentDelegateRequest{},
			Answer: asJSON, AnswerType: CallAgentDelegateAnswer{}, Limit: "1 MiB of a request, and what the agent's `answer` says, 4 MiB unless it is set",
			Doc: "Has an agent outside do paid work, in the order that docs/delegation.md tells: its card proves that it keeps to a budget, its plan is approved, and then it is dispatched, once. " +
				"The Task is INPUT_REQUIRED until that is decided. Work that was done before by the same key is not dispatched again. It counts as a call of a tool."},
	}
}

func hostFactCalls() []HostCall {
	return []HostCall{
		{Name: CallEventEmit, Effect: EffectWrite, Request: asJSON, RequestType: CallEventEmitRequest{}, Answer: nothing,
			Doc: `Appends an event of a kind of the plugin's own: "vendor." and a name, or a reverse-DNS name. "vendor.wharf." is the host's.`},
		{Name: CallConfigGet, Effect: EffectRead, Key: "host:config.get:<name>", Request: asJSON, RequestType: CallConfigGetRequest{},
			Answer: asJSON, AnswerType: CallConfigGetAnswer{},
			Doc: "Reads what the operator has configured for this plugin."},
		{Name: CallHostFact, Effect: EffectRead, Key: "host:host.fact:<name>", Request: asJSON, RequestType: CallHostFactRequest{},
			Answer: asJSON, AnswerType: CallHostFactAnswer{},
			Doc: "Reads a fact about the host: wharf.version, abi.version, os, arch, tenant, workspace, session, task, deadline; and of the client that submitted the Task: " +
				"client.protocol, client.name, client.version, and client.capabilities, with commas between them. Each is empty where it is not known."},
	}
}

func connectorCalls() []HostCall {
	return []HostCall{
		{Name: CallDeliveries, Effect: EffectGiven, Request: nothing, Answer: asJSON, AnswerType: CallDeliveriesAnswer{},
			Doc: "The deliveries that a Connector's plugin is to normalize, and the Connector. In a Task there are none: CallNotFound."},
		{Name: CallNormalized, Effect: EffectWrite, Request: asJSON, RequestType: CallNormalizedRequest{}, Answer: nothing,
			Doc: "What the deliveries mean: Tasks, Messages, events, nothing, or a failure. Called once, outside of Tasks."},
		{Name: CallDeliver, Effect: EffectWrite, Durable: true, Request: asJSON, RequestType: CallDeliverRequest{},
			Answer: asJSON, AnswerType: CallDeliverAnswer{}, Limit: "1,000 deliveries",
			Doc: "Hands what a poll has found to the Task's Connector, which takes it as if it had been sent. What was found before is left out."},
	}
}
