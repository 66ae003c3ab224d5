package abi

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
	EffectLocal Effect = "local" // known to the host alone: clock, randomness, what was submitted
	EffectRead  Effect = "read"  // observes something outside the Task
	EffectWrite Effect = "write" // changes something outside the plugin
	EffectHint  Effect = "hint"  // telemetry, which no replay depends on
)

// HostCall defines one host call. A plugin imports it under Name from
// [HostModule] as (ptr u32, len u32) -> u64: the request lies at ptr, and the
// result holds a [CallStatus] in its upper and the length of the answer in its
// lower 32 bits. The plugin's import section is its list of capabilities.
type HostCall struct {
	Name    string
	Effect  Effect
	Request string // what the request bytes are
	Answer  string // what the answer bytes are
	Doc     string
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
)

// CallError is the answer that comes with any status but [CallOK].
type CallError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// The names of the host calls.
const (
	CallInput         = "input"
	CallOutput        = "output"
	CallMessageAppend = "message.append"
	CallLog           = "log"
	CallProgress      = "progress"
	CallClock         = "clock"
	CallRandom        = "random"
	CallArtifactPut   = "artifact.put"
	CallArtifactGet   = "artifact.get"
)

// HostCalls defines every host call there is, by name.
func HostCalls() []HostCall {
	return []HostCall{
		{CallInput, EffectLocal, "empty", "JSON, a CallInputAnswer",
			"What the Task was submitted with, and the Task itself."},
		{CallOutput, EffectWrite, "JSON, a CallOutputRequest", "empty",
			"What the Task results in. Called once; a second call is answered with CallInvalid."},
		{CallMessageAppend, EffectWrite, "JSON, a MessageInput", `JSON {"message_id": "..."}`,
			"Appends a Message to the Session's transcript. It becomes visible when the Task ends."},
		{CallLog, EffectHint, "JSON, a CallLogRequest", "empty",
			"Writes a line to the Task's event stream."},
		{CallProgress, EffectHint, "JSON, a CallProgressRequest", "empty",
			"Tells watchers how far the Task is."},
		{CallClock, EffectLocal, "empty", `JSON {"unix_nano": "..."}, a decimal string`,
			"Reads the wall clock."},
		{CallRandom, EffectLocal, "4 bytes, little-endian: how many bytes, at most 65,536", "that many random bytes",
			"Reads randomness fit for keys."},
		{CallArtifactPut, EffectWrite, "a line of JSON, a CallArtifactPutRequest, a newline, then the content", `JSON {"artifact_id": "...", "sha256": "..."}`,
			"Stores an Artifact of this Task. It becomes visible when the Task ends."},
		{CallArtifactGet, EffectRead, "JSON, a CallArtifactGetRequest", "the bytes; fewer than asked for only at the end",
			"Reads a range of an Artifact's content that the Task's tenant and Workspace may see."},
	}
}

// CallInputAnswer answers [CallInput].
type CallInputAnswer struct {
	Task      Task    `json:"task"` // Task.Input holds what was submitted
	Persona   Persona `json:"persona"`
	SessionID string  `json:"session_id"`
}

// CallOutputRequest is the request of [CallOutput]. With Failure set the Task
// fails, whatever the export returns.
type CallOutputRequest struct {
	Summary string             `json:"summary"`
	Metrics map[string]float64 `json:"metrics,omitzero"`
	Failure *Failure           `json:"failure,omitzero"`
}

// CallLogRequest is the request of [CallLog].
type CallLogRequest struct {
	Level   string `json:"level"` // debug, info, warn or error
	Message string `json:"message"`
}

// CallProgressRequest is the request of [CallProgress].
type CallProgressRequest struct {
	Fraction float64 `json:"fraction"` // 0 to 1
	Message  string  `json:"message,omitzero"`
}

// CallArtifactPutRequest is the first line of the request of [CallArtifactPut].
type CallArtifactPutRequest struct {
	Kind       ArtifactKind `json:"kind"`
	MimeType   string       `json:"mime_type"`
	Visibility Visibility   `json:"visibility,omitzero"` // default public
	Name       string       `json:"name,omitzero"`
}

// CallArtifactGetRequest is the request of [CallArtifactGet]. A Length of 0
// reads to the end, as far as the payload limit goes.
type CallArtifactGetRequest struct {
	ArtifactID string `json:"artifact_id"`
	Offset     int64  `json:"offset,omitzero"`
	Length     int64  `json:"length,omitzero"`
}
