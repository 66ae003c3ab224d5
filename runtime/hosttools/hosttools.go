package hosttools

import (
	"slices"
	"strconv"
	"strings"
	"time"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
)

// Tool is a tool that stands for a host call. It is not changed.
type Tool struct {
	abi.Tool
	Kind abi.ToolKind // what it does, for people
	Call string       // the host call
	// Request makes the request of the call from the tool's arguments, an object. Its errors are
	// the caller's: the arguments do not fit.
	Request func(arguments jsontext.Value) (any, error)
	// Text is what a model is given of the call's answer.
	Text func(answer []byte) string
}

// Waits reports whether the call waits for somebody, and the tool with it.
func (t *Tool) Waits() bool { return t.Call == abi.CallInputRequest }

// Answer returns the answer of the tool, of the call's.
func (t *Tool) Answer(answer []byte) ([]byte, error) {
	return json.Marshal(&abi.CallToolCallAnswer{Content: []abi.ToolContent{{Type: "text", Text: t.Text(answer)}}})
}

// All returns the tools, in a fixed order.
func All() []Tool { return slices.Concat(all, fileTools) }

// Find returns a tool by its name; nil for none.
func Find(name string) *Tool {
	for _, t := range All() {
		if t.Name == name {
			return &t
		}
	}
	return nil
}

// StandsFor returns the host call that a tool of a server stands for, when policy holds the tool to
// what holds for that: what works in files, and what outlives the Session. Else it returns "".
func StandsFor(server, name string) string {
	if call := InFiles(server, name); call != "" {
		return call
	}
	if t := Find(name); server == abi.ToolServerHost && t != nil && t.Call == abi.CallBlockWrite {
		return t.Call
	}
	return ""
}

var all = []Tool{
	{abi.Tool{Name: "time_now", ReadOnly: true, Idempotent: true, Description: "The time, in UTC.",
		InputSchema: jsontext.Value(`{"type":"object","properties":{}}`)},
		abi.ToolKindOther, abi.CallClock, func(jsontext.Value) (any, error) { return abi.CallLabel{}, nil }, timeText},
	{abi.Tool{Name: "memory_search", ReadOnly: true, Idempotent: true, Description: "What was remembered in this session and holds every word of the query.",
		InputSchema: jsontext.Value(`{"type":"object","properties":{"query":{"type":"string"}},"required":["query"]}`)},
		abi.ToolKindSearch, abi.CallMemoryQuery, memorySearch, asText},
	{abi.Tool{Name: "memory_save", Description: "Remembers a text for later in this session.",
		InputSchema: jsontext.Value(`{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}`)},
		abi.ToolKindEdit, abi.CallMemoryWrite, memorySave, asText},
	{abi.Tool{Name: "memory_replace", Idempotent: true, Description: "Gives a block of your memory another value, or makes the block. The whole value is replaced. You are shown your blocks " +
		"in every task, so keep them short. A label is words of a to z and 0 to 9, with - or _ between them.",
		InputSchema: jsontext.Value(`{"type":"object","properties":{"label":{"type":"string"},"value":{"type":"string"}},"required":["label","value"]}`)},
		abi.ToolKindEdit, abi.CallBlockWrite, memoryReplace, asText},
	{abi.Tool{Name: "memory_append", Description: "Adds a text to a block of your memory, on a line of its own, or makes the block. You are shown your blocks in every task.",
		InputSchema: jsontext.Value(`{"type":"object","properties":{"label":{"type":"string"},"text":{"type":"string"}},"required":["label","text"]}`)},
		abi.ToolKindEdit, abi.CallBlockWrite, memoryAppend, asText},
	{abi.Tool{Name: "artifact_read", ReadOnly: true, Idempotent: true, Description: "The content of an artifact, as text.",
		InputSchema: jsontext.Value(`{"type":"object","properties":{"artifact_id":{"type":"string"}},"required":["artifact_id"]}`)},
		abi.ToolKindRead, abi.CallArtifactGet, artifactRead, asText},
	{abi.Tool{Name: "skill_read", ReadOnly: true, Idempotent: true, Description: "A file of a skill that you have. Without a path: its instructions, and the names of its files.",
		InputSchema: jsontext.Value(`{"type":"object","properties":{"skill":{"type":"string"},"path":{"type":"string"}},"required":["skill"]}`)},
		abi.ToolKindRead, abi.CallSkillRead, skillRead, skillText},
	{abi.Tool{Name: "plan_set", Description: "Sets the plan of the task: all of its steps, in order. The user sees it and may change it. " +
		"Give the ids of steps that stay, and keep the status of each up to date as you work.", InputSchema: planSchema},
		abi.ToolKindOther, abi.CallPlanSet, planSet, asText},
	{abi.Tool{Name: ToolAsk, ReadOnly: true, Description: "Asks the user, and waits for the answer. With a JSON Schema, the answer fits it.",
		InputSchema: jsontext.Value(`{"type":"object","properties":{"prompt":{"type":"string"},"schema":{"type":"object"}},"required":["prompt"]}`)},
		abi.ToolKindOther, abi.CallInputRequest, askUser, saidText},
}

// ToolAsk is the name of the tool that asks the user.
const ToolAsk = "ask"

var planSchema = jsontext.Value(`{"type":"object","properties":{"tasks":{"type":"array","items":{"type":"object","properties":{` +
	`"id":{"type":"string"},"content":{"type":"string"},"status":{"type":"string","enum":["pending","in_progress","completed","skipped"]}},` +
	`"required":["content","status"]}}},"required":["tasks"]}`)

func asText(answer []byte) string { return strings.ToValidUTF8(string(answer), "\uFFFD") }

func timeText(answer []byte) string {
	var a abi.CallClockAnswer
	if json.Unmarshal(answer, &a) != nil {
		return string(answer)
	}
	ns, err := strconv.ParseInt(a.UnixNano, 10, 64)
	if err != nil {
		return a.UnixNano
	}
	return time.Unix(0, ns).UTC().Format(time.RFC3339)
}

func memorySearch(arguments jsontext.Value) (any, error) {
	var a struct {
		Query string `json:"query"`
	}
	err := json.Unmarshal(arguments, &a)
	return abi.CallMemoryQueryRequest{Scope: abi.MemorySession, Text: a.Query}, err
}

func memorySave(arguments jsontext.Value) (any, error) {
	var a struct {
		Text string `json:"text"`
	}
	if err := json.Unmarshal(arguments, &a); err != nil {
		return nil, err
	}
	content, err := json.Marshal(a.Text)
	return abi.CallMemoryWriteRequest{Scope: abi.MemorySession, Content: content}, err
}

// memoryReplace takes version, too: a plugin may say which value the model has seen.
func memoryReplace(arguments jsontext.Value) (any, error) {
	var a struct {
		Label   string `json:"label"`
		Value   string `json:"value"`
		Version *int64 `json:"version"`
	}
	err := json.Unmarshal(arguments, &a)
	return &abi.CallBlockWriteRequest{Label: a.Label, Value: a.Value, Version: a.Version}, err
}

func memoryAppend(arguments jsontext.Value) (any, error) {
	var a struct {
		Label string `json:"label"`
		Text  string `json:"text"`
	}
	err := json.Unmarshal(arguments, &a)
	return &abi.CallBlockWriteRequest{Label: a.Label, Value: a.Text, Append: true}, err
}

func artifactRead(arguments jsontext.Value) (any, error) {
	var a abi.CallArtifactGetRequest
	err := json.Unmarshal(arguments, &a)
	return abi.CallArtifactGetRequest{ArtifactID: a.ArtifactID}, err
}

func skillRead(arguments jsontext.Value) (any, error) {
	var a abi.CallSkillReadRequest
	err := json.Unmarshal(arguments, &a)
	return abi.CallSkillReadRequest{Skill: a.Skill, Path: a.Path}, err
}

// skillText is the file as it is, and what other files there are.
func skillText(answer []byte) string {
	var a abi.CallSkillReadAnswer
	if json.Unmarshal(answer, &a) != nil {
		return asText(answer)
	}
	if len(a.Files) > 0 {
		a.Text = strings.TrimRight(a.Text, "\n") + "\n\nFiles of this skill: " + strings.Join(a.Files, ", ")
	}
	return a.Text
}

// planSet takes version, too: a plugin may say which plan the model has seen.
func planSet(arguments jsontext.Value) (any, error) {
	var a struct {
		Tasks   []abi.PlannedStep `json:"tasks"`
		Version *int64            `json:"version"`
	}
	if err := json.Unmarshal(arguments, &a); err != nil {
		return nil, err
	}
	if a.Tasks == nil {
		return nil, abi.InvalidParam("tasks", `missing required member "tasks"`)
	}
	return &abi.CallPlanSetRequest{Steps: a.Tasks, Version: a.Version}, nil
}

func askUser(arguments jsontext.Value) (any, error) {
	var a struct {
		Prompt string         `json:"prompt"`
		Schema jsontext.Value `json:"schema"`
	}
	err := json.Unmarshal(arguments, &a)
	return &abi.CallInputRequestRequest{Prompt: a.Prompt, Schema: a.Schema}, err
}

// saidText returns the texts and values of the Message that answers.
func saidText(answer []byte) string {
	var a abi.CallInputRequestAnswer
	if json.Unmarshal(answer, &a) != nil {
		return string(answer)
	}
	var said []string
	for _, p := range a.Message.Parts {
		switch {
		case p.Type == abi.PartText && p.Text != nil:
			said = append(said, *p.Text)
		case p.Type == abi.PartJSON:
			said = append(said, string(p.Value))
		case p.ArtifactID != "":
			said = append(said, "[the artifact "+p.ArtifactID+"]")
		}
	}
	return asText([]byte(strings.Join(said, "\n")))
}
