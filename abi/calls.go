package abi

import "github.com/go-json-experiment/json/jsontext"

// CallLabel is the request of calls that take nothing but a name for themselves.
// In every request, call_id is what an override key calls this call; it is to be
// unique among the Task's calls of that kind.
type CallLabel struct {
	CallID string `json:"call_id,omitzero"`
}

// CallInputAnswer answers [CallInput].
type CallInputAnswer struct {
	Task      Task    `json:"task"` // as it was accepted; Task.Input holds what was submitted
	Persona   Persona `json:"persona"`
	SessionID string  `json:"session_id"`
	// Skills are those that the Task has, as they were when it started. Their files are read by
	// [CallSkillRead].
	Skills []InputSkill `json:"skills,omitzero"`
}

// CallOutputRequest is the request of [CallOutput]. With Failure set the Task
// fails, whatever the export returns.
type CallOutputRequest struct {
	Summary string             `json:"summary"`
	Metrics map[string]float64 `json:"metrics,omitzero"`
	Failure *Failure           `json:"failure,omitzero"`
	// Stopped says that the Task ends before its work is done, and not because it has failed. Then
	// Handoff, an object, says how things stand for whoever goes on.
	Stopped bool           `json:"stopped,omitzero"`
	Handoff jsontext.Value `json:"handoff,omitzero"`
	// StopReason says why the model has stopped whose answer the summary is of: [StopLength] if it was cut
	// off. Absent: nothing is said.
	StopReason StopReason `json:"stop_reason,omitzero"`
}

// MaxHandoff is the largest handoff summary of an output, in bytes.
const MaxHandoff = 64 << 10

// Check refuses an output that says two things at once.
func (o *CallOutputRequest) Check() *Error {
	switch {
	case o.Failure != nil && o.Failure.Code == "":
		return InvalidParam("failure.code", "a failure needs a code")
	case o.StopReason != "" && !o.StopReason.Known():
		return InvalidParam("stop_reason", "a model has stopped for one of end, tools, length and refusal")
	case o.Failure != nil && o.Stopped:
		return InvalidParam("stopped", "a task has failed or was stopped, and not both")
	case o.Stopped != (len(o.Handoff) > 0), o.Stopped && o.Handoff.Kind() != '{':
		return InvalidParam("handoff", "what was stopped has a handoff, which is an object, and nothing else has")
	case len(o.Handoff) > MaxHandoff || TooDeep(o.Handoff, MaxToldDepth) >= 0:
		return InvalidParam("handoff", "a handoff has at most %d bytes and nests %d levels deep", MaxHandoff, MaxToldDepth)
	}
	return nil
}

// CallClockAnswer answers [CallClock].
type CallClockAnswer struct {
	UnixNano string `json:"unix_nano"` // a decimal string
}

// CallIDAnswer answers [CallID].
type CallIDAnswer struct {
	ID string `json:"id"`
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

// CallPlanRequest is the request of [CallPlan].
type CallPlanRequest struct {
	Steps []PlanStep `json:"steps"`
}

// PlanStep is one step of a plan.
type PlanStep struct {
	Title  string `json:"title"`
	Status string `json:"status"` // pending, in_progress, completed or skipped
}

// CallPlanSetRequest is the request of [CallPlanSet].
type CallPlanSetRequest struct {
	Steps []PlannedStep `json:"steps" maxItems:"200"`
	// Version is that of the plan which is to be replaced, 0 for none; left out for whatever is
	// there. When somebody has changed it meanwhile, nothing happens, and the call is refused with
	// the code plan_changed.
	Version *int64 `json:"version,omitzero"`
}

// CallPlanGetRequest is the request of [CallPlanGet].
type CallPlanGetRequest struct {
	CallID string `json:"call_id,omitzero"`
}

// CallPlanAnswer answers [CallPlanSet] and [CallPlanGet]: the plan as it is now.
type CallPlanAnswer struct {
	Version   int64         `json:"version"`             // 0 for no plan
	ChangedBy string        `json:"changed_by,omitzero"` // the actor of the last change
	Steps     []PlannedStep `json:"steps"`               // each with its id
}

// CallMessageAppendAnswer answers [CallMessageAppend].
type CallMessageAppendAnswer struct {
	MessageID string `json:"message_id"`
}

// CallMessageDeltaRequest is the request of [CallMessageDelta].
type CallMessageDeltaRequest struct {
	Text string `json:"text"`
}

// MessageDelta is what [EventMessageDelta] tells: the next piece of a text that a model or a plugin
// is writing. Pieces of one text have one MessageID and Attempt. Events of before have Text alone.
type MessageDelta struct {
	Text string `json:"text"`
	// MessageID is the id of the Message of the assistant with this text, once the plugin has appended
	// one.
	MessageID string `json:"message_id"`
	// Offset is how many bytes of the text, as UTF-8, come before this piece. A piece that begins before
	// the end of what was told repeats it: the text is written again.
	Offset int `json:"offset"`
	// Index is that of the call that the text answers; where a plugin writes by itself, of the call
	// that follows.
	Index int `json:"index"`
	// Attempt is which start of the Task has told it. A text is told from its beginning again under
	// a higher one when the node has died before the text was recorded.
	Attempt int `json:"attempt"`
}

// ReasoningDelta is what [EventReasoningDelta] tells: the next piece of what a model thinks before it
// answers, to keys with events:internal. It is no part of the record, and nothing keeps it whole.
type ReasoningDelta struct {
	Type       string     `json:"type"` // reasoning
	Visibility Visibility `json:"visibility"`
	Text       string     `json:"text,omitzero"`
	Redacted   bool       `json:"redacted,omitzero"` // what it says is withheld
}

// ReasoningOf returns what tells a piece.
func ReasoningOf(text string) *ReasoningDelta {
	return &ReasoningDelta{Type: "reasoning", Visibility: VisibilityInternal, Text: text}
}

// CallTranscriptReadRequest is the request of [CallTranscriptRead]. Last asks for
// the newest so many Messages; 0 for 50.
type CallTranscriptReadRequest struct {
	CallID string `json:"call_id,omitzero"`
	Last   int    `json:"last,omitzero"`
}

// CallTranscriptReadAnswer answers [CallTranscriptRead]. Earlier says that there
// are Messages before these. Unreadable has the ids of those that are left out, for
// what is stored of them cannot be read.
type CallTranscriptReadAnswer struct {
	Messages   []Message `json:"messages"`
	Earlier    bool      `json:"earlier,omitzero"`
	Unreadable []string  `json:"unreadable,omitzero"`
}

// CallToolListRequest is the request of [CallToolList]. An empty Server lists
// those of all.
type CallToolListRequest struct {
	CallID string `json:"call_id,omitzero"`
	Server string `json:"server,omitzero"`
}

// CallToolListAnswer answers [CallToolList].
type CallToolListAnswer struct {
	Tools []Tool `json:"tools"`
}

// Tool describes a tool that a plugin may call. The hints are what the tool says
// of itself (Model Context Protocol, tool annotations).
type Tool struct {
	Server      string         `json:"server"`
	Name        string         `json:"name"`
	Description string         `json:"description,omitzero"`
	InputSchema jsontext.Value `json:"input_schema,omitzero"`
	ReadOnly    bool           `json:"read_only,omitzero"`
	Idempotent  bool           `json:"idempotent,omitzero"`
	Destructive bool           `json:"destructive,omitzero"`
	OpenWorld   bool           `json:"open_world,omitzero"` // it reaches what is not its server's own
	Deprecated  bool           `json:"deprecated,omitzero"` // whoever offers it would rather have another called
}

// CallToolCallRequest is the request of [CallToolCall].
type CallToolCallRequest struct {
	CallID    string         `json:"call_id,omitzero"`
	Server    string         `json:"server"`
	Name      string         `json:"name"`
	Arguments jsontext.Value `json:"arguments,omitzero"` // a JSON object
	// CompositionID is that of the composition which the call is a child of. The one that is open has all calls as
	// its children, named or not: a call that names another is refused.
	CompositionID string `json:"composition_id,omitzero"`
}

// CallToolCallAnswer answers [CallToolCall]. A tool that failed by its own word
// answers with IsError; the call itself is then still [CallOK].
type CallToolCallAnswer struct {
	Content    []ToolContent  `json:"content"`
	Structured jsontext.Value `json:"structured,omitzero"`
	IsError    bool           `json:"is_error,omitzero"`
}

// ToolContent is one block of a tool's answer. Type is text, image, audio or
// resource.
type ToolContent struct {
	Type     string `json:"type"`
	Text     string `json:"text,omitzero"`
	Data     []byte `json:"data,omitzero"` // base64
	MimeType string `json:"mime_type,omitzero"`
	URI      string `json:"uri,omitzero"`
}

// ResourceKind is what [CallResourceList] lists.
type ResourceKind string

// The kinds of what a server of tools has besides tools.
const (
	KindResource ResourceKind = "resource"
	KindTemplate ResourceKind = "template"
	KindPrompt   ResourceKind = "prompt"
)

// CallResourceListRequest is the request of [CallResourceList]. No Kind is [KindResource].
type CallResourceListRequest struct {
	CallID string       `json:"call_id,omitzero"`
	Server string       `json:"server"`
	Kind   ResourceKind `json:"kind,omitzero"`
}

// CallResourceListAnswer answers [CallResourceList]: the list of the kind that was asked for.
type CallResourceListAnswer struct {
	Resources []Resource         `json:"resources,omitzero"`
	Templates []ResourceTemplate `json:"templates,omitzero"`
	Prompts   []Prompt           `json:"prompts,omitzero"`
}

// Resource describes a resource of a server of tools: what its URI names can be read.
type Resource struct {
	URI         string `json:"uri"`
	Name        string `json:"name"`
	Title       string `json:"title,omitzero"`
	Description string `json:"description,omitzero"`
	MimeType    string `json:"mime_type,omitzero"`
	Size        int64  `json:"size,omitzero"` // in bytes, when the server says it
}

// ResourceTemplate describes resources whose URIs have a form (RFC 6570).
type ResourceTemplate struct {
	URITemplate string `json:"uri_template"`
	Name        string `json:"name"`
	Title       string `json:"title,omitzero"`
	Description string `json:"description,omitzero"`
	MimeType    string `json:"mime_type,omitzero"`
}

// Prompt describes a prompt of a server of tools.
type Prompt struct {
	Name        string           `json:"name"`
	Title       string           `json:"title,omitzero"`
	Description string           `json:"description,omitzero"`
	Arguments   []PromptArgument `json:"arguments,omitzero"`
}

// PromptArgument describes an argument of a [Prompt].
type PromptArgument struct {
	Name        string `json:"name"`
	Title       string `json:"title,omitzero"`
	Description string `json:"description,omitzero"`
	Required    bool   `json:"required,omitzero"`
}

// CallResourceReadRequest is the request of [CallResourceRead].
type CallResourceReadRequest struct {
	CallID string `json:"call_id,omitzero"`
	Server string `json:"server"`
	URI    string `json:"uri"`
}

// CallResourceReadAnswer answers [CallResourceRead]. One URI may name several contents.
type CallResourceReadAnswer struct {
	Contents []ResourceContent `json:"contents"`
}

// ResourceContent is the content of a resource: text, or bytes.
type ResourceContent struct {
	URI      string `json:"uri"`
	MimeType string `json:"mime_type,omitzero"`
	Text     string `json:"text,omitzero"`
	Data     []byte `json:"data,omitzero"` // base64
}

// CallPromptGetRequest is the request of [CallPromptGet].
type CallPromptGetRequest struct {
	CallID    string            `json:"call_id,omitzero"`
	Server    string            `json:"server"`
	Name      string            `json:"name"`
	Arguments map[string]string `json:"arguments,omitzero"`
}

// CallPromptGetAnswer answers [CallPromptGet].
type CallPromptGetAnswer struct {
	Description string          `json:"description,omitzero"`
	Messages    []PromptMessage `json:"messages"`
}

// PromptMessage is a message of a prompt. Role is user or assistant.
type PromptMessage struct {
	Role    string      `json:"role"`
	Content ToolContent `json:"content"`
}

// CallHTTPFetchRequest is the request of [CallHTTPFetch]. Header values and the
// URL's query may hold secret handles ({{secret:NAME}}), which the host replaces.
type CallHTTPFetchRequest struct {
	CallID string `json:"call_id,omitzero"`
	Method string `json:"method,omitzero"` // default GET
	URL    string `json:"url"`
	// Header holds one value by name.
	Header map[string]string `json:"header,omitzero"`
	Text   string            `json:"text,omitzero"` // the body as text
	Body   []byte            `json:"body,omitzero"` // the body as bytes, base64; not with Text
	// Purpose is what the receipt says that the request was for.
	Purpose string `json:"purpose,omitzero"`
	// IdempotencyHeader names the header by which the target recognizes a repeated
	// write, such as Idempotency-Key. The host fills it in, and repeats the request
	// after a crash. Without it, such a write is answered with CallIndeterminate.
	IdempotencyHeader string `json:"idempotency_header,omitzero"`
	TimeoutMS         int64  `json:"timeout_ms,omitzero"`
}

// CallHTTPFetchAnswer answers [CallHTTPFetch]. A status of 400 and more is an
// answer, not a failed call.
type CallHTTPFetchAnswer struct {
	Status    int               `json:"status"`
	URL       string            `json:"url"` // after redirects, without secrets
	Header    map[string]string `json:"header"`
	Text      string            `json:"text,omitzero"` // the body, when it is UTF-8
	Body      []byte            `json:"body,omitzero"` // the body otherwise, base64
	BytesSent int64             `json:"bytes_sent"`    // body bytes of the request
}

// CallSecretUseRequest is the request of [CallSecretUse].
type CallSecretUseRequest struct {
	Name string `json:"name"`
}

// CallSecretUseAnswer answers [CallSecretUse]. Handle is what to write where the
// secret belongs.
type CallSecretUseAnswer struct {
	Handle string `json:"handle"`
}

// CallMemoryQueryRequest is the request of [CallMemoryQuery]. A Memory is found
// when it holds every word of Text, in any letter case; an empty Text finds all.
type CallMemoryQueryRequest struct {
	CallID string      `json:"call_id,omitzero"`
	Scope  MemoryScope `json:"scope"`
	Text   string      `json:"text,omitzero"`
	Limit  int         `json:"limit,omitzero"` // 1 to 100; default 10
}

// CallMemoryQueryAnswer answers [CallMemoryQuery]. Unreadable has the ids of Memories
// that are left out, for what is stored of them cannot be read.
type CallMemoryQueryAnswer struct {
	Memories   []Memory `json:"memories"`
	Unreadable []string `json:"unreadable,omitzero"`
}

// CallMemoryWriteRequest is the request of [CallMemoryWrite].
type CallMemoryWriteRequest struct {
	Scope   MemoryScope    `json:"scope"`
	Content jsontext.Value `json:"content"` // a string or an object
	// ExpiresInSeconds is how long the Memory lives; 0 for ever.
	ExpiresInSeconds float64        `json:"expires_in_seconds,omitzero"`
	Visibility       Visibility     `json:"visibility,omitzero"` // default internal
	Confidence       float64        `json:"confidence,omitzero"` // 0 to 1
	Metadata         jsontext.Value `json:"metadata,omitzero"`
}

// CallMemoryWriteAnswer answers [CallMemoryWrite].
type CallMemoryWriteAnswer struct {
	MemoryID string `json:"memory_id"`
}

// CallBlockListRequest is the request of [CallBlockList].
type CallBlockListRequest struct {
	CallID string `json:"call_id,omitzero"`
}

// CallBlockListAnswer answers [CallBlockList].
type CallBlockListAnswer struct {
	Version int64       `json:"version"` // counts the changes of all blocks; 0 before the first
	Blocks  []CallBlock `json:"blocks"`  // in order of label
}

// CallBlock is a block of memory, as a plugin is told of it.
type CallBlock struct {
	Label    string `json:"label"`
	Value    string `json:"value"`
	ReadOnly bool   `json:"read_only"`
	Version  int64  `json:"version"`
}

// CallBlockWriteRequest is the request of [CallBlockWrite].
type CallBlockWriteRequest struct {
	Label string `json:"label"` // of the block, which is made if there is none
	Value string `json:"value"`
	// Append puts value below what the block has, on a line of its own, instead of in its place.
	Append bool `json:"append,omitzero"`
	// Version is that of the block which is to be changed, 0 for none; left out for whatever is
	// there. When somebody has changed it meanwhile, nothing happens, and the call is refused with
	// the code block_changed.
	Version *int64 `json:"version,omitzero"`
}

// CallBlockWriteAnswer answers [CallBlockWrite]: the block as it is then.
type CallBlockWriteAnswer struct {
	Label      string `json:"label"`
	Version    int64  `json:"version"`
	Characters int    `json:"characters"` // of its value
}

// CallArtifactPutRequest is the first line of the request of [CallArtifactPut].
type CallArtifactPutRequest struct {
	Kind       ArtifactKind `json:"kind"`
	MimeType   string       `json:"mime_type"`
	Visibility Visibility   `json:"visibility,omitzero"` // default public
	Name       string       `json:"name,omitzero"`
}

// CallArtifactPutAnswer answers [CallArtifactPut].
type CallArtifactPutAnswer struct {
	ArtifactID string `json:"artifact_id"`
	SHA256     string `json:"sha256"` // bare hex
}

// CallArtifactGetRequest is the request of [CallArtifactGet]. A Length of 0
// reads to the end, as far as the payload limit goes.
type CallArtifactGetRequest struct {
	CallID     string `json:"call_id,omitzero"`
	ArtifactID string `json:"artifact_id"`
	Offset     int64  `json:"offset,omitzero"`
	Length     int64  `json:"length,omitzero"`
}

// CallSkillReadRequest is the request of [CallSkillRead].
type CallSkillReadRequest struct {
	CallID string `json:"call_id,omitzero"`
	Skill  string `json:"skill"`         // its name, as the Task was told
	Path   string `json:"path,omitzero"` // within the skill; SKILL.md if it is absent
}

// CallSkillReadAnswer answers [CallSkillRead].
type CallSkillReadAnswer struct {
	Skill   string   `json:"skill"`
	Version string   `json:"version"`
	Path    string   `json:"path"`
	Text    string   `json:"text"`
	Files   []string `json:"files,omitzero"` // with SKILL.md: the paths of the other files
	// Manifest is set for a skill of a client's, which has no version.
	Manifest *SkillManifest `json:"manifest,omitzero"`
}

// SkillManifest is what a client says of a skill that it has.
type SkillManifest struct {
	WhenToUse    string   `json:"when_to_use,omitzero"`
	AllowedTools []string `json:"allowed_tools,omitzero"`
	Paths        []string `json:"paths,omitzero"` // patterns of the files that it is for
	Model        string   `json:"model,omitzero"`
}

// CallSkillMatchRequest is the request of [CallSkillMatch].
type CallSkillMatchRequest struct {
	CallID       string   `json:"call_id,omitzero"`
	Prompt       string   `json:"prompt"`
	WorkingFiles []string `json:"working_files,omitzero"`
	// Candidates are the skills that are ranked; those that the Task has, and those of its Session's
	// clients, if they are absent.
	Candidates []SkillCandidate `json:"candidates,omitzero"`
	Strategy   string           `json:"strategy,omitzero"` // metadata: the node ranks, the default; host, or embedding: a client does, if there is one
}

// SkillCandidate is a skill that is ranked.
type SkillCandidate struct {
	Name        string   `json:"name"`
	Description string   `json:"description,omitzero"`
	WhenToUse   string   `json:"when_to_use,omitzero"`
	Paths       []string `json:"paths,omitzero"` // patterns of the files that it is for; * stands for any characters
}

// CallSkillMatchAnswer answers [CallSkillMatch].
type CallSkillMatchAnswer struct {
	Matches []SkillMatch `json:"matches"` // the best first
	By      MatchedBy    `json:"by"`
	// Skills are what was ranked, where the request has no candidates.
	Skills []KnownSkill `json:"skills,omitzero"`
}

// SkillMatch is a skill that fits.
type SkillMatch struct {
	Name   string  `json:"name"`
	Score  float64 `json:"score"` // 0 or more
	Reason string  `json:"reason"`
}

// KnownSkill is a skill that a Task can read.
type KnownSkill struct {
	SkillCandidate `json:",inline"`
	Source         SkillSource `json:"source"`
}

// MatchedBy says who has ranked skills.
type MatchedBy string

// Who ranks skills.
const (
	MatchedByNode MatchedBy = "node"
	MatchedByHost MatchedBy = "host" // a client
)

// SkillSource says where a skill is from.
type SkillSource string

// Where skills are from.
const (
	SkillInstalled SkillSource = "installed"
	SkillOfHost    SkillSource = "host" // a client has it
)

// CallFileReadRequest is the request of [CallFileRead]. A Length of 0 reads to the end,
// as far as one call goes.
type CallFileReadRequest struct {
	CallID string `json:"call_id,omitzero"`
	Path   string `json:"path"` // names separated by /, relative to the Workspace
	Offset int64  `json:"offset,omitzero"`
	Length int64  `json:"length,omitzero"`
}

// CallFileReadAnswer answers [CallFileRead]: fewer bytes than asked for only at the end, or
// where one call gives no more.
type CallFileReadAnswer struct {
	Path      string `json:"path"`
	Offset    int64  `json:"offset,omitzero"` // of what was read
	Size      int64  `json:"size"`            // of the whole file
	SHA256    string `json:"sha256,omitzero"` // of the whole file, bare hex; left out of one of more than 8 MiB
	UpdatedAt Time   `json:"updated_at"`
	Text      string `json:"text,omitzero"` // what was read, when it is UTF-8
	Body      []byte `json:"body,omitzero"` // what was read otherwise, base64
}

// FileMode says what [CallFileWrite] does with a file that is there.
type FileMode string

// The modes of writing.
const (
	FileReplace FileMode = "replace" // the content becomes the file's; the default
	FileCreate  FileMode = "create"  // the file must not be there
	FileAppend  FileMode = "append"  // the content goes to the end; without a file it is replace
)

// CallFileWriteRequest is the request of [CallFileWrite].
type CallFileWriteRequest struct {
	Path string   `json:"path"`
	Text string   `json:"text,omitzero"` // the content as text
	Body []byte   `json:"body,omitzero"` // the content as bytes, base64; not with Text
	Mode FileMode `json:"mode,omitzero"`
	// SHA256 is what the file must have before, bare hex; another file, or none, is left as
	// it is, and the call is answered with CallInvalid and the code conflict.
	SHA256 string `json:"sha256,omitzero"`
}

// CallFileWriteAnswer answers [CallFileWrite].
type CallFileWriteAnswer struct {
	Path         string `json:"path"`
	Size         int64  `json:"size"`
	SHA256       string `json:"sha256"`                 // bare hex
	BeforeSHA256 string `json:"before_sha256,omitzero"` // what was there before; "" when the file is new
}

// CallFileEditRequest is the request of [CallFileEdit]. Old is what the file has, and exactly so:
// once, unless All is set.
type CallFileEditRequest struct {
	Path string `json:"path"`
	Old  string `json:"old"`
	New  string `json:"new"` // what comes in its place; "" takes it away
	All  bool   `json:"all,omitzero"`
	// SHA256 is what the file must have before, as in [CallFileWriteRequest].
	SHA256 string `json:"sha256,omitzero"`
}

// CallFileEditAnswer answers [CallFileEdit].
type CallFileEditAnswer struct {
	Path         string `json:"path"`
	Size         int64  `json:"size"`
	SHA256       string `json:"sha256"` // bare hex
	BeforeSHA256 string `json:"before_sha256"`
	Replaced     int    `json:"replaced"` // how often Old was there
}

// CallFileListRequest is the request of [CallFileList].
type CallFileListRequest struct {
	CallID    string `json:"call_id,omitzero"`
	Path      string `json:"path,omitzero"`      // of the folder; "" for the Workspace
	Recursive bool   `json:"recursive,omitzero"` // all files below it, and no folders
	After     string `json:"after,omitzero"`     // the next of the answer before
	Limit     int    `json:"limit,omitzero"`     // 1 to 1,000; default 100
}

// CallFileListAnswer answers [CallFileList]. Next is set when there is more.
type CallFileListAnswer struct {
	Entries []FileEntry `json:"entries"`
	Next    string      `json:"next,omitzero"`
}

// FileEntry is a file or folder in a list.
type FileEntry struct {
	Path      string `json:"path"` // within the Workspace
	Folder    bool   `json:"folder,omitzero"`
	Size      int64  `json:"size,omitzero"`
	UpdatedAt Time   `json:"updated_at,omitzero"` // of a file
}

// CallFileRemoveRequest is the request of [CallFileRemove]. SHA256 is what the file must
// have, as in [CallFileWriteRequest]. Recursive lets Path be a folder, which is removed with
// all that is in it.
type CallFileRemoveRequest struct {
	Path      string `json:"path"`
	SHA256    string `json:"sha256,omitzero"`
	Recursive bool   `json:"recursive,omitzero"`
}

// CallFileRemoveAnswer answers [CallFileRemove].
type CallFileRemoveAnswer struct {
	Path         string        `json:"path"`
	BeforeSHA256 string        `json:"before_sha256"`    // what was removed, bare hex; "" of a folder
	Removed      []RemovedFile `json:"removed,omitzero"` // of a folder: the files that were in it
}

// RemovedFile is a file that was removed with its folder.
type RemovedFile struct {
	Path         string `json:"path"`
	BeforeSHA256 string `json:"before_sha256"` // bare hex
}

// CallFileSearchRequest is the request of [CallFileSearch]. Of Text and Pattern at most one
// is set; without either, what is found are the files that Glob names.
type CallFileSearchRequest struct {
	CallID string `json:"call_id,omitzero"`
	Path   string `json:"path,omitzero"` // of the folder to search; "" for the Workspace
	// Glob is what the path below that folder must match: * and ? within a name, [a-z], and **
	// for any number of folders. Without a / it is matched with the file's name.
	Glob       string `json:"glob,omitzero"`
	Text       string `json:"text,omitzero"`
	Pattern    string `json:"pattern,omitzero"` // a regular expression (RE2), matched with each line
	IgnoreCase bool   `json:"ignore_case,omitzero"`
	After      string `json:"after,omitzero"` // the next of the answer before
	Limit      int    `json:"limit,omitzero"` // 1 to 1,000; default 100
}

// CallFileSearchAnswer answers [CallFileSearch]. Next is set when the search is not over; it
// may be so when nothing was found yet.
type CallFileSearchAnswer struct {
	Matches []FileMatch `json:"matches"`
	Next    string      `json:"next,omitzero"`
}

// FileMatch is a line of a file, or a file.
type FileMatch struct {
	Path string `json:"path"`
	Line int    `json:"line,omitzero"` // from 1; 0 for a file that only its name was asked of
	Text string `json:"text,omitzero"` // the line, at most 1,000 bytes of it
}

// CallStateGetRequest is the request of [CallStateGet].
type CallStateGetRequest struct {
	CallID string `json:"call_id,omitzero"`
	Key    string `json:"key"`
}

// CallStateGetAnswer answers [CallStateGet]. Value is null when nothing is kept.
type CallStateGetAnswer struct {
	Value jsontext.Value `json:"value"`
}

// CallStateSetRequest is the request of [CallStateSet].
type CallStateSetRequest struct {
	Key   string         `json:"key"`
	Value jsontext.Value `json:"value"`
}

// CallSleepRequest is the request of [CallSleep].
type CallSleepRequest struct {
	Milliseconds int64 `json:"ms"`
}

// CallInputRequestRequest is the request of [CallInputRequest].
type CallInputRequestRequest struct {
	CallID string `json:"call_id,omitzero"`
	Prompt string `json:"prompt,omitzero"` // of a single question
	// Schema is a JSON Schema of what is wanted: an answer that does not fit it is not taken.
	Schema jsontext.Value `json:"schema,omitzero"`
	// Requests are several questions, 1 to 16, in the place of Prompt and Schema. Each is
	// answered by itself, and the call when all are settled.
	Requests []Question `json:"requests,omitzero"`
	// TimeoutSeconds is how long to wait; then the status is CallTimeout. 0: for ever.
	TimeoutSeconds float64 `json:"timeout_seconds,omitzero"`
}

// Question is one of several that are asked at once.
type Question struct {
	Key    string         `json:"key"`           // names it in the answer: the plugin's own, and no other question's
	Kind   PermissionKind `json:"kind,omitzero"` // default: input
	Prompt string         `json:"prompt,omitzero"`
	// Schema, of an input, is a JSON Schema of what is wanted: an answer that does not fit it is
	// not taken.
	Schema jsontext.Value `json:"schema,omitzero"`
	// Params, of a sampling, are what the model of whoever answers is asked: those of MCP's
	// sampling/createMessage. The answer is its result, in a json part.
	Params   jsontext.Value `json:"params,omitzero"`
	Provider string         `json:"provider,omitzero"` // of an authorization: what is to be authorized
	URL      string         `json:"url,omitzero"`      // of an authorization: where the user does so
	Action   string         `json:"action,omitzero"`   // of an approval: what is to be approved
	// Arguments, Quorum and Approvers, of an approval, are as those of approval.request.
	Arguments jsontext.Value `json:"arguments,omitzero"`
	Quorum    int            `json:"quorum,omitzero"`
	Approvers []string       `json:"approvers,omitzero"`
}

// The bounds of several questions that are asked at once: MaxQuestions is how many,
// MaxQuestionKey how many bytes a key has, MaxQuestionBytes how many all that they say
// together, and MaxQuestionAnswer how many the Message that answers one.
const (
	MaxQuestions      = 16
	MaxQuestionKey    = 128
	MaxQuestionBytes  = 256 << 10
	MaxQuestionAnswer = 256 << 10
)

// CallAuthRequestRequest is the request of [CallAuthRequest].
type CallAuthRequestRequest struct {
	CallID         string  `json:"call_id,omitzero"`
	Provider       string  `json:"provider"` // what is to be authorized
	Prompt         string  `json:"prompt"`
	URL            string  `json:"url,omitzero"` // where the user does so
	TimeoutSeconds float64 `json:"timeout_seconds,omitzero"`
}

// CallInputRequestAnswer answers [CallInputRequest] and [CallAuthRequest].
type CallInputRequestAnswer struct {
	Message Message `json:"message,omitzero"`
	Actor   string  `json:"actor,omitzero"` // who answered
	// Answers are those to several questions, in the order in which they were asked; then there
	// is nothing else.
	Answers []QuestionAnswer `json:"answers,omitzero"`
}

// QuestionAnswer is what became of one of several questions.
type QuestionAnswer struct {
	Key          string              `json:"key"`
	Status       PermissionStatus    `json:"status"` // answered, approved, denied or timeout
	PermissionID string              `json:"permission_request_id"`
	Actor        string              `json:"actor,omitzero"`    // who answered, or declined
	Code         DeclineCode         `json:"code,omitzero"`     // of one that is no approval and was denied: in which way
	Reason       string              `json:"reason,omitzero"`   // why it was declined
	Message      *Message            `json:"message,omitzero"`  // what was answered
	Approval     *CallApprovalAnswer `json:"approval,omitzero"` // of an approval: how it was decided
}

// CallApprovalRequestRequest is the request of [CallApprovalRequest].
type CallApprovalRequestRequest struct {
	CallID         string         `json:"call_id,omitzero"`
	Action         string         `json:"action"` // what is to be approved, such as workspace.patch.apply
	Prompt         string         `json:"prompt"`
	Arguments      jsontext.Value `json:"arguments,omitzero"`
	TimeoutSeconds float64        `json:"timeout_seconds,omitzero"`
	// Quorum is how many must approve; 0 is 1. Approvers are patterns of the actors
	// that may decide; empty for all. The Persona's policy may ask for more.
	Quorum    int      `json:"quorum,omitzero"`
	Approvers []string `json:"approvers,omitzero"`
}

// CallApprovalAnswer answers [CallApprovalRequest].
type CallApprovalAnswer struct {
	Decision  string         `json:"decision"` // approved, denied or timeout
	Actor     string         `json:"actor,omitzero"`
	DecidedAt Time           `json:"decided_at"`
	Reason    string         `json:"reason,omitzero"`
	Arguments jsontext.Value `json:"arguments,omitzero"` // when an approver changed them
	// Decisions lists all that were taken, in their order, when there was not just the
	// one above.
	Decisions []Decision `json:"decisions,omitzero"`
	// Quorum and ApprovedBy are set when more than one had to approve, and did.
	Quorum     int      `json:"quorum,omitzero"`
	ApprovedBy []string `json:"approved_by,omitzero"`
}

// CallTaskSpawnRequest is the request of [CallTaskSpawn].
type CallTaskSpawnRequest struct {
	PersonaID       string         `json:"persona_id,omitzero"` // default: the same
	Input           jsontext.Value `json:"input"`
	Metadata        jsontext.Value `json:"metadata,omitzero"`
	DeadlineSeconds float64        `json:"deadline_seconds,omitzero"`
}

// CallTaskSpawnAnswer answers [CallTaskSpawn] and [CallHandoff].
type CallTaskSpawnAnswer struct {
	TaskID string `json:"task_id"`
}

// CallTaskAwaitRequest is the request of [CallTaskAwait].
type CallTaskAwaitRequest struct {
	CallID         string  `json:"call_id,omitzero"`
	TaskID         string  `json:"task_id"`
	TimeoutSeconds float64 `json:"timeout_seconds,omitzero"`
}

// CallTaskAwaitAnswer answers [CallTaskAwait].
type CallTaskAwaitAnswer struct {
	TaskID    string        `json:"task_id"`
	Status    OutcomeStatus `json:"status"`
	Summary   string        `json:"summary"`
	Messages  []Message     `json:"messages,omitzero"`
	Failure   *Failure      `json:"failure,omitzero"`
	ReceiptID string        `json:"receipt_id,omitzero"`
}

// CallHandoffRequest is the request of [CallHandoff].
type CallHandoffRequest struct {
	PersonaID string         `json:"persona_id"`
	Input     jsontext.Value `json:"input"`
	Reason    string         `json:"reason,omitzero"`
}

// CallEventEmitRequest is the request of [CallEventEmit].
type CallEventEmitRequest struct {
	Kind    EventKind      `json:"kind"`
	Payload jsontext.Value `json:"payload,omitzero"` // a JSON object
}

// CallConfigGetRequest is the request of [CallConfigGet].
type CallConfigGetRequest struct {
	Name string `json:"name"`
}

// CallConfigGetAnswer answers [CallConfigGet]. Value is null when nothing is
// configured.
type CallConfigGetAnswer struct {
	Value jsontext.Value `json:"value"`
}

// CallHostFactRequest is the request of [CallHostFact].
type CallHostFactRequest struct {
	Name string `json:"name"`
}

// CallHostFactAnswer answers [CallHostFact].
type CallHostFactAnswer struct {
	Value string `json:"value"`
}
