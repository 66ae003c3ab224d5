//go:build wasip1

package hostcall

import (
	"runtime"
	"unsafe"
)

//go:wasmimport wharf read
func hostRead(ptr unsafe.Pointer, size uint32) uint32

//go:wasmimport wharf input
func hostInput(ptr unsafe.Pointer, size uint32) uint64

//go:wasmimport wharf output
func hostOutput(ptr unsafe.Pointer, size uint32) uint64

//go:wasmimport wharf clock
func hostClock(ptr unsafe.Pointer, size uint32) uint64

//go:wasmimport wharf random
func hostRandom(ptr unsafe.Pointer, size uint32) uint64

//go:wasmimport wharf id
func hostID(ptr unsafe.Pointer, size uint32) uint64

//go:wasmimport wharf sleep
func hostSleep(ptr unsafe.Pointer, size uint32) uint64

//go:wasmimport wharf log
func hostLog(ptr unsafe.Pointer, size uint32) uint64

//go:wasmimport wharf progress
func hostProgress(ptr unsafe.Pointer, size uint32) uint64

//go:wasmimport wharf plan
func hostPlan(ptr unsafe.Pointer, size uint32) uint64

//go:wasmimport wharf agent.event
func hostAgentEvent(ptr unsafe.Pointer, size uint32) uint64

//go:wasmimport wharf composition.begin
func hostCompositionBegin(ptr unsafe.Pointer, size uint32) uint64

//go:wasmimport wharf composition.end
func hostCompositionEnd(ptr unsafe.Pointer, size uint32) uint64

//go:wasmimport wharf plan.set
func hostPlanSet(ptr unsafe.Pointer, size uint32) uint64

//go:wasmimport wharf plan.get
func hostPlanGet(ptr unsafe.Pointer, size uint32) uint64

//go:wasmimport wharf inbox.take
func hostInboxTake(ptr unsafe.Pointer, size uint32) uint64

//go:wasmimport wharf message.append
func hostMessageAppend(ptr unsafe.Pointer, size uint32) uint64

//go:wasmimport wharf message.delta
func hostMessageDelta(ptr unsafe.Pointer, size uint32) uint64

//go:wasmimport wharf transcript.read
func hostTranscriptRead(ptr unsafe.Pointer, size uint32) uint64

//go:wasmimport wharf llm.complete
func hostLLMComplete(ptr unsafe.Pointer, size uint32) uint64

//go:wasmimport wharf tool.list
func hostToolList(ptr unsafe.Pointer, size uint32) uint64

//go:wasmimport wharf tool.call
func hostToolCall(ptr unsafe.Pointer, size uint32) uint64

//go:wasmimport wharf resource.list
func hostResourceList(ptr unsafe.Pointer, size uint32) uint64

//go:wasmimport wharf resource.read
func hostResourceRead(ptr unsafe.Pointer, size uint32) uint64

//go:wasmimport wharf prompt.get
func hostPromptGet(ptr unsafe.Pointer, size uint32) uint64

//go:wasmimport wharf http.fetch
func hostHTTPFetch(ptr unsafe.Pointer, size uint32) uint64

//go:wasmimport wharf memory.query
func hostMemoryQuery(ptr unsafe.Pointer, size uint32) uint64

//go:wasmimport wharf memory.write
func hostMemoryWrite(ptr unsafe.Pointer, size uint32) uint64

//go:wasmimport wharf block.list
func hostBlockList(ptr unsafe.Pointer, size uint32) uint64

//go:wasmimport wharf block.write
func hostBlockWrite(ptr unsafe.Pointer, size uint32) uint64

//go:wasmimport wharf secret.use
func hostSecretUse(ptr unsafe.Pointer, size uint32) uint64

//go:wasmimport wharf artifact.put
func hostArtifactPut(ptr unsafe.Pointer, size uint32) uint64

//go:wasmimport wharf artifact.get
func hostArtifactGet(ptr unsafe.Pointer, size uint32) uint64

//go:wasmimport wharf file.read
func hostFileRead(ptr unsafe.Pointer, size uint32) uint64

//go:wasmimport wharf file.write
func hostFileWrite(ptr unsafe.Pointer, size uint32) uint64

//go:wasmimport wharf file.edit
func hostFileEdit(ptr unsafe.Pointer, size uint32) uint64

//go:wasmimport wharf file.list
func hostFileList(ptr unsafe.Pointer, size uint32) uint64

//go:wasmimport wharf file.remove
func hostFileRemove(ptr unsafe.Pointer, size uint32) uint64

//go:wasmimport wharf file.search
func hostFileSearch(ptr unsafe.Pointer, size uint32) uint64

//go:wasmimport wharf skill.read
func hostSkillRead(ptr unsafe.Pointer, size uint32) uint64

//go:wasmimport wharf skill.match
func hostSkillMatch(ptr unsafe.Pointer, size uint32) uint64

//go:wasmimport wharf state.get
func hostStateGet(ptr unsafe.Pointer, size uint32) uint64

//go:wasmimport wharf state.set
func hostStateSet(ptr unsafe.Pointer, size uint32) uint64

//go:wasmimport wharf input.request
func hostInputRequest(ptr unsafe.Pointer, size uint32) uint64

//go:wasmimport wharf auth.request
func hostAuthRequest(ptr unsafe.Pointer, size uint32) uint64

//go:wasmimport wharf approval.request
func hostApprovalRequest(ptr unsafe.Pointer, size uint32) uint64

//go:wasmimport wharf task.spawn
func hostTaskSpawn(ptr unsafe.Pointer, size uint32) uint64

//go:wasmimport wharf task.await
func hostTaskAwait(ptr unsafe.Pointer, size uint32) uint64

//go:wasmimport wharf handoff
func hostHandoff(ptr unsafe.Pointer, size uint32) uint64

//go:wasmimport wharf agent.delegate
func hostAgentDelegate(ptr unsafe.Pointer, size uint32) uint64

//go:wasmimport wharf event.emit
func hostEventEmit(ptr unsafe.Pointer, size uint32) uint64

//go:wasmimport wharf config.get
func hostConfigGet(ptr unsafe.Pointer, size uint32) uint64

//go:wasmimport wharf host.fact
func hostHostFact(ptr unsafe.Pointer, size uint32) uint64

//go:wasmimport wharf connector.deliveries
func hostDeliveries(ptr unsafe.Pointer, size uint32) uint64

//go:wasmimport wharf connector.normalized
func hostNormalized(ptr unsafe.Pointer, size uint32) uint64

//go:wasmimport wharf connector.deliver
func hostDeliver(ptr unsafe.Pointer, size uint32) uint64

// Input makes the host call "input".
func Input(request []byte) (uint32, []byte) { return call(hostInput, request) }

// Output makes the host call "output".
func Output(request []byte) (uint32, []byte) { return call(hostOutput, request) }

// Clock makes the host call "clock".
func Clock(request []byte) (uint32, []byte) { return call(hostClock, request) }

// Random makes the host call "random".
func Random(request []byte) (uint32, []byte) { return call(hostRandom, request) }

// ID makes the host call "id".
func ID(request []byte) (uint32, []byte) { return call(hostID, request) }

// Sleep makes the host call "sleep".
func Sleep(request []byte) (uint32, []byte) { return call(hostSleep, request) }

// Log makes the host call "log".
func Log(request []byte) (uint32, []byte) { return call(hostLog, request) }

// Progress makes the host call "progress".
func Progress(request []byte) (uint32, []byte) { return call(hostProgress, request) }

// Plan makes the host call "plan".
func Plan(request []byte) (uint32, []byte) { return call(hostPlan, request) }

// AgentEvent makes the host call "agent.event".
func AgentEvent(request []byte) (uint32, []byte) { return call(hostAgentEvent, request) }

// CompositionBegin makes the host call "composition.begin".
func CompositionBegin(request []byte) (uint32, []byte) { return call(hostCompositionBegin, request) }

// CompositionEnd makes the host call "composition.end".
func CompositionEnd(request []byte) (uint32, []byte) { return call(hostCompositionEnd, request) }

// PlanSet makes the host call "plan.set".
func PlanSet(request []byte) (uint32, []byte) { return call(hostPlanSet, request) }

// PlanGet makes the host call "plan.get".
func PlanGet(request []byte) (uint32, []byte) { return call(hostPlanGet, request) }

// InboxTake makes the host call "inbox.take".
func InboxTake(request []byte) (uint32, []byte) { return call(hostInboxTake, request) }

// MessageAppend makes the host call "message.append".
func MessageAppend(request []byte) (uint32, []byte) { return call(hostMessageAppend, request) }

// MessageDelta makes the host call "message.delta".
func MessageDelta(request []byte) (uint32, []byte) { return call(hostMessageDelta, request) }

// TranscriptRead makes the host call "transcript.read".
func TranscriptRead(request []byte) (uint32, []byte) { return call(hostTranscriptRead, request) }

// LLMComplete makes the host call "llm.complete".
func LLMComplete(request []byte) (uint32, []byte) { return call(hostLLMComplete, request) }

// ToolList makes the host call "tool.list".
func ToolList(request []byte) (uint32, []byte) { return call(hostToolList, request) }

// ToolCall makes the host call "tool.call".
func ToolCall(request []byte) (uint32, []byte) { return call(hostToolCall, request) }

// ResourceList makes the host call "resource.list".
func ResourceList(request []byte) (uint32, []byte) { return call(hostResourceList, request) }

// ResourceRead makes the host call "resource.read".
func ResourceRead(request []byte) (uint32, []byte) { return call(hostResourceRead, request) }

// PromptGet makes the host call "prompt.get".
func PromptGet(request []byte) (uint32, []byte) { return call(hostPromptGet, request) }

// HTTPFetch makes the host call "http.fetch".
func HTTPFetch(request []byte) (uint32, []byte) { return call(hostHTTPFetch, request) }

// MemoryQuery makes the host call "memory.query".
func MemoryQuery(request []byte) (uint32, []byte) { return call(hostMemoryQuery, request) }

// MemoryWrite makes the host call "memory.write".
func MemoryWrite(request []byte) (uint32, []byte) { return call(hostMemoryWrite, request) }

// BlockList makes the host call "block.list".
func BlockList(request []byte) (uint32, []byte) { return call(hostBlockList, request) }

// BlockWrite makes the host call "block.write".
func BlockWrite(request []byte) (uint32, []byte) { return call(hostBlockWrite, request) }

// SecretUse makes the host call "secret.use".
func SecretUse(request []byte) (uint32, []byte) { return call(hostSecretUse, request) }

// ArtifactPut makes the host call "artifact.put".
func ArtifactPut(request []byte) (uint32, []byte) { return call(hostArtifactPut, request) }

// ArtifactGet makes the host call "artifact.get".
func ArtifactGet(request []byte) (uint32, []byte) { return call(hostArtifactGet, request) }

// FileRead makes the host call "file.read".
func FileRead(request []byte) (uint32, []byte) { return call(hostFileRead, request) }

// FileWrite makes the host call "file.write".
func FileWrite(request []byte) (uint32, []byte) { return call(hostFileWrite, request) }

// FileEdit makes the host call "file.edit".
func FileEdit(request []byte) (uint32, []byte) { return call(hostFileEdit, request) }

// FileList makes the host call "file.list".
func FileList(request []byte) (uint32, []byte) { return call(hostFileList, request) }

// FileRemove makes the host call "file.remove".
func FileRemove(request []byte) (uint32, []byte) { return call(hostFileRemove, request) }

// FileSearch makes the host call "file.search".
func FileSearch(request []byte) (uint32, []byte) { return call(hostFileSearch, request) }

// SkillRead makes the host call "skill.read".
func SkillRead(request []byte) (uint32, []byte) { return call(hostSkillRead, request) }

// SkillMatch makes the host call "skill.match".
func SkillMatch(request []byte) (uint32, []byte) { return call(hostSkillMatch, request) }

// StateGet makes the host call "state.get".
func StateGet(request []byte) (uint32, []byte) { return call(hostStateGet, request) }

// StateSet makes the host call "state.set".
func StateSet(request []byte) (uint32, []byte) { return call(hostStateSet, request) }

// InputRequest makes the host call "input.request".
func InputRequest(request []byte) (uint32, []byte) { return call(hostInputRequest, request) }

// AuthRequest makes the host call "auth.request".
func AuthRequest(request []byte) (uint32, []byte) { return call(hostAuthRequest, request) }

// ApprovalRequest makes the host call "approval.request".
func ApprovalRequest(request []byte) (uint32, []byte) { return call(hostApprovalRequest, request) }

// TaskSpawn makes the host call "task.spawn".
func TaskSpawn(request []byte) (uint32, []byte) { return call(hostTaskSpawn, request) }

// TaskAwait makes the host call "task.await".
func TaskAwait(request []byte) (uint32, []byte) { return call(hostTaskAwait, request) }

// Handoff makes the host call "handoff".
func Handoff(request []byte) (uint32, []byte) { return call(hostHandoff, request) }

// AgentDelegate makes the host call "agent.delegate".
func AgentDelegate(request []byte) (uint32, []byte) { return call(hostAgentDelegate, request) }

// EventEmit makes the host call "event.emit".
func EventEmit(request []byte) (uint32, []byte) { return call(hostEventEmit, request) }

// ConfigGet makes the host call "config.get".
func ConfigGet(request []byte) (uint32, []byte) { return call(hostConfigGet, request) }

// HostFact makes the host call "host.fact".
func HostFact(request []byte) (uint32, []byte) { return call(hostHostFact, request) }

// Deliveries makes the host call "connector.deliveries".
func Deliveries(request []byte) (uint32, []byte) { return call(hostDeliveries, request) }

// Normalized makes the host call "connector.normalized".
func Normalized(request []byte) (uint32, []byte) { return call(hostNormalized, request) }

// Deliver makes the host call "connector.deliver".
func Deliver(request []byte) (uint32, []byte) { return call(hostDeliver, request) }

// call makes a host call and fetches its answer. The status is in the upper and
// the length of the answer in the lower 32 bits of the result.
func call(host func(unsafe.Pointer, uint32) uint64, request []byte) (uint32, []byte) {
	result := host(unsafe.Pointer(unsafe.SliceData(request)), uint32(len(request)))
	runtime.KeepAlive(request)
	size := uint32(result)
	if size == 0 {
		return uint32(result >> 32), nil
	}
	answer := make([]byte, size)
	size = hostRead(unsafe.Pointer(unsafe.SliceData(answer)), size)
	return uint32(result >> 32), answer[:size]
}
