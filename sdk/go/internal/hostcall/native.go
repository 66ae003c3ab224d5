//go:build !wasip1

package hostcall

import "sync"

// Host answers host calls in a native test.
type Host func(call string, request []byte) (status uint32, answer []byte)

var (
	serving sync.Mutex // held while a host is in place
	host    Host
)

// Serve runs f with the given host in place. Calls of Serve wait for each other.
func Serve(h Host, f func()) {
	serving.Lock()
	defer serving.Unlock()
	host = h
	defer func() { host = nil }()
	f()
}

func call(name string, request []byte) (uint32, []byte) {
	if host == nil {
		return Unavailable, []byte(`{"code":"no_host","message":"there is no host: run the handler with wharftest"}`)
	}
	return host(name, request)
}

// Input makes the host call "input".
func Input(request []byte) (uint32, []byte) { return call(NameInput, request) }

// Output makes the host call "output".
func Output(request []byte) (uint32, []byte) { return call(NameOutput, request) }

// Clock makes the host call "clock".
func Clock(request []byte) (uint32, []byte) { return call(NameClock, request) }

// Random makes the host call "random".
func Random(request []byte) (uint32, []byte) { return call(NameRandom, request) }

// ID makes the host call "id".
func ID(request []byte) (uint32, []byte) { return call(NameID, request) }

// Sleep makes the host call "sleep".
func Sleep(request []byte) (uint32, []byte) { return call(NameSleep, request) }

// Log makes the host call "log".
func Log(request []byte) (uint32, []byte) { return call(NameLog, request) }

// Progress makes the host call "progress".
func Progress(request []byte) (uint32, []byte) { return call(NameProgress, request) }

// Plan makes the host call "plan".
func Plan(request []byte) (uint32, []byte) { return call(NamePlan, request) }

// AgentEvent makes the host call "agent.event".
func AgentEvent(request []byte) (uint32, []byte) { return call(NameAgentEvent, request) }

// CompositionBegin makes the host call "composition.begin".
func CompositionBegin(request []byte) (uint32, []byte) { return call(NameCompositionBegin, request) }

// CompositionEnd makes the host call "composition.end".
func CompositionEnd(request []byte) (uint32, []byte) { return call(NameCompositionEnd, request) }

// PlanSet makes the host call "plan.set".
func PlanSet(request []byte) (uint32, []byte) { return call(NamePlanSet, request) }

// PlanGet makes the host call "plan.get".
func PlanGet(request []byte) (uint32, []byte) { return call(NamePlanGet, request) }

// InboxTake makes the host call "inbox.take".
func InboxTake(request []byte) (uint32, []byte) { return call(NameInboxTake, request) }

// MessageAppend makes the host call "message.append".
func MessageAppend(request []byte) (uint32, []byte) { return call(NameMessageAppend, request) }

// MessageDelta makes the host call "message.delta".
func MessageDelta(request []byte) (uint32, []byte) { return call(NameMessageDelta, request) }

// TranscriptRead makes the host call "transcript.read".
func TranscriptRead(request []byte) (uint32, []byte) { return call(NameTranscriptRead, request) }

// LLMComplete makes the host call "llm.complete".
func LLMComplete(request []byte) (uint32, []byte) { return call(NameLLMComplete, request) }

// ToolList makes the host call "tool.list".
func ToolList(request []byte) (uint32, []byte) { return call(NameToolList, request) }

// ToolCall makes the host call "tool.call".
func ToolCall(request []byte) (uint32, []byte) { return call(NameToolCall, request) }

// ResourceList makes the host call "resource.list".
func ResourceList(request []byte) (uint32, []byte) { return call(NameResourceList, request) }

// ResourceRead makes the host call "resource.read".
func ResourceRead(request []byte) (uint32, []byte) { return call(NameResourceRead, request) }

// PromptGet makes the host call "prompt.get".
func PromptGet(request []byte) (uint32, []byte) { return call(NamePromptGet, request) }

// HTTPFetch makes the host call "http.fetch".
func HTTPFetch(request []byte) (uint32, []byte) { return call(NameHTTPFetch, request) }

// MemoryQuery makes the host call "memory.query".
func MemoryQuery(request []byte) (uint32, []byte) { return call(NameMemoryQuery, request) }

// MemoryWrite makes the host call "memory.write".
func MemoryWrite(request []byte) (uint32, []byte) { return call(NameMemoryWrite, request) }

// BlockList makes the host call "block.list".
func BlockList(request []byte) (uint32, []byte) { return call(NameBlockList, request) }

// BlockWrite makes the host call "block.write".
func BlockWrite(request []byte) (uint32, []byte) { return call(NameBlockWrite, request) }

// SecretUse makes the host call "secret.use".
func SecretUse(request []byte) (uint32, []byte) { return call(NameSecretUse, request) }

// ArtifactPut makes the host call "artifact.put".
func ArtifactPut(request []byte) (uint32, []byte) { return call(NameArtifactPut, request) }

// ArtifactGet makes the host call "artifact.get".
func ArtifactGet(request []byte) (uint32, []byte) { return call(NameArtifactGet, request) }

// FileRead makes the host call "file.read".
func FileRead(request []byte) (uint32, []byte) { return call(NameFileRead, request) }

// FileWrite makes the host call "file.write".
func FileWrite(request []byte) (uint32, []byte) { return call(NameFileWrite, request) }

// FileEdit makes the host call "file.edit".
func FileEdit(request []byte) (uint32, []byte) { return call(NameFileEdit, request) }

// FileList makes the host call "file.list".
func FileList(request []byte) (uint32, []byte) { return call(NameFileList, request) }

// FileRemove makes the host call "file.remove".
func FileRemove(request []byte) (uint32, []byte) { return call(NameFileRemove, request) }

// FileSearch makes the host call "file.search".
func FileSearch(request []byte) (uint32, []byte) { return call(NameFileSearch, request) }

// SkillRead makes the host call "skill.read".
func SkillRead(request []byte) (uint32, []byte) { return call(NameSkillRead, request) }

// SkillMatch makes the host call "skill.match".
func SkillMatch(request []byte) (uint32, []byte) { return call(NameSkillMatch, request) }

// StateGet makes the host call "state.get".
func StateGet(request []byte) (uint32, []byte) { return call(NameStateGet, request) }

// StateSet makes the host call "state.set".
func StateSet(request []byte) (uint32, []byte) { return call(NameStateSet, request) }

// InputRequest makes the host call "input.request".
func InputRequest(request []byte) (uint32, []byte) { return call(NameInputRequest, request) }

// AuthRequest makes the host call "auth.request".
func AuthRequest(request []byte) (uint32, []byte) { return call(NameAuthRequest, request) }

// ApprovalRequest makes the host call "approval.request".
func ApprovalRequest(request []byte) (uint32, []byte) { return call(NameApprovalRequest, request) }

// TaskSpawn makes the host call "task.spawn".
func TaskSpawn(request []byte) (uint32, []byte) { return call(NameTaskSpawn, request) }

// TaskAwait makes the host call "task.await".
func TaskAwait(request []byte) (uint32, []byte) { return call(NameTaskAwait, request) }

// Handoff makes the host call "handoff".
func Handoff(request []byte) (uint32, []byte) { return call(NameHandoff, request) }

// AgentDelegate makes the host call "agent.delegate".
func AgentDelegate(request []byte) (uint32, []byte) { return call(NameAgentDelegate, request) }

// EventEmit makes the host call "event.emit".
func EventEmit(request []byte) (uint32, []byte) { return call(NameEventEmit, request) }

// ConfigGet makes the host call "config.get".
func ConfigGet(request []byte) (uint32, []byte) { return call(NameConfigGet, request) }

// HostFact makes the host call "host.fact".
func HostFact(request []byte) (uint32, []byte) { return call(NameHostFact, request) }

// Deliveries makes the host call "connector.deliveries".
func Deliveries(request []byte) (uint32, []byte) { return call(NameDeliveries, request) }

// Normalized makes the host call "connector.normalized".
func Normalized(request []byte) (uint32, []byte) { return call(NameNormalized, request) }

// Deliver makes the host call "connector.deliver".
func Deliver(request []byte) (uint32, []byte) { return call(NameDeliver, request) }
