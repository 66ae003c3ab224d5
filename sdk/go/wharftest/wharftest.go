//go:build !wasip1

package wharftest

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	wharf "github.com/wharf-dev/wharf/sdk/go"
	"github.com/wharf-dev/wharf/sdk/go/internal/hostcall"
)

// Host stands in for Wharf while a handler runs. The zero Host is ready to use.
// Set what the plugin is to find, call [Host.Run], and look at what it left.
type Host struct {
	// Artifacts holds content by Artifact id, for the plugin to read. What it
	// stores is added here too.
	Artifacts map[string][]byte
	// Files holds the files of the Workspace by path, as the plugin finds and leaves them.
	Files map[string][]byte
	// Now is the wall clock. It stands still.
	Now time.Time
	// Refuse makes host calls fail, by name, such as "artifact.put".
	Refuse map[string]*wharf.Error
	// Transcript is what the Session said before the Task.
	Transcript []wharf.Message
	// Config and Facts are by name. State is what the Session keeps; what the plugin
	// sets is added.
	Config map[string]any
	Facts  map[string]string
	State  map[string]any
	// Secrets are the names that the plugin is allowed.
	Secrets []string
	// Tools are what the plugin may call, and Memories what it may find; what it
	// remembers is added.
	Tools    []wharf.Tool
	Memories []wharf.Memory
	// Blocks is what the agent has in mind, in order of label; nil for a Persona that is no agent.
	// The plugin changes it, and so may a test, as people do.
	Blocks *wharf.Blocks

	// What is beyond the node is answered by these functions. An *wharf.Error that
	// they return is what the plugin gets; a call whose function is nil fails with
	// StatusUnavailable.
	Complete func(wharf.ModelRequest) (wharf.ModelAnswer, error)
	CallTool func(wharf.ToolRequest) (wharf.ToolAnswer, error)
	// What servers of tools have besides tools.
	ListResources func(wharf.ResourceListRequest) (wharf.ResourceList, error)
	ReadResource  func(wharf.ResourceRequest) ([]wharf.ResourceContent, error)
	GetPrompt     func(wharf.PromptRequest) (wharf.PromptAnswer, error)

	Fetch   func(wharf.FetchRequest) (wharf.FetchAnswer, error)
	Options wharf.RunOptions // of the Task
	Agent   wharf.Agent      // of its Persona
	Skills  []wharf.Skill    // of the Task
	// SkillFiles are the texts of the skills' files, by SKILL/PATH.
	SkillFiles map[string]string
	// MatchSkills ranks skills; nil answers that nobody does.
	MatchSkills func(wharf.SkillMatchRequest) (wharf.SkillMatches, error)
	Input       func(wharf.InputRequest) (wharf.InputAnswer, error)
	Ask         func(wharf.Questions) ([]wharf.QuestionAnswer, error)
	Auth        func(wharf.AuthRequest) (wharf.InputAnswer, error)
	Approve     func(wharf.ApprovalRequest) (wharf.Approval, error)
	Delegate    func(wharf.DelegationRequest) (wharf.Delegation, error)
	// Inbox answers what is due at a checkpoint, also when the plugin would wait: what a test gives is
	// not given again. Nil is an inbox of a Task that nothing is delivered to.
	Inbox func(at wharf.Checkpoint, waits bool) wharf.Inbox
	// Child runs a child Task, and a handoff as one of the other Persona.
	Child func(wharf.SpawnRequest) (wharf.ChildOutcome, error)

	// What the plugin left.
	Messages []wharf.Message
	Stored   []Stored
	Logs     []Line
	Progress []float64
	Deltas   []string
	Plans    [][]wharf.PlanStep
	Plan     wharf.Plan // as the plugin has set it; a test may change it, as people do
	Events   []Event
	Composed []Composed // the compositions that it began, in order
	Told     []Told     // what it told of its own work
	Slept    time.Duration
	Found    []wharf.Found // what a poll has delivered, each once
	Calls    []string      // the names of its host calls, in order

	input    []byte
	outcome  *Outcome
	random   *rand.Rand
	ids      int
	children map[string]wharf.ChildOutcome
	batch    []byte
	results  []Result
}

// Event is an event that the plugin emitted.
type Event struct {
	Kind    string          `json:"kind"`
	Payload json.RawMessage `json:"payload"`
}

// Composed is a composition of the plugin's. Nothing is held to its ceiling in a test.
type Composed struct {
	ID string
	wharf.Snippet
	Children []wharf.ToolRequest      // its tool calls
	Ended    *wharf.CompositionResult // nil while it is open
}

// Told is what the plugin told of its own work.
type Told struct {
	Kind wharf.AgentEvent `json:"kind"`
	Data json.RawMessage  `json:"data"`
}

// Stored is an Artifact that the plugin stored.
type Stored struct {
	wharf.Artifact
	ID      string
	Content []byte
}

// Line is a line that the plugin logged.
type Line struct {
	Level   wharf.Level `json:"level"`
	Message string      `json:"message"`
}

// Outcome is what a run of a handler ended in.
type Outcome struct {
	Summary string             `json:"summary"`
	Metrics map[string]float64 `json:"metrics"`
	Failure *wharf.Failure     `json:"failure"` // nil for success
	// StopReason is why the model has stopped whose answer the summary is of; "" when nothing is said.
	StopReason wharf.StopReason `json:"stop_reason"`
}

// Text runs the handler on a user Message of one text part.
func (h *Host) Text(handler wharf.Handler, text string) Outcome {
	return h.Run(handler, wharf.Message{Role: "user", Parts: []wharf.Part{wharf.TextPart(text)}})
}

// Run runs the handler on a Task with the given input, which is encoded as JSON.
// It panics if that cannot be done, and if the handler reports no outcome.
func (h *Host) Run(handler wharf.Handler, input any) Outcome {
	told := map[string]any{
		"task": map[string]any{
			"id": "task_test", "session_id": "sess_test", "workspace_id": "ws_test",
			"created_by": "wharftest", "metadata": map[string]any{}, "input": input,
			"input_message_id": "msg_input", "run": h.Options,
		},
		"persona":    map[string]any{"id": "persona_test", "name": "test", "version": "0.0.0", "entry_workflow": "test", "agent": h.Agent},
		"session_id": "sess_test",
	}
	if len(h.Skills) > 0 {
		told["skills"] = h.Skills
	}
	h.input = mustMarshal(told)
	h.outcome = nil
	h.random = rand.New(rand.NewPCG(1, 2))
	h.children = map[string]wharf.ChildOutcome{}
	hostcall.Serve(h.call, func() { wharf.Run(handler) })
	if h.outcome == nil {
		panic("wharftest: the handler reported no outcome")
	}
	return *h.outcome
}

func mustMarshal(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic("wharftest: " + err.Error())
	}
	return b
}

func refused(e *wharf.Error) (uint32, []byte) {
	return uint32(e.Status), mustMarshal(map[string]string{"code": e.Code, "message": e.Message})
}

func invalid(format string, args ...any) (uint32, []byte) {
	return refused(&wharf.Error{Status: wharf.StatusInvalid, Code: "invalid_request", Message: fmt.Sprintf(format, args...)})
}

// call answers a host call.
func (h *Host) call(name string, request []byte) (uint32, []byte) {
	h.Calls = append(h.Calls, name)
	if e := h.Refuse[name]; e != nil {
		return refused(e)
	}
	if answer, ok := answers[name]; ok {
		return answer(h, request)
	}
	return invalid("there is no host call %q", name)
}

// answers has a function for each host call.
var answers = map[string]func(*Host, []byte) (uint32, []byte){
	hostcall.NameInput:           func(h *Host, _ []byte) (uint32, []byte) { return hostcall.OK, bytes.Clone(h.input) },
	hostcall.NameOutput:          (*Host).output,
	hostcall.NameClock:           (*Host).clock,
	hostcall.NameRandom:          (*Host).randomBytes,
	hostcall.NameID:              (*Host).newID,
	hostcall.NameSleep:           (*Host).sleep,
	hostcall.NameLog:             func(h *Host, r []byte) (uint32, []byte) { return keep(&h.Logs, r) },
	hostcall.NameProgress:        (*Host).progress,
	hostcall.NamePlan:            (*Host).plan,
	hostcall.NameAgentEvent:      func(h *Host, r []byte) (uint32, []byte) { return keep(&h.Told, r) },
	hostcall.NamePlanSet:         (*Host).setPlan,
	hostcall.NamePlanGet:         (*Host).getPlan,
	hostcall.NameInboxTake:       (*Host).takeInbox,
	hostcall.NameMessageAppend:   (*Host).appendMessage,
	hostcall.NameMessageDelta:    (*Host).delta,
	hostcall.NameTranscriptRead:  (*Host).readTranscript,
	hostcall.NameLLMComplete:     func(h *Host, r []byte) (uint32, []byte) { return beyond(h.Complete, r) },
	hostcall.NameToolList:        (*Host).listTools,
	hostcall.NameToolCall:        (*Host).callTool,
	hostcall.NameResourceList:    func(h *Host, r []byte) (uint32, []byte) { return beyond(h.ListResources, r) },
	hostcall.NameResourceRead:    (*Host).readResource,
	hostcall.NamePromptGet:       func(h *Host, r []byte) (uint32, []byte) { return beyond(h.GetPrompt, r) },
	hostcall.NameHTTPFetch:       func(h *Host, r []byte) (uint32, []byte) { return beyond(h.Fetch, r) },
	hostcall.NameMemoryQuery:     (*Host).queryMemory,
	hostcall.NameMemoryWrite:     (*Host).writeMemory,
	hostcall.NameBlockList:       (*Host).listBlocks,
	hostcall.NameBlockWrite:      (*Host).writeBlock,
	hostcall.NameSecretUse:       (*Host).useSecret,
	hostcall.NameArtifactPut:     (*Host).putArtifact,
	hostcall.NameArtifactGet:     (*Host).getArtifact,
	hostcall.NameFileRead:        (*Host).readFile,
	hostcall.NameFileWrite:       (*Host).writeFile,
	hostcall.NameFileEdit:        (*Host).editFile,
	hostcall.NameFileList:        (*Host).listFiles,
	hostcall.NameFileRemove:      (*Host).removeFile,
	hostcall.NameFileSearch:      (*Host).searchFiles,
	hostcall.NameSkillRead:       (*Host).readSkill,
	hostcall.NameSkillMatch:      func(h *Host, r []byte) (uint32, []byte) { return beyond(h.MatchSkills, r) },
	hostcall.NameStateGet:        (*Host).getState,
	hostcall.NameStateSet:        (*Host).setState,
	hostcall.NameInputRequest:    (*Host).inputRequest,
	hostcall.NameAuthRequest:     func(h *Host, r []byte) (uint32, []byte) { return beyond(h.Auth, r) },
	hostcall.NameApprovalRequest: func(h *Host, r []byte) (uint32, []byte) { return beyond(h.Approve, r) },
	hostcall.NameTaskSpawn:       (*Host).spawn,
	hostcall.NameTaskAwait:       (*Host).await,
	hostcall.NameHandoff:         (*Host).spawn,
	hostcall.NameAgentDelegate:   func(h *Host, r []byte) (uint32, []byte) { return beyond(h.Delegate, r) },
	hostcall.NameEventEmit:       func(h *Host, r []byte) (uint32, []byte) { return keep(&h.Events, r) },
	hostcall.NameConfigGet:       (*Host).config,
	hostcall.NameHostFact:        (*Host).fact,
	hostcall.NameDeliveries:      (*Host).deliveries,
	hostcall.NameNormalized:      (*Host).takeNormalized,
	hostcall.NameDeliver:         (*Host).deliver,

	hostcall.NameCompositionBegin: (*Host).beginComposition,
	hostcall.NameCompositionEnd:   (*Host).endComposition,
}

// keep decodes a request and appends it to a list.
func keep[T any](list *[]T, request []byte) (uint32, []byte) {
	var v T
	if err := json.Unmarshal(request, &v); err != nil {
		return invalid("%v", err)
	}
	*list = append(*list, v)
	return hostcall.OK, nil
}

func (h *Host) clock([]byte) (uint32, []byte) {
	return hostcall.OK, mustMarshal(map[string]string{"unix_nano": strconv.FormatInt(h.Now.UnixNano(), 10)})
}

func (h *Host) output(request []byte) (uint32, []byte) {
	if h.outcome != nil {
		return invalid("output was called before")
	}
	var o Outcome
	if err := json.Unmarshal(request, &o); err != nil {
		return invalid("%v", err)
	}
	h.outcome = &o
	return hostcall.OK, nil
}

func (h *Host) appendMessage(request []byte) (uint32, []byte) {
	if status, answer := keep(&h.Messages, request); status != hostcall.OK {
		return status, answer
	}
	return hostcall.OK, mustMarshal(map[string]string{"message_id": fmt.Sprintf("msg_%d", len(h.Messages))})
}

func (h *Host) progress(request []byte) (uint32, []byte) {
	var p struct {
		Fraction float64 `json:"fraction"`
	}
	if err := json.Unmarshal(request, &p); err != nil || p.Fraction < 0 || p.Fraction > 1 {
		return invalid("a fraction is a number from 0 to 1")
	}
	h.Progress = append(h.Progress, p.Fraction)
	return hostcall.OK, nil
}

func (h *Host) randomBytes(request []byte) (uint32, []byte) {
	if len(request) != 4 {
		return invalid("the request is 4 bytes long, not %d", len(request))
	}
	answer := make([]byte, binary.LittleEndian.Uint32(request))
	for i := range answer {
		answer[i] = byte(h.random.Uint32())
	}
	return hostcall.OK, answer
}

func (h *Host) putArtifact(request []byte) (uint32, []byte) {
	head, content, ok := bytes.Cut(request, []byte("\n"))
	if !ok {
		return invalid("the request has no newline")
	}
	stored := Stored{Content: bytes.Clone(content)}
	if err := json.Unmarshal(head, &stored.Artifact); err != nil {
		return invalid("%v", err)
	}
	h.Stored = append(h.Stored, stored)
	id := fmt.Sprintf("art_%d", len(h.Stored))
	h.Stored[len(h.Stored)-1].ID = id
	if h.Artifacts == nil {
		h.Artifacts = map[string][]byte{}
	}
	h.Artifacts[id] = stored.Content
	sum := sha256.Sum256(content)
	return hostcall.OK, mustMarshal(map[string]string{"artifact_id": id, "sha256": hex.EncodeToString(sum[:])})
}

func (h *Host) getArtifact(request []byte) (uint32, []byte) {
	var get struct {
		ArtifactID string `json:"artifact_id"`
		Offset     int64  `json:"offset"`
		Length     int64  `json:"length"`
	}
	if err := json.Unmarshal(request, &get); err != nil {
		return invalid("%v", err)
	}
	content, ok := h.Artifacts[get.ArtifactID]
	if !ok {
		return refused(&wharf.Error{Status: wharf.StatusNotFound, Code: "resource_not_found",
			Message: fmt.Sprintf("no artifact %q is visible to this task", get.ArtifactID)})
	}
	content = content[min(max(get.Offset, 0), int64(len(content))):]
	if get.Length > 0 {
		content = content[:min(get.Length, int64(len(content)))]
	}
	return hostcall.OK, bytes.Clone(content)
}

// inputRequest answers one question, or several that are asked at once.
func (h *Host) inputRequest(r []byte) (uint32, []byte) {
	var several struct {
		Requests json.RawMessage `json:"requests"`
	}
	if json.Unmarshal(r, &several) != nil || several.Requests == nil {
		return beyond(h.Input, r)
	}
	if h.Ask == nil {
		return beyond[wharf.Questions, struct{}](nil, r)
	}
	return beyond(func(q wharf.Questions) (answer struct {
		Answers []wharf.QuestionAnswer `json:"answers"`
	}, err error) {
		answer.Answers, err = h.Ask(q)
		return answer, err
	}, r)
}
